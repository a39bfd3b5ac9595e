// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which processes may be suspended, from a sysfs and a /proc that the test writes. */
#include <errno.h>
#include <stdio.h>

#include "tests/shared/fake_tree.h"
#include "tests/shared/gp_test.h"
#include "lib/kfd_debug/vm.h"
#include "tests/shared/sys_faults.h"

#define CARD(minor)								\
	"cpu_cores_count 0\nsimd_count 320\nsimd_per_cu 4\ngfx_target_version 90402\n"	\
	"location_id 64\ndomain 0\ndrm_render_minor " minor "\nnum_xcc 4\n"

enum { PID = 77, PASID = 32769, OTHER = 32770 };

/* Three GPUs, and a process that the driver has records of on the first two. */
static int up(void **state)
{
	struct fake_tree *t = fake_tree_make();

	fake_tree_put(t, "11\n", "topology/nodes/1/gpu_id");
	fake_tree_put(t, CARD("128"), "topology/nodes/1/properties");
	fake_tree_put(t, "22\n", "topology/nodes/2/gpu_id");
	fake_tree_put(t, CARD("129"), "topology/nodes/2/properties");
	fake_tree_put(t, "33\n", "topology/nodes/3/gpu_id");
	fake_tree_put(t, CARD("130"), "topology/nodes/3/properties");
	fake_tree_put(t, "0\n", "proc/%d/vram_11", PID);
	fake_tree_put(t, "0\n", "proc/%d/vram_22", PID);
	fake_tree_put(t, "32769\n", "proc/%d/pasid", PID);
	fake_tree_put(t, "", "%d/fd/none", PID);
	*state = t;
	return 0;
}

static int down(void **state)
{
	fake_tree_free(*state);
	return 0;
}

static void open_file(struct fake_tree *t, u32 fd, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/fd/%u", PID, fd);
	fake_tree_remove(t, path);
	fake_tree_link(t, what, path);
	fake_tree_put(t, "pos:\t0\nflags:\t02100002\nmnt_id:\t9\nino:\t7\n", "%d/fdinfo/%u", PID,
		      fd);
}

/* Adds an open file as amdgpu shows it: number @client of the render node @minor. */
static void open_render(struct fake_tree *t, u32 fd, u32 minor, u32 client, u32 pasid)
{
	char text[256], what[64];

	snprintf(what, sizeof(what), "/dev/dri/renderD%u", minor);
	open_file(t, fd, what);
	snprintf(text, sizeof(text), "pos:\t0\nflags:\t02100002\nmnt_id:\t9\nino:\t7\n"
		 "drm-driver:\tamdgpu\ndrm-client-id:\t%u\ndrm-pdev:\t0000:00:08.0\npasid:\t%u\n"
		 "drm-memory-vram:\t0 KiB\n", client, pasid);
	fake_tree_put(t, text, "%d/fdinfo/%u", PID, fd);
}

/*
 * Asks whether the queues on @gpu_id (0: all) may be suspended. The process has a queue on each
 * GPU of @queued, a list ended by 0.
 */
static int asked(struct fake_tree *t, u32 gpu_id, const u32 *queued, bool *always)
{
	struct gp_vm_args args = {
		.kfd = t->path, .proc = t->path, .pid = PID, .queued = queued, .gpu_id = gpu_id,
	};

	while (queued[args.nr_queued])
		args.nr_queued++;
	return gp_vm_may_suspend(&args, always);
}

#define ASKED(t, gpu_id, ...)	asked(t, gpu_id, (const u32[]){ __VA_ARGS__, 0 }, &(bool){ 0 })

static void a_process_with_memory_on_both_of_two_gpus_is_fine(void **state)
{
	bool always = false;

	open_file(*state, 3, "/dev/kfd");
	open_render(*state, 4, 128, 1, PASID);
	open_render(*state, 5, 129, 2, PASID);
	EXPECT_EQ(ASKED(*state, 0, 11), 1);
	EXPECT_EQ(asked(*state, 0, (const u32[]){ 0 }, &always), 1);
	EXPECT(always);
}

static void one_that_has_it_on_one_of_two_is_not(void **state)
{
	open_render(*state, 4, 128, 1, PASID);
	open_file(*state, 5, "/dev/dri/renderD1290");
	EXPECT_EQ(ASKED(*state, 0, 11), 0);
}

static void an_open_render_node_alone_proves_nothing(void **state)
{
	open_render(*state, 4, 128, 1, PASID);
	/* A file that was opened but never passed to the driver has a PASID of its own. */
	open_render(*state, 5, 129, 2, OTHER);
	EXPECT_EQ(ASKED(*state, 0, 11), 0);
	/* A driver that does not report the PASID. */
	open_file(*state, 5, "/dev/dri/renderD129");
	EXPECT_EQ(ASKED(*state, 0, 11), 0);
}

static void a_second_descriptor_or_node_of_one_gpu_proves_nothing_about_another(void **state)
{
	open_render(*state, 4, 128, 1, PASID);
	open_render(*state, 5, 128, 1, PASID);
	/* A file of any GPU can be passed to the driver for the first GPU. */
	open_render(*state, 6, 129, 1, PASID);
	EXPECT_EQ(ASKED(*state, 0, 11), 0);
}

