// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The first thread of a holder: control channel, lease clock, errands that may hang. */
#include "holder.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "confine.h"
#include "core/param.h"
#include "holder_session.h"
#include "lib/process.h"
#include "lib/sys.h"
#include "lib/user.h"
#include "log.h"

/*
 * Interval of checks of the sessions' times while a session holds or calls the driver, and the time
 * after that during which the checks continue.
 */
#define TICK_NS		(20 * GP_MSEC)
#define AWAKE_NS	(1 * GP_SEC)
/* Time for sessions to end when the decider is gone. */
#define LEAVE_NS	(1 * GP_SEC)

/* Time that a holder that must end waits for its last calls. */
#define RESCUE_NS	(40 * GP_MSEC)

enum { STACK_BYTES = 256 * 1024, RESCUE_STEPS = 80 };

struct holder {
	int control;
	int kfd_fd;		/* -1: it could not be opened */
	int bell;
	uid_t user;
	atomic_bool watching;
	u64 active_ns;		/* when a session last held something or was in the driver */
	u64 looked_ns;		/* last check of the sessions */
	u32 nr_sessions;
	u32 nr_stuck;		/* as last reported to the decider */
	struct gp_holder_session *sessions;
	_Atomic u32 errands;
	u64 leave_until_ns;	/* 0: not leaving */
};

/* ---- checks of requests ---- */

bool gp_holder_check(const struct gp_holder_request *r, bool control)
{
	bool to_control = r->is.kind >= GP_HOLDER_OPEN && r->is.kind <= GP_HOLDER_GET_KFD;

	if (!r->is.kind || r->is.kind > GP_HOLDER_LAST_REQUEST || to_control != control ||
	    r->is.bytes != sizeof(*r) || r->flags & ~(u32)GP_HOLDER_STAY_ATTACHED)
		return false;
	if (control)
		return r->pid > 0;
	return r->is.kind != GP_HOLDER_HOLD || (r->grace && r->grace <= GP_KFD_GRACE_MAX);
}

int gp_holder_check_lease(u64 until_ns, u64 now_ns)
{
	if (until_ns <= now_ns)
		return -ETIME;
	return until_ns - now_ns > GP_HOLDER_LEASE_MAX_NS ? -EINVAL : 0;
}

/* ---- threads ---- */

/* Starts a thread. -ENOMEM: no thread can be started (-EAGAIN means that a target is not ready). */
static int start_thread(pthread_t *ret, void *(*main)(void *arg), void *arg, bool detached)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return -err;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (detached)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = gp_sys->thread_create(ret, &attr, main, arg) ? errno : 0;
	pthread_attr_destroy(&attr);
	return err == EAGAIN ? -ENOMEM : -err;
}

/* ---- sessions ---- */

static void refuse_session(int channel, pid_t pid, int err)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_FAILED,
					      .err = err, .pid = pid);

	gp_channel_send(channel, &m.is, NULL, 0);
	close(channel);
}

static int open_session(struct holder *h, const struct gp_holder_request *r, int channel)
{
	struct gp_holder_session *s;
	int err;

	if (h->kfd_fd < 0)
		return -ENODEV;
	if (h->nr_sessions >= GP_HOLDER_SESSIONS)
		return -ENOSPC;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->channel = channel;
	s->kfd_fd = h->kfd_fd;
	s->bell = h->bell;
	s->watching = &h->watching;
	s->user = h->user;
	s->pid = r->pid;
	s->start = r->start;
	s->stay_attached = r->flags & GP_HOLDER_STAY_ATTACHED;
	s->debug.pipe[0] = s->debug.pipe[1] = -1;
	err = start_thread(&s->thread, gp_holder_session_main, s, false);
	if (err) {
		free(s);
		return err;
	}
	s->next = h->sessions;
	h->sessions = s;
	h->nr_sessions++;
	return 0;
}

