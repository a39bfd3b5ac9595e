/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Real readers: what they read, and what they refuse. */
#include <string.h>

#include "readers_world.h"

static void pointers_come_out_as_they_are(void **state)
{
	struct rw_stage *s = *state;
	struct gp_ring_pointers rings[] = { rw_near(&s->t, 0), rw_far(&s->t, 1) };
	struct gp_reader_wanted wanted = { rings, 2, GP_WAKE_WRITE };
	struct gp_reader_target who = rw_who(&s->t, s->me);
	struct gp_reader_sample x[2];
	struct gp_watch *watch = NULL;

	s->t.m->near[0][0] = 3;
	s->t.m->near[0][1] = 5;
	s->t.m->far_read[1] = s->t.m->far_write[1] = 8;
	EXPECT_EQ(gp_readers_watch(s->w->rs, &who, &wanted, &watch), 0);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, 2), -EAGAIN);
	rw_look(s->w, s->me);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, 2), 2);
	EXPECT(x[0].rptr == 3 && x[0].wptr == 5 && x[1].rptr == 8 && x[1].wptr == 8);
	/* an idle queue with separate pointers: one look reads both correctly */
	s->t.m->far_read[1] = 9;
	s->t.m->far_write[1] = 10;
	rw_look(s->w, s->me);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, 2), 2);
	EXPECT(x[1].rptr == 9 && x[1].wptr == 10);
	gp_readers_unwatch(s->w->rs, watch);
}

static void a_write_wakes_the_decider_and_a_read_does_not(void **state)
{
	struct rw_stage *s = *state;
	struct gp_watch *watch = rw_watch(s->w, &s->t, s->me, 1);
	struct gp_reader_sample x;
	u32 changes;
	u64 number;

	rw_look(s->w, s->me);
	gp_readers_interval(s->w->rs, s->me, MS(1));
	s->t.m->near[0][1] = 1;
	RW_UNTIL(s->w, !gp_readers_samples(s->w->rs, watch, &x, 1) || x.wptr == 1);
	RW_UNTIL(s->w, s->w->count[GP_READERS_CHANGED] >= 1);
	gp_readers_interval(s->w->rs, s->me, 0);
	rw_look(s->w, s->me);
	changes = s->w->count[GP_READERS_CHANGED];
	gp_readers_interval(s->w->rs, s->me, MS(1));
	s->t.m->near[0][0] = 1;
	/* the reader writes it to the page; only the answer to a look wakes the decider */
	do {
		rw_turn(s->w);
		EXPECT_EQ(gp_readers_samples(s->w->rs, watch, &x, 1), 1);
	} while (x.rptr != 1);
	EXPECT_EQ(s->w->count[GP_READERS_CHANGED], changes);
	EXPECT_EQ(gp_readers_look(s->w->rs, s->me, &number), 0);
	RW_UNTIL(s->w, s->w->last[GP_READERS_LOOKED].number == number);
}

static void a_barrier_at_the_head_is_seen(void **state)
{
	struct rw_stage *s = *state;
	struct gp_watch *watch = rw_watch(s->w, &s->t, s->me, 1);
	struct gp_reader_sample x;

	rw_look(s->w, s->me);
	s->t.m->ring[0] = 3;		/* a barrier packet */
	s->t.m->near[0][1] = 1;
	rw_look(s->w, s->me);
	EXPECT(gp_readers_samples(s->w->rs, watch, &x, 1) == 1 && x.at_barrier);
	rw_look(s->w, s->me);		/* still, although nothing moved */
	EXPECT(gp_readers_samples(s->w->rs, watch, &x, 1) == 1 && x.at_barrier);
	s->t.m->near[0][0] = 1;
	rw_look(s->w, s->me);
	EXPECT(gp_readers_samples(s->w->rs, watch, &x, 1) == 1 && !x.at_barrier);
}

static void queues_come_and_go_while_others_continue(void **state)
{
	struct rw_stage *s = *state;
	struct gp_ring_pointers rings[] = { rw_near(&s->t, 3), rw_near(&s->t, 1) };
	struct gp_reader_wanted wanted = { rings, 2, GP_WAKE_WRITE };
	struct gp_reader_target who = rw_who(&s->t, s->me);
	struct gp_watch *watch = rw_watch(s->w, &s->t, s->me, 3);
	struct gp_reader_sample x[3];
	u32 i;

	for (i = 0; i < 4; i++)
		s->t.m->near[i][1] = 10 + i;
	rw_look(s->w, s->me);
	EXPECT_EQ(gp_readers_watch(s->w->rs, &who, &wanted, &watch), 0);
	/* the remaining queue is known, the new one not yet */
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, 2), -EAGAIN);
	EXPECT(!x[0].read && x[1].read && x[1].wptr == 11);
	rw_look(s->w, s->me);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, 2), 2);
	EXPECT(x[0].wptr == 13 && x[1].wptr == 11);
}

