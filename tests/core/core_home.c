/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include <stdlib.h>
#include <string.h>

#include "core_check.h"
#include "core_home.h"

void home_init(struct home *h, const struct gp_policy *policy, u32 devices)
{
	struct gp_sched_args args = {
		.limits = { GP_NULL_DEVICES, GP_NULL_TASKS, GP_NULL_TASKS, GP_NULL_TASKS },
		.policy = policy,
	};
	u32 i, got;

	memset(h, 0, sizeof(*h));
	h->mem = calloc(1, gp_sched_size(&args.limits));
	EXPECT_EQ(gp_sched_init(h->mem, &args, &h->s), 0);
	for (i = 0; i < devices; i++)
		EXPECT_EQ(gp_device_add(h->s, GP_RPTR_IS_COMPLETION, &got), 0);
	gp_null_init(&h->m, devices);
}

void home_fini(struct home *h)
{
	free(h->mem);
}

u32 home_task(struct home *h, u32 device, const struct gp_class *class)
{
	struct home_task *t = &h->task[h->nr];
	struct gp_pointers at = { 0, 0 };
	const char *why;

	EXPECT_EQ(gp_task_add(h->s, BIT_ULL(device), class, h->now_ns, &t->task, &why), 0);
	EXPECT_EQ(gp_queue_add(h->s, t->task, device, &at, h->now_ns, &t->queue), 0);
	t->there = true;
	t->device = device;
	t->kernel_ns = US(10);
	gp_null_task(&h->m, device, t->task);
	h->m.seat[device][t->task].since_ns = h->now_ns;
	return h->nr++;
}

void home_give(struct home *h, u32 i, u64 ns)
{
	h->task[i].given_ns += ns;
}

/* Subtracts the time of a task without work, which does nothing. */
u64 home_done(struct home *h, u32 i)
{
	struct home_task *t = &h->task[i];
	u64 done = gp_null_work(&h->m, t->device, t->task, h->now_ns);

	if (done > t->given_ns)
		h->m.seat[t->device][t->task].done_ns -= done - t->given_ns;
	return done < t->given_ns ? done : t->given_ns;
}

static void look(struct home *h, u32 device)
{
	struct gp_sample samples[GP_NULL_TASKS];
	u32 i, n = 0;

	for (i = 0; i < h->nr; i++) {
		const struct home_task *t = &h->task[i];

		if (!t->there || t->device != device)
			continue;
		samples[n++] = (struct gp_sample){
			.queue = t->queue, .rptr = home_done(h, i) / t->kernel_ns,
			.wptr = t->given_ns / t->kernel_ns, .visible_ns = h->now_ns,
		};
	}
	EXPECT_EQ(gp_sched_look(h->s, device, samples, n, h->now_ns), 0);
}

static void carry_out(struct home *h, const struct gp_todo *todo)
{
	struct gp_answer refused = { .action = todo->action.id, .task = GP_NONE,
				     .outcome = GP_REFUSED };
	struct gp_probed probed = { .device = todo->device, .task = todo->task };
	u32 waves;

	if (todo->verb == GP_DO_SWITCH) {
		h->actions++;
		if (h->m.base.ops->begin(&h->m.base, &todo->action, h->now_ns))
			EXPECT_EQ(gp_sched_answer(h->s, &refused, h->now_ns), 0);
		return;
	}
	EXPECT_EQ(h->m.base.ops->probe(&h->m.base, todo->device, todo->task, &waves,
				       &probed.permille), 0);
	probed.executing = waves ? GP_EXEC_YES : GP_EXEC_NO;
	EXPECT_EQ(gp_sched_probed(h->s, &probed, h->now_ns), 0);
}

static u64 next_ns(const struct home *h, u64 until_ns)
{
	u64 at = until_ns, next = gp_null_next(&h->m);
	u32 d;

	if (next < at)
		at = next;
	if (gp_sched_wake_at(h->s) < at)
		at = gp_sched_wake_at(h->s);
	for (d = 0; d < h->m.devices; d++)
		if (gp_sched_look_at(h->s, d) < at)
			at = gp_sched_look_at(h->s, d);
	return at > h->now_ns ? at : h->now_ns;
}

static void step(struct home *h)
{
	u32 tasks[GP_NULL_TASKS], d;
	struct gp_answer answer;
	struct gp_todo todo;
	const char *wrong;

	while (!h->m.base.ops->poll(&h->m.base, h->now_ns, &answer))
		EXPECT_EQ(gp_sched_answer(h->s, &answer, h->now_ns), 0);
	for (d = 0; d < h->m.devices; d++)
		if (gp_sched_look_at(h->s, d) <= h->now_ns)
			look(h, d);
	while (gp_sched_pull(h->s, h->now_ns, tasks, &todo))
		carry_out(h, &todo);
	wrong = core_rest_wrong(h->s);
	if (wrong)
		fail_msg("at %llu ns: %s", (unsigned long long)h->now_ns, wrong);
}

void home_run(struct home *h, u64 until_ns)
{
	while (h->now_ns < until_ns) {
		step(h);
		h->now_ns = next_ns(h, until_ns);
	}
}
