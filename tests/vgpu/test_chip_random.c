// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Random drivers that unmap queues of several processes in every way at any time. In the end
 * every packet is complete and every workgroup was counted once.
 */
#include "chip_world.h"

enum { QUEUES = 7, STEPS = 400 };

struct driver {
	struct chip_world *w;
	uint64_t rng;
	u32 q[QUEUES];
	bool on;		/* a runlist is active */
};

static u32 some(struct driver *d, u32 n)
{
	return (u32)(gp_test_random(&d->rng) % n);
}

static void submit(struct driver *d)
{
	struct chip_world *w = d->w;
	u32 q = d->q[some(d, QUEUES)];
	struct cw_dispatch k = {
		.workgroups	= 1 + some(d, 2000),
		.ns		= 500 + some(d, 100000),
		.barrier	= some(d, 2),
	};

	if (w->q[q].written - cw_rptr(w, q) >= CW_RING)
		return;
	cw_dispatch(w, q, &k);
	if (some(d, 4))
		cw_ring(w, q);
}

/* Unmaps one process or one queue, then all, as a driver does for various reasons. */
static void stop(struct driver *d)
{
	struct chip_world *w = d->w;

	if (some(d, 2))
		cw_grace(w, some(d, 8) ? 1 + some(d, 255) : 0);
	if (some(d, 2)) {
		cw_unmap(w, VGPU_PM4_BY_PASID, VGPU_PM4_PREEMPT, 1 + some(d, 3));
	} else if (some(d, 2)) {
		u32 q = d->q[some(d, QUEUES)];
		struct vgpu_chip_queue_view v;

		if (!cw_view(w, q, &v) && v.slotted)
			cw_unmap(w, VGPU_PM4_BY_DOORBELL, VGPU_PM4_PREEMPT, w->q[q].doorbell << 2);
	}
	if (some(d, 2))
		cw_run(w, some(d, 5000));
	cw_unmap_all(w);
	d->on = false;
}

static void start(struct driver *d)
{
	u32 list[QUEUES], nr = 0;

	for (u32 i = 0; i < QUEUES; i++)
		if (some(d, 4))
			list[nr++] = d->q[i];
	if (!nr)
		return;
	cw_run_list(d->w, list, nr);
	d->on = true;
}

static void random_driver(uint64_t seed)
{
	static const char *const profiles[] = { "mi308x", "mi300x", "mi210" };
	struct driver d = { .w = calloc(1, sizeof(*d.w)), .rng = seed };
	struct chip_world *w = d.w;

	cw_init(w, profiles[some(&d, 3)]);
	if (some(&d, 2))
		vgpu_chip_fault(w->chip, VGPU_FAULT_RPTR_EARLY, 0);
	cw_load_hiq(w);
	cw_set_resources(w);
	for (u32 i = 0; i < QUEUES; i++)
		d.q[i] = cw_queue(w, 1 + i / 3);
	/* the chip then knows each PASID */
	cw_run_list(w, d.q, QUEUES);
	cw_run(w, US(50));
	d.on = true;
	for (u32 i = 0; i < STEPS; i++) {
		submit(&d);
		if (d.on && !some(&d, 3))
			stop(&d);
		else if (!d.on && some(&d, 2))
			start(&d);
		cw_run(w, some(&d, 60000));
	}
	if (d.on)
		stop(&d);
	cw_run_list(w, d.q, QUEUES);
	for (u32 i = 0; i < 200; i++)
		cw_run(w, MS(1));
	for (u32 i = 0; i < QUEUES; i++) {
		if (cw_rptr(w, d.q[i]) != w->q[d.q[i]].written || !cw_sums_right(w, d.q[i]))
			fail_msg("queue %u is wrong; GP_SEED=%llu", i, (unsigned long long)seed);
	}
	if (w->nr_reports || w->no_room)
		fail_msg("%s; GP_SEED=%llu", w->report, (unsigned long long)seed);
	cw_fini(w);
	free(w);
}

static void random_drivers_lose_nothing(void **state)
{
	uint64_t seed = gp_test_seed(1);
	u32 n = gp_test_full() ? 200 : 20;

	(void)state;
	for (u32 i = 0; i < n; i++)
		random_driver(seed + i);
}

PROVE(
	CLAIM(random_drivers_lose_nothing),
)
