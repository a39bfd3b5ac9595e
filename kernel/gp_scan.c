// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Lists queues that came or went while their process is attached. The look's timer notices a change
 * by a stamp. This code finds the change, because it may sleep. gp_rescan.c decides when.
 */
#include <linux/slab.h>

#include "gp_bounds.h"
#include "gp_dev_file.h"
#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_queue.h"
#include "gp_rescan.h"
#include "gp_step.h"
#include "gp_target.h"
#include "gp_worker.h"

enum {
	SCAN_ROOM	= 1024,		/* queues of one process on one GPU */
	SCAN_AGAIN_MS	= 10,		/* the driver was busy, or the task was being moved */
};

static struct gp_kfd_queue found[SCAN_ROOM];	/* home.mutex */

/* ---- one queue ---- */

static void ring_free(struct gp_kernel_queue *ring)
{
	list_del(&ring->of_member);
	gp_pin_put(&ring->read);
	gp_pin_put(&ring->write);
	kfree(ring);
}

void gp_kernel_queue_free_all(struct list_head *rings)
{
	struct gp_kernel_queue *ring, *next;

	list_for_each_entry_safe(ring, next, rings, of_member)
		ring_free(ring);
}

void gp_kernel_queue_free_later(struct list_head *rings)
{
	unsigned long flags;

	spin_lock_irqsave(&gp_home.lock, flags);
	list_splice_init(rings, &gp_home.spent);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	queue_work(gp_home.reapers, &gp_home.free_spent);
}

void gp_kernel_queue_free_work(struct work_struct *work)
{
	unsigned long flags;
	LIST_HEAD(rings);

	spin_lock_irqsave(&gp_home.lock, flags);
	list_splice_init(&gp_home.spent, &rings);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	gp_kernel_queue_free_all(&rings);
}

void gp_kernel_queue_out(struct gp_kernel_queue *ring, u64 now_ns)
{
	struct gp_kernel_gpu *gpu = ring->gpu;
	struct gp_hot *hot;

	lockdep_assert_held(&gp_home.lock);
	if (ring->place == GP_NONE)
		return;
	hot = &gpu->hot[ring->place];
	gp_queue_del(gp_home.sched, hot->queue, now_ns);
	*hot = gpu->hot[--gpu->nr_hot];
	hot->ring->place = ring->place;
	ring->place = GP_NONE;
}

/* Adds a queue that will get looks. There is room for it. The caller holds home.lock. */
static void ring_in(struct gp_kernel_queue *ring, u32 task, u64 now_ns)
{
	struct gp_kernel_gpu *gpu = ring->gpu;
	struct gp_hot *hot = &gpu->hot[gpu->nr_hot];
	struct gp_pointers at;

	if (WARN_ON_ONCE(gpu->nr_hot == gpu->room))
		return;
	*hot = (struct gp_hot){
		.read = ring->read.word, .write = ring->write.word, .ring = ring,
		.at = { .kind = ring->is.kind, .ring_bytes = ring->is.ring_bytes },
	};
	gp_ring_take(&hot->at, READ_ONCE(*hot->read), READ_ONCE(*hot->write));
	at = (struct gp_pointers){ .rptr = hot->at.rptr, .wptr = hot->at.wptr };
	if (gp_queue_add(gp_home.sched, task, gpu->device, &at, now_ns, &hot->queue))
		return;		/* too many: the queue gets no looks but moves with its task */
	ring->place = gpu->nr_hot++;
}

static struct gp_kernel_queue *ring_new(struct gp_member *m, struct gp_kernel_gpu *gpu,
					struct gp_kfd_queue *q)
{
	struct gp_kernel_queue *ring;
	LIST_HEAD(failed);
	int err;

	if (!is_power_of_2(q->ring_bytes))
		return ERR_PTR(-EINVAL);
	ring = kzalloc(sizeof(*ring), GFP_KERNEL);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&ring->of_member);
	ring->member = m;
	ring->gpu = gpu;
	ring->place = GP_NONE;
	ring->found = true;
	ring->is = *q;
	err = gp_pin_get(&ring->read, m->mm, q->read_at, q->read_bo);
	if (!err)
		err = gp_pin_get(&ring->write, m->mm, q->write_at, q->write_bo);
	if (!err)
		return ring;
	list_add(&ring->of_member, &failed);
	gp_kernel_queue_free_later(&failed);
	return ERR_PTR(err);
}

