// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The control socket: requests that reach the daemon, and its answers. */
#include "tests/shared/gp_test.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/shared/control_world.h"

static const char *text(json_t *reply, const char *name)
{
	return json_string_value(json_object_get(json_object_get(reply, "parameters"), name));
}

static void a_call_reaches_the_daemon_with_its_arguments(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, ALICE, false);
	json_t *reply = world_ask(w, fd, "Hold", "{\"pid\":100,\"start\":7,\"lease_ns\":5000}");

	assert_string_equal(text(reply, "did"), "Hold");
	json_decref(reply);
	assert_string_equal(w->last, "Hold");
	EXPECT_EQ(w->target.pid, 100);
	EXPECT_EQ(w->target.start, 7);
	EXPECT_EQ(w->number, 5000);
	close(fd);
}

static void an_error_says_what_the_daemon_said(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, 0, true);
	json_t *reply;

	w->refuse = ENOSPC;
	reply = world_ask(w, fd, "Enable", NULL);
	assert_string_equal(text(reply, "message"), "refused, as the test wants");
	assert_string_equal(world_error(reply), "NotAdmitted");
	w->refuse = ENOTTY;
	reply = world_ask(w, fd, "Enable", NULL);
	EXPECT_EQ(json_integer_value(json_object_get(json_object_get(reply, "parameters"),
						     "errno")), ENOTTY);
	assert_string_equal(world_error(reply), "Failed");
	close(fd);
}

/* The daemon's texts belong to a configuration, which a reload replaces. */
static void the_texts_it_was_given_may_go(void **state)
{
	char path[96], group[] = "daemon";
	struct control_world *w = *state;
	int fd;

	gp_control_free(w->c);
	snprintf(path, sizeof(path), "%s", w->path);
	w->args.path = path;
	w->args.group = group;
	world_rebind(w, 0);
	memset(path, 'x', sizeof(path) - 1);
	memset(group, 'x', sizeof(group) - 1);
	fd = world_connect(w, ALICE, false);
	assert_string_equal(world_error(world_ask(w, fd, "Status", NULL)), "");
	close(fd);
	gp_control_free(w->c);
	w->c = NULL;
	EXPECT_EQ(access(w->path, F_OK), -1);
}

static void an_answer_may_come_later_and_only_once(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, 0, true);
	struct gp_varlink_reader r = { .max = 4096 };
	gp_token first;
	json_t *reply;

	w->defer = true;
	world_send(fd, "{\"method\":\"org.gpreempt.Status\"}");
	/* The next call waits until this one is answered. */
	world_send(fd, "{\"method\":\"org.gpreempt.Status\"}");
	world_run(w, 10);
	EXPECT_EQ(w->asked, 1);
	first = w->token;
	EXPECT_EQ(gp_control_reply(w->c, first, json_pack("{s:s}", "did", "late")), 0);
	EXPECT_EQ(gp_control_reply(w->c, w->token, json_object()), -ENOENT);
	reply = world_receive(w, &r, fd);
	assert_string_equal(text(reply, "did"), "late");
	json_decref(reply);
	world_run(w, 10);
	EXPECT_EQ(w->asked, 2);
	/* The answer to the first call does not answer the second. */
	EXPECT_EQ(gp_control_reply(w->c, first, json_object()), -ENOENT);
	close(fd);
	world_run(w, 2);
	EXPECT_EQ(w->gone, 1);
	EXPECT_EQ(gp_control_fail(w->c, w->token, EIO, NULL), -ENOENT);
	gp_varlink_reader_fini(&r);
}

static void a_oneway_call_is_not_answered(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, 0, true);

	world_send(fd, "{\"method\":\"org.gpreempt.Enable\",\"oneway\":true}");
	world_send(fd, "{\"method\":\"org.gpreempt.Nonsense\",\"oneway\":true}");
	assert_string_equal(world_error(world_ask(w, fd, "Hold", "{\"wait\":1}")),
			    "InvalidParameter");
	assert_string_equal(w->last, "Enable");
	close(fd);
}

static void a_client_that_hangs_up_after_the_call_is_answered_all_the_same(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, 0, true);
	struct gp_varlink_reader r = { .max = 4096 };
	json_t *reply;

	world_send(fd, "{\"method\":\"org.gpreempt.Status\"}");
	shutdown(fd, SHUT_WR);
	reply = world_receive(w, &r, fd);
	assert_string_equal(text(reply, "did"), "Status");
	json_decref(reply);
	EXPECT(world_closed(w, fd));
	gp_varlink_reader_fini(&r);
	close(fd);
}

