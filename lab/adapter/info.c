// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * AMDGPU_INFO: the queries of libdrm and ROCr on the render node. All other queries return
 * -EINVAL.
 */
#include <drm/amdgpu_drm.h>
#include <drm/drm_file.h>

#include "gpu.h"
#include "info.h"

static int answer(const struct drm_amdgpu_info *info, const void *from, size_t n)
{
	return copy_to_user(u64_to_user_ptr(info->return_pointer), from,
			    min_t(size_t, n, info->return_size)) ? -EFAULT : 0;
}

static int device_info(struct lab_gpu *gpu, const struct drm_amdgpu_info *info)
{
	struct amdgpu_device *adev = &gpu->adev;
	u64 vm_bytes = (adev->vm_manager.max_pfn << AMDGPU_GPU_PAGE_SHIFT) - AMDGPU_VA_RESERVED_TOP;
	struct drm_amdgpu_info_device d = { 0 };

	d.device_id = adev->pdev->device;
	d.chip_rev = adev->rev_id;
	d.external_rev = adev->external_rev_id;
	d.pci_rev = adev->pdev->revision;
	d.family = adev->family;
	d.num_shader_engines = adev->gfx.config.max_shader_engines;
	d.num_shader_arrays_per_engine = adev->gfx.config.max_sh_per_se;
	d.gpu_counter_freq = 100000;
	d.max_engine_clock = 2100000;
	d.max_memory_clock = 1300000;
	d.cu_active_number = adev->gfx.cu_info.number;
	memcpy(d.cu_bitmap, adev->gfx.cu_info.bitmap[0], sizeof(d.cu_bitmap));
	d.ids_flags = 0;
	d.virtual_address_offset = AMDGPU_VA_RESERVED_BOTTOM;
	d.virtual_address_max = min(vm_bytes, AMDGPU_GMC_HOLE_START);
	d.high_va_offset = AMDGPU_GMC_HOLE_END;
	d.high_va_max = AMDGPU_GMC_HOLE_END | vm_bytes;
	d.virtual_address_alignment = AMDGPU_GPU_PAGE_SIZE;
	d.pte_fragment_size = (1 << adev->vm_manager.fragment_size) * AMDGPU_GPU_PAGE_SIZE;
	d.gart_page_size = AMDGPU_GPU_PAGE_SIZE;
	d.vram_type = adev->gmc.vram_type;
	d.vram_bit_width = adev->gmc.vram_width;
	d.wave_front_size = adev->gfx.cu_info.wave_front_size;
	d.num_cu_per_sh = adev->gfx.config.max_cu_per_sh;
	d.tcc_disabled_mask = 0;
	return answer(info, &d, sizeof(d));
}

static int memory_info(struct lab_gpu *gpu, const struct drm_amdgpu_info *info)
{
	struct amdgpu_device *adev = &gpu->adev;
	struct ttm_resource_manager *vram = &adev->mman.vram_mgr.manager;
	struct ttm_resource_manager *gtt = &adev->mman.gtt_mgr.manager;
	struct drm_amdgpu_memory_info m = { 0 };

	m.vram.total_heap_size = adev->gmc.real_vram_size;
	m.vram.usable_heap_size = adev->gmc.real_vram_size;
	m.vram.heap_usage = ttm_resource_manager_usage(vram);
	m.vram.max_allocation = m.vram.usable_heap_size * 3 / 4;
	m.cpu_accessible_vram = m.vram;
	m.gtt.total_heap_size = gtt->size << PAGE_SHIFT;
	m.gtt.usable_heap_size = m.gtt.total_heap_size;
	m.gtt.heap_usage = ttm_resource_manager_usage(gtt);
	m.gtt.max_allocation = m.gtt.usable_heap_size * 3 / 4;
	return answer(info, &m, sizeof(m));
}

/*
 * Reports the registers that describe how memory is tiled. They do not matter here and read as
 * zero.
 */
static int registers_info(const struct drm_amdgpu_info *info)
{
	u32 i, zero = 0;

	if (!info->read_mmr_reg.count || info->read_mmr_reg.count > 128)
		return -EINVAL;
	if (info->return_size < info->read_mmr_reg.count * sizeof(zero))
		return -EINVAL;
	for (i = 0; i < info->read_mmr_reg.count; i++) {
		if (put_user(zero, (u32 __user *)u64_to_user_ptr(info->return_pointer) + i))
			return -EFAULT;
	}
	return 0;
}

int lab_info_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct lab_gpu *gpu = lab_gpu(drm_to_adev(dev));
	const struct drm_amdgpu_info *info = data;
	struct drm_amdgpu_info_firmware fw = { .ver = 200, .feature = 50 };
	u32 one = 1;
	u64 value;

	if (!info->return_size || !info->return_pointer)
		return -EINVAL;
	switch (info->query) {
	case AMDGPU_INFO_ACCEL_WORKING:
		return answer(info, &one, sizeof(one));
	case AMDGPU_INFO_DEV_INFO:
		return device_info(gpu, info);
	case AMDGPU_INFO_MEMORY:
		return memory_info(gpu, info);
	case AMDGPU_INFO_READ_MMR_REG:
		return registers_info(info);
	case AMDGPU_INFO_FW_VERSION:
		return answer(info, &fw, sizeof(fw));
	case AMDGPU_INFO_TIMESTAMP:
		value = amdgpu_amdkfd_get_gpu_clock_counter(&gpu->adev);
		return answer(info, &value, sizeof(value));
	case AMDGPU_INFO_VRAM_USAGE:
		value = ttm_resource_manager_usage(&gpu->adev.mman.vram_mgr.manager);
		return answer(info, &value, sizeof(value));
	default:
		return -EINVAL;
	}
}
