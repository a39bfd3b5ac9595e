// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "scenario.h"

#define READ(u, v, text)	{ .value = (v), .unit = (u), .from = VGPU_READ, .note = (text) }
#define ASSUMED(u, v, text)	{ .value = (v), .unit = (u), .from = VGPU_ASSUMED, .note = (text) }

const struct vgpu_fact gp_costs_initial[GP_NR_COSTS] = {
	[GP_COST_DAEMON_WAKE]	= ASSUMED(VGPU_NS, 10000,
		"timerfd to running thread; a trace of gpreemptd on the machine"),
	[GP_COST_DAEMON_READ]	= ASSUMED(VGPU_NS, 2000,
		"one process_vm_readv of a page of pointers; bench on the machine"),
	[GP_COST_IOCTL]		= READ(VGPU_NS, 1300,
		"the design notes' parts: 500 + 100 + 100 + 100 + 500 ns"),
	[GP_COST_DEBUG_COPY]	= ASSUMED(VGPU_NS, 100000,
		"SUSPEND_QUEUES copies control stacks on a work queue; lab, then the machine"),
	[GP_COST_USER_EVENT]	= READ(VGPU_NS, 1000000,
		"the design notes: a user-space event takes about 1 ms"),
	[GP_COST_SHIM]		= READ(VGPU_NS, 30000,
		"XSched: an event or a message between processes, one way"),
	[GP_COST_REPEATS]	= READ(VGPU_COUNT, 2,
		"REEF: up to two finished kernels run again after a reset"),
	[GP_COST_HALT_CALL]	= ASSUMED(VGPU_NS, 5000,
		"start_sched is a second call; trace of the module"),
};

static const char *const names[GP_NR_COSTS] = {
	[GP_COST_DAEMON_WAKE]	= "daemon_wake",
	[GP_COST_DAEMON_READ]	= "daemon_read",
	[GP_COST_IOCTL]		= "ioctl",
	[GP_COST_DEBUG_COPY]	= "debug_copy",
	[GP_COST_USER_EVENT]	= "user_event",
	[GP_COST_SHIM]		= "shim",
	[GP_COST_REPEATS]	= "repeats",
	[GP_COST_HALT_CALL]	= "halt_call",
};

/*
 * The time line of the design notes (doc/background.md): 5 ms + 1 us trigger + 9 us of the CP
 * saving + 1 us to switch = 5.011 ms. Reading all queues costs 10 us of a processor in the notes.
 * Their sum leaves it out, and so does this table.
 */
static const struct seed_value {
	u32 id;
	u64 value;
} seed_facts[] = {
	{ VGPU_LOOK_NS, 10000 },
	{ VGPU_WAKE_NS, 0 },
	{ VGPU_DECIDE_NS, 0 },
	{ VGPU_COMMAND_NS, 1000 },
	{ VGPU_GRACE_NS, 0 },
	{ VGPU_GRACE_DEFAULT_NS, 0 },
	{ VGPU_SAVE_FIXED_NS, 9000 },
	{ VGPU_RESTORE_FIXED_NS, 9000 },
	{ VGPU_BANDWIDTH_VRAM, 1000000000000ull },	/* the notes count no bytes */
	{ VGPU_BANDWIDTH_HOST, 1000000000000ull },
	{ VGPU_RUNLIST_NS, 0 },
	{ VGPU_MAP_PROCESS_NS, 0 },
	{ VGPU_MAP_QUEUE_NS, 0 },
	{ VGPU_DISPATCH_NS, 0 },
};

const char *gp_cost_name(enum gp_cost cost)
{
	return (u32)cost < GP_NR_COSTS ? names[cost] : NULL;
}

static void use_seed_costs(struct gp_costs *costs)
{
	for (size_t i = 0; i < sizeof(seed_facts) / sizeof(seed_facts[0]); i++) {
		struct vgpu_fact *f = &costs->device.f[seed_facts[i].id];

		f->value = seed_facts[i].value;
		f->from = VGPU_READ;
		f->note = "the time line of the design notes";
	}
	costs->path[GP_COST_IOCTL].value = 5000;	/* the upper end of 1..5 us in the notes */
}

/* Scales a cost. A cost three times as high is a third of the bandwidth. */
static void scale(struct vgpu_fact *f, u64 millionths)
{
	if (f->from != VGPU_ASSUMED)
		return;
	if (f->unit == VGPU_NS)
		f->value = f->value * millionths / 1000000;
	else if (f->unit == VGPU_BYTES_PER_US || f->unit == VGPU_PERMILLE)
		f->value = f->value * 1000000 / millionths;
	if (f->unit == VGPU_PERMILLE && f->value > 1000)
		f->value = 1000;
}

/*
 * Returns true if the fact is scaled. A save takes bytes over bandwidth times efficiency, so only
 * one of these two guesses is scaled. A quantum is a setting, not a cost.
 */
static bool scales(const struct gp_scenario *sc, const struct gp_costs *costs, u32 id)
{
	bool set = sc->fact_set[VGPU_SAVE_AREA];
	u64 area = set ? sc->fact[VGPU_SAVE_AREA] : vgpu_value(&costs->device, VGPU_SAVE_AREA);
	u32 bandwidth = area == VGPU_SAVE_HOST ? VGPU_BANDWIDTH_HOST : VGPU_BANDWIDTH_VRAM;

	if (id == VGPU_SAVE_EFFICIENCY)
		return sc->fact_set[bandwidth] || costs->device.f[bandwidth].from != VGPU_ASSUMED;
	return id != VGPU_QUANTUM_NS;
}

static void override(struct vgpu_fact *f, u64 value)
{
	f->value = value;
	if (f->unit == VGPU_CHOICE)
		return;
	f->from = VGPU_ASSUMED;
	f->note = "set by the scenario";
}

int gp_costs_of(const struct gp_scenario *sc, struct gp_costs *ret)
{
	const struct vgpu_facts *profile = vgpu_profile(sc->profile);

	if (!profile)
		return -EINVAL;
	ret->device = *profile;
	for (u32 i = 0; i < GP_NR_COSTS; i++)
		ret->path[i] = gp_costs_initial[i];
	if (sc->seed_costs)
		use_seed_costs(ret);
	for (u32 i = 0; i < VGPU_NR_FACTS; i++) {
		if (scales(sc, ret, i))
			scale(&ret->device.f[i], sc->scale_assumed);
		if (sc->fact_set[i])
			override(&ret->device.f[i], sc->fact[i]);
	}
	for (u32 i = 0; i < GP_NR_COSTS; i++) {
		scale(&ret->path[i], sc->scale_assumed);
		if (sc->cost_set[i])
			override(&ret->path[i], sc->cost[i]);
	}
	return 0;
}

enum vgpu_source gp_costs_weakest(const struct gp_costs *costs)
{
	u8 weakest = vgpu_facts_weakest(&costs->device);

	for (u32 i = 0; i < GP_NR_COSTS && weakest != VGPU_UNSET; i++) {
		u8 from = costs->path[i].from;

		if (from > weakest || from == VGPU_UNSET)
			weakest = from;
	}
	return (enum vgpu_source)weakest;
}
