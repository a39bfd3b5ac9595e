/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The largest supported size: 64 devices, 1024 tasks, 16384 queues. */
#include <stdlib.h>
#include <string.h>

#include "core_check.h"
#include "tests/shared/gp_test.h"

enum { DEVICES = 64, TASKS = 1024, QUEUES = 16384, PER_TASK = QUEUES / TASKS };

static const struct gp_class batch = { .priority = 1, .weight = 1, .flags = GP_PREEMPTIBLE };
static const struct gp_class online = { .priority = 9, .weight = 1, .flags = GP_LATENCY_CRITICAL };

struct big {
	void *mem;
	struct gp_sched *s;
	struct gp_sample samples[QUEUES / DEVICES];
};

/* Task t sits on device t % 64 with 16 queues. The first task of each device is online. */
static int up(void **state)
{
	struct gp_sched_args args = {
		.limits = { DEVICES, TASKS, TASKS, QUEUES }, .policy = &gp_policy_priority,
	};
	struct big *b = calloc(1, sizeof(*b));
	struct gp_pointers at = { 0, 0 };
	const char *why;
	u32 i, got;

	*state = b;
	b->mem = malloc(gp_sched_size(&args.limits));
	/* the caller provides the memory, which may hold anything */
	memset(b->mem, 0xa5, gp_sched_size(&args.limits));
	EXPECT_EQ(gp_sched_init(b->mem, &args, &b->s), 0);
	for (i = 0; i < DEVICES; i++)
		EXPECT_EQ(gp_device_add(b->s, GP_RPTR_IS_COMPLETION, &got), 0);
	for (i = 0; i < TASKS; i++) {
		EXPECT_EQ(gp_task_add(b->s, BIT_ULL(i % DEVICES), i < DEVICES ? &online : &batch,
				      0, &got, &why), 0);
		EXPECT_EQ(got, i);
	}
	for (i = 0; i < QUEUES; i++)
		EXPECT_EQ(gp_queue_add(b->s, i / PER_TASK, i / PER_TASK % DEVICES, &at, 0,
				       &got), 0);
	return 0;
}

static int down(void **state)
{
	struct big *b = *state;

	free(b->mem);
	free(b);
	return 0;
}

/*
 * Makes a look at @device. Queues of its tasks from @from on have @wptr packets, all others none.
 */
static void look(struct big *b, u32 device, u32 from, u64 wptr, u64 now_ns)
{
	u32 t, q, n = 0;

	for (t = device; t < TASKS; t += DEVICES)
		for (q = 0; q < PER_TASK; q++)
			b->samples[n++] = (struct gp_sample){
				.queue = t * PER_TASK + q, .wptr = t >= from ? wptr : 0,
			};
	EXPECT_EQ(gp_sched_look(b->s, device, b->samples, n, now_ns), 0);
}

static u32 pull_all(struct big *b, u64 now_ns, u32 *nr_out, u64 *actions)
{
	static u32 tasks[TASKS];
	struct gp_todo todo;
	u32 n = 0;

	*nr_out = 0;
	while (gp_sched_pull(b->s, now_ns, tasks, &todo)) {
		EXPECT_EQ(todo.verb, GP_DO_SWITCH);
		actions[n++] = todo.action.id;
		*nr_out += todo.action.nr_out;
	}
	EXPECT(!core_rest_wrong(b->s));
	return n;
}

static void all_of_it_is_used_at_once(void **state)
{
	struct big *b = *state;
	u64 actions[DEVICES + 1];
	u32 i, out;

	for (i = 0; i < DEVICES; i++)
		look(b, i, DEVICES, 1, 1000);
	EXPECT_EQ(pull_all(b, 1000, &out, actions), 0);
	/* work arrives for the online task of every device: one action each with 15 victims */
	for (i = 0; i < DEVICES; i++) {
		u32 q;

		for (q = 0; q < PER_TASK; q++)
			b->samples[q] = (struct gp_sample){ .queue = i * PER_TASK + q, .wptr = 1 };
		EXPECT_EQ(gp_sched_look(b->s, i, b->samples, PER_TASK, 100000), 0);
	}
	EXPECT_EQ(pull_all(b, 100000, &out, actions), DEVICES);
	EXPECT_EQ(out, TASKS - DEVICES);
	for (i = 0; i < DEVICES; i++) {
		struct gp_answer a = { .action = actions[i], .task = GP_NONE };

		EXPECT_EQ(gp_sched_answer(b->s, &a, 150000), 0);
	}
	EXPECT_EQ(pull_all(b, 150000, &out, actions), 0);
	for (i = DEVICES; i < TASKS; i++)
		EXPECT_EQ(gp_sched_seat(b->s, i, i % DEVICES)->state, GP_OFF);
	/* all tasks start when the scheduler is switched off */
	gp_sched_enable(b->s, false, 160000);
	EXPECT_EQ(pull_all(b, 160000, &out, actions), DEVICES);
	EXPECT_EQ(out, 0);
}

static void it_is_emptied_and_filled_again(void **state)
{
	struct big *b = *state;
	const char *why;
	u32 i, got;

	EXPECT_EQ(gp_task_add(b->s, 1, &batch, 0, &got, &why), -ENOSPC);
	for (i = 0; i < TASKS; i += 2)
		EXPECT_EQ(gp_task_del(b->s, i, 0), 0);
	for (i = 0; i < TASKS; i += 2) {
		EXPECT_EQ(gp_task_add(b->s, BIT_ULL(63), &batch, 0, &got, &why), 0);
		EXPECT_EQ(got, i);
	}
	EXPECT(!core_books_wrong(b->s));
	EXPECT_EQ(b->s->devices[63].nr_seats, TASKS / 2 + TASKS / DEVICES);
	for (i = 0; i < DEVICES; i++)
		EXPECT_EQ(gp_device_del(b->s, i, 0), 0);
	EXPECT(!core_books_wrong(b->s));
}

static void a_gang_may_sit_on_all_devices(void **state)
{
	static const struct gp_limits limits = { DEVICES, 2, DEVICES + 1, 2 };
	struct gp_sched_args args = { .limits = limits, .policy = &gp_policy_priority };
	void *mem = malloc(gp_sched_size(&limits));
	struct big b = { .mem = mem };
	u64 actions[2 * DEVICES];
	const char *why;
	u32 i, got, out;

	(void)state;
	EXPECT_EQ(gp_sched_init(mem, &args, &b.s), 0);
	for (i = 0; i < DEVICES; i++)
		EXPECT_EQ(gp_device_add(b.s, 0, &got), 0);
	EXPECT_EQ(gp_task_add(b.s, ~0ull, &batch, 0, &got, &why), 0);
	EXPECT_EQ(gp_sched_hold(b.s, got, GP_MSEC, 5), 0);
	EXPECT_EQ(pull_all(&b, 5, &out, actions), DEVICES);
	EXPECT_EQ(out, DEVICES);
	EXPECT_EQ(gp_device_reset(b.s, 17, 6), 0);
	for (i = 0; i < DEVICES; i++) {
		struct gp_answer a = { .action = actions[i], .task = 0 };

		EXPECT_EQ(gp_sched_answer(b.s, &a, 7), i == 17 ? -EPROTO : 0);
	}
	/* one rank is LOST and all others start */
	EXPECT_EQ(pull_all(&b, 8, &out, actions), DEVICES - 1);
	EXPECT_EQ(out, 0);
	free(mem);
}

PROVE(
	CLAIM_WITH(all_of_it_is_used_at_once, up, down),
	CLAIM_WITH(it_is_emptied_and_filled_again, up, down),
	CLAIM(a_gang_may_sit_on_all_devices),
)
