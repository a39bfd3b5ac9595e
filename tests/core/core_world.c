/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_check.h"
#include "core_world.h"

extern u64 gp_warnings;

static const char letters[] = { 'o', 's', '.', 'r', 'x' };

static void add_actor(struct core_world *w, const struct actor *actor)
{
	u64 devices = actor->devices ? actor->devices : 1;
	struct gp_pointers at = { 0, 0 };
	const char *why;
	u32 d;

	EXPECT_EQ(gp_task_add(w->s, devices, &actor->class, 0, &w->task[w->nr], &why), 0);
	for (d = 0; d < CW_DEVICES; d++) {
		w->queue[w->nr][d] = GP_NONE;
		if (devices & BIT_ULL(d))
			EXPECT_EQ(gp_queue_add(w->s, w->task[w->nr], d, &at, 0,
					       &w->queue[w->nr][d]), 0);
	}
	w->nr++;
}

struct core_world *cw_new(const struct cast *cast)
{
	struct gp_sched_args args = {
		.limits = { CW_DEVICES, CW_TASKS, CW_TASKS * CW_DEVICES, CW_TASKS * CW_DEVICES },
		.policy = cast->policy ? cast->policy : &gp_policy_priority,
	};
	struct core_world *w = calloc(1, sizeof(*w));
	u32 i, got;

	gp_warnings = 0;
	w->size = gp_sched_size(&args.limits);
	w->mem = calloc(1, w->size);
	w->actors = cast->actors;
	EXPECT_EQ(gp_sched_init(w->mem, &args, &w->s), 0);
	for (i = 0; i < (cast->devices ? cast->devices : 1); i++)
		EXPECT_EQ(gp_device_add(w->s, cast->flags, &got), 0);
	for (i = 0; i < sizeof(cast->set) / sizeof(cast->set[0]) && cast->set[i].value; i++)
		EXPECT_EQ(gp_sched_set(w->s, cast->set[i].param, cast->set[i].value), 0);
	while (cast->actors[w->nr].name)
		add_actor(w, &cast->actors[w->nr]);
	cw_pull(w);
	return w;
}

void cw_free(struct core_world *w)
{
	free(w->mem);
	free(w);
}

const struct gp_seat *cw_seat(const struct core_world *w, u32 who)
{
	return gp_sched_seat(w->s, w->task[who & 0xff], who >> 8);
}

void cw_account(const struct core_world *w, u32 who, struct gp_account *ret)
{
	EXPECT_EQ(gp_sched_account(w->s, w->task[who & 0xff], w->now_ns, ret), 0);
}

static u32 actor_of(const struct core_world *w, u32 task)
{
	u32 i;

	for (i = w->nr; i-- > 0;)
		if (w->task[i] == task)
			return i;
	fail_msg("task %u is not of the cast", task);
	return 0;
}

__attribute__((format(printf, 2, 3)))
static void want(struct core_world *w, const char *format, ...)
{
	size_t at = strlen(w->wanted);
	va_list args;

	if (at && w->wanted[at - 1] != ' ')
		at += (size_t)snprintf(w->wanted + at, sizeof(w->wanted) - at, " ");
	va_start(args, format);
	vsnprintf(w->wanted + at, sizeof(w->wanted) - at, format, args);
	va_end(args);
}

static void prefix(struct core_world *w, char *to, u32 device)
{
	to[0] = 0;
	if (w->s->devices[1].used)
		sprintf(to, "%u:", device);
}

static void note_action(struct core_world *w, const struct gp_action *act)
{
	char where[16];
	u32 i, who;

	EXPECT(act->nr_out + act->nr_in > 0);
	EXPECT(act->deadline_ns > w->now_ns);
	EXPECT_EQ(act->id % 64, act->device);
	EXPECT(act->id / 64 > w->last_id);
	w->last_id = act->id / 64;
	prefix(w, where, act->device);
	if (*w->wanted)
		want(w, "|");
	for (i = 0; i < act->nr_out + act->nr_in; i++) {
		who = actor_of(w, act->tasks[i]);
		want(w, "%s%c%s", where, i < act->nr_out ? '-' : '+', w->actors[who].name);
		w->action[who][act->device] = act->id;
	}
	w->stops += act->nr_out;
	w->starts += act->nr_in;
}

void cw_pull(struct core_world *w)
{
	u32 tasks[CW_TASKS], n = 0;
	struct gp_todo todo;
	const char *wrong;
	char where[16];

	w->wanted[0] = 0;
	while (gp_sched_pull(w->s, w->now_ns, tasks, &todo)) {
		EXPECT(n++ < CW_MOVES);
		if (todo.verb == GP_DO_SWITCH) {
			note_action(w, &todo.action);
			continue;
		}
		prefix(w, where, todo.device);
		want(w, "%s?%s", where, w->actors[actor_of(w, todo.task)].name);
		w->probes++;
	}
	wrong = core_rest_wrong(w->s);
	if (wrong)
		fail_msg("at %llu us: %s", (unsigned long long)(w->now_ns / 1000), wrong);
	EXPECT_EQ(gp_warnings, 0);
}

