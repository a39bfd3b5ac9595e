// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "supervisor.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "core/param.h"
#include "lib/gpu.h"
#include "lib/sys.h"
#include "lib/sysfs.h"
#include "lib/user.h"
#include "log.h"

/*
 * Time that the children of a dead decider have to end, before and after SIGKILL. A holder needs up
 * to a second (holder.c). Killing it is a bad way to release its holds, because the driver first
 * waits for work on other processes, which a hostile user can delay.
 */
#define LEAVE_NS	(1500 * GP_MSEC)
#define DIE_NS		(700 * GP_MSEC)
/* A poke that takes longer hangs on a hostile process. */
#define POKE_NS		(10 * GP_SEC)
/* Delay before the end of a child is reported again. */
#define RETRY_NS	(100 * GP_MSEC)
/* Delay after a failed start of a decider; doubles. */
#define START_MIN_NS	(100 * GP_MSEC)
#define START_MAX_NS	(5 * GP_SEC)

enum {
	POKED_USERS	= 64,
	PER_USER	= 4,	/* children of a role: one, and some that hang in the driver */
	DECIDER_NICE	= -15,	/* between those of a reader and of a holder (roles.c) */
};

struct child {
	pid_t pid;		/* 0: unused entry */
	u64 number;		/* the decider's; 0: of the supervisor itself */
	u32 role;
	uid_t user;
	u64 kill_at_ns;
	bool ended;		/* it ended; not yet reported to the decider */
	int status;
};

struct supervisor {
	const struct gp_supervisor_args *args;
	const struct gp_role *roles;
	int signals;
	int channel;		/* to the decider; -1: there is none */
	pid_t decider;		/* 0: none */
	bool serves_caller;	/* the decider is the parent */
	bool told_to_end;
	bool over;
	int code;		/* the exit code */
	u64 silent_at_ns;	/* deadline of the next heartbeat */
	u64 children_until_ns;	/* between two deciders: when to kill the children */
	u64 start_at_ns;	/* no start of a decider before, after a failed one */
	u64 start_delay_ns;	/* delay after the next failed start */
	u64 ends[GP_SUPERVISOR_ENDS];
	u32 nr_ends, restarts;
	char reason[96];
	sigset_t before;	/* signal mask at the start */
	u32 nr_children;
	struct child child[GP_SUPERVISOR_CHILDREN];
};

static u64 sooner(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* ---- the decider's side ---- */

/* 0, or -errno. */
static int say(const struct gp_heart *heart, u32 kind)
{
	struct gp_supervisor_message m =
		GP_MESSAGE(struct gp_supervisor_message, (u16)kind);

	return heart->fd >= 0 ? gp_channel_send(heart->fd, &m.is, NULL, 0) : 0;
}

void gp_heart_beat(struct gp_heart *heart, u64 now_ns)
{
	heart->busy = true;
	heart->next_ns = now_ns + heart->every_ns;
	say(heart, GP_SUP_BEAT);
}

void gp_heart_rest(struct gp_heart *heart)
{
	/*
	 * If the message is lost, the next round repeats it; otherwise the resting decider would be
	 * killed.
	 */
	if (heart->busy)
		heart->busy = say(heart, GP_SUP_REST) == -ENOMEM;
}

/* ---- children ---- */

static struct child *find_child(struct supervisor *s, u32 role, u64 number)
{
	for (u32 i = 0; number && i < GP_SUPERVISOR_CHILDREN; i++)
		if (s->child[i].pid && s->child[i].role == role && s->child[i].number == number)
			return &s->child[i];
	return NULL;
}

/*
 * Sets the nice value of a process. An arrival waits until a reader, the decider and a holder have
 * run one after the other. They should run before processes that compute. On a busy processor each
 * should run before the one that woke it finishes its remaining work. If the unit's filter forbids
 * the call, Nice= applies to all of them.
 */
static void hurry(int nice)
{
	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) > nice && !errno)
		setpriority(PRIO_PROCESS, 0, nice);
}

