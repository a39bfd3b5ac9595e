// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Runlists with more queues than slots: every kind of queue gets a turn. */
#include "chip_stream.h"

enum {
	PROCESSES	= 3,
	EACH		= 13,
	QUEUES		= PROCESSES * EACH,	/* 24 slots: two turns */
	BLOCK		= 4096,
};

struct crowd {
	struct chip_world *w;
	u32 q[QUEUES];
	u64 flag[QUEUES];	/* set when all of its work is done */
	u64 from[QUEUES], to[QUEUES];
};

static u32 process_of(u32 i)
{
	return 1 + i / EACH;
}

static void make(struct crowd *c, u32 i, enum vgpu_queue_kind kind)
{
	struct chip_world *w = c->w;
	u32 process = process_of(i);

	c->flag[i] = cw_alloc(w, process, 8, 8);
	switch (kind) {
	case VGPU_QUEUE_AQL:
		c->q[i] = cw_queue(w, process);
		break;
	case VGPU_QUEUE_PM4:
		c->q[i] = cw_pm4_queue(w, process);
		cw_mqd_put(w, c->q[i], VGPU_MQD_TARGET_XCC, i % w->xccs);
		break;
	case VGPU_QUEUE_SDMA:
		c->q[i] = cw_sdma_queue(w, process);
		c->from[i] = cw_alloc(w, process, BLOCK, 64);
		c->to[i] = cw_alloc(w, process, BLOCK, 64);
		memset(cw_at(w, process, c->from[i]), (int)(i + 1), BLOCK);
		break;
	}
}

/* Submits work that takes time and then sets a flag. */
static void submit(struct crowd *c, u32 i, enum vgpu_queue_kind kind)
{
	struct chip_world *w = c->w;
	struct cw_dispatch d = { .workgroups = 300, .ns = US(300) };

	switch (kind) {
	case VGPU_QUEUE_AQL:
		d.signal = cw_signal(w, process_of(i), 1);
		c->flag[i] = d.signal;
		cw_dispatch(w, c->q[i], &d);
		cw_ring(w, c->q[i]);
		break;
	case VGPU_QUEUE_PM4:
		for (u32 n = 0; n < 10; n++)
			cw_pm4_dispatch(w, c->q[i], 300, US(300));
		cw_pm4_release(w, c->q[i], c->flag[i], 1, 0);
		break;
	case VGPU_QUEUE_SDMA:
		GIVE(w, c->q[i], CW_SDMA_UNIT, 1, BLOCK - 1, 0, LO(c->from[i]), HI(c->from[i]),
		     LO(c->to[i]), HI(c->to[i]), 5, LO(c->flag[i]), HI(c->flag[i]), 1);
		break;
	}
}

static bool done(struct crowd *c, u32 i, enum vgpu_queue_kind kind)
{
	struct chip_world *w = c->w;
	u32 process = process_of(i);

	switch (kind) {
	case VGPU_QUEUE_AQL:
		return !cw_signal_value(w, process, c->flag[i]) && cw_sums_right(w, c->q[i]);
	case VGPU_QUEUE_PM4:
		return cw_get32(w, process, c->flag[i]) && cw_sums_right(w, c->q[i]);
	case VGPU_QUEUE_SDMA:
		return cw_get32(w, process, c->flag[i]) &&
		       !memcmp(cw_at(w, process, c->from[i]), cw_at(w, process, c->to[i]), BLOCK);
	}
	return false;
}

/* Returns how many queues of each process have completed their work. */
static u32 finished(struct crowd *c, const enum vgpu_queue_kind *kinds, u32 ret[PROCESSES])
{
	u32 all = 0;

	memset(ret, 0, PROCESSES * sizeof(*ret));
	for (u32 i = 0; i < QUEUES; i++) {
		bool is = done(c, i, kinds[i]);

		ret[i / EACH] += is;
		all += is;
	}
	return all;
}

