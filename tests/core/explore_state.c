/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Saves and restores a scheduler, and compares states. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/internal.h"
#include "explore.h"

static const struct { u32 param; u64 value; } settings[] = {
	{ GP_LOOK_MIN, EX_UNIT }, { GP_LOOK_MAX, EX_UNIT }, { GP_LOOK_RELAXED, EX_UNIT },
	{ GP_SETTLE, EX_UNIT }, { GP_PROBE_AFTER, EX_UNIT }, { GP_BARRIER_AFTER, EX_UNIT },
	{ GP_STALL_AFTER, 2 * EX_UNIT }, { GP_SMALL_VICTIM, 0 }, { GP_LEASE, 10 * EX_UNIT },
	{ GP_STOP_DEADLINE, 2 * EX_UNIT }, { GP_RETRY_AFTER, EX_UNIT },
	{ GP_HINT_MAX, 2 * EX_UNIT }, { GP_MIN_TURN, EX_UNIT }, { GP_MAX_HOLD, 5 * EX_UNIT },
	{ GP_MIN_SHARE, 500 }, { GP_LINGER, EX_UNIT }, { GP_SLICE, EX_UNIT },
};

/*
 * Resets costs that the scheduler learnt from times, so that they are constant and every refusal
 * is the first.
 */
static void forget_what_was_learnt(const struct gp_sched *s, struct gp_device *d)
{
	struct gp_seat *seat;

	for (seat = gp_seat_at(s, d->seats); seat; seat = gp_seat_at(s, seat->next_of_device))
		seat->refused = 0;
	d->stop_cost_ns = EX_UNIT / 3;
	d->start_cost_ns = EX_UNIT / 3;
	d->added_ns = EX_UNIT;
	d->gap_ns = 0;
}

static int add_task(struct ex_model *m, u32 i)
{
	const struct ex_task *t = &m->config->task[i];
	struct gp_pointers at = { 0, 0 };
	const char *why;
	u32 got, d;
	int err;

	err = gp_task_add(m->s, t->devices, &t->class, m->s->now_ns, &got, &why);
	for (d = 0; d < m->config->devices && !err; d++)
		if (t->devices & BIT_ULL(d))
			err = gp_queue_add(m->s, got, d, &at, m->s->now_ns, &m->queue[i][d]);
	return err;
}

int ex_model_init(struct ex_model *m, const struct explore *config)
{
	struct gp_sched_args args = {
		.limits = { EX_DEVICES, EX_TASKS, EX_SEATS, EX_SEATS }, .policy = config->policy,
	};
	u32 i, got;
	int err = 0;

	memset(m, 0, sizeof(*m));
	m->config = config;
	m->mem = calloc(1, gp_sched_size(&args.limits));
	if (!m->mem)
		return -ENOMEM;
	gp_sched_init(m->mem, &args, &m->s);
	/* Time 0 means never in some fields, so the time starts later. */
	gp_sched_tick(m->s, 100 * EX_UNIT);
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		gp_sched_set(m->s, settings[i].param, settings[i].value);
	for (i = 0; i < config->devices; i++)
		gp_device_add(m->s, config->flags, &got);
	for (m->nr = 0; m->nr < EX_TASKS && config->task[m->nr].name && !err; m->nr++)
		err = add_task(m, m->nr);
	/* Skips the first turn of young seats, which another search covers. */
	gp_sched_tick(m->s, 120 * EX_UNIT);
	ex_pull(m);
	ex_save(m, m->base);
	return err;
}

void ex_model_fini(struct ex_model *m)
{
	free(m->mem);
}

/* ---- save and restore ---- */

static u32 piece(u64 *flat, void *part, size_t bytes, bool save)
{
	if (save)
		memcpy(flat, part, bytes);
	else
		memcpy(part, flat, bytes);
	return (u32)((bytes + 7) / 8);
}

/* Copies all of the scheduler except data for reports and learning. */
static u32 transfer(const struct ex_model *m, u64 *flat, bool save)
{
	const size_t gaps = offsetof(struct gp_seat, gaps);
	const size_t after = gaps + sizeof(struct gp_gaps);
	struct gp_sched *s = m->s;
	u32 i, n = 0;

	n += piece(flat + n, s, sizeof(*s), save);
	n += piece(flat + n, s->pointers, EX_SEATS * sizeof(*s->pointers), save);
	n += piece(flat + n, s->queues, EX_SEATS * sizeof(*s->queues), save);
	n += piece(flat + n, s->devices, EX_DEVICES * sizeof(*s->devices), save);
	for (i = 0; i < EX_SEATS; i++) {
		n += piece(flat + n, &s->seats[i], gaps, save);
		n += piece(flat + n, (u8 *)&s->seats[i] + after, sizeof(s->seats[i]) - after, save);
	}
	for (i = 0; i < EX_TASKS; i++)
		n += piece(flat + n, &s->tasks[i], offsetof(struct gp_task, account.part), save);
	return n;
}

void ex_save(const struct ex_model *m, u64 *to)
{
	u32 i;

	for (i = 0; i < m->config->devices; i++)
		forget_what_was_learnt(m->s, &m->s->devices[i]);
	((struct ex_model *)m)->words = transfer(m, to, true);
}

void ex_restore(const struct ex_model *m, const u64 *from)
{
	transfer(m, (u64 *)from, false);
}

/* ---- the same or not ---- */

struct canon {
	const struct gp_sched *s;
	u8 *at;
};

static void put(struct canon *c, u64 value)
{
	*c->at++ = (u8)value;
}

