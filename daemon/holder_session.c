// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The thread of a session: attaches, holds, releases, hears the target, minds its lease. */
#include "holder_session.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/param.h"
#include "lib/user.h"
#include "log.h"

/* Between looks at the stops of a target that stays attached. */
#define STOPS_NS	(5 * GP_MSEC)

u64 gp_holder_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * GP_SEC + (u64)t.tv_nsec;
}

/* ---- times that the first thread watches ---- */

static void ring(const struct gp_holder_session *s)
{
	u64 one = 1;

	/* It can fail only by being full, and then the first thread is awake. */
	if (write(s->bell, &one, sizeof(one)) < 0)
		return;
}

/* From here to leave_driver() the thread may hang. */
static void enter_driver(struct gp_holder_session *s)
{
	atomic_store(&s->call_ns, gp_holder_now());
	if (!atomic_load(s->watching))
		ring(s);
}

static void leave_driver(struct gp_holder_session *s)
{
	atomic_store(&s->call_ns, 0);
}

/* ---- messages ---- */

static void send(struct gp_holder_session *s, const struct gp_holder_reply *m)
{
	/* A decider that does not read is as good as gone. */
	if (gp_channel_send(s->channel, &m->is, NULL, 0))
		s->broken = true;
}

static void send_kind(struct gp_holder_session *s, u32 kind, int err)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, (u16)kind, .err = err,
					      .pid = s->pid);

	send(s, &m);
}

/* All of them again. Without room in the channel it is tried later. */
static void send_queues(struct gp_holder_session *s)
{
	u32 nr = s->debug.nr_queues, first = 0;

	s->queues_owed = false;
	do {
		struct gp_holder_queues m =
			GP_MESSAGE(struct gp_holder_queues, GP_HOLDER_QUEUES, .total = nr,
				   .first = first);
		int err;

		m.count = nr - first < GP_HOLDER_ENTRIES ? nr - first : GP_HOLDER_ENTRIES;
		memcpy(m.entry, s->debug.queues + first, m.count * sizeof(*m.entry));
		err = gp_channel_send(s->channel, &m.is, NULL, 0);
		if (err == -EAGAIN)
			s->queues_owed = true;
		else if (err)
			s->broken = true;
		first += m.count;
	} while (first < nr && !s->queues_owed && !s->broken);
}

/* ---- holding ---- */

static u32 *find_held(struct gp_holder_session *s, u32 gpu_id)
{
	for (u32 i = 0; i < s->nr_held; i++)
		if (s->held[i] == gpu_id)
			return &s->held[i];
	return NULL;
}

static void unhold(struct gp_holder_session *s, u32 gpu_id)
{
	u32 *at = find_held(s, gpu_id);

	if (at)
		*at = s->held[--s->nr_held];
	if (!s->nr_held)
		atomic_store(&s->until_ns, 0);
}

/* Everything runs. If the driver refuses that, leaving the session does it. */
static int resume_all(struct gp_holder_session *s)
{
	struct gp_session_done done;
	int err;

	enter_driver(s);
	err = gp_session_resume(&s->debug, 0, &done);
	leave_driver(s);
	/* It is gone, or its runtime is disabled and its queues run. */
	if (err && err != -ESRCH && err != -EPERM)
		return err;
	s->nr_held = 0;
	atomic_store(&s->until_ns, 0);
	return 0;
}

static int suspend(struct gp_holder_session *s, const struct gp_holder_request *r,
		   struct gp_session_done *done)
{
	u64 now = gp_holder_now();
	int err = gp_holder_check_lease(r->until_ns, now);

	if (err)
		return err;
	if (!find_held(s, r->gpu_id)) {
		if (s->nr_held == GP_HOLDER_GPUS)
			return -ENOSPC;
		s->held[s->nr_held++] = r->gpu_id;
	}
	s->grace = r->grace;
	/* From now on, so that a queue that is created meanwhile is suspended, too. */
	atomic_store(&s->until_ns, r->until_ns);
	enter_driver(s);
	err = gp_session_suspend(&s->debug, r->gpu_id, r->grace, done);
	leave_driver(s);
	if (err)
		unhold(s, r->gpu_id);
	return err;
}

