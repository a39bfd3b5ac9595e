// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * usage: fake_daemon SOCKET WORLD [UID]
 *
 * The real control socket with a made-up daemon behind it, for black-box tests of
 * commands. WORLD is a JSON file with the answers: "status", "list", "stats" and
 * "policy" as the methods give them. What changes something is printed, one line each,
 * and is remembered as far as the answers show it: holds, classes, the switch. With a UID
 * every client is taken for that user, without privilege.
 *
 * Process 13 never gets off the GPU. Process 15 gets off after a client hints at its work, or after
 * others were held "slow_until" times. Policy "busy" is refused with EBUSY. A lease is at most
 * "lease_ns" of WORLD, or a second. A hold lasts until its release, so that a busy machine
 * changes nothing.
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
#include "daemon/control.h"
#include "daemon/peer.h"

enum { STUCK = 13, SLOW = 15, MOST_LEASE_NS = 1000000000 };

/* The client that waits for SLOW to be off; 0: none. */
static gp_token slow_waiter;
static bool slow_gets_off;
static json_int_t others_held;	/* how often, while it waits */

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

/* The process is now in that state on GPU 0, because of process 102. */
static void publish(pid_t pid, const char *state)
{
	json_t *event = json_pack("{s:I, s:s, s:s, s:i, s:O, s:i, s:s, s:i}", "at_ns",
				  (json_int_t)now_ns(), "kind", "state", "what", state, "pid",
				  (int)pid, "start", json_object_get(process(pid), "start"), "gpu",
				  0, "state", state, "cause_pid", 102);

	gp_control_publish(control, GP_EVENT_STATE, event);
}

/*
 * What the scheduler would have recorded: process 102 (task 1) had work in its queue for a
 * millisecond, and 101 (task 0) made room for it within 300 us, of which one call took 200.
 */
static void publish_records(void)
{
	json_int_t t = (json_int_t)now_ns(), us = 1000;

	gp_control_publish(control, GP_EVENT_RECORD, json_pack(
		"{s:[[I,i,i,i,i,i,i,i,i,i],[I,i,i,i,i,i,i],[I,i,i,i,i,i,i],[I,i,i,i,i,i,i]]}",
		"records", t, GP_REC_INIT, 0, 0, 0, 64, 64, 64, 64, GP_INIT_MIDDLE,
		t, GP_REC_DEVICE_ADD, 0, 0, 0, 0, 0, t, GP_REC_TASK_ADD, 0, 1, 0, 1, 9,
		t, GP_REC_QUEUE_ADD, 0, 1, 5, 7, 7));
	gp_control_publish(control, GP_EVENT_RECORD, json_pack(
		"{s:[[I,i,i],[I,i,i,i,i,i,i],[I,i,i],[I,i,i,i,i,I,I,I,I,I,I,i,I],"
		"[I,i,i,i,i,i,i],[I,i,i],[I,i,i,i,i,i]]}", "records",
		t, GP_REC_LOOK, 0, t + 50 * us, GP_REC_SAMPLE, 0, 0, 5, 7, 8,
		t + 50 * us, GP_REC_LOOK, 0,
		t + 310 * us, GP_REC_PARTS, 0, 1, 0, 50 * us, 50 * us, 200 * us,
		(json_int_t)GP_PART_WITHIN, (json_int_t)GP_PART_WITHIN, 300 * us, 1, t,
		t + 1000 * us, GP_REC_SAMPLE, 0, 0, 5, 8, 8, t + 1000 * us, GP_REC_LOOK, 0,
		t + 20000 * us, GP_REC_ENABLE, 0, 0, 0, 1));
}

static int record(void *ctx, struct gp_request *rq, json_t **ret)
{
	(void)ctx, (void)rq;
	*ret = json_pack("{s:[{s:i,s:i,s:i,s:s,s:s}]}", "tasks", "task", 1, "pid", 102, "start", 0,
			 "name", "infer", "class", "online");
	return *ret ? 0 : -ENOMEM;
}

