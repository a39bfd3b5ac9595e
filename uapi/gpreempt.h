/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * /dev/gpreempt: the interface between the module gpreempt.ko and user space.
 *
 * A descriptor of this device attaches processes by a pidfd and one of their KFD descriptors. Only
 * a caller that holds this KFD descriptor has authority over the process. It may be the caller's
 * own, or come from pidfd_getfd(2), which needs the right to trace. Other descriptors of this
 * device can neither see nor change the tasks of this descriptor. When the descriptor is closed for
 * any reason, its tasks are put back on the GPU. Policy, parameters and mechanism hold for the
 * whole machine. The last call that sets them wins, and closing the last descriptor restores their
 * values after loading.
 *
 * Every call returns 0, or -1 with errno. A refused call has changed nothing. Fields named zero
 * must be 0 (-EINVAL). Common errors: ENOTTY no such call, EFAULT a bad address, EINVAL a value out
 * of its bounds, ENOENT no such task of this descriptor.
 */
#ifndef UAPI_GPREEMPT_H
#define UAPI_GPREEMPT_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GP_UAPI_VERSION	2	/* increases with every visible change */

enum {
	GP_UAPI_NAME	= 16,
	GP_UAPI_MEMBERS	= 64,	/* processes of one task */
	GP_UAPI_TASKS	= 256,	/* attached to the machine at once */
	GP_UAPI_GPUS	= 16,
};

#define GP_UAPI_ALL	0xffffffffu	/* every task of this descriptor */

enum gp_uapi_class_flag {
	GP_UAPI_LATENCY_CRITICAL	= 1 << 0,
	GP_UAPI_PREEMPTIBLE		= 1 << 1,
};

struct gp_uapi_class {
	__u32 priority;		/* larger values go first */
	__u32 weight;		/* 1..10000 */
	__u32 flags;		/* enum gp_uapi_class_flag */
	__u32 zero;
	__u64 period_ns, budget_ns, deadline_ns;
};

/* ---- calls ---- */

struct gp_uapi_version {
	__u32 version;		/* out: GP_UAPI_VERSION of the module */
	__u32 nr_gpus;		/* out: GPUs with queues of attached processes */
	__u32 nr_tasks;		/* out: of this descriptor */
	__u32 flags;		/* out: enum gp_uapi_module_flag */
	char policy[GP_UAPI_NAME];	/* out */
	char mechanism[GP_UAPI_NAME];	/* out: selected; gp_uapi_gpu has the one in use */
};

enum gp_uapi_module_flag {
	GP_UAPI_ENABLED		= 1 << 0,
	GP_UAPI_DIRECT_TESTED	= 1 << 1,	/* self test of `direct` passed on every GPU */
};

struct gp_uapi_member {
	__s32 pidfd;
	__s32 kfd_fd;		/* may be closed right after the call */
};

/*
 * A task: processes that are on the GPUs together or not at all. It may have no queues yet.
 * EBADF: not a pidfd, or not a file of the KFD driver.
 * ESRCH: the process has ended.
 * EXDEV: the two descriptors are of different processes, or the process has executed another
 * program since.
 * EEXIST: the process is attached already, by any descriptor.
 * ENOSPC: too many tasks, or the policy does not admit it.
 * EOPNOTSUPP: the driver is not the one this module was built for.
 * ENODEV: a GPU was unbound since the process began.
 * EAGAIN: the process keeps its memory locked (mmap_lock); try again later.
 * If the driver is busy, the queues of the task become known shortly after the call.
 */
struct gp_uapi_attach {
	__u64 members;		/* struct gp_uapi_member[nr_members] */
	__u32 nr_members;	/* 1..GP_UAPI_MEMBERS */
	__u32 task;		/* out: its handle; never 0, not reused soon */
	struct gp_uapi_class class;
};

struct gp_uapi_task {
	__u32 task;
	__u32 zero;
};

struct gp_uapi_set_class {
	__u32 task;
	__u32 zero;
	struct gp_uapi_class class;
};

struct gp_uapi_name {
	char name[GP_UAPI_NAME];	/* NUL within */
};

/* A parameter of the scheduler by its name (core/param.c). ENOENT, ERANGE. */
struct gp_uapi_param {
	char name[2 * GP_UAPI_NAME];
	__u64 value;
};

enum gp_uapi_grace {
	GP_UAPI_GRACE_DRIVER	= 0,	/* keep the driver's value */
	GP_UAPI_GRACE_MAX	= 255,	/* units of 1000 GPU clocks */
};

/*
 * "evict" (default), "direct" (where it can, else evict), "halt" (by hand only, never with a policy
 * that preempts), "auto" (direct where its self test has passed, else evict). EBUSY: a task is off
 * its GPU.
 */
struct gp_uapi_mechanism {
	char name[GP_UAPI_NAME];
	__u32 grace;		/* 0, or 1..GP_UAPI_GRACE_MAX: set on the GPU, restored at unload */
	__u32 zero;
};

