// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "rules.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "text/glob.h"
#include "text/value.h"

/* ---- classes ---- */

u32 gp_class_builtin(struct gp_named_class ret[GP_CLASSES])
{
	u32 nr = 0;

	for (; gp_class_presets[nr].name; nr++) {
		ret[nr] = (struct gp_named_class){ .managed = true, .is = gp_class_presets[nr].is };
		snprintf(ret[nr].name, sizeof(ret[nr].name), "%s", gp_class_presets[nr].name);
	}
	ret[nr++] = (struct gp_named_class){ .name = GP_UNMANAGED };
	return nr;
}

bool gp_class_name_ok(const char *name)
{
	return gp_is_name(name, GP_CLASS_NAME, "_-") && !strchr("0123456789_-", name[0]);
}

/* Returns true if the reservation of @from covers that of @to, in share and urgency. */
static bool reserves_less(const struct gp_class *from, const struct gp_class *to)
{
	u64 from_within = from->deadline_ns ? from->deadline_ns : from->period_ns;
	u64 to_within = to->deadline_ns ? to->deadline_ns : to->period_ns;

	if (!to->period_ns)
		return true;
	return from->period_ns && to->period_ns >= from->period_ns &&
	       to_within >= from_within && to->budget_ns <= from->budget_ns;
}

bool gp_class_lowers(const struct gp_named_class *from, const struct gp_named_class *to)
{
	const struct gp_class *a = &from->is, *b = &to->is;

	return b->priority <= a->priority && b->weight <= a->weight &&
	       !(b->flags & ~a->flags & GP_LATENCY_CRITICAL) &&
	       !(a->flags & ~b->flags & GP_PREEMPTIBLE) && reserves_less(a, b);
}

/* ---- matching ---- */

static bool has_id(const struct gp_ids *ids, u32 id)
{
	for (u32 i = 0; i < ids->nr; i++) {
		if (ids->range[i].first <= id && id <= ids->range[i].last)
			return true;
	}
	return !ids->nr;
}

/* Returns true if no known text contradicts the rule. */
static bool could_match(const struct gp_rule *rule, const struct gp_subject *who)
{
	if (!has_id(&rule->uid, who->uid) || !has_id(&rule->gid, who->gid))
		return false;
	if (rule->exe[0] && who->exe && !gp_glob(rule->exe, who->exe, GP_GLOB_PATH))
		return false;
	if (rule->cgroup[0] && who->cgroup && !gp_glob_within(rule->cgroup, who->cgroup))
		return false;
	return !rule->cmdline[0] || !who->cmdline ||
	       gp_glob(rule->cmdline, who->cmdline, GP_GLOB_TEXT);
}

/* Returns true if a rule that could match @who matches whatever the unknown texts are. */
static bool is_certain(const struct gp_rule *rule, const struct gp_subject *who)
{
	return (!rule->exe[0] || who->exe) && (!rule->cgroup[0] || who->cgroup) &&
	       (!rule->cmdline[0] || who->cmdline);
}

static bool rule_matches(const struct gp_rule *rule, const struct gp_subject *who)
{
	return could_match(rule, who) && is_certain(rule, who);
}

const struct gp_named_class *gp_rules_class(const struct gp_rules *rules, const char *name)
{
	for (u32 i = 0; i < rules->nr_classes; i++) {
		if (!strcmp(rules->class[i].name, name))
			return &rules->class[i];
	}
	return NULL;
}

bool gp_rules_could_give(const struct gp_rules *rules, const struct gp_subject *who,
			 const struct gp_named_class *class)
{
	for (u32 i = 0; i < rules->nr; i++) {
		if (!could_match(&rules->rule[i], who))
			continue;
		if (rules->rule[i].class == class)
			return true;
		if (is_certain(&rules->rule[i], who))
			return false;
	}
	return rules->otherwise == class;
}

/* Applies GPREEMPT_CLASS of the process if it lowers the class, and says so in @m->why. */
static void lower(const struct gp_rules *rules, const char *wanted, struct gp_match *m)
{
	const struct gp_named_class *to = gp_rules_class(rules, wanted);
	size_t at = strlen(m->why);
	char *more = m->why + at;

	if (!to) {
		snprintf(more, sizeof(m->why) - at, "; " GP_CLASS_VARIABLE
			 "=%.31s ignored: unknown class", wanted);
	} else if (!gp_class_lowers(m->class, to)) {
		snprintf(more, sizeof(m->why) - at, "; " GP_CLASS_VARIABLE
			 "=%s ignored: it may only lower", wanted);
	} else if (to != m->class) {
		snprintf(more, sizeof(m->why) - at, "; lowered to %s by " GP_CLASS_VARIABLE,
			 wanted);
		m->class = to;
		m->lowered = true;
	}
}

/* Finds the gang of the process. If its name is invalid, @m->why says so. */
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
	} else if (rules->environment && who->gang && gp_is_name(who->gang, 64, "_-.:")) {
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
		/* Keep the end of a long path, which is more specific. */
		snprintf(ret->why, sizeof(ret->why), "rule '%s' (%s:%u): class %s", rule->name,
			 rule->file + (strlen(rule->file) > 100 ? strlen(rule->file) - 100 : 0),
			 rule->line, ret->class->name);
	else
		snprintf(ret->why, sizeof(ret->why), "no rule matches: class %s (default_class)",
			 ret->class->name);
	if (rules->environment && who->wanted)
		lower(rules, who->wanted, ret);
	find_gang(rules, who, ret);
	/* Truncated texts may end within a character, and paths may be invalid UTF-8. */
	gp_text_clean(ret->why);
}

