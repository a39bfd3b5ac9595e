// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Tasks and their processes: who is there, and for how long. */
#include <stdlib.h>
#include <string.h>

#include "kfdm.h"

enum { TASKS_MAX = 65536 };

void gp_kfdm_task_put(struct gp_kfdm_task *t)
{
	if (!--t->refs)
		free(t);
}

void gp_member_put(struct gp_member *x)
{
	if (--x->refs)
		return;
	gp_kfdm_task_put(x->task);
	pthread_mutex_destroy(&x->busy);
	free(x);
}

void gp_kfdm_action_clear(struct gp_kfdm_action *a)
{
	for (u32 i = 0; i < a->nr; i++)
		gp_kfdm_task_put(a->tasks[i]);
	free(a->tasks);
	free(a->answered);
	*a = (struct gp_kfdm_action){ 0 };
}

struct gp_kfdm_task *gp_kfdm_find_task(const struct gp_kfdm *m, u32 task)
{
	return task < m->room_tasks ? m->tasks[task] : NULL;
}

static int add_task(struct gp_kfdm *m, u32 task, u64 devices)
{
	struct gp_kfdm_task *t, **more;
	u32 room;

	if (task >= TASKS_MAX)
		return -EINVAL;
	if (gp_kfdm_find_task(m, task))
		return -EEXIST;
	if (task >= m->room_tasks) {
		room = (task | 63) + 1;
		more = realloc(m->tasks, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + m->room_tasks, 0, (room - m->room_tasks) * sizeof(*more));
		m->tasks = more;
		m->room_tasks = room;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct gp_kfdm_task){ .number = task, .refs = 1, .devices = devices };
	m->tasks[task] = t;
	return 0;
}

int gp_kfdm_task_add(struct gp_kfdm *m, u32 task, u64 devices)
{
	int err;

	pthread_mutex_lock(&m->lock);
	err = add_task(m, task, devices);
	pthread_mutex_unlock(&m->lock);
	return err;
}

/* Watched ones have no thread to leave them. Returns where the next one is. */
static struct gp_member **drop_member(struct gp_kfdm *m, struct gp_member **at)
{
	struct gp_member *x = *at;

	if (x->state == GP_MEMBER_WATCHED) {
		*at = x->next;
		gp_member_put(x);
		return at;
	}
	x->state = GP_MEMBER_LEAVING;
	gp_kfdm_wake(&m->workers[x->home]);
	return &x->next;
}

int gp_kfdm_task_del(struct gp_kfdm *m, u32 task)
{
	struct gp_member **at = &m->members;
	struct gp_kfdm_task *t;

	pthread_mutex_lock(&m->lock);
	t = gp_kfdm_find_task(m, task);
	if (t) {
		while (*at)
			at = (*at)->task == t ? drop_member(m, at) : &(*at)->next;
		m->tasks[task] = NULL;
		t->gone = true;
		gp_kfdm_task_put(t);
	}
	pthread_mutex_unlock(&m->lock);
	return t ? 0 : -ENOENT;
}

static struct gp_member **find_member(struct gp_kfdm *m, pid_t pid)
{
	struct gp_member **at;

	for (at = &m->members; *at; at = &(*at)->next)
		if ((*at)->pid == pid && (*at)->state != GP_MEMBER_LEAVING)
			return at;
	return NULL;
}

static int copy_queues(struct gp_member *x, struct gp_kfd_queue_entry *to, u32 room)
{
	u32 nr;

	if (x->state != GP_MEMBER_ATTACHED)
		return -ENOENT;
	if (pthread_mutex_trylock(&x->busy))
		return -EAGAIN;
	nr = x->session.nr_queues;
	memcpy(to, x->session.queues, (nr < room ? nr : room) * sizeof(*to));
	pthread_mutex_unlock(&x->busy);
	return (int)nr;
}

int gp_kfdm_queues(struct gp_kfdm *m, pid_t pid, struct gp_kfd_queue_entry *to, u32 room)
{
	struct gp_member **at;
	int r = -ENOENT;

	pthread_mutex_lock(&m->lock);
	at = find_member(m, pid);
	/* Tried only, so the order of the two locks does not matter. */
	if (at)
		r = copy_queues(*at, to, room);
	pthread_mutex_unlock(&m->lock);
	return r;
}

static int add_process(struct gp_kfdm *m, u32 task, const struct gp_kfdm_process *process)
{
	struct gp_kfdm_task *t = gp_kfdm_find_task(m, task);
	struct gp_member *x;

	if (!t)
		return -ENOENT;
	if (find_member(m, process->pid))
		return -EEXIST;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->task = t;
	t->refs++;
	x->pid = process->pid;
	x->start = process->start;
	x->state = process->watch_only ? GP_MEMBER_WATCHED : GP_MEMBER_WAITING;
	x->refs = 1;
	x->home = t->devices ? (u32)__builtin_ctzll(t->devices) : 0;
	x->home = m->devices[x->home < m->nr_gpus ? x->home : 0].worker;
	x->session.pipe[0] = x->session.pipe[1] = -1;
	pthread_mutex_init(&x->busy, NULL);
	x->next = m->members;
	m->members = x;
	if (!process->watch_only)
		gp_kfdm_wake(&m->workers[x->home]);
	return 0;
}

int gp_kfdm_process_add(struct gp_kfdm *m, u32 task, const struct gp_kfdm_process *process)
{
	int err;

	pthread_mutex_lock(&m->lock);
	err = add_process(m, task, process);
	pthread_mutex_unlock(&m->lock);
	return err;
}

bool gp_member_owed(struct gp_member *x)
{
	bool off = true;

	if (x->state != GP_MEMBER_LEAVING)
		return false;
	/* Tried only, so the order of the two locks does not matter. In use: it may be off soon. */
	if (!pthread_mutex_trylock(&x->busy)) {
		off = x->held;
		pthread_mutex_unlock(&x->busy);
	}
	return off;
}

bool gp_kfdm_attaching(struct gp_kfdm *m)
{
	struct gp_member *x;
	bool attaching;

	pthread_mutex_lock(&m->lock);
	attaching = m->attaching;
	for (x = m->members; x && !attaching; x = x->next)
		attaching = gp_member_owed(x);
	pthread_mutex_unlock(&m->lock);
	return attaching;
}

bool gp_kfdm_acting(struct gp_kfdm *m, u32 device)
{
	bool acting;

	pthread_mutex_lock(&m->lock);
	acting = m->devices[device].action.id;
	pthread_mutex_unlock(&m->lock);
	return acting;
}

int gp_kfdm_process_del(struct gp_kfdm *m, pid_t pid)
{
	struct gp_member **at;

	pthread_mutex_lock(&m->lock);
	at = find_member(m, pid);
	if (at)
		drop_member(m, at);
	pthread_mutex_unlock(&m->lock);
	return at ? 0 : -ENOENT;
}
