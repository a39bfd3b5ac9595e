// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Registers. The driver's own register layer (gfx_v9, gc_9_4_3, aldebaran) runs unmodified and
 * accesses registers through the two functions at the end. Registers that show the state of the
 * chip are handled here; all others read back the last value written.
 *
 * Every block of the chip has its place in one map of dword offsets, so an offset gives the
 * block, the instance and the segment. Only the first XCC must be at the offset of real parts,
 * because WRITE_DATA has 18 bits for an offset.
 */
#include "gpu.h"
#include "record.h"
#include "gc/gc_9_0_offset.h"
#include "gc/gc_9_0_sh_mask.h"
#include "athub/athub_1_8_0_offset.h"
#include "sdma/sdma_4_4_2_offset.h"
#include "sdma/sdma_4_4_2_sh_mask.h"
#include "soc15.h"
#include "soc15_common.h"

enum {
	SEGMENTS	= 6,
	BLOCK_SHIFT	= 24,
	INSTANCE_SHIFT	= 19,
	SEGMENT_SHIFT	= 16,
	GC_SEGMENT0	= 0x2000,	/* of the first XCC */
	GC_SEGMENT1	= 0xa000,
	HIQ_PIPE	= 4,		/* the chip's number for MEC 2, pipe 0 */
};

static u32 bases[MAX_HWIP][HWIP_MAX_INSTANCE][SEGMENTS];

static void map_blocks(void)
{
	u32 ip, instance, segment;

	for (ip = 0; ip < MAX_HWIP; ip++) {
		for (instance = 0; instance < HWIP_MAX_INSTANCE; instance++) {
			for (segment = 0; segment < SEGMENTS; segment++)
				bases[ip][instance][segment] = ip << BLOCK_SHIFT |
					instance << INSTANCE_SHIFT | segment << SEGMENT_SHIFT;
		}
	}
	bases[GC_HWIP][0][0] = GC_SEGMENT0;
	bases[GC_HWIP][0][1] = GC_SEGMENT1;
}

int lab_registers_init(struct lab_gpu *gpu)
{
	u32 ip, instance;

	xa_init(&gpu->registers);
	if (!bases[GC_HWIP][0][0])
		map_blocks();
	for (ip = 0; ip < MAX_HWIP; ip++) {
		for (instance = 0; instance < HWIP_MAX_INSTANCE; instance++)
			gpu->adev.reg_offset[ip][instance] = bases[ip][instance];
	}
	return 0;
}

void lab_registers_fini(struct lab_gpu *gpu)
{
	xa_destroy(&gpu->registers);
}

u32 lab_register_of_wait_time2(struct lab_gpu *gpu)
{
	return bases[GC_HWIP][0][mmCP_IQ_WAIT_TIME2_BASE_IDX] + mmCP_IQ_WAIT_TIME2;
}

/* Finds the offset of @reg in segment @segment of an XCC, and the XCC in @xcc. */
static bool in_gc(u32 reg, u32 segment, u32 *offset, u32 *xcc)
{
	if (segment == 0 && reg >= GC_SEGMENT0 && reg < GC_SEGMENT1) {
		*xcc = 0;
		*offset = reg - GC_SEGMENT0;
		return true;
	}
	if (reg >> BLOCK_SHIFT != GC_HWIP ||
	    ((reg >> SEGMENT_SHIFT) & (BIT(INSTANCE_SHIFT - SEGMENT_SHIFT) - 1)) != segment)
		return false;
	*xcc = (reg >> INSTANCE_SHIFT) & (BIT(BLOCK_SHIFT - INSTANCE_SHIFT) - 1);
	*offset = reg & (BIT(SEGMENT_SHIFT) - 1);
	return *xcc < LAB_MAX_XCCS;
}

static u32 pipe_of(const struct lab_select *s)
{
	return s->me == 2 ? HIQ_PIPE + s->pipe : s->pipe;
}

/*
 * The wave counters are per shader engine and the driver adds them up, so the first engine of
 * an XCC shows all its waves.
 */
