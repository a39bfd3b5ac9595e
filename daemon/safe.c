// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Whom the driver can suspend without harm to itself.
 *
 * Linux 6.12's suspend_queues() goes through all GPUs of the process in the order of the
 * topology. When it has suspended something on one, it flushes the address translation of
 * every later one that has nothing to suspend, and does not ask whether the process has an
 * address space there: without one the kernel crashes. ROCr makes one on every GPU it can
 * open, so this is about programs that open one GPU of several.
 *
 * Whether there is an address space cannot be asked for. A queue proves it; an open render
 * node is taken for it, since whoever opens one does so to hand it to the driver.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "home.h"

enum { DRM_MAJOR = 226 };

/* Does the process exist on that GPU for the driver? Not where a device cgroup forbids it. */
static bool is_bound(const struct gp_home *h, pid_t pid, u32 gpu_id)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/proc/%d/vram_%u",
		     h->args.kfd ? h->args.kfd : GP_SYSFS_KFD, pid, gpu_id) >= (int)sizeof(path))
		return true;
	return !access(path, F_OK);
}

static bool has_queue(const struct gp_resident *r, u32 gpu_id)
{
	u32 i;

	for (i = 0; i < r->nr_queues; i++)
		if (r->queues[i].gpu_id == gpu_id)
			return true;
	return false;
}

/* Bit per GPU of the machine whose render node the process has open. */
static u64 opened(const struct gp_home *h, pid_t pid)
{
	char path[PATH_MAX];
	struct dirent *e;
	struct stat st;
	u64 found = 0;
	DIR *dir;
	u32 i;

	snprintf(path, sizeof(path), "%s/%d/fd", h->args.proc ? h->args.proc : "/proc", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (fstatat(dirfd(dir), e->d_name, &st, 0) || !S_ISCHR(st.st_mode) ||
		    major(st.st_rdev) != DRM_MAJOR)
			continue;
		for (i = 0; i < h->nr_machine; i++)
			if (minor(st.st_rdev) == h->machine[i].render_minor)
				found |= BIT_ULL(i);
	}
	if (dir)
		closedir(dir);
	return found;
}

bool gp_safe_to_stop(const struct gp_home *h, const struct gp_resident *r)
{
	bool before = false;
	u64 open = 0;
	u32 i;

	if (h->nr_machine > 1)
		open = opened(h, r->pid);
	for (i = 0; i < h->nr_machine; i++) {
		const struct gp_gpu_info *g = &h->machine[i];

		if (has_queue(r, g->gpu_id))
			before = true;
		else if (before && !(open & BIT_ULL(i)) && is_bound(h, r->pid, g->gpu_id))
			return false;
	}
	return true;
}
