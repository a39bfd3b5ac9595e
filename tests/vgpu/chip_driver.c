// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The driver and the processes of chip_world.h. Rings, packets and MQDs have the bytes that
 * amdkfd and ROCr write.
 */
#include "chip_world.h"

enum { HIQ_STRIDE = 2048, PROCESS_QUANTUM = 10 };

static void put_mqd(struct chip_world *w, u64 mqd, u32 dw, u32 value)
{
	cw_put32(w, 0, mqd + 4ull * dw, value);
}

static void put_wide(struct chip_world *w, u64 mqd, u32 dw, u64 value)
{
	put_mqd(w, mqd, dw, (u32)value);
	put_mqd(w, mqd, dw + 1, (u32)(value >> 32));
}

static void hiq_mqd(struct chip_world *w, u32 xcc)
{
	u64 mqd = w->hiq_mqd + xcc * HIQ_STRIDE;

	memset(cw_at(w, 0, mqd), 0, HIQ_STRIDE);
	put_wide(w, mqd, VGPU_MQD_PQ_BASE_LO, w->hiq_ring >> 8);
	put_wide(w, mqd, VGPU_MQD_RPTR_REPORT_LO, w->hiq_rptr);
	put_wide(w, mqd, VGPU_MQD_WPTR_POLL_LO, w->hiq_wptr);
	put_mqd(w, mqd, VGPU_MQD_DOORBELL_CONTROL, w->hiq_doorbell << 2);
	put_mqd(w, mqd, VGPU_MQD_PQ_CONTROL, 0xd0000508u | (xcc ? VGPU_PQ_NO_UPDATE_RPTR : 0));
	put_mqd(w, mqd, VGPU_MQD_STRIDE, HIQ_STRIDE);
}

void cw_load_hiq(struct chip_world *w)
{
	if (!w->hiq_mqd) {
		w->hiq_mqd = cw_alloc(w, 0, 8 * HIQ_STRIDE, 4096);
		w->hiq_ring = cw_alloc(w, 0, 4 * CW_HIQ_RING, 512);
		w->hiq_rptr = cw_alloc(w, 0, 512, 512);
		w->hiq_wptr = cw_alloc(w, 0, 512, 512);
		w->fence = cw_alloc(w, 0, 512, 512);
		w->ib = cw_alloc(w, 0, 16384, 512);
		w->hiq_doorbell = 8;
	}
	w->pending = 0;
	w->pending64 = 0;
	cw_put32(w, 0, w->hiq_rptr, 0);
	cw_put64(w, 0, w->hiq_wptr, 0);
	for (u32 xcc = 0; xcc < w->xccs; xcc++) {
		u64 mqd = w->hiq_mqd + xcc * HIQ_STRIDE;
		u32 dw[7] = { 0xc005a200, 0x24040000, w->hiq_doorbell << 2, (u32)mqd,
			      (u32)(mqd >> 32), (u32)w->hiq_wptr, (u32)(w->hiq_wptr >> 32) };

		hiq_mqd(w, xcc);
		vgpu_chip_kiq(w->chip, xcc, dw, 7, w->now);
	}
}

void cw_unload_hiq(struct chip_world *w)
{
	u32 dw[6] = { 0xc004a300, 0x20000001, w->hiq_doorbell << 2 };

	for (u32 xcc = 0; xcc < w->xccs; xcc++)
		vgpu_chip_kiq(w->chip, xcc, dw, 6, w->now);
}

/* Does what kq_acquire_packet_buffer() and kq_submit_packet() do. */
void cw_submit(struct chip_world *w, const u32 *dw, u32 n)
{
	u32 rptr = cw_get32(w, 0, w->hiq_rptr);
	u32 room = (rptr + CW_HIQ_RING - 1 - w->pending) % CW_HIQ_RING;

	EXPECT(rptr < CW_HIQ_RING);
	if (n > room || (w->pending + n >= CW_HIQ_RING && n >= rptr)) {
		w->no_room = true;
		return;
	}
	if (w->pending + n >= CW_HIQ_RING) {
		while (w->pending) {
			cw_put32(w, 0, w->hiq_ring + 4ull * w->pending, VGPU_PM4_PAD);
			w->pending = (w->pending + 1) % CW_HIQ_RING;
			w->pending64++;
		}
	}
	for (u32 i = 0; i < n; i++)
		cw_put32(w, 0, w->hiq_ring + 4ull * (w->pending + i), dw[i]);
	w->pending += n;
	w->pending64 += n;
	cw_put64(w, 0, w->hiq_wptr, w->pending64);
	w->doorbells[w->hiq_doorbell] = w->pending64;
}

