// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Has a process memory on every GPU that it has open? */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "sysfs.h"
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

int gp_process_has_every_vm(const char *kfd, const char *proc, pid_t pid)
{
	struct gp_gpu_info *gpus = calloc(GP_GPUS_MAX, sizeof(*gpus));
	u64 open_on = 0, has = 0;
	u32 count = 0;
	int err;

	if (!gpus)
		return -ENOMEM;
	err = gp_gpus_read(kfd, gpus, GP_GPUS_MAX, &count);
	if (count > GP_GPUS_MAX)
		count = GP_GPUS_MAX;
	if (!err)
		err = opened(kfd ? kfd : GP_SYSFS_KFD, pid, gpus, count, &open_on);
	/* With one GPU there is none after it. */
	if (!err && open_on & (open_on - 1))
		err = acquired(proc ? proc : "/proc", pid, gpus, count, &has);
	else
		has = open_on;
	free(gpus);
	return err ? err : !(open_on & ~has);
}
