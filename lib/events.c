// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A subscription: one call with "more" on a connection of its own. */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "events.h"

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
static int confirmed(struct gp_events *events, u64 deadline_ns)
{
	struct gp_varlink_reply reply;
	json_t *message;
	int err = gp_wire_receive(&events->wire, deadline_ns, &message);

	if (err)
		return err;
	err = gp_wire_result(message, &reply);
	if (!err && !reply.continues)
		err = gp_fail(EPROTO, "gpreemptd ended the subscription");
	if (!err)
		events->first = json_incref(reply.parameters);
	json_decref(message);
	return err;
}

int gp_events_open(struct gp_daemon *daemon, const char *method, json_t *parameters,
		   struct gp_events **ret)
{
	struct gp_events *events = calloc(1, sizeof(*events));
	u64 deadline;
	int err;

	if (!events) {
		json_decref(parameters);
		return gp_fail(ENOMEM, "out of memory");
	}
	err = gp_wire_again(daemon, &events->wire, &deadline);
	if (err)
		json_decref(parameters);
	else
		err = gp_wire_send(&events->wire, method, parameters, true, deadline);
	if (!err)
		err = confirmed(events, deadline);
	if (err) {
		gp_events_close(events);
		return err == -EPIPE ? gp_fail(ENOTCONN, "gpreemptd closed the connection") : err;
	}
	*ret = events;
	return 0;
}

int gp_daemon_subscribe(struct gp_daemon *daemon, const char *kinds, struct gp_events **ret)
{
	return gp_events_open(daemon, "Subscribe", kinds ? kinds_of(kinds) : NULL, ret);
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

/* What @message says, the caller's; consumes @message. */
static int take(struct gp_events *events, json_t *message, json_t **ret)
{
	struct gp_varlink_reply reply;
	int err = gp_wire_result(message, &reply);

	if (!err) {
		events->lost += (uint32_t)gp_wire_number(reply.parameters, "lost");
		*ret = json_incref(reply.parameters);
	}
	json_decref(message);
	return err;
}

int gp_events_parameters(struct gp_events *events, json_t **ret)
{
	json_t *message;
	ssize_t n;
	int err;

	for (;;) {
		err = gp_varlink_next(&events->wire.in, &message);
		if (!err)
			return take(events, message, ret);
		if (err != -EAGAIN)
			return gp_fail(EPROTO, "gpreemptd sent what is not JSON");
		n = gp_varlink_receive(&events->wire.in, events->wire.fd);
		if (n == -EAGAIN)
			return -EAGAIN;
		if (n <= 0)
			return gp_fail(ENOTCONN, "gpreemptd closed the connection");
	}
}

int gp_events_next(struct gp_events *events, struct gp_daemon_event *ret)
{
	json_t *parameters = NULL;
	const json_t *event;
	int err;

	/* An answer without an event only says that some were lost. */
	while (!(err = gp_events_parameters(events, &parameters))) {
		event = json_object_get(parameters, "event");
		if (json_is_object(event)) {
			read_event(event, ret);
			ret->lost = events->lost;
			events->lost = 0;
			json_decref(parameters);
			return 0;
		}
		json_decref(parameters);
	}
	return err;
}

void gp_events_close(struct gp_events *events)
{
	if (!events)
		return;
	gp_wire_close(&events->wire);
	json_decref(events->first);
	free(events);
}
