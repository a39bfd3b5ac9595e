/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A scenario: the tasks that share the GPU, their work, how they are preempted, and the expected
 * results. Read from an INI file whose sections are tasks, as fio's are jobs.
 *
 * A scenario is a plain value, which can be copied, and changed with gp_scenario_set(). The rows of
 * a comparison are made in this way.
 */
#ifndef GP_SCENARIO_H
#define GP_SCENARIO_H

#include "core/policy.h"
#include "costs.h"
#include "dist.h"
#include "text/keys.h"

enum {
	GP_SCENARIO_NAME	= 48,
	GP_SCENARIO_PATH	= 256,
	GP_SCENARIO_TASKS	= 64,
	GP_SCENARIO_FAULTS	= 8,
	GP_SCENARIO_EXPECTS	= 64,
	GP_SCENARIO_GPUS	= 16,
	GP_SCENARIO_DEPTH	= 8,	/* of include */
	GP_SCENARIO_ERRORS	= 4096,	/* bytes of a buffer that holds several messages */
};

/* ---- tasks ---- */

enum gp_loop {
	GP_LOOP_CLOSED,		/* keeps `ahead` kernels queued */
	GP_LOOP_POISSON,
	GP_LOOP_PERIODIC,
	GP_LOOP_BURST,		/* `burst` requests at once, every interval */
	GP_LOOP_TRACE,		/* arrivals from a file, one time per line, or recorded */
};

/* A recorded request: one kernel that takes @work_ns alone. */
struct gp_arrival {
	u64 at_ns, work_ns;
};

struct gp_task_spec {
	char name[GP_SCENARIO_NAME];
	bool online;
	struct gp_class class;
	u32 processes;		/* equal ones; gp_run() makes a task of each */
	u32 queues;
	u8 loop;		/* enum gp_loop */
	u32 ahead;
	u32 burst;
	u64 interval_ns;	/* mean, period, or between bursts */
	char trace[GP_SCENARIO_PATH];
	const struct gp_arrival *recorded;	/* instead of @trace; not the scenario's */
	u64 nr_recorded;
	u32 server;		/* requests served at a time; the others wait */

	u32 kernels;		/* per request */
	struct gp_dist kernel_ns;	/* with all the slots it asks for */
	u64 workgroup_ns;	/* 0: as long as the kernel */
	u32 slots_divisor;	/* 1/N of what fits; 0: slots */
	u32 slots;
	u32 waves;		/* per workgroup */
	u32 vgpr_bytes;		/* per wave */
	u32 lds_bytes;		/* per workgroup */

	bool sync;		/* the next kernel is submitted when the last is complete */
	struct gp_dist gap_host;
	u64 gap_device_ns;
	u64 barrier_host_ns;	/* delay of the host before it opens a barrier in every request */

	u64 devices;		/* bit per GPU */
	bool gang;		/* its kernels run on all its GPUs in step */
	u64 start_ns, stop_ns;	/* comes and goes; stop 0: stays */
	u32 queue_priority;	/* 0..15 as in KFD */
	u32 cu_first, cu_count;	/* CU mask; count 0: all */
};

/*
 * ---- the monitor ----
 *
 * The design notes this project started from (doc/background.md) have a monitor in the
 * kernel every 5 or 1 ms, or in user space. Its costs are `[costs] set = seed`.
 */

enum gp_placement {
	GP_AT_NONE,		/* no monitor */
	GP_AT_KERNEL,		/* timer and worker of the kernel module */
	GP_AT_DAEMON,		/* gpreemptd without the module */
	GP_AT_USER_POLL,	/* the design notes' poll through ioctls */
	GP_AT_USER_EVENT,	/* the design notes' events, then their kernel monitor */
	GP_AT_MANUAL,		/* the program reports its submissions */
	GP_AT_REQUEST,		/* the server reports begin and end of requests */
	GP_AT_SHIM,		/* an interposed library that launches or does not */
	GP_AT_BOUND,		/* sees all changes at once and decides in no time */
};

enum gp_phase { GP_PHASE_RANDOM, GP_PHASE_WORST };

struct gp_monitor_spec {
	u8 placement;		/* enum gp_placement */
	u8 phase;		/* enum gp_phase */
	bool trusts_rptr;	/* believes that equal pointers are finished */
	bool spins;		/* keeps a core for itself */
	u64 interval_ns;	/* 0: the scheduler adapts it */
	u64 relaxed_ns;		/* without latency-critical tasks; 0: the same */
	u64 hint_ahead_ns;	/* the server announces requests so early; 0: it does not */
	u32 in_flight;		/* GP_AT_SHIM: kernels launched per queue */
};

