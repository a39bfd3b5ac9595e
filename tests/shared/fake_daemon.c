// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * usage: fake_daemon SOCKET WORLD [UID]
 *
 * The real control socket with a simulated daemon, for black-box tests of commands. WORLD is a
 * JSON file with the answers "status", "list", "stats" and "policy". Each change is printed on
 * one line. Holds, classes and the switch are remembered as far as the answers show them. With a
 * UID every client counts as that user, without privilege.
 *
 * Process 13 never leaves the GPU. Process 15 leaves it after a client hints at its work, or
 * after other processes were held "slow_until" times. Policy "busy" is refused with EBUSY. A
 * lease is at most "lease_ns" of WORLD, or a second. A hold lasts until its release, so that a
 * busy machine changes nothing.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/trace.h"
#include "daemon/methods.h"

enum { STUCK = 13, SLOW = 15, MOST_LEASE_NS = 1000000000 };

/* The client that waits until SLOW is off; 0: none. */
static gp_token slow_waiter;
static bool slow_gets_off;
static json_int_t others_held;	/* number of other holds during the wait */

static struct gp_control *control;
static json_t *world;
static long as_uid = -1;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static json_t *processes(void)
{
	return json_object_get(json_object_get(world, "list"), "processes");
}

static json_t *process(pid_t pid)
{
	json_t *one;
	size_t i;

	json_array_foreach(processes(), i, one) {
		if (json_integer_value(json_object_get(one, "pid")) == pid)
			return one;
	}
	return NULL;
}

/* Publishes that the process is in @state on GPU 0 because of process 102. */
static void publish(pid_t pid, const char *state)
{
	json_t *event = json_pack("{s:I, s:s, s:s, s:i, s:O, s:i, s:s, s:i}", "at_ns",
				  (json_int_t)now_ns(), "kind", "state", "what", state, "pid",
				  (int)pid, "start", json_object_get(process(pid), "start"), "gpu",
				  0, "state", state, "cause_pid", 102);

	gp_control_publish(control, GP_EVENT_STATE, event, GP_TO_ALL, 0);
}

/*
 * Publishes the records of a preemption. Process 102 (task 1) had work in its queue for a
 * millisecond. Process 101 (task 0) was stopped for it within 300 us, of which one call took 200.
 */
static void publish_records(void)
{
	json_int_t t = (json_int_t)now_ns(), us = 1000;

	gp_control_publish(control, GP_EVENT_RECORD, json_pack(
		"{s:[[I,i,i,i,i,i,i,i,i,i],[I,i,i,i,i,i,i],[I,i,i,i,i,i,i],[I,i,i,i,i,i,i]]}",
		"records", t, GP_REC_INIT, 0, 0, 0, 64, 64, 64, 64, GP_INIT_MIDDLE,
		t, GP_REC_DEVICE_ADD, 0, 0, 0, 0, 0, t, GP_REC_TASK_ADD, 0, 1, 0, 1, 9,
		t, GP_REC_QUEUE_ADD, 0, 1, 5, 7, 7), GP_TO_ALL, 0);
	gp_control_publish(control, GP_EVENT_RECORD, json_pack(
		"{s:[[I,i,i],[I,i,i,i,i,i,i],[I,i,i],[I,i,i,i,i,i],[I,i,i,i,i,i,i],[I,i,i,i,i,i,i],"
		"[I,i,i,i,i,i,i],[I,i,i,i,i,I,I,I,I,I,I,i,I],[I,i,i,i,i,i,i],[I,i,i],"
		"[I,i,i,i,i,i]]}",
		"records",
		t, GP_REC_LOOK, 0, t + 50 * us, GP_REC_SAMPLE, 0, 0, 5, 7, 8,
		t + 50 * us, GP_REC_LOOK, 0,
		t + 100 * us, GP_REC_ACTION, 0, 1, 0, 64,
		t + 100 * us, GP_REC_STATE, 0, 0, 0, GP_ON, GP_STOPPING,
		t + 100 * us, GP_REC_ACTION_TASK, 0, 0, 0, 64, GP_STOPPING,
		t + 300 * us, GP_REC_STATE, 0, 0, 0, GP_STOPPING, GP_OFF,
		t + 310 * us, GP_REC_PARTS, 0, 1, 0, 50 * us, 50 * us, 200 * us,
		(json_int_t)GP_PART_WITHIN, (json_int_t)GP_PART_WITHIN, 300 * us, 1, t,
		t + 1000 * us, GP_REC_SAMPLE, 0, 0, 5, 8, 8, t + 1000 * us, GP_REC_LOOK, 0,
		t + 20000 * us, GP_REC_ENABLE, 0, 0, 0, 1), GP_TO_ALL, 0);
}

