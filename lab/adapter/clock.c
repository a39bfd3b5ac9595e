// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The device's clock and the ledger behind it.
 *
 *   device time = guest time - stolen + modelled
 *
 * Stolen is the guest time that the model's own thread took: a real GPU would have
 * taken none. Modelled is what the command processor's work takes on the device,
 * which the thread does in one go: the clock jumps over it. While the thread runs
 * the clock stands still. It never goes backwards: what is stolen outside the thread
 * (doorbell.c) may have been read already by somebody else.
 *
 * Between two runs of the thread, and two traps, the two clocks differ by a constant. With
 * the parameter marks=N the last N of those moments are kept, so that a time which somebody
 * else took by the guest's clock can be told by the device's, and when the device did what
 * it was told.
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
	/* So that 0 means "never" to everybody who keeps device times. */
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

/* With the lock. */
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

/* Guest time that the model took outside its thread. While that runs all time is stolen. */
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

/* On to @to_ns, if that is in the future. The time it is then. */
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
 * The times of @l. That of the thread is exact while it sleeps, and on one CPU it does when
 * somebody asks.
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

/* The marks there are, oldest first: each holds from its guest time to that of the next. */
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
