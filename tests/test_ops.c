// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What gpreemptd answers: real calls over a real socket to a home on directories. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/ops.h"
#include "home_world.h"

#define ACTING	"policy = priority\ndefault_class = offline\nattach_after = 0\nscan = 10ms\n"

struct room {
	struct world *w;
	struct gp_ops *ops;
	struct gp_control *control;
	char socket[128];
	int fd;
	u32 online, offline;
	u32 reloads;
};

static int reload(void *ctx, char *why)
{
	struct room *r = ctx;

	(void)why;
	r->reloads++;
	return 0;
}

static int privileged(void *ctx, int fd, struct gp_peer *ret)
{
	(void)ctx;
	(void)fd;
	*ret = (struct gp_peer){ .pid = getpid(), .uid = 0, .gid = 0, .pidfd = -1,
				 .privileged = true };
	return 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	EXPECT_EQ(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* An online and an offline process, and somebody at the socket. */
static int room_up(void **state)
{
	struct room *r = calloc(1, sizeof(*r));
	struct gp_control_args args = { .ops = &gp_ops_table, .version = "9",
					.identify = privileged };
	struct gp_ops_args ops = { .version = "9", .reload = reload, .ctx = r };
	void *world;
	const char *why;

	world_up(&world);
	r->w = world;
	world_home(r->w, ACTING);
	ops.home = r->w->home;
	EXPECT_EQ(gp_ops_new(&ops, &r->ops), 0);
	snprintf(r->socket, sizeof(r->socket), "%s/control", r->w->tree->path);
	args.path = r->socket;
	args.ctx = r->ops;
	EXPECT_EQ(gp_control_new(&args, &r->control, &why), 0);
	gp_ops_connect(r->ops, r->control);
	r->fd = connect_to(r->socket);
	r->online = world_process(r->w);
	r->offline = world_process(r->w);
	world_class(r->w, r->online, "online");
	world_queue(r->w, r->online, 0);
	world_queue(r->w, r->offline, 0);
	world_run(r->w, 50 * GP_MSEC);
	*state = r;
	return 0;
}

static int room_down(void **state)
{
	struct room *r = *state;
	void *world = r->w;

	close(r->fd);
	gp_control_free(r->control);
	world_down(&world);
	gp_ops_free(r->ops);
	free(r);
	return 0;
}

static void spin(struct room *r)
{
	gp_control_run(r->control, r->w->home->now_ns);
	world_run(r->w, GP_MSEC);
	gp_ops_after(r->ops);
}

/* The next message on @fd; NULL: none came. */
static json_t *hear(struct room *r, int fd)
{
	static char text[1 << 20];
	size_t n = 0;
	u32 tries;

	for (tries = 0; tries < 5000; tries++) {
		ssize_t got = recv(fd, text + n, 1, MSG_DONTWAIT);

		if (got == 1 && !text[n++])
			return json_loads(text, 0, NULL);
		if (got != 1)
			spin(r);
	}
	return NULL;
}

static void ask(int fd, const char *method, const char *parameters, bool more)
{
	char text[1024];
	int n = snprintf(text, sizeof(text),
			 "{\"method\":\"org.gpreempt.%s\",\"parameters\":%s%s}", method,
			 parameters, more ? ",\"more\":true" : "");

	EXPECT_EQ(send(fd, text, (size_t)n + 1, 0), n + 1);
}

/* The answer's parameters; *@error, if not NULL: the name of the error, or "". */
static json_t *call(struct room *r, const char *method, const char *parameters, char *error)
{
	json_t *answer, *p;
	const char *name;

	ask(r->fd, method, parameters, false);
	answer = hear(r, r->fd);
	EXPECT(answer);
	name = json_string_value(json_object_get(answer, "error"));
	if (!error && name)
		fail_msg("%s: %s", method, json_dumps(answer, 0));
	if (error)
		snprintf(error, 64, "%s", name ? strrchr(name, '.') + 1 : "");
	p = json_incref(json_object_get(answer, "parameters"));
	json_decref(answer);
	return p;
}

static json_int_t number(const json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	if (!json_is_integer(v))
		fail_msg("%s is not a number", key);
	return json_integer_value(v);
}

static void expect_text(const json_t *o, const char *key, const char *want)
{
	const char *got = json_string_value(json_object_get(o, key));

	if (!got || strcmp(got, want))
		fail_msg("%s is %s, expected %s", key, got ? got : "no text", want);
}

static void with_pid(char *text, size_t size, const struct room *r, u32 i, const char *rest)
{
	snprintf(text, size, "{\"pid\":%d%s}", r->w->process[i].pid, rest);
}

static void status_tells_what_it_is(void **state)
{
	struct room *r = *state;
	json_t *a = call(r, "Status", "{}", NULL);

	expect_text(a, "policy", "priority");
	expect_text(a, "mechanism", "null");
	EXPECT_EQ(number(a, "gpus"), 1);
	EXPECT_EQ(number(a, "processes"), 2);
	EXPECT_EQ(number(a, "held"), 0);
	EXPECT(json_is_true(json_object_get(a, "enabled")));
	EXPECT(json_is_false(json_object_get(a, "observe_only")));
	EXPECT_EQ(json_array_size(json_object_get(a, "trouble")), 0);
	json_decref(a);
}

static void list_shows_gpus_processes_seats_and_queues(void **state)
{
	struct room *r = *state;
	json_t *a = call(r, "List", "{}", NULL), *p, *seat;
	char text[128], error[64];

	EXPECT_EQ(json_array_size(json_object_get(a, "gpus")), 1);
	EXPECT_EQ(json_array_size(json_object_get(a, "processes")), 2);
	json_decref(a);

	with_pid(text, sizeof(text), r, r->offline, "");
	a = call(r, "List", text, NULL);
	p = json_array_get(json_object_get(a, "processes"), 0);
	EXPECT_EQ(number(p, "pid"), r->w->process[r->offline].pid);
	expect_text(p, "class", "offline");
	expect_text(p, "name", "gp??\"test");
	EXPECT_EQ(json_array_size(json_object_get(p, "queues")), 1);
	seat = json_array_get(json_object_get(p, "seats"), 0);
	expect_text(seat, "state", "on");
	EXPECT_EQ(number(seat, "vram_bytes"), 4096);
	json_decref(a);
	json_decref(call(r, "List", "{\"gpu\":\"7\"}", error));
	EXPECT(!strcmp(error, "NotFound"));
}

static void stats_have_counters_and_parts(void **state)
{
	struct room *r = *state;
	json_t *a, *list;

	world_submit(r->w, r->offline, 0, 8);
	world_occupy(r->w, r->offline, 80);
	world_run(r->w, 5 * GP_MSEC);
	world_submit(r->w, r->online, 0, 1);
	world_run(r->w, 5 * GP_MSEC);
	a = call(r, "Stats", "{}", NULL);
	EXPECT_EQ(number(json_object_get(a, "counters"), "stopped"), 1);
	EXPECT(number(json_object_get(a, "counters"), "looks") > 0);
	list = json_object_get(a, "processes");
	EXPECT_EQ(json_array_size(list), 2);
	EXPECT_EQ(json_array_size(json_object_get(json_array_get(list, 0), "parts")),
		  GP_NR_PARTS);
	json_decref(a);
}

static void a_policy_is_tried_set_and_refused(void **state)
{
	static const char *const wrong[] = {
		"{\"parameters\":{\"look_min\":\"1ms\"}}",
		"{\"parameters\":{\"lease\":\"1ms\"}}",
		"{\"policy\":\"fifo\",\"parameters\":{\"lease\":\"1ms\"},\"dry_run\":true}",
	};
	struct room *r = *state;
	char error[64];
	json_t *a;

	/* A trial says what would be, and changes nothing. */
	a = call(r, "SetPolicy",
		 "{\"policy\":\"fair\",\"parameters\":{\"slice\":\"7ms\"},\"dry_run\":true}", NULL);
	EXPECT(json_is_false(json_object_get(a, "changed")));
	expect_text(a, "policy", "fair");
	expect_text(json_array_get(json_object_get(a, "parameters"), GP_SLICE), "value", "7ms");
	EXPECT(r->w->home->sched->policy == &gp_policy_priority);
	EXPECT(r->w->home->sched->param[GP_SLICE] != 7 * GP_MSEC);
	json_decref(a);
	a = call(r, "SetPolicy", "{\"policy\":\"fair\",\"parameters\":{\"slice\":\"3ms\"}}", NULL);
	expect_text(a, "policy", "fair");
	EXPECT_EQ(r->w->home->sched->param[GP_SLICE], 3 * GP_MSEC);
	json_decref(a);
	/* One bad word, and nothing of the call is done. */
	json_decref(call(r, "SetPolicy",
			 "{\"policy\":\"fifo\",\"parameters\":{\"slice\":\"3 parsec\"}}", error));
	EXPECT(!strcmp(error, "InvalidParameter"));
	EXPECT(r->w->home->sched->policy == &gp_policy_fair);
	/* What the configuration may not say: looks that never come, a hold beyond its keeper. */
	for (u32 i = 0; i < 3; i++) {
		json_decref(call(r, "SetPolicy", wrong[i], error));
		EXPECT(!strcmp(error, "InvalidParameter"));
	}
	EXPECT(r->w->home->sched->policy == &gp_policy_fair);
	EXPECT(r->w->home->sched->param[GP_LOOK_MIN] < GP_MSEC);
	EXPECT(r->w->home->sched->param[GP_LEASE] > GP_MSEC);
	a = call(r, "SetPolicy", "{\"policy\":\"none\"}", NULL);
	expect_text(a, "policy", "none");
	EXPECT(r->w->home->observe);
	json_decref(a);
}

static void a_hold_is_answered_when_it_has_come_about(void **state)
{
	struct room *r = *state;
	char text[128];
	json_t *a;

	with_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":500000000,\"wait\":true");
	a = call(r, "Hold", text, NULL);
	EXPECT_EQ(number(a, "lease_ns"), 500 * GP_MSEC);
	EXPECT_EQ(world_state(r->w, r->offline), GP_OFF);
	json_decref(a);
	with_pid(text, sizeof(text), r, r->offline, "");
	json_decref(call(r, "Release", text, NULL));
	world_run(r->w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(r->w, r->offline), GP_ON);
}

static void a_hold_of_who_cannot_be_held_fails_in_time(void **state)
{
	struct room *r = *state;
	char text[128], error[64];

	with_pid(text, sizeof(text), r, r->online, ",\"lease_ns\":500000000");
	json_decref(call(r, "Hold", text, error));
	EXPECT(!strcmp(error, "Busy"));
	r->w->doer.m.fault[world_resident(r->w, r->offline)->task] = NULL_REFUSES;
	with_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":500000000,\"wait\":true");
	json_decref(call(r, "Hold", text, error));
	EXPECT(!strcmp(error, "TimedOut"));
	EXPECT_EQ(r->ops->nr_waiters, 0);
}

