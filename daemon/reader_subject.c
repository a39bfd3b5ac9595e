// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A process controls its texts. It can change them while they are read, make them huge, or hide
 * them. Each text is read into one bounded buffer, truncated and cleaned.
 */
#include "reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys.h"
#include "lib/sysfs.h"
#include "rules.h"
#include "text/value.h"

enum {
	ENVIRON_MAX	= 1 << 18,	/* variables beyond that are not found */
	TRIES		= 3,
};

/* ---- cleaning ---- */

void gp_reader_clean(char *text, size_t room)
{
	text[room - 1] = 0;
	gp_text_clean(text);
}

/* ---- identity ---- */

static int read_start(int dir, u64 *ret)
{
	struct gp_proc_stat stat;
	char text[1024];
	int n = gp_sysfs_text(dir, "stat", text, sizeof(text));

	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	if (!gp_proc_stat_parse(text, &stat))
		return -EPROTO;
	*ret = stat.start;
	return 0;
}

static bool read_id(const char *text, const char *name, u32 *ret, bool *same)
{
	const char *at = strstr(text, name), *end;
	u64 id, first = 0;
	u32 i;

	if (!at)
		return false;
	at += strlen(name);
	for (i = 0, *same = true; i < 4; i++) {
		*same &= gp_sysfs_parse(at + strspn(at, "\t "), 10, &id, &end);
		if (!*same)
			break;
		first = i ? first : id;
		*same = id == first;
		at = end;
	}
	*ret = (u32)first;
	return i;
}

int gp_reader_process_ids(struct gp_reader_process *p)
{
	char text[GP_READER_PATH];
	bool same, any;
	int n = gp_sysfs_text(p->dir, "status", text, sizeof(text));

	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	if (!read_id(text, "\nUid:", &p->uid, &same) || !read_id(text, "\nGid:", &p->gid, &any))
		return -EPROTO;
	p->owner = same ? p->uid : 0;
	return 0;
}

int gp_reader_process_open(pid_t pid, u64 start, struct gp_reader_process *ret)
{
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	ret->dir = gp_sys->openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = read_start(ret->dir, &ret->start);
	if (!err && ret->start != start)
		err = -ESRCH;
	if (!err)
		err = gp_reader_process_ids(ret);
	if (err)
		gp_reader_process_close(ret);
	return err;
}

int gp_reader_process_check(const struct gp_reader_process *p)
{
	u64 start;
	int err = read_start(p->dir, &start);

	return err ? err : start == p->start ? 0 : -ESRCH;
}

void gp_reader_process_close(struct gp_reader_process *p)
{
	if (p->dir >= 0)
		close(p->dir);
	p->dir = -1;
}

/* ---- texts ---- */

/* Returns true if @err means that a text is hidden and the process still exists. */
static bool is_hidden(int err)
{
	return err == -EACCES || err == -EPERM || err == -ENOENT;
}

/* 1: read, 0: hidden or cut, -errno */
static int read_exe(int dir, char *to)
{
	static const char deleted[] = " (deleted)";
	ssize_t n = gp_sys->readlinkat(dir, "exe", to, GP_READER_PATH - 1);

	if (n < 0)
		return is_hidden(-errno) ? 0 : -errno;
	if (n == GP_READER_PATH - 1)
		return 0;
	to[n] = 0;
	n -= (ssize_t)sizeof(deleted) - 1;
	if (n > 0 && !strcmp(to + n, deleted))
		to[n] = 0;
	return 1;
}