static int owner(void *ctx, const struct gp_target *target, uid_t *ret)
{
	(void)ctx;
	if (!process(target->pid)) {
		/* Who registers need not use a GPU yet. */
		*ret = (uid_t)(as_uid >= 0 ? as_uid : 0);
		return kill(target->pid, 0) ? -ESRCH : 0;
	}
	*ret = (uid_t)json_integer_value(json_object_get(process(target->pid), "uid"));
	return 0;
}

static int raises(void *ctx, const struct gp_target *target, const char *class)
{
	(void)ctx, (void)target;
	if (!class)
		return 0;
	if (!strcmp(class, "online"))
		return 1;
	return !strcmp(class, "offline") || !strcmp(class, "batch") ? 0 : -EINVAL;
}

static int status(void *ctx, struct gp_request *rq)
{
	(void)ctx;
	if (json_object_get(world, "silent"))
		return 0;
	gp_control_reply(control, rq->token, json_deep_copy(json_object_get(world, "status")));
	return 0;
}

static int get_policy(void *ctx, struct gp_request *rq)
{
	(void)ctx;
	gp_control_reply(control, rq->token, json_deep_copy(json_object_get(world, "policy")));
	return 0;
}

static int set_policy(void *ctx, struct gp_request *rq, const struct gp_policy_args *args)
{
	json_t *answer = json_deep_copy(json_object_get(world, "policy"));
	const char *key;
	json_t *value;

	(void)ctx;
	if (args->policy && !strcmp(args->policy, "busy")) {
		snprintf(rq->why, GP_WHY_MAX, "not now");
		json_decref(answer);
		return -EBUSY;
	}
	note("policy %s%s", args->policy ? args->policy : "-", args->dry_run ? " dry" : "");
	json_object_foreach(args->parameters, key, value)
		note("set %s %s", key, json_string_value(value));
	if (args->policy)
		json_object_set_new(answer, "policy", json_string(args->policy));
	json_object_set_new(answer, "changed", json_boolean(!args->dry_run));
	gp_control_reply(control, rq->token, answer);
	return 0;
}

static int list_head(void *ctx, struct gp_request *rq, const struct gp_list_args *args,
		     json_t **ret)
{
	(void)ctx, (void)rq;
	if (args->pid && !process(args->pid))
		return -ESRCH;
	*ret = json_pack("{s:O}", "gpus", json_object_get(json_object_get(world, "list"), "gpus"));
	return 0;
}

static int list_next(void *ctx, const struct gp_list_args *args, u64 *cursor, json_t **ret)
{
	(void)ctx;
	while (*cursor < json_array_size(processes())) {
		json_t *one = json_array_get(processes(), (*cursor)++);

		if (args->pid && json_integer_value(json_object_get(one, "pid")) != args->pid)
			continue;
		*ret = json_deep_copy(one);
		return 1;
	}
	return 0;
}

static int stats_head(void *ctx, struct gp_request *rq, json_t **ret)
{
	json_t *stats = json_object_get(world, "stats");

	(void)ctx, (void)rq;
	*ret = json_pack("{s:O}", "counters", json_object_get(stats, "counters"));
	return 0;
}

static int stats_next(void *ctx, pid_t pid, u64 *cursor, json_t **ret)
{
	json_t *all = json_object_get(json_object_get(world, "stats"), "processes");

	(void)ctx;
	while (*cursor < json_array_size(all)) {
		json_t *one = json_array_get(all, (*cursor)++);

		if (pid && json_integer_value(json_object_get(one, "pid")) != pid)
			continue;
		*ret = json_deep_copy(one);
		return 1;
	}
	return 0;
}

static int set_class(void *ctx, struct gp_request *rq, const struct gp_target *target,
		     const char *class)
{
	json_t *one = process(target->pid), *previous;

	(void)ctx;
	note("class %d %s", (int)target->pid, class);
	previous = json_incref(json_object_get(one, "class"));
	json_object_set_new(one, "class", json_string(class));
	gp_control_reply(control, rq->token,
			 json_pack("{s:s, s:o}", "class", class, "previous", previous));
	return 0;
}

static int enrol(void *ctx, struct gp_request *rq, const struct gp_target *target,
		 const char *class)
{
	(void)ctx;
	note("register %d %s", (int)target->pid, class ? class : "-");
	gp_control_reply(control, rq->token,
			 json_pack("{s:s}", "class", class ? class : "unmanaged"));
	return 0;
}

