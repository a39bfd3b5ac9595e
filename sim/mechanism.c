// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <string.h>

#include "mechanism.h"

#define MECH(m)	((struct gp_simmech *)(m))	/* base is first */

/* ---- answers ---- */

static void answer(struct gp_simmech_action *a, u32 task, enum gp_outcome outcome)
{
	struct gp_simmech *m = a->mech;
	const struct gp_cycle *c = &a->cycle;

	if (m->nr_answers == GP_SIMMECH_ANSWERS) {
		gp_engine_fail(m->engine, -EPROTO, "the mechanism is not polled");
		return;
	}
	m->answer[(m->first_answer + m->nr_answers++) % GP_SIMMECH_ANSWERS] = (struct gp_answer){
		.action = a->id, .task = task, .outcome = outcome,
		.command_ns = a->stops_command_ns, .acted_ns = a->stops_acted_ns,
		.saved_ns = c->saved_ns, .switched_ns = c->switched_ns,
	};
}

static int mech_poll(struct gp_mechanism *base, u64 now_ns, struct gp_answer *ret)
{
	struct gp_simmech *m = MECH(base);

	(void)now_ns;
	if (!m->nr_answers)
		return -EAGAIN;
	*ret = m->answer[m->first_answer];
	m->first_answer = (m->first_answer + 1) % GP_SIMMECH_ANSWERS;
	m->nr_answers--;
	return 0;
}

/* Returns the processes of some tasks. */
static u64 bits(const struct gp_simmech *m, const u32 *task, u32 nr)
{
	u64 set = 0;

	for (u32 i = 0; i < nr; i++) {
		if (task[i] != GP_NONE)
			set |= BIT_ULL(m->process_of[task[i]]);
	}
	return set;
}

static void end_action(void *ctx, u64 id)
{
	struct gp_simmech_action *a = ctx;
	struct gp_simmech *m = a->mech;

	if (a->id != id)
		return;
	for (u32 i = 0; i < a->nr_out + a->nr_in; i++) {
		bool failed = a->failed & bits(m, &a->task[i], 1);

		if (a->task[i] != GP_NONE)	/* else it died on the way: no answer is awaited */
			answer(a, a->task[i], failed ? GP_REFUSED : GP_DONE);
	}
	a->id = 0;
	m->ready(m->ctx);
	m->ended(m->ctx, a->device);
}

static void deadline(void *ctx, u64 id)
{
	struct gp_simmech_action *a = ctx;

	if (a->id != id || a->late)
		return;
	a->late = true;
	for (u32 i = 0; i < a->nr_out + a->nr_in; i++) {
		if (a->task[i] != GP_NONE)
			answer(a, a->task[i], GP_TIMED_OUT);
	}
	a->mech->ready(a->mech->ctx);
}

/* ---- cycles ---- */

static void note_cycle(struct gp_simmech_action *a, const struct gp_cycle *c)
{
	struct gp_simmech *m = a->mech;

	if (!a->cycle.command_ns) {
		a->stops_command_ns = c->command_ns;
		a->stops_acted_ns = c->acted_ns;
	}
	a->cycle = *c;
	a->failed |= c->failed;
	if (!c->map_only)
		m->cpu_ns += c->saved_ns - c->command_ns;
	m->cpu_ns += c->pause_ns;
	if (c->how == VGPU_RESET && m->was_reset)
		m->was_reset(m->ctx, a->device, c->off);
}

static void one_cycle_done(void *ctx, const struct gp_cycle *c)
{
	struct gp_simmech_action *a = ctx;

	if (c->reset) {		/* on_reset() handles the whole device */
		a->id = 0;
		return;
	}
	note_cycle(a, c);
	end_action(a, a->id);
}

static void begin_cycle(struct gp_simmech_action *a, struct gp_cycle *c)
{
	struct gp_simmech *m = a->mech;

	c->ctx = a;
	c->pause_ns += vgpu_value(&m->costs->device, VGPU_RUNLIST_NS);
	c->grace_ns = vgpu_value(&m->costs->device, m->grace_default || c->driver_grace ?
				 VGPU_GRACE_DEFAULT_NS : VGPU_GRACE_NS);
	if (gp_cycle_begin(&m->gpu[a->device], c))
		gp_engine_fail(m->engine, -EPROTO, "too many cycles wait on GPU %u", a->device);
}

static void cycle_evict(struct gp_simmech_action *a)
{
	struct gp_cycle c = {
		.off = bits(a->mech, a->task, a->nr_out),
		.on = bits(a->mech, a->task + a->nr_out, a->nr_in),
		.how = VGPU_SAVE, .done = one_cycle_done,
	};

	begin_cycle(a, &c);
}

