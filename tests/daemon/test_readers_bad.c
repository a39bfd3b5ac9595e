/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Readers and deciders that send invalid data. The test is one end of the channel. Also tests how
 * often readers are replaced.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "readers_world.h"

/* ---- the test is the reader ---- */

struct liar {
	struct readers_world *w;
	struct rw_target t;
	struct gp_reader_page *page;
	int channel, wakefd;
	uid_t user;
};

static int receive_hello(struct liar *l)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct gp_order o;
	struct iovec part = { &o, sizeof(o) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int fd[2];

	EXPECT_EQ(recvmsg(l->channel, &m, 0), sizeof(o));
	EXPECT(o.kind == GP_ORDER_HELLO && o.hello.slots == GP_READER_SLOTS);
	memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	/* the page is sealed, so that not even a reader can truncate the decider's mapping */
	EXPECT(ftruncate(fd[0], 0));
	l->page = mmap(NULL, sizeof(*l->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd[0], 0);
	l->wakefd = fd[1];
	return fd[0];
}

static void wake(const struct liar *l)
{
	const u64 one = 1;

	EXPECT_EQ(write(l->wakefd, &one, sizeof(one)), sizeof(one));
}

/* Waits until a reader has been made and has beaten. */
static void step_in(struct liar *l)
{
	l->channel = rw_reader(l->w, l->user)->channel;
	close(receive_hello(l));
	l->page->looks = 1;
	wake(l);
	RW_UNTIL(l->w, gp_readers_state(l->w->rs, l->user) == GP_READER_GOOD);
}

static void step_out(struct liar *l)
{
	munmap(l->page, sizeof(*l->page));
	close(l->wakefd);
}

static int up(void **state)
{
	struct liar *l = calloc(1, sizeof(*l));

	l->user = getuid();
	l->w = rw_new(NULL);
	l->w->fake = true;
	rw_target(&l->t, l->user, NULL);
	*state = l;
	return 0;
}

static int down(void **state)
{
	struct liar *l = *state;

	rw_free(l->w);
	rw_target_end(&l->t);
	free(l);
	return 0;
}

static void values_of_a_liar_stay_values(void **state)
{
	struct liar *l = *state;
	struct gp_watch *watch = rw_watch(l->w, &l->t, l->user, 2);
	struct gp_reader_sample x[2];
	struct gp_reader_slot *slot;

	rw_later(l->w, 0);
	step_in(l);
	slot = l->page->slot;
	/* nothing written yet */
	EXPECT_EQ(gp_readers_samples(l->w->rs, watch, x, 2), -EAGAIN);
	slot[0] = (struct gp_reader_slot){ .sequence = 2, .generation = 1, .flags = ~0u,
					   .rptr = ~0ull, .wptr = 5 };
	slot[1] = slot[0];
	EXPECT_EQ(gp_readers_samples(l->w->rs, watch, x, 2), 2);
	EXPECT(x[0].rptr == 5 && x[0].wptr == 5);	/* never ahead */
	/* from an earlier user of the slot */
	slot[1].generation = 7;
	EXPECT_EQ(gp_readers_samples(l->w->rs, watch, x, 2), -EAGAIN);
	EXPECT(x[0].read && !x[1].read);
	/* a slot whose lock is never released is skipped and does not block */
	slot[1] = slot[0];
	slot[1].sequence = 3;
	EXPECT_EQ(gp_readers_samples(l->w->rs, watch, x, 2), -EAGAIN);
	EXPECT(!x[1].read);
	/* answers to requests that were never made */
	l->page->answered = ~0ull;
	wake(l);
	rw_turn(l->w);
	EXPECT_EQ(l->w->count[GP_READERS_LOOKED], 0);
	step_out(l);
}

static void nonsense_from_a_reader_ends_it(void **state)
{
	static struct gp_report r;
	static const struct {
		u32 version, kind;
		size_t bytes;
	} bad[] = {
		{ 1, GP_REPORT_GONE, 3 },				/* too short for a header */
		{ 2, GP_REPORT_GONE, offsetof(struct gp_report, subject) },
		{ 1, 0, offsetof(struct gp_report, subject) },
		{ 1, 99, offsetof(struct gp_report, subject) },
		{ 1, GP_REPORT_GONE, offsetof(struct gp_report, subject) + 1 },
		{ 1, GP_REPORT_SUBJECT, offsetof(struct gp_report, subject) },
		{ 1, GP_REPORT_SUBJECT, sizeof(r) },
		{ 1, GP_REPORT_MQDS, sizeof(r) },
		{ 1, GP_REPORT_DUMPED, offsetof(struct gp_report, subject) },
	};
	struct liar *l = *state;
	struct gp_readers_stats stats;
	u32 i;

	rw_watch(l->w, &l->t, l->user, 1);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		rw_later(l->w, 61 * GP_SEC);
		EXPECT_EQ(l->w->nr_readers, i + 1);
		step_in(l);
		r.version = bad[i].version;
		r.kind = bad[i].kind;
		EXPECT_EQ(send(l->channel, &r, bad[i].bytes, 0), bad[i].bytes);
		RW_UNTIL(l->w, gp_readers_state(l->w->rs, l->user) == GP_READER_ABANDONED);
		EXPECT_EQ(rw_reader(l->w, l->user)->killed, 1);
		EXPECT_EQ(l->w->count[GP_READERS_GONE] + l->w->count[GP_READERS_SUBJECT], 0);
		step_out(l);
		close(l->channel);
		rw_reader(l->w, l->user)->channel = -1;
	}
	gp_readers_stats(l->w->rs, &stats);
	EXPECT_EQ(stats.refused, i);
}

