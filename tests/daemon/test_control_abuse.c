// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Slow, silent, excessive and malformed clients do not affect other clients. */
#include "tests/shared/gp_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/shared/control_world.h"

enum { MALFORMED = 10000, FLOODERS = 70 };

/*
 * Makes a valid call with some bytes changed, cut or doubled, or no call at all. A changed call
 * may still be valid, for example for another GPU or for a process of BOB.
 */
static size_t malformed(u64 *seed, char *to, size_t room)
{
	static const char *const good[] = {
		"{\"method\":\"org.gpreempt.Hold\",\"parameters\":{\"pid\":100,\"lease_ns\":1}}",
		"{\"method\":\"org.gpreempt.List\",\"parameters\":{\"gpu\":\"0\"},\"more\":true}",
		"{\"method\":\"org.varlink.service.GetInfo\"}",
	};
	u64 kind = gp_test_random(seed) % 6;
	size_t i, n;

	if (kind == 0) {
		n = gp_test_random(seed) % room;
		for (i = 0; i < n; i++)
			to[i] = (char)gp_test_random(seed);
		return n;
	}
	n = (size_t)snprintf(to, room, "%s", good[gp_test_random(seed) % 3]) + 1;
	if (kind == 1)
		memset(to, "[{\"\\"[gp_test_random(seed) % 4], n - 1);
	for (i = 0; kind > 1 && kind < 5 && i <= gp_test_random(seed) % 4; i++)
		to[gp_test_random(seed) % (n - 1)] = (char)gp_test_random(seed);
	return kind == 2 ? n - 1 - gp_test_random(seed) % (n - 1) : n;
}

