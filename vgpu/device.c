// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The device: its life, its time, what can be asked of it.
 *
 * Things that happen at the same instant happen in this order:
 *
 *   1. workgroups end, in the order they were started;
 *   2. one step of the command processor;
 *   3. queues launch packets and free slots are filled.
 *
 * and again from 1 until nothing is left to happen at that instant. So a wave
 * that ends when it would have been saved has ended, and slots that free
 * together are given out together.
 */
#include "device.h"

static u64 max_cohorts(const struct vgpu_facts *facts)
{
	return vgpu_value(facts, VGPU_XCCS) * vgpu_value(facts, VGPU_CUS_PER_XCC) *
	       vgpu_value(facts, VGPU_WAVES_PER_CU);
}

static u64 cus(const struct vgpu_facts *facts)
{
	return vgpu_value(facts, VGPU_XCCS) * vgpu_value(facts, VGPU_CUS_PER_XCC);
}

static bool within(u64 value, u64 least, u64 most)
{
	return value >= least && value <= most;
}

/* Limits of the arithmetic and the arrays. */
static bool facts_sane(const struct vgpu_facts *f)
{
	return vgpu_facts_complete(f) &&
	       within(vgpu_value(f, VGPU_XCCS), 1, VGPU_MAX_CUS) &&
	       within(vgpu_value(f, VGPU_CUS_PER_XCC), 1, VGPU_MAX_CUS) &&
	       cus(f) <= VGPU_MAX_CUS &&
	       within(vgpu_value(f, VGPU_WAVES_PER_CU), 1, VGPU_MAX_WAVES_PER_CU) &&
	       within(vgpu_value(f, VGPU_VGPR_PER_CU), 1, BIT_ULL(30)) &&
	       within(vgpu_value(f, VGPU_LDS_PER_CU), 1, BIT_ULL(30)) &&
	       within(vgpu_value(f, VGPU_SGPR_PER_WAVE), 0, BIT_ULL(20)) &&
	       within(vgpu_value(f, VGPU_HWREG_PER_WAVE), 0, BIT_ULL(20)) &&
	       within(vgpu_value(f, VGPU_HQD_SLOTS), 1, VGPU_MAX_QUEUES) &&
	       within(vgpu_value(f, VGPU_VMIDS), 1, VGPU_MAX_PROCESSES) &&
	       within(vgpu_value(f, VGPU_BANDWIDTH_VRAM), 1, BIT_ULL(40)) &&
	       within(vgpu_value(f, VGPU_BANDWIDTH_HOST), 1, BIT_ULL(40)) &&
	       within(vgpu_value(f, VGPU_SAVE_EFFICIENCY), 1, 1000) &&
	       vgpu_value(f, VGPU_RPTR_AT) <= VGPU_RPTR_AT_LAUNCH &&
	       vgpu_value(f, VGPU_SAVE_AREA) <= VGPU_SAVE_HOST &&
	       /* a turn of length 0 would stop time */
	       vgpu_value(f, VGPU_QUANTUM_NS) >= 1;
}

u64 vgpu_size(const struct vgpu_facts *facts)
{
	return sizeof(struct vgpu) + max_cohorts(facts) *
	       (sizeof(struct vgpu_end) + vgpu_cohort_stride(cus(facts)));
}

int vgpu_init(void *mem, const struct vgpu_facts *facts, const struct vgpu_world *world,
	      void *ctx, struct vgpu **ret)
{
	struct vgpu *v = mem;

	if (!facts_sane(facts))
		return -EINVAL;

	memset(v, 0, sizeof(*v));
	v->facts = *facts;
	v->world = *world;
	v->ctx = ctx;
	v->faults.stuck = VGPU_NONE;
	v->faults.slow = 1;
	v->cp.at = VGPU_NEVER;
	v->rotate_at = VGPU_NEVER;
	v->wake_ns = VGPU_NEVER;
	v->max_cohorts = (u32)max_cohorts(facts);
	v->cohort_stride = vgpu_cohort_stride(cus(facts));
	v->heap = (struct vgpu_end *)(v + 1);
	v->cohorts = (char *)(v->heap + v->max_cohorts);
	vgpu_cu_init(v);
	vgpu_cohort_init(v);
	*ret = v;
	return 0;
}

