// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Sends packets of this module on the driver's HIQ. UNMAP_QUEUES by PASID stops a victim and does
 * not disturb other processes.
 *
 * The driver's packet_manager.pmf builds the packets. This file manages ring space and the
 * doorbell, because the driver does not export those functions. Each of these rules was found by
 * breaking it:
 *
 * - Hold the driver's lock from the first packet until the fence. Without the lock a queue that is
 *   booked as off can be destroyed, or its memory moved, while the hardware still saves it. Book
 *   only what the fence confirmed.
 * - Do not write to the driver's fence word. A late write would satisfy the driver's next wait. The
 *   driver uses 8 bytes of a chunk of 512, so our fence word is 64 bytes further on.
 * - The HIQ executes in order. If our fence does not arrive, no later packet completes either. So
 *   evict is no fallback then. Wait (gp_kfd_direct_late) or let the driver reset the GPU.
 * - The firmware logs a queue that failed to be preempted in the HIQ's MQD. Only read the log. An
 *   eviction runs the driver's own check, which resets that queue.
 */
#include <linux/delay.h>
#include <linux/io.h>

#include "gp_kfd_private.h"

#if GP_KFD_NODES

enum {
	FENCE_BYTES	= 64,	/* offset of our word from the driver's fence word */
	CHUNK_BYTES	= 128,	/* least size of the driver's chunk that has room for both */
	SPIN_NS		= 200 * NSEC_PER_USEC,
};

static atomic64_t last_fence = ATOMIC64_INIT(0x67700000);

/* ---- the ring ---- */

struct place {
	u32 wptr;
	u64 wptr64;
};

/*
 * Returns room for @bytes that does not cross the end of the ring, or NULL if the ring is full. The
 * caller holds the packet manager's lock.
 */
static u32 *ring_room(struct kernel_queue *kq, u32 bytes)
{
	u32 size = kq->queue->properties.queue_size / 4;
	u32 read = READ_ONCE(*kq->rptr_kernel);
	u32 at = kq->pending_wptr, want = bytes / 4;

	if (want > (read + size - 1 - at) % size)
		return NULL;
	if (at + want >= size) {
		if (want >= read)
			return NULL;
		for (; at; at = (at + 1) % size) {
			kq->pq_kernel_addr[at] = kq->nop_packet;
			kq->pending_wptr64++;
		}
	}
	kq->pending_wptr = at + want;
	kq->pending_wptr64 += want;
	return kq->pq_kernel_addr + at;
}

static struct place ring_place(const struct kernel_queue *kq)
{
	return (struct place) { kq->pending_wptr, kq->pending_wptr64 };
}

static void ring_back(struct kernel_queue *kq, struct place to)
{
	kq->pending_wptr = to.wptr;
	kq->pending_wptr64 = to.wptr64;
}

static void ring_go(struct kernel_queue *kq)
{
	wmb();			/* packets before the pointer */
	WRITE_ONCE(*kq->wptr64_kernel, kq->pending_wptr64);
	wmb();			/* pointer before the doorbell */
	writeq(kq->pending_wptr64, kq->queue->properties.doorbell_ptr);
}

/* ---- the fence ---- */

static u64 *fence_word(struct device_queue_manager *d)
{
	return d->fence_addr + FENCE_BYTES / sizeof(u64);
}

/* Waits as the driver does, but with a timeout of its own, and sleeps if the wait is long. */
static int fence_wait(struct device_queue_manager *d, u64 value, u64 start_ns, u64 for_ns)
{
	while (READ_ONCE(*fence_word(d)) != value) {
		u64 waited = ktime_get_ns() - start_ns;

		if (waited > for_ns)
			return -ETIME;
		if (waited < SPIN_NS)
			schedule();
		else
			usleep_range(20, 50);
	}
	return 0;
}

/* ---- refusals up front: the caller holds the driver's lock ---- */

