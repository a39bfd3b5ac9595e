/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A call that is answered again and again, for our own programs. */
#ifndef GP_LIB_EVENTS_H
#define GP_LIB_EVENTS_H

#include "gpreempt.h"
#include "wire.h"

struct gp_events {
	struct gp_wire wire;
	json_t *first;		/* the parameters of the first answer */
	uint32_t lost;		/* said by answers, not yet passed on */
};

/* Takes over @parameters, NULL: none. End it with gp_events_close(). */
int gp_events_open(struct gp_daemon *daemon, const char *method, json_t *parameters,
		   struct gp_events **ret);
/* The parameters of the next answer, the caller's. -EAGAIN: none yet; -ENOTCONN. */
int gp_events_parameters(struct gp_events *events, json_t **ret);

#endif /* GP_LIB_EVENTS_H */
