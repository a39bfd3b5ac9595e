// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The lab's client library where it needs no GPU: topology, sizes, packets, save areas. */
#include "tests/shared/gp_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/client/client.h"
#include "lab/client/save.h"
#include "lab/client/work.h"

/* What the driver shows of each part, and what follows (two rows of them worked out by hand). */
static const struct part {
	struct gp_node node;
	struct gp_geometry want;
} mi308x = {
	{ .gfx_version = 90402, .xccs = 4, .simds = 320, .simds_per_cu = 4, .waves_per_simd = 8,
	  .arrays = 16, .arrays_per_engine = 1, .save_bytes = 12214272, .ctl_stack_bytes = 8192 },
	{ 20, 800, 8192, 12214272, 25600, 4096, 48959488 },
}, mi300x = {
	{ .gfx_version = 90402, .xccs = 8, .simds = 1216, .simds_per_cu = 4, .waves_per_simd = 8,
	  .arrays = 32, .arrays_per_engine = 1, .save_bytes = 23203840, .ctl_stack_bytes = 12288 },
	{ 38, 1520, 12288, 23203840, 48640, 4096, 186019840ull },
}, mi210 = {
	{ .gfx_version = 90010, .xccs = 1, .simds = 416, .simds_per_cu = 4, .waves_per_simd = 8,
	  .arrays = 8, .arrays_per_engine = 1, .save_bytes = 0x3c91000, .ctl_stack_bytes = 0x9000 },
	{ 104, 4096, 0x9000, 0x3c91000, 0x20000, 4096, 63639552 },
}, two_mi210 = {	/* no such part: the limit per engine, with more than one XCC */
	{ .gfx_version = 90402, .xccs = 2, .simds = 832, .simds_per_cu = 4, .waves_per_simd = 8,
	  .arrays = 16, .arrays_per_engine = 1, .save_bytes = 0x3c91000,
	  .ctl_stack_bytes = 0x9000 },
	{ 104, 4096, 0x9000, 0x3c91000, 0x20000, 4096, 127279104 },
};

static void expect_sizes(const struct part *p)
{
	struct gp_geometry g;

	EXPECT_EQ(gp_geometry(&p->node, &g), 0);
	EXPECT_EQ(g.cus, p->want.cus);
	EXPECT_EQ(g.waves, p->want.waves);
	EXPECT_EQ(g.ctl_stack_bytes, p->want.ctl_stack_bytes);
	EXPECT_EQ(g.save_bytes, p->want.save_bytes);
	EXPECT_EQ(g.debug_bytes, p->want.debug_bytes);
	EXPECT_EQ(g.eop_bytes, p->want.eop_bytes);
	EXPECT_EQ(g.mapping_bytes, p->want.mapping_bytes);
}

static void save_areas_have_the_size_the_driver_asks_for(void **state)
{
	(void)state;
	expect_sizes(&mi308x);
	expect_sizes(&mi300x);
	expect_sizes(&mi210);
	expect_sizes(&two_mi210);
}

static void a_driver_with_another_formula_is_refused(void **state)
{
	struct gp_node node = mi308x.node;
	struct gp_geometry g = { .cus = 77 };

	(void)state;
	node.save_bytes += 4096;
	EXPECT_EQ(gp_geometry(&node, &g), -EPROTO);
	EXPECT(strstr(gp_client_error(), "12218368"));
	node = mi308x.node;
	node.gfx_version = 110000;
	EXPECT_EQ(gp_geometry(&node, &g), -ENOTSUP);
	node = mi308x.node;
	node.simds_per_cu = 0;
	EXPECT_EQ(gp_geometry(&node, &g), -EINVAL);
	EXPECT_EQ(g.cus, 77);
}

static void a_full_gpu_has_eight_waves_per_simd(void **state)
{
	struct gp_node node = mi308x.node;

	(void)state;
	EXPECT_EQ(gp_node_waves(&node), 2560);
	node.waves_per_simd = 10;	/* what amdgpu says of every gfx9 */
	EXPECT_EQ(gp_node_waves(&node), 2560);
}

/* A topology of three nodes: a processor and two GPUs, made in @dir. */
static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		fail_msg("cannot write %s", path);
	fputs(text, f);
	fclose(f);
}

static void folder(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	mkdir(path, 0700);
}

