// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Calls that only read, as lib/org.gpreempt.varlink describes their answers. */
#include <string.h>
#include <unistd.h>

#include "ops.h"
#include "text/value.h"

static const struct gp_home *home_of(const void *ctx)
{
	return ((const struct gp_ops *)ctx)->args.home;
}

const char *const gp_ops_state_name[GP_NR_STATES] = {
	[GP_ON] = "on", [GP_STOPPING] = "stopping", [GP_OFF] = "off",
	[GP_STARTING] = "starting", [GP_LOST] = "lost",
};

static const char *const work_name[] = {
	[GP_IDLE] = "idle", [GP_DRAINED] = "drained", [GP_PENDING] = "pending",
	[GP_BLOCKED] = "blocked", [GP_UNKNOWN] = "unknown",
};

const char *gp_ops_policy_name(const struct gp_home *h)
{
	return h->observe ? "none" : h->sched->policy->name;
}

u64 gp_ops_states(const struct gp_home *h, const struct gp_resident *r)
{
	u64 states = 0;
	u32 d;

	for (d = 0; r->task != GP_NONE && d < h->nr_gpus; d++) {
		const struct gp_seat *seat = gp_sched_seat(h->sched, r->task, d);

		if (seat)
			states |= BIT_ULL(seat->state);
	}
	return states;
}

bool gp_ops_off(u64 states)
{
	return states && !(states & ~(BIT_ULL(GP_OFF) | BIT_ULL(GP_LOST)));
}

const struct gp_resident *gp_ops_next(const struct gp_home *h, u64 *cursor)
{
	u32 i;

	for (i = 0; i < h->nr_residents; i++) {
		if ((u64)h->resident[i]->pid <= *cursor)
			continue;
		*cursor = (u64)h->resident[i]->pid;
		return h->resident[i];
	}
	return NULL;
}

/* ---- Status, GetPolicy ---- */

static void add_trouble(json_t *list, const char *text)
{
	if (text && text[0])
		json_array_append_new(list, json_string(text));
}

static json_t *troubles(const struct gp_home *h)
{
	json_t *list = json_array();

	if (!h->nr_gpus)
		add_trouble(list, "no GPU of the driver is there; gpreempt doctor");
	if (h->dump_error)
		add_trouble(list,
			    "the queues cannot be watched: kfd/mqds in debugfs is not readable");
	if (gp_scanner_left_out(h->scanner))
		add_trouble(list, "more GPU processes than can be managed: some are left out");
	add_trouble(list, h->doer_trouble);
	add_trouble(list, h->sched->ejected);
	return list;
}

int gp_ops_status(void *ctx, struct gp_request *rq)
{
	struct gp_ops *o = ctx;
	const struct gp_home *h = o->args.home;
	u32 i, held = 0;
	json_t *a;

	for (i = 0; i < h->nr_residents; i++) {
		u64 states = gp_ops_states(h, h->resident[i]);

		/* Who is only lost is held by nobody. */
		held += gp_ops_off(states) && (states & BIT_ULL(GP_OFF));
	}
	a = json_pack("{s:s, s:i, s:I, s:b, s:b, s:s, s:s, s:i, s:i, s:i, s:o}",
		      "version", o->args.version, "pid", (int)getpid(),
		      "up_ns", (json_int_t)(h->now_ns - h->started_ns),
		      "enabled", h->enabled, "observe_only", h->observe,
		      "policy", gp_ops_policy_name(h), "mechanism", h->doer->ops->name,
		      "gpus", (int)h->nr_gpus, "processes", (int)h->nr_residents,
		      "held", (int)held, "trouble", troubles(h));
	if (a && h->sched->ejected)
		json_object_set_new(a, "ejected", json_string(h->sched->ejected));
	gp_control_reply(o->control, rq->token, a);
	return 0;
}

json_t *gp_ops_parameters(const u64 *param)
{
	json_t *list = json_array();
	char value[64], initial[64];
	u32 i;

	for (i = 0; i < GP_NR_PARAMS; i++) {
		gp_print_param(&gp_params[i], param[i], value, sizeof(value));
		gp_print_param(&gp_params[i], gp_params[i].initial, initial,
				     sizeof(initial));
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name",
						      gp_params[i].name, "value", value,
						      "initial", initial, "what",
						      gp_params[i].what));
	}
	return list;
}

int gp_ops_get_policy(void *ctx, struct gp_request *rq)
{
	struct gp_ops *o = ctx;

	gp_control_reply(o->control, rq->token,
			 json_pack("{s:s, s:o}", "policy", gp_ops_policy_name(o->args.home),
				   "parameters", gp_ops_parameters(o->args.home->sched->param)));
	return 0;
}

/* ---- List ---- */

static json_t *gpu_json(const struct gp_home *h, u32 d)
{
	const struct gp_gpu_info *g = &h->gpu[d];
	json_t *a;

	a = json_pack("{s:i, s:i, s:s, s:s, s:i, s:i, s:I, s:s, s:b}",
		      "index", (int)g->index, "gpu_id", (int)g->gpu_id, "bdf", g->bdf,
		      "name", g->gfx, "xccs", (int)g->xccs, "compute_units", (int)g->cus,
		      "vram_bytes", (json_int_t)g->vram_bytes,
		      "mechanism", h->doer->ops->name, "watched",
		      gp_sched_look_at(h->sched, d) != GP_NEVER);
	if (a && g->partitions > 1)
		json_object_set_new(a, "partition", json_integer(g->partition));
	return a;
}

