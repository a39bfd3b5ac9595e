// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Methods that read, as lib/org.gpreempt.varlink describes their answers. Root and the group see
 * everything. Any other client sees its own processes in full, and of the others the pid, class,
 * GPU and state (gpreemptd(8), "What users see").
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/sys.h"
#include "methods.h"
#include "text/value.h"

enum { LIST, STATS };		/* struct gp_listing.which */

static const char *const work_names[] = {
	[GP_IDLE] = "idle", [GP_DRAINED] = "drained", [GP_PENDING] = "pending",
	[GP_BLOCKED] = "blocked", [GP_UNKNOWN] = "unknown",
};

u64 gp_method_states(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	struct gp_seat_view seat;
	u64 states = 0;
	u32 d;

	for (d = 0; d < h->nr_gpus; d++)
		if (!gp_decider_seat(h, r, d, &seat))
			states |= BIT_ULL(seat.state);
	return states;
}

bool gp_method_is_off(u64 states)
{
	return states && !(states & ~(BIT_ULL(GP_OFF) | BIT_ULL(GP_LOST)));
}

u64 gp_method_held_until(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	u64 until = gp_decider_held_until(h, r);

	/* A hold may be pending until the process is attached. */
	if (until <= h->now_ns && r->lease_ns)
		until = r->lease_until_ns;
	return until > h->now_ns ? until : 0;
}

static bool may_see(const struct gp_peer *peer, const struct gp_gpu_process *r)
{
	return peer->privileged || peer->uid == r->uid;
}

/* Returns the process after pid *@cursor, or NULL at the end. Moves *@cursor. */
static const struct gp_gpu_process *next_process(const struct gp_decider *h, u64 *cursor)
{
	u32 i;

	for (i = 0; i < h->nr_processes; i++) {
		if ((u64)h->process[i]->pid <= *cursor)
			continue;
		*cursor = (u64)h->process[i]->pid;
		return h->process[i];
	}
	return NULL;
}

/* ---- Status, GetPolicy ---- */

static void add_text(void *list, const char *text)
{
	if (text && text[0])
		json_array_append_new(list, json_string(text));
}

/* Lists the troubles. Shows names of processes to root and the group only. */
static json_t *troubles(const struct gp_decider *h, const struct gp_backend_status *status,
			const struct gp_peer *peer)
{
	json_t *list = json_array();
	char text[GP_DECIDER_WHY], line[GP_DECIDER_WHY + 64];
	u32 n = gp_decider_unpreemptible(h, text);
	struct gp_readers_stats readers;

	if (n) {
		snprintf(line, sizeof(line), "%u processes cannot be preempted%s%s", n,
			 peer->privileged ? ", such as " : "", peer->privileged ? text : "");
		add_text(list, line);
	}
	gp_decider_troubles(h, peer->privileged, add_text, list);
	gp_readers_stats(h->readers, &readers);
	if (readers.silent) {
		snprintf(line, sizeof(line), "the readers of %u users do not answer: their "
			 "processes are taken for busy, and preempt no other", readers.silent);
		add_text(list, line);
	}
	if (!h->nr_gpus)
		add_text(list, "the driver has no GPU; see gpreempt doctor");
	if (h->dump_error)
		add_text(list, "queues cannot be watched: kfd/mqds in debugfs is not readable");
	if (gp_scanner_left_out(h->scanner))
		add_text(list, "more GPU processes than can be managed; some are left out");
	for (u32 i = 0; i < GP_SCAN_FAULTS; i++) {
		if (!gp_scanner_faults(h->scanner, i))
			continue;
		snprintf(line, sizeof(line), "files of processes could not be read %llu times: %s",
			 (unsigned long long)gp_scanner_faults(h->scanner, i),
			 gp_scan_fault_text(i));
		add_text(list, line);
	}
	add_text(list, h->backend_trouble);
	add_text(list, status->ejected);
	return list;
}

/* Returns lines such as "2026-11-18T12:00:00Z killed by signal 9", the newest first. */
static json_t *restarts(const struct gp_saved_state *s)
{
	char text[GP_STATE_REASON + 32];
	json_t *list = json_array();
	struct tm tm;
	time_t at;
	u32 i;

	for (i = 0; i < s->nr_restarts; i++) {
		size_t n;

		at = (time_t)s->restart[i].at_s;
		n = gmtime_r(&at, &tm) ? strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ ", &tm) : 0;
		snprintf(text + n, sizeof(text) - n, "%s", s->restart[i].why);
		add_text(list, text);
	}
	return list;
}

