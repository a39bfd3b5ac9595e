/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Causes every error that the contracts name. None of them changes a byte. */
#include <stdlib.h>
#include <string.h>

#include "core_check.h"
#include "core_world.h"
#include "core/null_mechanism.h"

enum { TRAIN, INFER };

static const struct actor actors[] = {
	{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { .name = NULL },
};
static const struct cast cast = {
	.actors = actors, .flags = GP_RPTR_IS_COMPLETION | GP_CAN_PROBE,
};

/* Makes one call and compares the scheduler's whole memory before and after. */
#define REFUSED_WITH(err, call) do {					\
	void *before_ = malloc(w->size);				\
									\
	memcpy(before_, w->mem, w->size);				\
	EXPECT_EQ(call, err);						\
	EXPECT_EQ(memcmp(before_, w->mem, w->size), 0);			\
	free(before_);							\
} while (0)

static void limits_out_of_bounds_have_no_size(void **state)
{
	static const struct gp_limits most = {
		GP_MAX_DEVICES, GP_MAX_TASKS, GP_MAX_SEATS, GP_MAX_QUEUES,
	};
	u32 *field, i;
	struct gp_sched *s;

	(void)state;
	EXPECT(gp_sched_size(&most) > 0);
	for (i = 0; i < 4; i++) {
		struct gp_sched_args args = { .limits = most };
		u64 mem;

		field = &args.limits.devices + i;
		(*field)++;
		EXPECT_EQ(gp_sched_size(&args.limits), 0);
		EXPECT_EQ(gp_sched_init(&mem, &args, &s), -EINVAL);
		*field = 0;
		EXPECT_EQ(gp_sched_size(&args.limits), 0);
		EXPECT_EQ(gp_sched_init(&mem, &args, &s), -EINVAL);
	}
	EXPECT_EQ(gp_sched_init(NULL, &(struct gp_sched_args){ .limits = most }, &s), -EINVAL);
}

static void settings_out_of_range_are_refused(void **state)
{
	struct core_world *w = cw_new(&cast);
	const char *why;
	u32 i;

	(void)state;
	REFUSED_WITH(-EINVAL, gp_sched_set(w->s, GP_NR_PARAMS, 1));
	REFUSED_WITH(-EINVAL, gp_sched_set(w->s, (enum gp_param)-1, 1));
	for (i = 0; i < GP_NR_PARAMS; i++) {
		const struct gp_param_info *p = &gp_params[i];

		EXPECT(p->name && p->what && p->min <= p->initial && p->initial <= p->max);
		EXPECT_EQ(w->s->param[i], p->initial);
		if (p->min)
			REFUSED_WITH(-ERANGE, gp_sched_set(w->s, i, p->min - 1));
		REFUSED_WITH(-ERANGE, gp_sched_set(w->s, i, p->max + 1));
		EXPECT_EQ(gp_sched_set(w->s, i, p->min), 0);
		EXPECT_EQ(gp_sched_set(w->s, i, p->max), 0);
	}
	REFUSED_WITH(-EINVAL, gp_sched_set_policy(w->s, NULL, MS(9), &why));
	REFUSED_WITH(-EINVAL,
		     gp_sched_set_policy(w->s, &(struct gp_policy){ .name = "x" }, MS(9), &why));
	cw_free(w);
}

