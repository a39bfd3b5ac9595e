// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "arrivals.h"
#include "sim.h"
#include "text/value.h"

enum { TRACE_MOST = 10000000 };

/* Reads a line: one time from the start of the run, not before that of the last line. */
static int read_line(struct gp_client *c, char *line, u64 number)
{
	u64 ns, *trace;

	line[strcspn(line, "\r\n#")] = '\0';
	if (!*line)
		return 0;
	if (gp_parse_ns(line, &ns) || (c->nr_trace && ns < c->trace[c->nr_trace - 1]) ||
	    c->nr_trace == TRACE_MOST) {
		gp_engine_fail(&c->sim->engine, -EINVAL,
			       "%s:%llu: a line is a time, e.g. 12.5ms, none before the last",
			       c->spec->trace, (unsigned long long)number);
		return -EINVAL;
	}
	if (!(c->nr_trace & (c->nr_trace - 1))) {	/* 0, 1, 2, 4, ...: full */
		trace = realloc(c->trace, (c->nr_trace ? c->nr_trace * 2 : 1) * sizeof(*trace));
		if (!trace)
			return -ENOMEM;
		c->trace = trace;
	}
	c->trace[c->nr_trace++] = ns;
	return 0;
}

static int fail_file(struct gp_client *c, const char *verb, int err)
{
	gp_engine_fail(&c->sim->engine, err, "cannot %s '%s': %s", verb, c->spec->trace,
		       strerror(-err));
	return err;
}

int gp_arrivals_init(struct gp_client *c)
{
	FILE *f;
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	gp_rng_init(&c->arrival_rng, c->sim->args->seed, c->spec->name);
	if (c->spec->loop != GP_LOOP_TRACE || c->spec->recorded)
		return 0;
	f = fopen(c->spec->trace, "r");
	if (!f)
		return fail_file(c, "open", -errno);
	for (u64 n = 1; !err && getline(&line, &room, f) >= 0; n++)
		err = read_line(c, line, n);
	/* A directory can be opened, and would read as a file without arrivals. */
	if (!err && !feof(f))
		err = fail_file(c, "read", -errno);
	free(line);
	fclose(f);
	return err;
}

static void arrive(void *ctx, u64 arg);

static void hint(void *ctx, u64 at_ns)
{
	struct gp_client *c = ctx;

	if (c->alive)
		gp_home_hint(&c->sim->home, c, at_ns);
}

static u64 next_traced(struct gp_client *c)
{
	u64 i = c->next_trace++;

	if (c->spec->recorded)
		return i < c->spec->nr_recorded ? c->spec->recorded[i].at_ns : GP_NEVER;
	return i < c->nr_trace ? c->trace[i] : GP_NEVER;
}

/* Returns the time of the next arrival, or GP_NEVER. */
static u64 next_arrival(struct gp_client *c)
{
	u64 now = c->sim->engine.now_ns;

	switch (c->spec->loop) {
	case GP_LOOP_POISSON:
		return now + gp_rng_exponential(&c->arrival_rng, c->spec->interval_ns);
	case GP_LOOP_TRACE:
		return next_traced(c);
	default:
		return now + c->spec->interval_ns;
	}
}

static void plan(struct gp_client *c)
{
	u64 at = next_arrival(c), ahead = gp_home_ahead(&c->sim->home, c);

	c->next_ns = at;
	if (at == GP_NEVER || (c->spec->stop_ns && at >= c->spec->stop_ns))
		return;
	if (ahead && c->spec->online)
		gp_at(&c->sim->engine, at > ahead ? at - ahead : 0, hint, c, at);
	gp_at(&c->sim->engine, at, arrive, c, 0);
}

static void arrive(void *ctx, u64 arg)
{
	struct gp_client *c = ctx;
	u32 nr = c->spec->loop == GP_LOOP_BURST ? c->spec->burst : 1;

	(void)arg;
	for (u32 i = 0; i < nr; i++)
		gp_client_arrive(c);
	plan(c);
}

void gp_arrivals_begin(struct gp_client *c)
{
	plan(c);
}
