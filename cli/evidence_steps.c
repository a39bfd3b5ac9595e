// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Chapter: one preemption, step by step, at the worst moment: the monitor looked just
 * before the work came. Once with the costs of the documents this project began with,
 * which must give their sums, and once with ours.
 */
#include <stdlib.h>
#include <string.h>

#include "core/account.h"
#include "evidence.h"
#include "sim/costs.h"

/* What the documents say of each step, in the order in which they happen. */
static const struct {
	const char *step;
	const char *part;	/* of our five; NULL: before the first or beside them */
	double low, high;	/* us */
	const char *note;
} documented[] = {
	{ "submit: doorbell write", NULL, 0.1, 0.1, "seen by nobody but the GPU" },
	{ "detect: until the monitor looks", "detect", 0, 5000,
	  "0 to 5 ms, or 1 ms while a critical queue exists" },
	{ "read all queue states", "detect", 10, 10, "left out of their own sum" },
	{ "check for inversion", "decide", 1, 1, "left out of their own sum" },
	{ "trigger: PM4 on the HIQ ring", "command", 1, 1, NULL },
	{ "command processor acts", "command", 1, 1, "part of the trigger in their sum" },
	{ "save waves by the trap handler", "save", 1, 10, "about 100 ns a wave" },
	{ "release compute units", "save", 1, 1, "part of the save in their sum" },
	{ "switch: dispatch the next queue", "switch", 0, 1, "below 1 us" },
	{ "completion notice", NULL, 10, 10, "beside the path: nobody waits for it" },
};

static const struct {
	const char *row;
	double total_us;	/* as the documents sum it up */
} told[] = {
	{ "monitor-5ms", 5011 }, { "monitor-1ms", 1011 }, { "manual", 11 },
};

#define ROWS	"monitor-5ms", "monitor-1ms", "manual", "ours-debug", "ours-evict", \
		"ours-direct", "ours-hint"

static const struct gp_trial with_their_costs = {
	.scenario = "timeline", .rows = { ROWS },
};
static const struct gp_trial with_our_costs = {
	.scenario = "timeline", .rows = { ROWS }, .set = { "costs.set=ours" },
};

static double told_of(const char *row)
{
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
		if (!strcmp(told[i].row, row))
			return told[i].total_us;
	}
	return 0;
}

static json_t *preemption(const struct gp_compared *row, bool theirs)
{
	const struct gp_result *r = &row->result;
	double is = (double)r->part[GP_PART_TOTAL].max / 1e3, says = told_of(row->name);
	json_t *o = json_object(), *parts = json_object();

	gp_json_put(o, "name", json_string(row->name));
	gp_json_put(o, "what", json_string(row->what));
	for (int i = 0; i < GP_PART_TOTAL; i++)
		gp_json_put(parts, gp_part_names[i],
			    gp_json_fraction(true, (double)r->part[i].max / 1e3));
	gp_json_put(o, "parts", parts);
	gp_json_put(o, "total", gp_json_fraction(true, is));
	if (theirs && says > 0) {
		gp_json_put(o, "documents", gp_evidence_figure(says, "us", GP_FROM_DOCUMENTS,
							       "their document 000"));
		gp_json_put(o, "agrees", json_boolean(is > says - 0.5 && is < says + 0.5));
	}
	return o;
}

static int gather(struct gp_evidence *e, const struct gp_trial *t, json_t **ret)
{
	json_t *o = json_object(), *rows = json_array();
	struct gp_comparison c;
	char repeat[256];
	int code = gp_trial_run(e, t, &c);

	if (code)
		return code;
	gp_trial_command(e, t, "compare", repeat, sizeof(repeat));
	gp_evidence_of(o, "us", GP_FROM_SIMULATOR, repeat);
	for (u32 i = 0; i < c.nr; i++)
		json_array_append_new(rows, preemption(&c.row[i], t == &with_their_costs));
	gp_json_put(o, "rows", rows);
	gp_comparison_fini(&c);
	*ret = o;
	return GP_EXIT_OK;
}

static json_t *documents(void)
{
	json_t *o = json_object(), *list = json_array();

	gp_evidence_of(o, "us", GP_FROM_DOCUMENTS, "their document 000");
	for (size_t i = 0; i < sizeof(documented) / sizeof(*documented); i++) {
		json_t *step = json_object();

		gp_json_put(step, "name", json_string(documented[i].step));
		gp_json_put(step, "part", documented[i].part ? json_string(documented[i].part) :
							       json_null());
		gp_json_put(step, "low", gp_json_fraction(true, documented[i].low));
		gp_json_put(step, "high", gp_json_fraction(true, documented[i].high));
		gp_json_put(step, "note", json_string(documented[i].note ? documented[i].note :
									    ""));
		json_array_append_new(list, step);
	}
	gp_json_put(o, "steps", list);
	return o;
}

/* Our own steps are finer than the five parts: the facts they are made of. */
static json_t *our_steps(void)
{
	static const struct {
		const char *name, *part;
		enum vgpu_fact_id id;
	} ours[] = {
		{ "wake the worker", "decide", VGPU_WAKE_NS },
		{ "decide", "decide", VGPU_DECIDE_NS },
		{ "command: doorbell of the HIQ until the CP acts", "command", VGPU_COMMAND_NS },
		{ "grace: shortest", "command", VGPU_GRACE_NS },
		{ "save: fixed part", "save", VGPU_SAVE_FIXED_NS },
		{ "run list: fence seen until the next is on the ring", "switch",
		  VGPU_RUNLIST_NS },
		{ "map a process", "switch", VGPU_MAP_PROCESS_NS },
		{ "map a queue", "switch", VGPU_MAP_QUEUE_NS },
		{ "dispatch: mapped until the first wave runs", "switch", VGPU_DISPATCH_NS },
	};
	const struct vgpu_facts *f = vgpu_profile("mi308x");
	json_t *o = json_object(), *list = json_array();

	gp_evidence_of(o, "us", GP_FROM_ASSUMED, "gpreempt facts");
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		json_t *step = json_object();

		gp_json_put(step, "name", json_string(ours[i].name));
		gp_json_put(step, "part", json_string(ours[i].part));
		gp_json_put(step, "value",
			    gp_json_fraction(true, (double)vgpu_value(f, ours[i].id) / 1e3));
		gp_json_put(step, "note", json_string(f->f[ours[i].id].note));
		json_array_append_new(list, step);
	}
	gp_json_put(o, "steps", list);
	return o;
}

int gp_gather_steps(struct gp_evidence *e, json_t *chapter)
{
	json_t *theirs = NULL, *ours = NULL;
	int code = gather(e, &with_their_costs, &theirs);

	if (!code)
		code = gather(e, &with_our_costs, &ours);
	if (code) {
		json_decref(theirs);
		return code;
	}
	gp_json_put(chapter, "documents", documents());
	gp_json_put(chapter, "their_costs", theirs);
	gp_json_put(chapter, "our_costs", ours);
	gp_json_put(chapter, "our_steps", our_steps());
	return GP_EXIT_OK;
}
