/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include <stdlib.h>
#include <string.h>

#include "core_check.h"
#include "core_random.h"

extern u64 gp_warnings;

static const struct gp_limits limits = { RANDOM_DEVICES, RANDOM_TASKS, 9, RANDOM_QUEUES };

static u64 below(struct random_run *r, u64 n)
{
	return gp_test_random(&r->seed) % n;
}

static void blame(const struct random_run *r, const char *wrong)
{
	fail_msg("GP_SEED=%llu, after %llu records: %s", (unsigned long long)r->began,
		 (unsigned long long)r->nr, wrong);
}

void random_keep(void *ctx, const struct gp_rec *rec)
{
	struct random_run *r = ctx;

	if (r->nr == r->room) {
		r->room = r->room ? 2 * r->room : 4096;
		r->recs = realloc(r->recs, r->room * sizeof(*r->recs));
	}
	r->recs[r->nr++] = *rec;
}

void random_init(struct random_run *r, u64 seed)
{
	struct gp_sched_args args = {
		.limits = limits, .policy = &gp_policy_priority,
		.trace = { random_keep, r },
	};
	u32 i, got;

	memset(r, 0, sizeof(*r));
	r->began = r->seed = seed;
	r->size = gp_sched_size(&limits);
	r->mem = calloc(1, r->size);
	EXPECT_EQ(gp_sched_init(r->mem, &args, &r->s), 0);
	gp_warnings = 0;
	for (i = 0; i < RANDOM_DEVICES; i++)
		EXPECT_EQ(gp_device_add(r->s, (u32)below(r, 4), &got), 0);
}

void random_fini(struct random_run *r)
{
	free(r->mem);
	free(r->recs);
}

/* ---- what may happen; each returns what the scheduler returned ---- */

static struct gp_class any_class(struct random_run *r)
{
	struct gp_class c = {
		.priority = (u32)below(r, 4), .weight = 1 + (u32)below(r, 5),
		.flags = (u32)below(r, 4),
	};

	if (!below(r, 4)) {
		c.period_ns = (1 + below(r, 50)) * GP_MSEC;
		c.budget_ns = c.period_ns / (3 + below(r, 8));
	}
	if (!below(r, 30))
		c.weight = 0;
	return c;
}

static int task_add(struct random_run *r)
{
	struct gp_class c = any_class(r);
	const char *why;
	u32 got;

	return gp_task_add(r->s, below(r, 1 << (RANDOM_DEVICES + !below(r, 9))), &c, r->now_ns,
			   &got, &why);
}

static int task_change(struct random_run *r)
{
	struct gp_class c = any_class(r);
	const char *why;

	if (!below(r, 3))
		return gp_task_del(r->s, (u32)below(r, RANDOM_TASKS), r->now_ns);
	return gp_task_set_class(r->s, (u32)below(r, RANDOM_TASKS), &c, r->now_ns, &why);
}

static int queue_change(struct random_run *r)
{
	struct gp_pointers at = { below(r, 3), 2 };
	u32 got;

	if (!below(r, 4))
		return gp_queue_del(r->s, (u32)below(r, RANDOM_QUEUES + 1), r->now_ns);
	return gp_queue_add(r->s, (u32)below(r, RANDOM_TASKS), (u32)below(r, RANDOM_DEVICES), &at,
			    r->now_ns, &got);
}

static int device_change(struct random_run *r)
{
	u32 got, device = (u32)below(r, RANDOM_DEVICES + 1);

	r->faults++;
	switch (below(r, 60)) {
	case 0:
		return gp_device_del(r->s, device, r->now_ns);
	case 1:
		return gp_device_reset(r->s, device, r->now_ns);
	default:
		return gp_device_add(r->s, (u32)below(r, 5), &got);
	}
}

static int look(struct random_run *r)
{
	struct gp_sample x[RANDOM_QUEUES];
	u32 i, n = 0;

	for (i = 0; i < RANDOM_QUEUES; i++) {
		u64 ahead = r->s->pointers[i].wptr - r->s->pointers[i].rptr;

		x[n] = (struct gp_sample){
			.queue = i, .rptr = r->s->pointers[i].rptr, .wptr = r->s->pointers[i].wptr,
			.flags = !below(r, 6), .visible_ns = below(r, 2) ? r->now_ns : 0,
		};
		if (ahead && below(r, 3))
			x[n].rptr += 1 + below(r, ahead);
		if (!below(r, 4))
			x[n].wptr += 1 + below(r, 3);
		n += !!below(r, 5);
	}
	return gp_sched_look(r->s, (u32)below(r, RANDOM_DEVICES), x, n, r->now_ns);
}

/* Returns the seat of a random task that waits for an answer, or NULL. */
static const struct gp_seat *any_seat(struct random_run *r, bool probing)
{
	u32 i, from = (u32)below(r, RANDOM_TASKS * RANDOM_DEVICES), at;
	const struct gp_seat *seat;

	for (i = 0; i < RANDOM_TASKS * RANDOM_DEVICES; i++) {
		at = (from + i) % (RANDOM_TASKS * RANDOM_DEVICES);
		seat = gp_sched_seat(r->s, at / RANDOM_DEVICES, at % RANDOM_DEVICES);
		if (!seat)
			continue;
		if (probing ? seat->probing : seat->state == GP_STOPPING ||
					      seat->state == GP_STARTING || seat->overdue)
			return seat;
	}
	return NULL;
}