static void a_long_list_is_made_in_pieces(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, 0, true);
	static const u32 counts[] = { 0, 1, 2, 1000 };
	json_t *reply, *list;
	size_t i;

	w->large = 1000;
	for (i = 0; i < 4; i++) {
		w->processes = counts[i];
		reply = world_ask(w, fd, i & 1 ? "List" : "Stats", NULL);
		list = json_object_get(json_object_get(reply, "parameters"), "processes");
		EXPECT_EQ(json_array_size(list), counts[i]);
		EXPECT_EQ(!!json_object_get(json_object_get(reply, "parameters"), "gpus"), i & 1);
		json_decref(reply);
	}
	/* A process without a valid entry does not hide the others. */
	w->processes = 10;
	w->untold = 4;
	reply = world_ask(w, fd, "List", NULL);
	list = json_object_get(json_object_get(reply, "parameters"), "processes");
	EXPECT_EQ(json_array_size(list), 9);
	json_decref(reply);
	close(fd);
}

static void publish(struct control_world *w, u32 n, enum gp_event_kind kind)
{
	while (n--)
		gp_control_publish(w->c, kind, json_pack("{s:i}", "at_ns", (int)n),
				   GP_TO_ALL, 0);
}

/* Returns 1 if @reply, which it consumes, has an event. */
static u32 event_of(json_t *reply, u32 *lost)
{
	const json_t *parameters = json_object_get(reply, "parameters");
	u32 events = json_object_get(parameters, "event") != NULL;

	EXPECT(parameters != NULL);
	*lost += (u32)json_integer_value(json_object_get(parameters, "lost"));
	json_decref(reply);
	return events;
}

static void a_subscriber_gets_what_it_wants_and_hears_what_was_lost(void **state)
{
	enum { MANY = 20000 };
	struct control_world *w = *state;
	int fd = world_connect(w, ALICE, false);
	struct gp_varlink_reader r = { .max = 4096 };
	u32 got = 0, lost = 0;
	struct gp_control_stats s;
	json_t *reply;

	EXPECT_EQ(gp_control_wanted(w->c, GP_TO_ALL, 0), 0);
	world_send(fd, "{\"method\":\"org.gpreempt.Subscribe\",\"more\":true,"
		   "\"parameters\":{\"kinds\":[\"hold\"]}}");
	reply = world_receive(w, &r, fd);
	EXPECT(json_is_true(json_object_get(reply, "continues")));
	json_decref(reply);
	EXPECT_EQ(gp_control_wanted(w->c, GP_TO_ALL, 0), 1 << GP_EVENT_HOLD | 1 << GP_EVENT_STATE);
	publish(w, 5, GP_EVENT_POLICY);
	publish(w, MANY, GP_EVENT_HOLD);
	gp_control_stats(w->c, &s);
	EXPECT_EQ(s.events + s.events_lost, MANY);
	while (got < s.events)
		got += event_of(world_receive(w, &r, fd), &lost);
	EXPECT_EQ(lost, 0);
	/* Lost events are reported once, before the next event that fits. */
	publish(w, 2, GP_EVENT_HOLD);
	while (got < s.events + 2)
		got += event_of(world_receive(w, &r, fd), &lost);
	EXPECT_EQ(lost, s.events_lost);
	EXPECT(lost > 0 && s.events > 1000);
	gp_varlink_reader_fini(&r);
	close(fd);
	world_run(w, 2);
	EXPECT_EQ(gp_control_wanted(w->c, GP_TO_ALL, 0), 0);
}