/* Appends the units since @ns, at most @most. */
static void age(struct canon *c, u64 ns, u64 most)
{
	u64 units = (c->s->now_ns - ns) / EX_UNIT;

	put(c, units < most ? units : most);
}

/* Appends the units until @ns, rounded up, or 0 if it is past. */
static void until(struct canon *c, u64 ns, u64 most)
{
	u64 units = ns > c->s->now_ns ? (ns - c->s->now_ns + EX_UNIT - 1) / EX_UNIT : 0;

	put(c, units < most ? units : most);
}

static void canon_work(struct canon *c, const struct gp_seat *seat, const struct gp_device *d)
{
	u64 sign = d->switched_ns > seat->cause_ns ? d->switched_ns : seat->cause_ns;

	if (seat->progress_ns > sign)
		sign = seat->progress_ns;
	if (seat->arrived_ns > sign)
		sign = seat->arrived_ns;
	put(c, seat->work | seat->executing << 2 | seat->at_barrier << 4 | seat->starved << 5 |
	       seat->hinted << 6 | seat->probing << 7);
	put(c, (seat->progress_ns > d->judged_ns) | (seat->arrived_ns <= d->judged_ns) << 1 |
	       (seat->arrived_ns == c->s->now_ns) << 2 |
	       (seat->progress_ns == c->s->now_ns) << 3);
	age(c, sign, seat->work == GP_PENDING ? 3 : 0);
	age(c, seat->drained_ns, seat->work == GP_DRAINED ? 2 : 0);
	age(c, seat->idle_ns, seat->cause ? 2 : 0);
	until(c, seat->hint_from_ns, 3);
	until(c, seat->hint_from_ns ? seat->hint_until_ns : 0, 4);
	if (!(d->flags & GP_CAN_PROBE))
		return;
	until(c, seat->probe_ns, 2);
	age(c, seat->moved_ns, 8);
	put(c, seat->probing && seat->asked_ns < seat->moved_ns);
	put(c, (seat->probed_ns < seat->drained_ns) | (seat->probed_ns <= seat->since_ns) << 1);
}

/* Appends how far the virtual time is ahead of the smallest one there. */
static void canon_fair(struct canon *c, const struct gp_seat *seat)
{
	u64 floor = GP_NEVER, ahead;
	u32 at;

	for (at = c->s->devices[seat->device].seats; at != GP_NONE;
	     at = c->s->seats[at].next_of_device)
		if (c->s->seats[at].scratch[0] < floor)
			floor = c->s->seats[at].scratch[0];
	ahead = (seat->scratch[0] - floor) / 10000 / EX_UNIT;
	put(c, ahead < 4 ? ahead : 4);
	put(c, seat->scratch[1]);
}

/* Appends the words that policies keep: first those of the turn, then those of each policy. */
static void canon_scratch(struct canon *c, const struct gp_seat *seat)
{
	const u64 *x = seat->scratch;
	const struct gp_policy *p = c->s->policy;

	if (p == &gp_policy_fair)
		canon_fair(c, seat);
	if (p == &gp_policy_fair || p == &gp_policy_fifo)
		return;
	put(c, x[5] != 0);
	age(c, x[5], 6);
	put(c, x[6] / EX_UNIT < 8 ? (x[6] + EX_UNIT - 1) / EX_UNIT : 8);
	put(c, x[7]);
	if (p == &gp_policy_deadline) {
		age(c, x[0], 12);
		put(c, x[2] / EX_UNIT);
		age(c, x[3], 4);
	} else {
		put(c, x[1] == seat->idle_ns);
	}
}

static void canon_seat(struct canon *c, const struct gp_seat *seat)
{
	const struct gp_device *d = &c->s->devices[seat->device];
	u32 i;

	put(c, seat->state | seat->held << 3 | seat->cause << 4 | seat->active << 5 |
	       seat->ask << 6);
	put(c, seat->overdue);
	age(c, seat->since_ns, 2);
	age(c, seat->state == GP_ON || seat->state == GP_LOST ? c->s->now_ns : seat->held_ns, 12);
	until(c, seat->retry_ns, 2);
	for (i = 0; i < EX_SEATS; i++)
		if (c->s->queues[i].seat == gp_seat_id(c->s, seat))
			put(c, c->s->pointers[i].wptr - c->s->pointers[i].rptr);
	canon_work(c, seat, d);
	canon_scratch(c, seat);
}

static void canon_device(struct canon *c, const struct gp_device *d)
{
	until(c, d->action ? d->action_deadline_ns : 0, 3);
	age(c, d->judged_ns, 1);
	if (c->s->policy == &gp_policy_fair) {
		put(c, d->scratch[0]);
		age(c, d->scratch[1], 3);
		age(c, d->scratch[2], 3);
	} else if (c->s->policy == &gp_policy_deadline) {
		put(c, d->scratch[0]);
	}
}

u32 ex_canon(const struct ex_model *m, u8 *to)
{
	struct canon c = { .s = m->s, .at = to };
	const struct gp_seat *seat;
	u32 i;

	put(&c, m->s->enabled | (m->s->ejected != NULL) << 1);
	put(&c, gp_policy_number(m->s->policy));
	for (i = 0; i < m->config->devices; i++)
		canon_device(&c, &m->s->devices[i]);
	for (i = 0; i < m->nr; i++) {
		const struct gp_task *t = &m->s->tasks[i];

		put(&c, t->used);
		if (!t->used)
			continue;
		until(&c, t->manual_until_ns, 4);
		for (seat = gp_seat_at(m->s, t->seats); seat;
		     seat = gp_seat_at(m->s, seat->next_of_task))
			canon_seat(&c, seat);
	}
	return (u32)(c.at - to);
}