static void a_task_needs_devices_that_exist_and_a_class_that_makes_sense(void **state)
{
	static const struct gp_class wrong[] = {
		{ .weight = 0 },
		{ .weight = 10001 },
		{ .weight = 1, .flags = 4 },
		{ .weight = 1, .budget_ns = 1 },
		{ .weight = 1, .deadline_ns = 1 },
		{ .weight = 1, .period_ns = 10 },
		{ .weight = 1, .period_ns = 10, .budget_ns = 11 },
		{ .weight = 1, .period_ns = 10, .budget_ns = 6, .deadline_ns = 5 },
		{ .weight = 1, .period_ns = 3601 * GP_SEC, .budget_ns = 1 },
		{ .weight = 1, .period_ns = 10, .budget_ns = 6, .deadline_ns = ~0ull },
	};
	struct core_world *w = cw_new(&cast);
	const struct gp_class *good = &actors[0].class;
	const char *why;
	u32 i, got;

	(void)state;
	REFUSED_WITH(-EINVAL, gp_task_add(w->s, 0, good, MS(9), &got, &why));
	EXPECT(why);
	REFUSED_WITH(-EINVAL, gp_task_add(w->s, 2, good, MS(9), &got, &why));
	REFUSED_WITH(-EINVAL, gp_task_add(w->s, 1 | BIT_ULL(63), good, MS(9), &got, &why));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		REFUSED_WITH(-EINVAL, gp_task_add(w->s, 1, &wrong[i], MS(9), &got, &why));
		EXPECT(why);
		REFUSED_WITH(-EINVAL, gp_task_set_class(w->s, 0, &wrong[i], MS(9), &why));
		EXPECT(why);
	}
	REFUSED_WITH(-ENOENT, gp_task_set_class(w->s, 7, good, MS(9), &why));
	REFUSED_WITH(-ENOENT, gp_task_set_class(w->s, 8000, good, MS(9), &why));
	REFUSED_WITH(-ENOENT, gp_task_del(w->s, 7, MS(9)));
	REFUSED_WITH(-EINVAL, gp_device_add(w->s, 4, &got));
	REFUSED_WITH(-ENOENT, gp_device_del(w->s, 1, MS(9)));
	REFUSED_WITH(-ENOENT, gp_device_del(w->s, 64, MS(9)));
	REFUSED_WITH(-ENOENT, gp_device_reset(w->s, 1, MS(9)));
	cw_free(w);
}

static void what_is_full_takes_no_more(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_pointers at = { 0, 0 };
	const char *why = "set";
	u32 got;

	(void)state;
	while (!gp_queue_add(w->s, 0, 0, &at, 0, &got))
		;
	REFUSED_WITH(-ENOSPC, gp_queue_add(w->s, 0, 0, &at, MS(9), &got));
	EXPECT_EQ(gp_queue_del(w->s, 5, 0), 0);
	EXPECT_EQ(gp_queue_add(w->s, 0, 0, &at, 0, &got), 0);
	EXPECT_EQ(got, 5);
	REFUSED_WITH(-ENOENT, gp_queue_add(w->s, 0, 1, &at, MS(9), &got));
	REFUSED_WITH(-ENOENT, gp_queue_add(w->s, 7, 0, &at, MS(9), &got));
	REFUSED_WITH(-ENOENT, gp_queue_del(w->s, CW_TASKS * CW_DEVICES, MS(9)));
	EXPECT_EQ(gp_queue_del(w->s, 5, 0), 0);
	REFUSED_WITH(-ENOENT, gp_queue_del(w->s, 5, MS(9)));

	EXPECT_EQ(gp_device_add(w->s, 0, &got), 0);
	REFUSED_WITH(-ENOSPC, gp_device_add(w->s, 0, &got));
	while (!gp_task_add(w->s, 3, &actors[0].class, 0, &got, &why))
		;
	REFUSED_WITH(-ENOSPC, gp_task_add(w->s, 1, &actors[0].class, MS(9), &got, &why));
	EXPECT(!why);
	cw_free(w);
}

