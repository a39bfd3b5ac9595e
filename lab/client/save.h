/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The save area of a queue (client.h, enum gp_save_area). */
#ifndef GP_LAB_SAVE_H
#define GP_LAB_SAVE_H

#include "client.h"

/* Maps and registers the save area, with the headers that a runtime writes. */
int gp_save_alloc(struct gp_lab_client *c, struct gp_buffer *b, enum gp_save_area kind);

/*
 * Maps only the CPU's part: @bytes of address space where every @stride bytes begin with @real
 * bytes of private memory and the rest shows @padding_fd. NULL with errno.
 */
void *gp_save_map_sparse(u64 bytes, u64 stride, u64 real, int padding_fd);

#endif /* GP_LAB_SAVE_H */
