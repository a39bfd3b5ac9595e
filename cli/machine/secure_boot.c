// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "secure_boot.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Four bytes of attributes, then the value, which is one byte: 0 or 1. */
enum { VALUE = 4, BYTES = 5 };

int gp_secure_boot(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char byte[BYTES + 1];
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	n = read(fd, byte, sizeof(byte));
	close(fd);
	return n == BYTES && byte[VALUE] <= 1 ? byte[VALUE] : -1;
}
