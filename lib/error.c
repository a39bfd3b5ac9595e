// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpreempt.h"

static _Thread_local struct {
	int err;
	char text[512];
} last;

int gp_fail(int err, const char *format, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(last.text, sizeof(last.text), format, args);
	va_end(args);
	last.err = err;
	errno = saved;
	return -err;
}

const char *gp_strerror(int err)
{
	const char *text;

	err = err < 0 ? -err : err;
	if (err && err == last.err)
		return last.text;
	text = strerrordesc_np(err);
	return text ? text : "unknown error";
}
