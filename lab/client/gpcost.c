// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpcost: how many instructions the processors execute to take work off the GPU and put it
 * back, by each mechanism of the driver, while a kernel runs on every queue.
 *
 * A cost is the guest time of everything except the model's thread and idling between two
 * readings of the ledger (lab/ledger.h). In the deterministic lab, where an instruction is a
 * nanosecond, it counts instructions. The device's time is a number of the model and printed
 * separately.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hand.h"
#include "lab/ledger.h"
#include "work.h"

enum {
	MAX_QUEUES	= 80,
	KERNEL_WAVES	= 16,
	SLEEP_NS	= 1000000,	/* sleeps of up to this length sweep the phase */
	GRACE		= 1,
};

#define FOREVER_NS	(3600ull * 1000000000)	/* a kernel that runs longer than the benchmark */

struct bench {
	struct gp_lab_client c;
	struct gp_lab_queue q[MAX_QUEUES];
	u32 nr;
	struct gp_work work;
	u32 ids[MAX_QUEUES];
	int ledger_fd;
	int pipe[2];		/* pipe that a debugger needs */
	bool module;		/* gpreempt.ko is loaded and has attached us */
	u64 random;
	u64 empty;		/* cost of reading the ledger twice */
};

/* One way to stop and start. */
struct way {
	const char *stop, *start;
	u32 queues;
	int (*do_stop)(struct bench *b);
	int (*do_start)(struct bench *b);
	bool debug;		/* under a debugger */
	const char *mechanism;	/* of gpreempt.ko; NULL: a mechanism of the stock driver */
};

struct sample {
	u64 cost, modelled, bytes;
	u32 unmaps, runlists, writes, mapped;
};

static int die(const char *what)
{
	fprintf(stderr, "gpcost: %s: %s\n", what, gp_client_error());
	return 1;
}

/* --- the ways --- */

static int suspend(struct bench *b)
{
	u32 ids[MAX_QUEUES];
	int n;

	memcpy(ids, b->ids, sizeof(ids));
	n = gp_debug_suspend(&b->c, getpid(), ids, b->nr, GRACE);
	return n == (int)b->nr ? 0 : gp_client_say(EIO, "%d of %u queues were suspended", n, b->nr);
}

static int resume(struct bench *b)
{
	u32 ids[MAX_QUEUES];
	int n;

	memcpy(ids, b->ids, sizeof(ids));
	n = gp_debug_resume(&b->c, getpid(), ids, b->nr);
	return n == (int)b->nr ? 0 : gp_client_say(EIO, "%d of %u queues were resumed", n, b->nr);
}

static int evict(struct bench *b)
{
	return gp_criu(&b->c, KFD_CRIU_OP_PROCESS_INFO);
}

static int restore(struct bench *b)
{
	return gp_criu(&b->c, KFD_CRIU_OP_UNPAUSE);
}

static int update_off(struct bench *b)
{
	return gp_queue_update(&b->q[0], 0, 7);
}

static int update_on(struct bench *b)
{
	return gp_queue_update(&b->q[0], 100, 7);
}

static int module_out(struct bench *b)
{
	(void)b;
	return gp_hand_move(true) ? gp_client_say(EIO, "the module did not take us off") : 0;
}

static int module_in(struct bench *b)
{
	(void)b;
	return gp_hand_move(false) ? gp_client_say(EIO, "the module did not put us back") : 0;
}

#define BY_MODULE(mechanism, start, queues) \
	{ "module " mechanism, "module " start, queues, module_out, module_in, false, mechanism }

static const struct way ways[] = {
	{ "suspend", "resume", 1, suspend, resume, true, NULL },
	{ "suspend", "resume", 8, suspend, resume, true, NULL },
	{ "suspend", "resume", 80, suspend, resume, true, NULL },
	{ "evict", "restore", 1, evict, restore, false, NULL },
	{ "evict", "restore", 8, evict, restore, false, NULL },
	{ "evict", "restore", 80, evict, restore, false, NULL },
	{ "update off", "update on", 1, update_off, update_on, false, NULL },
	{ "update off", "update on", 8, update_off, update_on, false, NULL },
	BY_MODULE("evict", "restore", 1), BY_MODULE("evict", "restore", 8),
	BY_MODULE("direct", "map", 1), BY_MODULE("direct", "map", 8),
	BY_MODULE("halt", "unhalt", 1), BY_MODULE("halt", "unhalt", 8),
};

/* --- measuring --- */

static int read_ledger(struct bench *b, struct lab_ledger *l)
{
	if (pread(b->ledger_fd, l, sizeof(*l), 0) != sizeof(*l))
		return gp_client_fail(errno, "reading the ledger");
	return 0;
}