static const char properties[] =
	"cpu_cores_count 0\nsimd_count 320\nmem_banks_count 1\nmax_waves_per_simd 8\n"
	"lds_size_in_kb 64\nwave_front_size 64\narray_count 16\nsimd_arrays_per_engine 1\n"
	"simd_per_cu 4\ngfx_target_version 90402\ndevice_id 29858\nlocation_id 32\ndomain 0\n"
	"drm_render_minor 129\nhive_id 18446744073709551615\nnum_sdma_engines 2\n"
	"num_sdma_queues_per_engine 8\nnum_cp_queues 24\ncwsr_size 12214272\n"
	"ctl_stack_size 8192\ncapability 671588992\nnum_xcc 4\n";

static int make_topology(void **state)
{
	char *dir = strdup("/tmp/gp-topology-XXXXXX");

	if (!dir || !mkdtemp(dir))
		return -1;
	folder(dir, "nodes");
	folder(dir, "nodes/0");
	folder(dir, "nodes/2");
	folder(dir, "nodes/10");
	put(dir, "nodes/0/gpu_id", "0\n");
	put(dir, "nodes/0/properties", "cpu_cores_count 2\nsimd_count 0\n");
	put(dir, "nodes/2/gpu_id", "54702\n");
	put(dir, "nodes/2/properties", properties);
	put(dir, "nodes/10/gpu_id", "4711\n");
	put(dir, "nodes/10/properties", properties);
	*state = dir;
	return 0;
}

static int remove_topology(void **state)
{
	static const char *const names[] = {
		"nodes/0/gpu_id", "nodes/0/properties", "nodes/2/gpu_id", "nodes/2/properties",
		"nodes/10/gpu_id", "nodes/10/properties", "nodes/0", "nodes/2", "nodes/10", "nodes",
		"",
	};
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", (char *)*state, names[i]);
		remove(path);
	}
	free(*state);
	return 0;
}

static void gpus_come_in_the_order_of_their_nodes(void **state)
{
	struct gp_node nodes[4];
	struct gp_geometry g;
	u32 count = 0;

	EXPECT_EQ(gp_topology_read(*state, nodes, 4, &count), 0);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(nodes[0].node, 2);
	EXPECT_EQ(nodes[0].gpu_id, 54702);
	EXPECT_EQ(nodes[1].node, 10);
	EXPECT_EQ(nodes[1].gpu_id, 4711);
	EXPECT_EQ(nodes[0].render_minor, 129);
	EXPECT_EQ(nodes[0].xccs, 4);
	EXPECT_EQ(nodes[0].cp_queues, 24);
	EXPECT_EQ(nodes[0].capability, 671588992);
	EXPECT_EQ(gp_geometry(&nodes[0], &g), 0);
	EXPECT_EQ(g.mapping_bytes, 48959488);
}

static void more_gpus_than_room_are_counted_and_not_written(void **state)
{
	struct gp_node nodes[2] = { { 0 }, { .gpu_id = 99 } };
	u32 count = 0;

	EXPECT_EQ(gp_topology_read(*state, nodes, 1, &count), 0);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(nodes[0].gpu_id, 54702);
	EXPECT_EQ(nodes[1].gpu_id, 99);
}

static void a_node_without_its_files_is_named(void **state)
{
	struct gp_node nodes[4];
	char path[256];
	u32 count;

	snprintf(path, sizeof(path), "%s/nodes/10/properties", (char *)*state);
	unlink(path);
	EXPECT_EQ(gp_topology_read(*state, nodes, 4, &count), -ENOENT);
	EXPECT(strstr(gp_client_error(), "nodes/10/properties"));
}

static void without_a_driver_the_line_says_so(void **state)
{
	const struct gp_client_args args = { .topology = "/nonexistent" };
	struct gp_lab_client c;

	(void)state;
	EXPECT_EQ(gp_client_open(&c, &args), -ENOENT);
	EXPECT(strstr(gp_client_error(), "/nonexistent/nodes"));
	EXPECT(strstr(gp_client_error(), "is the driver loaded?"));
}

static void a_gpu_that_is_not_there_is_counted(void **state)
{
	const struct gp_client_args args = { .topology = *state, .gpu = 2 };
	struct gp_lab_client c;

	EXPECT_EQ(gp_client_open(&c, &args), -ENODEV);
	EXPECT(strstr(gp_client_error(), "GPU 2: the driver shows 2"));
}

