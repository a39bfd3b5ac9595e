// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Functions of amdgpu for what this GPU lacks: display, power management, RAS, XGMI links, MES,
 * amdgpu's own rings except one that moves memory (moves.c), and virtual functions. They return
 * errors or "not present"; none fakes a result.
 */
#include "gpu.h"
#include "aldebaran.h"
#include "amdgpu_atomfirmware.h"
#include "amdgpu_ctx.h"
#include "amdgpu_display.h"
#include "amdgpu_dpm.h"
#include "amdgpu_hdp.h"
#include "amdgpu_job.h"
#include "amdgpu_mca.h"
#include "amdgpu_mes.h"
#include "amdgpu_mmhub.h"
#include "amdgpu_ras.h"
#include "amdgpu_umc.h"
#include "amdgpu_virt.h"
#include "amdgpu_xgmi.h"
#include "amdgpu_cs.h"
#include "amdgpu_discovery.h"
#include "sienna_cichlid.h"
#include "smu_v13_0_10.h"

/* Other generations: a topology that names one of them is refused before it is used. */
const struct kfd2kgd_calls gfx_v7_kfd2kgd = { };
const struct kfd2kgd_calls gfx_v8_kfd2kgd = { };
const struct kfd2kgd_calls gfx_v10_kfd2kgd = { };
const struct kfd2kgd_calls gfx_v10_3_kfd2kgd = { };
const struct kfd2kgd_calls gfx_v11_kfd2kgd = { };
const struct kfd2kgd_calls gfx_v12_kfd2kgd = { };

const char *amdgpu_asic_name[] = { [0 ... CHIP_LAST] = "VGPU" };

/* A render node has no contexts, because there are no rings of amdgpu's to submit to. */
void amdgpu_ctx_mgr_usage(struct amdgpu_ctx_mgr *mgr, ktime_t usage[AMDGPU_HW_IP_NUM])
{
	memset(usage, 0, AMDGPU_HW_IP_NUM * sizeof(*usage));
}

/* Clocks in units of 10 kHz. */
int amdgpu_dpm_get_sclk(struct amdgpu_device *adev, bool low)
{
	return 210000;
}

int amdgpu_dpm_get_mclk(struct amdgpu_device *adev, bool low)
{
	return 130000;
}

u64 amdgpu_dpm_get_thermal_throttling_counter(struct amdgpu_device *adev)
{
	return 0;
}

int amdgpu_dpm_switch_power_profile(struct amdgpu_device *adev, enum PP_SMC_POWER_PROFILE type,
				    bool en)
{
	return 0;
}

void amdgpu_gfx_off_ctrl(struct amdgpu_device *adev, bool enable)
{
}

void amdgpu_gfx_rlc_enter_safe_mode(struct amdgpu_device *adev, int xcc_id)
{
}

void amdgpu_gfx_rlc_exit_safe_mode(struct amdgpu_device *adev, int xcc_id)
{
}

/* Reads and writes of the chip are never posted: there is nothing to flush. */
void amdgpu_device_flush_hdp(struct amdgpu_device *adev, struct amdgpu_ring *ring)
{
	mb();
}

bool amdgpu_device_skip_hw_access(struct amdgpu_device *adev)
{
	return false;
}

struct amdgpu_ip_block *amdgpu_device_ip_get_ip_block(struct amdgpu_device *adev,
						      enum amd_ip_block_type type)
{
	return NULL;
}

int amdgpu_device_ip_wait_for_idle(struct amdgpu_device *adev, enum amd_ip_block_type type)
{
	return 0;
}

bool amdgpu_device_has_display_hardware(struct amdgpu_device *adev)
{
	return false;
}

u32 amdgpu_display_supported_domains(struct amdgpu_device *adev, u64 bo_flags)
{
	return AMDGPU_GEM_DOMAIN_GTT;
}

bool amdgpu_device_is_peer_accessible(struct amdgpu_device *adev, struct amdgpu_device *peer)
{
	return true;
}

struct dma_fence *amdgpu_device_get_gang(struct amdgpu_device *adev)
{
	return dma_fence_get_stub();
}