static void classes_switches_and_reloads_reach_the_home(void **state)
{
	struct room *r = *state;
	char text[128], error[64];
	json_t *a;

	with_pid(text, sizeof(text), r, r->offline, ",\"class\":\"idle\"");
	a = call(r, "SetClass", text, NULL);
	expect_text(a, "class", "idle");
	expect_text(a, "previous", "offline");
	json_decref(a);
	with_pid(text, sizeof(text), r, r->offline, ",\"class\":\"nonsense\"");
	json_decref(call(r, "SetClass", text, error));
	EXPECT(!strcmp(error, "InvalidParameter"));
	with_pid(text, sizeof(text), r, r->offline, ",\"start\":1,\"class\":\"idle\"");
	json_decref(call(r, "SetClass", text, error));
	EXPECT(!strcmp(error, "NotFound"));

	a = call(r, "Disable", "{}", NULL);
	EXPECT(json_is_true(json_object_get(a, "changed")));
	EXPECT(!r->w->home->enabled);
	json_decref(a);
	a = call(r, "Enable", "{}", NULL);
	EXPECT(json_is_true(json_object_get(a, "changed")));
	json_decref(a);
	json_decref(call(r, "Reload", "{}", NULL));
	EXPECT_EQ(r->reloads, 1);
	with_pid(text, sizeof(text), r, r->online, ",\"in_ns\":1000000,\"for_ns\":1000000");
	json_decref(call(r, "Hint", text, NULL));
	with_pid(text, sizeof(text), r, r->online, "");
	json_decref(call(r, "Trigger", text, NULL));
}

