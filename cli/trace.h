/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The file that a recording or a run writes. The suffix of its name selects the format. */
#ifndef GP_CLI_TRACE_H
#define GP_CLI_TRACE_H

#include "trace/drawing.h"

struct gp_trace_out {
	const char *path;
	FILE *file;			/* NULL: nothing is written */
	struct gp_drawing *drawing;	/* NULL: the file contains the records themselves */
	struct gp_trace to;		/* receives the records; emit is NULL: none */
};

/* Returns 0, or -EINVAL after one line on stderr if the suffix of the name is unknown. */
int gp_trace_check(const char *path);
/* Opens @path, or nothing if it is NULL. Returns 0, or -EINVAL after one line on stderr. */
int gp_trace_open(struct gp_trace_out *t, const char *path, enum gp_perfetto_clock clock);
/* Closes the file. Unfinished spans end at @now_ns. Returns 0, or -EIO after one line on stderr. */
int gp_trace_close(struct gp_trace_out *t, u64 now_ns);

#endif /* GP_CLI_TRACE_H */
