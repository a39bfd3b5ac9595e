// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt demo: a short comparison with a chart, for a new user. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "chart.h"
#include "cli/trace.h"
#include "compare.h"
#include "results.h"

#define SCENARIO	"colocate"
#define LENGTH		"20s"		/* of virtual time; takes a few seconds */
#define WARMUP		"run.warmup=1s"
#define TIMELINE	"gpreempt-demo.pftrace"
#define SHOWN_ROW	"ours-evict"	/* in the timeline */
#define TIMELINE_NS	"300ms"		/* shows a dozen requests */

/* One row of each kind. `gpreempt compare` has them all. */
static const char *const rows[] = {
	"alone", "native", "kfd-priority", "cu-mask", "hws-quantum", "monitor-5ms",
	"monitor-1ms", "throttle", "kill-restart", "gpreempt-amd", "ours-debug", "ours-evict",
	"ours-hint", "bound", NULL,
};

/* Stores the path in @path. Returns 0, or -EINVAL after one line on stderr. */
static int timeline_path(const char *folder, char *path, size_t size)
{
	if (folder && mkdir(folder, 0777) && errno != EEXIST) {
		gp_error("%s: %s", folder, strerror(errno));
		return -EINVAL;
	}
	if ((size_t)snprintf(path, size, "%s/%s", folder ? folder : ".", TIMELINE) >= size) {
		gp_error("%s: the name is too long", folder);
		return -EINVAL;
	}
	return 0;
}

/* Runs the scenario again, shorter, because a picture of four seconds is too large to read. */
static int write_timeline(const struct gp_scenario *from, u64 seed, const char *path)
{
	struct gp_scenario *sc = malloc(sizeof(*sc));
	struct gp_run_args args = { .seed = seed };
	struct gp_trace_out trace;
	struct gp_result result;
	char why[256] = "out of memory";
	int err = -ENOMEM;

	if (!sc || gp_trace_open(&trace, path, GP_PERFETTO_VIRTUAL)) {
		free(sc);
		return -EINVAL;
	}
	*sc = *from;
	args.trace = trace.to;
	args.drawing = trace.drawing;
	err = gp_row_apply(sc, SHOWN_ROW, why, sizeof(why));
	if (!err)
		err = gp_scenario_set(sc, "run.length", TIMELINE_NS, why, sizeof(why));
	if (!err)
		err = gp_run(sc, &args, &result, why, sizeof(why));
	free(sc);
	if (err)
		gp_error("%s: %s", path, why);
	else
		gp_result_fini(&result);
	return gp_trace_close(&trace, 0) || err ? -EINVAL : 0;
}

/* "Natively the slowest hundredth takes 47 times as long as alone" */
static void say_factor(FILE *to, const char *subject, const struct gp_compared *row)
{
	if (row->figures.has_ratio)
		fprintf(to, "%s the slowest hundredth of them takes %.*f times as long as alone",
			subject, row->figures.ratio_p99 < 10 ? 2 : 0, row->figures.ratio_p99);
	else
		fprintf(to, "%s the GPU cannot keep up with them", subject);
}

static void say_meaning(FILE *to, const struct gp_comparison *c)
{
	const struct gp_compared *native = gp_compared_find(c, "native");
	const struct gp_compared *ours = gp_compared_find(c, SHOWN_ROW);

	fputs("What this shows: an inference server gets fifty requests a second, each two "
	      "milliseconds of GPU work, on a GPU that a training job keeps full. Every row is "
	      "one way to share it, with the same requests at the same times. ", to);
	if (native) {
		say_factor(to, "Natively", native);
		fputs(". ", to);
	}
	if (ours) {
		say_factor(to, "With gpreempt (" SHOWN_ROW ")", ours);
		if (ours->figures.has_added)
			fprintf(to,
				" and the average one %s more, while training keeps %.1f %% of "
				"what is left of the GPU",
				gp_duration((u64)llabs(ours->figures.added.mean)).s,
				100 * ours->figures.goodput);
		fputs(". ", to);
	}
	fputs("All of it is a model: the virtual MI308X of this project, in virtual time, with "
	      "costs that are partly assumed (`gpreempt facts` lists them). No GPU was used.", to);
}

static void print_meaning(const struct gp_comparison *c)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	say_meaning(to, c);
	if (!fclose(to)) {
		putchar('\n');
		gp_wrap(text, 80);
	}
	free(text);
}

static void print_next(const char *path)
{
	/* A user who started the demo by ./run has no gpreempt in $PATH. */
	const char *self = getenv("GP_COMMAND");

	self = self ? self : "gpreempt";
	printf("\nopen %s at https://ui.perfetto.dev: %s of " SHOWN_ROW "\n"
	       "next:  %s compare colocate            every row, a full minute\n"
	       "       %s compare colocate --robust   what if the assumed costs are wrong?\n",
	       path, TIMELINE_NS, self, self);
}

static int demo(const struct gp_options *o, const struct gp_scenario *sc, const char *path)
{
	struct gp_compare_args args = { .scenario = sc, .seed = o->seed, .rows = rows };
	struct gp_label label = gp_label_of(sc);
	struct gp_comparison c;
	int code = gp_compare_shown(o, &args, &c);

	if (code)
		return code;
	if (write_timeline(sc, o->seed, path)) {
		code = GP_EXIT_BAD;
	} else if (o->json) {
		if (gp_json_print(gp_compare_json(sc, &c), stdout))
			code = GP_EXIT_BAD;
	} else {
		gp_results_head(sc, label.s, c.seed, c.seed);
		gp_chart(&c);
		putchar('\n');
		gp_results_verdict(&c);
		print_meaning(&c);
		print_next(path);
	}
	gp_comparison_fini(&c);
	return code;
}

int gp_cmd_demo(const struct gp_options *o)
{
	struct gp_options with = *o;
	struct gp_scenario *sc;
	char path[512];
	int code;

	with.file = SCENARIO;
	with.set[with.nr_sets++] = WARMUP;
	if (!with.length)
		with.length = LENGTH;
	if (timeline_path(o->output, path, sizeof(path)) || gp_load(&with, &sc))
		return GP_EXIT_BAD;
	code = demo(o, sc, path);
	free(sc);
	return code;
}