enum gp_uapi_move_flag {
	GP_UAPI_NO_WAIT	= 1 << 0,	/* do not wait; events report the end */
};

/*
 * Takes tasks off their GPUs, or puts them back, by hand. All tasks move in one runlist cycle if
 * the mechanism can. A hold ends by itself after lease_ns, even if its owner is stopped meanwhile.
 * PREEMPT: EPERM: a task is not preemptible.
 * ETIME: some tasks had not moved after timeout_ns. @nr_done has the number of those that had. The
 * holds stay until RESUME or the lease.
 * EIO: a task is lost because the GPU did not answer.
 * EINTR.
 */
struct gp_uapi_move {
	__u64 tasks;		/* __u32[nr_tasks] */
	__u32 nr_tasks;		/* 1..GP_UAPI_TASKS */
	__u32 flags;		/* enum gp_uapi_move_flag */
	__u64 lease_ns;		/* PREEMPT: 0 means the longest allowed. RESUME: 0 */
	__u64 timeout_ns;	/* 0: twice the deadline of a stop */
	__u32 nr_done;		/* out */
	__u32 zero;
};

/* Announces work of @task in in_ns. The hint expires for_ns later. */
struct gp_uapi_hint {
	__u32 task;
	__u32 zero;
	__u64 in_ns, for_ns;
};

enum gp_uapi_subscription {
	GP_UAPI_EVENTS	= 1 << 0,	/* kinds from GP_UAPI_EVENT_FIRST on, of own tasks */
	GP_UAPI_TRACE	= 1 << 1,	/* inputs and outputs of the scheduler; for root */
};

struct gp_uapi_subscribe {
	__u32 what;		/* enum gp_uapi_subscription; resubscribing drops unread events */
	__s32 eventfd;		/* signalled when there is something to read; -1: none */
};

enum gp_uapi_state {
	GP_UAPI_ON, GP_UAPI_STOPPING, GP_UAPI_OFF, GP_UAPI_STARTING, GP_UAPI_LOST,
	GP_UAPI_ABSENT,		/* no queue on any GPU */
};

/* The state of a task on a GPU, and its account (core/account.h) over all its GPUs. */
struct gp_uapi_seat {
	__u32 task;		/* in */
	__u32 gpu_id;		/* in: 0: its first GPU; out */
	__u32 state;		/* out: enum gp_uapi_state */
	__u32 work;		/* out: enum gp_work */
	__u32 nr_queues;	/* out: queues that get looks here */
	__u32 next_gpu_id;	/* out: its next GPU; 0: none */
	__u64 stops, starts, lost, refused, late, arrivals, preempted_others;
	__u64 on_ns, off_ns, waiting_ns, longest_hold_ns;
};

struct gp_uapi_gpu {
	__u32 index;		/* in: 0..nr_gpus-1 */
	__u32 gpu_id;		/* out: as in /sys/class/kfd */
	__u32 flags;		/* out: enum gp_uapi_gpu_flag */
	__u32 compute_units;	/* out */
	__u64 location;		/* out: PCI domain << 16 | bus << 8 | devfn */
	__u64 looks, wakeups, decisions, actions, probes, resets;
	__u64 look_every_ns;	/* out: 0: no looks */
	__u64 look_ns;		/* out: duration of a look, moving average */
	char mechanism[GP_UAPI_NAME];	/* out: of the last action */
	char why_not_direct[64];	/* out: reason of the last refusal, or "" */
};

enum gp_uapi_gpu_flag {
	GP_UAPI_MES		= 1 << 0,	/* uses MES: evict loops, no direct, no halt */
	GP_UAPI_DIRECT_OK	= 1 << 1,	/* the self test has passed here */
	GP_UAPI_ISOLATED	= 1 << 2,	/* enforce_isolation is on: no batches, no halt */
};

/*
 * Tests what `direct` assumes of the firmware, on @task, which is stopped and started once.
 * UNMAP_QUEUES by PASID must stop all its queues, and nothing may map them again. EBUSY: not
 * possible now (oversubscribed, SDMA queues, reset, halted). EPROTO: an assumption does not hold
 * here; why names it.
 */
struct gp_uapi_selftest {
	__u32 task;
	__u32 gpu_id;
	char why[112];		/* out */
};