/* Reports the number of sessions that hang in the driver. Retries while the channel is full. */
static void report_stuck(struct holder *h)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_STUCK);

	for (const struct gp_holder_session *s = h->sessions; s; s = s->next) {
		if (!s->stuck_ns)
			continue;
		m.count++;
		m.pid = s->pid;
		m.ns = s->stuck_ns;
	}
	if (m.count == h->nr_stuck || h->leave_until_ns)
		return;
	if (!gp_channel_send(h->control, &m.is, NULL, 0))
		h->nr_stuck = m.count;
	else
		h->active_ns = gp_sys->monotonic_ns();
}

/* ---- the backstop ---- */

struct rescue {
	int kfd_fd;
	pid_t pid;
};

static _Atomic u32 rescues;	/* under way */

static void *rescue_main(void *arg)
{
	struct rescue *r = arg;

	gp_session_rescue(r->kfd_fd, r->pid);
	atomic_fetch_sub(&rescues, 1);
	return NULL;
}

/*
 * Resumes everything that sessions hold, before the holder ends. The driver resumes the queues of a
 * dead debugger, but first it waits for work on other processes, which a hostile user can delay.
 * Each target gets its own thread, because resuming may hang on the target.
 */
static void rescue_all(struct holder *h)
{
	struct rescue *r;
	pthread_t thread;

	for (struct gp_holder_session *s = h->sessions; s; s = s->next) {
		r = atomic_load(&s->until_ns) ? malloc(sizeof(*r)) : NULL;
		if (!r)
			continue;
		*r = (struct rescue){ .kfd_fd = h->kfd_fd, .pid = s->pid };
		atomic_fetch_add(&rescues, 1);
		if (start_thread(&thread, rescue_main, r, true))
			atomic_fetch_sub(&rescues, 1);
	}
	for (u32 i = 0; atomic_load(&rescues) && i < RESCUE_STEPS; i++)
		gp_sys->nanosleep(&(struct timespec){ .tv_nsec = RESCUE_NS / RESCUE_STEPS });
}

/* Ends the holder after a session failed to resume. */
static void end_now(struct holder *h, const struct gp_holder_session *failed)
{
	gp_log(GP_LOG_ERROR, "holder of user %u: process %d was not released in time; ending, so "
	       "that the driver releases everything", h->user, failed->pid);
	rescue_all(h);
	_exit(3);
}

static void reap_sessions(struct holder *h)
{
	struct gp_holder_session **at = &h->sessions, *s;

	while ((s = *at)) {
		if (atomic_load(&s->over) && atomic_load(&s->until_ns))
			end_now(h, s);
		if (!atomic_load(&s->over)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		pthread_join(s->thread, NULL);
		close(s->channel);
		free(s);
		h->nr_sessions--;
	}
}

/* ---- errands: other work that may hang on a target ---- */

struct errand {
	struct holder *h;
	struct gp_holder_request r;
};

/* Returns how many KFD descriptors the process has, or -errno. */
static int get_kfd(const struct holder *h, const struct gp_holder_request *r, int fds[2])
{
	struct gp_process_id p = { .pid = r->pid };
	uid_t user;
	int err = gp_process_start(NULL, r->pid, &p.start);

	/* The pid may have been reused or belong to another user. */
	if (!err && r->start && p.start != r->start)
		err = -ESRCH;
	if (!err)
		err = gp_process_user(NULL, r->pid, &user);
	if (!err && user != h->user)
		err = -EACCES;
	return err ? err : gp_process_take_kfd(&p, r->which, fds);
}

static void *errand_main(void *arg)
{
	struct errand *e = arg;
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_KFD,
		.serial = e->r.serial, .pid = e->r.pid);
	struct pollfd to = { .fd = e->h->control, .events = POLLOUT };
	int fds[2] = { -1, -1 }, n;

	n = get_kfd(e->h, &e->r, fds);
	m.err = n < 0 ? n : 0;
	m.count = n < 0 ? 0 : (u32)n;
	/* The decider waits for the answer, so retry while the channel is full. */
	while (gp_channel_send(to.fd, &m.is, fds, m.err ? 0 : 2) == -EAGAIN)
		gp_sys->ppoll(&to, 1, NULL);
	if (!m.err) {
		close(fds[0]);
		close(fds[1]);
	}
	atomic_fetch_sub(&e->h->errands, 1);
	free(e);
	return NULL;
}

