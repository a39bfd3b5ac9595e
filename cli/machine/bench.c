// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreempt bench: measures how long it takes to get a process off its GPU and back on it, on this
 * machine, by each mechanism and grace period.
 *
 * It acts only on the process that the user names, or on the program that it is asked to run.
 * Naming a process is the user's consent. The process is off only between two calls. If this
 * command dies, the driver or the module resumes the process.
 */
#include "ways.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "cli/table.h"
#include "core/param.h"
#include "lib/gpu.h"
#include "own_load.h"
#include "sim/json.h"

enum { ROUNDS = 50, GRACES = 16 };

/*
 * The pause between two rounds. It avoids the period of the process's kernels and leaves the
 * process time to run.
 */
#define PAUSE_NS	(2 * GP_MSEC)
#define PHASES		997

enum part { UNMAP, MAP, TOTAL, NR_PARTS };

static const char *const part_names[NR_PARTS] = {
	[UNMAP] = "unmap", [MAP] = "map", [TOTAL] = "total",
};

/* One GPU, mechanism and grace period. */
struct row {
	const struct gp_bench_way *way;
	u32 gpu, grace, queues, rounds;
	u64 *ns[NR_PARTS];	/* [rounds], sorted when complete */
};

struct bench {
	const struct gp_options *o;
	struct gp_local_gpu *gpu;
	size_t nr_gpus;
	u64 mask;		/* GPUs with queues of the process, limited by -g */
	u32 grace[GRACES], nr_graces, rounds;
	pid_t pid;
	struct row *row;
	u32 nr;
	json_t *left_out;	/* [{mechanism, why}] */
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* ---- what is asked for ---- */

static int read_graces(struct bench *b)
{
	static const u32 sweep[] = { 1, 4, 16, 64, 255 };
	const char *at = b->o->grace;

	if (!at) {
		memcpy(b->grace, sweep, sizeof(sweep));
		b->nr_graces = sizeof(sweep) / sizeof(*sweep);
		return GP_EXIT_OK;
	}
	for (;;) {
		char *end;
		unsigned long value = strtoul(at, &end, 10);

		if (end == at || (*end && *end != ',') || !value || value > GP_KFD_GRACE_MAX ||
		    b->nr_graces == GRACES) {
			gp_error("--grace: '%s' is not a list of up to %d numbers from 1 to %d",
				 b->o->grace, GRACES, GP_KFD_GRACE_MAX);
			return GP_EXIT_BAD;
		}
		b->grace[b->nr_graces++] = (u32)value;
		if (!*end)
			return GP_EXIT_OK;
		at = end + 1;
	}
}

static const struct gp_bench_way *next_way(const struct bench *b, u32 *at)
{
	while (gp_bench_ways[*at]) {
		const struct gp_bench_way *way = gp_bench_ways[(*at)++];

		if (!b->o->mechanism || !strcmp(b->o->mechanism, way->name))
			return way;
	}
	return NULL;
}

static int check_mechanism(const struct bench *b)
{
	u32 at = 0;

	if (next_way(b, &at))
		return GP_EXIT_OK;
	gp_error("--mechanism: '%s' is not kfd-debug, evict, direct or halt", b->o->mechanism);
	return GP_EXIT_BAD;
}

/* Finds the GPUs on which the process has queues and which -g selects. */
static int find_gpus(struct bench *b, struct gp_local *local)
{
	struct gp_gpu_info info[GP_GPUS_MAX];
	struct gp_local_queue *queue;
	const char *bad = b->o->gpu;
	size_t nr;
	u64 chosen = ~0ull;
	u32 n = 0;
	int err = gp_local_gpus(local, &b->gpu, &b->nr_gpus);

	if (!err)
		err = gp_local_queues(local, b->pid, &queue, &nr);
	if (err)
		return gp_ask_failed(err, "bench");
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < b->nr_gpus; k++) {
			if (b->gpu[k].gpu_id == queue[i].gpu_id)
				b->mask |= BIT_ULL(b->gpu[k].index);
		}
	}
	free(queue);
	if (b->o->gpu && !gp_gpus_read(NULL, info, GP_GPUS_MAX, &n)) {
		err = gp_gpus_select(info, n, b->o->gpu, &chosen, &bad);
		if (err) {
			gp_error("--gpu: no GPU '%.*s'; 'gpreempt list' has them",
				 (int)strcspn(bad, ","), bad);
			return err == -ENOENT ? GP_EXIT_UNKNOWN : GP_EXIT_BAD;
		}
	}
	b->mask &= chosen;
	if (b->mask)
		return GP_EXIT_OK;
	gp_error("bench: process %d has no queues %s; it must run something on the GPU",
		 (int)b->pid, b->o->gpu ? "on these GPUs" : "on a GPU");
	return GP_EXIT_UNKNOWN;
}