/*
 * Closes all descriptors of a new child except standard input, output and error and @channel, which
 * becomes 3.
 */
static void close_others(int channel)
{
	if (channel != 3) {
		dup2(channel, 3);
		channel = 3;
	}
	gp_sys->fcntl(3, F_SETFD, FD_CLOEXEC);
	close_range(4, UINT_MAX, 0);
}

/*
 * Makes a child end with the supervisor, because nothing else would end or restart it. A holder
 * (@leaves) is not killed: it ends by itself when the decider, which dies, closes its channel. It
 * resumes what it holds first, and a kill would prevent that.
 */
static void die_with_parent(pid_t parent, bool leaves)
{
	if (!leaves)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static void run_role(const struct supervisor *s, const struct gp_role *role, uid_t user,
		     int channel)
{
	int err;

	signal(SIGPIPE, SIG_IGN);
	/* Only the decider handles the terminal's Ctrl-C and systemd's SIGTERM. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
	close_others(channel);
	prctl(PR_SET_NAME, role->name);
	hurry(role->nice);
	err = gp_confine(&role->may);
	if (err) {
		gp_log(GP_LOG_ERROR, "%s: cannot drop rights: %s", role->name, strerror(-err));
		_exit(1);
	}
	_exit(role->main(3, user));
}

/* Starts a child. Returns its pid, or -errno. @channel stays the caller's. */
static pid_t start_child(struct supervisor *s, const struct gp_supervisor_message *m, int channel)
{
	pid_t parent = getpid();
	struct child *c = NULL;
	u32 same = 0;

	if (m->role >= GP_NR_ROLES || !s->roles || !s->roles[m->role].main)
		return -EOPNOTSUPP;
	for (u32 i = 0; i < GP_SUPERVISOR_CHILDREN; i++) {
		if (!s->child[i].pid)
			c = &s->child[i];
		else
			same += s->child[i].role == m->role && s->child[i].user == m->user;
	}
	if (same >= PER_USER)
		return -EBUSY;
	if (!c)
		return -ENOSPC;
	*c = (struct child){
		.number = m->child, .role = m->role, .user = m->user,
		.kill_at_ns = m->role == GP_ROLE_POKE ? gp_sys->monotonic_ns() + POKE_NS : GP_NEVER,
	};
	c->pid = gp_sys->fork();
	if (!c->pid) {
		die_with_parent(parent, m->role == GP_ROLE_HOLDER);
		run_role(s, &s->roles[m->role], m->user, channel);
	}
	if (c->pid < 0) {
		c->pid = 0;
		/* EAGAIN: no task is left (TasksMax=) */
		return errno == EAGAIN ? -ENOMEM : -errno;
	}
	s->nr_children++;
	return c->pid;
}

static void poke_user(struct supervisor *s, uid_t user)
{
	struct gp_supervisor_message m = { .role = GP_ROLE_POKE, .user = user };
	/* The poke needs no channel. */
	int channel = gp_sys->openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);

	if (channel < 0)
		return;
	start_child(s, &m, channel);
	close(channel);
}

/*
 * Starts a poke for each user, because an earlier daemon may have died while processes waited for
 * it in the driver.
 */
static void poke_all_users(struct supervisor *s)
{
	uid_t user, poked[POKED_USERS];
	struct gp_sysfs_dir dir;
	u32 nr = 0, i;
	u64 pid, inode;

	if (!s->roles || !s->roles[GP_ROLE_POKE].main ||
	    gp_sysfs_dir_open(&dir, AT_FDCWD, GP_SYSFS_KFD "/proc"))
		return;
	while (nr < POKED_USERS && gp_sysfs_dir_number(&dir, 1, INT_MAX, &pid, &inode) > 0) {
		if (gp_process_user(NULL, (pid_t)pid, &user))
			continue;
		for (i = 0; i < nr && poked[i] != user; i++)
			;
		if (i < nr)
			continue;
		poked[nr++] = user;
		poke_user(s, user);
	}
	gp_sysfs_dir_close(&dir);
}

static void forget(struct supervisor *s, struct child *c)
{
	c->pid = 0;
	s->nr_children--;
}

/*
 * Reports the end of a child to the decider. Retries later if the channel is full or there is no
 * memory.
 */
static void tell_end(struct supervisor *s, struct child *c)
{
	struct gp_supervisor_message m =
		GP_MESSAGE(struct gp_supervisor_message, GP_SUP_ENDED, .child = c->number,
			   .role = c->role, .user = c->user, .pid = c->pid, .err = c->status);
	int err = -EPIPE;

	if (c->number && s->channel >= 0)
		err = gp_channel_send(s->channel, &m.is, NULL, 0);
	if (!err || err == -EPIPE)
		forget(s, c);
}

static void child_ended(struct supervisor *s, struct child *c, int status)
{
	c->ended = true;
	c->status = status;
	/* Its targets run again, but a process that waits for it in the driver must be woken. */
	if (c->role == GP_ROLE_HOLDER && !(WIFEXITED(status) && !WEXITSTATUS(status)))
		poke_user(s, c->user);
	tell_end(s, c);
}

static void kill_children(struct supervisor *s, u32 role)
{
	for (u32 i = 0; i < GP_SUPERVISOR_CHILDREN; i++)
		if (s->child[i].pid && !s->child[i].ended && s->child[i].role == role)
			kill(s->child[i].pid, SIGKILL);
}

/* ---- the decider ---- */

static u32 nr_of_decider(const struct supervisor *s)
{
	u32 nr = 0;

	for (u32 i = 0; i < GP_SUPERVISOR_CHILDREN; i++)
		nr += s->child[i].pid && s->child[i].role != GP_ROLE_POKE;
	return nr;
}

static void run_decider(struct supervisor *s, int channel)
{
	const struct gp_supervisor_args *args = s->args;
	struct gp_heart heart = {
		.fd = 3, .every_ns = args->heartbeat_ns / 4, .restarts = s->restarts,
	};
	sigset_t mask = s->before;
	int err = 0;

	sigaddset(&mask, SIGHUP);
	snprintf(heart.reason, sizeof(heart.reason), "%s", s->reason);
	/* The decider reads SIGHUP from a descriptor later, and an earlier one must not kill it. */
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close_others(channel);
	hurry(DECIDER_NICE);
	if (args->decider_may)
		err = gp_confine(args->decider_may);
	if (!err)
		err = gp_children_connect(3);
	if (err) {
		gp_log(GP_LOG_ERROR, "cannot start the decider: %s", strerror(-err));
		exit(1);
	}
	exit(args->decider(args->ctx, &heart));
}

static int start_decider(struct supervisor *s)
{
	pid_t parent = getpid();
	int ends[2], err = gp_channel_pair(ends);

	if (err)
		return err;
	s->silent_at_ns = GP_NEVER;
	s->decider = gp_sys->fork();
	if (!s->decider) {
		die_with_parent(parent, false);
		run_decider(s, ends[1]);
	}
	err = s->decider < 0 ? -errno : 0;
	close(ends[1]);
	if (err) {
		s->decider = 0;
		close(ends[0]);
		return err;
	}
	s->channel = ends[0];
	return 0;
}

static void give_up(struct supervisor *s, int code)
{
	s->over = true;
	s->code = code;
}

/* Returns true if the decider ended too often within a minute. */
static bool ends_too_often(struct supervisor *s)
{
	u64 now = gp_sys->monotonic_ns(), *oldest = &s->ends[s->nr_ends++ % GP_SUPERVISOR_ENDS];
	bool too_often = *oldest && now - *oldest < 60 * GP_SEC;

	*oldest = now;
	return too_often;
}

/*
 * Handles the end of the decider. Its children must end before the next decider starts or the
 * supervisor exits.
 */
static void decider_ended(struct supervisor *s, int status)
{
	s->decider = 0;
	close(s->channel);
	s->channel = -1;
	s->silent_at_ns = GP_NEVER;
	s->children_until_ns = gp_sys->monotonic_ns() + LEAVE_NS;
	/* Readers hold nothing. */
	kill_children(s, GP_ROLE_READER);
	/* The next decider uses new numbers, so remaining children lose theirs. */
	for (u32 i = 0; i < GP_SUPERVISOR_CHILDREN; i++)
		s->child[i].number = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) != GP_SUPERVISOR_AGAIN) {
		give_up(s, WEXITSTATUS(status));
		return;
	}
	if (WIFEXITED(status)) {
		/*
		 * No limit on such restarts, because a driver may show many GPUs one after the
		 * other.
		 */
		snprintf(s->reason, sizeof(s->reason), "asked to be started again");
	} else {
		snprintf(s->reason, sizeof(s->reason), "ended by signal %d", WTERMSIG(status));
		gp_log(GP_LOG_ERROR, "the decider was ended by signal %d", WTERMSIG(status));
	}
	if (s->told_to_end) {
		give_up(s, 0);
	} else if (!WIFEXITED(status) && ends_too_often(s)) {
		gp_log(GP_LOG_ERROR, "the decider ended more than %d times within a minute: "
		       "giving up", GP_SUPERVISOR_ENDS);
		give_up(s, 1);
	}
	s->restarts++;
}

