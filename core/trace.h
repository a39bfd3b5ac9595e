/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A record of everything that went into the scheduler and came out of it, in
 * order. The inputs of a trace fed to a fresh scheduler give the same outputs,
 * bit for bit.
 */
#ifndef GP_TRACE_H
#define GP_TRACE_H

#include "gp_env.h"

enum gp_rec_kind {
	/* inputs: what a replay feeds */
	GP_REC_INIT = 1,	/* limits, enum gp_init_flag */
	GP_REC_PARAM,
	GP_REC_POLICY,
	GP_REC_DEVICE_ADD,
	GP_REC_DEVICE_DEL,
	GP_REC_DEVICE_RESET,
	GP_REC_TASK_ADD,
	GP_REC_TASK_DEL,
	GP_REC_TASK_CLASS,
	GP_REC_QUEUE_ADD,
	GP_REC_QUEUE_DEL,
	GP_REC_SAMPLE,		/* only those whose pointers moved */
	GP_REC_LOOK,		/* ends the samples of one look */
	GP_REC_PROBED,
	GP_REC_ANSWER,
	GP_REC_HINT,
	GP_REC_HOLD,
	GP_REC_RELEASE,
	GP_REC_ENABLE,
	GP_REC_TICK,
	GP_REC_PULL,
	GP_REC_TASK_UNKNOWN,
	GP_REC_NR_INPUTS,
	/* outputs: what a replay compares */
	GP_REC_ACTION = 64,
	GP_REC_ACTION_TASK,
	GP_REC_PROBE,
	GP_REC_STATE,		/* a seat moved */
	GP_REC_EJECT,
	GP_REC_PARTS,		/* of a preemption for this task: enum gp_part, victims, begin */
	/* for people: a replay neither feeds nor compares it */
	GP_REC_NAME,		/* of a task: its process, the text in arg */
	GP_REC_NR_OUTPUTS,
};

enum gp_init_flag {
	GP_INIT_MIDDLE	= 1 << 0,	/* of a scheduler at work: no replay gives the same */
};

/* Of a part that is inside the one beside it: the mechanism cannot tell them apart. */
#define GP_PART_WITHIN	(~0ull)

struct gp_rec {
	u64 now_ns;
	u32 kind;		/* enum gp_rec_kind */
	u32 device;
	u32 task;
	u32 queue;
	u64 arg[8];
};

static_assert(sizeof(struct gp_rec) == 88, "gp_rec is a file format");

/* Where records go. Must not fail and must not call the scheduler. */
struct gp_trace {
	void (*emit)(void *ctx, const struct gp_rec *rec);	/* NULL: nowhere */
	void *ctx;
};

/*
 * Reading one back. A trace file is GP_TRACE_MAGIC, then records. Values are
 * little endian. *@ret points into a copy, since a file need not be aligned.
 */
#define GP_TRACE_MAGIC	0x3031656361727470ull	/* "ptrace10" */

struct gp_sched;
/*
 * The scheduler as it is now, as the records that would make it: for who did not hear the first
 * ones. Its states and times are not in them.
 */
void gp_trace_describe(const struct gp_sched *sched, const struct gp_trace *to);
/*
 * Feed one input record to @sched, which must have been made by
 * gp_sched_init() from the trace's GP_REC_INIT. Output records are ignored:
 * compare them with what the scheduler emits.
 * 0, -EINVAL if the record makes no sense.
 */
int gp_trace_feed(struct gp_sched *sched, const struct gp_rec *rec);

#endif /* GP_TRACE_H */