static int answer(struct random_run *r)
{
	const struct gp_seat *seat = any_seat(r, false);
	struct gp_answer a = { .action = below(r, 256), .task = (u32)below(r, RANDOM_TASKS) };

	if (seat) {
		a.action = seat->action;
		a.task = below(r, 5) ? seat->task : GP_NONE;
		a.command_ns = seat->since_ns;
		a.acted_ns = a.saved_ns = a.switched_ns = r->now_ns;
	}
	if (!below(r, 4)) {
		a.outcome = (u32)below(r, 4);
		r->faults++;
	}
	return gp_sched_answer(r->s, &a, r->now_ns);
}

static int probed(struct random_run *r)
{
	const struct gp_seat *seat = any_seat(r, true);
	struct gp_probed x = { .executing = (u32)below(r, 4), .permille = (u32)below(r, 1001) };

	if (seat) {
		x.device = seat->device;
		x.task = seat->task;
	}
	return gp_sched_probed(r->s, &x, r->now_ns);
}

static int people(struct random_run *r)
{
	static const u64 leases[] = { 0, GP_MSEC, 50 * GP_MSEC, 5 * GP_SEC };
	u32 task = (u32)below(r, RANDOM_TASKS);
	u64 at = r->now_ns + below(r, 3) * GP_MSEC;

	switch (below(r, 5)) {
	case 0:
		return gp_sched_hint(r->s, task, at, at + below(r, 2) * GP_MSEC, r->now_ns);
	case 1:
		return gp_sched_hold(r->s, task, leases[below(r, 4)], r->now_ns);
	case 2:
		return gp_sched_release(r->s, task, r->now_ns);
	case 3:
		return gp_task_set_unknown(r->s, task, below(r, 2), r->now_ns);
	default:
		gp_sched_enable(r->s, below(r, 4), r->now_ns);
		return 0;
	}
}

static int settings(struct random_run *r)
{
	static const struct { u32 param; u64 value[3]; } some[] = {
		{ GP_LINGER, { 0, GP_LINGER_LEARNT, GP_LINGER_SKI } },
		{ GP_MAX_HOLD, { GP_MSEC, 100 * GP_MSEC, 10 * GP_SEC } },
		{ GP_MIN_SHARE, { 0, 50, 1000 } },
		{ GP_LEASE, { GP_MSEC, GP_SEC, 30 * GP_SEC } },
		{ GP_STOP_DEADLINE, { 100 * GP_USEC, GP_MSEC, 100 * GP_MSEC } },
		{ GP_SLICE, { 100 * GP_USEC, 2 * GP_MSEC, 2000 * GP_SEC } },
		{ GP_SMALL_VICTIM, { 0, 250, 1000 } },
		{ GP_MIN_TURN, { 0, GP_MSEC, 10 * GP_MSEC } },
	};
	u32 i = (u32)below(r, sizeof(some) / sizeof(some[0]));
	const char *why;

	if (!below(r, 3))
		return gp_sched_set_policy(r->s, gp_policies[below(r, 4)], r->now_ns, &why);
	return gp_sched_set(r->s, some[i].param, some[i].value[below(r, 3)]);
}

static int wait(struct random_run *r)
{
	u64 wake = gp_sched_wake_at(r->s);

	/* wakes exactly in time, sometimes far too late */
	if (wake != GP_NEVER && wake > r->now_ns && below(r, 2))
		r->now_ns = wake + !below(r, 6) * GP_MSEC;
	else
		r->now_ns += below(r, 200) * GP_USEC;
	if (!below(r, 200))
		r->now_ns += GP_SEC;
	gp_sched_tick(r->s, r->now_ns);
	return 0;
}

static void pull(struct random_run *r)
{
	u32 tasks[RANDOM_TASKS], n = 0, most = below(r, 8) ? 64 : 1;
	struct gp_todo todo;
	const char *wrong;
	bool more = true;

	while (n++ < most && more) {
		more = gp_sched_pull(r->s, r->now_ns, tasks, &todo);
		if (more && todo.verb == GP_DO_SWITCH)
			r->stops += todo.action.nr_out;
	}
	EXPECT(n < 64);
	wrong = more ? NULL : core_rest_wrong(r->s);
	if (wrong)
		blame(r, wrong);
}

void random_step(struct random_run *r)
{
	static const struct { int (*call)(struct random_run *r); u32 often; } calls[] = {
		{ look, 30 }, { wait, 25 }, { answer, 25 }, { probed, 10 }, { task_add, 3 },
		{ queue_change, 4 }, { task_change, 1 }, { device_change, 1 }, { people, 3 },
		{ settings, 1 },
	};
	u32 at = 0, which = (u32)below(r, 103);
	const char *wrong;

	while (which >= calls[at].often)
		which -= calls[at++].often;
	if (calls[at].call(r))
		r->refused++;
	wrong = core_books_wrong(r->s);
	if (wrong)
		blame(r, wrong);
	if (below(r, 4))
		pull(r);
	if (r->s->ejected)
		blame(r, r->s->ejected);
	EXPECT_EQ(gp_warnings, 0);
}
