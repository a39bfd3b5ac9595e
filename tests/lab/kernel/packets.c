// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What the mechanisms cost the GPU, in packets and saved waves. Properties of the model. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "tests/lab/kfd_debug/kfd_debug.h"

enum { VICTIMS = 5, QUEUES = 16 };

static struct device_counts since(const struct device_counts *start)
{
	struct device_counts n = device_counts();

	return (struct device_counts) {
		n.unmap - start->unmap, n.query - start->query, n.run_list - start->run_list,
		n.write_data - start->write_data, n.waves_saved - start->waves_saved,
	};
}

/* What was done has cost exactly this. */
#define COST(start, u, q, r)						\
do {									\
	struct device_counts _c = since(start);				\
									\
	EQ(_c.unmap, u);						\
	EQ(_c.query, q);						\
	EQ(_c.run_list, r);						\
} while (0)

static void eighty_queues(void)
{
	const char *const options[] = { "--queues", "16", "--kernel", "100ms", "--waves", "16",
					"--wait", "event", "--depth", "1", "--seconds", "100000",
					"--patience", "0", NULL };
	int ctl = control("evict");
	struct target online = target_ready(1);
	struct device_counts start;
	u32 task[VICTIMS], off;
	pid_t pid[VICTIMS];

	alarm(300);		/* to make so many queues takes a busy host its time */
	for (u32 i = 0; i < VICTIMS; i++)
		pid[i] = start_gpload(options);
	for (u32 i = 0; i < VICTIMS; i++) {
		NEED(has_queues(pid[i], QUEUES));
		task[i] = attach(ctl, pid[i]);
	}
	for (u32 round = 0; round < 3; round++) {
		off = 0;
		start = device_counts();
		EQ(preempt(ctl, task, VICTIMS), 0);
		COST(&start, 1, 1, 1);
		for (u32 i = 0; i < VICTIMS; i++)
			off += mapped_of(pid[i]) == 0;
		EQ(off, VICTIMS);
		CHECK(device_maps(online.pid, online.ring[0], true));
		start = device_counts();
		EQ(resume(ctl, task, VICTIMS), 0);
		COST(&start, 1, 1, 1);
	}
	for (u32 i = 0; i < VICTIMS; i++)
		kill(pid[i], SIGTERM);
	for (u32 i = 0; i < VICTIMS; i++)
		EQ(gpload_ends(pid[i]), 0);
	target_ends_right(&online);
	close(ctl);
}

/* Processes that go out and processes that come in share the cycle. */
static void exchange(void)
{
	int ctl = control("evict");
	struct target a = target_ready(2), b = target_ready(2), c = target_ready(1);
	u32 one = attach(ctl, a.pid), two = attach(ctl, b.pid), both[2] = { one, two };
	struct device_counts start;

	start = device_counts();
	EQ(preempt(ctl, &one, 1), 0);
	COST(&start, 1, 1, 1);
	start = device_counts();
	EQ(preempt(ctl, both, 2), 0);		/* one of them is off already */
	COST(&start, 1, 1, 1);
	start = device_counts();
	EQ(resume(ctl, both, 2), 0);
	COST(&start, 1, 1, 1);
	CHECK(device_maps(a.pid, a.ring[0], true) && device_maps(b.pid, b.ring[1], true));
	target_ends_right(&a);
	target_ends_right(&b);
	target_ends_right(&c);
	close(ctl);
}

/* ---- how much of the others is saved ---- */

enum { DIRECT_VICTIMS = 2 };

struct scene {
	struct target victim[DIRECT_VICTIMS], online;
	u32 task[DIRECT_VICTIMS];
	int ctl;
};

/* Victims and an online process, each with 400 waves that stay for seconds. */
static struct scene scene(const char *mechanism)
{
	struct scene s = { .ctl = control(mechanism ? mechanism : "evict") };

	s.online = target_ready(1);
	for (u32 i = 0; i < DIRECT_VICTIMS; i++) {
		s.victim[i] = target_ready(3);
		NEED(target_ask(&s.victim[i], ASK_HUGE, 0) == 0);
		if (mechanism)
			s.task[i] = attach(s.ctl, s.victim[i].pid);
	}
	NEED(target_ask(&s.online, ASK_HUGE, 0) == 0);
	for (u32 i = 0; i < DIRECT_VICTIMS; i++)
		NEED(runs_huge(s.victim[i].pid));
	NEED(runs_huge(s.online.pid));
	return s;
}

