// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The text format of Prometheus: every sample of a metric follows its HELP and TYPE. */
#include "prometheus.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"

enum { LABELS = 1024, NAME = 96 };

static void label(char *labels, const char *name, const char *value)
{
	size_t n = strlen(labels);

	n += (size_t)snprintf(labels + n, LABELS - n, "%s%s=\"", n ? "," : "", name);
	for (; *value && n < LABELS - 4; value++) {
		if (*value == '\\' || *value == '"' || *value == '\n')
			labels[n++] = '\\';
		labels[n++] = *value == '\n' ? 'n' : *value;
	}
	labels[n++] = '"';
	labels[n] = '\0';
}

static void number_label(char *labels, const char *name, u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	label(labels, name, text);
}

static void host_label(char *labels)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	*labels = '\0';
	label(labels, "hostname", host);
}

static void process_labels(const json_t *process, char *labels)
{
	host_label(labels);
	number_label(labels, "kfd_process_id", gp_ask_number(process, "pid"));
	label(labels, "process", gp_ask_text(process, "name"));
	label(labels, "class", gp_ask_text(process, "class"));
}

static void gpu_labels(const json_t *list, u64 index, char *labels)
{
	json_t *gpu;
	size_t i;

	number_label(labels, "gpu_id", index);
	json_array_foreach(json_object_get(list, "gpus"), i, gpu) {
		if (gp_ask_number(gpu, "index") != index)
			continue;
		number_label(labels, "gpu_partition_id", gp_ask_number(gpu, "partition"));
		label(labels, "card_model", gp_ask_text(gpu, "name"));
	}
}

static void head(FILE *to, const char *name, const char *type, const char *help)
{
	fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* ---- what the daemon is ---- */

static void print_status(const json_t *status, FILE *to)
{
	char labels[LABELS];

	host_label(labels);
	head(to, "gpreempt_enabled", "gauge", "1 unless switched off by gpreempt off.");
	fprintf(to, "gpreempt_enabled{%s} %d\n", labels, gp_ask_true(status, "enabled"));
	head(to, "gpreempt_observe_only", "gauge", "1 if no policy is configured.");
	fprintf(to, "gpreempt_observe_only{%s} %d\n", labels, gp_ask_true(status, "observe_only"));
	head(to, "gpreempt_held_processes", "gauge", "Processes held off a GPU now.");
	fprintf(to, "gpreempt_held_processes{%s} %" PRIu64 "\n", labels,
		gp_ask_number(status, "held"));
	head(to, "gpreempt_restarts_total", "counter", "Restarts of the daemon since boot.");
	fprintf(to, "gpreempt_restarts_total{%s} %" PRIu64 "\n", labels,
		gp_ask_number(status, "restarts"));
	label(labels, "version", gp_ask_text(status, "version"));
	label(labels, "policy", gp_ask_text(status, "policy"));
	label(labels, "mechanism", gp_ask_text(status, "mechanism"));
	head(to, "gpreempt_info", "gauge", "What runs: version, policy and mechanism.");
	fprintf(to, "gpreempt_info{%s} 1\n", labels);
}

/* ---- seats: a process on a GPU ---- */

static void print_seats(const json_t *list, const char *name, const char *member, FILE *to)
{
	size_t length = strlen(member), i, k;
	bool is_time = length > 3 && !strcmp(member + length - 3, "_ns");
	json_t *process, *seat;

	json_array_foreach(json_object_get(list, "processes"), i, process) {
		json_array_foreach(json_object_get(process, "seats"), k, seat) {
			u64 value = gp_ask_number(seat, member);
			char labels[LABELS];

			/* Omitted for another user's process. */
			if (!json_object_get(seat, member))
				continue;
			process_labels(process, labels);
			gpu_labels(list, gp_ask_number(seat, "gpu"), labels);
			if (is_time)
				fprintf(to, "%s{%s} %.9f\n", name, labels, (double)value / 1e9);
			else
				fprintf(to, "%s{%s} %" PRIu64 "\n", name, labels, value);
		}
	}
}

static void print_on(const json_t *list, FILE *to)
{
	json_t *process, *seat;
	size_t i, k;

	head(to, "gpreempt_process_gpu_on", "gauge", "1 if the process may run on the GPU now.");
	json_array_foreach(json_object_get(list, "processes"), i, process) {
		json_array_foreach(json_object_get(process, "seats"), k, seat) {
			char labels[LABELS];

			process_labels(process, labels);
			gpu_labels(list, gp_ask_number(seat, "gpu"), labels);
			fprintf(to, "gpreempt_process_gpu_on{%s} %d\n", labels,
				!strcmp(gp_ask_text(seat, "state"), "on"));
		}
	}
}

static void print_list(const json_t *list, FILE *to)
{
	static const struct {
		const char *name, *type, *member, *help;
	} metrics[] = {
		{ "gpreempt_process_gpu_on_seconds_total", "counter", "on_ns",
		  "Time the process was on the GPU." },
		{ "gpreempt_process_gpu_off_seconds_total", "counter", "off_ns",
		  "Time the process was held off the GPU." },
		{ "gpreempt_process_gpu_waiting_seconds_total", "counter", "waiting_ns",
		  "Time the process had work and did not progress because others ran." },
		{ "gpreempt_process_gpu_vram_bytes", "gauge", "vram_bytes",
		  "VRAM of the process on the GPU." },
	};

	print_on(list, to);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		head(to, metrics[i].name, metrics[i].type, metrics[i].help);
		print_seats(list, metrics[i].name, metrics[i].member, to);
	}
}

