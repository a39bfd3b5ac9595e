// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a configuration is, and its files: which ones, in what order, and whether to trust them. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/value.h"

/* ---- the object ---- */

void gp_config_free(struct gp_config *config)
{
	if (!config)
		return;
	for (u32 i = 0; i < config->nr_files; i++)
		free(config->file[i]);
	free(config);
}

const u64 *gp_config_params(const struct gp_config *config, const struct gp_policy *policy)
{
	u32 i;

	if (!policy)
		policy = config->policy ? config->policy : &gp_policy_fifo;
	i = gp_policy_number(policy);
	return config->param[i < GP_CONFIG_POLICIES ? i : 0];
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

/* ---- keys of [daemon] ---- */

static bool is_path(const char *text)
{
	return text[0] == '/' && text[1];
}

/* "all", "3", "0000:c1:00.0", "c1:00.0", and "/2" behind an address for a partition. */
static bool is_gpu(const char *word)
{
	const char *slash = strchr(word, '/');
	size_t n = slash ? (size_t)(slash - word) : strlen(word);
	bool part = slash && slash[1] && strspn(slash + 1, "0123456789") == strlen(slash + 1);

	if (!slash && (!strcmp(word, "all") ||
		       (n && n <= 2 && strspn(word, "0123456789") == n)))
		return true;
	return (part || !slash) && n >= 7 && word[n - 2] == '.' && word[n - 5] == ':' &&
	       strspn(word, "0123456789abcdefABCDEF:.") == n;
}

/* Stores the words with single commas between them. */
static int parse_gpus(const struct gp_key_value *v)
{
	char list[GP_INI_LINE + 1] = "", word[GP_INI_LINE + 1];
	const char *at = v->text;
	size_t used = 0;

	while (gp_next_word(&at, word, sizeof(word))) {
		if (!is_gpu(word))
			return -EINVAL;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? "," : "",
					 word);
	}
	if (used >= GP_CONFIG_TEXT)
		return gp_why(v->why, "%s: the value is too long; expected at most %d bytes",
			      v->key->name, GP_CONFIG_TEXT - 1);
	snprintf((char *)v->to + v->key->offset, GP_CONFIG_TEXT, "%s", list);
	return used ? 0 : -EINVAL;
}

static int parse_policy(const struct gp_key_value *v)
{
	const struct gp_policy *policy = gp_policy_find(v->text);

	if (!policy && strcmp(v->text, "none"))
		return -EINVAL;
	((struct gp_config *)v->to)->policy = policy;
	return 0;
}

static void print_policy(const struct gp_key *key, const void *from, char *text, size_t size)
{
	const struct gp_policy *policy = ((const struct gp_config *)from)->policy;

	(void)key;
	snprintf(text, size, "%s", policy ? policy->name : "none");
}

static const char *const mechanism_names[] = {
	[GP_USE_AUTO] = "auto", [GP_USE_KFD_DEBUG] = "kfd-debug", [GP_USE_KMOD] = "kmod",
	[GP_USE_NONE] = "none", NULL,
};

static const char *const unpreemptible_names[] = {
	[GP_UNPREEMPTIBLE_ALLOW] = "allow",
	[GP_UNPREEMPTIBLE_NOT_BESIDE] = "no-online-beside", NULL,
};

static const char *const log_names[] = { "error", "warning", "info", "debug", NULL };

#define OF	struct gp_config
#define PATH	"a path that begins with /"

const struct gp_key gp_daemon_keys[] = {
	GP_CUSTOM("policy", parse_policy, "one of none, fifo, priority, fair, deadline",
		  .print = print_policy, .initial = "none"),
	GP_CHOICE("mechanism", daemon.mechanism, mechanism_names, .initial = "auto"),
	GP_CUSTOM("gpus", parse_gpus, "all, or indices and PCI addresses with commas, such as "
		  "0, 0000:c1:00.0", GP_AT(daemon.gpus), .initial = "all"),
	GP_TEXT("default_class", daemon.default_class, gp_class_name_ok, GP_NAME_EXPECTED,
		.initial = GP_UNMANAGED),
	GP_YES_NO("environment", daemon.environment, .initial = "yes",
		  .what = "whether processes may lower their class with " GP_CLASS_VARIABLE),
	GP_TIME("scan", daemon.scan_ns, 10 * GP_MSEC, 10 * GP_SEC, .initial = "100ms",
		.what = "time between two scans for processes"),
	GP_TIME("attach_after", daemon.attach_after_ns, 0, 60 * GP_SEC, .initial = "1s",
		.what = "age of the queues of a process that is attached"),
	GP_NUMBER("attach_rate", daemon.attach_rate, 1, 1000, .initial = "10",
		  .what = "attaches and detaches per second"),
	GP_NUMBER("grace", daemon.grace, 1, 255, .initial = "1",
		  .what = "in units of 1000 GPU clocks"),
	GP_TIME("heartbeat", daemon.heartbeat_ns, 50 * GP_MSEC, 60 * GP_SEC, .initial = "500ms",
		.what = "a daemon silent for so long is killed"),
	GP_TEXT("socket", daemon.socket, is_path, PATH, .initial = "/run/gpreempt/control"),
	GP_TEXT("group", daemon.group, gp_class_name_ok, GP_NAME_EXPECTED, .initial = "gpreempt"),
	GP_NUMBER("clients", daemon.clients, 1, 255, .initial = "64",
		  .what = "connections at a time"),
	GP_TEXT("state", daemon.state, is_path, PATH, .initial = "/var/lib/gpreempt"),
	GP_CHOICE("log", daemon.log, log_names, .initial = "info"),
	GP_CHOICE("unpreemptible", daemon.unpreemptible, unpreemptible_names, .initial = "allow"),
	{ 0 },
};

