// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Operations that are mechanisms of the simulator (suspend, resume, evict, restore) use that
 * mechanism. The other operations, which only a process itself asks of its driver, are one
 * cycle each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "sim/mechanism.h"

enum { A, B, PEOPLE };

struct model {
	struct gp_engine engine;
	struct gp_costs costs;
	struct gp_gpu gpu;
	struct gp_simmech mech;
	struct gp_ring *ring[PEOPLE][LAB_QUEUES];
	u64 next_id;
	struct vgpu_counters before;
	struct lab_cost *cost;		/* of the running operation */
};

/* ---- time ---- */

static void let_happen(struct model *m, u64 ns)
{
	u64 until = m->engine.now_ns + ns;

	while (!m->engine.err) {
		u64 soft = m->engine.heap.nr ? m->engine.heap.event[0].at_ns : VGPU_NEVER;
		u64 hard = vgpu_next_ns(m->gpu.vgpu);
		struct gp_event event;

		if (soft > until && hard > until)
			break;
		/* Hardware goes first, so that software at the same moment sees its effect. */
		m->engine.now_ns = hard <= soft ? hard : soft;
		if (hard <= soft) {
			vgpu_advance(m->gpu.vgpu, hard);
		} else {
			gp_heap_pop(&m->engine.heap, &event);
			event.fire(event.ctx, event.arg);
		}
	}
	m->engine.now_ns = until;
	vgpu_advance(m->gpu.vgpu, until);
}

static void settle(struct model *m)
{
	let_happen(m, 20 * GP_MSEC);
}

/* ---- what it cost ---- */

static void begin(struct model *m, struct lab_cost *cost)
{
	m->before = *vgpu_counters(m->gpu.vgpu);
	m->cost = cost;
}

static void end(struct model *m)
{
	const struct vgpu_counters *now = vgpu_counters(m->gpu.vgpu);
	u64 *part = m->cost->part;

	part[LAB_UNMAPS] = now->unmaps - m->before.unmaps;
	part[LAB_RUNLISTS] = now->maps - m->before.maps;
	part[LAB_QUEUES_MAPPED] = now->queues_mapped - m->before.queues_mapped;
	part[LAB_QUEUES_UNMAPPED] = now->queues_unmapped - m->before.queues_unmapped;
	part[LAB_WAVES_SAVED] = now->waves_saved - m->before.waves_saved;
	part[LAB_BYTES_SAVED] = now->bytes_saved - m->before.bytes_saved;
	m->cost = NULL;
}

/*
 * Adds the times of a cycle. The processor's time between the fence and RUN_LIST belongs to the
 * driver, and the lab's device does not count it either.
 */
static void add_times(struct model *m, u64 command, u64 acted, u64 saved, u64 switched)
{
	u64 pause = acted > command ? vgpu_value(&m->costs.device, VGPU_RUNLIST_NS) : 0;

	m->cost->part[LAB_COMMAND_NS] += acted - command;
	m->cost->part[LAB_SAVE_NS] += saved - acted;
	if (switched - saved > pause)	/* else there was no RUN_LIST */
		m->cost->part[LAB_SWITCH_NS] += switched - saved - pause;
}

/* ---- cycles of the driver ---- */

static void cycle_done(void *ctx, const struct gp_cycle *c)
{
	add_times(ctx, c->command_ns, c->acted_ns, c->saved_ns, c->switched_ns);
}

/* Unmaps all queues, then maps again those that may be on. */
static void cycle(struct model *m, u64 off, u64 on, enum vgpu_fact_id grace)
{
	const struct gp_cycle c = {
		.off = off, .on = on, .how = VGPU_SAVE, .done = cycle_done, .ctx = m,
		.grace_ns = vgpu_value(&m->costs.device, grace),
		.pause_ns = vgpu_value(&m->costs.device, VGPU_RUNLIST_NS),
	};

	gp_cycle_begin(&m->gpu, &c);
	settle(m);
}

/*
 * Unmaps all queues, and maps them later. (The simulator's own mechanism halt does both at
 * once, with one process less, as a policy would use it.)
 */
static void halt(struct model *m, bool out)
{
	const u64 all = BIT_ULL(A) | BIT_ULL(B);
	const struct gp_cycle c = {
		.off = out ? all : 0, .on = out ? 0 : all, .how = VGPU_SAVE,
		.map_only = !out, .done = cycle_done, .ctx = m,
		.grace_ns = vgpu_value(&m->costs.device, VGPU_GRACE_DEFAULT_NS),
	};

	gp_cycle_begin(&m->gpu, &c);
	settle(m);
}

