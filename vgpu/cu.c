// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Compute units: what fits on them.
 *
 * Nearly always every kernel on the device has the same shape, and then the
 * number of workgroups that still fit on a CU changes exactly by the number
 * that come or go. So that number is kept for one shape (@cap) and the real
 * resources (@free) are brought up to date only when another shape appears.
 *
 * CUs are numbered in the order workgroups are dealt out: logical CU i is CU
 * i / xccs of XCC i % xccs, as the hardware spreads a CU mask.
 */
#include "device.h"

/* -EINVAL if one workgroup of @p does not fit on an empty CU. */
int vgpu_shape_of(const struct vgpu_facts *facts, const struct vgpu_packet *p,
		  struct vgpu_shape *ret)
{
	u64 vgpr = (u64)p->waves * p->vgpr_bytes;

	if (!p->waves || p->waves > vgpu_value(facts, VGPU_WAVES_PER_CU) ||
	    vgpr > vgpu_value(facts, VGPU_VGPR_PER_CU) ||
	    p->lds_bytes > vgpu_value(facts, VGPU_LDS_PER_CU))
		return -EINVAL;

	ret->need[0] = p->waves;
	ret->need[1] = (u32)vgpr;
	ret->need[2] = p->lds_bytes;
	return 0;
}

bool vgpu_shape_same(const struct vgpu_shape *a, const struct vgpu_shape *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static u32 fits(const u32 *have, const struct vgpu_shape *s)
{
	u32 n = have[0] / s->need[0];

	for (u32 d = 1; d < VGPU_DIMS; d++)
		if (s->need[d] && have[d] / s->need[d] < n)
			n = have[d] / s->need[d];
	return n;
}

u64 vgpu_slots(const struct vgpu_facts *facts, const struct vgpu_packet *p)
{
	u32 size[VGPU_DIMS] = {
		(u32)vgpu_value(facts, VGPU_WAVES_PER_CU),
		(u32)vgpu_value(facts, VGPU_VGPR_PER_CU),
		(u32)vgpu_value(facts, VGPU_LDS_PER_CU),
	};
	struct vgpu_shape s;

	if (vgpu_shape_of(facts, p, &s))
		return 0;
	return fits(size, &s) * vgpu_value(facts, VGPU_XCCS) *
	       vgpu_value(facts, VGPU_CUS_PER_XCC);
}

void vgpu_cu_init(struct vgpu *v)
{
	v->nr_cus = (u32)(vgpu_fact(v, VGPU_XCCS) * vgpu_fact(v, VGPU_CUS_PER_XCC));
	v->size[0] = (u32)vgpu_fact(v, VGPU_WAVES_PER_CU);
	v->size[1] = (u32)vgpu_fact(v, VGPU_VGPR_PER_CU);
	v->size[2] = (u32)vgpu_fact(v, VGPU_LDS_PER_CU);

	for (u32 d = 0; d < VGPU_DIMS; d++)
		for (u32 c = 0; c < v->nr_cus; c++)
			v->free[d][c] = v->size[d];
	v->cap_valid = false;
	v->next_cu = 0;
}

/* Brings @free up to date; @cap is invalid afterwards. */
void vgpu_cu_flush(struct vgpu *v)
{
	if (!v->cap_valid)
		return;
	v->cap_valid = false;

	/* A negative difference wraps around, and wraps back in the sum. */
	for (u32 d = 0; d < VGPU_DIMS; d++)
		for (u32 c = 0; c < v->nr_cus; c++)
			v->free[d][c] += ((u32)v->cap[c] - v->cap0[c]) * v->shape.need[d];
}

/* Makes @cap count workgroups of @s. */
void vgpu_cu_shape(struct vgpu *v, const struct vgpu_shape *s)
{
	if (v->cap_valid && vgpu_shape_same(&v->shape, s))
		return;
	vgpu_cu_flush(v);

	for (u32 c = 0; c < v->nr_cus; c++) {
		u32 have[VGPU_DIMS] = { v->free[0][c], v->free[1][c], v->free[2][c] };

		v->cap[c] = (u8)fits(have, s);
	}
	memcpy(v->cap0, v->cap, v->nr_cus);
	v->cap_sum = 0;
	for (u32 c = 0; c < v->nr_cus; c++)
		v->cap_sum += v->cap[c];
	v->shape = *s;
	v->cap_valid = true;
}

/* Workgroups of the current shape that fit on @cus empty CUs. */
u32 vgpu_cu_fit_empty(const struct vgpu *v, u32 cus)
{
	return fits(v->size, &v->shape) * cus;
}

/* Workgroups of the current shape that fit on a range of CUs. */
u32 vgpu_cu_fits(struct vgpu *v, u32 cu_first, u32 cu_end)
{
	u32 n = 0;

	if (!v->cap_sum || (!cu_first && cu_end == v->nr_cus))
		return v->cap_sum;
	for (u32 c = cu_first; c < cu_end; c++)
		n += v->cap[c];
	return n;
}

/*
 * Dealing @n out one per CU and round would fill every CU to some level, and
 * one more on the first few of the next round. Finds that level; *@n becomes
 * what is left for the next round.
 */
static u32 find_level(struct vgpu *v, u32 cu_first, u32 cu_end, u32 *n)
{
	u32 open = cu_end - cu_first, level = 0;

	memset(v->hist, 0, (v->size[0] + 1) * sizeof(v->hist[0]));
	for (u32 c = cu_first; c < cu_end; c++)
		v->hist[v->cap[c]]++;

	open -= v->hist[0];
	while (open && *n >= open) {
		*n -= open;
		open -= v->hist[++level];
	}
	return level;
}

/*
 * One to each CU where more than @level fit, beginning where the last round
 * ended, until @n are dealt out. Returns how many are left over.
 */
static u32 deal_round(struct vgpu *v, const struct vgpu_queue *q, u8 *per_cu, u32 n, u32 level)
{
	u32 at = v->next_cu;

	if (at < q->cu_first || at >= q->cu_end)
		at = q->cu_first;
	for (u32 left = q->cu_end - q->cu_first; left && n; left--) {
		u8 one = v->cap[at] > level;

		v->cap[at] -= one;
		per_cu[at] += one;
		n -= one;
		at = at + 1 < q->cu_end ? at + 1 : q->cu_first;
	}
	v->next_cu = at;
	return n;
}

/*
 * Takes @n slots of the current shape for @q; @per_cu, all zero so far, says
 * where. The caller knows that they fit.
 */
void vgpu_cu_take(struct vgpu *v, const struct vgpu_queue *q, u8 *per_cu, u32 n)
{
	u32 level;

	if (n == v->cap_sum) {
		memcpy(per_cu, v->cap, v->nr_cus);
		memset(v->cap, 0, v->nr_cus);
		v->cap_sum = 0;
		return;
	}
	v->cap_sum -= n;
	n = deal_round(v, q, per_cu, n, 0);
	if (!n)
		return;

	level = find_level(v, q->cu_first, q->cu_end, &n);
	deal_round(v, q, per_cu, n, level);
	for (u32 c = q->cu_first; c < q->cu_end; c++) {
		u8 k = v->cap[c] < level ? v->cap[c] : (u8)level;

		v->cap[c] -= k;
		per_cu[c] += k;
	}
}

/* Takes a slot for one workgroup of any shape; VGPU_NONE if it fits nowhere. Call after a flush. */
u32 vgpu_cu_take_one(struct vgpu *v, const struct vgpu_queue *q, const struct vgpu_shape *s)
{
	u32 at = v->next_cu;

	if (at < q->cu_first || at >= q->cu_end)
		at = q->cu_first;

	for (u32 left = q->cu_end - q->cu_first; left; left--) {
		u32 c = at;

		at = at + 1 < q->cu_end ? at + 1 : q->cu_first;
		if (v->free[0][c] < s->need[0] || v->free[1][c] < s->need[1] ||
		    v->free[2][c] < s->need[2])
			continue;
		for (u32 d = 0; d < VGPU_DIMS; d++)
			v->free[d][c] -= s->need[d];
		v->next_cu = at;
		return c;
	}
	return VGPU_NONE;
}

/* @to[] += @add[], eight counts at a time; no count can carry into its neighbour. */
static void add_counts(u8 *to, const u8 *add, u32 nr)
{
	for (u32 i = 0; i < nr; i += 8) {
		u64 a, b;

		memcpy(&a, to + i, 8);
		memcpy(&b, add + i, 8);
		a += b;
		memcpy(to + i, &a, 8);
	}
}

/* Releases slots. */
void vgpu_cu_give(struct vgpu *v, const struct vgpu_shape *s, const struct vgpu_cohort *cohort)
{
	const u8 *per_cu = cohort->per_cu;

	if (v->cap_valid && vgpu_shape_same(&v->shape, s)) {
		add_counts(v->cap, per_cu, v->nr_cus);
		v->cap_sum += cohort->count;
		return;
	}

	vgpu_cu_flush(v);
	for (u32 d = 0; d < VGPU_DIMS; d++)
		for (u32 c = 0; c < v->nr_cus; c++)
			v->free[d][c] += per_cu[c] * s->need[d];
}
