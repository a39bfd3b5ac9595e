// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Actions: the processes of tasks stopped and started, and their answers. */
#include <stdlib.h>

#include "kfdm.h"

/* The members of a task, each with a reference. */
struct crew {
	struct gp_member **member;
	u32 nr;
	bool stoppable;		/* there are some, and all are attached */
};

static int crew_get(struct gp_kfdm *m, const struct gp_kfdm_task *task, struct crew *ret)
{
	struct gp_member *x;
	u32 nr = 0;

	*ret = (struct crew){ 0 };
	pthread_mutex_lock(&m->lock);
	for (x = m->members; x; x = x->next)
		nr += x->task == task;
	ret->member = calloc(nr + 1, sizeof(*ret->member));
	ret->stoppable = nr;
	for (x = m->members; ret->member && x; x = x->next) {
		if (x->task != task)
			continue;
		x->refs++;
		ret->member[ret->nr++] = x;
		ret->stoppable = ret->stoppable && x->state == GP_MEMBER_ATTACHED;
	}
	pthread_mutex_unlock(&m->lock);
	return ret->member ? 0 : -ENOMEM;
}

static void crew_put(struct gp_kfdm *m, struct crew *c)
{
	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < c->nr; i++)
		gp_member_put(c->member[i]);
	pthread_mutex_unlock(&m->lock);
	free(c->member);
}

static void count(struct gp_kfdm *m, u64 *counter)
{
	pthread_mutex_lock(&m->lock);
	++*counter;
	pthread_mutex_unlock(&m->lock);
}

/* What came of the parts of a task, added up. */
static void add_times(struct gp_answer *a, const struct gp_session_done *done)
{
	if (!done->command_ns)
		return;
	if (!a->command_ns || done->command_ns < a->command_ns)
		a->command_ns = done->command_ns;
	/* One call does it all: nobody outside the driver knows when it acted and saved. */
	if (done->done_ns > a->switched_ns)
		a->switched_ns = done->done_ns;
}

static int stop_member(struct gp_kfdm *m, struct gp_member *x, u32 device, struct gp_answer *a)
{
	struct gp_session_done done = { 0 };
	int err = 0;

	pthread_mutex_lock(&x->busy);
	/* Held from now on, so that a queue which appears meanwhile is taken off too. */
	x->held |= BIT_ULL(device);
	if (x->session.enabled)
		err = gp_session_suspend(&x->session, m->devices[device].gpu.gpu_id, m->args.grace,
					 &done);
	else
		err = -ESRCH;
	if (err)
		x->held &= ~BIT_ULL(device);
	pthread_mutex_unlock(&x->busy);
	add_times(a, &done);
	/* One of a gang that has no queue on this GPU needs no call. */
	if (!err && done.command_ns)
		count(m, &m->stats.suspends);
	else if (err != -ESRCH)
		count(m, &m->stats.suspend_failures);
	/* Who is gone is off. */
	return err == -ESRCH ? 0 : err;
}

static int start_member(struct gp_kfdm *m, struct gp_member *x, u32 device, struct gp_answer *a)
{
	struct gp_session_done done = { 0 };
	u64 bit = BIT_ULL(device);
	bool held;
	int err = 0;

	pthread_mutex_lock(&x->busy);
	held = x->held & bit;
	x->held &= ~bit;
	if (held && x->session.enabled)
		err = gp_session_resume(&x->session, x->held ? m->devices[device].gpu.gpu_id : 0,
					&done);
	/* Gone, or its runtime disabled, and then the driver has put its queues back. */
	if (err == -ESRCH || err == -EPERM)
		err = 0;
	if (err)
		x->held |= bit;
	pthread_mutex_unlock(&x->busy);
	add_times(a, &done);
	if (!err && done.command_ns)
		count(m, &m->stats.resumes);
	return err;
}

/* Of a whole task: all of it stops, or none. */
static int stop_task(struct gp_kfdm *m, const struct crew *c, u32 device, struct gp_answer *a)
{
	struct gp_answer undone = { 0 };
	int err = c->stoppable ? 0 : -EPERM;
	u32 i;

	for (i = 0; !err && i < c->nr; i++)
		err = stop_member(m, c->member[i], device, a);
	if (err)
		while (i--)
			start_member(m, c->member[i], device, &undone);
	return err;
}

static int start_task(struct gp_kfdm *m, const struct crew *c, u32 device, struct gp_answer *a)
{
	int err = 0;

	for (u32 i = 0; i < c->nr; i++) {
		int e = start_member(m, c->member[i], device, a);

		err = err ? err : e;
	}
	return err;
}

static void act_on(struct gp_kfdm *m, u32 device, u32 index)
{
	struct gp_kfdm_action *action = &m->devices[device].action;
	struct gp_kfdm_task *task = action->tasks[index];
	struct gp_answer a = { .action = action->id, .task = task->number };
	struct crew crew;
	u64 begun = gp_kfdm_now();
	int err = crew_get(m, task, &crew);

	if (!err)
		err = index < action->nr_out ? stop_task(m, &crew, device, &a) :
					       start_task(m, &crew, device, &a);
	crew_put(m, &crew);
	if (!err && !a.command_ns) {
		/* There was nothing to do. */
		a.command_ns = begun;
		a.switched_ns = gp_kfdm_now();
	}
	a.outcome = err ? GP_REFUSED : GP_DONE;
	pthread_mutex_lock(&m->lock);
	m->stats.late += action->timed_out;
	action->answered[index] = true;
	if (!task->gone)
		gp_kfdm_answer(m, &a);
	pthread_mutex_unlock(&m->lock);
}

void gp_kfdm_act(struct gp_kfdm *m, u32 device)
{
	struct gp_kfdm_action *action = &m->devices[device].action;

	/* The arrays are this thread's as long as the action is. */
	for (u32 i = 0; i < action->nr; i++) {
		act_on(m, device, i);
		gp_kfdm_kick(m);
	}
	pthread_mutex_lock(&m->lock);
	gp_kfdm_action_clear(action);
	pthread_mutex_unlock(&m->lock);
	gp_kfdm_kick(m);
}

int gp_kfdm_retake(struct gp_kfdm *m, struct gp_member *x)
{
	struct gp_session_done done;
	int err = 0;

	for (u32 i = 0; !err && i < m->nr_gpus; i++)
		if (x->held & BIT_ULL(i))
			err = gp_session_suspend(&x->session, m->devices[i].gpu.gpu_id,
						 m->args.grace, &done);
	return err;
}
