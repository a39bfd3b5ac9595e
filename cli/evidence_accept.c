// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Chapter: the bars, what the documents expected, and what came out. It comes last, since
 * every figure is one of another chapter.
 */
#include <string.h>

#include "core/account.h"
#include "evidence.h"

#include "evidence_path.h"

enum level { MUST, SHOULD, NICE, OWN };
static const char *const levels[] = { "must", "should", "nice", "own" };

enum op { BELOW, AT_MOST, AT_LEAST, EQUAL };

/* How a value is shown: the number of the path is divided by @per. */
static const struct bar {
	u8 level;		/* enum level */
	u8 op;			/* enum op */
	const char *claim;
	const char *path;
	double limit, per;
	const char *unit;
	const char *expected, *accepted;	/* by the documents; "" of our own */
} bars[] = {
#define US	1e3, "us"
#define MS	1e6, "ms"
#define MS_US	1e3, "ms"	/* of a figure in us */
#define PLAIN	1, ""
#define TIMES	1, "times alone"
#define LOSS	"offline loss, beyond what the online work itself takes, "
	{ MUST, AT_LEAST, "online work preempts offline work, by the stock driver",
	  "compare.rows.ours-debug.preemptions", 1, 1, "preemptions", "", "it does" },
	{ MUST, AT_LEAST, "online work preempts offline work, by our module",
	  "compare.rows.ours-evict.preemptions", 1, 1, "preemptions", "", "it does" },
	{ MUST, EQUAL, "offline work resumes, nothing lost or done twice: all rows of ours",
	  "derived.ours_lost_or_doubled", 0, 1, "workgroups", "", "none" },
	{ MUST, EQUAL, "no crash: scenarios whose run broke off or broke a promise",
	  "suite.failed", 0, 1, "expectations", "", "none" },
	{ MUST, EQUAL, "no crash: lab-colocate in the lab, every sum right",
	  "lab.colocate.exit", 0, 1, "exit code", "", "0" },

	{ SHOULD, BELOW, "worst online request, stock driver", "compare.rows.ours-debug.online.max",
	  50, MS, "5..10 ms", "< 50 ms" },
	{ SHOULD, BELOW, "worst online request, our module", "compare.rows.ours-evict.online.max",
	  50, MS, "5..10 ms", "< 50 ms" },
	{ SHOULD, BELOW, "worst suspend, stock driver",
	  "interfaces.rows.suspend_queues.switches.stop_max", 5, MS_US, "1..3 ms", "< 5 ms" },
	{ SHOULD, BELOW, "worst resume, stock driver",
	  "interfaces.rows.suspend_queues.switches.start_max", 5, MS_US, "1..3 ms", "< 5 ms" },
	{ SHOULD, BELOW, LOSS "stock driver", "derived.loss_debug", 20, 1, "%", "5..10 %",
	  "< 20 %" },
	{ SHOULD, BELOW, LOSS "our module", "derived.loss_evict", 20, 1, "%", "5..10 %",
	  "< 20 %" },
	{ SHOULD, EQUAL, "an hour of virtual time without error, stock driver",
	  "suite.hour.rows.ours-debug.errors", 0, 1, "errors", "", "none" },
	{ SHOULD, EQUAL, "an hour of virtual time without error, our module",
	  "suite.hour.rows.ours-evict.errors", 0, 1, "errors", "", "none" },

	{ NICE, BELOW, "worst online request, stock driver", "compare.rows.ours-debug.online.max",
	  10, MS, "5..10 ms", "< 10 ms" },
	{ NICE, BELOW, "worst online request, our module", "compare.rows.ours-evict.online.max",
	  10, MS, "5..10 ms", "< 10 ms" },
	{ NICE, BELOW, LOSS "stock driver", "derived.loss_debug", 10, 1, "%", "5..10 %",
	  "< 10 %" },
	{ NICE, BELOW, LOSS "our module", "derived.loss_evict", 10, 1, "%", "5..10 %",
	  "< 10 %" },
	{ NICE, BELOW, "stage 2 stops within a millisecond",
	  "interfaces.rows.direct CWSR, evict.switches.stop_max", 1, MS_US, "30..100 us",
	  "< 1 ms" },
	{ NICE, AT_LEAST, "a full analysis: chapters of this report", "derived.chapters", 9, PLAIN,
	  "", "a report" },

	{ OWN, EQUAL, "expectations of the scenarios that do not hold", "suite.failed", 0, 1,
	  "of them", "", "none" },
	{ OWN, AT_MOST, "added latency, mean", "compare.rows.ours-evict.added.mean", 65, US, "",
	  "" },
	{ OWN, AT_MOST, "added latency, p99", "compare.rows.ours-evict.added.p99", 110, US, "",
	  "" },
	{ OWN, AT_MOST, "latency, mean", "compare.rows.ours-evict.ratio.mean", 1.035, TIMES, "",
	  "" },
	{ OWN, AT_MOST, "latency, p99", "compare.rows.ours-evict.ratio.p99", 1.03, TIMES, "", "" },
	{ OWN, AT_MOST, "latency with a hint, mean", "compare.rows.ours-hint.ratio.mean", 1.01,
	  TIMES, "", "" },
	{ OWN, AT_MOST, "latency with a hint, p99", "compare.rows.ours-hint.ratio.p99", 1.01, TIMES,
	  "", "" },
	{ OWN, AT_LEAST, "offline goodput", "compare.rows.ours-evict.offline_goodput", 0.98, PLAIN,
	  "", "" },
	{ OWN, AT_MOST, "measured beside the closed form, off by",
	  "derived.off_closed_form", 10, 1, "%", "", "" },
	{ OWN, AT_MOST, "taking the GPU, without detection, beyond 1.3 x the bound + 5 us",
	  "derived.beyond_bound", 0, US, "", "" },
	{ OWN, AT_MOST, "documents' time line reproduced (5.011, 1.011, 0.011 ms), off by",
	  "derived.off_documents", 0.5, 1, "us", "", "" },
	{ OWN, EQUAL, "rows that change places by p99 with every assumed cost x 0.5 and x 3",
	  "robust.changed", 0, 1, "pairs", "", "" },
	{ OWN, EQUAL, "a fixed linger that dominates the learnt one", "frontier.fixed_dominates",
	  0, PLAIN, "", "" },
	{ OWN, EQUAL, "operations that simulator and real driver do differently, or 10 % apart",
	  "derived.operations_off", 0, PLAIN, "", "" },
};
enum { NR_BARS = sizeof(bars) / sizeof(*bars) };

