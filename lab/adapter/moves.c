// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The ring by which amdgpu itself moves and clears memory with jobs of SDMA packets.
 *
 * The driver's memory manager makes the jobs and adds what each has to wait for, such as the
 * eviction of a process's queues. Here submitting a job waits for these, executes its packets
 * in the model's SDMA and completes it. There is one job at a time, in one buffer, because the
 * driver makes jobs under a lock of its own.
 */
#include "gpu.h"
#include "amdgpu_job.h"
#include "amdgpu_sdma.h"
#include "amdgpu_ttm.h"
#include "vgpu/sdma.h"

enum {
	IB_BYTES	= 64 << 10,
	MAX_BYTES	= 1 << 22,	/* of one packet, the limit of SDMA 4 */
	OP_COPY		= 1,
	OP_FILL		= 11,
	FILL_DWORDS	= 2 << 30,	/* the size of an element, in the header */
};

static void emit(struct amdgpu_ib *ib, u32 dword)
{
	ib->ptr[ib->length_dw++] = dword;
}

static void emit_copy(struct amdgpu_ib *ib, u64 from, u64 to, u32 bytes, u32 flags)
{
	emit(ib, OP_COPY);
	emit(ib, bytes - 1);
	emit(ib, 0);
	emit(ib, lower_32_bits(from));
	emit(ib, upper_32_bits(from));
	emit(ib, lower_32_bits(to));
	emit(ib, upper_32_bits(to));
}

static void emit_fill(struct amdgpu_ib *ib, u32 value, u64 to, u32 bytes)
{
	emit(ib, OP_FILL | FILL_DWORDS);
	emit(ib, lower_32_bits(to));
	emit(ib, upper_32_bits(to));
	emit(ib, value);
	emit(ib, bytes - 1);
}

static const struct amdgpu_buffer_funcs buffer_funcs = {
	.copy_max_bytes = MAX_BYTES,
	.copy_num_dw = 7,
	.emit_copy_buffer = emit_copy,
	.fill_max_bytes = MAX_BYTES,
	.fill_num_dw = 5,
	.emit_fill_buffer = emit_fill,
};

static void pad_ib(struct amdgpu_ring *ring, struct amdgpu_ib *ib)
{
	while (ib->length_dw & 7)
		emit(ib, ring->funcs->nop);
}

static const struct amdgpu_ring_funcs ring_funcs = {
	.type = AMDGPU_RING_TYPE_SDMA,
	.align_mask = 0xff,
	.nop = 0,
	.pad_ib = pad_ib,
};

int lab_moves_init(struct lab_gpu *gpu)
{
	struct amdgpu_device *adev = &gpu->adev;
	struct lab_moves *m = &gpu->moves;
	int r;

	mutex_init(&m->lock);
	r = amdgpu_bo_create_kernel(adev, IB_BYTES, PAGE_SIZE, AMDGPU_GEM_DOMAIN_GTT, &m->bo,
				    &m->address, (void **)&m->dwords);
	if (r)
		return r;
	m->ring.adev = adev;
	m->ring.funcs = &ring_funcs;
	m->ring.sched.ready = true;
	adev->mman.buffer_funcs = &buffer_funcs;
	adev->mman.buffer_funcs_ring = &m->ring;
	adev->mman.buffer_funcs_enabled = true;
	return 0;
}

void lab_moves_fini(struct lab_gpu *gpu)
{
	struct lab_moves *m = &gpu->moves;

	gpu->adev.mman.buffer_funcs_enabled = false;
	if (m->bo)
		amdgpu_bo_free_kernel(&m->bo, &m->address, (void **)&m->dwords);
}

int amdgpu_job_alloc(struct amdgpu_device *adev, struct amdgpu_vm *vm,
		     struct drm_sched_entity *entity, void *owner, unsigned int num_ibs,
		     struct amdgpu_job **job, u64 drm_client_id)
{
	return -ENODEV;		/* page tables are written by the CPU */
}

int amdgpu_job_alloc_with_ib(struct amdgpu_device *adev, struct drm_sched_entity *entity,
			     void *owner, size_t size, enum amdgpu_ib_pool_type pool_type,
			     struct amdgpu_job **job, u64 k_job_id)
{
	struct lab_moves *m = &lab_gpu(adev)->moves;
	struct amdgpu_job *j;

	if (size > IB_BYTES || !m->bo)
		return -ENOSPC;
	j = kzalloc(struct_size(j, ibs, 1), GFP_KERNEL);
	if (!j)
		return -ENOMEM;
	xa_init_flags(&j->base.dependencies, XA_FLAGS_ALLOC);
	mutex_lock(&m->lock);
	m->job = j;
	j->num_ibs = 1;
	j->ibs[0].ptr = m->dwords;
	j->ibs[0].gpu_addr = m->address;
	*job = j;
	return 0;
}

/* Returns the GPU of @job, from its buffer. */
static struct lab_gpu *gpu_of(struct amdgpu_job *job)
{
	struct lab_gpu *gpu;

	list_for_each_entry(gpu, &lab_gpus, link) {
		if (gpu->moves.job == job)
			return gpu;
	}
	return NULL;
}

void amdgpu_job_free(struct amdgpu_job *job)
{
	struct lab_gpu *gpu = gpu_of(job);
	struct dma_fence *fence;
	unsigned long i;

	xa_for_each(&job->base.dependencies, i, fence)
		dma_fence_put(fence);
	xa_destroy(&job->base.dependencies);
	kfree(job);
	if (!WARN_ON(!gpu)) {
		gpu->moves.job = NULL;
		mutex_unlock(&gpu->moves.lock);
	}
}

/* Executes in parts, so that the chip can take its lock in between. */
static int execute(struct lab_gpu *gpu, const struct amdgpu_ib *ib)
{
	struct vgpu_sdma_args args = {
		.facts = vgpu_profile(gpu->profile->name), .base = ib->gpu_addr, .size = IB_BYTES,
		.page = gpu->moves.page,
	};
	struct vgpu_sdma *s = &gpu->moves.sdma;
	enum vgpu_sdma_state state;
	int r;

	r = vgpu_sdma_init(s, &args);
	if (r)
		return r;
	vgpu_sdma_start(s, 0);
	vgpu_sdma_wptr(s, ib->length_dw * 4, 0);
	do {
		spin_lock(&gpu->lock);
		state = vgpu_sdma_run(s, &lab_bus_unrecorded, gpu, VGPU_NEVER - 1);
		spin_unlock(&gpu->lock);
		cond_resched();
	} while (state == VGPU_SDMA_BUSY);
	return state == VGPU_SDMA_IDLE ? 0 : -EIO;
}

struct dma_fence *amdgpu_job_submit(struct amdgpu_job *job)
{
	struct lab_gpu *gpu = gpu_of(job);
	struct dma_fence *fence;
	unsigned long i;

	/* Waiting for the fence of a KFD process makes the driver evict its queues. */
	xa_for_each(&job->base.dependencies, i, fence)
		dma_fence_wait(fence, false);
	if (!WARN_ON(!gpu) && execute(gpu, &job->ibs[0]))
		dev_err(gpu->adev.dev, "vgpu: a move of memory failed\n");
	amdgpu_job_free(job);
	return dma_fence_get_stub();
}

int amdgpu_job_submit_direct(struct amdgpu_job *job, struct amdgpu_ring *ring,
			     struct dma_fence **fence)
{
	*fence = amdgpu_job_submit(job);
	return 0;
}
