// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "hand.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/kmod.h"

enum { TRIES = 100 };

static int module;
static u32 task;

int gp_hand_open(pid_t victim)
{
	struct gp_class class = { .weight = 100, .flags = GP_PREEMPTIBLE };
	struct gp_process_id p = { .pid = victim };

	module = gp_kmod_open(NULL, NULL);
	return module < 0 ? module : gp_kmod_attach(module, &p, 1, &class, &task);
}

/* Retry, because the module may not have looked since the task's queues were made. */
static int test_direct(void)
{
	struct gp_uapi_seat seat = { .task = task };
	struct gp_uapi_selftest test = { .task = task };
	int err = 0;

	for (int i = 0; i < TRIES; i++) {
		err = gp_kmod_call(module, GP_IOC_SEAT, &seat);
		test.gpu_id = seat.gpu_id;
		if (!err)
			err = gp_kmod_call(module, GP_IOC_SELFTEST, &test);
		if (err != -EBUSY && err != -ENODEV)
			break;
		usleep(20000);
	}
	if (err)
		fprintf(stderr, "direct: %s %s\n", strerror(-err), test.why);
	return err;
}

int gp_hand_mechanism(const char *name)
{
	int err = strcmp(name, "direct") ? 0 : test_direct();

	return err ? err : gp_kmod_set_mechanism(module, name, 0);
}

int gp_hand_move(bool out)
{
	struct gp_kmod_move move = { .tasks = &task, .nr = 1, .timeout_ns = 2 * GP_SEC };

	return out ? gp_kmod_preempt(module, &move, NULL) : gp_kmod_resume(module, &move, NULL);
}
