/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The file --trace names: what it is follows from how its name ends. */
#ifndef GP_CLI_TRACE_H
#define GP_CLI_TRACE_H

#include "sim/run.h"
#include "sim/states.h"
#include "trace/chrome.h"
#include "trace/pftrace.h"

enum gp_trace_form { GP_TRACE_PERFETTO, GP_TRACE_CHROME, GP_TRACE_RECORDS };

struct gp_trace_out {
	const char *path;
	FILE *file;		/* NULL: nothing is written */
	enum gp_trace_form form;
	struct gp_pftrace perfetto;
	struct gp_chrome chrome;
	struct gp_timeline timeline;
	struct gp_states states;
};

/*
 * @path NULL: nothing will be written. 0, or -EINVAL after one line on stderr.
 * The struct is large and must not move.
 */
int gp_trace_open(struct gp_trace_out *t, const char *path);
/* Lets a run write to it. */
void gp_trace_use(struct gp_trace_out *t, struct gp_run_args *args);
/* 0, or -EIO after one line on stderr. */
int gp_trace_close(struct gp_trace_out *t);

#endif /* GP_CLI_TRACE_H */
