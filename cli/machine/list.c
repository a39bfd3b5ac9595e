// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt list: GPUs, and the processes on them. */
#include <inttypes.h>
#include <pwd.h>
#include <string.h>

#include "ask.h"
#include "cli/table.h"
#include "lib/gpu.h"
#include "sim/json.h"

static struct gp_text number(u64 value)
{
	struct gp_text t;

	snprintf(t.s, sizeof(t.s), "%" PRIu64, value);
	return t;
}

static struct gp_text gigabytes(u64 bytes)
{
	struct gp_text t;

	snprintf(t.s, sizeof(t.s), "%.1f GB", (double)bytes / 1e9);
	return t;
}

static void print_gpus(const json_t *gpus)
{
	static const char *const head[] = {
		"GPU", "address", "part", "name", "XCCs", "CUs", "VRAM", "mechanism", NULL
	};
	struct gp_table table;
	json_t *gpu;
	size_t i;

	gp_table_init(&table, head, 1 << 1 | 1 << 3 | 1 << 7);
	json_array_foreach(gpus, i, gpu) {
		json_t *part = json_object_get(gpu, "partition");
		bool watched = gp_ask_true(gpu, "watched");
		char text[64];

		gp_table_row(&table, watched ? GP_PLAIN : GP_DIM);
		gp_table_cell(&table, number(gp_ask_number(gpu, "index")).s);
		gp_table_cell(&table, gp_ask_text(gpu, "bdf"));
		gp_table_cell(&table, json_is_integer(part) ?
			      number(gp_ask_number(gpu, "partition")).s : "-");
		gp_table_cell(&table, gp_ask_text(gpu, "name"));
		gp_table_cell(&table, number(gp_ask_number(gpu, "xccs")).s);
		gp_table_cell(&table, number(gp_ask_number(gpu, "compute_units")).s);
		gp_table_cell(&table, gigabytes(gp_ask_number(gpu, "vram_bytes")).s);
		snprintf(text, sizeof(text), "%s%s", gp_ask_text(gpu, "mechanism"),
			 watched ? "" : " (idle)");
		gp_table_cell(&table, text);
	}
	gp_table_print(&table, stdout);
}

/* "2 aql, 1 sdma": the queues of @process on the GPU @index. */
static void queues(const json_t *process, u64 index, char *text, size_t size)
{
	static const char *const types[] = { "aql", "pm4", "sdma", "other" };
	json_t *queue;
	size_t n = 0, k;

	*text = '\0';
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		u32 count = 0;

		json_array_foreach(json_object_get(process, "queues"), k, queue)
			count += gp_ask_number(queue, "gpu") == index &&
				 !strcmp(gp_ask_text(queue, "type"), types[i]);
		if (count && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%" PRIu32 " %s", n ? ", " : "",
					      count, types[i]);
	}
	if (!n)
		snprintf(text, size, "-");
}

/* Another user's process is shown without its user, name, work and times. */
static bool is_shown(const json_t *process)
{
	return json_object_get(process, "uid");
}

static void user(const json_t *process, char *text, size_t size)
{
	u64 uid = gp_ask_number(process, "uid");
	const struct passwd *entry = is_shown(process) ? getpwuid((uid_t)uid) : NULL;

	if (!is_shown(process))
		snprintf(text, size, "-");
	else if (entry)
		snprintf(text, size, "%s", entry->pw_name);
	else
		snprintf(text, size, "%" PRIu64, uid);
}

static enum gp_paint paint(const char *state)
{
	if (!strcmp(state, "lost"))
		return GP_BAD;
	return strcmp(state, "on") ? GP_DIM : GP_PLAIN;
}

static void print_seat(struct gp_table *t, const json_t *process, const json_t *seat)
{
	const char *state = gp_ask_text(seat, "state");
	u64 gpu = gp_ask_number(seat, "gpu");
	bool held = json_is_integer(json_object_get(process, "held_until_ns"));
	char text[64];

	gp_table_row(t, paint(state));
	gp_table_cell(t, number(gp_ask_number(process, "pid")).s);
	user(process, text, sizeof(text));
	gp_table_cell(t, text);
	gp_table_cell(t, is_shown(process) ? gp_ask_text(process, "name") : "-");
	gp_table_cell(t, gp_ask_text(process, "class"));
	gp_table_cell(t, number(gpu).s);
	snprintf(text, sizeof(text), "%s%s", state, held ? " (suspended)" : "");
	gp_table_cell(t, text);
	if (!is_shown(process))
		return;
	gp_table_cell(t, gp_ask_text(seat, "work"));
	queues(process, gpu, text, sizeof(text));
	gp_table_cell(t, text);
	gp_table_cell(t, gp_time(gp_ask_number(seat, "on_ns")).s);
	gp_table_cell(t, gp_time(gp_ask_number(seat, "off_ns")).s);
	gp_table_cell(t, number(gp_ask_number(process, "preempted")).s);
	gp_table_cell(t, gigabytes(gp_ask_number(seat, "vram_bytes")).s);
}

