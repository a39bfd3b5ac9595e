// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt suspend, resume: holds processes off the GPU by hand. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "core/param.h"
#include "lib/sys.h"
#include "sim/json.h"

/*
 * The hold is a lease that this command renews. If the command dies, the lease ends and the
 * processes run again.
 */
#define LEASE_NS	(3 * GP_SEC)
/*
 * How long to wait for off. Equals the daemon's wait: attaching needs a queue that is a second
 * old.
 */
#define OFF_NS		(4 * GP_SEC)

enum {
	ANSWER_MS	= 5000,		/* for a call that does not wait */
	STEP_MS		= 10,		/* least time to wait */
};

/* ASKED: the daemon accepted the hold; the process may still run. */
enum state { FREE, ASKED, HELD, GONE, RESUMED };

struct held {
	struct gp_daemon_target target;
	enum state state;
	u64 ends_ns;		/* end of the lease, as granted */
};

struct holds {
	struct gp_daemon *daemon;
	struct held *one;
	u32 nr;
	u64 until_ns;		/* CLOCK_MONOTONIC; GP_NEVER */
};

/* Reads the processes named by the operands. Returns their number, or 0 after a message. */
static u32 read_targets(const struct gp_options *o, struct held *ret)
{
	for (u32 i = 0; i < o->nr_operands; i++) {
		pid_t pid;

		if (gp_ask_pid(o->operands[i], &pid))
			return 0;
		ret[i] = (struct held){ .target.pid = pid };
	}
	return o->nr_operands;
}

/* Asks the daemon for the start time of the process. Returns -ESRCH if it uses no GPU. */
static int look(struct gp_daemon *daemon, struct held *h)
{
	char in[48], *out;
	json_t *list, *process;
	int err;

	snprintf(in, sizeof(in), "{\"pid\": %" PRId32 "}", h->target.pid);
	err = gp_daemon_call(daemon, "List", in, &out);
	if (err)
		return err;
	list = json_loads(out, 0, NULL);
	free(out);
	process = json_array_get(json_object_get(list, "processes"), 0);
	/* Another user's process has none, and the daemon refuses to hold it. */
	if (process)
		h->target.start = gp_ask_number(process, "start");
	err = process ? 0 : -ESRCH;
	json_decref(list);
	return err;
}

static int hold(struct holds *all, struct held *h, u32 flags)
{
	u64 now = gp_sys->monotonic_ns(), left = all->until_ns > now ? all->until_ns - now : 1,
	    granted;
	int err;

	err = gp_daemon_hold(all->daemon, &h->target, left < LEASE_NS ? left : LEASE_NS, flags,
			     &granted);
	if (!err)
		h->ends_ns = now + granted;
	return err;
}

static void say_resumed(struct held *h)
{
	h->state = RESUMED;
	gp_error("suspend: %" PRId32 " was resumed by another client, or its lease ended",
		 h->target.pid);
}

/*
 * Renews the lease of @h and reports the end of a hold. Returns 0, or an exit code that ends the
 * command.
 */
static int renew(struct holds *all, struct held *h)
{
	int err = hold(all, h, GP_DAEMON_RENEW);

	if (err == -ECANCELED) {
		say_resumed(h);
		return 0;
	}
	if (err == -ESRCH) {
		/* wait_off() reports a process that is not off yet */
		if (h->state == HELD)
			h->state = GONE;
		return 0;
	}
	return err ? gp_ask_failed(err, "suspend") : GP_EXIT_OK;
}

static bool is_ours(const struct held *h)
{
	return h->state == ASKED || h->state == HELD;
}

static int renew_all(struct holds *all)
{
	int code = GP_EXIT_OK;

	for (u32 i = 0; i < all->nr && !code; i++)
		code = is_ours(&all->one[i]) ? renew(all, &all->one[i]) : GP_EXIT_OK;
	return code;
}

