// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The thread of a session: attaches, holds, releases, takes events of the target, ends its lease.
 */
#include "holder_session.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/param.h"
#include "lib/sys.h"
#include "lib/user.h"
#include "log.h"

/* Between looks at the stops of a target that stays attached. */
#define STOPS_NS	(5 * GP_MSEC)

/* ---- times that the first thread watches ---- */

static void ring(const struct gp_holder_session *s)
{
	u64 one = 1;

	/* It fails only if it is full, and then the first thread is awake. */
	if (gp_sys->write(s->bell, &one, sizeof(one)) < 0)
		return;
}

/* Between here and leave_driver() the thread may hang. */
static void enter_driver(struct gp_holder_session *s)
{
	atomic_store(&s->call_ns, gp_sys->monotonic_ns());
	if (!atomic_load(s->watching))
		ring(s);
}

static void leave_driver(struct gp_holder_session *s)
{
	atomic_store(&s->call_ns, 0);
}

/* ---- messages ---- */

static void send_reply(struct gp_holder_session *s, const struct gp_holder_reply *m)
{
	/* Treat a decider that does not read as gone. */
	if (gp_channel_send(s->channel, &m->is, NULL, 0))
		s->broken = true;
}

static void send_kind(struct gp_holder_session *s, u32 kind, int err)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, (u16)kind, .err = err,
					      .pid = s->pid);

	send_reply(s, &m);
}

/* Sends all queues. Retries later if the channel is full. */
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

static int resume(struct gp_holder_session *s, u32 gpu_id, struct gp_session_done *done)
{
	int err;

	enter_driver(s);
	err = gp_session_resume(&s->debug, gpu_id, done);
	leave_driver(s);
	/* A process that is gone needs no release. */
	return err == -ESRCH ? 0 : err;
}

static void unhold_all(struct gp_holder_session *s)
{
	s->nr_held = 0;
	atomic_store(&s->until_ns, 0);
}

/* Finds out why the driver refused a call: runtime disabled, process gone, or no permission. */
static int why_refused(struct gp_holder_session *s)
{
	int what = gp_session_events(&s->debug);

	if (what < 0)
		return -EPERM;
	if (what & GP_SESSION_GONE)
		return -ESRCH;
	return what & GP_SESSION_RUNTIME ? -EAGAIN : -EPERM;
}

/*
 * Ends the debug session. Resumes the process first, because ending takes more calls. If the driver
 * refuses both, the lease stays set, and the first thread sees that.
 */
static int leave_target(struct gp_holder_session *s)
{
	struct gp_session_done done;
	int resumed, closed;

	if (s->closed)
		return 0;
	enter_driver(s);
	resumed = s->nr_held ? gp_session_resume(&s->debug, 0, &done) : 0;
	if (s->left == -EPERM)
		s->left = why_refused(s);
	closed = gp_session_close(&s->debug);
	leave_driver(s);
	s->closed = true;
	if (resumed && closed)
		return closed;
	unhold_all(s);
	return 0;
}

static int suspend(struct gp_holder_session *s, const struct gp_holder_request *r,
		   struct gp_session_done *done)
{
	u64 now = gp_sys->monotonic_ns();
	int err = gp_holder_check_lease(r->until_ns, now);

	if (err)
		return err;
	if (!find_held(s, r->gpu_id)) {
		if (s->nr_held == GP_HOLDER_GPUS)
			return -ENOSPC;
		s->held[s->nr_held++] = r->gpu_id;
	}
	s->grace = r->grace;
	/* Set before the call, so that a queue created during it is suspended too. */
	atomic_store(&s->until_ns, r->until_ns);
	enter_driver(s);
	err = gp_session_suspend(&s->debug, r->gpu_id, r->grace, done);
	leave_driver(s);
	/* EPERM, EREMOTEIO: it may be off, so its lease stays until the debug session has ended. */
	if (err == -EPERM || err == -EREMOTEIO || err == -EXDEV)
		s->left = err;
	if (err && err != -EPERM && err != -EREMOTEIO)
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
	send_reply(s, &m);
}

static void release(struct gp_holder_session *s, const struct gp_holder_request *r)
{
	struct gp_session_done done = { 0 };
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_RELEASED,
		.serial = r->serial, .gpu_id = r->gpu_id, .pid = s->pid);

	if (find_held(s, r->gpu_id)) {
		m.err = resume(s, s->nr_held == 1 ? 0 : r->gpu_id, &done);
		if (m.err == -EPERM) {
			s->left = m.err;
			m.err = leave_target(s);
		}
		if (!m.err)
			unhold(s, r->gpu_id);
	}
	m.command_ns = done.command_ns;
	m.done_ns = done.done_ns;
	m.count = done.done;
	send_reply(s, &m);
}

