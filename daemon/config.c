// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The configuration: its keys, its files, the checks of their permissions, and printing. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys.h"
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
	int fd = gp_sys->openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *wrong;
	struct stat st;
	int err = 0;

	if (fd < 0 || gp_sys->fstat(fd, &st)) {
		err = unreadable(f, path, -errno);
	} else if (f->nr == GP_CONFIG_FILES) {
		gp_ini_error(&f->errors, path, 0, "more than %d files; merge some",
			     GP_CONFIG_FILES);
		err = -EINVAL;
	} else {
		wrong = distrust(&st);
		if (wrong)	/* continue, to report the mistakes of the other files */
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
		     !gp_sys->fstatat(AT_FDCWD, path, &st, 0) && S_ISDIR(st.st_mode) ?
		     "/gpreempt.conf" : "");
	if (n < 0 || (size_t)n >= sizeof(file))
		return unreadable(f, path, -ENAMETOOLONG);
	if (old && old->nr_files && !strcmp(old->file[0], file))
		optional = false;
	if (!optional || !gp_sys->access(file, F_OK) || errno != ENOENT)
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

/* ---- printing it as a file ---- */

static void print_section(FILE *to, const struct gp_key *key, const void *from)
{
	char text[GP_CONFIG_VALUE];

	for (; key->name; key++) {
		gp_key_print(key, from, text, sizeof(text));
		/* An empty text is a condition that is not set. */
		if (text[0])
			fprintf(to, "%s = %s\n", key->name, text);
	}
}

static void print_params(const struct gp_config *config, const struct gp_policy *policy, FILE *to)
{
	const u64 *param = gp_config_params(config, policy);
	char text[32];

	fprintf(to, "\n[policy %s]\n", policy->name);
	for (u32 i = 0; i < GP_NR_PARAMS; i++) {
		gp_print_param(&gp_params[i], param[i], text, sizeof(text));
		fprintf(to, "%s = %s\n", gp_params[i].name, text);
	}
}

int gp_config_print(const struct gp_config *config, FILE *to)
{
	for (u32 i = 0; i < config->nr_files; i++)
		fprintf(to, "# from %s\n", config->file[i]);
	if (!config->policy)
		fputs("# observe only: no policy is set\n", to);
	fputs("[daemon]\n", to);
	print_section(to, gp_daemon_keys, config);
	for (u32 i = 0; gp_policies[i]; i++)
		print_params(config, gp_policies[i], to);
	for (u32 i = 0; i < config->nr_classes; i++) {
		if (!config->class[i].managed)
			continue;
		fprintf(to, "\n[class %s]\n", config->class[i].name);
		print_section(to, gp_class_keys, &config->class[i].is);
	}
	for (u32 i = 0; i < config->nr_rules; i++) {
		fprintf(to, "\n[rule %s]\n", config->rule[i].name);
		print_section(to, gp_rule_keys, &config->rule[i]);
	}
	return fflush(to) || ferror(to) ? -EIO : 0;
}

/* ---- printing it as JSON ---- */

/* Jansson takes NULL for a value and fails; the failure is kept in *@err. */
static void put(json_t *object, const char *key, json_t *value, int *err)
{
	if (json_object_set_new(object, key, value))
		*err = -ENOMEM;
}

/* Files and their names are bytes, JSON is UTF-8. */
static json_t *json_text(const char *text)
{
	json_t *value = text ? json_string(text) : json_null();
	char ascii[GP_CONFIG_VALUE];

	if (value)
		return value;
	snprintf(ascii, sizeof(ascii), "%s", text);
	for (char *c = ascii; *c; c++)
		*c = *c & 0x80 ? '?' : *c;
	return json_string(ascii);
}

static json_t *json_ids(const struct gp_ids *ids)
{
	json_t *list = json_array();

	for (u32 i = 0; list && i < ids->nr; i++)
		json_array_append_new(list, json_pack("[II]", (json_int_t)ids->range[i].first,
						      (json_int_t)ids->range[i].last));
	return list;
}

