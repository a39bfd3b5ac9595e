// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * With two GPUs: processes that the driver must not be told to suspend, because it would crash
 * (lib/kfd_debug/vm.h). Each story ends with a kernel that has no complaint.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "kfd_debug.h"

enum { GRACE = 1 };

/* A new file of the render node of GPU @gpu. */
static int open_render(u32 gpu, u32 *ret_gpu_id)
{
	struct gp_node nodes[2];
	char path[64];
	u32 count;

	if (gp_topology_read(NULL, nodes, 2, &count) || count != 2)
		return -ENODEV;
	snprintf(path, sizeof(path), "/dev/dri/renderD%u", nodes[gpu].render_minor);
	*ret_gpu_id = nodes[gpu].gpu_id;
	return open(path, O_RDWR | O_CLOEXEC);
}

static s64 open_other(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	u32 gpu_id;

	(void)c;
	(void)queue;
	return open_render(1, &gpu_id);
}

static s64 acquire_other(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	struct kfd_ioctl_acquire_vm_args vm = { 0 };
	u32 gpu_id;

	(void)queue;
	vm.drm_fd = (u32)open_render(1, &gpu_id);
	vm.gpu_id = gpu_id;
	return gp_client_call(c, AMDKFD_IOC_ACQUIRE_VM, &vm, "ACQUIRE_VM");
}

static struct target with_work(void)
{
	struct target t = target_ready(1);

	EQ(target_ask(&t, ASK_LONG, 0), 0);
	return t;
}

static void render_node_is_no_memory(void)
{
	struct target t = with_work();

	EQ(try_session(&t), -EXDEV);
	CHECK(target_run(&t, open_other) >= 0);
	EQ(try_session(&t), -EXDEV);
	target_ends_right(&t);
}

static void queue_after_the_attach(void)
{
	struct target t = target_ready(0);
	struct gp_session_done done;
	struct gp_session s = session_of(&t);

	CHECK(target_run(&t, open_other) >= 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_LONG, 0), 0);
	CHECK(wait_events(&s) & GP_SESSION_NEW_QUEUES);
	EQ(gp_session_refresh(&s, NULL), 0);
	EQ(s.nr_queues, 1);
	EQ(gp_session_suspend(&s, 0, GRACE, &done), -EXDEV);
	EQ(gp_session_suspend(&s, s.queues[0].gpu_id, GRACE, &done), -EXDEV);
	CHECK(device_maps(t.pid, t.ring[0], true));
	/* The same session, once there is memory on both. */
	EQ(target_run(&t, acquire_other), 0);
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	EQ(done.done, 1);
	CHECK(s.vms_proven && device_maps(t.pid, t.ring[0], false));
	EQ(gp_session_resume(&s, 0, &done), 0);
	gp_session_close(&s);
	target_ends_right(&t);
}

static void memory_on_both(void)
{
	struct target t = with_work();
	struct gp_session_done done;
	struct gp_session s;

	EQ(target_run(&t, acquire_other), 0);
	s = session_of(&t);
	CHECK(s.vms_proven);
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	EQ(done.done, 1);
	gp_session_close(&s);
	target_ends_right(&t);
}

static s64 acquire_twice(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	struct kfd_ioctl_acquire_vm_args vm = { 0 };
	u32 gpu_id;

	(void)queue;
	vm.drm_fd = (u32)open_render(0, &gpu_id);
	vm.gpu_id = gpu_id;
	return gp_client_call(c, AMDKFD_IOC_ACQUIRE_VM, &vm, "ACQUIRE_VM");
}

static s64 duplicate(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	(void)queue;
	return dup(c->render_fd);
}

static void two_files_of_one_gpu(void)
{
	struct target t = with_work();

	CHECK(target_run(&t, acquire_twice) < 0);
	CHECK(target_run(&t, duplicate) >= 0);
	EQ(try_session(&t), -EXDEV);
	target_ends_right(&t);
}

const struct story two_gpus[] = {
	{ "a process that opened the render node of a second GPU and has no memory there is "
	  "refused (EXDEV)", render_node_is_no_memory },
	{ "... also if it made its first queue after the attach", queue_after_the_attach },
	{ "... and if it has two files of the first GPU", two_files_of_one_gpu },
	{ "a process with memory on both GPUs and a queue on the first is suspended",
	  memory_on_both },
	{ NULL, NULL }
};
