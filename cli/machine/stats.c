// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt stats: counters, and the parts of a preemption. */
#include <inttypes.h>
#include <string.h>

#include "ask.h"
#include "cli/table.h"
#include "prometheus.h"
#include "sim/json.h"
#include "trace/drawing.h"

static struct gp_text value_of(const char *name, const json_t *value)
{
	json_int_t n = json_integer_value(value);

	if (n > 0 && gp_ask_unit(name))
		return gp_time((u64)n);
	return gp_count(n < 0 ? 0 : (u64)n);
}

/* A time is printed with its unit: "wait" of "wait_ns", "scan_max" of "scan_ns_max". */
static void label(struct gp_table *t, const char *name)
{
	const char *unit = gp_ask_unit(name);
	char text[64];

	if (unit)
		snprintf(text, sizeof(text), "%.*s%s", (int)(unit - name), name, unit + 3);
	else
		snprintf(text, sizeof(text), "%s", name);
	gp_table_cell(t, text);
}

/* Prints the @counters that are not 0. */
static void print_those(struct gp_table *t, const char *whose, json_t *counters)
{
	const char *name;
	json_t *value;

	json_object_foreach(counters, name, value) {
		if (!json_integer_value(value))
			continue;
		gp_table_row(t, GP_PLAIN);
		gp_table_cell(t, whose);
		label(t, name);
		gp_table_cell(t, value_of(name, value).s);
	}
}

/* @one: a process was named, so the daemon's own counters are omitted. */
static void print_counters(const json_t *stats, bool one)
{
	static const char *const head[] = { "whose", "counter", "value", NULL };
	struct gp_table table;
	json_t *process;
	size_t i;

	gp_table_init(&table, head, 1 << 0 | 1 << 1);
	if (!one)
		print_those(&table, "gpreemptd", json_object_get(stats, "counters"));
	json_array_foreach(json_object_get(stats, "processes"), i, process) {
		char whose[64];

		snprintf(whose, sizeof(whose), "%.40s (%" PRIu64 ")",
			 gp_ask_text(process, "name"), gp_ask_number(process, "pid"));
		print_those(&table, whose, json_object_get(process, "counters"));
	}
	gp_table_print(&table, stdout);
}

/* Names a part. Notes that a part contains its neighbour if only this one has values. */
static const char *name_of(const json_t *parts, size_t i)
{
	const char *name = gp_ask_text(json_array_get(parts, i), "name");

	if (!strcmp(name, "command") && !gp_ask_number(json_array_get(parts, i + 1), "count"))
		return GP_PARTS_WITHIN;
	if (i && !strcmp(name, "save") && !gp_ask_number(json_array_get(parts, i - 1), "count"))
		return GP_PARTS_SAVE;
	return name;
}

static void print_part(struct gp_table *t, const json_t *process, size_t i)
{
	const json_t *parts = json_object_get(process, "parts"), *part = json_array_get(parts, i);
	char whose[64];

	snprintf(whose, sizeof(whose), "%.40s (%" PRIu64 ")", gp_ask_text(process, "name"),
		 gp_ask_number(process, "pid"));
	gp_table_row(t, strcmp(gp_ask_text(part, "name"), "total") ? GP_PLAIN : GP_BOLD);
	gp_table_cell(t, whose);
	gp_table_cell(t, name_of(parts, i));
	gp_table_cell(t, gp_count(gp_ask_number(part, "count")).s);
	gp_table_cell(t, gp_time(gp_ask_number(part, "mean_ns")).s);
	gp_table_cell(t, gp_time(gp_ask_number(part, "p50_ns")).s);
	gp_table_cell(t, gp_time(gp_ask_number(part, "p99_ns")).s);
	gp_table_cell(t, gp_time(gp_ask_number(part, "max_ns")).s);
}

