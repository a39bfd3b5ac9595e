/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Classes and rules.
 *
 * A class defines how a process is treated. Four are built in, as in the simulator, and the
 * configuration can change them. It cannot change a fifth, `unmanaged`, whose processes the daemon
 * ignores.
 *
 * Rules decide which class a process gets when it appears. The first rule whose
 * conditions all hold decides. The environment of the process (GPREEMPT_CLASS) may
 * then lower its class, never raise it.
 *
 * Rules also decide which processes are one job, a gang, that is preempted as a whole:
 * those in one cgroup, or those that name the same gang in their environment
 * (GPREEMPT_GANG). All processes of a gang have one user and one class.
 */
#ifndef GP_DAEMON_RULES_H
#define GP_DAEMON_RULES_H

#include "core/task.h"
#include "text/keys.h"

enum {
	GP_CLASS_NAME	= 32,
	GP_CLASSES	= 64,
	GP_RULE_NAME	= 48,
	GP_RULE_IDS	= 32,	/* ranges of one uid or gid key */
	GP_RULE_GLOB	= 160,	/* bytes: with its key it fits a line */
	GP_RULES	= 256,
	GP_MATCH_WHY	= 320,
	GP_GANG_NAME	= 256,
};

#define GP_UNMANAGED		"unmanaged"
#define GP_CLASS_VARIABLE	"GPREEMPT_CLASS"
#define GP_GANG_VARIABLE	"GPREEMPT_GANG"

/* ---- classes ---- */

struct gp_named_class {
	char name[GP_CLASS_NAME];
	/*
	 * False: the process has no task, preempts no process, and is never held or traced. Its
	 * pointers are never read. @is then only limits the class that the process may choose
	 * itself, to that of `offline`.
	 */
	bool managed;
	struct gp_class is;
	const char *file;	/* file and line of the definition; NULL and 0: built in */
	u32 line;
};

/* Writes the built-in classes and returns how many they are. */
u32 gp_class_builtin(struct gp_named_class ret[GP_CLASSES]);

#define GP_NAME_EXPECTED	"a letter and then letters, digits, _ and -, at most 31 together"
bool gp_class_name_ok(const char *name);

/*
 * Returns true if @to is at most @from in everything: priority, weight, latency_critical, exemption
 * from preemption, reservation. Then the owner of a process of @from may make it @to.
 */
bool gp_class_lowers(const struct gp_named_class *from, const struct gp_named_class *to);

/* ---- rules ---- */

enum gp_gang_by {
	GP_GANG_NONE,		/* unless its environment says so */
	GP_GANG_CGROUP,		/* the folder that the condition on the cgroup matches */
};

struct gp_id_range {
	u32 first, last;
};

struct gp_ids {
	u32 nr;			/* 0: every id */
	struct gp_id_range range[GP_RULE_IDS];
};

/* A rule. Empty conditions are ignored. */
struct gp_rule {
	char name[GP_RULE_NAME];
	bool match_all;		/* match = all, and no condition */
	struct gp_ids uid, gid;
	char exe[GP_RULE_GLOB];		/* '*' stays within a folder, "**" does not */
	char cmdline[GP_RULE_GLOB];	/* '*' is anything */
	char cgroup[GP_RULE_GLOB];	/* as exe; of the cgroup or of one above it */
	char class_name[GP_CLASS_NAME];
	u8 gang;			/* enum gp_gang_by */
	const struct gp_named_class *class;	/* of the same configuration */
	const char *file;		/* file and line of the rule */
	u32 line;
};

/* The properties of a process that rules match. NULL: could not be read, matches no condition. */
struct gp_subject {
	u32 uid, gid;		/* real ids */
	u32 owner;		/* @uid; root if its user ids differ (a set-uid program) */
	const char *exe;	/* as /proc/PID/exe says, without " (deleted)" */
	const char *cmdline;	/* arguments with one blank between them */
	const char *cgroup;	/* "/a/b": of cgroup 2, else the longest of cgroup 1 */
	const char *wanted;	/* value of GPREEMPT_CLASS, NULL: not set */
	const char *gang;	/* of GPREEMPT_GANG */
};

/* The rules of a configuration, which owns all of it. */
struct gp_rules {
	const struct gp_rule *rule;
	u32 nr;
	const struct gp_named_class *class;
	u32 nr_classes;
	const struct gp_named_class *otherwise;	/* if no rule matches */
	bool environment;	/* look at gp_subject.wanted and .gang */
};

struct gp_match {
	const struct gp_named_class *class;	/* never NULL; lives as long as the rules */
	const struct gp_rule *rule;	/* NULL: none */
	bool lowered;			/* by GPREEMPT_CLASS */
	char gang[GP_GANG_NAME];	/* "": none; begins with '/': a cgroup */
	/* One line for users: "rule 'vllm' (/etc/gpreempt/gpreempt.conf:12): class online" */
	char why[GP_MATCH_WHY];
};

void gp_rules_match(const struct gp_rules *rules, const struct gp_subject *who,
		    struct gp_match *ret);

/*
 * Returns true if the rules could give @class to a process of which only some texts are known. A
 * NULL in @who may be any text.
 */
bool gp_rules_could_give(const struct gp_rules *rules, const struct gp_subject *who,
			 const struct gp_named_class *class);

/* Returns the class with this name, or NULL. */
const struct gp_named_class *gp_rules_class(const struct gp_rules *rules, const char *name);

/* Keys of struct gp_rule. */
extern const struct gp_key gp_rule_keys[];

/*
 * Parses "alice, 1000, 2000-2999". @group: names are groups. 0, or -EINVAL with a sentence about
 * the invalid word in @why.
 */
int gp_ids_parse(const char *text, bool group, struct gp_ids *ret, const struct gp_why *why);
/* gp_key.print of a struct gp_ids. */
void gp_ids_print(const struct gp_key *key, const void *from, char *text, size_t size);

#endif /* GP_DAEMON_RULES_H */
