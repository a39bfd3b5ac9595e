// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* libgpreempt without the daemon, on a sysfs that the test writes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/shared/fake_tree.h"
#include "tests/shared/gp_test.h"
#include "lib/gpreempt.h"

struct world {
	struct fake_tree *tree;
	struct gp_local *local;
};

static int up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char kfd[128], proc[128];

	w->tree = fake_tree_make();
	snprintf(kfd, sizeof(kfd), "%s/kfd", w->tree->path);
	snprintf(proc, sizeof(proc), "%s/p", w->tree->path);
	*state = w;
	return gp_local_open(kfd, proc, &w->local);
}

static int down(void **state)
{
	struct world *w = *state;

	gp_local_close(w->local);
	fake_tree_free(w->tree);
	free(w);
	return 0;
}

static void put_process(struct world *w, int pid)
{
	fake_tree_put(w->tree, "77 (trainer) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n",
		      "p/%d/task/%d/stat", pid, pid);
	fake_tree_put(w->tree, "Name:\ttrainer\nUid:\t1000\t1000\t1000\t1000\n"
		      "Gid:\t1\t1\t1\t1\n", "p/%d/status", pid);
	fake_tree_put(w->tree, "32769\n", "kfd/proc/%d/pasid", pid);
	fake_tree_put(w->tree, "1048576\n", "kfd/proc/%d/vram_54702", pid);
	fake_tree_put(w->tree, "7\n", "kfd/proc/%d/stats_54702/evicted_ms", pid);
	fake_tree_put(w->tree, "54702", "kfd/proc/%d/queues/3/gpuid", pid);
	fake_tree_put(w->tree, "0", "kfd/proc/%d/queues/3/type", pid);
	fake_tree_put(w->tree, "65536", "kfd/proc/%d/queues/3/size", pid);
}

static void without_a_driver_it_says_so(void **state)
{
	struct world *w = *state;
	struct gp_local_gpu *gpus;
	struct gp_local_process *list;
	size_t n;

	EXPECT_EQ(gp_local_gpus(w->local, &gpus, &n), -ENODEV);
	EXPECT_EQ(gp_local_processes(w->local, &list, &n), -ENODEV);
	EXPECT(strstr(gp_strerror(ENODEV), "amdkfd is not loaded"));
}

static void gpus_processes_and_queues_are_listed(void **state)
{
	struct world *w = *state;
	struct gp_local_gpu *gpus;
	struct gp_local_process *list;
	struct gp_local_queue *queues;
	size_t n;

	fake_tree_put(w->tree, "54702\n", "kfd/topology/nodes/1/gpu_id");
	fake_tree_put(w->tree, "simd_count 320\nsimd_per_cu 4\nmax_waves_per_simd 8\n"
		      "gfx_target_version 90402\nlocation_id 49408\ndomain 0\nnum_xcc 4\n"
		      "drm_render_minor 128\n", "kfd/topology/nodes/1/properties");
	put_process(w, 77);
	EXPECT_EQ(gp_local_gpus(w->local, &gpus, &n), 0);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(gpus[0].gpu_id, 54702);
	EXPECT_EQ(gpus[0].compute_units, 80);
	assert_string_equal(gpus[0].bdf, "0000:c1:00.0");
	assert_string_equal(gpus[0].gfx, "gfx942");
	free(gpus);
	EXPECT_EQ(gp_local_processes(w->local, &list, &n), 0);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(list[0].pid, 77);
	EXPECT_EQ(list[0].uid, 1000);
	EXPECT_EQ(list[0].start, 4711);
	EXPECT_EQ(list[0].queues, 1);
	EXPECT_EQ(list[0].vram_bytes, 1048576);
	EXPECT_EQ(list[0].evicted_ms, 7);
	assert_string_equal(list[0].name, "trainer");
	free(list);
	EXPECT_EQ(gp_local_queues(w->local, 77, &queues, &n), 0);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(queues[0].id, 3);
	EXPECT_EQ(queues[0].ring_bytes, 65536);
	free(queues);
	EXPECT_EQ(gp_local_queues(w->local, 78, &queues, &n), -ESRCH);
}

PROVE(
	CLAIM_WITH(without_a_driver_it_says_so, up, down),
	CLAIM_WITH(gpus_processes_and_queues_are_listed, up, down),
)
