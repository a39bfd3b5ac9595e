// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Results as text: the tables of a run and of a comparison. */
#include "results.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/account.h"
#include "sim/closed.h"
#include "sim/costs.h"

bool gp_is_ours(const char *row)
{
	return !strncmp(row, "ours", 4);
}

enum gp_paint gp_row_paint(const struct gp_compared *row)
{
	return gp_is_ours(row->name) ? GP_OURS : row->figures.saturated ? GP_DIM : GP_PLAIN;
}

void gp_results_head(const struct gp_scenario *sc, const char *label, u64 seed, u64 last_seed)
{
	struct gp_costs costs;
	char chip[sizeof(sc->profile)];
	size_t i;

	for (i = 0; sc->profile[i]; i++)
		chip[i] = (char)toupper((unsigned char)sc->profile[i]);
	chip[i] = 0;
	printf("%s%s%s: %s of virtual time after %s of warm-up, ", gp_paint(GP_BOLD), label,
	       gp_paint(GP_PLAIN), gp_duration(sc->length_ns).s, gp_duration(sc->warmup_ns).s);
	if (seed == last_seed)
		printf("seed %" PRIu64 "\n", seed);
	else
		printf("seeds %" PRIu64 "..%" PRIu64 "\n", seed, last_seed);
	printf("model: virtual %s, no hardware", chip);
	if (!gp_costs_of(sc, &costs))
		printf("; waves are saved to %s, read pointers move at %s",
		       vgpu_value(&costs.device, VGPU_SAVE_AREA) == VGPU_SAVE_HOST ?
		       "host memory" : "VRAM",
		       vgpu_value(&costs.device, VGPU_RPTR_AT) == VGPU_RPTR_AT_LAUNCH ?
		       "launch" : "completion");
	puts("\n");
}

void gp_results_parts(const struct gp_result *r)
{
	static const char *const head[] = { "preemption", "mean", "p99", "max", NULL };
	struct gp_table t;

	printf("\n%s preemptions", gp_count(r->preemptions).s);
	if (r->part[GP_PART_TOTAL].count) {
		puts(":");
		gp_table_init(&t, head, 1 << 0);
		for (int i = 0; i < GP_NR_PARTS; i++) {
			gp_table_row(&t, i == GP_PART_TOTAL ? GP_BOLD : GP_PLAIN);
			gp_table_cell(&t, gp_part_names[i]);
			gp_table_cell(&t, gp_time(r->part[i].mean).s);
			gp_table_cell(&t, gp_time(r->part[i].p99).s);
			gp_table_cell(&t, gp_time(r->part[i].max).s);
		}
		gp_table_print(&t, stdout);
	} else {
		puts("");
	}
	printf("%s looks, %s probes, %s wake-ups: %.2f %% of a core; %" PRIu64 " workgroups lost, %"
	       PRIu64 " done twice\n", gp_count(r->looks).s, gp_count(r->probes).s,
	       gp_count(r->wakeups).s,
	       r->length_ns ? 100.0 * (double)r->monitor_cpu_ns / (double)r->length_ns : 0.0,
	       r->work_lost, r->work_doubled);
}

static void state_of(const struct gp_compared *row, char *text, size_t size)
{
	const struct gp_result *r = &row->result;

	if (r->work_lost || r->work_doubled)
		snprintf(text, size, "work lost %" PRIu64 ", doubled %" PRIu64, r->work_lost,
			 r->work_doubled);
	else if (row->figures.saturated)
		snprintf(text, size, "saturated, served %.1f %%",
			 100.0 * (double)r->served / (double)r->offered);
	else
		snprintf(text, size, "ok");
}

static void latency_row(struct gp_table *t, const struct gp_compared *row)
{
	const struct gp_figures *f = &row->figures;
	const struct gp_spread *l = &row->result.online;
	char state[64];

	state_of(row, state, sizeof(state));
	gp_table_row(t, gp_row_paint(row));
	gp_table_cell(t, row->name);
	gp_table_cell(t, l->count ? gp_time(l->mean).s : "-");
	gp_table_cell(t, l->count ? gp_time(l->p50).s : "-");
	gp_table_cell(t, l->count ? gp_time(l->p99).s : "-");
	gp_table_cell(t, l->count ? gp_time(l->max).s : "-");
	gp_table_cell(t, gp_fraction(f->has_ratio, f->ratio_mean, 3).s);
	gp_table_cell(t, gp_fraction(f->has_ratio, f->ratio_p99, 3).s);
	gp_table_cell(t, f->has_added ? gp_time_signed(f->added.mean).s : "-");
	gp_table_cell(t, f->has_added ? gp_time_signed(f->added.p99).s : "-");
	gp_table_cell(t,
		      gp_fraction(f->has_goodput && row->result.offline_work_ns, f->goodput, 3).s);
	gp_table_cell(t, gp_fraction(f->has_total_work, f->total_work, 3).s);
	gp_table_cell(t, f->has_cost ? gp_time_signed((s64)f->cost).s : "-");
	gp_table_cell(t, state);
}

