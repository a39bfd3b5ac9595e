// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The command processor: it unmaps and maps.
 *
 *            unmap: GRACE -> SAVE --.                 map: MAP -> RESTORE --.
 *   IDLE ----------------> DRAIN ---+--> IDLE  IDLE ------------------------+--> IDLE
 *                     '--> RESET ---'
 *                     '--> HUNG (until the GPU is reset)
 *
 * It does one thing at a time: what the driver asks (struct vgpu_op), which
 * reaches it COMMAND_NS after the doorbell, or a turn of its own, which is an
 * unmap of the present turn followed by a map of the next. A command that
 * arrives during a turn waits for its end.
 */
#include "device.h"

static void cp_do(struct vgpu *v, enum vgpu_phase phase, u64 at)
{
	v->cp.phase = (u8)phase;
	v->cp.at = at;
}

static bool set_has_waves(const struct vgpu *v)
{
	for (u32 i = 0; i < v->nr_on; i++) {
		const struct vgpu_queue *q = &v->queues[v->on[i]];

		if (q->state == VGPU_UNMAPPING && !q->stuck && q->cohorts != VGPU_NONE)
			return true;
	}
	return false;
}

static void begin_map(struct vgpu *v, u32 turn)
{
	u64 processes = 0, queues = 0;
	u32 last = VGPU_NONE;

	v->turn = turn;
	for (u32 i = 0; i < v->nr_list; i++) {
		struct vgpu_queue *q = &v->queues[v->list[i]];

		if (q->turn != turn)
			continue;
		queues++;
		processes += q->process != last;
		last = q->process;
		if (q->state == VGPU_WAITING)
			q->state = VGPU_MAPPING;
	}
	cp_do(v, VGPU_CP_MAP, v->now + processes * vgpu_fact(v, VGPU_MAP_PROCESS_NS) +
			      queues * vgpu_fact(v, VGPU_MAP_QUEUE_NS));
}

/* Saving, draining or killing is done, so the set is off. */
static void end_unmap(struct vgpu *v)
{
	struct vgpu_unmapped *what = &v->cp.what;
	bool rotating = v->cp.rotating;

	what->done_at = v->now;
	for (u32 i = v->nr_list; i-- > 0;) {
		struct vgpu_queue *q = &v->queues[v->list[i]];

		if (q->state != VGPU_UNMAPPING)
			continue;
		if (q->stuck) {
			q->state = VGPU_MAPPED;
			q->joined = false;
			what->failed++;
			continue;
		}
		if (q->on && v->cp.how == VGPU_RESET)
			vgpu_queue_restart(v, q);
		vgpu_queue_drop(v, q);
		what->queues++;
		if (rotating) {
			vgpu_on_remove(v, q);
			q->state = VGPU_WAITING;
		} else {
			vgpu_runlist_remove(v, q);
		}
	}
	v->counters.queues_unmapped += what->queues;

	if (rotating) {
		u32 next = vgpu_runlist_next_turn(v);

		begin_map(v, next == VGPU_NONE ? v->turn : next);
		return;
	}
	cp_do(v, VGPU_CP_IDLE, VGPU_NEVER);
	v->op.kind = VGPU_OP_NONE;
	v->world.unmapped(v->ctx, what);
}

/* The grace is over; saves the waves that still run. */
static void begin_save(struct vgpu *v)
{
	struct vgpu_unmapped *what = &v->cp.what;
	u64 ns;

	what->save_at = v->now;
	for (u32 i = 0; i < v->nr_on; i++) {
		struct vgpu_queue *q = &v->queues[v->on[i]];
		struct vgpu_saved saved;

		if (q->state != VGPU_UNMAPPING || q->stuck)
			continue;
		if (vgpu_save(v, q, &saved)) {
			q->stuck = true;
			vgpu_report(v, q, "its waves cannot be saved: it stays on");
			continue;
		}
		what->bytes += saved.bytes;
		what->waves += saved.waves;
	}

	ns = vgpu_save_ns(&v->facts, what->bytes);
	if (v->faults.slow > 1)
		ns = ns > VGPU_NEVER / 2 / v->faults.slow ? VGPU_NEVER / 2 : ns * v->faults.slow;
	cp_do(v, VGPU_CP_SAVE, vgpu_after(v->now, ns));
}