static void who_subscribes_hears_of_states(void **state)
{
	struct room *r = *state;
	int fd = connect_to(r->socket);
	json_t *a, *event;
	char text[128];

	ask(fd, "Subscribe", "{\"kinds\":[\"state\"]}", true);
	json_decref(hear(r, fd));
	spin(r);
	with_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":500000000");
	json_decref(call(r, "Hold", text, NULL));
	a = hear(r, fd);
	EXPECT(a);
	event = json_object_get(json_object_get(a, "parameters"), "event");
	expect_text(event, "state", "stopping");
	EXPECT_EQ(number(event, "pid"), r->w->process[r->offline].pid);
	json_decref(a);
	close(fd);
}

static void who_subscribes_hears_how_long_a_preemption_took(void **state)
{
	struct room *r = *state;
	int fd = connect_to(r->socket);
	json_t *a, *event, *parts;

	ask(fd, "Subscribe", "{\"kinds\":[\"preemption\"]}", true);
	json_decref(hear(r, fd));
	world_submit(r->w, r->offline, 0, 8);
	world_occupy(r->w, r->offline, 80);
	spin(r);
	world_submit(r->w, r->online, 0, 1);
	a = hear(r, fd);
	EXPECT(a);
	event = json_object_get(json_object_get(a, "parameters"), "event");
	expect_text(event, "kind", "preemption");
	EXPECT_EQ(number(event, "pid"), r->w->process[r->online].pid);
	EXPECT(strstr(json_string_value(json_object_get(event, "what")), " us total "));
	parts = json_object_get(event, "parts_ns");
	EXPECT_EQ(number(parts, "detect") + number(parts, "decide") + number(parts, "command") +
		  number(parts, "save") + number(parts, "switch"), number(parts, "total"));
	EXPECT(json_is_integer(json_object_get(parts, "detect")) && number(parts, "total") > 0);
	json_decref(a);
	close(fd);
}