static void parts_row(struct gp_table *t, const struct gp_compared *row)
{
	const struct gp_result *r = &row->result;
	bool known = r->part[GP_PART_TOTAL].count;

	gp_table_row(t, gp_row_paint(row));
	gp_table_cell(t, row->name);
	gp_table_cell(t, gp_count(r->preemptions).s);
	for (int i = 0; i < GP_NR_PARTS; i++)
		gp_table_cell(t, known ? gp_time(r->part[i].mean).s : "-");
	gp_table_cell(t, known ? gp_time(r->part[GP_PART_TOTAL].p99).s : "-");
	gp_table_cell(t, known ? gp_time(r->part[GP_PART_TOTAL].max).s : "-");
	gp_table_cell(t, gp_percent(row->figures.monitor_cpu).s);
}

static void print_failed(const struct gp_comparison *c)
{
	for (u32 i = 0; i < c->nr; i++) {
		if (c->row[i].err)
			printf("%snot run:%s %s: %s\n", gp_paint(GP_BAD), gp_paint(GP_PLAIN),
			       c->row[i].name, c->row[i].why);
	}
}

void gp_results_rows(const struct gp_comparison *c)
{
	static const char *const latency[] = {
		"online requests", "mean", "p50", "p99", "max", "x mean", "x p99", "+ mean",
		"+ p99", "goodput", "work", "cost", "state", NULL,
	};
	static const char *const parts[] = {
		"preemption (mean)", "times", "detect", "decide", "command", "save", "switch",
		"total", "p99", "max", "monitor", NULL,
	};
	struct gp_table t;

	gp_table_init(&t, latency, 1 << 0 | 1 << 12);
	for (u32 i = 0; i < c->nr; i++) {
		if (!c->row[i].err)
			latency_row(&t, &c->row[i]);
	}
	gp_table_print(&t, stdout);
	printf("%sx, +: against the same requests alone; goodput: offline work / what fits on\n"
	       "the slots and time that the online work leaves; work: all work / all slots;\n"
	       "cost: offline GPU time per request, for added latency and lost work%s\n\n",
	       gp_paint(GP_DIM), gp_paint(GP_PLAIN));

	gp_table_init(&t, parts, 1 << 0);
	for (u32 i = 0; i < c->nr; i++) {
		if (!c->row[i].err &&
		    (c->row[i].result.preemptions || c->row[i].result.monitor_cpu_ns))
			parts_row(&t, &c->row[i]);
	}
	if (t.rows > 1)
		gp_table_print(&t, stdout);
	else
		gp_table_drop(&t);
	print_failed(c);
}

static void print_closed(const struct gp_scenario *sc, const struct gp_compared *row)
{
	struct gp_closed f;
	double measured;

	if (!row || !row->figures.has_added || gp_closed_form(sc, row, &f))
		return;
	measured = (double)row->figures.added.mean / 1e3;
	printf("closed form of %s: poll/2 %.1f + wake %.1f + decide %.1f + command %.1f +\n"
	       "  grace %.1f + save %.1f + runlist %.1f + map and dispatch %.1f = %.1f us; x\n"
	       "  %.3f (found a victim on the GPU) = %.1f us; measured mean %.1f us (%+.1f %%)\n",
	       row->name, (double)f.poll_ns / 1e3, (double)f.wake_ns / 1e3,
	       (double)f.decide_ns / 1e3, (double)f.command_ns / 1e3, (double)f.grace_ns / 1e3,
	       (double)f.save_ns / 1e3, (double)f.runlist_ns / 1e3, (double)f.map_ns / 1e3,
	       (double)f.sum_ns / 1e3, f.victim_on, (double)f.added_ns / 1e3, measured,
	       100 * (measured * 1e3 / (double)f.added_ns - 1));
}

void gp_results_notes(const struct gp_scenario *sc, const struct gp_comparison *c)
{
	static const char *const sources[] = { "unset", "measured", "read", "assumed" };
	u8 weakest = 0;

	putchar('\n');
	gp_results_verdict(c);
	print_closed(sc, gp_compared_find(c, "ours-evict"));
	for (u32 i = 0; i < c->nr; i++) {
		if (!c->row[i].err && c->row[i].result.weakest > weakest)
			weakest = c->row[i].result.weakest;
	}
	printf("weakest source of a number used: %s (`gpreempt facts` lists them all)\n",
	       sources[weakest & 3]);
}