/* A 0 ends each argument. */
static int read_cmdline(int dir, char *to)
{
	int i, n = gp_sysfs_text(dir, "cmdline", to, GP_READER_PATH);

	if (n < 0)
		return is_hidden(n) ? 0 : n;
	while (n && !to[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!to[i])
			to[i] = ' ';
	to[n] = 0;
	return 1;
}

int gp_reader_cgroup(int dir, char *to)
{
	char text[GP_READER_PATH], *line, *rest = text;
	const char *path, *best = "";
	int n = gp_sysfs_text(dir, "cgroup", text, sizeof(text));

	if (n < 0)
		return is_hidden(n) ? 0 : n;
	while ((line = strsep(&rest, "\n"))) {
		path = strchr(line, ':');
		path = path ? strchr(path + 1, ':') : NULL;
		if (!path++)
			continue;
		if (!strncmp(line, "0::", 3) && path[0] && path[1]) {
			best = path;
			break;
		}
		if (strlen(path) > strlen(best))
			best = path;
	}
	snprintf(to, GP_READER_PATH, "%s", best);
	return *best != 0;
}

/* Finds the first one, as getenv() does. A value that does not fit is left unknown. */
static bool find_variable(const char *text, size_t bytes, const char *name, char *to)
{
	size_t at, len = strlen(name);

	for (at = 0; at < bytes; at += strlen(text + at) + 1)
		if (!strncmp(text + at, name, len) && text[at + len] == '=')
			return snprintf(to, GP_READER_NAME, "%s", text + at + len + 1) <
			       GP_READER_NAME;
	return false;
}

static int read_environ(int dir, struct gp_report_subject *ret)
{
	static char text[ENVIRON_MAX + 1];
	int n = gp_sysfs_text(dir, "environ", text, sizeof(text));

	if (n < 0)
		return is_hidden(n) ? 0 : n;
	if (find_variable(text, (size_t)n, GP_CLASS_VARIABLE, ret->class_name))
		ret->known |= GP_KNOWN_CLASS;
	if (find_variable(text, (size_t)n, GP_GANG_VARIABLE, ret->gang))
		ret->known |= GP_KNOWN_GANG;
	return 0;
}

static int read_texts(int dir, struct gp_report_subject *ret)
{
	static const struct {
		u32 known;
		int (*read)(int dir, char *to);
		size_t at;
	} texts[] = {
		{ GP_KNOWN_EXE, read_exe, offsetof(struct gp_report_subject, exe) },
		{ GP_KNOWN_CMDLINE, read_cmdline, offsetof(struct gp_report_subject, cmdline) },
		{ GP_KNOWN_CGROUP, gp_reader_cgroup, offsetof(struct gp_report_subject, cgroup) },
	};
	u32 i;
	int n;

	ret->known = 0;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		n = texts[i].read(dir, (char *)ret + texts[i].at);
		if (n < 0)
			return n;
		ret->known |= n ? texts[i].known : 0;
	}
	return read_environ(dir, ret);
}

static void clean(struct gp_report_subject *s)
{
	const struct {
		u32 known;
		char *text;
		size_t room;
	} all[] = {
		{ GP_KNOWN_EXE, s->exe, sizeof(s->exe) },
		{ GP_KNOWN_CMDLINE, s->cmdline, sizeof(s->cmdline) },
		{ GP_KNOWN_CGROUP, s->cgroup, sizeof(s->cgroup) },
		{ GP_KNOWN_CLASS, s->class_name, sizeof(s->class_name) },
		{ GP_KNOWN_GANG, s->gang, sizeof(s->gang) },
	};
	u32 i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!(s->known & all[i].known))
			all[i].text[0] = 0;
		gp_reader_clean(all[i].text, all[i].room);
	}
}

int gp_reader_subject_read(const struct gp_reader_process *p, struct gp_report_subject *ret)
{
	static char before[GP_READER_PATH], after[GP_READER_PATH];
	int err, was, is;
	u32 i;

	/* An exec in between would mix the texts of two programs. */
	for (i = 0; i < TRIES; i++) {
		memset(ret, 0, sizeof(*ret));
		was = read_exe(p->dir, before);
		err = was < 0 ? was : read_texts(p->dir, ret);
		if (err)
			return err;
		is = read_exe(p->dir, after);
		if (is < 0)
			return is;
		if (was != is || (is && strcmp(before, after)))
			continue;
		ret->uid = p->uid;
		ret->gid = p->gid;
		ret->owner = p->owner;
		clean(ret);
		return 0;
	}
	return -EAGAIN;
}