static void a_process_that_ends_is_gone_at_once(void **state)
{
	struct rw_stage *s = *state;
	struct gp_watch *watch = rw_watch(s->w, &s->t, s->me, 2);
	struct gp_reader_sample x[2];

	rw_look(s->w, s->me);
	kill(s->t.pid, SIGKILL);
	/* no look is requested; the pidfd reports the end */
	RW_UNTIL(s->w, s->w->count[GP_READERS_GONE] == 1);
	EXPECT_EQ(s->w->last[GP_READERS_GONE].who.pid, s->t.pid);
	RW_UNTIL(s->w, gp_readers_samples(s->w->rs, watch, x, 2) == -EAGAIN);
	rw_look(s->w, s->me);
	EXPECT_EQ(s->w->count[GP_READERS_GONE], 1);
	EXPECT_EQ(gp_readers_state(s->w->rs, s->me), GP_READER_GOOD);
}

static void run_shell(struct rw_memory *m)
{
	const char *argv[] = { "sh\x1b[31m", "-c", "kill -STOP $$", "1000\n0", "\xc3\xa9\xff",
			       NULL };
	const char *envp[] = { "A=B", "GPREEMPT_CLASS=bat\tch", "GPREEMPT_GANG=g1",
			       "GPREEMPT_CLASS=second", NULL };

	while (__atomic_load_n(&m->page, __ATOMIC_ACQUIRE) != 2)
		usleep(100);
	execve("/bin/sh", (char *const *)argv, (char *const *)envp);
	_exit(1);
}

static void exec_makes_its_queues_unknown(void **state)
{
	struct rw_stage *s = *state;
	struct gp_reader_sample x[2];
	struct gp_watch *watch;
	struct rw_target t;

	rw_target(&t, s->me, run_shell);
	watch = rw_watch(s->w, &t, s->me, 2);
	rw_look(s->w, s->me);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, x, 2), 2);
	t.m->page = 2;
	do
		rw_look(s->w, s->me);
	while (gp_readers_samples(s->w->rs, watch, x, 2) == 2);
	EXPECT(!x[0].read && !x[1].read);
	gp_readers_unwatch(s->w->rs, watch);
	rw_target_end(&t);
}

static void a_pid_of_another_process_is_gone(void **state)
{
	struct rw_stage *s = *state;
	struct gp_reader_target who = rw_who(&s->t, s->me);
	struct gp_ring_pointers ring = rw_near(&s->t, 0);
	struct gp_reader_wanted wanted = { &ring, 1, GP_WAKE_WRITE };
	struct gp_reader_sample x;
	struct gp_watch *watch = NULL;

	who.start--;		/* as if the pid had been reused */
	EXPECT_EQ(gp_readers_watch(s->w->rs, &who, &wanted, &watch), 0);
	rw_look(s->w, s->me);
	RW_UNTIL(s->w, s->w->count[GP_READERS_GONE] == 1);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, &x, 1), -EAGAIN);
	EXPECT_EQ(gp_readers_describe(s->w->rs, &who), 0);
	RW_UNTIL(s->w, s->w->count[GP_READERS_GONE] == 2);
	EXPECT_EQ(s->w->count[GP_READERS_SUBJECT], 0);
}

static void processes_of_another_user_are_refused(void **state)
{
	struct rw_stage *s = *state;
	struct gp_reader_sample x;
	struct gp_reader_target who;
	struct gp_watch *watch;
	struct rw_target t;

	if (s->me)
		skip();
	rw_target(&t, 1001, NULL);
	watch = rw_watch(s->w, &t, 0, 1);		/* claims user 0, but belongs to 1001 */
	rw_look(s->w, 0);
	RW_UNTIL(s->w, s->w->count[GP_READERS_ERROR] == 1);
	EXPECT_EQ(s->w->last[GP_READERS_ERROR].error, EPERM);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, &x, 1), -EAGAIN);
	who = rw_who(&t, 0);
	EXPECT_EQ(gp_readers_describe(s->w->rs, &who), 0);
	RW_UNTIL(s->w, s->w->count[GP_READERS_ERROR] == 2);
	EXPECT_EQ(s->w->last[GP_READERS_ERROR].error, EPERM);
	gp_readers_unwatch(s->w->rs, watch);

	/* its own reader can read it, and that of the user whose namespace it is in */
	watch = rw_watch(s->w, &t, 1001, 1);
	rw_look(s->w, 1001);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, &x, 1), 1);
	gp_readers_unwatch(s->w->rs, watch);
	s->w->range = (struct gp_uid_range){ 1000, 2 };
	watch = rw_watch(s->w, &t, 77, 1);
	rw_look(s->w, 77);
	EXPECT_EQ(gp_readers_samples(s->w->rs, watch, &x, 1), 1);
	rw_target_end(&t);
}

