/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The part that backend_none and backend_debug share: a scheduler of core/ in this process, fed
 * with the pointers of queues (queues.c) and the driver's wave counters (occupancy.c).
 */
#ifndef GP_DAEMON_SCHEDULER_H
#define GP_DAEMON_SCHEDULER_H

#include "decider_private.h"

enum {
	GP_SCHEDULER_TASKS	= 1024,
	GP_SCHEDULER_SEATS	= 8 * GP_SCHEDULER_TASKS,
	GP_SCHEDULER_PROBES	= GP_SCHEDULER_SEATS,	/* a seat has at most one at a time */
	GP_SCHEDULER_WAITING	= 64,
};

struct kfd_queue_snapshot_entry;

/* A wave counter to read. */
struct gp_probe {
	u32 device, task;
};

/* A wave counter that was read. Its answer waits for a look at the queues of @user. */
struct gp_probe_waiting {
	struct gp_probed probed;
	uid_t user;
	u64 number;		/* of the look */
};

/* Samples that are being collected. */
struct gp_samples {
	struct gp_sample *at;
	u32 nr, room;
};

struct gp_scheduler {
	struct gp_backend base;	/* first */
	struct gp_sched *sched;
	void *memory;
	struct gp_mechanism *mechanism;	/* carries actions out; NULL: none does */
	struct gp_sample *samples;
	u32 *tasks;
	struct gp_probe *probe;	/* a ring of GP_SCHEDULER_PROBES */
	u32 first_probe, nr_probes;
	struct gp_probe_waiting waiting[GP_SCHEDULER_WAITING];
	u32 nr_waiting;

	u64 asked_ns[GP_GPUS_MAX];	/* when readers were asked to look at that GPU; 0 */
	/* Tasks that have an unknown or untrusted process, in one look. */
	bool *unknown;
	/* The input from which the intervals of readers were computed. */
	u64 look_ns[GP_GPUS_MAX];
	bool intervals_due, recorded;

	/* Number of queues that @user had at @at_ns. */
	struct {
		uid_t user;
		u64 at_ns;
		u32 queues;
	} share;

	/*
	 * Of backend_debug, else NULL. @acting returns true if a query to the driver about @device
	 * would wait for an action. @queues gets the queues of an attached process, at most
	 * GP_PROCESS_QUEUES_MAX; returns how many, or -errno if they are not known now.
	 */
	bool (*acting)(struct gp_scheduler *s, u32 device);
	/*
	 * Returns true if the processes of @user must not preempt, because they cannot be stopped
	 * now. @troubles changes when a result changes.
	 */
	bool (*mistrusts)(struct gp_scheduler *s, uid_t user);
	u32 troubles;
	int (*queues)(struct gp_scheduler *s, pid_t pid, struct kfd_queue_snapshot_entry *to);
};

static inline struct gp_scheduler *gp_scheduler_of(const struct gp_backend *b)
{
	return (struct gp_scheduler *)b;
}

static inline bool gp_scheduler_acting(struct gp_scheduler *s, u32 device)
{
	return s->acting && s->acting(s, device);
}

/* -ENOMEM. @s is zeroed but for base.ops; gp_scheduler_fini() in any case. */
int gp_scheduler_init(struct gp_scheduler *s, struct gp_decider *h, struct gp_mechanism *mechanism);
void gp_scheduler_fini(struct gp_scheduler *s);

/*
 * Returns true if @r may have one more queue in the scheduler. Otherwise sets its trouble, and its
 * task is unknown. Call it before each gp_queue_add().
 */
bool gp_scheduler_may_watch(struct gp_scheduler *s, struct gp_gpu_process *r);

/* The backend without attaching: backend_none uses it unchanged, backend_debug with changes. */
extern const struct gp_backend_ops gp_scheduler_ops;
void gp_scheduler_look(struct gp_backend *b, u32 device);

/* ---- queues.c: where the pointers of queues are, and what they say ---- */

/* Finds the pointers of queues that have changed. */
void gp_queues_refresh(struct gp_backend *b);
void gp_queues_forget(struct gp_scheduler *s, struct gp_gpu_process *r);
/* Collects samples of @r on @device. Returns false if not all its queues are known. */
bool gp_queues_look(struct gp_scheduler *s, struct gp_gpu_process *r, u32 device,
		    struct gp_samples *to);
void gp_queues_heard(struct gp_backend *b, const struct gp_readers_event *e);
/*
 * Returns true if the readers have looked at all queues on @device since the scheduler's last look
 * there. Otherwise it requests a look, and gp_queues_heard() looks when a reader has answered. The
 * second call returns true in any case, so a reader that hangs delays the look by one interval
 * only.
 */
bool gp_queues_looked(struct gp_scheduler *s, u32 device);
/* Tells the readers how often to look, if that has changed. */
void gp_queues_set_intervals(struct gp_scheduler *s);

/* ---- occupancy.c: whether tasks execute, by the driver's wave counters ---- */

void gp_occupancy_ask(struct gp_scheduler *s, u32 device, u32 task);
/* Reads a bounded number of counters. Returns true if it read any. */
bool gp_occupancy_run(struct gp_scheduler *s);
/*
 * Called after a look at the queues of @user that answers look @number; GP_NEVER: no look is
 * possible.
 */
void gp_occupancy_looked(struct gp_scheduler *s, uid_t user, u64 number);
/* Drops the probes of @task, which ends. */
void gp_occupancy_forget(struct gp_scheduler *s, u32 task);
/*
 * Returns true if a counter can be read now. Otherwise the backend's descriptor becomes readable
 * when one can.
 */
bool gp_occupancy_due(struct gp_scheduler *s);

#endif /* GP_DAEMON_SCHEDULER_H */
