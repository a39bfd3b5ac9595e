/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include "readers_world.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/process.h"

static void run_reader(const struct readers_world *w, uid_t user, int channel)
{
	struct gp_reader_args args = { .channel = channel, .user = user, .mqds = w->mqds };
	struct rlimit files = { w->files, w->files };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (channel > 3)
		close_range(3, (u32)channel - 1, 0);
	close_range((u32)channel + 1, ~0u, 0);
	if (w->files)
		setrlimit(RLIMIT_NOFILE, &files);
	_exit(gp_reader_serve(&args));
}

static int make(void *ctx, uid_t user, u64 id, int channel)
{
	struct readers_world *w = ctx;
	struct rw_reader *r = &w->reader[w->nr_readers];

	if (w->no_make)
		return -EAGAIN;
	EXPECT(w->nr_readers < RW_READERS);
	*r = (struct rw_reader){ .id = id, .user = user, .channel = -1,
				   .made_ns = w->now };
	w->nr_readers++;
	if (w->fake) {
		r->channel = dup(channel);
		return 0;
	}
	r->pid = fork();
	if (!r->pid)
		run_reader(w, user, channel);
	return 0;
}

static void end_reader(void *ctx, uid_t user, u64 id)
{
	struct readers_world *w = ctx;
	u32 i;

	for (i = 0; i < w->nr_readers; i++) {
		if (w->reader[i].id != id)
			continue;
		EXPECT_EQ(w->reader[i].user, user);
		w->reader[i].killed++;
		if (w->reader[i].pid && !w->no_kill)
			kill(w->reader[i].pid, SIGKILL);
		return;
	}
	fail_msg("reader %llu was never made", (unsigned long long)id);
}

static u32 ranges(void *ctx, uid_t user, struct gp_uid_range *to, u32 room)
{
	const struct readers_world *w = ctx;

	(void)user;
	EXPECT(room >= 1);
	*to = w->range;
	return w->range.count != 0;
}

struct readers_world *rw_new(const struct gp_readers_args *args)
{
	struct readers_world *w = calloc(1, sizeof(*w));
	struct gp_readers_args with = args ? *args : (struct gp_readers_args){ 0 };

	with.make = make;
	with.kill = end_reader;
	with.ranges = ranges;
	with.ctx = w;
	w->now = GP_SEC;
	EXPECT_EQ(gp_readers_new(&with, &w->rs), 0);
	return w;
}

void rw_free(struct readers_world *w)
{
	u32 i;

	gp_readers_free(w->rs);
	for (i = 0; i < w->nr_readers; i++) {
		if (w->reader[i].pid) {
			kill(w->reader[i].pid, SIGKILL);
			waitpid(w->reader[i].pid, NULL, 0);
		}
		if (w->reader[i].channel >= 0)
			close(w->reader[i].channel);
	}
	free(w);
}

struct rw_reader *rw_reader(struct readers_world *w, uid_t user)
{
	u32 i;

	for (i = w->nr_readers; i-- > 0;)
		if (w->reader[i].user == user)
			return &w->reader[i];
	fail_msg("user %u has no reader", user);
	return NULL;
}

static void take(struct readers_world *w)
{
	struct gp_readers_event e;

	gp_readers_run(w->rs, w->now);
	while (gp_readers_next(w->rs, &e)) {
		EXPECT(e.kind < RW_KINDS);
		w->count[e.kind]++;
		w->last[e.kind] = e;
		if (e.kind == GP_READERS_SUBJECT)
			w->subject = *e.subject;
		if (e.kind == GP_READERS_DUMPED && e.list->count)
			memcpy(w->mqd, e.list->mqd, e.list->count * sizeof(*w->mqd));
	}
}

void rw_turn(struct readers_world *w)
{
	struct pollfd p = { .fd = gp_readers_fd(w->rs), .events = POLLIN };

	take(w);
	poll(&p, 1, 1);
}

void rw_later(struct readers_world *w, u64 ns)
{
	w->now += ns;
	take(w);
}

void rw_target(struct rw_target *t, uid_t user, void (*body)(struct rw_memory *m))
{
	t->m = mmap(NULL, sizeof(*t->m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(t->m != MAP_FAILED);
	t->pid = fork();
	if (!t->pid) {
		if (body == rw_hang)
			body(t->m);		/* needs more rights than @user has */
		if (user != getuid() && (setgid(user) || setuid(user)))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* cleared by setuid() */
		if (body && body != rw_hang)
			body(t->m);
		for (;;)
			pause();
	}
	EXPECT_EQ(gp_process_start(NULL, t->pid, &t->start), 0);
}

void rw_target_end(struct rw_target *t)
{
	if (t->pid) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	munmap(t->m, sizeof(*t->m));
	t->pid = 0;
}

struct gp_reader_target rw_who(const struct rw_target *t, uid_t user)
{
	return (struct gp_reader_target){ .user = user, .pid = t->pid, .start = t->start };
}

static struct gp_ring_pointers ring(const struct rw_target *t, const u64 *read, const u64 *write)
{
	return (struct gp_ring_pointers){
		.read_at = (u64)(uintptr_t)read, .write_at = (u64)(uintptr_t)write,
		.ring_base = (u64)(uintptr_t)t->m->ring, .ring_bytes = sizeof(t->m->ring),
		.kind = GP_RING_AQL,
	};
}

struct gp_ring_pointers rw_near(const struct rw_target *t, u32 i)
{
	return ring(t, &t->m->near[i][0], &t->m->near[i][1]);
}

struct gp_ring_pointers rw_far(const struct rw_target *t, u32 i)
{
	return ring(t, &t->m->far_read[i], &t->m->far_write[i]);
}

struct gp_watch *rw_watch(struct readers_world *w, const struct rw_target *t, uid_t user, u32 nr)
{
	struct gp_ring_pointers rings[RW_QUEUES];
	struct gp_reader_wanted wanted = { rings, nr, GP_WAKE_WRITE };
	struct gp_reader_target who = rw_who(t, user);
	struct gp_watch *watch = NULL;
	u32 i;

	for (i = 0; i < nr; i++)
		rings[i] = rw_near(t, i);
	EXPECT_EQ(gp_readers_watch(w->rs, &who, &wanted, &watch), 0);
	return watch;
}

void rw_hang(struct rw_memory *m)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	reg.range.start = (u64)(uintptr_t)at;
	reg.range.len = 4096;
	if (fd < 0 || at == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		at = (void *)1;
	__atomic_store_n(&m->page, (u64)(uintptr_t)at, __ATOMIC_RELEASE);
}

int rw_up(void **state)
{
	struct rw_stage *s = calloc(1, sizeof(*s));

	s->me = getuid();
	s->w = rw_new(NULL);
	rw_target(&s->t, s->me, NULL);
	*state = s;
	return 0;
}

int rw_down(void **state)
{
	struct rw_stage *s = *state;

	rw_free(s->w);
	rw_target_end(&s->t);
	free(s);
	return 0;
}

void rw_look(struct readers_world *w, uid_t user)
{
	u64 number = 0;

	RW_UNTIL(w, gp_readers_state(w->rs, user) == GP_READER_GOOD);
	EXPECT_EQ(gp_readers_look(w->rs, user, &number), 0);
	RW_UNTIL(w, w->last[GP_READERS_LOOKED].number >= number &&
		 w->last[GP_READERS_LOOKED].who.user == user);
}
