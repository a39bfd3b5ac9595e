// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The control socket: what reaches the daemon, what comes back. */
#include "gp_test.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control_world.h"

static int up(void **state)
{
	*state = world_new(NULL);
	return 0;
}

static int down(void **state)
{
	world_free(*state);
	return 0;
}

static const char *text(json_t *reply, const char *name)
{
	return json_string_value(json_object_get(json_object_get(reply, "parameters"), name));
}

static void a_call_reaches_the_daemon_with_its_arguments(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, ALICE, false);
	json_t *reply = world_ask(w, fd, "Hold", "{\"pid\":100,\"start\":7,\"lease_ns\":5000}");

	assert_string_equal(text(reply, "did"), "hold");
	json_decref(reply);
	assert_string_equal(w->last, "hold");
	EXPECT_EQ(w->target.pid, 100);
	EXPECT_EQ(w->target.start, 7);
	EXPECT_EQ(w->number, 5000);
	close(fd);
}

static void who_names_no_process_means_itself(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, ALICE, false);

	assert_string_equal(world_error(world_ask(w, fd, "Hint",
						  "{\"in_ns\":1,\"for_ns\":2}")), "");
	EXPECT_EQ(w->target.pid, ALICES);
	assert_string_equal(world_error(world_ask(w, fd, "Trigger", "{\"start\":2}")),
			    "InvalidParameter");
	close(fd);
}

static void bad_parameters_do_not_reach_the_daemon(void **state)
{
	static const char *const bad[][2] = {
		{ "Hold", "{}" },
		{ "Hold", "{\"pid\":100}" },
		{ "Hold", "{\"pid\":null,\"lease_ns\":1}" },
		{ "Hold", "{\"pid\":\"100\",\"lease_ns\":1}" },
		{ "Hold", "{\"pid\":100,\"lease_ns\":0}" },
		{ "Hold", "{\"pid\":100,\"lease_ns\":3600000000001}" },
		{ "Hold", "{\"pid\":100,\"lease_ns\":1.5}" },
		{ "Hold", "{\"pid\":100,\"lease_ns\":1,\"wait\":1}" },
		{ "Hold", "{\"pid\":100,\"lease_ns\":1,\"class\":\"batch\"}" },
		{ "Hold", "{\"pid\":0,\"lease_ns\":1}" },
		{ "Hold", "{\"pid\":-1,\"lease_ns\":1}" },
		{ "Hold", "{\"pid\":4294967396,\"lease_ns\":1}" },
		{ "SetClass", "{\"pid\":100,\"class\":\"\"}" },
		{ "SetClass", "{\"pid\":100,\"class\":\"a\\nb\"}" },
		{ "SetClass", "{\"pid\":100,\"class\":\"nonsense\"}" },
		{ "SetPolicy", "{\"parameters\":{\"linger\":5}}" },
		{ "SetPolicy", "{\"parameters\":[\"linger\"]}" },
		{ "SetPolicy", "{\"dry_run\":\"yes\"}" },
		{ "Status", "{\"verbose\":true}" },
	};
	struct control_world *w = *state;
	int fd = world_connect(w, 0, true);
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (strcmp(world_error(world_ask(w, fd, bad[i][0], bad[i][1])),
			   "InvalidParameter"))
			fail_msg("%s%s was not refused", bad[i][0], bad[i][1]);
	EXPECT_EQ(w->asked, 0);
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

/* The daemon's are of a configuration, which a reload replaces. */
static void the_texts_it_was_given_may_go(void **state)
{
	char path[96], group[] = "daemon";
	struct control_world *w = *state;
	int fd;
	json_t *reply;

	gp_control_free(w->c);
	snprintf(path, sizeof(path), "%s", w->path);
	w->args.path = path;
	w->args.group = group;
	world_rebind(w, 0);
	memset(path, 'x', sizeof(path) - 1);
	memset(group, 'x', sizeof(group) - 1);
	fd = world_connect(w, ALICE, false);
	reply = world_ask(w, fd, "Disable", NULL);
	EXPECT(strstr(text(reply, "message"), "the group daemon"));
	assert_string_equal(world_error(reply), "PermissionDenied");
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
	/* The next call waits for its turn. */
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
	/* The answer to the first is not one to the second. */
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
	assert_string_equal(world_error(world_ask(w, fd, "Hold", "{}")), "InvalidParameter");
	assert_string_equal(w->last, "enable");
	close(fd);
}

static void who_hangs_up_after_the_call_is_answered_all_the_same(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, 0, true);
	struct gp_varlink_reader r = { .max = 4096 };
	json_t *reply;

	world_send(fd, "{\"method\":\"org.gpreempt.Status\"}");
	shutdown(fd, SHUT_WR);
	reply = world_receive(w, &r, fd);
	assert_string_equal(text(reply, "did"), "status");
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
	/* A process that cannot be told does not hide the others. */
	w->processes = 10;
	w->untold = 4;
	reply = world_ask(w, fd, "List", NULL);
	list = json_object_get(json_object_get(reply, "parameters"), "processes");
	EXPECT_EQ(json_array_size(list), 9);
	json_decref(reply);
	reply = world_ask(w, fd, "List", "{\"gpu\":\"7\"}");
	assert_string_equal(text(reply, "message"), "there is no GPU 7");
	assert_string_equal(world_error(reply), "NotFound");
	close(fd);
}

