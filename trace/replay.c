// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Feeds the inputs of a trace to a fresh scheduler and compares. */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/sched.h"

/*
 * Only outputs are compared. The scheduler records its inputs again too, but a call may record
 * several (a pull may tick first), so they need not come out one by one as they were fed.
 */
struct comparison {
	const struct gp_tracefile *trace;
	u64 next;		/* the output expected next is here or later */
	struct gp_replay *r;
};

/* Moves to the next recorded output; kind 0 if there is none. */
static struct gp_rec recorded_output(struct comparison *c)
{
	for (; c->next < c->trace->nr; c->next++) {
		struct gp_rec rec = gp_tracefile_get(c->trace, c->next);

		if (gp_rec_is_output(rec.kind))
			return rec;
	}
	return (struct gp_rec){ 0 };
}

static void compare(void *ctx, const struct gp_rec *rec)
{
	struct comparison *c = ctx;
	struct gp_rec recorded;

	if (c->r->differs || gp_rec_is_input(rec->kind))
		return;
	recorded = recorded_output(c);
	if (!memcmp(&recorded, rec, sizeof(recorded))) {
		c->next++;
		c->r->same++;
		return;
	}
	c->r->differs = true;
	c->r->at = c->next;
	c->r->recorded = recorded;
	c->r->replayed = *rec;
}

static void count(const struct gp_tracefile *trace, struct gp_replay *r)
{
	for (u64 i = 0; i < trace->nr; i++) {
		u32 kind = gp_tracefile_get(trace, i).kind;

		if (gp_rec_is_input(kind))
			r->inputs++;
		else if (gp_rec_is_output(kind))
			r->outputs++;
		r->actions += kind == GP_REC_ACTION;
	}
	r->records = r->inputs + r->outputs;
}

static int feed_all(struct comparison *c, struct gp_sched *sched, struct gp_tracefile_error *err)
{
	struct gp_rec left;

	/* Record 0 is the init that @sched was made from. */
	for (u64 i = 1; i < c->trace->nr && !c->r->differs; i++) {
		struct gp_rec rec = gp_tracefile_get(c->trace, i);

		if (!gp_rec_is_input(rec.kind))
			continue;
		if (gp_trace_feed(sched, &rec)) {
			snprintf(err->text, sizeof(err->text),
				 "record %" PRIu64 ": invalid %s", i,
				 gp_rec_name(rec.kind));
			return -EINVAL;
		}
	}
	left = recorded_output(c);
	if (!c->r->differs && left.kind) {
		c->r->differs = true;
		c->r->at = c->next;
		c->r->recorded = left;
	}
	return 0;
}

static int limits_of(const struct gp_tracefile *trace, struct gp_limits *ret)
{
	struct gp_rec init = gp_tracefile_get(trace, 0);

	if ((init.init.devices | init.init.tasks | init.init.seats | init.init.queues) > UINT32_MAX)
		return -EINVAL;
	*ret = (struct gp_limits){ (u32)init.init.devices, (u32)init.init.tasks,
				   (u32)init.init.seats, (u32)init.init.queues };
	return gp_sched_size(ret) ? 0 : -EINVAL;
}

int gp_replay(const struct gp_tracefile *trace, struct gp_replay *ret,
	      struct gp_tracefile_error *err)
{
	struct gp_replay r = { 0 };
	struct comparison c = { .trace = trace, .r = &r };
	struct gp_sched_args args = { .trace = { .emit = compare, .ctx = &c } };
	struct gp_sched *sched;
	void *mem;
	int bad;

	if (gp_tracefile_get(trace, 0).init.flags & GP_INIT_MIDDLE) {
		snprintf(err->text, sizeof(err->text), "record 0: the recording "
			 "began while the daemon was at work; use 'gpreempt what-if'");
		return -EINVAL;
	}
	if (limits_of(trace, &args.limits)) {
		snprintf(err->text, sizeof(err->text), "record 0: limits out of bounds");
		return -EINVAL;
	}
	mem = malloc(gp_sched_size(&args.limits));
	if (!mem) {
		snprintf(err->text, sizeof(err->text), "out of memory");
		return -ENOMEM;
	}
	count(trace, &r);
	bad = gp_sched_init(mem, &args, &sched);
	if (!bad)
		bad = feed_all(&c, sched, err);
	free(mem);
	if (bad)
		return bad;
	*ret = r;
	return 0;
}
