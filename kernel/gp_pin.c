// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Words of other processes, see gp_pin.h. */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#include <drm/ttm/ttm_bo_api.h>
#include <drm/ttm/ttm_bo_driver.h>
#else
#include <drm/ttm/ttm_bo.h>
#endif
#include <drm/ttm/ttm_placement.h>
#include <drm/ttm/ttm_tt.h>

#include "gp_pin.h"

/*
 * An ordinary page of the process: what ROCr uses on most GPUs. The driver has it already, so it is
 * there; where it is not, whoever would bring it (a file system in user space) is not waited for.
 */
static int pin_page(struct gp_pin *pin, struct mm_struct *mm, u64 address)
{
	const unsigned int how = FOLL_LONGTERM | FOLL_NOFAULT;
	struct page *page;
	long got;

	if (!mmap_read_trylock(mm))
		return -EBUSY;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	got = pin_user_pages_remote(mm, address & PAGE_MASK, 1, how, &page, NULL, NULL);
#else
	got = pin_user_pages_remote(mm, address & PAGE_MASK, 1, how, &page, NULL);
#endif
	mmap_read_unlock(mm);
	if (got != 1)
		return got < 0 ? got : -EFAULT;
	/* For good, and from any processor: not kmap_local. */
	pin->word = kmap(page) + offset_in_page(address);
	pin->page = page;
	return 0;
}

/*
 * A buffer object of the driver mapped into the process: such pages cannot be pinned by address.
 * The driver insists that the mapping of a queue's pointer begins at the page of the pointer and
 * is one page long. A buffer made of the process's own pages (EXTERNAL) would go with them.
 */
static int pin_reserved(struct gp_pin *pin, struct ttm_buffer_object *bo)
{
	int err;

	if (!bo->resource || !bo->ttm || (bo->ttm->page_flags & TTM_TT_FLAG_EXTERNAL))
		return -EFAULT;
	if (bo->resource->mem_type == TTM_PL_SYSTEM)
		return -EAGAIN;		/* pinned there it could not come back to the GPU */
	if (bo->resource->mem_type != TTM_PL_TT)
		return -EOPNOTSUPP;
	err = ttm_bo_vmap(bo, &pin->map);
	if (err)
		return err;
	if (pin->map.is_iomem) {
		ttm_bo_vunmap(bo, &pin->map);
		return -EOPNOTSUPP;
	}
	ttm_bo_pin(bo);
	return 0;
}

static int pin_bo(struct gp_pin *pin, struct ttm_buffer_object *bo, u64 address)
{
	int err = ttm_bo_reserve(bo, false, false, NULL);

	if (err)
		return err;
	err = pin_reserved(pin, bo);
	ttm_bo_unreserve(bo);
	if (err)
		return err;
	drm_gem_object_get(&bo->base);
	pin->bo = bo;
	pin->word = pin->map.vaddr + offset_in_page(address);
	return 0;
}

int gp_pin_get(struct gp_pin *pin, struct mm_struct *mm, u64 address,
	       struct ttm_buffer_object *bo)
{
	int err;

	memset(pin, 0, sizeof(*pin));
	if (address & 7)
		return -EINVAL;
	err = pin_page(pin, mm, address);
	if (err && err != -EBUSY && bo)
		err = pin_bo(pin, bo, address);
	return err;
}

bool gp_pin_is(const struct gp_pin *pin, struct mm_struct *mm, u64 address,
	       struct ttm_buffer_object *bo)
{
	struct gp_pin now;
	bool is;

	if (pin->bo)
		return pin->bo == bo;	/* referenced: no other is where it is */
	is = gp_pin_get(&now, mm, address, bo) || now.page == pin->page;
	gp_pin_put(&now);
	return is;
}

void gp_pin_put(struct gp_pin *pin)
{
	struct ttm_buffer_object *bo = pin->bo;

	if (pin->page) {
		kunmap(pin->page);
		unpin_user_page(pin->page);
	}
	if (bo) {
		/* It cannot be refused: nobody waits for us with the object reserved. */
		ttm_bo_reserve(bo, false, false, NULL);
		ttm_bo_vunmap(bo, &pin->map);
		ttm_bo_unpin(bo);
		ttm_bo_unreserve(bo);
		drm_gem_object_put(&bo->base);
	}
	memset(pin, 0, sizeof(*pin));
}
