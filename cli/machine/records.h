/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What goes into and comes out of the daemon's scheduler, as it happens. */
#ifndef GP_CLI_RECORDS_H
#define GP_CLI_RECORDS_H

#include "core/sched.h"
#include "lib/gpreempt.h"
#include "lib/varlink.h"
#include "trace/tracefile.h"

struct gp_records {
	struct gp_events *events;
	json_t *batch;		/* records not yet handed out, NULL */
	size_t next;
	struct gp_rec_who task[GP_MAX_TASKS];	/* pid 0: not told yet */
	u64 renamed;		/* how often @task was changed */
};

/* 0, or -errno: -ENOSYS is a daemon that does not know Record. */
int gp_records_open(struct gp_records *r, struct gp_daemon *daemon);
void gp_records_close(struct gp_records *r);
/* Never waits. -EAGAIN: none; -ENOTCONN: the daemon is gone; -EPROTO. */
int gp_records_next(struct gp_records *r, struct gp_rec *ret);
/* How many messages were dropped since the last call. */
u32 gp_records_lost(struct gp_records *r);

#endif /* GP_CLI_RECORDS_H */
