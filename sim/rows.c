// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The rows, and the assumptions of each.
 *
 * A row sets everything it depends on, because the scenario may have set it otherwise. For fairness
 * all rows have the same device with the same costs. Rows of a published design get the costs of
 * that design on the processor's side. A setting that must be chosen is chosen by search, in favour
 * of the row.
 */
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "rows.h"

/* No monitor; the hardware shares by itself. */
#define NO_MONITOR	"monitor.placement=none", "mechanism.name=none"

/* A documented time for a whole switch, instead of bytes over bandwidth. */
#define DOCUMENTED_SWITCH(save_fixed) \
	save_fixed, "costs.restore_fixed=0", "costs.bandwidth_vram=1000000000"

/*
 * Other published designs: their own policy without gpreempt's bounds; equal pointers mean
 * finished.
 */
#define THEIRS(place, mechanism)						\
	"monitor.placement=" place, "monitor.interval=adaptive", "monitor.relaxed=0",	\
	"monitor.trusts_rptr=yes", "monitor.hint_ahead=0", "monitor.spins=no",	\
	"mechanism.name=" mechanism, "policy.name=on-demand", "policy.linger=0",	\
	"policy.lease=60s", "policy.hint_max=1s", "policy.stall_after=10s",	\
	"policy.barrier_after=10s"

/*
 * The monitors of the design notes (doc/background.md): victims return as soon as a look sees no
 * online work.
 */
#define SEED_MONITOR(place, interval)						\
	THEIRS(place, "evict"), "monitor.interval=" interval, "mechanism.grace=default"

#define OURS(place, mechanism)							\
	"monitor.placement=" place, "monitor.interval=adaptive", "monitor.relaxed=0",	\
	"monitor.trusts_rptr=no", "monitor.hint_ahead=0", "monitor.spins=no",	\
	"mechanism.name=" mechanism, "mechanism.grace=1", "policy.linger=learnt"

/*
 * No mechanism with these costs can do better. Detection and decision are free, and search.c takes
 * the cheapest of leaving victims on, draining them and saving them.
 */
#define BOUND	THEIRS("bound", "evict"), "mechanism.grace=1", "gpu.priority_by_role=yes"

const struct gp_row gp_rows[] = {
	{ "alone", "only the online tasks", NULL,
	  { NO_MONITOR, "run.only=online" } },
	{ "native", "the hardware alone: workgroups in turn, running waves keep their slots", NULL,
	  { NO_MONITOR } },
	{ "kfd-priority", "a slot that frees goes to the higher pipe priority", NULL,
	  { NO_MONITOR, "gpu.priority_by_role=yes" } },
	{ "cu-mask", "compute units divided for good", NULL,
	  { NO_MONITOR } },
	{ "hws-quantum", "one process at a time, the hardware scheduler's own quantum", NULL,
	  { NO_MONITOR, "gpu.exclusive=yes" } },
	{ "timeslice", "one context at a time, the driver's time slice", "a100",
	  { NO_MONITOR, "gpu.exclusive=yes" } },
	{ "timeslice-100us", "a switch as NVIDIA's documents say: on an instruction", "a100",
	  { NO_MONITOR, "gpu.exclusive=yes", DOCUMENTED_SWITCH("costs.save_fixed=100us") } },
	{ "timeslice-10us", "a switch as NVIDIA's documents say: between thread blocks", "a100",
	  { NO_MONITOR, "gpu.exclusive=yes", DOCUMENTED_SWITCH("costs.save_fixed=10us") } },
	{ "monitor-5ms", "the design notes' kernel monitor, every 5 ms", NULL,
	  { SEED_MONITOR("kernel", "5ms") } },
	{ "monitor-1ms", "the design notes' kernel monitor, every 1 ms", NULL,
	  { SEED_MONITOR("kernel", "1ms") } },
	{ "monitor-hybrid", "the design notes' choice: 5 ms, 1 ms with critical queues", NULL,
	  { SEED_MONITOR("kernel", "1ms"), "monitor.relaxed=5ms" } },
	{ "manual", "the design notes' trigger by hand, its 5 ms monitor to end it", NULL,
	  { SEED_MONITOR("manual", "5ms") } },
	{ "user-poll", "the design notes' user-space poll, every 10 ms, by ioctl", NULL,
	  { SEED_MONITOR("user-poll", "10ms") } },
	{ "user-event", "the design notes' user-space event, then its kernel monitor", NULL,
	  { SEED_MONITOR("user-event", "5ms") } },
	{ "throttle", "XSched level 1: few kernels in flight, launching stops, none is preempted",
	  NULL,
	  { "monitor.placement=shim", "mechanism.name=none" } },
	{ "kill-restart", "REEF: kill and repeat; only for kernels that may run twice", NULL,
	  { THEIRS("request", "reset") } },
	{ "gpreempt-amd", "GPreempt on AMD: debug suspend, announced 200 us ahead", NULL,
	  { THEIRS("request", "debug"), "monitor.spins=yes", "mechanism.grace=1",
	    "monitor.hint_ahead=200us" } },
	{ "gpreempt-amd-nohint", "the same without its hint: from the request's begin", NULL,
	  { THEIRS("request", "debug"), "monitor.spins=yes", "mechanism.grace=1" } },
	{ "halt", "our monitor, stop_sched and start_sched", NULL,
	  { OURS("kernel", "halt"), "mechanism.grace=default" } },
	{ "drain", "our monitor, victims' waves run out", NULL,
	  { OURS("kernel", "drain") } },
	{ "ours-debug", "daemon and debug interface, stock kernel", NULL,
	  { OURS("daemon", "debug") } },
	{ "ours-evict", "kernel module, one cycle of the run list", NULL,
	  { OURS("kernel", "evict") } },
	{ "ours-direct", "kernel module, the victim's queues only", NULL,
	  { OURS("kernel", "direct") } },
	{ "ours-hint", "as ours-evict, and the server says 100 us ahead that work will come", NULL,
	  { OURS("kernel", "evict"), "monitor.hint_ahead=100us" } },
	{ "bound", "knows a packet when it is written, decides at once, takes the best way", NULL,
	  { BOUND } },
	{ "bound-ahead", "as bound, and knows every arrival in advance", NULL,
	  { BOUND, "monitor.hint_ahead=1us" } },
	{ 0 },
};

