// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Pending copies and streams never delay the driver's HIQ commands. */
#include "chip_stream.h"
#include "vgpu/sdma.h"

enum {
	BYTES	= 1 << 20,
	COPIES	= 140,
	/*
	 * The most that one call moves: its share, the last run of an engine and the last piece
	 * of that run.
	 */
	CALL	= (VGPU_CHIP_SHARE + VGPU_SDMA_SHARE) * VGPU_SDMA_PAGE + VGPU_SDMA_PIECE,
};

/* An SDMA queue with far more to copy than one call handles. */
struct copies {
	u32 q, process;
	u64 from, to, flag;
};

static struct copies copies(struct chip_world *w, u32 process)
{
	struct copies c = { .q = cw_sdma_queue(w, process), .process = process };

	c.from = cw_alloc(w, process, BYTES, 4096);
	c.to = cw_alloc(w, process, BYTES, 4096);
	c.flag = cw_alloc(w, process, 8, 8);
	for (u32 i = 0; i < BYTES; i += 8)
		cw_put64(w, process, c.from + i, i * 0x9e3779b97f4a7c15ull + process);
	for (u32 i = 0; i < COPIES; i++)
		GIVE(w, c.q, CW_SDMA_UNIT, 1, BYTES - 1, 0, LO(c.from), HI(c.from),
		     LO(c.to), HI(c.to));
	GIVE(w, c.q, CW_SDMA_UNIT, 5, LO(c.flag), HI(c.flag), 1);
	return c;
}

static bool copied(struct chip_world *w, const struct copies *c)
{
	return cw_get32(w, c->process, c->flag) &&
	       !memcmp(cw_at(w, c->process, c->from), cw_at(w, c->process, c->to), BYTES);
}

static u64 moved(struct chip_world *w)
{
	return vgpu_chip_counters(w->chip)->sdma_bytes;
}

static u64 seen(struct chip_world *w, enum vgpu_chip_packet kind)
{
	return vgpu_chip_counters(w->chip)->packets[kind];
}

/*
 * Moves the clock to the end of the driver's command, as the lab does. Returns the number of
 * calls.
 */
static u32 obey(struct chip_world *w)
{
	u32 calls = 0;

	while (vgpu_chip_commanded(w->chip)) {
		u64 next = vgpu_chip_command_ns(w->chip);

		if (next > w->now)
			w->now = next;
		vgpu_chip_advance(w->chip, w->now);
		EXPECT(++calls < 100);
	}
	return calls;
}

/* Runs until no engine is behind. */
static void catch_up(struct chip_world *w)
{
	for (u32 i = 0; i < 10000 && vgpu_chip_next_ns(w->chip) <= w->now; i++)
		vgpu_chip_advance(w->chip, w->now);
	EXPECT(vgpu_chip_next_ns(w->chip) > w->now);
}

static void an_unmap_waits_for_a_bounded_amount_of_copying(void **state)
{
	struct chip_world *w = *state;
	struct copies c = copies(w, 1);
	u64 before;

	cw_run_list_one(w, c.q);
	cw_run(w, US(20));
	before = moved(w);
	/* After a second all copies are due, and the driver unmaps the queue. */
	w->now += MS(1000);
	cw_unmap(w, VGPU_PM4_DYNAMIC, VGPU_PM4_PREEMPT, 0);
	cw_query(w);
	vgpu_chip_doorbells(w->chip, w->now);
	EXPECT_EQ(seen(w, VGPU_UNMAP_QUEUES), 1);
	EXPECT(moved(w) - before > 0);
	EXPECT(moved(w) - before <= CALL);
	EXPECT(obey(w) < 10);
	EXPECT(cw_fenced(w));
	EXPECT(moved(w) - before <= CALL);	/* its engine has stopped */
	EXPECT(!copied(w, &c));

	cw_run_list_one(w, c.q);
	cw_run(w, MS(1000));
	catch_up(w);
	EXPECT(copied(w, &c));
	EXPECT_EQ(moved(w), (u64)COPIES * BYTES);
	EXPECT_EQ(w->nr_reports, 0);
}

static void a_preemption_does_not_wait_for_the_engines_of_others(void **state)
{
	struct chip_world *w = *state;
	struct copies c = copies(w, 1);
	u32 q[2] = { c.q, cw_queue(w, 2) }, calls;
	u64 before;

	cw_run_list(w, q, 2);
	cw_dispatch(w, q[1], &(struct cw_dispatch){ .workgroups = 10000, .ns = MS(1) });
	cw_ring(w, q[1]);
	cw_run(w, US(20));
	w->now += MS(10);
	before = moved(w);
	cw_unmap(w, VGPU_PM4_BY_PASID, VGPU_PM4_PREEMPT, 2);
	cw_query(w);
	vgpu_chip_doorbells(w->chip, w->now);
	calls = obey(w);
	EXPECT(calls < 10);
	EXPECT(cw_fenced(w));
	EXPECT(moved(w) - before <= (calls + 1ull) * CALL);
	EXPECT(moved(w) < (u64)COPIES * BYTES);
	catch_up(w);
	EXPECT(copied(w, &c));
	EXPECT_EQ(w->nr_reports, 0);
}

