// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What the module sees by itself, and what of it a program is told: events, poll, statistics. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/seat.h"
#include "core/trace.h"
#include "kernel.h"

enum { LOOK_US = 2000, LOOKS = 15000, QUIET_US = 300000 };

/* ---- work that waits for another process ---- */

static bool is_blocked(int ctl, u32 task)
{
	for (u32 i = 0; i < LOOKS; i++) {
		if (seat_of(ctl, task).work == GP_BLOCKED)
			return true;
		usleep(LOOK_US);
	}
	return false;
}

/* @victim was not taken off since @stops, and is not off now. */
static bool leaves_alone(int ctl, u32 victim, u64 stops)
{
	struct gp_uapi_seat is;
	bool stays;

	usleep(QUIET_US);
	is = seat_of(ctl, victim);
	stays = EQ(is.stops, stops);
	return EQ(is.state, GP_UAPI_ON) && stays;
}

static void barrier(void)
{
	struct gp_uapi_name priority = { .name = "priority" };
	struct target t = target_ready(1), o = target_ready(1);
	int ctl = control("evict");
	u32 victim = attach(ctl, t.pid), online = attach_online(ctl, o.pid);
	u64 stops;

	EQ(call(ctl, GP_IOC_SET_POLICY, &priority), 0);
	set_param(ctl, "linger", 0);
	set_param(ctl, "small_victim", 0);
	EQ(target_ask(&t, ASK_HUGE, 0), 0);
	NEED(runs_huge(t.pid));
	CHECK(leaves_alone(ctl, victim, 0));
	EQ(target_ask(&o, ASK_BARRIER, 0), 0);
	CHECK(is_blocked(ctl, online));
	CHECK(comes_to(ctl, victim, GP_UAPI_ON));
	CHECK(device_maps(t.pid, t.ring[0], true));
	stops = seat_of(ctl, victim).stops;
	CHECK(leaves_alone(ctl, victim, stops));
	/* Work behind the barrier cannot run either. */
	EQ(target_ask(&o, ASK_SHORT, 0), 0);
	CHECK(leaves_alone(ctl, victim, stops));
	EQ(seat_of(ctl, online).work, GP_BLOCKED);
	EQ(target_ask(&o, ASK_PASS, 0), 0);
	EQ(target_ask(&o, ASK_DONE, 0), 0);
	/* On a slow machine the victim has nothing left to be taken off for. */
	if (waves_of(t.pid) != 400)
		EQ(target_ask(&t, ASK_HUGE, 0), 0);
	NEED(runs_huge(t.pid));
	EQ(target_ask(&o, ASK_HUGE, 0), 0);
	for (u32 i = 0; i < LOOKS && seat_of(ctl, victim).stops == stops; i++)
		usleep(LOOK_US);
	CHECK(seat_of(ctl, victim).stops > stops);
	target_ends_right(&o);
	target_ends_right(&t);
	close(ctl);
}

/* ---- queues that come and go ---- */

/* Work of @o is seen, and @victim has to go for it. */
static bool preempts(int ctl, const struct target *o, u32 victim)
{
	u64 stops = seat_of(ctl, victim).stops;

	EQ(target_ask(o, ASK_HUGE, 0), 0);
	for (u32 i = 0; i < LOOKS && seat_of(ctl, victim).stops == stops; i++)
		usleep(LOOK_US);
	return seat_of(ctl, victim).stops > stops;
}

/* Between two scans, so that all that is known of the second is true of the first. */
static void renewed(enum ask kind)
{
	struct gp_uapi_name fifo = { .name = "fifo" }, priority = { .name = "priority" };
	struct target t = target_ready(1), o = target_ready(0);
	int ctl = control("evict");
	u32 victim = attach(ctl, t.pid);

	NEED(target_ask(&o, kind, 0) >= 0);
	attach_online(ctl, o.pid);
	set_param(ctl, "linger", 0);
	set_param(ctl, "small_victim", 0);
	/* With this policy the module does not ask which processes came. */
	EQ(call(ctl, GP_IOC_SET_POLICY, &fifo), 0);
	usleep(QUIET_US);
	NEED(target_ask(&o, ASK_RENEW, 0) == 1);
	EQ(call(ctl, GP_IOC_SET_POLICY, &priority), 0);
	EQ(target_ask(&t, ASK_HUGE, 0), 0);
	NEED(runs_huge(t.pid));
	usleep(QUIET_US);
	CHECK(preempts(ctl, &o, victim));
	target_ends_right(&o);
	target_ends_right(&t);
	close(ctl);
}

