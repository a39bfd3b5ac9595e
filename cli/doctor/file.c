// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Files below the root of gpreempt doctor. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

enum { LOG_LINE = 8192, LOG_BYTES = 8 << 20 };

const char *gp_doctor_path(const struct gp_doctor *d, const char *path, char *ret)
{
	snprintf(ret, GP_DOCTOR_PATH, "%s%s", d->root, path);
	return ret;
}

int gp_doctor_text(const struct gp_doctor *d, const char *path, char *text, size_t size)
{
	char full[GP_DOCTOR_PATH];
	int fd = open(gp_doctor_path(d, path, full), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	err = errno;
	close(fd);
	if (n < 0)
		return -err;
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	return (int)n;
}

int gp_doctor_number(const struct gp_doctor *d, const char *path, s64 *ret)
{
	char text[32] = "", *end;
	int n = gp_doctor_text(d, path, text, sizeof(text));

	if (n < 0)
		return n;
	/* Converts boolean parameters. */
	if (!strcmp(text, "Y") || !strcmp(text, "N")) {
		*ret = *text == 'Y';
		return 0;
	}
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return end == text || *end || errno ? -EPROTO : 0;
}

int gp_doctor_parameter(const struct gp_doctor *d, const char *name, s64 *ret)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/amdgpu/parameters/%s", name);
	return gp_doctor_number(d, path, ret);
}

/*
 * Reads return one record of the log at a time, with -EPIPE for overwritten records. A file is
 * read in pieces. Keeping the text after the last newline finds a match that a piece boundary
 * splits.
 */
static int grep(int fd, const char *text)
{
	char piece[LOG_LINE + 1];
	size_t kept = 0, total = 0;

	while (total < LOG_BYTES) {
		ssize_t n = read(fd, piece + kept, LOG_LINE - kept);
		char *rest;

		if (n < 0 && errno == EPIPE)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n <= 0)
			return 0;
		total += (size_t)n;
		n += (ssize_t)kept;
		piece[n] = '\0';
		if (strstr(piece, text))
			return 1;
		rest = memrchr(piece, '\n', (size_t)n);
		kept = rest ? (size_t)(piece + n - (rest + 1)) : 0;
		memmove(piece, piece + n - kept, kept);
	}
	return 0;
}

int gp_doctor_grep(const struct gp_doctor *d, const char *path, const char *text)
{
	char full[GP_DOCTOR_PATH];
	int fd = open(gp_doctor_path(d, path, full), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int found;

	if (fd < 0)
		return -errno;
	found = grep(fd, text);
	close(fd);
	return found;
}

int gp_doctor_log(const struct gp_doctor *d, const char *text)
{
	return gp_doctor_grep(d, "/dev/kmsg", text);
}
