// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt status: shows whether gpreemptd runs, and the processes on each GPU. */
#include <inttypes.h>
#include <string.h>

#include "ask.h"
#include "cli/table.h"
#include "sim/json.h"

/* Returns one GPU as {"gpu", "bdf", "on": [pid], "off": [pid]}. */
static json_t *who(const json_t *gpu, const json_t *processes)
{
	json_t *o = json_object(), *on = json_array(), *off = json_array();
	u64 index = gp_ask_number(gpu, "index");
	json_t *process, *seat;
	size_t i, k;

	json_array_foreach(processes, i, process) {
		/* A process without a seat is never stopped, so it is on wherever it has queues. */
		if (!json_array_size(json_object_get(process, "seats")) &&
		    gp_ask_queues(process) & BIT_ULL(index))
			json_array_append(on, json_object_get(process, "pid"));
		json_array_foreach(json_object_get(process, "seats"), k, seat) {
			bool is_on = !strcmp(gp_ask_text(seat, "state"), "on");

			if (gp_ask_number(seat, "gpu") == index)
				json_array_append(is_on ? on : off,
						  json_object_get(process, "pid"));
		}
	}
	gp_json_put(o, "gpu", json_integer((json_int_t)index));
	gp_json_put(o, "bdf", json_string(gp_ask_text(gpu, "bdf")));
	gp_json_put(o, "on", on);
	gp_json_put(o, "off", off);
	return o;
}

static const json_t *by_pid(const json_t *processes, json_int_t pid)
{
	json_t *process;
	size_t i;

	json_array_foreach(processes, i, process) {
		if (json_integer_value(json_object_get(process, "pid")) == pid)
			return process;
	}
	return NULL;
}

/* Adds a cell such as "infer (812), 901" with as many processes as fit. */
static void cell(struct gp_table *t, const json_t *pids, const json_t *processes)
{
	char text[GP_TABLE_CELL] = "";
	const char *name;
	json_t *pid;
	size_t i;

	json_array_foreach(pids, i, pid) {
		json_int_t number = json_integer_value(pid);
		size_t n = strlen(text);

		if (sizeof(text) - n < 64) {
			snprintf(text + n, sizeof(text) - n, " and %zu more",
				 json_array_size(pids) - i);
			break;
		}
		/* The name of another user's process is not shown. */
		name = gp_ask_text(by_pid(processes, number), "name");
		snprintf(text + n, sizeof(text) - n, "%s%.24s%s%" PRId64 "%s", i ? ", " : "", name,
			 *name ? " (" : "", (s64)number, *name ? ")" : "");
	}
	gp_table_cell(t, *text ? text : "-");
}

static void print_gpus(const json_t *gpus, const json_t *processes)
{
	static const char *const head[] = { "GPU", "address", "on it", "held off", NULL };
	struct gp_table table;
	json_t *gpu;
	size_t i;

	gp_table_init(&table, head, 1 << 1 | 1 << 2 | 1 << 3);
	json_array_foreach(gpus, i, gpu) {
		char index[24];

		snprintf(index, sizeof(index), "%" PRIu64, gp_ask_number(gpu, "gpu"));
		gp_table_row(&table, GP_PLAIN);
		gp_table_cell(&table, index);
		gp_table_cell(&table, gp_ask_text(gpu, "bdf"));
		cell(&table, json_object_get(gpu, "on"), processes);
		cell(&table, json_object_get(gpu, "off"), processes);
	}
	putchar('\n');
	gp_table_print(&table, stdout);
}

/*
 * Counts processes that are off on some GPU. Uses the answer that fills the rows, so that both
 * agree.
 */
static u32 held_off(const json_t *status, const json_t *processes)
{
	u32 held = 0;
	json_t *process, *gpu, *pid;
	size_t i, k, n;

	json_array_foreach(processes, i, process) {
		bool off = false;

		json_array_foreach(json_object_get(status, "who"), k, gpu)
			json_array_foreach(json_object_get(gpu, "off"), n, pid)
				off |= json_equal(pid, json_object_get(process, "pid"));
		held += off;
	}
	return held;
}

