// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Sections and keys of a configuration as they are read. */
#include <stdio.h>
#include <string.h>

#include "load.h"
#include "text/value.h"

#define FAULT(l, ...) \
	gp_fault(&(l)->faults, (l)->reader.file, (l)->reader.line, __VA_ARGS__)

/* ---- sections ---- */

static void open_daemon(struct gp_load *l, const char *name)
{
	if (*name) {
		FAULT(l, "[daemon %s]: there is one daemon; write [daemon]", name);
		return;
	}
	l->table = gp_daemon_settings;
	l->section = l->config;
	l->section_name = "daemon";
	l->at = l->daemon_at;
}

static void open_policy(struct gp_load *l, const char *name)
{
	u32 set = GP_FOR_ALL;

	if (*name) {
		const struct gp_policy *policy = gp_policy_find(name);

		if (!policy) {
			FAULT(l, "[policy %s]: there is no such policy; write [policy] or one of "
			      "fifo, priority, fair, deadline", name);
			return;
		}
		set = 1 + gp_policy_number(policy);
	}
	l->section_name = "policy";
	l->params = l->param[set];
	l->at = l->param_at[set];
}

static struct gp_named_class *find_class(struct gp_config *config, const char *name)
{
	for (u32 i = 0; i < config->nr_classes; i++) {
		if (!strcmp(config->class[i].name, name))
			return &config->class[i];
	}
	return NULL;
}

static struct gp_named_class *new_class(struct gp_load *l, const char *name)
{
	struct gp_config *config = l->config;
	struct gp_named_class *c;

	if (!gp_class_name_ok(name)) {
		FAULT(l, "[class %s]: not a name; write letters, digits, _ and -, at most %d", name,
		      GP_CLASS_NAME - 1);
		return NULL;
	}
	if (config->nr_classes == GP_CLASSES) {
		FAULT(l, "[class %s]: more than %d classes; drop some", name, GP_CLASSES);
		return NULL;
	}
	c = &config->class[config->nr_classes++];
	*c = (struct gp_named_class){ .managed = true,
		.is = { .priority = 1, .weight = 100, .flags = GP_PREEMPTIBLE } };
	snprintf(c->name, sizeof(c->name), "%s", name);
	return c;
}

static void open_class(struct gp_load *l, const char *name)
{
	struct gp_named_class *c = find_class(l->config, name);

	if (c && !c->managed) {
		FAULT(l, "[class %s]: it cannot be changed; choose another name", name);
		return;
	}
	if (c && c->file) {
		FAULT(l, "[class %s]: defined at %s:%u already; merge the two", name, c->file,
		      c->line);
		return;
	}
	if (!c)
		c = new_class(l, name);
	if (!c)
		return;
	c->file = l->reader.file;
	c->line = l->reader.line;
	l->table = gp_class_settings;
	l->section = c;
	l->section_name = "class";
	l->at = l->here_at;
	l->broken = &l->class_broken[c - l->config->class];
}

static bool rule_name_ok(const char *name)
{
	size_t n = strlen(name);

	return n && n < GP_RULE_NAME &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789_-.") == n;
}

static void open_rule(struct gp_load *l, const char *name)
{
	struct gp_config *config = l->config;
	struct gp_rule *rule;

	if (!rule_name_ok(name)) {
		FAULT(l, "[rule %s]: not a name; write letters, digits, _, - and ., at most %d",
		      name, GP_RULE_NAME - 1);
		return;
	}
	for (u32 i = 0; i < config->nr_rules; i++) {
		rule = &config->rule[i];
		if (!strcmp(rule->name, name)) {
			FAULT(l, "[rule %s]: defined at %s:%u already; rename one of them", name,
			      rule->file, rule->line);
			return;
		}
	}
	if (config->nr_rules == GP_RULES) {
		FAULT(l, "[rule %s]: more than %d rules; drop some", name, GP_RULES);
		return;
	}
	rule = &config->rule[config->nr_rules];
	snprintf(rule->name, sizeof(rule->name), "%s", name);
	rule->file = l->reader.file;
	rule->line = l->reader.line;
	l->table = gp_rule_settings;
	l->section = rule;
	l->section_name = "rule";
	l->at = l->here_at;
	l->broken = &l->rule_broken[config->nr_rules++];
}

static const struct {
	const char *kind;
	void (*open)(struct gp_load *l, const char *name);
} sections[] = {
	{ "daemon", open_daemon }, { "policy", open_policy }, { "class", open_class },
	{ "rule", open_rule },
};

void gp_load_section(void *load, const char *kind, const char *name)
{
	struct gp_load *l = load;

	l->table = NULL;
	l->section = NULL;
	l->section_name = NULL;
	l->at = NULL;
	l->params = NULL;
	l->broken = NULL;
	l->outside = false;
	memset(l->here_at, 0, sizeof(l->here_at));
	if (!kind)
		return;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (!strcmp(sections[i].kind, kind)) {
			sections[i].open(l, name);
			return;
		}
	}
	FAULT(l, "no section [%s%s%s]; write [daemon], [policy], [policy NAME], [class NAME] or "
	      "[rule NAME]", kind, *name ? " " : "", name);
}

/* ---- keys ---- */

/* Notes that key @i is set here. False: it is set in this section of this file already. */
static bool note(struct gp_load *l, int i, const char *key)
{
	/* A drop-in may change what a file before it said. */
	if (l->at[i].file == l->reader.file) {
		FAULT(l, "%s: set in line %u already; drop one of them", key, l->at[i].line);
		return false;
	}
	l->at[i] = (struct gp_place){ l->reader.file, l->reader.line };
	return true;
}

static void set_param(struct gp_load *l, const char *key, const char *value)
{
	char text[GP_NR_PARAMS * 24] = "";
	size_t at = 0;

	for (int i = 0; i < GP_NR_PARAMS; i++) {
		const struct gp_param_info *info = &gp_params[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? ", " : "",
				       info->name);
		if (strcmp(info->name, key))
			continue;
		if (!note(l, i, key) || !gp_parse_param(info, value, &l->params[i]))
			return;
		gp_print_param_range(info, text, sizeof(text));
		FAULT(l, "%s: '%s' will not do (%s); write %s", key, value, info->what, text);
		return;
	}
	FAULT(l, "no key '%s' in [policy]; write one of %s", key, text);
}

static void set_key(struct gp_load *l, const char *key, const char *value)
{
	char why[GP_SETTING_WHY];
	int i = gp_setting_find(l->table, key);

	if (i < 0) {
		gp_setting_names(l->table, why, sizeof(why));
		FAULT(l, "no key '%s' in [%s]; write one of %s", key, l->section_name, why);
	} else if (!note(l, i, key)) {
		;
	} else if (gp_setting_set(&l->table[i], l->section, value, why)) {
		FAULT(l, "%s", why);
	} else {
		if (l->table == gp_rule_settings && !strcmp(key, "class"))
			l->class_of_rule[(struct gp_rule *)l->section - l->config->rule] = l->at[i];
		return;
	}
	if (l->broken)
		*l->broken = true;
}

void gp_load_pair(void *load, const char *key, const char *value)
{
	struct gp_load *l = load;

	if (l->outside)
		FAULT(l, "'%s' stands before any section; write [daemon] or another above it", key);
	else if (l->params)
		set_param(l, key, value);
	else if (l->table)
		set_key(l, key, value);
}
