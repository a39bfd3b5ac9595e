// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Interrupts: converts those of the chip to entries of the driver's IH ring, which the driver's
 * own handler reads. The chip raises them while its lock is held, and the thread calls the
 * handler after that.
 */
#include "gpu.h"
#include "amdgpu_ih.h"
#include "soc15_ih_clientid.h"
#include "ivsrcid/gfx/irqsrcs_gfx_9_0.h"
#include "ivsrcid/sdma0/irqsrcs_sdma0_4_0.h"
#include "ivsrcid/vmc/irqsrcs_vmc_1_0.h"

enum { RING_BYTES = 256 << 10, ENTRY_DWORDS = 8, ME1 = 1 };

static u32 get_wptr(struct amdgpu_device *adev, struct amdgpu_ih_ring *ih)
{
	return le32_to_cpu(READ_ONCE(*ih->wptr_cpu)) & ih->ptr_mask;
}

static void set_rptr(struct amdgpu_device *adev, struct amdgpu_ih_ring *ih)
{
	WRITE_ONCE(*ih->rptr_cpu, ih->rptr);
}

static u64 decode_iv_ts(struct amdgpu_ih_ring *ih, u32 rptr, signed int offset)
{
	return amdgpu_ih_decode_iv_ts_helper(ih, rptr, offset);
}

static const struct amdgpu_ih_funcs ih_funcs = {
	.get_wptr = get_wptr,
	.decode_iv = amdgpu_ih_decode_iv_helper,
	.decode_iv_ts = decode_iv_ts,
	.set_rptr = set_rptr,
};

int lab_interrupt_init(struct lab_gpu *gpu)
{
	struct amdgpu_device *adev = &gpu->adev;
	int r;

	spin_lock_init(&adev->irq.lock);
	adev->irq.ih_funcs = &ih_funcs;
	r = amdgpu_ih_ring_init(adev, &adev->irq.ih, RING_BYTES, true);
	if (r)
		return r;
	memset((void *)adev->irq.ih.ring, 0, RING_BYTES + 8);
	adev->irq.ih.enabled = true;
	adev->irq.installed = true;
	return 0;
}

void lab_interrupt_fini(struct lab_gpu *gpu)
{
	gpu->adev.irq.ih.enabled = false;
	amdgpu_ih_ring_fini(&gpu->adev, &gpu->adev.irq.ih);
}

/*
 * Sets client and source id. Nodes with several XCCs also have a node id, where 1 of every
 * group of 4 is the first XCC of an AID.
 */
static void identify(const struct lab_gpu *gpu, const struct vgpu_interrupt *irq, u32 *entry)
{
	static const u8 sdma[] = { SOC15_IH_CLIENTID_SDMA0, SOC15_IH_CLIENTID_SDMA1,
				   SOC15_IH_CLIENTID_SDMA2, SOC15_IH_CLIENTID_SDMA3 };
	u32 client = SOC15_IH_CLIENTID_GRBM_CP, source = GFX_9_0__SRCID__CP_EOP_INTERRUPT;
	u32 node = irq->xcc / 2 * 4 + irq->xcc % 2 + 1;

	switch (irq->kind) {
	case VGPU_IRQ_SDMA_TRAP:
		client = sdma[irq->engine % ARRAY_SIZE(sdma)];
		source = SDMA0_4_0__SRCID__SDMA_TRAP;
		node = irq->engine / ARRAY_SIZE(sdma) * 4;
		break;
	case VGPU_IRQ_BAD_PACKET:
		source = GFX_9_0__SRCID__CP_BAD_OPCODE_ERROR;
		break;
	case VGPU_IRQ_FAULT:
		client = SOC15_IH_CLIENTID_VMC;
		source = VMC_1_0__SRCID__VM_FAULT;
		break;
	}
	if (gpu->profile->xccs == 1)
		node = 0;
	entry[0] = client | source << 8 | (ME1 << 2) << 16 | (u32)irq->vmid << 24;
	entry[3] = irq->pasid | node << 16;
}

/* The ring is as long as the real one, so an overflow loses entries here too. */
void lab_interrupt_raise(void *ctx, const struct vgpu_interrupt *irq)
{
	struct lab_gpu *gpu = ctx;
	struct amdgpu_ih_ring *ih = &gpu->adev.irq.ih;
	u64 ticks = div_u64(lab_clock_now(&gpu->clock), 10);
	u32 entry[ENTRY_DWORDS] = { 0 }, before = *ih->wptr_cpu;

	identify(gpu, irq, entry);
	entry[1] = lower_32_bits(ticks);
	entry[2] = upper_32_bits(ticks) & 0xffff;
	switch (irq->kind) {
	case VGPU_IRQ_FAULT:
		entry[4] = lower_32_bits(irq->address >> PAGE_SHIFT);
		entry[5] = (upper_32_bits(irq->address >> PAGE_SHIFT) & 0xf) |
			   (irq->write ? 0x20 : 0);
		break;
	case VGPU_IRQ_BAD_PACKET:
		entry[4] = irq->doorbell;
		break;
	default:
		entry[4] = irq->context;
		break;
	}
	amdgpu_ih_ring_write(&gpu->adev, ih, entry, ENTRY_DWORDS);
	gpu->interrupts_lost += *ih->wptr_cpu == before;
}

/* Calls the handler with interrupts off, as in a real interrupt. */
void lab_interrupt_deliver(struct lab_gpu *gpu)
{
	struct amdgpu_ih_ring *ih = &gpu->adev.irq.ih;
	unsigned long flags;

	/* No other code writes or reads this ring. */
	if (get_wptr(&gpu->adev, ih) == ih->rptr)
		return;
	local_irq_save(flags);
	amdgpu_ih_process(&gpu->adev, ih);
	local_irq_restore(flags);
}
