// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The PM4 and SDMA queues of chip_stream.h. */
#include "chip_stream.h"

u32 cw_pm4_queue(struct chip_world *w, u32 process)
{
	u32 q = cw_queue(w, process);

	cw_mqd_put(w, q, VGPU_MQD_PQ_CONTROL, 0x10000500 | 9);
	cw_mqd_put(w, q, 181, 0);
	return q;
}

u32 cw_sdma_queue(struct chip_world *w, u32 process)
{
	u32 q = cw_queue(w, process);
	u64 mqd = w->q[q].mqd;

	w->q[q].map = CW_MAP_SDMA0;
	memset(cw_at(w, 0, mqd), 0, 512);
	cw_put32(w, 0, mqd, 10 << 1);	/* 1024 dwords */
	cw_put64(w, 0, mqd + 4 * VGPU_SDMA_MQD_BASE_LO, w->q[q].ring >> 8);
	cw_put32(w, 0, mqd + 4 * VGPU_SDMA_MQD_RPTR_ADDR_HI, HI(w->q[q].rptr));
	cw_put32(w, 0, mqd + 4 * VGPU_SDMA_MQD_RPTR_ADDR_LO, LO(w->q[q].rptr));
	return q;
}

void cw_give(struct chip_world *w, u32 queue, u32 unit, const u32 *dw, u32 n)
{
	struct cw_queue *q = &w->q[queue];

	for (u32 i = 0; i < n; i++)
		cw_put32(w, q->process, q->ring + q->written++ % CW_STREAM_RING * 4, dw[i]);
	cw_put64(w, q->process, q->wptr, q->written * unit);
	w->doorbells[q->doorbell] = q->written * unit;
}

void cw_pm4_dispatch(struct chip_world *w, u32 queue, u32 n, u64 ns)
{
	struct cw_queue *q = &w->q[queue];
	struct vgpu_kernel k = { .magic = VGPU_KERNEL_MAGIC, .workgroup_ns = ns };
	struct vgpu_kernarg arg = { .result = q->result, .key = 5 };

	memcpy(cw_at(w, q->process, q->kernel), &k, sizeof(k));
	memcpy(cw_at(w, q->process, q->kernarg), &arg, sizeof(arg));
	GIVE(w, queue, CW_PM4_UNIT, PM4(0x76, 5), 0x207, 64, 1, 1,
	     PM4(0x76, 4), 0x20c, LO(q->kernel >> 8), HI(q->kernel >> 8),
	     PM4(0x76, 4), 0x240, LO(q->kernarg), HI(q->kernarg),
	     PM4(0x15, 5), n, 1, 1, 1);
	q->expected += n;
	q->expected_sum += (u64)n * (n + 1) / 2 * arg.key;
}

void cw_pm4_release(struct chip_world *w, u32 queue, u64 at, u32 value, u32 event)
{
	GIVE(w, queue, CW_PM4_UNIT, PM4(0x49, 8), 0x514, 1u << 29 | 2 << 24, LO(at), HI(at), value,
	     0, event);
}
