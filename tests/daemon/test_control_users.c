// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The limits of one user with any number of user ids, connections and calls. */
#include "tests/shared/gp_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/shared/control_world.h"

enum { CLIENTS = 64, SHARED = CLIENTS - CLIENTS / 8, PER_USER = 16, STREAMS = 8 };

static const char subscribe[] = "{\"method\":\"org.gpreempt.Subscribe\",\"more\":true}";

static u32 alive(struct control_world *w, const int *fd, u32 nr)
{
	u32 i, n = 0;

	for (i = 0; i < nr; i++)
		n += !world_closed(w, fd[i]);
	return n;
}

static void close_all(struct control_world *w, const int *fd, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		close(fd[i]);
	world_run(w, 2 * nr);
}

static void all_uids_of_a_range_have_the_connections_of_one_user(void **state)
{
	struct control_world *w = *state;
	int fd[300], bob, i;

	/* A range of 65536 uids. Each connection has a different one. */
	for (i = 0; i < 300; i++) {
		w->now_ns += GP_MSEC;
		fd[i] = world_connect_as(w, 100000 + (uid_t)i, ALICE);
	}
	EXPECT_EQ(alive(w, fd, 300), PER_USER);
	bob = world_connect(w, BOB, false);
	assert_string_equal(world_error(world_ask(w, bob, "Status", NULL)), "");
	close_all(w, fd, 300);
	close(bob);
}

/* Makes as many connections for @users users as they can get, all subscribed or waiting. */
static u32 crowd(struct control_world *w, int *fd, u32 users)
{
	u32 u, i, n = 0;

	w->defer = true;
	for (i = 0; i < PER_USER; i++) {
		for (u = 0; u < users; u++) {
			w->now_ns += GP_MSEC;
			fd[n] = world_connect(w, 2000 + u, false);
			world_send(fd[n++], i < STREAMS ? subscribe :
				   "{\"method\":\"org.gpreempt.Status\"}");
			world_run(w, 80);
		}
	}
	w->defer = false;
	return n;
}

static void a_new_user_gets_a_connection_though_others_took_all(void **state)
{
	struct control_world *w = *state;
	int fd[6 * PER_USER], late[40];
	u32 n = crowd(w, fd, 6), i, served = 0;

	EXPECT_EQ(alive(w, fd, n), SHARED);
	/*
	 * Forty further users each get a connection, which replaces one of the user with the
	 * most.
	 */
	for (i = 0; i < 40; i++) {
		w->now_ns += GP_MSEC;
		late[i] = world_connect(w, 3000 + i, false);
		served += !strcmp(world_error(world_ask(w, late[i], "Status", NULL)), "");
	}
	EXPECT_EQ(served, 40);
	EXPECT_EQ(alive(w, late, 40), 40);
	EXPECT_EQ(alive(w, fd, n), SHARED - 40);
	EXPECT(world_stats(w).clients <= SHARED);
	close_all(w, fd, n);
	close_all(w, late, 40);
}

static void the_crowd_never_takes_the_places_of_root(void **state)
{
	struct control_world *w = *state;
	int fd[6 * PER_USER], root[CLIENTS];
	u32 n = crowd(w, fd, 6), i;

	for (i = 0; i < CLIENTS; i++) {
		root[i] = world_connect(w, 0, true);
		assert_string_equal(world_error(world_ask(w, root[i], "Status", NULL)), "");
	}
	/* Root may take every connection, which leaves none for others. */
	EXPECT_EQ(alive(w, root, CLIENTS), CLIENTS);
	EXPECT_EQ(alive(w, fd, n), 0);
	/* Root still gets in, because the connection that was idle longest is closed. */
	w->now_ns += GP_MSEC;
	fd[0] = (close(fd[0]), world_connect(w, 0, true));
	assert_string_equal(world_error(world_ask(w, fd[0], "Status", NULL)), "");
	EXPECT_EQ(alive(w, root, CLIENTS), CLIENTS - 1);
	close_all(w, fd, n);
	close_all(w, root, CLIENTS);
}

