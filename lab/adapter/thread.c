// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The thread that is the GPU.
 *
 * It looks at the doorbells, lets the chip do what is due, delivers its interrupts
 * and sleeps until the chip has something to do, the HIQ is rung (doorbell.c) or the
 * doorbells must be looked at again: those of processes are plain memory, and nothing
 * happens when they are written. With one processor they are looked at when it
 * begins to idle, and not while it does.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <trace/events/power.h>

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

static u64 until(u64 next, u64 now)
{
	return next > now ? next - now : 0;
}

/* One look at everything. How long the chip has nothing to do, and how long nothing but copies and streams. */
static bool look(struct lab_gpu *gpu, u64 *idle_ns, u64 *stream_ns)
{
	u64 now;
	bool rang;

	lab_clock_enter(&gpu->clock);
	spin_lock(&gpu->lock);
	now = lab_clock_now(&gpu->clock);
	rang = lab_chip_doorbells(gpu, now);
	lab_chip_advance(gpu, now);
	now = obey(gpu, now);
	*idle_ns = until(vgpu_chip_command_ns(gpu->chip), now);
	*stream_ns = until(vgpu_chip_next_ns(gpu->chip), now);
	gpu->runs++;
	spin_unlock(&gpu->lock);
	lab_interrupt_deliver(gpu);
	lab_clock_leave(&gpu->clock);
	return rang;
}

static enum hrtimer_restart ring_alarm(struct hrtimer *alarm)
{
	lab_thread_kick(container_of(alarm, struct lab_gpu, alarm));
	return HRTIMER_NORESTART;
}

static void set_alarm(struct lab_gpu *gpu, u64 at_ns)
{
	hrtimer_start(&gpu->alarm, ns_to_ktime(at_ns), HRTIMER_MODE_ABS);
}

static void nap(struct lab_gpu *gpu, u64 idle_ns, u64 poll_ns)
{
	u64 now = ktime_get_ns();

	gpu->poll_ns = poll_ns;
	gpu->due_ns = now + clamp(idle_ns, NSEC_PER_USEC, NSEC_PER_SEC);
	set_alarm(gpu, min(gpu->due_ns, now + poll_ns));
	WRITE_ONCE(gpu->napping, true);
	wait_event_interruptible(gpu->wake, READ_ONCE(gpu->kicked) || kthread_should_stop());
	WRITE_ONCE(gpu->napping, false);
	hrtimer_cancel(&gpu->alarm);
}

/*
 * The only processor begins to idle, or ends it. While it idles no program can ring a doorbell, so the thread need
 * not look: it sleeps until the chip itself has something to do. A doorbell rung just before is seen at once.
 * The idle loop no longer asks whether a task wants to run, so an alarm wakes the thread.
 */
static void idles(void *unused, unsigned int state, unsigned int cpu)
{
	u64 now = ktime_get_ns(), at;
	struct lab_gpu *gpu;

	list_for_each_entry(gpu, &lab_gpus, link) {
		if (!READ_ONCE(gpu->napping) || gpu->record.head)
			continue;
		at = now + gpu->poll_ns;
		if (state != PWR_EVENT_EXIT) {
			switch (vgpu_chip_rung(gpu->chip)) {
			case VGPU_RUNG_NO:
				at = gpu->due_ns;
				break;
			case VGPU_RUNG_MAYBE:
				break;
			case VGPU_RUNG_YES:
				at = now;
				break;
			}
		}
		set_alarm(gpu, min(gpu->due_ns, at));
	}
}

static int be_the_gpu(void *data)
{
	u64 idle_ns, stream_ns, poll_ns, start, now;
	struct lab_gpu *gpu = data;

	while (!kthread_should_stop()) {
		WRITE_ONCE(gpu->kicked, false);
		start = ktime_get_ns();
		if (look(gpu, &idle_ns, &stream_ns))
			gpu->active_ns = ktime_get_ns();
		now = ktime_get_ns();
		poll_ns = lab_poll_us * NSEC_PER_USEC;
		if (now - gpu->active_ns >= BUSY_NS)
			poll_ns = max_t(u64, poll_ns, lab_idle_poll_us * NSEC_PER_USEC);
		/* Copying does not take the processor from programs for more than half of the time. */
		nap(gpu, min(idle_ns, max(stream_ns, now - start)), poll_ns);
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
	hrtimer_init(&gpu->alarm, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	gpu->alarm.function = ring_alarm;
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

int lab_thread_watch_idle(void)
{
	return num_possible_cpus() == 1 ? register_trace_cpu_idle(idles, NULL) : 0;
}

void lab_thread_unwatch_idle(void)
{
	if (num_possible_cpus() == 1)
		unregister_trace_cpu_idle(idles, NULL);
	tracepoint_synchronize_unregister();
}