/* ---- the queues of one process on one GPU ---- */

static bool is_same(const struct gp_kernel_queue *r, const struct gp_kfd_queue *q)
{
	struct mm_struct *mm = r->member->mm;

	return r->is.id == q->id && r->is.kind == q->kind && r->is.read_at == q->read_at &&
	       r->is.write_at == q->write_at && r->is.ring_base == q->ring_base &&
	       r->is.ring_bytes == q->ring_bytes &&
	       gp_pin_is(&r->write, mm, q->write_at, q->write_bo) &&
	       gp_pin_is(&r->read, mm, q->read_at, q->read_bo);
}

static struct gp_kernel_queue *known(struct gp_member *m, struct gp_kernel_gpu *gpu,
			     const struct gp_kfd_queue *q)
{
	struct gp_kernel_queue *r;

	list_for_each_entry(r, &m->rings, of_member)
		if (r->gpu == gpu && is_same(r, q))
			return r;
	return NULL;
}

/* Notes a queue. One that cannot be pinned gets no looks but moves with its task. -EBUSY: retry. */
static int note(struct gp_member *m, struct gp_kernel_gpu *gpu, struct gp_kfd_queue *q)
{
	struct gp_kernel_queue *ring = known(m, gpu, q);
	unsigned long flags;

	if (ring) {
		ring->found = true;
		return 0;
	}
	ring = ring_new(m, gpu, q);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	spin_lock_irqsave(&gp_home.lock, flags);
	list_add_tail(&ring->of_member, &m->rings);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return 0;
}

static void keep_as_found(struct gp_member *m, const struct gp_kernel_gpu *gpu)
{
	struct gp_kernel_queue *r;

	list_for_each_entry(r, &m->rings, of_member)
		if (r->gpu == gpu)
			r->found = true;
}

/* Keeps the known queues of @m on @gpu until the next scan. @same: the stamp has not changed. */
static int ask_later(struct gp_member *m, struct gp_kernel_gpu *gpu, bool same)
{
	if (gpu)
		keep_as_found(m, gpu);
	m->unasked |= !same;
	return -EAGAIN;
}

/*
 * Returns -EAGAIN if the driver or the process's memory is busy. Known queues are kept if the
 * driver is busy.
 */
static int scan_seat(struct gp_member *m, struct kfd_process_device *pdd, bool all)
{
	struct kfd_node *node = gp_kfd_node(pdd);
	struct gp_kernel_gpu *gpu = gp_gpu_find(node);
	u64 stamp = gp_kfd_queues_stamp(pdd);
	bool same = gpu && m->seat[gpu->device].stamp == stamp;
	unsigned long flags;
	bool later = false;
	int i, nr;

	/* A GPU that is being dropped becomes known again after the drop. */
	if (gpu && READ_ONCE(gpu->gone))
		return ask_later(m, NULL, false);
	if (same && !all) {
		keep_as_found(m, gpu);
		return 0;
	}
	/* The worker may hold the driver's lock until the GPU answers, so do not wait for it. */
	if (gpu && READ_ONCE(gpu->busy))
		return ask_later(m, gpu, same);
	nr = gp_kfd_queues(pdd, found, SCAN_ROOM);
	if (nr < 0)
		return ask_later(m, gpu, same);
	nr = min_t(int, nr, SCAN_ROOM);
	if (nr && !gpu)
		gpu = gp_gpu_get(node);
	for (i = 0; i < nr; i++) {
		if (!IS_ERR(gpu))
			later |= note(m, gpu, &found[i]) == -EBUSY;
		gp_kfd_queue_put(&found[i]);
	}
	if (IS_ERR_OR_NULL(gpu))
		return PTR_ERR_OR_ZERO(gpu);
	spin_lock_irqsave(&gp_home.lock, flags);
	m->seat[gpu->device].stamp = stamp;
	m->seat[gpu->device].queues = nr;
	if (nr)
		m->seat[gpu->device].pdd = pdd;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return later ? -EAGAIN : 0;
}