static void texts_of_a_liar_are_cleaned_again(void **state)
{
	struct gp_report r = { .version = 1, .kind = GP_REPORT_SUBJECT };
	struct liar *l = *state;
	struct gp_reader_target who = rw_who(&l->t, l->user);

	EXPECT_EQ(gp_readers_describe(l->w->rs, &who), 0);
	rw_later(l->w, 0);
	step_in(l);
	r.pid = who.pid;
	r.start = who.start;
	r.value = 1;			/* the number of the request */
	memset(&r.subject, 0x1b, sizeof(r.subject));	/* without a terminating 0 */
	EXPECT_EQ(send(l->channel, &r, sizeof(r), 0), gp_report_bytes(GP_REPORT_SUBJECT));
	RW_UNTIL(l->w, l->w->count[GP_READERS_SUBJECT] == 1);
	EXPECT_EQ(strlen(l->w->subject.exe), GP_READER_PATH - 1);
	EXPECT(!strchr(l->w->subject.cmdline, 0x1b) && !strchr(l->w->subject.gang, 0x1b));
	/* a second copy was not requested */
	EXPECT_EQ(send(l->channel, &r, sizeof(r), 0), gp_report_bytes(GP_REPORT_SUBJECT));
	RW_UNTIL(l->w, gp_readers_state(l->w->rs, l->user) == GP_READER_ABANDONED);
	step_out(l);
}

static void news_of_a_watched_process_answer_no_question(void **state)
{
	struct gp_report r = { .version = 1, .kind = GP_REPORT_ERROR, .error = EMFILE };
	struct liar *l = *state;
	struct gp_reader_target who = rw_who(&l->t, l->user);

	rw_watch(l->w, &l->t, l->user, 1);
	EXPECT_EQ(gp_readers_describe(l->w->rs, &who), 0);
	rw_later(l->w, 0);
	step_in(l);
	r.pid = who.pid;
	r.start = who.start;
	EXPECT_EQ(send(l->channel, &r, gp_report_bytes(r.kind), 0), gp_report_bytes(r.kind));
	RW_UNTIL(l->w, l->w->count[GP_READERS_ERROR] == 1);
	EXPECT(!l->w->last[GP_READERS_ERROR].answers);
	r.kind = GP_REPORT_SUBJECT;
	r.value = 1;
	EXPECT_EQ(send(l->channel, &r, sizeof(r), 0), sizeof(r));
	RW_UNTIL(l->w, l->w->count[GP_READERS_SUBJECT] == 1);
	EXPECT_EQ(gp_readers_state(l->w->rs, l->user), GP_READER_GOOD);
	step_out(l);
}

static void reports_of_processes_not_watched_are_ignored(void **state)
{
	struct gp_report r = { .version = 1, .kind = GP_REPORT_GONE, .pid = 1, .start = 1 };
	struct liar *l = *state;
	u32 i;

	rw_watch(l->w, &l->t, l->user, 1);
	rw_later(l->w, 0);
	step_in(l);
	for (i = 0; i < 200; i++) {
		while (send(l->channel, &r, gp_report_bytes(r.kind), MSG_DONTWAIT) < 0)
			rw_turn(l->w);
	}
	for (i = 0; i < 10; i++)
		rw_turn(l->w);
	EXPECT_EQ(l->w->count[GP_READERS_GONE], 0);
	EXPECT_EQ(gp_readers_state(l->w->rs, l->user), GP_READER_GOOD);
	step_out(l);
}