/* All of VRAM is visible to the CPU. */
size_t amdgpu_device_aper_access(struct amdgpu_device *adev, loff_t pos, void *buf, size_t size,
				 bool write)
{
	void __iomem *at = adev->mman.aper_base_kaddr + pos;

	if (pos >= adev->gmc.visible_vram_size)
		return 0;
	size = min_t(u64, size, adev->gmc.visible_vram_size - pos);
	if (write)
		memcpy_toio(at, buf, size);
	else
		memcpy_fromio(buf, at, size);
	return size;
}

void amdgpu_device_vram_access(struct amdgpu_device *adev, loff_t pos, void *buf, size_t size,
			       bool write)
{
	amdgpu_device_aper_access(adev, pos, buf, size, write);
}

void amdgpu_device_mm_access(struct amdgpu_device *adev, loff_t pos, void *buf, size_t size,
			     bool write)
{
	amdgpu_device_aper_access(adev, pos, buf, size, write);
}

int amdgpu_device_wb_get(struct amdgpu_device *adev, u32 *wb)
{
	return -ENOSPC;
}

void amdgpu_device_wb_free(struct amdgpu_device *adev, u32 wb)
{
}

int amdgpu_atomfirmware_get_fw_reserved_fb_size(struct amdgpu_device *adev)
{
	return 0;
}

bool amdgpu_atomfirmware_mem_training_supported(struct amdgpu_device *adev)
{
	return false;
}

int amdgpu_discovery_get_nps_info(struct amdgpu_device *adev, u32 *nps_type,
				  struct amdgpu_gmc_memrange **ranges, int *range_cnt)
{
	return -EINVAL;
}

void amdgpu_cs_report_moved_bytes(struct amdgpu_device *adev, u64 num_bytes, u64 num_vis_bytes)
{
}

/* --- RAS --- */

struct amdgpu_ras *amdgpu_ras_get_context(struct amdgpu_device *adev)
{
	return NULL;
}

bool amdgpu_ras_get_fed_status(struct amdgpu_device *adev)
{
	return false;
}

u64 amdgpu_ras_acquire_event_id(struct amdgpu_device *adev, enum ras_event_type type)
{
	return 0;
}

int amdgpu_ras_mark_ras_event_caller(struct amdgpu_device *adev, enum ras_event_type type,
				     const void *caller)
{
	return 0;
}

void amdgpu_ras_event_log_print(struct amdgpu_device *adev, u64 event_id, const char *fmt, ...)
{
}

void amdgpu_ras_interrupt_fatal_error_handler(struct amdgpu_device *adev)
{
}

int amdgpu_umc_pasid_poison_handler(struct amdgpu_device *adev, enum amdgpu_ras_block block,
				    u16 pasid, pasid_notify pasid_fn, void *data, u32 reset)
{
	return -EOPNOTSUPP;
}

int amdgpu_umc_ras_sw_init(struct amdgpu_device *adev)
{
	return 0;
}

int amdgpu_mmhub_ras_sw_init(struct amdgpu_device *adev)
{
	return 0;
}

int amdgpu_hdp_ras_sw_init(struct amdgpu_device *adev)
{
	return 0;
}

int amdgpu_mca_mp0_ras_sw_init(struct amdgpu_device *adev)
{
	return 0;
}

int amdgpu_mca_mp1_ras_sw_init(struct amdgpu_device *adev)
{
	return 0;
}

int amdgpu_mca_mpio_ras_sw_init(struct amdgpu_device *adev)
{
	return 0;
}

int amdgpu_xgmi_ras_sw_init(struct amdgpu_device *adev)
{
	return 0;
}

/* --- XGMI --- */

int amdgpu_xgmi_get_hops_count(struct amdgpu_device *adev, struct amdgpu_device *peer)
{
	return -EINVAL;
}

int amdgpu_xgmi_get_num_links(struct amdgpu_device *adev, struct amdgpu_device *peer)
{
	return -EINVAL;
}

int amdgpu_xgmi_set_pstate(struct amdgpu_device *adev, int pstate)
{
	return 0;
}

/* --- MES --- */

int amdgpu_mes_doorbell_process_slice(struct amdgpu_device *adev)
{
	return PAGE_SIZE * 2;
}

