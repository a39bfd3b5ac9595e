/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the kernel itself calls by other names in the versions we are built for (6.1 on). */
#ifndef GP_KERNEL_COMPAT_H
#define GP_KERNEL_COMPAT_H

#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/version.h>

static inline void gp_compat_eventfd_signal(struct eventfd_ctx *ctx)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	eventfd_signal(ctx, 1);
#else
	eventfd_signal(ctx);
#endif
}

/* Before the mapping is seen by anybody. */
static inline void gp_compat_vm_flags(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#else
	vm_flags_mod(vma, set, clear);
#endif
}

/* Pairs with mmap_write_unlock(). The kernel has no such function. */
static inline bool gp_compat_mmap_write_trylock(struct mm_struct *mm)
{
	if (!down_write_trylock(&mm->mmap_lock))
		return false;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
	mm_lock_seqcount_begin(mm);
#endif
	return true;
}

#endif /* GP_KERNEL_COMPAT_H */