static void seats_run_out_before_tasks_do(void **state)
{
	struct gp_sched_args args = { .limits = { 2, 8, 3, 1 } };
	struct core_world world, *w = &world;
	const char *why;
	u32 got;

	(void)state;
	w->size = gp_sched_size(&args.limits);
	w->mem = calloc(1, w->size);
	EXPECT_EQ(gp_sched_init(w->mem, &args, &w->s), 0);
	EXPECT_EQ(gp_device_add(w->s, 0, &got), 0);
	EXPECT_EQ(gp_device_add(w->s, 0, &got), 0);
	EXPECT_EQ(gp_task_add(w->s, 3, &actors[0].class, 0, &got, &why), 0);
	REFUSED_WITH(-ENOSPC, gp_task_add(w->s, 3, &actors[0].class, 0, &got, &why));
	EXPECT_EQ(gp_task_add(w->s, 2, &actors[0].class, 0, &got, &why), 0);
	REFUSED_WITH(-ENOSPC, gp_task_add(w->s, 1, &actors[0].class, 0, &got, &why));
	free(w->mem);
}

static void unexpected_answers_change_nothing(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_answer a = { .action = 64, .task = 0 };
	struct gp_probed p = { .device = 0, .task = 0, .executing = GP_EXEC_NO };
	struct gp_account account;

	(void)state;
	REFUSED_WITH(-EPROTO, gp_sched_answer(w->s, &a, MS(9)));
	SCENE(w,
	      {    0, ARRIVE,   TRAIN,  1,   "",       "oo" },
	      {  100, ARRIVE,   INFER,  1,   "-train", "so" });
	a.action = w->action[TRAIN][0];
	a.task = 1;
	REFUSED_WITH(-EPROTO, gp_sched_answer(w->s, &a, MS(9)));
	a.task = 99;
	REFUSED_WITH(-EPROTO, gp_sched_answer(w->s, &a, MS(9)));
	a.task = 0;
	a.outcome = GP_TIMED_OUT + 1;
	REFUSED_WITH(-EINVAL, gp_sched_answer(w->s, &a, MS(9)));
	a.outcome = GP_DONE;
	a.action += 64;
	REFUSED_WITH(-EPROTO, gp_sched_answer(w->s, &a, MS(9)));
	a.action = 0;
	REFUSED_WITH(-EPROTO, gp_sched_answer(w->s, &a, MS(9)));
	a.action = w->action[TRAIN][0] + 1;
	REFUSED_WITH(-EPROTO, gp_sched_answer(w->s, &a, MS(9)));

	REFUSED_WITH(-EPROTO, gp_sched_probed(w->s, &p, MS(9)));
	p.task = 5;
	REFUSED_WITH(-EPROTO, gp_sched_probed(w->s, &p, MS(9)));
	p.executing = GP_EXEC_YES + 1;
	REFUSED_WITH(-EINVAL, gp_sched_probed(w->s, &p, MS(9)));
	REFUSED_WITH(-ENOENT, gp_sched_account(w->s, 5, MS(9), &account));
	REFUSED_WITH(-ENOENT, gp_sched_look(w->s, 1, NULL, 0, MS(9)));
	REFUSED_WITH(-ENOENT, gp_sched_hint(w->s, 5, MS(9), MS(10), MS(9)));
	REFUSED_WITH(-EINVAL, gp_sched_hint(w->s, 1, MS(9), MS(9), MS(9)));
	REFUSED_WITH(-ENOENT, gp_sched_hold(w->s, 5, MS(1), MS(9)));
	REFUSED_WITH(-EPERM, gp_sched_hold(w->s, 1, MS(1), MS(9)));
	REFUSED_WITH(-ERANGE, gp_sched_hold(w->s, 0, 0, MS(9)));
	REFUSED_WITH(-ENOENT, gp_sched_release(w->s, 5, MS(9)));
	EXPECT(!gp_sched_seat(w->s, 0, 1));
	EXPECT(!gp_sched_seat(w->s, 5, 0));
	cw_free(w);
}

static void samples_of_queues_that_are_gone_are_counted_and_ignored(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_sample x = { .queue = 15, .wptr = 5 };
	u32 got;

	(void)state;
	EXPECT_EQ(gp_device_add(w->s, 0, &got), 0);
	EXPECT_EQ(gp_sched_look(w->s, 0, &x, 1, 0), 0);
	x.queue = 16;
	EXPECT_EQ(gp_sched_look(w->s, 0, &x, 1, 0), 0);
	x.queue = w->queue[TRAIN][0];
	EXPECT_EQ(gp_sched_look(w->s, 1, &x, 1, 0), 0);
	EXPECT_EQ(w->s->stale_samples, 3);
	EXPECT_EQ(cw_seat(w, TRAIN)->work, GP_IDLE);
	cw_free(w);
}