static void expire(struct gp_holder_session *s)
{
	struct gp_session_done done;

	s->left = resume(s, 0, &done);
	if (s->left)
		return;
	unhold_all(s);
	send_kind(s, GP_HOLDER_EXPIRED, 0);
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

static void take_new_queues(struct gp_holder_session *s)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_NEW_QUEUES,
					      .pid = s->pid);
	u64 since = gp_sys->monotonic_ns();
	u32 before = s->debug.nr_queues;
	int err;

	enter_driver(s);
	err = gp_session_refresh(&s->debug, NULL);
	leave_driver(s);
	if (!err && s->nr_held)
		err = retake(s);
	m.count = s->debug.nr_queues > before ? s->debug.nr_queues - before : 1;
	m.ns = gp_sys->monotonic_ns() - since;
	send_queues(s);
	send_reply(s, &m);
	if (!s->nr_held)
		return;
	/* Queues run although the decider takes them for off, so end the session. */
	s->left = err;
	if (err)
		return;
	m.is.kind = GP_HOLDER_RETAKEN;
	send_reply(s, &m);
}

static void hear_target(struct gp_holder_session *s)
{
	int what;

	enter_driver(s);
	what = gp_session_events(&s->debug);
	leave_driver(s);
	/* An event may be lost, so end the session. The decider attaches again. */
	if (what < 0)
		s->left = what;
	else if (what & GP_SESSION_GONE)
		s->left = -ESRCH;
	else if (what & GP_SESSION_RUNTIME)
		s->left = -EAGAIN;
	else if (what & GP_SESSION_NEW_QUEUES)
		take_new_queues(s);
}

/* ---- requests ---- */

static void refresh(struct gp_holder_session *s)
{
	enter_driver(s);
	gp_session_refresh(&s->debug, NULL);
	leave_driver(s);
	send_queues(s);
}

static void take_request(struct gp_holder_session *s, const struct gp_holder_request *r)
{
	switch (r->is.kind) {
	case GP_HOLDER_HOLD:
		hold(s, r);
		break;
	case GP_HOLDER_RENEW:
		if (s->nr_held && !gp_holder_check_lease(r->until_ns, gp_sys->monotonic_ns()))
			atomic_store(&s->until_ns, r->until_ns);
		break;
	case GP_HOLDER_RELEASE:
		release(s, r);
		break;
	case GP_HOLDER_REFRESH:
		refresh(s);
		break;
	}
}

static bool goes_on(const struct gp_holder_session *s)
{
	return !s->broken && !s->left;
}

static void take_requests(struct gp_holder_session *s)
{
	struct gp_holder_request r;
	int n;

	while (goes_on(s)) {
		n = gp_channel_recv(s->channel, &r, sizeof(r), NULL);
		if (n == -EAGAIN)
			return;
		if (n == (int)sizeof(r) && gp_holder_check(&r, false))
			take_request(s, &r);
		else
			s->broken = true;
	}
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

/*
 * Sleeps until there is something to do. Returns poll()'s events of the channel and of the target.
 */
static void doze(struct gp_holder_session *s, struct pollfd fds[2])
{
	u64 until = atomic_load(&s->until_ns), now = gp_sys->monotonic_ns(), ns = ~0ull;
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
	if (gp_sys->ppoll(fds, 2, ns == ~0ull ? NULL : &ts) < 0)
		fds[0].revents = fds[1].revents = 0;
}

static void serve(struct gp_holder_session *s)
{
	struct pollfd fds[2];
	u64 until;

	while (goes_on(s)) {
		doze(s, fds);
		if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
			take_requests(s);
		until = atomic_load(&s->until_ns);
		if (goes_on(s) && until && gp_sys->monotonic_ns() >= until)
			expire(s);
		if (goes_on(s) && fds[1].revents)
			hear_target(s);
		if (goes_on(s) && s->debug.attached)
			gp_session_wait_stops(&s->debug);
		if (goes_on(s) && s->queues_owed && (fds[0].revents & POLLOUT))
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
		leave_target(s);
		/* Everything runs here. */
		if (s->left)
			send_kind(s, GP_HOLDER_LEFT, s->left);
	}
	/*
	 * The driver did not end the session. It does when this process exits. The first thread
	 * first rescues all sessions if one that is over has a lease.
	 */
	if (s->debug.enabled) {
		gp_log(GP_LOG_ERROR, "holder of user %u: the driver does not leave process %d",
		       s->user, s->pid);
		if (!atomic_load(&s->until_ns))
			atomic_store(&s->until_ns, 1);
	}
	/* The decider sees the end of the channel when the first thread closes it. */
	atomic_store(&s->over, true);
	ring(s);
	return NULL;
}