/*
 * Prints a row of a process without a seat. @gpu is the GPU with its queues, GP_NONE without
 * queues.
 */
static void print_unseated(struct gp_table *t, const json_t *process, u32 gpu)
{
	char text[64];

	gp_table_row(t, GP_DIM);
	gp_table_cell(t, number(gp_ask_number(process, "pid")).s);
	user(process, text, sizeof(text));
	gp_table_cell(t, text);
	gp_table_cell(t, is_shown(process) ? gp_ask_text(process, "name") : "-");
	gp_table_cell(t, gp_ask_text(process, "class"));
	gp_table_cell(t, gpu == GP_NONE ? "-" : number(gpu).s);
	/* The daemon does not read the queues of an unmanaged process. */
	gp_table_cell(t, strcmp(gp_ask_text(process, "class"), "unmanaged") ?
		      gpu == GP_NONE ? "no queue yet" : "not scheduled" : "left alone");
	if (gpu == GP_NONE)
		return;
	gp_table_cell(t, "-");
	queues(process, gpu, text, sizeof(text));
	gp_table_cell(t, text);
}

/* Prints a row on each GPU where the process has a queue. It is never held there. */
static void print_alone(struct gp_table *t, const json_t *process)
{
	u64 gpus = gp_ask_queues(process);

	if (!gpus)
		print_unseated(t, process, GP_NONE);
	for (u32 i = 0; i < GP_GPUS_MAX; i++) {
		if (gpus & BIT_ULL(i))
			print_unseated(t, process, i);
	}
}

static void print_processes(const json_t *processes)
{
	static const char *const head[] = {
		"pid", "user", "name", "class", "GPU", "state", "work", "queues", "on", "off",
		"preempted", "VRAM", NULL
	};
	struct gp_table table;
	json_t *process, *seat;
	u32 hidden = 0;
	size_t i, k;

	gp_table_init(&table, head,
		      1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7);
	json_array_foreach(processes, i, process) {
		const json_t *seats = json_object_get(process, "seats");

		json_array_foreach(seats, k, seat)
			print_seat(&table, process, seat);
		if (!json_array_size(seats))
			print_alone(&table, process);
	}
	gp_table_print(&table, stdout);
	json_array_foreach(processes, i, process)
		hidden += !is_shown(process);
	if (hidden)
		puts("-: another user's process; root and the group of gpreemptd see all of it");
	json_array_foreach(processes, i, process) {
		const char *trouble = gp_ask_text(process, "trouble");
		const char *gang = gp_ask_text(process, "gang");

		if (*gang)
			printf("%" PRIu64 ": of the gang %s\n", gp_ask_number(process, "pid"),
			       gang);
		if (*trouble)
			printf("%s%" PRIu64 "%s: %s\n", gp_paint(GP_BAD),
			       gp_ask_number(process, "pid"), gp_paint(GP_PLAIN), trouble);
	}
}

static int parameters(const struct gp_options *o, json_t **ret)
{
	pid_t pid;

	*ret = json_object();
	if (!o->file)
		return 0;
	if (gp_ask_pid(o->file, &pid)) {
		json_decref(*ret);
		return -EINVAL;
	}
	gp_json_put(*ret, "pid", json_integer(pid));
	return 0;
}

int gp_cmd_list(const struct gp_options *o)
{
	json_t *in, *list;
	u64 mask;
	int code;

	if (parameters(o, &in))
		return GP_EXIT_BAD;
	code = gp_ask_call(NULL, "List", in, &list);
	if (code)
		return code;
	code = gp_ask_gpus(list, o->gpu, &mask);
	if (code) {
		json_decref(list);
		return code;
	}
	if (o->file && !json_array_size(json_object_get(list, "processes"))) {
		gp_error("list: process %s uses no GPU; 'gpreempt list' has those that do",
			 o->file);
		json_decref(list);
		return GP_EXIT_UNKNOWN;
	}
	gp_ask_keep(list, mask);
	if (o->json)
		return gp_ask_print(o, list);
	print_gpus(json_object_get(list, "gpus"));
	putchar('\n');
	if (json_array_size(json_object_get(list, "processes")))
		print_processes(json_object_get(list, "processes"));
	else
		puts("no process uses them");
	json_decref(list);
	return GP_EXIT_OK;
}
