// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "reader_process.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/param.h"
#include "lib/pointers.h"
#include "reader_subject.h"
#include "sandbox.h"

enum {
	EVENTS		= 64,
	ORDERS		= 256,	/* of one turn: a look may be due */
	SELDOM		= 16,	/* looks between two of a process that is not urgent */
	NO_SLOT		= GP_READER_SLOTS,
	FILES		= 16384,
};

#define AGAIN_NS	(100 * GP_MSEC)	/* after a process could not be opened */
#define UNSAID_NS	GP_MSEC		/* after the channel was full */
#define CHANNEL		((void *)0)	/* of epoll; else a struct watched */

/* A process with queues to look at. */
struct watched {
	struct watched *next;
	pid_t pid;
	u64 start;
	int pidfd;			/* -1: not opened yet, or gone */
	u64 retry_ns;			/* not to be opened before */
	struct gp_pointers_set *set;	/* of @slots */
	u32 *slots;
	u32 first;			/* of the chain of its queues */
	u32 nr;
	bool stale;			/* @set is not of these queues */
	bool urgent;			/* some queue of it is */
	bool gone, unsaid;		/* and the decider has not been told */
	int error;			/* last reported, 0 */
};

struct queue {
	struct watched *of;		/* NULL: unused */
	u32 next;
	u32 generation, wake;
	struct gp_ring_pointers ring;
	u64 rptr, wptr;			/* as published */
	u32 flags;
	bool fresh;			/* to be published */
};

struct reader {
	const struct gp_reader_args *args;
	struct gp_order_hello hello;	/* role 0 and slots 0 before it came */
	struct gp_reader_page *page;
	int epoll, wakefd;
	struct queue *queue;		/* by slot */
	struct watched *watched;
	u64 interval_ns, next_ns, now_ns;
	u64 looks, asked;		/* the number of a LOOK that is due, 0 */
	u32 *fresh;			/* slots to be published; some may be there twice */
	u32 nr_fresh;
	bool wake, unsaid;
	u32 listens;			/* what epoll waits for of the channel */
	size_t out_bytes;		/* of @out: it waits for room in the channel */
	struct gp_report out;
};

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * GP_SEC + (u64)ts.tv_nsec;
}

/* ---- reports ---- */

static void flush(struct reader *r, int flags)
{
	if (!r->out_bytes)
		return;
	if (send(r->args->channel, &r->out, r->out_bytes, MSG_NOSIGNAL | flags) >= 0 ||
	    errno != EAGAIN)
		r->out_bytes = 0;
}

/* @r->out has its body. There is none that waits. */
static void report(struct reader *r, u32 kind, const struct gp_order *about, int err)
{
	r->out.version = GP_READER_VERSION;
	r->out.kind = kind;
	r->out.pid = about->pid;
	r->out.start = about->start;
	r->out.error = -err;
	r->out.value = 0;
	r->out_bytes = gp_report_bytes(kind);
	flush(r, MSG_DONTWAIT);
}

static void report_failure(struct reader *r, const struct gp_order *about, int err)
{
	report(r, err == -ESRCH ? GP_REPORT_GONE : GP_REPORT_ERROR, about, err);
}

/* What could not be said at once is said later. */
static void say_of(struct reader *r, struct watched *w)
{
	const struct gp_order about = { .pid = w->pid, .start = w->start };

	w->unsaid = r->out_bytes;
	r->unsaid |= w->unsaid;
	if (!w->unsaid)
		report_failure(r, &about, w->gone ? -ESRCH : w->error);
}

static void say_rest(struct reader *r)
{
	struct watched *w;

	flush(r, MSG_DONTWAIT);
	if (!r->unsaid)
		return;
	r->unsaid = false;
	for (w = r->watched; w; w = w->next)
		if (w->unsaid)
			say_of(r, w);
}

/* ---- processes ---- */

static bool is_ours(const struct reader *r, u32 uid)
{
	u32 i;

	if (uid == r->args->user)
		return true;
	for (i = 0; i < r->hello.nr_ranges; i++)
		if (uid - r->hello.range[i].first < r->hello.range[i].count)
			return true;
	return false;
}

static int open_process(const struct reader *r, const struct gp_order *o,
			struct gp_reader_process *ret)
{
	int err = gp_reader_process_open(o->pid, o->start, ret);

