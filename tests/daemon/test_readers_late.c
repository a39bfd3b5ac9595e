/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Readers that hang, die or run out of descriptors, and random events. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "readers_world.h"

/* Watches a target whose reader waits in the kernel for a page that never arrives. */
static struct gp_watch *watch_hanging(struct readers_world *w, struct rw_target *t, uid_t user)
{
	struct gp_reader_wanted wanted = { .count = 1, .wake = GP_WAKE_WRITE };
	struct gp_ring_pointers ring;
	struct gp_reader_target who;
	struct gp_watch *watch = NULL;

	rw_target(t, user, rw_hang);
	AWAIT(__atomic_load_n(&t->m->page, __ATOMIC_ACQUIRE));
	if (t->m->page == 1)
		skip();		/* userfaultfd is not permitted */
	ring = rw_near(t, 0);
	ring.read_at = t->m->page;
	ring.write_at = t->m->page + 8;
	wanted.rings = &ring;
	who = rw_who(t, user);
	EXPECT_EQ(gp_readers_watch(w->rs, &who, &wanted, &watch), 0);
	gp_readers_interval(w->rs, user, MS(1));
	RW_UNTIL(w, gp_readers_state(w->rs, user) == GP_READER_GOOD);
	return watch;
}

static bool waits_in_the_kernel(pid_t pid)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/wchan", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	return strstr(text, "userfault");
}

static void a_hung_reader_is_unknown_then_abandoned_then_replaced(void **state)
{
	struct rw_stage *s = *state;
	struct gp_readers_stats stats;
	struct gp_reader_sample x;
	struct gp_watch *watch, *fine;
	struct rw_target t;
	pid_t first;

	if (s->me)
		skip();
	fine = rw_watch(s->w, &s->t, 0, 1);
	watch = watch_hanging(s->w, &t, 1001);
	first = rw_reader(s->w, 1001)->pid;
	AWAIT(waits_in_the_kernel(first));
	rw_later(s->w, 1);			/* handles its last beat */
	rw_later(s->w, MS(20) - 2);
	EXPECT_EQ(gp_readers_state(s->w->rs, 1001), GP_READER_GOOD);
	rw_later(s->w, 2);
	EXPECT_EQ(gp_readers_state(s->w->rs, 1001), GP_READER_LATE);
	EXPECT_EQ(s->w->last[GP_READERS_STATE].state, GP_READER_LATE);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, &x, 1), -EAGAIN);
	EXPECT_EQ(rw_reader(s->w, 1001)->killed, 0);
	rw_later(s->w, MS(200));
	EXPECT_EQ(gp_readers_state(s->w->rs, 1001), GP_READER_ABANDONED);
	EXPECT_EQ(rw_reader(s->w, 1001)->killed, 1);
	waitpid(first, NULL, 0);		/* process_vm_readv() waits killably */
	rw_reader(s->w, 1001)->pid = 0;

	/* the other user is not affected */
	rw_look(s->w, 0);
	EXPECT_EQ(gp_readers_samples(s->w->rs, fine, &x, 1), 1);

	/* the next reader starts a second after the first */
	rw_later(s->w, MS(700));
	EXPECT_EQ(s->w->nr_readers, 2);
	rw_later(s->w, MS(200));
	EXPECT_EQ(s->w->nr_readers, 3);
	gp_readers_stats(s->w->rs, &stats);
	EXPECT(stats.abandoned == 1 && stats.started == 3 && stats.late == 1);
	rw_target_end(&t);
}

static void a_hung_reader_that_goes_on_in_time_is_kept(void **state)
{
	struct rw_stage *s = *state;
	struct gp_watch *watch = rw_watch(s->w, &s->t, s->me, 1);
	struct gp_reader_sample x;
	pid_t pid;

	gp_readers_interval(s->w->rs, s->me, MS(1));
	rw_look(s->w, s->me);
	pid = rw_reader(s->w, s->me)->pid;
	kill(pid, SIGSTOP);
	rw_later(s->w, 1);
	do {
		rw_turn(s->w);
		rw_later(s->w, MS(25));
	} while (gp_readers_state(s->w->rs, s->me) == GP_READER_GOOD);
	EXPECT_EQ(gp_readers_state(s->w->rs, s->me), GP_READER_LATE);
	kill(pid, SIGCONT);
	/* time does not advance until it beats again */
	do {
		rw_turn(s->w);
		gp_readers_interval(s->w->rs, s->me, MS(1) + (s->w->count[0]++ & 1));
	} while (gp_readers_state(s->w->rs, s->me) != GP_READER_GOOD);
	rw_look(s->w, s->me);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, &x, 1), 1);
	EXPECT_EQ(rw_reader(s->w, s->me)->killed, 0);
	EXPECT_EQ(s->w->nr_readers, 1);
}