static void print_head(const json_t *status, const json_t *processes)
{
	const char *policy = gp_ask_text(status, "policy");

	printf("%sgpreemptd %s%s, pid %" PRIu64 ", up %s: ", gp_paint(GP_BOLD),
	       gp_ask_text(status, "version"), gp_paint(GP_PLAIN), gp_ask_number(status, "pid"),
	       gp_duration(gp_ask_number(status, "up_ns")).s);
	if (!gp_ask_true(status, "enabled"))
		printf("%sOFF%s; 'gpreempt on' preempts again\n", gp_paint(GP_BAD),
		       gp_paint(GP_PLAIN));
	else if (gp_ask_true(status, "observe_only"))
		puts("observes only; 'gpreempt policy priority' or gpreempt.conf makes it act");
	else
		printf("policy %s, mechanism %s\n", policy, gp_ask_text(status, "mechanism"));
	printf("%s, %s, %" PRIu32 " held off\n",
	       gp_number_of(gp_ask_number(status, "gpus"), "GPU").s,
	       gp_number_of(gp_ask_number(status, "processes"), "process").s,
	       held_off(status, processes));
}

static void print_restarts(const json_t *status)
{
	json_t *reasons = json_object_get(status, "restart_reasons"), *first;

	first = json_array_get(reasons, 0);
	if (gp_ask_number(status, "restarts"))
		printf("restarted %s, last %s\n",
		       gp_number_of(gp_ask_number(status, "restarts"), "time").s,
		       json_string_value(first) ? json_string_value(first) : "for unknown reason");
}

static void print_text(const json_t *status, const json_t *processes)
{
	const char *ejected = gp_ask_text(status, "ejected");
	json_t *line;
	size_t i;

	print_head(status, processes);
	print_restarts(status);
	if (*ejected)
		printf("%sthe policy was ejected%s: %s\n", gp_paint(GP_BAD), gp_paint(GP_PLAIN),
		       ejected);
	json_array_foreach(json_object_get(status, "trouble"), i, line)
		printf("%strouble%s: %s\n", gp_paint(GP_BAD), gp_paint(GP_PLAIN),
		       json_string_value(line) ? json_string_value(line) : "?");
	if (json_array_size(json_object_get(status, "who")))
		print_gpus(json_object_get(status, "who"), processes);
}

/* Adds the processes on each GPU to @status. */
static int add_who(struct gp_daemon *daemon, const char *gpus, json_t *status, json_t **ret_list)
{
	json_t *all = json_array(), *gpu;
	u64 mask;
	size_t i;
	int code = gp_ask_call(daemon, "List", NULL, ret_list);

	if (code) {
		json_decref(all);
		return code;
	}
	code = gp_ask_gpus(*ret_list, gpus, &mask);
	if (code) {
		json_decref(*ret_list);
		json_decref(all);
		return code;
	}
	gp_ask_keep(*ret_list, mask);
	json_array_foreach(json_object_get(*ret_list, "gpus"), i, gpu)
		json_array_append_new(all, who(gpu, json_object_get(*ret_list, "processes")));
	gp_json_put(status, "who", all);
	return GP_EXIT_OK;
}

int gp_cmd_status(const struct gp_options *o)
{
	struct gp_daemon *daemon;
	json_t *status, *list;
	int code = gp_ask_open(&daemon);

	if (code)
		return code;
	code = gp_ask_call(daemon, "Status", NULL, &status);
	if (code)
		goto close;
	code = add_who(daemon, o->gpu, status, &list);
	if (code)
		goto drop;
	if (o->json)
		code = gp_ask_print(o, json_incref(status));
	else
		print_text(status, json_object_get(list, "processes"));
	json_decref(list);
drop:
	json_decref(status);
close:
	gp_daemon_close(daemon);
	return code;
}