static void readers_are_replaced_ever_more_slowly_and_four_may_be_stuck(void **state)
{
	struct liar *l = *state;
	struct gp_readers_stats stats;
	u32 i;

	l->w->no_kill = true;
	rw_watch(l->w, &l->t, l->user, 1);
	for (i = 0; i < 100; i++)
		rw_later(l->w, MS(100));		/* none of the readers ever beats */
	EXPECT_EQ(l->w->nr_readers, GP_READERS_STUCK);
	for (i = 0; i < GP_READERS_STUCK; i++)
		EXPECT_EQ(l->w->reader[i].killed, 1);
	EXPECT(l->w->reader[1].made_ns - l->w->reader[0].made_ns >= GP_SEC);
	EXPECT_EQ(l->w->reader[2].made_ns - l->w->reader[1].made_ns, 2 * GP_SEC);
	EXPECT_EQ(l->w->reader[3].made_ns - l->w->reader[2].made_ns, 4 * GP_SEC);
	gp_readers_stats(l->w->rs, &stats);
	EXPECT_EQ(stats.stuck, GP_READERS_STUCK);
	rw_later(l->w, 3600 * GP_SEC);
	EXPECT_EQ(l->w->nr_readers, GP_READERS_STUCK);
	EXPECT_EQ(gp_readers_state(l->w->rs, l->user), GP_READER_ABANDONED);
	/* one returns from the kernel and dies, so its channel closes */
	close(l->w->reader[1].channel);
	l->w->reader[1].channel = -1;
	RW_UNTIL(l->w, l->w->nr_readers == GP_READERS_STUCK + 1);
}

static void a_reader_that_cannot_be_made_is_tried_again(void **state)
{
	struct liar *l = *state;

	l->w->no_make = true;
	rw_watch(l->w, &l->t, l->user, 1);
	rw_later(l->w, 0);
	rw_later(l->w, 0);
	EXPECT_EQ(gp_readers_state(l->w->rs, l->user), GP_READER_ABANDONED);
	EXPECT(gp_readers_wake_at(l->w->rs) == l->w->now + GP_SEC);
	l->w->no_make = false;
	rw_later(l->w, GP_SEC - 1);
	EXPECT_EQ(l->w->nr_readers, 0);
	rw_later(l->w, 1);
	EXPECT_EQ(l->w->nr_readers, 1);
}

static void no_user_takes_the_readers_of_all(void **state)
{
	struct liar *l = *state;
	struct gp_reader_target who = rw_who(&l->t, 0);
	u32 i;

	for (i = 0; i < GP_READERS_USERS; i++) {
		who.user = 1000 + i;
		EXPECT_EQ(gp_readers_describe(l->w->rs, &who), 0);
	}
	who.user = 5;
	EXPECT_EQ(gp_readers_describe(l->w->rs, &who), -ENOSPC);
	who.user = 1000;
	for (i = 1; i < GP_READERS_ASKED; i++)
		EXPECT_EQ(gp_readers_describe(l->w->rs, &who), 0);
	EXPECT_EQ(gp_readers_describe(l->w->rs, &who), -EAGAIN);
}

/* ---- the test is the decider ---- */

struct line {
	int fd, wakefd;
	pid_t pid;
	struct gp_reader_page *page;
};

static void connect_reader(struct line *x, bool greet, u32 slots)
{
	struct gp_order o = { .version = 1, .kind = GP_ORDER_HELLO, .hello = { .slots = slots } };
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct iovec part = { &o, sizeof(o) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int pair[2], fd[2];

	EXPECT(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	fd[0] = memfd_create("page", MFD_ALLOW_SEALING);
	EXPECT(!ftruncate(fd[0], sizeof(*x->page)) && !fcntl(fd[0], F_ADD_SEALS, F_SEAL_SHRINK));
	fd[1] = x->wakefd = eventfd(0, 0);
	x->page = mmap(NULL, sizeof(*x->page), PROT_READ, MAP_SHARED, fd[0], 0);
	x->fd = pair[0];
	x->pid = fork();
	if (!x->pid) {
		struct gp_reader_args args = { .channel = pair[1], .user = getuid() };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		_exit(gp_reader_serve(&args));
	}
	close(pair[1]);
	CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
	CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
	CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), fd, sizeof(fd));
	if (greet)
		EXPECT_EQ(sendmsg(x->fd, &m, 0), sizeof(o));
	close(fd[0]);
}