void cw_set_resources(struct chip_world *w)
{
	const u32 dw[8] = { 0xc006a000, 0x2028fff8, 0xfcfcfcfc, 0, ~0u, ~0u, 0, 0 };

	cw_submit(w, dw, 8);
}

void cw_grace(struct chip_world *w, u32 sch_wave)
{
	const u32 dw[5] = { 0xc0033700, 0x00010000, CW_WAIT_REG, 0, 0x40400040 | sch_wave << 8 };

	cw_submit(w, dw, 5);
}

void cw_unmap(struct chip_world *w, u32 sel, u32 action, u32 param)
{
	const u32 dw[6] = { 0xc004a300, sel << 4 | action | (sel ? 0 : 1u << 29), param };

	cw_submit(w, dw, 6);
}

void cw_query(struct chip_world *w)
{
	const u32 dw[7] = { 0xc005a400, 0x80000000, 0, (u32)w->fence, (u32)(w->fence >> 32), 100 };

	cw_put64(w, 0, w->fence, 10);
	cw_submit(w, dw, 7);
}

bool cw_fenced(struct chip_world *w)
{
	return cw_get64(w, 0, w->fence) == 100;
}

bool cw_wait(struct chip_world *w, u64 ns)
{
	u64 until = w->now + ns;

	cw_run(w, 0);
	while (!cw_fenced(w) && w->now < until)
		cw_run(w, 500);
	return cw_fenced(w);
}

void cw_unmap_all(struct chip_world *w)
{
	cw_unmap(w, VGPU_PM4_DYNAMIC, VGPU_PM4_PREEMPT, 0);
	cw_query(w);
	EXPECT(cw_wait(w, MS(50)));
}

static u32 put_map_process(struct chip_world *w, u64 at, u32 process)
{
	u64 root = w->root[process];
	const u32 dw[21] = { 0xc013a100, process | PROCESS_QUANTUM << 25, (u32)root,
			     (u32)(root >> 32), 0x00010002, 0x1118 };

	memcpy(cw_at(w, 0, at), dw, sizeof(dw));
	return 21;
}

static u32 put_map_queue(struct chip_world *w, u64 at, const struct cw_queue *q)
{
	const u32 dw[7] = { 0xc005a200, q->map, q->doorbell << 2, (u32)q->mqd,
			    (u32)(q->mqd >> 32), (u32)q->wptr, (u32)(q->wptr >> 32) };

	memcpy(cw_at(w, 0, at), dw, sizeof(dw));
	return 7;
}

void cw_run_list(struct chip_world *w, const u32 *queues, u32 nr)
{
	u32 n = 0, process = 0, processes = 0, most = w->at_a_time ? w->at_a_time : 13;
	u32 dw[4] = { 0xc002a500, (u32)w->ib, (u32)(w->ib >> 32) };

	memset(cw_at(w, 0, w->ib), 0, 16384);
	for (u32 i = 0; i < nr; i++) {
		const struct cw_queue *q = &w->q[queues[i]];

		if (q->process != process) {
			n += put_map_process(w, w->ib + 4ull * n, q->process);
			processes++;
		}
		process = q->process;
		n += put_map_queue(w, w->ib + 4ull * n, q);
	}
	/* uses the largest possible size; zeros follow */
	dw[3] = (n + 4) | 1u << 23 | (processes < most ? processes : most) << 24;
	cw_submit(w, dw, 4);
}

void cw_run_list_one(struct chip_world *w, u32 queue)
{
	cw_run_list(w, &queue, 1);
}

