/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* When the requests of a task arrive: from a seed or a file, whatever the row. */
#ifndef GP_ARRIVALS_H
#define GP_ARRIVALS_H

#include "client.h"

/* 0, or -errno with the engine's sentence: the trace cannot be read. */
int gp_arrivals_init(struct gp_client *c);
/* From now on. */
void gp_arrivals_begin(struct gp_client *c);

/* The client's: a request is there. */
void gp_client_arrive(struct gp_client *c);

#endif /* GP_ARRIVALS_H */