static void a_question_fails_when_the_reader_is_abandoned(void **state)
{
	struct rw_stage *s = *state;
	struct gp_reader_target who = rw_who(&s->t, s->me);
	pid_t pid;

	EXPECT_EQ(gp_readers_describe(s->w->rs, &who), 0);
	RW_UNTIL(s->w, s->w->count[GP_READERS_SUBJECT] == 1);
	pid = rw_reader(s->w, s->me)->pid;
	kill(pid, SIGSTOP);
	EXPECT_EQ(gp_readers_describe(s->w->rs, &who), 0);
	rw_later(s->w, 1);
	rw_later(s->w, MS(20));
	EXPECT_EQ(gp_readers_state(s->w->rs, s->me), GP_READER_LATE);
	EXPECT_EQ(s->w->count[GP_READERS_ERROR], 0);
	rw_later(s->w, MS(200));
	EXPECT_EQ(s->w->count[GP_READERS_ERROR], 1);
	EXPECT_EQ(s->w->last[GP_READERS_ERROR].error, ETIMEDOUT);
	EXPECT_EQ(s->w->last[GP_READERS_ERROR].who.pid, s->t.pid);
	/* the next reader answers a repeated request */
	EXPECT_EQ(gp_readers_describe(s->w->rs, &who), 0);
	rw_later(s->w, GP_SEC);
	RW_UNTIL(s->w, s->w->count[GP_READERS_SUBJECT] == 2);
}

static void a_reader_that_dies_is_replaced_and_told_everything_again(void **state)
{
	struct rw_stage *s = *state;
	struct gp_watch *watch = rw_watch(s->w, &s->t, s->me, 5);
	struct gp_reader_sample x[5];

	s->t.m->near[4][1] = 44;
	rw_look(s->w, s->me);
	kill(rw_reader(s->w, s->me)->pid, SIGKILL);
	RW_UNTIL(s->w, gp_readers_state(s->w->rs, s->me) == GP_READER_ABANDONED);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, 5), -EAGAIN);
	EXPECT_EQ(s->w->nr_readers, 1);
	rw_later(s->w, GP_SEC);
	EXPECT_EQ(s->w->nr_readers, 2);
	rw_look(s->w, s->me);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, 5), 5);
	EXPECT_EQ(x[4].wptr, 44);
}

/* Runs a reader with @files descriptors. One process takes some of them, then another one. */
static void starve(const struct rw_target *t, u32 files, u32 *errors)
{
	struct gp_ring_pointers rings[] = { rw_near(t, 0), rw_near(t, 1) };
	struct gp_reader_wanted wanted = { rings, 2, GP_WAKE_WRITE };
	struct gp_reader_target who = rw_who(t, getuid());
	struct readers_world *w = rw_new(NULL);
	struct gp_watch *first = NULL, *second;
	struct gp_reader_sample x;
	struct rw_target other;

	w->files = files;
	rings[1].read_at = 0x1000;	/* not mapped: /proc/PID/mem is opened for it */
	rings[1].write_at = 0x1008;
	EXPECT_EQ(gp_readers_watch(w->rs, &who, &wanted, &first), 0);
	rw_later(w, 0);
	RW_UNTIL(w, gp_readers_state(w->rs, getuid()) != GP_READER_STARTING);
	rw_target(&other, getuid(), NULL);
	if (gp_readers_state(w->rs, getuid()) == GP_READER_GOOD) {
		rw_look(w, getuid());
		second = rw_watch(w, &other, getuid(), 1);
		who = rw_who(&other, getuid());
		EXPECT_EQ(gp_readers_describe(w->rs, &who), 0);
		rw_look(w, getuid());
		rw_look(w, getuid());
		RW_UNTIL(w, w->count[GP_READERS_ERROR] || w->count[GP_READERS_SUBJECT]);
		if (gp_readers_samples(w->rs, second, &x, 1) == -EAGAIN)
			RW_UNTIL(w, w->count[GP_READERS_ERROR]);
		if (w->count[GP_READERS_ERROR])
			EXPECT_EQ(w->last[GP_READERS_ERROR].error, EMFILE);
		*errors += w->count[GP_READERS_ERROR];
		EXPECT_EQ(w->count[GP_READERS_GONE], 0);
		EXPECT_EQ(gp_readers_state(w->rs, getuid()), GP_READER_GOOD);
	}
	rw_free(w);
	rw_target_end(&other);
}

