// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The HIQ's doorbell. A real GPU sees it at once, but here a doorbell is plain memory. So a
 * debug register of the processor watches the word by its kernel address, and the GPU's thread
 * is woken right after the write.
 *
 * A processor has four such registers. Doorbells of further GPUs are polled, like those of
 * processes. The trap belongs to the model, so its time is stolen (clock.c). The time inside
 * the trap is measured each time, the time of entry and exit once.
 */
#include <linux/delay.h>
#include <linux/hw_breakpoint.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>

#include "gpu.h"
#include "kfd_device_queue_manager.h"
#include "kfd_kernel_queue.h"
#include "kfd_priv.h"
#include "lab/ledger.h"

enum { TRIES = 4 };

static void remember(struct lab_gpu *gpu)
{
	struct lab_doorbell *d = &gpu->doorbell;
	struct lab_ledger l;

	lab_clock_ledger(gpu, &l);
	spin_lock(&d->lock);
	d->rings[d->nr_rings++ % LAB_RINGS] = (struct lab_ring) {
		.device_ns = l.device_ns, .cost_ns = l.guest_ns - l.thread_ns - l.idle_ns,
	};
	spin_unlock(&d->lock);
}

/* Runs after the trap, because a trap cannot wake a task. */
static void rang(struct irq_work *work)
{
	struct lab_gpu *gpu = container_of(work, struct lab_gpu, doorbell.rang);
	struct lab_doorbell *d = &gpu->doorbell;

	lab_thread_kick(gpu);
	d->inner_ns = ktime_get_ns() - READ_ONCE(d->began_ns);
	lab_clock_steal(&gpu->clock, d->inner_ns + d->outer_ns);
	remember(gpu);
}

static void written(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	struct lab_gpu *gpu = event->overflow_handler_context;

	WRITE_ONCE(gpu->doorbell.began_ns, ktime_get_mono_fast_ns());
	irq_work_queue(&gpu->doorbell.rang);
}

static u64 __iomem *hiq_doorbell(struct lab_gpu *gpu)
{
	struct kfd_node *node = gpu->adev.kfd.dev->nodes[0];
	struct kernel_queue *hiq = node->dqm->packet_mgr.priv_queue;

	return hiq ? hiq->queue->properties.doorbell_ptr : NULL;
}

u64 lab_doorbell_rung(struct lab_gpu *gpu)
{
	u64 __iomem *at = hiq_doorbell(gpu);

	return at ? readq(at) : 0;
}

/*
 * Returns the shortest time of several writes of the present value, without the time measured
 * at each trap.
 */
static u64 measure(struct lab_doorbell *d, u64 __iomem *at)
{
	u64 best = U64_MAX, start, took;
	int i;

	for (i = 0; i < TRIES; i++) {
		usleep_range(1000, 1100);
		preempt_disable();
		start = ktime_get_ns();
		writeq(readq(at), at);
		took = ktime_get_ns() - start;
		best = min(best, took > d->inner_ns ? took - d->inner_ns : 0);
		preempt_enable();
	}
	return best;
}

void lab_doorbell_watch(struct lab_gpu *gpu)
{
	struct lab_doorbell *d = &gpu->doorbell;
	u64 __iomem *at = hiq_doorbell(gpu);
	struct perf_event_attr attr;
	u64 plain, trapped;

	spin_lock_init(&d->lock);
	init_irq_work(&d->rang, rang);
	if (!at)
		return;
	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)at;
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	attr.bp_type = HW_BREAKPOINT_W;
	plain = measure(d, at);
	d->watch = register_wide_hw_breakpoint(&attr, written, gpu);
	if (IS_ERR((void __force *)d->watch)) {
		d->watch = NULL;
		dev_info(gpu->adev.dev, "no debug register is left: the HIQ is polled\n");
		return;
	}
	trapped = measure(d, at);
	d->outer_ns = trapped > plain ? trapped - plain : 0;
}

void lab_doorbell_unwatch(struct lab_gpu *gpu)
{
	if (!gpu->doorbell.watch)
		return;
	unregister_wide_hw_breakpoint(gpu->doorbell.watch);
	gpu->doorbell.watch = NULL;
	irq_work_sync(&gpu->doorbell.rang);
}
