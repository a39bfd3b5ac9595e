// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "subject.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TEXT_MAX	= 4096,		/* of a command line, a cgroup */
	ENVIRON_MAX	= 1 << 18,	/* beyond that a variable is not found */
};

/* At most @max bytes of /proc/PID/@name, with a 0 behind them. NULL: unreadable; errno says why. */
static char *slurp(const char *proc, pid_t pid, const char *name, size_t max, size_t *ret_bytes)
{
	char path[PATH_MAX], *text;
	size_t n = 0;
	ssize_t got;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%d/%s", proc, pid, name) >= (int)sizeof(path))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;

	text = malloc(max + 1);
	while (text && n < max) {
		got = read(fd, text + n, max - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	if (text)
		text[n] = 0;
	*ret_bytes = n;
	return text;
}

static char *read_exe(const char *proc, pid_t pid)
{
	static const char deleted[] = " (deleted)";
	char path[PATH_MAX], to[PATH_MAX];
	size_t n;
	ssize_t got;

	if (snprintf(path, sizeof(path), "%s/%d/exe", proc, pid) >= (int)sizeof(path))
		return NULL;
	got = readlink(path, to, sizeof(to) - 1);
	if (got < 0)
		return NULL;

	n = (size_t)got;
	to[n] = 0;
	if (n >= sizeof(deleted) && !strcmp(to + n - (sizeof(deleted) - 1), deleted))
		to[n - (sizeof(deleted) - 1)] = 0;
	return strdup(to);
}

static char *read_cmdline(const char *proc, pid_t pid)
{
	size_t i, n;
	char *text = slurp(proc, pid, "cmdline", TEXT_MAX, &n);

	if (!text)
		return NULL;
	while (n && !text[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	return text;
}

/* Of cgroup 2 ("0::/path") if it is more than the root, else the longest of cgroup 1. */
static char *read_cgroup(const char *proc, pid_t pid)
{
	size_t n;
	char *text = slurp(proc, pid, "cgroup", TEXT_MAX, &n), *line, *rest = text, *found = NULL;
	const char *best = "";

	if (!text)
		return NULL;
	while ((line = strsep(&rest, "\n"))) {
		const char *path = strchr(line, ':');

		path = path ? strchr(path + 1, ':') : NULL;
		if (!path)
			continue;
		path++;
		if (!strncmp(line, "0::", 3) && path[0] && path[1]) {
			best = path;
			break;
		}
		if (strlen(path) > strlen(best))
			best = path;
	}
	found = best[0] ? strdup(best) : NULL;
	free(text);
	return found;
}

/* As getenv() would have it: the first one counts. */
static char *find_variable(const char *text, size_t bytes, const char *name)
{
	size_t at, len = strlen(name);

	for (at = 0; at < bytes; at += strlen(text + at) + 1)
		if (!strncmp(text + at, name, len) && text[at + len] == '=')
			return strdup(text + at + len + 1);
	return NULL;
}

static void read_environ(const char *proc, pid_t pid, struct gp_subject *ret)
{
	size_t n;
	char *text = slurp(proc, pid, "environ", ENVIRON_MAX, &n);

	if (!text)
		return;
	ret->wanted = find_variable(text, n, GP_CLASS_VARIABLE);
	ret->gang = find_variable(text, n, GP_GANG_VARIABLE);
	free(text);
}

/* "\tREAL\tEFFECTIVE\tSAVED\tOF-FILES": the user of a set-uid program does not own it. */
static u32 read_owner(const char *ids)
{
	char *at;
	u32 first = (u32)strtoul(ids, &at, 10);

	for (u32 i = 1; i < 4; i++)
		if ((u32)strtoul(at, &at, 10) != first)
			return 0;
	return first;
}

static int read_ids(const char *proc, pid_t pid, struct gp_subject *ret)
{
	size_t n;
	char *text = slurp(proc, pid, "status", TEXT_MAX, &n);
	const char *uid = text ? strstr(text, "\nUid:") : NULL;
	const char *gid = text ? strstr(text, "\nGid:") : NULL;
	int err = text ? -EPROTO : errno == ENOENT || errno == ESRCH ? -ESRCH : -errno;

	if (uid && gid) {
		ret->uid = (u32)strtoul(uid + 5, NULL, 10);
		ret->gid = (u32)strtoul(gid + 5, NULL, 10);
		ret->owner = read_owner(uid + 5);
		err = 0;
	}
	free(text);
	return err;
}

int gp_subject_owner(const char *proc, pid_t pid, u32 *ret)
{
	struct gp_subject ids;
	int err = read_ids(proc ? proc : "/proc", pid, &ids);

	if (!err)
		*ret = ids.owner;
	return err;
}

int gp_subject_read(const char *proc, pid_t pid, struct gp_subject *ret)
{
	int err;

	if (!proc)
		proc = "/proc";
	*ret = (struct gp_subject){ 0 };
	err = read_ids(proc, pid, ret);
	if (err)
		return err;

	ret->exe = read_exe(proc, pid);
	ret->cmdline = read_cmdline(proc, pid);
	ret->cgroup = read_cgroup(proc, pid);
	read_environ(proc, pid, ret);
	return 0;
}

void gp_subject_free(struct gp_subject *s)
{
	free((char *)s->exe);
	free((char *)s->cmdline);
	free((char *)s->cgroup);
	free((char *)s->wanted);
	free((char *)s->gang);
	*s = (struct gp_subject){ 0 };
}