static void subscribers_do_not_get_each_others_events(void **state)
{
	static const char *const calls[] = {
		"{\"method\":\"org.gpreempt.Subscribe\",\"more\":true,"
		"\"parameters\":{\"kinds\":[\"hold\"]}}",
		"{\"method\":\"org.gpreempt.Subscribe\",\"more\":true,"
		"\"parameters\":{\"kinds\":[\"record\"]}}",
	};
	struct control_world *w = *state;
	struct gp_varlink_reader r[2] = { { .max = 4096 }, { .max = 4096 } };
	json_t *reply, *p;
	int fd[2], i;

	for (i = 0; i < 2; i++) {
		fd[i] = world_connect(w, 0, true);
		world_send(fd[i], calls[i]);
		json_decref(world_receive(w, &r[i], fd[i]));
	}
	publish(w, 1, GP_EVENT_HOLD);
	gp_control_publish(w->c, GP_EVENT_RECORD, json_pack("{s:[]}", "records"),
			   GP_TO_ALL, 0);
	for (i = 0; i < 2; i++) {
		reply = world_receive(w, &r[i], fd[i]);
		p = json_object_get(reply, "parameters");
		EXPECT_EQ(!!json_object_get(p, "event"), i == 0);
		EXPECT_EQ(!!json_object_get(p, "records"), i == 1);
		json_decref(reply);
		EXPECT(!gp_varlink_waiting(&r[i]) && !world_closed(w, fd[i]));
		gp_varlink_reader_fini(&r[i]);
		close(fd[i]);
	}
}

/* The recipients of an event: root and the group, the owner, other users. */
static void an_event_reaches_its_audience_and_no_other_client(void **state)
{
	static const struct {
		u32 audience;
		bool root, alice, bob;
	} table[] = {
		{ GP_TO_ALL, true, true, true },
		{ GP_TO_PRIVILEGED, true, false, false },
		{ GP_TO_OWNER, false, true, false },
		{ GP_TO_PRIVILEGED | GP_TO_OWNER, true, true, false },
	};
	struct control_world *w = *state;
	struct gp_varlink_reader r[3] = { { .max = 4096 }, { .max = 4096 }, { .max = 4096 } };
	int fd[3] = { world_connect(w, 0, true), world_connect(w, ALICE, false),
		      world_connect(w, BOB, false) };
	u32 i, k;

	for (k = 0; k < 3; k++) {
		world_send(fd[k], "{\"method\":\"org.gpreempt.Subscribe\",\"more\":true}");
		json_decref(world_receive(w, &r[k], fd[k]));
	}
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const bool want[] = { table[i].root, table[i].alice, table[i].bob };

		gp_control_publish(w->c, GP_EVENT_HOLD, json_pack("{s:i}", "nr", i),
				   table[i].audience, ALICE);
		world_run(w, 3);
		for (k = 0; k < 3; k++) {
			if ((gp_varlink_receive(&r[k], fd[k]) > 0) != want[k])
				fail_msg("row %u: client %u", i, k);
			if (want[k])
				json_decref(world_receive(w, &r[k], fd[k]));
		}
	}
	for (k = 0; k < 3; k++) {
		gp_varlink_reader_fini(&r[k]);
		close(fd[k]);
	}
}

static void a_stale_socket_is_replaced_and_a_live_one_is_not(void **state)
{
	struct control_world *w = *state;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd;

	gp_control_free(w->c);
	w->c = NULL;
	EXPECT_EQ(access(w->path, F_OK), -1);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", w->path);
	EXPECT_EQ(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	EXPECT_EQ(listen(fd, 1), 0);
	world_rebind(w, -EADDRINUSE);
	close(fd);
	world_rebind(w, 0);
	fd = world_connect(w, 0, true);
	assert_string_equal(world_error(world_ask(w, fd, "Status", NULL)), "");
	close(fd);
}

PROVE(
	CLAIM_WITH(a_call_reaches_the_daemon_with_its_arguments, world_up, world_down),
	CLAIM_WITH(an_error_says_what_the_daemon_said, world_up, world_down),
	CLAIM_WITH(the_texts_it_was_given_may_go, world_up, world_down),
	CLAIM_WITH(an_answer_may_come_later_and_only_once, world_up, world_down),
	CLAIM_WITH(a_oneway_call_is_not_answered, world_up, world_down),
	CLAIM_WITH(a_client_that_hangs_up_after_the_call_is_answered_all_the_same, world_up,
		   world_down),
	CLAIM_WITH(a_long_list_is_made_in_pieces, world_up, world_down),
	CLAIM_WITH(a_subscriber_gets_what_it_wants_and_hears_what_was_lost, world_up, world_down),
	CLAIM_WITH(subscribers_do_not_get_each_others_events, world_up, world_down),
	CLAIM_WITH(an_event_reaches_its_audience_and_no_other_client, world_up, world_down),
	CLAIM_WITH(a_stale_socket_is_replaced_and_a_live_one_is_not, world_up, world_down),
)
