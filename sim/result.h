/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The result of a run of a scenario: plain numbers in virtual nanoseconds. Nothing depends on the
 * wall clock, so two runs with one seed are equal to the bit.
 */
#ifndef GP_RESULT_H
#define GP_RESULT_H

#include "gp_env.h"

enum {
	GP_RESULT_NAME	= 64,
	GP_RESULT_TASKS	= 64,
	GP_RESULT_GPUS	= 16,
	GP_RESULT_PARTS	= 6,	/* enum gp_part, GP_PART_TOTAL last */
};

struct gp_spread {
	u64 count, mean, p50, p99, p999, max;
};

/* One task of the scenario. */
struct gp_task_result {
	char name[GP_RESULT_NAME];
	bool online;
	u64 offered, served;		/* requests that arrived and were answered */
	struct gp_spread latency;	/* of requests (or of kernels, for a closed loop) */
	u64 work_ns;			/* useful work done, in ns of all slots of a GPU */
	u64 kernels;			/* completed */
	u64 preempted;			/* times taken off */
	u64 on_ns, off_ns;
	u64 longest_hold_ns;
	u64 share_min, share_max;	/* parts per million of GPU time, over whole seconds */
	u64 deadline_misses;
	u64 lost, doubled;		/* workgroups */
};

struct gp_result {
	char scenario[256];
	u64 seed;
	u64 length_ns;			/* measured part, without warm-up */
	u64 latency_weight;		/* ns of offline GPU time that 1 ns of latency is worth */
	u32 nr_tasks;
	struct gp_task_result task[GP_RESULT_TASKS];

	/* over all online tasks; all offline tasks */
	u64 offered, served;
	struct gp_spread online;
	u64 online_work_ns, offline_work_ns;
	u64 online_busy_ns;		/* time in which at least one online kernel could run */
	u32 nr_gpus;
	struct gp_gpu_result {
		u64 online_busy_ns, online_work_ns, offline_work_ns;	/* there */
	} gpu[GP_RESULT_GPUS];
	u64 work_lost, work_doubled;

	u64 preemptions;		/* actions that took a victim off for another task */
	struct gp_spread part[GP_RESULT_PARTS];	/* of those; count 0: no breakdown */
	u64 victim_on;			/* requests whose busy period began with a victim on */
	u64 monitor_cpu_ns;		/* processor time of the home */
	u64 looks, probes, wakeups;
	u64 events;			/* of the simulation, the device's included */
	u64 bytes_saved, waves_saved;
	u64 online_waves_saved;		/* saved although they should stay on */
	u64 lost_tasks, ejections;
	u8 weakest;			/* enum vgpu_source the result rests on */

	/* Latency of each online request in order of arrival. `added` is computed from it. */
	u64 *request_ns;		/* malloc'd, nr_requests; gp_result_fini() frees */
	u64 nr_requests;
};

void gp_result_fini(struct gp_result *r);

#endif /* GP_RESULT_H */
