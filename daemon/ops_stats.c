// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Stats: counters of the daemon and of every process. */
#include <string.h>

#include "ops.h"

struct number {
	const char *name;
	u64 value;
};

static void set_numbers(json_t *to, const struct number *n)
{
	for (; n->name; n++)
		json_object_set_new(to, n->name, json_integer((json_int_t)n->value));
}

/* Adds up: what is there already is increased. */
static void add_numbers(json_t *to, const struct number *n)
{
	for (; n->name; n++) {
		json_int_t has = json_integer_value(json_object_get(to, n->name));

		json_object_set_new(to, n->name, json_integer(has + (json_int_t)n->value));
	}
}

static void add_account(json_t *to, const struct gp_account *a)
{
	const struct number n[] = {
		{ "stops_asked", a->stops_asked }, { "stopped", a->stopped },
		{ "stops_failed", a->stops_failed }, { "stops_lost", a->stops_lost },
		{ "starts_asked", a->starts_asked }, { "started", a->started },
		{ "starts_failed", a->starts_failed }, { "starts_lost", a->starts_lost },
		{ "late_answers", a->late }, { "preempted_others", a->preempted_others },
		{ "arrivals", a->arrivals }, { "waiting_ns", a->waiting_ns },
		{ "on_ns", a->state_ns[GP_ON] }, { "stopping_ns", a->state_ns[GP_STOPPING] },
		{ "off_ns", a->state_ns[GP_OFF] + a->state_ns[GP_STARTING] },
		{ "lost_ns", a->state_ns[GP_LOST] }, { NULL, 0 },
	};

	add_numbers(to, n);
}

static void set_home(json_t *to, const struct gp_home *h)
{
	const struct gp_home_stats *s = &h->stats;
	struct gp_backend_status status;
	char text[GP_HOME_WHY];

	gp_home_status(h, &status);

	const struct number n[] = {
		{ "runs", s->runs }, { "scans", s->scans }, { "looks", s->looks },
		{ "probes", s->probes }, { "dumps", s->dumps },
		{ "actions_refused", s->refused }, { "stray_answers", s->stray },
		{ "processes_seen", s->seen }, { "processes_gone", s->gone },
		{ "scan_ns_max", s->scan_ns_max }, { "look_ns_max", s->look_ns_max },
		{ "gpu_resets", s->resets }, { "processes_lost", s->lost },
		{ "processes_unpreemptible", gp_home_unpreemptible(h, text) },
		{ "policy_ejections", status.ejections },
		{ "stale_samples", status.stale_samples }, { NULL, 0 },
	};

	set_numbers(to, n);
}

static void set_one(void *to, const char *name, u64 value)
{
	json_object_set_new(to, name, json_integer((json_int_t)value));
}

static void set_backend(json_t *to, const struct gp_home *h)
{
	struct gp_backend_counters s;

	gp_home_counters(h, &s, set_one, to);

	const struct number n[] = {
		{ "attaches", s.attaches }, { "attach_failures", s.attach_failures },
		{ "detaches", s.detaches }, { "suspends", s.suspends }, { "resumes", s.resumes },
		{ "suspend_failures", s.suspend_failures }, { "late_stops_undone", s.late },
		{ "retakes", s.retakes }, { "retake_ns_max", s.retake_ns_max },
		{ "retake_ns_sum", s.retake_ns_sum }, { "runtime_ends", s.runtime_ends },
		{ NULL, 0 },
	};

	set_numbers(to, n);
}

static void set_control(json_t *to, const struct gp_control *c)
{
	struct gp_control_stats s;

	gp_control_stats(c, &s);

	const struct number n[] = {
		{ "connections", s.accepted }, { "connections_refused", s.refused },
		{ "calls", s.calls }, { "call_errors", s.errors }, { "calls_denied", s.denied },
		{ "calls_malformed", s.malformed }, { "events", s.events },
		{ "events_lost", s.events_lost }, { NULL, 0 },
	};

	set_numbers(to, n);
}

int gp_ops_stats_head(void *ctx, struct gp_request *rq, json_t **ret)
{
	struct gp_ops *o = ctx;
	const struct gp_home *h = o->args.home;
	json_t *counters = json_object();
	static struct gp_account a;
	u32 i;

	(void)rq;
	if (!counters)
		return -ENOMEM;
	add_account(counters, &h->stats.ended);
	for (i = 0; i < h->nr_residents; i++)
		if (gp_tasks_first(h, i) && !gp_home_account(h, h->resident[i], &a, NULL))
			add_account(counters, &a);
	set_home(counters, h);
	set_backend(counters, h);
	set_control(counters, o->control);
	*ret = json_pack("{s:o}", "counters", counters);
	return *ret ? 0 : -ENOMEM;
}

static json_t *parts_json(const struct gp_account *a)
{
	json_t *list = json_array();
	u32 i;

	for (i = 0; i < GP_NR_PARTS; i++) {
		const struct gp_hist *p = &a->part[i];

		json_array_append_new(list, json_pack(
			"{s:s, s:I, s:I, s:I, s:I, s:I}", "name", gp_part_names[i],
			"count", (json_int_t)p->count, "mean_ns", (json_int_t)gp_hist_mean(p),
			"p50_ns", (json_int_t)gp_hist_quantile(p, 5000),
			"p99_ns", (json_int_t)gp_hist_quantile(p, 9900),
			"max_ns", (json_int_t)p->max));
	}
	return list;
}

int gp_ops_stats_next(void *ctx, pid_t pid, u64 *cursor, json_t **ret)
{
	const struct gp_home *h = ((struct gp_ops *)ctx)->args.home;
	const struct gp_resident *r;
	static struct gp_account a;
	json_t *counters;

	do {
		r = gp_ops_next(h, cursor);
	} while (r && ((pid && r->pid != pid) || gp_home_account(h, r, &a, NULL)));
	if (!r)
		return 0;

	counters = json_object();
	add_account(counters, &a);
	json_object_set_new(counters, "longest_hold_ns",
			    json_integer((json_int_t)a.longest_hold_ns));
	*ret = json_pack("{s:i, s:I, s:s, s:s, s:o, s:o}", "pid", (int)r->pid,
			 "start", (json_int_t)r->start, "name", r->name, "class", r->class.name,
			 "counters", counters, "parts", parts_json(&a));
	return *ret ? 1 : -ENOMEM;
}
