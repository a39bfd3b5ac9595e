// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The properties that IP discovery and the video BIOS report for each kind of GPU. This file
 * has only what the driver reads and puts into its topology. vgpu's facts of the same name
 * describe the behaviour of the chip.
 */
#include "gpu.h"
#include "amdgpu_smuio.h"

static const struct lab_profile profiles[] = {
	{
		.name = "mi308x", .product = "AMD Instinct MI308X (a model)",
		.device_id = 0x74a2, .rev_id = 1,
		.gc_version = IP_VERSION(9, 4, 3), .sdma_version = IP_VERSION(4, 4, 2),
		.xccs = 4, .engines = 4, .arrays_per_engine = 1, .cus_per_array = 10,
		.cus_on = 20, .sdma_engines = 16, .lds_kib = 64,
		.l1_kib = 32, .instruction_kib = 64, .l2_kib = 4096, .mall_mib = 256,
	}, {
		.name = "mi300x", .product = "AMD Instinct MI300X (a model)",
		.device_id = 0x74a1, .rev_id = 1,
		.gc_version = IP_VERSION(9, 4, 3), .sdma_version = IP_VERSION(4, 4, 2),
		.xccs = 8, .engines = 4, .arrays_per_engine = 1, .cus_per_array = 10,
		.cus_on = 38, .sdma_engines = 16, .lds_kib = 64,
		.l1_kib = 32, .instruction_kib = 64, .l2_kib = 4096, .mall_mib = 256,
	}, {
		.name = "mi210", .product = "AMD Instinct MI210 (a model)",
		.device_id = 0x740f, .rev_id = 2,
		.gc_version = IP_VERSION(9, 4, 2), .sdma_version = IP_VERSION(4, 4, 0),
		.xccs = 1, .engines = 8, .arrays_per_engine = 1, .cus_per_array = 16,
		.cus_on = 104, .sdma_engines = 5, .lds_kib = 64,
		.l1_kib = 16, .instruction_kib = 32, .l2_kib = 8192,
	},
};

const struct lab_profile *lab_profile_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++) {
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	}
	return NULL;
}

static enum amdgpu_pkg_type package_type(struct amdgpu_device *adev)
{
	return AMDGPU_PKG_TYPE_OAM;
}

static const struct amdgpu_smuio_funcs smuio_funcs = { .get_pkg_type = package_type };

static u64 clock_counter(struct amdgpu_device *adev)
{
	return div_u64(lab_clock_now(&lab_gpu(adev)->clock), 10);
}

static void select_se_sh(struct amdgpu_device *adev, u32 se, u32 sh, u32 instance, int xcc)
{
	lab_gpu(adev)->select[xcc].engine = se;
}

static const struct amdgpu_gfx_funcs gfx_funcs = {
	.get_gpu_clock_counter = clock_counter,
	.select_se_sh = select_se_sh,
};

/* Sets the active CUs, spread evenly over the engines of each XCC. */
static void apply_cus(struct amdgpu_device *adev, const struct lab_profile *p)
{
	struct amdgpu_cu_info *info = &adev->gfx.cu_info;
	u32 xcc, se, cus;

	info->number = p->cus_on * p->xccs;
	info->max_waves_per_simd = 8;
	info->wave_front_size = 64;
	info->simd_per_cu = 4;
	info->max_scratch_slots_per_cu = 32;
	info->lds_size = p->lds_kib;
	/* amdgpu keeps at most four engines to a row of bitmaps; more go to the next row. */
	for (xcc = 0; xcc < p->xccs; xcc++) {
		for (se = 0; se < p->engines; se++) {
			cus = p->cus_on / p->engines + (se < p->cus_on % p->engines);
			info->bitmap[xcc][se % 4][se / 4] = GENMASK(cus - 1, 0);
		}
	}
}

/* Sizes in KiB except L2 and MALL; all XCCs alike. Read in AMD's white papers of CDNA 2 and 3. */
static void apply_caches(struct amdgpu_device *adev, const struct lab_profile *p)
{
	struct amdgpu_gfx_config *c = &adev->gfx.config;

	c->gc_tcp_size_per_cu = p->l1_kib;
	c->gc_l1_instruction_cache_size_per_sqc = p->instruction_kib;
	c->gc_l1_data_cache_size_per_sqc = 16;
	c->gc_num_cu_per_sqc = 2;
	c->gc_tcc_size = p->l2_kib;
	adev->gmc.mall_size = (u64)p->mall_mib << 20;
}

