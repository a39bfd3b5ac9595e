// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "reader.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/sys.h"

enum {
	EVENTS	= 64,
	SELDOM	= 16,		/* looks between two of a process that is not urgent */
};

#define AGAIN_NS	(100 * GP_MSEC)	/* after a process could not be opened */

/* ---- reports ---- */

void gp_reader_flush(struct gp_reader_self *r, int flags)
{
	if (!r->out_bytes)
		return;
	if (gp_sys->send(r->args->channel, &r->out, r->out_bytes, MSG_NOSIGNAL | flags) >= 0 ||
	    errno != EAGAIN)
		r->out_bytes = 0;
}

/* Sends the report whose body is in @r->out. No other report may wait. */
void gp_reader_report(struct gp_reader_self *r, u32 kind, const struct gp_order *about, int err)
{
	r->out.version = GP_READER_VERSION;
	r->out.kind = kind;
	r->out.pid = about->pid;
	r->out.start = about->start;
	r->out.error = -err;
	r->out.value = about->kind == GP_ORDER_DESCRIBE ? about->value : 0;
	r->out_bytes = gp_report_bytes(kind);
	gp_reader_flush(r, MSG_DONTWAIT);
}

void gp_reader_fail(struct gp_reader_self *r, const struct gp_order *about, int err)
{
	gp_reader_report(r, err == -ESRCH ? GP_REPORT_GONE : GP_REPORT_ERROR, about, err);
}

/* Reports the state of @w, or marks it for later if the channel is full. */
static void say_of(struct gp_reader_self *r, struct gp_reader_watched *w)
{
	const struct gp_order about = { .pid = w->pid, .start = w->start };

	w->unsaid = r->out_bytes;
	r->unsaid |= w->unsaid;
	if (!w->unsaid)
		gp_reader_fail(r, &about, w->gone ? -ESRCH : w->error);
}

void gp_reader_say_rest(struct gp_reader_self *r)
{
	struct gp_reader_watched *w;

	gp_reader_flush(r, MSG_DONTWAIT);
	if (!r->unsaid)
		return;
	r->unsaid = false;
	for (w = r->watched; w; w = w->next)
		if (w->unsaid)
			say_of(r, w);
}

/* ---- processes ---- */

static bool is_ours(const struct gp_reader_self *r, u32 uid)
{
	u32 i;

	if (uid == r->args->user)
		return true;
	for (i = 0; i < r->hello.nr_ranges; i++)
		if (uid - r->hello.range[i].first < r->hello.range[i].count)
			return true;
	return false;
}

int gp_reader_open(const struct gp_reader_self *r, const struct gp_order *o,
			struct gp_reader_process *ret)
{
	int err = gp_reader_process_open(o->pid, o->start, ret);

	if (err || is_ours(r, ret->uid))
		return err;
	gp_reader_process_close(ret);
	return -EPERM;
}

/* Opens a pidfd of exactly this process. Until the process ends, its pid is not reused. */
static int open_pidfd(struct gp_reader_self *r, struct gp_reader_watched *w)
{
	const struct gp_order about = { .pid = w->pid, .start = w->start };
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = w };
	struct gp_reader_process p;
	int fd, err = gp_reader_open(r, &about, &p);

	if (err)
		return err;
	fd = gp_sys->pidfd_open(w->pid, 0);
	err = fd < 0 ? -errno : gp_reader_process_check(&p);
	if (!err && gp_sys->epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &e))
		err = -errno;
	gp_reader_process_close(&p);
	if (!err)
		w->pidfd = fd;
	else if (fd >= 0)
		close(fd);
	return err;
}

static void mark_fresh(struct gp_reader_self *r, u32 slot, u32 why)
{
	struct gp_reader_queue *q = &r->queue[slot];

	r->wake |= q->wake & why;
	if (!q->fresh)
		r->fresh[r->nr_fresh++] = slot;
	q->fresh = true;
}