static void ten_thousand_malformed_messages_do_not_disturb_it(void **state)
{
	struct control_world *w = *state;
	u64 seed = gp_test_seed(1);
	int good = world_connect(w, ALICE, false), bad = -1;
	char bytes[6000];
	u32 i, n;

	for (i = 0; i < MALFORMED; i++) {
		if (bad < 0 || world_closed(w, bad)) {
			close(bad);
			bad = world_connect(w, BOB, false);
		}
		n = (u32)malformed(&seed, bytes, sizeof(bytes));
		if (send(bad, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EAGAIN)
			world_run(w, 1);
		w->now_ns += 10 * GP_MSEC;
		world_run(w, 1);
		/*
		 * Checks the target of a call that reached the daemon. It is 0 if the call names
		 * no process.
		 */
		EXPECT(w->target.pid == 0 || w->target.pid == BOBS);
		if (i % 100 == 0)
			assert_string_equal(world_error(world_ask(w, good, "Status", NULL)), "");
	}
	EXPECT(world_stats(w).malformed > MALFORMED / 10);
	EXPECT(world_stats(w).clients <= 2);
	close(good);
	close(bad);
}

static void a_silent_client_is_let_go_and_a_begun_call_sooner(void **state)
{
	struct control_world *w = *state;
	int silent = world_connect(w, ALICE, false), half = world_connect(w, ALICE, false);
	u32 i;

	for (i = 0; i < 4; i++) {
		/* A byte each second does not extend the timeout. */
		EXPECT_EQ(send(half, "{", 1, 0), 1);
		world_run(w, 1);
		w->now_ns += GP_SEC;
	}
	EXPECT(!world_closed(w, half));
	EXPECT(gp_control_wake_at(w->c) <= w->now_ns + GP_SEC);
	w->now_ns += GP_SEC;
	EXPECT(world_closed(w, half));
	EXPECT(!world_closed(w, silent));
	w->now_ns += 600 * GP_SEC;
	EXPECT(world_closed(w, silent));
	EXPECT_EQ(world_stats(w).timed_out, 2);
	EXPECT_EQ(gp_control_wake_at(w->c), GP_NEVER);
	close(silent);
	close(half);
}

static void a_client_that_does_not_read_costs_little_and_not_for_long(void **state)
{
	struct control_world *w = *state;
	int slow = world_connect(w, ALICE, false), good = world_connect(w, BOB, false);
	u32 i;

	w->processes = 100000;
	w->large = 1000;
	world_send(slow, "{\"method\":\"org.gpreempt.List\"}");
	world_run(w, 2000);
	/* The socket is full, so the list does not grow and needs no wake-up. */
	EXPECT(gp_control_wake_at(w->c) > w->now_ns);
	for (i = 0; i < 50; i++)
		assert_string_equal(world_error(world_ask(w, good, "Status", NULL)), "");
	w->now_ns += 10 * GP_SEC;
	world_run(w, 1);
	EXPECT_EQ(world_stats(w).timed_out, 1);
	EXPECT_EQ(world_stats(w).clients, 1);
	close(slow);
	close(good);
}

static void calls_per_second_are_limited_but_not_for_the_group(void **state)
{
	struct control_world *w = *state;
	int fd[2] = { world_connect(w, ALICE, false), world_connect(w, 0, true) };
	static const char call[] = "{\"method\":\"org.gpreempt.Enable\",\"oneway\":true}";
	char calls[500 * sizeof(call)];
	u32 i, u, asked[2];

	for (i = 0; i < 500; i++)
		memcpy(calls + i * sizeof(call), call, sizeof(call));
	for (u = 0; u < 2; u++) {
		EXPECT_EQ(send(fd[u], calls, sizeof(calls), 0), (ssize_t)sizeof(calls));
		asked[u] = (u32)world_stats(w).calls;
		world_run(w, 2000);
		asked[u] = (u32)world_stats(w).calls - asked[u];
	}
	EXPECT_EQ(asked[0], 64 + 1);
	EXPECT_EQ(asked[1], 500);
	/* The limit delays calls. One more is handled each millisecond, with a wake-up. */
	EXPECT_EQ(gp_control_wake_at(w->c), w->now_ns + GP_MSEC);
	for (i = 0; i < 100; i++) {
		w->now_ns += GP_MSEC;
		world_run(w, 20);
	}
	EXPECT_EQ(world_stats(w).calls, 500 + 65 + 100);
	close(fd[0]);
	close(fd[1]);
}

static void too_many_connections_cost_their_owner_the_oldest(void **state)
{
	struct control_world *w = *state;
	int fd[FLOODERS], bob = world_connect(w, BOB, false), root, i, alive = 0;

	for (i = 0; i < FLOODERS; i++) {
		w->now_ns += GP_MSEC;
		fd[i] = world_connect(w, ALICE, false);
	}
	for (i = 0; i < FLOODERS; i++)
		alive += !world_closed(w, fd[i]);
	EXPECT_EQ(alive, 16);
	EXPECT(world_closed(w, fd[0]));
	EXPECT(!world_closed(w, fd[FLOODERS - 1]));
	EXPECT_EQ(world_stats(w).evicted, FLOODERS - 16);
	assert_string_equal(world_error(world_ask(w, bob, "Status", NULL)), "");
	for (i = 0; i < FLOODERS; i++)
		close(fd[i]);
	world_run(w, 20);
	/* The connections have different users. One place is kept for root. */
	for (i = 0; i < FLOODERS; i++) {
		fd[i] = world_connect(w, 2000 + (uid_t)i, false);
		world_send(fd[i], "{\"method\":\"org.gpreempt.Subscribe\",\"more\":true}");
		world_run(w, 3);
	}
	EXPECT(world_stats(w).refused > 0);
	root = world_connect(w, 0, true);
	assert_string_equal(world_error(world_ask(w, root, "Disable", NULL)), "");
	for (i = 0; i < FLOODERS; i++)
		close(fd[i]);
	close(root);
	close(bob);
}

/* bench_control measures the cost of a run. This test checks that it stays bounded. */
static void one_run_handles_a_few_calls_whatever_is_waiting(void **state)
{
	struct control_world *w = *state;
	static const char call[] = "{\"method\":\"org.gpreempt.Enable\",\"oneway\":true}";
	int fd[30], i, j;
	u64 before;

	for (i = 0; i < 30; i++) {
		fd[i] = world_connect(w, 2000 + (uid_t)i, false);
		for (j = 0; j < 50; j++)
			EXPECT(send(fd[i], call, sizeof(call), 0) > 0);
	}
	for (i = 0; i < 1200; i++) {
		before = world_stats(w).calls;
		world_run(w, 1);
		EXPECT(world_stats(w).calls - before <= 1);
	}
	/* Every client gets its turn. */
	EXPECT(world_stats(w).calls > 1000);
	for (i = 0; i < 30; i++)
		close(fd[i]);
}

static void a_flood_by_root_does_not_keep_others_waiting(void **state)
{
	struct control_world *w = *state;
	static const char call[] = "{\"method\":\"org.gpreempt.Enable\",\"oneway\":true}";
	int flooder = world_connect(w, 0, true), other = world_connect(w, ALICE, false), i;
	char answer[256];

	for (i = 0; i < 200; i++)
		EXPECT(send(flooder, call, sizeof(call), 0) > 0);
	world_send(other, "{\"method\":\"org.gpreempt.Status\"}");
	/* Every client gets a turn within as many runs as there may be clients. */
	world_run(w, 64 + 2);
	EXPECT(recv(other, answer, sizeof(answer), 0) > 0);
	EXPECT(world_stats(w).calls < 100);
	close(flooder);
	close(other);
}

/* Returns how many runs root waits for the answer to Disable on a new connection. */
static u32 runs_until_off(struct control_world *w)
{
	int fd = world_connect(w, 0, true);
	char answer[256];
	u32 runs = 0;

	world_send(fd, "{\"method\":\"org.gpreempt.Disable\"}");
	while (recv(fd, answer, sizeof(answer), MSG_DONTWAIT) < 0) {
		EXPECT(++runs < 10000);
		world_run(w, 1);
	}
	EXPECT(!strstr(answer, "error"));
	close(fd);
	return runs;
}

static void connects_and_calls_of_one_user_do_not_delay_off(void **state)
{
	static const char call[] = "{\"method\":\"org.gpreempt.Status\"}";
	enum { CONNECTS = 5000, CALLS = 22, OPEN = 32 };
	struct control_world *w = *state;
	u32 i, n, runs, most = 0, sent = 0;
	char calls[CALLS * sizeof(call)];
	int fd[OPEN];

	for (i = 0; i < CALLS; i++)
		memcpy(calls + i * sizeof(call), call, sizeof(call));
	memset(fd, -1, sizeof(fd));
	for (i = 0; i < CONNECTS; i++) {
		if (fd[i % OPEN] >= 0)
			close(fd[i % OPEN]);
		fd[i % OPEN] = world_connect(w, ALICE, false);
		n = send(fd[i % OPEN], calls, sizeof(calls), MSG_NOSIGNAL) > 0 ? CALLS : 0;
		sent += n;
		if (i % 10 == 0)
			w->now_ns += GP_MSEC;
		if (i % 50)
			continue;
		runs = runs_until_off(w);
		most = runs > most ? runs : most;
	}
	EXPECT(sent > 100000);
	/* A user whose connections are all busy gets no further one. */
	EXPECT(world_stats(w).refused < CONNECTS / 10);
	/*
	 * Every client gets a turn within as many runs as there are clients. Accepting takes a
	 * few more.
	 */
	EXPECT(most <= 2 * 16);
	for (i = 0; i < OPEN; i++)
		close(fd[i]);
}

PROVE(
	CLAIM_WITH(connects_and_calls_of_one_user_do_not_delay_off, world_up, world_down),
	CLAIM_WITH(a_flood_by_root_does_not_keep_others_waiting, world_up, world_down),
	CLAIM_WITH(ten_thousand_malformed_messages_do_not_disturb_it, world_up, world_down),
	CLAIM_WITH(a_silent_client_is_let_go_and_a_begun_call_sooner, world_up, world_down),
	CLAIM_WITH(a_client_that_does_not_read_costs_little_and_not_for_long, world_up, world_down),
	CLAIM_WITH(calls_per_second_are_limited_but_not_for_the_group, world_up, world_down),
	CLAIM_WITH(too_many_connections_cost_their_owner_the_oldest, world_up, world_down),
	CLAIM_WITH(one_run_handles_a_few_calls_whatever_is_waiting, world_up, world_down),
)