static void who_records_learns_whose_the_queues_are(void **state)
{
	struct room *r = *state;
	int fd = connect_to(r->socket);
	u32 queues = 0, tasks = 0, samples = 0, n;
	json_t *a, *records, *rec;
	size_t i;

	ask(fd, "Record", "{}", true);
	a = hear(r, fd);
	EXPECT_EQ(json_array_size(json_object_get(json_object_get(a, "parameters"), "tasks")), 2);
	json_decref(a);
	world_submit(r->w, r->online, 0, 1);
	for (n = 0; n < 4 && !samples; n++) {
		a = hear(r, fd);
		EXPECT(a);
		records = json_object_get(json_object_get(a, "parameters"), "records");
		json_array_foreach(records, i, rec) {
			json_int_t kind = json_integer_value(json_array_get(rec, 1));

			tasks += kind == GP_REC_TASK_ADD;
			queues += kind == GP_REC_QUEUE_ADD;
			samples += kind == GP_REC_SAMPLE;
		}
		json_decref(a);
	}
	EXPECT_EQ(tasks, 2);
	EXPECT_EQ(queues, 2);
	EXPECT(samples > 0);
	close(fd);
	/* When nobody listens any more, nothing is made. */
	for (i = 0; i < 4; i++)
		spin(r);
	EXPECT(!r->w->home->sched->trace.emit);
}

PROVE(
	CLAIM_WITH(status_tells_what_it_is, room_up, room_down),
	CLAIM_WITH(list_shows_gpus_processes_seats_and_queues, room_up, room_down),
	CLAIM_WITH(stats_have_counters_and_parts, room_up, room_down),
	CLAIM_WITH(a_policy_is_tried_set_and_refused, room_up, room_down),
	CLAIM_WITH(a_hold_is_answered_when_it_has_come_about, room_up, room_down),
	CLAIM_WITH(a_hold_of_who_cannot_be_held_fails_in_time, room_up, room_down),
	CLAIM_WITH(classes_switches_and_reloads_reach_the_home, room_up, room_down),
	CLAIM_WITH(who_subscribes_hears_of_states, room_up, room_down),
	CLAIM_WITH(who_subscribes_hears_how_long_a_preemption_took, room_up, room_down),
	CLAIM_WITH(who_records_learns_whose_the_queues_are, room_up, room_down),
)