int gp_method_status(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		     json_t **ret)
{
	const struct gp_saved_state *state = &m->state->state;
	const struct gp_decider *h = m->args.decider;
	struct gp_backend_status status;
	u32 i, held = 0;

	(void)a;
	gp_decider_status(h, &status);
	for (i = 0; i < h->nr_processes; i++) {
		u64 states = gp_method_states(h, h->process[i]);

		/* A process that is LOST on all its GPUs is not held. */
		held += gp_method_is_off(states) && (states & BIT_ULL(GP_OFF));
	}
	*ret = json_pack("{s:s, s:i, s:i, s:I, s:b, s:b, s:s, s:s, s:i, s:i, s:i, s:i, s:o, s:o}",
			 "version", m->args.version, "interface_version", GP_SCHEMA,
			 "pid", (int)getpid(),
			 "up_ns", (json_int_t)(h->now_ns - h->started_ns),
			 "enabled", h->enabled, "observe_only", h->observe,
			 "policy", gp_decider_policy_name(h), "mechanism", status.mechanism,
			 "gpus", (int)h->nr_gpus, "processes", (int)h->nr_processes,
			 "held", (int)held, "restarts", (int)state->restarts,
			 "restart_reasons", restarts(state),
			 "trouble", troubles(h, &status, call->peer));
	if (*ret && status.ejected)
		json_object_set_new(*ret, "ejected", json_string(status.ejected));
	return GP_CALL_DONE;
}

json_t *gp_method_parameters(const u64 *param)
{
	json_t *list = json_array();
	char value[64], initial[64];
	u32 i;

	for (i = 0; i < GP_NR_PARAMS; i++) {
		gp_print_param(&gp_params[i], param[i], value, sizeof(value));
		gp_print_param(&gp_params[i], gp_params[i].initial, initial, sizeof(initial));
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name",
						      gp_params[i].name, "value", value,
						      "initial", initial, "what",
						      gp_params[i].what));
	}
	return list;
}

int gp_method_get_policy(struct gp_methods *m, struct gp_call *call,
			 const struct gp_arguments *a, json_t **ret)
{
	const struct gp_decider *h = m->args.decider;

	(void)call, (void)a;
	*ret = json_pack("{s:s, s:o}", "policy", gp_decider_policy_name(h), "parameters",
			 gp_method_parameters(h->param));
	return GP_CALL_DONE;
}

/* ---- List ---- */

static json_t *gpu_json(const struct gp_decider *h, u32 d)
{
	const struct gp_gpu_info *g = &h->gpu[d];
	struct gp_backend_status status;
	struct gp_device_view view;
	json_t *a;

	gp_decider_status(h, &status);
	gp_decider_device_view(h, d, &view);
	a = json_pack("{s:i, s:i, s:s, s:s, s:i, s:i, s:I, s:s, s:b}",
		      "index", (int)g->index, "gpu_id", (int)g->gpu_id, "bdf", g->bdf,
		      "name", g->gfx, "xccs", (int)g->xccs, "compute_units", (int)g->cus,
		      "vram_bytes", (json_int_t)g->vram_bytes,
		      "mechanism", status.mechanism, "watched", view.watched);
	if (a && g->partitions > 1)
		json_object_set_new(a, "partition", json_integer(g->partition));
	return a;
}

/* Reads the devices that @gpu names, an index or a BDF; "": all. */
static int read_gpu(const struct gp_decider *h, const char *gpu, u64 *ret)
{
	const char *bad;

	*ret = ~0ull;
	return gpu[0] ? gp_gpus_select(h->gpu, h->nr_gpus, gpu, ret, &bad) : 0;
}

int gp_method_list(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		   json_t **ret)
{
	struct gp_listing *l = &call->listing;
	json_t *gpus;
	u64 devices;
	u32 d;

	*l = (struct gp_listing){ .which = LIST, .pid = (pid_t)a->pid };
	snprintf(l->gpu, sizeof(l->gpu), "%s", a->gpu ? a->gpu : "");
	if (read_gpu(m->args.decider, l->gpu, &devices)) {
		snprintf(call->why, GP_WHY_MAX, "GPU %s: not found; 'gpreempt list' shows them",
			 l->gpu);
		return -ENOENT;
	}
	gpus = json_array();
	for (d = 0; d < m->args.decider->nr_gpus; d++)
		if (devices & BIT_ULL(d))
			json_array_append_new(gpus, gpu_json(m->args.decider, d));
	*ret = json_pack("{s:o}", "gpus", gpus);
	return *ret ? GP_CALL_LIST : -ENOMEM;
}

