// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads the sections of a configuration, and checks it as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "text/value.h"

/* ---- sections ---- */

/* The place of a setting, for messages of later checks. */
struct place {
	const char *file;	/* NULL: not set */
	u32 line;
};

/* Parameters for every policy, then for each. */
enum { FOR_ALL = 0, PARAM_SETS = GP_CONFIG_POLICIES + 1, MAX_KEYS = 24 };

struct parser {
	struct gp_config *config;
	struct gp_ini_errors *errors;
	struct gp_ini ini;

	struct gp_section section;	/* without a table: its keys are ignored */
	struct place *at;		/* by position of the key */
	bool outside;			/* before any section */

	struct place daemon_at[MAX_KEYS], here_at[MAX_KEYS];
	struct place param_at[PARAM_SETS][GP_NR_PARAMS];
	u64 param[PARAM_SETS][GP_NR_PARAMS];
	u32 class_line[GP_RULES];	/* where a rule names its class */
};

#define ERROR(p, ...)	gp_ini_error((p)->errors, (p)->ini.file, (p)->ini.line, __VA_ARGS__)
#define ERROR_AT(p, place, ...)	gp_ini_error((p)->errors, (place).file, (place).line, __VA_ARGS__)

static void open_section(struct parser *p, const char *name, const struct gp_key *keys, void *to)
{
	p->section = (struct gp_section){ name, .nr = 1, .table = { { to, .keys = keys } } };
	p->at = keys == gp_daemon_keys ? p->daemon_at : p->here_at;
}

static void open_daemon(struct parser *p, const char *name)
{
	if (*name)
		ERROR(p, "[daemon %s]: unexpected name; expected [daemon]", name);
	else
		open_section(p, "daemon", gp_daemon_keys, p->config);
}

static void open_policy(struct parser *p, const char *name)
{
	u32 set = FOR_ALL;

	if (*name) {
		const struct gp_policy *policy = gp_policy_find(name);

		if (!policy) {
			ERROR(p, "[policy %s]: unknown policy; expected [policy] or one of fifo, "
			      "priority, fair, deadline", name);
			return;
		}
		set = 1 + gp_policy_number(policy);
	}
	p->section = (struct gp_section){ .name = "policy", .nr = 1,
		.table = { { p->param[set], .more = &gp_param_keys } } };
	p->at = p->param_at[set];
}

static void open_class(struct parser *p, const char *name)
{
	struct gp_config *config = p->config;
	const struct gp_rules so_far = { .class = config->class,
					 .nr_classes = config->nr_classes };
	struct gp_named_class *c = (struct gp_named_class *)gp_rules_class(&so_far, name);

	if (c && !c->managed) {
		ERROR(p, "[class %s]: it cannot be changed; choose another name", name);
		return;
	}
	if (c && c->file) {
		ERROR(p, "[class %s]: already defined at %s:%u; merge the two", name, c->file,
		      c->line);
		return;
	}
	if (!gp_class_name_ok(name)) {
		ERROR(p, "[class %s]: invalid name; expected " GP_NAME_EXPECTED, name);
		return;
	}
	if (!c && config->nr_classes == GP_CLASSES) {
		ERROR(p, "[class %s]: more than %d classes; remove some", name, GP_CLASSES);
		return;
	}
	if (!c) {
		c = &config->class[config->nr_classes++];
		*c = (struct gp_named_class){ .managed = true,
			.is = { .priority = 1, .weight = 100, .flags = GP_PREEMPTIBLE } };
		snprintf(c->name, sizeof(c->name), "%s", name);
	}
	c->file = p->ini.file;
	c->line = p->ini.line;
	open_section(p, "class", gp_class_keys, &c->is);
}

static void open_rule(struct parser *p, const char *name)
{
	struct gp_config *config = p->config;
	struct gp_rule *rule;

	if (!gp_is_name(name, GP_RULE_NAME, "_-.")) {
		ERROR(p, "[rule %s]: invalid name; expected letters, digits, _, - and ., at most "
		      "%d", name, GP_RULE_NAME - 1);
		return;
	}
	for (u32 i = 0; i < config->nr_rules; i++) {
		rule = &config->rule[i];
		if (!strcmp(rule->name, name)) {
			ERROR(p, "[rule %s]: already defined at %s:%u; rename one of them", name,
			      rule->file, rule->line);
			return;
		}
	}
	if (config->nr_rules == GP_RULES) {
		ERROR(p, "[rule %s]: more than %d rules; remove some", name, GP_RULES);
		return;
	}
	rule = &config->rule[config->nr_rules];
	snprintf(rule->name, sizeof(rule->name), "%s", name);
	rule->file = p->ini.file;
	rule->line = p->ini.line;
	open_section(p, "rule", gp_rule_keys, rule);
	config->nr_rules++;
}

