// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "keeper.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#include "core/param.h"
#include "lib/kfd_debug.h"
#include "lib/process.h"
#include "log.h"
#include "state.h"

enum { BEAT = 'b', REST = 'r' };

/* ---- the daemon's side ---- */

static void say(struct gp_heart *heart, char what)
{
	/* A full pipe has beats in it: this one is not missed. */
	if (heart->fd >= 0 && write(heart->fd, &what, 1) < 0)
		return;
}

void gp_heart_beat(struct gp_heart *heart, u64 now_ns)
{
	heart->busy = true;
	heart->next_ns = now_ns + heart->every_ns;
	say(heart, BEAT);
}

void gp_heart_rest(struct gp_heart *heart)
{
	if (heart->busy)
		say(heart, REST);
	heart->busy = false;
}

/* ---- the keeper's side ---- */

static u64 clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * GP_SEC + (u64)ts.tv_nsec;
}

u32 gp_keeper_poke_all(void)
{
	const struct gp_process *p;
	struct gp_scanner *s;
	u32 i, n, poked = 0;

	if (gp_scanner_alloc(&(struct gp_scan_args){ 0 }, &s))
		return 0;
	if (!gp_scanner_run(s, 0, &p, &n))
		for (i = 0; i < n; i++)
			if (p[i].pid != getpid() && gp_session_needs_poke(NULL, p[i].pid) == 1 &&
			    !gp_session_poke(p[i].pid))
				poked++;
	gp_scanner_free(s);
	return poked;
}

/* What the pipe says: the time until which all is well; GP_NEVER: it rests. */
static u64 listen(int pipe, u64 until, u64 heartbeat_ns)
{
	char said[256];
	ssize_t n;

	while ((n = read(pipe, said, sizeof(said))) > 0)
		until = said[n - 1] == REST ? GP_NEVER : clock_ns() + heartbeat_ns;
	return until;
}

struct keeper {
	u64 heartbeat_ns;
	gp_keeper_child child;
	void *ctx;
	int signals;
	bool told_to_end;
	sigset_t before;	/* what was blocked when we came */
};

/* Passes on what we are told; true: the daemon ended, and *@status is how. */
static bool take_signals(struct keeper *k, pid_t daemon, int *status)
{
	struct signalfd_siginfo info;
	bool ended = false;

	while (read(k->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			ended |= waitpid(daemon, status, WNOHANG) == daemon;
		else
			kill(daemon, (int)info.ssi_signo);
		if (info.ssi_signo != SIGTERM && info.ssi_signo != SIGINT)
			continue;
		/* One that was stopped while it held nobody is still there, and cannot end. */
		kill(daemon, SIGCONT);
		k->told_to_end = true;
	}
	return ended;
}

int gp_keeper_timeout(u64 until_ns, u64 now_ns)
{
	if (until_ns == GP_NEVER)
		return -1;
	return until_ns > now_ns ? (int)((until_ns - now_ns) / GP_MSEC) + 1 : 0;
}

/*
 * Sleeps until something is said, or until @until. If that took much longer than it should, the
 * machine stood still (a virtual one that its host forgot, a laptop's lid), and the daemon with
 * it: that is no silence of the daemon's. Returns until when all is well.
 */
static u64 doze(struct pollfd fds[2], u64 until, u64 heartbeat_ns)
{
	u64 began = clock_ns(), now;

	poll(fds, 2, gp_keeper_timeout(until, began));
	now = clock_ns();
	if (until == GP_NEVER || now < until + heartbeat_ns / 2)
		return until;
	gp_log(GP_LOG_WARNING, "the machine stood still for %llu ms",
	       (unsigned long long)((now - began) / GP_MSEC));
	return now + heartbeat_ns;
}

/* Until the daemon has ended. Returns its status. */
static int watch(struct keeper *k, pid_t daemon, int pipe)
{
	struct pollfd fds[2] = { { .fd = k->signals, .events = POLLIN },
				 { .fd = pipe, .events = POLLIN } };
	u64 until = GP_NEVER, now;
	int status = 0;

	for (;;) {
		now = clock_ns();
		if (now >= until) {
			kill(daemon, SIGKILL);
			until = GP_NEVER;
			gp_log(GP_LOG_ERROR, "the daemon (%d) was not heard of for %llu ms: it is "
			       "ended, so that the driver lets everybody run", daemon,
			       (unsigned long long)(k->heartbeat_ns / GP_MSEC));
		}
		until = doze(fds, until, k->heartbeat_ns);
		if (take_signals(k, daemon, &status))
			return status;
		/* The end of the pipe is the end of the daemon; SIGCHLD follows. */
		if (fds[1].revents & POLLHUP && !(fds[1].revents & POLLIN))
			fds[1].fd = -1;
		else
			until = listen(pipe, until, k->heartbeat_ns);
	}
}

static int run_child(const struct keeper *k, const int pipe[2])
{
	struct gp_heart heart = { .fd = pipe[1], .every_ns = k->heartbeat_ns / 4 };

	/* Without its keeper it would not be safe to stop. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	close(pipe[0]);
	close(k->signals);
	sigprocmask(SIG_SETMASK, &k->before, NULL);
	return k->child(k->ctx, &heart);
}

/* One life of the daemon. */
static int one_life(struct keeper *k, int *ret_status)
{
	int pipe[2];
	pid_t daemon;

	if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	daemon = fork();
	if (daemon < 0) {
		close(pipe[0]);
		close(pipe[1]);
		return -errno;
	}
	if (!daemon)
		exit(run_child(k, pipe));

	close(pipe[1]);
	*ret_status = watch(k, daemon, pipe[0]);
	close(pipe[0]);
	return 0;
}

static int keep(struct keeper *k)
{
	u64 ends[GP_KEEPER_ENDS] = { 0 };
	int status = 0, err;
	u32 poked, nr = 0;

	for (;;) {
		err = one_life(k, &status);
		if (err) {
			gp_log(GP_LOG_ERROR, "cannot start the daemon: %s", strerror(-err));
			return 1;
		}
		if (WIFEXITED(status) && WEXITSTATUS(status) != GP_KEEPER_AGAIN)
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status)) {
			char why[64];

			snprintf(why, sizeof(why), "ended by signal %d", WTERMSIG(status));
			gp_state_set_end(why);
			poked = gp_keeper_poke_all();
			gp_log(GP_LOG_ERROR, "the daemon was ended by signal %d; everybody runs, "
			       "%u had to be woken", WTERMSIG(status), poked);
		}
		/* However it ended: that is what was wanted. */
		if (k->told_to_end)
			return 0;
		/* It asked for that: as often as the driver shows other GPUs, which may be many. */
		if (WIFEXITED(status))
			continue;
		/* The one before so many is overwritten: how long ago was it? */
		if (ends[nr] && clock_ns() - ends[nr] < 60 * GP_SEC) {
			gp_log(GP_LOG_ERROR, "the daemon ended more than %d times within a minute; "
			       "given up", GP_KEEPER_ENDS);
			return 1;
		}
		ends[nr] = clock_ns();
		nr = (nr + 1) % GP_KEEPER_ENDS;
	}
}

int gp_keeper_run(u64 heartbeat_ns, gp_keeper_child child, void *ctx)
{
	struct keeper k = { .heartbeat_ns = heartbeat_ns, .child = child, .ctx = ctx };
	sigset_t set;
	int code;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &k.before);
	k.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (k.signals < 0) {
		gp_log(GP_LOG_ERROR, "no signalfd: %s", strerror(errno));
		return 1;
	}
	code = keep(&k);
	close(k.signals);
	return code;
}
