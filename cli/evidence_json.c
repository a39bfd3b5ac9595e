// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The forms in which the evidence has its numbers. */
#include <math.h>
#include <string.h>

#include "core/account.h"
#include "evidence.h"

void gp_evidence_of(json_t *object, const char *unit, const char *source, const char *repeat)
{
	gp_json_put(object, "unit", json_string(unit));
	gp_json_put(object, "source", json_string(source));
	gp_json_put(object, "repeat", json_string(repeat));
}

json_t *gp_evidence_figure(double value, const char *unit, const char *source,
			   const char *repeat)
{
	json_t *o = json_object();

	gp_json_put(o, "value", gp_json_fraction(true, value));
	gp_evidence_of(o, unit, source, repeat);
	return o;
}

const char *gp_evidence_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void put_ns(json_t *o, const char *key, u64 ns)
{
	gp_json_put(o, key, json_integer((json_int_t)ns));
}

static json_t *parts(const struct gp_result *r)
{
	json_t *o = json_object();

	for (int i = 0; i < GP_NR_PARTS; i++)
		put_ns(o, gp_part_names[i], r->part[i].mean);
	put_ns(o, "total_max", r->part[GP_PART_TOTAL].max);
	return o;
}

static void put_figures(json_t *o, const struct gp_compared *row)
{
	const struct gp_figures *f = &row->figures;
	const struct gp_result *r = &row->result;

	gp_json_put(o, "added_mean", f->has_added ? json_integer(f->added.mean) : json_null());
	gp_json_put(o, "added_p99", f->has_added ? json_integer(f->added.p99) : json_null());
	gp_json_put(o, "ratio_mean", gp_json_fraction(f->has_ratio, f->ratio_mean));
	gp_json_put(o, "ratio_p99", gp_json_fraction(f->has_ratio, f->ratio_p99));
	gp_json_put(o, "goodput", gp_json_fraction(f->has_goodput && r->offline_work_ns,
						   f->goodput));
	gp_json_put(o, "monitor_cpu", gp_json_fraction(true, f->monitor_cpu));
}

json_t *gp_evidence_row(const struct gp_compared *row)
{
	const struct gp_result *r = &row->result;
	json_t *o = json_object();

	gp_json_put(o, "name", json_string(row->name));
	if (row->err) {
		gp_json_put(o, "state", json_string("not run"));
		gp_json_put(o, "why", json_string(row->why));
		return o;
	}
	gp_json_put(o, "state", json_string(row->figures.saturated ? "saturated" : "ok"));
	put_ns(o, "mean", r->online.mean);
	put_ns(o, "p99", r->online.p99);
	put_ns(o, "max", r->online.max);
	put_figures(o, row);
	put_ns(o, "preemptions", r->preemptions);
	put_ns(o, "served", r->served);
	put_ns(o, "offered", r->offered);
	put_ns(o, "bytes_per_save", r->preemptions ? r->bytes_saved / r->preemptions : 0);
	put_ns(o, "work_lost", r->work_lost);
	put_ns(o, "work_doubled", r->work_doubled);
	gp_json_put(o, "parts", r->part[GP_PART_TOTAL].count ? parts(r) : json_null());
	return o;
}

json_t *gp_evidence_rows(const struct gp_comparison *c)
{
	json_t *rows = json_array();

	for (u32 i = 0; i < c->nr; i++)
		json_array_append_new(rows, gp_evidence_row(&c->row[i]));
	return rows;
}
