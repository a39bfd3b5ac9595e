// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/sys.h"
#include "supervisor.h"

enum {
	EVENTS	= 64,
	ORDERS	= 256,		/* of one turn */
	ORDERS_LEAST = 8,	/* of one turn even if a look is due, which may be always */
};

#define UNSAID_NS	GP_MSEC	/* after the channel was full */

static u64 now(const struct gp_reader_self *r)
{
	return r->args->clock ? r->args->clock(r->args->ctx) : gp_sys->monotonic_ns();
}

/* ---- orders ---- */

static struct gp_reader_watched *find_process(struct gp_reader_self *r, const struct gp_order *o)
{
	struct gp_reader_watched *w;

	for (w = r->watched; w; w = w->next)
		if (w->pid == o->pid && w->start == o->start)
			return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->pid = o->pid;
	w->start = o->start;
	w->pidfd = -1;
	w->first = GP_READER_NO_SLOT;
	w->next = r->watched;
	r->watched = w;
	return w;
}

static int unwatch(struct gp_reader_self *r, u64 slot)
{
	struct gp_reader_watched *w, **at;
	u32 *link;

	if (slot >= GP_READER_SLOTS || !r->queue[slot].of)
		return -EINVAL;
	w = r->queue[slot].of;
	for (link = &w->first; *link != slot; link = &r->queue[*link].next)
		;
	*link = r->queue[slot].next;
	r->queue[slot] = (struct gp_reader_queue){ 0 };
	w->stale = true;
	if (--w->nr)
		return 0;
	for (at = &r->watched; *at != w; at = &(*at)->next)
		;
	*at = w->next;
	gp_reader_drop(r, w);
	free(w);
	return 0;
}

static int watch(struct gp_reader_self *r, const struct gp_order *o)
{
	const struct gp_order_watch *x = &o->watch;
	struct gp_reader_watched *w;

	if (o->pid <= 0 || x->slot >= GP_READER_SLOTS || x->wake & ~(u32)GP_WAKE_ALL)
		return -EINVAL;
	if (r->queue[x->slot].of)
		unwatch(r, x->slot);
	w = find_process(r, o);
	if (!w)
		return -ENOMEM;
	r->queue[x->slot] = (struct gp_reader_queue){
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

static int set_interval(struct gp_reader_self *r, u64 ns)
{
	if (ns && (ns < GP_READER_FASTEST || ns > GP_READER_SLOWEST))
		return -EINVAL;
	r->interval_ns = ns;
	r->next_ns = r->now_ns + ns;
	return 0;
}

static void describe(struct gp_reader_self *r, const struct gp_order *o)
{
	struct gp_reader_process p;
	int err = o->pid > 0 ? gp_reader_open(r, o, &p) : -EINVAL;

	if (!err) {
		err = gp_reader_subject_read(&p, &r->out.subject);
		gp_reader_process_close(&p);
	}
	if (err)
		gp_reader_fail(r, o, err);
	else
		gp_reader_report(r, GP_REPORT_SUBJECT, o, 0);
}

/* Sends the dump. Waits for room in the channel, because this reader has no other work. */
static void dump(struct gp_reader_self *r, const struct gp_order *o)
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
		gp_reader_flush(r, 0);
		r->out.mqds.nr = 0;
	}
	r->out.kind = GP_REPORT_DUMPED;
	r->out.pid = o->pid;
	r->out.error = -err;
	r->out.value = err ? line : list.count;
	r->out_bytes = gp_report_bytes(GP_REPORT_DUMPED);
	gp_reader_flush(r, 0);
	gp_mqd_list_fini(&list);
}