static void renewed_pages(void)
{
	renewed(ASK_QUEUE);
}

static void renewed_buffers(void)
{
	renewed(ASK_QUEUE_GTT);
}

/* ---- events ---- */

static short ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	NEED(poll(&p, 1, 0) >= 0);
	return p.revents;
}

/* The states of @task that are in the next records of @ctl, as "120" for STOPPING, OFF, ON. */
static void read_states(int ctl, u32 task, char *to, size_t room)
{
	struct gp_uapi_event e;
	size_t n = 0;

	while (read(ctl, &e, sizeof(e)) == sizeof(e) && n + 1 < room) {
		if (e.kind != GP_UAPI_EVENT_STATE)
			continue;
		EQ(e.task, task);
		CHECK(e.gpu_id == gpu_of(ctl).gpu_id && e.time_ns);
		to[n++] = (char)('0' + e.arg[1]);
	}
	EQ(errno, EAGAIN);
	to[n] = '\0';
}

static void subscribe(int ctl, int eventfd)
{
	struct gp_uapi_subscribe s = { .what = GP_UAPI_EVENTS, .eventfd = eventfd };

	NEED(fcntl(ctl, F_SETFL, O_NONBLOCK) == 0);
	EQ(call(ctl, GP_IOC_SUBSCRIBE, &s), 0);
}

static void events_are_told(void)
{
	struct gp_uapi_subscribe wrong = { .what = GP_UAPI_EVENTS, .eventfd = 1000 };
	struct target t = target_ready(1);
	int ctl = control("evict"), other = control("evict"), bell = eventfd(0, EFD_NONBLOCK);
	u32 task = attach(ctl, t.pid);
	char states[16], little[8];
	u64 rang = 0;

	EQ(call(ctl, GP_IOC_SUBSCRIBE, &wrong), -EBADF);
	subscribe(ctl, bell);
	subscribe(other, -1);
	EQ(ready(ctl) | ready(bell), 0);
	EQ(preempt(ctl, &task, 1), 0);
	EQ(ready(ctl), POLLIN);
	EQ(ready(bell), POLLIN);
	CHECK(read(bell, &rang, sizeof(rang)) == sizeof(rang) && rang >= 1);
	CHECK(read(ctl, little, sizeof(little)) == -1 && errno == EINVAL);
	read_states(ctl, task, states, sizeof(states));
	CHECK(!strcmp(states, "12"));		/* stopping, off */
	EQ(ready(ctl) | ready(bell), 0);
	EQ(resume(ctl, &task, 1), 0);
	EQ(ready(bell), POLLIN);
	read_states(ctl, task, states, sizeof(states));
	CHECK(!strcmp(states, "30"));		/* starting, on */
	/* No process is told of other users' tasks. */
	EQ(ready(other), 0);
	target_ends_right(&t);
	close(other);
	close(ctl);
}

/* ---- the scheduler's own records ---- */

/* Kinds among what @ctl has to read, as bits; GPUs and the only task are called by their names. */
static u64 read_kinds(int ctl, pid_t pid, u32 *first)
{
	struct gp_uapi_event e;
	u64 kinds[2] = { 0 };

	*first = 0;
	while (read(ctl, &e, sizeof(e)) == sizeof(e)) {
		if (!*first)
			*first = e.kind;
		if (e.kind == GP_REC_DEVICE_ADD)
			EQ(e.arg[1], gpu_of(ctl).gpu_id);
		if (e.kind == GP_REC_NAME)
			EQ(e.queue, (u32)pid);
		if (e.kind < 128)
			kinds[e.kind / 64] |= 1ull << e.kind % 64;
	}
	return kinds[0] | kinds[1] << 32;	/* outputs behind the inputs */
}

#define INPUT(kind)	(1ull << (kind))
#define OUTPUT(kind)	(1ull << ((kind) - 64 + 32))

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	return (int)syscall(SYS_capset, &head, none);
}

