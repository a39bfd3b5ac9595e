// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Finding GPUs in a sysfs that the test writes. */
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/shared/fake_tree.h"
#include "tests/shared/gp_test.h"
#include "lib/gpu.h"
#include "lib/sys.h"
#include "tests/shared/sys_faults.h"

#define CARD(location, gpu)							\
	"cpu_cores_count 0\nsimd_count 320\nmax_waves_per_simd 8\nsimd_per_cu 4\n"	\
	"gfx_target_version 90402\ndevice_id 29857\nlocation_id " location "\ndomain 1\n"	\
	"drm_render_minor " gpu "\nnum_cp_queues 24\ncwsr_size 12214272\n"	\
	"capability 671588992\ndebug_prop 1511\nunique_id 81985529216486895\nnum_xcc 4\n"

static int up(void **state)
{
	*state = fake_tree_make();
	return 0;
}

static int down(void **state)
{
	fake_tree_free(*state);
	return 0;
}

static void put_node(struct fake_tree *t, u32 node, const char *gpu_id, const char *properties)
{
	fake_tree_put(t, gpu_id, "topology/nodes/%u/gpu_id", node);
	fake_tree_put(t, properties, "topology/nodes/%u/properties", node);
}

static void a_card_is_read(void **state)
{
	struct fake_tree *t = *state;
	struct gp_gpu_info g[4];
	u32 count = 9;

	put_node(t, 0, "0\n", "cpu_cores_count 8\nsimd_count 0\n");
	put_node(t, 1, "54702\n", CARD("49408", "128"));	/* c1:00.0 */
	fake_tree_put(t, "heap_type 0\nsize_in_bytes 5\n",
		      "topology/nodes/1/mem_banks/0/properties");
	fake_tree_put(t, "heap_type 1\nsize_in_bytes 206158430208\n",
		      "topology/nodes/1/mem_banks/1/properties");
	EXPECT_EQ(gp_gpus_read(t->path, g, 4, &count), 0);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(g[0].index, 0);
	EXPECT_EQ(g[0].node, 1);
	EXPECT_EQ(g[0].gpu_id, 54702);
	EXPECT_EQ(g[0].render_minor, 128);
	EXPECT(!strcmp(g[0].bdf, "0001:c1:00.0"));
	EXPECT(!strcmp(g[0].gfx, "gfx942"));
	EXPECT_EQ(g[0].xccs, 4);
	EXPECT_EQ(g[0].cus, 80);
	EXPECT_EQ(g[0].wave_slots, 2560);
	EXPECT_EQ(g[0].cp_queues, 24);
	EXPECT_EQ(g[0].save_bytes, 12214272);
	EXPECT_EQ(g[0].vram_bytes, 206158430208);
	EXPECT_EQ(g[0].unique_id, 81985529216486895);
	EXPECT_EQ(g[0].partition, 0);
	EXPECT_EQ(g[0].partitions, 1);
	EXPECT(gp_gpus_by_id(g, 1, 54702) == g && !gp_gpus_by_id(g, 1, 1));
}

static void partitions_share_an_address(void **state)
{
	struct fake_tree *t = *state;
	struct gp_gpu_info g[4];
	u32 count;

	/* 10 sorts behind 9 by number, before it by name */
	put_node(t, 10, "3\n", CARD("268484864", "130"));	/* 1 << 28 | c1:00.0 */
	put_node(t, 9, "2\n", CARD("49408", "129"));
	put_node(t, 11, "4\n", CARD("41224", "131"));		/* a1:01.0 */
	EXPECT_EQ(gp_gpus_read(t->path, g, 4, &count), 0);
	EXPECT_EQ(count, 3);
	EXPECT_EQ(g[0].gpu_id, 2);
	EXPECT_EQ(g[1].gpu_id, 3);
	EXPECT(!strcmp(g[0].bdf, g[1].bdf));
	EXPECT_EQ(g[0].partition, 0);
	EXPECT_EQ(g[1].partition, 1);
	EXPECT(g[0].partitions == 2 && g[1].partitions == 2 && g[2].partitions == 1);
	EXPECT(!strcmp(g[2].bdf, "0001:a1:01.0"));
}

static void what_cannot_be_read_is_left_out(void **state)
{
	struct fake_tree *t = *state;
	struct gp_gpu_info g[1];
	u32 count;

	EXPECT_EQ(gp_gpus_read(t->path, g, 1, &count), -ENOENT);
	put_node(t, 1, "", CARD("1", "1"));
	put_node(t, 2, "x\n", CARD("1", "1"));
	put_node(t, 3, "7\n", "");
	put_node(t, 4, "8\n", "simd_count 99999999999999999999999999\nsimd_per_cu 4\n");
	fake_tree_put(t, "9\n", "topology/nodes/5/gpu_id");	/* no properties: a device cgroup */
	fake_tree_put(t, "9\n", "topology/nodes/name/gpu_id");
	put_node(t, 6, "10\n", CARD("256", "1"));
	put_node(t, 7, "11\n", CARD("512", "1"));
	EXPECT_EQ(gp_gpus_read(t->path, g, 1, &count), 0);
	EXPECT_EQ(count, 2);		/* the buffer was too small */
	EXPECT_EQ(g[0].gpu_id, 10);
}