static void texts_are_described_and_clean(void **state)
{
	struct rw_stage *s = *state;
	struct gp_reader_target who;
	struct rw_target t;

	rw_target(&t, s->me, run_shell);
	t.m->page = 2;
	who = rw_who(&t, s->me);
	do {
		u32 before = s->w->count[GP_READERS_SUBJECT];

		EXPECT_EQ(gp_readers_describe(s->w->rs, &who), 0);
		RW_UNTIL(s->w, s->w->count[GP_READERS_SUBJECT] > before ||
			 s->w->count[GP_READERS_ERROR]);
		EXPECT(!s->w->count[GP_READERS_ERROR] ||
		       s->w->last[GP_READERS_ERROR].error == EAGAIN);
		s->w->count[GP_READERS_ERROR] = 0;
	} while (!strstr(s->w->subject.exe, "/dash") && !strstr(s->w->subject.exe, "/bash"));
	EXPECT_EQ(strcmp(s->w->subject.cmdline, "sh?[31m -c kill -STOP $$ 1000?0 \xc3\xa9?"), 0);
	EXPECT_EQ(strcmp(s->w->subject.class_name, "bat?ch"), 0);
	EXPECT_EQ(strcmp(s->w->subject.gang, "g1"), 0);
	EXPECT_EQ(s->w->subject.known & ~(u32)GP_KNOWN_CGROUP,
		  GP_KNOWN_EXE | GP_KNOWN_CMDLINE | GP_KNOWN_CLASS | GP_KNOWN_GANG);
	EXPECT(s->w->subject.uid == s->me && s->w->subject.owner == s->me);
	rw_target_end(&t);
}

/* Overwrites its own arguments forever, which changes /proc/PID/cmdline. */
static void flicker(struct rw_memory *m)
{
	extern char **environ;
	char *from = environ[0], *at;
	u32 i;

	for (i = 0;; i++) {
		for (at = from - 2; at > from - 12; at--)
			*(volatile char *)at = (char)(i * 7 + (u32)(from - at) * 31);
		__atomic_store_n(&m->page, 1, __ATOMIC_RELEASE);
	}
}

static void a_command_line_that_changes_while_it_is_read_is_clean(void **state)
{
	struct rw_stage *s = *state;
	struct gp_reader_target who;
	struct rw_target t;
	const char *at;
	u32 i;

	rw_target(&t, s->me, flicker);
	AWAIT(__atomic_load_n(&t.m->page, __ATOMIC_ACQUIRE));
	who = rw_who(&t, s->me);
	for (i = 0; i < 200; i++) {
		EXPECT_EQ(gp_readers_describe(s->w->rs, &who), 0);
		RW_UNTIL(s->w, s->w->count[GP_READERS_SUBJECT] == i + 1);
		EXPECT(memchr(s->w->subject.cmdline, 0, sizeof(s->w->subject.cmdline)));
		for (at = s->w->subject.cmdline; *at; at++)
			EXPECT((unsigned char)*at >= ' ' && *at != 0x7f);
	}
	rw_target_end(&t);
}

PROVE(
	CLAIM_WITH(pointers_come_out_as_they_are, rw_up, rw_down),
	CLAIM_WITH(a_write_wakes_the_decider_and_a_read_does_not, rw_up, rw_down),
	CLAIM_WITH(a_barrier_at_the_head_is_seen, rw_up, rw_down),
	CLAIM_WITH(queues_come_and_go_while_others_continue, rw_up, rw_down),
	CLAIM_WITH(a_process_that_ends_is_gone_at_once, rw_up, rw_down),
	CLAIM_WITH(exec_makes_its_queues_unknown, rw_up, rw_down),
	CLAIM_WITH(a_pid_of_another_process_is_gone, rw_up, rw_down),
	CLAIM_WITH(processes_of_another_user_are_refused, rw_up, rw_down),
	CLAIM_WITH(texts_are_described_and_clean, rw_up, rw_down),
	CLAIM_WITH(a_command_line_that_changes_while_it_is_read_is_clean, rw_up, rw_down),
)