static void cycle_halt(struct gp_simmech_action *a)
{
	struct gp_cycle c = {
		.off = bits(a->mech, a->task, a->nr_out),
		.on = bits(a->mech, a->task + a->nr_out, a->nr_in),
		.how = VGPU_SAVE, .done = one_cycle_done,
		.pause_ns = gp_cost(a->mech->costs, GP_COST_HALT_CALL),
	};

	begin_cycle(a, &c);
}

/*
 * Returns true if there are more queues or processes than fit. The hardware scheduler would map
 * them again.
 */
static bool oversubscribed(const struct gp_simmech *m, const struct gp_gpu *g)
{
	u64 queues = 0, processes = 0;

	for (u32 i = 0; i < g->nr_rings; i++) {
		if (!g->ring[i])
			continue;
		queues++;
		processes |= BIT_ULL(g->ring[i]->process);
	}
	return queues > vgpu_value(&m->costs->device, VGPU_HQD_SLOTS) ||
	       (u64)__builtin_popcountll(processes) > vgpu_value(&m->costs->device, VGPU_VMIDS);
}

static void cycle_direct(struct gp_simmech_action *a)
{
	struct gp_cycle c = {
		.off = bits(a->mech, a->task, a->nr_out),
		.on = bits(a->mech, a->task + a->nr_out, a->nr_in),
		.how = VGPU_SAVE, .done = one_cycle_done,
		.victims_only = !a->nr_in && !oversubscribed(a->mech, &a->mech->gpu[a->device]),
	};

	begin_cycle(a, &c);
}

static void cycle_drain(struct gp_simmech_action *a)
{
	struct gp_cycle c = {
		.off = bits(a->mech, a->task, a->nr_out),
		.on = bits(a->mech, a->task + a->nr_out, a->nr_in),
		.how = a->nr_out ? VGPU_DRAIN : VGPU_SAVE, .done = one_cycle_done,
		.victims_only = a->nr_out,
	};

	begin_cycle(a, &c);
}

/* A reset and a relaunch come from the runtime: no other process is unmapped. */
static void cycle_reset(struct gp_simmech_action *a)
{
	struct gp_cycle c = {
		.off = bits(a->mech, a->task, a->nr_out),
		.on = bits(a->mech, a->task + a->nr_out, a->nr_in),
		.how = a->nr_out ? VGPU_RESET : VGPU_SAVE, .done = one_cycle_done,
		.victims_only = a->nr_out, .map_only = !a->nr_out,
	};

	begin_cycle(a, &c);
}

/* ---- debug: one process after the other ---- */

static void debug_next(void *ctx, u64 id);

static void debug_cycle_done(void *ctx, const struct gp_cycle *c)
{
	struct gp_simmech_action *a = ctx;
	struct gp_simmech *m = a->mech;
	u64 copy = c->off ? gp_cost(m->costs, GP_COST_DEBUG_COPY) : 0;

	if (c->reset) {
		a->id = 0;
		return;
	}
	note_cycle(a, c);
	m->cpu_ns += copy;
	/* The call returns when the control stacks are copied. The GPU continues before that. */
	gp_at(m->engine, m->engine->now_ns + copy,
	      ++a->next < a->nr_out + a->nr_in ? debug_next : end_action, a, a->id);
}

static void debug_send(void *ctx, u64 id)
{
	struct gp_simmech_action *a = ctx;
	u64 process = bits(a->mech, &a->task[a->next], 1);
	struct gp_cycle c = {
		.off = a->next < a->nr_out ? process : 0,
		.on = a->next < a->nr_out ? 0 : process,
		.how = VGPU_SAVE, .done = debug_cycle_done,
		/* RESUME_QUEUES takes no grace: all queues are unmapped as the driver does it. */
		.driver_grace = a->next >= a->nr_out,
	};

	if (a->id == id)
		begin_cycle(a, &c);
}

static void debug_next(void *ctx, u64 id)
{
	struct gp_simmech_action *a = ctx;
	u64 ioctl = gp_cost(a->mech->costs, GP_COST_IOCTL);

	a->mech->cpu_ns += ioctl;
	gp_at(a->mech->engine, a->mech->engine->now_ns + ioctl, debug_send, a, id);
}

static void cycle_debug(struct gp_simmech_action *a)
{
	debug_next(a, a->id);
}

/* ---- begin ---- */