/* Number, true or false, text, or list of id ranges. */
static json_t *value_json(const struct gp_key *key, const void *from)
{
	const void *at = (const char *)from + key->offset;
	char text[GP_CONFIG_VALUE];

	switch ((enum gp_key_kind)key->kind) {
	case GP_KEY_NS:
		return json_integer((json_int_t)*(const u64 *)at);
	case GP_KEY_U32:
		return json_integer(*(const u32 *)at);
	case GP_KEY_BOOL:
		return json_boolean(*(const bool *)at);
	case GP_KEY_FLAG:
		return json_boolean(*(const u32 *)at & key->flag);
	default:
		if (key->print == gp_ids_print)
			return json_ids(at);
		gp_key_print(key, from, text, sizeof(text));
		return json_text(text);
	}
}

static json_t *section_json(const struct gp_key *key, const void *from, int *err)
{
	json_t *o = json_object();
	char name[40];

	for (; key->name; key++) {
		snprintf(name, sizeof(name), "%s%s", key->name,
			 key->kind == GP_KEY_NS ? "_ns" : "");
		put(o, name, value_json(key, from), err);
	}
	return o;
}

static json_t *params_json(const u64 *param, int *err)
{
	json_t *o = json_object();
	char key[40], text[32];

	for (u32 i = 0; i < GP_NR_PARAMS; i++) {
		const struct gp_param_info *info = &gp_params[i];

		snprintf(key, sizeof(key), "%s%s", info->name,
			 info->unit == GP_UNIT_NS ? "_ns" : "");
		gp_print_param(info, param[i], text, sizeof(text));
		put(o, key, info->unit == GP_UNIT_LINGER ? json_string(text) :
		    json_integer((json_int_t)param[i]), err);
	}
	return o;
}

static json_t *class_json(const struct gp_named_class *c, int *err)
{
	json_t *o = section_json(gp_class_keys, &c->is, err);

	put(o, "name", json_string(c->name), err);
	put(o, "managed", json_boolean(c->managed), err);
	put(o, "file", json_text(c->file), err);
	put(o, "line", json_integer(c->line), err);
	return o;
}

static json_t *rule_json(const struct gp_rule *rule, int *err)
{
	json_t *o = section_json(gp_rule_keys, rule, err);

	put(o, "name", json_string(rule->name), err);
	put(o, "file", json_text(rule->file), err);
	put(o, "line", json_integer(rule->line), err);
	return o;
}

static json_t *config_json(const struct gp_config *config, int *err)
{
	json_t *o = json_object(), *files = json_array(), *policies = json_object();
	json_t *classes = json_array(), *rules = json_array();

	for (u32 i = 0; i < config->nr_files; i++)
		json_array_append_new(files, json_text(config->file[i]));
	for (u32 i = 0; gp_policies[i]; i++)
		put(policies, gp_policies[i]->name,
		    params_json(gp_config_params(config, gp_policies[i]), err), err);
	for (u32 i = 0; i < config->nr_classes; i++)
		json_array_append_new(classes, class_json(&config->class[i], err));
	for (u32 i = 0; i < config->nr_rules; i++)
		json_array_append_new(rules, rule_json(&config->rule[i], err));
	put(o, "schema", json_integer(GP_CONFIG_SCHEMA), err);
	put(o, "files", files, err);
	put(o, "observe_only", json_boolean(!config->policy), err);
	put(o, "daemon", section_json(gp_daemon_keys, config, err), err);
	put(o, "policies", policies, err);
	put(o, "classes", classes, err);
	put(o, "rules", rules, err);
	return o;
}

int gp_config_print_json(const struct gp_config *config, FILE *to)
{
	int err = 0;
	json_t *o = config_json(config, &err);

	if (!err && (json_dumpf(o, to, JSON_INDENT(2)) || fputc('\n', to) == EOF || fflush(to)))
		err = -EIO;
	json_decref(o);
	return err;
}

/* ---- gpreemptd --check ---- */

int gp_config_check(const char *path, bool json, FILE *out, FILE *err)
{
	char errors[GP_CONFIG_ERRORS];
	struct gp_config *config;
	int r = gp_config_load(path, &config, errors, sizeof(errors));

	if (r) {
		fputs(r == -ENOMEM ? "out of memory\n" : errors, err);
		return r == -EINVAL ? GP_CHECK_REFUSED : GP_CHECK_UNREADABLE;
	}
	r = json ? gp_config_print_json(config, out) : gp_config_print(config, out);
	gp_config_free(config);
	if (r)
		fputs("the output could not be written\n", err);
	return r ? GP_CHECK_UNREADABLE : GP_CHECK_GOOD;
}
