// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Queues come and go while their process is attached. The look's timer sees by a stamp that
 * something changed; what, is found out here, where one may sleep. A stamp can miss a change, and
 * a process without queues is not looked at: so there is a scan now and then while one attached
 * task could come to stand in the way of another.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "gp_client.h"

enum {
	SCAN_ROOM	= 1024,		/* queues of one process on one GPU */
	SCAN_EVERY_MS	= 100,
	SCAN_AGAIN_MS	= 10,		/* the driver was busy, or the task not at rest */
};

static struct gp_kfd_queue found[SCAN_ROOM];	/* home.mutex */

/* ---- one queue ---- */

void gp_ring_free(struct gp_ring *ring)
{
	list_del(&ring->of_member);
	gp_pin_put(&ring->read);
	gp_pin_put(&ring->write);
	kfree(ring);
}

void gp_ring_out(struct gp_ring *ring, u64 now_ns)
{
	struct gp_gpu *gpu = ring->gpu;
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

/* Under home.lock; there is room. */
static void ring_in(struct gp_ring *ring, u32 task, u64 now_ns)
{
	struct gp_gpu *gpu = ring->gpu;
	struct gp_hot *hot = &gpu->hot[gpu->nr_hot];
	struct gp_pointers at;

	*hot = (struct gp_hot){
		.read = ring->read.word, .write = ring->write.word, .ring = ring,
		.at = { .kind = ring->is.kind, .ring_bytes = ring->is.ring_bytes },
	};
	gp_ring_take(&hot->at, READ_ONCE(*hot->read), READ_ONCE(*hot->write));
	at = (struct gp_pointers){ .rptr = hot->at.rptr, .wptr = hot->at.wptr };
	if (gp_queue_add(gp_home.sched, task, gpu->device, &at, now_ns, &hot->queue))
		return;		/* too many: it is not looked at, its task is moved all the same */
	ring->place = gpu->nr_hot++;
}

static struct gp_ring *ring_new(struct gp_member *m, struct gp_gpu *gpu, struct gp_kfd_queue *q)
{
	struct gp_ring *ring;

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
	if (gp_pin_get(&ring->read, m->mm, q->read_at, q->read_bo) ||
	    gp_pin_get(&ring->write, m->mm, q->write_at, q->write_bo)) {
		gp_ring_free(ring);
		return ERR_PTR(-EFAULT);
	}
	return ring;
}

/* ---- the queues of one process on one GPU ---- */

static struct gp_ring *known(struct gp_member *m, struct gp_gpu *gpu,
			     const struct gp_kfd_queue *q)
{
	struct gp_ring *r;

	list_for_each_entry(r, &m->rings, of_member)
		if (r->gpu == gpu && r->is.id == q->id && r->is.read_at == q->read_at &&
		    r->is.write_at == q->write_at && r->is.ring_base == q->ring_base &&
		    r->is.ring_bytes == q->ring_bytes && r->is.kind == q->kind)
			return r;
	return NULL;
}

/* A queue that cannot be pinned is not looked at; it is moved with the others. */
static void note(struct gp_member *m, struct gp_gpu *gpu, struct gp_kfd_queue *q)
{
	struct gp_ring *ring = known(m, gpu, q);
	unsigned long flags;

	if (ring) {
		ring->found = true;
		return;
	}
	ring = ring_new(m, gpu, q);
	if (IS_ERR(ring))
		return;
	spin_lock_irqsave(&gp_home.lock, flags);
	list_add_tail(&ring->of_member, &m->rings);
	spin_unlock_irqrestore(&gp_home.lock, flags);
}

static void keep_as_found(struct gp_member *m, const struct gp_gpu *gpu)
{
	struct gp_ring *r;

	list_for_each_entry(r, &m->rings, of_member)
		if (r->gpu == gpu)
			r->found = true;
}

/* Returns -EAGAIN: the driver is busy there, what was known stays as it is. */
static int scan_seat(struct gp_member *m, struct kfd_process_device *pdd, bool all)
{
	struct kfd_node *node = gp_kfd_node(pdd);
	struct gp_gpu *gpu = gp_gpu_find(node);
	u64 stamp = gp_kfd_queues_stamp(pdd);
	unsigned long flags;
	u32 i, nr;

	if (gpu && READ_ONCE(gpu->gone))
		return 0;
	if (gpu) {
		const struct gp_seat_k *seat = &m->seat[gpu->device];
		bool same = seat->pdd && seat->stamp == stamp && !all;

		/* The driver's lock is held for as long as the GPU takes: do not wait for it. */
		if (same || READ_ONCE(gpu->busy)) {
			keep_as_found(m, gpu);
			return same ? 0 : -EAGAIN;
		}
	}
	nr = min_t(u32, gp_kfd_queues(pdd, found, SCAN_ROOM), SCAN_ROOM);
	if (nr && !gpu)
		gpu = gp_gpu_get(node);
	for (i = 0; i < nr; i++) {
		if (!IS_ERR(gpu))
			note(m, gpu, &found[i]);
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
	return 0;
}

static int scan_member(struct gp_member *m, bool all)
{
	struct gp_ring *ring;
	int err = 0, one;
	u32 i;

	if (!mmget_not_zero(m->mm))
		return 0;	/* its notifier does the rest */
	list_for_each_entry(ring, &m->rings, of_member)
		ring->found = false;
	for (i = 0; i < gp_kfd_nr_seats(m->process); i++) {
		if (m->gone & BIT_ULL(i % 64))
			continue;
		one = scan_seat(m, gp_kfd_seat(m->process, i), all);
		if (one && (!err || err == -EAGAIN))
			err = one;
	}
	mmput(m->mm);
	return err;
}

/* ---- a task ---- */

static bool at_rest(const struct gp_target *t)
{
	const struct gp_sched *s = gp_home.sched;
	u32 at;

	if (t->task == GP_NONE)
		return true;
	for (at = s->tasks[t->task].seats; at != GP_NONE; at = s->seats[at].next_of_task)
		if (s->seats[at].state != GP_ON)
			return false;
	return !s->tasks[t->task].held_by && !s->tasks[t->task].manual_until_ns;
}

static int retask(struct gp_target *t, u64 devices, u64 now_ns, const char **why)
{
	struct gp_ring *ring;
	u32 i;
	int err;

	for (i = 0; i < t->nr_members; i++)
		if (t->member[i])
			list_for_each_entry(ring, &t->member[i]->rings, of_member)
				gp_ring_out(ring, now_ns);
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
	gp_client_record_task(t);
	return 0;
}

/* Takes out what was not found again; returns whether anything is different. */
static bool sift(struct gp_target *t, u64 now_ns, struct list_head *out)
{
	struct gp_ring *ring, *next;
	bool changed = false;
	u32 i;

	for (i = 0; i < t->nr_members; i++) {
		if (!t->member[i])
			continue;
		list_for_each_entry_safe(ring, next, &t->member[i]->rings, of_member) {
			changed |= !ring->found || ring->place == GP_NONE;
			if (ring->found && ring->gpu)
				continue;
			gp_ring_out(ring, now_ns);
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
	struct gp_ring *ring;
	u32 i;

	for (i = 0; i < t->nr_members && t->task != GP_NONE; i++) {
		if (!t->member[i])
			continue;
		list_for_each_entry(ring, &t->member[i]->rings, of_member)
			if (ring->place == GP_NONE && (t->devices & BIT_ULL(ring->gpu->device)))
				ring_in(ring, t->task, now_ns);
	}
}

/* Under home.lock: what was found becomes what the scheduler knows; the rest goes to @out. */
static int adopt(struct gp_target *t, u64 now_ns, struct list_head *out, const char **why)
{
	struct gp_uapi_event event = { .time_ns = now_ns, .kind = GP_UAPI_EVENT_QUEUES,
				       .task = t->handle };
	bool changed = sift(t, now_ns, out);
	u64 devices = devices_of(t, &event.arg[0]);
	int err = 0;

	if (devices != t->devices)
		err = at_rest(t) ? retask(t, devices, now_ns, why) : -EAGAIN;
	look_at_all(t, now_ns);
	if (changed)
		gp_client_tell(&event, t);
	return err;
}

/* Room for all there may be. */
static int reserve(void)
{
	struct gp_gpu *gpu;
	int err = 0;

	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES && !err; gpu++)
		if (gpu->node)
			err = gp_gpu_reserve(gpu, gpu->nr_hot + SCAN_ROOM);
	return err;
}

/* Referenced: its process may end while we are at it. NULL: it has. */
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
	struct gp_ring *ring, *next;
	struct gp_member *m;
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
		gp_member_put(m);
	}
	if (err && err != -EAGAIN)
		return err;
	one = reserve();
	if (one)
		return one;
	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	gp_home.stats->rescans++;
	one = adopt(t, now, &out, why);
	gp_home_settle(now);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	list_for_each_entry_safe(ring, next, &out, of_member)
		gp_ring_free(ring);
	if (err == -EAGAIN || one == -EAGAIN)
		gp_scan_soon(SCAN_AGAIN_MS);
	return one == -EAGAIN ? 0 : one;
}

void gp_target_rescan(struct gp_target *t)
{
	const char *why;

	gp_target_scan(t, true, &why);
}

void gp_target_refresh(struct gp_target *t)
{
	const char *why;

	gp_target_scan(t, false, &why);
}

/* ---- now and then ---- */

void gp_scan_soon(u32 ms)
{
	mod_delayed_work(system_wq, &gp_home.rescan, msecs_to_jiffies(ms));
}

/*
 * Could a queue that comes change a decision? Then somebody must find out that it came. Only the
 * policy knows: it is asked about a GPU on which just these two sit, in a scheduler of its own.
 */
static struct gp_sched *trial;
static void *trial_memory;

static bool rivals(const struct gp_target *a, const struct gp_target *b)
{
	trial->tasks[0].class = a->class;
	trial->tasks[1].class = b->class;
	return gp_home.sched->policy->watch(trial, &trial->devices[0]);
}

static bool could_matter(void)
{
	struct gp_target *a, *b;

	if (!gp_home.sched->policy->watch || !gp_home.sched->enabled)
		return false;
	list_for_each_entry(a, &gp_home.targets, of_home) {
		b = a;
		list_for_each_entry_continue(b, &gp_home.targets, of_home)
			if (rivals(a, b))
				return true;
	}
	return false;
}

int gp_scan_init(void)
{
	static const struct gp_limits two = { .devices = 1, .tasks = 2, .seats = 2, .queues = 1 };
	struct gp_sched_args args = { .limits = two };
	struct gp_class class = { .weight = 1 };
	const char *why;
	u32 i, ret;
	int err;

	trial_memory = kvzalloc(gp_sched_size(&two), GFP_KERNEL);
	if (!trial_memory)
		return -ENOMEM;
	err = gp_sched_init(trial_memory, &args, &trial);
	if (!err)
		err = gp_device_add(trial, 0, &ret);
	for (i = 0; i < 2 && !err; i++)
		err = gp_task_add(trial, 1, &class, 0, &ret, &why);
	if (err)
		gp_scan_fini();
	return err;
}

void gp_scan_fini(void)
{
	kvfree(trial_memory);
	trial_memory = NULL;
}

static void bury(void)
{
	struct gp_target *t, *next;

	list_for_each_entry_safe(t, next, &gp_home.targets, of_home)
		if (!READ_ONCE(t->nr_alive))
			gp_target_detach(t);
}

void gp_scan_work(struct work_struct *work)
{
	struct gp_target *t;
	const char *why;

	mutex_lock(&gp_home.mutex);
	bury();
	list_for_each_entry(t, &gp_home.targets, of_home)
		gp_target_scan(t, true, &why);
	if (could_matter() && !delayed_work_pending(&gp_home.rescan))
		gp_scan_soon(SCAN_EVERY_MS);
	mutex_unlock(&gp_home.mutex);
}