static void a_sparse_area_is_its_own_memory_only_at_the_start_of_each_part(void **state)
{
	enum { STRIDE = 3 << 20, REAL = 64 << 10, BYTES = 2 * STRIDE + 4096 };
	int fd = memfd_create("padding", 0);
	volatile u8 *a, *b;	/* the same byte at several addresses */

	(void)state;
	EXPECT_EQ(ftruncate(fd, GP_SAVE_PADDING), 0);
	a = gp_save_map_sparse(BYTES, STRIDE, REAL, fd);
	b = gp_save_map_sparse(BYTES, STRIDE, REAL, fd);
	EXPECT(a && b);
	/* Its own: first and last byte of the start of each part. */
	for (u64 part = 0; part < BYTES; part += STRIDE) {
		a[part] = 1;
		EXPECT_EQ(b[part], 0);
	}
	a[STRIDE + REAL - 1] = 2;
	EXPECT_EQ(b[STRIDE + REAL - 1], 0);
	EXPECT_EQ(a[REAL - 1], 0);
	/* Shared: the byte behind it, in both parts and in both areas. */
	a[REAL] = 3;
	EXPECT_EQ(a[STRIDE + REAL], 3);
	EXPECT_EQ(b[REAL], 3);
	/* And all of it is there to the last byte. */
	a[BYTES - 1] = 4;
	munmap((void *)a, BYTES);
	munmap((void *)b, BYTES);
	close(fd);
}

static void a_kernel_packet_says_what_was_asked(void **state)
{
	struct gp_amd_signal done;
	const struct gp_launch l = {
		.kernel = 0x1000, .kernarg = 0x2000, .workgroups = 160, .waves = 16, .done = &done,
	};
	union gp_aql_packet p = gp_aql_kernel_packet(&l);

	(void)state;
	EXPECT_EQ(p.kernel.header & 0xff, GP_AQL_KERNEL);
	EXPECT(p.kernel.header & GP_AQL_BARRIER);
	EXPECT_EQ(p.kernel.workgroup[0], 1024);
	EXPECT_EQ(p.kernel.grid[0], 163840);
	EXPECT_EQ(p.kernel.grid[1] * p.kernel.grid[2], 1);
	EXPECT_EQ(p.kernel.kernel_object, 0x1000);
	EXPECT_EQ(p.kernel.kernarg, 0x2000);
	EXPECT(p.kernel.completion == (u64)(uintptr_t)&done);
}

/* A queue without a driver: the library's own side of it. */
struct fake {
	struct gp_lab_queue q;
	union gp_aql_packet ring[16];
	struct gp_amd_queue pointers;
	u64 doorbell;
};

static void fake_queue(struct fake *f, u32 type)
{
	memset(f, 0, sizeof(*f));
	f->q.type = type;
	f->q.ring_bytes = sizeof(f->ring);
	f->q.ring.at = f->ring;
	f->q.write = (u64 *)&f->pointers.write_index;
	f->q.read = (u64 *)&f->pointers.read_index;
	f->q.doorbell = &f->doorbell;
}

static void an_aql_queue_takes_packets_until_it_is_full(void **state)
{
	union gp_aql_packet p = { .barrier = { .header = GP_AQL_BARRIER_AND } };
	struct fake f;

	(void)state;
	fake_queue(&f, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL);
	EXPECT(gp_queue_empty(&f.q));
	for (u32 i = 0; i < 16; i++)
		EXPECT_EQ(gp_aql_put(&f.q, &p), 0);
	EXPECT_EQ(gp_aql_put(&f.q, &p), -EAGAIN);
	EXPECT_EQ(f.pointers.write_index, 0);
	gp_queue_ring(&f.q);
	EXPECT_EQ(f.pointers.write_index, 16);
	EXPECT_EQ(f.doorbell, 15);
	f.pointers.read_index = 1;
	p.barrier.completion = 77;
	EXPECT_EQ(gp_aql_put(&f.q, &p), 0);
	EXPECT_EQ(f.ring[0].barrier.completion, 77);
	EXPECT(!gp_queue_empty(&f.q));
}

