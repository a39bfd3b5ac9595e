// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Holds that a client of the socket requests and waits for. */
#include <string.h>
#include <unistd.h>

#include "methods_room.h"

static void a_hold_is_answered_when_it_has_come_about(void **state)
{
	struct room *r = *state;
	char text[128];
	json_t *a;

	room_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":500000000,\"wait\":true");
	a = room_call(r, "Hold", text, NULL);
	EXPECT_EQ(room_number(a, "lease_ns"), 500 * GP_MSEC);
	EXPECT_EQ(world_state(r->w, r->offline), GP_OFF);
	json_decref(a);
	room_pid(text, sizeof(text), r, r->offline, "");
	json_decref(room_call(r, "Release", text, NULL));
	world_run(r->w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(r->w, r->offline), GP_ON);
}

static json_int_t held(struct room *r)
{
	json_t *a = room_call(r, "Status", "{}", NULL);
	json_int_t n = room_number(a, "held");

	json_decref(a);
	return n;
}

static void a_hold_is_not_answered_while_it_runs_on_another_gpu(void **state)
{
	struct room *r = *state;
	u32 i, task = world_find(r->w, r->offline)->task;
	struct gp_null_seat *other = &r->w->debug.m.seat[1][task];
	int fd = room_connect(r->socket);
	char text[128];
	json_t *a;

	/* The process is unknown there, so it is not stopped. */
	other->there = false;
	room_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":500000000,\"wait\":true");
	room_ask(fd, "Hold", text, false);
	for (i = 0; i < 20; i++)
		room_spin(r);
	EXPECT_EQ(world_state(r->w, r->offline), GP_OFF);
	EXPECT_EQ(gp_sched_seat(world_sched(r->w), task, 1)->state, GP_ON);
	EXPECT_EQ(r->methods->nr_waiters, 1);
	EXPECT_EQ(held(r), 0);
	other->there = true;
	a = room_hear(r, fd);
	EXPECT(a && !json_object_get(a, "error"));
	EXPECT_EQ(gp_sched_seat(world_sched(r->w), task, 1)->state, GP_OFF);
	EXPECT_EQ(held(r), 1);
	json_decref(a);
	close(fd);
}

static void a_hold_of_a_process_that_cannot_be_held_fails_in_time(void **state)
{
	struct room *r = *state;
	char text[128], error[64];

	room_pid(text, sizeof(text), r, r->online, ",\"lease_ns\":500000000");
	json_decref(room_call(r, "Hold", text, error));
	EXPECT(!strcmp(error, "Busy"));
	r->w->debug.m.fault[world_find(r->w, r->offline)->task] = GP_NULL_REFUSES;
	room_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":500000000,\"wait\":true");
	json_decref(room_call(r, "Hold", text, error));
	EXPECT(!strcmp(error, "TimedOut"));
	EXPECT_EQ(r->methods->nr_waiters, 0);
}

static void renewing_a_hold_does_not_undo_a_release(void **state)
{
	struct room *r = *state;
	char hold[128], renew[128], pid[64], error[64];

	room_pid(hold, sizeof(hold), r, r->offline, ",\"lease_ns\":500000000,\"wait\":true");
	room_pid(renew, sizeof(renew), r, r->offline, ",\"lease_ns\":500000000,\"renew\":true");
	room_pid(pid, sizeof(pid), r, r->offline, "");
	json_decref(room_call(r, "Hold", renew, error));
	EXPECT(!strcmp(error, "NotHeld"));
	json_decref(room_call(r, "Hold", hold, NULL));
	json_decref(room_call(r, "Hold", renew, NULL));
	EXPECT_EQ(world_state(r->w, r->offline), GP_OFF);
	json_decref(room_call(r, "Release", pid, NULL));
	json_decref(room_call(r, "Hold", renew, error));
	EXPECT(!strcmp(error, "NotHeld"));
	world_run(r->w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(r->w, r->offline), GP_ON);
	/* An expired lease cannot be renewed either. */
	json_decref(room_call(r, "Hold", hold, NULL));
	world_run(r->w, GP_SEC);
	json_decref(room_call(r, "Hold", renew, error));
	EXPECT(!strcmp(error, "NotHeld"));
}

PROVE(
	CLAIM_WITH(a_hold_is_answered_when_it_has_come_about, room_up, room_down),
	CLAIM_WITH(a_hold_is_not_answered_while_it_runs_on_another_gpu, two_gpus_up, room_down),
	CLAIM_WITH(a_hold_of_a_process_that_cannot_be_held_fails_in_time, room_up, room_down),
	CLAIM_WITH(renewing_a_hold_does_not_undo_a_release, room_up, room_down),
)
