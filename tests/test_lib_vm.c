// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Who may be suspended, in a sysfs and a /proc that the test writes. */
#include <errno.h>
#include <stdio.h>

#include "fake_tree.h"
#include "gp_test.h"
#include "lib/kfd_debug/vm.h"

#define CARD(minor)								\
	"cpu_cores_count 0\nsimd_count 320\nsimd_per_cu 4\ngfx_target_version 90402\n"	\
	"location_id 64\ndomain 0\ndrm_render_minor " minor "\nnum_xcc 4\n"

enum { PID = 77 };

/* Two GPUs, and a process whose record the driver has on both. */
static int up(void **state)
{
	struct fake_tree *t = fake_tree_make();

	fake_tree_put(t, "11\n", "topology/nodes/1/gpu_id");
	fake_tree_put(t, CARD("128"), "topology/nodes/1/properties");
	fake_tree_put(t, "22\n", "topology/nodes/2/gpu_id");
	fake_tree_put(t, CARD("129"), "topology/nodes/2/properties");
	fake_tree_put(t, "0\n", "proc/%d/vram_11", PID);
	fake_tree_put(t, "0\n", "proc/%d/vram_22", PID);
	fake_tree_put(t, "11", "proc/%d/queues/0/gpuid", PID);
	fake_tree_put(t, "", "%d/fd/none", PID);
	*state = t;
	return 0;
}

static int down(void **state)
{
	fake_tree_free(*state);
	return 0;
}

static void open_file(struct fake_tree *t, const char *fd, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/fd/%s", PID, fd);
	fake_tree_link(t, what, path);
}

static int asked(struct fake_tree *t, pid_t pid)
{
	return gp_process_may_be_suspended(t->path, t->path, pid);
}

static void a_process_with_memory_on_both_of_two_gpus_is_fine(void **state)
{
	open_file(*state, "3", "/dev/kfd");
	open_file(*state, "4", "/dev/dri/renderD128");
	open_file(*state, "5", "/dev/dri/renderD129");
	EXPECT_EQ(asked(*state, PID), 1);
}

static void one_that_has_it_on_one_of_two_is_not(void **state)
{
	open_file(*state, "4", "/dev/dri/renderD128");
	open_file(*state, "5", "/dev/dri/renderD1290");
	EXPECT_EQ(asked(*state, PID), 0);
}

static void a_queue_proves_memory(void **state)
{
	fake_tree_put(*state, "22", "proc/%d/queues/7/gpuid", PID);
	EXPECT_EQ(asked(*state, PID), 1);
}

static void gpus_before_the_first_queue_do_not_matter(void **state)
{
	fake_tree_put(*state, "22", "proc/%d/queues/0/gpuid", PID);
	EXPECT_EQ(asked(*state, PID), 1);
}

static void one_that_may_open_only_one_gpu_needs_no_more(void **state)
{
	struct fake_tree *t = *state;

	fake_tree_put(t, "0\n", "proc/78/vram_11");
	fake_tree_put(t, "11", "proc/78/queues/0/gpuid");
	EXPECT_EQ(asked(t, 78), 1);
}

static void who_is_gone_is_not_there(void **state)
{
	EXPECT_EQ(asked(*state, 79), -ENOENT);
}

PROVE(
	CLAIM_WITH(a_process_with_memory_on_both_of_two_gpus_is_fine, up, down),
	CLAIM_WITH(one_that_has_it_on_one_of_two_is_not, up, down),
	CLAIM_WITH(a_queue_proves_memory, up, down),
	CLAIM_WITH(gpus_before_the_first_queue_do_not_matter, up, down),
	CLAIM_WITH(one_that_may_open_only_one_gpu_needs_no_more, up, down),
	CLAIM_WITH(who_is_gone_is_not_there, up, down),
)
