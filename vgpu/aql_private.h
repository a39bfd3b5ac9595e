/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Packets of AQL: what aql.c does for aql_ring.c. */
#ifndef VGPU_AQL_PRIVATE_H
#define VGPU_AQL_PRIVATE_H

#include "aql.h"
#include "chip_private.h"

int vgpu_aql_decode(struct vgpu_chip *c, struct vgpu_user_queue *q, const u8 *packet,
		    struct vgpu_aql_flight *f);
bool vgpu_aql_ready(struct vgpu_chip *c, struct vgpu_user_queue *q,
		    const struct vgpu_aql_flight *f);
bool vgpu_aql_vendor(struct vgpu_chip *c, struct vgpu_user_queue *q, const u8 *packet);
void vgpu_aql_signal(struct vgpu_chip *c, struct vgpu_user_queue *q,
		     const struct vgpu_aql_flight *f);

#endif /* VGPU_AQL_PRIVATE_H */
