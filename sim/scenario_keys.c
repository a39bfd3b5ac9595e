// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The sections of a scenario, and the keys of those that are not tasks. */
#include "scenario.h"

#include <stdio.h>
#include <string.h>

#include "on_demand.h"
#include "text/value.h"

/* ---- [run] ---- */

#define OF	struct gp_scenario

static const char *const only_names[] = { "all", "online", "offline", NULL };

static const struct gp_key run_keys[] = {
	GP_TIME("warmup", warmup_ns, 0, 1000 * GP_SEC, .what = "before the measured part"),
	GP_TIME("length", length_ns, GP_USEC, 10000 * GP_SEC, .initial = "1s",
	     .what = "of the measured part"),
	GP_CHOICE("only", only, only_names, .what = "which tasks take part"),
	{ 0 },
};

/* ---- [gpu] ---- */

static int set_profile(const struct gp_key_value *v)
{
	struct gp_scenario *sc = v->to;

	if (!vgpu_profile(v->text) || strlen(v->text) >= sizeof(sc->profile))
		return -EINVAL;
	snprintf(sc->profile, sizeof(sc->profile), "%s", v->text);
	return 0;
}

/* Sets a fact of the device, key->flag, that is a choice of two. */
static int set_fact(const struct gp_key_value *v)
{
	struct gp_scenario *sc = v->to;
	u64 i = strcmp(v->key->choices[0], v->text) != 0;

	if (i && strcmp(v->key->choices[1], v->text))
		return -EINVAL;
	sc->fact_set[v->key->flag] = true;
	sc->fact[v->key->flag] = i;
	return 0;
}

static const char *const rptr_names[] = {
	[VGPU_RPTR_AT_COMPLETION] = "completion", [VGPU_RPTR_AT_LAUNCH] = "launch",
};

static const char *const save_names[] = { [VGPU_SAVE_VRAM] = "vram", [VGPU_SAVE_HOST] = "host" };

static const struct gp_key gpu_keys[] = {
	GP_CUSTOM("profile", set_profile, "mi308x, mi300x, mi210 or a100", .initial = "mi308x"),
	GP_NUMBER("count", gpus, 1, GP_SCENARIO_GPUS, .initial = "1", .what = "number of GPUs"),
	GP_CUSTOM("rptr_at", set_fact, "completion or launch", .choices = rptr_names,
		  .flag = VGPU_RPTR_AT),
	GP_CUSTOM("save_area", set_fact, "vram or host", .choices = save_names,
		  .flag = VGPU_SAVE_AREA),
	GP_YES_NO("exclusive", exclusive),
	GP_YES_NO("priority_by_role", by_role),
	GP_NUMBER("online_cus", online_cus, 0, 303, .what = "compute units for online tasks only"),
	{ 0 },
};

/* ---- [monitor] ---- */

static const char *const placement_names[] = {
	[GP_AT_NONE] = "none", [GP_AT_KERNEL] = "kernel", [GP_AT_DAEMON] = "daemon",
	[GP_AT_USER_POLL] = "user-poll", [GP_AT_USER_EVENT] = "user-event",
	[GP_AT_MANUAL] = "manual", [GP_AT_REQUEST] = "request", [GP_AT_SHIM] = "shim",
	[GP_AT_BOUND] = "bound", NULL,
};

static const char *const phase_names[] = { "random", "worst", NULL };

static const struct gp_key monitor_keys[] = {
	GP_CHOICE("placement", monitor.placement, placement_names, .initial = "kernel"),
	GP_TIME("interval", monitor.interval_ns, GP_USEC, GP_SEC, .zero = "adaptive"),
	GP_TIME("relaxed", monitor.relaxed_ns, 0, GP_SEC,
	     .what = "interval without latency-critical tasks"),
	GP_CHOICE("phase", monitor.phase, phase_names, .what = "of the first look"),
	GP_YES_NO("trusts_rptr", monitor.trusts_rptr),
	GP_YES_NO("spins", monitor.spins),
	GP_TIME("hint_ahead", monitor.hint_ahead_ns, 0, 100 * GP_MSEC,
	     .what = "how early the server announces a request"),
	GP_NUMBER("in_flight", monitor.in_flight, 1, 1024, .initial = "16",
	       .what = "kernels that a shim launches per queue"),
	{ 0 },
};

/* ---- [mechanism] ---- */

