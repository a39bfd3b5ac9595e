// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Chapter: how it scales, and where it stops being good. One thing of colocate is changed
 * at a time, from harmless to absurd; the words about the limits are derived from what
 * came out.
 */
#include <stdlib.h>
#include <string.h>

#include "core/account.h"
#include "evidence.h"

/* Beyond these it is no longer good. */
#define GOOD_RATIO	1.10	/* p99 / alone */
#define GOOD_GOODPUT	0.90

enum { POINTS_MAX = 12, SETS_MAX = 3, ROWS_MAX = 5 };

struct point {
	double x;
	const char *set[SETS_MAX];
	const char *length;	/* NULL: that of the sweep */
};

struct sweep {
	const char *name, *axis, *unit;
	const char *rows[ROWS_MAX];
	struct point point[POINTS_MAX];
};

#define KERNEL(x, t)	{ x, { "train.kernel.time=" t, "train.kernel.workgroup=kernel" }, NULL }
/* A microsecond is a million kernels a second and queue: a shorter run has as many. */
#define TINY(x, t)	{ x, { "train.kernel.time=" t, "train.kernel.workgroup=kernel" }, "1s" }
#define QUEUES(n)	{ n, { "train.queues=" #n }, NULL }
#define PROCESSES(n)	{ n, { "train.processes=" #n }, NULL }
#define RATE(n)		{ n, { "infer.arrivals=poisson " #n "/s" }, NULL }
#define BYTES(vgpr, area)	\
	{ 0, { "train.kernel.vgpr=" #vgpr, "train.kernel.lds=0", "gpu.save_area=" area }, NULL }

static const struct sweep sweeps[] = {
	{ "kernel", "length of an offline kernel", "us",
	  { "native", "drain", "ours-debug", "ours-evict" },
	  { TINY(1, "1us"), TINY(10, "10us"), KERNEL(100, "100us"), KERNEL(1000, "1ms"),
	    KERNEL(10000, "10ms"), KERNEL(100000, "100ms"), KERNEL(1000000, "1s") } },
	{ "queues", "offline queues", "",
	  { "native", "ours-debug", "ours-evict" },
	  { QUEUES(1), QUEUES(3), QUEUES(10), QUEUES(24), QUEUES(50), QUEUES(100), QUEUES(300),
	    { 1000, { "train.queues=500", "train.processes=2" }, NULL } } },
	{ "processes", "offline processes of 4 queues", "",
	  { "native", "ours-debug", "ours-evict" },
	  { PROCESSES(1), PROCESSES(2), PROCESSES(4), PROCESSES(8), PROCESSES(16),
	    PROCESSES(32), PROCESSES(63) } },
	{ "bytes", "saved per preemption, to VRAM", "MB",
	  { "ours-debug", "ours-evict", "bound" },
	  { BYTES(1024, "vram"), BYTES(2048, "vram"), BYTES(4096, "vram"),
	    BYTES(8192, "vram"), BYTES(16384, "vram") } },
	{ "bytes_host", "saved per preemption, to host memory", "MB",
	  { "ours-debug", "ours-evict", "bound" },
	  { BYTES(1024, "host"), BYTES(2048, "host"), BYTES(4096, "host"),
	    BYTES(8192, "host"), BYTES(16384, "host") } },
	{ "rate", "online requests", "/s",
	  { "native", "monitor-1ms", "ours-evict", "ours-hint" },
	  { RATE(10), RATE(50), RATE(100), RATE(200), RATE(300), RATE(400), RATE(450),
	    RATE(475), RATE(500), RATE(550) } },
};
enum { NR_SWEEPS = sizeof(sweeps) / sizeof(*sweeps) };

static const struct gp_compared *saver(const struct gp_comparison *c)
{
	return gp_compared_find(c, "ours-evict");
}

/* What was saved is not set but comes out. */
static double x_of(const struct point *p, const struct gp_comparison *c)
{
	const struct gp_compared *row = saver(c);
	u64 bytes;

	if (p->x > 0 || !row || !row->result.preemptions)
		return p->x;
	bytes = row->result.bytes_saved / row->result.preemptions;
	return (double)bytes / 1e6;
}

static int gather_point(struct gp_evidence *e, const struct sweep *s, const struct point *p,
			json_t *points)
{
	struct gp_trial t = {
		.scenario = "colocate", .length = p->length ? p->length : "10s",
		.quick = p->length ? "300ms" : "3s", .set = { "run.warmup=200ms" },
	};
	struct gp_comparison c;
	char repeat[512];
	json_t *o;
	int code;

	memcpy(t.rows, s->rows, sizeof(s->rows));
	for (int i = 0; i < SETS_MAX && p->set[i]; i++)
		t.set[i + 1] = t.set[i], t.set[i] = p->set[i];
	code = gp_trial_run(e, &t, &c);
	if (code)
		return code;
	o = json_object();
	gp_trial_command(e, &t, "compare", repeat, sizeof(repeat));
	gp_evidence_of(o, GP_UNITS_OF_ROWS, GP_FROM_SIMULATOR, repeat);
	snprintf(repeat, sizeof(repeat), "%.6g", x_of(p, &c));
	gp_json_put(o, "name", json_string(repeat));
	gp_json_put(o, "x", gp_json_fraction(true, x_of(p, &c)));
	gp_json_put(o, "alone_p99", json_integer((json_int_t)c.alone.online.p99));
	gp_json_put(o, "online_share",
		    gp_json_fraction(c.alone.length_ns, (double)c.alone.online_busy_ns /
				     (double)c.alone.length_ns));
	gp_json_put(o, "rows", gp_evidence_rows(&c));
	json_array_append_new(points, o);
	gp_comparison_fini(&c);
	return GP_EXIT_OK;
}

/* ---- where it stops being good ---- */

static double number_of(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static json_t *row_at(const json_t *point, const char *name)
{
	json_t *rows = json_object_get(point, "rows"), *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		if (!strcmp(gp_evidence_text(row, "name"), name))
			return row;
	}
	return NULL;
}

/* What is wrong with @row, or "". */
static void trouble(const json_t *row, char *text, size_t size)
{
	double ratio = number_of(row, "ratio_p99"), goodput = number_of(row, "goodput");
	bool has_goodput = !json_is_null(json_object_get(row, "goodput"));

	*text = 0;
	if (strcmp(gp_evidence_text(row, "state"), "ok"))
		snprintf(text, size, "it serves %.0f %% of the requests",
			 100 * number_of(row, "served") / number_of(row, "offered"));
	else if (ratio > GOOD_RATIO)
		snprintf(text, size, "p99 is %.3f times that of alone", ratio);
	else if (has_goodput && goodput < GOOD_GOODPUT)
		snprintf(text, size, "offline work keeps %.0f %% of what is left of the GPU",
			 100 * goodput);
}

/* The part of a preemption that grew most between two points, and by how much. */
static int grown(const json_t *from, const json_t *to, double *ret_ns)
{
	const json_t *a = json_object_get(from, "parts"), *b = json_object_get(to, "parts");
	int most = -1;

	*ret_ns = 0;
	for (int i = 0; i < GP_PART_TOTAL && json_is_object(a) && json_is_object(b); i++) {
		double by = number_of(b, gp_part_names[i]) - number_of(a, gp_part_names[i]);

		if (by > *ret_ns) {
			*ret_ns = by;
			most = i;
		}
	}
	return most;
}

static const char *const because[] = {
	[GP_PART_DETECT]  = "detection",
	[GP_PART_DECIDE]  = "the decision, which waits for a mechanism that is busy,",
	[GP_PART_COMMAND] = "the command",
	[GP_PART_SAVE]	  = "saving the waves",
	[GP_PART_SWITCH]  = "the switch",
};

/* Already too much at the first point: what most of it is. */
static void reason_at_once(const json_t *row, char *text, size_t size)
{
	const json_t *parts = json_object_get(row, "parts");
	int most = 0;

	for (int i = 1; i < GP_PART_TOTAL; i++) {
		if (number_of(parts, gp_part_names[i]) > number_of(parts, gp_part_names[most]))
			most = i;
	}
	snprintf(text, size, "%s takes %.0f of the %.0f us of a preemption", because[most],
		 number_of(parts, gp_part_names[most]) / 1e3, number_of(parts, "total") / 1e3);
}

/* More is added than a preemption takes at its worst: requests wait for each other. */
static bool queues_up(const json_t *row)
{
	const json_t *parts = json_object_get(row, "parts");

	return json_is_null(json_object_get(row, "added_p99")) ||
	       number_of(row, "added_p99") > 2 * number_of(parts, "total_max");
}

static void reason(const json_t *first, const json_t *point, const json_t *row, char *text,
		   size_t size)
{
	double by, added = number_of(row, "added_mean") - number_of(first, "added_mean");
	double share = number_of(point, "online_share");
	int part = grown(first, row, &by);

	if (json_is_null(json_object_get(row, "parts")))
		snprintf(text, size, "nobody takes the offline work off the GPU");
	else if (first == row)
		reason_at_once(row, text, size);
	else if (part >= 0 && by > 0.3 * added && by > 20000)
		snprintf(text, size, "%s takes %.0f us longer than at the first point",
			 because[part], by / 1e3);
	else if (share > 0.5 && queues_up(row))
		snprintf(text, size, "the online work alone needs %.0f %% of the GPU and offline "
			 "work is owed its least share (min_share), so requests queue",
			 100 * share);
	else
		snprintf(text, size, "it preempts %.2f times per request, with %.0f us each and "
			 "%.0f us at most", number_of(row, "preemptions") /
			 number_of(row, "served"),
			 number_of(json_object_get(row, "parts"), "total") / 1e3,
			 number_of(json_object_get(row, "parts"), "total_max") / 1e3);
}

static json_t *limit_of(const struct sweep *s, const json_t *points, const char *name)
{
	const json_t *first = row_at(json_array_get(points, 0), name);
	const json_t *point = NULL, *row = NULL;
	json_t *o = json_object();
	char what[128] = "", why[256] = "";
	size_t i;

	gp_json_put(o, "name", json_string(name));
	gp_json_put(o, "good_until", json_null());
	json_array_foreach(points, i, point) {
		row = row_at(point, name);
		trouble(row, what, sizeof(what));
		if (*what)
			break;
		gp_json_put(o, "good_until", json_copy(json_object_get(point, "x")));
	}
	gp_json_put(o, "bad_from", *what ? json_copy(json_object_get(point, "x")) : json_null());
	if (*what)
		reason(first, point, row, why, sizeof(why));
	gp_json_put(o, "what", json_string(what));
	gp_json_put(o, "why", json_string(why));
	gp_evidence_of(o, s->unit, "derived from the points", "scale.sweeps");
	return o;
}

static json_t *limits_of(const struct sweep *s, const json_t *points)
{
	json_t *list = json_array();

	for (int i = 0; i < ROWS_MAX && s->rows[i]; i++)
		json_array_append_new(list, limit_of(s, points, s->rows[i]));
	return list;
}

int gp_gather_scale(struct gp_evidence *e, json_t *chapter)
{
	json_t *list = json_array();

	gp_json_put(chapter, "sweeps", list);
	for (int i = 0; i < NR_SWEEPS; i++) {
		const struct sweep *s = &sweeps[i];
		json_t *o = json_object(), *points = json_array();
		int code = GP_EXIT_OK;

		json_array_append_new(list, o);
		gp_json_put(o, "name", json_string(s->name));
		gp_json_put(o, "axis", json_string(s->axis));
		gp_json_put(o, "x_unit", json_string(s->unit));
		gp_json_put(o, "points", points);
		for (int k = 0; k < POINTS_MAX && s->point[k].set[0] && !code; k++)
			code = gather_point(e, s, &s->point[k], points);
		if (code)
			return code;
		gp_json_put(o, "limits", limits_of(s, points));
	}
	gp_json_put(chapter, "good", json_string("p99 at most 1.10 times that of alone, offline "
						 "goodput at least 0.90, every request served"));
	return GP_EXIT_OK;
}
