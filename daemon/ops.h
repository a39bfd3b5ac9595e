/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What clients ask, put to the home; what the home says, as JSON. Between the control socket
 * and the home, which do not know each other.
 */
#ifndef GP_DAEMON_OPS_H
#define GP_DAEMON_OPS_H

#include "control.h"
#include "home_private.h"

struct gp_ops;

struct gp_ops_args {
	struct gp_home *home;
	const char *version;
	/* Reads the configuration again. 0 or -errno and a sentence (GP_HOME_WHY bytes). */
	int (*reload)(void *ctx, char *why);
	void *ctx;
};

extern const struct gp_control_ops gp_ops_table;	/* its ctx is a struct gp_ops */

/* -ENOMEM. */
int gp_ops_new(const struct gp_ops_args *args, struct gp_ops **ret);
void gp_ops_free(struct gp_ops *o);
/*
 * The socket is there: events have somewhere to go. NULL: not any more; before it is freed, since
 * the home's scheduler is listened to until then.
 */
void gp_ops_connect(struct gp_ops *o, struct gp_control *control);
/* After each run of the home: answers that were waited for, and what was recorded. */
void gp_ops_after(struct gp_ops *o);
void gp_ops_news(struct gp_ops *o, const struct gp_news *news);

/* ---- between ops.c, ops_read.c and ops_stream.c ---- */

enum { GP_OPS_WAITERS = 64, GP_OPS_RECORDS = 64 };

/* A hold that is to be answered when it has come about. */
struct gp_ops_waiter {
	gp_token token;
	struct gp_who who;
	u64 granted_ns;
	u64 until_ns;
};

struct gp_ops {
	struct gp_ops_args args;
	struct gp_control *control;
	struct gp_ops_waiter waiter[GP_OPS_WAITERS];
	u32 nr_waiters;
	json_t *records;	/* of Record, not sent yet; NULL: none */
	u32 wanted;		/* as of the last gp_ops_after() */
	bool describe;		/* somebody new records */
	bool unnamed;		/* a task came: who records is to be told who it is */
};

/* ops_read.c, ops_stats.c */
int gp_ops_status(void *ctx, struct gp_request *rq);
int gp_ops_get_policy(void *ctx, struct gp_request *rq);
int gp_ops_list_head(void *ctx, struct gp_request *rq, const struct gp_list_args *args,
		     json_t **ret);
int gp_ops_list_next(void *ctx, const struct gp_list_args *args, u64 *cursor, json_t **ret);
int gp_ops_stats_head(void *ctx, struct gp_request *rq, json_t **ret);
int gp_ops_stats_next(void *ctx, pid_t pid, u64 *cursor, json_t **ret);
/* The parameters under the present policy, as GetPolicy tells them. */
json_t *gp_ops_parameters(const u64 *param);
/* Where a process is on its GPUs: bit per enum gp_state; 0: on none. */
u64 gp_ops_states(const struct gp_home *h, const struct gp_resident *r);
/* Is it off, or lost, on all of them? */
bool gp_ops_off(u64 states);
extern const char *const gp_ops_state_name[GP_NR_STATES];
/* The process after pid *@cursor, NULL at the end; moves *@cursor. */
const struct gp_resident *gp_ops_next(const struct gp_home *h, u64 *cursor);

/* ops_stream.c */
int gp_ops_record(void *ctx, struct gp_request *rq, json_t **ret);
/* Starts and ends to listen to the scheduler, as somebody wants it; sends what there is. */
void gp_ops_stream(struct gp_ops *o);
/* Nothing is listened to any more; what was not sent is dropped. */
void gp_ops_deaf(struct gp_ops *o);

#endif /* GP_DAEMON_OPS_H */