/* Waves are killed at once, but their slots become free after a delay. */
static void begin_reset(struct vgpu *v)
{
	v->cp.what.save_at = v->now;
	for (u32 i = 0; i < v->nr_on; i++) {
		struct vgpu_queue *q = &v->queues[v->on[i]];

		if (q->state == VGPU_UNMAPPING && !q->stuck)
			vgpu_queue_stop(v, q);
	}
	cp_do(v, VGPU_CP_RESET,
	      v->now + (set_has_waves(v) ? vgpu_fact(v, VGPU_RESET_NS) : 0));
}

/* Stops dispatch from the marked queues. */
static void begin_unmap(struct vgpu *v, enum vgpu_how how, u64 grace_ns)
{
	v->cp.how = (u8)how;
	v->cp.what.command_at = v->now;
	switch (how) {
	case VGPU_SAVE:
		cp_do(v, VGPU_CP_GRACE, vgpu_after(v->now, grace_ns));
		break;
	case VGPU_DRAIN:
		v->cp.what.save_at = v->now;
		cp_do(v, VGPU_CP_DRAIN, VGPU_NEVER);
		break;
	case VGPU_RESET:
		begin_reset(v);
		break;
	}
}

/* Grace and drain end early when the last wave of the set has ended. */
void vgpu_hws_check_empty(struct vgpu *v)
{
	if ((v->cp.phase == VGPU_CP_GRACE || v->cp.phase == VGPU_CP_DRAIN) && !set_has_waves(v))
		v->cp.at = v->now;
}

static bool in_set(const struct vgpu *v, const struct vgpu_queue *q)
{
	switch (v->op.whom) {
	case VGPU_ALL:
		return true;
	case VGPU_PROCESS:
		return q->process == v->op.id;
	default:
		return vgpu_queue_id(v, q) == v->op.id;
	}
}

static void op_unmap(struct vgpu *v)
{
	memset(&v->cp.what, 0, sizeof(v->cp.what));
	v->cp.what.ticket = v->op.ticket;
	v->cp.rotating = false;

	for (u32 i = 0; i < v->nr_list; i++) {
		struct vgpu_queue *q = &v->queues[v->list[i]];

		if (!in_set(v, q))
			continue;
		q->state = VGPU_UNMAPPING;
		vgpu_queue_cut(v, q);
		q->stuck = q->on && v->list[i] == v->faults.stuck;
	}
	if (v->faults.hang)
		cp_do(v, VGPU_CP_HUNG, VGPU_NEVER);
	else
		begin_unmap(v, v->op.how, v->op.grace_ns);
}

static void op_map(struct vgpu *v)
{
	v->cp.rotating = false;
	for (u32 i = 0; i < v->nr_list; i++) {
		struct vgpu_queue *q = &v->queues[v->list[i]];

		if (q->state == VGPU_MAPPING)
			q->state = VGPU_WAITING;
		q->wptr = v->world.wptr(v->ctx, v->list[i]);
	}
	begin_map(v, vgpu_runlist_first_turn(v));
}

/* The queues of the turn have slots. Restores their waves, then dispatches new ones. */
static void end_map(struct vgpu *v)
{
	u64 bytes = 0, ready = vgpu_after(v->now, vgpu_fact(v, VGPU_DISPATCH_NS)), resume;
	u32 first = v->nr_on;

	for (u32 i = 0; i < v->nr_list; i++) {
		struct vgpu_queue *q = &v->queues[v->list[i]];

		if (q->state != VGPU_MAPPING)
			continue;
		q->state = VGPU_MAPPED;
		vgpu_on_add(v, q);
		vgpu_queue_refetch(v, q);
		vgpu_restore_begin(v, q);
		bytes += q->saved_bytes;
		v->counters.queues_mapped++;
	}

	resume = vgpu_after(v->now, vgpu_restore_ns(&v->facts, bytes));
	for (u32 i = first; i < v->nr_on; i++) {
		struct vgpu_queue *q = &v->queues[v->on[i]];

		q->resume_ns = resume;
		q->ready_ns = vgpu_queue_has_saved(q) ? vgpu_max(ready, resume) : ready;
	}
	cp_do(v, VGPU_CP_RESTORE, resume);
}

static void end_restore(struct vgpu *v)
{
	v->quantum_at = vgpu_after(v->now, vgpu_fact(v, VGPU_QUANTUM_NS));
	cp_do(v, VGPU_CP_IDLE, VGPU_NEVER);
	if (v->cp.rotating)
		return;
	v->op.kind = VGPU_OP_NONE;
	v->world.mapped(v->ctx, v->op.ticket, v->now);
}