static bool read_spi(struct lab_gpu *gpu, u32 offset, u32 xcc, u32 *ret)
{
	const struct lab_select *s = &gpu->select[xcc];
	u32 pipe, queue;

	if (offset == mmSPI_CSQ_WF_ACTIVE_STATUS) {
		for (*ret = 0, pipe = 0; s->engine == 0 && pipe < 4; pipe++) {
			for (queue = 0; queue < 8; queue++)
				if (vgpu_chip_waves(gpu->chip, xcc, pipe, queue))
					*ret |= BIT(pipe * 8 + queue);
		}
		return true;
	}
	if (offset >= mmSPI_CSQ_WF_ACTIVE_COUNT_0 && offset < mmSPI_CSQ_WF_ACTIVE_COUNT_0 + 8) {
		queue = offset - mmSPI_CSQ_WF_ACTIVE_COUNT_0;
		*ret = s->engine == 0 ? vgpu_chip_waves(gpu->chip, xcc, pipe_of(s), queue) : 0;
		return true;
	}
	return false;
}

static bool read_chip(struct lab_gpu *gpu, u32 reg, u32 *ret)
{
	const struct lab_select *s;
	u32 offset, xcc;

	if (reg == bases[ATHUB_HWIP][0][regATC_VMID_PASID_MAPPING_UPDATE_STATUS_BASE_IDX] +
		   regATC_VMID_PASID_MAPPING_UPDATE_STATUS) {
		*ret = ~0u;
		return true;
	}
	if (reg >> BLOCK_SHIFT == SDMA0_HWIP && (reg & 0xffff) % 0x58 ==
	    regSDMA_RLC0_CONTEXT_STATUS % 0x58) {
		*ret = SDMA_RLC0_CONTEXT_STATUS__IDLE_MASK;
		return true;
	}
	if (!in_gc(reg, 0, &offset, &xcc))
		return false;
	s = &gpu->select[xcc];
	if (offset == mmCP_IQ_WAIT_TIME2) {
		*ret = vgpu_chip_iq_wait_time2(gpu->chip);
		return true;
	}
	if (offset >= mmCP_MQD_BASE_ADDR && offset < mmCP_MQD_BASE_ADDR + VGPU_HQD_REGISTERS) {
		*ret = lab_chip_hqd(gpu, xcc, pipe_of(s), s->queue, offset - mmCP_MQD_BASE_ADDR);
		return true;
	}
	return read_spi(gpu, offset, xcc, ret);
}

static bool write_chip(struct lab_gpu *gpu, u32 reg, u32 value)
{
	const struct lab_select *s;
	u32 offset, xcc;

	if (!in_gc(reg, 0, &offset, &xcc))
		return false;
	s = &gpu->select[xcc];
	if (offset == mmSPI_COMPUTE_QUEUE_RESET && value & 1) {
		lab_chip_slot_reset(gpu, xcc, pipe_of(s), s->queue,
				    lab_clock_now(&gpu->clock));
		return true;
	}
	return false;
}

void soc15_grbm_select(struct amdgpu_device *adev, u32 me, u32 pipe, u32 queue, u32 vmid, int xcc)
{
	struct lab_select *s = &lab_gpu(adev)->select[xcc];

	s->me = me;
	s->pipe = pipe;
	s->queue = queue;
	s->vmid = vmid;
}

u32 amdgpu_device_rreg(struct amdgpu_device *adev, u32 reg, u32 acc_flags)
{
	struct lab_gpu *gpu = lab_gpu(adev);
	u32 value;
	bool known;

	spin_lock(&gpu->lock);
	known = gpu->chip && read_chip(gpu, reg, &value);
	spin_unlock(&gpu->lock);
	if (known)
		return value;
	return xa_to_value(xa_load(&gpu->registers, reg) ?: xa_mk_value(0));
}

void amdgpu_device_wreg(struct amdgpu_device *adev, u32 reg, u32 value, u32 acc_flags)
{
	struct lab_gpu *gpu = lab_gpu(adev);
	bool known;

	spin_lock(&gpu->lock);
	known = gpu->chip && write_chip(gpu, reg, value);
	spin_unlock(&gpu->lock);
	if (!known)
		xa_store(&gpu->registers, reg, xa_mk_value(value), GFP_ATOMIC);
}

void amdgpu_device_xcc_wreg(struct amdgpu_device *adev, u32 reg, u32 value, u32 acc_flags, u32 xcc)
{
	amdgpu_device_wreg(adev, reg, value, acc_flags);
}
