// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The chip with errors: it reports them, stops the queue and continues. */
#include "chip_world.h"

static const struct cw_dispatch KERNEL = { .workgroups = 100, .ns = US(10) };
static const struct cw_dispatch LONG = { .workgroups = 3000, .ns = MS(1) };

/* Expects that a new queue of another process runs its kernel and can be unmapped. */
static void chip_works(struct chip_world *w, u32 process)
{
	u32 q = cw_queue(w, process);

	cw_unmap_all(w);
	cw_run_list_one(w, q);
	cw_dispatch(w, q, &KERNEL);
	cw_ring(w, q);
	cw_run(w, MS(1));
	EXPECT(cw_sums_right(w, q));
	cw_unmap_all(w);
}

static void a_queue_that_would_not_leave_is_named_in_every_hiq_mqd(void **state)
{
	struct chip_world *w = *state;
	u32 q[2] = { cw_queue(w, 1), cw_queue(w, 2) };
	struct vgpu_chip_queue_view v;

	cw_dispatch(w, q[0], &LONG);
	cw_dispatch(w, q[1], &LONG);
	cw_run_list(w, q, 2);
	cw_run(w, US(100));
	EXPECT_EQ(vgpu_chip_fault(w->chip, VGPU_FAULT_PREEMPT, 5), -ENOENT);
	EXPECT_EQ(vgpu_chip_fault(w->chip, VGPU_FAULT_PREEMPT, w->q[q[1]].doorbell), 0);
	cw_unmap_all(w);
	for (u32 xcc = 0; xcc < w->xccs; xcc++)
		EXPECT_EQ(cw_get32(w, 0, w->hiq_mqd + 2048 * xcc + 4 * VGPU_MQD_FAILED_DOORBELL),
			  w->q[q[1]].doorbell);
	cw_view(w, q[1], &v);
	EXPECT(v.waves && v.slotted);
	cw_view(w, q[0], &v);
	EXPECT(!v.slotted);

	/* Resets the queue in its slot on each XCC, as the driver does. */
	cw_view(w, q[1], &v);
	for (u32 xcc = 0; xcc < w->xccs; xcc++)
		vgpu_chip_slot_reset(w->chip, xcc, v.pipe, v.queue, w->now);
	/* The fault belongs to q[1]. The next queue in its slot is not affected. */
	cw_run_list_one(w, q[0]);
	cw_run(w, MS(50));
	EXPECT(cw_sums_right(w, q[0]));
	chip_works(w, 3);
}

static void an_unmapped_save_area_fails_the_preemption(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);

	cw_mqd_put(w, q, VGPU_MQD_CTX_SAVE_LO, 0x1000);
	cw_mqd_put(w, q, VGPU_MQD_CTX_SAVE_HI, 0);
	cw_dispatch(w, q, &LONG);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	cw_unmap_all(w);
	EXPECT_EQ(cw_get32(w, 0, w->hiq_mqd + 4 * VGPU_MQD_FAILED_DOORBELL), w->q[q].doorbell);
	EXPECT(strstr(w->report, "cannot be saved"));
}

static void hang_and_reset(struct chip_world *w, u32 q)
{
	cw_unmap(w, VGPU_PM4_ALL, VGPU_PM4_PREEMPT, 0);
	cw_query(w);
	cw_run(w, 0);
	EXPECT(!cw_wait(w, MS(20)));
	EXPECT(!vgpu_chip_commanded(w->chip));
	EXPECT_EQ(vgpu_chip_fault(w->chip, VGPU_FAULT_NONE, 0), 0);
	vgpu_chip_reset(w->chip, w->now);
	EXPECT(!cw_fenced(w));
	EXPECT_EQ(vgpu_chip_hqd(w->chip, 0, 4, 0, VGPU_MQD_ACTIVE - VGPU_MQD_REGISTERS), 0);
	EXPECT_EQ(vgpu_chip_waves(w->chip, 0, 0, 2), 0);
	cw_load_hiq(w);
	cw_set_resources(w);
	cw_run_list_one(w, q);
	cw_run(w, MS(50));
	/* The reset kernel starts again. Nothing is missing, and finished workgroups run again. */
	EXPECT_EQ(cw_rptr(w, q), 1);
	chip_works(w, 4);
}

static void a_hang_ends_with_a_reset(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);

	cw_dispatch(w, q, &LONG);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	vgpu_chip_fault(w->chip, VGPU_FAULT_HANG, 0);
	hang_and_reset(w, q);
}

static void the_packet_made_to_hang_hangs(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1), dw[7];

	memset(dw, 0x55, sizeof(dw));
	cw_dispatch(w, q, &LONG);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	cw_submit(w, dw, 7);
	hang_and_reset(w, q);
}

static void an_unloaded_hiq_does_nothing(void **state)
{
	struct chip_world *w = *state;

	cw_unload_hiq(w);
	cw_query(w);
	EXPECT(!cw_wait(w, MS(1)));
	cw_load_hiq(w);
	cw_query(w);
	EXPECT(cw_wait(w, MS(1)));
	EXPECT_EQ(w->nr_reports, 0);
}

