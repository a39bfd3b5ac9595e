// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Waves in the save area.
 *
 * The sizes are those of the hardware: registers of every wave, LDS of every
 * workgroup. What is really written is a header and one record per cohort. The
 * queue keeps only what an MQD keeps (how much of the area is used); how far
 * the waves are is nowhere but in the area, and what is read back is believed
 * as far as it can be: a record that cannot be true is reported and its
 * workgroups are lost.
 *
 * Restored waves need slots like new ones. Those that find none stay in the
 * area; a save in that state moves them to its front.
 */
#include "device.h"

struct header {
	u32 magic;
	u32 queue;
	u64 records;
};

#define MAGIC	0x57415645u	/* WAVE */
enum { GROUPS = 16 };

static u64 offset_of(u32 record)
{
	return sizeof(struct header) + record * sizeof(struct vgpu_record);
}

/* Bytes of one workgroup of @p in the area. */
u64 vgpu_wave_bytes(const struct vgpu_facts *facts, const struct vgpu_packet *p)
{
	return p->waves * (p->vgpr_bytes + vgpu_value(facts, VGPU_SGPR_PER_WAVE) +
			   vgpu_value(facts, VGPU_HWREG_PER_WAVE)) + p->lds_bytes;
}

u64 vgpu_save_bytes(const struct vgpu_facts *facts, const struct vgpu_packet *p, u64 workgroups)
{
	return workgroups * vgpu_wave_bytes(facts, p);
}

/* Nanoseconds to move @bytes, rounded up. */
static u64 move_ns(const struct vgpu_facts *facts, u64 bytes)
{
	bool host = vgpu_value(facts, VGPU_SAVE_AREA) == VGPU_SAVE_HOST;
	u64 per_us = vgpu_value(facts, host ? VGPU_BANDWIDTH_HOST : VGPU_BANDWIDTH_VRAM);
	u64 per_ms = per_us * vgpu_value(facts, VGPU_SAVE_EFFICIENCY);

	/* bytes / (per_us * efficiency / 1000) us = bytes * 10^6 / per_ms ns */
	if (!per_ms || bytes > ~0ull / 1000000 - per_ms)
		return VGPU_NEVER / 4;
	return (bytes * 1000000 + per_ms - 1) / per_ms;
}

u64 vgpu_save_ns(const struct vgpu_facts *facts, u64 bytes)
{
	return bytes ? vgpu_value(facts, VGPU_SAVE_FIXED_NS) + move_ns(facts, bytes) : 0;
}

u64 vgpu_restore_ns(const struct vgpu_facts *facts, u64 bytes)
{
	return bytes ? vgpu_value(facts, VGPU_RESTORE_FIXED_NS) + move_ns(facts, bytes) : 0;
}

static int put(struct vgpu *v, struct vgpu_queue *q, u32 at, const struct vgpu_record *r)
{
	return v->world.area_write(v->ctx, vgpu_queue_id(v, q), offset_of(at), r, sizeof(*r));
}

static int get(struct vgpu *v, struct vgpu_queue *q, u32 at, struct vgpu_record *r)
{
	return v->world.area_read(v->ctx, vgpu_queue_id(v, q), offset_of(at), r, sizeof(*r));
}

/* Moves records not yet restored to the front of the area. *@nr is their number. */
static int move_to_front(struct vgpu *v, struct vgpu_queue *q, u32 *nr)
{
	u32 from = q->restored, to = 0;
	struct vgpu_record r;

	if (q->has_record) {
		if (put(v, q, to++, &q->record))
			return -EFAULT;
		from++;
	}
	for (; from < q->saved; from++, to++)
		if (get(v, q, from, &r) || put(v, q, to, &r))
			return -EFAULT;
	*nr = to;
	return 0;
}

/* Waves of one packet that become one record. */
struct group {
	u64 count;
	u64 value;
	u64 left_ns;		/* sum over all waves */
};

