// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Files of a configuration: which, in what order, and whether they can be trusted. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load.h"

/* ---- objects ---- */

static void init(struct gp_config *config)
{
	struct gp_daemon_settings *d = &config->daemon;

	strcpy(d->gpus, "all");
	strcpy(d->socket, "/run/gpreempt/control");
	strcpy(d->group, "gpreempt");
	strcpy(d->state, "/var/lib/gpreempt");
	strcpy(d->default_class, GP_UNMANAGED);
	d->mechanism = GP_USE_AUTO;
	d->log = 2;
	d->environment = true;
	d->clients = 64;
	d->grace = 1;
	d->attach_rate = 10;
	d->attach_after_ns = GP_SEC;
	d->scan_ns = 100 * GP_MSEC;
	d->heartbeat_ns = 500 * GP_MSEC;
	for (u32 i = 0; gp_class_builtin(i); i++)
		config->class[config->nr_classes++] = *gp_class_builtin(i);
}

static struct gp_load *new_load(char *errors, size_t size)
{
	struct gp_load *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->config = calloc(1, sizeof(*l->config));
	if (!l->config) {
		free(l);
		return NULL;
	}
	gp_faults_init(&l->faults, errors, size);
	init(l->config);
	return l;
}

void gp_config_free(struct gp_config *config)
{
	if (!config)
		return;
	for (u32 i = 0; i < config->nr_files; i++)
		free(config->file[i]);
	free(config);
}

/* The end of every load: a whole configuration, or none. */
static int finish(struct gp_load *l, int err, struct gp_config **ret)
{
	if (!err) {
		gp_load_finish(l);
		if (l->faults.nr)
			err = -EINVAL;
	}
	gp_faults_end(&l->faults);
	if (err)
		gp_config_free(l->config);
	else
		*ret = l->config;
	free(l);
	return err;
}

const u64 *gp_config_params(const struct gp_config *config, const struct gp_policy *policy)
{
	u32 i;

	if (!policy)
		policy = config->policy ? config->policy : &gp_policy_fifo;
	i = gp_policy_number(policy);
	return config->param[i < GP_CONFIG_POLICIES ? i : 0];
}

/* ---- texts ---- */

static int add_file(struct gp_load *l, const char *name)
{
	struct gp_config *config = l->config;

	if (config->nr_files == GP_CONFIG_FILES) {
		gp_fault(&l->faults, name, 0, "more than %d files; merge some", GP_CONFIG_FILES);
		return -EINVAL;
	}
	config->file[config->nr_files] = strdup(name);
	if (!config->file[config->nr_files])
		return -ENOMEM;
	config->nr_files++;
	return 0;
}

/* @name is the newest of the config's files: places point to it. */
static void read_text(struct gp_load *l, const char *text, size_t size)
{
	l->reader = (struct gp_reader){
		.file = l->config->file[l->config->nr_files - 1],
		.text = text, .size = size, .faults = &l->faults,
		.section = gp_load_section, .pair = gp_load_pair, .user = l,
	};
	gp_load_section(l, NULL, NULL);
	l->outside = true;
	gp_reader_run(&l->reader);
}

int gp_config_parse(const char *name, const char *text, size_t text_size,
		    struct gp_config **ret, char *errors, size_t size)
{
	struct gp_load *l = new_load(errors, size);
	int err;

	if (!l)
		return -ENOMEM;
	err = add_file(l, name);
	if (!err)
		read_text(l, text, text_size);
	return finish(l, err, ret);
}

/* ---- files ---- */

/*
 * Classes decide who may take the GPU from whom: whoever can write the file is as
 * good as root. NULL: fine.
 */
static const char *distrust(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is no regular file; name one";
	if (st->st_uid && st->st_uid != geteuid())
		return "it belongs to another user; chown it to root";
	if (st->st_mode & S_IWOTH)
		return "everybody may write it; chmod o-w it";
	if ((st->st_mode & S_IWGRP) && st->st_gid)
		return "its group may write it; chmod g-w it";
	if (st->st_size >= GP_CONFIG_BYTES)
		return "it is larger than 1 MB; make it smaller";
	return NULL;
}

static int read_all(int fd, char *buffer, size_t *size)
{
	*size = 0;
	while (*size < GP_CONFIG_BYTES) {
		ssize_t n = read(fd, buffer + *size, GP_CONFIG_BYTES - *size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		*size += (size_t)n;
	}
	return -EFBIG;
}

static int unreadable(struct gp_load *l, const char *path, int err)
{
	gp_fault(&l->faults, path, 0, "cannot be read: %s; name a file that is there and yours to "
		 "read", strerror(-err));
	return err;
}

static int read_file(struct gp_load *l, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *wrong;
	char *buffer = NULL;
	struct stat st;
	size_t size = 0;
	int err;

	if (fd < 0)
		return unreadable(l, path, -errno);
	err = fstat(fd, &st) ? -errno : add_file(l, path);
	wrong = err ? NULL : distrust(&st);
	if (wrong) {
		gp_fault(&l->faults, path, 0, "not trusted: %s", wrong);
		close(fd);
		return 0;	/* the other files may have faults too */
	}
	if (!err) {
		buffer = malloc(GP_CONFIG_BYTES);
		err = buffer ? read_all(fd, buffer, &size) : -ENOMEM;
		if (err)
			unreadable(l, path, err);
	}
	close(fd);
	if (!err)
		read_text(l, buffer, size);
	free(buffer);
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

/* conf.d beside @path; that there is none is fine. */
static int read_drop_ins(struct gp_load *l, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX], file[PATH_MAX + 1 + NAME_MAX];
	struct dirent **names;
	int nr, err = 0;

	snprintf(folder, sizeof(folder), "%.*sconf.d", slash ? (int)(slash + 1 - path) : 0, path);
	nr = scandir(folder, &names, is_drop_in, by_name);
	if (nr < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : unreadable(l, folder, -errno);
	for (int i = 0; i < nr; i++) {
		snprintf(file, sizeof(file), "%s/%s", folder, names[i]->d_name);
		if (!err)
			err = read_file(l, file);
		free(names[i]);
	}
	free(names);
	return err;
}

int gp_config_load(const char *path, struct gp_config **ret, char *errors, size_t size)
{
	struct gp_load *l = new_load(errors, size);
	bool optional = !path;
	char file[PATH_MAX];
	struct stat st;
	int n, err = 0;

	if (!l)
		return -ENOMEM;
	if (!path)
		path = GP_CONFIG_PATH;
	n = snprintf(file, sizeof(file), "%s%s", path,
		     !stat(path, &st) && S_ISDIR(st.st_mode) ? "/gpreempt.conf" : "");
	if (n < 0 || (size_t)n >= sizeof(file))
		err = unreadable(l, path, -ENAMETOOLONG);
	else if (!optional || !access(file, F_OK) || errno != ENOENT)
		err = read_file(l, file);
	if (!err)
		err = read_drop_ins(l, file);
	return finish(l, err, ret);
}