static void a_failed_system_call_hides_no_gpu(void **state)
{
	static const enum gp_sys_call calls[] = { GP_SYS_openat, GP_SYS_read, GP_SYS_getdents };
	struct fake_tree *t = *state;
	struct gp_gpu_info g[4];
	u32 count, failed = 0;

	put_node(t, 1, "10\n", CARD("256", "1"));
	put_node(t, 2, "11\n", CARD("512", "1"));
	fake_tree_put(t, "heap_type 1\nsize_in_bytes 5\n",
		      "topology/nodes/2/mem_banks/0/properties");
	for (u32 i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		for (u64 n = 1;; n++, failed++) {
			int err;

			sys_faults_begin(&(struct sys_fault){ calls[i], n, .err = EMFILE });
			err = gp_gpus_read(t->path, g, 4, &count);
			if (!sys_faults_end()) {
				EXPECT(!err && count == 2 && g[1].vram_bytes == 5);
				break;
			}
			EXPECT_EQ(err, -EMFILE);
		}
	}
	EXPECT(failed > 20);
}

static void the_generation_is_a_number(void **state)
{
	struct fake_tree *t = *state;
	u32 generation = 0;

	EXPECT_EQ(gp_gpus_generation(t->path, &generation), -ENOENT);
	fake_tree_put(t, "2\n", "topology/generation_id");
	EXPECT_EQ(gp_gpus_generation(t->path, &generation), 0);
	EXPECT_EQ(generation, 2);
	fake_tree_put(t, "2 3\n", "topology/generation_id");
	EXPECT_EQ(gp_gpus_generation(t->path, &generation), -EPROTO);
}

static const struct gp_gpu_info three[] = {
	{ .index = 0, .bus = 0xc1, .bdf = "0000:c1:00.0" },
	{ .index = 1, .bus = 0xc1, .partition = 1, .bdf = "0000:c1:00.0" },
	{ .index = 2, .domain = 1, .bus = 0xc1, .device = 2, .function = 3, .bdf = "0001:c1:02.3" },
};

static void gpus_are_selected_by_index_and_address(void **state)
{
	static const struct {
		const char *text;
		int err;
		u64 mask;
		u32 bad;
	} table[] = {
		{ "all", 0, 7, 0 },		{ "0", 0, 1, 0 },
		{ "2,0", 0, 5, 0 },		{ "0000:c1:00.0", 0, 3, 0 },
		{ "c1:00.0", 0, 3, 0 },		{ "C1:0.0/1", 0, 2, 0 },
		{ "1:c1:02.3", 0, 4, 0 },	{ "1,0001:c1:02.3", 0, 6, 0 },
		{ "3", -ENOENT, 0, 0 },		{ "0,c2:00.0", -ENOENT, 0, 2 },
		{ "c1:00.0/2", -ENOENT, 0, 0 },	{ "99999999999999999999", -EINVAL, 0, 0 },
		{ "", -EINVAL, 0, 0 },		{ "0,", -EINVAL, 0, 2 },
		{ "-1", -EINVAL, 0, 0 },	{ "0 ", -EINVAL, 0, 0 },
		{ "c1", -EINVAL, 0, 0 },	{ "c1:00", -EINVAL, 0, 0 },
		{ "c1:00.8", -EINVAL, 0, 0 },	{ "c1:00.0/", -EINVAL, 0, 0 },
		{ "1c1:00.0", -EINVAL, 0, 0 },	{ ":c1:00.0", -EINVAL, 0, 0 },
	};
	const char *bad;
	u64 mask;

	(void)state;
	for (u32 i = 0; i < sizeof(table) / sizeof(*table); i++) {
		bad = NULL;
		mask = 0;
		if (gp_gpus_select(three, 3, table[i].text, &mask, &bad) != table[i].err)
			fail_msg("-g \"%s\"", table[i].text);
		EXPECT_EQ(mask, table[i].mask);
		if (table[i].err)
			EXPECT_EQ(bad - table[i].text, table[i].bad);
	}
	EXPECT_EQ(gp_gpus_select(three, 0, "all", &mask, NULL), -ENOENT);
	/* A daemon with some of the GPUs uses the same indexes. */
	EXPECT_EQ(gp_gpus_select(three + 1, 2, "0", &mask, NULL), -ENOENT);
	EXPECT_EQ(gp_gpus_select(three + 1, 2, "2", &mask, NULL), 0);
	EXPECT_EQ(mask, 2);
}

static void calls_that_fail_for_want_of_descriptors_are_counted(void **state)
{
	const struct gp_sys *before = gp_sys;
	u64 failures = gp_sys_failures();
	struct rlimit files, none;

	(void)state;
	EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
	none = files;
	none.rlim_cur = 0;
	gp_sys = &gp_sys_counted;
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	EXPECT_EQ(gp_sys->openat(AT_FDCWD, "/dev/null", O_RDONLY), -1);
	EXPECT_EQ(errno, EMFILE);
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
	EXPECT_EQ(gp_sys_failures(), failures + 1);
	/* A missing file is no failure. */
	EXPECT_EQ(gp_sys->openat(AT_FDCWD, "/no/such/file", O_RDONLY), -1);
	EXPECT_EQ(gp_sys_failures(), failures + 1);
	gp_sys = before;
}

PROVE(
	CLAIM(calls_that_fail_for_want_of_descriptors_are_counted),
	CLAIM_WITH(a_card_is_read, up, down),
	CLAIM_WITH(partitions_share_an_address, up, down),
	CLAIM_WITH(what_cannot_be_read_is_left_out, up, down),
	CLAIM_WITH(a_failed_system_call_hides_no_gpu, up, down),
	CLAIM_WITH(the_generation_is_a_number, up, down),
	CLAIM(gpus_are_selected_by_index_and_address),
)