enum gp_how {
	GP_BY_NONE, GP_BY_EVICT, GP_BY_DIRECT, GP_BY_DEBUG, GP_BY_HALT, GP_BY_DRAIN, GP_BY_RESET,
};

/* ---- faults ---- */

enum gp_fault_kind {
	GP_FAULT_HANG,		/* a stop is never confirmed, until the driver resets the GPU */
	GP_FAULT_PREEMPT_FAILED,	/* one queue does not leave */
	GP_FAULT_SLOW_SAVE,
	GP_FAULT_AREA_TOO_SMALL,
	GP_FAULT_PROCESS_DEATH,
	GP_FAULT_EARLY_RPTR,
};

struct gp_fault_spec {
	char name[GP_SCENARIO_NAME];	/* of its section */
	u8 kind;		/* enum gp_fault_kind */
	bool random;		/* `every` is a mean */
	char task[GP_SCENARIO_NAME];
	u64 at_ns, every_ns;	/* every 0: once */
	u64 for_ns;		/* slow save, early rptr: for so long; 0: for ever */
	u32 factor;		/* slow save */
};

/* ---- what must come out ---- */

enum gp_op { GP_LT, GP_LE, GP_EQ, GP_NE, GP_GE, GP_GT };

struct gp_expect {
	char task[GP_SCENARIO_NAME];	/* "all" */
	char metric[24];
	u8 op;			/* enum gp_op */
	u64 value;		/* ns, a number, or millionths: the metric's unit */
	char text[GP_SCENARIO_NAME * 2];	/* as written */
	char where[GP_SCENARIO_NAME];	/* file:line */
};

/* ---- all of it ---- */

enum gp_only { GP_ONLY_ALL, GP_ONLY_ONLINE, GP_ONLY_OFFLINE };

struct gp_scenario {
	char name[GP_SCENARIO_PATH];	/* the file, as given */
	char dir[GP_SCENARIO_PATH];	/* that trace and include are relative to; while reading */

	u64 warmup_ns, length_ns;
	u8 only;		/* enum gp_only: whose tasks take part */

	char profile[16];
	u32 gpus;
	bool exclusive;		/* the hardware scheduler runs one process at a time */
	bool by_role;		/* queue priority by role: online 15, offline 7 */
	u32 online_cus;		/* CUs for online tasks, the rest for the others; 0: shared */

	struct gp_monitor_spec monitor;
	u8 how;			/* enum gp_how */
	bool grace_default;	/* SCH_WAVE as the driver leaves it */

	const struct gp_policy *policy;
	u64 param[GP_NR_PARAMS];

	bool seed_costs;
	u64 scale_assumed;	/* millionths */
	bool fact_set[VGPU_NR_FACTS], cost_set[GP_NR_COSTS];
	u64 fact[VGPU_NR_FACTS], cost[GP_NR_COSTS];

	u32 nr_tasks, nr_faults, nr_expects;
	struct gp_task_spec task[GP_SCENARIO_TASKS];
	struct gp_fault_spec fault[GP_SCENARIO_FAULTS];
	struct gp_expect expect[GP_SCENARIO_EXPECTS];
};

/*
 * The next three return 0, or -EINVAL (-errno of the file) with a line "file:line: what is wrong;
 * what to do" in @err for each mistake.
 */
int gp_scenario_load(const char *path, struct gp_scenario *ret, char *err, size_t err_size);
/* @text needs no terminator. `include` and `trace` are refused: there is no folder. */
int gp_scenario_parse(const char *text, size_t size, struct gp_scenario *ret, char *err,
		      size_t err_size);
/* @key is "section.key". One message without a place; on an error @sc is as before. */
int gp_scenario_set(struct gp_scenario *sc, const char *key, const char *value, char *err,
		    size_t err_size);

/* Returns the task of that name, or NULL. */
const struct gp_task_spec *gp_scenario_task(const struct gp_scenario *sc, const char *name);

/* ---- sections and keys, for scenario.c (scenario_keys.c, task_keys.c) ---- */

extern const struct gp_key gp_task_keys[];	/* of struct gp_task_spec */

/* Sets all sections to their initial values, without tasks. */
void gp_scenario_init(struct gp_scenario *sc);

/*
 * Gets the keys of section @name of @sc; both must outlive @ret. A name that is new makes a fault
 * or a task. 0, or -EINVAL and a message.
 */
int gp_scenario_section(struct gp_scenario *sc, const char *name, struct gp_section *ret,
			const struct gp_why *why);

#endif /* GP_SCENARIO_H */