static const struct {
	const char *kind;
	void (*open)(struct parser *p, const char *name);
} sections[] = {
	{ "daemon", open_daemon }, { "policy", open_policy }, { "class", open_class },
	{ "rule", open_rule },
};

/* "[kind name]" */
static void on_section(void *parser, const char *header, const char *rest)
{
	struct parser *p = parser;
	size_t n = header ? strcspn(header, " \t") : 0;

	p->section.nr = 0;
	p->outside = false;
	memset(p->here_at, 0, sizeof(p->here_at));
	if (!header)
		return;
	if (*rest) {
		ERROR(p, "unexpected text behind [%s]; write it on a line of its own", header);
		return;
	}
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (strlen(sections[i].kind) == n && !strncmp(sections[i].kind, header, n)) {
			sections[i].open(p, header + n + strspn(header + n, " \t"));
			return;
		}
	}
	ERROR(p, "unknown section [%s]; expected [daemon], [policy], [policy NAME], [class NAME] "
	      "or [rule NAME]", header);
}

static void on_pair(void *parser, const char *key, const char *value)
{
	struct parser *p = parser;
	char text[800];
	const struct gp_why why = { text, sizeof(text) };
	int i;

	if (p->outside)
		ERROR(p, "'%s' stands before any section; write [daemon] or another above it", key);
	if (!p->section.nr)
		return;
	i = gp_section_find(&p->section, key);
	if (i < 0) {
		gp_section_unknown(&p->section, key, &why);
	} else if (p->at[i].file == p->ini.file) {
		/* Another file, a drop-in, may change it. */
		gp_why(&why, "%s: already set in line %u; remove one of them", key, p->at[i].line);
	} else {
		p->at[i] = (struct place){ p->ini.file, p->ini.line };
		if (p->section.table[0].keys == gp_rule_keys && !strcmp(key, "class"))
			p->class_line[p->config->nr_rules - 1] = p->ini.line;
		if (!gp_section_set(&p->section, i, value, &why))
			return;
	}
	ERROR(p, "%s", text);
}

/* ---- checks of the whole, when every line is valid ---- */

static void unknown_class(struct parser *p, struct place place, const char *key, const char *name)
{
	char names[400] = "";

	for (u32 i = 0; i < p->config->nr_classes; i++)
		gp_list_name(names, sizeof(names), p->config->class[i].name);
	ERROR_AT(p, place, "%s: unknown class '%s'; add [class %s] or write one of %s", key, name,
		 name, names);
}

static void finish_classes(struct parser *p)
{
	struct gp_config *config = p->config;
	const struct gp_named_class *offline = gp_rules_class(&config->rules, "offline");

	for (u32 i = 0; i < config->nr_classes; i++) {
		struct gp_named_class *c = &config->class[i];
		const char *wrong;

		/* An unmanaged process may make itself offline, as configured here. */
		if (!c->managed) {
			c->is.priority = offline->is.priority;
			c->is.weight = offline->is.weight;
			continue;
		}
		wrong = gp_class_wrong(&c->is);
		if (wrong)
			gp_ini_error(p->errors, c->file, c->line, "[class %s] is contradictory; %s",
				     c->name, wrong);
	}
}

static bool has_condition(const struct gp_rule *rule)
{
	return rule->uid.nr || rule->gid.nr || rule->exe[0] || rule->cmdline[0] ||
	       rule->cgroup[0];
}

static void finish_rule(struct parser *p, u32 i, const struct gp_rule *matches_all)
{
	struct gp_rule *rule = &p->config->rule[i];
	struct place here = { rule->file, rule->line };

	if (matches_all)
		ERROR_AT(p, here, "[rule %s] is never reached, since [rule %s] at %s:%u matches "
			 "every process; move it up, or use default_class for the rest", rule->name,
			 matches_all->name, matches_all->file, matches_all->line);
	rule->class = gp_rules_class(&p->config->rules, rule->class_name);
	if (rule->class_name[0] && !rule->class)
		unknown_class(p, (struct place){ rule->file, p->class_line[i] }, "class",
			      rule->class_name);
	if (!rule->class_name[0])
		ERROR_AT(p, here, "[rule %s] has no class; add class = NAME", rule->name);
	if (rule->match_all && has_condition(rule))
		ERROR_AT(p, here, "[rule %s] has match = all and conditions; remove match = all or "
			 "the conditions", rule->name);
	if (rule->gang == GP_GANG_CGROUP && !rule->cgroup[0])
		ERROR_AT(p, here, "[rule %s]: gang = cgroup needs a condition on the cgroup, which "
			 "says what part of its path is one job; add cgroup", rule->name);
	if (!rule->match_all && !has_condition(rule))
		ERROR_AT(p, here, "[rule %s] has no condition; add uid, gid, exe, cmdline or "
			 "cgroup, or match = all", rule->name);
}

