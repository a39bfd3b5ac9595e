// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "rules.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "text/value.h"

/* ---- matching ---- */

static bool has_id(const struct gp_ids *ids, u32 id)
{
	for (u32 i = 0; i < ids->nr; i++) {
		if (ids->range[i].first <= id && id <= ids->range[i].last)
			return true;
	}
	return !ids->nr;
}

static bool rule_matches(const struct gp_rule *rule, const struct gp_subject *who)
{
	if (!has_id(&rule->uid, who->uid) || !has_id(&rule->gid, who->gid))
		return false;
	if (rule->exe[0] && !(who->exe && gp_glob(rule->exe, who->exe, GP_GLOB_PATH)))
		return false;
	if (rule->cgroup[0] && !(who->cgroup && gp_glob_within(rule->cgroup, who->cgroup)))
		return false;
	return !rule->cmdline[0] ||
	       (who->cmdline && gp_glob(rule->cmdline, who->cmdline, GP_GLOB_TEXT));
}

const struct gp_named_class *gp_rules_class(const struct gp_rules *rules, const char *name)
{
	for (u32 i = 0; i < rules->nr_classes; i++) {
		if (!strcmp(rules->class[i].name, name))
			return &rules->class[i];
	}
	return NULL;
}

/* The wish of the process itself, and a sentence about what became of it. */
static void lower(const struct gp_rules *rules, const char *wanted, struct gp_match *m)
{
	const struct gp_named_class *to = gp_rules_class(rules, wanted);
	size_t at = strlen(m->why);
	char *more = m->why + at;

	if (!to) {
		snprintf(more, sizeof(m->why) - at, "; " GP_CLASS_VARIABLE
			 "=%.31s ignored: no such class", wanted);
	} else if (!gp_class_lowers(m->class, to)) {
		snprintf(more, sizeof(m->why) - at, "; " GP_CLASS_VARIABLE
			 "=%s ignored: it may only lower", wanted);
	} else if (to != m->class) {
		snprintf(more, sizeof(m->why) - at, "; lowered to %s by " GP_CLASS_VARIABLE,
			 wanted);
		m->class = to;
		m->lowered = true;
	}
	gp_text_clean(m->why);
}

static bool gang_name_ok(const char *name)
{
	size_t n = strlen(name);

	return n && n < 64 && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-.:") == n;
}

/* Which gang it is of, and a word about it if it named one that is none. */
static void find_gang(const struct gp_rules *rules, const struct gp_subject *who,
		      struct gp_match *m)
{
	size_t at = strlen(m->why), n;

	if (m->rule && m->rule->gang == GP_GANG_CGROUP) {
		n = gp_glob_within(m->rule->cgroup, who->cgroup);
		if (n < sizeof(m->gang))
			memcpy(m->gang, who->cgroup, n);
		else
			snprintf(m->why + at, sizeof(m->why) - at,
				 "; no gang: its cgroup is too long");
	} else if (rules->environment && who->gang && gang_name_ok(who->gang)) {
		snprintf(m->gang, sizeof(m->gang), "%s", who->gang);
	} else if (rules->environment && who->gang) {
		snprintf(m->why + at, sizeof(m->why) - at, "; " GP_GANG_VARIABLE
			 " ignored: letters, digits and _-.: only, at most 63");
	}
}

void gp_rules_match(const struct gp_rules *rules, const struct gp_subject *who,
		    struct gp_match *ret)
{
	const struct gp_rule *rule = NULL;

	memset(ret, 0, sizeof(*ret));
	for (u32 i = 0; i < rules->nr && !rule; i++) {
		if (rule_matches(&rules->rule[i], who))
			rule = &rules->rule[i];
	}
	ret->rule = rule;
	ret->class = rule ? rule->class : rules->otherwise;
	if (rule)
		/* The end of a long path says more than its beginning. */
		snprintf(ret->why, sizeof(ret->why), "rule '%s' (%s:%u): class %s", rule->name,
			 rule->file + (strlen(rule->file) > 100 ? strlen(rule->file) - 100 : 0),
			 rule->line, ret->class->name);
	else
		snprintf(ret->why, sizeof(ret->why), "no rule matches: class %s (default_class)",
			 ret->class->name);
	if (rules->environment && who->wanted)
		lower(rules, who->wanted, ret);
	find_gang(rules, who, ret);
}

/* ---- ids ---- */

static int find_id(const char *name, bool group, u32 *ret)
{
	/* Configuration is read by one thread, before or between anything else. */
	struct group *g = group ? getgrnam(name) : NULL;
	struct passwd *p = group ? NULL : getpwnam(name);

	if (!g && !p)
		return -ENOENT;
	*ret = g ? g->gr_gid : p->pw_uid;
	return 0;
}

/* "1000" or "1000-1999"; the largest id means nobody to the kernel. */
static int parse_range(const char *word, struct gp_id_range *ret)
{
	char first[16];
	const char *dash = strchr(word, '-');
	size_t n = dash ? (size_t)(dash - word) : strlen(word);
	u64 a, b;

	if (n >= sizeof(first))
		return -EINVAL;
	memcpy(first, word, n);
	first[n] = '\0';
	if (gp_parse_u64(first, &a) || gp_parse_u64(dash ? dash + 1 : first, &b) || a > b ||
	    b >= UINT32_MAX)
		return -EINVAL;
	*ret = (struct gp_id_range){ (u32)a, (u32)b };
	return 0;
}

static int parse_word(const char *word, bool group, struct gp_id_range *ret, char *why,
		      size_t size)
{
	const char *what = group ? "group" : "user";

	if (strchr("0123456789", word[0])) {
		if (!parse_range(word, ret))
			return 0;
		snprintf(why, size, "'%s' is no id from 0 to %u and no range A-B of them", word,
			 UINT32_MAX - 1);
		return -EINVAL;
	}
	if (!find_id(word, group, &ret->first)) {
		ret->last = ret->first;
		return 0;
	}
	snprintf(why, size, "there is no %s '%s'", what, word);
	return -EINVAL;
}

int gp_ids_parse(const char *text, bool group, struct gp_ids *ret, char *why, size_t size)
{
	struct gp_ids ids = { 0 };

	for (;;) {
		char word[64];
		size_t n;

		text += strspn(text, " \t,");
		n = strcspn(text, " \t,");
		if (!n)
			break;
		if (n >= sizeof(word) || ids.nr == GP_RULE_IDS) {
			snprintf(why, size, "more than %d ids, or one longer than %zu", GP_RULE_IDS,
				 sizeof(word) - 1);
			return -EINVAL;
		}
		memcpy(word, text, n);
		word[n] = '\0';
		if (parse_word(word, group, &ids.range[ids.nr++], why, size))
			return -EINVAL;
		text += n;
	}
	if (!ids.nr) {
		snprintf(why, size, "it names nobody");
		return -EINVAL;
	}
	*ret = ids;
	return 0;
}
