// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The runlist: which queues may be on, and whose turn it is.
 *
 * The list is kept grouped by process, in the order the processes appear. If
 * it has more queues than slots, or more processes than VMIDs, it is cut into
 * turns that fit. Turns go round by quantum. A turn without work is passed
 * over, and one that runs out of work gives way at once; if no other turn has
 * work nothing happens at all, so an idle device has no events.
 *
 * A new runlist begins with its first turn: the hardware scheduler starts to
 * read from the beginning too.
 */
#include "device.h"

void vgpu_on_add(struct vgpu *v, struct vgpu_queue *q)
{
	v->on[v->nr_on++] = vgpu_queue_id(v, q);
	v->on_pipe[q->pipe]++;
	q->on = true;
}

static void take_out(u32 *from, u32 *nr, u32 id)
{
	for (u32 i = 0; i < *nr; i++) {
		if (from[i] != id)
			continue;
		--*nr;
		memmove(&from[i], &from[i + 1], (*nr - i) * sizeof(*from));
		return;
	}
}

void vgpu_on_remove(struct vgpu *v, struct vgpu_queue *q)
{
	if (!q->on)
		return;
	take_out(v->on, &v->nr_on, vgpu_queue_id(v, q));
	v->on_pipe[q->pipe]--;
	q->on = false;
	if (v->next_on >= v->nr_on)
		v->next_on = 0;
}

void vgpu_runlist_remove(struct vgpu *v, struct vgpu_queue *q)
{
	vgpu_on_remove(v, q);
	take_out(v->list, &v->nr_list, vgpu_queue_id(v, q));
	q->listed = false;
	q->state = VGPU_UNMAPPED;
}

/* Every queue of the new list exists, once; every queue that is on and can leave is in it. */
static int check(struct vgpu *v, const u32 *queues, u32 nr)
{
	int err = 0;

	for (u32 i = 0; i < nr; i++)
		if (!vgpu_queue_get(v, queues[i]))
			return -ENOENT;

	for (u32 i = 0; i < nr; i++) {
		struct vgpu_queue *q = &v->queues[queues[i]];

		if (q->marked)
			err = -EINVAL;
		q->marked = true;
	}
	for (u32 i = 0; i < v->nr_list; i++) {
		struct vgpu_queue *q = &v->queues[v->list[i]];

		if (!q->marked && !q->stuck)
			err = -EINVAL;
	}
	for (u32 i = 0; i < nr; i++)
		v->queues[queues[i]].marked = false;
	return err;
}

/* Appends the queues of @process, in their order, to the list. */
static void append(struct vgpu *v, const u32 *queues, u32 nr, u32 process)
{
	for (u32 i = 0; i < nr; i++) {
		struct vgpu_queue *q = &v->queues[queues[i]];

		if (q->process != process || q->listed)
			continue;
		q->listed = true;
		if (!q->on)
			q->state = VGPU_MAPPING;
		v->list[v->nr_list++] = queues[i];
	}
}

/* Rebuilds the list. Queues that could not be unmapped stay on it, asked for or not. */
static void rebuild(struct vgpu *v, const u32 *queues, u32 nr)
{
	for (u32 i = 0; i < v->nr_list; i++)
		v->queues[v->list[i]].listed = false;
	v->nr_list = 0;
	for (u32 i = 0; i < nr; i++)
		if (!v->queues[queues[i]].listed)
			append(v, queues, nr, v->queues[queues[i]].process);
	for (u32 i = 0; i < v->nr_on; i++)
		append(v, &v->on[i], 1, v->queues[v->on[i]].process);
}

static u64 processes_of(const struct vgpu *v, const struct vgpu_runlist *list)
{
	u64 seen[VGPU_MAX_PROCESSES / 64] = { 0 };
	u64 processes = 0;

	for (u32 i = 0; i < list->nr; i++) {
		u32 p = v->queues[list->queues[i]].process;

		processes += !(seen[p / 64] & BIT_ULL(p % 64));
		seen[p / 64] |= BIT_ULL(p % 64);
	}
	return processes;
}

/*
 * How many processes may be on at a time? A driver that has fewer than it may says
 * how many there are: that is no limit for one that would not leave.
 */
static u64 at_a_time(const struct vgpu *v, const struct vgpu_runlist *list)
{
	u64 vmids = vgpu_fact(v, VGPU_VMIDS);

	if (!list->processes || list->processes >= processes_of(v, list))
		return vmids;
	return vgpu_min(list->processes, vmids);
}

/* Cuts the list into turns that fit. */
static void cut(struct vgpu *v, u64 most)
{
	u64 slots = vgpu_fact(v, VGPU_HQD_SLOTS);
	u64 queues = 0, processes = 0;
	u32 last = VGPU_NONE;

	v->nr_turns = v->nr_list ? 1 : 0;
	for (u32 i = 0; i < v->nr_list; i++) {
		struct vgpu_queue *q = &v->queues[v->list[i]];
		bool new_process = q->process != last;

		if (queues == slots || (new_process && processes == most)) {
			v->nr_turns++;
			queues = 0;
			processes = 0;
			new_process = true;
		}
		queues++;
		processes += new_process;
		last = q->process;
		q->turn = v->nr_turns - 1;
	}
}

/*
 * -ENOENT: an unknown queue. -EINVAL: a queue twice, or one that is on and not
 * in the list, or something is on and not everything fits: not modelled, since
 * a driver unmaps first.
 */
int vgpu_runlist_set(struct vgpu *v, const struct vgpu_runlist *list)
{
	int err = check(v, list->queues, list->nr);
	bool fit;

	if (err)
		return err;
	fit = list->nr <= vgpu_fact(v, VGPU_HQD_SLOTS) &&
	      processes_of(v, list) <= at_a_time(v, list);
	if (v->nr_list && (v->nr_turns > 1 || !fit))
		return -EINVAL;
	rebuild(v, list->queues, list->nr);
	cut(v, at_a_time(v, list));
	return 0;
}

static bool turn_has_work(const struct vgpu *v, u32 turn)
{
	for (u32 i = 0; i < v->nr_list; i++) {
		const struct vgpu_queue *q = &v->queues[v->list[i]];

		if (q->turn == turn && vgpu_queue_has_work(q))
			return true;
	}
	return false;
}

u32 vgpu_runlist_first_turn(const struct vgpu *v)
{
	for (u32 turn = 0; turn < v->nr_turns; turn++)
		if (turn_has_work(v, turn))
			return turn;
	return 0;
}

/*
 * The turn after the present one that has work; the present one if it alone
 * has some; VGPU_NONE if none has.
 */
u32 vgpu_runlist_next_turn(const struct vgpu *v)
{
	u32 nearest = VGPU_NONE;

	for (u32 i = 0; i < v->nr_list; i++) {
		const struct vgpu_queue *q = &v->queues[v->list[i]];
		u32 ahead = q->turn > v->turn ? q->turn - v->turn : q->turn + v->nr_turns - v->turn;

		if (ahead < nearest && vgpu_queue_has_work(q))
			nearest = ahead;
	}
	return nearest == VGPU_NONE ? VGPU_NONE : (v->turn + nearest) % v->nr_turns;
}

/* Computes when the hardware scheduler will switch. */
void vgpu_runlist_plan(struct vgpu *v)
{
	u32 next;

	v->rotate_at = VGPU_NEVER;
	if (v->nr_turns < 2)
		return;
	next = vgpu_runlist_next_turn(v);
	if (next == VGPU_NONE || next == v->turn)
		return;
	v->rotate_at = turn_has_work(v, v->turn) ? vgpu_max(v->now, v->quantum_at) : v->now;
}
