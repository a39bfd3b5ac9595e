/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The file that a recording or a run writes: what it is follows from how its name ends. */
#ifndef GP_CLI_TRACE_H
#define GP_CLI_TRACE_H

#include "trace/drawing.h"

struct gp_trace_out {
	const char *path;
	FILE *file;			/* NULL: nothing is written */
	struct gp_drawing *drawing;	/* NULL: the file gets the records themselves */
	struct gp_trace to;		/* where records go; emit NULL: nowhere */
};

/* 0, or -EINVAL after one line on stderr if the name says no kind of trace that we write. */
int gp_trace_check(const char *path);
/* @path NULL: nothing will be written. 0, or -EINVAL after one line on stderr. */
int gp_trace_open(struct gp_trace_out *t, const char *path, enum gp_perfetto_clock clock);
/* @now_ns: draw up to here what has no end. 0, or -EIO after one line on stderr. */
int gp_trace_close(struct gp_trace_out *t, u64 now_ns);

#endif /* GP_CLI_TRACE_H */
