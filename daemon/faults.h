/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What is wrong with a configuration: one line per fault, up to a limit. */
#ifndef GP_DAEMON_FAULTS_H
#define GP_DAEMON_FAULTS_H

#include "gp_env.h"

struct gp_faults {
	char *text;		/* the caller's; whole lines, terminated */
	size_t size, at;
	u32 nr, listed;		/* found, and of these in @text */
};

void gp_faults_init(struct gp_faults *faults, char *text, size_t size);

/* Adds "file:line: sentence"; @line 0: of the file as a whole. */
__attribute__((format(printf, 4, 5)))
void gp_fault(struct gp_faults *faults, const char *file, u32 line, const char *format, ...);

/* Says how many more there are. Call it once, last. */
void gp_faults_end(struct gp_faults *faults);

#endif /* GP_DAEMON_FAULTS_H */
