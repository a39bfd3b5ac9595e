// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The device's clock and the ledger behind it.
 *
 *   device time = guest time - stolen + modelled
 *
 * Stolen is the guest time that the model's own thread took; a real GPU would take none.
 * Modelled is the time that the command processor's work takes on the device. The thread does
 * that work at once, then the clock jumps. The clock stands still while the thread runs. It
 * never goes backwards, because a trap (doorbell.c) may steal time after another reader has
 * read the clock.
 *
 * Between two runs of the thread, and two traps, the clocks differ by a constant. With the
 * parameter marks=N the times of the last N runs are kept. A time by the guest's clock can then
 * be converted to the device's.
 */
#include <linux/ktime.h>
#include <linux/seq_file.h>
#include <linux/tick.h>
#include <linux/vmalloc.h>

#include "gpu.h"
#include "lab/ledger.h"

void lab_clock_init(struct lab_clock *c)
{
	spin_lock_init(&c->lock);
	if (lab_marks)
		c->marks = vcalloc(lab_marks, sizeof(*c->marks));
	/* Start above 0, because 0 means "never" wherever device times are kept. */
	c->modelled_ns = NSEC_PER_MSEC;
}

void lab_clock_fini(struct lab_clock *c)
{
	vfree(c->marks);
}

static u64 now_locked(struct lab_clock *c)
{
	u64 guest = c->entered_ns ? c->entered_ns : ktime_get_ns();

	c->latest_ns = max(c->latest_ns, guest - c->stolen_ns + c->modelled_ns);
	return c->latest_ns;
}

u64 lab_clock_now(struct lab_clock *c)
{
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&c->lock, flags);
	now = now_locked(c);
	spin_unlock_irqrestore(&c->lock, flags);
	return now;
}

void lab_clock_enter(struct lab_clock *c)
{
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	c->entered_ns = ktime_get_ns();
	spin_unlock_irqrestore(&c->lock, flags);
}

/* Called with the lock held. */
static void mark(struct lab_clock *c, u64 guest_ns)
{
	if (c->marks)
		c->marks[c->nr_marks++ % lab_marks] = (struct lab_mark){
			guest_ns, guest_ns - c->stolen_ns + c->modelled_ns, c->modelled_ns };
}

void lab_clock_leave(struct lab_clock *c)
{
	unsigned long flags;
	u64 guest;

	spin_lock_irqsave(&c->lock, flags);
	guest = ktime_get_ns();
	c->stolen_ns += guest - c->entered_ns;
	c->entered_ns = 0;
	mark(c, guest);
	spin_unlock_irqrestore(&c->lock, flags);
}

/*
 * Adds guest time that the model took outside its thread. While the thread runs all time is
 * stolen.
 */
void lab_clock_steal(struct lab_clock *c, u64 ns)
{
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	c->trapped_ns += ns;
	if (!c->entered_ns) {
		c->stolen_ns += ns;
		mark(c, ktime_get_ns());
	}
	spin_unlock_irqrestore(&c->lock, flags);
}

/* Moves the clock to @to_ns if that is in the future. Returns the new time. */
u64 lab_clock_jump(struct lab_clock *c, u64 to_ns)
{
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&c->lock, flags);
	now = now_locked(c);
	if (to_ns > now) {
		c->modelled_ns += to_ns - now;
		now = now_locked(c);
	}
	spin_unlock_irqrestore(&c->lock, flags);
	return now;
}

/*
 * Fills @l. The thread's time is exact while the thread sleeps. On one CPU it always sleeps
 * when another task asks.
 */
void lab_clock_ledger(struct lab_gpu *gpu, struct lab_ledger *l)
{
	struct lab_clock *c = &gpu->clock;
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	l->device_ns = now_locked(c);
	l->modelled_ns = c->modelled_ns;
	l->thread_ns = c->trapped_ns;
	spin_unlock_irqrestore(&c->lock, flags);
	l->thread_ns += READ_ONCE(gpu->thread->se.sum_exec_runtime);
	l->idle_ns = get_cpu_idle_time_us(0, NULL) * NSEC_PER_USEC;
	l->guest_ns = ktime_get_ns();
}

/* Prints the marks, oldest first. Each holds from its guest time to that of the next one. */
void lab_clock_show(struct lab_clock *c, struct seq_file *m)
{
	struct lab_mark mark;
	unsigned long flags;
	u64 at;

	if (!c->marks)
		return;
	at = READ_ONCE(c->nr_marks);
	for (at -= min_t(u64, at, lab_marks); at < READ_ONCE(c->nr_marks); at++) {
		spin_lock_irqsave(&c->lock, flags);
		mark = c->marks[at % lab_marks];
		spin_unlock_irqrestore(&c->lock, flags);
		seq_printf(m, "%llu %llu %llu\n", mark.guest_ns, mark.device_ns,
			   mark.modelled_ns);
	}
}
