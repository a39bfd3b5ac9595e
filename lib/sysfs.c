// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

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