static void engines_that_are_behind_go_on_side_by_side(void **state)
{
	struct chip_world *w = *state;
	struct copies a = copies(w, 1), b = copies(w, 2);
	u32 q[2] = { a.q, b.q };
	struct vgpu_chip_queue_view v[2];

	cw_run_list(w, q, 2);
	cw_run(w, US(20));
	w->now += MS(1000);
	for (u32 i = 0; i < 20; i++)
		vgpu_chip_advance(w->chip, w->now);
	for (u32 i = 0; i < 2; i++)
		EXPECT_EQ(cw_view(w, q[i], &v[i]), 0);
	EXPECT(v[0].rptr && v[0].rptr < v[0].wptr);
	EXPECT(v[1].rptr + 28 >= v[0].rptr && v[0].rptr + 28 >= v[1].rptr);
	catch_up(w);
	EXPECT(copied(w, &a) && copied(w, &b));
	EXPECT_EQ(w->nr_reports, 0);
}

/* Kernels need no copies, so they end on time although engines are behind. */
static void kernels_go_on_while_engines_are_behind(void **state)
{
	struct chip_world *w = *state;
	struct copies c = copies(w, 1);
	u32 q[2] = { c.q, cw_queue(w, 2) };

	cw_run_list(w, q, 2);
	for (u32 i = 0; i < 50; i++)
		cw_dispatch(w, q[1], &(struct cw_dispatch){
			.workgroups = 100, .ns = US(10), .barrier = true });
	cw_ring(w, q[1]);
	cw_run(w, US(20));
	w->now += MS(100);
	vgpu_chip_advance(w->chip, w->now);
	EXPECT(cw_sums_right(w, q[1]));
	EXPECT(!copied(w, &c));
	EXPECT(vgpu_chip_next_ns(w->chip) <= w->now);
}

/* A PM4 stream takes no time of its own, so all of it is due at once. */
static void an_unmap_waits_for_a_bounded_part_of_a_stream(void **state)
{
	enum { NOPS = 1 << 19 };
	struct chip_world *w = *state;
	u32 q = cw_pm4_queue(w, 1), calls;
	u64 ib = cw_alloc(w, 1, 4ull * NOPS, 4096), flag = cw_alloc(w, 1, 8, 8);

	for (u32 i = 0; i < NOPS; i++)
		cw_put32(w, 1, ib + 4ull * i, VGPU_PM4_PAD);
	cw_run_list_one(w, q);
	cw_run(w, US(20));
	GIVE(w, q, CW_PM4_UNIT, PM4(0x3f, 4), LO(ib), HI(ib), NOPS);
	cw_pm4_release(w, q, flag, 1, 0);
	cw_unmap(w, VGPU_PM4_DYNAMIC, VGPU_PM4_PREEMPT, 0);
	cw_query(w);
	vgpu_chip_doorbells(w->chip, w->now);
	EXPECT_EQ(seen(w, VGPU_UNMAP_QUEUES), 1);
	EXPECT(seen(w, VGPU_PM4_USER) <= VGPU_CHIP_SHARE + 256);
	EXPECT(vgpu_chip_next_ns(w->chip) <= w->now);
	calls = obey(w);
	EXPECT(calls < 10);
	EXPECT(cw_fenced(w));
	EXPECT(seen(w, VGPU_PM4_USER) <= (calls + 1ull) * (VGPU_CHIP_SHARE + 256));
	EXPECT_EQ(cw_get32(w, 1, flag), 0);

	cw_run_list_one(w, q);
	cw_run(w, MS(1));
	catch_up(w);
	EXPECT_EQ(cw_get32(w, 1, flag), 1);
	EXPECT_EQ(w->nr_reports, 0);
}

PROVE(
	CLAIM_WITH(an_unmap_waits_for_a_bounded_amount_of_copying, cw_up, cw_down),
	CLAIM_WITH(a_preemption_does_not_wait_for_the_engines_of_others, cw_up, cw_down),
	CLAIM_WITH(engines_that_are_behind_go_on_side_by_side, cw_up, cw_down),
	CLAIM_WITH(kernels_go_on_while_engines_are_behind, cw_up, cw_down),
	CLAIM_WITH(an_unmap_waits_for_a_bounded_part_of_a_stream, cw_up, cw_down),
)
