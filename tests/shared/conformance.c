/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include <string.h>

#include "conformance.h"

enum { MOST = 16 };

/* Longer than any stop or start that works. */
#define PATIENCE	(200 * GP_MSEC)

/* A request and its answers. */
struct asked {
	struct gp_action action;
	u32 tasks[BENCH_TASKS + 1];
	u64 begun_ns;
	u32 answers[BENCH_TASKS];	/* per task */
	struct gp_answer last[BENCH_TASKS];
	u64 came_ns[BENCH_TASKS];
};

static int poll(struct bench *b, struct gp_answer *ret)
{
	return b->m->ops->poll(b->m, b->now(b), ret);
}

/* Calls begin() to stop the first nr_out tasks of @tasks and start the others. */
static int begin(struct bench *b, struct asked *x, const char *out, const char *in)
{
	u32 n = 0;
	int err;

	memset(x, 0, sizeof(*x));
	for (; *out; out++, x->action.nr_out++)
		x->tasks[n++] = (u32)(*out - '0');
	for (; *in; in++, x->action.nr_in++)
		x->tasks[n++] = (u32)(*in - '0');
	x->action.id = ++b->actions * GP_MAX_DEVICES;
	x->action.cause = GP_NONE;
	x->action.tasks = x->tasks;
	x->action.deadline_ns = b->now(b) + PATIENCE;
	x->begun_ns = b->now(b);
	err = b->m->ops->begin(b->m, &x->action, b->now(b));
	/* The array belongs to the caller again. */
	memset(x->tasks, 0xee, sizeof(x->tasks));
	return err;
}

/* Lets time pass until @until_ns and collects answers. */
static void collect(struct bench *b, struct asked *x, u64 until_ns)
{
	struct gp_answer a;

	while (b->now(b) < until_ns) {
		b->advance(b, b->now(b) + (until_ns - b->now(b) > GP_MSEC ? GP_MSEC :
					   until_ns - b->now(b)));
		while (!poll(b, &a)) {
			EXPECT_EQ(a.action, x->action.id);
			EXPECT(a.task < BENCH_TASKS);
			EXPECT(a.outcome <= GP_TIMED_OUT);
			x->answers[a.task]++;
			x->last[a.task] = a;
			x->came_ns[a.task] = b->now(b);
		}
	}
}

/* Expects exactly one answer for each of these tasks, with these results. */
static void answered(const struct asked *x, const char *tasks, u32 outcome)
{
	u32 i;

	for (i = 0; i < BENCH_TASKS; i++) {
		bool should = strchr(tasks, (int)('0' + i));

		EXPECT_EQ(x->answers[i], should);
		if (should)
			EXPECT_EQ(x->last[i].outcome, outcome);
	}
}

static void do_it(struct bench *b, const char *out, const char *in)
{
	struct asked x;

	EXPECT_EQ(begin(b, &x, out, in), 0);
	collect(b, &x, b->now(b) + PATIENCE + GP_MSEC);
	for (; *out; out++)
		EXPECT_EQ(x.last[*out - '0'].outcome, GP_DONE);
	for (; *in; in++)
		EXPECT_EQ(x.last[*in - '0'].outcome, GP_DONE);
}

/* True if the work of @task progresses. */
static bool gets_on(struct bench *b, u32 task)
{
	u64 before = b->work(b, task);

	b->advance(b, b->now(b) + 20 * GP_MSEC);
	return b->work(b, task) > before;
}

/* True if the work of a running @task progresses. On a busy machine that may take a while. */
static bool seen_to_get_on(struct bench *b, u32 task)
{
	u32 i;

	for (i = 0; i < 100; i++)
		if (gets_on(b, task))
			return true;
	return false;
}

/* True if @task, which is on while another is off, behaves as the mechanism promises. */
static bool others_get_on(struct bench *b, u32 task)
{
	if (b->stops_all)
		return !gets_on(b, task);
	return seen_to_get_on(b, task);
}

/* ---- the promises ---- */

static void table_is_honest(struct bench *b)
{
	EXPECT_EQ(gp_mechanism_check(b->m->ops), 0);
}