static void obey(struct gp_reader_self *r, const struct gp_order *o, ssize_t bytes)
{
	bool dumps = r->args->user == GP_READER_DUMP_USER;
	int err = 0;

	if (bytes != sizeof(*o) || o->version != GP_READER_VERSION ||
	    dumps != (o->kind == GP_ORDER_DUMP)) {
		gp_reader_report(r, GP_REPORT_ERROR, &(struct gp_order){ 0 }, -EPROTO);
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
		gp_reader_report(r, GP_REPORT_ERROR, o, err);
}

/* Takes orders. Returns false if the decider closed the channel. */
static bool take_orders(struct gp_reader_self *r)
{
	struct gp_order o;
	ssize_t n;
	u32 i;

	for (i = 0; i < ORDERS && !r->out_bytes; i++) {
		if (i >= ORDERS_LEAST && r->interval_ns && now(r) >= r->next_ns)
			break;
		n = gp_sys->recv(r->args->channel, &o, sizeof(o), MSG_DONTWAIT | MSG_TRUNC);
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

/* Takes the first order, with the page and the eventfd. Any other message ends the reader. */
static int greet(struct gp_reader_self *r)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct gp_order o;
	struct iovec part = { &o, sizeof(o) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = gp_sys->recvmsg(r->args->channel, &m, MSG_CMSG_CLOEXEC);
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
	seals = gp_sys->fcntl(fd[0], F_GET_SEALS, 0);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || gp_sys->fstat(fd[0], &st) ||
	    st.st_size < (off_t)sizeof(*r->page)) {
		close(fd[0]);
		return -EPROTO;
	}
	r->page = gp_sys->mmap(NULL, sizeof(*r->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd[0],
			       0);
	close(fd[0]);
	if (r->page != MAP_FAILED)
		return 0;
	r->page = NULL;
	return -ENOMEM;
}

static u64 wake_at(const struct gp_reader_self *r)
{
	u64 at = r->interval_ns ? r->next_ns : GP_NEVER;

	if ((r->out_bytes || r->unsaid) && r->now_ns + UNSAID_NS < at)
		at = r->now_ns + UNSAID_NS;
	return at;
}

/*
 * Sets the events of the channel to wait for. Takes no order while a report waits for room, because
 * orders cause reports.
 */
static void listen_for(struct gp_reader_self *r, u32 events)
{
	struct epoll_event e = { .events = events, .data.ptr = GP_READER_CHANNEL };

	if (events != r->listens &&
	    !gp_sys->epoll_ctl(r->epoll, r->listens ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
			       r->args->channel, &e))
		r->listens = events;
}

bool gp_reader_turn(struct gp_reader_self *r, bool wait)
{
	struct epoll_event e[EVENTS];
	u64 at = wait ? wake_at(r) : 0, left = at > r->now_ns ? at - r->now_ns : 0;
	struct timespec ts = { .tv_sec = (time_t)(left / GP_SEC),
			       .tv_nsec = (long)(left % GP_SEC) };
	bool orders = false;
	int i, n;

	listen_for(r, r->out_bytes ? EPOLLOUT : EPOLLIN);
	n = gp_sys->epoll_pwait2(r->epoll, e, EVENTS, at == GP_NEVER ? NULL : &ts);

	r->now_ns = now(r);
	/* Take orders last, because they can free processes that events refer to. */
	for (i = 0; i < n; i++) {
		if (e[i].data.ptr == GP_READER_CHANNEL)
			orders = true;
		else
			gp_reader_failed(r, e[i].data.ptr, -ESRCH);
	}
	gp_reader_say_rest(r);
	if (orders && !take_orders(r))
		return false;
	if (r->asked || r->nr_fresh || (r->interval_ns && r->now_ns >= r->next_ns))
		gp_reader_look(r);
	return true;
}

static int confine(const struct gp_reader_args *args)
{
	static const int calls[] = {
		SYS_process_vm_readv, SYS_pread64, SYS_read, SYS_openat, SYS_close, SYS_readlinkat,
		SYS_pidfd_open, SYS_epoll_pwait2, SYS_epoll_pwait, SYS_epoll_ctl, SYS_recvfrom,
		SYS_recvmsg, SYS_sendto, SYS_write, SYS_clock_gettime, SYS_fcntl, SYS_fstat,
		SYS_newfstatat, SYS_lseek, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk,
		SYS_getrandom, SYS_futex, SYS_rt_sigreturn, SYS_restart_syscall, SYS_exit,
		SYS_exit_group,
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
	};
	const struct gp_syscalls only = { calls, sizeof(calls) / sizeof(*calls), true };
	struct gp_confinement may = gp_roles[GP_ROLE_READER].may;
	int err;

	/* Looks need sleeps with microsecond precision. */
	prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
	if (args->unconfined)
		return 0;
	if (args->user == GP_READER_DUMP_USER)
		may.caps = 0;
	err = gp_confine(&may);
	return err ? err : gp_confine_syscalls(&only);
}

void gp_reader_end(struct gp_reader_self *r)
{
	struct gp_reader_watched *w;

	if (!r)
		return;
	while ((w = r->watched)) {
		r->watched = w->next;
		gp_reader_drop(r, w);
		free(w);
	}
	if (r->page)
		munmap(r->page, sizeof(*r->page));
	if (r->wakefd >= 0)
		close(r->wakefd);
	if (r->epoll >= 0)
		close(r->epoll);
	free(r->queue);
	free(r->fresh);
	free(r);
}

int gp_reader_begin(const struct gp_reader_args *args, struct gp_reader_self **ret)
{
	struct gp_reader_self *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->args = args;
	r->wakefd = -1;
	r->queue = calloc(GP_READER_SLOTS, sizeof(*r->queue));
	r->fresh = calloc(2 * GP_READER_SLOTS, sizeof(*r->fresh));
	r->epoll = gp_sys->epoll_create(EPOLL_CLOEXEC);
	err = r->queue && r->fresh && r->epoll >= 0 ? confine(args) : -ENOMEM;
	if (!err)
		err = greet(r);
	if (err) {
		gp_reader_end(r);
		return err;
	}
	r->now_ns = now(r);
	r->wake = true;
	gp_reader_look(r);	/* the first heartbeat */
	*ret = r;
	return 0;
}

int gp_reader_serve(const struct gp_reader_args *args)
{
	struct gp_reader_self *r;

	if (gp_reader_begin(args, &r))
		return 1;
	while (gp_reader_turn(r, true))
		;
	gp_reader_end(r);
	return 0;
}

int gp_reader_main(int channel, uid_t user)
{
	const struct gp_reader_args args = { .channel = channel, .user = user };

	return gp_reader_serve(&args);
}