/* Waits for the children of the last decider, then starts the next one. */
static void tend_gap(struct supervisor *s, u64 now)
{
	int err;

	for (u32 i = 0; i < GP_SUPERVISOR_CHILDREN; i++)
		if (s->child[i].pid && s->child[i].ended)
			forget(s, &s->child[i]);
	if (nr_of_decider(s) && now >= s->children_until_ns) {
		kill_children(s, GP_ROLE_HOLDER);
		/* Abandon a child that hangs in the driver, which harms only its own user. */
		if (now < s->children_until_ns + DIE_NS)
			return;
		gp_log(GP_LOG_ERROR, "%u processes of the decider before hang in the driver",
		       nr_of_decider(s));
	} else if (nr_of_decider(s)) {
		return;
	}
	if (s->over || s->serves_caller || now < s->start_at_ns)
		return;
	err = start_decider(s);
	if (!err) {
		s->start_delay_ns = START_MIN_NS;
		return;
	}
	gp_log(GP_LOG_ERROR, "cannot start the decider: %s; trying again in %llu ms",
	       strerror(-err), (unsigned long long)(s->start_delay_ns / GP_MSEC));
	s->start_at_ns = now + s->start_delay_ns;
	s->start_delay_ns = sooner(2 * s->start_delay_ns, START_MAX_NS);
}

