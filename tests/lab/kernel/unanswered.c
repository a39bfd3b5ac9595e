// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GPUs that answer late or refuse, and orders that wait for a GPU: calls about other processes do
 * not wait with them, and no order is carried out on the wrong process. Two GPUs.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prompt.h"

enum { LOOKS = 10000 };

/* A queue on the other GPU. */
static s64 use_second(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	static struct gp_lab_client other;
	static struct gp_lab_queue there;
	int err = gp_client_open(&other, &(struct gp_client_args){ .gpu = 1, .no_runtime = true });

	(void)c;
	(void)queue;
	return err ? err : gp_queue_create(&other, &there, &(struct gp_queue_args){
		.type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
	});
}

static struct target on_second(void)
{
	struct target t = target_ready(0);

	NEED(target_run(&t, use_second) == 0);
	return t;
}

/* ---- GPUs ---- */

/* The last process of all is detached, alive, while a fence of it is late. */
static void late_fence(void)
{
	struct target x = target_ready(1), y = target_busy(1);
	int ctl = control("direct");
	struct gp_uapi_version v;
	u32 task = attach(ctl, x.pid);
	u64 start;

	EQ(target_ask(&x, ASK_HUGE, 0), 0);
	NEED(runs_huge(x.pid));
	set_param(ctl, "stop_deadline", 300 * MSEC);
	fault("slow-save:800000");
	EQ(preempt(ctl, &task, 1), -EIO);
	fault("none");
	set_param(ctl, "stop_deadline", 10000 * MSEC);
	start = now_ns();
	EQ(prompt_task(ctl, GP_IOC_DETACH, task), 0);
	usleep(2000);			/* until its holder lets go of it */
	EQ(prompt(ctl, GP_IOC_VERSION, &v), 0);
	EQ(v.nr_gpus, 0);
	NEED(prompt_attach(ctl, y.pid, &task) == 0);
	EQ(seat_of(ctl, task).state, GP_UAPI_ABSENT);
	/* Not before the GPU answers; then the whole of it. */
	EQ(preempt(ctl, &task, 1), 0);
	printf("# it answered after %llu ms\n", (unsigned long long)((now_ns() - start) / MSEC));
	CHECK(now_ns() - start > PROMPT_NS);
	EQ(mapped_of(y.pid), 0);
	EQ(resume(ctl, &task, 1), 0);
	CHECK(soon_mapped(y.pid, 1));
	target_ends_right(&y);
	target_ends_right(&x);
	close(ctl);
}

/* One GPU is locked for a while, and refuses. */
static void grace_refused(void)
{
	struct target one = target_ready(1), two = on_second();
	struct gp_uapi_mechanism m = { .name = "direct", .grace = 3 };
	int ctl = control("evict"), lock;
	u32 before = 0, last = 0;

	attach(ctl, one.pid);
	attach(ctl, two.pid);
	EQ(version_of(ctl).nr_gpus, 2);
	set_mechanism(ctl, "evict", 5);
	set_mechanism(ctl, "evict", 7);
	lock = standstill_of(1, "lock");
	EQ(call(ctl, GP_IOC_SET_MECHANISM, &m), -EBUSY);
	CHECK(!strcmp(version_of(ctl).mechanism, "evict"));
	close(lock);
	for (u32 i = 0; i < 100 && last != 7; i++) {
		usleep(10000);
		EQ(device_graces(&before, &last), 0);
	}
	EQ(before, 3);
	EQ(last, 7);
	EQ(call(ctl, GP_IOC_SET_MECHANISM, &m), 0);
	EQ(device_graces(&before, &last), 0);
	EQ(last, 3);
	target_ends_right(&one);
	kill(two.pid, SIGKILL);
	close(ctl);
}

