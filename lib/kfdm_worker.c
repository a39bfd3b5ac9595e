// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The thread of a GPU: actions first, then what targets say, then coming and going. */
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "kfdm.h"

enum {
	BATCH		= 16,
	STOPS_MS	= 5,	/* between looks at targets that stay attached */
};

u64 gp_kfdm_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

static bool act_once(struct gp_kfdm_worker *w)
{
	struct gp_kfdm *m = w->m;
	u32 device;

	pthread_mutex_lock(&m->lock);
	for (device = 0; device < m->nr_gpus; device++) {
		struct gp_kfdm_device *d = &m->devices[device];

		if (d->worker == w->index && d->action.id && !d->action.begun) {
			d->action.begun = true;
			break;
		}
	}
	pthread_mutex_unlock(&m->lock);
	if (device == m->nr_gpus)
		return false;
	gp_kfdm_act(m, device);
	return true;
}

static void tell(struct gp_kfdm *m, const struct gp_member *x, struct gp_kfdm_event event)
{
	event.task = x->task->number;
	event.pid = x->pid;
	pthread_mutex_lock(&m->lock);
	/* Who was deleted meanwhile is not talked about. */
	if (x->state != GP_MEMBER_LEAVING && !x->task->gone)
		gp_kfdm_tell(m, &event);
	pthread_mutex_unlock(&m->lock);
	gp_kfdm_kick(m);
}

/* Out of the list; its memory stays as long as somebody uses it. */
static void forget(struct gp_kfdm *m, struct gp_member *x)
{
	struct gp_member **at;

	pthread_mutex_lock(&m->lock);
	for (at = &m->members; *at != x; at = &(*at)->next)
		;
	*at = x->next;
	gp_member_put(x);
	pthread_mutex_unlock(&m->lock);
}

static void close_session(struct gp_kfdm_worker *w, struct gp_member *x)
{
	pthread_mutex_lock(&x->busy);
	if (x->session.queues) {
		epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, x->session.pipe[0], NULL);
		gp_session_close(&x->session);
	}
	x->held = 0;
	pthread_mutex_unlock(&x->busy);
}

static void leave(struct gp_kfdm_worker *w, struct gp_member *x)
{
	struct gp_kfdm *m = w->m;

	close_session(w, x);
	pthread_mutex_lock(&m->lock);
	m->stats.detaches++;
	pthread_mutex_unlock(&m->lock);
	forget(m, x);
}

/* A driver that insists on its tracer takes calls from this thread only. */
static void serve_all(struct gp_kfdm_worker *w)
{
	struct gp_kfdm *m = w->m;

	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < m->nr_gpus; i++)
		m->devices[i].worker = w->index;
	for (struct gp_member *x = m->members; x; x = x->next)
		if (x->state == GP_MEMBER_WAITING)
			x->home = w->index;
	pthread_mutex_unlock(&m->lock);
}

static void attach(struct gp_kfdm_worker *w, struct gp_member *x)
{
	struct gp_kfdm *m = w->m;
	struct gp_session_args args = {
		.kfd_fd = m->args.kfd_fd, .pid = x->pid, .start = x->start,
		.stay_attached = m->args.stay_attached,
	};
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = x };
	int err;

	pthread_mutex_lock(&x->busy);
	err = gp_session_open(&x->session, &args);
	if (!err && epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, x->session.pipe[0], &event)) {
		err = -errno;
		gp_session_close(&x->session);
	}
	if (!err && x->session.attached)
		serve_all(w);
	pthread_mutex_unlock(&x->busy);
	pthread_mutex_lock(&m->lock);
	m->attaching--;
	if (err)
		m->stats.attach_failures++;
	else
		m->stats.attaches++;
	if (!err && x->state == GP_MEMBER_WAITING)
		x->state = GP_MEMBER_ATTACHED;
	pthread_mutex_unlock(&m->lock);
	tell(m, x, (struct gp_kfdm_event){
		.what = err ? GP_KFDM_NOT_ATTACHED : GP_KFDM_ATTACHED, .err = err,
	});
	if (err)
		forget(m, x);
}

static bool is_free(const struct gp_kfdm *m, const struct gp_member *x)
{
	for (const struct gp_member *y = m->members; y; y = y->next)
		if (y != x && y->pid == x->pid && y->state == GP_MEMBER_LEAVING)
			return false;
	return true;
}

/*
 * The next member of this thread's that is to be attached or left, when that may be:
 * each cycles the queues of everybody on its GPUs. Who is off is left first and at once.
 * *@ret_wait_ns: how long to wait.
 */
static struct gp_member *next_errand(struct gp_kfdm_worker *w, u64 *ret_wait_ns)
{
	struct gp_kfdm *m = w->m;
	struct gp_member *x, *next = NULL;
	u64 now = gp_kfdm_now();
	bool owed = false;

	*ret_wait_ns = ~0ull;
	pthread_mutex_lock(&m->lock);
	for (x = m->members; x && !owed; x = x->next) {
		if (x->home != w->index)
			continue;
		owed = gp_member_owed(x);
		if (owed || (!next && (x->state == GP_MEMBER_LEAVING ||
				       (x->state == GP_MEMBER_WAITING && is_free(m, x)))))
			next = x;
	}
	if (next && !owed && now < m->next_attach_ns) {
		*ret_wait_ns = m->next_attach_ns - now;
		next = NULL;
	} else if (next) {
		m->next_attach_ns = now + m->args.attach_interval_ns;
	}
	pthread_mutex_unlock(&m->lock);
	return next;
}

