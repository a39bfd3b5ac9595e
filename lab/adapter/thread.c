// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The thread that is the GPU.
 *
 * It looks at the doorbells, lets the chip do what is due, delivers its interrupts
 * and sleeps until the chip has something to do, the HIQ is rung (doorbell.c) or the
 * doorbells must be looked at again: those of processes are plain memory, nothing
 * wakes anybody when they are written.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>

#include "gpu.h"
#include "record.h"

enum {
	BUSY_NS		= 5 * NSEC_PER_MSEC,	/* how long after a doorbell another is likely */
	BATCH		= 64,			/* steps between two chances for others */
	JUMP_NS		= 100 * NSEC_PER_MSEC,
};

/*
 * What the driver asked of the command processor is done at once; the clock jumps. Unless it takes
 * longer than the driver is to believe: a save that is slow by a fault is waited for.
 */
static u64 obey(struct lab_gpu *gpu, u64 now)
{
	unsigned int steps = 0;
	u64 next;

	while (vgpu_chip_commanded(gpu->chip)) {
		next = vgpu_chip_command_ns(gpu->chip);
		if (next > now && next - now > JUMP_NS)
			break;
		now = lab_clock_jump(&gpu->clock, next);
		lab_chip_advance(gpu, now);
		if (++steps % BATCH == 0) {
			spin_unlock(&gpu->lock);
			cond_resched();
			spin_lock(&gpu->lock);
		}
	}
	return now;
}

/* One look at everything. How long the chip has nothing to do, in @idle_ns. */
static bool look(struct lab_gpu *gpu, u64 *idle_ns)
{
	u64 now, next;
	bool rang;

	lab_clock_enter(&gpu->clock);
	spin_lock(&gpu->lock);
	now = lab_clock_now(&gpu->clock);
	rang = lab_chip_doorbells(gpu, now);
	lab_chip_advance(gpu, now);
	now = obey(gpu, now);
	next = vgpu_chip_next_ns(gpu->chip);
	gpu->runs++;
	spin_unlock(&gpu->lock);
	lab_interrupt_deliver(gpu);
	lab_clock_leave(&gpu->clock);
	*idle_ns = next > now ? next - now : 0;
	return rang;
}

static void nap(struct lab_gpu *gpu, u64 ns)
{
	ktime_t until = ns_to_ktime(ns);

	wait_event_interruptible_hrtimeout(gpu->wake, READ_ONCE(gpu->kicked) ||
					   kthread_should_stop(), until);
}

static int be_the_gpu(void *data)
{
	struct lab_gpu *gpu = data;
	u64 idle_ns, poll_ns;

	while (!kthread_should_stop()) {
		WRITE_ONCE(gpu->kicked, false);
		if (look(gpu, &idle_ns))
			gpu->active_ns = ktime_get_ns();
		poll_ns = lab_poll_us * NSEC_PER_USEC;
		if (ktime_get_ns() - gpu->active_ns >= BUSY_NS)
			poll_ns = max_t(u64, poll_ns, lab_idle_poll_us * NSEC_PER_USEC);
		nap(gpu, clamp(idle_ns, NSEC_PER_USEC, poll_ns));
	}
	return 0;
}

void lab_thread_kick(struct lab_gpu *gpu)
{
	WRITE_ONCE(gpu->kicked, true);
	wake_up(&gpu->wake);
}

int lab_thread_start(struct lab_gpu *gpu)
{
	struct task_struct *t;

	t = kthread_create(be_the_gpu, gpu, "vgpu%d", gpu->adev.ddev.render->index - 128);
	if (IS_ERR(t))
		return PTR_ERR(t);
	/* A GPU does not wait for a processor. */
	sched_set_fifo(t);
	gpu->thread = get_task_struct(t);
	wake_up_process(t);
	return 0;
}

void lab_thread_stop(struct lab_gpu *gpu)
{
	if (!gpu->thread)
		return;
	kthread_stop_put(gpu->thread);
	gpu->thread = NULL;
}
