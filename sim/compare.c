// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A comparison: one scenario, the same arrivals, every row in turn. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

/* The jobs that every row is compared with. They run first. */
enum { ALONE, OFFLINE_ALONE, NATIVE, NR_BASE };
static const char *const base_rows[NR_BASE] = { "alone", "offline-alone", "native" };

static bool fits(const struct gp_row *row, const struct gp_scenario *sc)
{
	return !row->profile || !strcmp(row->profile, sc->profile);
}

static void add_job(const struct gp_compare_args *args, const char *row, struct gp_job *job)
{
	*job = (struct gp_job){ .scenario = args->scenario, .seed = args->seed, .row = row };
	/* A spec needs no expansion. */
	job->expand = gp_row_find(row);
}

static int base_job(const char *row)
{
	for (int i = 0; i < NR_BASE; i++) {
		if (!strcmp(row, base_rows[i]))
			return i;
	}
	return -1;
}

/*
 * Fills @jobs. @order gets, per requested row, the number of its job. A row that is also a base is
 * run once.
 */
static u32 plan(const struct gp_compare_args *args, struct gp_job *jobs, u32 *order, u32 *nr_rows)
{
	u32 nr = 0, rows = 0;

	for (; nr < NR_BASE; nr++)
		add_job(args, base_rows[nr], &jobs[nr]);
	for (u32 i = 0; args->rows ? !!args->rows[i] : !!gp_rows[i].name; i++) {
		const char *row = args->rows ? args->rows[i] : gp_rows[i].name;
		int base = base_job(row);

		if (!args->rows && !fits(&gp_rows[i], args->scenario))
			continue;
		order[rows++] = base < 0 ? nr : (u32)base;
		if (base < 0)
			add_job(args, row, &jobs[nr++]);
	}
	*nr_rows = rows;
	return nr;
}

static u32 rows_asked(const struct gp_compare_args *args)
{
	u32 n = 0;

	while (args->rows ? !!args->rows[n] : !!gp_rows[n].name)
		n++;
	return n;
}

static int copy_result(const struct gp_result *from, struct gp_result *ret)
{
	size_t n = from->nr_requests * sizeof(u64);

	*ret = *from;
	ret->request_ns = malloc(n ? n : 1);
	if (!ret->request_ns)
		return -ENOMEM;
	if (n)
		memcpy(ret->request_ns, from->request_ns, n);
	return 0;
}

struct gp_baseline gp_comparison_baseline(const struct gp_comparison *c)
{
	return (struct gp_baseline){
		c->has_alone ? &c->alone : NULL,
		c->has_offline_alone ? &c->offline_alone : NULL,
		c->has_native ? &c->native : NULL,
	};
}

static int add_row(struct gp_comparison *c, const struct gp_job *job, u32 i)
{
	struct gp_baseline base = gp_comparison_baseline(c);
	struct gp_compared *row = &c->row[c->nr];
	const struct gp_row *known = gp_row_find(job->row);
	int err;

	row->what = known ? known->what : "";
	row->err = job->err;
	if (job->err) {
		snprintf(row->name, sizeof(row->name), "%s", job->row);
		memcpy(row->why, job->why, sizeof(row->why));
		c->nr++;
		return 0;
	}
	memcpy(row->name, job->as[i].name, sizeof(row->name));
	memcpy(row->spec, job->as[i].spec, sizeof(row->spec));
	err = copy_result(&job->result[i], &row->result);
	if (err)
		return err;
	c->nr++;
	return gp_figures(&row->result, &base, &row->figures);
}

static int take_bases(struct gp_comparison *c, struct gp_job *jobs, char *why, size_t why_size)
{
	struct gp_result *to[NR_BASE] = { &c->alone, &c->offline_alone, &c->native };
	bool *has[NR_BASE] = { &c->has_alone, &c->has_offline_alone, &c->has_native };

	for (int i = 0; i < NR_BASE; i++) {
		int err = jobs[i].err;

		/* The scenario has no such tasks, so figures that need them are unknown. */
		if (err == -EINVAL)
			continue;
		if (!err)
			err = copy_result(&jobs[i].result[0], to[i]);
		if (err) {
			snprintf(why, why_size, "row %s: %s", base_rows[i], jobs[i].why);
			return err;
		}
		*has[i] = true;
	}
	return 0;
}

static int collect(struct gp_comparison *c, struct gp_job *jobs, const u32 *order, u32 nr_rows)
{
	for (u32 i = 0; i < nr_rows; i++) {
		const struct gp_job *job = &jobs[order[i]];

		for (u32 k = 0; k < (job->err ? 1 : job->nr); k++) {
			int err = add_row(c, job, k);

			if (err)
				return err;
		}
	}
	return 0;
}

static void free_jobs(struct gp_job *jobs, u32 nr)
{
	for (u32 i = 0; jobs && i < nr; i++) {
		for (u32 k = 0; k < jobs[i].nr; k++)
			free(jobs[i].result[k].request_ns);
	}
	free(jobs);
}

int gp_compare(const struct gp_compare_args *args, struct gp_comparison *ret, char *why,
	       size_t why_size)
{
	u32 asked = rows_asked(args), nr = 0, nr_rows = 0;
	struct gp_job *jobs = calloc(asked + NR_BASE, sizeof(*jobs));
	u32 *order = calloc(asked + 1, sizeof(*order));
	struct gp_comparison c = { .seed = args->seed };
	int err = -ENOMEM;

	snprintf(why, why_size, "out of memory");
	c.row = calloc((size_t)asked * GP_JOB_RESULTS + 1, sizeof(*c.row));
	if (!jobs || !order || !c.row)
		goto free_all;
	nr = plan(args, jobs, order, &nr_rows);
	err = gp_pool_run(&args->pool, jobs, nr);
	if (err) {
		snprintf(why, why_size, "cannot start a process: %s", strerror(-err));
		goto free_all;
	}
	err = take_bases(&c, jobs, why, why_size);
	if (!err)
		err = collect(&c, jobs, order, nr_rows);

free_all:
	free_jobs(jobs, nr);
	free(order);
	if (err) {
		gp_comparison_fini(&c);
		return err;
	}
	*ret = c;
	return 0;
}

void gp_comparison_fini(struct gp_comparison *c)
{
	for (u32 i = 0; i < c->nr; i++)
		free(c->row[i].result.request_ns);
	free(c->alone.request_ns);
	free(c->offline_alone.request_ns);
	free(c->native.request_ns);
	free(c->row);
	memset(c, 0, sizeof(*c));
}

const struct gp_compared *gp_compared_find(const struct gp_comparison *c, const char *name)
{
	for (u32 i = 0; i < c->nr; i++) {
		if (!c->row[i].err && !strcmp(c->row[i].name, name))
			return &c->row[i];
	}
	return NULL;
}