/* ---- files ---- */

/* The files of one load. */
struct files {
	struct gp_config_text text[GP_CONFIG_FILES];
	u32 nr;
	struct gp_ini_errors errors;
};

/*
 * A class decides which process preempts which, so a user who can write the file is as
 * good as root. Returns what is wrong with the file, or NULL.
 */
static const char *distrust(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file; expected a regular file";
	if (st->st_uid && st->st_uid != geteuid())
		return "it belongs to another user; chown it to root";
	if (st->st_mode & S_IWOTH)
		return "every user may write it; chmod o-w it";
	if ((st->st_mode & S_IWGRP) && st->st_gid)
		return "its group may write it; chmod g-w it";
	if (st->st_size >= GP_INI_BYTES)
		return "it is larger than 1 MB; make it smaller";
	return NULL;
}

static int unreadable(struct files *f, const char *path, int err)
{
	gp_ini_error(&f->errors, path, 0, "cannot be read: %s; expected a file that exists and "
		     "that gpreemptd may read", strerror(-err));
	return err;
}

static int keep(struct files *f, const char *path, int fd)
{
	struct gp_config_text *to = &f->text[f->nr];
	int err = gp_ini_read(fd, &to->text, &to->size);

	if (err)
		return unreadable(f, path, err);
	to->name = strdup(path);
	f->nr++;
	return to->name ? 0 : -ENOMEM;
}

/* Never waits: opening a FIFO or a device returns at once, and both are refused. */
static int read_file(struct files *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *wrong;
	struct stat st;
	int err = 0;

	if (fd < 0 || fstat(fd, &st)) {
		err = unreadable(f, path, -errno);
	} else if (f->nr == GP_CONFIG_FILES) {
		gp_ini_error(&f->errors, path, 0, "more than %d files; merge some",
			     GP_CONFIG_FILES);
		err = -EINVAL;
	} else {
		wrong = distrust(&st);
		if (wrong)	/* the other files are read for their mistakes */
			gp_ini_error(&f->errors, path, 0, "not trusted: %s", wrong);
		else
			err = keep(f, path, fd);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

static int is_drop_in(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return entry->d_name[0] != '.' && n > 5 && !strcmp(entry->d_name + n - 5, ".conf");
}

/* Not alphasort(): the order must not depend on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Reads conf.d beside @path, which need not exist. */
static int read_drop_ins(struct files *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX], file[PATH_MAX + 1 + NAME_MAX];
	struct dirent **names;
	int nr, err = 0;

	snprintf(folder, sizeof(folder), "%.*sconf.d", slash ? (int)(slash + 1 - path) : 0, path);
	nr = scandir(folder, &names, is_drop_in, by_name);
	if (nr < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : unreadable(f, folder, -errno);
	for (int i = 0; i < nr; i++) {
		snprintf(file, sizeof(file), "%s/%s", folder, names[i]->d_name);
		if (!err)
			err = read_file(f, file);
		free(names[i]);
	}
	free(names);
	return err;
}

/* ---- loading ---- */

static int read_all(struct files *f, const char *path, const struct gp_config *old)
{
	bool optional = !path;
	char file[PATH_MAX];
	struct stat st;
	int n, err = 0;

	if (!path)
		path = GP_CONFIG_PATH;
	n = snprintf(file, sizeof(file), "%s%s", path,
		     !stat(path, &st) && S_ISDIR(st.st_mode) ? "/gpreempt.conf" : "");
	if (n < 0 || (size_t)n >= sizeof(file))
		return unreadable(f, path, -ENAMETOOLONG);
	if (old && old->nr_files && !strcmp(old->file[0], file))
		optional = false;
	if (!optional || !access(file, F_OK) || errno != ENOENT)
		err = read_file(f, file);
	if (!err)
		err = read_drop_ins(f, file);
	if (!err && old && !f->nr && !f->errors.nr)
		err = unreadable(f, file, -ENOENT);
	return err;
}

int gp_config_reload(const char *path, const struct gp_config *old, struct gp_config **ret,
		     char *errors, size_t size)
{
	struct files *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	gp_ini_errors_init(&f->errors, errors, size);
	err = read_all(f, path, old);
	if (!err)
		err = gp_config_parse_texts(f->text, f->nr, &f->errors, ret);
	gp_ini_errors_end(&f->errors);
	for (u32 i = 0; i < f->nr; i++) {
		free(f->text[i].name);
		free(f->text[i].text);
	}
	free(f);
	return err;
}

int gp_config_load(const char *path, struct gp_config **ret, char *errors, size_t size)
{
	return gp_config_reload(path, NULL, ret, errors, size);
}

int gp_config_parse(const char *name, const char *text, size_t text_size,
		    struct gp_config **ret, char *errors, size_t size)
{
	const struct gp_config_text one = { (char *)name, (char *)text, text_size };
	struct gp_ini_errors e;
	int err;

	gp_ini_errors_init(&e, errors, size);
	err = gp_config_parse_texts(&one, 1, &e, ret);
	gp_ini_errors_end(&e);
	return err;
}
