// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The thread that is the GPU.
 *
 * It reads the doorbells, lets the chip do what is due, delivers its interrupts and sleeps
 * until the chip has work, the HIQ is rung (doorbell.c) or it is time to read the doorbells
 * again. Doorbells of processes are plain memory, so writing one wakes nothing. The thread
 * does not poll while the only processor idles, because no program can ring a doorbell then.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <trace/events/power.h>

#include "gpu.h"
#include "record.h"

enum {
	BUSY_NS		= 5 * NSEC_PER_MSEC,	/* how long after a doorbell another is likely */
	BATCH		= 64,			/* steps before other tasks may run */
	JUMP_NS		= 100 * NSEC_PER_MSEC,
};

/*
 * The command processor's work is done at once and the clock jumps. But a save that a fault
 * makes slower than the driver may notice takes real time.
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

static u64 time_left(u64 next, u64 now)
{
	return next > now ? next - now : 0;
}

/*
 * Runs the chip once. Returns true if a doorbell was rung. @command_ns: time until the chip has
 * work other than SDMA copies and PM4 streams. @next_ns: time until it has any work.
 */
static bool look(struct lab_gpu *gpu, u64 *command_ns, u64 *next_ns)
{
	u64 now;
	bool rang;

	lab_clock_enter(&gpu->clock);
	spin_lock(&gpu->lock);
	now = lab_clock_now(&gpu->clock);
	rang = lab_chip_doorbells(gpu, now);
	lab_chip_advance(gpu, now);
	now = obey(gpu, now);
	*command_ns = time_left(vgpu_chip_command_ns(gpu->chip), now);
	*next_ns = time_left(vgpu_chip_next_ns(gpu->chip), now);
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

	gpu->resting = false;
	gpu->poll_ns = poll_ns;
	gpu->due_ns = now + clamp(idle_ns, NSEC_PER_USEC, NSEC_PER_SEC);
	set_alarm(gpu, min(gpu->due_ns, now + poll_ns));
	WRITE_ONCE(gpu->napping, true);
	wait_event_interruptible(gpu->wake, READ_ONCE(gpu->kicked) || kthread_should_stop());
	WRITE_ONCE(gpu->napping, false);
	hrtimer_cancel(&gpu->alarm);
}

static void begin_idle(struct lab_gpu *gpu, u64 now)
{
	switch (vgpu_chip_rung(gpu->chip)) {
	case VGPU_RUNG_NO:
		gpu->resting = true;
		set_alarm(gpu, gpu->due_ns);
		break;
	case VGPU_RUNG_MAYBE:
		/* Keep the alarm, which must come however often the processor idles until then. */
		break;
	case VGPU_RUNG_YES:
		set_alarm(gpu, now);
		break;
	}
}

static void end_idle(struct lab_gpu *gpu, u64 now)
{
	if (!gpu->resting)
		return;
	gpu->resting = false;
	set_alarm(gpu, min(gpu->due_ns, now + gpu->poll_ns));
}

/*
 * Called when the only processor begins or ends idling. While it idles no program can ring a
 * doorbell, so the thread sleeps until the chip has work. If a doorbell was rung just before,
 * the thread wakes at once. An alarm wakes it, because the idle loop no longer checks for
 * runnable tasks.
 */
static void on_cpu_idle(void *unused, unsigned int state, unsigned int cpu)
{
	u64 now = ktime_get_ns();
	struct lab_gpu *gpu;

	list_for_each_entry(gpu, &lab_gpus, link) {
		if (!READ_ONCE(gpu->napping) || gpu->record.head)
			continue;
		if (state == PWR_EVENT_EXIT)
			end_idle(gpu, now);
		else
			begin_idle(gpu, now);
	}
}

static int be_the_gpu(void *data)
{
	u64 command_ns, next_ns, poll_ns, start, now;
	struct lab_gpu *gpu = data;

	while (!kthread_should_stop()) {
		WRITE_ONCE(gpu->kicked, false);
		start = ktime_get_ns();
		if (look(gpu, &command_ns, &next_ns))
			gpu->active_ns = ktime_get_ns();
		now = ktime_get_ns();
		poll_ns = lab_poll_us * NSEC_PER_USEC;
		if (now - gpu->active_ns >= BUSY_NS)
			poll_ns = max_t(u64, poll_ns, lab_idle_poll_us * NSEC_PER_USEC);
		/*
		 * Sleep as long as the chip ran, so that copies leave half of the time to
		 * programs.
		 */
		nap(gpu, min(command_ns, max(next_ns, now - start)), poll_ns);
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
	/* A GPU does not wait for a processor, so the thread gets real-time priority. */
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
	return num_possible_cpus() == 1 ? register_trace_cpu_idle(on_cpu_idle, NULL) : 0;
}

void lab_thread_unwatch_idle(void)
{
	if (num_possible_cpus() == 1)
		unregister_trace_cpu_idle(on_cpu_idle, NULL);
	tracepoint_synchronize_unregister();
}
