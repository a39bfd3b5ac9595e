// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys.h"

int gp_sysfs_text(int dir, const char *path, char *text, size_t room)
{
	int fd = gp_sys->openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t bytes = 0;
	ssize_t n = 0;

	*text = '\0';
	if (fd < 0)
		return -errno;
	while (bytes + 1 < room) {
		n = gp_sys->read(fd, text + bytes, room - 1 - bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes += (size_t)n;
	}
	if (n < 0)
		n = -errno;
	gp_sys->close(fd);
	if (n < 0)
		return (int)n;
	text[bytes] = '\0';
	return (int)bytes;
}

bool gp_sysfs_parse(const char *text, int base, u64 *ret, const char **end)
{
	char *behind;
	u64 value;

	if (base == 16 ? !isxdigit((unsigned char)*text) : !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &behind, base);
	if (errno)
		return false;
	*ret = value;
	*end = behind;
	return true;
}

int gp_sysfs_number(int dir, const char *path, u64 *ret)
{
	char text[32];
	const char *end;
	u64 value;
	int n = gp_sysfs_text(dir, path, text, sizeof(text));

	if (n < 0)
		return n;
	if (!gp_sysfs_parse(text, 10, &value, &end) || (*end && *end != '\n'))
		return -EPROTO;
	*ret = value;
	return 0;
}

int gp_sysfs_dir_open(struct gp_sysfs_dir *d, int dir, const char *path)
{
	d->fd = gp_sys->openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d->at = d->filled = 0;
	return d->fd < 0 ? -errno : 0;
}

void gp_sysfs_dir_close(struct gp_sysfs_dir *d)
{
	gp_sys->close(d->fd);
	d->fd = -1;
}

int gp_sysfs_dir_next(struct gp_sysfs_dir *d, const char **name, u64 *ret_inode)
{
	const struct dirent64 *entry;

	if (d->at == d->filled) {
		ssize_t n = gp_sys->getdents(d->fd, d->piece, sizeof(d->piece));

		if (n <= 0)
			return n < 0 ? -errno : 0;
		d->at = 0;
		d->filled = (u32)n;
	}
	entry = (const struct dirent64 *)((const char *)d->piece + d->at);
	d->at += entry->d_reclen;
	*name = entry->d_name;
	*ret_inode = entry->d_ino;
	return 1;
}

int gp_sysfs_dir_number(struct gp_sysfs_dir *d, u64 low, u64 high, u64 *ret, u64 *ret_inode)
{
	const char *name, *end;
	int err;

	do {
		err = gp_sysfs_dir_next(d, &name, ret_inode);
	} while (err > 0 && (!gp_sysfs_parse(name, 10, ret, &end) || *end || *ret < low ||
			     *ret > high));
	return err;
}

/* ---- /proc ---- */

int gp_proc_text(const char *proc, pid_t pid, const char *name, char *text, size_t room)
{
	char path[PATH_MAX];
	int n;

	if (snprintf(path, sizeof(path), "%s/%d/%s", proc ? proc : "/proc", (int)pid, name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	n = gp_sysfs_text(AT_FDCWD, path, text, room);
	return gp_sys_is_gone(n) ? -ESRCH : n;
}

bool gp_proc_field(const char *text, const char *key, u64 *ret, const char **end)
{
	const char *at = strstr(text, key), *behind;

	if (!at)
		return false;
	at += strlen(key);
	return gp_sysfs_parse(at + strspn(at, "\t "), 10, ret, end ? end : &behind);
}

/* "pid (name) state ...": a name may contain blanks and brackets, the rest not. */
bool gp_proc_stat_parse(const char *text, struct gp_proc_stat *ret)
{
	enum { STATE = 3, START = 22 };
	const char *open = strchr(text, '('), *at = strrchr(text, ')'), *end;

	if (!open || !at || at < open)
		return false;
	snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)(at - open) - 1, open + 1);
	at++;
	for (u32 field = STATE; field <= START; field++) {
		if (*at++ != ' ')
			return false;
		if (field == STATE)
			ret->state = *at;
		if (field < START)
			at += strcspn(at, " ");
	}
	return gp_sysfs_parse(at, 10, &ret->start, &end);
}

int gp_proc_stat(const char *proc, pid_t pid, struct gp_proc_stat *ret)
{
	char name[32], text[1024];
	int n;

	/*
	 * The file of the process has the same values, but the kernel walks all its threads for it.
	 */
	snprintf(name, sizeof(name), "task/%d/stat", (int)pid);
	n = gp_proc_text(proc, pid, name, text, sizeof(text));
	if (n < 0)
		return n;
	return gp_proc_stat_parse(text, ret) ? 0 : -EPROTO;
}