/*
 * The driver puts the newest queue first on its list, the simulator the lowest number. So all
 * queues are made beforehand, the newest first. A queue that was not created yet, or has 0 %,
 * is on no list.
 */
static void make(struct model *m, u32 who, u32 queue)
{
	const struct vgpu_queue_args args = {
		.process = who, .priority = 7, .area_bytes = 1 << 30,
	};
	struct gp_ring *r = gp_ring_new(&m->gpu, NULL, args.area_bytes);
	int err = r ? 0 : -ENOMEM;

	m->ring[who][queue] = r;
	if (!err) {
		r->process = who;
		err = gp_gpu_add_ring(&m->gpu, r, &args);
	}
	if (err)
		gp_engine_fail(&m->engine, err, "a queue cannot be made: %d", err);
	else
		m->gpu.ring[r->handle] = NULL;
}

static void list(struct model *m, u32 who, u32 queue, bool on)
{
	struct gp_ring *r = m->ring[who][queue];

	m->gpu.ring[r->handle] = on ? r : NULL;
	cycle(m, 0, BIT_ULL(who), VGPU_GRACE_DEFAULT_NS);
}

static void run(struct model *m, u32 who, u32 workgroups)
{
	const struct vgpu_packet p = {
		.kind = VGPU_KERNEL, .barrier_bit = true, .waves = LAB_WAVES,
		.vgpr_bytes = LAB_VGPR_BYTES, .workgroups = workgroups,
		.workgroup_ns = LAB_FOREVER_NS,
	};

	if (!gp_ring_write(m->ring[who][0], &p, m->engine.now_ns))
		gp_engine_fail(&m->engine, -ENOMEM, "no memory for a packet");
	gp_gpu_doorbell(&m->gpu, m->ring[who][0]);
	settle(m);
}

/*
 * Runs two cycles. A dying process first loses the memory of its user pointers, for which the
 * driver evicts it and saves its waves. Then its queues are destroyed.
 */
static void vanish(struct model *m, u32 who)
{
	cycle(m, BIT_ULL(who), 0, VGPU_GRACE_DEFAULT_NS);
	for (u32 i = 0; i < LAB_QUEUES; i++)
		if (m->ring[who][i] && m->gpu.ring[m->ring[who][i]->handle])
			gp_gpu_remove_ring(&m->gpu, m->ring[who][i]);
	cycle(m, 0, 0, VGPU_GRACE_DEFAULT_NS);
}

/* Detaching resumes all queues; launch mode, flags and trap handler take one more cycle each. */
static void detach(struct model *m)
{
	cycle(m, 0, 0, VGPU_GRACE_DEFAULT_NS);
	for (u32 i = 0; i < 3; i++)
		cycle(m, 0, 0, VGPU_GRACE_NS);
}

/* ---- mechanisms of the simulator ---- */

static void nothing(void *ctx)
{
	(void)ctx;
}

static void ended(void *ctx, u32 device)
{
	(void)ctx;
	(void)device;
}

static void by_mechanism(struct model *m, enum gp_how how, bool out, bool grace_default)
{
	u32 task = A;
	struct gp_action action = {
		.id = ++m->next_id * GP_MAX_DEVICES, .cause = GP_NONE, .nr_out = out, .nr_in = !out,
		.tasks = &task, .deadline_ns = m->engine.now_ns + 50 * GP_MSEC,
	};
	struct gp_answer answer;
	struct gp_mechanism *base = &m->mech.base;

	gp_simmech_init(&m->mech, gp_simmech_ops(how));
	m->mech.engine = &m->engine;
	m->mech.costs = &m->costs;
	m->mech.gpu = &m->gpu;
	m->mech.nr_gpus = 1;
	m->mech.grace_default = grace_default;
	m->mech.ready = nothing;
	m->mech.ended = ended;
	gp_simmech_add_task(&m->mech, A, A, 1);
	if (base->ops->begin(base, &action, m->engine.now_ns)) {
		gp_engine_fail(&m->engine, -EPROTO, "%s refuses", base->ops->name);
		return;
	}
	let_happen(m, 60 * GP_MSEC);	/* past the deadline: no event is left */
	if (base->ops->poll(base, m->engine.now_ns, &answer) || answer.outcome != GP_DONE)
		gp_engine_fail(&m->engine, -EPROTO, "%s did not do it", base->ops->name);
	else
		add_times(m, answer.command_ns, answer.acted_ns, answer.saved_ns,
			  answer.switched_ns);
}

