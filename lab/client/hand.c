// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "hand.h"

#include "lib/kmod.h"

static int module;
static u32 task;

int gp_hand_open(pid_t victim)
{
	struct gp_class class = { .weight = 100, .flags = GP_PREEMPTIBLE };
	struct gp_kmod_process p = { .pid = victim };

	module = gp_kmod_open(NULL, NULL);
	return module < 0 ? module : gp_kmod_attach(module, &p, 1, &class, &task);
}

int gp_hand_move(bool out)
{
	struct gp_kmod_move move = { .tasks = &task, .nr = 1, .timeout_ns = 2 * GP_SEC };

	return out ? gp_kmod_preempt(module, &move, NULL) : gp_kmod_resume(module, &move, NULL);
}
