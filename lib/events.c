// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A subscription: one call with "more" on a connection of its own. */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "gpreempt.h"
#include "wire.h"

struct gp_events {
	struct gp_wire wire;
	uint32_t lost;		/* said by answers without an event, not yet passed on */
};

static json_t *kinds_of(const char *list)
{
	json_t *kinds = json_array();
	size_t n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n)
			json_array_append_new(kinds, json_stringn(list, n));
	}
	return json_pack("{s:o}", "kinds", kinds);
}

/* The first answer, which has no event, says that the subscription stands. */
static int confirmed(struct gp_wire *wire, u64 deadline_ns)
{
	struct gp_varlink_reply reply;
	json_t *message;
	int err = gp_wire_receive(wire, deadline_ns, &message);

	if (err)
		return err;
	err = gp_wire_result(message, &reply);
	if (!err && !reply.continues)
		err = gp_fail(EPROTO, "gpreemptd ended the subscription");
	json_decref(message);
	return err;
}

int gp_daemon_subscribe(struct gp_daemon *daemon, const char *kinds, struct gp_events **ret)
{
	struct gp_events *events = calloc(1, sizeof(*events));
	u64 deadline;
	int err;

	if (!events)
		return gp_fail(ENOMEM, "out of memory");
	err = gp_wire_again(daemon, &events->wire, &deadline);
	if (!err)
		err = gp_wire_send(&events->wire, "Subscribe", kinds ? kinds_of(kinds) : NULL,
				   true, deadline);
	if (!err)
		err = confirmed(&events->wire, deadline);
	if (err) {
		gp_events_close(events);
		return err == -EPIPE ? gp_fail(ENOTCONN, "gpreemptd closed the connection") : err;
	}
	*ret = events;
	return 0;
}

int gp_events_fd(const struct gp_events *events)
{
	return events->wire.fd;
}

static void read_event(const json_t *o, struct gp_daemon_event *ret)
{
	const json_t *gpu = json_object_get(o, "gpu");

	*ret = (struct gp_daemon_event){
		.at_ns = (uint64_t)gp_wire_number(o, "at_ns"),
		.start = (uint64_t)gp_wire_number(o, "start"),
		.pid = (int32_t)gp_wire_number(o, "pid"),
		.cause_pid = (int32_t)gp_wire_number(o, "cause_pid"),
		.gpu = json_is_integer(gpu) ? (int32_t)json_integer_value(gpu) : -1,
		.state = gp_wire_state(json_string_value(json_object_get(o, "state"))),
	};
	gp_wire_text(o, "kind", ret->kind, sizeof(ret->kind));
	gp_wire_text(o, "class", ret->class_name, sizeof(ret->class_name));
	gp_wire_text(o, "what", ret->what, sizeof(ret->what));
}

/* 0 and *@ret, or -EAGAIN if @message has no event in it. Consumes @message. */
static int take(struct gp_events *events, json_t *message, struct gp_daemon_event *ret)
{
	struct gp_varlink_reply reply;
	const json_t *event;
	int err = gp_wire_result(message, &reply);

	if (!err) {
		events->lost += (uint32_t)gp_wire_number(reply.parameters, "lost");
		event = json_object_get(reply.parameters, "event");
		err = json_is_object(event) ? 0 : -EAGAIN;
	}
	if (!err) {
		read_event(event, ret);
		ret->lost = events->lost;
		events->lost = 0;
	}
	json_decref(message);
	return err;
}

int gp_events_next(struct gp_events *events, struct gp_daemon_event *ret)
{
	json_t *message;
	ssize_t n;
	int err;

	for (;;) {
		err = gp_varlink_next(&events->wire.in, &message);
		if (!err)
			err = take(events, message, ret);
		else if (err != -EAGAIN)
			return gp_fail(EPROTO, "gpreemptd sent what is not JSON");
		if (err != -EAGAIN)
			return err;
		if (gp_varlink_waiting(&events->wire.in))
			continue;
		n = gp_varlink_receive(&events->wire.in, events->wire.fd);
		if (n == -EAGAIN)
			return -EAGAIN;
		if (n <= 0)
			return gp_fail(ENOTCONN, "gpreemptd closed the connection");
	}
}

void gp_events_close(struct gp_events *events)
{
	if (!events)
		return;
	gp_wire_close(&events->wire);
	free(events);
}
