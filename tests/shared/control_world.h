/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The transport of the control socket in a folder of its own, with callbacks that only note
 * what they are asked, a clock that the test holds, and clients of any user.
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
	struct gp_peer peer;	/* of the next connection; .pid < 0: as the kernel says */
	/* what the daemon does and has seen */
	bool defer;		/* answer later */
	int refuse;		/* fail every call with this errno */
	u32 processes;		/* in List */
	u32 untold;		/* the one that cannot be told; 0: none */
	u32 large;		/* bytes of each of them, more or less */
	u64 slow_ns;		/* processor time that each of them takes */
	u32 told;		/* entries of lists so far */
	u32 asked;		/* calls that reached it */
	char last[32];		/* the method of the last of them */
	struct gp_process_id target;
	u64 number;		/* its lease, or when a hint begins */
	gp_token token;
	u32 gone;
};

/* @limits: what is not 0 in it holds. Does not return on failure. */
struct control_world *world_new(const struct gp_control_args *limits);
/* After gp_control_free(): open it once more, which is to return @expected. */
void world_rebind(struct control_world *w, int expected);
void world_free(struct control_world *w);
/* Set-up and tear-down of a claim: *@state is a world with the default limits. */
int world_up(void **state);
int world_down(void **state);
struct gp_control_stats world_stats(const struct control_world *w);
/* @times runs of the control socket. */
void world_run(struct control_world *w, u32 times);
/* A connection of that user; taken in already unless it was refused. */
int world_connect(struct control_world *w, uid_t uid, bool privileged);
/* The same of a uid that counts for @user. */
int world_connect_as(struct control_world *w, uid_t uid, uid_t user);
/* One message, or NULL if the connection was closed or nothing came in 10000 runs. */
json_t *world_receive(struct control_world *w, struct gp_varlink_reader *r, int fd);
/* Bytes and a NUL, as many as fit. */
void world_send(int fd, const char *text);
/* One call, "Status" of org.gpreempt or with a full name, and its answer as above. */
json_t *world_ask(struct control_world *w, int fd, const char *method, const char *parameters);
/* The last part of the error's name, "" if it is none; consumes @reply. "closed": NULL. */
const char *world_error(json_t *reply);
/* Has the other side closed it? Reads what there is. */
bool world_closed(struct control_world *w, int fd);

#endif /* GP_CONTROL_WORLD_H */