static int hint(void *ctx, struct gp_request *rq, const struct gp_target *target, u64 in_ns,
		u64 for_ns)
{
	(void)ctx;
	note("hint %d %" PRIu64 " %" PRIu64, (int)target->pid, in_ns, for_ns);
	slow_gets_off |= target->pid == SLOW;
	gp_control_reply(control, rq->token, NULL);
	return 0;
}

static bool gets_off(pid_t pid)
{
	return pid != STUCK && (pid != SLOW || slow_gets_off);
}

static void grant(gp_token token, u64 lease_ns)
{
	gp_control_reply(control, token, json_pack("{s:I}", "lease_ns", (json_int_t)lease_ns));
}

static u64 most_lease_ns(void)
{
	json_t *lease = json_object_get(world, "lease_ns");

	return lease ? (u64)json_integer_value(lease) : MOST_LEASE_NS;
}

/* Another process was held while a client waits for SLOW. */
static void count_other(void)
{
	json_t *until = json_object_get(world, "slow_until");

	if (slow_waiter && until && ++others_held >= json_integer_value(until))
		slow_gets_off = true;
}

/* Grants less than it is asked for, so that renewing is seen soon. */
static int hold(void *ctx, struct gp_request *rq, const struct gp_target *target, u64 lease_ns,
		bool wait)
{
	json_t *one = process(target->pid);
	bool off = gets_off(target->pid), held = json_object_get(one, "held_until_ns");

	(void)ctx;
	note("hold %d%s", (int)target->pid, wait ? " wait" : "");
	if (target->pid != SLOW)
		count_other();
	if (lease_ns > most_lease_ns())
		lease_ns = most_lease_ns();
	json_object_set_new(one, "held_until_ns", json_integer((json_int_t)(now_ns() + lease_ns)));
	if (off && !held) {
		publish(target->pid, "off");
		publish_records();
	}
	if (off || !wait)
		grant(rq->token, lease_ns);
	else if (target->pid == SLOW)
		slow_waiter = rq->token;
	return 0;
}

static void answer_slow(void)
{
	if (!slow_waiter || !gets_off(SLOW))
		return;
	publish(SLOW, "off");
	grant(slow_waiter, most_lease_ns());
	slow_waiter = 0;
}

static int release(void *ctx, struct gp_request *rq, const struct gp_target *target)
{
	(void)ctx;
	note("release %d", (int)target->pid);
	json_object_del(process(target->pid), "held_until_ns");
	publish(target->pid, "on");
	gp_control_reply(control, rq->token, NULL);
	return 0;
}

static int enable(void *ctx, struct gp_request *rq, bool on)
{
	json_t *status_now = json_object_get(world, "status");
	bool was = json_is_true(json_object_get(status_now, "enabled"));

	(void)ctx;
	note("%s", on ? "enable" : "disable");
	json_object_set_new(status_now, "enabled", json_boolean(on));
	gp_control_publish(control, GP_EVENT_ENABLED,
			   json_pack("{s:I, s:s, s:s}", "at_ns", (json_int_t)now_ns(), "kind",
				     "enabled", "what", on ? "switched on" : "switched off"));
	gp_control_reply(control, rq->token, json_pack("{s:b}", "changed", was != on));
	return 0;
}

static int identify(void *ctx, int fd, struct gp_peer *ret)
{
	int err = gp_peer_identify(fd, (gid_t)-1, ret);

	(void)ctx;
	if (!err && as_uid >= 0) {
		ret->uid = (uid_t)as_uid;
		ret->gid = (gid_t)as_uid;
		ret->privileged = false;
	}
	return err;
}

static const struct gp_control_ops ops = {
	.owner = owner, .raises = raises, .status = status, .get_policy = get_policy,
	.list_head = list_head, .list_next = list_next, .stats_head = stats_head,
	.stats_next = stats_next, .set_policy = set_policy, .set_class = set_class, .enrol = enrol,
	.hint = hint, .hold = hold, .release = release, .enable = enable,
	.record = record,
};

int main(int argc, char **argv)
{
	struct gp_control_args args = { .ops = &ops, .version = "test", .identify = identify };
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
