// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Makes the scenario that repeats a history. */
#include "recorded.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/sched.h"

static_assert((int)GP_HISTORY_SEATS <= (int)GP_SCENARIO_TASKS, "every seat becomes a task");

enum { TEXT = 1 << 15 };

/* ---- as text, so that the checks of scenarios apply ---- */

/* Names a task. "gpload-online" and 102 on GPU 1 is "gpload-online-102-g1". */
static void name_task(const struct gp_history *h, const struct gp_history_seat *s,
		      char name[GP_SCENARIO_NAME])
{
	char clean[24] = "task";
	size_t n = 0;

	for (const char *c = s->who.name; *c && n < sizeof(clean) - 1; c++)
		clean[n++] = isalnum((unsigned char)*c) || *c == '-' ? *c : '_';
	if (n)
		clean[n] = '\0';
	snprintf(name, GP_SCENARIO_NAME, h->gpus > 1 ? "%s-%" PRIu32 "-g%" PRIu32 : "%s-%" PRIu32,
		 clean, s->who.pid ? s->who.pid : s->task, s->device);
}

static u64 ahead_of(const struct gp_history_seat *s)
{
	u64 queues = s->queues ? s->queues : 1;
	u64 mean = s->pending_seen ? s->pending_sum / s->pending_seen : 1;

	return mean < 2 ? 2 : mean > 1024 ? 1024 : mean / queues ? mean / queues : 1;
}

static int write_task(const struct gp_history *h, const struct gp_history_seat *s, char *to,
		      size_t size)
{
	bool online = gp_history_online(s);
	char name[GP_SCENARIO_NAME];

	name_task(h, s, name);
	return snprintf(to, size, "[%s]\nrole = %s\nqueues = %" PRIu32 "\nloop = closed\n"
			"ahead = %" PRIu64 "\nkernel.time = %" PRIu64 "ns\npriority = %" PRIu32 "\n"
			"weight = %" PRIu32 "\nlatency_critical = %s\npreemptible = %s\n"
			"devices = %" PRIu32 "\nserver = fifo 1\nkernels = 1\n",
			name, online ? "online" : "offline",
			!s->queues ? 1 : s->queues > 512 ? 512 : s->queues, ahead_of(s),
			gp_history_unit_ns(h, s),
			s->class.priority > 1000 ? 1000 : s->class.priority,
			!s->class.weight ? 1 : s->class.weight > 10000 ? 10000 : s->class.weight,
			s->class.flags & GP_LATENCY_CRITICAL ? "yes" : "no", online ? "no" : "yes",
			s->device);
}

/* Returns true if the process has work. Otherwise it has no task in the scenario. */
static bool takes_part(const struct gp_history_seat *s)
{
	return s->nr || s->busy_ns;
}

static int write_all(const struct gp_history *h, char *text, struct gp_tracefile_error *err)
{
	u32 tasks = 0, gpus = 1;
	size_t at;

	for (u32 i = 0; i < h->nr; i++) {
		if (h->seat[i].device >= gpus)
			gpus = h->seat[i].device + 1;
	}
	if (gpus > GP_SCENARIO_GPUS) {
		snprintf(err->text, sizeof(err->text), "GPU %u: the model has only %d GPUs",
			 gpus - 1, GP_SCENARIO_GPUS);
		return -EINVAL;
	}
	at = (size_t)snprintf(text, TEXT, "[run]\nwarmup = 0\nlength = %" PRIu64 "ns\n[gpu]\n"
			      "count = %" PRIu32 "\n[monitor]\nplacement = daemon\n"
			      "[mechanism]\nname = debug\n[policy]\nname = priority\n",
			      h->length_ns, gpus);
	for (u32 i = 0; i < h->nr && at < TEXT; i++) {
		if (!takes_part(&h->seat[i]))
			continue;
		at += (size_t)write_task(h, &h->seat[i], text + at, TEXT - at);
		tasks++;
	}
	if (!tasks)
		snprintf(err->text, sizeof(err->text),
			 "no process had work in it; record while they run");
	return tasks ? 0 : -EINVAL;
}

/* ---- what the text of a scenario cannot express ---- */

static void add_arrivals(const struct gp_history *h, const struct gp_history_seat *s,
			 struct gp_task_spec *t, struct gp_arrival *to)
{
	u64 unit = gp_history_unit_ns(h, s);

	for (u32 i = 0; i < s->nr; i++)
		to[i] = (struct gp_arrival){ s->period[i].at_ns,
					     gp_history_work_ns(h, &s->period[i], unit) };
	t->loop = GP_LOOP_TRACE;
	t->recorded = to;
	t->nr_recorded = s->nr;
}

static struct gp_arrival *fill(const struct gp_history *h, struct gp_scenario *sc)
{
	struct gp_arrival *arrivals, *at;
	u64 nr = 0;
	u32 k = 0;

	for (u32 i = 0; i < h->nr; i++)
		nr += h->seat[i].nr;
	arrivals = at = calloc(nr ? nr : 1, sizeof(*at));
	for (u32 i = 0; arrivals && i < h->nr; i++) {
		const struct gp_history_seat *s = &h->seat[i];
		struct gp_task_spec *t = &sc->task[k];

		if (!takes_part(s))
			continue;
		k++;
		t->class.period_ns = s->class.period_ns;
		t->class.budget_ns = s->class.budget_ns;
		t->class.deadline_ns = s->class.deadline_ns;
		if (gp_history_always_busy(s)) {
			t->start_ns = s->from_ns;
			t->stop_ns = s->to_ns < h->length_ns ? s->to_ns : 0;
			continue;
		}
		add_arrivals(h, s, t, at);
		at += s->nr;
	}
	return arrivals;
}

int gp_history_scenario(const struct gp_history *h, struct gp_scenario *ret,
			struct gp_arrival **arrivals, struct gp_tracefile_error *err)
{
	char *text = malloc(TEXT), why[256];
	int bad = text ? write_all(h, text, err) : -ENOMEM;

	if (!bad && gp_scenario_parse(text, strlen(text), ret, why, sizeof(why))) {
		snprintf(err->text, sizeof(err->text), "invalid scenario: %.140s", why);
		bad = -EINVAL;
	}
	free(text);
	if (bad)
		return bad;
	for (u32 i = 0; i < GP_NR_PARAMS; i++) {
		if (h->param[i] >= gp_params[i].min && h->param[i] <= gp_params[i].max)
			ret->param[i] = h->param[i];
	}
	*arrivals = fill(h, ret);
	return *arrivals ? 0 : -ENOMEM;
}
