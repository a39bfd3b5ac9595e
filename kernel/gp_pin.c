// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Pinned words of other processes, see gp_pin.h. */
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
 * The caller holds mmap_lock for reading, so the mappings stay. The process may exit meanwhile.
 * exit_mmap() then unmaps pages as MADV_DONTNEED does, and frees mappings and page tables only
 * under mmap_lock for writing. Pages of files are refused. FOLL_LONGTERM may have to move a page,
 * which waits for the page's lock, and a file system in user space can hold that lock for ever.
 */
static long pin_locked(struct mm_struct *mm, u64 address, struct page **page)
{
	const unsigned int how = FOLL_LONGTERM | FOLL_NOFAULT;
	struct vm_area_struct *vma;

	if (!atomic_read(&mm->mm_users))
		return -ESRCH;
	vma = find_vma(mm, address);
	if (!vma || vma->vm_start > address || !vma_is_anonymous(vma))
		return -EFAULT;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	return pin_user_pages_remote(mm, address & PAGE_MASK, 1, how, page, NULL, NULL);
#else
	return pin_user_pages_remote(mm, address & PAGE_MASK, 1, how, page, NULL);
#endif
}

/*
 * Pins an ordinary page of the process, which ROCr uses on most GPUs. The driver has pinned the
 * page, so it is normally present. An absent page is refused, because bringing it in could wait for
 * memory reclaim and is charged to the process.
 */
static int pin_page(struct gp_pin *pin, struct mm_struct *mm, u64 address)
{
	struct page *page;
	long got;

	if (!mmap_read_trylock(mm))
		return -EBUSY;
	got = pin_locked(mm, address, &page);
	mmap_read_unlock(mm);
	if (got != 1)
		return got < 0 ? got : -EFAULT;
	/* kmap_local does not fit, because the mapping lasts and is used from any processor. */
	pin->word = kmap(page) + offset_in_page(address);
	pin->page = page;
	return 0;
}

/*
 * Pins a buffer object of the driver that is mapped into the process, because such pages cannot be
 * pinned by address. The driver ensures that the mapping of a queue's pointer begins at the page of
 * the pointer and is one page long. A buffer made of the process's own pages (EXTERNAL) would
 * vanish with them.
 */
static int pin_reserved(struct gp_pin *pin, struct ttm_buffer_object *bo)
{
	int err;

	if (!bo->resource || !bo->ttm || (bo->ttm->page_flags & TTM_TT_FLAG_EXTERNAL))
		return -EFAULT;
	if (bo->resource->mem_type == TTM_PL_SYSTEM)
		return -EAGAIN;		/* if pinned there, it could not move back to the GPU */
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
	int err = ttm_bo_reserve(bo, false, true, NULL);

	if (err)
		return err;	/* -EBUSY */
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
	/*
	 * Try the buffer first, because the process may have mapped something else at @address
	 * since.
	 */
	err = bo ? pin_bo(pin, bo, address) : -EFAULT;
	return err == -EFAULT ? pin_page(pin, mm, address) : err;
}

/* True if the pages of @bo are the driver's own. False also if @bo is locked now. */
static bool is_drivers(struct ttm_buffer_object *bo)
{
	bool is;

	if (!bo || ttm_bo_reserve(bo, false, true, NULL))
		return false;
	is = bo->ttm && !(bo->ttm->page_flags & TTM_TT_FLAG_EXTERNAL);
	ttm_bo_unreserve(bo);
	return is;
}

bool gp_pin_is(const struct gp_pin *pin, struct mm_struct *mm, u64 address,
	       struct ttm_buffer_object *bo)
{
	struct gp_pin now = { 0 };
	bool is;

	if (pin->bo)
		return pin->bo == bo;	/* referenced, so no other object has its address */
	is = pin_page(&now, mm, address) ? !is_drivers(bo) : now.page == pin->page;
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
		/*
		 * Waiting cannot deadlock, because no holder of the reservation waits for this
		 * module.
		 */
		ttm_bo_reserve(bo, false, false, NULL);
		ttm_bo_vunmap(bo, &pin->map);
		ttm_bo_unpin(bo);
		ttm_bo_unreserve(bo);
		drm_gem_object_put(&bo->base);
	}
	memset(pin, 0, sizeof(*pin));
}
