// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Estimates, from a recording, how long work takes without competition. */
#include <stdlib.h>

#include "history.h"

enum { ALONE_ENOUGH = 10 };	/* With so many units or periods alone, only they count. */

#define SHORTEST_NS	(1 * GP_USEC)
#define LONGEST_NS	(50 * GP_SEC)

bool gp_history_always_busy(const struct gp_history_seat *s)
{
	u64 life = s->to_ns - s->from_ns;

	return life && s->busy_ns + s->off_ns >= life / 10 * 9;
}

bool gp_history_online(const struct gp_history_seat *s)
{
	/* In observe mode no task is preemptible for the scheduler, so prefer the class. */
	return s->who.pid ? !s->who.preemptible : !(s->class.flags & GP_PREEMPTIBLE);
}

static u64 bounded(u64 ns)
{
	return ns < SHORTEST_NS ? SHORTEST_NS : ns > LONGEST_NS ? LONGEST_NS : ns;
}

static int in_order(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Returns its busy time. Work that came and ended between two looks counts as half that time. */
static u64 length_of(const struct gp_history *h, const struct gp_period *p)
{
	u64 ns = p->done_ns - p->at_ns;

	return ns ? ns : h->resolution_ns / 2;
}

static u64 units_of(const struct gp_period *p)
{
	return p->units ? p->units : 1;
}

/*
 * For a process that comes and goes: the median of the periods without competition. If there
 * are too few of them, the fastest tenth of all periods, which waited least.
 */
static u64 unit_of_periods(const struct gp_history *h, const struct gp_history_seat *s)
{
	u64 *ns = calloc(s->nr ? s->nr : 1, sizeof(*ns)), unit;
	u32 alone = 0, n = 0;

	if (!ns)
		return 0;
	for (u32 i = 0; i < s->nr; i++)
		alone += !s->period[i].contended;
	for (u32 i = 0; i < s->nr; i++) {
		if (alone >= ALONE_ENOUGH && s->period[i].contended)
			continue;
		ns[n++] = length_of(h, &s->period[i]) / units_of(&s->period[i]);
	}
	qsort(ns, n, sizeof(*ns), in_order);
	unit = n ? ns[alone >= ALONE_ENOUGH ? n / 2 : n / 10] : 0;
	free(ns);
	return unit;
}

u64 gp_history_unit_ns(const struct gp_history *h, const struct gp_history_seat *s)
{
	if (!gp_history_always_busy(s))
		return bounded(unit_of_periods(h, s));
	if (s->alone_units >= ALONE_ENOUGH)
		return bounded(s->alone_ns / s->alone_units);
	return bounded(s->units ? s->busy_ns / s->units : s->busy_ns);
}

u64 gp_history_work_ns(const struct gp_history *h, const struct gp_period *p, u64 unit_ns)
{
	u64 seen = length_of(h, p), alone = p->contended ? unit_ns * units_of(p) : seen;

	return bounded(alone < seen ? alone : seen);
}
