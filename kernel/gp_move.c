// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* PREEMPT and RESUME: move a set of tasks by hand in one decision, then wait for them. */
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/bsearch.h>

#include "gp_dev.h"
#include "gp_dev_file.h"
#include "gp_home.h"
#include "gp_rescan.h"
#include "gp_target.h"

/* How long ATTACH waits for a list of the queues: two or three scans (SCAN_AGAIN_MS). */
#define KNOWN_NS	(25 * GP_MSEC)

/* A set of tasks, as a sorted array of handles. */
struct set {
	struct gp_dev_file *client;
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

/* Tasks whose processes have all ended do not count. */
static bool in_set(const struct set *s, const struct gp_target *t)
{
	if (!READ_ONCE(t->nr_alive))
		return false;
	return s->all || bsearch(&t->handle, s->handle, s->nr, sizeof(u32), compare);
}

/* Checks that all tasks are this client's, that each is named once, and that they may be moved. */
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

/* Scans for queues that came since the last scan, because they must be moved too. */
static int refresh(const struct set *s)
{
	struct gp_target *t;
	int err = 0, one;

	list_for_each_entry(t, &s->client->targets, of_client) {
		one = in_set(s, t) ? gp_target_refresh(t) : 0;
		err = err ? err : one;
	}
	/* A task that the policy refused is not in the scheduler and keeps running. */
	return s->out ? err : 0;
}

/* The caller holds home.lock. */
static void tell(const struct set *s, u64 lease_ns, u64 now_ns)
{
	struct gp_target *t;

	list_for_each_entry(t, &s->client->targets, of_client) {
		if (!in_set(s, t))
			continue;
		t->hold_until_ns = s->out ? now_ns + lease_ns : 0;
		if (t->task == GP_NONE)
			continue;
		if (s->out)
			gp_sched_hold(gp_home.sched, t->task, lease_ns, now_ns);
		else
			gp_sched_release(gp_home.sched, t->task, now_ns);
	}
}

/* Returns 1: yes, 0: not yet, -errno: never. */
typedef int (*question)(const struct set *s, u32 *nr_done);

/* Returns 1 if @t is where the caller wants it, 0 if not yet, -EIO if its place is unknown. */
static int there(const struct gp_target *t, bool out)
{
	const struct gp_sched *s = gp_home.sched;
	u32 at;

	/* Queues that are not listed yet or are on another GPU still run. */
	if (out && t->unsettled)
		return 0;
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

/* Returns 1 if the queues of all tasks that are not held already are known. */
static int settled(const struct set *s, u32 *nr_done)
{
	const struct gp_target *t;
	unsigned long flags;
	bool all = true;

	mutex_lock(&gp_home.mutex);
	spin_lock_irqsave(&gp_home.lock, flags);
	list_for_each_entry(t, &s->client->targets, of_client)
		all &= !in_set(s, t) || !t->unsettled || !gp_target_at_rest(t, gp_home_now());
	spin_unlock_irqrestore(&gp_home.lock, flags);
	mutex_unlock(&gp_home.mutex);
	return all;
}

/* Returns 1 if all tasks are where the caller wants them. Tasks that have ended do not count. */
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

static int wait_for(const struct set *s, u64 timeout_ns, question ask, u32 *nr_done)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long left = (long)min_t(u64, nsecs_to_jiffies64(timeout_ns) + 1, MAX_JIFFY_OFFSET);
	int is;

	add_wait_queue(&gp_home.moved, &wait);
	for (;;) {
		is = ask(s, nr_done);
		if (is || !left || signal_pending(current))
			break;
		left = wait_woken(&wait, TASK_INTERRUPTIBLE, left);
	}
	remove_wait_queue(&gp_home.moved, &wait);
	if (is)
		return is < 0 ? is : 0;
	return left ? -EINTR : -ETIME;
}

/* Checks that the request is allowed and sets the longest wait. The caller holds home.mutex. */
static int judge(const struct set *s, const struct gp_uapi_move *m, u64 *wait_ns)
{
	/* The default exceeds the stop deadline, so the scheduler reports a lost task first. */
	*wait_ns = m->timeout_ns ? m->timeout_ns : 2 * gp_home.sched->param[GP_STOP_DEADLINE];
	if (m->lease_ns > gp_home.sched->param[GP_LEASE])
		return -EINVAL;
	if (s->out && !gp_home.sched->enabled)
		return -EAGAIN;
	return check(s);
}

/* Lists the queues of the tasks before the scheduler decides about them. */
static int prepare(const struct set *s, const struct gp_uapi_move *m, u64 *wait_ns)
{
	int err;

	if (mutex_lock_interruptible(&gp_home.mutex))
		return -EINTR;
	err = judge(s, m, wait_ns);
	if (!err)
		err = refresh(s);
	mutex_unlock(&gp_home.mutex);
	return err;
}

/* Passes the request to the scheduler, which hands it out as one step per GPU. */
static int begin(const struct set *s, const struct gp_uapi_move *m, u64 *wait_ns)
{
	unsigned long flags;
	u64 now;
	int err;

	if (mutex_lock_interruptible(&gp_home.mutex))
		return -EINTR;
	err = judge(s, m, wait_ns);
	if (!err) {
		spin_lock_irqsave(&gp_home.lock, flags);
		now = gp_home_now();
		tell(s, m->lease_ns ? m->lease_ns : gp_home.sched->param[GP_LEASE], now);
		gp_home_settle(now);
		spin_unlock_irqrestore(&gp_home.lock, flags);
	}
	/* From now on every new queue matters, so scan periodically. */
	if (!err && s->out)
		gp_scan_in_time();
	mutex_unlock(&gp_home.mutex);
	return err;
}

static int move(struct gp_dev_file *c, struct gp_dev_arg *a, bool out)
{
	struct gp_uapi_move *m = &a->move;
	struct set s = { .client = c, .handle = a->extra, .nr = m->nr_tasks, .out = out };
	u64 wait_ns;
	bool waits;
	int err;

	m->nr_done = 0;
	if (m->zero || (m->flags & ~(u32)GP_UAPI_NO_WAIT) || (!out && m->lease_ns))
		return -EINVAL;
	s.all = s.nr == 1 && s.handle[0] == GP_UAPI_ALL;
	sort(s.handle, s.nr, sizeof(u32), compare, NULL);
	waits = !(m->flags & GP_UAPI_NO_WAIT);
	err = prepare(&s, m, &wait_ns);
	/* A held task cannot be added to another GPU, so first list all its queues. */
	if (!err && out && waits)
		err = wait_for(&s, wait_ns, settled, &m->nr_done);
	if (!err)
		err = begin(&s, m, &wait_ns);
	if (!err && waits)
		err = wait_for(&s, wait_ns, progress, &m->nr_done);
	else if (!err)
		progress(&s, &m->nr_done);
	return err;
}

void gp_move_await_known(struct gp_dev_file *c, u32 task)
{
	struct set s = { .client = c, .handle = &task, .nr = 1 };
	u32 nr_done;

	wait_for(&s, KNOWN_NS, settled, &nr_done);
}

int gp_dev_preempt(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	return move(c, a, true);
}

int gp_dev_resume(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	return move(c, a, false);
}
