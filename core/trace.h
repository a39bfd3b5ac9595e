/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A trace records all inputs and outputs of the scheduler, in order. The inputs, fed to
 * a fresh scheduler, give the same outputs, bit for bit.
 */
#ifndef GP_TRACE_H
#define GP_TRACE_H

#include "account.h"
#include "task.h"

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
	GP_REC_PARTS,		/* of a preemption for this task */
	/* for readers of the trace; a replay neither feeds nor compares it */
	GP_REC_NAME,		/* the process of a task: pid in @queue, preemptible in @device */
	GP_REC_NR_OUTPUTS,
};

enum gp_init_flag {
	GP_INIT_MIDDLE	= 1 << 0,	/* the recording began later, so a replay differs */
};

/* Value of a part that is included in its neighbour, because the mechanism cannot separate them. */
#define GP_PART_WITHIN	(~0ull)

/*
 * One record. @kind selects the member of the union; kinds without a member use only
 * @device, @task and @queue. Every member consists of whole words, and unused words
 * are 0, so that records can be compared as bytes.
 */
struct gp_rec {
	u64 now_ns;
	u32 kind;		/* enum gp_rec_kind */
	u32 device;
	u32 task;
	u32 queue;
	union {
		struct { u64 devices, tasks, seats, queues, flags; } init;
		struct { u64 number, value; } param;
		struct { u64 number; } policy;			/* EJECT too: the one ejected */
		struct { u64 flags, gpu; } device_add;		/* gpu: its number for people */
		struct {
			u64 devices, priority, weight, flags, period_ns, budget_ns, deadline_ns;
		} class;					/* TASK_ADD, TASK_CLASS */
		struct { u64 rptr, wptr; } queue_add;
		struct { u64 rptr, wptr, flags, visible_ns; } sample;
		struct { u64 executing, permille; } probed;
		struct {
			u64 action, outcome, command_ns, acted_ns, saved_ns, switched_ns;
		} answer;
		struct { u64 at_ns, until_ns; } hint;
		struct { u64 lease_ns; } hold;
		struct { u64 on; } enable;
		struct { u64 unknown; } task_unknown;
		struct { u64 id, deadline_ns; } action;		/* @task: the cause, or GP_NONE */
		struct { u64 id, state; } action_task;
		struct { u64 from, to; } state;			/* enum gp_state */
		struct { u64 ns[GP_NR_PARTS], victims, begin_ns; } parts;
		struct { char text[48], class_name[16]; } name;
		u64 arg[8];	/* the same words, for code that only copies records */
	};
};

static_assert(sizeof(struct gp_rec) == 88, "gp_rec is a file format");
static_assert(offsetof(struct gp_rec, arg) == 24, "gp_rec is a file format");

static inline struct gp_class gp_rec_class(const struct gp_rec *rec)
{
	return (struct gp_class){
		.priority = (u32)rec->class.priority, .weight = (u32)rec->class.weight,
		.flags = (u32)rec->class.flags, .period_ns = rec->class.period_ns,
		.budget_ns = rec->class.budget_ns, .deadline_ns = rec->class.deadline_ns,
	};
}

/* Where records go. Must not fail and must not call the scheduler. */
struct gp_trace {
	void (*emit)(void *ctx, const struct gp_rec *rec);	/* NULL: nowhere */
	void *ctx;
};

/*
 * A trace file is GP_TRACE_MAGIC, then records. Values are little endian.
 */
#define GP_TRACE_MAGIC	0x3031656361727470ull	/* "ptrace10" */

struct gp_sched;
/*
 * Describes the current scheduler for a recorder that missed the first records: the inputs that
 * would create it, then a STATE record, with from equal to to, for each seat that is not ON.
 */
void gp_trace_describe(const struct gp_sched *sched, const struct gp_trace *to);
/*
 * Feeds one input record to @sched, which must have been made by gp_sched_init() from the
 * trace's GP_REC_INIT. Ignores output records; compare them with what the scheduler emits.
 * 0, or -EINVAL if the record is invalid.
 */
int gp_trace_feed(struct gp_sched *sched, const struct gp_rec *rec);

/*
 * Whether @rec tells a reader nothing: a call that only asks the scheduler, or a look without a
 * sample since the last look. An idle machine makes thousands of them in a second. @sampled is
 * the function's memory, a bit per device; it begins with 0.
 */
bool gp_rec_is_idle(const struct gp_rec *rec, u64 *sampled);

#endif /* GP_TRACE_H */
