/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * XSched's first level: an interposed library launches the offline kernels, a few at a time, and
 * stops launching while the online task has work. Nothing on the GPU is preempted; launched kernels
 * run to their end. Each message takes time.
 */
#ifndef GP_SHIM_H
#define GP_SHIM_H

#include "client.h"

void gp_shim_request_begins(struct gp_client *online);
void gp_shim_request_ends(struct gp_client *online);

#endif /* GP_SHIM_H */
