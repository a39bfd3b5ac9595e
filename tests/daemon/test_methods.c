// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The answers of gpreemptd. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "methods_room.h"

static void status_tells_what_it_is(void **state)
{
	struct room *r = *state;
	json_t *a = room_call(r, "Status", "{}", NULL);

	room_text(a, "policy", "priority");
	room_text(a, "mechanism", "kfd-debug");
	EXPECT_EQ(room_number(a, "gpus"), 1);
	EXPECT_EQ(room_number(a, "processes"), 2);
	EXPECT_EQ(room_number(a, "held"), 0);
	EXPECT(json_is_true(json_object_get(a, "enabled")));
	EXPECT(json_is_false(json_object_get(a, "observe_only")));
	EXPECT_EQ(json_array_size(json_object_get(a, "trouble")), 0);
	json_decref(a);
}

static void list_shows_gpus_processes_seats_and_queues(void **state)
{
	struct room *r = *state;
	json_t *a = room_call(r, "List", "{}", NULL), *p, *seat;
	char text[128], error[64];

	EXPECT_EQ(json_array_size(json_object_get(a, "gpus")), 1);
	EXPECT_EQ(json_array_size(json_object_get(a, "processes")), 2);
	json_decref(a);

	room_pid(text, sizeof(text), r, r->offline, "");
	a = room_call(r, "List", text, NULL);
	p = json_array_get(json_object_get(a, "processes"), 0);
	EXPECT_EQ(room_number(p, "pid"), r->w->process[r->offline].pid);
	room_text(p, "class", "offline");
	room_text(p, "name", "gp??\"test");
	EXPECT_EQ(json_array_size(json_object_get(p, "queues")), 1);
	seat = json_array_get(json_object_get(p, "seats"), 0);
	room_text(seat, "state", "on");
	EXPECT_EQ(room_number(seat, "vram_bytes"), 4096);
	json_decref(a);
	json_decref(room_call(r, "List", "{\"gpu\":\"7\"}", error));
	EXPECT(!strcmp(error, "NotFound"));
}

static void a_process_that_cannot_be_preempted_is_in_status_list_and_stats(void **state)
{
	struct room *r = *state;
	struct gp_gpu_process *p = world_find(r->w, r->offline);
	const char *text;
	char pid[128];
	json_t *a;

	p->attachment = GP_NOT_ATTACHED;
	p->attach_at_ns = GP_NEVER;
	p->refused = true;
	snprintf(p->trouble, sizeof(p->trouble), "its parent traces it");
	a = room_call(r, "Status", "{}", NULL);
	text = json_string_value(json_array_get(json_object_get(a, "trouble"), 0));
	EXPECT(text && strstr(text, "1 processes cannot be preempted") &&
	       strstr(text, "its parent traces it"));
	json_decref(a);
	room_pid(pid, sizeof(pid), r, r->offline, "");
	a = room_call(r, "List", pid, NULL);
	room_text(json_array_get(json_object_get(a, "processes"), 0), "trouble",
		  "its parent traces it");
	json_decref(a);
	a = room_call(r, "Stats", "{}", NULL);
	EXPECT_EQ(room_number(json_object_get(a, "counters"), "processes_unpreemptible"), 1);
	json_decref(a);
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
	a = room_call(r, "Stats", "{}", NULL);
	EXPECT_EQ(room_number(json_object_get(a, "counters"), "stopped"), 1);
	EXPECT(room_number(json_object_get(a, "counters"), "looks") > 0);
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

	/* A dry run returns the result without a change. */
	a = room_call(r, "SetPolicy",
		      "{\"policy\":\"fair\",\"parameters\":{\"slice\":\"7ms\"},\"dry_run\":true}",
		      NULL);
	EXPECT(json_is_false(json_object_get(a, "changed")));
	room_text(a, "policy", "fair");
	room_text(json_array_get(json_object_get(a, "parameters"), GP_SLICE), "value", "7ms");
	EXPECT(world_sched(r->w)->policy == &gp_policy_priority);
	EXPECT(r->w->decider->param[GP_SLICE] != 7 * GP_MSEC);
	json_decref(a);
	a = room_call(r, "SetPolicy", "{\"policy\":\"fair\",\"parameters\":{\"slice\":\"3ms\"}}",
		      NULL);
	room_text(a, "policy", "fair");
	EXPECT_EQ(r->w->decider->param[GP_SLICE], 3 * GP_MSEC);
	json_decref(a);
	/* One invalid word makes the whole call fail. */
	json_decref(room_call(r, "SetPolicy",
			      "{\"policy\":\"fifo\",\"parameters\":{\"slice\":\"3 parsec\"}}",
			      error));
	EXPECT(!strcmp(error, "InvalidParameter"));
	EXPECT(world_sched(r->w)->policy == &gp_policy_fair);
	/*
	 * Values that the configuration refuses, too: endless look intervals, a lease below a
	 * heartbeat.
	 */
	for (u32 i = 0; i < 3; i++) {
		json_decref(room_call(r, "SetPolicy", wrong[i], error));
		EXPECT(!strcmp(error, "InvalidParameter"));
	}
	EXPECT(world_sched(r->w)->policy == &gp_policy_fair);
	EXPECT(r->w->decider->param[GP_LOOK_MIN] < GP_MSEC);
	EXPECT(r->w->decider->param[GP_LEASE] > GP_MSEC);
	a = room_call(r, "SetPolicy", "{\"policy\":\"none\"}", NULL);
	room_text(a, "policy", "none");
	EXPECT(r->w->decider->observe);
	json_decref(a);
}

