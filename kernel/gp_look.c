// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Looks at the queues of a GPU in a timer callback. Loads pinned words and passes changes to the
 * scheduler. Wakes a worker only if something is due.
 */
#include "gp_bounds.h"
#include "gp_floor.h"
#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_queue.h"
#include "gp_rescan.h"
#include "gp_worker.h"

/*
 * Returns the time of the next look, or GP_NEVER. Keeps to the bounds: the shortest interval and
 * the share of a processor.
 */
static u64 next_look(struct gp_kernel_gpu *gpu)
{
	u64 looked = gp_home.sched->devices[gpu->device].looked_ns;
	u64 at = gp_sched_look_at(gp_home.sched, gpu->device);
	u64 by_share = gpu->look_cost_ns * 1000 / max(READ_ONCE(gp_bounds.look_share), 1u);

	if (at == GP_NEVER || gpu->gone || !gpu->nr_hot)
		return GP_NEVER;
	at = max(at, looked + READ_ONCE(gp_bounds.look_min_us) * GP_USEC);
	gpu->put_off = looked + by_share > at;
	return max(at, looked + by_share);
}

void gp_gpu_arm(struct gp_kernel_gpu *gpu)
{
	u64 at = next_look(gpu);

	if (at == gpu->look_at_ns || (gp_floor && hrtimer_is_queued(&gpu->look)))
		return;
	gpu->look_at_ns = at;
	/* A running callback waits for home.lock and then reads the new time. */
	if (at == GP_NEVER)
		hrtimer_try_to_cancel(&gpu->look);
	else
		hrtimer_start(&gpu->look, ns_to_ktime(at), HRTIMER_MODE_ABS);
}

void gp_gpu_look(struct gp_kernel_gpu *gpu, u64 now_ns)
{
	struct gp_sample *sample = gpu->sample;
	struct gp_hot *hot = gpu->hot, *end = hot + gpu->nr_hot;
	u32 nr = 0;

	for (; hot < end; hot++) {
		u64 write = READ_ONCE(*hot->write), read;

		if (gp_ring_quiet(&hot->at, write))
			continue;
		read = READ_ONCE(*hot->read);
		if (gp_ring_same(&hot->at, read, write) || !gp_ring_take(&hot->at, read, write))
			continue;
		sample[nr++] = (struct gp_sample){
			.queue = hot->queue, .rptr = hot->at.rptr, .wptr = hot->at.wptr,
		};
		if (nr == GP_HOME_LOOK) {
			gp_sched_look(gp_home.sched, gpu->device, sample, nr, now_ns);
			nr = 0;
		}
	}
	gp_sched_look(gp_home.sched, gpu->device, sample, nr, now_ns);
	gpu->looks++;
	gp_home.stats->looks++;
}

static void note_cost(struct gp_kernel_gpu *gpu, u64 ns)
{
	gpu->look_cost_ns = gpu->look_cost_ns ? gpu->look_cost_ns - gpu->look_cost_ns / 8 + ns / 8 :
						ns;
	if (ns > gp_home.stats->look_ns_max)
		gp_home.stats->look_ns_max = ns;
}

/* Time between two scans that the timer requests, so an unfinished scan is retried. */
#define SCAN_AGAIN_NS	(5 * GP_MSEC)

/* Wakes the worker after a reset, and requests a scan if queues came or went. */
static void notice(struct gp_kernel_gpu *gpu, u64 now_ns)
{
	const struct gp_member *m;

	if (gp_kfd_resets(gpu->node) != gpu->resets)
		gp_gpu_wake(gpu);
	if (now_ns < gp_home.next_scan_ns)
		return;
	list_for_each_entry(m, &gp_home.members, of_home) {
		const struct gp_seat_k *seat = &m->seat[gpu->device];

		if (seat->pdd && m->target && !m->dead &&
		    gp_kfd_queues_stamp(seat->pdd) != seat->stamp) {
			gp_home.next_scan_ns = now_ns + SCAN_AGAIN_NS;
			gp_scan_soon(0);
			return;
		}
	}
}

enum hrtimer_restart gp_gpu_look_fires(struct hrtimer *timer)
{
	struct gp_kernel_gpu *gpu = container_of(timer, struct gp_kernel_gpu, look);
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	/* Meanwhile the timer may have been armed for later, or disarmed. */
	if (gp_floor && gpu->node && !gpu->gone) {
		gp_floor_look(gpu, now);
	} else if (gpu->node && !gpu->gone && gpu->look_at_ns <= now) {
		gpu->look_at_ns = GP_NEVER;
		gp_home.stats->looks_put_off += gpu->put_off;
		gp_gpu_look(gpu, now);
		notice(gpu, now);
		gp_home_settle(now);
		note_cost(gpu, gp_home_now() - now);
	}
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return HRTIMER_NORESTART;
}