static void time_never_goes_backwards(void **state)
{
	struct core_world *w = cw_new(&cast);

	(void)state;
	gp_sched_tick(w->s, MS(5));
	gp_sched_tick(w->s, MS(4));
	EXPECT_EQ(w->s->now_ns, MS(5));
	EXPECT_EQ(gp_sched_hold(w->s, 0, MS(10), MS(1)), 0);
	EXPECT_EQ(w->s->tasks[0].manual_until_ns, MS(15));
	cw_free(w);
}

static void only_the_arrows_of_the_picture_are_moves(void **state)
{
	static const char picture[GP_NR_STATES][GP_NR_STATES + 1] = {
		/* to: on stopping off starting lost */
		[GP_ON]		= ".s..l",
		[GP_STOPPING]	= "o.f.l",
		[GP_OFF]	= "...rl",
		[GP_STARTING]	= "o.f.l",
		[GP_LOST]	= "o.f..",
	};
	u32 from, to;

	(void)state;
	for (from = 0; from < GP_NR_STATES; from++) {
		for (to = 0; to <= GP_NR_STATES; to++) {
			struct gp_seat seat = { .state = (u8)from, .since_ns = 1 };
			bool legal = to < GP_NR_STATES && picture[from][to] != '.';

			EXPECT_EQ(gp_seat_move(&seat, to, 9), legal ? 0 : -EPROTO);
			EXPECT_EQ(seat.state, legal ? to : from);
			EXPECT_EQ(seat.since_ns, legal ? 9 : 1);
		}
	}
}

static void a_mechanism_that_promises_what_it_does_not_do_is_refused(void **state)
{
	struct gp_mechanism_ops ops;

	(void)state;
	EXPECT_EQ(gp_mechanism_check(&gp_null_ops), 0);
#define LIE(change) do {						\
	ops = gp_null_ops;							\
	ops.change;							\
	EXPECT_EQ(gp_mechanism_check(&ops), -EINVAL);			\
} while (0)
	LIE(name = NULL);
	LIE(begin = NULL);
	LIE(poll = NULL);
	LIE(probe = NULL);
	LIE(probes = false);
	LIE(grain = 0);
	LIE(grain = GP_GRAIN_GPU + 1);
	LIE(keeps = 0);
	LIE(keeps = GP_KEEPS_RESET + 1);
	LIE(reach = 0);
	LIE(reach = GP_REACH_EVERYBODY + 1);
	LIE(grain = GP_GRAIN_GPU);	/* claims to touch only the victim */
	ops = gp_null_ops;
	ops.grain = GP_GRAIN_GPU;
	ops.reach = GP_REACH_EVERYBODY;
	EXPECT_EQ(gp_mechanism_check(&ops), 0);
}

/* Work in a queue that is added counts as work that has just arrived. */
static void a_queue_may_come_and_go_with_work_in_it(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_pointers full = { 3, 7 };
	u32 q;

	(void)state;
	EXPECT_EQ(gp_queue_add(w->s, w->task[INFER], 0, &full, MS(50), &q), 0);
	EXPECT_EQ(cw_seat(w, INFER)->work, GP_PENDING);
	EXPECT_EQ(cw_seat(w, INFER)->arrived_ns, MS(50));
	EXPECT_EQ(gp_queue_del(w->s, q, MS(51)), 0);
	EXPECT_EQ(cw_seat(w, INFER)->work, GP_DRAINED);
	EXPECT_EQ(gp_queue_add(w->s, w->task[TRAIN], 0, &full, MS(52), &q), 0);
	EXPECT_EQ(gp_queue_del(w->s, w->queue[TRAIN][0], MS(52)), 0);
	EXPECT_EQ(gp_queue_del(w->s, q, MS(53)), 0);
	EXPECT_EQ(cw_seat(w, TRAIN)->work, GP_IDLE);
	EXPECT(!core_books_wrong(w->s));
	cw_free(w);
}

