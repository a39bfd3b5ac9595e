/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A load on a GPU: requests, each one kernel, over a number of queues. */
#ifndef GP_LAB_LOAD_H
#define GP_LAB_LOAD_H

#include <stdio.h>

#include "core/hist.h"
#include "options.h"
#include "work.h"

/* One AQL queue and its requests in flight, oldest first. */
struct gp_load_queue {
	struct gp_lab_queue q;
	struct gp_lab_event event;
	u32 *in_flight;		/* slots; a ring of @depth */
	u32 head, count;
	u64 submitted, completed;
};

struct gp_load {
	const struct gp_load_options *o;
	struct gp_lab_client c;
	struct gp_work work;
	struct gp_load_queue *queues;
	u32 created;		/* of the queues */
	u32 workgroups, waves;	/* of a kernel; waves of a workgroup */
	u64 *arrived_ns;	/* by slot */
	bool *used;		/* by slot: was submitted at least once */
	u32 next_slot;
	u32 next_queue;
	u64 random;
	u64 submitted, completed;
	u64 start_ns, now_ns;	/* device clock */
	u64 next_arrival_ns;	/* Poisson */
	u64 last_done_ns;	/* device clock of the last completion */
	struct gp_hist latency;
	char lost[256];		/* the first mistake found in the sums, or "" */
	char stuck[256];	/* the requests that never completed, or "" */
};

/* 0 or -errno with a message in gp_client_error(). Call gp_load_fini() in any case. */
int gp_load_init(struct gp_load *l, const struct gp_load_options *o);
/*
 * Runs to the end, or until *@stop. 0: every sum is right. -EBADMSG: @lost names a wrong sum.
 * -ETIME: @stuck names the requests that never completed. Others: gp_client_error().
 */
int gp_load_run(struct gp_load *l, const volatile int *stop);
void gp_load_fini(struct gp_load *l);

/* Prints text, or JSON. @err is the result of gp_load_run(). */
void gp_load_report(const struct gp_load *l, int err, FILE *out);
void gp_load_report_json(const struct gp_load *l, int err, FILE *out);

#endif /* GP_LAB_LOAD_H */