static void classes_switches_and_reloads_reach_the_home(void **state)
{
	struct room *r = *state;
	char text[128], error[64];
	json_t *a;

	room_pid(text, sizeof(text), r, r->offline, ",\"class\":\"idle\"");
	a = room_call(r, "SetClass", text, NULL);
	room_text(a, "class", "idle");
	room_text(a, "previous", "offline");
	json_decref(a);
	room_pid(text, sizeof(text), r, r->offline, ",\"class\":\"nonsense\"");
	json_decref(room_call(r, "SetClass", text, error));
	EXPECT(!strcmp(error, "InvalidParameter"));
	room_pid(text, sizeof(text), r, r->offline, ",\"start\":1,\"class\":\"idle\"");
	json_decref(room_call(r, "SetClass", text, error));
	EXPECT(!strcmp(error, "NotFound"));

	a = room_call(r, "Disable", "{}", NULL);
	EXPECT(json_is_true(json_object_get(a, "changed")));
	EXPECT(!r->w->decider->enabled);
	json_decref(a);
	a = room_call(r, "Enable", "{}", NULL);
	EXPECT(json_is_true(json_object_get(a, "changed")));
	json_decref(a);
	json_decref(room_call(r, "Reload", "{}", NULL));
	EXPECT_EQ(r->reloads, 1);
	room_pid(text, sizeof(text), r, r->online, ",\"in_ns\":1000000,\"for_ns\":1000000");
	json_decref(room_call(r, "Hint", text, NULL));
	room_pid(text, sizeof(text), r, r->online, "");
	json_decref(room_call(r, "Trigger", text, NULL));
}

static void fill_wishes(struct gp_decider *h, uid_t uid, u32 nr)
{
	for (h->nr_requests = 0; h->nr_requests < nr; h->nr_requests++)
		h->request[h->nr_requests] = (struct gp_class_request){ .who = { 1, 1 },
					      .uid = uid };
}

static void one_user_leaves_room_for_the_classes_of_others(void **state)
{
	struct room *r = *state;
	struct gp_decider *h = r->w->decider;
	char text[128], error[64];
	u32 i, of[2] = { GP_CLASS_REQUESTS_PER_USER, GP_CLASS_REQUESTS - GP_CLASS_REQUESTS_KEPT };
	uid_t uid[2] = { getuid(), getuid() + 1 };
	int root = r->fd, plain;

	h->scan_at_ns = GP_NEVER;	/* keeps processes that have ended */
	room_pid(text, sizeof(text), r, r->offline, ",\"class\":\"idle\"");
	room_spin(r);		/* root's connection is accepted first */
	r->peer.privileged = false;
	plain = room_connect(r->socket);
	room_spin(r);
	for (i = 0; i < 4; i++) {
		fill_wishes(h, uid[i / 2], of[i / 2]);
		r->fd = plain;
		json_decref(room_call(r, i % 2 ? "SetClass" : "Register", text, error));
		if (!error[0])
			fail_msg("%u: he had room", i);
		r->fd = root;
		json_decref(room_call(r, "SetClass", text, NULL));
		/* A process that has a class request already can still change its class. */
		r->fd = plain;
		json_decref(room_call(r, "SetClass", text, NULL));
		EXPECT_EQ(h->nr_requests, of[i / 2] + 1);
	}
	fill_wishes(h, uid[1], of[0]);
	json_decref(room_call(r, "SetClass", text, NULL));
	r->fd = root;
	close(plain);
}