static void the_subscriptions_of_a_user_are_limited(void **state)
{
	struct control_world *w = *state;
	struct gp_varlink_reader r = { .max = 4096 };
	int fd[STREAMS + 1], bob;
	u32 i;

	for (i = 0; i < STREAMS; i++) {
		fd[i] = world_connect_as(w, 100000 + i, ALICE);
		world_send(fd[i], subscribe);
		json_decref(world_receive(w, &r, fd[i]));
	}
	fd[STREAMS] = world_connect_as(w, 100000 + STREAMS, ALICE);
	world_send(fd[STREAMS], subscribe);
	assert_string_equal(world_error(world_receive(w, &r, fd[STREAMS])), "Busy");
	bob = world_connect(w, BOB, false);
	world_send(bob, subscribe);
	assert_string_equal(world_error(world_receive(w, &r, bob)), "");
	EXPECT_EQ(world_stats(w).subscribers, STREAMS + 1);
	/* A connection that ends makes room. */
	close(fd[0]);
	world_run(w, 3);
	world_send(fd[STREAMS], subscribe);
	assert_string_equal(world_error(world_receive(w, &r, fd[STREAMS])), "");
	gp_varlink_reader_fini(&r);
	for (i = 1; i <= STREAMS; i++)
		close(fd[i]);
	close(bob);
}

static void connections_and_reconnecting_give_a_user_no_more_calls(void **state)
{
	static const char call[] = "{\"method\":\"org.gpreempt.Status\",\"oneway\":true}";
	struct control_world *w = *state;
	u32 i, k;
	int fd[10];

	for (i = 0; i < 10; i++) {
		fd[i] = world_connect_as(w, 100000 + i, ALICE);
		for (k = 0; k < 50; k++)
			EXPECT(send(fd[i], call, sizeof(call), 0) > 0);
	}
	world_run(w, 2000);
	EXPECT_EQ(world_stats(w).calls, 65);
	close_all(w, fd, 10);
	fd[0] = world_connect_as(w, 100055, ALICE);
	world_send(fd[0], call);
	world_run(w, 100);
	EXPECT_EQ(world_stats(w).calls, 65);
	w->now_ns += 10 * GP_MSEC;
	world_run(w, 100);
	EXPECT_EQ(world_stats(w).calls, 66);
	close(fd[0]);
}

static void the_memory_of_a_user_is_bounded(void **state)
{
	enum { EVENTS_MAX = 256 << 10, READ = 4096 };
	struct control_world *w = *state;
	char half[2000];
	int fd[PER_USER];
	u32 i;

	memset(half, ' ', sizeof(half));
	for (i = 0; i < PER_USER; i++) {
		fd[i] = world_connect_as(w, 100000 + i, ALICE);
		if (i < STREAMS)
			world_send(fd[i], subscribe);
		else if (i % 2)
			EXPECT(send(fd[i], half, sizeof(half), 0) > 0);
		else
			world_send(fd[i], "{\"method\":\"org.gpreempt.List\"}");
	}
	w->processes = 1000000;
	w->large = 1000;
	world_run(w, 20000);
	for (i = 0; i < 30000; i++) {
		gp_control_publish(w->c, GP_EVENT_HOLD, json_pack("{s:s}", "what",
				   "a sentence of some length about a process that is held"),
				   GP_TO_ALL, 0);
		if (i % 100 == 0)
			world_run(w, 1);
	}
	EXPECT(world_stats(w).events_lost > 0);
	EXPECT(world_stats(w).buffered <= PER_USER * (EVENTS_MAX + 4 * READ));
	for (i = 0; i < PER_USER; i++)
		close(fd[i]);
}

static void calls_that_take_long_take_a_small_share_of_the_time(void **state)
{
	static const char list[] = "{\"method\":\"org.gpreempt.List\"}";
	struct control_world *w = *state;
	int alice = world_connect(w, ALICE, false), root = world_connect(w, 0, true);

	w->processes = 30;
	w->slow_ns = GP_MSEC;
	world_send(alice, list);
	world_run(w, 100);
	/* The user may use 64 ms at once, of which each ms counts as 20. */
	EXPECT(w->told >= 1 && w->told <= 5);
	EXPECT(gp_control_wake_at(w->c) > w->now_ns);
	w->told = 0;
	world_send(root, list);
	world_run(w, 100);
	EXPECT_EQ(w->told, 30);
	for (u32 i = 0; i < 100; i++) {
		w->now_ns += 100 * GP_MSEC;
		world_run(w, 1);
	}
	EXPECT(w->told > 30);
	close(alice);
	close(root);
}

PROVE(
	CLAIM_WITH(calls_that_take_long_take_a_small_share_of_the_time, world_up, world_down),
	CLAIM_WITH(all_uids_of_a_range_have_the_connections_of_one_user, world_up, world_down),
	CLAIM_WITH(a_new_user_gets_a_connection_though_others_took_all, world_up, world_down),
	CLAIM_WITH(the_crowd_never_takes_the_places_of_root, world_up, world_down),
	CLAIM_WITH(the_subscriptions_of_a_user_are_limited, world_up, world_down),
	CLAIM_WITH(connections_and_reconnecting_give_a_user_no_more_calls, world_up, world_down),
	CLAIM_WITH(the_memory_of_a_user_is_bounded, world_up, world_down),
)
