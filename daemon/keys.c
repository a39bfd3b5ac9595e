// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The keys of [daemon], [class] and [rule]. Those of [policy] are gp_params[]. */
#include <string.h>

#include "config.h"
#include "setting.h"

/* ---- what a text must be ---- */

static const char *wrong_path(const char *value)
{
	return value[0] == '/' && value[1] ? NULL : "a path that begins with /";
}

static const char *wrong_path_glob(const char *value)
{
	if (value[0] == '/' || !strncmp(value, "**", 2))
		return NULL;
	return "a pattern that begins with / (of a whole path) or with ** (of its end)";
}

static const char *wrong_name(const char *value)
{
	return gp_class_name_ok(value) ? NULL : "a name of letters, digits, _ and -, at most 31";
}

/* "all", "3", "0000:c1:00.0", "c1:00.0", and "/2" behind an address for a partition. */
static const char *wrong_gpu(const char *word)
{
	const char *slash = strchr(word, '/');
	size_t n = slash ? (size_t)(slash - word) : strlen(word);
	bool part = slash && slash[1] && strspn(slash + 1, "0123456789") == strlen(slash + 1);

	if (!slash && (!strcmp(word, "all") ||
		       (n && n <= 2 && strspn(word, "0123456789") == n)))
		return NULL;
	if ((part || !slash) && n >= 7 && word[n - 2] == '.' && word[n - 5] == ':' &&
	    strspn(word, "0123456789abcdefABCDEF:.") == n)
		return NULL;
	return "all, or indices and PCI addresses with commas, such as 0, 0000:c1:00.0";
}

/* ---- [daemon] ---- */

static const char *const mechanism_names[] = {
	[GP_USE_AUTO] = "auto", [GP_USE_KFD_DEBUG] = "kfd-debug", [GP_USE_KMOD] = "kmod",
	[GP_USE_NONE] = "none", NULL,
};

static const char *const unpreemptible_names[] = {
	[GP_UNPREEMPTIBLE_ALLOW] = "allow",
	[GP_UNPREEMPTIBLE_NOT_BESIDE] = "no-online-beside", NULL,
};

static const char *const log_names[] = { "error", "warning", "info", "debug", NULL };

#define AT(member)	.offset = offsetof(struct gp_config, member)
#define TEXT(n, m, fn)	{ .name = n, .kind = GP_SET_TEXT, AT(m), .wrong = fn, \
			  .max = sizeof(((struct gp_config *)NULL)->m) }
#define NUMBER(n, m, lo, hi)	{ .name = n, .kind = GP_SET_U32, AT(m), .min = lo, .max = hi }
#define TIME(n, m, lo, hi)	{ .name = n, .kind = GP_SET_NS, AT(m), .min = lo, .max = hi }
#define CHOICE(n, m, list)	{ .name = n, .kind = GP_SET_CHOICE, AT(m), .choices = list }

const struct gp_setting gp_daemon_settings[] = {
	{ .name = "policy", .kind = GP_SET_POLICY, AT(policy) },
	CHOICE("mechanism", daemon.mechanism, mechanism_names),
	{ .name = "gpus", .kind = GP_SET_LIST, AT(daemon.gpus), .wrong = wrong_gpu,
	  .max = GP_CONFIG_TEXT },
	TEXT("default_class", daemon.default_class, wrong_name),
	{ .name = "environment", .kind = GP_SET_BOOL, AT(daemon.environment) },
	TIME("scan", daemon.scan_ns, 10 * GP_MSEC, 10 * GP_SEC),
	TIME("attach_after", daemon.attach_after_ns, 0, 60 * GP_SEC),
	NUMBER("attach_rate", daemon.attach_rate, 1, 1000),
	NUMBER("grace", daemon.grace, 1, 255),
	TIME("heartbeat", daemon.heartbeat_ns, 50 * GP_MSEC, 60 * GP_SEC),
	TEXT("socket", daemon.socket, wrong_path),
	TEXT("group", daemon.group, wrong_name),
	NUMBER("clients", daemon.clients, 1, 255),
	TEXT("state", daemon.state, wrong_path),
	CHOICE("log", daemon.log, log_names),
	CHOICE("unpreemptible", daemon.unpreemptible, unpreemptible_names),
	{ 0 },
};

#undef AT
#undef TEXT

/* ---- [class NAME] ---- */

#define AT(member)	.offset = offsetof(struct gp_named_class, is.member)

const struct gp_setting gp_class_settings[] = {
	NUMBER("priority", priority, 0, 1000),
	NUMBER("weight", weight, 1, 10000),
	{ .name = "latency_critical", .kind = GP_SET_FLAG, AT(flags), .flag = GP_LATENCY_CRITICAL },
	{ .name = "preemptible", .kind = GP_SET_FLAG, AT(flags), .flag = GP_PREEMPTIBLE },
	TIME("period", period_ns, 0, 3600 * GP_SEC),
	TIME("budget", budget_ns, 0, 3600 * GP_SEC),
	TIME("deadline", deadline_ns, 0, 3600 * GP_SEC),
	{ 0 },
};

#undef AT

/* ---- [rule NAME] ---- */

static const char *const match_names[] = { "conditions", "all", NULL };
static const char *const gang_names[] = {
	[GP_GANG_NONE] = "none", [GP_GANG_CGROUP] = "cgroup", NULL,
};

#define AT(member)	.offset = offsetof(struct gp_rule, member)
#define GLOB(n, fn)	{ .name = #n, .kind = GP_SET_GLOB, AT(n), .wrong = fn, \
			  .max = GP_RULE_GLOB }

const struct gp_setting gp_rule_settings[] = {
	CHOICE("match", everybody, match_names),
	{ .name = "uid", .kind = GP_SET_USERS, AT(uid) },
	{ .name = "gid", .kind = GP_SET_GROUPS, AT(gid) },
	GLOB(exe, wrong_path_glob),
	GLOB(cmdline, NULL),
	GLOB(cgroup, wrong_path_glob),
	{ .name = "class", .kind = GP_SET_TEXT, AT(class_name), .wrong = wrong_name,
	  .max = GP_CLASS_NAME },
	CHOICE("gang", gang, gang_names),
	{ 0 },
};

static_assert(sizeof(bool) == sizeof(u8), "a choice of two is stored in a bool");