/* ---- ids ---- */

/* Parses "1000" or "1000-1999". The largest id is not valid in the kernel. */
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

static int parse_word(const char *word, bool group, struct gp_id_range *ret,
		      const struct gp_why *why)
{
	struct group *g = NULL;
	struct passwd *p = NULL;

	if (strchr("0123456789", word[0]))
		return !parse_range(word, ret) ? 0 :
		       gp_why(why, "invalid id or range A-B '%s', ids are 0 to %u", word,
			      UINT32_MAX - 1);
	/* Only the main thread reads a configuration. */
	if (group)
		g = getgrnam(word);
	else
		p = getpwnam(word);
	if (!g && !p)
		return gp_why(why, "unknown %s '%s'", group ? "group" : "user", word);
	ret->first = ret->last = g ? g->gr_gid : p->pw_uid;
	return 0;
}

int gp_ids_parse(const char *text, bool group, struct gp_ids *ret, const struct gp_why *why)
{
	struct gp_ids ids = { 0 };
	char word[64];
	size_t n;

	while ((n = gp_next_word(&text, word, sizeof(word)))) {
		if (n >= sizeof(word) || ids.nr == GP_RULE_IDS)
			return gp_why(why, "more than %d ids, or one longer than %zu", GP_RULE_IDS,
				      sizeof(word) - 1);
		if (parse_word(word, group, &ids.range[ids.nr++], why))
			return -EINVAL;
	}
	if (!ids.nr)
		return gp_why(why, "the list is empty");
	*ret = ids;
	return 0;
}

void gp_ids_print(const struct gp_key *key, const void *from, char *text, size_t size)
{
	const struct gp_ids *ids = (const void *)((const char *)from + key->offset);

	text[0] = '\0';
	for (u32 i = 0; i < ids->nr; i++) {
		const struct gp_id_range *r = &ids->range[i];
		char word[32];

		if (r->first == r->last)
			snprintf(word, sizeof(word), "%u", r->first);
		else
			snprintf(word, sizeof(word), "%u-%u", r->first, r->last);
		gp_list_name(text, size, word);
	}
}

/* ---- keys of a rule ---- */

/* A printed list of numbers must fit a line, so that it can be parsed again. */
enum { IDS_TEXT = 180 };

/* Parses ids. Names are groups if key->flag is set. */
static int parse_ids(const struct gp_key_value *v)
{
	char what[160], text[1024];
	const struct gp_why why = { what, sizeof(what) };
	struct gp_ids ids;

	if (gp_ids_parse(v->text, v->key->flag, &ids, &why))
		return gp_why(v->why, "%s: %s; expected names, numbers or ranges of %s, separated "
			      "by commas", v->key->name, what, v->key->flag ? "groups" : "users");
	gp_ids_print(&(const struct gp_key){ 0 }, &ids, text, sizeof(text));
	if (strlen(text) > IDS_TEXT)
		return gp_why(v->why, "%s: the list is longer than %d bytes as numbers; use ranges "
			      "or a second rule", v->key->name, IDS_TEXT);
	memcpy((char *)v->to + v->key->offset, &ids, sizeof(ids));
	return 0;
}

static int parse_glob(const struct gp_key_value *v)
{
	const char *wrong = gp_glob_wrong(v->text);

	if (wrong)
		return gp_why(v->why, "%s: the pattern '%s' %s; write \\ before *, ?, [ or \\ that "
			      "mean themselves", v->key->name, v->text, wrong);
	if (v->key->expected && v->text[0] != '/' && strncmp(v->text, "**", 2))
		return -EINVAL;
	snprintf((char *)v->to + v->key->offset, GP_RULE_GLOB, "%s", v->text);
	return 0;
}

static const char *const match_names[] = { "conditions", "all", NULL };
static const char *const gang_names[] = {
	[GP_GANG_NONE] = "none", [GP_GANG_CGROUP] = "cgroup", NULL,
};

#define OF	struct gp_rule
#define PATH	"a pattern that begins with / (of a whole path) or with ** (of its end)"

const struct gp_key gp_rule_keys[] = {
	GP_CHOICE("match", match_all, match_names),
	GP_CUSTOM("uid", parse_ids, NULL, GP_AT(uid), .print = gp_ids_print),
	GP_CUSTOM("gid", parse_ids, NULL, GP_AT(gid), .print = gp_ids_print, .flag = true),
	GP_CUSTOM("exe", parse_glob, PATH, GP_AT(exe), .max = GP_RULE_GLOB),
	GP_CUSTOM("cmdline", parse_glob, NULL, GP_AT(cmdline), .max = GP_RULE_GLOB),
	GP_CUSTOM("cgroup", parse_glob, PATH, GP_AT(cgroup), .max = GP_RULE_GLOB),
	GP_TEXT("class", class_name, gp_class_name_ok, GP_NAME_EXPECTED),
	GP_CHOICE("gang", gang, gang_names),
	{ 0 },
};
