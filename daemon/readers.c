// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "readers_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/sys.h"

enum {
	EVENTS	= 64,
	REPORTS	= 64,		/* of one user in one run */
	AT_ONCE	= 4,		/* DESCRIBE orders with the reader */
};

/* ---- life ---- */

int gp_readers_new(const struct gp_readers_args *args, struct gp_readers **ret)
{
	struct gp_readers *rs = calloc(1, sizeof(*rs));
	struct gp_readers_args *a;

	if (!rs)
		return -ENOMEM;
	rs->args = *args;
	a = &rs->args;
	a->late_ns = a->late_ns ? a->late_ns : 20 * GP_MSEC;
	a->late_intervals = a->late_intervals ? a->late_intervals : 20;
	a->start_ns = a->start_ns ? a->start_ns : GP_SEC;
	a->dump_ns = a->dump_ns ? a->dump_ns : GP_SEC;
	a->abandon_ns = a->abandon_ns ? a->abandon_ns : 200 * GP_MSEC;
	a->retry_ns = a->retry_ns ? a->retry_ns : GP_SEC;
	a->retry_max_ns = a->retry_max_ns ? a->retry_max_ns : 60 * GP_SEC;
	a->idle_ns = a->idle_ns ? a->idle_ns : 10 * GP_SEC;
	rs->wake_ns = GP_NEVER;
	rs->user = calloc(GP_READERS_USERS, sizeof(*rs->user));
	rs->epoll = gp_sys->epoll_create(EPOLL_CLOEXEC);
	if (!rs->user || rs->epoll < 0) {
		int err = rs->user ? -errno : -ENOMEM;

		gp_readers_free(rs);
		return err;
	}
	*ret = rs;
	return 0;
}

struct gp_readers_user *gp_readers_find(const struct gp_readers *rs, uid_t uid)
{
	u32 i;

	for (i = 0; i < rs->nr_users; i++)
		if (rs->user[i].used && rs->user[i].uid == uid)
			return &rs->user[i];
	return NULL;
}

/* Returns the entry of @uid, a new one if needed. NULL: too many users, or no memory. */
static struct gp_readers_user *find_or_add(struct gp_readers *rs, uid_t uid)
{
	struct gp_readers_user *u = gp_readers_find(rs, uid);
	u32 i;

	if (u)
		return u;
	for (i = 0; i < GP_READERS_USERS && rs->user[i].used; i++)
		;
	if (i == GP_READERS_USERS)
		return NULL;
	u = &rs->user[i];
	*u = (struct gp_readers_user){ .used = true, .uid = uid, .channel = -1, .wakefd = -1,
			    .retry_ns = rs->args.retry_ns, .idle_ns = rs->now_ns };
	u->slot = calloc(GP_READER_SLOTS, sizeof(*u->slot));
	if (!u->slot) {
		u->used = false;
		return NULL;
	}
	if (i >= rs->nr_users)
		rs->nr_users = i + 1;
	return u;
}

static u64 key(const struct gp_readers *rs, const struct gp_readers_user *u, u32 what)
{
	return (u64)(u - rs->user) * GP_READERS_NR + what;
}

/* @what: enum gp_readers_descriptor */
static int listen_to(struct gp_readers *rs, const struct gp_readers_user *u, u32 what, u32 events)
{
	struct epoll_event e = { .events = events, .data.u64 = key(rs, u, what) };
	int fd = what == GP_READERS_WAKE ? u->wakefd : u->channel;

	return gp_sys->epoll_ctl(rs->epoll, EPOLL_CTL_ADD, fd, &e) &&
	       (errno != EEXIST || gp_sys->epoll_ctl(rs->epoll, EPOLL_CTL_MOD, fd, &e)) ?
	       -errno : 0;
}

static void close_page(struct gp_readers_user *u)
{
	if (u->wakefd >= 0)
		close(u->wakefd);
	if (u->page)
		munmap((void *)u->page, sizeof(*u->page));
	u->wakefd = -1;
	u->page = NULL;
}