static void row(const char *name, const struct device_counts *stop,
		const struct device_counts *start)
{
	printf("# %-10s %5llu %5llu %8llu %18llu %8llu %8llu\n", name,
	       (unsigned long long)stop->unmap, (unsigned long long)stop->query,
	       (unsigned long long)stop->run_list,
	       (unsigned long long)stop->waves_saved - DIRECT_VICTIMS * 400,
	       (unsigned long long)start->unmap, (unsigned long long)start->run_list);
}

static void head(void)
{
	printf("# two victims of three queues stopped beside an online process with 400 waves "
	       "(a model)\n");
	printf("# %-10s %5s %5s %8s %18s %8s %8s\n", "mechanism", "UNMAP", "fence", "RUN_LIST",
	       "online waves saved", "restore:", "RUN_LIST");
}

static void by_kernel(const char *mechanism, struct device_counts *stop,
		      struct device_counts *start)
{
	struct scene s = scene(mechanism);
	struct device_counts at = device_counts();

	EQ(preempt(s.ctl, s.task, DIRECT_VICTIMS), 0);
	*stop = since(&at);
	if (strcmp(gpu_of(s.ctl).mechanism, mechanism))
		printf("# %s was used: %s\n", gpu_of(s.ctl).mechanism,
		       gpu_of(s.ctl).why_not_direct);
	for (u32 i = 0; i < DIRECT_VICTIMS; i++)
		EQ(mapped_of(s.victim[i].pid), 0);
	EQ(waves_of(s.online.pid), 400);
	at = device_counts();
	EQ(resume(s.ctl, s.task, DIRECT_VICTIMS), 0);
	*start = since(&at);
	for (u32 i = 0; i < DIRECT_VICTIMS; i++)
		target_ends_right(&s.victim[i]);
	target_ends_right(&s.online);
	close(s.ctl);
}

static void by_debug(struct device_counts *stop, struct device_counts *start)
{
	struct scene s = scene(NULL);
	struct gp_session session[DIRECT_VICTIMS];
	struct gp_session_done done;
	struct device_counts at;
	u32 fresh;

	for (u32 i = 0; i < DIRECT_VICTIMS; i++) {
		session[i] = session_of(&s.victim[i]);
		EQ(gp_session_refresh(&session[i], &fresh), 0);
	}
	at = device_counts();
	for (u32 i = 0; i < DIRECT_VICTIMS; i++)
		EQ(gp_session_suspend(&session[i], 0, 1, &done), 0);
	*stop = since(&at);
	at = device_counts();
	for (u32 i = 0; i < DIRECT_VICTIMS; i++)
		EQ(gp_session_resume(&session[i], 0, &done), 0);
	*start = since(&at);
	for (u32 i = 0; i < DIRECT_VICTIMS; i++) {
		gp_session_close(&session[i]);
		target_ends_right(&s.victim[i]);
	}
	target_ends_right(&s.online);
	close(s.ctl);
}

static void direct_saves_no_other(void)
{
	struct device_counts stop[3], start[3];

	by_kernel("direct", &stop[0], &start[0]);
	by_kernel("evict", &stop[1], &start[1]);
	by_debug(&stop[2], &start[2]);
	head();
	row("direct", &stop[0], &start[0]);
	row("evict", &stop[1], &start[1]);
	row("kfd-debug", &stop[2], &start[2]);
	EQ(stop[0].unmap, DIRECT_VICTIMS);
	EQ(stop[0].query, 1);
	EQ(stop[0].run_list, 0);
	EQ(stop[0].waves_saved, DIRECT_VICTIMS * 400);	/* none of the online process */
	EQ(start[0].unmap, 1);
	EQ(start[0].run_list, 1);
	EQ(stop[1].unmap, 1);
	EQ(stop[1].run_list, 1);
	EQ(stop[1].waves_saved, (DIRECT_VICTIMS + 1) * 400);
	EQ(start[1].run_list, 1);
	CHECK(stop[2].waves_saved >= (DIRECT_VICTIMS + 1) * 400);
	EQ(stop[2].unmap, DIRECT_VICTIMS);
	EQ(stop[2].run_list, DIRECT_VICTIMS);
}