/* Returns where parameter @i, or else @j, was set. Looks in @set first. */
static struct place place_of(const struct parser *p, u32 set, u32 i, u32 j)
{
	const u32 sets[] = { set, FOR_ALL };

	for (u32 k = 0; k < 2; k++) {
		if (p->param_at[sets[k]][i].file)
			return p->param_at[sets[k]][i];
		if (p->param_at[sets[k]][j].file)
			return p->param_at[sets[k]][j];
	}
	return (struct place){ "built-in", 0 };
}

static void finish_params(struct parser *p)
{
	struct gp_config *config = p->config;
	char why[128];

	for (u32 n = 0; n < GP_CONFIG_POLICIES && gp_policies[n]; n++) {
		for (u32 i = 0; i < GP_NR_PARAMS; i++) {
			config->param[n][i] = gp_params[i].initial;
			if (p->param_at[FOR_ALL][i].file)
				config->param[n][i] = p->param[FOR_ALL][i];
			if (p->param_at[n + 1][i].file)
				config->param[n][i] = p->param[n + 1][i];
		}
		/* A mistake in [policy] affects every policy; report it once. */
		if (!p->errors->nr && !gp_looks_fit(config->param[n], why, sizeof(why)))
			ERROR_AT(p, place_of(p, n + 1, GP_LOOK_MIN, GP_LOOK_MAX), "%s", why);
	}
}

static struct place daemon_place(const struct parser *p, const char *key)
{
	const struct gp_section s = { .nr = 1, .table = { { NULL, .keys = gp_daemon_keys } } };

	return p->daemon_at[gp_section_find(&s, key)];
}

static void check_heartbeat(struct parser *p)
{
	u32 number = gp_policy_number(p->config->policy);
	struct place place = daemon_place(p, "heartbeat");
	char why[160];

	if (p->errors->nr || gp_lease_fits(gp_config_params(p->config, NULL),
					   p->config->daemon.heartbeat_ns, why, sizeof(why)))
		return;
	if (!place.file)
		place = place_of(p, number == GP_NONE ? FOR_ALL : number + 1, GP_LEASE, GP_LEASE);
	ERROR_AT(p, place, "%s", why);
}

/* Fills config->rules. */
static void finish(struct parser *p)
{
	struct gp_config *config = p->config;
	const struct gp_rule *matches_all = NULL;

	config->rules = (struct gp_rules){
		.rule = config->rule, .nr = config->nr_rules, .class = config->class,
		.nr_classes = config->nr_classes, .environment = config->daemon.environment,
	};
	config->rules.otherwise = gp_rules_class(&config->rules, config->daemon.default_class);
	if (!config->rules.otherwise)
		unknown_class(p, daemon_place(p, "default_class"), "default_class",
			      config->daemon.default_class);
	finish_classes(p);
	for (u32 i = 0; i < config->nr_rules; i++) {
		finish_rule(p, i, matches_all);
		if (!matches_all && config->rule[i].match_all)
			matches_all = &config->rule[i];
	}
	finish_params(p);
	check_heartbeat(p);
}

/* ---- all of it ---- */

int gp_config_parse_texts(const struct gp_config_text *text, u32 nr, struct gp_ini_errors *errors,
			  struct gp_config **ret)
{
	struct gp_config *config = calloc(1, sizeof(*config));
	struct parser *p = calloc(1, sizeof(*p));
	int err = config && p ? 0 : -ENOMEM;

	if (!err) {
		gp_keys_init(gp_daemon_keys, config);
		config->nr_classes = gp_class_builtin(config->class);
		p->config = config;
		p->errors = errors;
	}
	for (u32 i = 0; i < nr && !err; i++) {
		config->file[i] = strdup(text[i].name);
		if (!config->file[i]) {
			err = -ENOMEM;
			break;
		}
		config->nr_files++;
		p->ini = (struct gp_ini){
			.file = config->file[i], .text = text[i].text, .size = text[i].size,
			.errors = errors, .user = p, .section = on_section, .pair = on_pair,
		};
		on_section(p, NULL, "");
		p->outside = true;
		gp_ini_parse(&p->ini);
	}
	if (!err && !errors->nr)
		finish(p);
	if (!err && errors->nr)
		err = -EINVAL;
	free(p);
	if (err)
		gp_config_free(config);
	else
		*ret = config;
	return err;
}