/* ---- requests ---- */

static void answer_start(struct supervisor *s, const struct gp_supervisor_message *m, int channel)
{
	struct gp_supervisor_message reply =
		GP_MESSAGE(struct gp_supervisor_message, GP_SUP_STARTED, .child = m->child,
			   .role = m->role, .user = m->user, .err = -EINVAL);
	pid_t pid = -EINVAL;

	if (m->child && channel >= 0 && m->role != GP_ROLE_POKE &&
	    !find_child(s, m->role, m->child))
		pid = start_child(s, m, channel);
	reply.err = pid < 0 ? pid : 0;
	reply.pid = pid < 0 ? 0 : pid;
	/*
	 * Best effort. If the message is lost, the end of its channel shows that the child failed.
	 */
	gp_channel_send(s->channel, &reply.is, NULL, 0);
}

static void take_request(struct supervisor *s, const struct gp_supervisor_message *m, int channel)
{
	struct child *c;

	switch (m->is.kind) {
	case GP_SUP_START:
		answer_start(s, m, channel);
		break;
	case GP_SUP_KILL:
		c = find_child(s, m->role, m->child);
		if (c && !c->ended)
			kill(c->pid, SIGKILL);
		break;
	case GP_SUP_BEAT:
		if (s->args)
			s->silent_at_ns = gp_sys->monotonic_ns() + s->args->heartbeat_ns;
		break;
	case GP_SUP_REST:
		s->silent_at_ns = GP_NEVER;
		break;
	}
}