	if (err || is_ours(r, ret->uid))
		return err;
	gp_reader_process_close(ret);
	return -EPERM;
}

/* A pidfd of exactly this process: as long as it does not end, its pid is no other's. */
static int open_pidfd(struct reader *r, struct watched *w)
{
	const struct gp_order about = { .pid = w->pid, .start = w->start };
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = w };
	struct gp_reader_process p;
	int fd, err = open_process(r, &about, &p);

	if (err)
		return err;
	fd = (int)syscall(SYS_pidfd_open, w->pid, 0);
	err = fd < 0 ? -errno : gp_reader_process_check(&p);
	if (!err && epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &e))
		err = -errno;
	gp_reader_process_close(&p);
	if (!err)
		w->pidfd = fd;
	else if (fd >= 0)
		close(fd);
	return err;
}

static void mark_fresh(struct reader *r, u32 slot, u32 why)
{
	struct queue *q = &r->queue[slot];

	r->wake |= q->wake & why;
	if (!q->fresh)
		r->fresh[r->nr_fresh++] = slot;
	q->fresh = true;
}

static void mark_unread(struct reader *r, const struct watched *w)
{
	u32 at;

	for (at = w->first; at != NO_SLOT; at = r->queue[at].next) {
		if (r->queue[at].flags)
			mark_fresh(r, at, GP_WAKE_WRITE);
		r->queue[at].flags = 0;
	}
}

static void drop_set(struct watched *w)
{
	gp_pointers_free(w->set);
	free(w->slots);
	w->set = NULL;
	w->slots = NULL;
	w->stale = true;
}

static void close_process(struct watched *w)
{
	drop_set(w);
	if (w->pidfd >= 0)
		close(w->pidfd);	/* epoll forgets it */
	w->pidfd = -1;
}

static void failed(struct reader *r, struct watched *w, int err)
{
	mark_unread(r, w);
	if (err == -ESRCH) {
		w->gone = true;
		close_process(w);
	} else if (w->pidfd < 0) {
		w->retry_ns = r->now_ns + AGAIN_NS;
	}
	if (err != w->error || w->gone) {
		w->error = err;
		say_of(r, w);
	}
}

/* The set of what is watched now; queues that were in the old one continue. */
static int make_set(struct reader *r, struct watched *w)
{
	struct gp_ring_pointers *rings = calloc(w->nr, sizeof(*rings));
	u32 *slots = calloc(w->nr, sizeof(*slots));
	struct gp_pointers_set *set = NULL;
	u32 at, n = 0;
	int err = -ENOMEM;

	w->urgent = false;
	for (at = w->first; rings && slots && at != NO_SLOT; at = r->queue[at].next) {
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

static void compare(struct reader *r, const struct watched *w)
{
	const struct gp_ring_pointers *at;
	bool stopped = false;
	u32 i, nr;

	at = gp_pointers_rings(w->set, &nr);
	for (i = 0; i < nr; i++)
		stopped |= (at[i].flags & GP_RING_MOVED) && at[i].rptr != at[i].wptr;
	/* Where a queue stopped is read when it stops, not at every look after. */
	stopped = stopped && !gp_pointers_barriers(w->set);
	for (i = 0; i < nr; i++) {
		struct queue *q = &r->queue[w->slots[i]];
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
		if (flags) {
			q->rptr = at[i].rptr;
			q->wptr = at[i].wptr;
		}
		q->flags = flags;
		mark_fresh(r, w->slots[i], why);
	}
}

static void look_at(struct reader *r, struct watched *w)
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
		failed(r, w, err);
		return;
	}
	w->error = 0;
	compare(r, w);
}

static void publish(struct reader *r)
{
	u32 i;

	for (i = 0; i < r->nr_fresh; i++) {
		struct gp_reader_slot *slot = &r->page->slot[r->fresh[i]];
		struct queue *q = &r->queue[r->fresh[i]];
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
		__atomic_store_n(&slot->changed_ns, r->now_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&slot->sequence, sequence + 2, __ATOMIC_RELEASE);
	}
	r->nr_fresh = 0;
}

