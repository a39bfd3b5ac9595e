// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* May a process be suspended without harm to the driver? */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/gpu.h"
#include "lib/sysfs.h"
#include "vm.h"

#define RENDER_NODE	"/dev/dri/renderD"

/* What follows @prefix in @text, as a number. */
static bool number_after(const char *text, const char *prefix, u64 *ret)
{
	size_t n = strlen(prefix);
	const char *end;

	return !strncmp(text, prefix, n) && gp_sysfs_parse(text + n, 10, ret, &end) && !*end;
}

/* Bit per GPU of @gpus that the driver has a record of the process for. */
static int opened(const char *kfd, pid_t pid, const struct gp_gpu_info *gpus, u32 count, u64 *ret)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *dir;
	u64 id;

	snprintf(path, sizeof(path), "%s/proc/%d", kfd, (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	*ret = 0;
	while ((e = readdir(dir))) {
		const struct gp_gpu_info *g;

		if (!number_after(e->d_name, "vram_", &id))
			continue;
		g = gp_gpus_by_id(gpus, count, (u32)id);
		if (g)
			*ret |= 1ull << g->index;
	}
	closedir(dir);
	return 0;
}

/* Bit per GPU whose render node it has open. */
static int acquired(const char *proc, pid_t pid, const struct gp_gpu_info *gpus, u32 count,
		    u64 *ret)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/fd", proc, (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	*ret = 0;
	while ((e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
		u64 minor;

		if (n <= 0)
			continue;
		target[n] = '\0';
		if (!number_after(target, RENDER_NODE, &minor))
			continue;
		for (u32 i = 0; i < count; i++)
			if (gpus[i].render_minor == minor)
				*ret |= 1ull << gpus[i].index;
	}
	closedir(dir);
	return 0;
}

/* Bit per GPU on which it has a queue. */
static int queued(const char *kfd, pid_t pid, const struct gp_gpu_info *gpus, u32 count, u64 *ret)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *dir;

	*ret = 0;
	snprintf(path, sizeof(path), "%s/proc/%d/queues", kfd, (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((e = readdir(dir))) {
		const struct gp_gpu_info *g = NULL;
		char file[NAME_MAX + 8];
		u64 id;

		snprintf(file, sizeof(file), "%s/gpuid", e->d_name);
		if (e->d_name[0] != '.' && !gp_sysfs_number(dirfd(dir), file, &id))
			g = gp_gpus_by_id(gpus, count, (u32)id);
		if (g)
			*ret |= 1ull << g->index;
	}
	closedir(dir);
	return 0;
}

static int judge(const char *kfd, const char *proc, pid_t pid, const struct gp_gpu_info *gpus,
		 u32 count)
{
	u64 open_on = 0, queues = 0, has = 0, behind;
	int err;

	err = opened(kfd, pid, gpus, count, &open_on);
	if (!err)
		err = queued(kfd, pid, gpus, count, &queues);
	if (err)
		return err;
	/* All bits above the lowest. */
	behind = queues ? ~((queues & -queues) | ((queues & -queues) - 1)) : 0;
	if (!(open_on & behind & ~queues))
		return 1;
	err = acquired(proc, pid, gpus, count, &has);
	return err ? err : !(open_on & behind & ~queues & ~has);
}

int gp_process_may_be_suspended(const char *kfd, const char *proc, pid_t pid)
{
	struct gp_gpu_info *gpus = calloc(GP_GPUS_MAX, sizeof(*gpus));
	u32 count = 0;
	int r;

	if (!gpus)
		return -ENOMEM;
	r = gp_gpus_read(kfd, gpus, GP_GPUS_MAX, &count);
	if (!r)
		r = judge(kfd ? kfd : GP_SYSFS_KFD, proc ? proc : "/proc", pid, gpus,
			  count < GP_GPUS_MAX ? count : GP_GPUS_MAX);
	free(gpus);
	return r;
}