/* One member attached or left. */
static bool errand(struct gp_kfdm_worker *w, u64 *ret_wait_ns)
{
	struct gp_member *x = next_errand(w, ret_wait_ns);
	bool leaving;

	if (!x)
		return false;
	pthread_mutex_lock(&w->m->lock);
	leaving = x->state == GP_MEMBER_LEAVING;
	/* Counted before it can be deleted: from then on it is not talked about. */
	w->m->attaching += !leaving;
	pthread_mutex_unlock(&w->m->lock);
	if (leaving)
		leave(w, x);
	else
		attach(w, x);
	return true;
}

static void new_queues(struct gp_kfdm *m, struct gp_member *x, u64 since_ns)
{
	struct gp_kfdm_event event = { .what = GP_KFDM_QUEUES };
	u32 before = x->session.nr_queues;
	bool held;
	int err;

	pthread_mutex_lock(&x->busy);
	err = gp_session_refresh(&x->session, NULL);
	held = x->held;
	if (!err && held)
		err = gp_kfdm_retake(m, x);
	event.count = x->session.nr_queues > before ? x->session.nr_queues - before : 1;
	pthread_mutex_unlock(&x->busy);
	event.ns = gp_kfdm_now() - since_ns;
	tell(m, x, event);
	if (err || !held)
		return;
	pthread_mutex_lock(&m->lock);
	m->stats.retakes++;
	m->stats.retake_ns_sum += event.ns;
	if (event.ns > m->stats.retake_ns_max)
		m->stats.retake_ns_max = event.ns;
	pthread_mutex_unlock(&m->lock);
	event.what = GP_KFDM_RETAKEN;
	tell(m, x, event);
}

static void hear(struct gp_kfdm_worker *w, struct gp_member *x)
{
	struct gp_kfdm *m = w->m;
	u64 since_ns = gp_kfdm_now();
	int what;

	pthread_mutex_lock(&x->busy);
	what = gp_session_events(&x->session);
	pthread_mutex_unlock(&x->busy);
	if (what < 0)
		return;
	if (what & (GP_SESSION_RUNTIME | GP_SESSION_GONE)) {
		/* Counted before it is told: who is told may look. */
		pthread_mutex_lock(&m->lock);
		m->stats.runtime_ends += !(what & GP_SESSION_GONE);
		pthread_mutex_unlock(&m->lock);
		tell(m, x, (struct gp_kfdm_event){
			.what = GP_KFDM_LEFT, .err = what & GP_SESSION_GONE ? -ESRCH : -EAGAIN,
		});
		leave(w, x);
	} else if (what & GP_SESSION_NEW_QUEUES) {
		new_queues(m, x, since_ns);
	}
}

/* Whether some of ours stay attached and may stop at a signal. */
static bool wait_stops(struct gp_kfdm_worker *w)
{
	struct gp_kfdm *m = w->m;
	bool any = false;

	pthread_mutex_lock(&m->lock);
	/* Only this thread removes members of its own. */
	for (struct gp_member *x = m->members; x; x = x->next) {
		if (x->home != w->index || x->state != GP_MEMBER_ATTACHED ||
		    !x->session.attached)
			continue;
		any = true;
		gp_session_wait_stops(&x->session);
	}
	pthread_mutex_unlock(&m->lock);
	return any;
}

static int timeout_ms(struct gp_kfdm_worker *w, u64 wait_ns)
{
	u64 ms = wait_ns == ~0ull ? ~0ull : wait_ns / 1000000 + 1;

	if (wait_stops(w) && ms > STOPS_MS)
		ms = STOPS_MS;
	return ms > 60000 ? -1 : (int)ms;
}

static void listen_once(struct gp_kfdm_worker *w, int ms)
{
	struct epoll_event event[BATCH];
	int nr = epoll_wait(w->epoll_fd, event, BATCH, ms);
	u64 count;

	for (int i = 0; i < nr; i++) {
		/* Somebody waits for actions; what was heard keeps. */
		if (event[i].data.ptr) {
			while (act_once(w))
				;
			hear(w, event[i].data.ptr);
		} else if (read(w->wake_fd, &count, sizeof(count)) < 0) {
			continue;
		}
	}
}

static bool stopped(struct gp_kfdm *m)
{
	bool stop;

	pthread_mutex_lock(&m->lock);
	stop = m->stop;
	pthread_mutex_unlock(&m->lock);
	return stop;
}

/* At the end nothing is rate-limited: everybody is let go. */
static void leave_all(struct gp_kfdm_worker *w)
{
	struct gp_kfdm *m = w->m;
	struct gp_member *x;

	for (;;) {
		pthread_mutex_lock(&m->lock);
		for (x = m->members; x && x->home != w->index; x = x->next)
			;
		if (x)
			x->state = GP_MEMBER_LEAVING;
		pthread_mutex_unlock(&m->lock);
		if (!x)
			return;
		leave(w, x);
	}
}

void *gp_kfdm_worker_main(void *worker)
{
	struct gp_kfdm_worker *w = worker;
	u64 wait_ns;

	while (!stopped(w->m)) {
		while (act_once(w))
			;
		listen_once(w, errand(w, &wait_ns) ? 0 : timeout_ms(w, wait_ns));
	}
	while (act_once(w))
		;
	leave_all(w);
	return NULL;
}