/* Processes that ended. Orders are not taken here. */
static void take_exits(struct reader *r)
{
	struct epoll_event e[EVENTS];
	int i, n = epoll_wait(r->epoll, e, EVENTS, 0);

	for (i = 0; i < n; i++)
		if (e[i].data.ptr != CHANNEL)
			failed(r, e[i].data.ptr, -ESRCH);
}

static void look(struct reader *r)
{
	const u64 one = 1;
	bool all = r->asked || !(r->looks % SELDOM);
	struct watched *w;

	for (w = r->watched; w; w = w->next)
		if (all || w->urgent || w->stale)
			look_at(r, w);
	/* What was read of a pid that ended meanwhile may be another process's. */
	if (r->nr_fresh) {
		take_exits(r);
		publish(r);
	}
	__atomic_store_n(&r->page->looked_ns, r->now_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&r->page->looks, ++r->looks, __ATOMIC_RELEASE);
	if (r->asked)
		__atomic_store_n(&r->page->answered, r->asked, __ATOMIC_RELEASE);
	/* It fails only if the counter is full, and the decider being woken. */
	if (r->wake || r->asked)
		(void)!write(r->wakefd, &one, sizeof(one));
	r->wake = false;
	r->asked = 0;
	r->next_ns += r->interval_ns;
	if (r->next_ns <= r->now_ns)
		r->next_ns = r->now_ns + r->interval_ns;
}

/* ---- orders ---- */

static struct watched *find_process(struct reader *r, const struct gp_order *o)
{
	struct watched *w;

	for (w = r->watched; w; w = w->next)
		if (w->pid == o->pid && w->start == o->start)
			return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->pid = o->pid;
	w->start = o->start;
	w->pidfd = -1;
	w->first = NO_SLOT;
	w->next = r->watched;
	r->watched = w;
	return w;
}

static int unwatch(struct reader *r, u64 slot)
{
	struct watched *w, **at;
	u32 *link;

	if (slot >= GP_READER_SLOTS || !r->queue[slot].of)
		return -EINVAL;
	w = r->queue[slot].of;
	for (link = &w->first; *link != slot; link = &r->queue[*link].next)
		;
	*link = r->queue[slot].next;
	r->queue[slot] = (struct queue){ 0 };
	w->stale = true;
	if (--w->nr)
		return 0;
	for (at = &r->watched; *at != w; at = &(*at)->next)
		;
	*at = w->next;
	close_process(w);
	free(w);
	return 0;
}

static int watch(struct reader *r, const struct gp_order *o)
{
	const struct gp_order_watch *x = &o->watch;
	struct watched *w;

	if (o->pid <= 0 || x->slot >= GP_READER_SLOTS || x->wake & ~(u32)GP_WAKE_ALL)
		return -EINVAL;
	if (r->queue[x->slot].of)
		unwatch(r, x->slot);
	w = find_process(r, o);
	if (!w)
		return -ENOMEM;
	r->queue[x->slot] = (struct queue){
		.of = w, .next = w->first, .generation = x->generation, .wake = x->wake,
		.ring = { .read_at = x->read_at, .write_at = x->write_at,
			  .ring_base = x->ring_base, .ring_bytes = x->ring_bytes,
			  .kind = x->kind },
	};
	w->first = x->slot;
	w->nr++;
	w->stale = true;
	return 0;
}

static int set_interval(struct reader *r, u64 ns)
{
	if (ns && (ns < GP_READER_FASTEST || ns > GP_READER_SLOWEST))
		return -EINVAL;
	r->interval_ns = ns;
	r->next_ns = r->now_ns + ns;
	return 0;
}

static void describe(struct reader *r, const struct gp_order *o)
{
	struct gp_reader_process p;
	int err = o->pid > 0 ? open_process(r, o, &p) : -EINVAL;

	if (!err) {
		err = gp_reader_subject_read(&p, &r->out.subject);
		gp_reader_process_close(&p);
	}
	if (err)
		report_failure(r, o, err);
	else
		report(r, GP_REPORT_SUBJECT, o, 0);
}