static void a_subscriber_hears_of_states(void **state)
{
	struct room *r = *state;
	int fd = room_connect(r->socket);
	json_t *a, *event;
	char text[128];

	room_ask(fd, "Subscribe", "{\"kinds\":[\"state\"]}", true);
	json_decref(room_hear(r, fd));
	room_spin(r);
	room_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":500000000");
	json_decref(room_call(r, "Hold", text, NULL));
	a = room_hear(r, fd);
	EXPECT(a);
	event = json_object_get(json_object_get(a, "parameters"), "event");
	room_text(event, "state", "stopping");
	EXPECT_EQ(room_number(event, "pid"), r->w->process[r->offline].pid);
	json_decref(a);
	close(fd);
}

static void a_subscriber_hears_how_long_a_preemption_took(void **state)
{
	struct room *r = *state;
	int fd = room_connect(r->socket);
	json_t *a, *event, *parts;

	room_ask(fd, "Subscribe", "{\"kinds\":[\"preemption\"]}", true);
	json_decref(room_hear(r, fd));
	world_submit(r->w, r->offline, 0, 8);
	world_occupy(r->w, r->offline, 80);
	room_spin(r);
	world_submit(r->w, r->online, 0, 1);
	a = room_hear(r, fd);
	EXPECT(a);
	event = json_object_get(json_object_get(a, "parameters"), "event");
	room_text(event, "kind", "preemption");
	EXPECT_EQ(room_number(event, "pid"), r->w->process[r->online].pid);
	EXPECT(strstr(json_string_value(json_object_get(event, "what")), " us total "));
	parts = json_object_get(event, "parts_ns");
	EXPECT_EQ(room_number(parts, "detect") + room_number(parts, "decide") +
		  room_number(parts, "command") + room_number(parts, "save") +
		  room_number(parts, "switch"), room_number(parts, "total"));
	EXPECT(json_is_integer(json_object_get(parts, "detect")));
	EXPECT(room_number(parts, "total") > 0);
	json_decref(a);
	close(fd);
}

static void a_recording_client_learns_the_process_of_each_task(void **state)
{
	struct room *r = *state;
	int fd = room_connect(r->socket);
	u32 queues = 0, tasks = 0, samples = 0, n;
	json_t *a, *records, *rec;
	size_t i;

	room_ask(fd, "Record", "{}", true);
	a = room_hear(r, fd);
	EXPECT_EQ(json_array_size(json_object_get(json_object_get(a, "parameters"), "tasks")), 2);
	json_decref(a);
	world_submit(r->w, r->online, 0, 1);
	for (n = 0; n < 4 && !samples; n++) {
		a = room_hear(r, fd);
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
	/* Without a subscriber no event is made. */
	for (i = 0; i < 4; i++)
		room_spin(r);
	EXPECT(!world_sched(r->w)->trace.emit);
}

static void a_recording_client_is_not_told_that_the_daemon_ends(void **state)
{
	struct room *r = *state;
	int fd = room_connect(r->socket);

	room_ask(fd, "Record", "{}", true);
	json_decref(room_hear(r, fd));
	room_spin(r);
	EXPECT(world_sched(r->w)->trace.emit);
	gp_methods_connect(r->methods, NULL);
	EXPECT(!world_sched(r->w)->trace.emit);
	/* Looks, samples and the end of a process fill more than the buffer. */
	world_submit(r->w, r->online, 0, 1);
	world_run(r->w, 200 * GP_MSEC);
	world_end(r->w, r->offline);
	world_run(r->w, 200 * GP_MSEC);
	EXPECT(!r->methods->records);
	close(fd);
}

PROVE(
	CLAIM_WITH(status_tells_what_it_is, room_up, room_down),
	CLAIM_WITH(list_shows_gpus_processes_seats_and_queues, room_up, room_down),
	CLAIM_WITH(a_process_that_cannot_be_preempted_is_in_status_list_and_stats, room_up,
		   room_down),
	CLAIM_WITH(stats_have_counters_and_parts, room_up, room_down),
	CLAIM_WITH(a_policy_is_tried_set_and_refused, room_up, room_down),
	CLAIM_WITH(classes_switches_and_reloads_reach_the_home, room_up, room_down),
	CLAIM_WITH(one_user_leaves_room_for_the_classes_of_others, room_up, room_down),
	CLAIM_WITH(a_subscriber_hears_of_states, room_up, room_down),
	CLAIM_WITH(a_subscriber_hears_how_long_a_preemption_took, room_up, room_down),
	CLAIM_WITH(a_recording_client_learns_the_process_of_each_task, room_up, room_down),
	CLAIM_WITH(a_recording_client_is_not_told_that_the_daemon_ends, room_up, room_down),
)