static void hold(struct gp_holder_session *s, const struct gp_holder_request *r)
{
	struct gp_session_done done = { 0 };
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_HELD,
		.serial = r->serial, .gpu_id = r->gpu_id, .pid = s->pid);

	m.err = suspend(s, r, &done);
	m.command_ns = done.command_ns;
	m.done_ns = done.done_ns;
	m.count = done.done;
	send(s, &m);
}

static void release(struct gp_holder_session *s, const struct gp_holder_request *r)
{
	struct gp_session_done done = { 0 };
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_RELEASED,
		.serial = r->serial, .gpu_id = r->gpu_id, .pid = s->pid);
	bool last = s->nr_held == 1;

	if (find_held(s, r->gpu_id)) {
		enter_driver(s);
		m.err = gp_session_resume(&s->debug, last ? 0 : r->gpu_id, &done);
		leave_driver(s);
		/* It is gone, or its runtime is disabled and its queues run. */
		if (m.err == -ESRCH || m.err == -EPERM)
			m.err = 0;
		if (!m.err)
			unhold(s, r->gpu_id);
	}
	m.command_ns = done.command_ns;
	m.done_ns = done.done_ns;
	m.count = done.done;
	send(s, &m);
}

/* Returns false if the session must end. */
static bool expire(struct gp_holder_session *s)
{
	int err = resume_all(s);

	send_kind(s, err ? GP_HOLDER_LEFT : GP_HOLDER_EXPIRED, err);
	return !err;
}

/* ---- the target ---- */

static int retake(struct gp_holder_session *s)
{
	struct gp_session_done done;
	int err = 0;

	enter_driver(s);
	for (u32 i = 0; !err && i < s->nr_held; i++)
		err = gp_session_suspend(&s->debug, s->held[i], s->grace, &done);
	leave_driver(s);
	return err;
}

/* 0, or why its new queues may run although it is held. */
static int take_new_queues(struct gp_holder_session *s)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_NEW_QUEUES,
					      .pid = s->pid);
	u64 since = gp_holder_now();
	u32 before = s->debug.nr_queues;
	int err;

	enter_driver(s);
	err = gp_session_refresh(&s->debug, NULL);
	leave_driver(s);
	if (!err && s->nr_held)
		err = retake(s);
	m.count = s->debug.nr_queues > before ? s->debug.nr_queues - before : 1;
	m.ns = gp_holder_now() - since;
	send_queues(s);
	send(s, &m);
	if (err || !s->nr_held)
		return err;
	m.is.kind = GP_HOLDER_RETAKEN;
	send(s, &m);
	return 0;
}

/* Returns false if the session must end. */
static bool hear_target(struct gp_holder_session *s)
{
	int what;

	enter_driver(s);
	what = gp_session_events(&s->debug);
	leave_driver(s);
	if (what > 0 && (what & (GP_SESSION_RUNTIME | GP_SESSION_GONE))) {
		send_kind(s, GP_HOLDER_LEFT, what & GP_SESSION_GONE ? -ESRCH : -EAGAIN);
		return false;
	}
	if (what > 0 && (what & GP_SESSION_NEW_QUEUES))
		what = take_new_queues(s);
	/* The end of the session makes everything run, and the decider attaches again. */
	if (what < 0)
		send_kind(s, GP_HOLDER_LEFT, what);
	return what >= 0;
}

/* ---- requests ---- */

static void refresh(struct gp_holder_session *s)
{
	enter_driver(s);
	gp_session_refresh(&s->debug, NULL);
	leave_driver(s);
	send_queues(s);
}