/* This reader has nothing else to do, so it waits for room in the channel. */
static void dump(struct reader *r, const struct gp_order *o)
{
	struct gp_mqd_list list = { 0 };
	u32 i, line = 0;
	int err = gp_mqd_dump_read(r->args->mqds, o->pid, &list, &line);

	r->out = (struct gp_report){ .version = GP_READER_VERSION, .kind = GP_REPORT_MQDS };
	for (i = 0; i < list.count; i++) {
		const struct gp_mqd *m = &list.mqd[i];

		r->out.mqds.mqd[r->out.mqds.nr++] = (struct gp_report_mqd){
			.pid = m->pid, .gpu_id = m->gpu_id, .kind = m->kind, .copies = m->copies,
			.ring_bytes = m->ring_bytes, .doorbell = m->doorbell, .active = m->active,
			.pipe_priority = m->pipe_priority, .queue_priority = m->queue_priority,
			.ring_base = m->ring_base, .read_at = m->read_at, .write_at = m->write_at,
			.save_base = m->save_base,
		};
		if (r->out.mqds.nr < GP_READER_MQDS && i + 1 < list.count)
			continue;
		r->out_bytes = gp_report_bytes(GP_REPORT_MQDS);
		flush(r, 0);
		r->out.mqds.nr = 0;
	}
	r->out.kind = GP_REPORT_DUMPED;
	r->out.pid = o->pid;
	r->out.error = -err;
	r->out.value = err ? line : list.count;
	r->out_bytes = gp_report_bytes(GP_REPORT_DUMPED);
	flush(r, 0);
	gp_mqd_list_fini(&list);
}

static void obey(struct reader *r, const struct gp_order *o, ssize_t bytes)
{
	bool dumps = r->args->user == GP_READER_DUMP_USER;
	int err = 0;

	if (bytes != sizeof(*o) || o->version != GP_READER_VERSION ||
	    dumps != (o->kind == GP_ORDER_DUMP)) {
		report(r, GP_REPORT_ERROR, &(struct gp_order){ 0 }, -EPROTO);
		return;
	}
	switch (o->kind) {
	case GP_ORDER_WATCH:
		err = watch(r, o);
		break;
	case GP_ORDER_UNWATCH:
		err = unwatch(r, o->value);
		break;
	case GP_ORDER_INTERVAL:
		err = set_interval(r, o->value);
		break;
	case GP_ORDER_LOOK:
		r->asked = o->value;
		break;
	case GP_ORDER_DESCRIBE:
		describe(r, o);
		break;
	case GP_ORDER_DUMP:
		dump(r, o);
		break;
	default:
		err = -EPROTO;
	}
	if (err)
		report(r, GP_REPORT_ERROR, o, err);
}