static u64 cost_between(const struct lab_ledger *from, const struct lab_ledger *to)
{
	return (to->guest_ns - from->guest_ns) - (to->thread_ns - from->thread_ns) -
	       (to->idle_ns - from->idle_ns);
}

/* Sleeps so that the phase against the tick and the model's thread differs each time. */
static void sweep(struct bench *b)
{
	struct timespec t = { 0 };

	b->random = b->random * 6364136223846793005ull + 1442695040888963407ull;
	t.tv_nsec = (long)((b->random >> 33) % SLEEP_NS);
	nanosleep(&t, NULL);
}

static int measure(struct bench *b, int (*operation)(struct bench *b), struct sample *ret)
{
	struct lab_ledger from, to;
	int r;

	sweep(b);
	r = read_ledger(b, &from);
	if (!r && operation)
		r = operation(b);
	if (!r)
		r = read_ledger(b, &to);
	if (r)
		return r;
	ret->cost = cost_between(&from, &to);
	ret->cost -= b->empty < ret->cost ? b->empty : ret->cost;
	ret->modelled = to.modelled_ns - from.modelled_ns;
	ret->bytes = to.bytes_saved - from.bytes_saved;
	ret->unmaps = (u32)(to.unmap_packets - from.unmap_packets);
	ret->runlists = (u32)(to.runlist_packets - from.runlist_packets);
	ret->writes = (u32)(to.write_packets - from.write_packets);
	ret->mapped = (u32)(to.queues_mapped - from.queues_mapped);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct spread {
	u64 min, median, p90;
};

static struct spread spread_of(const struct sample *s, u32 n, size_t field)
{
	u64 *v = calloc(n, sizeof(*v));
	struct spread r = { 0 };
	u32 i;

	for (i = 0; v && i < n; i++)
		memcpy(&v[i], (const char *)&s[i] + field, sizeof(*v));
	if (v) {
		qsort(v, n, sizeof(*v), by_value);
		r = (struct spread){ v[0], v[n / 2], v[n * 9 / 10] };
	}
	free(v);
	return r;
}

static void print_row(const char *name, u32 queues, const struct sample *s, u32 n, bool json)
{
	struct spread cost = spread_of(s, n, offsetof(struct sample, cost));
	struct spread modelled = spread_of(s, n, offsetof(struct sample, modelled));
	struct spread bytes = spread_of(s, n, offsetof(struct sample, bytes));
	const struct sample *last = &s[n - 1];

	if (json) {
		printf("{\"schema\": 1, \"model\": true, \"operation\": \"%s\", \"queues\": %u, "
		       "\"repetitions\": %u, \"cost\": {\"unit\": \"instructions\", "
		       "\"min\": %" PRIu64 ", \"median\": %" PRIu64 ", \"p90\": %" PRIu64 "}, "
		       "\"modelled_ns\": %" PRIu64 ", \"unmaps\": %u, \"runlists\": %u, "
		       "\"write_data\": %u, \"queues_mapped\": %u, "
		       "\"bytes_saved\": %" PRIu64 "}\n",
		       name, queues, n, (uint64_t)cost.min, (uint64_t)cost.median,
		       (uint64_t)cost.p90, (uint64_t)modelled.median, last->unmaps, last->runlists,
		       last->writes, last->mapped, (uint64_t)bytes.median);
		return;
	}
	printf("%-14s %6u %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %11.1f %6u %8u %6u %6u %9.1f\n",
	       name, queues, (uint64_t)cost.min, (uint64_t)cost.median, (uint64_t)cost.p90,
	       (double)modelled.median / 1000, last->unmaps, last->runlists, last->writes,
	       last->mapped, (double)bytes.median / 1e6);
}

/* --- a process with running kernels --- */

static int start_kernels(struct bench *b, const struct way *way)
{
	struct gp_queue_args args = { .type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL };
	u32 waves = gp_node_waves(&b->c.node), groups;
	u32 i, count;
	int r = 0;

	groups = waves / KERNEL_WAVES / way->queues;
	for (i = 0; !r && i < way->queues; i++) {
		r = gp_queue_create(&b->c, &b->q[i], &args);
		if (r)
			break;
		b->ids[b->nr++] = b->q[i].id;
		r = gp_work_submit(&b->work, i, &b->q[i], groups ? groups : 1, KERNEL_WAVES, NULL);
	}
	if (!r && way->mechanism && gp_hand_mechanism(way->mechanism))
		r = gp_client_say(EIO, "the module refuses %s", way->mechanism);
	if (!r && way->debug) {
		struct kfd_queue_snapshot_entry entries[MAX_QUEUES];
		struct kfd_runtime_info info;

		r = gp_debug_enable(&b->c, getpid(), 0, b->pipe[1], &info);
		/* A queue that the debugger has not seen yet cannot be suspended. */
		if (!r)
			r = gp_debug_snapshot(&b->c, getpid(), KFD_EC_MASK(EC_QUEUE_NEW),
					      entries, MAX_QUEUES, &count);
	}
	return r;
}

static int stop_kernels(struct bench *b, const struct way *way)
{
	int r = way->debug ? gp_debug_disable(&b->c, getpid()) : 0;

	while (!r && b->nr)
		r = gp_queue_destroy(&b->q[--b->nr]);
	return r;
}

static int run_way(struct bench *b, const struct way *way, u32 n, bool json)
{
	struct sample *stops = calloc(n, sizeof(*stops)), *starts = calloc(n, sizeof(*starts));
	u32 i;
	int r;

	if (!stops || !starts) {
		r = gp_client_fail(ENOMEM, "%u samples", n);
		goto free_samples;
	}
	r = start_kernels(b, way);
	for (i = 0; !r && i < n; i++) {
		r = measure(b, way->do_stop, &stops[i]);
		if (!r)
			r = measure(b, way->do_start, &starts[i]);
	}
	if (!r)
		r = stop_kernels(b, way);
	if (!r) {
		print_row(way->stop, way->queues, stops, n, json);
		print_row(way->start, way->queues, starts, n, json);
	}
free_samples:
	free(stops);
	free(starts);
	return r;
}

static int calibrate(struct bench *b, u32 n)
{
	struct sample *s = calloc(n, sizeof(*s));
	u32 i;
	int r = 0;

	if (!s)
		return gp_client_fail(ENOMEM, "%u samples", n);
	for (i = 0; !r && i < n; i++)
		r = measure(b, NULL, &s[i]);
	if (!r)
		b->empty = spread_of(s, n, offsetof(struct sample, cost)).median;
	free(s);
	return r;
}

static void usage(FILE *to)
{
	fputs("usage: gpcost [--repetitions N] [--json]\n"
	      "\n"
	      "What stopping and starting running work costs the processors, in instructions:\n"
	      "run it as lab/run --param poll_us=20000 -- gpcost. By the module,\n"
	      "too, if gpreempt.ko is loaded.\n"
	      "\n"
	      "  --repetitions N  of each operation, 1..100000  (200)\n"
	      "  --json           one object per line\n"
	      "\n"
	      "Exit: 0 measured, 1 a call failed, 2 wrong usage or no GPU.\n", to);
}

static int options(int argc, char **argv, u32 *n, bool *json)
{
	static const struct option longs[] = {
		{ "repetitions", required_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		char *end = NULL;

		switch (c) {
		case 'r':
			*n = (u32)strtoul(optarg, &end, 10);
			if (*end || !*n || *n > 100000)
				return 2;
			break;
		case 'j':
			*json = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			return 2;
		}
	}
	return optind < argc ? 2 : 0;
}

int main(int argc, char **argv)
{
	static struct bench b;
	struct gp_work_args work = { .slots = MAX_QUEUES, .workgroup_ns = FOREVER_NS, .seed = 1 };
	bool json = false;
	u32 n = 200;
	size_t i;

	if (options(argc, argv, &n, &json)) {
		usage(stderr);
		return 2;
	}
	b.random = 1;
	if (gp_client_open(&b.c, &(struct gp_client_args){ 0 })) {
		die("no GPU");
		return 2;
	}
	b.ledger_fd = open("/sys/kernel/debug/vgpu/0/ledger", O_RDONLY);
	if (b.ledger_fd < 0) {
		fprintf(stderr, "gpcost: no ledger: run it in the lab (lab/run) as root\n");
		return 2;
	}
	if (pipe(b.pipe))
		return die("pipe");
	if (gp_work_init(&b.work, &b.c, &work) || calibrate(&b, n))
		return die("preparing");
	b.module = !gp_hand_open(getpid());
	if (!json)
		printf("%-14s %6s %10s %10s %10s %11s %6s %8s %6s %6s %9s\n", "operation", "queues",
		       "min", "median", "p90", "device us", "unmaps", "runlists", "grace", "mapped",
		       "saved MB");
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (ways[i].mechanism && !b.module)
			continue;
		if (run_way(&b, &ways[i], n, json))
			return die(ways[i].stop);
	}
	if (!json)
		puts("cost in instructions of everything but the model's thread; device time is "
		     "the model's, not hardware's");
	return 0;
}
