// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Open descriptors of /dev/gpreempt and their unread events. */
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "gp_bounds.h"
#include "gp_compat.h"
#include "gp_dev_file.h"
#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_target.h"

static u32 recorders;		/* clients subscribed to GP_UAPI_TRACE; home.lock */
static u64 sampled;		/* state of gp_rec_is_idle(); home.lock */

/* ---- the ring ---- */

static u32 unread(const struct gp_dev_file *c)
{
	return c->head - c->tail;
}

static void put(struct gp_dev_file *c, const struct gp_uapi_event *event)
{
	c->ring[c->head++ % GP_DEV_FILE_EVENTS] = *event;
}

static struct gp_uapi_event confession(struct gp_dev_file *c)
{
	struct gp_uapi_event event = {
		.time_ns = gp_home_now(), .kind = GP_UAPI_EVENT_DROPPED, .arg = { c->dropped },
	};

	c->dropped = 0;
	return event;
}

/* The caller holds the client's lock. */
static void wake(struct gp_dev_file *c)
{
	c->owed = false;
	if (c->eventfd)
		gp_compat_eventfd_signal(c->eventfd);
	wake_up_interruptible(&c->wait);
}

static void push(struct gp_dev_file *c, const struct gp_uapi_event *event)
{
	struct gp_uapi_event lost;

	spin_lock(&c->lock);
	/* Keep room for this event and for one DROPPED record. */
	if (unread(c) + 2 > GP_DEV_FILE_EVENTS) {
		c->dropped++;
		gp_home.stats->events_dropped++;
	} else {
		if (c->dropped) {
			lost = confession(c);
			put(c, &lost);
		}
		put(c, event);
	}
	if (gp_home.hushed)
		gp_home.owed = c->owed = true;
	else
		wake(c);
	spin_unlock(&c->lock);
}

void gp_dev_file_wake_owed(void)
{
	struct gp_dev_file *c;

	lockdep_assert_held(&gp_home.lock);
	if (!gp_home.owed)
		return;
	gp_home.owed = false;
	list_for_each_entry(c, &gp_home.clients, of_home) {
		spin_lock(&c->lock);
		if (c->owed)
			wake(c);
		spin_unlock(&c->lock);
	}
}

void gp_dev_file_tell(const struct gp_uapi_event *event, const struct gp_target *target)
{
	struct gp_dev_file *c;

	lockdep_assert_held(&gp_home.lock);
	list_for_each_entry(c, &gp_home.clients, of_home)
		if ((c->what & GP_UAPI_EVENTS) && (!target || target->client == c))
			push(c, event);
}

/* ---- records ---- */

/* Converts a record for user space, which knows a GPU by its gpu_id. */
static struct gp_uapi_event record_of(const struct gp_rec *rec)
{
	struct gp_uapi_event event;

	memcpy(&event, rec, sizeof(event));
	if (rec->kind == GP_REC_DEVICE_ADD)
		event.arg[1] = gp_home.gpu[rec->device].is.gpu_id;
	return event;
}

void gp_dev_file_record(const struct gp_rec *rec)
{
	struct gp_uapi_event event;
	struct gp_dev_file *c;

	if (gp_rec_is_idle(rec, &sampled) || !recorders)
		return;
	/* gp_dev_file_record_gpu() records the GPU once its gpu_id is known. */
	if (rec->kind == GP_REC_DEVICE_ADD && !gp_home.gpu[rec->device].node)
		return;
	event = record_of(rec);
	list_for_each_entry(c, &gp_home.clients, of_home)
		if (c->what & GP_UAPI_TRACE)
			push(c, &event);
}

/* Returns a record with the process of a task, for readers that have only the task's number. */
static struct gp_rec name_of(const struct gp_target *t)
{
	struct gp_rec rec = { .now_ns = gp_home.sched->now_ns, .kind = GP_REC_NAME,
			      .device = !!(t->class.flags & GP_PREEMPTIBLE), .task = t->task };
	u32 i;

	for (i = 0; i < t->nr_members && !rec.queue; i++)
		if (t->member[i])
			rec.queue = (u32)pid_nr(t->member[i]->pid);
	return rec;
}

void gp_dev_file_record_task(const struct gp_target *t)
{
	struct gp_rec rec = name_of(t);

	gp_dev_file_record(&rec);
}

void gp_dev_file_record_gpu(const struct gp_kernel_gpu *gpu)
{
	struct gp_rec rec = { .now_ns = gp_home.sched->now_ns, .kind = GP_REC_DEVICE_ADD,
			      .device = gpu->device,
			      .arg = { gp_home.sched->devices[gpu->device].flags } };

	gp_dev_file_record(&rec);
}

/* ---- subscribing ---- */

static void describe_to(void *ctx, const struct gp_rec *rec)
{
	struct gp_uapi_event event = record_of(rec);

	push(ctx, &event);
}

static void name_all_to(struct gp_dev_file *c)
{
	struct gp_rec rec;
	u32 task;

	for (task = 0; task < GP_HOME_TASKS; task++) {
		if (!gp_home.of_task[task])
			continue;
		rec = name_of(gp_home.of_task[task]);
		describe_to(c, &rec);
	}
}

/*
 * Sets the subscription. A new recorder first gets records that describe the scheduler as it is.
 * The caller holds home.lock.
 */
