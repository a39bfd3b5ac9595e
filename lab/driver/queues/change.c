// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Changes and queries of a queue. */
#include "queues.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MS = 1000000 };

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

void priorities(struct gp_lab_client *c)
{
	struct probe_mqds m = { 0 };
	struct gp_lab_queue q;

	probe_queue(c, &q);
	for (u32 priority = 0; priority <= KFD_MAX_QUEUE_PRIORITY; priority++) {
		OK(gp_queue_update(&q, 100, priority));
		probe_mqds(&m, getpid());
		for (u32 k = 0; k < c->node.xccs; k++) {
			EXPECT_EQ(m.dw[0][k][MQD_PRIORITY], priority);
			EXPECT_EQ(m.dw[0][k][MQD_PIPE_PRIORITY],
				  priority < 7 ? 0 : priority < 11 ? 1 : 2);
		}
	}
}

static int update(struct gp_lab_queue *q, u64 ring, u32 bytes)
{
	struct kfd_ioctl_update_queue_args u = {
		.ring_base_address = ring, .queue_id = q->id, .ring_size = bytes,
		.queue_percentage = 100, .queue_priority = 7,
	};

	return gp_client_call(q->c, AMDKFD_IOC_UPDATE_QUEUE, &u, "UPDATE_QUEUE");
}

void null_ring(struct gp_lab_client *c)
{
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 2, MS);
	probe_queue(c, &q);
	OK(gp_work_submit(&w, 0, &q, 10, 1, NULL));
	SOON(gp_work_done(&w, 0));
	OK(update(&q, 0, 0));
	SOON(!probe_mqd(0, MQD_ACTIVE));
	OK(gp_work_submit(&w, 1, &q, 10, 1, NULL));
	probe_pause();
	EXPECT(!gp_work_done(&w, 1));
	OK(update(&q, address(q.ring.at), q.ring_bytes));
	probe_finish(&w);
	/* The ring belongs to the queue again, so it cannot be freed before the queue. */
	REFUSED(gp_buffer_free(c, &q.ring), EBUSY);
	OK(gp_queue_destroy(&q));
}

void ring_replaced(struct gp_lab_client *c)
{
	struct gp_buffer bigger, old;
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 6, MS);
	OK(gp_queue_create(c, &q, &(struct gp_queue_args){
		.type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, .ring_bytes = 4096 }));
	for (u32 i = 0; i < 3; i++)
		OK(gp_work_submit(&w, i, &q, 10, 1, NULL));
	SOON(gp_queue_empty(&q));
	OK(gp_buffer_alloc(c, &bigger, GP_MEMORY_USERPTR, 8192));
	OK(update(&q, address(bigger.at), 8192));
	EXPECT_EQ(probe_mqd(3, MQD_RING) | (u64)probe_mqd(3, MQD_RING + 1) << 32,
		  address(bigger.at) >> 8);
	EXPECT_EQ(probe_mqd(3, MQD_CONTROL) & 0x3f, 10);	/* 2 << 10 dwords */
	/* The old ring can be freed now, but not the new one. */
	old = q.ring;
	OK(gp_buffer_free(c, &old));
	q.ring = bigger;
	q.ring_bytes = 8192;
	REFUSED(gp_buffer_free(c, &bigger), EBUSY);
	for (u32 i = 3; i < 6; i++)
		OK(gp_work_submit(&w, i, &q, 10, 1, NULL));
	probe_finish(&w);
	OK(gp_queue_destroy(&q));
}

static int set_mask(struct gp_lab_queue *q, const u32 *mask, u32 words)
{
	struct kfd_ioctl_set_cu_mask_args m = { .queue_id = q->id, .num_cu_mask = words * 32,
					.cu_mask_ptr = address(mask) };

	return gp_client_call(q->c, AMDKFD_IOC_SET_CU_MASK, &m, "SET_CU_MASK");
}

/* Bit i is XCC i % xccs. Within an XCC the bits go through the engines, then their next CUs. */
static void expect_masks(struct gp_lab_client *c, const u32 *mask)
{
	static const u32 at[4] = { 23, 24, 26, 27 };
	u32 xccs = c->node.xccs, engines = c->node.arrays / c->node.arrays_per_engine / xccs;
	struct probe_mqds m = { 0 };
	u32 want[PROBE_XCCS][4] = { 0 };

	EXPECT_EQ(engines, 4);
	for (u32 i = 0; i < c->geometry.cus * xccs; i++)
		if (mask[i / 32] >> i % 32 & 1)
			want[i % xccs][i / xccs % engines] |= 1u << i / xccs / engines;
	probe_mqds(&m, getpid());
	for (u32 k = 0; k < xccs; k++)
		for (u32 se = 0; se < 4; se++)
			EXPECT_EQ(m.dw[0][k][at[se]], want[k][se]);
}

