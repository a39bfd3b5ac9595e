/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gpreemptd without its loop: real calls over a real socket to a decider on directories
 * (decider_world.h), with an online and an offline process.
 */
#ifndef METHODS_ROOM_H
#define METHODS_ROOM_H

#include "daemon/methods.h"
#include "decider_world.h"

struct room {
	struct world *w;
	struct gp_methods *methods;
	struct gp_control *control;
	char socket[128], state[128];
	int fd;
	u32 online, offline;
	u32 reloads;
	struct gp_peer peer;	/* of the next connection; at first privileged, and the owner */
};

/* CLAIM_WITH(fn, room_up, room_down). On two GPUs: the offline one is on both. */
int room_up(void **state);
int two_gpus_up(void **state);
int room_down(void **state);
/* Ends the daemon without a word and starts one with the same processes and state file. */
void room_restart(struct room *r);
/* All of it runs for a moment. */
void room_spin(struct room *r);

/* One more at the socket. */
int room_connect(const char *path);
void room_ask(int fd, const char *method, const char *parameters, bool more);
/* The next message on @fd; NULL: none came. */
json_t *room_hear(struct room *r, int fd);
/* The answer's parameters; *@error, if not NULL: the name of the error, or "". */
json_t *room_call(struct room *r, const char *method, const char *parameters, char *error);

json_int_t room_number(const json_t *o, const char *key);
void room_text(const json_t *o, const char *key, const char *want);
/* Parameters of a call: the pid of process @i, and @rest. */
void room_pid(char *text, size_t size, const struct room *r, u32 i, const char *rest);

#endif /* METHODS_ROOM_H */
