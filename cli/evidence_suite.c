// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Chapter: every scenario that came with gpreempt as it is written, with what it expects;
 * and an hour of virtual time. All of them at once, a process each.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/load.h"
#include "evidence.h"
#include "sim/expect.h"
#include "term.h"

enum { SCENARIOS_MAX = 64, JOBS_EACH = 4 };
#define HOUR	"3600s"

/* What a scenario is measured against, behind the run itself. */
static const char *const bases[JOBS_EACH] = { NULL, "alone", "offline-alone", "native" };

struct suite {
	u32 nr;
	struct gp_scenario *sc[SCENARIOS_MAX];
	struct gp_job job[SCENARIOS_MAX * JOBS_EACH];
	u32 first[SCENARIOS_MAX], jobs[SCENARIOS_MAX];	/* those of each scenario */
	u32 nr_jobs;
};

static int is_scenario(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot && !strcmp(dot, ".ini");
}

/* The folder of the scenarios is where colocate is. */
static int find_folder(const struct gp_evidence *e, char *folder, size_t size)
{
	struct gp_trial t = { .scenario = "colocate" };
	struct gp_scenario *sc;
	char *slash;

	if (gp_trial_load(e, &t, &sc))
		return -EINVAL;
	snprintf(folder, size, "%s", sc->name);
	free(sc);
	slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	else
		snprintf(folder, size, ".");
	return 0;
}

static int add(struct gp_evidence *e, struct suite *s, const char *path)
{
	struct gp_trial t = { .scenario = path };
	struct gp_scenario *sc;
	u32 n;

	if (s->nr == SCENARIOS_MAX) {
		gp_error("%s: more than %d scenarios", path, SCENARIOS_MAX);
		return -EINVAL;
	}
	if (gp_trial_load(e, &t, &sc))
		return -EINVAL;
	n = gp_expect_needs_baseline(sc) ? JOBS_EACH : 1;
	s->sc[s->nr] = sc;
	s->first[s->nr] = s->nr_jobs;
	s->jobs[s->nr++] = n;
	for (u32 i = 0; i < n; i++)
		s->job[s->nr_jobs++] = (struct gp_job){ .scenario = sc, .seed = e->o->seed,
							.row = bases[i] };
	return 0;
}

static int find(struct gp_evidence *e, struct suite *s)
{
	char folder[512], path[800];
	struct dirent **found;
	int n, err = 0;

	if (find_folder(e, folder, sizeof(folder)))
		return -EINVAL;
	n = scandir(folder, &found, is_scenario, alphasort);
	if (n < 0) {
		gp_error("%s: %s", folder, strerror(errno));
		return -EINVAL;
	}
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, found[i]->d_name);
		err = err ? err : add(e, s, path);
		free(found[i]);
	}
	free(found);
	return err;
}

/* ---- what came out ---- */

static const struct gp_result *result_of(const struct suite *s, u32 i, u32 base)
{
	const struct gp_job *job = &s->job[s->first[i] + base];

	return base < s->jobs[i] && !job->err ? &job->result[0] : NULL;
}

static json_t *expectation(const struct gp_expect *x, const struct gp_result *r,
			   const struct gp_figures *f, u32 *failed)
{
	char why[512] = "";
	bool bad = gp_expect_check(x, r, f, why, sizeof(why));
	json_t *o = json_object();

	*failed += bad;
	gp_json_put(o, "expects", json_string(x->text));
	gp_json_put(o, "holds", json_boolean(!bad));
	gp_json_put(o, "why", json_string(why));
	return o;
}

static json_t *outcome(struct gp_evidence *e, const struct suite *s, u32 i, u32 *failed)
{
	const struct gp_job *job = &s->job[s->first[i]];
	struct gp_baseline base = { result_of(s, i, 1), result_of(s, i, 2), result_of(s, i, 3) };
	const struct gp_result *r = result_of(s, i, 0);
	json_t *o = json_object(), *list = json_array();
	struct gp_label label = gp_label_of(s->sc[i]);
	struct gp_trial t = { .scenario = label.s };
	struct gp_figures f = { 0 };
	char repeat[256];

	gp_trial_command(e, &t, "sim", repeat, sizeof(repeat));
	gp_evidence_of(o, GP_UNITS_OF_ROWS, GP_FROM_SIMULATOR, repeat);
	gp_json_put(o, "name", json_string(label.s));
	gp_json_put(o, "expectations", list);
	if (!r || gp_figures(r, &base, &f)) {
		gp_json_put(o, "error", json_string(job->why));
		++*failed;
		return o;
	}
	for (u32 k = 0; k < s->sc[i]->nr_expects; k++)
		json_array_append_new(list, expectation(&s->sc[i]->expect[k], r, &f, failed));
	gp_json_put(o, "preemptions", json_integer((json_int_t)r->preemptions));
	gp_json_put(o, "work_lost", json_integer((json_int_t)r->work_lost));
	gp_json_put(o, "work_doubled", json_integer((json_int_t)r->work_doubled));
	return o;
}

