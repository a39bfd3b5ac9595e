// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What only a whole configuration shows: names that lead nowhere, values that do not fit. */
#include <stdio.h>
#include <string.h>

#include "load.h"
#include "text/value.h"

#define FAULT_AT(l, place, ...)	gp_fault(&(l)->faults, (place).file, (place).line, __VA_ARGS__)

static void class_names(const struct gp_config *config, char *text, size_t size)
{
	size_t at = 0;

	for (u32 i = 0; i < config->nr_classes && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : "",
				       config->class[i].name);
}

static void unknown_class(struct gp_load *l, struct gp_place place, const char *what,
			  const char *name)
{
	char names[400];

	class_names(l->config, names, sizeof(names));
	FAULT_AT(l, place, "%s: there is no class '%s'; add [class %s] or write one of %s", what,
		 name, name, names);
}

/* ---- parts ---- */

static void finish_classes(struct gp_load *l)
{
	struct gp_config *config = l->config;
	const struct gp_named_class *offline = gp_rules_class(&config->rules, "offline");

	for (u32 i = 0; i < config->nr_classes; i++) {
		struct gp_named_class *c = &config->class[i];
		const char *wrong = gp_class_wrong(&c->is);

		if (wrong && !l->class_broken[i])
			gp_fault(&l->faults, c->file, c->line, "[class %s] is contradictory; %s",
				 c->name, wrong);
		/* Who is left alone may make itself offline, whatever that is here. */
		if (!c->managed) {
			c->is.priority = offline->is.priority;
			c->is.weight = offline->is.weight;
		}
	}
}

static bool has_condition(const struct gp_rule *rule)
{
	return rule->uid.nr || rule->gid.nr || rule->exe[0] || rule->cmdline[0] ||
	       rule->cgroup[0];
}

static void finish_rule(struct gp_load *l, u32 i, const struct gp_rule *everybody)
{
	struct gp_rule *rule = &l->config->rule[i];
	struct gp_place here = { rule->file, rule->line };

	if (everybody)
		FAULT_AT(l, here, "[rule %s] is never reached, since [rule %s] at %s:%u matches "
			 "everybody; move it up, or use default_class for the rest", rule->name,
			 everybody->name, everybody->file, everybody->line);
	rule->class = gp_rules_class(&l->config->rules, rule->class_name);
	if (rule->class_name[0] && !rule->class)
		unknown_class(l, l->class_of_rule[i], "class", rule->class_name);
	if (l->rule_broken[i])
		return;
	if (!rule->class_name[0])
		FAULT_AT(l, here, "[rule %s] has no class; add class = NAME", rule->name);
	if (rule->everybody && has_condition(rule))
		FAULT_AT(l, here, "[rule %s] matches everybody and has conditions; drop match = "
			 "all or the conditions", rule->name);
	if (rule->gang == GP_GANG_CGROUP && !rule->cgroup[0])
		FAULT_AT(l, here, "[rule %s]: gang = cgroup without a condition on the cgroup, "
			 "which says what of its path is one job; add cgroup", rule->name);
	if (!rule->everybody && !has_condition(rule))
		FAULT_AT(l, here, "[rule %s] has no condition; add uid, gid, exe, cmdline or "
			 "cgroup, or match = all", rule->name);
}

static void finish_rules(struct gp_load *l)
{
	const struct gp_rule *everybody = NULL;

	for (u32 i = 0; i < l->config->nr_rules; i++) {
		finish_rule(l, i, everybody);
		if (!everybody && l->config->rule[i].everybody)
			everybody = &l->config->rule[i];
	}
}

/* Where parameter @i of the set was said last; of two, the one that was said at all. */
static struct gp_place said(const struct gp_load *l, u32 set, u32 i, u32 j)
{
	static const struct gp_place nowhere = { "built-in", 0 };
	const u32 sets[] = { set, GP_FOR_ALL };

	for (u32 k = 0; k < 2; k++) {
		if (l->param_at[sets[k]][i].file)
			return l->param_at[sets[k]][i];
		if (j < GP_NR_PARAMS && l->param_at[sets[k]][j].file)
			return l->param_at[sets[k]][j];
	}
	return nowhere;
}

bool gp_looks_fit(const u64 *param, char *why, size_t size)
{
	char min[24], max[24];

	if (param[GP_LOOK_MIN] <= param[GP_LOOK_MAX])
		return true;
	gp_print_ns(param[GP_LOOK_MIN], min, sizeof(min));
	gp_print_ns(param[GP_LOOK_MAX], max, sizeof(max));
	snprintf(why, size, "look_min %s is above look_max %s; raise the second or lower the first",
		 min, max);
	return false;
}

bool gp_lease_fits(const u64 *param, u64 heartbeat_ns, char *why, size_t size)
{
	char a[24], b[24];

	if (heartbeat_ns <= param[GP_LEASE])
		return true;
	gp_print_ns(heartbeat_ns, a, sizeof(a));
	gp_print_ns(param[GP_LEASE], b, sizeof(b));
	snprintf(why, size, "heartbeat %s is above lease %s, so a stopped daemon could hold for "
		 "longer; lower heartbeat or raise lease", a, b);
	return false;
}

static void check_looks(struct gp_load *l, u32 set)
{
	char why[128];

	if (!gp_looks_fit(l->config->param[set - 1], why, sizeof(why)))
		FAULT_AT(l, said(l, set, GP_LOOK_MIN, GP_LOOK_MAX), "%s", why);
}

static void finish_params(struct gp_load *l)
{
	struct gp_config *config = l->config;

	for (u32 p = 0; p < GP_CONFIG_POLICIES && gp_policies[p]; p++) {
		for (u32 i = 0; i < GP_NR_PARAMS; i++) {
			config->param[p][i] = gp_params[i].initial;
			if (l->param_at[GP_FOR_ALL][i].file)
				config->param[p][i] = l->param[GP_FOR_ALL][i];
			if (l->param_at[p + 1][i].file)
				config->param[p][i] = l->param[p + 1][i];
		}
		/* What [policy] says is wrong with every policy alike: once is enough. */
		if (!l->faults.nr)
			check_looks(l, p + 1);
	}
}

static void check_heartbeat(struct gp_load *l)
{
	const u64 *param = gp_config_params(l->config, NULL);
	int key = gp_setting_find(gp_daemon_settings, "heartbeat");
	struct gp_place place = l->daemon_at[key];
	u32 number = gp_policy_number(l->config->policy);
	char why[160];

	if (l->faults.nr ||
	    gp_lease_fits(param, l->config->daemon.heartbeat_ns, why, sizeof(why)))
		return;
	if (!place.file)
		place = said(l, number == GP_NONE ? GP_FOR_ALL : number + 1, GP_LEASE,
			     GP_NR_PARAMS);
	FAULT_AT(l, place, "%s", why);
}

void gp_load_finish(struct gp_load *l)
{
	struct gp_config *config = l->config;
	const char *otherwise = config->daemon.default_class;

	config->rules = (struct gp_rules){
		.rule = config->rule, .nr = config->nr_rules, .class = config->class,
		.nr_classes = config->nr_classes, .environment = config->daemon.environment,
	};
	config->rules.otherwise = gp_rules_class(&config->rules, otherwise);
	if (!config->rules.otherwise)
		unknown_class(l, l->daemon_at[gp_setting_find(gp_daemon_settings, "default_class")],
			      "default_class", otherwise);
	finish_classes(l);
	finish_rules(l);
	finish_params(l);
	check_heartbeat(l);
}
