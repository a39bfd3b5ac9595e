// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Files of debugfs that stop a GPU for as long as they are open.
 *
 * halt: maps no queue, as amdgpu does while it enforces isolation. reset: locks the reset
 * domain, and resets the GPU when the file is closed. lock: the same without a reset, as
 * amdgpu's test of its rings does. partition: removes the GPU from amdkfd and adds another
 * afterwards, as a switch of compute partitions does.
 */
#include "gpu.h"
#include "amdgpu_reset.h"

static int halt_open(struct inode *inode, struct file *file)
{
	struct lab_gpu *gpu = inode->i_private;

	file->private_data = gpu;
	return amdgpu_amdkfd_stop_sched(&gpu->adev, 0);
}

static int halt_close(struct inode *inode, struct file *file)
{
	struct lab_gpu *gpu = file->private_data;

	return amdgpu_amdkfd_start_sched(&gpu->adev, 0);
}

const struct file_operations lab_halt_fops = {
	.owner = THIS_MODULE,
	.open = halt_open,
	.release = halt_close,
};

static int reset_open(struct inode *inode, struct file *file)
{
	struct lab_gpu *gpu = inode->i_private;

	file->private_data = gpu;
	amdgpu_device_lock_reset_domain(gpu->adev.reset_domain);
	return 0;
}

static int lock_close(struct inode *inode, struct file *file)
{
	struct lab_gpu *gpu = file->private_data;

	amdgpu_device_unlock_reset_domain(gpu->adev.reset_domain);
	return 0;
}

const struct file_operations lab_lock_fops = {
	.owner = THIS_MODULE,
	.open = reset_open,
	.release = lock_close,
};

static int reset_close(struct inode *inode, struct file *file)
{
	struct lab_gpu *gpu = file->private_data;

	return lab_reset_locked(gpu, NULL);
}

const struct file_operations lab_reset_fops = {
	.owner = THIS_MODULE,
	.open = reset_open,
	.release = reset_close,
};

/* The halves of aqua_vanjaram_switch_partition_mode(); -EBUSY while amdkfd has a process. */
static int partition_open(struct inode *inode, struct file *file)
{
	struct lab_gpu *gpu = inode->i_private;
	int r = amdgpu_amdkfd_check_and_lock_kfd(&gpu->adev);

	if (r)
		return r;
	file->private_data = gpu;
	amdgpu_amdkfd_device_fini_sw(&gpu->adev);
	return 0;
}

static int partition_close(struct inode *inode, struct file *file)
{
	struct lab_gpu *gpu = file->private_data;

	amdgpu_amdkfd_device_probe(&gpu->adev);
	amdgpu_amdkfd_device_init(&gpu->adev);
	amdgpu_amdkfd_unlock_kfd(&gpu->adev);
	return 0;
}

const struct file_operations lab_partition_fops = {
	.owner = THIS_MODULE,
	.open = partition_open,
	.release = partition_close,
};
