// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * amdgpu's half of a GPU reset: resets the chip and keeps the contents of VRAM. KFD's half,
 * before and after, is the driver's own.
 */
#include "gpu.h"
#include "record.h"
#include "amdgpu_reset.h"

bool amdgpu_device_should_recover_gpu(struct amdgpu_device *adev)
{
	return amdgpu_gpu_recovery != 0;
}

int amdgpu_in_reset(struct amdgpu_device *adev)
{
	return atomic_read(&adev->reset_domain->in_gpu_reset);
}

int lab_reset_locked(struct lab_gpu *gpu, struct amdgpu_reset_context *reset_context)
{
	struct amdgpu_device *adev = &gpu->adev;
	int r;

	amdgpu_amdkfd_pre_reset(adev, reset_context);

	spin_lock(&gpu->lock);
	lab_chip_reset(gpu, lab_clock_now(&gpu->clock));
	spin_unlock(&gpu->lock);
	amdgpu_gtt_mgr_recover(&adev->mman.gtt_mgr);

	r = amdgpu_amdkfd_post_reset(adev);
	amdgpu_device_unlock_reset_domain(adev->reset_domain);
	dev_info(adev->dev, "GPU reset end with ret = %d\n", r);
	return r;
}

int amdgpu_device_gpu_recover(struct amdgpu_device *adev, struct amdgpu_job *job,
			      struct amdgpu_reset_context *reset_context)
{
	dev_info(adev->dev, "GPU reset begin!\n");
	amdgpu_device_lock_reset_domain(adev->reset_domain);
	return lab_reset_locked(lab_gpu(adev), reset_context);
}
