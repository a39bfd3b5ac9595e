// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * An answer with one entry per process, made a process at a time: however many
 * there are, no run of the control socket makes more than a few.
 */
#include <stdlib.h>
#include <string.h>

#include "conn.h"

static void put(struct gp_conn *conn, const char *text, size_t n)
{
	if (gp_varlink_put(&conn->out, text, n))
		gp_conn_doom(conn, GP_DOOM_FULL);
}

/* {"parameters":{HEAD,"processes":[ is the head with its last brace taken off. */
void gp_pieces_begin(struct gp_conn *conn, json_t *head)
{
	static const char before[] = "{\"parameters\":", list[] = "\"processes\":[";
	char *text = json_dumps(head, JSON_COMPACT);
	bool empty = !json_object_size(head);

	json_decref(head);
	if (!text) {
		gp_conn_doom(conn, GP_DOOM_FULL);
		return;
	}
	put(conn, before, sizeof(before) - 1);
	put(conn, text, strlen(text) - 1);
	if (!empty)
		put(conn, ",", 1);
	put(conn, list, sizeof(list) - 1);
	free(text);
	conn->pieces.some = false;
	conn->pieces.cursor = 0;
	conn->state = GP_CONN_PIECES;
}

static int next(struct gp_control *c, struct gp_pieces *p, json_t **ret)
{
	const struct gp_control_ops *ops = c->args.ops;
	struct gp_list_args list = { .gpu = p->gpu[0] ? p->gpu : NULL, .pid = p->pid };

	if (p->stats)
		return ops->stats_next(c->args.ctx, p->pid, &p->cursor, ret);
	return ops->list_next(c->args.ctx, &list, &p->cursor, ret);
}

void gp_pieces_step(struct gp_control *c, struct gp_conn *conn)
{
	static const char end[] = "]}}";
	u64 before = conn->pieces.cursor;
	json_t *process = NULL;
	char *text;
	int r = next(c, &conn->pieces, &process);

	/* Too late for an error: one that cannot be told must not hide those behind it. */
	if (r < 0 && conn->pieces.cursor != before)
		return;
	if (r <= 0) {
		put(conn, end, sizeof(end));
		conn->state = GP_CONN_READY;
		return;
	}
	text = json_dumps(process, JSON_COMPACT);
	json_decref(process);
	if (!text) {
		gp_conn_doom(conn, GP_DOOM_FULL);
		return;
	}
	if (conn->pieces.some)
		put(conn, ",", 1);
	put(conn, text, strlen(text));
	conn->pieces.some = true;
	free(text);
}