void cu_masks(struct gp_lab_client *c)
{
	static const u32 masks[][3] = {
		{ ~0u, ~0u, ~0u }, { 1, 0, 0 }, { 0xf, 0, 0 }, { 0x12345678, 0x9abcdef0, 0xffff },
		{ 0, 0x80000000, 0 }, { 0xffffffff, 0xff, 0 },
	};
	struct gp_lab_queue q;

	probe_queue(c, &q);
	for (u32 k = 0; k < c->node.xccs; k++)
		EXPECT_EQ(probe_mqd(k, MQD_SE0), ~0u);
	for (u32 i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		OK(set_mask(&q, masks[i], 3));
		expect_masks(c, masks[i]);
	}
	/* Another update keeps the setting. */
	OK(gp_queue_update(&q, 100, 9));
	expect_masks(c, masks[5]);
}

/* Returns the duration of a kernel that fills every CU once. */
static u64 duration(struct gp_work *w, u32 slot, struct gp_lab_queue *q)
{
	/* A CU has room for exactly two workgroups of 16 waves. */
	OK(gp_work_submit(w, slot, q, 2 * q->c->geometry.cus * q->c->node.xccs, 16, NULL));
	SOON(gp_work_done(w, slot));
	OK(gp_work_check(w, slot));
	return gp_work_end_ns(w, slot) - gp_work_start_ns(w, slot);
}

void cu_mask_slows(struct gp_lab_client *c)
{
	static const u32 half[] = { ~0u, 0xff, 0 }, quarter[] = { 0xfffff, 0, 0 };
	u64 full_ns, half_ns, quarter_ns;
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 3, 20 * MS);
	probe_queue(c, &q);
	full_ns = duration(&w, 0, &q);
	OK(set_mask(&q, half, 3));
	half_ns = duration(&w, 1, &q);
	OK(set_mask(&q, quarter, 3));
	quarter_ns = duration(&w, 2, &q);
	EXPECT_EQ((full_ns + 5 * MS) / (20 * MS), 1);
	EXPECT_EQ((half_ns + 5 * MS) / (20 * MS), 2);
	EXPECT_EQ((quarter_ns + 5 * MS) / (20 * MS), 4);
}