struct vgpu_queue *vgpu_queue_get(struct vgpu *v, u32 queue)
{
	return queue < VGPU_MAX_QUEUES && v->queues[queue].used ? &v->queues[queue] : NULL;
}

void vgpu_report(struct vgpu *v, const struct vgpu_queue *q, const char *what)
{
	v->world.report(v->ctx, q ? vgpu_queue_id(v, q) : VGPU_NONE, what);
}

/* KFD priorities 0..15 share three pipe priorities (pipe_priority_map). */
static u8 pipe_of(u8 priority)
{
	return priority < 7 ? 0 : priority < 11 ? 1 : 2;
}

static u32 free_queue(const struct vgpu *v)
{
	for (u32 i = 0; i < VGPU_MAX_QUEUES; i++)
		if (!v->queues[i].used)
			return i;
	return VGPU_NONE;
}

static bool args_sane(const struct vgpu *v, const struct vgpu_queue_args *args)
{
	return args->process < VGPU_MAX_PROCESSES && args->priority <= 15 &&
	       args->cu_first <= v->nr_cus && args->cu_count <= v->nr_cus - args->cu_first;
}

static void set_args(const struct vgpu *v, struct vgpu_queue *q, const struct vgpu_queue_args *args)
{
	q->pipe = pipe_of(args->priority);
	q->area_bytes = args->area_bytes;
	q->cu_first = args->cu_count ? args->cu_first : 0;
	q->cu_end = args->cu_count ? args->cu_first + args->cu_count : v->nr_cus;
}

int vgpu_queue_create(struct vgpu *v, const struct vgpu_queue_args *args, u32 *ret)
{
	u32 id = free_queue(v);
	struct vgpu_queue *q;

	if (!args_sane(v, args))
		return -EINVAL;
	if (id == VGPU_NONE)
		return -ENOSPC;

	q = &v->queues[id];
	memset(q, 0, sizeof(*q));
	q->used = true;
	q->state = VGPU_UNMAPPED;
	q->process = args->process;
	set_args(v, q, args);
	q->last_done_ns = VGPU_NEVER;
	q->cohorts = VGPU_NONE;
	*ret = id;
	return 0;
}

int vgpu_queue_update(struct vgpu *v, u32 queue, const struct vgpu_queue_args *args)
{
	struct vgpu_queue *q = vgpu_queue_get(v, queue);

	if (!q)
		return -ENOENT;
	if (!args_sane(v, args) || args->process != q->process)
		return -EINVAL;
	if (q->listed)
		return -EBUSY;
	set_args(v, q, args);
	return 0;
}

int vgpu_queue_fail(struct vgpu *v, u32 queue, const char *what, u64 now_ns)
{
	struct vgpu_queue *q;

	vgpu_advance(v, now_ns);
	q = vgpu_queue_get(v, queue);
	if (!q)
		return -ENOENT;
	if (!q->error)
		vgpu_queue_error(v, q, what);
	vgpu_settle(v);
	return 0;
}

int vgpu_queue_destroy(struct vgpu *v, u32 queue, u64 now_ns)
{
	struct vgpu_queue *q;

	vgpu_advance(v, now_ns);
	q = vgpu_queue_get(v, queue);
	if (!q)
		return -ENOENT;

	vgpu_queue_stop(v, q);
	vgpu_queue_drop(v, q);
	vgpu_runlist_remove(v, q);
	/* The number may be given to another queue. */
	if (v->faults.stuck == queue)
		v->faults.stuck = VGPU_NONE;
	q->used = false;
	vgpu_settle(v);
	return 0;
}