/* ---- counters: whatever the daemon has ---- */

/* True for counters that can decrease. */
static bool is_gauge(const char *name)
{
	static const char *const gauges[] = {
		"longest_hold_ns", "readers_stuck", "processes_unpreemptible",
		"processes_beside_unpreemptible", "processes_left_out", "processes_not_admitted",
	};

	const size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(gauges) / sizeof(*gauges); i++) {
		if (!strcmp(name, gauges[i]))
			return true;
	}
	return length > 4 && !strcmp(name + length - 4, "_max");
}

/*
 * Makes "gpreempt_process_state_seconds_total" from "process_" and "state_ns" or "state_ns_sum",
 * and "..._seconds_max" from "state_ns_max". True if the counter is a time.
 */
static bool metric_name(const char *middle, const char *counter, char name[NAME])
{
	const char *unit = gp_ask_unit(counter);
	size_t length = unit ? (size_t)(unit - counter) : strlen(counter), n;
	const char *rest = unit && strcmp(unit, "_ns_sum") ? unit + strlen("_ns") : "";

	n = (size_t)snprintf(name, NAME, "gpreempt_%s%.*s%s%s%s", middle, (int)length, counter,
			     unit ? "_seconds" : "", rest, is_gauge(counter) ? "" : "_total");
	for (size_t i = 0; i < n && i < NAME; i++) {
		if (name[i] && !isalnum((unsigned char)name[i]))
			name[i] = '_';
	}
	return unit;
}

static void print_value(FILE *to, const char *name, const char *labels, bool is_time,
			const json_t *value)
{
	json_int_t n = json_integer_value(value);

	if (is_time)
		fprintf(to, "%s{%s} %.9f\n", name, labels, (double)n / 1e9);
	else
		fprintf(to, "%s{%s} %" JSON_INTEGER_FORMAT "\n", name, labels, n);
}

static void print_counters(const json_t *counters, FILE *to)
{
	char labels[LABELS], name[NAME];
	const char *counter;
	json_t *value;

	host_label(labels);
	json_object_foreach((json_t *)counters, counter, value) {
		bool is_time = metric_name("", counter, name);

		head(to, name, is_gauge(counter) ? "gauge" : "counter",
		     "Of gpreemptd; gpreempt-stats(1) describes it.");
		print_value(to, name, labels, is_time, value);
	}
}

/* Prints one metric of all processes that have it. */
static void print_counter(const json_t *processes, const char *counter, FILE *to)
{
	char labels[LABELS], name[NAME];
	bool is_time = metric_name("process_", counter, name);
	json_t *process;
	size_t i;

	head(to, name, is_gauge(counter) ? "gauge" : "counter",
	     "Of a process; gpreempt-stats(1) describes it.");
	json_array_foreach(processes, i, process) {
		json_t *value = json_object_get(json_object_get(process, "counters"), counter);

		process_labels(process, labels);
		if (value)
			print_value(to, name, labels, is_time, value);
	}
}

static void print_process_counters(const json_t *processes, FILE *to)
{
	json_t *names = json_object(), *process, *value;
	const char *counter;
	size_t i;

	json_array_foreach(processes, i, process)
		json_object_update_missing(names, json_object_get(process, "counters"));
	json_object_foreach(names, counter, value)
		print_counter(processes, counter, to);
	json_decref(names);
}

/* ---- the parts of a preemption, as a summary ---- */

static void print_part(const char *labels, const json_t *part, FILE *to)
{
	double count = (double)gp_ask_number(part, "count");

	fprintf(to, "gpreempt_preemption_seconds{%s,quantile=\"0.5\"} %.9f\n", labels,
		(double)gp_ask_number(part, "p50_ns") / 1e9);
	fprintf(to, "gpreempt_preemption_seconds{%s,quantile=\"0.99\"} %.9f\n", labels,
		(double)gp_ask_number(part, "p99_ns") / 1e9);
	fprintf(to, "gpreempt_preemption_seconds_sum{%s} %.9f\n", labels,
		(double)gp_ask_number(part, "mean_ns") / 1e9 * count);
	fprintf(to, "gpreempt_preemption_seconds_count{%s} %.0f\n", labels, count);
}

static void print_parts(const json_t *processes, FILE *to)
{
	json_t *process, *part;
	size_t i, k;

	head(to, "gpreempt_preemption_seconds", "summary",
	     "Parts of the preemptions made for a process.");
	json_array_foreach(processes, i, process) {
		json_array_foreach(json_object_get(process, "parts"), k, part) {
			char labels[LABELS];

			process_labels(process, labels);
			label(labels, "part", gp_ask_text(part, "name"));
			print_part(labels, part, to);
		}
	}
}

void gp_prometheus_print(const struct gp_prometheus *from, FILE *to)
{
	const json_t *processes = json_object_get(from->stats, "processes");

	print_status(from->status, to);
	print_list(from->list, to);
	print_counters(json_object_get(from->stats, "counters"), to);
	print_process_counters(processes, to);
	print_parts(processes, to);
}