/* The worker of the GPU sits in the driver, which saves 400 waves slowly. */
static void grace_late(void)
{
	struct gp_uapi_mechanism m = { .name = "evict", .grace = 5 };
	struct target x = target_ready(1);
	int ctl = control("evict"), err = -EAGAIN;
	u32 task = attach(ctl, x.pid), before = 0, last = 0;
	struct gp_uapi_move move = {
		.tasks = (u64)(uintptr_t)&task, .nr_tasks = 1, .flags = GP_UAPI_NO_WAIT,
	};

	EQ(target_ask(&x, ASK_HUGE, 0), 0);
	NEED(runs_huge(x.pid));
	fault("slow-save:800000");
	EQ(call(ctl, GP_IOC_PREEMPT, &move), 0);
	CHECK(comes_to(ctl, task, GP_UAPI_STOPPING));
	EQ(prompt(ctl, GP_IOC_SET_MECHANISM, &m), -EAGAIN);
	fault("none");
	for (u32 i = 0; i < LOOKS && err == -EAGAIN; i++) {
		usleep(1000);
		err = prompt(ctl, GP_IOC_SET_MECHANISM, &m);
	}
	EQ(err, 0);
	EQ(device_graces(&before, &last), 0);
	EQ(last, 5);
	EQ(resume(ctl, &task, 1), 0);
	target_ends_right(&x);
	close(ctl);
}

/* ---- numbers that are given to another ---- */

static u64 unmaps_on_second(void)
{
	FILE *f = fopen("/sys/kernel/debug/vgpu/1/counters", "re");
	unsigned long long value = 0, is;
	char line[128];

	NEED(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "UNMAP_QUEUES %llu", &is) == 1)
			value = is;
	fclose(f);
	return value;
}

static pid_t begin_selftest(int ctl, u32 task)
{
	struct gp_uapi_selftest test = { .task = task, .gpu_id = seat_of(ctl, task).gpu_id };
	u64 before = unmaps_on_second();
	pid_t pid = fork_until_ready();

	if (!pid) {
		is_ready();
		_exit(call(ctl, GP_IOC_SELFTEST, &test) != 0);
	}
	for (u32 i = 0; i < LOOKS && unmaps_on_second() == before; i++)
		usleep(200);
	return pid;
}

/*
 * An order for a GPU whose worker is in a self test waits there. Its task is detached, and another
 * that is on that GPU gets its number, as it is now also on the first GPU.
 */
static void number_of_another(void)
{
	struct target first = target_ready(1), meant = on_second(), other = on_second();
	struct target tested = on_second();
	int ctl = control("evict"), status;
	u32 tasks[4] = { attach(ctl, first.pid), attach(ctl, meant.pid), attach(ctl, other.pid),
			 attach(ctl, tested.pid) };
	struct gp_uapi_move m = {
		.tasks = (u64)(uintptr_t)&tasks[1], .nr_tasks = 1, .flags = GP_UAPI_NO_WAIT,
	};
	pid_t test;

	target_queue(&other, 0);
	test = begin_selftest(ctl, tasks[3]);
	EQ(prompt(ctl, GP_IOC_PREEMPT, &m), 0);
	usleep(1000);			/* the worker of the first GPU decides */
	EQ(seat_of(ctl, tasks[1]).state, GP_UAPI_STOPPING);
	EQ(prompt_task(ctl, GP_IOC_DETACH, tasks[1]), 0);
	EQ(prompt_task(ctl, GP_IOC_TRIGGER, tasks[2]), 0);
	CHECK(seat_of(ctl, tasks[2]).next_gpu_id);
	EQ(waitpid(test, &status, WNOHANG), 0);
	EQ(waitpid(test, &status, 0), test);
	EQ(status, 0);
	usleep(100000);
	EQ(mapped_on(1, other.pid), 1);
	EQ(mapped_on(1, meant.pid), 1);
	EQ(seat_of(ctl, tasks[2]).state, GP_UAPI_ON);
	target_ends_right(&first);
	close(ctl);
}

const struct story unanswered[] = {
	{ "the last process is detached while its fence is late: calls are prompt, and a process "
	  "attached meanwhile is taken off when the GPU has answered", late_fence },
	{ "a grace period that one GPU refuses is set back on the other, and the mechanism stays",
	  grace_refused },
	{ "a grace period for a GPU that does not answer is given up promptly and can be set later",
	  grace_late },
	{ "an order for a detached task is not carried out on the task that has its number now",
	  number_of_another },
	{ 0 },
};
