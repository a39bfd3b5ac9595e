/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tracepoints gpreempt:*, for perf, trace-cmd and bpftrace. They name a task by its handle and the
 * pid of its first process, and a GPU by its number in /sys/class/kfd.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gpreempt

#if !defined(GP_KERNEL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define GP_KERNEL_TRACE_H

#include <linux/tracepoint.h>

#include "core/trace.h"

#ifndef GP_KERNEL_TRACE_WHO
#define GP_KERNEL_TRACE_WHO
struct gp_trace_who {
	u32 gpu_id;
	u32 task;		/* handle; 0: no task */
	s32 pid;
};
#endif

/* One part of a preemption (enum gp_part), emitted when the preemption is complete. */
DECLARE_EVENT_CLASS(gp_part,
	TP_PROTO(const struct gp_trace_who *who, u64 ns),
	TP_ARGS(who, ns),
	TP_STRUCT__entry(
		__field(u64, ns)
		__field(u32, gpu_id)
		__field(u32, task)
		__field(s32, pid)
	),
	TP_fast_assign(
		__entry->ns = ns;
		__entry->gpu_id = who->gpu_id;
		__entry->task = who->task;
		__entry->pid = who->pid;
	),
	TP_printk("gpu_id=%u task=%u pid=%d ns=%llu", __entry->gpu_id, __entry->task,
		  __entry->pid, __entry->ns)
);

DEFINE_EVENT(gp_part, detect, TP_PROTO(const struct gp_trace_who *who, u64 ns), TP_ARGS(who, ns));
DEFINE_EVENT(gp_part, decide, TP_PROTO(const struct gp_trace_who *who, u64 ns), TP_ARGS(who, ns));
DEFINE_EVENT(gp_part, command, TP_PROTO(const struct gp_trace_who *who, u64 ns), TP_ARGS(who, ns));
DEFINE_EVENT(gp_part, save, TP_PROTO(const struct gp_trace_who *who, u64 ns), TP_ARGS(who, ns));
DEFINE_EVENT(gp_part, switch, TP_PROTO(const struct gp_trace_who *who, u64 ns), TP_ARGS(who, ns));

/* A task got a GPU after other tasks were preempted. */
TRACE_EVENT(preemption,
	TP_PROTO(const struct gp_trace_who *who, u64 total_ns, u32 victims),
	TP_ARGS(who, total_ns, victims),
	TP_STRUCT__entry(
		__field(u64, total_ns)
		__field(u32, gpu_id)
		__field(u32, task)
		__field(s32, pid)
		__field(u32, victims)
	),
	TP_fast_assign(
		__entry->total_ns = total_ns;
		__entry->gpu_id = who->gpu_id;
		__entry->task = who->task;
		__entry->pid = who->pid;
		__entry->victims = victims;
	),
	TP_printk("gpu_id=%u task=%u pid=%d total_ns=%llu victims=%u", __entry->gpu_id,
		  __entry->task, __entry->pid, __entry->total_ns, __entry->victims)
);

/* A look saw the pointers of a queue change. */
TRACE_EVENT(sample,
	TP_PROTO(u32 gpu_id, const struct gp_rec *rec),
	TP_ARGS(gpu_id, rec),
	TP_STRUCT__entry(
		__field(u64, rptr)
		__field(u64, wptr)
		__field(u32, gpu_id)
		__field(u32, queue)
	),
	TP_fast_assign(
		__entry->rptr = rec->arg[0];
		__entry->wptr = rec->arg[1];
		__entry->gpu_id = gpu_id;
		__entry->queue = rec->queue;
	),
	TP_printk("gpu_id=%u queue=%u rptr=%llu wptr=%llu", __entry->gpu_id, __entry->queue,
		  __entry->rptr, __entry->wptr)
);

/* A look at a GPU is complete. */
TRACE_EVENT(look,
	TP_PROTO(u32 gpu_id),
	TP_ARGS(gpu_id),
	TP_STRUCT__entry(__field(u32, gpu_id)),
	TP_fast_assign(__entry->gpu_id = gpu_id;),
	TP_printk("gpu_id=%u", __entry->gpu_id)
);

/* The scheduler ordered an action on a GPU, for a task or for none. */
TRACE_EVENT(action,
	TP_PROTO(const struct gp_trace_who *who, u64 id),
	TP_ARGS(who, id),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, gpu_id)
		__field(u32, task)
		__field(s32, pid)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->gpu_id = who->gpu_id;
		__entry->task = who->task;
		__entry->pid = who->pid;
	),
	TP_printk("id=%llu gpu_id=%u task=%u pid=%d", __entry->id, __entry->gpu_id,
		  __entry->task, __entry->pid)
);

/* An action was done, refused or not answered (enum gp_outcome). */
TRACE_EVENT(answer,
	TP_PROTO(u32 gpu_id, const struct gp_rec *rec),
	TP_ARGS(gpu_id, rec),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, command_ns)
		__field(u64, saved_ns)
		__field(u64, switched_ns)
		__field(u32, gpu_id)
		__field(u32, outcome)
	),
	TP_fast_assign(
		__entry->id = rec->arg[0];
		__entry->command_ns = rec->arg[2];
		__entry->saved_ns = rec->arg[4];
		__entry->switched_ns = rec->arg[5];
		__entry->gpu_id = gpu_id;
		__entry->outcome = (u32)rec->arg[1];
	),
	TP_printk("id=%llu gpu_id=%u outcome=%u command_ns=%llu saved_ns=%llu switched_ns=%llu",
		  __entry->id, __entry->gpu_id, __entry->outcome, __entry->command_ns,
		  __entry->saved_ns, __entry->switched_ns)
);

/* A task changed its state on a GPU (enum gp_uapi_state). now_ns is the scheduler's time. */
TRACE_EVENT(state,
	TP_PROTO(const struct gp_trace_who *who, const struct gp_rec *rec),
	TP_ARGS(who, rec),
	TP_STRUCT__entry(
		__field(u64, now_ns)
		__field(u32, gpu_id)
		__field(u32, task)
		__field(s32, pid)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->gpu_id = who->gpu_id;
		__entry->task = who->task;
		__entry->pid = who->pid;
		__entry->from = (u32)rec->arg[0];
		__entry->to = (u32)rec->arg[1];
		__entry->now_ns = rec->now_ns;
	),
	TP_printk("gpu_id=%u task=%u pid=%d from=%u to=%u now_ns=%llu", __entry->gpu_id,
		  __entry->task, __entry->pid, __entry->from, __entry->to, __entry->now_ns)
);

#endif /* GP_KERNEL_TRACE_H */

/* The compiler finds this folder by its -I option. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE gp_trace
#include <trace/define_trace.h>
