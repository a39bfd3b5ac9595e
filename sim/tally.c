// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static_assert((int)GP_RESULT_GPUS == (int)GP_SCENARIO_GPUS, "a result has room for every GPU");

/* Returns the growth of a counter, or 0, because a kill can lower a counter of work. */
static u64 grown(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

/* ---- reading counters ---- */

static u64 work_of(const struct gp_sim *sim, const struct gp_client *c)
{
	u64 work = 0;

	for (u32 g = 0; g < sim->nr_gpus; g++)
		work += gp_client_work(c, g);
	return work;
}

static void add_account(const struct gp_sim *sim, const struct gp_client *c, struct gp_marks *m)
{
	struct gp_account account;

	if (!sim->home.there || c->task == GP_NONE ||
	    gp_sched_account(sim->home.sched, c->task, sim->engine.now_ns, &account))
		return;
	m->preempted += account.stopped;
	m->caused += account.preempted_others;
	m->on_ns += account.state_ns[GP_ON];
	m->off_ns += account.state_ns[GP_OFF];
	if (account.longest_hold_ns > m->longest_hold_ns)
		m->longest_hold_ns = account.longest_hold_ns;
}

static void read_totals(const struct gp_sim *sim, struct gp_totals *t)
{
	memset(t, 0, sizeof(*t));
	for (u32 i = 0; i < sim->nr_clients; i++) {
		t->task[i] = sim->tally.past[i];
		for (u32 g = 0; g < sim->nr_gpus; g++)
			t->task[i].work_ns[g] = gp_client_work(&sim->client[i], g);
		add_account(sim, &sim->client[i], &t->task[i]);
	}
	t->cpu_ns = gp_home_cpu_ns(&sim->home);
	t->looks = sim->home.looks;
	t->probes = sim->home.probes;
	t->wakeups = sim->home.wakeups;
	for (u32 g = 0; g < sim->nr_gpus; g++) {
		t->bytes_saved += sim->gpu[g].bytes_saved;
		t->waves_saved += sim->gpu[g].waves_saved;
		t->precious_waves_saved += sim->gpu[g].precious_waves_saved;
	}
}

static void merge(struct gp_hist *into, const struct gp_hist *from)
{
	if (from->count && (!into->count || from->min < into->min))
		into->min = from->min;
	into->count += from->count;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
	for (u32 i = 0; i < GP_HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

/* Moves the parts of latencies out of the account of @c. */
static void take_parts(struct gp_sim *sim, const struct gp_client *c, bool keep)
{
	struct gp_account *account;

	if (!sim->home.there || c->task == GP_NONE)
		return;
	account = &sim->home.sched->tasks[c->task].account;
	for (u32 p = 0; p < GP_NR_PARTS; p++) {
		if (keep)
			merge(&sim->tally.part[p], &account->part[p]);
		memset(&account->part[p], 0, sizeof(account->part[p]));
	}
}

void gp_tally_life_over(struct gp_sim *sim, u32 number)
{
	bool measured = sim->engine.now_ns >= sim->begin_ns && !sim->tally.ended;

	add_account(sim, &sim->client[number], &sim->tally.past[number]);
	take_parts(sim, &sim->client[number], measured);
}

/* Returns the time of the measured part with online work of @o until now. */
static u64 online_so_far(const struct gp_sim *sim, const struct gp_online *o)
{
	u64 from = o->since_ns > sim->begin_ns ? o->since_ns : sim->begin_ns;
	u64 to = sim->engine.now_ns < sim->end_ns ? sim->engine.now_ns : sim->end_ns;

	return o->ns + (o->clients && to > from ? to - from : 0);
}

static void note_online(struct gp_sim *sim, struct gp_online *o, u32 client, bool runnable)
{
	u64 clients = runnable ? o->clients | BIT_ULL(client) : o->clients & ~BIT_ULL(client);

	if (!clients)
		o->ns = online_so_far(sim, o);
	if (!o->clients)
		o->since_ns = sim->engine.now_ns;
	o->clients = clients;
}

/* Tracks the time in which some online kernel could run, which the online work would need alone. */
void gp_tally_online(struct gp_sim *sim, const struct gp_client *c)
{
	bool any = false;

	if (!c->spec->online)
		return;
	for (u32 g = 0; g < sim->nr_gpus; g++) {
		bool runnable = gp_client_runnable(c, g);

		note_online(sim, &sim->tally.online[g], c->number, runnable);
		any |= runnable;
	}
	note_online(sim, &sim->tally.anywhere, c->number, any);
}

/* ---- moments ---- */

static void end_warmup(void *ctx, u64 arg)
{
	struct gp_sim *sim = ctx;

	(void)arg;
	for (u32 i = 0; i < sim->nr_clients; i++) {
		take_parts(sim, &sim->client[i], false);
		sim->tally.second_work[i] = work_of(sim, &sim->client[i]);
		sim->tally.share_min[i] = 1000000;
	}
	read_totals(sim, &sim->tally.begin);
}

static void end_measuring(void *ctx, u64 arg)
{
	struct gp_sim *sim = ctx;

	(void)arg;
	sim->tally.ended = true;
	read_totals(sim, &sim->tally.end);
	for (u32 i = 0; i < sim->nr_clients; i++)
		take_parts(sim, &sim->client[i], true);
}

/* Shares of the work done in the second that just ended. */
static void end_second(void *ctx, u64 arg)
{
	struct gp_sim *sim = ctx;
	u64 work[GP_SCENARIO_TASKS], all = 0;

	(void)arg;
	for (u32 i = 0; i < sim->nr_clients; i++) {
		u64 so_far = work_of(sim, &sim->client[i]);

		work[i] = grown(so_far, sim->tally.second_work[i]);
		sim->tally.second_work[i] = so_far;
		all += work[i];
	}
	for (u32 i = 0; i < sim->nr_clients && all; i++) {
		u64 share = (u64)((unsigned __int128)work[i] * 1000000 / all);

		if (share < sim->tally.share_min[i])
			sim->tally.share_min[i] = share;
		if (share > sim->tally.share_max[i])
			sim->tally.share_max[i] = share;
	}
}

void gp_tally_begin(struct gp_sim *sim)
{
	gp_at(&sim->engine, sim->begin_ns, end_warmup, sim, 0);
	for (u64 at = sim->begin_ns + GP_SEC; at <= sim->end_ns; at += GP_SEC)
		gp_at(&sim->engine, at, end_second, sim, 0);
	gp_at(&sim->engine, sim->end_ns, end_measuring, sim, 0);
}

static bool measured(const struct gp_sim *sim, const struct gp_request *q)
{
	return q->arrival_ns >= sim->begin_ns && q->arrival_ns < sim->end_ns;
}

/* ---- the result ---- */

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Returns a quantile of @all values. Those that are missing are later than the @nr known ones. */
static u64 quantile(const u64 *sorted, u64 nr, u64 all, u32 permyriad)
{
	u64 rank = gp_rank(all, permyriad);

	return sorted[(rank < nr ? rank : nr) - 1];
}

/* Computes exact quantiles from the @nr known values of @all. Sorts @values. */
static struct gp_spread spread_of(u64 *values, u64 nr, u64 all)
{
	struct gp_spread s = { .count = nr };
	u64 sum = 0;

	if (!nr)
		return s;
	qsort(values, nr, sizeof(*values), by_value);
	for (u64 i = 0; i < nr; i++)
		sum += values[i];
	s.mean = sum / nr;
	s.p50 = quantile(values, nr, all, 5000);
	s.p99 = quantile(values, nr, all, 9900);
	s.p999 = quantile(values, nr, all, 9990);
	s.max = values[nr - 1];
	return s;
}

static struct gp_spread spread_of_hist(const struct gp_hist *h)
{
	return (struct gp_spread){
		.count = h->count, .mean = gp_hist_mean(h), .p50 = gp_hist_quantile(h, 5000),
		.p99 = gp_hist_quantile(h, 9900), .p999 = gp_hist_quantile(h, 9990), .max = h->max,
	};
}

static void count_requests(const struct gp_sim *sim, const struct gp_client *c,
			   struct gp_task_result *t, u64 *values)
{
	u64 limit = c->spec->class.deadline_ns ? c->spec->class.deadline_ns :
						 c->spec->class.period_ns;
	u64 nr = 0;

	for (u32 i = 0; i < c->nr_requests; i++) {
		const struct gp_request *q = &c->request[i];

		if (!measured(sim, q))
			continue;
		t->offered++;
		if (q->done_ns)
			values[nr++] = q->done_ns - q->arrival_ns;
		if (limit && (!q->done_ns || q->done_ns - q->arrival_ns > limit))
			t->deadline_misses++;
	}
	t->served = nr;
	t->latency = spread_of(values, nr, t->offered);
}

/* Returns the work in ns of the whole GPU, because slots differ between kernels. */
static u64 work_on(const struct gp_sim *sim, u32 i, u32 first, u32 end)
{
	const struct gp_marks *a = &sim->tally.begin.task[i], *b = &sim->tally.end.task[i];
	u64 work = 0;

	for (u32 g = first; g < end; g++)
		work += grown(b->work_ns[g], a->work_ns[g]);
	return work / vgpu_slots(&sim->costs.device, &sim->client[i].shape);
}

static void fill_task(struct gp_sim *sim, u32 i, struct gp_task_result *t, u64 *values)
{
	struct gp_client *c = &sim->client[i];
	const struct gp_marks *a = &sim->tally.begin.task[i], *b = &sim->tally.end.task[i];

	snprintf(t->name, sizeof(t->name), "%s", c->spec->name);
	t->online = c->spec->online;
	if (c->spec->loop == GP_LOOP_CLOSED)
		t->latency = spread_of_hist(&c->kernel_ns);
	else
		count_requests(sim, c, t, values);
	t->work_ns = work_on(sim, i, 0, sim->nr_gpus);
	t->kernels = c->kernels_done;
	t->preempted = b->preempted - a->preempted;
	t->on_ns = b->on_ns - a->on_ns;
	t->off_ns = b->off_ns - a->off_ns;
	t->longest_hold_ns = b->longest_hold_ns;
	t->share_min = sim->tally.share_min[i];
	t->share_max = sim->tally.share_max[i];
	for (struct gp_ring *r = c->all_rings; r; r = r->next) {
		gp_ring_close_books(r);
		t->lost += r->lost;
		t->doubled += r->doubled;
	}
}

static void add_task(const struct gp_sim *sim, u32 i, struct gp_result *r)
{
	const struct gp_task_result *t = &r->task[i];
	const struct gp_client *c = &sim->client[i];

	r->work_lost += t->lost;
	r->work_doubled += t->doubled;
	r->preemptions += sim->tally.end.task[i].caused - sim->tally.begin.task[i].caused;
	for (u32 g = 0; g < sim->nr_gpus; g++)
		*(t->online ? &r->gpu[g].online_work_ns : &r->gpu[g].offline_work_ns) +=
			work_on(sim, i, g, g + 1);
	if (!t->online) {
		r->offline_work_ns += t->work_ns;
		return;
	}
	r->online_work_ns += t->work_ns;
	r->offered += t->offered;
	r->served += t->served;
	r->victim_on += c->victim_on;
}

struct arrival {
	u64 at_ns, latency_ns;
	u64 order;
};

static int by_arrival(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->at_ns == y->at_ns)
		return (x->order > y->order) - (x->order < y->order);
	return x->at_ns > y->at_ns ? 1 : -1;
}

/* Fills in the latencies of all online requests in order of arrival; 0: never answered. */
static int fill_requests(const struct gp_sim *sim, struct gp_result *r, u64 *values)
{
	struct arrival *all = calloc(r->offered + 1, sizeof(*all));
	u64 nr = 0, served = 0;

	r->request_ns = calloc(r->offered + 1, sizeof(*r->request_ns));
	if (!all || !r->request_ns) {
		free(all);
		return -ENOMEM;
	}
	for (u32 i = 0; i < sim->nr_clients; i++) {
		const struct gp_client *c = &sim->client[i];

		for (u32 n = 0; c->spec->online && n < c->nr_requests; n++) {
			const struct gp_request *q = &c->request[n];

			if (measured(sim, q))
				all[nr++] = (struct arrival){
					q->arrival_ns, q->done_ns ? q->done_ns - q->arrival_ns : 0,
					(u64)i << 32 | n,
				};
		}
	}
	qsort(all, nr, sizeof(*all), by_arrival);
	for (u64 i = 0; i < nr; i++) {
		r->request_ns[i] = all[i].latency_ns;
		if (all[i].latency_ns)
			values[served++] = all[i].latency_ns;
	}
	r->nr_requests = nr;
	r->online = spread_of(values, served, nr);
	free(all);
	return 0;
}

static void fill_totals(const struct gp_sim *sim, struct gp_result *r)
{
	const struct gp_totals *a = &sim->tally.begin, *b = &sim->tally.end;

	snprintf(r->scenario, sizeof(r->scenario), "%s", sim->sc->name);
	r->seed = sim->args->seed;
	r->length_ns = sim->sc->length_ns;
	r->latency_weight = sim->sc->param[GP_LATENCY_WEIGHT];
	for (u32 p = 0; p < GP_NR_PARTS; p++)
		r->part[p] = spread_of_hist(&sim->tally.part[p]);
	r->monitor_cpu_ns = b->cpu_ns - a->cpu_ns;
	if (sim->sc->monitor.spins && r->monitor_cpu_ns < r->length_ns)
		r->monitor_cpu_ns = r->length_ns;
	r->looks = b->looks - a->looks;
	/* Of the whole run, as a measure of the simulation's work. */
	r->events = sim->engine.heap.pushed;
	for (u32 i = 0; i < sim->nr_gpus; i++)
		r->events += vgpu_counters(sim->gpu[i].vgpu)->events;
	r->probes = b->probes - a->probes;
	r->wakeups = b->wakeups - a->wakeups;
	r->bytes_saved = b->bytes_saved - a->bytes_saved;
	r->waves_saved = b->waves_saved - a->waves_saved;
	r->online_waves_saved = b->precious_waves_saved - a->precious_waves_saved;
	/* The run may end while there is work. */
	r->online_busy_ns = online_so_far(sim, &sim->tally.anywhere);
	r->nr_gpus = sim->nr_gpus;
	for (u32 g = 0; g < sim->nr_gpus; g++)
		r->gpu[g].online_busy_ns = online_so_far(sim, &sim->tally.online[g]);
	r->lost_tasks = sim->home.timed_out;
	r->ejections = sim->home.there ? sim->home.sched->ejections : 0;
	r->weakest = gp_costs_weakest(&sim->costs);
}

int gp_tally_result(struct gp_sim *sim, struct gp_result *ret)
{
	struct gp_result *r = calloc(1, sizeof(*r));
	u64 most = 1, *values;
	int err = -ENOMEM;

	for (u32 i = 0; i < sim->nr_clients; i++)
		most += sim->client[i].nr_requests;
	values = calloc(most, sizeof(*values));
	if (!r || !values)
		goto out;
	fill_totals(sim, r);
	r->nr_tasks = sim->nr_clients;
	for (u32 i = 0; i < sim->nr_clients; i++) {
		fill_task(sim, i, &r->task[i], values);
		add_task(sim, i, r);
	}
	err = fill_requests(sim, r, values);
	if (err)
		gp_result_fini(r);
	else
		*ret = *r;
out:
	free(values);
	free(r);
	return err;
}

void gp_result_fini(struct gp_result *r)
{
	free(r->request_ns);
	r->request_ns = NULL;
	r->nr_requests = 0;
}