/* Returns false if the session must end. */
static bool take_request(struct gp_holder_session *s, const struct gp_holder_request *r)
{
	switch (r->is.kind) {
	case GP_HOLDER_HOLD:
		hold(s, r);
		return true;
	case GP_HOLDER_RENEW:
		if (s->nr_held && !gp_holder_check_lease(r->until_ns, gp_holder_now()))
			atomic_store(&s->until_ns, r->until_ns);
		return true;
	case GP_HOLDER_RELEASE:
		release(s, r);
		return true;
	case GP_HOLDER_REFRESH:
		refresh(s);
		return true;
	}
	return false;
}

static bool take_requests(struct gp_holder_session *s)
{
	struct gp_holder_request r;
	int n;

	while (!s->broken) {
		n = gp_channel_recv(s->channel, &r, sizeof(r), NULL);
		if (n == -EAGAIN)
			return true;
		if (n != (int)sizeof(r) || !gp_holder_check(&r, false) || !take_request(s, &r))
			return false;
	}
	return false;
}

/* ---- life ---- */

static int attach(struct gp_holder_session *s)
{
	struct gp_session_args args = {
		.kfd_fd = s->kfd_fd, .pid = s->pid, .start = s->start,
		.stay_attached = s->stay_attached,
	};
	uid_t user;
	int err = gp_process_user(NULL, s->pid, &user);

	if (err)
		return err;
	if (user != s->user)
		return -EACCES;
	return gp_session_open(&s->debug, &args);
}

/* Until there is something to do. Returns poll()'s events of the channel and of the target. */
static void doze(struct gp_holder_session *s, struct pollfd fds[2])
{
	u64 until = atomic_load(&s->until_ns), now = gp_holder_now(), ns = ~0ull;
	struct timespec ts;

	if (until)
		ns = until > now ? until - now : 0;
	if (s->debug.attached && ns > STOPS_NS)
		ns = STOPS_NS;
	ts = (struct timespec){ (time_t)(ns / GP_SEC), (long)(ns % GP_SEC) };
	fds[0] = (struct pollfd){ .fd = s->channel, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = s->debug.pipe[0], .events = POLLIN };
	if (s->queues_owed)
		fds[0].events |= POLLOUT;
	if (ppoll(fds, 2, ns == ~0ull ? NULL : &ts, NULL) < 0)
		fds[0].revents = fds[1].revents = 0;
}

static void serve(struct gp_holder_session *s)
{
	struct pollfd fds[2];
	bool goes_on = true;
	u64 until;

	while (goes_on && !s->broken) {
		doze(s, fds);
		if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
			goes_on = take_requests(s);
		until = atomic_load(&s->until_ns);
		if (goes_on && until && gp_holder_now() >= until)
			goes_on = expire(s);
		if (goes_on && fds[1].revents)
			goes_on = hear_target(s);
		if (goes_on && s->debug.attached)
			gp_session_wait_stops(&s->debug);
		if (goes_on && s->queues_owed && (fds[0].revents & POLLOUT))
			send_queues(s);
	}
}

void *gp_holder_session_main(void *arg)
{
	struct gp_holder_session *s = arg;
	int err;

	enter_driver(s);
	err = attach(s);
	leave_driver(s);
	if (err) {
		send_kind(s, GP_HOLDER_FAILED, err);
	} else {
		/* The decider knows the queues when it learns that the process is attached. */
		send_queues(s);
		send_kind(s, GP_HOLDER_ATTACHED, 0);
		serve(s);
		enter_driver(s);
		gp_session_close(&s->debug);
		atomic_store(&s->until_ns, 0);
		leave_driver(s);
	}
	/* DISABLE failed, and the process may be off: the driver releases it when we exit. */
	if (s->debug.enabled) {
		gp_log(GP_LOG_ERROR, "holder of user %u: the driver does not leave process %d; "
		       "ending, so that it releases everything", s->user, s->pid);
		_exit(3);
	}
	/* The decider sees the end of the channel when the first thread closes it. */
	atomic_store(&s->over, true);
	ring(s);
	return NULL;
}
