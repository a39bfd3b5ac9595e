// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "text/value.h"

enum unit { NS, NUMBER, MILLIONTHS };

#define PER_REQUEST	((size_t)-1)	/* instead of an offset */

/* The owner of a metric. */
enum scope { OF_TASK, OF_RUN, OF_FIGURES };

static const struct metric {
	const char *name;
	u8 unit;
	u8 scope;
	size_t offset;
} metrics[] = {
#define TASK(n, u, m)	{ n, u, OF_TASK, offsetof(struct gp_task_result, m) }
#define RUN(n, u, m)	{ n, u, OF_RUN, offsetof(struct gp_result, m) }
#define SPREAD(make, prefix, m)						\
	make(prefix "mean", NS, m.mean), make(prefix "p50", NS, m.p50),	\
	make(prefix "p99", NS, m.p99), make(prefix "p999", NS, m.p999),	\
	make(prefix "max", NS, m.max)
	SPREAD(TASK, "", latency),
	TASK("offered", NUMBER, offered),
	TASK("served", NUMBER, served),
	TASK("kernels", NUMBER, kernels),
	TASK("preempted", NUMBER, preempted),
	TASK("work", NS, work_ns),
	TASK("on", NS, on_ns),
	TASK("off", NS, off_ns),
	TASK("longest_hold", NS, longest_hold_ns),
	TASK("share_min", MILLIONTHS, share_min),
	TASK("share_max", MILLIONTHS, share_max),
	TASK("deadline_misses", NUMBER, deadline_misses),
	TASK("lost", NUMBER, lost),
	TASK("doubled", NUMBER, doubled),
	SPREAD(RUN, "", online),
	RUN("offered", NUMBER, offered),
	RUN("served", NUMBER, served),
	RUN("preemptions", NUMBER, preemptions),
	{ "preemptions_per_request", MILLIONTHS, OF_RUN, PER_REQUEST },
	RUN("work_lost", NUMBER, work_lost),
	RUN("work_doubled", NUMBER, work_doubled),
	RUN("lost_tasks", NUMBER, lost_tasks),
	RUN("ejections", NUMBER, ejections),
	RUN("looks", NUMBER, looks),
	RUN("probes", NUMBER, probes),
	RUN("monitor_cpu", NS, monitor_cpu_ns),
	RUN("online_waves_saved", NUMBER, online_waves_saved),
	SPREAD(RUN, "detect.", part[0]),
	SPREAD(RUN, "decide.", part[1]),
	SPREAD(RUN, "command.", part[2]),
	SPREAD(RUN, "save.", part[3]),
	SPREAD(RUN, "switch.", part[4]),
	SPREAD(RUN, "total.", part[5]),
	{ "ratio.mean", MILLIONTHS, OF_FIGURES, offsetof(struct gp_figures, ratio_mean) },
	{ "ratio.p99", MILLIONTHS, OF_FIGURES, offsetof(struct gp_figures, ratio_p99) },
	{ "goodput", MILLIONTHS, OF_FIGURES, offsetof(struct gp_figures, goodput) },
	{ "added.mean", NS, OF_FIGURES, offsetof(struct gp_figures, added.mean) },
	{ "added.p99", NS, OF_FIGURES, offsetof(struct gp_figures, added.p99) },
	{ "added.max", NS, OF_FIGURES, offsetof(struct gp_figures, added.max) },
	{ "saturated", NUMBER, OF_FIGURES, offsetof(struct gp_figures, saturated) },
};

static const char *const ops[] = {
	[GP_LT] = "<", [GP_LE] = "<=", [GP_EQ] = "=", [GP_NE] = "!=", [GP_GE] = ">=", [GP_GT] = ">",
};

/* Finds a metric. A run and a task may have metrics of the same name: "all p99", "infer p99". */
static const struct metric *find_metric(const char *name, bool of_task)
{
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		if (!strcmp(metrics[i].name, name) && (metrics[i].scope == OF_TASK) == of_task)
			return &metrics[i];
	}
	return NULL;
}

static int unknown_metric(const char *name, bool of_task, const struct gp_why *why)
{
	char names[800] = "";

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		if ((metrics[i].scope == OF_TASK) == of_task)
			gp_list_name(names, sizeof(names), metrics[i].name);
	}
	return gp_why(why, "expect: unknown metric '%s' of %s; expected one of %s", name,
		      of_task ? "a task" : "all", names);
}

static int parse_value(const struct metric *m, const char *text, u64 *ret)
{
	if (m->unit == NS)
		return gp_parse_ns(text, ret);
	return m->unit == NUMBER ? gp_parse_u64(text, ret) : gp_parse_millionths(text, ret);
}