static void release_all(struct holds *all)
{
	for (u32 i = 0; i < all->nr; i++) {
		if (is_ours(&all->one[i]))
			gp_daemon_release(all->daemon, &all->one[i].target);
	}
}

/*
 * Returns when half of the shortest lease has passed or the requested time ends, or GP_NEVER if
 * no process is held.
 */
static u64 next_ns(const struct holds *all)
{
	u64 next = GP_NEVER, now = gp_sys->monotonic_ns();

	for (u32 i = 0; i < all->nr; i++) {
		const struct held *h = &all->one[i];
		u64 at = h->ends_ns > now ? now + (h->ends_ns - now) / 2 : now;

		if (h->ends_ns >= all->until_ns)
			at = all->until_ns;
		if (is_ours(h) && at < next)
			next = at;
	}
	return next;
}

/* Waits until @at. Returns true if a signal ends the command. */
static bool interrupted(const sigset_t *signals, u64 at)
{
	u64 now = gp_sys->monotonic_ns(), left = at > now ? at - now : 0;
	struct timespec wait = {
		.tv_sec = (time_t)(left / GP_SEC), .tv_nsec = (long)(left % GP_SEC),
	};

	return sigtimedwait(signals, NULL, &wait) > 0;
}

static int keep(struct holds *all, const sigset_t *signals)
{
	for (;;) {
		u64 at = next_ns(all);
		int code;

		if (at == GP_NEVER || interrupted(signals, at) ||
		    gp_sys->monotonic_ns() >= all->until_ns)
			return GP_EXIT_OK;
		code = renew_all(all);
		if (code)
			return code;
	}
}

/* Asks for the hold without waiting for it. */
static int ask(struct holds *all, struct held *h)
{
	int err = look(all->daemon, h);

	if (!err)
		err = hold(all, h, 0);
	if (!err)
		h->state = ASKED;
	return err;
}

/* Waits until @h is off. Returns -ETIMEDOUT when the next lease must be renewed. */
static int wait_off(struct holds *all, struct held *h)
{
	u64 now = gp_sys->monotonic_ns(), at = next_ns(all),
	    left = at > now ? (at - now) / GP_MSEC : 0;
	int err;

	gp_daemon_set_timeout(all->daemon, left < STEP_MS ? STEP_MS : (int)left);
	err = hold(all, h, GP_DAEMON_WAIT | GP_DAEMON_RENEW);
	gp_daemon_set_timeout(all->daemon, ANSWER_MS);
	if (!err)
		h->state = HELD;
	return err;
}

/* Reports why @h is not off, with the daemon's reason if it has one. */
static int say_late(struct holds *all, const struct held *h)
{
	json_t *list = NULL;
	const char *trouble;
	int code = gp_ask_call(all->daemon, "List", json_pack("{s:i}", "pid", (int)h->target.pid),
			       &list);

	if (code)
		return code;
	trouble = gp_ask_text(json_array_get(json_object_get(list, "processes"), 0), "trouble");
	gp_error("suspend: %" PRId32 ": %s", h->target.pid,
		 trouble[0] ? trouble : "it could not be stopped in time");
	json_decref(list);
	return GP_EXIT_TIMEOUT;
}

static int say_failed(const struct held *h, int err)
{
	char what[32];

	snprintf(what, sizeof(what), "suspend: %" PRId32, h->target.pid);
	if (err != -ESRCH)
		return gp_ask_failed(err, what);
	gp_error("%s: no such process on a GPU; 'gpreempt list' has them", what);
	return GP_EXIT_UNKNOWN;
}

