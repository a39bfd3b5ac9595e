// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One action per GPU is under way. Its tasks are answered by the events of their seats: off and on
 * are what was asked, a way back is a refusal. A lost seat answers no action.
 */
#include "mechanism_kmod.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TASKS = GP_UAPI_TASKS };

enum wish { NOTHING, OUT, IN };

struct task {
	bool used;
	u32 task;		/* the core's */
	u32 handle;		/* the module's */
	/* what is under way */
	u8 wish;		/* enum wish */
	u32 device;
	u64 command_ns;
	int outcome;		/* enum gp_outcome; -1: not yet */
	u64 done_ns;
};

struct under_way {
	u64 action;		/* 0: nothing */
	u64 deadline_ns;
};

struct gp_kmodm {
	struct gp_mechanism base;
	struct gp_mechanism_ops ops;
	int fd;
	u32 gpu_id[GP_UAPI_GPUS];
	struct under_way way[GP_UAPI_GPUS];
	u32 nr_gpus;
	struct task task[MOST_TASKS];
};

static struct gp_kmodm *of(struct gp_mechanism *m)
{
	return (struct gp_kmodm *)m;
}

static struct task *find(struct gp_kmodm *m, u32 task)
{
	struct task *t;

	for (t = m->task; t < m->task + MOST_TASKS; t++)
		if (t->used && t->task == task)
			return t;
	return NULL;
}

static struct task *by_handle(struct gp_kmodm *m, u32 handle)
{
	struct task *t;

	for (t = m->task; t < m->task + MOST_TASKS; t++)
		if (t->used && t->handle == handle)
			return t;
	return NULL;
}

/* ---- asking ---- */

static void end(struct task *t, enum gp_outcome outcome, u64 at_ns)
{
	t->outcome = (int)outcome;
	t->done_ns = at_ns;
}

/* All of them at once; if one is refused, each by itself. */
static void ask(struct gp_kmodm *m, struct task *const *tasks, u32 nr, u64 now_ns)
{
	u32 handles[MOST_TASKS], i;
	struct gp_kmod_move move = { .tasks = handles, .nr = nr };
	bool out;
	int err;

	if (!nr)
		return;
	/* NOLINTBEGIN(clang-analyzer-core.NullDereference): begin() has found all of them */
	out = tasks[0]->wish == OUT;
	for (i = 0; i < nr; i++)
		handles[i] = tasks[i]->handle;
	/* NOLINTEND(clang-analyzer-core.NullDereference) */
	err = out ? gp_kmod_preempt(m->fd, &move, NULL) : gp_kmod_resume(m->fd, &move, NULL);
	if (err && nr == 1)
		end(tasks[0], GP_REFUSED, now_ns);
	else if (err)
		for (i = 0; i < nr; i++)
			ask(m, &tasks[i], 1, now_ns);
}

/* It may have been there already: then no event will come. */
static void ask_where(struct gp_kmodm *m, struct task *t, u64 now_ns)
{
	struct gp_uapi_seat seat = { .task = t->handle, .gpu_id = m->gpu_id[t->device] };
	u32 wanted = t->wish == OUT ? GP_UAPI_OFF : GP_UAPI_ON;

	if (t->outcome < 0 && !gp_kmod_call(m->fd, GP_IOC_SEAT, &seat) && seat.state == wanted)
		end(t, GP_DONE, now_ns);
}

static int begin(struct gp_mechanism *base, const struct gp_action *a, u64 now_ns)
{
	struct gp_kmodm *m = of(base);
	struct task *tasks[MOST_TASKS] = { NULL };
	u32 i, nr = a->nr_out + a->nr_in;

	if (a->device >= m->nr_gpus)
		return -ENODEV;
	if (m->way[a->device].action)
		return -EBUSY;
	if (a->nr_out > MOST_TASKS || a->nr_in > MOST_TASKS - a->nr_out)
		return -ENOENT;
	for (i = 0; i < nr; i++) {
		tasks[i] = find(m, a->tasks[i]);
		if (!tasks[i])
			return -ENOENT;
		if (tasks[i]->wish != NOTHING)
			return -EBUSY;
	}
	for (i = 0; i < nr; i++) {
		tasks[i]->wish = i < a->nr_out ? OUT : IN;
		tasks[i]->device = a->device;
		tasks[i]->command_ns = now_ns;
		tasks[i]->outcome = -1;
	}
	m->way[a->device] = (struct under_way){ a->id, a->deadline_ns };
	ask(m, tasks, a->nr_out, now_ns);
	ask(m, tasks + a->nr_out, a->nr_in, now_ns);
	for (i = 0; i < nr; i++)
		ask_where(m, tasks[i], now_ns);
	return 0;
}

/* ---- answers ---- */

static void take(struct gp_kmodm *m, const struct gp_uapi_event *e)
{
	struct task *t = by_handle(m, e->task);
	u64 to = e->arg[1];

	if (!t)
		return;
	if (e->kind == GP_UAPI_EVENT_GONE && t->wish != NOTHING)
		end(t, GP_DONE, e->time_ns);
	if (e->kind != GP_UAPI_EVENT_STATE || t->wish == NOTHING || t->outcome >= 0 ||
	    e->gpu_id != m->gpu_id[t->device])
		return;
	/* Of an action before: ask_where() has answered that one without its event. */
	if (e->time_ns < t->command_ns)
		return;
	if (to == GP_UAPI_LOST)
		end(t, GP_TIMED_OUT, e->time_ns);
	else if (to == (t->wish == OUT ? GP_UAPI_OFF : GP_UAPI_ON))
		end(t, GP_DONE, e->time_ns);
	else if (to == GP_UAPI_ON || to == GP_UAPI_OFF)
		end(t, GP_REFUSED, e->time_ns);
}