static void without_descriptors_a_process_is_unknown_and_not_gone(void **state)
{
	struct rw_stage *s = *state;
	u32 files, errors = 0;

	/* from too few to start up to enough for all */
	for (files = 4; files < 16; files++)
		starve(&s->t, files, &errors);
	EXPECT(errors >= 3);
}

static void thousands_of_queues_are_told_although_the_channel_is_full(void **state)
{
	struct rw_stage *s = *state;
	struct gp_ring_pointers *rings = calloc(GP_READER_SLOTS, sizeof(*rings));
	struct gp_reader_sample *x = calloc(GP_READER_SLOTS, sizeof(*x));
	struct gp_reader_wanted wanted = { rings, GP_READER_SLOTS, GP_WAKE_WRITE };
	struct gp_reader_target who = rw_who(&s->t, s->me);
	struct gp_watch *watch = NULL, *more = NULL;
	struct rw_target t;
	u32 i;

	for (i = 0; i < GP_READER_SLOTS; i++)
		rings[i] = rw_near(&s->t, i % RW_QUEUES);
	EXPECT_EQ(gp_readers_watch(s->w->rs, &who, &wanted, &watch), 0);
	rw_look(s->w, s->me);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, GP_READER_SLOTS), GP_READER_SLOTS);
	/* there are no more, and the existing ones stay */
	rw_target(&t, s->me, NULL);
	who = rw_who(&t, s->me);
	wanted.count = 1;
	EXPECT_EQ(gp_readers_watch(s->w->rs, &who, &wanted, &more), -ENOSPC);
	EXPECT(!more);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, GP_READER_SLOTS), GP_READER_SLOTS);
	gp_readers_unwatch(s->w->rs, watch);
	EXPECT_EQ(gp_readers_watch(s->w->rs, &who, &wanted, &more), 0);
	rw_target_end(&t);
	free(rings);
	free(x);
}

static void a_reader_with_nothing_to_do_ends(void **state)
{
	struct rw_stage *s = *state;
	struct gp_readers_stats stats;
	pid_t pid;

	gp_readers_unwatch(s->w->rs, rw_watch(s->w, &s->t, s->me, 1));
	gp_readers_unwatch(s->w->rs, NULL);
	rw_later(s->w, 0);
	EXPECT_EQ(s->w->nr_readers, 0);
	gp_readers_unwatch(s->w->rs, ({ struct gp_watch *x = rw_watch(s->w, &s->t, s->me, 1);
					rw_look(s->w, s->me); x; }));
	pid = rw_reader(s->w, s->me)->pid;
	rw_later(s->w, 0);
	rw_later(s->w, 10 * GP_SEC);
	rw_reader(s->w, s->me)->pid = 0;
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	rw_later(s->w, GP_SEC);
	gp_readers_stats(s->w->rs, &stats);
	EXPECT(stats.users == 0 && stats.abandoned == 0 && stats.stuck == 0);
}

/* ---- at random ---- */

enum { TARGETS = 4, STEPS = 400 };

struct chance {
	struct readers_world *w;
	struct rw_target t[TARGETS];
	struct gp_watch *watch[TARGETS];
	u32 nr[TARGETS];
	u64 seed;
	uid_t user[TARGETS];
};

static u32 below(struct chance *c, u32 n)
{
	return (u32)(gp_test_random(&c->seed) % n);
}

static void rewatch(struct chance *c, u32 i)
{
	struct gp_ring_pointers rings[RW_QUEUES];
	struct gp_reader_wanted wanted = { rings, 1 + below(c, RW_QUEUES), below(c, 8) };
	struct gp_reader_target who = rw_who(&c->t[i], c->user[i]);
	u32 q;

	for (q = 0; q < wanted.count; q++)
		rings[q] = q % 2 ? rw_near(&c->t[i], q) : rw_far(&c->t[i], q);
	EXPECT_EQ(gp_readers_watch(c->w->rs, &who, &wanted, &c->watch[i]), 0);
	c->nr[i] = wanted.count;
}

static void change(struct chance *c)
{
	struct rw_memory *m = c->t[below(c, TARGETS)].m;
	u32 q = below(c, RW_QUEUES);
	u64 *read = q % 2 ? &m->near[q][0] : &m->far_read[q];
	u64 *write = q % 2 ? &m->near[q][1] : &m->far_write[q];

	*write += below(c, 3);
	*read += *read < *write ? below(c, 2) : 0;
}