/* Forgets the reader of @u. The next reader gets all orders again. */
static void forget_reader(struct gp_readers *rs, struct gp_readers_user *u, int err)
{
	u32 i;

	close_page(u);
	u->channel = -1;
	u->id = 0;
	u->blocked = u->interval_told = u->readable = u->woken = false;
	u->look_told = u->look_done = u->look_asked;
	for (i = 0, u->untold = 0; i < u->nr_slots; i++) {
		u->slot[i].given = false;
		u->slot[i].told = !u->slot[i].of;
		u->untold += !u->slot[i].told;
	}
	for (i = 0; i < u->nr_questions; i++)
		if (u->question[i].sent_ns && !u->question[i].failed)
			u->question[i].failed = err;
	if (u->uid == GP_READER_DUMP_USER && rs->dump.asked && !rs->dump.done) {
		rs->dump.done = true;
		rs->dump.error = err;
		gp_mqd_list_fini(&rs->dump.list);
	}
	rs->dirty = rs->busy = true;
}

static void set_state(struct gp_readers *rs, struct gp_readers_user *u, u32 state)
{
	if (u->state == state)
		return;
	u->state = state;
	rs->stats.late += state == GP_READER_LATE;
	rs->busy = true;
}

/* Delays the next start of a reader. The delay doubles unless the last reader worked. */
static void put_off(struct gp_readers *rs, struct gp_readers_user *u)
{
	if (u->good_ns && rs->now_ns - u->good_ns >= rs->args.retry_max_ns)
		u->retry_ns = rs->args.retry_ns;
	u->retry_at_ns = gp_readers_later(u->started_ns + u->retry_ns, rs->now_ns);
	u->retry_ns = gp_sooner(2 * u->retry_ns, rs->args.retry_max_ns);
	u->good_ns = 0;
	set_state(rs, u, GP_READER_ABANDONED);
}

/* The reader may be stuck in the kernel. Its channel closes when it ends. */
void gp_readers_abandon(struct gp_readers *rs, struct gp_readers_user *u)
{
	rs->args.kill(rs->args.ctx, u->uid, u->id);
	/* If the kill is lost and the reader recovers, it ends by itself. */
	shutdown(u->channel, SHUT_WR);
	rs->stats.abandoned++;
	listen_to(rs, u, GP_READERS_OLD, 0);
	u->stuck[u->nr_stuck].id = u->id;
	u->stuck[u->nr_stuck++].channel = u->channel;
	forget_reader(rs, u, ETIMEDOUT);
	put_off(rs, u);
}

void gp_readers_ended(struct gp_readers *rs, struct gp_readers_user *u)
{
	close(u->channel);
	forget_reader(rs, u, EPIPE);
	put_off(rs, u);
}

static void reap(struct gp_readers *rs, struct gp_readers_user *u)
{
	char byte;
	u32 i;

	for (i = 0; i < u->nr_stuck;) {
		ssize_t n = gp_sys->recv(u->stuck[i].channel, &byte, 1, MSG_DONTWAIT);

		if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) {
			i += n <= 0;	/* drop its last messages */
			continue;
		}
		close(u->stuck[i].channel);
		u->stuck[i] = u->stuck[--u->nr_stuck];
	}
	rs->dirty = true;
}

static void remove_user(struct gp_readers_user *u)
{
	u32 i;

	if (u->channel >= 0)
		close(u->channel);
	close_page(u);
	for (i = 0; i < u->nr_stuck; i++)
		close(u->stuck[i].channel);
	free(u->slot);
	*u = (struct gp_readers_user){ .used = false };
}

void gp_readers_free(struct gp_readers *rs)
{
	u32 i;

	if (!rs)
		return;
	for (i = 0; i < rs->nr_users; i++) {
		struct gp_readers_user *u = &rs->user[i];

		while (u->used && u->watches)
			gp_readers_unwatch(rs, u->watches);
		if (u->used)
			remove_user(u);
	}
	if (rs->epoll >= 0)
		close(rs->epoll);
	gp_mqd_list_fini(&rs->dump.list);
	free(rs->user);
	free(rs);
}

/* ---- starting a reader ---- */

