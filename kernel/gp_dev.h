/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Declarations shared by the files that implement the calls of /dev/gpreempt. */
#ifndef GP_KERNEL_DEV_H
#define GP_KERNEL_DEV_H

#include "gp_home.h"

struct gp_dev_file;

enum { GP_DEV_FIRST = 0xa0 };	/* number of the first call */

/* A copy of the argument of any call. Its first bytes are the caller's. */
struct gp_dev_arg {
	union {
		struct gp_uapi_version version;
		struct gp_uapi_attach attach;
		struct gp_uapi_task task;
		struct gp_uapi_set_class set_class;
		struct gp_uapi_name name;
		struct gp_uapi_param param;
		struct gp_uapi_mechanism mechanism;
		struct gp_uapi_move move;
		struct gp_uapi_hint hint;
		struct gp_uapi_subscribe subscribe;
		struct gp_uapi_seat seat;
		struct gp_uapi_gpu gpu;
		struct gp_uapi_selftest selftest;
	};
	void *extra;	/* copy of the data it points to (members, handles) or NULL */
};

/* ---- gp_dev_read.c: the caller holds home.mutex ---- */

int gp_dev_version(struct gp_dev_file *c, struct gp_dev_arg *a);
int gp_dev_seat(struct gp_dev_file *c, struct gp_dev_arg *a);
int gp_dev_gpu(struct gp_dev_file *c, struct gp_dev_arg *a);

/* ---- gp_move.c: preempt and resume by hand; these functions take home.mutex ---- */

int gp_dev_preempt(struct gp_dev_file *c, struct gp_dev_arg *a);
int gp_dev_resume(struct gp_dev_file *c, struct gp_dev_arg *a);
/* Waits a moment for the queues of @task if the driver was too busy to list them. */
void gp_move_await_known(struct gp_dev_file *c, u32 task);

int gp_dev_init(void);
void gp_dev_fini(void);

#endif /* GP_KERNEL_DEV_H */