static void any_step(struct chance *c)
{
	u32 i = below(c, TARGETS);
	struct gp_reader_target who = rw_who(&c->t[i], c->user[i]);
	u64 number;

	switch (below(c, 12)) {
	case 0:
		rewatch(c, i);
		break;
	case 1:
		gp_readers_unwatch(c->w->rs, c->watch[i]);
		c->watch[i] = NULL;
		break;
	case 2:
		gp_readers_interval(c->w->rs, c->user[i], below(c, 3) * MS(1) / 2);
		break;
	case 3:
		gp_readers_look(c->w->rs, c->user[i], &number);
		break;
	case 4:
		gp_readers_describe(c->w->rs, &who);
		break;
	case 5:
		if (c->w->nr_readers && !below(c, 4))
			kill(c->w->reader[c->w->nr_readers - 1].pid,
			     below(c, 2) ? SIGKILL : SIGSTOP);
		break;
	case 6:
		rw_later(c->w, below(c, 8) ? below(c, 1000000) : below(c, 2000) * 1000000);
		break;
	default:
		change(c);
		rw_turn(c->w);
	}
}

/* When the faults are over, each sample equals the memory. */
static void expect_truth(struct chance *c, u32 i)
{
	struct gp_reader_sample x[RW_QUEUES];
	u32 q;

	EXPECT_EQ(gp_readers_samples(c->w->rs, c->watch[i], x, RW_QUEUES), c->nr[i]);
	for (q = 0; q < c->nr[i]; q++) {
		struct rw_memory *m = c->t[i].m;

		EXPECT_EQ(x[q].rptr, q % 2 ? m->near[q][0] : m->far_read[q]);
		EXPECT_EQ(x[q].wptr, q % 2 ? m->near[q][1] : m->far_write[q]);
	}
}

/* A reader that was stopped may be late now. The next one comes within a minute. */
static void calm_down(struct chance *c)
{
	u32 i, state;

	for (i = 0; i < TARGETS; i++)
		gp_readers_interval(c->w->rs, c->user[i], 0);
	for (i = 0; i < TARGETS; i++) {
		state = gp_readers_state(c->w->rs, c->user[i]);
		if (state == GP_READER_GOOD)
			continue;
		rw_turn(c->w);
		rw_later(c->w, state == GP_READER_ABANDONED ? GP_SEC :
			 state == GP_READER_LATE ? MS(1) : 1);
		i = ~0u;	/* time advanced for the others, too */
	}
}

/* A killed reader may be found dead only now. */
static void look(struct chance *c, uid_t user)
{
	const struct gp_readers_event *looked = &c->w->last[GP_READERS_LOOKED];
	u64 number;

	do {
		calm_down(c);
		number = 0;
		EXPECT_EQ(gp_readers_look(c->w->rs, user, &number), 0);
		while (gp_readers_state(c->w->rs, user) == GP_READER_GOOD &&
		       (looked->number < number || looked->who.user != user))
			rw_turn(c->w);
	} while (gp_readers_state(c->w->rs, user) != GP_READER_GOOD);
}

static void whatever_happens_the_truth_comes_back(void **state)
{
	struct chance c = { .seed = gp_test_seed(1), .w = rw_new(NULL) };
	u32 i, n, rounds = gp_test_full() ? 20 : 3;

	(void)state;
	for (i = 0; i < TARGETS; i++) {
		c.user[i] = getuid() ? getuid() : i / 2 * 1001;
		rw_target(&c.t[i], c.user[i], NULL);
	}
	while (rounds--) {
		for (n = 0; n < STEPS; n++)
			any_step(&c);
		for (i = 0; i < c.w->nr_readers; i++)
			if (c.w->reader[i].pid)
				kill(c.w->reader[i].pid, SIGCONT);
		for (i = 0; i < TARGETS; i++)
			rewatch(&c, i);
		for (i = 0; i < TARGETS; i++) {
			look(&c, c.user[i]);
			expect_truth(&c, i);
		}
	}
	for (i = 0; i < TARGETS; i++)
		rw_target_end(&c.t[i]);
	rw_free(c.w);
}

PROVE(
	CLAIM_WITH(a_hung_reader_is_unknown_then_abandoned_then_replaced, rw_up, rw_down),
	CLAIM_WITH(a_hung_reader_that_goes_on_in_time_is_kept, rw_up, rw_down),
	CLAIM_WITH(a_question_fails_when_the_reader_is_abandoned, rw_up, rw_down),
	CLAIM_WITH(a_reader_that_dies_is_replaced_and_told_everything_again, rw_up, rw_down),
	CLAIM_WITH(without_descriptors_a_process_is_unknown_and_not_gone, rw_up, rw_down),
	CLAIM_WITH(thousands_of_queues_are_told_although_the_channel_is_full, rw_up, rw_down),
	CLAIM_WITH(a_reader_with_nothing_to_do_ends, rw_up, rw_down),
	CLAIM(whatever_happens_the_truth_comes_back),
)