/* ---- figures made of others ---- */

static double number(const struct gp_evidence *e, const char *path)
{
	struct gp_number f;

	return gp_evidence_at(e->root, path, &f) ? f.value : 0;
}

static void derive(json_t *to, const char *key, double value, const char *repeat)
{
	gp_json_put(to, key, gp_evidence_figure(value, "", GP_FROM_SIMULATOR, repeat));
}

static double off_documents(const struct gp_evidence *e)
{
	static const char *const rows[] = { "monitor-5ms", "monitor-1ms", "manual" };
	double most = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char is[96], says[96];
		double off;

		snprintf(is, sizeof(is), "steps.their_costs.rows.%s.total", rows[i]);
		snprintf(says, sizeof(says), "steps.their_costs.rows.%s.documents", rows[i]);
		off = number(e, is) - number(e, says);
		off = off < 0 ? -off : off;
		most = off > most ? off : most;
	}
	return most;
}

/* No operation at all is no agreement: then there is no such figure. */
static void derive_operations(const json_t *lab, json_t *to)
{
	json_t *rows = json_object_get(json_object_get(lab, "model_error"), "rows"), *row;
	u32 off = 0;
	size_t i;

	json_array_foreach(rows, i, row)
		off += json_is_true(json_object_get(row, "off"));
	if (json_array_size(rows))
		gp_json_put(to, "operations_off", gp_evidence_figure(off, "", GP_FROM_LAB,
								     "lab/model-error --json"));
}

/* Members that are objects; what is derived from them is none of its own. */
static double chapters(json_t *root)
{
	const char *key;
	json_t *member;
	double n = 0;

	json_object_foreach(root, key, member)
		n += json_is_object(member) && strcmp(key, "derived");
	return n;
}

