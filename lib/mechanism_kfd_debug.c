// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The owner's side of the mechanism: nothing here sleeps but probes and the end. */
#include "mechanism_kfd_debug.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kfdm.h"
#include "process.h"

#define DEFAULT_INTERVAL_NS	(10 * 1000 * 1000ull)

static struct gp_kfdm *of(struct gp_mechanism *base)
{
	return (struct gp_kfdm *)base;
}

static void ring(int fd)
{
	u64 one = 1;

	/* It cannot fail but by being full, and then it is readable. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

void gp_kfdm_wake(const struct gp_kfdm_worker *w)
{
	ring(w->wake_fd);
}

void gp_kfdm_kick(const struct gp_kfdm *m)
{
	ring(m->fd);
}

void gp_kfdm_answer(struct gp_kfdm *m, const struct gp_answer *answer)
{
	struct gp_kfdm_answers *q = &m->answers;

	/* Room was made when the action began. */
	assert(q->nr < q->room);
	q->at[(q->first + q->nr++) & (q->room - 1)] = *answer;
}

/* For an action about @tasks more, so that an answer never needs memory. */
static int make_room(struct gp_kfdm *m, u32 tasks)
{
	struct gp_kfdm_answers *q = &m->answers;
	u32 room = q->room ? q->room : 64;
	struct gp_answer *at;

	for (u32 i = 0; i < m->nr_gpus; i++)
		tasks += m->devices[i].action.nr;
	/* Twice: one that timed out is answered late as well. */
	while (room < q->nr + 2 * tasks)
		room *= 2;
	if (room == q->room)
		return 0;
	at = calloc(room, sizeof(*at));
	if (!at)
		return -ENOMEM;
	for (u32 i = 0; i < q->nr; i++)
		at[i] = q->at[(q->first + i) & (q->room - 1)];
	free(q->at);
	*q = (struct gp_kfdm_answers){ .at = at, .nr = q->nr, .room = room };
	return 0;
}

void gp_kfdm_tell(struct gp_kfdm *m, const struct gp_kfdm_event *event)
{
	if (m->nr_events == GP_KFDM_EVENTS) {
		m->stats.events_dropped++;
		return;
	}
	m->events[(m->first_event + m->nr_events++) % GP_KFDM_EVENTS] = *event;
}

/* ---- the table of a mechanism ---- */

static int check_action(const struct gp_kfdm *m, const struct gp_action *action)
{
	if (action->device >= m->nr_gpus)
		return -ENODEV;
	for (u32 i = 0; i < action->nr_out + action->nr_in; i++) {
		const struct gp_kfdm_task *t = gp_kfdm_find_task(m, action->tasks[i]);

		if (!t || !(t->devices & BIT_ULL(action->device)))
			return -ENOENT;
	}
	return m->devices[action->device].action.id ? -EBUSY : 0;
}

static int begin_locked(struct gp_kfdm *m, const struct gp_action *action)
{
	u32 nr = action->nr_out + action->nr_in;
	struct gp_kfdm_device *d;
	struct gp_kfdm_action a;
	int err = check_action(m, action);

	if (err)
		return err;
	a = (struct gp_kfdm_action){
		.id = action->id, .deadline_ns = action->deadline_ns, .nr_out = action->nr_out,
		.tasks = calloc(nr + 1, sizeof(*a.tasks)),
		.answered = calloc(nr + 1, sizeof(*a.answered)),
	};
	if (!a.tasks || !a.answered || make_room(m, nr)) {
		gp_kfdm_action_clear(&a);
		return -ENOMEM;
	}
	for (; a.nr < nr; a.nr++) {
		a.tasks[a.nr] = gp_kfdm_find_task(m, action->tasks[a.nr]);
		a.tasks[a.nr]->refs++;
	}
	d = &m->devices[action->device];
	d->action = a;
	gp_kfdm_wake(&m->workers[d->worker]);
	return 0;
}

static int begin(struct gp_mechanism *base, const struct gp_action *action, u64 now_ns)
{
	struct gp_kfdm *m = of(base);
	int err;

	(void)now_ns;
	pthread_mutex_lock(&m->lock);
	err = begin_locked(m, action);
	pthread_mutex_unlock(&m->lock);
	return err;
}