static void nothing_is_said_unasked(struct bench *b)
{
	struct gp_answer a, before;

	memset(&a, 0x5a, sizeof(a));
	before = a;
	b->advance(b, b->now(b) + GP_MSEC);
	EXPECT_EQ(poll(b, &a), -EAGAIN);
	EXPECT_EQ(memcmp(&a, &before, sizeof(a)), 0);
}

static void stopped_is_stopped(struct bench *b)
{
	struct asked x;
	u64 work;
	u32 i;

	EXPECT_EQ(begin(b, &x, "01", ""), 0);
	collect(b, &x, b->now(b) + PATIENCE + GP_MSEC);
	answered(&x, "01", GP_DONE);
	for (i = 0; i < 2; i++) {
		work = b->work(b, i);
		b->advance(b, b->now(b) + 20 * GP_MSEC);
		EXPECT_EQ(b->work(b, i), work);
	}
	EXPECT(others_get_on(b, 2));
}

static void started_it_goes_on_where_it_was(struct bench *b)
{
	struct asked x;
	u64 work;

	do_it(b, "01", "");
	work = b->work(b, 0);
	EXPECT_EQ(begin(b, &x, "", "0"), 0);
	collect(b, &x, b->now(b) + PATIENCE + GP_MSEC);
	answered(&x, "0", GP_DONE);
	EXPECT(others_get_on(b, 0));
	EXPECT(b->work(b, 0) >= work);
	EXPECT(!gets_on(b, 1));
	do_it(b, "", "1");
	EXPECT(seen_to_get_on(b, 0) && seen_to_get_on(b, 1));
}

static void out_and_in_go_together(struct bench *b)
{
	struct asked x;

	do_it(b, "01", "");
	EXPECT_EQ(begin(b, &x, "2", "1"), 0);
	collect(b, &x, b->now(b) + PATIENCE + GP_MSEC);
	answered(&x, "12", GP_DONE);
	EXPECT(others_get_on(b, 1));
	EXPECT(!gets_on(b, 0));
	EXPECT(!gets_on(b, 2));
}

static void one_action_at_a_time(struct bench *b)
{
	struct asked x, y;

	EXPECT_EQ(begin(b, &x, "0", ""), 0);
	EXPECT_EQ(begin(b, &y, "1", ""), -EBUSY);
	collect(b, &x, b->now(b) + PATIENCE + GP_MSEC);
	answered(&x, "0", GP_DONE);
	EXPECT(others_get_on(b, 1));
	EXPECT_EQ(begin(b, &y, "1", ""), 0);
	collect(b, &y, b->now(b) + PATIENCE + GP_MSEC);
	answered(&y, "1", GP_DONE);
}

static void an_unknown_task_refuses_the_whole_action(struct bench *b)
{
	struct asked x;
	struct gp_answer a;
	struct gp_action elsewhere;
	u32 task = 0;

	EXPECT_EQ(begin(b, &x, "0=", ""), -ENOENT);	/* '=' is task 13 */
	b->advance(b, b->now(b) + PATIENCE + GP_MSEC);
	EXPECT_EQ(poll(b, &a), -EAGAIN);
	EXPECT(seen_to_get_on(b, 0));
	elsewhere = (struct gp_action){
		.id = 64 * 999 + BENCH_NO_DEVICE, .device = BENCH_NO_DEVICE, .nr_out = 1,
		.tasks = &task, .deadline_ns = b->now(b) + PATIENCE,
	};
	EXPECT_EQ(b->m->ops->begin(b->m, &elsewhere, b->now(b)), -ENODEV);
	b->advance(b, b->now(b) + PATIENCE + GP_MSEC);
	EXPECT_EQ(poll(b, &a), -EAGAIN);
	EXPECT(seen_to_get_on(b, 0));
	/* valid requests still work */
	do_it(b, "0", "");
}

static void times_of_an_answer_are_in_order(struct bench *b)
{
	struct asked x;
	const struct gp_answer *a;
	u32 i;

	EXPECT_EQ(begin(b, &x, "02", ""), 0);
	collect(b, &x, b->now(b) + PATIENCE + GP_MSEC);
	for (i = 0; i < 3; i += 2) {
		a = &x.last[i];
		EXPECT(a->command_ns >= x.begun_ns && a->switched_ns >= a->command_ns);
		/* An answer has all of the intermediate times or none. */
		if (a->saved_ns) {
			EXPECT(a->acted_ns >= a->command_ns && a->saved_ns >= a->acted_ns);
			EXPECT(a->switched_ns >= a->saved_ns);
		}
		EXPECT(a->switched_ns <= b->now(b));
	}
}

