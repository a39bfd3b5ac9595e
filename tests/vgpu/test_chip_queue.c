// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* AQL queues of the chip: order, signals, barriers, and the identity of an MQD. */
#include "chip_world.h"

static const struct cw_dispatch KERNEL = { .workgroups = 100, .ns = US(10) };

static u64 barrier(struct chip_world *w, u32 queue, u8 type, const u64 *dep, u64 signal)
{
	u8 packet[VGPU_AQL_BYTES] = { type };

	memcpy(packet + VGPU_AQL_DEP, dep, 40);
	memcpy(packet + VGPU_AQL_SIGNAL, &signal, 8);
	return cw_packet(w, queue, packet);
}

static void a_barrier_waits_for_all_of_its_signals(void **state)
{
	struct chip_world *w = *state;
	u32 q[2] = { cw_queue(w, 1), cw_queue(w, 1) };
	u64 dep[5] = { cw_signal(w, 1, 1), 0, cw_signal(w, 1, 1) }, done = cw_signal(w, 1, 1);
	struct cw_dispatch d = KERNEL;

	cw_run_list(w, q, 2);
	barrier(w, q[0], VGPU_AQL_TYPE_AND, dep, done);
	cw_dispatch(w, q[0], &(struct cw_dispatch){ .workgroups = 1, .ns = 10, .barrier = true });
	cw_ring(w, q[0]);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_rptr(w, q[0]), 0);
	cw_put64(w, 1, dep[0] + VGPU_SIGNAL_VALUE, 0);	/* by the processor */
	cw_run(w, US(100));
	EXPECT_EQ(cw_rptr(w, q[0]), 0);

	/* Writes the other signal by a kernel of another queue at that time. */
	d.signal = dep[2];
	cw_dispatch(w, q[1], &d);
	cw_ring(w, q[1]);
	cw_run(w, US(100));
	EXPECT_EQ(cw_signal_value(w, 1, done), 0);
	EXPECT_EQ(cw_get64(w, 1, done + VGPU_SIGNAL_END),
		  cw_get64(w, 1, d.signal + VGPU_SIGNAL_END));
	EXPECT_EQ(cw_get64(w, 1, done + VGPU_SIGNAL_START),
		  cw_get64(w, 1, done + VGPU_SIGNAL_END));
	EXPECT_EQ(cw_rptr(w, q[0]), 2);
	EXPECT(cw_sums_right(w, q[0]));
}

static void an_or_barrier_waits_for_one_of_them(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	u64 dep[5] = { cw_signal(w, 1, 1), cw_signal(w, 1, 7) }, none[5] = { 0 };

	cw_run_list_one(w, q);
	barrier(w, q, VGPU_AQL_TYPE_OR, none, 0);
	barrier(w, q, VGPU_AQL_TYPE_OR, dep, 0);
	cw_ring(w, q);
	cw_run(w, US(100));
	EXPECT_EQ(cw_rptr(w, q), 1);
	cw_put64(w, 1, dep[1] + VGPU_SIGNAL_VALUE, 0);
	cw_run(w, US(1));
	EXPECT_EQ(cw_rptr(w, q), 2);
	EXPECT_EQ(w->nr_reports, 0);
}

static void a_doorbell_tells_once_that_it_was_rung(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);

	cw_run_list_one(w, q);
	cw_run(w, US(10));
	/* The first value of a doorbell may be an old one. */
	EXPECT_EQ(vgpu_chip_rung(w->chip), VGPU_RUNG_MAYBE);
	cw_dispatch(w, q, &KERNEL);
	cw_dispatch(w, q, &KERNEL);
	cw_ring(w, q);
	cw_run(w, MS(1));
	cw_dispatch(w, q, &KERNEL);
	EXPECT_EQ(vgpu_chip_rung(w->chip), VGPU_RUNG_NO);
	cw_ring(w, q);
	EXPECT_EQ(vgpu_chip_rung(w->chip), VGPU_RUNG_YES);
	cw_run(w, MS(1));
	EXPECT_EQ(vgpu_chip_rung(w->chip), VGPU_RUNG_NO);
	/* The chip ignores the doorbell of a queue that is off the runlist. */
	cw_unmap_all(w);
	cw_run(w, MS(1));
	cw_dispatch(w, q, &KERNEL);
	cw_ring(w, q);
	EXPECT_EQ(vgpu_chip_rung(w->chip), VGPU_RUNG_NO);
}

