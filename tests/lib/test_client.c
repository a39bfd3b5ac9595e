// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* libgpreempt against a control socket that another thread serves. */
#include "tests/shared/gp_test.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/shared/control_world.h"
#include "lib/gpreempt.h"

static pthread_t thread;
static atomic_bool stop;
static atomic_int publish;	/* number of events to publish */

static u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * GP_SEC + (u64)t.tv_nsec;
}

static void *serve(void *arg)
{
	struct control_world *w = arg;
	struct pollfd p = { .fd = gp_control_fd(w->c), .events = POLLIN };

	while (!stop) {
		poll(&p, 1, gp_control_wake_at(w->c) > clock_ns() ? 1 : 0);
		gp_control_run(w->c, clock_ns());
		for (; publish && gp_control_wanted(w->c, GP_TO_ALL, 0); publish--)
			gp_control_publish(w->c, GP_EVENT_STATE, json_pack(
				"{s:I, s:s, s:s, s:i, s:i, s:s}", "at_ns", (json_int_t)77,
				"kind", "state", "what", "taken off", "pid", 100, "gpu", 3,
				"state", "off"), GP_TO_ALL, 0);
	}
	return NULL;
}

static int up(void **state)
{
	struct control_world *w = world_new(NULL);

	w->peer = (struct gp_peer){ .pid = ALICES, .uid = ALICE, .user = ALICE };
	stop = false;
	publish = 0;
	*state = w;
	return pthread_create(&thread, NULL, serve, w);
}

static int down(void **state)
{
	stop = true;
	pthread_join(thread, NULL);
	world_free(*state);
	return 0;
}

static struct gp_daemon *connected(struct control_world *w)
{
	struct gp_daemon *d;

	EXPECT_EQ(gp_daemon_open(w->path, &d), 0);
	gp_daemon_set_timeout(d, GP_TEST_PATIENCE_MS);
	return d;
}

static void every_call_gets_there(void **state)
{
	struct control_world *w = *state;
	const struct gp_daemon_target own = { .pid = ALICES, .start = 5 };
	struct gp_daemon *d = connected(w);
	struct gp_daemon_status status;
	uint64_t granted = 7;

	EXPECT_EQ(gp_daemon_status(d, &status), 0);
	assert_string_equal(w->last, "Status");
	EXPECT_EQ(gp_daemon_register(d, "batch"), 0);
	assert_string_equal(w->last, "Register");
	EXPECT_EQ(gp_daemon_register(d, NULL), 0);
	EXPECT_EQ(gp_daemon_set_class(d, &own, "batch"), 0);
	EXPECT_EQ(w->target.start, 5);
	EXPECT_EQ(gp_daemon_hint(d, NULL, 123, 456), 0);
	EXPECT_EQ(w->number, 123);
	EXPECT_EQ(gp_daemon_hold(d, &own, GP_SEC, GP_DAEMON_WAIT, &granted), 0);
	EXPECT_EQ(w->number, GP_SEC);
	EXPECT_EQ(granted, 0);
	EXPECT_EQ(gp_daemon_release(d, &own), 0);
	assert_string_equal(w->last, "Release");
	EXPECT_EQ(gp_daemon_trigger(d, NULL), 0);
	assert_string_equal(w->last, "Trigger");
	gp_daemon_close(d);
}

static void an_error_is_a_number_and_the_daemons_sentence(void **state)
{
	struct control_world *w = *state;
	struct gp_daemon *d = connected(w);
	const struct gp_daemon_target bobs = { .pid = BOBS }, none = { .pid = 999 };

	EXPECT_EQ(gp_daemon_release(d, &bobs), -EPERM);
	assert_string_equal(gp_strerror(-EPERM), "process 200: permission denied");
	EXPECT_EQ(gp_daemon_release(d, &none), -ESRCH);
	assert_string_equal(gp_strerror(ESRCH), "process 999: not found");
	EXPECT_EQ(gp_daemon_set_class(d, &bobs, "nonsense"), -EPERM);
	EXPECT_EQ(gp_daemon_call(d, "Nonsense", NULL, NULL), -ENOSYS);
	EXPECT_EQ(gp_daemon_call(d, "Status", "nonsense", NULL), -EINVAL);
	w->refuse = ENOTTY;
	EXPECT_EQ(gp_daemon_trigger(d, NULL), -ENOTTY);
	assert_string_equal(gp_strerror(ENOTTY), "refused, as the test wants");
	assert_string_equal(gp_strerror(-ENOSPC), "No space left on device");
	gp_daemon_close(d);
}

static void a_list_of_any_length_arrives(void **state)
{
	struct control_world *w = *state;
	struct gp_daemon *d = connected(w);
	struct gp_daemon_process *list;
	char *text;
	size_t n;

	w->processes = 5000;
	w->large = 300;
	EXPECT_EQ(gp_daemon_list(d, &list, &n), 0);
	EXPECT_EQ(n, 5000);
	EXPECT_EQ(list[4999].pid, 5000);
	EXPECT_EQ(strlen(list[0].name), 63);
	EXPECT_EQ(list[0].state, GP_DAEMON_UNKNOWN);
	free(list);
	EXPECT_EQ(gp_daemon_call(d, "org.gpreempt.List", "{\"pid\":42}", &text), 0);
	assert_non_null(strstr(text, "\"pid\": 42"));
	free(text);
	gp_daemon_close(d);
}

