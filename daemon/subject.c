// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "subject.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 4096 };

/* At most TEXT_MAX bytes of /proc/PID/@name and a 0. NULL: unreadable; errno says why. */
static char *slurp(const char *proc, pid_t pid, const char *name)
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

	text = malloc(TEXT_MAX + 1);
	while (text && n < TEXT_MAX) {
		got = read(fd, text + n, TEXT_MAX - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	if (text)
		text[n] = 0;
	return text;
}

/* Of cgroup 2 ("0::/path") if it is more than the root, else the longest of cgroup 1. */
static char *read_cgroup(const char *proc, pid_t pid)
{
	char *text = slurp(proc, pid, "cgroup"), *line, *rest = text, *found = NULL;
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
	char *text = slurp(proc, pid, "status");
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

	ret->cgroup = read_cgroup(proc, pid);
	return 0;
}

static const char *copy_text(const struct gp_report_subject *s, u32 known, const char *text)
{
	return s->known & known ? strdup(text) : NULL;
}

void gp_subject_copy(const struct gp_report_subject *from, struct gp_subject *ret)
{
	*ret = (struct gp_subject){
		.uid = from->uid, .gid = from->gid, .owner = from->owner,
		.exe = copy_text(from, GP_KNOWN_EXE, from->exe),
		.cmdline = copy_text(from, GP_KNOWN_CMDLINE, from->cmdline),
		.cgroup = copy_text(from, GP_KNOWN_CGROUP, from->cgroup),
		.wanted = copy_text(from, GP_KNOWN_CLASS, from->class_name),
		.gang = copy_text(from, GP_KNOWN_GANG, from->gang),
	};
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