static void report(struct gp_evidence *e, const struct suite *s, json_t *chapter)
{
	json_t *list = json_array();
	u32 nr = 0, failed = 0;

	for (u32 i = 0; i < s->nr; i++) {
		nr += s->sc[i]->nr_expects;
		json_array_append_new(list, outcome(e, s, i, &failed));
	}
	gp_evidence_of(chapter, GP_UNITS_OF_ROWS, GP_FROM_SIMULATOR,
		       "gpreempt sim SCENARIO, each of them");
	gp_json_put(chapter, "as_written", json_boolean(!e->o->length));
	gp_json_put(chapter, "scenarios", list);
	gp_json_put(chapter, "nr_scenarios", json_integer(s->nr));
	gp_json_put(chapter, "expectations", json_integer(nr));
	gp_json_put(chapter, "failed", json_integer(failed));
}

static void drop(struct suite *s)
{
	for (u32 i = 0; i < s->nr_jobs; i++) {
		for (u32 k = 0; k < s->job[i].nr; k++)
			gp_result_fini(&s->job[i].result[k]);
	}
	for (u32 i = 0; i < s->nr; i++)
		free(s->sc[i]);
	free(s);
}

/* ---- an hour ---- */

static json_t *hour_row(const struct gp_job *job)
{
	const struct gp_result *r = &job->result[0];
	json_t *o = json_object();

	gp_json_put(o, "name", json_string(job->row));
	if (job->err) {
		gp_json_put(o, "error", json_string(job->why));
		gp_json_put(o, "errors", json_integer(1));
		return o;
	}
	gp_json_put(o, "served", json_integer((json_int_t)r->served));
	gp_json_put(o, "offered", json_integer((json_int_t)r->offered));
	gp_json_put(o, "preemptions", json_integer((json_int_t)r->preemptions));
	gp_json_put(o, "max", json_integer((json_int_t)r->online.max));
	gp_json_put(o, "work_lost", json_integer((json_int_t)r->work_lost));
	gp_json_put(o, "work_doubled", json_integer((json_int_t)r->work_doubled));
	gp_json_put(o, "errors",
		    json_integer((json_int_t)(r->work_lost + r->work_doubled + r->lost_tasks +
					      r->ejections + r->offered - r->served)));
	return o;
}

static int hour(struct gp_evidence *e, json_t *ret)
{
	static struct gp_job job[2];
	struct gp_trial t = { .scenario = "colocate", .length = HOUR,
			      .rows = { "ours-debug", "ours-evict" } };
	struct gp_pool pool = { .width = e->o->jobs };
	json_t *rows = json_array();
	struct gp_scenario *sc;
	char repeat[256];

	gp_evidence_step(e, "colocate, an hour of virtual time");
	if (gp_trial_load(e, &t, &sc))
		return GP_EXIT_BAD;
	for (int i = 0; i < 2; i++)
		job[i] = (struct gp_job){ .scenario = sc, .seed = e->o->seed, .row = t.rows[i] };
	if (gp_pool_run(&pool, job, 2)) {
		gp_error("cannot start a process: %s", strerror(errno));
		return GP_EXIT_BAD;
	}
	gp_trial_command(e, &t, "compare", repeat, sizeof(repeat));
	gp_evidence_of(ret, GP_UNITS_OF_ROWS, GP_FROM_SIMULATOR, repeat);
	gp_json_put(ret, "length", json_integer((json_int_t)sc->length_ns));
	for (int i = 0; i < 2; i++) {
		json_array_append_new(rows, hour_row(&job[i]));
		if (!job[i].err)
			gp_result_fini(&job[i].result[0]);
	}
	gp_json_put(ret, "rows", rows);
	free(sc);
	return GP_EXIT_OK;
}

int gp_gather_suite(struct gp_evidence *e, json_t *chapter)
{
	struct suite *s = calloc(1, sizeof(*s));
	struct gp_pool pool = { .width = e->o->jobs };
	json_t *one_hour = json_object();
	int code = GP_EXIT_BAD;

	gp_json_put(chapter, "hour", one_hour);
	if (!s)
		return GP_EXIT_BAD;
	gp_evidence_step(e, "every scenario as it is written");
	if (!find(e, s)) {
		if (gp_pool_run(&pool, s->job, s->nr_jobs))
			gp_error("cannot start a process: %s", strerror(errno));
		else
			code = GP_EXIT_OK;
	}
	if (!code)
		report(e, s, chapter);
	drop(s);
	return code ? code : hour(e, one_hour);
}