void wave_state(struct gp_lab_client *c)
{
	u32 save = c->geometry.save_bytes, stack = c->geometry.ctl_stack_bytes;
	u8 *at = mmap(NULL, c->geometry.mapping_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct kfd_ioctl_get_queue_wave_state_args s = { .ctl_stack_address = address(at) };
	struct gp_lab_queue q;
	struct gp_work w;

	EXPECT(at != MAP_FAILED);
	probe_work(c, &w, 1, 1000ull * MS);
	probe_queue(c, &q);
	s.queue_id = q.id;
	OK(gp_queue_update(&q, 0, 7));
	OK(gp_client_call(c, AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &s, "GET_QUEUE_WAVE_STATE"));
	EXPECT_EQ(s.ctl_stack_used_size, 0);
	EXPECT_EQ(s.save_area_used_size, 0);
	OK(gp_queue_update(&q, 100, 7));
	OK(gp_work_submit(&w, 0, &q, 160, 4, NULL));
	SOON(probe_waves() == 640);
	OK(gp_queue_update(&q, 0, 7));
	OK(gp_client_call(c, AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &s, "GET_QUEUE_WAVE_STATE"));
	for (u32 k = 0; k < c->node.xccs; k++) {
		const struct kfd_context_save_area_header *h = (void *)(at + (u64)k * save);
		u32 used = h->wave_state.control_stack_size, word = 0;

		EXPECT(used > 0 && used <= stack);
		EXPECT_EQ(h->wave_state.control_stack_offset, stack - used);
		EXPECT(h->wave_state.wave_state_size > 0);
		EXPECT_EQ(h->wave_state.wave_state_offset, stack + h->wave_state.wave_state_size);
		EXPECT_EQ(h->wave_state.control_stack_offset, probe_mqd(k, MQD_STACK_OFFSET));
		EXPECT_EQ(h->wave_state.wave_state_offset, probe_mqd(k, MQD_WAVE_OFFSET));
		for (u32 i = 0; i < used; i++)
			word |= at[(u64)k * save + stack - used + i];
		EXPECT(word);	/* the stack itself is present */
		if (!k) {
			EXPECT_EQ(s.ctl_stack_used_size, used);
			EXPECT_EQ(s.save_area_used_size, h->wave_state.wave_state_size);
		}
	}
	OK(gp_queue_update(&q, 100, 7));
	probe_finish(&w);
}

static int set_gws(struct gp_lab_queue *q, u32 count)
{
	struct kfd_ioctl_alloc_queue_gws_args g = { .queue_id = q->id, .num_gws = count };

	return gp_client_call(q->c, AMDKFD_IOC_ALLOC_QUEUE_GWS, &g, "ALLOC_QUEUE_GWS");
}

void gws(struct gp_lab_client *c)
{
	enum { FORCE_SIMD_DIST = 1 << 23 };
	static const u32 all[] = { ~0u, ~0u, ~0u };
	struct gp_lab_queue q, other, none = { .c = c, .id = 99 };

	probe_queue(c, &q);
	REFUSED(set_gws(&none, 1), EINVAL);
	REFUSED(set_gws(&q, 0), EINVAL);	/* the queue has none */
	EXPECT(!(probe_mqd(0, MQD_RESOURCES) & FORCE_SIMD_DIST));
	OK(set_gws(&q, 64));
	EXPECT(probe_mqd(0, MQD_RESOURCES) & FORCE_SIMD_DIST);
	REFUSED(set_gws(&q, 64), EBUSY);
	/* A later CU mask clears the mark. */
	OK(set_mask(&q, all, 3));
	EXPECT(!(probe_mqd(0, MQD_RESOURCES) & FORCE_SIMD_DIST));
	probe_queue(c, &other);
	REFUSED(set_gws(&other, 64), EBUSY);	/* only one queue of a process may have it */
	OK(set_gws(&q, 0));
	OK(set_gws(&other, 64));
}

void xnack(struct gp_lab_client *c)
{
	struct kfd_ioctl_set_xnack_mode_args x = { .xnack_enabled = -1 };

	/* Debian builds the driver without shared virtual memory, so it lacks this call. */
	REFUSED(gp_client_call(c, AMDKFD_IOC_SET_XNACK_MODE, &x, "SET_XNACK_MODE"), EPERM);
	x.xnack_enabled = 1;
	REFUSED(gp_client_call(c, AMDKFD_IOC_SET_XNACK_MODE, &x, "SET_XNACK_MODE"), EPERM);
}

#define PROC	"/sys/class/kfd/kfd/proc/%d/"

void sysfs(struct gp_lab_client *c)
{
	int pid = getpid(), before;
	struct gp_lab_queue a, p, s;
	char text[32];

	EXPECT(probe_pasid() > 0);
	OK(gp_queue_create(c, &a, &(struct gp_queue_args){
		.type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, .ring_bytes = 8192 }));
	OK(gp_queue_create(c, &p, &(struct gp_queue_args){ .type = KFD_IOC_QUEUE_TYPE_COMPUTE }));
	OK(gp_queue_create(c, &s, &(struct gp_queue_args){ .type = KFD_IOC_QUEUE_TYPE_SDMA }));
	/* No newline. The driver uses its own type numbers; AQL and PM4 share one. */
	EXPECT(!strcmp(probe_file(PROC "queues/%u/size", pid, a.id), "8192"));
	EXPECT(!strcmp(probe_file(PROC "queues/%u/type", pid, a.id), "0"));
	EXPECT(!strcmp(probe_file(PROC "queues/%u/type", pid, p.id), "0"));
	EXPECT(!strcmp(probe_file(PROC "queues/%u/type", pid, s.id), "1"));
	snprintf(text, sizeof(text), "%u", c->node.gpu_id);
	EXPECT(!strcmp(probe_file(PROC "queues/%u/gpuid", pid, a.id), text));
	/* May exceed 0 on a busy machine, because buffers may have moved during queue creation. */
	before = atoi(probe_file(PROC "stats_%u/evicted_ms", pid, c->node.gpu_id));
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	usleep(60000);
	/* The driver adds the time at the restore. */
	EXPECT(atoi(probe_file(PROC "stats_%u/evicted_ms", pid, c->node.gpu_id)) == before);
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	EXPECT(atoi(probe_file(PROC "stats_%u/evicted_ms", pid, c->node.gpu_id)) >= before + 50);
	OK(gp_queue_destroy(&s));
	EXPECT(!strcmp(probe_file(PROC "queues/%u/type", pid, s.id), ""));
}

void occupancy(struct gp_lab_client *c)
{
	u32 per_cu = c->node.simds_per_cu * c->node.waves_per_simd, cus;
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 1, 600000ull * MS);
	probe_queue(c, &q);
	EXPECT(!strcmp(probe_file(PROC "stats_%u/cu_occupancy", getpid(), c->node.gpu_id), "0\n"));
	OK(gp_work_submit(&w, 0, &q, 150, 4, NULL));
	SOON(probe_waves() == 600);
	cus = (u32)atoi(probe_file(PROC "stats_%u/cu_occupancy", getpid(), c->node.gpu_id));
	/* The driver multiplies the first XCC's waves by the XCCs and rounds up to CUs. */
	EXPECT(cus >= (600 - 4 * c->node.xccs + per_cu - 1) / per_cu);
	EXPECT(cus <= (600 + 4 * c->node.xccs + per_cu - 1) / per_cu);
	OK(gp_queue_update(&q, 0, 7));
	EXPECT(!strcmp(probe_file(PROC "stats_%u/cu_occupancy", getpid(), c->node.gpu_id), "0\n"));
}

void ids_reused(struct gp_lab_client *c)
{
	struct gp_lab_queue q[3], s;

	for (u32 i = 0; i < 3; i++) {
		OK(gp_queue_create(c, &q[i],
				   &(struct gp_queue_args){ .type = KFD_IOC_QUEUE_TYPE_SDMA }));
		EXPECT_EQ(q[i].id, i);
	}
	OK(gp_queue_destroy(&q[1]));
	OK(gp_queue_create(c, &s, &(struct gp_queue_args){ .type = KFD_IOC_QUEUE_TYPE_SDMA }));
	EXPECT_EQ(s.id, 1);
}
