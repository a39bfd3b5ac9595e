// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Chapters that put what was measured beside what the documents this project began with
 * expected: the three interfaces, the placements of the monitor, AMD beside NVIDIA.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "sim/rows.h"
#include "vgpu/facts.h"

/* What a document says; times in microseconds, low = high if it names one. */
struct told {
	const char *where;
	double low, high;
};

static json_t *told(const struct told *t)
{
	json_t *o;

	if (!t->where)
		return json_null();
	o = json_object();
	gp_evidence_of(o, "us", GP_FROM_DOCUMENTS, t->where);
	gp_json_put(o, "low", gp_json_fraction(true, t->low));
	gp_json_put(o, "high", gp_json_fraction(true, t->high));
	return o;
}

static json_t *microseconds(u64 ns)
{
	return gp_json_fraction(true, (double)ns / 1e3);
}

/* ---- three interfaces ---- */

static const struct interface {
	const char *name, *row;
	const char *what;
	struct told total, suspend, resume;
	/* operations of the lab that stand for it */
	const char *lab_stop, *lab_start;
} interfaces[] = {
	{ "suspend_queues", "ours-debug", "stage 1: the stock driver's debug interface",
	  { "document 001", 1000, 5000 }, { "document 001", 1000, 3000 },
	  { "document 001", 1000, 3000 }, "suspend", "resume" },
	{ "direct CWSR, evict", "ours-evict", "stage 2: our module, one cycle of the run list",
	  { "document 001", 30, 100 }, { 0 }, { 0 }, "module evict", "module restore" },
	{ "direct CWSR, victim only", "ours-direct", "stage 2: our module, one unmap",
	  { "document 001", 10, 100 }, { 0 }, { 0 }, "module direct", "module map" },
	{ "stop_sched", "halt", "the whole GPU: offered, never the default",
	  { "document 001", 1000, 1000 }, { 0 }, { 0 }, "module halt", "module unhalt" },
};
enum { NR_INTERFACES = sizeof(interfaces) / sizeof(*interfaces) };

static json_t *switches_json(const struct gp_switches *s, const char *repeat)
{
	json_t *o = json_object();

	gp_evidence_of(o, "us", GP_FROM_SIMULATOR, repeat);
	gp_json_put(o, "stop_mean", microseconds(s->stops ? s->stop_sum_ns / s->stops : 0));
	gp_json_put(o, "stop_max", microseconds(s->stop_max_ns));
	gp_json_put(o, "start_mean", microseconds(s->starts ? s->start_sum_ns / s->starts : 0));
	gp_json_put(o, "start_max", microseconds(s->start_max_ns));
	return o;
}

static_assert((int)GP_TRIAL_SETS > (int)GP_ROW_SETTINGS, "a row's settings do not fit");

/* What gives the spans again: the row's settings, and the states of the task in a trace. */
static void switches_command(const struct gp_evidence *e, const struct gp_trial *t, char *text,
			     size_t size)
{
	struct gp_trial sim = { .scenario = t->scenario, .length = t->length, .quick = t->quick };
	const struct gp_row *row = gp_row_find(t->rows[0]);
	size_t at;

	for (u32 i = 0; i < GP_ROW_SETTINGS && row->set[i]; i++)
		sim.set[i] = row->set[i];
	gp_trial_command(e, &sim, "sim", text, size);
	at = strlen(text);
	snprintf(text + at, size - at, " --trace stops.pftrace; tools/pftrace-json stops.pftrace | "
		 "jq -c '(\"stopping\", \"starting\") as $state | "
		 "[.slices[] | select(.name == $state) | .ns / 1000] | "
		 "[$state, add / length, max]'");
}

/* That interface @i stops so many times as fast as the first. */
static json_t *claim(const char *says, double factor, const struct gp_switches *s, u32 i)
{
	const struct gp_switches *slow = &s[0], *fast = &s[i];
	double is = fast->stop_sum_ns && slow->stops && fast->stops ?
		    (double)slow->stop_sum_ns / (double)slow->stops /
		    ((double)fast->stop_sum_ns / (double)fast->stops) : 0;
	json_t *o = json_object();

	gp_json_put(o, "claim", json_string(says));
	gp_json_put(o, "documents", gp_evidence_figure(factor, "times", GP_FROM_DOCUMENTS,
						       "document 001"));
	gp_json_put(o, "measured", gp_evidence_figure(is, "times", GP_FROM_SIMULATOR,
						      "interfaces.rows"));
	gp_json_put(o, "holds", json_boolean(is >= factor));
	gp_json_put(o, "lab_slow", json_string(interfaces[0].lab_stop));
	gp_json_put(o, "lab_fast", json_string(interfaces[i].lab_stop));
	return o;
}

static json_t *claims(const struct gp_switches *s)
{
	json_t *list = json_array();

	json_array_append_new(list, claim("stage 2 stops 50 times as fast as stage 1 (evict)", 50,
					  s, 1));
	json_array_append_new(list, claim("stage 2 stops 50 times as fast as stage 1 (direct)",
					  50, s, 2));
	json_array_append_new(list, claim("stage 2 stops 500 times as fast as stage 1 (direct)",
					  500, s, 2));
	return list;
}