static void mark_unread(struct gp_reader_self *r, const struct gp_reader_watched *w)
{
	u32 at;

	for (at = w->first; at != GP_READER_NO_SLOT; at = r->queue[at].next) {
		if (r->queue[at].flags)
			mark_fresh(r, at, GP_WAKE_WRITE);
		r->queue[at].flags = 0;
	}
}

static void drop_set(struct gp_reader_watched *w)
{
	gp_pointers_free(w->set);
	free(w->slots);
	w->set = NULL;
	w->slots = NULL;
	w->stale = true;
}

void gp_reader_drop(struct gp_reader_self *r, struct gp_reader_watched *w)
{
	drop_set(w);
	if (w->pidfd >= 0) {
		/* close() does not remove it if a child has a copy. */
		gp_sys->epoll_ctl(r->epoll, EPOLL_CTL_DEL, w->pidfd, NULL);
		close(w->pidfd);
	}
	w->pidfd = -1;
}

void gp_reader_failed(struct gp_reader_self *r, struct gp_reader_watched *w, int err)
{
	mark_unread(r, w);
	if (err == -ESRCH) {
		w->gone = true;
		gp_reader_drop(r, w);
	} else if (w->pidfd < 0) {
		w->retry_ns = r->now_ns + AGAIN_NS;
	}
	if (err != w->error || w->gone) {
		w->error = err;
		say_of(r, w);
	}
}

/* Makes the set of watched queues. Queues of the old set continue. */
static int make_set(struct gp_reader_self *r, struct gp_reader_watched *w)
{
	struct gp_ring_pointers *rings = calloc(w->nr, sizeof(*rings));
	u32 *slots = calloc(w->nr, sizeof(*slots));
	struct gp_pointers_set *set = NULL;
	u32 at, n = 0;
	int err = -ENOMEM;

	w->urgent = false;
	for (at = w->first; rings && slots && at != GP_READER_NO_SLOT; at = r->queue[at].next) {
		slots[n] = at;
		rings[n++] = r->queue[at].ring;
		w->urgent |= !(r->queue[at].wake & GP_WAKE_SELDOM);
	}
	if (n)
		err = gp_pointers_alloc(NULL, w->pid, rings, n, &set);
	free(rings);
	if (err) {
		free(slots);
		return err;
	}
	if (w->set)
		gp_pointers_carry(set, w->set);
	drop_set(w);
	w->set = set;
	w->slots = slots;
	w->stale = false;
	return 0;
}

/* ---- looks ---- */

static void compare(struct gp_reader_self *r, const struct gp_reader_watched *w)
{
	const struct gp_ring_pointers *at;
	bool stopped = false;
	u32 i, nr;

	at = gp_pointers_rings(w->set, &nr);
	for (i = 0; i < nr; i++)
		stopped |= (at[i].flags & GP_RING_MOVED) && at[i].rptr != at[i].wptr;
	/* Check for a barrier only when the queue stops, not at every later look. */
	stopped = stopped && !gp_pointers_barriers(w->set);
	for (i = 0; i < nr; i++) {
		struct gp_reader_queue *q = &r->queue[w->slots[i]];
		u32 flags = 0, why = 0;

		if (at[i].flags & GP_RING_READ)
			flags = GP_SLOT_READ | (stopped || at[i].flags & GP_RING_MOVED ?
						at[i].flags & GP_RING_AT_BARRIER ?
						GP_SLOT_AT_BARRIER : 0 :
						q->flags & GP_SLOT_AT_BARRIER);
		if ((flags ^ q->flags) & GP_SLOT_READ || (flags && at[i].wptr != q->wptr))
			why |= GP_WAKE_WRITE;
		if (flags && at[i].rptr != q->rptr)
			why |= GP_WAKE_READ;
		if (!why && flags == q->flags)
			continue;
		if (flags && at[i].wptr != q->wptr)
			q->before_ns = q->flags ? w->looked_ns : 0;
		if (flags) {
			q->rptr = at[i].rptr;
			q->wptr = at[i].wptr;
		}
		q->flags = flags;
		mark_fresh(r, w->slots[i], why);
	}
}

