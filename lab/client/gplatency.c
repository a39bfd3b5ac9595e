// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gplatency: the time from an online write pointer that moves to the first wave, on a GPU that
 * another process keeps full until it is preempted.
 *
 * All times are from the device's clock (lab/ledger.h), which leaves out the model's own thread
 * and includes the device's time. They are the times when the doorbell was rung, when the first
 * UNMAP_QUEUES after that was read off the HIQ ring, when the QUERY_STATUS after that was read
 * (all queues are unmapped and the fence is written), and when the kernel's first wave began.
 * The clock starts just before the packet is put on the queue, which takes the same time in all
 * rows.
 *
 * Software counts the instructions executed for the request until the last doorbell of the HIQ
 * before that wave, without the model, idling and the requester. It does not include waiting
 * for a look. In the rows "by hand" the requester itself preempts and is included.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "hand.h"
#include "lab/ledger.h"
#include "work.h"

enum { WAVES = 4, MOST = 10000 };

#define KERNEL_NS	20000ull
#define PHASE_NS	1000000ull
#define PATIENCE_NS	2000000000ull

enum column { UNMAP, FENCE, WAVE, SOFTWARE, NR_COLUMNS };

static struct latency {
	struct gp_lab_client c;
	struct gp_lab_queue q;
	struct gp_work work;
	int ledger_fd;
	u64 random;
	u64 empty;		/* device time of reading the ledger */
	u64 own_from;		/* instructions of this program so far */
	u64 cost_from;		/* of the driver and the daemon, without the model */
	bool hand;		/* this program itself preempts */
} l;

static u64 sample[NR_COLUMNS][MOST];

static int die(const char *what)
{
	fprintf(stderr, "gplatency: %s: %s\n", what, gp_client_error());
	return 1;
}

static u64 own_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static u64 device_now(void)
{
	struct lab_ledger ledger = { 0 };

	l.own_from = own_ns();
	if (pread(l.ledger_fd, &ledger, sizeof(ledger), 0) != sizeof(ledger))
		exit(die("reading the ledger"));
	l.cost_from = ledger.guest_ns - ledger.thread_ns - ledger.idle_ns;
	return ledger.device_ns;
}

static void nap(u64 ns)
{
	struct timespec t = {
		.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000),
	};

	nanosleep(&t, NULL);
}

/* Sleeps so that the phase against timers differs each time. */
static void sweep(u64 rest_ns)
{
	l.random = l.random * 6364136223846793005ull + 1442695040888963407ull;
	nap(rest_ns + (l.random >> 33) % PHASE_NS);
}

/* Finds the first packets of both kinds after @from_ns. 0: none. */
static void read_packets(u64 from_ns, u64 *unmap, u64 *query)
{
	FILE *f = fopen("/sys/kernel/debug/vgpu/0/packets", "re");
	unsigned long long at;
	char line[256], name[32];

	*unmap = *query = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llu %31s", &at, name) != 2 || at < from_ns)
			continue;
		if (!*unmap && !strcmp(name, "UNMAP_QUEUES"))
			*unmap = at;
		else if (*unmap && !*query && !strcmp(name, "QUERY_STATUS"))
			*query = at;
	}
	if (f)
		fclose(f);
}

/*
 * Returns the instructions executed up to the last doorbell of the HIQ before @until_ns. 0: no
 * doorbell.
 */
static u64 read_cost(u64 from_ns, u64 until_ns)
{
	FILE *f = fopen("/sys/kernel/debug/vgpu/0/rings", "re");
	unsigned long long at, cost;
	u64 last = 0;

	while (f && fscanf(f, "%llu %llu", &at, &cost) == 2)
		if (at >= from_ns && at <= until_ns)
			last = cost;
	if (f)
		fclose(f);
	return last;
}

static int by_hand(bool out)
{
	int err = l.hand ? gp_hand_move(out) : 0;

	return err ? gp_client_fail(-err, "by hand") : 0;
}

