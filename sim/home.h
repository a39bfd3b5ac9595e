/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The home of the scheduler in a run. It looks at pointers, asks the scheduler, carries out its
 * decisions, and accounts the cost of each.
 *
 * It works like the kernel module. A timer looks, and wakes the GPU's worker only if a decision is
 * needed. The worker decides, and is busy during a driver call. The other placements differ in when
 * they look and in what that costs.
 */
#ifndef GP_HOME_H
#define GP_HOME_H

#include "mechanism.h"

struct gp_sim;
struct gp_client;

enum gp_worker_state { GP_WORKER_ASLEEP, GP_WORKER_WAKING, GP_WORKER_BUSY };

/* Work that waits for a worker. */
struct gp_errand {
	struct gp_todo todo;
	u32 nr_tasks;
	u32 task[GP_SIMMECH_TASKS];
};

struct gp_worker {
	struct gp_home *home;
	u32 device;
	u8 state;		/* enum gp_worker_state */
	u64 look_at_ns;		/* armed, GP_NEVER */
	struct gp_errand *errand;	/* waiting ones */
	u32 nr_errands, room;
	u64 action_ns;		/* when the present driver call began */
};

struct gp_home {
	struct gp_sim *sim;
	bool there;		/* there is a monitor */
	struct gp_sched *sched;
	void *mem;
	struct gp_simmech mech;
	struct gp_worker worker[GP_SCENARIO_GPUS];
	struct gp_sample *sample;
	u32 *tasks;		/* for gp_sched_pull() */
	u64 tick_at_ns;		/* armed, GP_NEVER */

	u64 cpu_ns;		/* of looks, wake-ups, decisions, probes */
	u64 looks, probes, wakeups;
	u64 timed_out;		/* answers that came late or never */
};

/* 0, or -errno with the engine's sentence. */
int gp_home_init(struct gp_home *h, struct gp_sim *sim);
void gp_home_fini(struct gp_home *h);
u64 gp_home_cpu_ns(const struct gp_home *h);

/* Events of clients and devices. A home may ignore them. */
void gp_home_client_came(struct gp_home *h, struct gp_client *c);
void gp_home_client_went(struct gp_home *h, struct gp_client *c);
void gp_home_before_submit(struct gp_home *h, struct gp_client *c, struct gp_gpu *g);
void gp_home_submitted(struct gp_home *h, struct gp_client *c, struct gp_gpu *g);
void gp_home_completed(struct gp_home *h, struct gp_client *c, struct gp_gpu *g);
void gp_home_request_begins(struct gp_home *h, struct gp_client *c);
void gp_home_request_ends(struct gp_home *h, struct gp_client *c);
/* A barrier of @c on @g was opened. */
void gp_home_opened(struct gp_home *h, struct gp_client *c, struct gp_gpu *g);
/* Returns how long before an arrival of @c to call gp_home_hint(); 0: never. */
u64 gp_home_ahead(const struct gp_home *h, const struct gp_client *c);
void gp_home_hint(struct gp_home *h, struct gp_client *c, u64 at_ns);
void gp_home_device_reset(struct gp_home *h, struct gp_gpu *g);

#endif /* GP_HOME_H */