static void begin_turn(struct vgpu *v)
{
	memset(&v->cp.what, 0, sizeof(v->cp.what));
	v->cp.rotating = true;
	for (u32 i = 0; i < v->nr_on; i++) {
		struct vgpu_queue *q = &v->queues[v->on[i]];

		q->state = VGPU_UNMAPPING;
		q->stuck = false;
		vgpu_queue_cut(v, q);
	}
	/* A turn uses the grace that the driver left in SCH_WAVE. */
	begin_unmap(v, VGPU_SAVE, vgpu_fact(v, VGPU_GRACE_DEFAULT_NS));
}

static void idle_step(struct vgpu *v)
{
	if (v->op.kind != VGPU_OP_NONE && v->op.at <= v->now) {
		if (v->op.kind == VGPU_OP_MAP)
			op_map(v);
		else
			op_unmap(v);
	} else if (v->rotate_at <= v->now) {
		begin_turn(v);
	}
}

u64 vgpu_hws_next(const struct vgpu *v)
{
	if (v->cp.phase != VGPU_CP_IDLE)
		return v->cp.at;
	return vgpu_min(v->op.kind == VGPU_OP_NONE ? VGPU_NEVER : v->op.at, v->rotate_at);
}

/* One step of the CP, if one is due. */
void vgpu_hws_step(struct vgpu *v)
{
	if (vgpu_hws_next(v) > v->now)
		return;
	v->counters.events++;
	switch (v->cp.phase) {
	case VGPU_CP_IDLE:
		idle_step(v);
		break;
	case VGPU_CP_GRACE:
		begin_save(v);
		break;
	case VGPU_CP_SAVE:
	case VGPU_CP_DRAIN:
	case VGPU_CP_RESET:
		end_unmap(v);
		break;
	case VGPU_CP_MAP:
		end_map(v);
		break;
	case VGPU_CP_RESTORE:
		end_restore(v);
		break;
	}
}

static int op_busy(const struct vgpu *v)
{
	return v->op.kind == VGPU_OP_NONE ? 0 : -EBUSY;
}

static void op_ask(struct vgpu *v, enum vgpu_op_kind kind, u64 *ticket)
{
	v->op.kind = (u8)kind;
	v->op.ticket = ++v->tickets;
	v->op.at = vgpu_after(v->now, vgpu_fact(v, VGPU_COMMAND_NS));
	if (ticket)
		*ticket = v->op.ticket;
}

int vgpu_map(struct vgpu *v, const struct vgpu_runlist *list, u64 now_ns, u64 *ticket)
{
	int err;

	vgpu_advance(v, now_ns);
	err = op_busy(v);
	if (!err)
		err = vgpu_runlist_set(v, list);
	if (err == -EINVAL)
		vgpu_report(v, NULL, "map without unmapping first is not modelled");
	if (err)
		return err;
	v->counters.maps++;
	op_ask(v, VGPU_OP_MAP, ticket);
	return 0;
}

int vgpu_unmap(struct vgpu *v, const struct vgpu_unmap_args *a, u64 now_ns, u64 *ticket)
{
	vgpu_advance(v, now_ns);
	if (op_busy(v))
		return -EBUSY;
	if ((u32)a->whom > VGPU_QUEUE || (u32)a->how > VGPU_RESET ||
	    (a->whom == VGPU_PROCESS && a->id >= VGPU_MAX_PROCESSES))
		return -EINVAL;
	if (a->whom == VGPU_QUEUE && !vgpu_queue_get(v, a->id))
		return -ENOENT;

	v->counters.unmaps++;
	v->op.whom = (u8)a->whom;
	v->op.how = (u8)a->how;
	v->op.id = a->id;
	v->op.grace_ns = a->grace_ns;
	op_ask(v, VGPU_OP_UNMAP, ticket);
	return 0;
}

/* The driver resets the GPU; all operations and waves are lost. */
void vgpu_hws_reset(struct vgpu *v)
{
	while (v->nr_list) {
		struct vgpu_queue *q = &v->queues[v->list[v->nr_list - 1]];

		/* Waves in a save area survive, because that is memory. */
		if (q->on)
			vgpu_queue_restart(v, q);
		q->stuck = false;
		vgpu_runlist_remove(v, q);
	}
	v->nr_turns = 0;
	v->rotate_at = VGPU_NEVER;
	v->op.kind = VGPU_OP_NONE;
	cp_do(v, VGPU_CP_IDLE, VGPU_NEVER);
}