static void a_barrier_may_end_without_a_doorbell(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	u64 dep[5] = { cw_signal(w, 1, 1) };

	cw_run_list_one(w, q);
	cw_run(w, US(10));
	cw_dispatch(w, q, &KERNEL);
	barrier(w, q, VGPU_AQL_TYPE_AND, dep, 0);
	cw_ring(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(vgpu_chip_rung(w->chip), VGPU_RUNG_MAYBE);
	cw_put64(w, 1, dep[0] + VGPU_SIGNAL_VALUE, 0);
	cw_run(w, US(100));
	EXPECT_EQ(vgpu_chip_rung(w->chip), VGPU_RUNG_NO);
}

static void a_barrier_waits_through_an_unmap(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	u64 dep[5] = { cw_signal(w, 1, 1) };

	cw_run_list_one(w, q);
	barrier(w, q, VGPU_AQL_TYPE_AND, dep, 0);
	cw_ring(w, q);
	cw_run(w, US(100));
	cw_unmap_all(w);
	cw_put64(w, 1, dep[0] + VGPU_SIGNAL_VALUE, 0);
	cw_run(w, US(100));
	EXPECT_EQ(cw_rptr(w, q), 0);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	EXPECT_EQ(cw_rptr(w, q), 1);
}

/* Reads the memory that a process sees when the event wakes it. */
static void look_at_queue(struct chip_world *w, const struct vgpu_interrupt *irq)
{
	EXPECT_EQ(irq->kind, VGPU_IRQ_END_OF_PIPE);
	w->seen = cw_rptr(w, 0) << 32 | *(u16 *)cw_slot(w, 0, 0);
}

static void the_event_comes_after_everything_it_tells_of(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 5);
	struct cw_dispatch d = KERNEL;
	u64 mailbox = cw_alloc(w, 5, 8, 8);

	w->on_irq = look_at_queue;
	d.signal = cw_signal(w, 5, 1);
	cw_put64(w, 5, d.signal + VGPU_SIGNAL_MAILBOX, mailbox);
	cw_put32(w, 5, d.signal + VGPU_SIGNAL_EVENT, 77);
	cw_run_list_one(w, q);
	cw_dispatch(w, q, &d);
	cw_ring(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(w->nr_irqs, 1);
	EXPECT_EQ(w->irq[0].context, 77);
	EXPECT_EQ(w->irq[0].pasid, 5);
	EXPECT_EQ(w->irq[0].vmid, 3);
	EXPECT_EQ(cw_get64(w, 5, mailbox), 77);
	EXPECT_EQ(w->seen, 1ull << 32 | VGPU_AQL_TYPE_INVALID);
	EXPECT_EQ(vgpu_chip_counters(w->chip)->interrupts, 1);
}

static void a_packet_that_is_not_published_is_waited_for(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	struct cw_dispatch d = KERNEL;

	cw_run_list_one(w, q);
	cw_dispatch(w, q, &d);
	d.unpublished = true;
	cw_dispatch(w, q, &d);
	d.unpublished = false;
	cw_dispatch(w, q, &d);
	cw_ring(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_rptr(w, q), 1);
	*(u16 *)cw_slot(w, q, 1) = VGPU_AQL_TYPE_KERNEL;	/* without a doorbell */
	cw_run(w, MS(1));
	EXPECT_EQ(cw_rptr(w, q), 3);
	EXPECT(cw_sums_right(w, q));
}

static void rings_go_round_while_saved(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	struct cw_dispatch d = { .workgroups = 50, .ns = US(5) };

	for (u32 i = 0; i < 60; i++) {
		cw_run_list_one(w, q);
		for (u32 j = 0; j < 10; j++)
			cw_dispatch(w, q, &d);
		cw_ring(w, q);
		cw_run(w, US(40));
		if (i % 3 == 0)
			cw_unmap_all(w);
		else
			cw_run(w, US(100));
		if (i % 3)
			cw_unmap_all(w);
		while (w->q[q].written - cw_rptr(w, q) > CW_RING - 10) {
			cw_run_list_one(w, q);
			cw_run(w, US(100));
			cw_unmap_all(w);
		}
	}
	cw_run_list_one(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_rptr(w, q), 600);
	EXPECT(cw_sums_right(w, q));
	EXPECT_EQ(w->nr_reports, 0);
}

/* Slots are free again at launch. New packets there must not disturb running kernels. */
static void with_early_read_pointers_slots_are_reused_under_a_saved_kernel(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	struct cw_dispatch d = { .workgroups = 2000, .ns = US(500) };

	EXPECT_EQ(vgpu_chip_fault(w->chip, VGPU_FAULT_RPTR_EARLY, 0), 0);
	cw_run_list_one(w, q);
	cw_dispatch(w, q, &d);
	cw_ring(w, q);
	cw_run(w, US(50));
	EXPECT_EQ(cw_rptr(w, q), 1);
	EXPECT_EQ(*(u16 *)cw_slot(w, q, 0), VGPU_AQL_TYPE_INVALID);
	EXPECT(!cw_sums_right(w, q));
	cw_unmap_all(w);
	d.workgroups = 1;
	for (u32 i = 0; i < CW_RING; i++)
		cw_dispatch(w, q, &d);	/* also reuses the slot of the first kernel */
	cw_run_list_one(w, q);
	cw_run(w, MS(50));
	EXPECT_EQ(cw_rptr(w, q), CW_RING + 1);
	EXPECT(cw_sums_right(w, q));
	EXPECT_EQ(w->nr_reports, 0);
}

static void a_queue_is_known_again_and_a_new_one_in_its_memory_is_not(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	struct vgpu_chip_queue_view v;

	cw_dispatch(w, q, &KERNEL);
	cw_run_list_one(w, q);
	cw_run(w, MS(1));
	cw_unmap_all(w);
	cw_run_list_one(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_view(w, q, &v), 0);
	EXPECT_EQ(v.rptr, 1);
	cw_unmap_all(w);

	/* The queue is destroyed. The same process makes another one in the same memory. */
	cw_mqd(w, q);
	w->q[q].written = w->q[q].expected = w->q[q].expected_sum = 0;
	cw_put64(w, 1, w->q[q].wptr, 0);
	cw_put64(w, 1, w->q[q].rptr, 0);
	cw_put64(w, 1, w->q[q].result, 0);
	cw_put64(w, 1, w->q[q].result + 8, 0);
	cw_run_list_one(w, q);
	cw_run(w, MS(1));
	cw_dispatch(w, q, &KERNEL);
	cw_ring(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_rptr(w, q), 1);
	EXPECT(cw_sums_right(w, q));
	cw_unmap_all(w);

	/* The queue is destroyed. Another process makes one in the same memory. */
	cw_mqd(w, q);
	w->q[q].process = 2;
	for (u32 s = 0; s < 4096; s += 8)
		cw_put64(w, 2, w->q[q].ring + s, s % 64 ? 0 : VGPU_AQL_TYPE_INVALID);
	w->q[q].written = w->q[q].expected = w->q[q].expected_sum = 0;
	cw_run_list_one(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_view(w, q, &v), 0);
	EXPECT_EQ(v.rptr, 0);
	EXPECT_EQ(v.pasid, 2);
	cw_dispatch(w, q, &KERNEL);
	cw_ring(w, q);
	cw_run(w, MS(1));
	EXPECT(cw_sums_right(w, q));
	EXPECT_EQ(vgpu_chip_view(w->chip, 1, &v), -ENOENT);	/* the old queue is gone */
}

/* Over its life a driver makes more queues than the chip can hold at once. */
static void queues_that_are_no_more_make_room(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);

	w->q[q].mqd = cw_alloc(w, 0, 1 << 20, 4096);
	for (u32 i = 0; i < 3000; i++) {
		cw_mqd(w, q);
		cw_run_list_one(w, q);
		cw_unmap_all(w);
		memset(cw_at(w, 0, w->q[q].mqd), 0, 4 * VGPU_MQD_DW);
		w->q[q].mqd += 64;	/* every queue has a new address */
	}
	EXPECT_EQ(w->nr_reports, 0);
}

