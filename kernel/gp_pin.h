/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A word of another process's memory that a timer callback can read. It is mapped once and stays
 * readable while it is pinned. If the process unmaps it, the word just never changes.
 *
 * User pages are pinned long-term. Pages of a buffer object cannot be, so the object itself is
 * reserved, pinned and mapped. Objects in VRAM are refused, because a read of them goes over the
 * bus.
 */
#ifndef GP_KERNEL_PIN_H
#define GP_KERNEL_PIN_H

#include <linux/compiler.h>
#include <linux/iosys-map.h>
#include <linux/types.h>

struct mm_struct;
struct page;
struct ttm_buffer_object;

struct gp_pin {
	const u64 *word;		/* NULL: not pinned */
	struct page *page;		/* pinned user page, kmapped; or */
	struct ttm_buffer_object *bo;	/* referenced, pinned, mapped at @map */
	struct iosys_map map;
};

/*
 * Pins the 8 bytes at @address of @mm, which the caller has grabbed (mmgrab()). @bo is the buffer
 * that holds them if they are not in a user page, or NULL. Sleeps, but does not wait for the
 * process. -EBUSY: its memory or the buffer is locked; -EFAULT: neither; -EOPNOTSUPP: VRAM;
 * -EAGAIN: just evicted; -EINVAL: not aligned.
 */
int gp_pin_get(struct gp_pin *pin, struct mm_struct *mm, u64 address,
	       struct ttm_buffer_object *bo);
/*
 * True if the memory at @address is still what @pin has pinned, or if that cannot be determined
 * now. Takes the arguments of gp_pin_get(). A queue may be destroyed and created again with its old
 * number at its old addresses, and only its memory shows that. Sleeps as gp_pin_get() does.
 */
bool gp_pin_is(const struct gp_pin *pin, struct mm_struct *mm, u64 address,
	       struct ttm_buffer_object *bo);
/* Unpins when no reader is left. May wait for the buffer's reservation. Accepts an empty pin. */
void gp_pin_put(struct gp_pin *pin);

#endif /* GP_KERNEL_PIN_H */
