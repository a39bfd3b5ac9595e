// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "vm.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gpu.h"
#include "lib/process.h"
#include "lib/sys.h"
#include "lib/sysfs.h"

#define RENDER_NODE	"/dev/dri/renderD"

/*
 * Limit of descriptors that are read. A process with more must have its render nodes among the
 * first.
 */
enum { DESCRIPTORS = 16384 };

/* The GPUs for which the driver has a record of the process. */
struct opened {
	u32 gpu_id[GP_GPUS_MAX];
	u32 nr;
};

/* Reads the number in the line of fdinfo that begins with @key. */
static bool field(const char *text, const char *key, u64 *ret)
{
	const char *end;

	return gp_proc_field(text, key, ret, &end) && *end == '\n';
}

/*
 * Reads the DRM client of descriptor @fd if its VM is that of the process. 0: it is not. Reads one
 * file in one call, so that a file that replaces it cannot be mixed up with it.
 */
static int client_of(int proc, u64 fd, u64 pasid, u64 *ret)
{
	char path[32], text[1024];
	u64 is;
	int r;

	snprintf(path, sizeof(path), "fd/%llu", (unsigned long long)fd);
	r = (int)gp_sys->readlinkat(proc, path, text, sizeof(text));
	if (r < 0)
		return errno == ENOENT ? 0 : -errno;
	if ((size_t)r <= strlen(RENDER_NODE) || strncmp(text, RENDER_NODE, strlen(RENDER_NODE)))
		return 0;
	snprintf(path, sizeof(path), "fdinfo/%llu", (unsigned long long)fd);
	r = gp_sysfs_text(proc, path, text, sizeof(text));
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return field(text, "\npasid:\t", &is) && is == pasid &&
	       field(text, "\ndrm-client-id:\t", ret);
}

/* Counts the VMs that open files prove, up to @most. Reads at most DESCRIPTORS files. */
static int count_files(int proc, u64 pasid, u32 most)
{
	struct gp_sysfs_dir d;
	u64 client[GP_GPUS_MAX], fd, inode;
	u32 nr = 0, seen = 0, i;
	int r = gp_sysfs_dir_open(&d, proc, "fd");

	if (r)
		return r;
	while (nr < most && seen++ < DESCRIPTORS &&
	       (r = gp_sysfs_dir_number(&d, 0, INT_MAX, &fd, &inode)) > 0) {
		r = client_of(proc, fd, pasid, &client[nr]);
		if (r < 0)
			break;
		/* Two descriptors of one file are one VM. */
		for (i = 0; r && i < nr && client[i] != client[nr]; i++)
			;
		nr += r && i == nr;
	}
	gp_sysfs_dir_close(&d);
	return r < 0 ? r : (int)nr;
}

static int acquired_all(const struct gp_vm_args *args, int kfd, u32 opened)
{
	char path[PATH_MAX];
	u64 pasid;
	int r = gp_sysfs_number(kfd, "pasid", &pasid), proc;

	if (r)
		return r;
	/* A driver that gives each GPU a PASID of its own shows 0. */
	if (!pasid)
		return 0;
	snprintf(path, sizeof(path), "%s/%d", args->proc ? args->proc : "/proc",
		 (int)(args->tid ? args->tid : args->pid));
	proc = gp_sys->openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return -errno;
	r = count_files(proc, pasid, opened);
	gp_sys->close(proc);
	return r < 0 ? r : (u32)r == opened;
}

static bool has_queue(const struct gp_vm_args *args, u32 gpu_id)
{
	for (u32 i = 0; i < args->nr_queued; i++)
		if (args->queued[i] == gpu_id)
			return true;
	return false;
}

/*
 * Returns true if each GPU behind the first one to be stopped has a queue. The driver uses the
 * order of nodes. A GPU that is not listed may be anywhere.
 */
static bool queues_prove(const struct gp_vm_args *args, const struct opened *opened,
			 const struct gp_gpu_info *gpus, u32 count)
{
	const struct gp_gpu_info *g;
	s64 first = GP_GPUS_MAX, place;

	for (u32 i = 0; i < args->nr_queued; i++) {
		if (args->gpu_id && args->gpu_id != args->queued[i])
			continue;
		g = gp_gpus_by_id(gpus, count, args->queued[i]);
		place = g ? (s64)g->index : -1;
		first = place < first ? place : first;
	}
	for (u32 i = 0; first < GP_GPUS_MAX && i < opened->nr; i++) {
		g = gp_gpus_by_id(gpus, count, opened->gpu_id[i]);
		if (!has_queue(args, opened->gpu_id[i]) && (!g || g->index > first))
			return false;
	}
	return true;
}

static int judge_queues(const struct gp_vm_args *args, const struct opened *opened)
{
	struct gp_gpu_info *gpus = gp_sys->realloc(NULL, GP_GPUS_MAX * sizeof(*gpus));
	u32 count = 0;
	int r = gpus ? gp_gpus_read(args->kfd, gpus, GP_GPUS_MAX, &count) : -ENOMEM;

	if (!r)
		r = queues_prove(args, opened, gpus, count < GP_GPUS_MAX ? count : GP_GPUS_MAX);
	free(gpus);
	return r;
}

int gp_vm_may_suspend(const struct gp_vm_args *args, bool *ret_always)
{
	struct opened opened;
	char path[PATH_MAX];
	int dir, r;

	*ret_always = false;
	snprintf(path, sizeof(path), "%s/proc/%d", args->kfd ? args->kfd : GP_SYSFS_KFD,
		 (int)args->pid);
	dir = gp_sys->openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	r = gp_process_gpus(dir, opened.gpu_id);
	opened.nr = r > 0 ? (u32)r : 0;
	if (r > 1)
		r = acquired_all(args, dir, opened.nr);
	else if (!r)
		r = -ENOENT;
	gp_sys->close(dir);
	*ret_always = r == 1;
	return r ? r : judge_queues(args, &opened);
}