/* What did not become what it should have become is let back: the module would try again. */
static void undo(struct gp_kmodm *m, const struct task *t)
{
	struct gp_kmod_move move = { .tasks = &t->handle, .nr = 1 };

	if (t->wish == OUT && t->outcome != GP_DONE)
		gp_kmod_resume(m->fd, &move, NULL);
}

static void expire(struct gp_kmodm *m, u64 now_ns)
{
	struct task *t;

	for (t = m->task; t < m->task + MOST_TASKS; t++)
		if (t->used && t->wish != NOTHING && t->outcome < 0 &&
		    now_ns >= m->way[t->device].deadline_ns)
			end(t, GP_TIMED_OUT, now_ns);
}

/* Ends the action of @device when none of its tasks is left. */
static void settle(struct gp_kmodm *m, u32 device)
{
	const struct task *t;

	for (t = m->task; t < m->task + MOST_TASKS; t++)
		if (t->used && t->wish != NOTHING && t->device == device)
			return;
	m->way[device].action = 0;
}

static int poll_answer(struct gp_mechanism *base, u64 now_ns, struct gp_answer *ret)
{
	struct gp_kmodm *m = of(base);
	struct gp_uapi_event e;
	struct task *t;

	while (!gp_kmod_next(m->fd, &e))
		take(m, &e);
	expire(m, now_ns);
	for (t = m->task; t < m->task + MOST_TASKS; t++) {
		if (!t->used || t->wish == NOTHING || t->outcome < 0)
			continue;
		/* A lost seat has until the deadline, like every other. */
		if (t->outcome == GP_TIMED_OUT && now_ns < m->way[t->device].deadline_ns)
			continue;
		undo(m, t);
		*ret = (struct gp_answer){
			.action = m->way[t->device].action, .task = t->task,
			.outcome = (u32)t->outcome, .command_ns = t->command_ns,
			.acted_ns = t->command_ns, .saved_ns = t->done_ns,
			.switched_ns = t->done_ns,
		};
		t->wish = NOTHING;
		settle(m, t->device);
		return 0;
	}
	return -EAGAIN;
}

/* ---- tasks ---- */

int gp_kmodm_task_add(struct gp_kmodm *m, u32 task, const struct gp_process_id *processes,
		      u32 nr)
{
	struct gp_class class = { .weight = 100, .flags = GP_PREEMPTIBLE };
	struct task *t;
	u32 handle;
	int err;

	if (find(m, task))
		return -EEXIST;
	for (t = m->task; t < m->task + MOST_TASKS && t->used; t++)
		;
	if (t == m->task + MOST_TASKS)
		return -ENOSPC;
	err = gp_kmod_attach(m->fd, processes, nr, &class, &handle);
	if (!err)
		*t = (struct task){ .used = true, .task = task, .handle = handle };
	return err;
}

int gp_kmodm_task_del(struct gp_kmodm *m, u32 task)
{
	struct task *t = find(m, task);
	u32 device;

	if (!t)
		return -ENOENT;
	gp_kmod_detach(m->fd, t->handle);
	device = t->device;
	*t = (struct task){ 0 };
	settle(m, device);
	return 0;
}

u32 gp_kmodm_handle(const struct gp_kmodm *m, u32 task)
{
	const struct task *t = find((struct gp_kmodm *)m, task);

	return t ? t->handle : 0;
}

/* ---- life ---- */

static const struct gp_mechanism_ops template = {
	.grain	= GP_GRAIN_PROCESS,
	.keeps	= GP_KEEPS_SAVE,
	.reach	= GP_REACH_EVERYBODY,
	.begin	= begin,
	.poll	= poll_answer,
};

static void describe(struct gp_kmodm *m, const char *way)
{
	m->ops = template;
	if (!strcmp(way, "direct")) {
		m->ops.name = "kmod/direct";
		m->ops.reach = GP_REACH_VICTIM;
	} else if (!strcmp(way, "halt")) {
		m->ops.name = "kmod/halt";
		m->ops.grain = GP_GRAIN_GPU;
	} else {
		m->ops.name = strcmp(way, "auto") ? "kmod/evict" : "kmod/auto";
	}
	m->base.ops = &m->ops;
}

int gp_kmodm_alloc(const struct gp_kmodm_args *args, struct gp_kmodm **ret)
{
	struct gp_kmodm *m;
	int err;

	if (args->nr_gpus > GP_UAPI_GPUS)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	describe(m, args->way);
	m->nr_gpus = args->nr_gpus;
	memcpy(m->gpu_id, args->gpu_ids, args->nr_gpus * sizeof(*m->gpu_id));
	m->fd = err = gp_kmod_open(args->path, NULL);
	if (err >= 0)
		err = gp_kmod_set_mechanism(m->fd, args->way, 0);
	if (!err)
		err = gp_kmod_subscribe(m->fd, GP_UAPI_EVENTS, -1);
	if (err < 0) {
		gp_kmodm_free(m);
		return err;
	}
	*ret = m;
	return 0;
}

void gp_kmodm_free(struct gp_kmodm *m)
{
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

struct gp_mechanism *gp_kmodm_mechanism(struct gp_kmodm *m)
{
	return &m->base;
}

int gp_kmodm_fd(const struct gp_kmodm *m)
{
	return m->fd;
}

bool gp_kmodm_busy(const struct gp_kmodm *m)
{
	u32 i;

	for (i = 0; i < m->nr_gpus; i++)
		if (m->way[i].action)
			return true;
	return false;
}
