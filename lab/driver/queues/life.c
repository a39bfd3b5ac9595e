// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The life of a queue: its MQDs, its mapping on the GPU, and the progress of its work. */
#include "queues.h"

#include <string.h>

enum {
	MS		= 1000000,
	COPY_BYTES	= 4 << 20,
	COPIES		= 100,
	DRIVER_WAITS_MS	= 9000,		/* queue_preemption_timeout_ms of the driver */
};

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

void mqd_copies(struct gp_lab_client *c)
{
	u32 stride = c->geometry.ctl_stack_bytes + 4096, xccs = c->node.xccs, seen = 0;
	struct probe_mqds m = { 0 };
	struct gp_lab_queue q;
	u64 base;

	probe_queue(c, &q);
	probe_mqds(&m, getpid());
	EXPECT_EQ(m.queues, 1);
	EXPECT_EQ(m.copies, xccs);
	base = m.dw[0][0][MQD_BASE] | (u64)m.dw[0][0][MQD_BASE + 1] << 32;
	for (u32 k = 0; k < xccs; k++) {
		const u32 *dw = m.dw[0][k];
		u64 save = address(q.save.at) + (u64)k * c->geometry.save_bytes;

		EXPECT_EQ(dw[MQD_HEADER], 0xc0310800);
		EXPECT_EQ(dw[MQD_STRIDE], stride);
		EXPECT_EQ(dw[MQD_BASE] | (u64)dw[MQD_BASE + 1] << 32, base + k * stride);
		EXPECT_EQ(dw[MQD_RING] | (u64)dw[MQD_RING + 1] << 32, address(q.ring.at) >> 8);
		EXPECT_EQ(dw[MQD_RPTR_REPORT] | (u64)dw[MQD_RPTR_REPORT + 1] << 32,
			  address(q.read));
		EXPECT_EQ(dw[MQD_SAVE_BASE] | (u64)dw[MQD_SAVE_BASE + 1] << 32, save);
		EXPECT_EQ(dw[MQD_SAVE_SIZE], c->geometry.save_bytes);
		EXPECT_EQ(dw[MQD_STACK_SIZE], c->geometry.ctl_stack_bytes);
		EXPECT_EQ(dw[MQD_QUANTUM], 0x111);
		EXPECT_EQ(dw[MQD_AQL], 1);
		EXPECT_EQ(dw[MQD_CHUNK], 1);
		/* Only the first XCC reports the read pointer. */
		EXPECT_EQ(!!(dw[MQD_CONTROL] & MQD_NO_UPDATE_RPTR), k > 0);
		EXPECT(dw[MQD_LOGIC_XCC] < xccs);
		seen |= 1u << dw[MQD_LOGIC_XCC];
	}
	EXPECT_EQ(seen, (1u << xccs) - 1);
	OK(gp_queue_destroy(&q));
	probe_mqds(&m, getpid());
	EXPECT_EQ(m.queues, 0);
}

void mqd_of_pm4(struct gp_lab_client *c)
{
	struct gp_lab_queue q;

	OK(gp_queue_create(
		c, &q, &(struct gp_queue_args){ .type = KFD_IOC_QUEUE_TYPE_COMPUTE, .xcc = 2 }));
	for (u32 k = 0; k < c->node.xccs; k++) {
		EXPECT_EQ(probe_mqd(k, MQD_TARGET_XCC), 2);
		EXPECT_EQ(probe_mqd(k, MQD_CHUNK), 0);
		EXPECT_EQ(probe_mqd(k, MQD_AQL), 0);
	}
	/* UPDATE_QUEUE reads the XCC from the same bits. */
	q.percentage = KFD_MAX_QUEUE_PERCENTAGE | 3 << 8;
	OK(gp_queue_update(&q, KFD_MAX_QUEUE_PERCENTAGE, q.priority));
	EXPECT_EQ(probe_mqd(0, MQD_TARGET_XCC), 3);
}

void hiq_everywhere(struct gp_lab_client *c)
{
	static struct probe_hqd h[PROBE_QUEUES * 4];
	u32 n = probe_hqds(h, PROBE_QUEUES * 4), seen = 0;

	for (u32 i = 0; i < n; i++) {
		if (!h[i].hiq)
			continue;
		seen |= 1u << h[i].xcc;
		EXPECT_EQ(h[i].pipe, 0);
		EXPECT_EQ(h[i].queue, 0);
		EXPECT_EQ(h[i].reg[MQD_RING - MQD_BASE], h[0].reg[MQD_RING - MQD_BASE]);
		EXPECT_EQ(h[i].reg[MQD_DOORBELL - MQD_BASE] >> 2 & 0x3ffffff,
			  h[0].reg[MQD_DOORBELL - MQD_BASE] >> 2 & 0x3ffffff);
		EXPECT_EQ(!!(h[i].reg[MQD_CONTROL - MQD_BASE] & MQD_NO_UPDATE_RPTR), h[i].xcc > 0);
	}
	EXPECT_EQ(seen, (1u << c->node.xccs) - 1);
}