static const char *const how_names[] = {
	[GP_BY_NONE] = "none", [GP_BY_EVICT] = "evict", [GP_BY_DIRECT] = "direct",
	[GP_BY_DEBUG] = "debug", [GP_BY_HALT] = "halt", [GP_BY_DRAIN] = "drain",
	[GP_BY_RESET] = "reset", NULL,
};

static const char *const grace_names[] = { "1", "default", NULL };

static const struct gp_key mechanism_keys[] = {
	GP_CHOICE("name", how, how_names, .initial = "evict"),
	GP_CHOICE("grace", grace_default, grace_names, .what = "of a suspend"),
	{ 0 },
};

/* ---- [policy] ---- */

static int set_policy(const struct gp_key_value *v)
{
	const struct gp_policy *policy = gp_policy_find(v->text);
	struct gp_nearest nearest = { .word = v->text };

	if (!policy && !strcmp(v->text, gp_policy_on_demand.name))
		policy = &gp_policy_on_demand;
	for (u32 i = 0; !policy && gp_policies[i]; i++)
		gp_nearest_try(&nearest, gp_policies[i]->name);
	if (!policy && nearest.name)
		return gp_why(v->why, "%s: invalid value '%s'; did you mean '%s'?", v->key->name,
			      v->text, nearest.name);
	if (!policy)
		return -EINVAL;
	((struct gp_scenario *)v->to)->policy = policy;
	return 0;
}

static const struct gp_key policy_keys[] = {
	GP_CUSTOM("name", set_policy, "fifo, priority, fair, deadline or on-demand",
		  .initial = "priority"),
	{ 0 },
};

/* ---- [costs] ---- */

static int set_scale(const struct gp_key_value *v)
{
	u64 scale;

	if (gp_parse_millionths(v->text, &scale) || scale < 10000 || scale > 100000000)
		return -EINVAL;
	((struct gp_scenario *)v->to)->scale_assumed = scale;
	return 0;
}

static const char *const set_names[] = { "ours", "seed", NULL };

static const struct gp_key cost_keys[] = {
	GP_CHOICE("set", seed_costs, set_names),
	GP_CUSTOM("scale.assumed", set_scale, "a factor from 0.01 to 100", .initial = "1"),
	{ 0 },
};

/* Returns the name of a cost: first the facts of the device, then the costs of paths. */
static const char *cost_name(u32 i)
{
	return i < VGPU_NR_FACTS ? vgpu_fact_name(i) : gp_cost_name(i - VGPU_NR_FACTS);
}

static int set_cost(void *to, u32 i, const char *text, const struct gp_why *why)
{
	bool device = i < VGPU_NR_FACTS;
	u32 c = device ? i : i - VGPU_NR_FACTS;
	struct gp_scenario *sc = to;
	u8 unit = device ? vgpu_profile(sc->profile)->f[c].unit : gp_costs_initial[c].unit;
	u64 value;

	if (unit == VGPU_CHOICE)
		return gp_why(why, "%s: not a cost; set it in [gpu]", cost_name(i));
	if ((unit == VGPU_NS ? gp_parse_ns(text, &value) : gp_parse_u64(text, &value)) ||
	    value > 1000 * GP_SEC)
		return gp_why(why, "%s: invalid value '%s'; expected %s", cost_name(i), text,
			      unit == VGPU_NS ? "a time from 0 to 1000s with a unit" :
						"a number from 0 to 10^12");
	(device ? sc->fact : sc->cost)[c] = value;
	(device ? sc->fact_set : sc->cost_set)[c] = true;
	return 0;
}

static const struct gp_more_keys more_costs = { cost_name, set_cost };

#undef OF

/* ---- faults ---- */

#define OF	struct gp_fault_spec

static const char *const fault_names[] = {
	[GP_FAULT_HANG] = "hang", [GP_FAULT_PREEMPT_FAILED] = "preempt-failed",
	[GP_FAULT_SLOW_SAVE] = "slow-save", [GP_FAULT_AREA_TOO_SMALL] = "area-too-small",
	[GP_FAULT_PROCESS_DEATH] = "process-death", [GP_FAULT_EARLY_RPTR] = "early-rptr", NULL,
};

static const struct gp_key fault_keys[] = {
	GP_CHOICE("what", kind, fault_names),
	/* The task may come later in the file, so gp_scenario_load() looks for it. */
	GP_TEXT("task", task, NULL, "the name of a task"),
	GP_TIME("at", at_ns, 0, 10000 * GP_SEC, .what = "of the first fault"),
	GP_TIME("every", every_ns, 0, 10000 * GP_SEC, .what = "between two; 0 is once"),
	GP_TIME("for", for_ns, 0, 10000 * GP_SEC, .what = "how long it lasts; 0 is for ever"),
	GP_YES_NO("random", random),
	GP_NUMBER("factor", factor, 1, 1000000, .initial = "10", .what = "of a slow save"),
	{ 0 },
};