static void group_add(struct group *g, const struct vgpu_cohort *c)
{
	g->count += c->count;
	g->value += c->value;
	g->left_ns += c->count * (c->end_ns - c->start_ns);
}

/* Appends @g as record @nr of @q's area; @f is the packet. */
static int group_write(struct vgpu *v, struct vgpu_queue *q, struct vgpu_flight *f,
		       const struct group *g, u32 *nr)
{
	struct vgpu_record r = { .index = f->index, .count = g->count, .value = g->value };
	u64 odd;

	if (!g->count)
		return 0;
	r.left_ns = g->left_ns / g->count;

	/* The remainder of the division counts as done now, so that no work is lost. */
	odd = g->left_ns % g->count;
	f->work_ns += odd;
	v->work_ns[q->process] += odd;
	return put(v, q, (*nr)++, &r);
}

/*
 * Cohorts of one packet, with the resolution of the model: if there are more
 * than GROUPS of them, those about as far as each other come back together,
 * each with the mean of what they had left. Real waves drift apart and back;
 * here a thousand saves would leave a cohort per workgroup.
 */
static int write_flight(struct vgpu *v, struct vgpu_queue *q, u32 flight, u32 *nr)
{
	struct group group[GROUPS] = { 0 };
	struct vgpu_flight *f = &q->flight[flight];
	u32 cohorts = 0;
	int err = 0;

	for (u32 id = q->cohorts; id != VGPU_NONE; id = vgpu_cohort_at(v, id)->next)
		cohorts += vgpu_cohort_at(v, id)->flight == flight;

	for (u32 id = q->cohorts; id != VGPU_NONE && !err; id = vgpu_cohort_at(v, id)->next) {
		const struct vgpu_cohort *c = vgpu_cohort_at(v, id);
		struct group alone = { 0 };
		u64 at = (c->end_ns - c->start_ns) / (f->p.workgroup_ns / GROUPS + 1);

		if (c->flight != flight)
			continue;
		group_add(cohorts > GROUPS ? &group[at] : &alone, c);
		err = group_write(v, q, f, &alone, nr);
	}
	for (u32 i = 0; i < GROUPS && !err; i++)
		err = group_write(v, q, f, &group[i], nr);
	return err;
}

static int write_live(struct vgpu *v, struct vgpu_queue *q, u32 *nr)
{
	int err = 0;

	if (q->cohorts == VGPU_NONE)
		return 0;
	for (u32 i = 0; i < q->nr_flights && !err; i++)
		err = write_flight(v, q, (q->first_flight + i) % VGPU_IN_FLIGHT, nr);
	return err;
}

static int write_area(struct vgpu *v, struct vgpu_queue *q, u32 *nr)
{
	struct header h = { .magic = MAGIC, .queue = vgpu_queue_id(v, q) };
	int err = move_to_front(v, q, nr);

	if (!err)
		err = write_live(v, q, nr);
	if (err || !*nr)
		return err;
	h.records = *nr;
	return v->world.area_write(v->ctx, h.queue, 0, &h, sizeof(h)) ? -EFAULT : 0;
}

static void size_of_live(struct vgpu *v, struct vgpu_queue *q, struct vgpu_saved *ret)
{
	ret->bytes = 0;
	ret->waves = 0;
	for (u32 id = q->cohorts; id != VGPU_NONE; id = vgpu_cohort_at(v, id)->next) {
		const struct vgpu_cohort *c = vgpu_cohort_at(v, id);
		const struct vgpu_packet *p = &q->flight[c->flight].p;

		ret->bytes += vgpu_save_bytes(&v->facts, p, c->count);
		ret->waves += c->count * p->waves;
	}
}

/*
 * Freezes the waves of @q and writes them to its area; they hold their slots
 * until the caller drops them. -ENOSPC if the area is too small, -EFAULT if it
 * cannot be written: then the waves run on.
 */
