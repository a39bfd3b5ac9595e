// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What another scheduler did, shown by one that decides nothing. */
#include <stdlib.h>

#include "core/sched.h"
#include "daemon/mirror.h"
#include "gp_test.h"

struct seen {
	u32 states, parts;
	struct gp_rec last;
};

static void hear(void *ctx, const struct gp_rec *rec)
{
	struct seen *seen = ctx;

	seen->states += rec->kind == GP_REC_STATE;
	seen->parts += rec->kind == GP_REC_PARTS;
	if (rec->kind == GP_REC_PARTS)
		seen->last = *rec;
}

struct show {
	struct seen seen;
	void *memory;
	struct gp_sched *s;
	u32 task, device;
};

static void show_init(struct show *w)
{
	struct gp_sched_args args = { .limits = { 2, 4, 8, 8 },
				      .trace = { .emit = hear, .ctx = &w->seen } };
	struct gp_class class = { .weight = 1, .flags = GP_PREEMPTIBLE };
	struct gp_pointers at = { 0, 0 };
	const char *why;
	u32 queue;

	*w = (struct show){ .memory = calloc(1, gp_sched_size(&args.limits)) };
	EXPECT_EQ(gp_sched_init(w->memory, &args, &w->s), 0);
	EXPECT_EQ(gp_device_add(w->s, 0, &w->device), 0);
	EXPECT_EQ(gp_task_add(w->s, BIT_ULL(w->device), &class, 0, &w->task, &why), 0);
	EXPECT_EQ(gp_queue_add(w->s, w->task, w->device, &at, 0, &queue), 0);
}

static void a_preemption_is_told_with_its_parts(void **state)
{
	const __u64 is[8] = { 10, 20, 30, 40, 50, 2, 0, 12345 };
	const struct gp_account *a;
	struct show w;

	(void)state;
	show_init(&w);
	a = &w.s->tasks[w.task].account;
	gp_mirror_preemption(w.s, w.task, w.device, is);
	EXPECT_EQ(w.seen.parts, 1);
	EXPECT_EQ(w.seen.last.task, w.task);
	EXPECT_EQ(w.seen.last.device, w.device);
	for (u32 i = 0; i < GP_PART_TOTAL; i++) {
		EXPECT_EQ(w.seen.last.arg[i], is[i]);
		EXPECT_EQ(a->part[i].count, 1);
	}
	EXPECT_EQ(w.seen.last.arg[GP_PART_TOTAL], 150);
	EXPECT_EQ(w.seen.last.arg[GP_NR_PARTS], 2);
	EXPECT_EQ(w.seen.last.arg[GP_NR_PARTS + 1], 12345);
	free(w.memory);
}

static void what_is_within_another_part_counts_for_nothing(void **state)
{
	const __u64 is[8] = { 10, 20, 30, GP_PART_WITHIN, GP_PART_WITHIN, 1, 0, 7 };
	const struct gp_account *a;
	struct show w;

	(void)state;
	show_init(&w);
	a = &w.s->tasks[w.task].account;
	gp_mirror_preemption(w.s, w.task, w.device, is);
	EXPECT_EQ(a->part[GP_PART_SAVE].count, 0);
	EXPECT_EQ(a->part[GP_PART_SWITCH].count, 0);
	EXPECT_EQ(w.seen.last.arg[GP_PART_TOTAL], 60);
	EXPECT_EQ(w.seen.last.arg[GP_PART_SAVE], GP_PART_WITHIN);
	free(w.memory);
}

static void of_a_gpu_that_is_not_known_it_is_only_counted(void **state)
{
	const __u64 is[8] = { 1, 1, 1, 1, 1, 1, 0, 1 };
	struct show w;

	(void)state;
	show_init(&w);
	gp_mirror_preemption(w.s, w.task, GP_NONE, is);
	EXPECT_EQ(w.seen.parts, 0);
	EXPECT_EQ(w.s->tasks[w.task].account.part[GP_PART_TOTAL].count, 1);
	free(w.memory);
}

static void states_that_were_not_told_are_taken_to_have_happened(void **state)
{
	struct show w;

	(void)state;
	show_init(&w);
	gp_mirror_state(w.s, w.task, w.device, GP_OFF);
	EXPECT_EQ(w.seen.states, 2);		/* by way of STOPPING */
	EXPECT_EQ(w.s->tasks[w.task].account.stopped, 1);
	gp_mirror_state(w.s, w.task, w.device, GP_LOST);
	gp_mirror_state(w.s, w.task, w.device, GP_ON);
	EXPECT_EQ(w.s->tasks[w.task].account.late, 1);
	gp_mirror_state(w.s, w.task, w.device, GP_NR_STATES);
	EXPECT_EQ(gp_sched_seat(w.s, w.task, w.device)->state, GP_ON);
	free(w.memory);
}

PROVE(
	CLAIM(a_preemption_is_told_with_its_parts),
	CLAIM(what_is_within_another_part_counts_for_nothing),
	CLAIM(of_a_gpu_that_is_not_known_it_is_only_counted),
	CLAIM(states_that_were_not_told_are_taken_to_have_happened),
)