#undef OF

/* ---- sections ---- */

static const struct {
	const char *name;
	const struct gp_key *keys;
	const struct gp_more_keys *more;
	size_t more_offset;
} fixed[] = {
	{ .name = "run", .keys = run_keys },
	{ .name = "gpu", .keys = gpu_keys },
	{ .name = "monitor", .keys = monitor_keys },
	{ .name = "mechanism", .keys = mechanism_keys },
	{ .name = "policy", .keys = policy_keys, .more = &gp_param_keys,
	  .more_offset = offsetof(struct gp_scenario, param) },
	{ .name = "costs", .keys = cost_keys, .more = &more_costs },
};

enum { NR_FIXED = sizeof(fixed) / sizeof(fixed[0]) };

void gp_scenario_init(struct gp_scenario *sc)
{
	memset(sc, 0, sizeof(*sc));
	for (u32 i = 0; i < NR_FIXED; i++)
		gp_keys_init(fixed[i].keys, sc);
	for (u32 i = 0; i < GP_NR_PARAMS; i++)
		sc->param[i] = gp_params[i].initial;
}

/*
 * Opens a fault. Sections [fault], [fault2], [fault-x] are one fault each, in order of appearance.
 */
static int open_fault(struct gp_scenario *sc, const char *name, struct gp_section *ret,
		      const struct gp_why *why)
{
	u32 i = 0;

	while (i < sc->nr_faults && strcmp(sc->fault[i].name, name))
		i++;
	if (i == sc->nr_faults) {
		if (i == GP_SCENARIO_FAULTS || strlen(name) >= GP_SCENARIO_NAME)
			return gp_why(why, "[%s]: too many faults or too long a name; expected at "
				      "most %d faults with names shorter than %d", name,
				      GP_SCENARIO_FAULTS, GP_SCENARIO_NAME);
		gp_keys_init(fault_keys, memset(&sc->fault[i], 0, sizeof(sc->fault[i])));
		snprintf(sc->fault[i].name, sizeof(sc->fault[i].name), "%s", name);
		sc->nr_faults++;
	}
	ret->table[ret->nr++] = (struct gp_key_table){ &sc->fault[i], .keys = fault_keys };
	return 0;
}

static int open_task(struct gp_scenario *sc, const char *name, struct gp_section *ret,
		     const struct gp_why *why)
{
	struct gp_task_spec *t = (struct gp_task_spec *)gp_scenario_task(sc, name);

	if (!t) {
		if (!gp_is_name(name, GP_SCENARIO_NAME, "_-") || !strcmp(name, "all"))
			return gp_why(why, "[%s]: invalid name of a task; expected 1..%d letters, "
				      "digits, _ or -, and not 'all'", name, GP_SCENARIO_NAME - 1);
		if (sc->nr_tasks == GP_SCENARIO_TASKS)
			return gp_why(why, "[%s]: too many tasks; expected at most %d tasks", name,
				      GP_SCENARIO_TASKS);
		t = memset(&sc->task[sc->nr_tasks++], 0, sizeof(*t));
		gp_keys_init(gp_task_keys, t);
		snprintf(t->name, sizeof(t->name), "%s", name);
	}
	ret->table[ret->nr++] = (struct gp_key_table){ t, .keys = gp_task_keys };
	ret->table[ret->nr++] = (struct gp_key_table){ &t->class, .keys = gp_class_keys };
	return 0;
}

int gp_scenario_section(struct gp_scenario *sc, const char *name, struct gp_section *ret,
			const struct gp_why *why)
{
	*ret = (struct gp_section){ .name = name, .context = sc };
	for (u32 i = 0; i < NR_FIXED; i++) {
		if (strcmp(fixed[i].name, name))
			continue;
		ret->table[ret->nr++] = (struct gp_key_table){ sc, .keys = fixed[i].keys };
		if (fixed[i].more)
			ret->table[ret->nr++] = (struct gp_key_table){
				(char *)sc + fixed[i].more_offset, .more = fixed[i].more };
		return 0;
	}
	return !strncmp(name, "fault", 5) ? open_fault(sc, name, ret, why) :
					    open_task(sc, name, ret, why);
}