/* Deadlines that have passed become answers. */
static void time_out(struct gp_kfdm *m, u64 now_ns)
{
	for (u32 i = 0; i < m->nr_gpus; i++) {
		struct gp_kfdm_action *a = &m->devices[i].action;

		if (!a->id || a->timed_out || a->deadline_ns > now_ns)
			continue;
		a->timed_out = true;
		for (u32 j = 0; j < a->nr; j++)
			if (!a->answered[j] && !a->tasks[j]->gone)
				gp_kfdm_answer(m, &(struct gp_answer){
					.action = a->id, .task = a->tasks[j]->number,
					.outcome = GP_TIMED_OUT,
				});
	}
}

/* Nothing is left to fetch: not readable until there is. */
static void hush(struct gp_kfdm *m)
{
	u64 count;

	if (!m->answers.nr && !m->nr_events && read(m->fd, &count, sizeof(count)) < 0)
		return;
}

static int poll(struct gp_mechanism *base, u64 now_ns, struct gp_answer *ret)
{
	struct gp_kfdm *m = of(base);
	struct gp_kfdm_answers *q = &m->answers;
	int err = -EAGAIN;

	pthread_mutex_lock(&m->lock);
	time_out(m, now_ns);
	if (q->nr) {
		*ret = q->at[q->first];
		q->first = (q->first + 1) & (q->room - 1);
		q->nr--;
		err = 0;
	}
	hush(m);
	pthread_mutex_unlock(&m->lock);
	return err;
}

/* The pids of a task's processes. Returns how many, or -errno. */
static int pids_of(struct gp_kfdm *m, u32 device, u32 task, pid_t **ret)
{
	struct gp_kfdm_task *t;
	struct gp_member *x;
	int nr = 0, err = 0;

	pthread_mutex_lock(&m->lock);
	t = gp_kfdm_find_task(m, task);
	if (device >= m->nr_gpus)
		err = -ENODEV;
	else if (!t || !(t->devices & BIT_ULL(device)))
		err = -ENOENT;
	for (x = m->members; !err && x; x = x->next)
		nr += x->task == t;
	*ret = err ? NULL : calloc((size_t)nr + 1, sizeof(**ret));
	if (!err && !*ret)
		err = -ENOMEM;
	nr = 0;
	for (x = m->members; !err && x; x = x->next)
		if (x->task == t)
			(*ret)[nr++] = x->pid;
	pthread_mutex_unlock(&m->lock);
	return err ? err : nr;
}

static int probe(struct gp_mechanism *base, u32 device, u32 task, u32 *waves, u32 *permille)
{
	struct gp_kfdm *m = of(base);
	u32 cus = 0, all, one;
	pid_t *pids;
	int nr = pids_of(m, device, task, &pids), err = 0;

	if (nr < 0)
		return nr;
	for (int i = 0; !err && i < nr; i++) {
		err = gp_process_occupancy(m->args.kfd_root, pids[i], m->devices[device].gpu.gpu_id,
					   &one);
		if (!err)
			cus += one;
		if (err == -ENOENT)
			err = 0;	/* gone: it occupies nothing */
	}
	free(pids);
	if (err)
		return err;
	all = m->devices[device].gpu.cus;
	*waves = cus;
	*permille = !all || cus >= all ? (cus ? 1000 : 0) : cus * 1000 / all;
	return 0;
}

static const struct gp_mechanism_ops ops = {
	.name	= "kfd-debug",
	.grain	= GP_GRAIN_PROCESS,
	.keeps	= GP_KEEPS_SAVE,
	.reach	= GP_REACH_EVERYBODY,
	.probes	= true,
	.begin	= begin,
	.poll	= poll,
	.probe	= probe,
};

struct gp_mechanism *gp_kfdm_mechanism(struct gp_kfdm *m)
{
	return &m->base;
}

int gp_kfdm_fd(const struct gp_kfdm *m)
{
	return m->fd;
}

