/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The inputs and outputs of the daemon's scheduler, as they happen. */
#ifndef GP_CLI_RECORDS_H
#define GP_CLI_RECORDS_H

#include "core/sched.h"
#include "lib/gpreempt.h"
#include "lib/varlink.h"
#include "trace/tracefile.h"

struct gp_records {
	struct gp_events *events;
	json_t *batch;		/* records not returned yet, NULL */
	size_t next;
	struct gp_rec_who task[GP_MAX_TASKS];	/* pid 0: not received yet */
	u64 renamed;		/* how often @task was changed */
};

/* Returns 0, or -errno. -ENOSYS: the daemon does not know Record. */
int gp_records_open(struct gp_records *r, struct gp_daemon *daemon);
void gp_records_close(struct gp_records *r);
/*
 * Returns the next record without waiting. -EAGAIN: none; -ENOTCONN: the daemon has ended;
 * -EPROTO.
 */
int gp_records_next(struct gp_records *r, struct gp_rec *ret);
/* Returns how many messages were dropped since the last call. */
u32 gp_records_lost(struct gp_records *r);

#endif /* GP_CLI_RECORDS_H */
