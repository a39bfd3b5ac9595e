// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The keys of the sections that are not tasks. */
#include <stdio.h>
#include <string.h>

#include "keys.h"
#include "text/value.h"

#define AT(member)	.offset = offsetof(struct gp_scenario, member)
#define TIME(n, m, lo, hi)	{ .name = n, .kind = GP_KEY_NS, AT(m), .min = lo, .max = hi }
#define NUMBER(n, m, lo, hi)	{ .name = n, .kind = GP_KEY_U32, AT(m), .min = lo, .max = hi }
#define CHOICE(n, m, names)	{ .name = n, .kind = GP_KEY_CHOICE, AT(m), .choices = names }
#define YES_NO(n, m)		{ .name = n, .kind = GP_KEY_BOOL, AT(m) }
#define BY_HAND(n, fn, text)	{ .name = n, .kind = GP_KEY_BY_HAND, .set = fn, .allowed = text }

/* ---- [run] ---- */

static const char *const only_names[] = { "all", "online", "offline", NULL };

static const struct gp_key run_keys[] = {
	TIME("warmup", warmup_ns, 0, 1000 * GP_SEC),
	TIME("length", length_ns, GP_USEC, 10000 * GP_SEC),
	CHOICE("only", only, only_names),
	{ 0 },
};

/* ---- [gpu] ---- */

static int set_profile(struct gp_scenario *sc, void *section, const char *value)
{
	(void)section;
	if (!vgpu_profile(value) || strlen(value) >= sizeof(sc->profile))
		return -EINVAL;
	snprintf(sc->profile, sizeof(sc->profile), "%s", value);
	return 0;
}

