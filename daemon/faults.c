// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "text/value.h"

void gp_faults_init(struct gp_faults *faults, char *text, size_t size)
{
	*faults = (struct gp_faults){ .text = text, .size = size };
	if (size)
		text[0] = '\0';
}

/* A line that does not fit is left out whole. */
static void add_line(struct gp_faults *faults, char *line)
{
	size_t n = strlen(line);

	gp_text_clean(line);
	if (faults->at + n + 2 > faults->size)
		return;
	memcpy(faults->text + faults->at, line, n);
	memcpy(faults->text + faults->at + n, "\n", 2);
	faults->at += n + 1;
	faults->listed++;
}

void gp_fault(struct gp_faults *faults, const char *file, u32 line, const char *format, ...)
{
	char text[1024];
	va_list args;
	int n;

	if (++faults->nr > GP_CONFIG_MESSAGES)
		return;
	if (line)
		n = snprintf(text, sizeof(text), "%.300s:%u: ", file, line);
	else
		n = snprintf(text, sizeof(text), "%.300s: ", file);
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
	va_end(args);
	add_line(faults, text);
}

void gp_faults_end(struct gp_faults *faults)
{
	char text[80];

	if (faults->nr == faults->listed)
		return;
	snprintf(text, sizeof(text), "and %u more; mend these first",
		 faults->nr - faults->listed);
	add_line(faults, text);
}
