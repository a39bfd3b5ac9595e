/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The transport of the control socket in a folder of its own. Its callbacks only record requests.
 * The test controls the clock and can connect clients of any user.
 */
#ifndef GP_CONTROL_WORLD_H
#define GP_CONTROL_WORLD_H

#include "core/param.h"
#include "daemon/control.h"
#include "lib/process.h"
#include "lib/varlink.h"

enum {
	ALICE = 1001, BOB = 1002,	/* users */
	ALICES = 100, BOBS = 200,	/* their processes */
};

struct control_world {
	struct gp_control *c;
	struct gp_control_args args;
	char dir[64], path[96];
	u64 now_ns;
	u64 slowest_ns;		/* run of the control socket, in real time */
	struct gp_peer peer;	/* of the next connection; .pid < 0: from the kernel */
	/* the daemon's behaviour and its observations */
	bool defer;		/* answer later */
	int refuse;		/* fail every call with this errno */
	u32 processes;		/* in List */
	u32 untold;		/* process without a valid entry; 0: none */
	u32 large;		/* approximate bytes of each entry */
	u64 slow_ns;		/* processor time for each entry */
	u32 told;		/* entries of lists sent so far */
	u32 asked;		/* calls that reached the daemon */
	char last[32];		/* method of the last call */
	struct gp_process_id target;
	u64 number;		/* lease, or start of a hint */
	gp_token token;
	u32 gone;
};

/* Creates a world. Nonzero members of @limits replace the defaults. Does not return on failure. */
struct control_world *world_new(const struct gp_control_args *limits);
/* Opens the socket again after gp_control_free() and expects the result @expected. */
void world_rebind(struct control_world *w, int expected);
void world_free(struct control_world *w);
/* Set-up and tear-down of a test. *@state is a world with the default limits. */
int world_up(void **state);
int world_down(void **state);
struct gp_control_stats world_stats(const struct control_world *w);
/* Runs the control socket @times times. */
void world_run(struct control_world *w, u32 times);
/* Connects as that user. The connection is accepted on return unless it was refused. */
int world_connect(struct control_world *w, uid_t uid, bool privileged);
/* Connects as a uid that counts as @user. */
int world_connect_as(struct control_world *w, uid_t uid, uid_t user);
/* Returns one message, or NULL if the connection was closed or nothing came in 10000 runs. */
json_t *world_receive(struct control_world *w, struct gp_varlink_reader *r, int fd);
/* Sends the text with its NUL, as far as it fits. */
void world_send(int fd, const char *text);
/* Sends one call, "Status" of org.gpreempt or a full name, and returns the answer as above. */
json_t *world_ask(struct control_world *w, int fd, const char *method, const char *parameters);
/*
 * Returns the last part of the error's name, "" if @reply is no error, "closed" if it is NULL.
 * Consumes @reply.
 */
const char *world_error(json_t *reply);
/* True if the daemon has closed the connection. Reads everything that is available. */
bool world_closed(struct control_world *w, int fd);

#endif /* GP_CONTROL_WORLD_H */
