// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpkmod: one descriptor of /dev/gpreempt from a command line, for tests. Its arguments are carried
 * out one after the other, so that a script can say which process holds which for how long. See
 * usage().
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/account.h"
#include "lib/kmod.h"

enum { TASKS = 64, EVENTS = 4096 };

#define PATIENCE_NS	20000000000ull

static int device;
static u32 task[TASKS], nr;

static void usage(int code)
{
	fprintf(code ? stderr : stdout,
		"usage: gpkmod COMMAND...\n"
		"\n"
		"  policy=NAME  mechanism=NAME  param=NAME=VALUE\n"
		"  online=PID  offline=PID     attach it as a task; tasks count from 0\n"
		"  gang=PID,PID...             preemptible ones, as one task\n"
		"  preempt=N  preempt=all  preempt=NxMS  resume=N  resume=all  detach=N\n"
		"  state=N                     print it, of each of its GPUs\n"
		"  gpu=FIELD  stats=FIELD      print a counter\n"
		"  subscribe=  parts=TEXT      print how many preemptions, and of each part the\n"
		"                              least and the median in ns\n"
		"  sleep=SECONDS  run=COMMAND  mark=TEXT\n"
		"\n"
		"Exit: 0, or 1 at the first command that is refused, with its errno.\n");
	exit(code);
}

static int attach(const char *arg, u32 priority, u32 flags)
{
	struct gp_process_id p = { .pid = (pid_t)atoi(arg) };
	struct gp_class class = { .priority = priority, .weight = 1, .flags = flags };

	if (nr == TASKS)
		return -ENOSPC;
	return gp_kmod_attach(device, &p, 1, &class, &task[nr++]);
}

static int online(const char *arg)
{
	return attach(arg, 10, GP_LATENCY_CRITICAL);
}

static int offline(const char *arg)
{
	return attach(arg, 1, GP_PREEMPTIBLE);
}

static int gang(const char *arg)
{
	struct gp_process_id p[GP_UAPI_MEMBERS] = { 0 };
	struct gp_class class = { .priority = 1, .weight = 1, .flags = GP_PREEMPTIBLE };
	u32 members = 0;

	for (; arg && members < GP_UAPI_MEMBERS; arg = strchr(arg, ',')) {
		arg += *arg == ',';
		p[members++].pid = (pid_t)atoi(arg);
	}
	if (nr == TASKS)
		return -ENOSPC;
	return gp_kmod_attach(device, p, members, &class, &task[nr++]);
}

static u32 which(const char *arg)
{
	return task[strtoul(arg, NULL, 10) % TASKS];
}

static struct gp_kmod_move tasks_of(const char *arg, u32 *one)
{
	struct gp_kmod_move m = { .tasks = task, .nr = nr, .timeout_ns = PATIENCE_NS };
	const char *lease = strchr(arg, 'x');

	if (lease)
		m.lease_ns = strtoull(lease + 1, NULL, 10) * 1000000;
	if (strcmp(arg, "all")) {
		*one = which(arg);
		m.tasks = one;
		m.nr = 1;
	}
	return m;
}

static int preempt(const char *arg)
{
	u32 one, done;
	struct gp_kmod_move m = tasks_of(arg, &one);

	return gp_kmod_preempt(device, &m, &done);
}

static int resume(const char *arg)
{
	u32 one, done;
	struct gp_kmod_move m = tasks_of(arg, &one);

	return gp_kmod_resume(device, &m, &done);
}

static int detach(const char *arg)
{
	return gp_kmod_detach(device, which(arg));
}

static int set_policy(const char *arg)
{
	return gp_kmod_set_policy(device, arg);
}

static int set_mechanism(const char *arg)
{
	return gp_kmod_set_mechanism(device, arg, 0);
}

static int set_param(const char *arg)
{
	char name[32];
	const char *value = strchr(arg, '=');

	if (!value || (size_t)(value - arg) >= sizeof(name))
		return -EINVAL;
	memcpy(name, arg, (size_t)(value - arg));
	name[value - arg] = 0;
	return gp_kmod_set_param(device, name, strtoull(value + 1, NULL, 10));
}

static int state(const char *arg)
{
	static const char *const names[] = {
		"on", "stopping", "off", "starting", "lost", "absent",
	};
	struct gp_uapi_seat seat = { .task = which(arg) };
	int err;

	do {
		u32 gpu_id = seat.next_gpu_id;

		seat = (struct gp_uapi_seat){ .task = which(arg), .gpu_id = gpu_id };
		err = gp_kmod_call(device, GP_IOC_SEAT, &seat);
		if (!err)
			printf("%s%s", gpu_id ? " " : "", names[seat.state]);
	} while (!err && seat.next_gpu_id);
	printf("%s\n", err == -ENOENT ? "gone" : "");
	return err == -ENOENT ? 0 : err;
}

struct field {
	const char *name;
	size_t at;
};

#define FIELD(type, f)	{ #f, offsetof(struct type, f) }