static void every_queue_finishes(struct chip_world *w, const enum vgpu_queue_kind *kinds)
{
	struct crowd c = { .w = w };
	u32 each[PROCESSES];

	for (u32 i = 0; i < QUEUES; i++) {
		make(&c, i, kinds[i]);
		if (i % 2)
			submit(&c, i, kinds[i]);	/* before its queue is on a list */
	}
	cw_run_list(w, c.q, QUEUES);
	cw_run(w, US(100));
	for (u32 i = 0; i < QUEUES; i += 2)
		submit(&c, i, kinds[i]);
	for (u32 ms = 0; ms < 2000 && finished(&c, kinds, each) < QUEUES; ms++)
		cw_run(w, MS(1));
	finished(&c, kinds, each);
	for (u32 i = 0; i < PROCESSES; i++)
		EXPECT_EQ(each[i], EACH);
	EXPECT_EQ(w->nr_reports, 0);
	/* No queue has work, so the chip has no next event. */
	EXPECT_EQ(vgpu_chip_next_ns(w->chip), VGPU_NEVER);
	cw_unmap_all(w);
}

static void three_processes_with_thirteen_queues_of(struct chip_world *w, enum vgpu_queue_kind kind)
{
	enum vgpu_queue_kind kinds[QUEUES];

	for (u32 i = 0; i < QUEUES; i++)
		kinds[i] = kind;
	every_queue_finishes(w, kinds);
}

static void three_processes_with_thirteen_aql_queues_each_finish(void **state)
{
	three_processes_with_thirteen_queues_of(*state, VGPU_QUEUE_AQL);
}

static void three_processes_with_thirteen_pm4_queues_each_finish(void **state)
{
	three_processes_with_thirteen_queues_of(*state, VGPU_QUEUE_PM4);
}

static void three_processes_with_thirteen_sdma_queues_each_finish(void **state)
{
	three_processes_with_thirteen_queues_of(*state, VGPU_QUEUE_SDMA);
}

static void three_processes_with_queues_of_every_kind_finish(void **state)
{
	enum vgpu_queue_kind kinds[QUEUES];

	for (u32 i = 0; i < QUEUES; i++)
		kinds[i] = i % 7 == 3 ? VGPU_QUEUE_SDMA :
			   i % 2 ? VGPU_QUEUE_PM4 : VGPU_QUEUE_AQL;
	every_queue_finishes(*state, kinds);
}

/* Two processes, one at a time. The first one keeps the device full. */
struct pair {
	u32 q[2];
	u64 flag;
};

static struct pair busy_and_pm4(struct chip_world *w)
{
	struct pair p = { .q = { cw_queue(w, 1), cw_pm4_queue(w, 2) } };

	p.flag = cw_alloc(w, 2, 16, 8);
	w->at_a_time = 1;
	cw_dispatch(w, p.q[0], &(struct cw_dispatch){ .workgroups = 640 * 1000, .ns = US(200) });
	cw_ring(w, p.q[0]);
	cw_run_list(w, p.q, 2);
	cw_run(w, MS(5));
	return p;
}

static void a_doorbell_of_a_waiting_pm4_queue_brings_its_turn(void **state)
{
	struct chip_world *w = *state;
	struct pair p = busy_and_pm4(w);

	/* The stream has no dispatch, only packets that it executes itself. */
	cw_pm4_release(w, p.q[1], p.flag, 7, 0);
	cw_run(w, MS(4));
	EXPECT_EQ(cw_get32(w, 2, p.flag), 0);	/* the quantum is not over */
	cw_run(w, MS(4));
	EXPECT_EQ(cw_get32(w, 2, p.flag), 7);
	EXPECT_EQ(cw_get32(w, 2, w->q[p.q[1]].rptr), w->q[p.q[1]].written);
	EXPECT_EQ(w->nr_reports, 0);
}

/* A process without further packets ends its turn at once and not after its quantum. */
static void a_pm4_queue_that_has_read_everything_gives_its_turn_back(void **state)
{
	struct chip_world *w = *state;
	struct pair p = busy_and_pm4(w);
	struct vgpu_chip_queue_view v;

	cw_pm4_dispatch(w, p.q[1], 10, US(50));
	cw_run(w, MS(6));
	EXPECT(cw_sums_right(w, p.q[1]));
	EXPECT_EQ(cw_view(w, p.q[0], &v), 0);
	EXPECT_EQ(v.state, VGPU_MAPPED);
	EXPECT(v.waves);
	EXPECT_EQ(cw_view(w, p.q[1], &v), 0);
	EXPECT_EQ(v.state, VGPU_WAITING);
}