/* More than the GPU has places for: direct says so and evict is used. */
static void direct_refuses_oversubscription(void)
{
	const char *const options[] = { "--queues", "28", "--kernel", "100ms", "--waves", "16",
					"--wait", "event", "--depth", "1", "--seconds", "100000",
					"--patience", "0", NULL };
	int ctl = control("direct");
	struct device_counts start;
	pid_t pid = start_gpload(options);
	u32 task;

	NEED(has_queues(pid, 28));
	task = attach(ctl, pid);
	start = device_counts();
	EQ(preempt(ctl, &task, 1), 0);
	COST(&start, 1, 1, 0);			/* no process is left to be mapped */
	CHECK(!strcmp(gpu_of(ctl).mechanism, "evict"));
	CHECK(strstr(gpu_of(ctl).why_not_direct, "more queues or processes"));
	EQ(resume(ctl, &task, 1), 0);
	kill(pid, SIGTERM);
	EQ(gpload_ends(pid), 0);
	close(ctl);
}

/* What direct books is what the driver would have: its counts of queues neither grow nor shrink. */
static void direct_keeps_count(void)
{
	int ctl = control("direct");
	struct target t = target_busy(2);
	u32 task = attach(ctl, t.pid);
	struct device_counts start;

	/* So often that queues counted twice would be more than there are places. */
	for (u32 i = 0; i < 16; i++) {
		EQ(preempt(ctl, &task, 1), 0);
		if (!CHECK(!strcmp(gpu_of(ctl).mechanism, "direct")))
			printf("# %s\n", gpu_of(ctl).why_not_direct);
		EQ(resume(ctl, &task, 1), 0);
	}
	set_mechanism(ctl, "evict", 0);
	start = device_counts();
	EQ(preempt(ctl, &task, 1), 0);
	COST(&start, 1, 1, 0);			/* no process is left to be mapped */
	EQ(resume(ctl, &task, 1), 0);
	target_ends_right(&t);
	close(ctl);
}

/* Of an engine that the packet may not reach. */
static void direct_refuses_sdma(void)
{
	int ctl = control("direct");
	struct target t = target_busy(1), other = target_ready(1);
	u32 task = attach(ctl, t.pid);

	CHECK(target_ask(&t, ASK_QUEUE, KFD_IOC_QUEUE_TYPE_SDMA) >= 0);
	EQ(preempt(ctl, &task, 1), 0);
	EQ(mapped_of(t.pid), 0);
	CHECK(!strcmp(gpu_of(ctl).mechanism, "evict"));
	CHECK(strstr(gpu_of(ctl).why_not_direct, "SDMA"));
	EQ(resume(ctl, &task, 1), 0);
	target_ends_right(&t);
	target_ends_right(&other);
	close(ctl);
}

/* By the driver: nothing is to be unmapped, and nothing is mapped before it says so. */
static void direct_refuses_halted(void)
{
	int ctl = control("direct"), halt;
	struct target a = target_ready(1), b = target_ready(1), other = target_ready(1);
	u32 both[2] = { attach(ctl, a.pid), attach(ctl, b.pid) };
	struct device_counts start;

	halt = standstill("halt");
	EQ(mapped_of(a.pid) + mapped_of(b.pid) + mapped_of(other.pid), 0);
	start = device_counts();
	EQ(preempt(ctl, both, 2), 0);
	CHECK(!strcmp(gpu_of(ctl).mechanism, "evict"));
	if (!CHECK(strstr(gpu_of(ctl).why_not_direct, "halted")))
		printf("# %s\n", gpu_of(ctl).why_not_direct);
	EQ(resume(ctl, &both[1], 1), 0);
	COST(&start, 0, 0, 0);
	close(halt);
	CHECK(device_maps(b.pid, b.ring[0], true) && device_maps(other.pid, other.ring[0], true));
	EQ(mapped_of(a.pid), 0);
	EQ(resume(ctl, both, 1), 0);
	CHECK(device_maps(a.pid, a.ring[0], true));
	target_ends_right(&a);
	target_ends_right(&b);
	target_ends_right(&other);
	close(ctl);
}

