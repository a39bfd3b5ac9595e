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

/*
 * mmap_write_lock(), vma_start_write() of all mappings, and mmap_write_unlock() if one of them is
 * locked: the kernel's own functions wait. What they do to the sequence of locks depends on the
 * type of mm_lock_seq, since stable kernels have got later versions of it.
 */
#ifdef CONFIG_PER_VMA_LOCK
static inline void gp_compat_seq_begin(struct mm_struct *mm)
{
	if (_Generic(mm->mm_lock_seq, seqcount_t: true, default: false))
		do_raw_write_seqcount_begin((seqcount_t *)(void *)&mm->mm_lock_seq);
}

/* With mmap_lock for writing. From 6.15 on mappings have another lock, which is not tried. */
static inline bool gp_compat_vmas_trylock(struct mm_struct *mm)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	/* An int, or a seqcount_t, which begins with it. */
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
