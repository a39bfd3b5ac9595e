/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The state of a chip as text: the views of debugfs, and what a replay outside the
 * virtual machine compares with them.
 */
#ifndef LAB_STATE_H
#define LAB_STATE_H

#include "vgpu/chip.h"

enum { LAB_STATE_BYTES = 256 << 10 };	/* 1024 queues, a line each, and more */

/* Text that drops further characters when it is full. */
struct lab_text {
	char *at;
	u32 room, used;
};

__attribute__((format(printf, 2, 3)))
void lab_text_add(struct lab_text *t, const char *format, ...);

/* Prints one "name value" per line. */
void lab_state_counters(struct lab_text *t, struct vgpu_chip *c);
/* Prints the queues that the chip knows, one per line below a line of titles. */
void lab_state_queues(struct lab_text *t, struct vgpu_chip *c);

#endif /* LAB_STATE_H */