static void a_file_that_is_no_render_node_proves_nothing(void **state)
{
	open_render(*state, 4, 128, 1, PASID);
	open_render(*state, 5, 129, 2, PASID);
	fake_tree_remove(*state, "77/fd/5");
	fake_tree_link(*state, "/dev/fake/renderD129", "77/fd/5");
	EXPECT_EQ(ASKED(*state, 0, 11), 0);
}

static void a_queue_proves_memory(void **state)
{
	EXPECT_EQ(ASKED(*state, 0, 11, 22), 1);
	EXPECT_EQ(ASKED(*state, 11, 11, 22), 1);
}

static void gpus_before_the_first_queue_do_not_matter(void **state)
{
	bool always = true;

	EXPECT_EQ(asked(*state, 0, (const u32[]){ 22, 0 }, &always), 1);
	/* The next queue may be on another GPU. */
	EXPECT(!always);
}

static void the_gpus_of_the_call_decide(void **state)
{
	fake_tree_put(*state, "0\n", "proc/%d/vram_33", PID);
	EXPECT_EQ(ASKED(*state, 33, 33), 1);
	EXPECT_EQ(ASKED(*state, 33, 11, 33), 1);
	EXPECT_EQ(ASKED(*state, 11, 11, 33), 0);
	EXPECT_EQ(ASKED(*state, 0, 33, 11), 0);
	EXPECT_EQ(ASKED(*state, 22, 11, 33), 1);	/* no queue to suspend */
}

static void a_gpu_that_cannot_be_seen_may_be_anywhere(void **state)
{
	/* 22 may be behind 99, and 99 behind 22. */
	EXPECT_EQ(ASKED(*state, 0, 99, 11), 0);
	fake_tree_put(*state, "0\n", "proc/%d/vram_99", PID);
	EXPECT_EQ(ASKED(*state, 0, 11, 22), 0);
	EXPECT_EQ(ASKED(*state, 0, 11, 22, 99), 1);
}

static void one_that_may_open_only_one_gpu_needs_no_more(void **state)
{
	bool always = false;

	fake_tree_remove(*state, "proc/77/vram_22");
	EXPECT_EQ(asked(*state, 0, (const u32[]){ 11, 0 }, &always), 1);
	EXPECT(always);
}

static void a_process_that_is_gone_or_shows_no_gpu_is_not_judged(void **state)
{
	fake_tree_remove(*state, "proc/77/vram_11");
	fake_tree_remove(*state, "proc/77/vram_22");
	EXPECT_EQ(ASKED(*state, 0, 11), -ENOENT);
	fake_tree_remove(*state, "proc/77");
	EXPECT_EQ(ASKED(*state, 0, 11), -ENOENT);
}

static void a_driver_without_a_pasid_of_the_process_needs_queues(void **state)
{
	open_render(*state, 4, 128, 1, 0);
	open_render(*state, 5, 129, 2, 0);
	fake_tree_put(*state, "0\n", "proc/77/pasid");
	EXPECT_EQ(ASKED(*state, 0, 11), 0);
	EXPECT_EQ(ASKED(*state, 0, 11, 22), 1);
	fake_tree_remove(*state, "proc/77/pasid");
	EXPECT_EQ(ASKED(*state, 0, 11, 22), -ENOENT);
}

static void no_failed_call_makes_a_dangerous_process_fine(void **state)
{
	static const int errs[] = { EMFILE, ENOMEM, EIO, EACCES, EAGAIN, ENOENT };
	u64 calls, all = 0;

	open_file(*state, 3, "/dev/kfd");
	open_render(*state, 4, 128, 1, PASID);
	open_render(*state, 5, 129, 2, OTHER);
	for (enum gp_sys_call call = 0; call < GP_SYS_monotonic_ns; call++) {
		sys_faults_begin(NULL);
		EXPECT_EQ(ASKED(*state, 0, 11), 0);
		calls = sys_faults_calls(call);
		sys_faults_end();
		for (u64 i = 0; i < calls * sizeof(errs) / sizeof(*errs); i++, all++) {
			sys_faults_begin(&(struct sys_fault){ .call = call, .nth = i % calls + 1,
							      .err = errs[i / calls] });
			EXPECT(ASKED(*state, 0, 11) != 1);
			EXPECT(sys_faults_end());
		}
	}
	EXPECT(all > 100);
}

#define WITH(claim)	CLAIM_WITH(claim, up, down)

PROVE(
	WITH(a_process_with_memory_on_both_of_two_gpus_is_fine),
	WITH(one_that_has_it_on_one_of_two_is_not),
	WITH(an_open_render_node_alone_proves_nothing),
	WITH(a_second_descriptor_or_node_of_one_gpu_proves_nothing_about_another),
	WITH(a_file_that_is_no_render_node_proves_nothing),
	WITH(a_queue_proves_memory),
	WITH(gpus_before_the_first_queue_do_not_matter),
	WITH(the_gpus_of_the_call_decide),
	WITH(a_gpu_that_cannot_be_seen_may_be_anywhere),
	WITH(one_that_may_open_only_one_gpu_needs_no_more),
	WITH(a_process_that_is_gone_or_shows_no_gpu_is_not_judged),
	WITH(a_driver_without_a_pasid_of_the_process_needs_queues),
	WITH(no_failed_call_makes_a_dangerous_process_fine),
)