static const struct field gpu_fields[] = {
	FIELD(gp_uapi_gpu, looks), FIELD(gp_uapi_gpu, wakeups), FIELD(gp_uapi_gpu, decisions),
	FIELD(gp_uapi_gpu, actions), FIELD(gp_uapi_gpu, resets), FIELD(gp_uapi_gpu, look_ns),
	FIELD(gp_uapi_gpu, look_every_ns), { NULL, 0 },
};

static const struct field stats_fields[] = {
	FIELD(gp_uapi_stats, looks), FIELD(gp_uapi_stats, wakeups), FIELD(gp_uapi_stats, stopped),
	FIELD(gp_uapi_stats, started), FIELD(gp_uapi_stats, lost), FIELD(gp_uapi_stats, refused),
	FIELD(gp_uapi_stats, deaths), FIELD(gp_uapi_stats, resets), FIELD(gp_uapi_stats, removals),
	FIELD(gp_uapi_stats, direct_stops), FIELD(gp_uapi_stats, direct_refused),
	FIELD(gp_uapi_stats, evict_cycles),
	FIELD(gp_uapi_stats, rescans), FIELD(gp_uapi_stats, nr_off),
	FIELD(gp_uapi_stats, looks_put_off),
	{ NULL, 0 },
};

static int print(const struct field *fields, const void *from, const char *name)
{
	for (; fields->name; fields++) {
		u64 value;

		if (strcmp(fields->name, name))
			continue;
		memcpy(&value, (const char *)from + fields->at, sizeof(value));
		printf("%" PRIu64 "\n", (uint64_t)value);
		return 0;
	}
	return -EINVAL;
}

static int gpu(const char *arg)
{
	struct gp_uapi_gpu g = { .index = 0 };
	int err = gp_kmod_call(device, GP_IOC_GPU, &g);

	return err ? err : print(gpu_fields, &g, arg);
}

static int stats(const char *arg)
{
	const struct gp_uapi_stats *s = gp_kmod_stats(device);

	return s ? print(stats_fields, s, arg) : -errno;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The events of preemptions since the last time, each part of them: how many, least, median. */
static int parts(const char *arg)
{
	static u64 seen[GP_PART_TOTAL][EVENTS];
	struct gp_uapi_event e;
	u32 i, n = 0;

	while (!gp_kmod_next(device, &e)) {
		if (e.kind != GP_UAPI_EVENT_PREEMPTION || n == EVENTS)
			continue;
		for (i = 0; i < GP_PART_TOTAL; i++)
			seen[i][n] = e.arg[i];
		n++;
	}
	for (i = 0; i < GP_PART_TOTAL; i++) {
		qsort(seen[i], n, sizeof(u64), compare);
		printf("%s_%s %u %" PRIu64 " %" PRIu64 "\n", arg, gp_part_names[i], n,
		       (uint64_t)(n ? seen[i][0] : 0), (uint64_t)(n ? seen[i][n / 2] : 0));
	}
	return 0;
}

static int subscribe(const char *arg)
{
	(void)arg;
	return fcntl(device, F_SETFL, O_NONBLOCK) ? -errno :
	       gp_kmod_subscribe(device, GP_UAPI_EVENTS, -1);
}

static int nap(const char *arg)
{
	double seconds = strtod(arg, NULL);
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
	return 0;
}

static int run(const char *arg)
{
	return system(arg) ? -ECHILD : 0;	/* NOLINT(cert-env33-c): the test's own words */
}

static int mark(const char *arg)
{
	printf("%s ", arg);
	return 0;
}

static const struct command {
	const char *name;
	int (*call)(const char *arg);
} commands[] = {
	{ "policy", set_policy }, { "mechanism", set_mechanism }, { "param", set_param },
	{ "online", online }, { "offline", offline }, { "gang", gang }, { "preempt", preempt },
	{ "resume", resume }, { "detach", detach }, { "state", state }, { "gpu", gpu },
	{ "stats", stats }, { "parts", parts }, { "subscribe", subscribe }, { "sleep", nap },
	{ "run", run }, { "mark", mark },
};

static int carry_out(const char *text)
{
	const char *arg = strchr(text, '=');
	size_t i, n = arg ? (size_t)(arg - text) : 0;

	for (i = 0; arg && i < sizeof(commands) / sizeof(*commands); i++)
		if (strlen(commands[i].name) == n && !strncmp(commands[i].name, text, n))
			return commands[i].call(arg + 1);
	usage(2);
	return 0;
}

int main(int argc, char *argv[])
{
	int err;

	if (argc < 2 || !strcmp(argv[1], "--help"))
		usage(argc < 2 ? 2 : 0);
	setvbuf(stdout, NULL, _IONBF, 0);
	device = gp_kmod_open(NULL, NULL);
	if (device < 0) {
		fprintf(stderr, "gpkmod: %s: %s\n", GP_KMOD_DEVICE, strerror(-device));
		return 1;
	}
	for (int i = 1; i < argc; i++) {
		err = carry_out(argv[i]);
		if (!err)
			continue;
		fprintf(stderr, "gpkmod: %s: %s\n", argv[i], strerror(-err));
		return 1;
	}
	return 0;
}
