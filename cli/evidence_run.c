// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Running what the evidence consists of, and showing how far it is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/model/load.h"
#include "cli/model/rows.h"
#include "core/sched.h"
#include "evidence.h"
#include "term.h"
#include "trace/tracefile.h"

enum { BAR = 24 };

/* Short runs of a test need no two seconds of warm-up. */
#define SHORT_WARMUP	"run.warmup=100ms"

void gp_evidence_step(struct gp_evidence *e, const char *what)
{
	u32 full = e->nr_steps ? BAR * e->step / e->nr_steps : 0;

	e->step++;
	if (!isatty(STDERR_FILENO)) {
		fprintf(stderr, "%" PRIu32 "/%" PRIu32 " %s: %s\n", e->step, e->nr_steps,
			e->chapter, what);
		return;
	}
	fputs("\r\033[K[", stderr);
	for (u32 i = 0; i < BAR; i++)
		fputc(i < full ? '#' : '.', stderr);
	fprintf(stderr, "] %3" PRIu32 " %% %s: %s", 100 * (e->step - 1) / e->nr_steps, e->chapter,
		what);
	fflush(stderr);
}

void gp_evidence_end_steps(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static const char *length_of(const struct gp_evidence *e, const struct gp_trial *t)
{
	if (e->o->length)
		return e->o->length;
	return e->o->quick && t->quick ? t->quick : t->length;
}

int gp_trial_load(const struct gp_evidence *e, const struct gp_trial *t,
		  struct gp_scenario **ret)
{
	struct gp_options o = *e->o;

	o.file = t->scenario;
	o.length = length_of(e, t);
	for (u32 i = 0; t->set[i]; i++)
		o.set[o.nr_sets++] = t->set[i];
	if (e->o->length)
		o.set[o.nr_sets++] = SHORT_WARMUP;
	return gp_load(&o, ret);
}

void gp_trial_command(const struct gp_evidence *e, const struct gp_trial *t, const char *form,
		      char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "gpreempt %s %s --seed %" PRIu64, form,
				     t->scenario, e->o->seed);
	const char *length = length_of(e, t);

	if (length && at < size)
		at += (size_t)snprintf(text + at, size - at, " --length %s", length);
	for (u32 i = 0; t->rows[i] && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", i ? "," : " --rows ",
				       t->rows[i]);
	for (u32 i = 0; t->set[i] && at < size; i++) {
		const char *quote = strchr(t->set[i], ' ') ? "'" : "";

		at += (size_t)snprintf(text + at, size - at, " --set %s%s%s", quote, t->set[i],
				       quote);
	}
	if (e->o->length && at < size)
		snprintf(text + at, size - at, " --set " SHORT_WARMUP);
}

/* "colocate train.queues=8" */
static void describe(const struct gp_trial *t, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s", t->scenario, t->set[0] ? ", " : "",
		 t->set[0] ? t->set[0] : "");
}

static void keep_quiet(void *ctx, const struct gp_job *job, u32 done, u32 nr)
{
	(void)ctx, (void)job, (void)done, (void)nr;
}

int gp_trial_run(struct gp_evidence *e, const struct gp_trial *t, struct gp_comparison *ret)
{
	struct gp_compare_args args = {
		.seed = e->o->seed, .rows = t->rows[0] ? t->rows : NULL,
		.pool.progress = keep_quiet,
	};
	struct gp_scenario *sc;
	char what[96];
	int code;

	describe(t, what, sizeof(what));
	gp_evidence_step(e, what);
	if (gp_trial_load(e, t, &sc))
		return GP_EXIT_BAD;
	args.scenario = sc;
	code = gp_compare_shown(e->o, &args, ret);
	free(sc);
	return code;
}

/* ---- how long stops and starts take ---- */

struct watch {
	struct gp_switches *into;
	const char *name;	/* of the process */
	u32 task;		/* of the scheduler; GP_NONE until its name was recorded */
	u64 since_ns[GP_MAX_DEVICES];
};

static void take_state(struct watch *w, const struct gp_rec *rec)
{
	u64 *since = &w->since_ns[rec->device % GP_MAX_DEVICES], ns = rec->now_ns - *since;
	struct gp_switches *s = w->into;

	*since = rec->now_ns;
	if (rec->state.from == GP_STOPPING) {
		s->stops++;
		s->stop_sum_ns += ns;
		s->stop_max_ns = ns > s->stop_max_ns ? ns : s->stop_max_ns;
	} else if (rec->state.from == GP_STARTING) {
		s->starts++;
		s->start_sum_ns += ns;
		s->start_max_ns = ns > s->start_max_ns ? ns : s->start_max_ns;
	}
}

static void take_record(void *ctx, const struct gp_rec *rec)
{
	struct watch *w = ctx;

	if (rec->kind == GP_REC_NAME && !strcmp(gp_rec_who(rec).name, w->name))
		w->task = rec->task;
	else if (rec->kind == GP_REC_STATE && rec->task == w->task)
		take_state(w, rec);
}

static int run_watched(const struct gp_scenario *sc, u64 seed, struct watch *w)
{
	struct gp_run_args args = { .seed = seed, .trace = { take_record, w } };
	struct gp_result result;
	char why[256];
	int err = gp_run(sc, &args, &result, why, sizeof(why));

	if (err) {
		gp_error("%s: %s", sc->name, why);
		return err == -EPROTO ? GP_EXIT_FAILED : GP_EXIT_BAD;
	}
	gp_result_fini(&result);
	return GP_EXIT_OK;
}

int gp_trial_switches(struct gp_evidence *e, const struct gp_trial *t, const char *task,
		      struct gp_switches *ret)
{
	struct watch w = { .into = ret, .name = task, .task = GP_NONE };
	struct gp_scenario *sc;
	char what[96];
	int code = GP_EXIT_BAD;

	memset(ret, 0, sizeof(*ret));
	snprintf(what, sizeof(what), "%s, stops and starts of %s", t->scenario, t->rows[0]);
	gp_evidence_step(e, what);
	if (gp_trial_load(e, t, &sc))
		return GP_EXIT_BAD;
	if (gp_row_apply(sc, t->rows[0], what, sizeof(what)))
		gp_error("%s", what);
	else
		code = run_watched(sc, e->o->seed, &w);
	free(sc);
	return code;
}