/* One write when it is set, one when its owner has gone. */
static void grace_is_given_back(void)
{
	struct target t = target_busy(1);	/* it must not inherit the descriptor */
	int ctl = control("evict");
	u32 task = attach(ctl, t.pid), before = 0, last = 0;
	struct device_counts start = device_counts();

	set_mechanism(ctl, "evict", 3);
	CHECK(SAW(&start, 0, 0, 1));
	set_mechanism(ctl, "evict", 3);		/* is so already */
	EQ(preempt(ctl, &task, 1), 0);
	EQ(resume(ctl, &task, 1), 0);
	EQ(since(&start).write_data, 1);
	close(ctl);
	for (u32 i = 0; i < 1000 && since(&start).write_data < 2; i++)
		usleep(10000);
	EQ(since(&start).write_data, 2);
	EQ(device_graces(&before, &last), 0);
	EQ(before, 3);
	CHECK(last != 3);
	printf("# the driver's grace period is %u\n", last);
	target_ends_right(&t);
}

static void halt_is_the_whole_gpu(void)
{
	int ctl = control("halt");
	struct target t = target_ready(1), other = target_ready(1);
	u32 task = attach(ctl, t.pid);
	struct device_counts start = device_counts();

	EQ(preempt(ctl, &task, 1), 0);
	COST(&start, 1, 1, 0);
	EQ(mapped_of(t.pid) + mapped_of(other.pid), 0);
	start = device_counts();
	EQ(resume(ctl, &task, 1), 0);
	COST(&start, 0, 0, 1);
	target_ends_right(&t);
	target_ends_right(&other);
	close(ctl);
}

/* One of two, and then the other: no process is left that could ask for the GPU to go on. */
static void halted_by_the_dead(void)
{
	int ctl = control("halt");
	struct target t[2] = { target_ready(1), target_ready(1) }, other = target_ready(1);
	u32 task[2] = { attach(ctl, t[0].pid), attach(ctl, t[1].pid) };

	EQ(preempt(ctl, task, 2), 0);
	EQ(mapped_of(other.pid), 0);
	for (u32 i = 0; i < 2; i++) {
		EQ(mapped_of(other.pid), 0);
		kill(t[i].pid, SIGKILL);
		EQ(waitpid(t[i].pid, NULL, 0), t[i].pid);
		close(t[i].fd);
	}
	CHECK(soon_mapped(other.pid, 1));
	/* And a halt is a halt again. */
	task[0] = attach(ctl, other.pid);
	EQ(preempt(ctl, task, 1), 0);
	EQ(mapped_of(other.pid), 0);
	EQ(resume(ctl, task, 1), 0);
	CHECK(soon_mapped(other.pid, 1));
	target_ends_right(&other);
	close(ctl);
}

const struct story packets[] = {
	{ "evict: five processes with 80 queues are one UNMAP and one RUN_LIST, each way",
	  eighty_queues },
	{ "evict: a set of which one is off already is one cycle, each way", exchange },
	{ "direct: an UNMAP per victim, one fence, no RUN_LIST, no wave of another process saved; "
	  "evict and kfd-debug save them", direct_saves_no_other },
	{ "direct refuses more queues than places, and evict is used",
	  direct_refuses_oversubscription },
	{ "direct books what it did as the driver would have", direct_keeps_count },
	{ "direct refuses a victim with an SDMA queue, and evict is used", direct_refuses_sdma },
	{ "direct refuses while the driver has the GPU halted, and evict neither maps a process "
	  "nor ends the halt", direct_refuses_halted },
	{ "the grace period is set by one packet, and set back when its owner is gone",
	  grace_is_given_back },
	{ "halt: when those die who have the GPU halted, the others go on", halted_by_the_dead },
	{ "halt stops every process, and unhalt is one RUN_LIST", halt_is_the_whole_gpu },
	{ "halt: when the processes that have the GPU halted die, the others continue",
	  halted_by_the_dead },
	{ "halt: when those die who have the GPU halted, the others go on", halted_by_the_dead },
	{ 0 },
};