static void print_parts(const json_t *stats)
{
	static const char *const head[] = {
		"preempted for", "part", "count", "mean", "p50", "p99", "max", NULL
	};
	struct gp_table table;
	json_t *process, *part;
	u32 shown = 0;
	size_t i, k;

	gp_table_init(&table, head, 1 << 0 | 1 << 1);
	json_array_foreach(json_object_get(stats, "processes"), i, process) {
		json_t *parts = json_object_get(process, "parts");

		json_array_foreach(parts, k, part) {
			if (!gp_ask_number(part, "count"))
				continue;
			print_part(&table, process, k);
			shown++;
		}
	}
	if (!shown) {
		gp_table_drop(&table);
		return;
	}
	putchar('\n');
	gp_table_print(&table, stdout);
}

static bool is_listed(const json_t *list, u64 pid)
{
	json_t *process;
	size_t i;

	json_array_foreach(json_object_get(list, "processes"), i, process) {
		if (gp_ask_number(process, "pid") == pid)
			return true;
	}
	return false;
}

/* Statistics have no GPUs, so -g keeps the processes that List has on these GPUs. */
static void keep_listed(json_t *stats, const json_t *list)
{
	json_t *processes = json_object_get(stats, "processes");

	for (size_t i = json_array_size(processes); i-- > 0;) {
		if (!is_listed(list, gp_ask_number(json_array_get(processes, i), "pid")))
			json_array_remove(processes, i);
	}
}

/* Asks for everything to print on one connection. Returns enum gp_exit. */
static int collect(const struct gp_options *o, struct gp_daemon *daemon,
		   struct gp_prometheus *ret)
{
	json_t *in = json_object();
	pid_t pid = 0;
	u64 mask;
	int code;

	if (o->file) {
		if (gp_ask_pid(o->file, &pid)) {
			json_decref(in);
			return GP_EXIT_BAD;
		}
		gp_json_put(in, "pid", json_integer(pid));
	}
	code = gp_ask_call(daemon, "Stats", json_incref(in), &ret->stats);
	if (!code)
		code = gp_ask_call(daemon, "List", json_incref(in), &ret->list);
	if (!code)
		code = gp_ask_call(daemon, "Status", NULL, &ret->status);
	json_decref(in);
	if (!code && pid && !json_array_size(json_object_get(ret->list, "processes"))) {
		gp_error("stats: process %s uses no GPU; 'gpreempt list' has those that do",
			 o->file);
		code = GP_EXIT_UNKNOWN;
	}
	if (!code && pid && !json_array_size(json_object_get(ret->stats, "processes")) &&
	    !json_object_get(json_array_get(json_object_get(ret->list, "processes"), 0), "uid")) {
		gp_error("stats: process %s: permission denied: another user's statistics need "
			 "root or the group of gpreemptd", o->file);
		code = GP_EXIT_DENIED;
	}
	if (!code)
		code = gp_ask_gpus(ret->list, o->gpu, &mask);
	if (!code && o->gpu) {
		gp_ask_keep(ret->list, mask);
		keep_listed(ret->stats, ret->list);
	}
	return code;
}

int gp_cmd_stats(const struct gp_options *o)
{
	struct gp_prometheus all = { 0 };
	struct gp_daemon *daemon;
	int code;

	if (o->json && o->prometheus) {
		gp_error("stats: --json and --prometheus exclude each other");
		return GP_EXIT_BAD;
	}
	code = gp_ask_open(&daemon);
	if (code)
		return code;
	code = collect(o, daemon, &all);
	gp_daemon_close(daemon);
	if (!code && o->json) {
		code = gp_ask_print(o, json_incref(all.stats));
	} else if (!code && o->prometheus) {
		gp_prometheus_print(&all, stdout);
	} else if (!code) {
		print_counters(all.stats, o->file);
		print_parts(all.stats);
		/* Only root and the group get counters of the daemon itself. */
		if (!o->file && !json_object_get(json_object_get(all.stats, "counters"), "calls"))
			puts("own processes only; root and the group of gpreemptd see all");
	}
	json_decref(all.stats);
	json_decref(all.list);
	json_decref(all.status);
	return code;
}