static void look_at(struct gp_reader_self *r, struct gp_reader_watched *w)
{
	int err = 0;

	if (w->gone || !w->nr || (w->pidfd < 0 && r->now_ns < w->retry_ns))
		return;
	if (w->pidfd < 0)
		err = open_pidfd(r, w);
	if (!err && w->stale)
		err = make_set(r, w);
	if (!err)
		err = gp_pointers_look(w->set);
	if (err) {
		gp_reader_failed(r, w, err);
		return;
	}
	w->error = 0;
	compare(r, w);
	w->looked_ns = r->now_ns;
}

static void publish(struct gp_reader_self *r)
{
	u32 i;

	for (i = 0; i < r->nr_fresh; i++) {
		struct gp_reader_slot *slot = &r->page->slot[r->fresh[i]];
		struct gp_reader_queue *q = &r->queue[r->fresh[i]];
		u32 sequence = slot->sequence;

		if (!q->fresh)
			continue;
		q->fresh = false;
		__atomic_store_n(&slot->sequence, sequence + 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		__atomic_store_n(&slot->generation, q->generation, __ATOMIC_RELAXED);
		__atomic_store_n(&slot->flags, q->flags, __ATOMIC_RELAXED);
		__atomic_store_n(&slot->rptr, q->rptr, __ATOMIC_RELAXED);
		__atomic_store_n(&slot->wptr, q->wptr, __ATOMIC_RELAXED);
		__atomic_store_n(&slot->before_ns, q->before_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&slot->sequence, sequence + 2, __ATOMIC_RELEASE);
	}
	r->nr_fresh = 0;
}

/* Handles processes that ended. Takes no orders. */
static void take_exits(struct gp_reader_self *r)
{
	struct epoll_event e[EVENTS];
	int i, n = gp_sys->epoll_wait(r->epoll, e, EVENTS, 0);

	for (i = 0; i < n; i++)
		if (e[i].data.ptr != GP_READER_CHANNEL)
			gp_reader_failed(r, e[i].data.ptr, -ESRCH);
}

static void show(struct gp_reader_self *r)
{
	if (!r->nr_fresh)
		return;
	/* The pid may have been reused during the read. */
	take_exits(r);
	publish(r);
}

static void wake_decider(struct gp_reader_self *r)
{
	const u64 one = 1;

	/* It fails only if the counter is full, which cannot happen in the life of a reader. */
	(void)!gp_sys->write(r->wakefd, &one, sizeof(one));
	r->wake = false;
}

void gp_reader_look(struct gp_reader_self *r)
{
	bool all = r->asked || !(r->looks % SELDOM);
	struct gp_reader_watched *w;

	for (w = r->watched; w; w = w->next) {
		if (all || w->urgent || w->stale)
			look_at(r, w);
		if (!r->wake || r->asked)
			continue;
		/* Publish now, so that an arrival does not wait for looks at other processes. */
		show(r);
		wake_decider(r);
	}
	show(r);
	__atomic_store_n(&r->page->looked_ns, r->now_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&r->page->looks, ++r->looks, __ATOMIC_RELEASE);
	if (r->asked)
		__atomic_store_n(&r->page->answered, r->asked, __ATOMIC_RELEASE);
	if (r->wake || r->asked)
		wake_decider(r);
	r->asked = 0;
	/* A requested look shifts the next regular one but does not replace it. */
	r->next_ns = r->now_ns < r->next_ns ? r->now_ns + r->interval_ns :
					      r->next_ns + r->interval_ns;
	if (r->next_ns <= r->now_ns)
		r->next_ns = r->now_ns + r->interval_ns;
}
