/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Requests of a task: they arrive, wait for the server, submit their kernels all
 * at once or one after the other, and are over when the last is complete.
 */
#ifndef GP_REQUEST_H
#define GP_REQUEST_H

#include "client.h"

/* Begins as many requests as the server takes. */
void gp_requests_start(struct gp_client *c);
/* Called by the device when a packet of a request is complete. Only records it and plans events. */
void gp_request_completed(struct gp_client *c, struct gp_kernel *k, u64 now_ns);

/* ---- of the client, for requests ---- */

/* Makes a kernel of @c that takes @time with all its slots. */
void gp_client_size(const struct gp_client *c, u64 time, struct vgpu_packet *p);
/* Draws the next kernel of @c from @rng. */
void gp_client_draw(const struct gp_client *c, struct gp_rng *rng, struct vgpu_packet *p);
/* Submits a kernel. NULL: no memory, and the run ends. */
struct gp_kernel *gp_client_put(struct gp_client *c, struct gp_ring *r,
				const struct vgpu_packet *p);
void gp_client_doorbell(struct gp_client *c, struct gp_ring *r);

#endif /* GP_REQUEST_H */
