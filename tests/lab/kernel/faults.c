// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Faults of the device while a process is held and while one is being stopped. Around a hang
 * the driver waits half a second before it resets, otherwise as long as ever: on a busy host the
 * GPU of the lab may well be silent for half a second.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"

static void driver_waits(u32 ms)
{
	FILE *f = fopen("/sys/module/amdgpu/parameters/queue_preemption_timeout_ms", "we");

	NEED(f);
	fprintf(f, "%u\n", ms);
	NEED(fclose(f) == 0);
}

static void hang(void)
{
	driver_waits(500);
	fault("hang");
}

static void end(struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	CHECK(driver_forgot(t->pid));
}

/* The GPU and the module work for the next process. */
static void all_is_well(const char *mechanism)
{
	int ctl = control(mechanism);
	struct target t, other;
	u32 task;

	driver_waits(9000);
	t = target_ready(1);
	other = target_ready(1);
	task = attach(ctl, t.pid);
	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	EQ(preempt(ctl, &task, 1), 0);
	if (!CHECK(!strcmp(gpu_of(ctl).mechanism, mechanism)))
		printf("# %s\n", gpu_of(ctl).why_not_direct);
	EQ(mapped_of(t.pid), 0);
	EQ(resume(ctl, &task, 1), 0);
	target_ends_right(&t);
	target_ends_right(&other);
	close(ctl);
}

static void hang_while_stopping(const char *mechanism)
{
	int ctl = control(mechanism);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const volatile struct gp_uapi_stats *stats =
		mmap(NULL, page, PROT_READ, MAP_SHARED, ctl, 0);
	struct target t = target_ready(1), other = target_ready(1);
	u64 resets, refused;
	u32 task = attach(ctl, t.pid);

	EQ(target_ask(&t, ASK_HUGE, 0), 0);
	NEED(runs_huge(t.pid));
	NEED(stats != MAP_FAILED);
	refused = stats->refused;
	resets = gpu_of(ctl).resets;
	hang();
	CHECK(preempt(ctl, &task, 1) < 0);
	/* Not tried again: the second time the driver would call it off already. */
	EQ(stats->refused, refused);
	munmap((void *)stats, page);	/* it would keep the descriptor alive */
	/* direct's command stays on the ring: the next of the driver's finds out. */
	target_tell(&other, ASK_QUEUE, 0);
	for (u32 i = 0; i < 1000 && gpu_of(ctl).resets == resets; i++)
		usleep(10000);
	EQ(gpu_of(ctl).resets, resets + 1);
	CHECK(comes_to(ctl, task, GP_UAPI_LOST));
	end(&t);
	end(&other);
	close(ctl);
	all_is_well(mechanism);
}

/* How often the driver has said so since the machine came up, as far as the kernel remembers. */
static u32 hangs_noticed(void)
{
	enum { READ_ALL = 3, ROOM = 1 << 20 };
	const char *at;
	char *log = malloc(ROOM);
	u32 found = 0;
	int n;

	NEED(log);
	n = klogctl(READ_ALL, log, ROOM - 1);
	NEED(n >= 0);
	log[n] = '\0';
	for (at = log; (at = strstr(at, "cp might be in an unrecoverable state")); at++)
		found++;
	free(log);
	return found;
}

/* Each time the driver waits in vain puts the reset off by as long again. */
static void hang_of_two(void)
{
	int ctl = control("evict");
	struct target a = target_ready(1), b = target_ready(1), other = target_ready(1);
	u32 task[2] = { attach(ctl, a.pid), attach(ctl, b.pid) }, noticed = hangs_noticed();
	u64 resets = gpu_of(ctl).resets;

	hang();
	CHECK(preempt(ctl, task, 2) < 0);
	CHECK(comes_to(ctl, task[0], GP_UAPI_LOST) && comes_to(ctl, task[1], GP_UAPI_LOST));
	for (u32 i = 0; i < 1000 && gpu_of(ctl).resets == resets; i++)
		usleep(10000);
	EQ(gpu_of(ctl).resets, resets + 1);
	EQ(hangs_noticed(), noticed + 1);
	end(&a);
	end(&b);
	end(&other);
	close(ctl);
	all_is_well("evict");
}

/* The driver is about to reset the GPU and blocks all access: evict, which is asked, says so. */
static void reset_under_way(void)
{
	int ctl = control("direct"), reset;
	struct target t = target_ready(1), other = target_ready(1);
	u32 task = attach(ctl, t.pid);
	u64 resets = gpu_of(ctl).resets;

	reset = standstill("reset");
	EQ(preempt(ctl, &task, 1), -EIO);
	CHECK(!strcmp(gpu_of(ctl).mechanism, "evict"));
	if (!CHECK(strstr(gpu_of(ctl).why_not_direct, "a reset is under way")))
		printf("# %s\n", gpu_of(ctl).why_not_direct);
	EQ(seat_of(ctl, task).state, GP_UAPI_LOST);
	EQ(gpu_of(ctl).resets, resets);
	close(reset);
	for (u32 i = 0; i < 1000 && gpu_of(ctl).resets == resets; i++)
		usleep(10000);
	EQ(gpu_of(ctl).resets, resets + 1);
	end(&t);
	end(&other);
	close(ctl);
	all_is_well("direct");
}