int vgpu_save(struct vgpu *v, struct vgpu_queue *q, struct vgpu_saved *ret)
{
	u32 nr = 0;

	size_of_live(v, q, ret);
	for (u32 id = q->cohorts; id != VGPU_NONE; id = vgpu_cohort_at(v, id)->next)
		vgpu_queue_sync(v, vgpu_cohort_at(v, id));
	if (q->saved_bytes + ret->bytes > q->area_bytes)
		return -ENOSPC;
	if (write_area(v, q, &nr)) {
		if (vgpu_queue_has_saved(q))
			vgpu_report(v, q, "the save area failed while waves were in it");
		return -EFAULT;
	}

	vgpu_queue_stop(v, q);
	q->saved = nr;
	q->restored = 0;
	q->has_record = false;
	q->saved_bytes += ret->bytes;
	v->counters.waves_saved += ret->waves;
	v->counters.bytes_saved += ret->bytes;
	return 0;
}

static void forget_saved(struct vgpu *v, struct vgpu_queue *q)
{
	q->saved = 0;
	q->restored = 0;
	q->saved_bytes = 0;
	q->has_record = false;
	vgpu_queue_check(v, q);
}

/* @q is being mapped. Checks that its area is what the save left. */
void vgpu_restore_begin(struct vgpu *v, struct vgpu_queue *q)
{
	u32 id = vgpu_queue_id(v, q);
	struct header h;

	if (!q->saved)
		return;
	if (v->world.area_read(v->ctx, id, 0, &h, sizeof(h)) ||
	    h.magic != MAGIC || h.queue != id || h.records != q->saved) {
		vgpu_report(v, q, "the save area holds no saved waves: they are lost");
		forget_saved(v, q);
	}
}

/* The packet of the record being restored; NULL if it is not in flight. */
struct vgpu_flight *vgpu_restore_flight(struct vgpu_queue *q)
{
	for (u32 i = 0; i < q->nr_flights; i++) {
		struct vgpu_flight *f = &q->flight[(q->first_flight + i) % VGPU_IN_FLIGHT];

		if (f->index == q->record.index && !f->complete)
			return f;
	}
	return NULL;
}

/* Checks that the record is possible. Nothing else protects the device from garbage. */
static bool plausible(struct vgpu_queue *q)
{
	const struct vgpu_flight *f = vgpu_restore_flight(q);
	const struct vgpu_record *r = &q->record;

	return f && r->count && r->count <= f->placed &&
	       r->left_ns && r->left_ns <= f->p.workgroup_ns;
}

/* True if @q has waves to restore; @q->record then describes the next ones. */
bool vgpu_restore_next(struct vgpu *v, struct vgpu_queue *q)
{
	if (q->has_record)
		return true;
	if (!vgpu_queue_has_saved(q))
		return false;

	for (; q->restored < q->saved; q->restored++) {
		if (!get(v, q, q->restored, &q->record) && plausible(q)) {
			q->has_record = true;
			return true;
		}
		vgpu_report(v, q, "a record in the save area is garbage: its waves are lost");
	}
	forget_saved(v, q);
	return false;
}

/*
 * @n workgroups of the current record have slots again. Returns what they will
 * add: it does not matter which of them they are, only that the rest adds the
 * rest.
 */
u64 vgpu_restore_take(struct vgpu *v, struct vgpu_queue *q, u32 n)
{
	const struct vgpu_packet *p = &vgpu_restore_flight(q)->p;
	u64 bytes = vgpu_save_bytes(&v->facts, p, n);
	u64 value = n < q->record.count ? q->record.value / q->record.count * n : q->record.value;

	v->counters.waves_restored += (u64)n * p->waves;
	v->counters.bytes_restored += bytes;
	q->saved_bytes -= vgpu_min(bytes, q->saved_bytes);

	q->record.value -= value;
	q->record.count -= n;
	if (q->record.count)
		return value;
	q->has_record = false;
	if (++q->restored == q->saved)
		forget_saved(v, q);
	return value;
}