static int record(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	(void)a;
	call->wants = 1u << GP_EVENT_RECORD;
	*ret = json_pack("{s:[{s:i,s:i,s:i,s:s,s:s},{s:i,s:i,s:i,s:s,s:s,s:b}]}", "tasks",
			 "task", 1, "pid", 102, "start", 0, "name", "infer", "class", "online",
			 "task", 0, "pid", 101, "start", 0, "name", "train", "class", "offline",
			 "preemptible", 1);
	return GP_CALL_STREAM;
}

static int subscribe(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	json_t *kind;
	size_t i;

	(void)ret;
	call->wants = a->kinds ? 0 : (1u << GP_NR_EVENTS) - 1;
	json_array_foreach(a->kinds, i, kind) {
		const char *name = json_string_value(kind);

		call->wants |= !strcmp(name, "state") ? 1u << GP_EVENT_STATE :
			       !strcmp(name, "enabled") ? 1u << GP_EVENT_ENABLED : 0;
	}
	return GP_CALL_STREAM;
}

static int status(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	(void)call, (void)a;
	if (json_object_get(world, "silent"))
		return GP_CALL_LATER;
	*ret = json_deep_copy(json_object_get(world, "status"));
	return GP_CALL_DONE;
}

static int get_policy(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	(void)call, (void)a;
	*ret = json_deep_copy(json_object_get(world, "policy"));
	return GP_CALL_DONE;
}

static int set_policy(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	const char *key;
	json_t *value;

	if (a->policy && !strcmp(a->policy, "busy")) {
		snprintf(call->why, GP_WHY_MAX, "not now");
		return -EBUSY;
	}
	note("policy %s%s", a->policy ? a->policy : "-", a->dry_run ? " dry" : "");
	json_object_foreach(a->parameters, key, value)
		note("set %s %s", key, json_string_value(value));
	*ret = json_deep_copy(json_object_get(world, "policy"));
	if (a->policy)
		json_object_set_new(*ret, "policy", json_string(a->policy));
	json_object_set_new(*ret, "changed", json_boolean(!a->dry_run));
	return GP_CALL_DONE;
}

static int list(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	if (a->pid && !process((pid_t)a->pid))
		return -ESRCH;
	call->listing.pid = (pid_t)a->pid;
	*ret = json_pack("{s:O}", "gpus", json_object_get(json_object_get(world, "list"), "gpus"));
	return GP_CALL_LIST;
}

static int stats(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	call->listing = (struct gp_listing){ .which = 1, .pid = (pid_t)a->pid };
	*ret = json_pack("{s:O}", "counters",
			 json_object_get(json_object_get(world, "stats"), "counters"));
	return GP_CALL_LIST;
}

static int next(void *ctx, const struct gp_peer *peer, struct gp_listing *l, json_t **ret)
{
	json_t *all = l->which ? json_object_get(json_object_get(world, "stats"), "processes") :
				 processes();

	(void)ctx, (void)peer;
	while (l->cursor < json_array_size(all)) {
		json_t *one = json_array_get(all, l->cursor++);

		if (l->pid && json_integer_value(json_object_get(one, "pid")) != l->pid)
			continue;
		*ret = json_deep_copy(one);
		return 1;
	}
	return 0;
}

static int set_class(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	json_t *one = process((pid_t)a->pid), *previous;

	(void)call;
	note("class %d %s", (int)a->pid, a->class);
	previous = json_incref(json_object_get(one, "class"));
	json_object_set_new(one, "class", json_string(a->class));
	*ret = json_pack("{s:s, s:o, s:b}", "class", a->class, "previous",
			 previous ? previous : json_string("unmanaged"), "uses_gpu", one != NULL);
	return GP_CALL_DONE;
}

