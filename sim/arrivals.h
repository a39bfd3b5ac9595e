/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The arrivals of a task's requests, from a seed or a file. They are the same in every row. */
#ifndef GP_ARRIVALS_H
#define GP_ARRIVALS_H

#include "client.h"

/* Prepares the arrivals. 0, or -errno with the engine's sentence: the trace cannot be read. */
int gp_arrivals_init(struct gp_client *c);
/* Begins the arrivals now. */
void gp_arrivals_begin(struct gp_client *c);

/* Implemented by the client: takes a request that arrived. */
void gp_client_arrive(struct gp_client *c);

#endif /* GP_ARRIVALS_H */