static const char *seat_refusal(const struct gp_kfd_move *m)
{
	struct queue *q;

	if (!m->out)
		return "somebody is to start, which is a whole cycle";
	if (m->owes || m->seat->qpd.evicted)
		return "evicted already";
	list_for_each_entry(q, &m->seat->qpd.queues_list, list)
		if (gp_kfd_is_sdma(q) && q->properties.is_active)
			return "a victim has an SDMA queue";
	return NULL;
}

static const char *node_refusal(struct kfd_node *node, const struct gp_kfd_memory *m)
{
	const struct device_queue_manager *d = node->dqm;

	if (!gp_kfd_has_runlist(node) || KFD_GC_VERSION(node) < IP_VERSION(9, 0, 1) ||
	    KFD_GC_VERSION(node) >= IP_VERSION(10, 0, 0) ||
	    node->kfd->device_info.doorbell_size != 8)
		return "not a gfx9 GPU scheduled by runlists";
	if (!m || node->kfd->gtt_sa_chunk_size < CHUNK_BYTES)
		return "no place for a fence";
	/* A reset empties the HIQ, so a fence from before the reset never arrives. */
	if (m->late && m->resets == gp_kfd_resets(node))
		return "an earlier command is still without answer";
	if (!d->sched_running)
		return "the driver has stopped scheduling";
	if (d->is_hws_hang || d->is_resetting)
		return "a reset is under way";
	if (d->sched_halt)
		return "the GPU is halted";
	if (gp_kfd_isolated(node))
		return "enforce_isolation shares the GPU in time";
	if (!d->active_runlist)
		return "nothing is mapped";
	if (d->packet_mgr.is_over_subscription)
		return "more queues or processes than places";
	return NULL;
}

static int refusal(struct gp_kfd_step *s)
{
	const char *why = node_refusal(s->node, gp_kfd_memory(s->node));
	u32 i;

	for (i = 0; i < s->nr && !why; i++)
		why = seat_refusal(&s->move[i]);
	strscpy(s->why_not, why ? why : "", sizeof(s->why_not));
	return why ? -EBUSY : 0;
}

static bool only_starts(const struct gp_kfd_step *s)
{
	u32 i;

	for (i = 0; i < s->nr; i++)
		if (s->move[i].out)
			return false;
	return true;
}

static int direct_can(struct gp_kfd_step *s)
{
	int err;

	s->why_not[0] = '\0';
	if (only_starts(s))
		return 0;
	dqm_lock(s->node->dqm);
	err = refusal(s);
	dqm_unlock(s->node->dqm);
	return err;
}

/* ---- stopping ---- */

/* Writes all packets, then rings the doorbell once. Sends nothing unless all packets fit. */
static int send(struct gp_kfd_step *s, u64 fence)
{
	struct device_queue_manager *d = s->node->dqm;
	struct packet_manager *pm = &d->packet_mgr;
	struct kernel_queue *kq = pm->priv_queue;
	struct place start = ring_place(kq);
	u32 *at, i;

	for (i = 0; i < s->nr; i++) {
		at = ring_room(kq, pm->pmf->unmap_queues_size);
		if (!at || pm->pmf->unmap_queues(pm, at, KFD_UNMAP_QUEUES_FILTER_BY_PASID,
						 s->move[i].seat->process->pasid, false))
			goto back;
	}
	at = ring_room(kq, pm->pmf->query_status_size);
	if (!at || pm->pmf->query_status(pm, at, d->fence_gpu_addr + FENCE_BYTES, fence))
		goto back;
	WRITE_ONCE(*fence_word(d), 0);
	ring_go(kq);
	return 0;
back:
	ring_back(kq, start);
	strscpy(s->why_not, "no room on the HIQ", sizeof(s->why_not));
	return -EBUSY;
}

/* True if a queue failed to be preempted. Only reads, because the driver clears the log itself. */
static bool preemption_failed(struct device_queue_manager *d)
{
	u32 stride = d->mqd_mgrs[KFD_MQD_TYPE_HIQ]->mqd_size;
	const void *mqd = d->packet_mgr.priv_queue->queue->mqd;
	u32 i;

	for (i = 0; i < hweight32(d->dev->xcc_mask); i++) {
		const struct v9_mqd *m = mqd + i * stride;

		if (READ_ONCE(m->queue_doorbell_id0))
			return true;
	}
	return false;
}