static void a_kernel_that_cannot_be_executed_takes_time_only(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	struct cw_dispatch d = KERNEL;

	d.signal = cw_signal(w, 1, 1);
	cw_run_list_one(w, q);
	cw_dispatch(w, q, &d);
	memset(cw_at(w, 1, w->q[q].kernel), 0, 64);
	cw_ring(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_signal_value(w, 1, d.signal), 0);
	EXPECT_EQ(cw_get64(w, 1, d.signal + VGPU_SIGNAL_END) -
		  cw_get64(w, 1, d.signal + VGPU_SIGNAL_START), US(20) / VGPU_TICK_NS);
	EXPECT_EQ(cw_get64(w, 1, w->q[q].result), 0);
	EXPECT_EQ(vgpu_chip_counters(w->chip)->time_only, 1);
	EXPECT(strstr(w->report, "time only"));
}

PROVE(
	CLAIM_WITH(a_barrier_waits_for_all_of_its_signals, cw_up, cw_down),
	CLAIM_WITH(an_or_barrier_waits_for_one_of_them, cw_up, cw_down),
	CLAIM_WITH(a_doorbell_tells_once_that_it_was_rung, cw_up, cw_down),
	CLAIM_WITH(a_barrier_may_end_without_a_doorbell, cw_up, cw_down),
	CLAIM_WITH(a_barrier_waits_through_an_unmap, cw_up, cw_down),
	CLAIM_WITH(the_event_comes_after_everything_it_tells_of, cw_up, cw_down),
	CLAIM_WITH(a_packet_that_is_not_published_is_waited_for, cw_up, cw_down),
	CLAIM_WITH(rings_go_round_while_saved, cw_up, cw_down),
	CLAIM_WITH(with_early_read_pointers_slots_are_reused_under_a_saved_kernel, cw_up, cw_down),
	CLAIM_WITH(a_queue_is_known_again_and_a_new_one_in_its_memory_is_not, cw_up, cw_down),
	CLAIM_WITH(queues_that_are_no_more_make_room, cw_up, cw_down),
	CLAIM_WITH(a_kernel_that_cannot_be_executed_takes_time_only, cw_up, cw_down),
)