/* False: the decider closed the channel. */
static bool take_orders(struct reader *r)
{
	struct gp_order o;
	ssize_t n;
	u32 i;

	for (i = 0; i < ORDERS && !r->out_bytes && !(r->interval_ns && now() >= r->next_ns); i++) {
		n = recv(r->args->channel, &o, sizeof(o), MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		if (!n)
			return false;
		obey(r, &o, n);
	}
	return true;
}

/* ---- life ---- */

/* The page and the eventfd come with the first order; anything else ends the reader. */
static int greet(struct reader *r)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct gp_order o;
	struct iovec part = { &o, sizeof(o) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(r->args->channel, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	struct stat st;
	int fd[2], seals;

	if (n != sizeof(o) || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || !c ||
	    c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(fd)) ||
	    o.version != GP_READER_VERSION || o.kind != GP_ORDER_HELLO ||
	    o.hello.slots != GP_READER_SLOTS || o.hello.nr_ranges > GP_READER_RANGES ||
	    (o.hello.role == GP_READER_OF_DUMP) != (r->args->user == GP_READER_DUMP_USER))
		return -EPROTO;
	memcpy(fd, CMSG_DATA(c), sizeof(fd));
	r->hello = o.hello;
	r->wakefd = fd[1];
	seals = fcntl(fd[0], F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd[0], &st) ||
	    st.st_size < (off_t)sizeof(*r->page))
		return -EPROTO;
	r->page = mmap(NULL, sizeof(*r->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd[0], 0);
	close(fd[0]);
	return r->page == MAP_FAILED ? -ENOMEM : 0;
}

static u64 wake_at(const struct reader *r)
{
	u64 at = r->interval_ns ? r->next_ns : GP_NEVER;

	if ((r->out_bytes || r->unsaid) && r->now_ns + UNSAID_NS < at)
		at = r->now_ns + UNSAID_NS;
	return at;
}

/* While a report waits for room no order is taken: orders may ask for more reports. */
static void listen_for(struct reader *r, u32 events)
{
	struct epoll_event e = { .events = events, .data.ptr = CHANNEL };

	if (events != r->listens &&
	    !epoll_ctl(r->epoll, r->listens ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, r->args->channel, &e))
		r->listens = events;
}

static bool turn(struct reader *r)
{
	struct epoll_event e[EVENTS];
	u64 at = wake_at(r), left = at > r->now_ns ? at - r->now_ns : 0;
	struct timespec ts = { .tv_sec = (time_t)(left / GP_SEC),
			       .tv_nsec = (long)(left % GP_SEC) };
	bool orders = false;
	int i, n;

	listen_for(r, r->out_bytes ? EPOLLOUT : EPOLLIN);
	n = epoll_pwait2(r->epoll, e, EVENTS, at == GP_NEVER ? NULL : &ts, NULL);

	r->now_ns = now();
	/* Orders last: they end processes that events speak of. */
	for (i = 0; i < n; i++) {
		if (e[i].data.ptr == CHANNEL)
			orders = true;
		else
			failed(r, e[i].data.ptr, -ESRCH);
	}
	say_rest(r);
	if (orders && !take_orders(r))
		return false;
	if (r->asked || r->nr_fresh || (r->interval_ns && r->now_ns >= r->next_ns))
		look(r);
	return true;
}

static int confine(const struct gp_reader_args *args)
{
	static const struct gp_call calls[] = {
		{ SYS_process_vm_readv, 0 }, { SYS_pread64, 0 }, { SYS_read, 0 },
		{ SYS_openat, GP_CALL_READ_ONLY }, { SYS_close, 0 }, { SYS_readlinkat, 0 },
		{ SYS_pidfd_open, 0 }, { SYS_epoll_pwait2, 0 }, { SYS_epoll_pwait, 0 },
		{ SYS_epoll_ctl, 0 }, { SYS_recvfrom, 0 }, { SYS_recvmsg, 0 },
		{ SYS_sendto, 0 }, { SYS_write, 0 }, { SYS_clock_gettime, 0 },
		{ SYS_fcntl, 0 }, { SYS_fstat, 0 }, { SYS_newfstatat, 0 }, { SYS_lseek, 0 },
		{ SYS_mmap, GP_CALL_NO_EXEC }, { SYS_munmap, 0 }, { SYS_mremap, 0 },
		{ SYS_madvise, 0 }, { SYS_brk, 0 }, { SYS_getrandom, 0 }, { SYS_futex, 0 },
		{ SYS_rt_sigreturn, 0 }, { SYS_restart_syscall, 0 }, { SYS_exit, 0 },
		{ SYS_exit_group, 0 },
#ifdef SYS_epoll_wait
		{ SYS_epoll_wait, 0 },
#endif
	};
	const struct gp_sandbox_args sandbox = {
		.capabilities = args->user == GP_READER_DUMP_USER ? 0 :
				BIT_ULL(CAP_SYS_PTRACE) | BIT_ULL(CAP_DAC_READ_SEARCH),
		.calls = calls, .nr_calls = sizeof(calls) / sizeof(*calls), .files = FILES,
	};

	/* Sleeps of microseconds are not stretched to save wake-ups. */
	prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
	return args->unconfined ? 0 : gp_sandbox(&sandbox);
}

int gp_reader_serve(const struct gp_reader_args *args)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		return 1;
	r->args = args;
	r->queue = calloc(GP_READER_SLOTS, sizeof(*r->queue));
	r->fresh = calloc(2 * GP_READER_SLOTS, sizeof(*r->fresh));
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!r->queue || !r->fresh || r->epoll < 0 || confine(args) || greet(r))
		return 1;
	r->now_ns = now();
	r->wake = true;
	look(r);	/* the first beat says that it is there */
	while (turn(r))
		;
	return 0;
}

int gp_reader_main(int channel, uid_t user)
{
	const struct gp_reader_args args = { .channel = channel, .user = user };

	return gp_reader_serve(&args);
}