static void pm4_and_sdma_rings_wrap_and_count_in_their_own_units(void **state)
{
	u32 dw[200] = { 0 };
	struct fake f;

	(void)state;
	fake_queue(&f, KFD_IOC_QUEUE_TYPE_COMPUTE);
	EXPECT_EQ(gp_queue_put(&f.q, dw, 200), 0);
	gp_queue_ring(&f.q);
	EXPECT_EQ(f.doorbell, 200);
	EXPECT_EQ(gp_queue_put(&f.q, dw, 56), -EAGAIN);
	f.pointers.read_index = 200;
	EXPECT(gp_queue_empty(&f.q));
	dw[199] = 0xabcd;
	EXPECT_EQ(gp_queue_put(&f.q, dw, 200), 0);
	EXPECT_EQ(((u32 *)f.ring)[(200 + 199) % 256], 0xabcd);
	f.pointers.read_index = 400 % 256;	/* reported modulo the ring */
	EXPECT(gp_queue_empty(&f.q));

	fake_queue(&f, KFD_IOC_QUEUE_TYPE_SDMA);
	EXPECT_EQ(gp_queue_put(&f.q, dw, 200), 0);
	gp_queue_ring(&f.q);
	EXPECT_EQ(f.doorbell, 800);
	f.pointers.read_index = 800;
	EXPECT(gp_queue_empty(&f.q));
}

/* The sums of a slot as the device would leave them. */
static void lost_and_doubled_work_is_told_apart(void **state)
{
	struct gp_work_slot slot = {
		.expect_count = 3, .expect_sum = 6 * 7, .count = 3, .sum = 42,
	};
	struct gp_work w = { .slot = &slot, .slots = 1 };

	(void)state;
	EXPECT_EQ(gp_work_check(&w, 0), 0);
	slot.count = 2;
	EXPECT_EQ(gp_work_check(&w, 0), -EBADMSG);
	EXPECT(strstr(gp_client_error(), "2 of 3 workgroups ran"));
	EXPECT(strstr(gp_client_error(), "work was lost"));
	slot.count = 4;
	EXPECT_EQ(gp_work_check(&w, 0), -EBADMSG);
	EXPECT(strstr(gp_client_error(), "done twice"));
	slot.count = 3;
	slot.sum = 41;
	EXPECT_EQ(gp_work_check(&w, 0), -EBADMSG);
	EXPECT(strstr(gp_client_error(), "some was lost and some done twice"));
}

static void submitted_work_has_a_key_of_its_own(void **state)
{
	struct gp_work_slot slots[2] = { { .count = 9 }, { .count = 9 } };
	struct vgpu_kernel kernel;
	struct gp_work w = { .slot = slots, .slots = 2, .kernel = &kernel };
	struct fake f;

	(void)state;
	fake_queue(&f, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL);
	EXPECT_EQ(gp_work_submit(&w, 0, &f.q, 10, 4, NULL), 0);
	EXPECT_EQ(gp_work_submit(&w, 1, &f.q, 10, 4, NULL), 0);
	EXPECT(slots[0].arg.key != slots[1].arg.key);
	EXPECT_EQ(slots[0].count, 0);
	EXPECT_EQ(slots[0].expect_sum, slots[0].arg.key * 55);
	EXPECT(!gp_work_done(&w, 0));
	slots[0].done.value = 0;
	EXPECT(gp_work_done(&w, 0));
	EXPECT_EQ(gp_work_check(&w, 0), -EBADMSG);
	EXPECT_EQ(f.pointers.write_index, 2);
}

PROVE(
	CLAIM(save_areas_have_the_size_the_driver_asks_for),
	CLAIM(a_driver_with_another_formula_is_refused),
	CLAIM(a_full_gpu_has_eight_waves_per_simd),
	CLAIM_WITH(gpus_come_in_the_order_of_their_nodes, make_topology, remove_topology),
	CLAIM_WITH(more_gpus_than_room_are_counted_and_not_written, make_topology, remove_topology),
	CLAIM_WITH(a_node_without_its_files_is_named, make_topology, remove_topology),
	CLAIM(without_a_driver_the_line_says_so),
	CLAIM_WITH(a_gpu_that_is_not_there_is_counted, make_topology, remove_topology),
	CLAIM(a_sparse_area_is_its_own_memory_only_at_the_start_of_each_part),
	CLAIM(a_kernel_packet_says_what_was_asked),
	CLAIM(an_aql_queue_takes_packets_until_it_is_full),
	CLAIM(pm4_and_sdma_rings_wrap_and_count_in_their_own_units),
	CLAIM(lost_and_doubled_work_is_told_apart),
	CLAIM(submitted_work_has_a_key_of_its_own),
)