static int make_page(struct gp_readers_user *u)
{
	int fd = gp_sys->memfd_create("gpreempt-reader", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *at;

	if (fd < 0)
		return -errno;
	if (gp_sys->ftruncate(fd, sizeof(struct gp_reader_page)) ||
	    gp_sys->fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		goto failed;
	at = gp_sys->mmap(NULL, sizeof(struct gp_reader_page), PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		goto failed;
	u->wakefd = gp_sys->eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (u->wakefd < 0) {
		munmap(at, sizeof(struct gp_reader_page));
		goto failed;
	}
	u->page = at;
	return fd;

failed:
	close(fd);
	return -errno;
}

/* Sends the first order, with the page and the eventfd. A new channel has room for it. */
static int greet(struct gp_readers *rs, const struct gp_readers_user *u, int memory)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct gp_order o = {
		.version = GP_READER_VERSION, .kind = GP_ORDER_HELLO,
		.hello = { .slots = GP_READER_SLOTS,
			   .role = u->uid == GP_READER_DUMP_USER ? GP_READER_OF_DUMP :
								   GP_READER_OF_USER },
	};
	struct iovec part = { &o, sizeof(o) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	const int fd[2] = { memory, u->wakefd };

	if (rs->args.ranges && u->uid != GP_READER_DUMP_USER)
		o.hello.nr_ranges = rs->args.ranges(rs->args.ctx, u->uid, o.hello.range,
						    GP_READER_RANGES);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), fd, sizeof(fd));
	return gp_sys->sendmsg(u->channel, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void start(struct gp_readers *rs, struct gp_readers_user *u)
{
	int pair[2] = { -1, -1 }, memory = make_page(u), err = memory < 0 ? memory : 0;

	u->started_ns = rs->now_ns;
	if (!err && gp_sys->socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		err = -errno;
	u->channel = pair[0];
	u->id = ++rs->last_id;
	if (!err)
		err = greet(rs, u, memory);
	if (!err)
		err = listen_to(rs, u, GP_READERS_CHANNEL, EPOLLIN);
	if (!err)
		err = listen_to(rs, u, GP_READERS_WAKE, EPOLLIN | EPOLLET);
	if (!err)
		err = rs->args.make(rs->args.ctx, u->uid, u->id, pair[1]);
	if (memory >= 0)
		close(memory);
	if (pair[1] >= 0)
		close(pair[1]);
	if (err) {
		rs->stats.errors++;
		if (pair[0] >= 0)
			close(pair[0]);
		forget_reader(rs, u, -err);
		put_off(rs, u);
		return;
	}
	rs->stats.started++;
	u->looks = 0;
	u->beat_ns = rs->now_ns;
	set_state(rs, u, GP_READER_STARTING);
}

/* ---- orders ---- */

/* Sends an order. Returns false if the channel is full or the reader is gone. */
static bool order(struct gp_readers *rs, struct gp_readers_user *u, struct gp_order *o)
{
	o->version = GP_READER_VERSION;
	if (gp_sys->send(u->channel, o, sizeof(*o), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*o))
		return true;
	u->blocked = true;
	listen_to(rs, u, GP_READERS_CHANNEL, EPOLLIN | EPOLLOUT);
	return false;
}

static bool tell_slot(struct gp_readers *rs, struct gp_readers_user *u, u32 i)
{
	struct gp_wanted_slot *s = &u->slot[i];
	struct gp_order o = { .kind = GP_ORDER_UNWATCH, .value = i };

	if (s->of) {
		o.kind = GP_ORDER_WATCH;
		o.pid = s->of->who.pid;
		o.start = s->of->who.start;
		o.watch = (struct gp_order_watch){
			.slot = i, .generation = s->generation, .wake = s->wake,
			.kind = s->ring.kind, .ring_bytes = s->ring.ring_bytes,
			.read_at = s->ring.read_at, .write_at = s->ring.write_at,
			.ring_base = s->ring.ring_base,
		};
	}
	if (!order(rs, u, &o))
		return false;
	s->given = s->of;
	s->told = true;
	u->untold--;
	return true;
}

static bool tell_question(struct gp_readers *rs, struct gp_readers_user *u,
			  struct gp_readers_question *q)
{
	struct gp_order o = { .kind = GP_ORDER_DESCRIBE, .pid = q->who.pid,
			      .start = q->who.start, .value = q->number };

	if (!order(rs, u, &o))
		return false;
	q->sent_ns = rs->now_ns ? rs->now_ns : 1;
	return true;
}

static void tell_questions(struct gp_readers *rs, struct gp_readers_user *u)
{
	u32 i, out = 0;

	for (i = 0; i < u->nr_questions && out < AT_ONCE; i++) {
		struct gp_readers_question *q = &u->question[i];

		if (q->failed || (!q->sent_ns && !tell_question(rs, u, q)))
			continue;
		out += q->sent_ns != 0;
	}
}

/* Sends the pending orders to the reader of @u, as far as its channel has room. */
static void tell(struct gp_readers *rs, struct gp_readers_user *u)
{
	struct gp_order interval = { .kind = GP_ORDER_INTERVAL, .value = u->interval_ns };
	struct gp_order look = { .kind = GP_ORDER_LOOK, .value = u->look_asked };
	struct gp_order dump = { .kind = GP_ORDER_DUMP, .pid = rs->dump.only };
	u32 i;

	if (u->channel < 0 || u->blocked)
		return;
	if (u->uid == GP_READER_DUMP_USER) {
		if (rs->dump.asked && !rs->dump.sent && order(rs, u, &dump)) {
			rs->dump.sent = true;
			rs->dump.ns = rs->now_ns;
		}
		return;
	}
	if (!u->interval_told)
		u->interval_told = order(rs, u, &interval);
	for (i = 0; i < u->nr_slots && u->untold && !u->blocked; i++)
		if (!u->slot[i].told && !tell_slot(rs, u, i))
			return;
	if (!u->blocked && u->look_asked != u->look_told && order(rs, u, &look))
		u->look_told = u->look_asked;
	if (!u->blocked)
		tell_questions(rs, u);
}

/* ---- time ---- */

static bool is_needed(const struct gp_readers *rs, const struct gp_readers_user *u)
{
	u32 i;

	if (u->uid == GP_READER_DUMP_USER)
		return rs->dump.asked && !rs->dump.done;
	for (i = 0; i < u->nr_questions; i++)
		if (!u->question[i].failed)
			return true;
	return u->nr_watches;
}

/* Returns when the reader of @u becomes late if it sends nothing. */
static u64 late_at(const struct gp_readers *rs, const struct gp_readers_user *u)
{
	u64 limit = gp_readers_limit(rs, u), at = GP_NEVER;
	u32 i;

	if (!u->looks)
		return u->started_ns + rs->args.start_ns;
	if (u->uid == GP_READER_DUMP_USER)
		return rs->dump.sent && !rs->dump.done ? rs->dump.ns + rs->args.dump_ns : at;
	if (u->interval_ns)
		at = u->beat_ns + limit;
	if (u->look_done != u->look_asked)
		at = gp_sooner(at, u->look_ns + limit);
	for (i = 0; i < u->nr_questions; i++)
		if (u->question[i].sent_ns && !u->question[i].failed)
			at = gp_sooner(at, u->question[i].sent_ns + limit);
	return at;
}

/* Updates the state of the reader of @u. Returns when to call it again. */
static u64 judge(struct gp_readers *rs, struct gp_readers_user *u)
{
	u64 at;

	gp_readers_beat(rs, u);
	at = late_at(rs, u);
	if (rs->now_ns < at) {
		if (u->looks && u->state != GP_READER_GOOD) {
			u->good_ns = u->good_ns ? u->good_ns : rs->now_ns;
			set_state(rs, u, GP_READER_GOOD);
		}
		return at;
	}
	/* Count from when the decider saw it, because the machine may have slept meanwhile. */
	if (u->state != GP_READER_LATE) {
		u->late_ns = rs->now_ns;
		set_state(rs, u, GP_READER_LATE);
	}
	at = u->late_ns + rs->args.abandon_ns;
	if (rs->now_ns < at)
		return gp_sooner(at, rs->now_ns + rs->args.late_ns);
	gp_readers_abandon(rs, u);
	return u->retry_at_ns;
}

/* Does the work that is due for @u. Returns when to call it again. */
static u64 tend(struct gp_readers *rs, struct gp_readers_user *u)
{
	bool needed = is_needed(rs, u);

	if (needed)
		u->idle_ns = rs->now_ns;
	if (u->channel < 0) {
		if (!needed && !u->nr_stuck && !u->nr_questions &&
		    rs->now_ns >= u->retry_at_ns) {
			remove_user(u);
			return GP_NEVER;
		}
		set_state(rs, u, needed ? GP_READER_ABANDONED : GP_READER_NONE);
		if (rs->now_ns < u->retry_at_ns)
			return u->retry_at_ns;
		if (!needed || u->nr_stuck == GP_READERS_STUCK)
			return GP_NEVER;
		start(rs, u);
		if (u->channel < 0)
			return u->retry_at_ns;
	}
	if (!needed && rs->now_ns - u->idle_ns >= rs->args.idle_ns) {
		close(u->channel);
		forget_reader(rs, u, EPIPE);
		set_state(rs, u, GP_READER_NONE);
		return rs->now_ns;
	}
	tell(rs, u);
	return gp_sooner(judge(rs, u), needed ? GP_NEVER : u->idle_ns + rs->args.idle_ns);
}

static void take_event(struct gp_readers *rs, const struct epoll_event *e)
{
	struct gp_readers_user *u = &rs->user[e->data.u64 / GP_READERS_NR];

	if (e->data.u64 / GP_READERS_NR >= rs->nr_users || !u->used)
		return;
	switch (e->data.u64 % GP_READERS_NR) {
	case GP_READERS_WAKE:
		/* Each write gives an edge, so the counter need not be read. */
		if (u->wakefd < 0)
			return;
		u->woken = rs->busy = true;
		rs->dirty |= u->state != GP_READER_GOOD;
		gp_readers_beat(rs, u);
		return;
	case GP_READERS_OLD:
		reap(rs, u);
		return;
	default:
		if (e->events & EPOLLOUT && u->blocked) {
			u->blocked = false;
			listen_to(rs, u, GP_READERS_CHANNEL, EPOLLIN);
			rs->dirty = true;
		}
		u->readable |= (e->events & ~(u32)EPOLLOUT) != 0;
		rs->busy |= u->readable;
	}
}

void gp_readers_run(struct gp_readers *rs, u64 now_ns)
{
	struct epoll_event e[EVENTS];
	int i, n = gp_sys->epoll_wait(rs->epoll, e, EVENTS, 0);
	u32 at;

	if (now_ns > rs->now_ns)
		rs->now_ns = now_ns;
	for (at = 0; at < rs->nr_users; at++)
		rs->user[at].budget = REPORTS;
	for (i = 0; i < n; i++)
		take_event(rs, &e[i]);
	if (!rs->dirty && rs->now_ns < rs->wake_ns)
		return;
	rs->dirty = false;
	rs->wake_ns = GP_NEVER;
	for (at = 0; at < rs->nr_users; at++)
		if (rs->user[at].used)
			rs->wake_ns = gp_sooner(rs->wake_ns, tend(rs, &rs->user[at]));
}

int gp_readers_fd(const struct gp_readers *rs)
{
	return rs->epoll;
}

u64 gp_readers_wake_at(const struct gp_readers *rs)
{
	return rs->dirty || rs->busy ? rs->now_ns : rs->wake_ns;
}

/* ---- what is wanted ---- */


static void free_slot(struct gp_readers_user *u, u32 i)
{
	struct gp_wanted_slot *s = &u->slot[i];

	u->untold -= !s->told;
	*s = (struct gp_wanted_slot){ .generation = s->generation, .given = s->given,
				      .told = !s->given };
	u->untold += !s->told;
}

static u32 take_slot(struct gp_readers_user *u, struct gp_watch *w,
		     const struct gp_ring_pointers *ring, u32 wake)
{
	u32 i;

	for (i = 0; i < GP_READER_SLOTS && u->slot[i].of; i++)
		;
	if (i == GP_READER_SLOTS)
		return i;
	if (i >= u->nr_slots) {
		u->nr_slots = i + 1;
		u->slot[i].told = true;
	}
	u->untold += u->slot[i].told;
	u->slot[i] = (struct gp_wanted_slot){ .of = w, .generation = u->slot[i].generation + 1,
				    .wake = wake, .given = u->slot[i].given, .ring = *ring };
	return i;
}

/* Returns the present slot of @ring in @w if its order is unchanged. */
static u32 keep_slot(const struct gp_readers_user *u, struct gp_watch *w,
		     const struct gp_ring_pointers *ring, u32 wake)
{
	u32 i, slot;

	for (i = 0; i < w->nr; i++) {
		slot = w->slots[i];
		if (slot == GP_READER_SLOTS || u->slot[slot].wake != wake ||
		    !gp_pointers_same(&u->slot[slot].ring, ring))
			continue;
		w->slots[i] = GP_READER_SLOTS;
		return slot;
	}
	return GP_READER_SLOTS;
}

static struct gp_watch *add_watch(struct gp_readers *rs, const struct gp_reader_target *who)
{
	struct gp_readers_user *u = find_or_add(rs, who->user);
	struct gp_watch *w = u && u->nr_watches < GP_READERS_PROCESSES ? calloc(1, sizeof(*w)) :
									 NULL;

	if (!w)
		return NULL;
	*w = (struct gp_watch){ .user = u, .who = *who, .next = u->watches };
	u->watches = w;
	u->nr_watches++;
	return w;
}

static bool are_sane(const struct gp_reader_wanted *x)
{
	u32 i;

	for (i = 0; i < x->count; i++)
		if (!gp_pointers_sane(&x->rings[i]))
			return false;
	return x->count <= GP_READER_SLOTS && !(x->wake & ~(u32)GP_WAKE_ALL);
}

static u32 free_slots(const struct gp_readers_user *u)
{
	u32 i, n = GP_READER_SLOTS - u->nr_slots;

	for (i = 0; i < u->nr_slots; i++)
		n += !u->slot[i].of;
	return n;
}

int gp_readers_watch(struct gp_readers *rs, const struct gp_reader_target *who,
		     const struct gp_reader_wanted *wanted, struct gp_watch **watch)
{
	struct gp_watch *w = *watch;
	u32 i, *slots;

	if (!are_sane(wanted) || who->pid <= 0 || who->user == GP_READER_DUMP_USER)
		return -EINVAL;
	if (w && (w->who.pid != who->pid || w->who.start != who->start ||
		  w->who.user != who->user))
		return -EINVAL;
	slots = calloc(wanted->count + 1, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (!w)
		w = add_watch(rs, who);
	if (!w || free_slots(w->user) < wanted->count) {
		free(slots);
		if (w && !*watch)
			gp_readers_unwatch(rs, w);
		return -ENOSPC;
	}
	for (i = 0; i < wanted->count; i++) {
		slots[i] = keep_slot(w->user, w, &wanted->rings[i], wanted->wake);
		if (slots[i] == GP_READER_SLOTS)
			slots[i] = take_slot(w->user, w, &wanted->rings[i], wanted->wake);
	}
	for (i = 0; i < w->nr; i++)
		if (w->slots[i] != GP_READER_SLOTS)
			free_slot(w->user, w->slots[i]);
	free(w->slots);
	w->slots = slots;
	w->nr = wanted->count;
	*watch = w;
	rs->dirty = true;
	return 0;
}

void gp_readers_unwatch(struct gp_readers *rs, struct gp_watch *w)
{
	struct gp_watch **at;
	u32 i;

	if (!w)
		return;
	for (i = 0; i < w->nr; i++)
		free_slot(w->user, w->slots[i]);
	for (at = &w->user->watches; *at != w; at = &(*at)->next)
		;
	*at = w->next;
	w->user->nr_watches--;
	free(w->slots);
	free(w);
	rs->dirty = true;
}

void gp_readers_interval(struct gp_readers *rs, uid_t user, u64 ns)
{
	struct gp_readers_user *u = gp_readers_find(rs, user);

	if (ns)
		ns = gp_sooner(gp_readers_later(ns, GP_READER_FASTEST), GP_READER_SLOWEST);
	if (!u || u->interval_ns == ns)
		return;
	u->interval_ns = ns;
	u->interval_told = false;
	u->beat_ns = rs->now_ns;
	rs->dirty = true;
}

int gp_readers_look(struct gp_readers *rs, uid_t user, u64 *number)
{
	struct gp_readers_user *u = gp_readers_find(rs, user);

	if (!u || u->state != GP_READER_GOOD)
		return -ENOENT;
	/* The oldest pending request decides whether the reader is late. */
	if (u->look_done == u->look_asked)
		u->look_ns = rs->now_ns;
	*number = ++u->look_asked;
	/* Send it without another run. The next run is when the reader may be late. */
	tell(rs, u);
	rs->wake_ns = gp_sooner(rs->wake_ns, rs->now_ns + gp_readers_limit(rs, u));
	return 0;
}

int gp_readers_describe(struct gp_readers *rs, const struct gp_reader_target *who)
{
	struct gp_readers_user *u;

	if (who->pid <= 0 || who->user == GP_READER_DUMP_USER)
		return -EINVAL;
	u = find_or_add(rs, who->user);
	if (!u)
		return -ENOSPC;
	if (u->nr_questions == GP_READERS_ASKED)
		return -EAGAIN;
	u->question[u->nr_questions++] = (struct gp_readers_question){
		.who = *who, .number = ++u->last_question,
	};
	rs->dirty = true;
	return 0;
}

int gp_readers_dump(struct gp_readers *rs, pid_t only)
{
	struct gp_readers_user *u = find_or_add(rs, GP_READER_DUMP_USER);

	if (!u)
		return -ENOSPC;
	if (rs->dump.asked || u->state == GP_READER_LATE ||
	    (u->channel < 0 && (rs->now_ns < u->retry_at_ns || u->nr_stuck == GP_READERS_STUCK)))
		return -EAGAIN;
	gp_mqd_list_fini(&rs->dump.list);
	rs->dump.asked = true;
	rs->dump.sent = rs->dump.done = false;
	rs->dump.only = only;
	rs->dump.error = 0;
	rs->dump.number = 0;
	rs->dirty = true;
	return 0;
}