/* ---- measuring ---- */

static void rest(u32 round)
{
	u64 ns = PAUSE_NS + (u64)round * 377 % PHASES * GP_USEC;
	struct timespec t = { 0, (long)ns };

	nanosleep(&t, NULL);
}

static int one_round(const struct gp_bench_way *way, struct gp_bench_target *t, struct row *r)
{
	struct gp_bench_done off, on;
	int err = way->unmap(t, r->grace, &off);

	if (!err)
		err = way->map(t, &on);
	if (err)
		return err;
	r->queues = off.queues;
	r->ns[UNMAP][r->rounds] = off.end_ns - off.begin_ns;
	r->ns[MAP][r->rounds] = on.end_ns - on.begin_ns;
	r->ns[TOTAL][r->rounds] = on.end_ns - off.begin_ns;
	r->rounds++;
	return 0;
}

static void free_row(struct row *r)
{
	for (u32 part = 0; part < NR_PARTS; part++)
		free(r->ns[part]);
}

static int in_order(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static int measure(const struct bench *b, struct gp_bench_target *t, struct row *r)
{
	int err = 0;

	for (u32 i = 0; i < NR_PARTS; i++) {
		r->ns[i] = calloc(b->rounds, sizeof(u64));
		if (!r->ns[i])
			return -ENOMEM;
	}
	while (!err && r->rounds < b->rounds && !interrupted) {
		rest(r->rounds);
		err = r->way->between(t);
		if (!err)
			err = one_round(r->way, t, r);
	}
	for (u32 i = 0; i < NR_PARTS; i++)
		qsort(r->ns[i], r->rounds, sizeof(u64), in_order);
	return err;
}

/* A mechanism that is not available is a failure only if the user asked for it by name. */
static int leave_out(struct bench *b, const struct gp_bench_way *way, int err)
{
	if (b->o->mechanism)
		return err;
	fprintf(stderr, "bench: %s is left out: %s\n", way->name, gp_strerror(err));
	json_array_append_new(b->left_out, json_pack("{s:s, s:s}", "mechanism", way->name, "why",
						     gp_strerror(err)));
	return 0;
}

/* Measures all grace periods on one GPU. */
static int sweep(struct bench *b, const struct gp_bench_way *way, u32 gpu)
{
	struct gp_bench_target t = { .pid = b->pid, .gpu_id = b->gpu[gpu].gpu_id, .way = way };
	int err = way->open(&t);

	if (err)
		return err;
	for (u32 i = 0; i < (way->graceful ? b->nr_graces : 1) && !err && !interrupted; i++) {
		struct row *r = &b->row[b->nr++];

		*r = (struct row){ .way = way, .gpu = gpu,
				   .grace = way->graceful ? b->grace[i] : 0 };
		err = measure(b, &t, r);
	}
	way->close(&t);
	if (err == -EOPNOTSUPP && !b->row[b->nr - 1].rounds)
		free_row(&b->row[--b->nr]);
	return err;
}

/* Returns enum gp_exit. */
static int measure_all(struct bench *b)
{
	const struct gp_bench_way *way;
	struct sigaction action = { .sa_handler = interrupt };
	u32 at = 0;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while ((way = next_way(b, &at))) {
		for (u32 i = 0; i < b->nr_gpus; i++) {
			int err = b->mask & BIT_ULL(i) ? sweep(b, way, i) : 0;

			if (err == -EOPNOTSUPP)
				err = leave_out(b, way, err);
			if (err == -EALREADY)
				gp_error("bench: %s; gpreemptd has who it may preempt: %s",
					 gp_strerror(err), way->until);
			else if (err == -EPERM)
				gp_error("bench: %s; run it as root", gp_strerror(err));
			else if (err)
				return gp_ask_failed(err, "bench");
			if (err)
				return err == -EPERM ? GP_EXIT_DENIED : GP_EXIT_FAILED;
		}
	}
	if (!interrupted)
		return GP_EXIT_OK;
	gp_error("bench: interrupted; the process runs as before");
	return GP_EXIT_FAILED;
}

/* ---- telling ---- */

/* Returns the smallest value that @permille of the rounds do not exceed. */
static u64 quantile(const struct row *r, u32 part, u32 permille)
{
	u64 rank = ((u64)r->rounds * permille + 999) / 1000;

	return r->rounds ? r->ns[part][rank ? rank - 1 : 0] : 0;
}

static const struct {
	const char *name;
	u32 permille;
} columns[] = { { "min", 0 }, { "median", 500 }, { "p90", 900 }, { "p99", 990 }, { "max", 1000 } };

enum { NR_COLUMNS = sizeof(columns) / sizeof(*columns) };

static json_t *row_json(const struct bench *b, const struct row *r)
{
	json_t *parts = json_array();

	for (u32 p = 0; p < NR_PARTS; p++) {
		json_t *part = json_pack("{s:s}", "name", part_names[p]);

		for (u32 i = 0; i < NR_COLUMNS; i++) {
			char name[16];

			snprintf(name, sizeof(name), "%s_ns", columns[i].name);
			gp_json_put(part, name,
				    json_integer((json_int_t)quantile(r, p, columns[i].permille)));
		}
		json_array_append_new(parts, part);
	}
	return json_pack("{s:i, s:s, s:s, s:i, s:i, s:i, s:o}", "gpu", (int)r->gpu, "bdf",
			 b->gpu[r->gpu].bdf, "mechanism", r->way->name, "grace", (int)r->grace,
			 "rounds", (int)r->rounds, "queues", (int)r->queues, "parts", parts);
}

static int print_json(const struct bench *b)
{
	json_t *rows = json_array();

	for (u32 i = 0; i < b->nr; i++)
		json_array_append_new(rows, row_json(b, &b->row[i]));
	return gp_ask_print(b->o, json_pack("{s:i, s:o, s:O}", "pid", (int)b->pid, "rows",
					  rows, "left_out", b->left_out));
}

static void print_row(struct gp_table *t, const struct row *r, u32 part)
{
	char text[32];

	gp_table_row(t, part == TOTAL ? GP_BOLD : GP_PLAIN);
	snprintf(text, sizeof(text), "%" PRIu32, r->gpu);
	gp_table_cell(t, text);
	gp_table_cell(t, r->way->name);
	snprintf(text, sizeof(text), "%" PRIu32, r->grace);
	gp_table_cell(t, r->way->graceful ? text : "-");
	gp_table_cell(t, part_names[part]);
	snprintf(text, sizeof(text), "%" PRIu32, r->rounds);
	gp_table_cell(t, text);
	for (u32 i = 0; i < NR_COLUMNS; i++)
		gp_table_cell(t, gp_time(quantile(r, part, columns[i].permille)).s);
}

static void print_table(const struct bench *b)
{
	static const char *const head[] = { "GPU", "mechanism", "grace", "part", "rounds", "min",
					    "median", "p90", "p99", "max", NULL };
	struct gp_table table;

	gp_table_init(&table, head, 1 << 1 | 1 << 3);
	for (u32 i = 0; i < b->nr; i++) {
		for (u32 part = 0; part < NR_PARTS; part++)
			print_row(&table, &b->row[i], part);
	}
	gp_table_print(&table, stdout);
	if (b->nr)
		printf("\nprocess %d, %s; grace in thousands of GPU clocks; "
		       "times are those of the driver's calls\n", (int)b->pid,
		       gp_number_of(b->row[0].queues, "queue").s);
}

static int bench(struct bench *b)
{
	struct gp_local *local;
	int code, err = gp_local_open(NULL, NULL, &local);

	if (err)
		return gp_ask_failed(err, "bench");
	code = find_gpus(b, local);
	gp_local_close(local);
	if (code)
		return code;
	b->row = calloc(b->nr_gpus * GRACES * 8, sizeof(*b->row));
	if (!b->row)
		return GP_EXIT_FAILED;
	code = measure_all(b);
	if (b->nr && b->row[0].rounds) {
		if (b->o->json)
			print_json(b);
		else
			print_table(b);
	}
	return code;
}

static int bench_pid(struct bench *b)
{
	if (b->o->nr_operands > 1) {
		gp_error("bench: one process, or a command behind '--': gpreempt bench -- CMD...");
		return GP_EXIT_BAD;
	}
	return gp_ask_pid(b->o->file, &b->pid) ? GP_EXIT_BAD : bench(b);
}

/* Starts a process to measure. */
static int bench_load(struct bench *b)
{
	int code = gp_own_load_start(b->o->operands, &b->pid);

	if (code)
		return code;
	code = gp_own_load_await(b->pid);
	if (!code)
		code = bench(b);
	gp_own_load_end(b->pid);
	return code;
}

int gp_cmd_bench(const struct gp_options *o)
{
	struct bench b = { .o = o, .rounds = o->rounds ? o->rounds : ROUNDS };
	int code = read_graces(&b);

	b.left_out = json_array();
	if (!code)
		code = check_mechanism(&b);
	if (!code)
		code = o->dashes ? bench_load(&b) : bench_pid(&b);
	for (u32 i = 0; i < b.nr; i++)
		free_row(&b.row[i]);
	free(b.row);
	json_decref(b.left_out);
	free(b.gpu);
	return code;
}