/* Kills a decider that sends invalid messages, because its holds are not safe. */
static void take_requests(struct supervisor *s)
{
	struct gp_supervisor_message m;
	int fds[GP_CHANNEL_FDS], n;
	bool good;

	while (s->channel >= 0) {
		n = gp_channel_recv(s->channel, &m, sizeof(m), fds);
		if (n == -EAGAIN)
			return;
		good = n == (int)sizeof(m) && m.is.kind >= GP_SUP_START &&
		       m.is.kind <= GP_SUP_REST;
		if (good)
			take_request(s, &m, fds[0]);
		for (u32 i = 0; i < GP_CHANNEL_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		if (good)
			continue;
		if (n != -EPIPE)
			gp_log(GP_LOG_ERROR, "malformed message from the decider");
		if (s->serves_caller) {
			give_up(s, 0);
			kill_children(s, GP_ROLE_READER);
			s->children_until_ns = gp_sys->monotonic_ns() + LEAVE_NS;
		} else if (n != -EPIPE) {
			kill(s->decider, SIGKILL);
		}
		/* SIGCHLD follows when it ends. Until then there is nothing to read. */
		close(s->channel);
		s->channel = -1;
	}
}

/* ---- signals and time ---- */

static void reap(struct supervisor *s)
{
	struct child *c;
	int status;
	pid_t pid;

	while ((pid = gp_sys->waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		/* A pid may be reused before the end of its former process is reported. */
		for (c = s->child; c < s->child + GP_SUPERVISOR_CHILDREN; c++)
			if (c->pid == pid && !c->ended)
				break;
		if (c == s->child + GP_SUPERVISOR_CHILDREN)
			c = NULL;
		if (WIFSTOPPED(status)) {
			/*
			 * Kill a stopped holder, because it cannot end its leases. Its death
			 * releases everything.
			 */
			if (c && s->roles[c->role].kill_stopped)
				kill(pid, SIGKILL);
		} else if (pid == s->decider) {
			decider_ended(s, status);
		} else if (c && !c->ended) {
			child_ended(s, c, status);
		}
	}
}

static void take_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (gp_sys->read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			reap(s);
			continue;
		}
		if (s->decider)
			kill(s->decider, (int)info.ssi_signo);
		if (info.ssi_signo != SIGTERM && info.ssi_signo != SIGINT)
			continue;
		/* Continue a stopped decider, which could not end otherwise. */
		if (s->decider)
			kill(s->decider, SIGCONT);
		else
			give_up(s, 0);
		s->told_to_end = true;
	}
}

int gp_supervisor_timeout(u64 until_ns, u64 now_ns)
{
	if (until_ns == GP_NEVER)
		return -1;
	return until_ns > now_ns ? (int)((until_ns - now_ns) / GP_MSEC) + 1 : 0;
}

static u64 wake_at(const struct supervisor *s, u64 now)
{
	u64 at = s->silent_at_ns;

	if (!s->decider && !s->serves_caller && !s->over && now < s->start_at_ns)
		at = sooner(at, s->start_at_ns);
	if (s->channel < 0 && nr_of_decider(s))
		at = sooner(at, now < s->children_until_ns ? s->children_until_ns :
							     s->children_until_ns + DIE_NS);
	for (u32 i = 0; s->nr_children && i < GP_SUPERVISOR_CHILDREN; i++) {
		const struct child *c = &s->child[i];

		if (c->pid)
			at = sooner(at, c->ended ? now + RETRY_NS : c->kill_at_ns);
	}
	return at;
}

