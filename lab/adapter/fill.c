// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Fresh VRAM is clean, and VRAM is wiped when it is given back.
 *
 * amdgpu does both with an SDMA ring of its own, which the model has not; the driver
 * takes a failure for a bug of its own. All of VRAM is visible to the processor, so
 * the processor does it. Kbuild gives the driver's two functions other names.
 */
#include "gpu.h"
#include "amdgpu_res_cursor.h"

int amdgpu_fill_buffer(struct amdgpu_bo *bo, u32 word, struct dma_resv *resv,
		       struct dma_fence **fence, bool delayed, u64 job)
{
	struct amdgpu_device *adev = amdgpu_ttm_adev(bo->tbo.bdev);
	struct amdgpu_res_cursor at;

	if (bo->tbo.resource->mem_type != TTM_PL_VRAM)
		return -EINVAL;
	amdgpu_res_first(bo->tbo.resource, 0, amdgpu_bo_size(bo), &at);
	while (at.remaining) {
		u64 n = min_t(u64, at.size, SZ_1M);

		memset32((u32 __force *)(adev->mman.aper_base_kaddr + at.start), word, n / 4);
		amdgpu_res_next(&at, n);
		cond_resched();
	}
	if (fence)
		*fence = dma_fence_get_stub();
	return 0;
}

int amdgpu_ttm_clear_buffer(struct amdgpu_bo *bo, struct dma_resv *resv, struct dma_fence **fence)
{
	return amdgpu_fill_buffer(bo, 0, resv, fence, false, 0);
}