/* Does the bookkeeping of evict_process_queues() after the hardware has confirmed the stop. */
static void book(struct device_queue_manager *d, struct kfd_process_device *pdd)
{
	struct qcm_process_device *qpd = &pdd->qpd;
	struct queue *q;

	qpd->evicted++;
	list_for_each_entry(q, &qpd->queues_list, list) {
		q->properties.is_evicted = true;
		if (!q->properties.is_active)
			continue;
		q->properties.is_active = false;
		d->active_queue_count--;
		if (q->properties.type == KFD_QUEUE_TYPE_COMPUTE ||
		    q->properties.type == KFD_QUEUE_TYPE_DIQ)
			d->active_cp_queue_count--;
		if (q->properties.is_gws) {
			d->gws_queue_count--;
			qpd->mapped_gws_queue = false;
		}
	}
	pdd->last_evict_timestamp = get_jiffies_64();
}

/* The caller holds the driver's lock and excludes resets. -EAGAIN: preemption of a queue failed. */
static int stop_locked(struct gp_kfd_step *s)
{
	struct device_queue_manager *d = s->node->dqm;
	u64 fence = atomic64_inc_return(&last_fence);
	struct gp_kfd_memory *m;
	int err;
	u32 i;

	mutex_lock(&d->packet_mgr.lock);
	s->times.command_ns = ktime_get_ns();
	err = send(s, fence);
	s->times.acted_ns = ktime_get_ns();
	mutex_unlock(&d->packet_mgr.lock);
	if (err)
		return err;
	err = fence_wait(d, fence, s->times.command_ns, s->deadline_ns);
	s->times.saved_ns = ktime_get_ns();
	s->times.switched_ns = s->times.saved_ns;
	if (err) {
		m = gp_kfd_memory(s->node);
		m->late = fence;
		m->resets = gp_kfd_resets(s->node);
		return err;
	}
	if (preemption_failed(d))
		return -EAGAIN;
	for (i = 0; i < s->nr; i++) {
		book(d, s->move[i].seat);
		s->move[i].owes = true;
		s->move[i].err = 0;
	}
	return 0;
}

static int direct_move(struct gp_kfd_step *s)
{
	struct device_queue_manager *d = s->node->dqm;
	struct rw_semaphore *reset = &s->node->adev->reset_domain->sem;
	int err;

	s->kicks = 0;
	s->why_not[0] = '\0';
	if (only_starts(s))
		return gp_way_evict.move(s);
	dqm_lock(d);
	err = refusal(s);
	if (!err && !down_read_trylock(reset)) {
		strscpy(s->why_not, "a reset is under way", sizeof(s->why_not));
		err = -EBUSY;
	}
	if (!err) {
		err = stop_locked(s);
		up_read(reset);
	}
	dqm_unlock(d);
	/* Some queues are off and none is booked, so let the driver's eviction finish. */
	return err == -EAGAIN ? gp_way_evict.move(s) : err;
}

int gp_kfd_direct_late(struct kfd_node *node)
{
	struct device_queue_manager *d = node->dqm;
	struct gp_kfd_memory *m = gp_kfd_memory(node);
	bool came;

	if (!m || !m->late)
		return -ENODEV;
	dqm_lock(d);
	came = d->sched_running && READ_ONCE(*fence_word(d)) == m->late;
	dqm_unlock(d);
	if (m->resets != gp_kfd_resets(node)) {
		m->late = 0;
		return -ENODEV;
	}
	if (!came)
		return 0;
	/* The queues are off in hardware but on in the driver's books, so map them. */
	if (gp_kfd_kick(node))
		return 0;
	m->late = 0;
	return 1;
}