static void an_answer_that_came_too_late_is_not_the_next_ones(void **state)
{
	struct control_world *w = *state;
	struct gp_daemon *d = connected(w);

	w->defer = true;
	gp_daemon_set_timeout(d, 30);
	EXPECT_EQ(gp_daemon_trigger(d, NULL), -ETIMEDOUT);
	w->defer = false;
	gp_daemon_set_timeout(d, GP_TEST_PATIENCE_MS);
	EXPECT_EQ(gp_daemon_release(d, &(struct gp_daemon_target){ .pid = 999 }), -ESRCH);
	EXPECT_EQ(gp_daemon_trigger(d, NULL), 0);
	gp_daemon_close(d);
}

static void a_restarted_daemon_is_found_again(void **state)
{
	struct control_world *w = *state;
	struct gp_daemon *d = connected(w), *none;

	EXPECT_EQ(gp_daemon_trigger(d, NULL), 0);
	stop = true;
	pthread_join(thread, NULL);
	gp_control_free(w->c);
	EXPECT_EQ(gp_daemon_trigger(d, NULL), -ENOTCONN);
	EXPECT(strstr(gp_strerror(-ENOTCONN), "gpreemptd is not running"));
	EXPECT_EQ(gp_daemon_open(w->path, &none), -ENOTCONN);
	world_rebind(w, 0);
	stop = false;
	EXPECT_EQ(pthread_create(&thread, NULL, serve, w), 0);
	EXPECT_EQ(gp_daemon_trigger(d, NULL), 0);
	gp_daemon_close(d);
}

static void events_arrive_by_a_descriptor(void **state)
{
	struct control_world *w = *state;
	struct gp_daemon *d = connected(w);
	struct gp_daemon_event e;
	struct gp_events *events;
	struct pollfd p = { .events = POLLIN };
	int i;

	EXPECT_EQ(gp_daemon_subscribe(d, "state,nonsense", &events), -EINVAL);
	EXPECT_EQ(gp_daemon_subscribe(d, "state,hold", &events), 0);
	EXPECT_EQ(gp_events_next(events, &e), -EAGAIN);
	publish = 3;
	p.fd = gp_events_fd(events);
	for (i = 0; i < 3;) {
		EXPECT_EQ(poll(&p, 1, GP_TEST_PATIENCE_MS), 1);
		while (gp_events_next(events, &e) == 0)
			i++;
	}
	EXPECT_EQ(e.pid, 100);
	EXPECT_EQ(e.gpu, 3);
	EXPECT_EQ(e.at_ns, 77);
	EXPECT_EQ(e.state, GP_DAEMON_OFF);
	assert_string_equal(e.what, "taken off");
	stop = true;
	pthread_join(thread, NULL);
	gp_control_free(w->c);
	EXPECT_EQ(gp_events_next(events, &e), -ENOTCONN);
	world_rebind(w, 0);
	stop = false;
	EXPECT_EQ(pthread_create(&thread, NULL, serve, w), 0);
	gp_events_close(events);
	gp_daemon_close(d);
}

/*
 * Publishes more events than the client's buffer holds. The client then learns how many were
 * lost.
 */
static void lost_events_are_counted(void **state)
{
	enum { MANY = 20000 };
	struct control_world *w = *state;
	struct gp_daemon *d = connected(w);
	struct gp_daemon_event e;
	struct gp_events *events;
	struct gp_control_stats s;
	struct pollfd p = { .events = POLLIN };
	u32 got = 0, lost = 0, one_more = 0;

	EXPECT_EQ(gp_daemon_subscribe(d, NULL, &events), 0);
	publish = MANY;
	AWAIT(!publish);
	p.fd = gp_events_fd(events);
	while (got + lost < MANY + one_more) {
		/* The daemon reports the last loss with the next event. */
		if (poll(&p, 1, 100) == 0) {
			publish = 1;
			AWAIT(!publish);
			one_more++;
		}
		while (gp_events_next(events, &e) == 0) {
			got++;
			lost += e.lost;
		}
	}
	gp_control_stats(w->c, &s);
	EXPECT(lost > 0);
	EXPECT_EQ(got, s.events);
	gp_events_close(events);
	gp_daemon_close(d);
}

static void *many_calls(void *arg)
{
	struct gp_daemon *d = arg;
	uintptr_t wrong = 0;
	int i;

	for (i = 0; i < 30; i++) {
		wrong += gp_daemon_trigger(d, NULL) != 0;
		wrong += gp_daemon_release(d, &(struct gp_daemon_target){ .pid = 999 }) != -ESRCH;
		wrong += strcmp(gp_strerror(ESRCH), "process 999: not found") != 0;
	}
	return (void *)wrong;
}

static void threads_share_a_connection(void **state)
{
	struct gp_daemon *d = connected(*state);
	pthread_t threads[4];
	void *wrong;
	int i;

	for (i = 0; i < 4; i++)
		EXPECT_EQ(pthread_create(&threads[i], NULL, many_calls, d), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		EXPECT_EQ((uintptr_t)wrong, 0);
	}
	gp_daemon_close(d);
}

PROVE(
	CLAIM_WITH(every_call_gets_there, up, down),
	CLAIM_WITH(an_error_is_a_number_and_the_daemons_sentence, up, down),
	CLAIM_WITH(a_list_of_any_length_arrives, up, down),
	CLAIM_WITH(an_answer_that_came_too_late_is_not_the_next_ones, up, down),
	CLAIM_WITH(a_restarted_daemon_is_found_again, up, down),
	CLAIM_WITH(events_arrive_by_a_descriptor, up, down),
	CLAIM_WITH(lost_events_are_counted, up, down),
	CLAIM_WITH(threads_share_a_connection, up, down),
)
