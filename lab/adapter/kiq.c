// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The kernel interface queue: one ring per XCC, used to load and unload the HIQ. A commit hands
 * its packets to the chip at once. This GPU has no other ring of amdgpu.
 */
#include "gpu.h"
#include "record.h"
#include "amdgpu_ring.h"
#include "soc15d.h"

int amdgpu_ring_alloc(struct amdgpu_ring *ring, unsigned int ndw)
{
	if (ndw > ring->max_dw)
		return -ENOMEM;
	ring->count_dw = ndw;
	ring->wptr_old = ring->wptr;
	return 0;
}

void amdgpu_ring_commit(struct amdgpu_ring *ring)
{
	struct lab_gpu *gpu = lab_gpu(ring->adev);
	u32 packet[LAB_KIQ_DWORDS], nr = 0;
	u64 at;

	for (at = ring->wptr_old; at != ring->wptr; at = (at + 1) & ring->ptr_mask)
		packet[nr++] = ring->ring[at & ring->buf_mask];
	spin_lock(&gpu->lock);
	lab_chip_kiq(gpu, ring->xcc_id, packet, nr, lab_clock_now(&gpu->clock));
	spin_unlock(&gpu->lock);
}

void amdgpu_ring_undo(struct amdgpu_ring *ring)
{
	ring->wptr = ring->wptr_old;
}

/* Always succeeds, because a commit is complete when it returns. */
int amdgpu_ring_test_helper(struct amdgpu_ring *ring)
{
	return 0;
}

static void unmap_queues(struct amdgpu_ring *kiq, struct amdgpu_ring *ring,
			 enum amdgpu_unmap_queues_action action, u64 gpu_addr, u64 seq)
{
	u32 hiq = ring->funcs->type == AMDGPU_RING_TYPE_COMPUTE ? 0 : 4;

	amdgpu_ring_write(kiq, PACKET3(PACKET3_UNMAP_QUEUES, 4));
	amdgpu_ring_write(kiq, PACKET3_UNMAP_QUEUES_ACTION(action) |
			       PACKET3_UNMAP_QUEUES_QUEUE_SEL(0) |
			       PACKET3_UNMAP_QUEUES_ENGINE_SEL(hiq) |
			       PACKET3_UNMAP_QUEUES_NUM_QUEUES(1));
	amdgpu_ring_write(kiq, PACKET3_UNMAP_QUEUES_DOORBELL_OFFSET0(ring->doorbell_index));
	amdgpu_ring_write(kiq, 0);
	amdgpu_ring_write(kiq, 0);
	amdgpu_ring_write(kiq, 0);
}

static const struct kiq_pm4_funcs pm4_funcs = {
	.kiq_unmap_queues = unmap_queues,
	.unmap_queues_size = 6,
};

static const struct amdgpu_ring_funcs ring_funcs = {
	.type = AMDGPU_RING_TYPE_KIQ,
	.align_mask = 0xff,
	.nop = PACKET3(PACKET3_NOP, 0x3fff),
};

void lab_kiq_init(struct lab_gpu *gpu)
{
	struct amdgpu_kiq *kiq;
	u32 i;

	for (i = 0; i < gpu->profile->xccs; i++) {
		kiq = &gpu->adev.gfx.kiq[i];
		spin_lock_init(&kiq->ring_lock);
		kiq->pmf = &pm4_funcs;
		kiq->ring.adev = &gpu->adev;
		kiq->ring.funcs = &ring_funcs;
		kiq->ring.ring = gpu->kiq_dwords[i];
		kiq->ring.buf_mask = LAB_KIQ_DWORDS - 1;
		kiq->ring.ptr_mask = LAB_KIQ_DWORDS - 1;
		kiq->ring.max_dw = LAB_KIQ_DWORDS / 2;
		kiq->ring.xcc_id = i;
		kiq->ring.sched.ready = true;
	}
}