int gp_gather_interfaces(struct gp_evidence *e, json_t *chapter)
{
	struct gp_switches s[NR_INTERFACES];
	json_t *rows = json_array();
	char repeat[768];

	for (int i = 0; i < NR_INTERFACES; i++) {
		const struct interface *f = &interfaces[i];
		const struct gp_compared *row = gp_compared_find(&e->main, f->row);
		struct gp_trial t = { .scenario = "colocate", .length = "20s", .quick = "10s",
				      .rows = { f->row } };
		json_t *o = json_object();
		int code = gp_trial_switches(e, &t, "train", &s[i]);

		json_array_append_new(rows, o);
		if (code) {
			json_decref(rows);
			return code;
		}
		switches_command(e, &t, repeat, sizeof(repeat));
		gp_json_put(o, "name", json_string(f->name));
		gp_json_put(o, "what", json_string(f->what));
		gp_json_put(o, "row", json_string(f->row));
		gp_json_put(o, "documents", told(&f->total));
		gp_json_put(o, "documents_suspend", told(&f->suspend));
		gp_json_put(o, "documents_resume", told(&f->resume));
		gp_json_put(o, "switches", switches_json(&s[i], repeat));
		gp_json_put(o, "figures", row ? gp_evidence_row(row) : json_null());
		gp_json_put(o, "lab_stop", json_string(f->lab_stop));
		gp_json_put(o, "lab_start", json_string(f->lab_start));
	}
	gp_evidence_of(chapter, GP_UNITS_OF_ROWS, GP_FROM_SIMULATOR, e->repeat_main);
	gp_json_put(chapter, "rows", rows);
	gp_json_put(chapter, "claims", claims(s));
	return GP_EXIT_OK;
}

/* ---- placements of the monitor ---- */

static const struct placement {
	const char *name, *row;
	struct told latency, check;	/* of 32 queues */
	const char *note;
	const char *lab, *arrival;	/* rows of lab-colocate and lab/latency that stand for it */
} placements[] = {
	{ "user space, polling", "user-poll", { "document 004", 15000, 15000 },
	  { "document 004", 32, 160 },
	  "its own parts are 10 ms and 15 us: 15 ms is a slip of the unit", NULL, NULL },
	{ "user space, events", "user-event", { "document 004", 6000, 6000 },
	  { "document 004", 32, 160 }, "1 ms for the event, then the 5 ms kernel monitor", NULL,
	  NULL },
	{ "kernel, polling every 5 ms", "monitor-5ms", { "document 004", 5000, 5000 },
	  { "document 004", 0, 10 }, "no ioctl, but still up to 5 ms blind", NULL, NULL },
	{ "ours: daemon, stock kernel", "ours-debug", { 0 }, { 0 },
	  "one process_vm_readv per process, no ioctl", "with gpreemptd", "kfd-debug@50us" },
	{ "ours: kernel module", "ours-evict", { 0 }, { 0 }, "one load per queue, in a timer",
	  "module, evict", "kmod/evict@50us" },
};
enum { NR_PLACEMENTS = sizeof(placements) / sizeof(*placements) };

#define PLACED	"user-poll", "user-event", "monitor-5ms", "ours-debug", "ours-evict"

/* The same at the worst moment and 32 queues, with their costs and with ours. */
static const struct gp_trial placed[] = {
	{ .scenario = "timeline", .rows = { PLACED } },
	{ .scenario = "timeline", .rows = { PLACED }, .set = { "costs.set=ours" } },
	{ .scenario = "timeline", .rows = { PLACED },
	  .set = { "costs.set=ours", "train.queues=31" } },
};

static json_t *placed_json(const struct gp_evidence *e, const struct gp_trial *t,
			   const struct gp_compared *row)
{
	const struct gp_result *r = &row->result;
	char repeat[256];
	json_t *o = json_object();

	gp_trial_command(e, t, "compare", repeat, sizeof(repeat));
	gp_evidence_of(o, "us", GP_FROM_SIMULATOR, repeat);
	gp_json_put(o, "worst", microseconds(r->part[GP_PART_TOTAL].max));
	gp_json_put(o, "check", microseconds(r->looks ? r->monitor_cpu_ns / r->looks : 0));
	gp_json_put(o, "processor", gp_json_fraction(true, row->figures.monitor_cpu * 100));
	gp_json_put(o, "processor_unit", json_string("% of a core"));
	return o;
}

static json_t *placement_json(const struct gp_evidence *e, const struct placement *p,
			      const struct gp_comparison *c)
{
	static const char *const keys[] = { "their_costs", "our_costs", "our_costs_32_queues" };
	const struct gp_compared *random = gp_compared_find(&e->main, p->row);
	json_t *o = json_object();

	gp_json_put(o, "name", json_string(p->name));
	gp_json_put(o, "row", json_string(p->row));
	gp_json_put(o, "note", json_string(p->note));
	gp_json_put(o, "documents", told(&p->latency));
	gp_json_put(o, "documents_check", told(&p->check));
	for (int i = 0; i < 3; i++) {
		const struct gp_compared *row = gp_compared_find(&c[i], p->row);

		gp_json_put(o, keys[i], row ? placed_json(e, &placed[i], row) : json_null());
	}
	gp_json_put(o, "figures", random ? gp_evidence_row(random) : json_null());
	gp_json_put(o, "lab", p->lab ? json_string(p->lab) : json_null());
	gp_json_put(o, "lab_arrival", p->arrival ? json_string(p->arrival) : json_null());
	return o;
}