/* The same, but no reset follows: the state is known as soon as the driver can be asked. */
static void locked_for_a_while(void)
{
	int ctl = control("evict"), lock;
	struct target t = target_ready(1);
	u32 task = attach(ctl, t.pid);
	u64 resets = gpu_of(ctl).resets;

	EQ(target_ask(&t, ASK_LONG, 0), 0);
	lock = standstill("lock");
	EQ(preempt(ctl, &task, 1), -EIO);
	EQ(seat_of(ctl, task).state, GP_UAPI_LOST);
	close(lock);
	CHECK(comes_to(ctl, task, GP_UAPI_OFF));
	EQ(mapped_of(t.pid), 0);
	lock = standstill("lock");
	EQ(resume(ctl, &task, 1), 0);
	EQ(mapped_of(t.pid), 0);
	close(lock);
	CHECK(soon_mapped(t.pid, 1));
	EQ(gpu_of(ctl).resets, resets);
	target_ends_right(&t);
	close(ctl);
}

static void evict_hang(void)
{
	hang_while_stopping("evict");
}

static void direct_hang(void)
{
	hang_while_stopping("direct");
}

static void hang_while_held(const char *mechanism)
{
	int ctl = control(mechanism);
	struct target t = target_ready(1), other = target_ready(1);
	u32 task = attach(ctl, t.pid);

	/* Nothing but the reset itself is to wake the module before the end of the lease. */
	EQ(preempt(ctl, &task, 1), 0);
	CHECK(!strcmp(gpu_of(ctl).mechanism, mechanism));
	hang();
	target_tell(&other, ASK_QUEUE, 0);	/* a cycle of the driver, which hangs */
	for (u32 i = 0; i < 1000 && !gpu_of(ctl).resets; i++)
		usleep(10000);
	CHECK(comes_to(ctl, task, GP_UAPI_LOST));
	end(&t);
	end(&other);
	close(ctl);
	all_is_well(mechanism);
}

static void evict_held_hang(void)
{
	hang_while_held("evict");
}

static void direct_held_hang(void)
{
	hang_while_held("direct");
}

/* A queue that does not let go: the driver resets it, and the rest of the stop is as ordered. */
static void failed_preemption(const char *mechanism)
{
	/*
	 * In this order: the driver finds the queue to reset by the address of its ring, of all
	 * processes, the newest first, and those of ours have the same.
	 */
	struct target other = target_ready(1), t = target_ready(1);
	int ctl = control(mechanism);
	u32 task = attach(ctl, t.pid);
	char text[32];

	EQ(target_ask(&t, ASK_HUGE, 0), 0);
	NEED(runs_huge(t.pid));
	snprintf(text, sizeof(text), "preempt:0x%x", first_doorbell(t.pid));
	fault(text);
	EQ(preempt(ctl, &task, 1), 0);
	EQ(mapped_of(t.pid), 0);
	EQ(target_ask(&other, ASK_SHORT, 0), 0);
	EQ(target_ask(&other, ASK_DONE, 0), 0);
	fault("none");
	end(&t);
	target_ends_right(&other);
	close(ctl);
	all_is_well(mechanism);
}

static void evict_failed(void)
{
	failed_preemption("evict");
}

static void direct_failed(void)
{
	failed_preemption("direct");
}

const struct story faults[] = {
	{ "evict: a queue that cannot be preempted is reset by the driver, the rest goes on",
	  evict_failed },
	{ "direct: the same, by the driver's own eviction", direct_failed },
	{ "evict: a hang while stopping: LOST, reset, and the GPU is as before for the next",
	  evict_hang },
	{ "evict: a hang while two are stopped: the driver waits once, and both are LOST",
	  hang_of_two },
	{ "direct: a hang while stopping: LOST, reset, and the GPU is as before for the next",
	  direct_hang },
	{ "direct refuses while a reset is under way; evict is used, and what it says is LOST",
	  reset_under_way },
	{ "evict: a GPU that is locked and not reset: LOST, and known again after that; a start is "
	  "made good", locked_for_a_while },
	{ "evict: a hang while a process is held: LOST, and the GPU is as before for the next",
	  evict_held_hang },
	{ "direct: a hang while a process is held: LOST, and the GPU is as before for the next",
	  direct_held_hang },
	{ 0 },
};
