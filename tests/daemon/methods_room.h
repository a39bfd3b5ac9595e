/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gpreemptd without its main loop. Real calls over a real socket reach a decider on directories
 * (decider_world.h) with an online and an offline process.
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
	struct gp_peer peer;	/* of the next connection; initially privileged and the owner */
};

/* For CLAIM_WITH(fn, room_up, room_down). With two GPUs the offline process is on both. */
int room_up(void **state);
int two_gpus_up(void **state);
int room_down(void **state);
/* Ends the daemon without notice and starts one with the same processes and state file. */
void room_restart(struct room *r);
/* Runs all parts for a moment. */
void room_spin(struct room *r);

/* Makes a new connection to the socket. */
int room_connect(const char *path);
void room_ask(int fd, const char *method, const char *parameters, bool more);
/* Returns the next message on @fd, or NULL if none came. */
json_t *room_hear(struct room *r, int fd);
/* Returns the parameters of the answer. *@error, if not NULL, is the name of the error or "". */
json_t *room_call(struct room *r, const char *method, const char *parameters, char *error);

json_int_t room_number(const json_t *o, const char *key);
void room_text(const json_t *o, const char *key, const char *want);
/* Writes the parameters of a call: the pid of process @i, and @rest. */
void room_pid(char *text, size_t size, const struct room *r, u32 i, const char *rest);

#endif /* METHODS_ROOM_H */