/* Asks for all holds first. While it waits for one process, it renews the leases of all. */
static int take_all(struct holds *all)
{
	u64 deadline = gp_sys->monotonic_ns() + OFF_NS;

	for (u32 i = 0; i < all->nr; i++) {
		int err = ask(all, &all->one[i]);

		if (err)
			return say_failed(&all->one[i], err);
	}
	for (u32 i = 0; i < all->nr; i++) {
		struct held *h = &all->one[i];
		int err = 0, code = GP_EXIT_OK;

		while (!code && is_ours(h) && (err = wait_off(all, h)) == -ETIMEDOUT)
			code = gp_sys->monotonic_ns() < deadline ? renew_all(all) :
								   say_late(all, h);
		if (!code && err == -ECANCELED)
			say_resumed(h);
		else if (code || (err && is_ours(h)))
			return code ? code : say_failed(h, err);
	}
	return GP_EXIT_OK;
}

static int print_held(const struct gp_options *o, const struct holds *all)
{
	static const char *const ends[] = { "free", "asked", "released", "gone", "resumed" };
	json_t *root = json_object(), *held = json_array();

	for (u32 i = 0; i < all->nr; i++) {
		json_t *one = json_object();

		gp_json_put(one, "pid", json_integer(all->one[i].target.pid));
		gp_json_put(one, "end", json_string(ends[all->one[i].state]));
		json_array_append_new(held, one);
	}
	gp_json_put(root, "suspended", held);
	return gp_ask_print(o, root);
}

static int suspend(const struct gp_options *o, struct holds *all)
{
	sigset_t signals;
	int code;

	/* Signals are handled only between two calls, so that the state of every hold is known. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	code = take_all(all);
	/* The time starts when the processes are off. */
	if (o->for_ns)
		all->until_ns = gp_sys->monotonic_ns() + o->for_ns;
	if (!code && !o->json) {
		if (all->until_ns == GP_NEVER)
			puts("held off; Ctrl-C releases");
		else
			printf("held off for %s\n", gp_duration(o->for_ns).s);
		fflush(stdout);
	}
	if (!code)
		code = keep(all, &signals);
	release_all(all);
	return !code && o->json ? print_held(o, all) : code;
}

int gp_cmd_suspend(const struct gp_options *o)
{
	struct holds all = {
		.one = calloc(o->nr_operands, sizeof(*all.one)), .until_ns = GP_NEVER,
	};
	int code = GP_EXIT_BAD;

	if (!all.one)
		return GP_EXIT_FAILED;
	if (o->given & GP_TAKES(FOR) && !o->for_ns)
		gp_error("suspend: --for must be more than 0");
	else
		all.nr = read_targets(o, all.one);
	if (all.nr)
		code = gp_ask_open(&all.daemon);
	if (!code)
		code = suspend(o, &all);
	gp_daemon_close(all.daemon);
	free(all.one);
	return code;
}

/* Tries every process. The first failure is the exit code. */
static int resume(struct gp_daemon *daemon, struct held *one, u32 nr)
{
	int code = GP_EXIT_OK;

	for (u32 i = 0; i < nr; i++) {
		int err = gp_daemon_release(daemon, &one[i].target);
		char what[32];

		snprintf(what, sizeof(what), "resume: %" PRId32, one[i].target.pid);
		if (err && !code)
			code = gp_ask_failed(err, what);
		else if (err)
			gp_ask_failed(err, what);
		else
			one[i].state = RESUMED;
	}
	return code;
}

int gp_cmd_resume(const struct gp_options *o)
{
	struct holds all = { .one = calloc(o->nr_operands, sizeof(*all.one)) };
	int code = GP_EXIT_BAD;

	if (!all.one)
		return GP_EXIT_FAILED;
	all.nr = read_targets(o, all.one);
	if (all.nr)
		code = gp_ask_open(&all.daemon);
	if (!code)
		code = resume(all.daemon, all.one, all.nr);
	if (!code && o->json) {
		json_t *root = json_object(), *pids = json_array();

		for (u32 i = 0; i < all.nr; i++)
			json_array_append_new(pids, json_integer(all.one[i].target.pid));
		gp_json_put(root, "resumed", pids);
		code = gp_ask_print(o, root);
	}
	gp_daemon_close(all.daemon);
	free(all.one);
	return code;
}