#define GP_IOC_VERSION		_IOR('g', 0xa0, struct gp_uapi_version)
#define GP_IOC_ATTACH		_IOWR('g', 0xa1, struct gp_uapi_attach)
#define GP_IOC_DETACH		_IOW('g', 0xa2, struct gp_uapi_task)
#define GP_IOC_SET_CLASS	_IOW('g', 0xa3, struct gp_uapi_set_class)
#define GP_IOC_SET_POLICY	_IOW('g', 0xa4, struct gp_uapi_name)
#define GP_IOC_SET_PARAM	_IOW('g', 0xa5, struct gp_uapi_param)
#define GP_IOC_SET_MECHANISM	_IOW('g', 0xa6, struct gp_uapi_mechanism)
#define GP_IOC_ENABLE		_IOW('g', 0xa7, struct gp_uapi_task)	/* .task: 0 or 1 */
#define GP_IOC_PREEMPT		_IOWR('g', 0xa8, struct gp_uapi_move)
#define GP_IOC_RESUME		_IOWR('g', 0xa9, struct gp_uapi_move)
/* Looks at all GPUs of @task and at its queues now. */
#define GP_IOC_TRIGGER		_IOW('g', 0xaa, struct gp_uapi_task)
#define GP_IOC_HINT		_IOW('g', 0xab, struct gp_uapi_hint)
#define GP_IOC_SUBSCRIBE	_IOW('g', 0xac, struct gp_uapi_subscribe)
#define GP_IOC_SEAT		_IOWR('g', 0xad, struct gp_uapi_seat)
#define GP_IOC_GPU		_IOWR('g', 0xae, struct gp_uapi_gpu)
#define GP_IOC_SELFTEST		_IOWR('g', 0xaf, struct gp_uapi_selftest)

/* ---- read(2): whole records, as many as fit; waits, or EAGAIN if there are none; poll(2) ---- */

/*
 * Kinds below GP_UAPI_EVENT_FIRST are struct gp_rec of core/trace.h, with the scheduler's own
 * numbers. The first ones describe the scheduler as it is, the others are its inputs and outputs.
 * Looks that saw no change are left out. GP_REC_DEVICE_ADD has the gpu_id in arg[1], GP_REC_NAME
 * the pid of a task in queue.
 */
enum gp_uapi_event_kind {
	GP_UAPI_EVENT_FIRST	= 128,
	GP_UAPI_EVENT_STATE	= 128,	/* arg: from, to (enum gp_uapi_state) */
	/*
	 * Other tasks were preempted for @task. arg: the five parts in ns, victims, 0, begin. If
	 * the driver gave the command and waited in one call, the third part is ~0 and the fourth
	 * (save) includes it.
	 */
	GP_UAPI_EVENT_PREEMPTION,
	GP_UAPI_EVENT_QUEUES,		/* arg: their number */
	GP_UAPI_EVENT_GONE,		/* all processes have ended; the handle is invalid */
	GP_UAPI_EVENT_RESET,		/* the GPU was reset */
	GP_UAPI_EVENT_REMOVED,		/* the GPU was removed */
	GP_UAPI_EVENT_EJECTED,		/* the policy broke its contract and was replaced by fifo */
	GP_UAPI_EVENT_DROPPED,		/* arg: number of dropped records */
};

struct gp_uapi_event {
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u32 kind;
	__u32 gpu_id;		/* 0: no GPU */
	__u32 task;		/* 0: no task */
	__u32 queue;
	__u64 arg[8];
};

/* ---- mmap(2) of one page, read only: statistics of the machine ---- */

struct gp_uapi_part {
	__u64 count, total_ns, max_ns;
};

/* Each counter is written by one processor at a time. Two counters may be of different moments. */
struct gp_uapi_stats {
	__u32 version;		/* GP_UAPI_VERSION */
	__u32 bytes;		/* of this structure */
	__u64 looks, wakeups, decisions, actions, probes, rescans;
	__u64 stopped, started, refused, lost, late;
	__u64 evict_cycles, direct_stops, direct_refused, halts, kicks;
	__u64 resets, removals, deaths, events_dropped, ejections;
	__u64 look_ns_max, worker_ns_max;
	__u64 nr_tasks, nr_off;
	__u64 looks_put_off;	/* delayed by the cap on their share of a processor */
	struct gp_uapi_part part[6];	/* enum gp_part, the last is the total */
};

#ifndef __KERNEL__
#include <assert.h>
#endif
static_assert(sizeof(struct gp_uapi_class) == 40, "ABI");
static_assert(sizeof(struct gp_uapi_version) == 48, "ABI");
static_assert(sizeof(struct gp_uapi_attach) == 56, "ABI");
static_assert(sizeof(struct gp_uapi_set_class) == 48, "ABI");
static_assert(sizeof(struct gp_uapi_param) == 40, "ABI");
static_assert(sizeof(struct gp_uapi_mechanism) == 24, "ABI");
static_assert(sizeof(struct gp_uapi_move) == 40, "ABI");
static_assert(sizeof(struct gp_uapi_hint) == 24, "ABI");
static_assert(sizeof(struct gp_uapi_seat) == 112, "ABI");
static_assert(sizeof(struct gp_uapi_gpu) == 168, "ABI");
static_assert(sizeof(struct gp_uapi_selftest) == 120, "ABI");
static_assert(sizeof(struct gp_uapi_event) == 88, "ABI");
static_assert(sizeof(struct gp_uapi_stats) == 360, "ABI");

#endif /* UAPI_GPREEMPT_H */