static int enrol(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	(void)call;
	note("register %d %s", (int)a->pid, a->class ? a->class : "-");
	*ret = json_pack("{s:s}", "class", a->class ? a->class : "unmanaged");
	return GP_CALL_DONE;
}

static int hint(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	(void)call, (void)ret;
	note("hint %d %" PRIi64 " %" PRIi64, (int)a->pid, a->in_ns, a->for_ns);
	slow_gets_off |= a->pid == SLOW;
	return GP_CALL_DONE;
}

static bool gets_off(pid_t pid)
{
	return pid != STUCK && (pid != SLOW || slow_gets_off);
}

static json_t *granted(u64 lease_ns)
{
	return json_pack("{s:I}", "lease_ns", (json_int_t)lease_ns);
}

static u64 most_lease_ns(void)
{
	json_t *lease = json_object_get(world, "lease_ns");

	return lease ? (u64)json_integer_value(lease) : MOST_LEASE_NS;
}

/* Counts holds of other processes while a client waits for SLOW. */
static void count_other(void)
{
	json_t *until = json_object_get(world, "slow_until");

	if (slow_waiter && until && ++others_held >= json_integer_value(until))
		slow_gets_off = true;
}

/* Grants a shorter lease than requested, so that the test soon sees a renewal. */
static int hold(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	pid_t pid = (pid_t)a->pid;
	json_t *one = process(pid);
	bool off = gets_off(pid), held = json_object_get(one, "held_until_ns");
	u64 lease_ns = (u64)a->lease_ns;

	if (a->renew && !held) {
		snprintf(call->why, GP_WHY_MAX, "process %d is not held", pid);
		return -ECANCELED;
	}
	note("hold %d%s", (int)pid, a->wait ? " wait" : "");
	if (pid != SLOW)
		count_other();
	if (lease_ns > most_lease_ns())
		lease_ns = most_lease_ns();
	json_object_set_new(one, "held_until_ns", json_integer((json_int_t)(now_ns() + lease_ns)));
	if (off && !held) {
		publish(pid, "off");
		publish_records();
	}
	if (off || !a->wait) {
		*ret = granted(lease_ns);
		return GP_CALL_DONE;
	}
	if (pid == SLOW)
		slow_waiter = call->token;
	return GP_CALL_LATER;
}

static void answer_slow(void)
{
	if (!slow_waiter || !gets_off(SLOW))
		return;
	publish(SLOW, "off");
	gp_control_reply(control, slow_waiter, granted(most_lease_ns()));
	slow_waiter = 0;
}

static int release(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	(void)call, (void)ret;
	note("release %d", (int)a->pid);
	json_object_del(process((pid_t)a->pid), "held_until_ns");
	publish((pid_t)a->pid, "on");
	if (a->pid == 101)
		gp_control_publish(control, GP_EVENT_RECORD, json_pack(
			"{s:[[I,i,i,i,i,i,i]]}", "records", (json_int_t)now_ns(), GP_REC_STATE, 0,
			0, 0, GP_OFF, GP_ON), GP_TO_ALL, 0);
	return GP_CALL_DONE;
}

static int switch_to(bool on, json_t **ret)
{
	json_t *status_now = json_object_get(world, "status");
	bool was = json_is_true(json_object_get(status_now, "enabled"));

	note("%s", on ? "enable" : "disable");
	json_object_set_new(status_now, "enabled", json_boolean(on));
	gp_control_publish(control, GP_EVENT_ENABLED,
			   json_pack("{s:I, s:s, s:s}", "at_ns", (json_int_t)now_ns(), "kind",
				     "enabled", "what", on ? "switched on" : "switched off"),
			   GP_TO_ALL, 0);
	*ret = json_pack("{s:b}", "changed", was != on);
	return GP_CALL_DONE;
}

static int enable(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	(void)call, (void)a;
	return switch_to(true, ret);
}

static int disable(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	(void)call, (void)a;
	return switch_to(false, ret);
}