/* Rows that are known by name only. A comparison of all rows runs them in another way. */
enum { OFFLINE_ALONE, CU_MASK_QUARTER, THROTTLE_16 };
static const struct gp_row more_rows[] = {
	[OFFLINE_ALONE] = { "offline-alone", "only the offline tasks", NULL,
	  { NO_MONITOR, "run.only=offline" } },
	[CU_MASK_QUARTER] = { "cu-mask-25%", "a quarter of the compute units for online tasks",
	  NULL, { NO_MONITOR } },	/* and set_cus() */
	[THROTTLE_16] = { "throttle-16", "XSched level 1 with 16 kernels in flight", NULL,
	  { "monitor.placement=shim", "mechanism.name=none", "monitor.in_flight=16" } },
	{ 0 },
};

static const struct gp_row *find_in(const struct gp_row *row, const char *name)
{
	while (row->name && strcmp(row->name, name))
		row++;
	return row->name ? row : NULL;
}

const struct gp_row *gp_row_find(const char *name)
{
	const struct gp_row *row = find_in(gp_rows, name);

	return row ? row : find_in(more_rows, name);
}

u32 gp_row_cus(const struct gp_scenario *sc, u32 percent)
{
	const struct vgpu_facts *f = vgpu_profile(sc->profile);

	return (u32)(vgpu_value(f, VGPU_XCCS) * vgpu_value(f, VGPU_CUS_PER_XCC)) * percent / 100;
}

/* ---- applying ---- */

/* Applies "section.key=value", @n bytes. */
static int apply_setting(struct gp_scenario *sc, const char *setting, size_t n,
			 const struct gp_why *why)
{
	char key[192];
	char *equals;

	if (n >= sizeof(key))
		return gp_why(why, "'%.40s...' is too long", setting);
	memcpy(key, setting, n);
	key[n] = '\0';
	equals = strchr(key, '=');
	if (!equals)
		return gp_why(why, "'%s' is not section.key=value", key);
	*equals = '\0';
	return gp_scenario_set(sc, key, equals + 1, why->text, why->size);
}

/* Returns the row named before the first ':' of @row. */
static const struct gp_row *row_of(const char *row)
{
	char name[GP_ROW_NAME];
	size_t n = strcspn(row, ":");

	if (n >= sizeof(name))
		return NULL;
	memcpy(name, row, n);
	name[n] = '\0';
	return gp_row_find(name);
}

bool gp_row_is_ahead(const char *name)
{
	static const char key[] = "monitor.hint_ahead=";
	const struct gp_row *row = row_of(name);
	bool ahead = false;

	for (u32 i = 0; row && i < GP_ROW_SETTINGS && row->set[i]; i++) {
		if (!strncmp(row->set[i], key, sizeof(key) - 1))
			ahead = row->set[i][sizeof(key) - 1] != '0';
	}
	return ahead;
}

static int unknown_row(const char *name, const struct gp_why *why)
{
	struct gp_nearest nearest = { .word = name };
	char instead[sizeof(nearest.all) + 32];

	for (const struct gp_row *row = gp_rows; row->name; row++)
		gp_nearest_try(&nearest, row->name);
	for (const struct gp_row *row = more_rows; row->name; row++)
		gp_nearest_try(&nearest, row->name);
	gp_nearest_print(&nearest, instead, sizeof(instead));
	return gp_why(why, "no row '%s'; %s", name, instead);
}

int gp_row_check(const char *row, char *err, size_t err_size)
{
	struct gp_why why = { err, err_size };

	return row_of(row) ? 0 : unknown_row(row, &why);
}

static int set_cus(struct gp_scenario *sc, u32 percent, const struct gp_why *why)
{
	char setting[32];

	snprintf(setting, sizeof(setting), "gpu.online_cus=%u", gp_row_cus(sc, percent));
	return apply_setting(sc, setting, strlen(setting), why);
}

static int apply(struct gp_scenario *sc, const char *spec, const struct gp_why *why)
{
	const struct gp_row *row = row_of(spec);
	int err = 0;

	if (!row)
		return unknown_row(spec, why);
	if (row->profile && strcmp(row->profile, sc->profile))
		return gp_why(why, "%s: only with [gpu] profile = %s", row->name, row->profile);
	for (u32 i = 0; i < GP_ROW_SETTINGS && row->set[i] && !err; i++)
		err = apply_setting(sc, row->set[i], strlen(row->set[i]), why);
	if (!err && row == &more_rows[CU_MASK_QUARTER])
		err = set_cus(sc, 25, why);
	for (spec += strcspn(spec, ":"); *spec && !err; spec += strcspn(spec, ":")) {
		spec++;
		err = apply_setting(sc, spec, strcspn(spec, ":"), why);
	}
	return err;
}

int gp_row_apply(struct gp_scenario *sc, const char *row, char *err, size_t err_size)
{
	struct gp_why why = { err, err_size };
	struct gp_scenario copy = *sc;
	int r = apply(&copy, row, &why);

	if (!r)
		*sc = copy;
	return r;
}