static void probes_see_which_task_executes(struct bench *b)
{
	u32 waves = 7, permille = 7;

	if (!b->m->ops->probes)
		return;
	b->advance(b, b->now(b) + 20 * GP_MSEC);
	EXPECT_EQ(b->m->ops->probe(b->m, BENCH_NO_DEVICE, 0, &waves, &permille), -ENODEV);
	EXPECT_EQ(b->m->ops->probe(b->m, 0, BENCH_NO_TASK, &waves, &permille), -ENOENT);
	EXPECT(waves == 7 && permille == 7);
	do_it(b, "12", "");
	EXPECT_EQ(b->m->ops->probe(b->m, 0, 0, &waves, &permille), 0);
	EXPECT(waves > 0 && permille > 0 && permille <= 1000);
	EXPECT_EQ(b->m->ops->probe(b->m, 0, 1, &waves, &permille), 0);
	EXPECT(waves == 0 && permille == 0);
}

static void at_the_deadline_waiting_ends(struct bench *b)
{
	struct asked x;

	if (!b->hang)
		return;
	b->hang(b);
	EXPECT_EQ(begin(b, &x, "01", ""), 0);
	/*
	 * On a busy machine a wait may end past the deadline, so the times in the answers are
	 * checked.
	 */
	collect(b, &x, x.action.deadline_ns - 1);
	collect(b, &x, x.action.deadline_ns);
	answered(&x, "01", GP_TIMED_OUT);
	EXPECT(x.came_ns[0] >= x.action.deadline_ns && x.came_ns[1] >= x.action.deadline_ns);
}

static void refused_is_as_it_was(struct bench *b)
{
	struct asked x;

	if (!b->refuse)
		return;
	b->refuse(b, 1);
	/* first, because a mechanism may handle tasks in sequence and refuses this one once */
	EXPECT_EQ(begin(b, &x, "10", ""), 0);
	collect(b, &x, b->now(b) + PATIENCE + GP_MSEC);
	EXPECT_EQ(x.answers[0], 1);
	EXPECT_EQ(x.answers[1], 1);
	EXPECT_EQ(x.last[0].outcome, GP_DONE);
	EXPECT_EQ(x.last[1].outcome, GP_REFUSED);
	EXPECT(others_get_on(b, 1));
	EXPECT(!gets_on(b, 0));
}

static void again_and_again(struct bench *b)
{
	static const char *const tasks[] = { "0", "1", "2" };
	u64 work[BENCH_TASKS];
	u32 i, n;

	do_it(b, "12", "");
	for (n = 0; n < 30; n++) {
		u32 goes = n % BENCH_TASKS, comes = (n + 1) % BENCH_TASKS;

		for (i = 0; i < BENCH_TASKS; i++)
			work[i] = b->work(b, i);
		do_it(b, tasks[goes], tasks[comes]);
		EXPECT(others_get_on(b, comes));
		for (i = 0; i < BENCH_TASKS; i++)
			EXPECT(b->work(b, i) >= work[i] || b->m->ops->keeps == GP_KEEPS_RESET);
		EXPECT(!gets_on(b, goes));
	}
}

const struct promise promises[] = {
	{ "its table promises what it does", table_is_honest },
	{ "nothing is said unasked", nothing_is_said_unasked },
	{ "every task is answered once, and stopped is stopped", stopped_is_stopped },
	{ "started it goes on where it was", started_it_goes_on_where_it_was },
	{ "out and in go together", out_and_in_go_together },
	{ "one action at a time", one_action_at_a_time },
	{ "one that is not there is refused with all, and nothing changes",
	  an_unknown_task_refuses_the_whole_action },
	{ "the times of an answer are in order", times_of_an_answer_are_in_order },
	{ "probes see which task executes", probes_see_which_task_executes },
	{ "at the deadline waiting ends, for all, once", at_the_deadline_waiting_ends },
	{ "refused is as it was", refused_is_as_it_was },
	{ "again and again", again_and_again },
	{ NULL, NULL },
};