int gp_gather_placements(struct gp_evidence *e, json_t *chapter)
{
	struct gp_comparison c[3];
	json_t *rows = json_array();
	int done = 0, code = GP_EXIT_OK;

	while (done < 3 && !code) {
		code = gp_trial_run(e, &placed[done], &c[done]);
		done += !code;
	}
	for (int i = 0; i < NR_PLACEMENTS && !code; i++)
		json_array_append_new(rows, placement_json(e, &placements[i], c));
	gp_evidence_of(chapter, GP_UNITS_OF_ROWS, GP_FROM_SIMULATOR, e->repeat_main);
	gp_json_put(chapter, "rows", rows);
	while (done--)
		gp_comparison_fini(&c[done]);
	return code;
}

/* ---- AMD beside NVIDIA ---- */

static const struct {
	const char *step;
	struct told amd, nvidia;
	const char *part;	/* of ours that measures it */
} vendors[] = {
	{ "trigger, until the hardware begins", { "document 003", 0, 1 },
	  { "document 003", 1, 10 }, "command" },
	{ "save the running work", { "document 003", 1, 10 }, { "document 003", 10, 100 },
	  "save" },
	{ "switch to the next context", { "document 003", 0, 1 }, { "document 003", 0, 1000 },
	  "switch" },
};

static const char *const profiles[] = { "mi308x", "mi300x", "a100" };
enum { NR_PROFILES = sizeof(profiles) / sizeof(*profiles) };

static json_t *device_of(const char *profile)
{
	const struct vgpu_facts *f = vgpu_profile(profile);
	u64 cus = vgpu_value(f, VGPU_XCCS) * vgpu_value(f, VGPU_CUS_PER_XCC);
	u64 registers = cus * vgpu_value(f, VGPU_VGPR_PER_CU);
	u64 lds = cus * vgpu_value(f, VGPU_LDS_PER_CU);
	json_t *o = json_object();
	char command[64];

	snprintf(command, sizeof(command), "gpreempt facts --profile %s", profile);
	gp_evidence_of(o, "counted; bytes; bytes per us", "facts of the model", command);
	gp_json_put(o, "compute_units", json_integer((json_int_t)cus));
	gp_json_put(o, "register_bytes", json_integer((json_int_t)registers));
	gp_json_put(o, "lds_bytes", json_integer((json_int_t)lds));
	gp_json_put(o, "bandwidth",
		    json_integer((json_int_t)vgpu_value(f, VGPU_BANDWIDTH_VRAM)));
	return o;
}

static int gather_profile(struct gp_evidence *e, const char *profile, json_t *list)
{
	bool nvidia = !strcmp(profile, "a100");
	char set[32], repeat[256];
	struct gp_trial t = {
		.scenario = "colocate", .length = "20s", .quick = "5s",
		.rows = { "native", "hws-quantum", "gpreempt-amd", "monitor-5ms", "ours-evict",
			  "ours-hint", "bound", nvidia ? "timeslice-100us" : "ours-debug",
			  nvidia ? "timeslice-10us" : "ours-direct" },
		.set = { set },
	};
	struct gp_comparison c;
	json_t *o;
	int code;

	snprintf(set, sizeof(set), "gpu.profile=%s", profile);
	code = gp_trial_run(e, &t, &c);
	if (code)
		return code;
	o = json_object();
	gp_trial_command(e, &t, "compare", repeat, sizeof(repeat));
	gp_evidence_of(o, GP_UNITS_OF_ROWS, GP_FROM_SIMULATOR, repeat);
	gp_json_put(o, "name", json_string(profile));
	gp_json_put(o, "device", device_of(profile));
	gp_json_put(o, "rows", gp_evidence_rows(&c));
	json_array_append_new(list, o);
	gp_comparison_fini(&c);
	return GP_EXIT_OK;
}

int gp_gather_vendors(struct gp_evidence *e, json_t *chapter)
{
	json_t *list = json_array(), *steps = json_array();
	int code = GP_EXIT_OK;

	for (int i = 0; i < NR_PROFILES && !code; i++)
		code = gather_profile(e, profiles[i], list);
	for (size_t i = 0; i < sizeof(vendors) / sizeof(*vendors); i++) {
		json_t *o = json_object();

		gp_json_put(o, "name", json_string(vendors[i].step));
		gp_json_put(o, "part", json_string(vendors[i].part));
		gp_json_put(o, "amd", told(&vendors[i].amd));
		gp_json_put(o, "nvidia", told(&vendors[i].nvidia));
		json_array_append_new(steps, o);
	}
	gp_json_put(chapter, "profiles", list);
	gp_json_put(chapter, "steps", steps);
	return code;
}