static void a_pm4_queue_that_polls_takes_turns_with_the_others(void **state)
{
	struct chip_world *w = *state;
	struct pair p = busy_and_pm4(w);
	u64 flag = p.flag, before;

	/* WAIT_REG_MEM until the word at flag + 8 is 1 */
	GIVE(w, p.q[1], CW_PM4_UNIT, PM4(0x3c, 7), 1 << 4 | 3, LO(flag + 8), HI(flag + 8), 1, ~0u,
	     4);
	cw_pm4_release(w, p.q[1], flag, 9, 0);
	cw_run(w, MS(30));
	before = vgpu_counters(vgpu_chip_device(w->chip))->workgroups_done;
	cw_run(w, MS(50));
	EXPECT(vgpu_counters(vgpu_chip_device(w->chip))->workgroups_done > before);
	EXPECT_EQ(cw_get32(w, 2, flag), 0);
	cw_put32(w, 2, flag + 8, 1);
	for (u32 i = 0; i < 300 && !cw_get32(w, 2, flag); i++)
		cw_run(w, US(100));
	EXPECT_EQ(cw_get32(w, 2, flag), 9);
	EXPECT_EQ(w->nr_reports, 0);
}

static void a_pm4_queue_that_stopped_with_an_error_gets_no_turns(void **state)
{
	struct chip_world *w = *state;
	struct pair p = busy_and_pm4(w);
	u64 mapped;

	GIVE(w, p.q[1], CW_PM4_UNIT, 0x12345678, 0, 0);
	cw_run(w, MS(10));
	EXPECT(w->nr_reports);
	mapped = vgpu_counters(vgpu_chip_device(w->chip))->queues_mapped;
	cw_run(w, MS(50));
	EXPECT_EQ(vgpu_counters(vgpu_chip_device(w->chip))->queues_mapped, mapped);
}

/* Its work is known before the list, so it runs first although another turn precedes it. */
static void a_list_begins_with_the_turn_whose_pm4_packets_were_not_read(void **state)
{
	struct chip_world *w = *state;
	u32 q[2] = { cw_queue(w, 1), cw_pm4_queue(w, 2) };
	u64 flag = cw_alloc(w, 2, 8, 8);
	u64 mapped;

	w->at_a_time = 1;
	cw_run_list(w, q, 2);
	cw_dispatch(w, q[0], &(struct cw_dispatch){ .workgroups = 640 * 50, .ns = US(200) });
	cw_ring(w, q[0]);
	cw_run(w, MS(1));
	cw_pm4_release(w, q[1], flag, 3, 0);
	cw_run(w, US(10));
	cw_unmap_all(w);
	EXPECT_EQ(cw_get32(w, 2, flag), 0);
	cw_run_list_one(w, q[0]);	/* only the other queue until it is done */
	cw_run(w, MS(50));
	cw_unmap_all(w);
	mapped = vgpu_counters(vgpu_chip_device(w->chip))->queues_mapped;
	cw_run_list(w, q, 2);
	cw_run(w, US(100));
	EXPECT_EQ(cw_get32(w, 2, flag), 3);
	EXPECT_EQ(vgpu_counters(vgpu_chip_device(w->chip))->queues_mapped, mapped + 1);
}

PROVE(
	CLAIM_WITH(three_processes_with_thirteen_aql_queues_each_finish, cw_up, cw_down),
	CLAIM_WITH(three_processes_with_thirteen_pm4_queues_each_finish, cw_up, cw_down),
	CLAIM_WITH(three_processes_with_thirteen_sdma_queues_each_finish, cw_up, cw_down),
	CLAIM_WITH(three_processes_with_queues_of_every_kind_finish, cw_up, cw_down),
	CLAIM_WITH(a_doorbell_of_a_waiting_pm4_queue_brings_its_turn, cw_up, cw_down),
	CLAIM_WITH(a_pm4_queue_that_has_read_everything_gives_its_turn_back, cw_up, cw_down),
	CLAIM_WITH(a_pm4_queue_that_polls_takes_turns_with_the_others, cw_up, cw_down),
	CLAIM_WITH(a_pm4_queue_that_stopped_with_an_error_gets_no_turns, cw_up, cw_down),
	CLAIM_WITH(a_list_begins_with_the_turn_whose_pm4_packets_were_not_read, cw_up, cw_down),
)