int gp_expect_parse(const char *text, struct gp_expect *ret, const struct gp_why *why)
{
	static const char *const kinds[] = { "a time", "a number", "a number or percentage" };
	const struct metric *m;
	char word[4][24];
	size_t op = 0;
	u64 value;

	if (gp_split(text, word, 4) != 4)
		return gp_why(why, "expect: invalid value '%s'; expected TASK METRIC OP VALUE or "
			      "none", text);
	m = find_metric(word[1], strcmp(word[0], "all"));
	if (!m)
		return unknown_metric(word[1], strcmp(word[0], "all"), why);
	while (op < sizeof(ops) / sizeof(ops[0]) && strcmp(ops[op], word[2]))
		op++;
	if (op == sizeof(ops) / sizeof(ops[0]))
		return gp_why(why, "expect: invalid operator '%s'; expected < <= = != >= or >",
			      word[2]);
	if (parse_value(m, word[3], &value))
		return gp_why(why, "expect: invalid value '%s'; expected %s", word[3],
			      kinds[m->unit]);

	snprintf(ret->task, sizeof(ret->task), "%s", word[0]);
	snprintf(ret->metric, sizeof(ret->metric), "%s", word[1]);
	ret->op = (u8)op;
	ret->value = value;
	snprintf(ret->text, sizeof(ret->text), "%.95s", text);
	return 0;
}

bool gp_expect_needs_baseline(const struct gp_scenario *sc)
{
	for (u32 i = 0; i < sc->nr_expects; i++) {
		const struct gp_expect *e = &sc->expect[i];
		const struct metric *m = find_metric(e->metric, strcmp(e->task, "all"));

		if (m && m->scope == OF_FIGURES)
			return true;
	}
	return false;
}

static bool compare(enum gp_op op, s64 is, s64 wanted)
{
	switch (op) {
	case GP_LT: return is < wanted;
	case GP_LE: return is <= wanted;
	case GP_EQ: return is == wanted;
	case GP_NE: return is != wanted;
	case GP_GE: return is >= wanted;
	default:    return is > wanted;
	}
}

/* Gets the value of @m. Returns false if this run has none. */
static bool value_of_figures(const struct metric *m, const struct gp_figures *f, s64 *ret)
{
	const void *at;

	if (!f)
		return false;
	at = (const char *)f + m->offset;
	if (m->unit == NUMBER)
		*ret = *(const bool *)at;
	else if (m->unit == NS)
		*ret = *(const s64 *)at;
	else
		*ret = (s64)(*(const double *)at * 1e6 + 0.5);
	if (!strncmp(m->name, "ratio", 5))
		return f->has_ratio;
	if (!strncmp(m->name, "added", 5))
		return f->has_added;
	return strcmp(m->name, "goodput") || f->has_goodput;
}

static bool value_of(const struct metric *m, const struct gp_expect *e,
		     const struct gp_result *r, s64 *ret)
{
	if (m->offset == PER_REQUEST) {
		*ret = r->offered ? (s64)(r->preemptions * 1000000 / r->offered) : 0;
		return r->offered;
	}
	if (m->scope == OF_RUN) {
		*ret = (s64)*(const u64 *)((const char *)r + m->offset);
		return true;
	}
	for (u32 i = 0; i < r->nr_tasks; i++) {
		if (!strcmp(r->task[i].name, e->task)) {
			*ret = (s64)*(const u64 *)((const char *)&r->task[i] + m->offset);
			return true;
		}
	}
	return false;
}

static void print_value(const struct metric *m, s64 value, char *text, size_t size)
{
	if (m->unit == NS)
		snprintf(text, size, "%.3fus", (double)value / 1000);
	else if (m->unit == MILLIONTHS)
		snprintf(text, size, "%.4f", (double)value / 1e6);
	else
		snprintf(text, size, "%lld", (long long)value);
}

int gp_expect_check(const struct gp_expect *e, const struct gp_result *r,
		    const struct gp_figures *figures, char *text, size_t size)
{
	const struct metric *m = find_metric(e->metric, strcmp(e->task, "all"));
	char is[32] = "not known in this run";
	s64 value = 0;
	bool known = m && (m->scope == OF_FIGURES ? value_of_figures(m, figures, &value) :
						    value_of(m, e, r, &value));

	if (known && compare(e->op, value, (s64)e->value))
		return 0;
	if (known)
		print_value(m, value, is, sizeof(is));
	snprintf(text, size, "%s: expected %s, it is %s", e->where, e->text, is);
	return 1;
}