static void derive_all(struct gp_evidence *e, json_t *to)
{
	const struct gp_compared *ours = gp_compared_find(&e->main, "ours-evict");
	const struct gp_compared *bound = gp_compared_find(&e->main, "bound");
	const json_t *lab = json_object_get(e->root, "lab");
	const json_t *steps = json_object_get(e->root, "steps");
	double bad = 0, form;

	for (u32 i = 0; i < e->main.nr; i++) {
		const struct gp_result *r = &e->main.row[i].result;

		if (!strncmp(e->main.row[i].name, "ours", 4))
			bad += (double)(r->work_lost + r->work_doubled) + !!e->main.row[i].err;
	}
	derive(to, "ours_lost_or_doubled", bad, e->repeat_main);
	derive(to, "loss_debug",
	       100 * (1 - number(e, "compare.rows.ours-debug.offline_goodput")), e->repeat_main);
	derive(to, "loss_evict",
	       100 * (1 - number(e, "compare.rows.ours-evict.offline_goodput")), e->repeat_main);
	form = number(e, "compare.closed_form.measured_of_form") - 1;
	derive(to, "off_closed_form", 100 * (form < 0 ? -form : form), e->repeat_main);
	if (ours && bound)
		derive(to, "beyond_bound",
		       (double)ours->result.part[GP_PART_TOTAL].mean -
		       (double)ours->result.part[GP_PART_DETECT].mean -
		       1.3 * (double)bound->result.part[GP_PART_TOTAL].mean - 5000,
		       e->repeat_main);
	derive(to, "off_documents", off_documents(e),
	       gp_evidence_text(json_object_get(steps, "their_costs"), "repeat"));
	derive(to, "chapters", chapters(e->root), "gpreempt report");
	derive_operations(lab, to);
}

/* ---- the table ---- */

static bool holds(const struct bar *b, double value)
{
	switch (b->op) {
	case BELOW:	return value < b->limit;
	case AT_MOST:	return value <= b->limit;
	case AT_LEAST:	return value >= b->limit;
	default:	return value >= b->limit && value <= b->limit;
	}
}

/* Of runs that were cut short, what needs their length shows nothing either way. */
static bool tried(const struct gp_evidence *e, const struct bar *b, const struct gp_number *n)
{
	bool simulated = !strcmp(n->source, GP_FROM_SIMULATOR);

	return !e->o->length || (strncmp(b->path, "suite.", 6) && !(simulated && b->level == OWN));
}

static json_t *judge(struct gp_evidence *e, const struct bar *b)
{
	static const char *const ops[] = { "<", "<=", ">=", "=" };
	json_t *o = json_object();
	struct gp_number f;
	bool found = gp_evidence_at(e->root, b->path, &f) && tried(e, b, &f), good;
	char limit[64];

	snprintf(limit, sizeof(limit), "%s %.6g %s", ops[b->op], b->limit, b->unit);
	gp_json_put(o, "level", json_string(levels[b->level]));
	gp_json_put(o, "claim", json_string(b->claim));
	gp_json_put(o, "expected", json_string(b->expected));
	gp_json_put(o, "accepted", json_string(*b->accepted ? b->accepted : limit));
	gp_json_put(o, "path", json_string(b->path));
	gp_json_put(o, "limit", gp_json_fraction(true, b->limit));
	gp_json_put(o, "value", gp_json_fraction(found, f.value / b->per));
	gp_evidence_of(o, b->unit, found ? f.source : "", found ? f.repeat : "");
	good = found && holds(b, f.value / b->per);
	gp_json_put(o, "result", json_string(!found ? "not tried" : good ? "pass" : "fail"));
	if (found && !good && (b->level == MUST || b->level == SHOULD))
		e->failed++;
	return o;
}

int gp_gather_acceptance(struct gp_evidence *e, json_t *chapter)
{
	json_t *list = json_array(), *derived = json_object();

	gp_json_put(e->root, "derived", derived);
	derive_all(e, derived);
	for (int i = 0; i < NR_BARS; i++)
		json_array_append_new(list, judge(e, &bars[i]));
	gp_json_put(chapter, "bars", list);
	gp_json_put(chapter, "failed", json_integer(e->failed));
	gp_evidence_of(chapter, "bars that must or should hold and do not", "this report",
		       "gpreempt report");
	return GP_EXIT_OK;
}