/* Makes one request. 1: measured; 0: no process was preempted for it; -errno. */
static int request(u32 i)
{
	u64 from, unmap, query, start, own, cost, waited = 0;
	int r;

	from = device_now() + l.empty / 2;
	r = gp_work_submit(&l.work, 0, &l.q, 1, WAVES, NULL);
	if (!r)
		r = by_hand(true);
	for (; !r && !gp_work_done(&l.work, 0) && waited < PATIENCE_NS; waited += 1000000)
		nap(1000000);
	own = l.hand ? 0 : own_ns() - l.own_from;
	if (!r && !gp_work_done(&l.work, 0))
		r = gp_client_say(ETIME, "request %u was not served within 2 s", i);
	if (!r)
		r = gp_work_check(&l.work, 0);
	if (r)
		return r;
	start = gp_work_start_ns(&l.work, 0);
	read_packets(from, &unmap, &query);
	cost = read_cost(from, start);
	r = by_hand(false);
	if (r || !unmap || !query || start < unmap || !cost)
		return r;
	sample[UNMAP][i] = unmap - from;
	sample[FENCE][i] = query - from;
	sample[WAVE][i] = start - from;
	sample[SOFTWARE][i] = cost - l.cost_from > own ? cost - l.cost_from - own : 0;
	return 1;
}

static int by_value(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(const char *name, u32 n, u32 missed)
{
	static const char *const columns[] = { "unmap", "fence", "wave", "software" };
	u32 i;

	printf("{\"schema\": 1, \"model\": true, \"latency\": \"%s\", \"repetitions\": %u, "
	       "\"missed\": %u", name, n, missed);
	for (i = 0; i < NR_COLUMNS; i++) {
		qsort(sample[i], n, sizeof(u64), by_value);
		printf(", \"%s_ns\": {\"min\": %" PRIu64 ", \"median\": %" PRIu64
		       ", \"p90\": %" PRIu64 "}", columns[i], (uint64_t)sample[i][0],
		       (uint64_t)sample[i][n / 2], (uint64_t)sample[i][n * 9 / 10]);
	}
	puts("}");
}

static int measure(const char *name, u32 wanted, u64 rest_ns)
{
	u32 n = 0, missed = 0;
	int r;

	while (n < wanted && missed < wanted) {
		sweep(rest_ns);
		r = request(n);
		if (r < 0)
			return die(name);
		n += r == 1;
		missed += r == 0;
	}
	if (!n) {
		fprintf(stderr, "gplatency: no process was ever taken off the GPU\n");
		return 1;
	}
	print(name, n, missed);
	return 0;
}

static int open_all(pid_t victim)
{
	struct gp_work_args work = { .slots = 1, .workgroup_ns = KERNEL_NS, .seed = 1 };
	struct gp_queue_args queue = { .type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL };
	u64 from;

	if (gp_client_open(&l.c, &(struct gp_client_args){ 0 }) ||
	    gp_work_init(&l.work, &l.c, &work) || gp_queue_create(&l.c, &l.q, &queue))
		return die("no GPU");
	l.ledger_fd = open("/sys/kernel/debug/vgpu/0/ledger", O_RDONLY);
	if (l.ledger_fd < 0) {
		fprintf(stderr, "gplatency: no ledger: run it in the lab (lab/run) as root\n");
		return 2;
	}
	device_now();
	from = device_now();
	l.empty = device_now() - from;
	l.hand = victim;
	if (victim && gp_hand_open(victim)) {
		fprintf(stderr, "gplatency: process %d cannot be attached\n", victim);
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int code;

	if (argc < 4 || argc > 5) {
		fputs("usage: gplatency NAME REPETITIONS REST_MS [VICTIM]\n"
		      "\n"
		      "Prints how long an arrival waits for the GPU, as one JSON object. For the\n"
		      "lab (lab/run), beside a load and the program that preempts it.\n"
		      "VICTIM: a process that it takes off itself, by /dev/gpreempt.\n", stderr);
		return 2;
	}
	l.random = 1;
	/*
	 * With timer slack a sleep would end together with another timer, always at the same
	 * phase.
	 */
	prctl(PR_SET_TIMERSLACK, 1);
	code = open_all(argc == 5 ? atoi(argv[4]) : 0);
	if (code)
		return code;
	/* Wait until the daemon or the module has found the queue. */
	nap(1000000000);
	return measure(argv[1], (u32)atoi(argv[2]) % MOST, (u64)atoi(argv[3]) * 1000000);
}