/* Returns the seats. The times are sums over all seats, given with the first. */
static json_t *seats_json(const struct gp_decider *h, const struct gp_gpu_process *r, bool full)
{
	json_t *list = json_array(), *o;
	static struct gp_account a;
	struct gp_seat_view seat;
	bool first = true;
	u32 d;

	if (gp_decider_account(h, r, &a))
		return list;
	for (d = 0; d < h->nr_gpus; d++) {
		u64 off = a.state_ns[GP_OFF] + a.state_ns[GP_STARTING];

		if (gp_decider_seat(h, r, d, &seat))
			continue;
		o = json_pack("{s:i, s:s}", "gpu", (int)h->gpu[d].index, "state",
			      gp_state_name[seat.state]);
		if (full)
			json_object_update_new(o, json_pack(
				"{s:s, s:I, s:I, s:I, s:I, s:I}", "work", work_names[seat.work],
				"since_ns", (json_int_t)seat.since_ns,
				"on_ns", first ? (json_int_t)a.state_ns[GP_ON] : 0,
				"off_ns", first ? (json_int_t)off : 0,
				"waiting_ns", first ? (json_int_t)a.waiting_ns : 0,
				"vram_bytes", (json_int_t)gp_decider_vram(h, r, h->gpu[d].gpu_id)));
		json_array_append_new(list, o);
		first = false;
	}
	return list;
}

static json_t *queues_json(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	json_t *list = json_array();
	u32 i;

	for (i = 0; i < r->nr_queues; i++) {
		const struct gp_process_queue *q = &r->queues[i];
		u32 d = gp_decider_device(h, q->gpu_id);

		json_array_append_new(list, json_pack(
			"{s:i, s:i, s:s, s:i}", "id", (int)q->id,
			"gpu", d == GP_NONE ? -1 : (int)h->gpu[d].index,
			"type", q->type == GP_PROCESS_COMPUTE ? "aql" :
				q->type == GP_PROCESS_SDMA || q->type == GP_PROCESS_SDMA_XGMI ?
				"sdma" : "other",
			"bytes", (int)q->ring_bytes));
	}
	return list;
}

/* Adds what only root, the group and the owner may see. */
static void add_private(json_t *o, const struct gp_decider *h, const struct gp_gpu_process *r)
{
	static struct gp_account account;
	json_int_t preempted = (json_int_t)r->stopped_before;
	u64 until = gp_method_held_until(h, r);
	char gang[GP_GANG_NAME], trouble[GP_DECIDER_WHY];

	if (!gp_decider_account(h, r, &account))
		preempted += (json_int_t)account.stopped;
	json_object_update_new(o, json_pack(
		"{s:I, s:I, s:s, s:s, s:I, s:o}", "start", (json_int_t)r->start,
		"uid", (json_int_t)r->uid, "name", r->name, "class_from", r->class_from,
		"preempted", preempted, "queues", queues_json(h, r)));
	if (until)
		json_object_set_new(o, "held_until_ns", json_integer((json_int_t)until));
	if (r->gang[0]) {
		snprintf(gang, sizeof(gang), "%s", r->gang);
		gp_text_clean(gang);
		json_object_set_new(o, "gang", json_string(gang));
	}
	if (gp_decider_trouble(h, r, trouble))
		json_object_set_new(o, "trouble", json_string(trouble));
}

static json_t *process_json(const struct gp_decider *h, const struct gp_gpu_process *r, bool full)
{
	u64 devices = gp_tasks_devices(h, r);
	json_t *gpus = json_array(), *o;

	for (u32 d = 0; d < h->nr_gpus; d++)
		if (devices & BIT_ULL(d))
			json_array_append_new(gpus, json_integer(h->gpu[d].index));
	o = json_pack("{s:i, s:s, s:o, s:o}", "pid", (int)r->pid, "class", r->class.name, "gpus",
		      gpus, "seats", seats_json(h, r, full));
	if (o && full)
		add_private(o, h, r);
	return o;
}