static void apply_queues(struct amdgpu_device *adev)
{
	u32 xcc, i;

	adev->gfx.mec.num_mec = 2;
	adev->gfx.mec.num_pipe_per_mec = 4;
	adev->gfx.mec.num_queue_per_pipe = 8;
	/* amdgpu's own compute rings: the first queues of every pipe. */
	for (xcc = 0; xcc < adev->gfx.num_xcc_per_xcp; xcc++) {
		for (i = 0; i < lab_num_kcq; i++)
			set_bit(i % 4 * 8 + i / 4, adev->gfx.mec_bitmap[xcc].queue_bitmap);
	}
	adev->gfx.num_compute_rings = lab_num_kcq;
}

static void apply_doorbells(struct amdgpu_device *adev, const struct lab_profile *p)
{
	struct amdgpu_doorbell_index *d = &adev->doorbell_index;
	u32 i;

	d->kiq = AMDGPU_DOORBELL_LAYOUT1_KIQ_START;
	d->mec_ring0 = AMDGPU_DOORBELL_LAYOUT1_MEC_RING_START;
	d->userqueue_start = AMDGPU_DOORBELL_LAYOUT1_USERQUEUE_START;
	d->userqueue_end = AMDGPU_DOORBELL_LAYOUT1_USERQUEUE_END;
	d->xcc_doorbell_range = AMDGPU_DOORBELL_LAYOUT1_XCC_RANGE;
	d->sdma_doorbell_range = 20;
	for (i = 0; i < p->sdma_engines; i++)
		d->sdma_engine[i] = AMDGPU_DOORBELL_LAYOUT1_sDMA_ENGINE_START +
				    i * (d->sdma_doorbell_range >> 1);
	d->ih = AMDGPU_DOORBELL_LAYOUT1_IH;
	d->first_non_cp = AMDGPU_DOORBELL_LAYOUT1_FIRST_NON_CP;
	d->last_non_cp = AMDGPU_DOORBELL_LAYOUT1_LAST_NON_CP;
	d->max_assignment = AMDGPU_DOORBELL_LAYOUT1_MAX_ASSIGNMENT << 1;
	adev->doorbell.num_kernel_doorbells = d->max_assignment + 1 + 0x400;
}

void lab_profile_apply(struct lab_gpu *gpu)
{
	const struct lab_profile *p = gpu->profile;
	struct amdgpu_device *adev = &gpu->adev;
	u32 i;

	adev->asic_type = p->xccs > 1 ? CHIP_IP_DISCOVERY : CHIP_ALDEBARAN;
	adev->family = AMDGPU_FAMILY_AI;
	adev->rev_id = p->rev_id;
	adev->external_rev_id = p->rev_id;
	for (i = 0; i < p->xccs; i++)
		adev->ip_versions[GC_HWIP][i] = p->gc_version;
	for (i = 0; i < p->sdma_engines; i++)
		adev->ip_versions[SDMA0_HWIP][i] = p->sdma_version;
	adev->ip_versions[MMHUB_HWIP][0] = IP_VERSION(1, 8, 0);
	adev->ip_versions[MP1_HWIP][0] = IP_VERSION(13, 0, 6);

	adev->gfx.xcc_mask = GENMASK(p->xccs - 1, 0);
	adev->gfx.num_xcc_per_xcp = p->xccs;
	adev->gfx.funcs = &gfx_funcs;
	adev->gfx.config.max_shader_engines = p->engines;
	adev->gfx.config.max_sh_per_se = p->arrays_per_engine;
	adev->gfx.config.max_cu_per_sh = p->cus_per_array;
	adev->gfx.config.max_tile_pipes = 16;
	adev->gfx.mec_fw_version = 200;
	adev->gfx.mec2_fw_version = 200;
	apply_cus(adev, p);
	apply_caches(adev, p);
	apply_queues(adev);
	apply_doorbells(adev, p);

	adev->sdma.num_instances = p->sdma_engines;
	adev->sdma.sdma_mask = GENMASK(p->sdma_engines - 1, 0);
	for (i = 0; i < p->sdma_engines; i++)
		adev->sdma.instance[i].fw_version = 30;
	adev->gds.gws_size = 64;
	adev->gds.gds_size = 0;
	adev->smuio.funcs = &smuio_funcs;
	adev->pm.dpm_enabled = true;
	adev->have_atomics_support = true;
	adev->unique_id = 0x6770726565000000ull + gpu->adev.ddev.primary->index;
}