static void the_hiq_runs_when_every_xcc_has_it(void **state)
{
	struct chip_world *w = *state;
	u32 all = w->xccs;

	cw_unload_hiq(w);
	w->xccs = all - 1;	/* the driver omits one */
	cw_load_hiq(w);
	cw_query(w);
	EXPECT(!cw_wait(w, MS(1)));
	w->xccs = all;
}

/* The doorbell holds the last value of the previous ring. The new ring writes that value, too. */
static void a_doorbell_from_before_the_hiq_was_loaded_is_not_taken_for_one(void **state)
{
	struct chip_world *w = *state;

	cw_unload_hiq(w);
	w->doorbells[w->hiq_doorbell] = 7;
	cw_load_hiq(w);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_get32(w, 0, w->hiq_rptr), 0);
	cw_query(w);			/* 7 dwords */
	EXPECT_EQ(w->pending64, 7);
	EXPECT(cw_wait(w, MS(1)));
	EXPECT_EQ(w->nr_reports, 0);
}

static void bad_packets_on_the_hiq_are_passed_over(void **state)
{
	struct chip_world *w = *state;
	static const u32 bad[][8] = {
		{ 0x12345678 }, { 0 }, { 0xc005a300 }, { 0xc0060100 }, { 0xc002a000 },
		{ 0xc006a000, 0, 0, 0 },		/* no slot, no VMID */
		{ 0xc0033700, 0x00010000, 0x1234, 0, 1 },	/* another register */
		{ 0xc0033700, 0x00010500, CW_WAIT_REG, 0, 1 },	/* to memory */
		{ 0xc004a300, 0x20000000, 0x999 << 2 },	/* unknown doorbell */
		{ 0xc004a300, 0x00000010, 999 },	/* unknown PASID */
		{ 0xc005a400, 0x80000000, 0, 4, 0, 1 },	/* a fence nowhere */
		{ 0xc002a500, 4, 0, 0x01800020 },	/* a runlist nowhere */
		{ 0xffffff00 },				/* longer than the ring */
	};

	for (u32 i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		u32 before = w->nr_reports;

		cw_submit(w, bad[i], 8);
		cw_run(w, 0);
		cw_query(w);
		EXPECT(cw_wait(w, MS(1)));
		if (w->nr_reports == before)
			fail_msg("packet %u was not reported", i);
	}
	EXPECT(vgpu_chip_counters(w->chip)->packets[VGPU_BAD_PACKET] >= 6);
	EXPECT_EQ(vgpu_chip_iq_wait_time2(w->chip), 0x40404040);
	chip_works(w, 1);
}

/* Submits a runlist of these dwords. The chip must still work after it. */
static void bad_list(struct chip_world *w, const u32 *dw, u32 n)
{
	u32 run[4] = { 0xc002a500, (u32)w->ib, (u32)(w->ib >> 32), n | 0x01800000 };
	u32 before = w->nr_reports;

	cw_unmap_all(w);
	memset(cw_at(w, 0, w->ib), 0, 4096);
	memcpy(cw_at(w, 0, w->ib), dw, 4 * n);
	cw_submit(w, run, 4);
	cw_query(w);
	EXPECT(cw_wait(w, MS(1)));
	if (w->nr_reports == before)
		fail_msg("a runlist that begins with %#x was not reported", dw[0]);
}

static void bad_runlists_are_reported(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1), process[21] = { 0xc013a100, 1, (u32)w->root[1] };
	const u32 no_process[7] = { 0xc005a200, 0x20000010 };
	const u32 no_root[21] = { 0xc013a100, 1 };
	const u32 garbage[8] = { 0x1234, 5 }, strange[8] = { 0xc0011000 | 0x5500 };
	const u32 beyond[2] = { 0xc0ffa200 }, twice[1] = { 0xc005a200 };
	u32 no_mqd[28] = { 0 }, both[2] = { q, q };

	memcpy(no_mqd, process, sizeof(process));
	no_mqd[21] = 0xc005a200;
	no_mqd[22] = 0x20000010;
	bad_list(w, no_process, 7);
	bad_list(w, no_root, 21);
	bad_list(w, garbage, 8);
	bad_list(w, strange, 8);
	bad_list(w, beyond, 2);
	bad_list(w, twice, 1);
	bad_list(w, no_mqd, 28);
	cw_unmap_all(w);
	cw_run_list(w, both, 2);
	cw_run(w, US(100));
	EXPECT(strstr(w->report, "twice"));
	chip_works(w, 2);
}

/*
 * Maps a queue with one wrong value. It is reported and never prevents other queues from leaving.
 */
static void bad_mqd(struct chip_world *w, u32 dw, u32 value)
{
	u32 q = cw_queue(w, 1), before = w->nr_reports;

	cw_mqd_put(w, q, dw, value);
	cw_dispatch(w, q, &KERNEL);
	cw_run_list_one(w, q);
	cw_ring(w, q);
	cw_run(w, MS(1));
	if (w->nr_reports == before)
		fail_msg("MQD dword %u = %#x was not reported", dw, value);
	cw_unmap_all(w);
}