static int next_listed(const struct gp_decider *h, const struct gp_peer *peer,
		       struct gp_listing *l, json_t **ret)
{
	const struct gp_gpu_process *r;
	u64 devices;

	if (read_gpu(h, l->gpu, &devices))
		return -ENOENT;
	while ((r = next_process(h, &l->cursor))) {
		if ((l->pid && l->pid != r->pid) ||
		    (devices != ~0ull && !(gp_tasks_devices(h, r) & devices)))
			continue;
		*ret = process_json(h, r, may_see(peer, r));
		return *ret ? 1 : -ENOMEM;
	}
	return 0;
}

/* ---- Stats ---- */

struct gp_counter {
	const char *name;
	u64 value;
};

/* Adds to the counters that are there already. */
static void add_counters(json_t *to, const struct gp_counter *n)
{
	for (; n->name; n++) {
		json_int_t has = json_integer_value(json_object_get(to, n->name));

		json_object_set_new(to, n->name, json_integer(has + (json_int_t)n->value));
	}
}

static void add_account(json_t *to, const struct gp_account *a)
{
	const struct gp_counter n[] = {
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

	add_counters(to, n);
}

static void add_decider(json_t *to, const struct gp_decider *h)
{
	const struct gp_decider_stats *s = &h->stats;
	struct gp_backend_status status;
	struct gp_readers_stats readers;
	char text[GP_DECIDER_WHY];

	gp_decider_status(h, &status);
	gp_readers_stats(h->readers, &readers);

	const struct gp_counter n[] = {
		{ "runs", s->runs }, { "scans", s->scans }, { "looks", readers.looks },
		{ "probes", s->probes }, { "dumps", s->dumps }, { "looks_taken", s->looks },
		{ "readers_started", readers.started }, { "readers_late", readers.late },
		{ "readers_abandoned", readers.abandoned }, { "readers_stuck", readers.stuck },
		{ "reader_errors", readers.errors },
		{ "calls_failed", gp_sys_failures() },
		{ "actions_refused", s->refused }, { "stray_answers", s->stray },
		{ "processes_seen", s->seen }, { "processes_gone", s->gone },
		{ "scan_ns_max", s->scan_ns_max }, { "look_ns_max", s->look_ns_max },
		{ "gpu_resets", s->resets }, { "processes_lost", s->lost },
		{ "processes_unpreemptible", gp_decider_unpreemptible(h, text) },
		{ "processes_beside_unpreemptible", gp_decider_capped(h) },
		{ "processes_left_out", gp_scanner_left_out(h->scanner) },
		{ "processes_not_admitted", gp_decider_unplaced(h, text) },
		{ "policy_ejections", status.ejections },
		{ "stale_samples", status.stale_samples },
		{ "scan_faults_descriptors", gp_scanner_faults(h->scanner, GP_SCAN_DESCRIPTORS) },
		{ "scan_faults_memory", gp_scanner_faults(h->scanner, GP_SCAN_MEMORY) },
		{ "scan_faults_io", gp_scanner_faults(h->scanner, GP_SCAN_IO) },
		{ "scan_faults_again", gp_scanner_faults(h->scanner, GP_SCAN_AGAIN) },
		{ "scan_faults_other", gp_scanner_faults(h->scanner, GP_SCAN_OTHER) }, { NULL, 0 },
	};

	add_counters(to, n);
}

static void set_counter(void *to, const char *name, u64 value)
{
	json_object_set_new(to, name, json_integer((json_int_t)value));
}

static void add_backend(json_t *to, const struct gp_decider *h)
{
	struct gp_backend_counters s;

	gp_decider_counters(h, &s, set_counter, to);

	const struct gp_counter n[] = {
		{ "attaches", s.attaches }, { "attach_failures", s.attach_failures },
		{ "detaches", s.detaches }, { "suspends", s.suspends }, { "resumes", s.resumes },
		{ "suspend_failures", s.suspend_failures }, { "late_stops_undone", s.late },
		{ "retakes", s.retakes }, { "retake_ns_max", s.retake_ns_max },
		{ "retake_ns_sum", s.retake_ns_sum }, { "runtime_ends", s.runtime_ends },
		{ NULL, 0 },
	};

	add_counters(to, n);
}

static void add_control(json_t *to, const struct gp_control *c)
{
	struct gp_control_stats s;

	gp_control_stats(c, &s);

	const struct gp_counter n[] = {
		{ "connections", s.accepted }, { "connections_refused", s.refused },
		{ "connections_evicted", s.evicted }, { "calls", s.calls },
		{ "call_errors", s.errors }, { "calls_denied", s.denied },
		{ "calls_malformed", s.malformed }, { "events", s.events },
		{ "events_lost", s.events_lost }, { NULL, 0 },
	};

	add_counters(to, n);
}

/* Sums up the accounts that @peer may see, all but @part. Returns false if there is none. */
static bool sum_up(const struct gp_decider *h, const struct gp_peer *peer, struct gp_account *sum)
{
	/* All members are u64. Those that are no sums are not shown. */
	enum { NUMBERS = offsetof(struct gp_account, part) / sizeof(u64) };
	static bool of_task[GP_MAX_TASKS];
	static struct gp_account a;
	bool any = peer->privileged;
	u32 i, n;

	memset(of_task, 0, sizeof(of_task));
	memcpy(sum, &h->stats.ended, offsetof(struct gp_account, part));
	if (!any)
		memset(sum, 0, offsetof(struct gp_account, part));
	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *r = h->process[i];

		if (r->task == GP_NONE || of_task[r->task] || !may_see(peer, r) ||
		    gp_decider_account(h, r, &a))
			continue;
		any = of_task[r->task] = true;
		for (n = 0; n < NUMBERS; n++)
			((u64 *)sum)[n] += ((const u64 *)&a)[n];
	}
	return any;
}