static int scan_member(struct gp_member *m, bool all)
{
	struct gp_kernel_queue *ring;
	int err = 0, one;
	u32 i;

	if (!atomic_read(&m->mm->mm_users))
		return 0;	/* its notifier removes its queues */
	list_for_each_entry(ring, &m->rings, of_member)
		ring->found = false;
	m->unasked = false;
	for (i = 0; i < gp_kfd_nr_seats(m->process); i++) {
		if (m->gone & BIT_ULL(i % 64))
			continue;
		one = scan_seat(m, gp_kfd_seat(m->process, i), all);
		if (one && (!err || err == -EAGAIN))
			err = one;
	}
	return err;
}

/* ---- a task ---- */

bool gp_target_at_rest(const struct gp_target *t, u64 now_ns)
{
	const struct gp_sched *s = gp_home.sched;
	u32 at;

	if (t->task == GP_NONE)
		return true;
	for (at = s->tasks[t->task].seats; at != GP_NONE; at = s->seats[at].next_of_task)
		if (s->seats[at].state != GP_ON)
			return false;
	return !s->tasks[t->task].held_by && s->tasks[t->task].manual_until_ns <= now_ns;
}

static int retask(struct gp_target *t, u64 devices, u64 now_ns, const char **why)
{
	struct gp_kernel_queue *ring;
	u32 i;
	int err;

	for (i = 0; i < t->nr_members; i++)
		if (t->member[i])
			list_for_each_entry(ring, &t->member[i]->rings, of_member)
				gp_kernel_queue_out(ring, now_ns);
	gp_target_untask(t, now_ns);
	if (!devices)
		return 0;
	err = gp_task_add(gp_home.sched, devices, &t->class, now_ns, &t->task, why);
	if (err) {
		t->task = GP_NONE;
		return err;
	}
	t->devices = devices;
	gp_home.of_task[t->task] = t;
	gp_dev_file_record_task(t);
	/* The scheduler rightly refuses to hold a task that may no longer be held. */
	if (t->hold_until_ns > now_ns)
		gp_sched_hold(gp_home.sched, t->task, t->hold_until_ns - now_ns, now_ns);
	return 0;
}

/* Removes queues that the scan did not find. True if any queue came or went. */
static bool sift(struct gp_target *t, u64 now_ns, struct list_head *out)
{
	struct gp_kernel_queue *ring, *next;
	bool changed = false;
	u32 i;

	for (i = 0; i < t->nr_members; i++) {
		if (!t->member[i])
			continue;
		list_for_each_entry_safe(ring, next, &t->member[i]->rings, of_member) {
			changed |= !ring->found || ring->place == GP_NONE;
			if (ring->found)
				continue;
			gp_kernel_queue_out(ring, now_ns);
			list_move_tail(&ring->of_member, out);
		}
	}
	return changed;
}

static u64 devices_of(const struct gp_target *t, u64 *queues)
{
	u64 devices = 0;
	u32 i, d;

	*queues = 0;
	for (i = 0; i < t->nr_members; i++) {
		for (d = 0; t->member[i] && d < GP_HOME_DEVICES; d++) {
			u32 nr = t->member[i]->seat[d].queues;

			*queues += nr;
			devices |= nr ? BIT_ULL(d) : 0;
		}
	}
	return devices;
}

static void look_at_all(struct gp_target *t, u64 now_ns)
{
	struct gp_kernel_queue *ring;
	u32 i;

	for (i = 0; i < t->nr_members && t->task != GP_NONE; i++) {
		if (!t->member[i])
			continue;
		list_for_each_entry(ring, &t->member[i]->rings, of_member)
			if (ring->place == GP_NONE && (t->devices & BIT_ULL(ring->gpu->device)))
				ring_in(ring, t->task, now_ns);
	}
}

