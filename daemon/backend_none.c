// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Decisions are made and counted; every action is refused. */
#include <stdio.h>
#include <stdlib.h>

#include "scheduler.h"

static void none_free(struct gp_backend *b)
{
	gp_scheduler_fini(gp_scheduler_of(b));
	free(b);
}

static const struct gp_backend_ops none_ops = {
	GP_SCHEDULER_OPS,
	.name		= "none",
	.free		= none_free,
	.task_add	= gp_scheduler_task_add,
	.task_del	= gp_scheduler_task_del,
	.process_del	= gp_scheduler_process_del,
	.run		= gp_scheduler_run,
	.wake_at	= gp_scheduler_wake_at,
	.busy		= gp_scheduler_busy,
};

int gp_backend_none(struct gp_decider *h, struct gp_backend **ret, char *why)
{
	struct gp_scheduler *s = calloc(1, sizeof(*s));
	int err = s ? gp_scheduler_init(s, h, NULL) : -ENOMEM;

	if (err) {
		snprintf(why, GP_DECIDER_WHY, "out of memory");
		if (s)
			none_free(&s->base);
		return err;
	}
	s->base.ops = &none_ops;
	*ret = &s->base;
	return 0;
}