static int check(const struct gp_simmech *m, const struct gp_action *action)
{
	if (action->device >= m->nr_gpus)
		return -ENODEV;
	if (!action->nr_out && !action->nr_in)
		return -ENOENT;
	for (u32 i = 0; i < action->nr_out + action->nr_in; i++) {
		u32 task = action->tasks[i];

		if (task >= GP_SIMMECH_TASKS || m->process_of[task] == GP_NONE ||
		    !(m->on_device[task] & BIT_ULL(action->device)))
			return -ENOENT;
	}
	return 0;
}

static struct gp_simmech_action *free_action(struct gp_simmech *m, u32 device)
{
	struct gp_simmech_action *free = NULL;

	for (u32 i = 0; i < GP_SIMMECH_ACTIONS; i++) {
		struct gp_simmech_action *a = &m->action[device][i];

		if (a->id && !a->late)
			return NULL;
		if (!a->id)
			free = a;
	}
	return free;
}

static int begin(struct gp_mechanism *base, const struct gp_action *action,
		 void (*cycle)(struct gp_simmech_action *a))
{
	struct gp_simmech *m = MECH(base);
	struct gp_simmech_action *a;
	int err = check(m, action);

	if (err)
		return err;
	a = free_action(m, action->device);
	if (!a)
		return -EBUSY;
	*a = (struct gp_simmech_action){
		.mech = m, .id = action->id, .device = action->device,
		.deadline_ns = action->deadline_ns, .nr_out = action->nr_out,
		.nr_in = action->nr_in,
	};
	memcpy(a->task, action->tasks, (action->nr_out + action->nr_in) * sizeof(a->task[0]));
	gp_at(m->engine, action->deadline_ns, deadline, a, a->id);
	cycle(a);
	return 0;
}

#define BEGIN(name)								\
static int begin_##name(struct gp_mechanism *m, const struct gp_action *action, u64 now_ns)	\
{										\
	(void)now_ns;								\
	return begin(m, action, cycle_##name);					\
}
BEGIN(evict)
BEGIN(direct)
BEGIN(debug)
BEGIN(halt)
BEGIN(drain)
BEGIN(reset)

static int mech_probe(struct gp_mechanism *base, u32 device, u32 task, u32 *waves, u32 *permille)
{
	struct gp_simmech *m = MECH(base);
	struct vgpu_busy busy;

	if (device >= m->nr_gpus)
		return -ENODEV;
	if (task >= GP_SIMMECH_TASKS || m->process_of[task] == GP_NONE)
		return -ENOENT;
	vgpu_busy(m->gpu[device].vgpu, m->process_of[task], &busy);
	*waves = busy.waves;
	*permille = busy.permille;
	return 0;
}

#define TABLE(n, g, k, r)							\
	{ .name = #n, .grain = GP_GRAIN_##g, .keeps = GP_KEEPS_##k, .reach = GP_REACH_##r,	\
	  .probes = true, .begin = begin_##n, .poll = mech_poll, .probe = mech_probe }

static const struct gp_mechanism_ops tables[] = {
	[GP_BY_EVICT]	= TABLE(evict, PROCESS, SAVE, EVERYBODY),
	[GP_BY_DIRECT]	= TABLE(direct, PROCESS, SAVE, VICTIM),
	[GP_BY_DEBUG]	= TABLE(debug, PROCESS, SAVE, EVERYBODY),
	[GP_BY_HALT]	= TABLE(halt, GPU, SAVE, EVERYBODY),
	[GP_BY_DRAIN]	= TABLE(drain, PROCESS, DRAIN, VICTIM),
	[GP_BY_RESET]	= TABLE(reset, PROCESS, RESET, VICTIM),
};

const struct gp_mechanism_ops *gp_simmech_ops(enum gp_how how)
{
	return how == GP_BY_NONE ? NULL : &tables[how];
}

void gp_simmech_init(struct gp_simmech *m, const struct gp_mechanism_ops *ops)
{
	memset(m, 0, sizeof(*m));
	m->base.ops = ops;
	for (u32 i = 0; i < GP_SIMMECH_TASKS; i++)
		m->process_of[i] = GP_NONE;
}

void gp_simmech_add_task(struct gp_simmech *m, u32 task, u32 process, u64 devices)
{
	m->process_of[task] = process;
	m->on_device[task] = devices;
}

void gp_simmech_del_task(struct gp_simmech *m, u32 task)
{
	m->process_of[task] = GP_NONE;
	/* The number of the task may be reused before these actions end. */
	for (u32 d = 0; d < m->nr_gpus; d++) {
		for (u32 i = 0; i < GP_SIMMECH_ACTIONS; i++) {
			struct gp_simmech_action *a = &m->action[d][i];

			for (u32 t = 0; a->id && t < a->nr_out + a->nr_in; t++) {
				if (a->task[t] == task)
					a->task[t] = GP_NONE;
			}
		}
	}
}