static void states_add_up_to_the_life_of_a_task(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_account a;
	u64 sum = 0;
	u32 i;

	(void)state;
	SCENE(w,
	      {    0, SET,      GP_LINGER, 3, "",      "oo" },
	      {    0, ARRIVE,   TRAIN,  1,   "",       "oo" },
	      {  100, ARRIVE,   INFER,  1,   "-train", "so" },
	      {  140, DONE,     TRAIN,  0,   "",       ".o" },
	      {  150, LOOK,     NO_TASK, 0,  "",       ".o" },
	      {  200, DRAIN,    INFER,  0,   "",       ".o" },
	      {  230, WAIT,     NO_TASK, 0,  "+train", "ro" },
	      {  280, DONE,     TRAIN,  0,   "",       "oo" },
	      {  300, WAIT,     NO_TASK, 0,  NULL,     "oo" });
	cw_account(w, TRAIN, &a);
	EXPECT_EQ(a.state_ns[GP_ON], US(100 + 20));
	EXPECT_EQ(a.state_ns[GP_STOPPING], US(40));
	EXPECT_EQ(a.state_ns[GP_OFF], US(90));
	EXPECT_EQ(a.state_ns[GP_STARTING], US(50));
	for (i = 0; i < GP_NR_STATES; i++)
		sum += a.state_ns[i];
	EXPECT_EQ(sum, US(300));
	EXPECT_EQ(a.longest_hold_ns, US(180));
	/* from the first look without progress until it was on again */
	EXPECT_EQ(a.waiting_ns, US(280));
	cw_account(w, INFER, &a);
	EXPECT_EQ(a.waiting_ns, US(100));
	EXPECT_EQ(a.preempted_others, 1);
	EXPECT_EQ(a.arrivals, 1);
	EXPECT_EQ(a.part[GP_PART_TOTAL].count, 1);
	EXPECT_EQ(a.part[GP_PART_TOTAL].max, US(40));
	EXPECT_EQ(a.part[GP_PART_DETECT].max, 0);
	cw_free(w);
}

static void keep_parts(void *ctx, const struct gp_rec *rec)
{
	if (rec->kind == GP_REC_PARTS)
		*(struct gp_rec *)ctx = *rec;
}

/* INFER's work takes TRAIN off. The mechanism's answer contains only the times in @when. */
static void preempts(const struct gp_answer *when, struct gp_rec *parts, struct gp_account *account)
{
	struct core_world *w = cw_new(&cast);
	struct gp_answer a = *when;

	w->s->trace = (struct gp_trace){ keep_parts, parts };
	SCENE(w,
	      {    0, ARRIVE,   TRAIN,  1,   "",       "oo" },
	      {  100, ARRIVE,   INFER,  1,   "-train", "so" });
	a.action = w->action[TRAIN][0];
	a.task = w->task[TRAIN];
	a.outcome = GP_DONE;
	EXPECT_EQ(gp_sched_answer(w->s, &a, US(155)), 0);
	cw_account(w, INFER, account);
	EXPECT_EQ(parts->task, w->task[INFER]);
	EXPECT_EQ(parts->parts.begin_ns, US(100));
	EXPECT_EQ(parts->parts.ns[GP_PART_TOTAL], US(50));
	cw_free(w);
}

