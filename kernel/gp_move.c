// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* PREEMPT and RESUME: a set of tasks by hand, in one decision, and waiting until they are there. */
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/bsearch.h>

#include "gp_client.h"
#include "gp_dev.h"

/* A set of tasks by their handles, which are sorted. */
struct set {
	struct gp_client *client;
	u32 *handle;
	u32 nr;
	bool all;
	bool out;
};

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Of those who have not ended. */
static bool in_set(const struct set *s, const struct gp_target *t)
{
	if (!READ_ONCE(t->nr_alive))
		return false;
	return s->all || bsearch(&t->handle, s->handle, s->nr, sizeof(u32), compare);
}

/* All of them are this client's, each is named once, and they may be moved. */
static int check(const struct set *s)
{
	const struct gp_target *t;
	u32 i, found = 0;

	for (i = 1; i < s->nr; i++)
		if (s->handle[i] == s->handle[i - 1])
			return -EINVAL;
	list_for_each_entry(t, &s->client->targets, of_client) {
		if (!in_set(s, t))
			continue;
		found++;
		if (s->out && !(t->class.flags & GP_PREEMPTIBLE))
			return -EPERM;
	}
	return s->all || found == s->nr ? 0 : -ENOENT;
}

/* Who has got its first queue since the last scan is there to be moved, too. */
static void refresh(const struct set *s)
{
	struct gp_target *t;

	list_for_each_entry(t, &s->client->targets, of_client)
		if (in_set(s, t))
			gp_target_refresh(t);
}

/* Under home.lock. */
static void tell(const struct set *s, u64 lease_ns, u64 now_ns)
{
	const struct gp_target *t;

	list_for_each_entry(t, &s->client->targets, of_client) {
		if (t->task == GP_NONE || !in_set(s, t))
			continue;
		if (s->out)
			gp_sched_hold(gp_home.sched, t->task, lease_ns, now_ns);
		else
			gp_sched_release(gp_home.sched, t->task, now_ns);
	}
}

/* Is @t where it is wanted? -EIO: nobody knows where it is. */
static int there(const struct gp_target *t, bool out)
{
	const struct gp_sched *s = gp_home.sched;
	u32 at;

	if (t->task == GP_NONE)
		return 1;
	for (at = s->tasks[t->task].seats; at != GP_NONE; at = s->seats[at].next_of_task) {
		if (s->seats[at].state == GP_LOST)
			return -EIO;
		if (s->seats[at].state != (out ? GP_OFF : GP_ON))
			return 0;
	}
	return 1;
}

/* 1: all are there. Those who have ended since are nobody's concern. */
static int progress(const struct set *s, u32 *nr_done)
{
	const struct gp_target *t;
	unsigned long flags;
	u32 here = 0, left = 0;
	bool lost = false;
	int is;

	mutex_lock(&gp_home.mutex);
	spin_lock_irqsave(&gp_home.lock, flags);
	list_for_each_entry(t, &s->client->targets, of_client) {
		if (!in_set(s, t))
			continue;
		is = there(t, s->out);
		lost |= is < 0;
		here += is == 1;
		left += is != 1;
	}
	spin_unlock_irqrestore(&gp_home.lock, flags);
	mutex_unlock(&gp_home.mutex);
	*nr_done = here;
	return lost ? -EIO : !left;
}

static int wait_for(const struct set *s, u64 timeout_ns, u32 *nr_done)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long left = (long)min_t(u64, nsecs_to_jiffies64(timeout_ns) + 1, MAX_JIFFY_OFFSET);
	int is;

	add_wait_queue(&gp_home.moved, &wait);
	for (;;) {
		is = progress(s, nr_done);
		if (is || !left || signal_pending(current))
			break;
		left = wait_woken(&wait, TASK_INTERRUPTIBLE, left);
	}
	remove_wait_queue(&gp_home.moved, &wait);
	if (is)
		return is < 0 ? is : 0;
	return left ? -EINTR : -ETIME;
}

/* Tells the scheduler; what is due is then handed out as one step per GPU. */
static int begin(const struct set *s, const struct gp_uapi_move *m, u64 *wait_ns)
{
	unsigned long flags;
	u64 now, longest;
	int err = 0;

	if (mutex_lock_interruptible(&gp_home.mutex))
		return -EINTR;
	longest = gp_home.sched->param[GP_LEASE];
	/* Lost is said first. */
	*wait_ns = m->timeout_ns ? m->timeout_ns : 2 * gp_home.sched->param[GP_STOP_DEADLINE];
	if (m->lease_ns > longest)
		err = -EINVAL;
	else if (s->out && !gp_home.sched->enabled)
		err = -EAGAIN;
	else
		err = check(s);
	if (!err) {
		refresh(s);
		spin_lock_irqsave(&gp_home.lock, flags);
		now = gp_home_now();
		tell(s, m->lease_ns ? m->lease_ns : longest, now);
		gp_home_settle(now);
		spin_unlock_irqrestore(&gp_home.lock, flags);
	}
	mutex_unlock(&gp_home.mutex);
	return err;
}

static int move(struct gp_client *c, struct gp_dev_arg *a, bool out)
{
	struct gp_uapi_move *m = &a->move;
	struct set s = { .client = c, .handle = a->extra, .nr = m->nr_tasks, .out = out };
	u64 wait_ns;
	int err;

	m->nr_done = 0;
	if (m->zero || (m->flags & ~(u32)GP_UAPI_NO_WAIT) || (!out && m->lease_ns))
		return -EINVAL;
	s.all = s.nr == 1 && s.handle[0] == GP_UAPI_ALL;
	sort(s.handle, s.nr, sizeof(u32), compare, NULL);
	err = begin(&s, m, &wait_ns);
	if (err)
		return err;
	if (m->flags & GP_UAPI_NO_WAIT) {
		progress(&s, &m->nr_done);
		return 0;
	}
	return wait_for(&s, wait_ns, &m->nr_done);
}

int gp_dev_preempt(struct gp_client *c, struct gp_dev_arg *a)
{
	return move(c, a, true);
}

int gp_dev_resume(struct gp_client *c, struct gp_dev_arg *a)
{
	return move(c, a, false);
}
