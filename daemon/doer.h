/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Who carries decisions out: a mechanism of the core, and what has to be told to it
 * besides, since a real one must be introduced to processes before it can stop them.
 */
#ifndef GP_DAEMON_DOER_H
#define GP_DAEMON_DOER_H

#include "holders.h"
#include "lib/process.h"

struct gp_doer;

/* Where the pointers of a queue are. */
struct gp_doer_queue {
	u32 id;			/* as sysfs calls it */
	u32 gpu_id;
	u32 kind;		/* enum gp_ring_kind */
	u32 ring_bytes;
	u64 ring_base, read_at, write_at;
};

struct gp_doer_ops {
	const char *name;
	/*
	 * It must be attached to a process before it can stop it: process_add() and
	 * next() say how that went. If not, nobody is ever attached.
	 */
	bool attaches;
	/* It looks and decides itself (kernel.h): our scheduler only shows what it does. */
	bool decides;

	void (*free)(struct gp_doer *d);
	/* As the functions of the same names in holders.h. NULL: nothing to do. */
	int (*task_add)(struct gp_doer *d, u32 task, u64 devices);
	int (*task_del)(struct gp_doer *d, u32 task);
	int (*process_add)(struct gp_doer *d, u32 task, pid_t pid, u64 start);
	int (*process_del)(struct gp_doer *d, pid_t pid);
	bool (*attaching)(struct gp_doer *d);
	bool (*acting)(struct gp_doer *d, u32 device);
	/*
	 * The queues of a process that it has, so that nobody else need be asked; some may be
	 * gone. How many, at most GP_PROCESS_QUEUES_MAX, or -errno: not known (now).
	 */
	int (*queues)(struct gp_doer *d, pid_t pid, struct gp_doer_queue *to);
	int (*next)(struct gp_doer *d, struct gp_kfdm_event *ret);
	u64 (*wake_at)(struct gp_doer *d);
	void (*stats)(struct gp_doer *d, struct gp_kfdm_stats *ret);
	/* What only it counts, name by name. NULL: nothing. */
	void (*counters)(struct gp_doer *d, void (*tell)(void *ctx, const char *name, u64 value),
			 void *ctx);
};

struct gp_doer {
	const struct gp_doer_ops *ops;
	struct gp_mechanism *mechanism;
	int fd;			/* readable: poll() or next() has something; -1: never */
};

struct gp_doer_args {
	const struct gp_kfdm_gpu *gpus;	/* their index is the core's device */
	u32 nr_gpus;
	u32 grace;
	u64 attach_interval_ns;
	const char *kfd_root;
};

/* Refuses every action: decisions are made and counted, nothing happens. */
struct gp_doer *gp_doer_none(void);
/* 0 or -errno and *@why; opens /dev/kfd. @ctx is not used. */
int gp_doer_kfd_debug(void *ctx, const struct gp_doer_args *args, struct gp_doer **ret,
		      const char **why);

#endif /* GP_DAEMON_DOER_H */