/* Returns the number of XCCs on which a hardware queue has this ring. */
static u32 loaded(const struct gp_lab_queue *q)
{
	static struct probe_hqd h[PROBE_QUEUES * 4];
	u32 n = probe_hqds(h, PROBE_QUEUES * 4), xccs = 0;

	for (u32 i = 0; i < n; i++) {
		u64 ring = h[i].reg[MQD_RING - MQD_BASE] |
			   (u64)h[i].reg[MQD_RING + 1 - MQD_BASE] << 32;

		if (h[i].hiq || ring << 8 != address(q->ring.at))
			continue;
		/* amdgpu itself uses two queues of each pipe. */
		EXPECT(h[i].pipe < 4 && h[i].queue >= 2 && h[i].queue < 8);
		xccs++;
	}
	return xccs;
}

static void expect_active(struct gp_lab_client *c, const struct gp_lab_queue *q, bool on)
{
	SOON(loaded(q) == (on ? c->node.xccs : 0));
	for (u32 k = 0; k < c->node.xccs; k++)
		EXPECT_EQ(probe_mqd(k, MQD_ACTIVE), on);
}

void mapped_and_not(struct gp_lab_client *c)
{
	struct gp_lab_queue q;

	probe_queue_off(c, &q);
	probe_pause();
	expect_active(c, &q, false);
	OK(gp_queue_update(&q, 100, 7));
	expect_active(c, &q, true);
	OK(gp_queue_update(&q, 0, 7));
	expect_active(c, &q, false);
	/* The percentage only switches the queue on or off. */
	OK(gp_queue_update(&q, 1, 7));
	expect_active(c, &q, true);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	expect_active(c, &q, false);
	/* UPDATE_QUEUE alone does not start a queue of an evicted process. */
	OK(gp_queue_update(&q, 100, 7));
	probe_pause();
	expect_active(c, &q, false);
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	expect_active(c, &q, true);
}

static void nothing_runs(const struct gp_work *w, const struct gp_lab_queue *q, u64 done)
{
	probe_pause();
	EXPECT_EQ(probe_counter("workgroups_done"), done);
	EXPECT_EQ(*q->read, 0);
	for (u32 i = 0; i < w->slots; i++)
		EXPECT(!gp_work_done(w, i));
}

void unmapped_takes_work(struct gp_lab_client *c)
{
	enum { SLOTS = 24 };
	struct gp_lab_queue q, other;
	struct gp_work w, w2;
	u64 before;

	probe_work(c, &w, SLOTS, MS);
	probe_work(c, &w2, 1, MS);
	probe_queue_off(c, &q);
	before = probe_counter("workgroups_done");
	for (u32 i = 0; i < SLOTS; i++)
		OK(gp_work_submit(&w, i, &q, 3 + i, 2, NULL));
	nothing_runs(&w, &q, before);

	/* Meanwhile another queue of the process runs, and this one still does not. */
	probe_queue(c, &other);
	OK(gp_work_submit(&w2, 0, &other, 5, 1, NULL));
	probe_finish(&w2);
	nothing_runs(&w, &q, before + 5);

	/* No doorbell is rung after this. */
	OK(gp_queue_update(&q, 100, 7));
	probe_finish(&w);
	EXPECT_EQ(*q.read, SLOTS);
	EXPECT_EQ(probe_counter("workgroups_done"),
		  before + 5 + SLOTS * 3 + SLOTS * (SLOTS - 1) / 2);
}

void unmapped_while_running(struct gp_lab_client *c)
{
	u64 saved = probe_counter("waves_saved"), restored = probe_counter("waves_restored");
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 3, 1000ull * MS);
	probe_queue(c, &q);
	OK(gp_work_submit(&w, 0, &q, 100, 4, NULL));
	SOON(probe_waves() == 400);
	OK(gp_queue_update(&q, 0, 7));
	EXPECT_EQ(probe_waves(), 0);
	EXPECT_COUNT(probe_counter("waves_saved") - saved, 400);
	OK(gp_work_submit(&w, 1, &q, 7, 1, NULL));
	w.kernel->workgroup_ns = MS;
	OK(gp_work_submit(&w, 2, &q, 9, 16, NULL));
	probe_pause();
	EXPECT(!gp_work_done(&w, 0));
	OK(gp_queue_update(&q, 100, 7));
	probe_finish(&w);
	EXPECT_COUNT(probe_counter("waves_restored") - restored, 400);
}

