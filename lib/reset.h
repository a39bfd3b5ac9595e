/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Resets of GPUs, as the driver tells of them (its system management events).
 *
 * After one the driver keeps the queues of every process that was there off all GPUs for
 * good and waits for the process to end; nothing that anybody does brings them back. A
 * watch has no /dev/kfd of its own open, belongs to one thread at a time and never sleeps.
 */
#ifndef GP_LIB_RESET_H
#define GP_LIB_RESET_H

#include "gp_env.h"

enum gp_reset_what {
	GP_RESET_BEGINS		= 1 << 0,
	GP_RESET_ENDS		= 1 << 1,
};

struct gp_reset_watch;

/*
 * Of these @nr GPUs, 1..64. @kfd_fd: /dev/kfd, opened by this process; it may be closed
 * afterwards. -EINVAL, -ENOMEM, or what the driver says.
 */
int gp_reset_open(int kfd_fd, const u32 *gpu_ids, u32 nr, struct gp_reset_watch **ret);
void gp_reset_close(struct gp_reset_watch *w);	/* NULL is fine */

/* Readable when gp_reset_next() has something. */
int gp_reset_fd(const struct gp_reset_watch *w);
/* Bits of enum gp_reset_what and the GPU's place in gpu_ids; 0: nothing (more). */
u32 gp_reset_next(struct gp_reset_watch *w, u32 *ret_gpu);

/* What @bytes of a descriptor of such events say: enum gp_reset_what. */
u32 gp_reset_parse(const char *text, size_t bytes);

#endif /* GP_LIB_RESET_H */
