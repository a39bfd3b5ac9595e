/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A synthetic kernel as it stands in memory.
 *
 * A program that knows it drives the model puts a struct vgpu_kernel where an
 * AQL packet's kernel_object (or COMPUTE_PGM of a PM4 queue) points, and a
 * struct vgpu_kernarg at the packet's kernarg_address (PM4: user data 0 and 1).
 * What else a kernel needs is in the packet as on hardware: grid and workgroup
 * size give the workgroups and their waves, group_segment_size the LDS.
 *
 * Workgroup i adds 1 at @result and (i + 1) * @key at @result + 8: one lost or
 * done twice is a wrong sum. Code without the magic is a real kernel's, which the
 * model cannot execute: it takes time only, is counted, and is said to be so.
 */
#ifndef VGPU_KERNEL_H
#define VGPU_KERNEL_H

#include "gp_env.h"

#define VGPU_KERNEL_MAGIC	0x314c4e524b555056ull	/* "VPUKRNL1" */

struct vgpu_kernel {
	u64 magic;
	u64 workgroup_ns;	/* how long a workgroup runs once it has its slots */
	u64 gap_ns;		/* from the completion of the packet before to this launch */
	u32 vgpr_bytes;		/* per wave; 0: the minimum */
	u32 pad[9];
};

struct vgpu_kernarg {
	u64 result;		/* address of two 64-bit words; 0: the kernel adds to nothing */
	u64 key;
};

static_assert(sizeof(struct vgpu_kernel) == 64, "as large as AMD's kernel descriptor");
static_assert(sizeof(struct vgpu_kernarg) == 16, "two words");

#endif /* VGPU_KERNEL_H */