u32 cw_queue(struct chip_world *w, u32 process)
{
	u32 nr = 0;
	struct cw_queue *q;

	while (w->q[nr].used)
		nr++;
	EXPECT(nr < CW_QUEUES);
	q = &w->q[nr];
	q->used = true;
	q->process = process;
	q->map = 0x20000010;
	q->doorbell = 1024 + 2 * nr;
	q->mqd = cw_alloc(w, 0, w->xccs * (CW_STACK + 4096ull), 4096);
	q->ring = cw_alloc(w, process, CW_RING * VGPU_AQL_BYTES, 4096);
	q->rptr = cw_alloc(w, process, 64, 64);
	q->wptr = cw_alloc(w, process, 64, 64);
	/* the chip touches only the first bytes of the save area after the stack */
	q->save = cw_alloc(w, process, CW_STACK + 0x3000, 4096);
	q->kernel = cw_alloc(w, process, CW_RING * 64, 256);
	q->kernarg = cw_alloc(w, process, 64, 64);
	q->result = cw_alloc(w, process, 64, 64);
	for (u32 i = 0; i < CW_RING; i++)
		cw_put32(w, process, q->ring + i * VGPU_AQL_BYTES, VGPU_AQL_TYPE_INVALID);
	cw_mqd(w, nr);
	return nr;
}

void cw_mqd(struct chip_world *w, u32 queue)
{
	const struct cw_queue *q = &w->q[queue];

	for (u32 xcc = 0; xcc < w->xccs; xcc++) {
		u64 mqd = q->mqd + xcc * (CW_STACK + 4096ull);

		memset(cw_at(w, 0, mqd), 0, 4 * VGPU_MQD_DW);
		put_mqd(w, mqd, 0, 0xc0310800);
		put_mqd(w, mqd, VGPU_MQD_THREAD_MGMT_SE0, ~0u);
		put_mqd(w, mqd, VGPU_MQD_THREAD_MGMT_SE1, ~0u);
		put_mqd(w, mqd, VGPU_MQD_THREAD_MGMT_SE2, ~0u);
		put_mqd(w, mqd, VGPU_MQD_THREAD_MGMT_SE3, ~0u);
		put_wide(w, mqd, VGPU_MQD_BASE_LO, mqd);
		put_mqd(w, mqd, VGPU_MQD_PIPE_PRIORITY, 1);
		put_mqd(w, mqd, VGPU_MQD_QUEUE_PRIORITY, 7);
		put_wide(w, mqd, VGPU_MQD_PQ_BASE_LO, q->ring >> 8);
		put_wide(w, mqd, VGPU_MQD_RPTR_REPORT_LO, q->rptr);
		put_wide(w, mqd, VGPU_MQD_WPTR_POLL_LO, q->wptr);
		put_mqd(w, mqd, VGPU_MQD_DOORBELL_CONTROL, q->doorbell << 2 | 2);
		/* 64 packets are 1024 dwords: 2 << 9 */
		put_mqd(w, mqd, VGPU_MQD_PQ_CONTROL, (xcc ? 0x1c014500 : 0x14014500) | 9);
		put_wide(w, mqd, VGPU_MQD_CTX_SAVE_LO, q->save + (u64)xcc * CW_SAVE);
		put_mqd(w, mqd, VGPU_MQD_CNTL_STACK_OFFSET, CW_STACK);
		put_mqd(w, mqd, VGPU_MQD_CNTL_STACK_SIZE, CW_STACK);
		put_mqd(w, mqd, VGPU_MQD_WG_STATE_OFFSET, CW_STACK);
		put_mqd(w, mqd, VGPU_MQD_CTX_SAVE_SIZE, CW_SAVE);
		put_mqd(w, mqd, 181, 1);
		put_mqd(w, mqd, VGPU_MQD_STRIDE, CW_STACK + 4096);
	}
}

u32 cw_mqd_get(struct chip_world *w, u32 queue, u32 xcc, u32 dw)
{
	return cw_get32(w, 0, w->q[queue].mqd + xcc * (CW_STACK + 4096ull) + 4ull * dw);
}