static int run_errand(struct holder *h, const struct gp_holder_request *r)
{
	struct errand *e;
	pthread_t thread;
	int err;

	if (atomic_load(&h->errands) >= GP_HOLDER_ERRANDS)
		return -EBUSY;
	e = malloc(sizeof(*e));
	if (!e)
		return -ENOMEM;
	*e = (struct errand){ .h = h, .r = *r };
	atomic_fetch_add(&h->errands, 1);
	err = start_thread(&thread, errand_main, e, true);
	if (err) {
		atomic_fetch_sub(&h->errands, 1);
		free(e);
	}
	return err;
}

/* ---- the control channel ---- */

/*
 * Shuts the sessions' channels down, because the decider is gone. The decider sees the end of a
 * channel when its session has ended.
 */
static void leave(struct holder *h)
{
	h->leave_until_ns = gp_sys->monotonic_ns() + LEAVE_NS;
	for (struct gp_holder_session *s = h->sessions; s; s = s->next)
		shutdown(s->channel, SHUT_RD);
	/* It stays open, because errands may use it. */
	shutdown(h->control, SHUT_RDWR);
}

static void take_request(struct holder *h, const struct gp_holder_request *r, int channel)
{
	struct gp_holder_reply m;
	int err;

	if (r->is.kind == GP_HOLDER_OPEN) {
		if (channel < 0)
			return;
		err = open_session(h, r, channel);
		if (err)
			refuse_session(channel, r->pid, err);
		return;
	}
	if (channel >= 0)
		close(channel);
	err = run_errand(h, r);
	if (!err)
		return;
	m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_KFD, .serial = r->serial, .pid = r->pid,
		       .err = err);
	/* Treat a decider that does not read its answers as gone. */
	if (gp_channel_send(h->control, &m.is, NULL, 0))
		leave(h);
}

