/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The configuration of gpreemptd: one file and the drop-ins beside it, in
 * conf.d/, sorted by name.
 *
 * A configuration is an immutable object. Loading makes a new one or reports the mistakes. The
 * daemon keeps the old one until it has a valid new one. Classes and rules are freed with their
 * configuration, so the daemon classifies all processes again before it frees the old one.
 */
#ifndef GP_DAEMON_CONFIG_H
#define GP_DAEMON_CONFIG_H

#include <stdio.h>

#include "core/policy.h"
#include "rules.h"
#include "text/ini.h"

#define GP_CONFIG_PATH	"/etc/gpreempt/gpreempt.conf"

enum {
	GP_CONFIG_FILES		= 64,
	GP_CONFIG_TEXT		= 108,		/* of a path that is a value; sun_path */
	GP_CONFIG_POLICIES	= 8,
	GP_CONFIG_ERRORS	= 16384,	/* bytes of a buffer for messages */
	GP_CONFIG_VALUE		= 1024,		/* bytes of a buffer for any value */
	GP_CONFIG_SCHEMA	= 1,		/* of the JSON */
};

enum gp_mechanism_choice {
	GP_USE_AUTO,		/* the best that works here: kmod, else kfd-debug */
	GP_USE_KFD_DEBUG,
	GP_USE_KMOD,
	GP_USE_NONE,		/* decide and count, never act */
};

/* What the daemon does about a process that cannot be preempted though its class may be. */
enum gp_unpreemptible {
	GP_UNPREEMPTIBLE_ALLOW,		/* report it */
	GP_UNPREEMPTIBLE_NOT_BESIDE,	/* also report all of a higher class on its GPUs */
};

/* [daemon] */
struct gp_daemon_settings {
	u8 mechanism;		/* enum gp_mechanism_choice */
	u8 unpreemptible;	/* enum gp_unpreemptible */
	u8 log;			/* 0 error, 1 warning, 2 info, 3 debug */
	bool environment;	/* processes may lower themselves with GPREEMPT_CLASS */
	char gpus[GP_CONFIG_TEXT];	/* "all", or indices and BDFs */
	char socket[GP_CONFIG_TEXT];
	char group[GP_CLASS_NAME];	/* members may change processes of other users */
	char state[GP_CONFIG_TEXT];	/* folder of the file "off" (requests.c) */
	char default_class[GP_CLASS_NAME];
	u32 clients;		/* connections to the socket at a time */
	u32 grace;		/* of a suspend, 1000 GPU clocks each; 1..255 */
	u32 attach_rate;	/* attaches and detaches per second, at most */
	u64 attach_after_ns;	/* no attach before its queues are this old */
	u64 scan_ns;		/* interval between scans for GPU processes */
	u64 heartbeat_ns;	/* a decider silent for so long is killed */
};

struct gp_config {
	struct gp_daemon_settings daemon;
	const struct gp_policy *policy;		/* NULL: observe only */
	u64 param[GP_CONFIG_POLICIES][GP_NR_PARAMS];	/* by place in gp_policies */
	struct gp_named_class class[GP_CLASSES];
	u32 nr_classes;
	struct gp_rule rule[GP_RULES];
	u32 nr_rules;
	char *file[GP_CONFIG_FILES];	/* read, in that order */
	u32 nr_files;
	struct gp_rules rules;		/* all of the above, for gp_rules_match() */
};

/*
 * @path: the file, or the folder of gpreempt.conf. NULL: GP_CONFIG_PATH, which
 * need not exist (then: observe only). Free the result with gp_config_free().
 *
 * -EINVAL: refused, and @errors has a line "file:line: what is wrong; what to do" for
 * each mistake. Another -errno: a file could not be read; one line says which.
 */
int gp_config_load(const char *path, struct gp_config **ret, char *errors, size_t size);
/*
 * The same for a daemon that runs with @old. Also returns -ENOENT if the file of @old is gone or if
 * no file is left, because that is more likely an accident than a wish to stop scheduling.
 */
int gp_config_reload(const char *path, const struct gp_config *old, struct gp_config **ret,
		     char *errors, size_t size);
/* The same for a text called @name, which needs no terminator and has no drop-ins. */
int gp_config_parse(const char *name, const char *text, size_t text_size,
		    struct gp_config **ret, char *errors, size_t size);
void gp_config_free(struct gp_config *config);	/* NULL is a no-op */

/* Returns GP_NR_PARAMS settings for gp_sched_set() under @policy; NULL: the configured policy. */
const u64 *gp_config_params(const struct gp_config *config, const struct gp_policy *policy);

/*
 * Returns true if GP_NR_PARAMS settings are consistent; otherwise @why is a sentence. A stopped
 * daemon must be killed before its longest lease ends, so a heartbeat is at most as long as a
 * lease.
 */
bool gp_looks_fit(const u64 *param, char *why, size_t size);
bool gp_lease_fits(const u64 *param, u64 heartbeat_ns, char *why, size_t size);

extern const struct gp_key gp_daemon_keys[];	/* of struct gp_config */

/* ---- parsing (config_parse.c) ---- */

/* One file of a configuration. */
struct gp_config_text {
	char *name, *text;
	size_t size;
};

/* Parses all files in order. 0, -EINVAL if @errors has any message, or -ENOMEM. */
int gp_config_parse_texts(const struct gp_config_text *text, u32 nr, struct gp_ini_errors *errors,
			  struct gp_config **ret);

/* ---- printing ---- */

/* Prints the effective configuration as a file that loads to the same. 0, or -EIO. */
int gp_config_print(const struct gp_config *config, FILE *to);
/* Prints it as JSON, times in ns. 0, -EIO, or -ENOMEM. */
int gp_config_print_json(const struct gp_config *config, FILE *to);

enum gp_check_exit {
	GP_CHECK_GOOD		= 0,
	GP_CHECK_REFUSED	= 1,	/* one line per mistake on @err */
	GP_CHECK_UNREADABLE	= 2,	/* a file does not exist or cannot be read */
};

/* gpreemptd --check: prints the effective configuration to @out. Returns enum gp_check_exit. */
int gp_config_check(const char *path, bool json, FILE *out, FILE *err);

#endif /* GP_DAEMON_CONFIG_H */