static int look(struct core_world *w, const struct line *line)
{
	u32 who = line->who & 0xff, d = line->who >> 8;
	u64 *r = &w->rptr[who][d], *x = &w->wptr[who][d];
	struct gp_sample sample = { .queue = w->queue[who][d], .visible_ns = w->now_ns };

	switch (line->verb) {
	case ARRIVE:
		*x += line->arg;
		break;
	case PROGRESS:
		*r += line->arg;
		break;
	case TURNOVER:
		*x += line->arg;
		*r += line->arg;
		break;
	case DRAIN:
		*r = *x;
		break;
	case AT_BARRIER:
		*x += 1;
		sample.flags = GP_AT_BARRIER;
		break;
	default:
		return gp_sched_look(w->s, d, NULL, 0, w->now_ns);
	}
	sample.rptr = *r;
	sample.wptr = *x;
	return gp_sched_look(w->s, d, &sample, 1, w->now_ns);
}

static int answer(struct core_world *w, const struct line *line)
{
	u32 who = line->who & 0xff, d = line->who >> 8;
	struct gp_answer a = {
		.action = w->action[who][d], .task = w->task[who],
		.outcome = line->verb == DONE ? GP_DONE :
			   line->verb == REFUSED ? GP_REFUSED : GP_TIMED_OUT,
		.command_ns = w->now_ns, .acted_ns = w->now_ns,
		.saved_ns = w->now_ns, .switched_ns = w->now_ns,
	};

	return gp_sched_answer(w->s, &a, w->now_ns);
}

static int probed(struct core_world *w, const struct line *line)
{
	struct gp_probed x = {
		.device = line->who >> 8, .task = w->task[line->who & 0xff],
		.executing = line->verb == EXECUTES ? GP_EXEC_YES :
			     line->verb == EXECUTES_NOT ? GP_EXEC_NO : GP_EXEC_UNKNOWN,
		.permille = line->verb == EXECUTES_PERHAPS ? GP_OCCUPANCY_UNKNOWN : (u32)line->arg,
	};

	return gp_sched_probed(w->s, &x, w->now_ns);
}

static int by_people(struct core_world *w, const struct line *line)
{
	/* NO_TASK or the number of a policy or parameter is no task. */
	u32 who = line->who & 0xff;
	u32 task = who < sizeof(w->task) / sizeof(w->task[0]) ? w->task[who] : GP_NONE;
	u64 now = w->now_ns;
	const char *why;

	switch (line->verb) {
	case HINT:
		return gp_sched_hint(w->s, task, now + US(line->arg), now + US(line->arg + 1000),
				     now);
	case HOLD:
		return gp_sched_hold(w->s, task, US(line->arg), now);
	case RELEASE:
		return gp_sched_release(w->s, task, now);
	case UNKNOWN:
	case KNOWN:
		return gp_task_set_unknown(w->s, task, line->verb == UNKNOWN, now);
	case TURN_OFF:
	case TURN_ON:
		gp_sched_enable(w->s, line->verb == TURN_ON, now);
		return 0;
	case POLICY:
		return gp_sched_set_policy(w->s, gp_policies[line->arg], now, &why);
	case SET:
		return gp_sched_set(w->s, line->who, line->arg);
	case DIE:
		return gp_task_del(w->s, task, now);
	case RESET:
		return gp_device_reset(w->s, line->who, now);
	case UNPLUG:
		return gp_device_del(w->s, line->who, now);
	default:
		gp_sched_tick(w->s, now);
		return 0;
	}
}

int cw_do(struct core_world *w, const struct line *line)
{
	w->now_ns = US(line->us);
	if (line->verb <= LOOK)
		return look(w, line);
	if (line->verb <= TIMED_OUT)
		return answer(w, line);
	if (line->verb <= EXECUTES_PERHAPS)
		return probed(w, line);
	return by_people(w, line);
}

static void where_are_they(const struct core_world *w, char *to)
{
	const struct gp_seat *seat;
	u32 i, d;

	for (i = 0; i < w->nr; i++)
		for (d = 0; d < CW_DEVICES; d++) {
			seat = gp_sched_seat(w->s, w->task[i], d);
			if (seat)
				*to++ = letters[seat->state];
		}
	*to = 0;
}

void cw_play(struct core_world *w, const struct line *lines, u32 nr)
{
	char where[CW_TASKS * CW_DEVICES + 1];
	u32 i;
	int err;

	for (i = 0; i < nr; i++) {
		const struct line *l = &lines[i];

		err = cw_do(w, l);
		if (err)
			fail_msg("line %u, at %llu us: refused (%d)", i,
				 (unsigned long long)l->us, err);
		cw_pull(w);
		if (l->wanted && strcmp(l->wanted, w->wanted))
			fail_msg("line %u, at %llu us: wanted \"%s\", expected \"%s\"", i,
				 (unsigned long long)l->us, w->wanted, l->wanted);
		where_are_they(w, where);
		if (l->where && strcmp(l->where, where))
			fail_msg("line %u, at %llu us: they are \"%s\", expected \"%s\"", i,
				 (unsigned long long)l->us, where, l->where);
	}
}
