// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What can be asked of the device without changing it. Slow and exact: these
 * walk every cohort, as reading the hardware's counters walks every register.
 */
#include "device.h"

int vgpu_queue_state(const struct vgpu *v, u32 queue)
{
	if (queue >= VGPU_MAX_QUEUES || !v->queues[queue].used)
		return -ENOENT;
	return v->queues[queue].error ? VGPU_ERROR : v->queues[queue].state;
}

/* One byte per CU, eight at a time, because every stop reads this. */
union any {
	u64 word[VGPU_MAX_CUS / 8];
	u8 cu[VGPU_MAX_CUS];
};

static_assert(VGPU_MAX_CUS % 8 == 0, "CUs are counted in words of eight");

static void add_cohort(const struct vgpu *v, const struct vgpu_cohort *c,
		       u64 used[VGPU_DIMS], union any *any)
{
	const struct vgpu_shape *s = &v->queues[c->queue].flight[c->flight].shape;
	u64 word;

	for (u32 d = 0; d < VGPU_DIMS; d++)
		used[d] += (u64)c->count * s->need[d];
	for (u32 i = 0; i + 8 <= v->nr_cus; i += 8) {
		memcpy(&word, &c->per_cu[i], sizeof(word));
		any->word[i / 8] |= word;
	}
	for (u32 i = v->nr_cus / 8 * 8; i < v->nr_cus; i++)
		any->cu[i] |= c->per_cu[i];
}

void vgpu_busy(const struct vgpu *v, u32 process, struct vgpu_busy *ret)
{
	union any any = { { 0 } };
	u64 used[VGPU_DIMS] = { 0 };

	for (u32 i = 0; i < v->nr_on; i++) {
		const struct vgpu_queue *q = &v->queues[v->on[i]];

		if (q->process != process)
			continue;
		for (u32 id = q->cohorts; id != VGPU_NONE; id = vgpu_cohort_at(v, id)->next)
			add_cohort(v, vgpu_cohort_at(v, id), used, &any);
	}

	memset(ret, 0, sizeof(*ret));
	ret->waves = (u32)used[0];
	for (u32 i = 0; i < v->nr_cus; i++)
		ret->cus += any.cu[i] != 0;
	for (u32 d = 0; d < VGPU_DIMS; d++) {
		u64 all = (u64)v->size[d] * v->nr_cus;
		u64 permille = all ? (used[d] * 1000 + all - 1) / all : 0;

		if (permille > ret->permille)
			ret->permille = (u32)permille;
	}
}

/* Logical CU i is on XCC i % xccs (cu.c). */
u32 vgpu_queue_waves(const struct vgpu *v, u32 queue, u32 xcc)
{
	u32 xccs = (u32)vgpu_fact(v, VGPU_XCCS), waves = 0;
	const struct vgpu_queue *q;

	if (queue >= VGPU_MAX_QUEUES || !v->queues[queue].used)
		return 0;
	q = &v->queues[queue];
	for (u32 id = q->cohorts; id != VGPU_NONE; id = vgpu_cohort_at(v, id)->next) {
		const struct vgpu_cohort *c = vgpu_cohort_at(v, id);

		for (u32 cu = xcc; cu < v->nr_cus; cu += xccs)
			waves += c->per_cu[cu] * q->flight[c->flight].shape.need[0];
	}
	return waves;
}

u64 vgpu_work_ns(const struct vgpu *v, u32 process)
{
	u64 ns;

	if (process >= VGPU_MAX_PROCESSES)
		return 0;
	ns = v->work_ns[process];
	for (u32 i = 0; i < v->nr_heap; i++) {
		const struct vgpu_cohort *c = vgpu_cohort_at(v, v->heap[i].cohort);

		if (v->queues[c->queue].process == process && v->now > c->start_ns)
			ns += (v->now - c->start_ns) * c->count;
	}
	return ns;
}

const struct vgpu_counters *vgpu_counters(const struct vgpu *v)
{
	return &v->counters;
}