void evicted_takes_work(struct gp_lab_client *c)
{
	u64 before = probe_counter("workgroups_done");
	struct gp_lab_queue q, late;
	struct gp_work w, w2;

	probe_work(c, &w, 10, MS);
	probe_work(c, &w2, 10, MS);
	probe_queue(c, &q);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	for (u32 i = 0; i < w.slots; i++)
		OK(gp_work_submit(&w, i, &q, 10, 1, NULL));
	nothing_runs(&w, &q, before);
	/* A queue that is created while its process is evicted is evicted. */
	probe_queue(c, &late);
	for (u32 i = 0; i < w2.slots; i++)
		OK(gp_work_submit(&w2, i, &late, 10, 1, NULL));
	nothing_runs(&w2, &late, before);
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	probe_finish(&w);
	probe_finish(&w2);
	EXPECT_EQ(probe_counter("workgroups_done"), before + 200);
}

/* A program that polls often leaves the model time to poll its memory too. */
void barrier_ends_soon(struct gp_lab_client *c)
{
	struct gp_amd_signal *on[GP_AQL_DEPENDENCIES] = { 0 };
	union gp_aql_packet packet;
	struct gp_buffer pass;
	struct gp_lab_queue q;
	struct gp_work w;
	u64 began;

	probe_work(c, &w, 2, MS);
	probe_queue(c, &q);
	OK(gp_work_submit(&w, 0, &q, 10, 1, NULL));
	SOON(gp_work_done(&w, 0));
	OK(gp_buffer_alloc(c, &pass, GP_MEMORY_GTT, 4096));
	on[0] = pass.at;
	gp_signal_init(on[0], 1, NULL);
	packet = gp_aql_barrier_packet(GP_AQL_BARRIER_AND, on, NULL);
	OK(gp_aql_put(&q, &packet));
	OK(gp_work_submit(&w, 1, &q, 10, 1, NULL));
	usleep(30000);
	EXPECT(!gp_work_done(&w, 1));
	began = probe_now_ms();
	gp_signal_store(on[0], 0);
	while (!gp_work_done(&w, 1) && probe_now_ms() < began + PROBE_SOON_MS)
		usleep(50);
	EXPECT(probe_now_ms() - began < 50);
	probe_finish(&w);
}

/* The eviction must not wait for copies that take the model long. */
void copies_evicted(struct gp_lab_client *c)
{
	struct gp_buffer from, to, flag;
	struct gp_lab_queue q;
	u64 began, evicted, copied;
	u64 src, dst, done;

	OK(gp_buffer_alloc(c, &from, GP_MEMORY_GTT, COPY_BYTES));
	OK(gp_buffer_alloc(c, &to, GP_MEMORY_GTT, COPY_BYTES));
	OK(gp_buffer_alloc(c, &flag, GP_MEMORY_GTT, 4096));
	OK(gp_queue_create(c, &q, &(struct gp_queue_args){ .type = KFD_IOC_QUEUE_TYPE_SDMA }));
	src = address(from.at);
	dst = address(to.at);
	done = address(flag.at);
	for (u32 i = 0; i < COPY_BYTES / 8; i++)
		((u64 *)from.at)[i] = i * 0x9e3779b97f4a7c15ull;
	for (u32 i = 0; i < COPIES; i++)
		OK(gp_queue_put(&q, (u32[]){ 1, COPY_BYTES - 1, 0, (u32)src, (u32)(src >> 32),
					     (u32)dst, (u32)(dst >> 32) }, 7));
	OK(gp_queue_put(&q, (u32[]){ 5, (u32)done, (u32)(done >> 32), 1 }, 4));
	began = probe_now_ms();
	gp_queue_ring(&q);
	usleep(10000);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	evicted = probe_now_ms() - began;
	EXPECT(evicted < DRIVER_WAITS_MS);
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	SOON(*(volatile u32 *)flag.at == 1);
	copied = probe_now_ms() - began;
	fprintf(stderr, "evicted after %llu ms, copied %u MiB in %llu ms\n",
		(unsigned long long)evicted, COPIES * (COPY_BYTES >> 20),
		(unsigned long long)copied);
	EXPECT(evicted < copied / 2);	/* independent of the machine's speed */
	EXPECT(!memcmp(from.at, to.at, COPY_BYTES));
	SOON(gp_queue_empty(&q));
}