static void records_are_told(void)
{
	const u64 described = INPUT(GP_REC_INIT) | INPUT(GP_REC_DEVICE_ADD) |
			      INPUT(GP_REC_TASK_ADD) | INPUT(GP_REC_QUEUE_ADD) |
			      OUTPUT(GP_REC_NAME);
	const u64 of_a_stop = INPUT(GP_REC_HOLD) | INPUT(GP_REC_ANSWER) |
			      OUTPUT(GP_REC_ACTION) | OUTPUT(GP_REC_STATE);
	const u64 idle_talk = INPUT(GP_REC_TICK) | INPUT(GP_REC_PULL);
	struct gp_uapi_subscribe all = { .what = GP_UAPI_TRACE, .eventfd = -1 };
	struct target t = target_ready(1);
	int ctl = control("evict"), status = 0;
	u32 task = attach(ctl, t.pid), first;
	pid_t reader;
	u64 kinds;

	NEED(fcntl(ctl, F_SETFL, O_NONBLOCK) == 0);
	EQ(call(ctl, GP_IOC_SUBSCRIBE, &all), 0);
	EQ(read_kinds(ctl, t.pid, &first) & described, described);
	EQ(first, GP_REC_INIT);
	EQ(preempt(ctl, &task, 1), 0);
	kinds = read_kinds(ctl, t.pid, &first);
	EQ(kinds & of_a_stop, of_a_stop);
	EQ(kinds & idle_talk, 0);
	/* They are about all tasks, so an open device is not enough to read them. */
	reader = fork();
	if (!reader)
		_exit(become(1000) || call(ctl, GP_IOC_SUBSCRIBE, &all) != -EPERM);
	CHECK(waitpid(reader, &status, 0) == reader && status == 0);
	/* Root needs no capability for them. */
	reader = fork();
	if (!reader)
		_exit(drop_capabilities() || call(ctl, GP_IOC_SUBSCRIBE, &all));
	CHECK(waitpid(reader, &status, 0) == reader && status == 0);
	EQ(resume(ctl, &task, 1), 0);
	target_ends_right(&t);
	close(ctl);
}

/* ---- the page of statistics ---- */

static void *map(int ctl, size_t pages, int how, off_t from)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, pages * page, how, MAP_SHARED, ctl, from * (off_t)page);

	return at == MAP_FAILED ? NULL : at;
}

static void statistics(void)
{
	struct target t = target_ready(1);
	int ctl = control("evict");
	u32 task = attach(ctl, t.pid);
	const volatile struct gp_uapi_stats *s = map(ctl, 1, PROT_READ, 0);
	u64 stopped, started;

	NEED(s);
	CHECK(!map(ctl, 1, PROT_READ | PROT_WRITE, 0) && errno == EPERM);
	CHECK(!map(ctl, 1, PROT_READ | PROT_EXEC, 0) && errno == EPERM);
	CHECK(!map(ctl, 2, PROT_READ, 0) && errno == EINVAL);
	CHECK(!map(ctl, 1, PROT_READ, 1) && errno == EINVAL);
	CHECK(mprotect((void *)s, 1, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
	EQ(s->version, GP_UAPI_VERSION);
	EQ(s->bytes, sizeof(*s));
	EQ(s->nr_tasks, 1);
	EQ(s->nr_off, 0);
	stopped = s->stopped;
	started = s->started;
	EQ(preempt(ctl, &task, 1), 0);
	EQ(s->stopped, stopped + 1);
	EQ(s->nr_off, 1);
	EQ(resume(ctl, &task, 1), 0);
	EQ(s->started, started + 1);
	EQ(s->nr_off, 0);
	/* The page is the module's: it stays when the descriptor is closed. */
	target_ends_right(&t);
	close(ctl);
	EQ(s->nr_tasks, 0);
}

const struct story watch[] = {
	{ "a process without work preempts no other; nor does one at a barrier, nor work behind "
	  "that, until it passes", barrier },
	{ "a queue that is destroyed and made anew at the same addresses is looked at: the "
	  "process's own pages", renewed_pages },
	{ "the same: pages of the driver", renewed_buffers },
	{ "events: poll, eventfd and read tell each state, to the owner of the task only",
	  events_are_told },
	{ "records: a permitted reader gets the scheduler described, then its inputs and outputs",
	  records_are_told },
	{ "the page of statistics counts, and is for reading only", statistics },
	{ 0 },
};