static void publish(struct control_world *w, u32 n, enum gp_event_kind kind)
{
	while (n--)
		gp_control_publish(w->c, kind, json_pack("{s:i}", "at_ns", (int)n));
}

/* 1 if @reply, which it consumes, has an event. */
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

	EXPECT_EQ(gp_control_wanted(w->c), 0);
	assert_string_equal(world_error(world_ask(w, fd, "Subscribe", NULL)), "ExpectedMore");
	world_send(fd, "{\"method\":\"org.gpreempt.Subscribe\",\"more\":true,"
		   "\"parameters\":{\"kinds\":[\"hold\"]}}");
	reply = world_receive(w, &r, fd);
	EXPECT(json_is_true(json_object_get(reply, "continues")));
	json_decref(reply);
	EXPECT_EQ(gp_control_wanted(w->c), 1 << GP_EVENT_HOLD);
	publish(w, 5, GP_EVENT_STATE);
	publish(w, MANY, GP_EVENT_HOLD);
	gp_control_stats(w->c, &s);
	EXPECT_EQ(s.events + s.events_lost, MANY);
	while (got < s.events)
		got += event_of(world_receive(w, &r, fd), &lost);
	EXPECT_EQ(lost, 0);
	/* What was lost is told before the next event that fits, and once. */
	publish(w, 2, GP_EVENT_HOLD);
	while (got < s.events + 2)
		got += event_of(world_receive(w, &r, fd), &lost);
	EXPECT_EQ(lost, s.events_lost);
	EXPECT(lost > 0 && s.events > 1000);
	gp_varlink_reader_fini(&r);
	close(fd);
	world_run(w, 2);
	EXPECT_EQ(gp_control_wanted(w->c), 0);
}

static void subscribers_do_not_get_each_others_events(void **state)
{
	static const char *const calls[] = {
		"{\"method\":\"org.gpreempt.Subscribe\",\"more\":true,"
		"\"parameters\":{\"kinds\":[\"hold\"]}}",
		"{\"method\":\"org.gpreempt.Record\",\"more\":true}",
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
	gp_control_publish(w->c, GP_EVENT_RECORD, json_pack("{s:[]}", "records"));
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

/* Every method of the description is there, and nothing else is promised. */
static void the_service_describes_itself(void **state)
{
	struct control_world *w = *state;
	int fd = world_connect(w, 0, true);
	const char *at;
	char name[64];
	json_t *reply = world_ask(w, fd, "org.varlink.service.GetInterfaceDescription",
				  "{\"interface\":\"org.gpreempt\"}");
	u32 methods = 0;

	for (at = text(reply, "description"); (at = strstr(at, "\nmethod ")); methods++) {
		at += strlen("\nmethod ");
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "("), at);
		/* A parameter that none has: it is refused by a method that exists. */
		if (!strcmp(name, "Subscribe") || !strcmp(name, "Record"))
			continue;
		assert_string_equal(world_error(world_ask(w, fd, name, "{\"no\":1}")),
				    "InvalidParameter");
	}
	EXPECT_EQ(methods, 16);
	json_decref(reply);
	reply = world_ask(w, fd, "org.varlink.service.GetInfo", NULL);
	assert_string_equal(text(reply, "product"), "gpreemptd");
	json_decref(reply);
	assert_string_equal(world_error(world_ask(w, fd, "Nonsense", NULL)), "MethodNotFound");
	assert_string_equal(world_error(world_ask(w, fd, "org.x.Y", NULL)), "InterfaceNotFound");
	close(fd);
}

static void a_stale_socket_is_replaced_and_a_live_one_is_not(void **state)
{
	struct control_world *w = *state;
	static const struct gp_control_ops none;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct gp_control_args args = { .path = w->path, .ops = &none };
	struct gp_control *c;
	const char *why;
	int fd;

	EXPECT_EQ(gp_control_new(&args, &c, &why), -EINVAL);
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
	CLAIM_WITH(a_call_reaches_the_daemon_with_its_arguments, up, down),
	CLAIM_WITH(who_names_no_process_means_itself, up, down),
	CLAIM_WITH(bad_parameters_do_not_reach_the_daemon, up, down),
	CLAIM_WITH(an_error_says_what_the_daemon_said, up, down),
	CLAIM_WITH(the_texts_it_was_given_may_go, up, down),
	CLAIM_WITH(an_answer_may_come_later_and_only_once, up, down),
	CLAIM_WITH(a_oneway_call_is_not_answered, up, down),
	CLAIM_WITH(who_hangs_up_after_the_call_is_answered_all_the_same, up, down),
	CLAIM_WITH(a_long_list_is_made_in_pieces, up, down),
	CLAIM_WITH(a_subscriber_gets_what_it_wants_and_hears_what_was_lost, up, down),
	CLAIM_WITH(subscribers_do_not_get_each_others_events, up, down),
	CLAIM_WITH(the_service_describes_itself, up, down),
	CLAIM_WITH(a_stale_socket_is_replaced_and_a_live_one_is_not, up, down),
)