int amdgpu_mes_flush_shader_debugger(struct amdgpu_device *adev, u64 process_context_addr)
{
	return -EOPNOTSUPP;
}

int amdgpu_mes_set_shader_debugger(struct amdgpu_device *adev, u64 process_context_addr,
				   u32 spi_gdbg_per_vmid_cntl, const u32 *tcp_watch_cntl,
				   u32 flags, bool trap_en)
{
	return -EOPNOTSUPP;
}

int amdgpu_mes_suspend(struct amdgpu_device *adev)
{
	return -EOPNOTSUPP;
}

int amdgpu_mes_resume(struct amdgpu_device *adev)
{
	return -EOPNOTSUPP;
}

int amdgpu_mes_reg_write_reg_wait(struct amdgpu_device *adev, u32 reg0, u32 reg1, u32 ref,
				  u32 mask)
{
	return -EOPNOTSUPP;
}

/* --- rings and jobs --- */

int amdgpu_ib_schedule(struct amdgpu_ring *ring, unsigned int num_ibs, struct amdgpu_ib *ibs,
		       struct amdgpu_job *job, struct dma_fence **f)
{
	return -ENODEV;
}

int amdgpu_fence_emit(struct amdgpu_ring *ring, struct dma_fence **fence, struct amdgpu_job *job,
		      unsigned int flags)
{
	return -ENODEV;
}

int amdgpu_fence_emit_polling(struct amdgpu_ring *ring, u32 *s, u32 timeout)
{
	return -ENODEV;
}

signed long amdgpu_fence_wait_polling(struct amdgpu_ring *ring, u32 wait_seq, signed long timeout)
{
	return 0;
}

int amdgpu_fence_wait_empty(struct amdgpu_ring *ring)
{
	return 0;
}

unsigned int amdgpu_fence_count_emitted(struct amdgpu_ring *ring)
{
	return 0;
}

bool amdgpu_ring_sched_ready(struct amdgpu_ring *ring)
{
	return ring && ring->sched.ready;
}

void amdgpu_ring_ib_begin(struct amdgpu_ring *ring)
{
}

void amdgpu_ring_ib_end(struct amdgpu_ring *ring)
{
}

/* --- virtual functions, resets of other chips --- */

u32 amdgpu_sriov_rreg(struct amdgpu_device *adev, u32 offset, u32 acc_flags, u32 hwip, u32 xcc_id)
{
	return 0;
}

void amdgpu_sriov_wreg(struct amdgpu_device *adev, u32 offset, u32 value, u32 acc_flags, u32 hwip,
		       u32 xcc_id)
{
}

bool amdgpu_sriov_xnack_support(struct amdgpu_device *adev)
{
	return true;
}

int aldebaran_reset_init(struct amdgpu_device *adev)
{
	return 0;
}

int aldebaran_reset_fini(struct amdgpu_device *adev)
{
	return 0;
}

int sienna_cichlid_reset_init(struct amdgpu_device *adev)
{
	return 0;
}

int sienna_cichlid_reset_fini(struct amdgpu_device *adev)
{
	return 0;
}

int smu_v13_0_10_reset_init(struct amdgpu_device *adev)
{
	return 0;
}

int smu_v13_0_10_reset_fini(struct amdgpu_device *adev)
{
	return 0;
}

/* --- numbers of queues, as amdgpu_gfx.c counts them --- */

void amdgpu_queue_mask_bit_to_mec_queue(struct amdgpu_device *adev, int bit, int *mec, int *pipe,
					int *queue)
{
	int per_pipe = adev->gfx.mec.num_queue_per_pipe;
	int per_mec = per_pipe * adev->gfx.mec.num_pipe_per_mec;

	*queue = bit % per_pipe;
	*pipe = bit / per_pipe % adev->gfx.mec.num_pipe_per_mec;
	*mec = bit / per_mec;
}

int amdgpu_queue_mask_bit_to_set_resource_bit(struct amdgpu_device *adev, int queue_bit)
{
	int mec, pipe, queue;

	amdgpu_queue_mask_bit_to_mec_queue(adev, queue_bit, &mec, &pipe, &queue);
	return mec * 4 * 8 + pipe * 8 + queue;
}