/* '-': every user, 'p': the owner of the process, 'r': root. */
static const struct {
	const char *name;
	char right;
	int (*run)(struct gp_call *call, const struct gp_arguments *a, json_t **ret);
} methods[] = {
	{ "Status", '-', status }, { "List", '-', list }, { "Stats", '-', stats },
	{ "GetPolicy", '-', get_policy }, { "SetPolicy", 'r', set_policy },
	{ "SetClass", 'p', set_class }, { "Register", 'p', enrol }, { "Hint", 'p', hint },
	{ "Hold", 'p', hold }, { "Release", 'p', release }, { "Enable", 'r', enable },
	{ "Disable", 'r', disable }, { "Subscribe", '-', subscribe }, { "Record", 'r', record },
};

static int check_process(struct gp_call *call, struct gp_arguments *a)
{
	json_t *one;
	bool own;

	if (!a->pid)
		a->pid = call->peer->pid;
	one = process((pid_t)a->pid);
	/* A process may register before it uses a GPU. */
	own = !one || (uid_t)json_integer_value(json_object_get(one, "uid")) == call->peer->uid;
	snprintf(call->why, GP_WHY_MAX, "process %d: not found", (int)a->pid);
	if (!one && kill((pid_t)a->pid, 0))
		return -ESRCH;
	snprintf(call->why, GP_WHY_MAX, "permission denied: process %d is another user's",
		 (int)a->pid);
	if (!own && !call->peer->privileged)
		return -EPERM;
	if (!a->class || !strcmp(a->class, "offline") || !strcmp(a->class, "batch"))
		return 0;
	call->bad = "class";
	snprintf(call->why, GP_WHY_MAX, "%s: unknown class", a->class);
	if (strcmp(a->class, "online"))
		return -EINVAL;
	snprintf(call->why, GP_WHY_MAX, "permission denied: a higher class needs root");
	return call->peer->privileged ? 0 : -EPERM;
}

static int answer(void *ctx, struct gp_call *call, json_t **ret)
{
	const char *dot = strrchr(call->method, '.');
	struct gp_arguments a;
	size_t i;
	int err;

	(void)ctx;
	for (i = 0; dot && i < sizeof(methods) / sizeof(methods[0]); i++)
		if (!strcmp(methods[i].name, dot + 1))
			break;
	if (!dot || i == sizeof(methods) / sizeof(methods[0])) {
		call->error = "org.varlink.service.MethodNotFound";
		return GP_CALL_REFUSED;
	}
	err = gp_arguments_read(call->parameters, ~0u, 0, &a, &call->bad, call->why);
	if (!err && methods[i].right == 'r' && !call->peer->privileged) {
		snprintf(call->why, GP_WHY_MAX, "permission denied: needs root");
		err = -EPERM;
	}
	if (!err && methods[i].right == 'p')
		err = check_process(call, &a);
	return err ? err : methods[i].run(call, &a, ret);
}

static int identify(void *ctx, int fd, struct gp_peer *ret)
{
	int err = gp_peer_identify(fd, (gid_t)-1, ret);

	(void)ctx;
	if (!err && as_uid >= 0) {
		ret->uid = (uid_t)as_uid;
		ret->gid = (gid_t)as_uid;
		ret->user = (uid_t)as_uid;
		ret->privileged = false;
	}
	return err;
}

int main(int argc, char **argv)
{
	struct gp_control_args args = { .call = answer, .next = next, .identify = identify };
	const char *why = "usage: fake_daemon SOCKET WORLD [UID]";

	if (argc > 2) {
		args.path = argv[1];
		world = json_load_file(argv[2], 0, NULL);
		why = "the world is no JSON";
	}
	if (argc > 3)
		as_uid = atol(argv[3]);
	if (!world || gp_control_new(&args, &control, &why)) {
		fprintf(stderr, "fake_daemon: %s\n", why);
		return 1;
	}
	note("ready");
	for (;;) {
		struct pollfd p = { .fd = gp_control_fd(control), .events = POLLIN };

		poll(&p, 1, 50);
		gp_control_run(control, now_ns());
		answer_slow();
	}
}
