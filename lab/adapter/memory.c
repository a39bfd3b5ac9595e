// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory: places of VRAM, GART and doorbells, and the format of page-table entries.
 *
 * The BAR of the PCI device is VRAM with the doorbell aperture at its end. All of it is visible
 * to the CPU, so the CPU writes page tables, as in the driver for compute on machines with a
 * large BAR.
 */
#include "gpu.h"
#include "amdgpu_gmc.h"
#include "amdgpu_vm.h"
#include "vega10_enum.h"

enum { VA_BITS = 48, LEVELS = 3, BLOCK_BITS = 9 };

#define LAB_GART_BYTES	(512ull << 20)

/*
 * Every access of the chip walks the tables again with the lock held. So taking the lock once
 * is a flush: later accesses see the new tables.
 */
static void flush_gpu_tlb(struct amdgpu_device *adev, u32 vmid, u32 vmhub, u32 flush_type)
{
	struct lab_gpu *gpu = lab_gpu(adev);

	spin_lock(&gpu->lock);
	spin_unlock(&gpu->lock);
}

static void flush_gpu_tlb_pasid(struct amdgpu_device *adev, u16 pasid, u32 flush_type,
				bool all_hub, u32 inst)
{
	flush_gpu_tlb(adev, 0, 0, flush_type);
}

static u64 map_mtype(struct amdgpu_device *adev, u32 flags)
{
	switch (flags) {
	case AMDGPU_VM_MTYPE_WC:
		return AMDGPU_PTE_MTYPE_VG10(0ull, MTYPE_WC);
	case AMDGPU_VM_MTYPE_RW:
		return AMDGPU_PTE_MTYPE_VG10(0ull, MTYPE_RW);
	case AMDGPU_VM_MTYPE_CC:
		return AMDGPU_PTE_MTYPE_VG10(0ull, MTYPE_CC);
	case AMDGPU_VM_MTYPE_UC:
		return AMDGPU_PTE_MTYPE_VG10(0ull, MTYPE_UC);
	default:
		return AMDGPU_PTE_MTYPE_VG10(0ull, MTYPE_NC);
	}
}

static void get_vm_pde(struct amdgpu_device *adev, int level, u64 *address, u64 *flags)
{
	if (!(*flags & (AMDGPU_PDE_PTE | AMDGPU_PTE_SYSTEM)))
		*address = amdgpu_gmc_vram_mc2pa(adev, *address);
}

/* Memory types are kept but have no effect, because there are no caches. */
static void get_vm_pte(struct amdgpu_device *adev, struct amdgpu_bo_va_mapping *mapping, u64 *flags)
{
	const u64 own = AMDGPU_PTE_EXECUTABLE | AMDGPU_PTE_MTYPE_VG10_MASK;

	*flags = (*flags & ~own) | (mapping->flags & own);
	if (mapping->flags & AMDGPU_PTE_PRT) {
		*flags |= AMDGPU_PTE_PRT;
		*flags &= ~AMDGPU_PTE_VALID;
	}
}

static enum amdgpu_memory_partition query_mem_partition_mode(struct amdgpu_device *adev)
{
	return AMDGPU_NPS1_PARTITION_MODE;
}

static const struct amdgpu_gmc_funcs gmc_funcs = {
	.flush_gpu_tlb = flush_gpu_tlb,
	.flush_gpu_tlb_pasid = flush_gpu_tlb_pasid,
	.map_mtype = map_mtype,
	.get_vm_pde = get_vm_pde,
	.get_vm_pte = get_vm_pte,
	.query_mem_partition_mode = query_mem_partition_mode,
};