static int hang_up(struct line *x)
{
	int status;

	close(x->fd);
	close(x->wakefd);
	munmap(x->page, sizeof(*x->page));
	EXPECT_EQ(waitpid(x->pid, &status, 0), x->pid);
	EXPECT(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect_error(const struct line *x, int error)
{
	static struct gp_report r;
	ssize_t n = recv(x->fd, &r, sizeof(r), 0);

	EXPECT_EQ(n, gp_report_bytes(GP_REPORT_ERROR));
	EXPECT(r.version == 1 && r.kind == GP_REPORT_ERROR);
	EXPECT_EQ(r.error, error);
}

static void a_reader_refuses_orders_that_make_no_sense(void **state)
{
	static const struct {
		struct gp_order order;
		size_t bytes;
		int error;
	} bad[] = {
		{ { .version = 1, .kind = GP_ORDER_LOOK }, 4, EPROTO },
		{ { .version = 1, .kind = GP_ORDER_LOOK }, sizeof(struct gp_order) - 1, EPROTO },
		{ { .version = 2, .kind = GP_ORDER_LOOK }, sizeof(struct gp_order), EPROTO },
		{ { .version = 1, .kind = 0 }, sizeof(struct gp_order), EPROTO },
		{ { .version = 1, .kind = 77 }, sizeof(struct gp_order), EPROTO },
		{ { .version = 1, .kind = GP_ORDER_HELLO }, sizeof(struct gp_order), EPROTO },
		{ { .version = 1, .kind = GP_ORDER_DUMP }, sizeof(struct gp_order), EPROTO },
		{ { .version = 1, .kind = GP_ORDER_UNWATCH, .value = GP_READER_SLOTS },
		  sizeof(struct gp_order), EINVAL },
		{ { .version = 1, .kind = GP_ORDER_UNWATCH, .value = 3 },
		  sizeof(struct gp_order), EINVAL },
		{ { .version = 1, .kind = GP_ORDER_WATCH, .pid = 1,
		    .watch = { .slot = GP_READER_SLOTS } }, sizeof(struct gp_order), EINVAL },
		{ { .version = 1, .kind = GP_ORDER_WATCH, .pid = 0 }, sizeof(struct gp_order),
		  EINVAL },
		{ { .version = 1, .kind = GP_ORDER_WATCH, .pid = 1, .watch = { .wake = 8 } },
		  sizeof(struct gp_order), EINVAL },
		{ { .version = 1, .kind = GP_ORDER_INTERVAL, .value = 1 },
		  sizeof(struct gp_order), EINVAL },
		{ { .version = 1, .kind = GP_ORDER_INTERVAL, .value = ~0ull },
		  sizeof(struct gp_order), EINVAL },
		{ { .version = 1, .kind = GP_ORDER_DESCRIBE, .pid = -1 },
		  sizeof(struct gp_order), EINVAL },
	};
	struct gp_order look = { .version = 1, .kind = GP_ORDER_LOOK, .value = 42 };
	char long_one[sizeof(look) + 1] = { 1, 0, 0, 0, GP_ORDER_LOOK };
	struct line x;
	u32 i;

	(void)state;
	connect_reader(&x, true, GP_READER_SLOTS);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_EQ(send(x.fd, &bad[i].order, bad[i].bytes, 0), bad[i].bytes);
		expect_error(&x, bad[i].error);
	}
	EXPECT_EQ(send(x.fd, long_one, sizeof(long_one), 0), sizeof(long_one));
	expect_error(&x, EPROTO);
	/* and continues */
	EXPECT_EQ(send(x.fd, &look, sizeof(look), 0), sizeof(look));
	AWAIT(__atomic_load_n(&x.page->answered, __ATOMIC_ACQUIRE) == 42);
	EXPECT_EQ(hang_up(&x), 0);
}

static void a_reader_that_is_not_greeted_properly_ends(void **state)
{
	struct gp_order look = { .version = 1, .kind = GP_ORDER_LOOK, .value = 42 };
	struct line x;

	(void)state;
	connect_reader(&x, true, GP_READER_SLOTS + 1);
	EXPECT_EQ(hang_up(&x), 1);
	connect_reader(&x, false, 0);
	EXPECT_EQ(send(x.fd, &look, sizeof(look), 0), sizeof(look));
	EXPECT_EQ(hang_up(&x), 1);
	connect_reader(&x, false, 0);
	EXPECT_EQ(hang_up(&x), 1);
}

PROVE(
	CLAIM_WITH(values_of_a_liar_stay_values, up, down),
	CLAIM_WITH(nonsense_from_a_reader_ends_it, up, down),
	CLAIM_WITH(texts_of_a_liar_are_cleaned_again, up, down),
	CLAIM_WITH(news_of_a_watched_process_answer_no_question, up, down),
	CLAIM_WITH(reports_of_processes_not_watched_are_ignored, up, down),
	CLAIM_WITH(readers_are_replaced_ever_more_slowly_and_four_may_be_stuck, up, down),
	CLAIM_WITH(a_reader_that_cannot_be_made_is_tried_again, up, down),
	CLAIM_WITH(no_user_takes_the_readers_of_all, up, down),
	CLAIM(a_reader_refuses_orders_that_make_no_sense),
	CLAIM(a_reader_that_is_not_greeted_properly_ends),
)