/* Facts that are a choice of two. */
static int set_fact(struct gp_scenario *sc, enum vgpu_fact_id id, const char *const names[2],
		    const char *value)
{
	for (u64 i = 0; i < 2; i++) {
		if (!strcmp(names[i], value)) {
			sc->fact_set[id] = true;
			sc->fact[id] = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_rptr_at(struct gp_scenario *sc, void *section, const char *value)
{
	static const char *const names[] = {
		[VGPU_RPTR_AT_COMPLETION] = "completion", [VGPU_RPTR_AT_LAUNCH] = "launch",
	};

	(void)section;
	return set_fact(sc, VGPU_RPTR_AT, names, value);
}

static int set_save_area(struct gp_scenario *sc, void *section, const char *value)
{
	static const char *const names[] = {
		[VGPU_SAVE_VRAM] = "vram", [VGPU_SAVE_HOST] = "host",
	};

	(void)section;
	return set_fact(sc, VGPU_SAVE_AREA, names, value);
}

static const struct gp_key gpu_keys[] = {
	BY_HAND("profile", set_profile, "a profile (mi308x, mi300x, mi210, a100)"),
	NUMBER("count", gpus, 1, GP_SCENARIO_GPUS),
	BY_HAND("rptr_at", set_rptr_at, "completion or launch"),
	BY_HAND("save_area", set_save_area, "vram or host"),
	YES_NO("exclusive", exclusive),
	YES_NO("priority_by_role", by_role),
	NUMBER("online_cus", online_cus, 0, 303),
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

static int set_interval(struct gp_scenario *sc, void *section, const char *value)
{
	u64 ns = 0;

	(void)section;
	if (strcmp(value, "adaptive") &&
	    (gp_parse_ns(value, &ns) || ns < GP_USEC || ns > GP_SEC))
		return -EINVAL;
	sc->monitor.interval_ns = ns;
	return 0;
}

static const struct gp_key monitor_keys[] = {
	CHOICE("placement", monitor.placement, placement_names),
	BY_HAND("interval", set_interval, "adaptive or a time from 1us to 1s"),
	TIME("relaxed", monitor.relaxed_ns, 0, GP_SEC),
	CHOICE("phase", monitor.phase, phase_names),
	YES_NO("trusts_rptr", monitor.trusts_rptr),
	YES_NO("spins", monitor.spins),
	TIME("hint_ahead", monitor.hint_ahead_ns, 0, 100 * GP_MSEC),
	NUMBER("in_flight", monitor.in_flight, 1, 1024),
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
	CHOICE("name", how, how_names),
	CHOICE("grace", grace_default, grace_names),
	{ 0 },
};

/* ---- [policy] ---- */

static int set_policy(struct gp_scenario *sc, void *section, const char *value)
{
	const struct gp_policy *policy = gp_policy_find(value);

	(void)section;
	if (!policy)
		return -EINVAL;
	sc->policy = policy;
	return 0;
}

static const struct gp_key policy_keys[] = {
	BY_HAND("name", set_policy, "a policy (fifo, priority, fair, deadline)"),
	{ 0 },
};

static int set_param(struct gp_scenario *sc, const char *const pair[2], const struct gp_why *why)
{
	static const char *const kinds[] = {
		[GP_UNIT_NS] = "a time", [GP_UNIT_PERMILLE] = "a number of thousandths",
		[GP_UNIT_NUMBER] = "a number", [GP_UNIT_LINGER] = "learnt, ski or a time",
	};

	for (u32 i = 0; i < GP_NR_PARAMS; i++) {
		const struct gp_param_info *info = &gp_params[i];
		u64 value;

		if (strcmp(info->name, pair[0]))
			continue;
		if (gp_parse_param(info, pair[1], &value))
			return gp_why(why, "%s: '%s' is not %s from %llu to %llu%s (%s)",
				      info->name, pair[1], kinds[info->unit],
				      (unsigned long long)info->min, (unsigned long long)info->max,
				      info->unit == GP_UNIT_NS ? " ns" : "", info->what);
		sc->param[i] = value;
		return 0;
	}
	return -ENOENT;
}

/* ---- [costs] ---- */

static int set_scale(struct gp_scenario *sc, void *section, const char *value)
{
	u64 scale;

	(void)section;
	if (gp_parse_millionths(value, &scale) || scale < 10000 || scale > 100000000)
		return -EINVAL;
	sc->scale_assumed = scale;
	return 0;
}

static const char *const set_names[] = { "ours", "seed", NULL };

static const struct gp_key cost_keys[] = {
	CHOICE("set", seed_costs, set_names),
	BY_HAND("scale.assumed", set_scale, "a factor from 0.01 to 100"),
	{ 0 },
};

static int set_cost(struct gp_scenario *sc, const char *const pair[2], const struct gp_why *why)
{
	const struct vgpu_facts *facts = vgpu_profile(sc->profile);
	u8 unit = VGPU_UNSET;
	u64 value, *to = NULL;
	bool *set = NULL;

	for (u32 i = 0; i < VGPU_NR_FACTS && !to; i++) {
		if (!strcmp(vgpu_fact_name(i), pair[0])) {
			unit = facts->f[i].unit;
			to = &sc->fact[i];
			set = &sc->fact_set[i];
		}
	}
	for (u32 i = 0; i < GP_NR_COSTS && !to; i++) {
		if (!strcmp(gp_cost_name(i), pair[0])) {
			unit = gp_costs_initial[i].unit;
			to = &sc->cost[i];
			set = &sc->cost_set[i];
		}
	}
	if (!to)
		return -ENOENT;
	if (unit == VGPU_CHOICE)
		return gp_why(why, "%s: set it in [gpu]", pair[0]);
	if (unit == VGPU_NS ? gp_parse_ns(pair[1], &value) : gp_parse_u64(pair[1], &value))
		return gp_why(why, "%s: '%s' is not %s", pair[0], pair[1],
			      unit == VGPU_NS ? "a time" : "a number");
	if (value > 1000 * GP_SEC)
		return gp_why(why, "%s: '%s' is more than 1000s or 10^12", pair[0], pair[1]);
	*to = value;
	*set = true;
	return 0;
}

/* ---- all ---- */

const struct gp_section gp_sections[] = {
	{ .name = "run", .keys = run_keys },
	{ .name = "gpu", .keys = gpu_keys },
	{ .name = "monitor", .keys = monitor_keys },
	{ .name = "mechanism", .keys = mechanism_keys },
	{ .name = "policy", .keys = policy_keys, .set_more = set_param,
	  .more = "and the settings of gpreempt-scenario(5), e.g. linger, max_hold" },
	{ .name = "costs", .keys = cost_keys, .set_more = set_cost,
	  .more = "and every fact of the model, e.g. save_fixed" },
	{ 0 },
};

static int set_fault_task(struct gp_scenario *sc, void *section, const char *value)
{
	struct gp_fault_spec *f = section;

	/* The task may come later in the file: looked up when the run begins. */
	(void)sc;
	if (!*value || strlen(value) >= sizeof(f->task))
		return -EINVAL;
	snprintf(f->task, sizeof(f->task), "%s", value);
	return 0;
}

static const char *const fault_names[] = {
	[GP_FAULT_HANG] = "hang", [GP_FAULT_PREEMPT_FAILED] = "preempt-failed",
	[GP_FAULT_SLOW_SAVE] = "slow-save", [GP_FAULT_AREA_TOO_SMALL] = "area-too-small",
	[GP_FAULT_PROCESS_DEATH] = "process-death", [GP_FAULT_EARLY_RPTR] = "early-rptr", NULL,
};

#define FAULT(member)	.offset = offsetof(struct gp_fault_spec, member)

const struct gp_key gp_fault_keys[] = {
	{ .name = "what", .kind = GP_KEY_CHOICE, FAULT(kind), .choices = fault_names },
	BY_HAND("task", set_fault_task, "the name of a task"),
	{ .name = "at", .kind = GP_KEY_NS, FAULT(at_ns), .max = 10000 * GP_SEC },
	{ .name = "every", .kind = GP_KEY_NS, FAULT(every_ns), .max = 10000 * GP_SEC },
	{ .name = "for", .kind = GP_KEY_NS, FAULT(for_ns), .max = 10000 * GP_SEC },
	{ .name = "random", .kind = GP_KEY_BOOL, FAULT(random) },
	{ .name = "factor", .kind = GP_KEY_U64, FAULT(factor), .min = 1, .max = 1000000 },
	{ 0 },
};

void gp_scenario_init(struct gp_scenario *sc)
{
	memset(sc, 0, sizeof(*sc));
	sc->length_ns = GP_SEC;
	strcpy(sc->profile, "mi308x");
	sc->gpus = 1;
	sc->monitor.placement = GP_AT_KERNEL;
	sc->monitor.in_flight = 16;
	sc->how = GP_BY_EVICT;
	sc->policy = &gp_policy_priority;
	sc->scale_assumed = 1000000;
	for (u32 i = 0; i < GP_NR_PARAMS; i++)
		sc->param[i] = gp_params[i].initial;
}