static void take_requests(struct holder *h)
{
	struct gp_holder_request r;
	int fds[GP_CHANNEL_FDS], n;

	while (!h->leave_until_ns) {
		n = gp_channel_recv(h->control, &r, sizeof(r), fds);
		if (n == -EAGAIN)
			return;
		if (n != (int)sizeof(r) || !gp_holder_check(&r, true))
			break;
		if (fds[1] >= 0)
			close(fds[1]);
		take_request(h, &r, fds[0]);
	}
	if (h->leave_until_ns)
		return;
	if (n != -EPIPE)
		gp_log(GP_LOG_ERROR, "holder of user %u: malformed request", h->user);
	for (u32 i = 0; n > 0 && i < GP_CHANNEL_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	leave(h);
}

/* ---- the lease clock ---- */

/*
 * Checks that a session resumes in time or is in the driver; otherwise it is broken. If this thread
 * was late too, the machine stood still, and the session gets another tick.
 */
static void check_session(struct holder *h, struct gp_holder_session *s, u64 now)
{
	u64 until = atomic_load(&s->until_ns), since = atomic_load(&s->call_ns);
	bool late = now > h->looked_ns + 2 * TICK_NS;

	if (until || since)
		h->active_ns = now;
	if (until && now > until + GP_HOLDER_LATE_NS && !since && !late &&
	    atomic_load(&s->until_ns) == until && !atomic_load(&s->call_ns))
		end_now(h, s);
	s->stuck_ns = since && now > since + GP_HOLDER_STUCK_NS ? since : 0;
}

static void doze(struct holder *h)
{
	struct pollfd fds[2] = { { .fd = h->bell, .events = POLLIN },
				 { .fd = h->leave_until_ns ? -1 : h->control, .events = POLLIN } };
	u64 now = gp_sys->monotonic_ns(), count;
	bool awake = h->leave_until_ns || now < h->active_ns + AWAKE_NS;
	struct timespec tick = { .tv_nsec = TICK_NS };

	atomic_store(&h->watching, awake);
	/* Check again, because a session that saw this thread awake did not ring. */
	for (struct gp_holder_session *s = h->sessions; s && !awake; s = s->next)
		awake = atomic_load(&s->until_ns) || atomic_load(&s->call_ns);
	gp_sys->ppoll(fds, 2, awake ? &tick : NULL);
	if (fds[0].revents && gp_sys->read(h->bell, &count, sizeof(count)) > 0)
		h->active_ns = gp_sys->monotonic_ns();
}

/* Frequent calls first, because the filter is a list. */
static const int numbers[] = {
	SYS_ioctl, SYS_ppoll, SYS_recvmsg, SYS_sendmsg, SYS_read, SYS_write, SYS_futex,
	SYS_clock_gettime, SYS_close, SYS_fstat, SYS_newfstatat, SYS_getdents64, SYS_readlinkat,
	SYS_readlink,
	SYS_lseek, SYS_fcntl, SYS_pread64, SYS_statx, SYS_access, SYS_faccessat, SYS_faccessat2,
	SYS_poll, SYS_pipe2, SYS_eventfd2, SYS_shutdown, SYS_sendto, SYS_recvfrom,
	SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk,
	SYS_ptrace, SYS_wait4, SYS_waitid, SYS_pidfd_open, SYS_pidfd_getfd,
	SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigreturn, SYS_sigaltstack,
	SYS_set_robust_list, SYS_rseq, SYS_sched_yield, SYS_sched_getaffinity, SYS_nanosleep,
	SYS_clock_nanosleep, SYS_restart_syscall, SYS_getpid, SYS_gettid, SYS_getppid,
	SYS_getuid, SYS_geteuid, SYS_getrandom, SYS_prlimit64, SYS_prctl, SYS_tgkill,
	SYS_exit, SYS_exit_group, SYS_openat, SYS_clone,
};

/* Threads, ptrace, reading files, the driver; nothing is created, written or executed. */
static const struct gp_syscalls syscalls = {
	.number = numbers, .nr = sizeof(numbers) / sizeof(numbers[0]), .narrow = true,
};

int gp_holder_main(int channel, uid_t user)
{
	struct holder h = { .control = channel, .user = user, .kfd_fd = -1 };
	u64 now;

	h.bell = gp_sys->eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h.bell < 0)
		return 1;
	/*
	 * An open driver blocks a partition switch. The holder keeps it open until it ends, which
	 * is soon after its last session.
	 */
	h.kfd_fd = gp_sys->openat(AT_FDCWD, GP_KFD_DEVICE, O_RDWR | O_CLOEXEC);
	/* It cannot be opened later. The next holder may be able to. */
	if (h.kfd_fd < 0 && !gp_sys_is_gone(-errno) && !gp_sys_is_denied(-errno))
		return 1;
	/* Leases need timers with microsecond precision. */
	prctl(PR_SET_TIMERSLACK, 1000);
	if (gp_confine_syscalls(&syscalls))
		return 1;
	for (;;) {
		doze(&h);
		take_requests(&h);
		reap_sessions(&h);
		now = gp_sys->monotonic_ns();
		for (struct gp_holder_session *s = h.sessions; s; s = s->next)
			check_session(&h, s, now);
		report_stuck(&h);
		h.looked_ns = now;
		if (h.leave_until_ns && (!h.nr_sessions || now >= h.leave_until_ns)) {
			rescue_all(&h);
			/*
			 * On this exit code the supervisor wakes processes that wait for a dead
			 * session.
			 */
			return h.nr_sessions ? 4 : 0;
		}
	}
}

