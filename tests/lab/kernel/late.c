// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A device that saves slowly: the scheduler stops waiting and says LOST, and when the answer comes
 * after all, every process is where it is said to be. The save takes seconds of the device's
 * time and the deadline is a fraction of one, so that a slow machine sees the same.
 */
#include <errno.h>
#include <unistd.h>

#include "kernel.h"

#define DEADLINE_NS	300000000ull
/* 400 waves are saved in two to five us; the driver itself waits for nine seconds. */
#define SLOW		"slow-save:400000"

static void slow_save(const char *mechanism)
{
	struct target t = target_ready(1);
	int ctl = control(mechanism);
	u32 task = attach(ctl, t.pid);
	u64 resets = gpu_of(ctl).resets;

	EQ(target_ask(&t, ASK_HUGE, 0), 0);
	NEED(runs_huge(t.pid));
	set_param(ctl, "stop_deadline", DEADLINE_NS);
	fault(SLOW);
	EQ(preempt(ctl, &task, 1), -EIO);
	EQ(seat_of(ctl, task).lost, 1);
	/* The hold is over; the save goes on. */
	set_param(ctl, "stop_deadline", 10000000000);
	fault("none");
	resume(ctl, &task, 1);
	CHECK(comes_to(ctl, task, GP_UAPI_ON));
	/* Twice on a busy host, whose start was lost too before the deadline was set. */
	EQ(seat_of(ctl, task).late, seat_of(ctl, task).lost);
	CHECK(device_maps(t.pid, t.ring[0], true));
	/* As before. */
	EQ(preempt(ctl, &task, 1), 0);
	EQ(mapped_of(t.pid), 0);
	EQ(resume(ctl, &task, 1), 0);
	EQ(gpu_of(ctl).resets, resets);
	target_ends_right(&t);
	close(ctl);
}

static void direct_slow(void)
{
	slow_save("direct");
}

static void evict_slow(void)
{
	slow_save("evict");
}

const struct story late[] = {
	{ "direct: a save that outlasts the deadline is LOST; its late fence brings it back, "
	  "sums right", direct_slow },
	{ "evict: the same, when the driver's call returns", evict_slow },
	{ 0 },
};
