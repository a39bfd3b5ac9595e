/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Requests of a task: they arrive, wait for the server, submit their kernels all
 * at once or one after the other, and are over when the last is complete.
 */
#ifndef GP_REQUEST_H
#define GP_REQUEST_H

#include "client.h"

/* Begin as many as the server takes. */
void gp_requests_start(struct gp_client *c);
/* A packet of a request is complete. Called by the device: only notes and plans. */
void gp_request_completed(struct gp_client *c, struct gp_kernel *k, u64 now_ns);

/* ---- of the client, for requests ---- */

/* A kernel of @c that takes @time with all the slots it asks for. */
void gp_client_size(const struct gp_client *c, u64 time, struct vgpu_packet *p);
/* The next kernel of @c, by @rng. */
void gp_client_draw(const struct gp_client *c, struct gp_rng *rng, struct vgpu_packet *p);
/* NULL: no memory, and the run ends. */
struct gp_kernel *gp_client_put(struct gp_client *c, struct gp_ring *r,
				const struct vgpu_packet *p);
void gp_client_doorbell(struct gp_client *c, struct gp_ring *r);

#endif /* GP_REQUEST_H */