static void place(struct lab_gpu *gpu)
{
	struct amdgpu_device *adev = &gpu->adev;
	struct amdgpu_gmc *gmc = &adev->gmc;
	resource_size_t bar = pci_resource_len(adev->pdev, 2);

	gpu->vram_bytes = bar - LAB_DOORBELL_BYTES;
	gmc->aper_base = pci_resource_start(adev->pdev, 2);
	gmc->aper_size = gpu->vram_bytes;
	gmc->mc_vram_size = gpu->vram_bytes;
	gmc->real_vram_size = gpu->vram_bytes;
	gmc->visible_vram_size = gpu->vram_bytes;
	gmc->vram_width = 8192;
	gmc->vram_type = AMDGPU_VRAM_TYPE_HBM;
	gmc->mc_mask = GENMASK_ULL(VA_BITS - 1, 0);
	gmc->gmc_funcs = &gmc_funcs;
	gmc->noretry = amdgpu_noretry != 0;
	gmc->xgmi.supported = gpu->profile->xccs > 1;
	gmc->shared_aperture_start = 0x2000000000000000ull;
	gmc->shared_aperture_end = gmc->shared_aperture_start + SZ_4G - 1;
	gmc->private_aperture_start = 0x1000000000000000ull;
	gmc->private_aperture_end = gmc->private_aperture_start + SZ_4G - 1;
	gmc->vm_fault_info = NULL;
	spin_lock_init(&gmc->invalidate_lock);
	gmc->gart_size = LAB_GART_BYTES;
	amdgpu_gmc_vram_location(adev, gmc, 0x8000000000ull);
	amdgpu_gmc_gart_location(adev, gmc, AMDGPU_GART_PLACEMENT_BEST_FIT);

	adev->doorbell.base = gmc->aper_base + gpu->vram_bytes;
	/* The last page stands in for the registers by which user space flushes HDP. */
	adev->doorbell.size = LAB_DOORBELL_BYTES - PAGE_SIZE;
	adev->rmmio_remap.bus_addr = adev->doorbell.base + adev->doorbell.size;
	adev->vm_manager.first_kfd_vmid = 3;
	set_bit(AMDGPU_GFXHUB(0), adev->vmhubs_mask);
}

static int gart_init(struct amdgpu_device *adev)
{
	int r;

	r = amdgpu_gart_init(adev);
	if (r)
		return r;
	adev->gart.table_size = adev->gart.num_gpu_pages * 8;
	adev->gart.gart_pte_flags = AMDGPU_PTE_MTYPE_VG10(0ull, MTYPE_UC) | AMDGPU_PTE_EXECUTABLE;
	r = amdgpu_gart_table_vram_alloc(adev);
	if (r)
		return r;
	amdgpu_gtt_mgr_recover(&adev->mman.gtt_mgr);
	return 0;
}

int lab_memory_init(struct lab_gpu *gpu)
{
	struct amdgpu_device *adev = &gpu->adev;
	int r;

	place(gpu);
	r = dma_set_mask_and_coherent(adev->dev, DMA_BIT_MASK(VA_BITS));
	if (r)
		return r;
	gpu->doorbells = (u64 __force *)ioremap(adev->doorbell.base, LAB_DOORBELL_BYTES);
	if (!gpu->doorbells)
		return -ENOMEM;
	memset_io((void __iomem __force *)gpu->doorbells, 0, LAB_DOORBELL_BYTES);

	amdgpu_vm_adjust_size(adev, 1 << (VA_BITS - 30), BLOCK_BITS, LEVELS, VA_BITS);
	amdgpu_vm_manager_init(adev);
	r = amdgpu_bo_init(adev);
	if (r)
		return r;
	gpu->vram = (void __force *)adev->mman.aper_base_kaddr;
	r = gart_init(adev);
	return r ? r : lab_moves_init(gpu);
}

void lab_memory_fini(struct lab_gpu *gpu)
{
	struct amdgpu_device *adev = &gpu->adev;

	if (adev->mman.initialized) {
		lab_moves_fini(gpu);
		amdgpu_gart_table_vram_free(adev);
		amdgpu_doorbell_fini(adev);
		amdgpu_bo_fini(adev);
		amdgpu_vm_manager_fini(adev);
	}
	if (gpu->doorbells)
		iounmap((void __iomem __force *)gpu->doorbells);
	gpu->doorbells = NULL;
}