/* Asks the workers to stop processes of @t that arrived while it was off. True if there are any. */
static bool call_strays(const struct gp_target *t)
{
	struct gp_kernel_gpu *gpu;
	bool any = false;
	u32 i;

	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++) {
		for (i = 0; gpu->node && i < t->nr_members; i++) {
			if (!t->member[i] || !gp_step_is_stray(gpu, t->member[i]))
				continue;
			any = gpu->strays = true;
			gp_gpu_wake(gpu);
		}
	}
	return any;
}

/* Updates the scheduler from the scan and moves removed queues to @out. Under home.lock. */
static int adopt(struct gp_target *t, u64 now_ns, struct list_head *out, const char **why)
{
	struct gp_uapi_event event = { .time_ns = now_ns, .kind = GP_UAPI_EVENT_QUEUES,
				       .task = t->handle };
	bool changed = sift(t, now_ns, out);
	u64 devices = devices_of(t, &event.arg[0]);
	int err = 0;

	if (devices != t->devices)
		err = gp_target_at_rest(t, now_ns) ? retask(t, devices, now_ns, why) : -EAGAIN;
	t->unsettled = devices & ~t->devices;
	look_at_all(t, now_ns);
	if (changed)
		gp_dev_file_tell(&event, t);
	if (!err && call_strays(t)) {
		t->unsettled = true;
		err = -EAGAIN;
	}
	return err;
}

/* Returns the number of queues with those of @t that get no looks yet. */
static u32 room_for(const struct gp_target *t, const struct gp_kernel_gpu *gpu)
{
	const struct gp_kernel_queue *ring;
	unsigned long flags;
	u32 i, nr;

	spin_lock_irqsave(&gp_home.lock, flags);
	nr = gpu->nr_hot;
	for (i = 0; i < t->nr_members; i++)
		if (t->member[i])
			list_for_each_entry(ring, &t->member[i]->rings, of_member)
				nr += ring->gpu == gpu && ring->place == GP_NONE;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return nr;
}

/* The caller holds home.mutex, so no other thread adds queues. */
static int reserve(const struct gp_target *t)
{
	struct gp_kernel_gpu *gpu;
	int err = 0;

	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES && !err; gpu++)
		if (gpu->node)
			err = gp_gpu_reserve(gpu, room_for(t, gpu));
	return err;
}

/* Returns a referenced member, because its process may end during the scan. NULL: it has ended. */
static struct gp_member *member_of(struct gp_target *t, u32 i)
{
	struct gp_member *m;
	unsigned long flags;

	spin_lock_irqsave(&gp_home.lock, flags);
	m = t->member[i];
	if (m)
		kref_get(&m->ref);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return m;
}

int gp_target_scan(struct gp_target *t, bool all, const char **why)
{
	struct gp_member *m;
	bool unasked = false;
	unsigned long flags;
	int err = 0, one;
	LIST_HEAD(out);
	u64 now;
	u32 i;

	lockdep_assert_held(&gp_home.mutex);
	for (i = 0; i < t->nr_members; i++) {
		m = member_of(t, i);
		if (!m)
			continue;
		one = scan_member(m, all);
		if (one && (!err || err == -EAGAIN))
			err = one;
		unasked |= m->unasked;
		gp_member_put(m);
	}
	if (err && err != -EAGAIN)
		return err;
	one = reserve(t);
	if (one)
		return one;
	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	gp_home.stats->rescans++;
	one = adopt(t, now, &out, why);
	t->unsettled |= unasked;
	gp_home_settle(now);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	if (!list_empty(&out))
		gp_kernel_queue_free_later(&out);
	if (err == -EAGAIN || one == -EAGAIN)
		gp_scan_soon(SCAN_AGAIN_MS);
	wake_up_all(&gp_home.moved);	/* wakes callers that wait for known queues */
	return one == -EAGAIN ? 0 : one;
}

void gp_target_rescan(struct gp_target *t)
{
	const char *why;

	gp_target_scan(t, true, &why);
}

int gp_target_refresh(struct gp_target *t)
{
	const char *why;

	return gp_target_scan(t, false, &why);
}