static void set_wants(struct gp_dev_file *c, u32 what)
{
	struct gp_trace to = { .emit = describe_to, .ctx = c };

	recorders -= !!(c->what & GP_UAPI_TRACE);
	recorders += !!(what & GP_UAPI_TRACE);
	c->what = what;
	if (!(what & GP_UAPI_TRACE))
		return;
	gp_trace_describe(gp_home.sched, &to);
	name_all_to(c);
}

static int get_eventfd(int fd, struct eventfd_ctx **ret)
{
	*ret = NULL;
	if (fd == -1)
		return 0;
	*ret = eventfd_ctx_fdget(fd);
	if (!IS_ERR(*ret))
		return 0;
	*ret = NULL;
	return -EBADF;
}

int gp_dev_file_subscribe(struct gp_dev_file *c, const struct gp_uapi_subscribe *s)
{
	struct gp_uapi_event *ring;
	struct eventfd_ctx *eventfd;
	unsigned long flags;
	int err = get_eventfd(s->eventfd, &eventfd);

	if (err)
		return err;
	ring = __vmalloc(GP_DEV_FILE_EVENTS * sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring) {
		if (eventfd)
			eventfd_ctx_put(eventfd);
		return -ENOMEM;
	}

	mutex_lock(&c->reading);
	spin_lock_irqsave(&gp_home.lock, flags);
	spin_lock(&c->lock);
	swap(c->ring, ring);
	swap(c->eventfd, eventfd);
	c->head = c->tail = 0;
	c->dropped = 0;
	spin_unlock(&c->lock);
	set_wants(c, s->what);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	mutex_unlock(&c->reading);

	vfree(ring);
	if (eventfd)
		eventfd_ctx_put(eventfd);
	return 0;
}

/* ---- reading ---- */

/* Points @to at the next records. They stay in the ring until taken() removes them. */
static u32 peek(struct gp_dev_file *c, struct gp_uapi_event *to, u32 room)
{
	struct gp_uapi_event lost;
	u32 i, n;

	spin_lock_irq(&c->lock);
	if (c->dropped && !unread(c)) {
		lost = confession(c);
		put(c, &lost);
	}
	n = min(unread(c), room);
	for (i = 0; i < n; i++)
		to[i] = c->ring[(c->tail + i) % GP_DEV_FILE_EVENTS];
	spin_unlock_irq(&c->lock);
	return n;
}

static void taken(struct gp_dev_file *c, u32 n)
{
	spin_lock_irq(&c->lock);
	c->tail += n;
	spin_unlock_irq(&c->lock);
}

static ssize_t read_some(struct gp_dev_file *c, char __user *to, size_t bytes)
{
	struct gp_uapi_event some[4];
	size_t done = 0;
	u32 n;

	while (done + sizeof(*some) <= bytes) {
		n = peek(c, some, min_t(size_t, ARRAY_SIZE(some), (bytes - done) / sizeof(*some)));
		if (!n)
			break;
		if (copy_to_user(to + done, some, n * sizeof(*some)))
			return done ? (ssize_t)done : -EFAULT;
		taken(c, n);
		done += n * sizeof(*some);
	}
	return (ssize_t)done;
}

static bool readable(const struct gp_dev_file *c)
{
	return READ_ONCE(c->head) != READ_ONCE(c->tail) || READ_ONCE(c->dropped);
}

ssize_t gp_dev_file_read(struct gp_dev_file *c, char __user *to, size_t bytes, bool wait)
{
	ssize_t got;

	if (bytes < sizeof(struct gp_uapi_event))
		return -EINVAL;
	for (;;) {
		if (mutex_lock_interruptible(&c->reading))
			return -ERESTARTSYS;
		got = read_some(c, to, bytes);
		mutex_unlock(&c->reading);
		if (got)
			return got;
		if (!wait)
			return -EAGAIN;
		if (wait_event_interruptible(c->wait, readable(c)))
			return -ERESTARTSYS;
	}
}

__poll_t gp_dev_file_poll(struct gp_dev_file *c, struct file *file, poll_table *table)
{
	poll_wait(file, &c->wait, table);
	return readable(c) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* ---- life ---- */

struct gp_dev_file *gp_dev_file_open(void)
{
	struct gp_dev_file *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	unsigned long flags;

	if (!c)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&c->targets);
	mutex_init(&c->reading);
	spin_lock_init(&c->lock);
	init_waitqueue_head(&c->wait);
	mutex_lock(&gp_home.mutex);
	spin_lock_irqsave(&gp_home.lock, flags);
	list_add_tail(&c->of_home, &gp_home.clients);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	mutex_unlock(&gp_home.mutex);
	return c;
}

void gp_dev_file_close(struct gp_dev_file *c)
{
	unsigned long flags;
	bool last;

	mutex_lock(&gp_home.mutex);
	gp_target_detach_all(c);
	spin_lock_irqsave(&gp_home.lock, flags);
	set_wants(c, 0);
	list_del(&c->of_home);
	last = list_empty(&gp_home.clients);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	if (last)
		gp_home_reset_settings();
	mutex_unlock(&gp_home.mutex);

	if (c->eventfd)
		eventfd_ctx_put(c->eventfd);
	vfree(c->ring);
	kfree(c);
}
