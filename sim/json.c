// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Results as JSON. */
#include "json.h"

#include <stdlib.h>

#include "core/account.h"
#include "vgpu/facts.h"

static_assert(GP_RESULT_PARTS == (int)GP_NR_PARTS, "a part has no name");

static const char *const source_names[] = {
	[VGPU_UNSET]	= "unset",
	[VGPU_MEASURED]	= "measured",
	[VGPU_READ]	= "read",
	[VGPU_ASSUMED]	= "assumed",
};

/* Ends the program without memory. No state is lost, because results are printed at once. */
static json_t *must(json_t *value)
{
	if (!value) {
		fputs("gpreempt: out of memory\n", stderr);
		abort();
	}
	return value;
}

void gp_json_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, must(value)))
		must(NULL);
}

static void put_integer(json_t *object, const char *key, u64 value)
{
	gp_json_put(object, key, json_integer((json_int_t)value));
}

/* JSON is UTF-8; the names of files and tasks need not be. */
static void put_text(json_t *object, const char *key, const char *text)
{
	json_t *value = json_string(text);
	char ascii[256];
	size_t i;

	if (!value) {
		for (i = 0; i < sizeof(ascii) - 1 && text[i]; i++)
			ascii[i] = text[i] & 0x80 ? '?' : text[i];
		ascii[i] = 0;
		value = json_string(ascii);
	}
	gp_json_put(object, key, value);
}

json_t *gp_json_fraction(bool known, double value)
{
	double millionths = (double)(s64)(value * 1e6 + (value < 0 ? -0.5 : 0.5));

	return must(known ? json_real(millionths / 1e6) : json_null());
}

static json_t *latencies(const struct gp_spread *s)
{
	json_t *o;

	/* Without answered requests there is no latency. */
	if (!s->count)
		return must(json_null());
	o = must(json_object());
	put_integer(o, "mean", s->mean);
	put_integer(o, "p50", s->p50);
	put_integer(o, "p99", s->p99);
	put_integer(o, "p999", s->p999);
	put_integer(o, "max", s->max);
	return o;
}

static json_t *added(const struct gp_figures *f)
{
	json_t *o;

	if (!f->has_added)
		return must(json_null());
	o = must(json_object());
	gp_json_put(o, "mean", json_integer(f->added.mean));
	gp_json_put(o, "p50", json_integer(f->added.p50));
	gp_json_put(o, "p99", json_integer(f->added.p99));
	gp_json_put(o, "max", json_integer(f->added.max));
	return o;
}

static json_t *ratio(const struct gp_figures *f)
{
	json_t *o;

	if (!f->has_ratio)
		return must(json_null());
	o = must(json_object());
	gp_json_put(o, "mean", gp_json_fraction(true, f->ratio_mean));
	gp_json_put(o, "p99", gp_json_fraction(true, f->ratio_p99));
	return o;
}

static json_t *breakdown(const struct gp_result *r)
{
	json_t *o;

	if (!r->part[GP_PART_TOTAL].count)
		return must(json_null());
	o = must(json_object());
	for (int i = 0; i < GP_RESULT_PARTS; i++) {
		json_t *part = must(json_object());

		put_integer(part, "mean", r->part[i].mean);
		put_integer(part, "p99", r->part[i].p99);
		put_integer(part, "max", r->part[i].max);
		gp_json_put(o, gp_part_names[i], part);
	}
	return o;
}

static json_t *task(const struct gp_task_result *t)
{
	json_t *o = must(json_object());

	put_text(o, "name", t->name);
	put_text(o, "role", t->online ? "online" : "offline");
	put_integer(o, "offered", t->offered);
	put_integer(o, "served", t->served);
	gp_json_put(o, "latency", latencies(&t->latency));
	put_integer(o, "work", t->work_ns);
	put_integer(o, "kernels", t->kernels);
	put_integer(o, "preempted", t->preempted);
	put_integer(o, "on", t->on_ns);
	put_integer(o, "off", t->off_ns);
	put_integer(o, "longest_hold", t->longest_hold_ns);
	put_integer(o, "share_min_ppm", t->share_min);
	put_integer(o, "share_max_ppm", t->share_max);
	put_integer(o, "deadline_misses", t->deadline_misses);
	return o;
}

static json_t *tasks(const struct gp_result *r)
{
	json_t *a = must(json_array());

	for (u32 i = 0; i < r->nr_tasks; i++) {
		if (json_array_append_new(a, task(&r->task[i])))
			must(NULL);
	}
	return a;
}

/* Adds counters that are not compared but help to check a claim. */
static void put_counters(json_t *row, const struct gp_result *r)
{
	put_integer(row, "victim_on", r->victim_on);
	put_integer(row, "offline_work", r->offline_work_ns);
	put_integer(row, "monitor_cpu_ns", r->monitor_cpu_ns);
	put_integer(row, "looks", r->looks);
	put_integer(row, "probes", r->probes);
	put_integer(row, "wakeups", r->wakeups);
	put_integer(row, "bytes_saved", r->bytes_saved);
	put_integer(row, "waves_saved", r->waves_saved);
	put_integer(row, "online_waves_saved", r->online_waves_saved);
	put_integer(row, "lost_tasks", r->lost_tasks);
	put_integer(row, "ejections", r->ejections);
}

json_t *gp_json_row(const char *name, const struct gp_result *r, const struct gp_figures *f)
{
	json_t *row = must(json_object());

	put_text(row, "name", name);
	put_text(row, "state", f->saturated ? "saturated" : "ok");
	put_integer(row, "served", r->served);
	put_integer(row, "offered", r->offered);
	gp_json_put(row, "online", latencies(&r->online));
	gp_json_put(row, "added", added(f));
	gp_json_put(row, "ratio", ratio(f));
	gp_json_put(row, "offline_goodput", gp_json_fraction(f->has_goodput, f->goodput));
	gp_json_put(row, "total_work", gp_json_fraction(f->has_total_work, f->total_work));
	gp_json_put(row, "cost", f->has_cost ? json_integer((json_int_t)f->cost) : json_null());
	gp_json_put(row, "total_vs_native", gp_json_fraction(f->has_total, f->total_vs_native));
	put_integer(row, "work_lost", r->work_lost);
	put_integer(row, "work_doubled", r->work_doubled);
	put_integer(row, "preemptions", r->preemptions);
	gp_json_put(row, "breakdown", breakdown(r));
	gp_json_put(row, "monitor_cpu", gp_json_fraction(true, f->monitor_cpu));
	put_text(row, "weakest_source", source_names[r->weakest & 3]);
	put_counters(row, r);
	gp_json_put(row, "tasks", tasks(r));
	return row;
}

json_t *gp_json_head(const char *scenario, u64 seed)
{
	json_t *head = must(json_object());

	put_integer(head, "schema", GP_JSON_SCHEMA);
	put_text(head, "scenario", scenario);
	put_integer(head, "seed", seed);
	return head;
}

int gp_json_print(json_t *value, FILE *to)
{
	int bad = json_dumpf(value, to, JSON_INDENT(2) | JSON_REAL_PRECISION(12));

	json_decref(value);
	return bad || fputc('\n', to) == EOF || fflush(to) ? -EIO : 0;
}
