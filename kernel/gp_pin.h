/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A word of another process's memory that can be read from a timer callback: mapped once, read
 * for as long as it is pinned, whatever the process does (what it unmapped just never changes).
 *
 * User pages are pinned for long; pages of a buffer object, which cannot be, have the object
 * reserved, pinned and mapped. Objects in VRAM are refused: a read of them goes over the bus.
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
 * The 8 bytes at @address of @mm, which the caller has by mmgrab(); @bo is where they are if they
 * are no user page, or NULL. Sleeps, but does not wait for the process.
 * -EBUSY: its memory or the buffer is locked; -EFAULT: neither; -EOPNOTSUPP: VRAM; -EAGAIN: just
 * evicted; -EINVAL: not aligned.
 */
int gp_pin_get(struct gp_pin *pin, struct mm_struct *mm, u64 address,
	       struct ttm_buffer_object *bo);
/*
 * Is what @pin has still what is there? The same arguments. A queue may be destroyed and made anew
 * by its old number at its old addresses, and nothing but its memory tells. Sleeps as
 * gp_pin_get(). Returns true if that cannot be told now.
 */
bool gp_pin_is(const struct gp_pin *pin, struct mm_struct *mm, u64 address,
	       struct ttm_buffer_object *bo);
/* No reader is left. May wait until the buffer is not reserved. An empty pin is fine. */
void gp_pin_put(struct gp_pin *pin);

#endif /* GP_KERNEL_PIN_H */