int vgpu_doorbell(struct vgpu *v, u32 queue, u64 now_ns)
{
	struct vgpu_queue *q;

	vgpu_advance(v, now_ns);
	q = vgpu_queue_get(v, queue);
	if (!q)
		return -ENOENT;

	v->counters.doorbells++;
	q->wptr = v->world.wptr(v->ctx, queue);
	vgpu_settle(v);
	return 0;
}

int vgpu_queue_unread(struct vgpu *v, u32 queue, bool unread, u64 now_ns)
{
	struct vgpu_queue *q;

	vgpu_advance(v, now_ns);
	q = vgpu_queue_get(v, queue);
	if (!q)
		return -ENOENT;

	q->unread = unread;
	vgpu_settle(v);
	return 0;
}

void vgpu_signal(struct vgpu *v, u64 now_ns)
{
	vgpu_advance(v, now_ns);
	for (u32 i = 0; i < v->nr_on; i++)
		v->queues[v->on[i]].blocked = false;
	vgpu_settle(v);
}

/* Launches packets and fills slots, then computes the time of the next event. */
void vgpu_settle(struct vgpu *v)
{
	vgpu_dispatch(v);
	vgpu_hws_check_empty(v);
	vgpu_runlist_plan(v);

	v->wake_ns = VGPU_NEVER;
	for (u32 i = 0; i < v->nr_on; i++) {
		const struct vgpu_queue *q = &v->queues[v->on[i]];

		if (q->wake_ns > v->now && q->state == VGPU_MAPPED)
			v->wake_ns = vgpu_min(v->wake_ns, q->wake_ns);
	}
}

u64 vgpu_next_ns(const struct vgpu *v)
{
	u64 next = v->nr_heap ? v->heap[0].end_ns : VGPU_NEVER;

	return vgpu_min(vgpu_min(next, v->wake_ns), vgpu_hws_next(v));
}

void vgpu_advance(struct vgpu *v, u64 now_ns)
{
	u64 next;

	/* Refuse calls from callbacks, and times that go backwards. */
	if (GP_WARN_ON(v->inside) || GP_WARN_ON(now_ns < v->now))
		return;

	v->inside = true;
	while ((next = vgpu_next_ns(v)) <= now_ns) {
		v->now = vgpu_max(v->now, next);
		while (vgpu_cohort_end_next(v))
			;
		vgpu_hws_step(v);
		vgpu_settle(v);
	}
	v->now = now_ns;
	v->inside = false;
}

int vgpu_limit(struct vgpu *v, u32 slots, u32 vmids)
{
	if (!within(slots, 1, VGPU_MAX_QUEUES) || !within(vmids, 1, VGPU_MAX_PROCESSES))
		return -EINVAL;
	v->facts.f[VGPU_HQD_SLOTS].value = slots;
	v->facts.f[VGPU_VMIDS].value = vmids;
	return 0;
}

int vgpu_fault(struct vgpu *v, enum vgpu_fault fault, u64 arg)
{
	switch (fault) {
	case VGPU_FAULT_NONE:
		memset(&v->faults, 0, sizeof(v->faults));
		v->faults.stuck = VGPU_NONE;
		v->faults.slow = 1;
		return 0;
	case VGPU_FAULT_HANG:
		v->faults.hang = true;
		return 0;
	case VGPU_FAULT_PREEMPT:
		if (arg >= VGPU_MAX_QUEUES || !v->queues[arg].used)
			return -ENOENT;
		v->faults.stuck = (u32)arg;
		return 0;
	case VGPU_FAULT_SLOW_SAVE:
		if (!arg)
			return -EINVAL;
		v->faults.slow = arg;
		return 0;
	case VGPU_FAULT_RPTR_EARLY:
		v->faults.rptr_early = true;
		return 0;
	}
	return -EINVAL;
}

void vgpu_gpu_reset(struct vgpu *v, u64 now_ns)
{
	vgpu_advance(v, now_ns);
	v->faults.hang = false;
	vgpu_hws_reset(v);
	vgpu_settle(v);
}
