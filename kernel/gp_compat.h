/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Kernel functions that differ between the versions this module is built for (6.1 and later). */
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

/* Call this before the mapping is visible to other threads. */
static inline void gp_compat_vm_flags(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#else
	vm_flags_mod(vma, set, clear);
#endif
}

/*
 * Does mmap_write_lock(), vma_start_write() of all mappings, and mmap_write_unlock() if one mapping
 * is locked. The kernel's own functions would wait. Their effect on the lock sequence depends on
 * the type of mm_lock_seq, because stable kernels have backported later versions of it.
 */
#ifdef CONFIG_PER_VMA_LOCK
static inline void gp_compat_seq_begin(struct mm_struct *mm)
{
	if (_Generic(mm->mm_lock_seq, seqcount_t: true, default: false))
		do_raw_write_seqcount_begin((seqcount_t *)(void *)&mm->mm_lock_seq);
}

/*
 * The caller holds mmap_lock for writing. Linux 6.15 and later use another lock of mappings, which
 * this function does not try.
 */
static inline bool gp_compat_vmas_trylock(struct mm_struct *mm)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	/* mm_lock_seq is an int, or a seqcount_t that begins with one. */
	unsigned int seq = *(const unsigned int *)(const void *)&mm->mm_lock_seq;
	struct vm_area_struct *vma;
	VMA_ITERATOR(i, mm, 0);

	for_each_vma(i, vma) {
		if ((unsigned int)vma->vm_lock_seq == seq)
			continue;
		if (!down_write_trylock(&vma->vm_lock->lock))
			return false;
		WRITE_ONCE(vma->vm_lock_seq, seq);
		up_write(&vma->vm_lock->lock);
	}
#endif
	return true;
}
#else
static inline void gp_compat_seq_begin(struct mm_struct *mm)
{
}

static inline bool gp_compat_vmas_trylock(struct mm_struct *mm)
{
	return true;
}
#endif

static inline bool gp_compat_mm_trylock(struct mm_struct *mm)
{
	if (!down_write_trylock(&mm->mmap_lock))
		return false;
	gp_compat_seq_begin(mm);
	if (gp_compat_vmas_trylock(mm))
		return true;
	mmap_write_unlock(mm);
	return false;
}

#endif /* GP_KERNEL_COMPAT_H */