/*
 * Sleeps until there is something to do. If that took much longer than it should, the machine stood
 * still, and the decider too. That does not count as silence of the decider.
 */
static void doze(struct supervisor *s)
{
	struct pollfd fds[2] = { { .fd = s->signals, .events = POLLIN },
				 { .fd = s->channel, .events = POLLIN } };
	u64 began = gp_sys->monotonic_ns(), now;

	gp_sys->poll(fds, 2, gp_supervisor_timeout(wake_at(s, began), began));
	now = gp_sys->monotonic_ns();
	if (s->silent_at_ns == GP_NEVER || now < s->silent_at_ns + s->args->heartbeat_ns / 2)
		return;
	gp_log(GP_LOG_WARNING, "the machine stood still for %llu ms",
	       (unsigned long long)((now - began) / GP_MSEC));
	s->silent_at_ns = now + s->args->heartbeat_ns;
}

static void tend_children(struct supervisor *s, u64 now)
{
	for (u32 i = 0; s->nr_children && i < GP_SUPERVISOR_CHILDREN; i++) {
		struct child *c = &s->child[i];

		if (c->pid && c->ended) {
			tell_end(s, c);
		} else if (c->pid && now >= c->kill_at_ns) {
			kill(c->pid, SIGKILL);
			c->kill_at_ns = GP_NEVER;
		}
	}
}

static void tend(struct supervisor *s)
{
	u64 now = gp_sys->monotonic_ns();

	if (s->decider && now >= s->silent_at_ns) {
		kill(s->decider, SIGKILL);
		s->silent_at_ns = GP_NEVER;
		gp_log(GP_LOG_ERROR, "the decider (%d) was silent for %llu ms: killed", s->decider,
		       (unsigned long long)(s->args->heartbeat_ns / GP_MSEC));
	}
	tend_children(s, now);
	if (!s->decider && (s->channel < 0 || !s->serves_caller))
		tend_gap(s, now);
}

/* Serves until the decider has ended for good, and its children have ended or hang. */
static int serve(struct supervisor *s)
{
	for (;;) {
		tend(s);
		if (s->over && (!nr_of_decider(s) ||
				gp_sys->monotonic_ns() >= s->children_until_ns + DIE_NS))
			return s->code;
		doze(s);
		take_signals(s);
		take_requests(s);
	}
}

/* ---- life ---- */

static int open_signals(struct supervisor *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &s->before);
	s->signals = gp_sys->signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals < 0 ? -errno : 0;
}

int gp_supervisor_run(const struct gp_supervisor_args *args)
{
	struct supervisor *s = calloc(1, sizeof(*s));
	int code = 1, err;

	if (!s)
		return 1;
	s->args = args;
	s->roles = args->roles;
	s->channel = -1;
	s->silent_at_ns = GP_NEVER;
	s->start_delay_ns = START_MIN_NS;
	err = open_signals(s);
	if (err) {
		gp_log(GP_LOG_ERROR, "cannot wait for signals: %s", strerror(-err));
	} else {
		poke_all_users(s);
		code = serve(s);
		close(s->signals);
	}
	free(s);
	return code;
}

int gp_supervisor_fork(const struct gp_role *roles, int *channel)
{
	struct supervisor *s;
	pid_t parent = getpid(), pid;
	int ends[2], err = gp_channel_pair(ends);

	if (err)
		return err;
	pid = gp_sys->fork();
	if (pid) {
		err = pid < 0 ? -errno : 0;
		close(ends[1]);
		if (err)
			close(ends[0]);
		else
			*channel = ends[0];
		return err;
	}
	die_with_parent(parent, false);
	close_others(ends[1]);
	s = calloc(1, sizeof(*s));
	if (!s || open_signals(s))
		_exit(1);
	s->roles = roles;
	s->channel = 3;
	s->serves_caller = true;
	s->silent_at_ns = GP_NEVER;
	_exit(serve(s));
}