/* The devices that a client's word for a GPU means. */
static int chosen(const struct gp_home *h, const char *gpu, u64 *ret)
{
	const char *bad;

	*ret = ~0ull;
	return gpu ? gp_gpus_select(h->gpu, h->nr_gpus, gpu, ret, &bad) : 0;
}

int gp_ops_list_head(void *ctx, struct gp_request *rq, const struct gp_list_args *args,
		     json_t **ret)
{
	struct gp_ops *o = ctx;
	json_t *gpus = json_array();
	u64 devices;
	u32 d;

	(void)rq;
	if (chosen(o->args.home, args->gpu, &devices)) {
		json_decref(gpus);
		return -ENOENT;
	}
	/* What memory everybody has is read when somebody asks, and not otherwise. */
	gp_home_read_usage(o->args.home);
	for (d = 0; d < o->args.home->nr_gpus; d++)
		if (devices & BIT_ULL(o->args.home->gpu[d].index))
			json_array_append_new(gpus, gpu_json(o->args.home, d));
	*ret = json_pack("{s:o}", "gpus", gpus);
	return *ret ? 0 : -ENOMEM;
}

static u64 vram_of(const struct gp_resident *r, u32 gpu_id)
{
	u32 i;

	for (i = 0; i < r->nr_usage; i++)
		if (r->usage[i].gpu_id == gpu_id)
			return r->usage[i].vram_bytes;
	return 0;
}

/* Where it sits; the times are of all its seats, given to the first. */
static json_t *seats_json(const struct gp_home *h, const struct gp_resident *r)
{
	json_t *list = json_array();
	static struct gp_account a;
	bool first = true;
	u32 d;

	if (r->task == GP_NONE || gp_sched_account(h->sched, r->task, h->now_ns, &a))
		return list;
	for (d = 0; d < h->nr_gpus; d++) {
		const struct gp_seat *seat = gp_sched_seat(h->sched, r->task, d);
		u64 off = a.state_ns[GP_OFF] + a.state_ns[GP_STARTING];

		if (!seat)
			continue;
		json_array_append_new(list, json_pack(
			"{s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:I}",
			"gpu", (int)h->gpu[d].index, "state", gp_ops_state_name[seat->state],
			"work", work_name[seat->work], "since_ns", (json_int_t)seat->since_ns,
			"on_ns", first ? (json_int_t)a.state_ns[GP_ON] : 0,
			"off_ns", first ? (json_int_t)off : 0,
			"waiting_ns", first ? (json_int_t)a.waiting_ns : 0,
			"vram_bytes", (json_int_t)vram_of(r, h->gpu[d].gpu_id)));
		first = false;
	}
	return list;
}

static json_t *queues_json(const struct gp_home *h, const struct gp_resident *r)
{
	json_t *list = json_array();
	u32 i;

	for (i = 0; i < r->nr_queues; i++) {
		const struct gp_process_queue *q = &r->queues[i];
		u32 d = gp_rings_device(h, q->gpu_id);

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

static bool on_device(const struct gp_home *h, const struct gp_resident *r, u64 devices)
{
	u32 i, d;

	if (devices == ~0ull)
		return true;
	for (i = 0; i < r->nr_queues; i++) {
		d = gp_rings_device(h, r->queues[i].gpu_id);
		if (d != GP_NONE && (devices & BIT_ULL(h->gpu[d].index)))
			return true;
	}
	return false;
}

static json_t *process_json(const struct gp_home *h, const struct gp_resident *r)
{
	const struct gp_task *t = r->task == GP_NONE ? NULL : &h->sched->tasks[r->task];
	json_int_t preempted = (json_int_t)r->stopped_before;
	char gang[GP_GANG_NAME];
	json_t *a;

	if (t)
		preempted += (json_int_t)t->account.stopped;
	a = json_pack("{s:i, s:I, s:I, s:s, s:s, s:s, s:I, s:o, s:o}",
		      "pid", (int)r->pid, "start", (json_int_t)r->start,
		      "uid", (json_int_t)r->uid, "name", r->name, "class", r->class.name,
		      "class_from", r->class_from, "preempted", preempted,
		      "seats", seats_json(h, r), "queues", queues_json(h, r));
	if (a && t && t->manual_until_ns > h->now_ns)
		json_object_set_new(a, "held_until_ns",
				    json_integer((json_int_t)t->manual_until_ns));
	if (a && r->gang[0]) {
		snprintf(gang, sizeof(gang), "%s", r->gang);
		gp_text_clean(gang);
		json_object_set_new(a, "gang", json_string(gang));
	}
	if (a && r->trouble[0])
		json_object_set_new(a, "trouble", json_string(r->trouble));
	return a;
}

int gp_ops_list_next(void *ctx, const struct gp_list_args *args, u64 *cursor, json_t **ret)
{
	const struct gp_home *h = home_of(ctx);
	const struct gp_resident *r;
	u64 devices;

	if (chosen(h, args->gpu, &devices))
		return -ENOENT;
	while ((r = gp_ops_next(h, cursor))) {
		if ((args->pid && args->pid != r->pid) || !on_device(h, r, devices))
			continue;
		*ret = process_json(h, r);
		return *ret ? 1 : -ENOMEM;
	}
	return 0;
}