static void bad_mqds_are_reported(void **state)
{
	struct chip_world *w = *state;

	bad_mqd(w, VGPU_MQD_PQ_CONTROL, 0x1401453f);
	bad_mqd(w, VGPU_MQD_PQ_BASE_HI, 0x7777);
	bad_mqd(w, VGPU_MQD_WPTR_POLL_HI, 0x7777);
	bad_mqd(w, VGPU_MQD_RPTR_REPORT_HI, 0x7777);
	bad_mqd(w, VGPU_MQD_STRIDE, 64);
	chip_works(w, 2);
}

/* Submits an AQL packet of these bytes, changed at @offset. */
static void bad_packet(struct chip_world *w, u32 offset, u64 value, u32 bytes)
{
	u32 q = cw_queue(w, 1), before = w->nr_reports;
	struct vgpu_chip_queue_view v;
	struct cw_dispatch d = KERNEL;
	u64 index;

	d.signal = cw_signal(w, 1, 1);
	cw_run_list_one(w, q);
	index = cw_dispatch(w, q, &d);
	memcpy((u8 *)cw_slot(w, q, index) + offset, &value, bytes);
	cw_ring(w, q);
	cw_run(w, MS(1));
	if (w->nr_reports == before)
		fail_msg("a packet with %#llx at %u was not reported", (unsigned long long)value,
			 offset);
	EXPECT_EQ(cw_view(w, q, &v), 0);
	EXPECT_EQ(v.state, VGPU_ERROR);
	EXPECT(v.error);
	cw_unmap_all(w);
}

static void bad_aql_packets_stop_their_queue(void **state)
{
	struct chip_world *w = *state;

	bad_packet(w, 0, 4, 1);			/* for a host */
	bad_packet(w, 0, 99, 1);
	bad_packet(w, VGPU_AQL_WORKGROUP, 0, 2);
	bad_packet(w, VGPU_AQL_WORKGROUP, 2000, 2);
	bad_packet(w, VGPU_AQL_GRID, 0, 4);
	bad_packet(w, VGPU_AQL_GROUP_SEGMENT, 70000, 4);
	bad_packet(w, VGPU_AQL_KERNEL_OBJECT, 0x10, 8);
	bad_packet(w, VGPU_AQL_KERNARG, 0x10, 8);
	bad_packet(w, VGPU_AQL_SIGNAL, 0x10, 8);
	chip_works(w, 2);
}

static void a_fault_names_the_process_and_the_address(void **state)
{
	struct chip_world *w = *state;

	bad_packet(w, VGPU_AQL_KERNARG, 0xdead000, 8);
	EXPECT_EQ(w->nr_irqs, 1);
	EXPECT_EQ(w->irq[0].kind, VGPU_IRQ_FAULT);
	EXPECT_EQ(w->irq[0].pasid, 1);
	EXPECT_EQ(w->irq[0].vmid, 3);
	EXPECT_EQ(w->irq[0].address, 0xdead000);
	EXPECT(!w->irq[0].write);
	EXPECT_EQ(vgpu_chip_counters(w->chip)->faults, 1);
}

/* Removes the page table of a process while its kernel runs. */
static void a_process_whose_memory_is_gone_does_not_hang_an_unmap(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);

	cw_dispatch(w, q, &LONG);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	w->root[1] = 0x1234;
	cw_run(w, MS(2));
	cw_unmap_all(w);
	EXPECT(w->nr_reports);
	chip_works(w, 2);
}

PROVE(
	CLAIM_WITH(a_queue_that_would_not_leave_is_named_in_every_hiq_mqd, cw_up, cw_down),
	CLAIM_WITH(an_unmapped_save_area_fails_the_preemption, cw_up, cw_down),
	CLAIM_WITH(a_hang_ends_with_a_reset, cw_up, cw_down),
	CLAIM_WITH(the_packet_made_to_hang_hangs, cw_up, cw_down),
	CLAIM_WITH(an_unloaded_hiq_does_nothing, cw_up, cw_down),
	CLAIM_WITH(the_hiq_runs_when_every_xcc_has_it, cw_up, cw_down),
	CLAIM_WITH(a_doorbell_from_before_the_hiq_was_loaded_is_not_taken_for_one, cw_up, cw_down),
	CLAIM_WITH(bad_packets_on_the_hiq_are_passed_over, cw_up, cw_down),
	CLAIM_WITH(bad_runlists_are_reported, cw_up, cw_down),
	CLAIM_WITH(bad_mqds_are_reported, cw_up, cw_down),
	CLAIM_WITH(bad_aql_packets_stop_their_queue, cw_up, cw_down),
	CLAIM_WITH(a_fault_names_the_process_and_the_address, cw_up, cw_down),
	CLAIM_WITH(a_process_whose_memory_is_gone_does_not_hang_an_unmap, cw_up, cw_down),
)