void cw_mqd_put(struct chip_world *w, u32 queue, u32 dw, u32 value)
{
	for (u32 xcc = 0; xcc < w->xccs; xcc++)
		put_mqd(w, w->q[queue].mqd + xcc * (CW_STACK + 4096ull), dw, value);
}

u64 cw_signal(struct chip_world *w, u32 process, u64 value)
{
	u64 at = cw_alloc(w, process, 64, 64);

	cw_put64(w, process, at, 1);
	cw_put64(w, process, at + VGPU_SIGNAL_VALUE, value);
	return at;
}

s64 cw_signal_value(struct chip_world *w, u32 process, u64 signal)
{
	return (s64)cw_get64(w, process, signal + VGPU_SIGNAL_VALUE);
}

void *cw_slot(struct chip_world *w, u32 queue, u64 index)
{
	const struct cw_queue *q = &w->q[queue];

	return cw_at(w, q->process, q->ring + index % CW_RING * VGPU_AQL_BYTES);
}

u64 cw_packet(struct chip_world *w, u32 queue, const void *packet)
{
	struct cw_queue *q = &w->q[queue];

	EXPECT(q->written - cw_rptr(w, queue) < CW_RING);
	memcpy(cw_slot(w, queue, q->written), packet, VGPU_AQL_BYTES);
	cw_put64(w, q->process, q->wptr, q->written + 1);
	return q->written++;
}

u64 cw_dispatch(struct chip_world *w, u32 queue, const struct cw_dispatch *d)
{
	struct cw_queue *q = &w->q[queue];
	u64 kernel = q->kernel + q->written % CW_RING * 64;
	struct vgpu_kernel k = { .magic = VGPU_KERNEL_MAGIC, .workgroup_ns = d->ns };
	struct vgpu_kernarg arg = { .result = q->result, .key = 3 };
	u8 packet[VGPU_AQL_BYTES] = { 0 };
	u16 header = VGPU_AQL_TYPE_KERNEL | d->barrier << 8, size[3] = { 256, 1, 1 };
	u32 grid[3] = { 256 * d->workgroups, 1, 1 };
	u64 n = d->workgroups;

	memcpy(cw_at(w, q->process, kernel), &k, sizeof(k));
	memcpy(cw_at(w, q->process, q->kernarg), &arg, sizeof(arg));
	if (d->unpublished)
		header = VGPU_AQL_TYPE_INVALID;
	memcpy(packet, &header, 2);
	packet[VGPU_AQL_SETUP] = 1;
	memcpy(packet + VGPU_AQL_WORKGROUP, size, sizeof(size));
	memcpy(packet + VGPU_AQL_GRID, grid, sizeof(grid));
	memcpy(packet + VGPU_AQL_KERNEL_OBJECT, &kernel, 8);
	memcpy(packet + VGPU_AQL_KERNARG, &q->kernarg, 8);
	memcpy(packet + VGPU_AQL_SIGNAL, &d->signal, 8);
	q->expected += n;
	q->expected_sum += n * (n + 1) / 2 * arg.key;
	return cw_packet(w, queue, packet);
}

void cw_ring(struct chip_world *w, u32 queue)
{
	w->doorbells[w->q[queue].doorbell] = w->q[queue].written - 1;
}

u64 cw_rptr(struct chip_world *w, u32 queue)
{
	return cw_get64(w, w->q[queue].process, w->q[queue].rptr);
}

bool cw_sums_right(struct chip_world *w, u32 queue)
{
	const struct cw_queue *q = &w->q[queue];

	return cw_get64(w, q->process, q->result) == q->expected &&
	       cw_get64(w, q->process, q->result + 8) == q->expected_sum;
}

int cw_view(struct chip_world *w, u32 queue, struct vgpu_chip_queue_view *ret)
{
	int err;

	for (u32 nr = 0; (err = vgpu_chip_view(w->chip, nr, ret)) != -ENOENT; nr++)
		if (!err && ret->mqd == w->q[queue].mqd)
			return 0;
	return -ENOENT;
}