/*
 * Answers the counters of all tasks and of the daemon. An unprivileged client gets only those of
 * its own tasks, because the sums would reveal the arrivals of other users.
 */
int gp_method_stats(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		    json_t **ret)
{
	const struct gp_decider *h = m->args.decider;
	json_t *counters = json_object();
	static struct gp_account sum;

	if (sum_up(h, call->peer, &sum))
		add_account(counters, &sum);
	if (call->peer->privileged) {
		add_decider(counters, h);
		add_backend(counters, h);
		add_control(counters, m->control);
	}
	call->listing = (struct gp_listing){ .which = STATS, .pid = (pid_t)a->pid };
	*ret = json_pack("{s:o}", "counters", counters);
	return *ret ? GP_CALL_LIST : -ENOMEM;
}

static json_t *parts_json(const struct gp_hist *part)
{
	json_t *list = json_array();
	u32 i;

	for (i = 0; i < GP_NR_PARTS; i++) {
		const struct gp_hist *p = &part[i];

		json_array_append_new(list, json_pack(
			"{s:s, s:I, s:I, s:I, s:I, s:I}", "name", gp_part_names[i],
			"count", (json_int_t)p->count, "mean_ns", (json_int_t)gp_hist_mean(p),
			"p50_ns", (json_int_t)gp_hist_quantile(p, 5000),
			"p99_ns", (json_int_t)gp_hist_quantile(p, 9900),
			"max_ns", (json_int_t)p->max));
	}
	return list;
}

static int next_stats(const struct gp_decider *h, const struct gp_peer *peer,
		      struct gp_listing *l, json_t **ret)
{
	const struct gp_gpu_process *r;
	static struct gp_account a;
	json_t *counters;

	do {
		r = next_process(h, &l->cursor);
	} while (r && ((l->pid && r->pid != l->pid) || !may_see(peer, r) ||
		       gp_decider_account(h, r, &a)));
	if (!r)
		return 0;

	counters = json_object();
	add_account(counters, &a);
	json_object_set_new(counters, "longest_hold_ns",
			    json_integer((json_int_t)a.longest_hold_ns));
	*ret = json_pack("{s:i, s:I, s:s, s:s, s:o, s:o}", "pid", (int)r->pid,
			 "start", (json_int_t)r->start, "name", r->name, "class", r->class.name,
			 "counters", counters, "parts", parts_json(gp_decider_parts(h, r)));
	return *ret ? 1 : -ENOMEM;
}

int gp_method_next(void *ctx, const struct gp_peer *peer, struct gp_listing *listing,
		   json_t **ret)
{
	const struct gp_decider *h = ((struct gp_methods *)ctx)->args.decider;

	return listing->which == LIST ? next_listed(h, peer, listing, ret) :
					next_stats(h, peer, listing, ret);
}