/* ---- the operations ---- */

static void perform(struct model *m, enum lab_operation op)
{
	switch (op) {
	case LAB_CREATE_FIRST:
		return list(m, A, 0, true);
	case LAB_CREATE_SECOND:
	case LAB_UPDATE_ON:
		return list(m, A, 1, true);
	case LAB_CREATE_BESIDE:
		return list(m, B, 0, true);
	case LAB_UPDATE_OFF:
		return list(m, A, 1, false);
	case LAB_ATTACH:
		return cycle(m, 0, 0, VGPU_GRACE_NS);
	case LAB_DETACH:
		return detach(m);
	case LAB_SUSPEND:
	case LAB_RESUME:
		return by_mechanism(m, GP_BY_DEBUG, op == LAB_SUSPEND, true);
	case LAB_SUSPEND_GRACE_1:
	case LAB_RESUME_GRACE_1:
		return by_mechanism(m, GP_BY_DEBUG, op == LAB_SUSPEND_GRACE_1, false);
	case LAB_EVICT:
	case LAB_RESTORE:
		return by_mechanism(m, GP_BY_EVICT, op == LAB_EVICT, true);
	case LAB_MODULE_EVICT:
	case LAB_MODULE_RESTORE:
		return by_mechanism(m, GP_BY_EVICT, op == LAB_MODULE_EVICT, true);
	case LAB_MODULE_DIRECT:
	case LAB_MODULE_MAP:
		return by_mechanism(m, GP_BY_DIRECT, op == LAB_MODULE_DIRECT, true);
	case LAB_MODULE_HALT:
	case LAB_MODULE_UNHALT:
		return halt(m, op == LAB_MODULE_HALT);
	case LAB_KILL:
		return vanish(m, B);
	case LAB_OVERSUBSCRIBE:
		for (u32 i = 2; i < LAB_QUEUES; i++)
			list(m, A, i, true);
		return;
	case LAB_DESTROY:
		return list(m, A, LAB_QUEUES - 1, false);
	default:
		return vanish(m, A);
	}
}

static void complete(struct gp_ring *r, struct gp_kernel *k, u64 now_ns)
{
	(void)r;
	(void)k;
	(void)now_ns;
}

static void was_reset(void *ctx, struct gp_gpu *gpu)
{
	(void)ctx;
	(void)gpu;
}

static void perform_all(struct model *m, struct lab_cost cost[LAB_NR_OPERATIONS])
{
	for (u32 op = 0; op < LAB_NR_OPERATIONS && !m->engine.err; op++) {
		begin(m, &cost[op]);
		perform(m, (enum lab_operation)op);
		end(m);
		if (op == LAB_CREATE_SECOND)
			run(m, A, LAB_A_WORKGROUPS);
		else if (op == LAB_CREATE_BESIDE)
			run(m, B, LAB_B_WORKGROUPS);
	}
}

int lab_model_run(const char *profile, struct lab_cost cost[LAB_NR_OPERATIONS], char *why,
		  size_t why_size)
{
	struct model *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	memset(cost, 0, LAB_NR_OPERATIONS * sizeof(*cost));
	m->costs.device = *vgpu_profile(profile);
	memcpy(m->costs.path, gp_costs_initial, sizeof(m->costs.path));
	m->gpu.on_complete = complete;
	m->gpu.on_reset = was_reset;
	err = gp_gpu_init(&m->gpu, &m->engine, &m->costs);
	if (!err) {
		make(m, B, 0);
		for (u32 i = LAB_QUEUES; i-- > 0;)
			make(m, A, i);
		settle(m);
		perform_all(m, cost);
		err = m->engine.err;
	}
	snprintf(why, why_size, "%s", m->engine.why);
	for (u32 i = 0; i < PEOPLE * LAB_QUEUES; i++)
		if (m->ring[i / LAB_QUEUES][i % LAB_QUEUES])
			gp_ring_free(m->ring[i / LAB_QUEUES][i % LAB_QUEUES]);
	gp_gpu_fini(&m->gpu);
	gp_heap_fini(&m->engine.heap);
	free(m);
	return err;
}