u64 gp_kfdm_wake_at(struct gp_kfdm *m)
{
	u64 at = ~0ull;

	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < m->nr_gpus; i++) {
		const struct gp_kfdm_action *a = &m->devices[i].action;

		if (a->id && !a->timed_out && a->deadline_ns < at)
			at = a->deadline_ns;
	}
	pthread_mutex_unlock(&m->lock);
	return at;
}

int gp_kfdm_next(struct gp_kfdm *m, struct gp_kfdm_event *ret)
{
	int err = -EAGAIN;

	pthread_mutex_lock(&m->lock);
	if (m->nr_events) {
		*ret = m->events[m->first_event];
		m->first_event = (m->first_event + 1) % GP_KFDM_EVENTS;
		m->nr_events--;
		err = 0;
	}
	hush(m);
	pthread_mutex_unlock(&m->lock);
	return err;
}

void gp_kfdm_stats(struct gp_kfdm *m, struct gp_kfdm_stats *ret)
{
	pthread_mutex_lock(&m->lock);
	*ret = m->stats;
	pthread_mutex_unlock(&m->lock);
}

/* ---- beginning and end ---- */

static int start_worker(struct gp_kfdm_worker *w)
{
	struct epoll_event event = { .events = EPOLLIN };
	sigset_t all, before;
	int err;

	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->epoll_fd < 0 || w->wake_fd < 0 ||
	    epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->wake_fd, &event))
		return -errno;
	/* Signals are for the threads of the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&w->thread, NULL, gp_kfdm_worker_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	w->running = !err;
	return -err;
}

int gp_kfdm_alloc(const struct gp_kfdm_args *args, struct gp_kfdm **ret)
{
	struct gp_kfdm *m;
	int err = 0;

	if (!args->nr_gpus || args->nr_gpus > GP_KFDM_GPUS || args->grace > GP_KFD_GRACE_MAX)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->base.ops = &ops;
	m->args = *args;
	m->args.grace = args->grace ? args->grace : 1;
	m->args.attach_interval_ns = args->attach_interval_ns ? args->attach_interval_ns :
								DEFAULT_INTERVAL_NS;
	m->nr_gpus = args->nr_gpus;
	pthread_mutex_init(&m->lock, NULL);
	for (u32 i = 0; i < m->nr_gpus; i++) {
		m->devices[i] = (struct gp_kfdm_device){ .gpu = args->gpus[i], .worker = i };
		m->workers[i] = (struct gp_kfdm_worker){
			.m = m, .index = i, .epoll_fd = -1, .wake_fd = -1,
		};
	}
	m->args.gpus = NULL;
	m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->fd < 0)
		err = -errno;
	for (u32 i = 0; !err && i < m->nr_gpus; i++)
		err = start_worker(&m->workers[i]);
	if (err) {
		gp_kfdm_free(m);
		return err;
	}
	*ret = m;
	return 0;
}

static void free_all(struct gp_kfdm *m)
{
	while (m->members) {
		struct gp_member *x = m->members;

		m->members = x->next;
		gp_member_put(x);
	}
	for (u32 i = 0; i < m->nr_gpus; i++)
		gp_kfdm_action_clear(&m->devices[i].action);
	for (u32 i = 0; i < m->room_tasks; i++)
		if (m->tasks[i])
			gp_kfdm_task_put(m->tasks[i]);
	free(m->tasks);
	free(m->answers.at);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

void gp_kfdm_free(struct gp_kfdm *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_mutex_unlock(&m->lock);
	for (u32 i = 0; i < m->nr_gpus; i++)
		if (m->workers[i].running)
			gp_kfdm_wake(&m->workers[i]);
	for (u32 i = 0; i < m->nr_gpus; i++) {
		struct gp_kfdm_worker *w = &m->workers[i];

		if (w->running)
			pthread_join(w->thread, NULL);
		if (w->epoll_fd >= 0)
			close(w->epoll_fd);
		if (w->wake_fd >= 0)
			close(w->wake_fd);
	}
	if (m->fd >= 0)
		close(m->fd);
	free_all(m);
}
