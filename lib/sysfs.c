// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sysfs.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int gp_sysfs_text(int dir, const char *path, char *text, size_t room)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t bytes = 0;
	ssize_t n = 0;

	*text = '\0';
	if (fd < 0)
		return -errno;
	while (bytes + 1 < room) {
		n = read(fd, text + bytes, room - 1 - bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes += (size_t)n;
	}
	if (n < 0)
		n = -errno;
	close(fd);
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