/* A scheduler that is switched off does not look. That time is neither a wait nor a cost. */
static void a_time_without_looks_is_no_detection(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_sample sample = { .queue = w->queue[INFER][0], .wptr = 1 };
	struct gp_answer a = { .outcome = GP_DONE, .switched_ns = US(1000090) };
	struct gp_account account;

	(void)state;
	SCENE(w,
	      {       0, ARRIVE,   TRAIN,  1,   "",       "oo" },
	      {      10, TURN_OFF, NO_TASK, 0,  "",       "oo" },
	      { 1000000, TURN_ON,  NO_TASK, 0,  NULL,     "oo" });
	EXPECT_EQ(gp_sched_look(w->s, 0, &sample, 1, US(1000040)), 0);
	SCENE(w, { 1000050, WAIT,  NO_TASK, 0,  NULL,     "so" });
	a.action = w->action[TRAIN][0];
	a.task = w->task[TRAIN];
	EXPECT_EQ(gp_sched_answer(w->s, &a, US(1000090)), 0);
	cw_account(w, INFER, &account);
	EXPECT_EQ(account.part[GP_PART_DETECT].count, 1);
	EXPECT_EQ(account.part[GP_PART_DETECT].max, US(40));
	EXPECT_EQ(account.part[GP_PART_TOTAL].max, US(90));
	cw_free(w);
}

/* One driver call stops a task, so the times of save and switch are unknown. */
static void parts_that_a_mechanism_cannot_tell_are_not_counted(void **state)
{
	const struct gp_answer when = { .command_ns = US(115), .switched_ns = US(150) };
	struct gp_rec parts = { 0 };
	struct gp_account a;

	(void)state;
	preempts(&when, &parts, &a);
	EXPECT_EQ(a.part[GP_PART_DETECT].count, 1);
	EXPECT_EQ(a.part[GP_PART_DECIDE].max, US(15));
	EXPECT_EQ(a.part[GP_PART_COMMAND].max, US(35));
	EXPECT_EQ(a.part[GP_PART_SAVE].count, 0);
	EXPECT_EQ(a.part[GP_PART_SWITCH].count, 0);
	EXPECT_EQ(a.part[GP_PART_TOTAL].max, US(50));
	EXPECT_EQ(parts.parts.ns[GP_PART_COMMAND], US(35));
	EXPECT_EQ(parts.parts.ns[GP_PART_SAVE], GP_PART_WITHIN);
}

/* The driver gives the command and waits, so the time between command and save is unknown. */
static void a_command_that_cannot_be_told_from_the_save_is_inside_it(void **state)
{
	const struct gp_answer when = { .command_ns = US(115), .saved_ns = US(140),
					.switched_ns = US(150) };
	struct gp_rec parts = { 0 };
	struct gp_account a;

	(void)state;
	preempts(&when, &parts, &a);
	EXPECT_EQ(a.part[GP_PART_COMMAND].count, 0);
	EXPECT_EQ(a.part[GP_PART_SAVE].max, US(25));
	EXPECT_EQ(a.part[GP_PART_SWITCH].max, US(10));
	EXPECT_EQ(parts.parts.ns[GP_PART_COMMAND], GP_PART_WITHIN);
}

PROVE(
	CLAIM(limits_out_of_bounds_have_no_size),
	CLAIM(settings_out_of_range_are_refused),
	CLAIM(a_task_needs_devices_that_exist_and_a_class_that_makes_sense),
	CLAIM(what_is_full_takes_no_more),
	CLAIM(seats_run_out_before_tasks_do),
	CLAIM(unexpected_answers_change_nothing),
	CLAIM(samples_of_queues_that_are_gone_are_counted_and_ignored),
	CLAIM(time_never_goes_backwards),
	CLAIM(only_the_arrows_of_the_picture_are_moves),
	CLAIM(a_mechanism_that_promises_what_it_does_not_do_is_refused),
	CLAIM(a_queue_may_come_and_go_with_work_in_it),
	CLAIM(states_add_up_to_the_life_of_a_task),
	CLAIM(a_time_without_looks_is_no_detection),
	CLAIM(parts_that_a_mechanism_cannot_tell_are_not_counted),
	CLAIM(a_command_that_cannot_be_told_from_the_save_is_inside_it),
)