static int send_grace(struct packet_manager *pm, u32 grace)
{
	struct place start = ring_place(pm->priv_queue);
	u32 *at = ring_room(pm->priv_queue, pm->pmf->set_grace_period_size);

	if (!at || pm->pmf->set_grace_period(pm, at, grace)) {
		ring_back(pm->priv_queue, start);
		return -EBUSY;
	}
	ring_go(pm->priv_queue);
	return 0;
}

int gp_kfd_set_grace(struct kfd_node *node, u32 grace)
{
	struct device_queue_manager *d = node->dqm;
	struct rw_semaphore *reset = &node->adev->reset_domain->sem;
	int err = -EBUSY;

	if (!gp_kfd_has_runlist(node) || !d->packet_mgr.pmf->set_grace_period)
		return -EOPNOTSUPP;
	dqm_lock(d);
	if (d->sched_running && down_read_trylock(reset)) {
		mutex_lock(&d->packet_mgr.lock);
		err = send_grace(&d->packet_mgr, grace ? grace : USE_DEFAULT_GRACE_PERIOD);
		mutex_unlock(&d->packet_mgr.lock);
		up_read(reset);
	}
	dqm_unlock(d);
	return err;
}

/* ---- what is in the hardware's slots ---- */

/* Counts mapped rings of other processes at the address of @q, which look the same in a slot. */
static u32 others_alike(struct kfd_process_device *seat, const struct queue *q)
{
	struct device_process_node *n;
	struct queue *other;
	u32 nr = 0;

	list_for_each_entry(n, &seat->dev->dqm->queues, list)
		list_for_each_entry(other, &n->qpd->queues_list, list)
			nr += n->qpd != &seat->qpd && other->properties.is_active &&
			      !gp_kfd_is_sdma(other) &&
			      other->properties.queue_address == q->properties.queue_address;
	return nr;
}

static bool in_slots(struct kfd_process_device *seat, const struct queue *q, u32 xcc)
{
	const struct kgd2kfd_shared_resources *r = &seat->dev->kfd->shared_resources;
	u32 slots = r->num_pipe_per_mec * r->num_queue_per_pipe;
	u32 i, nr = 0;

	for_each_set_bit(i, r->cp_queue_bitmap, slots)
		nr += seat->dev->kfd2kgd->hqd_get_pq_addr(seat->dev->adev,
							  i / r->num_queue_per_pipe,
							  i % r->num_queue_per_pipe, xcc) ==
		      q->properties.queue_address;
	return nr > others_alike(seat, q);
}

int gp_kfd_mapped(struct kfd_process_device *seat)
{
	unsigned long xccs = seat->dev->xcc_mask;
	struct queue *q;
	int nr = 0;
	u32 xcc;

	if (!gp_kfd_has_runlist(seat->dev) || !seat->dev->kfd2kgd->hqd_get_pq_addr)
		return -EOPNOTSUPP;
	dqm_lock(seat->dev->dqm);
	list_for_each_entry(q, &seat->qpd.queues_list, list) {
		bool mapped = false;

		if (gp_kfd_is_sdma(q))
			continue;
		for_each_set_bit(xcc, &xccs, 32)
			mapped |= in_slots(seat, q, xcc);
		nr += mapped;
	}
	dqm_unlock(seat->dev->dqm);
	return nr;
}

#else /* !GP_KFD_NODES */

static int direct_can(struct gp_kfd_step *s)
{
	strscpy(s->why_not, "this driver is too old for packets of our own", sizeof(s->why_not));
	return -EBUSY;
}

static int direct_move(struct gp_kfd_step *s)
{
	return direct_can(s);
}

int gp_kfd_direct_late(struct kfd_node *node)
{
	return -ENODEV;
}

int gp_kfd_set_grace(struct kfd_node *node, u32 grace)
{
	return -EOPNOTSUPP;
}

int gp_kfd_mapped(struct kfd_process_device *seat)
{
	return -EOPNOTSUPP;
}

#endif

const struct gp_way gp_way_direct = {
	.name = "direct",
	.can = direct_can,
	.move = direct_move,
};
