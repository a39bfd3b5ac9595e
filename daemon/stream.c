// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Those who subscribed: what they want, and what did not fit. */
#include <stdlib.h>
#include <string.h>

#include "conn.h"

u32 gp_control_wanted(const struct gp_control *c)
{
	u32 i, wanted = 0;

	for (i = 0; i < c->args.clients; i++)
		if (c->conns[i].state == GP_CONN_STREAM)
			wanted |= c->conns[i].wants;
	return wanted;
}

/* Is there room for @n bytes more, after the confession of what was lost? */
static bool has_room(const struct gp_control *c, struct gp_conn *conn, size_t n)
{
	char text[64];
	int told;

	if (gp_varlink_unsent(&conn->out) + n + sizeof(text) > c->args.events_max)
		return false;
	if (conn->lost) {
		told = snprintf(text, sizeof(text), "{\"parameters\":{\"lost\":%u},"
				"\"continues\":true}", conn->lost);
		if (gp_varlink_put(&conn->out, text, (size_t)told + 1))
			return false;
		conn->lost = 0;
	}
	return true;
}

static void publish_text(struct gp_control *c, u32 bit, const char *text)
{
	size_t n = strlen(text) + 1;
	struct gp_conn *conn;

	for (conn = c->conns; conn < c->conns + c->args.clients; conn++) {
		if (conn->state != GP_CONN_STREAM || !(conn->wants & bit) || conn->doom)
			continue;
		if (has_room(c, conn, n) && !gp_varlink_put(&conn->out, text, n)) {
			c->stats.events++;
		} else {
			conn->lost++;
			c->stats.events_lost++;
		}
	}
}

void gp_control_publish(struct gp_control *c, enum gp_event_kind kind, json_t *event)
{
	json_t *parameters = event, *message;
	char *text = NULL;

	if (!(gp_control_wanted(c) & (1u << kind))) {
		json_decref(event);
		return;
	}
	if (kind != GP_EVENT_RECORD)
		parameters = json_pack("{s:o}", "event", event);
	json_object_set_new(parameters, "lost", json_integer(0));
	message = json_pack("{s:o, s:b}", "parameters", parameters, "continues", 1);
	if (message)
		text = json_dumps(message, JSON_COMPACT);
	if (text)
		publish_text(c, 1u << kind, text);
	free(text);
	json_decref(message);
	/* They are sent by the next run. */
	c->wake_ns = 0;
}
