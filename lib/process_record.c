// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reads one process: its identity (/proc), its queues and its usage (the driver's directory of it).
 * What cannot be read keeps its old value.
 */
#include "process_record.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sys.h"
#include "sysfs.h"
#include "uapi/kfd.h"

int gp_process_start(const char *proc, pid_t pid, u64 *ret)
{
	struct gp_proc_stat stat;
	int err = gp_proc_stat(proc, pid, &stat);

	if (!err)
		*ret = stat.start;
	return err;
}

/* Returns the real id; -1: not known. */
static u32 status_id(const char *text, const char *name)
{
	u64 id;

	return gp_proc_field(text, name, &id, NULL) ? (u32)id : (u32)-1;
}

int gp_process_record_identify(struct gp_process_record *r, const char *proc, pid_t pid)
{
	struct gp_proc_stat stat;
	char status[4096];
	int err = gp_proc_stat(proc, pid, &stat);

	if (err)
		return err;
	err = gp_proc_text(proc, pid, "status", status, sizeof(status));
	if (err < 0 && !gp_sys_is_denied(err))
		return err;
	*r = (struct gp_process_record){
		.pid = pid, .start = stat.start, .uid = status_id(status, "\nUid:"),
		.gid = status_id(status, "\nGid:"),
	};
	snprintf(r->name, sizeof(r->name), "%d", pid);
	snprintf(r->comm, sizeof(r->comm), "%s", stat.comm);
	return 0;
}

/* Reads a queue. Errors of gp_sys_is_gone() and -EPROTO mean that there is no such queue. */
static int read_queue(int queues, struct gp_process_queue *q)
{
	static const char *const files[] = { "gpuid", "type", "size" };
	u64 value[3];
	char path[48];

	for (u32 i = 0; i < 3; i++) {
		int err;

		snprintf(path, sizeof(path), "%u/%s", q->id, files[i]);
		err = gp_sysfs_number(queues, path, &value[i]);
		if (err)
			return err;
	}
	q->gpu_id = (u32)value[0];
	q->type = (u32)value[1];
	q->ring_bytes = (u32)value[2];
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct gp_process_queue *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static const struct gp_process_queue *known_queue(const struct gp_process_record *r, u32 id,
						  u64 birth)
{
	struct gp_process_queue key = { .id = id }, *q;

	if (!r->nr_queues)
		return NULL;
	q = bsearch(&key, r->queues, r->nr_queues, sizeof(key), by_id);
	return q && q->birth == birth ? q : NULL;
}

/* The queues of a process, as found so far. */
struct found_queues {
	struct gp_process_queue queue[GP_PROCESS_QUEUES_MAX];
	u32 nr;
	bool changed;	/* there is a new one */
	int fault;	/* why one of them is missing, or 0 */
};

static void read_new_queue(int dir, struct gp_process_look *look, struct found_queues *found)
{
	struct gp_process_queue *q = &found->queue[found->nr];
	int err;

	if (look->steps >= look->queues_max) {
		look->unfinished = true;
		return;
	}
	look->steps++;
	err = read_queue(dir, q);
	if (!err) {
		found->changed = true;
		found->nr++;
	} else if (!gp_sys_is_gone(err) && err != -EPROTO) {
		found->fault = err;
		look->fault(look->ctx, err);
	}
}

/* Lists the queues by id. Known queues are not read again. On an error the list is incomplete. */
static int list_queues(const struct gp_process_record *r, struct gp_sysfs_dir *dir,
		       struct gp_process_look *look, struct found_queues *found)
{
	u64 id, birth;
	int err = 0;

	while (found->nr < GP_PROCESS_QUEUES_MAX &&
	       (err = gp_sysfs_dir_number(dir, 0, UINT32_MAX, &id, &birth)) > 0) {
		const struct gp_process_queue *known = known_queue(r, (u32)id, birth);

		if (known) {
			found->queue[found->nr++] = *known;
			continue;
		}
		found->queue[found->nr] = (struct gp_process_queue){
			.id = (u32)id, .birth = birth, .seen_ns = look->now_ns,
		};
		read_new_queue(dir->fd, look, found);
	}
	if (err < 0)
		return err;
	qsort(found->queue, found->nr, sizeof(*found->queue), by_id);
	return 0;
}

/* Stores the found queues. Without memory it keeps the old ones. */
static int keep_queues(struct gp_process_record *r, const struct found_queues *found)
{
	u64 bytes = found->nr * sizeof(*found->queue);
	struct gp_process_queue *copy;

	if (!found->changed && found->nr == r->nr_queues)
		return 0;
	copy = gp_sys->realloc(NULL, bytes ? bytes : 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, found->queue, bytes);
	free(r->queues);
	r->queues = copy;
	r->nr_queues = found->nr;
	r->queues_changed = true;
	return 0;
}

static void read_queues(struct gp_process_record *r, struct gp_process_look *look)
{
	struct found_queues found;
	struct gp_sysfs_dir dir;
	char path[32];
	int err;

	found.nr = 0;
	found.changed = false;
	found.fault = 0;
	stpcpy(stpcpy(path, r->name), "/queues");
	err = gp_sysfs_dir_open(&dir, look->kfd_fd, path);
	if (!err) {
		err = list_queues(r, &dir, look, &found);
		gp_sysfs_dir_close(&dir);
	}
	/* The driver makes the directory with the process, so without it there are no queues. */
	if (!err || gp_sys_is_gone(err))
		err = keep_queues(r, &found);
	if (err)
		look->fault(look->ctx, err);
	else if (!found.fault && !look->unfinished)
		r->queues_known = true;
}

int gp_process_gpus(int dir, u32 *ret)
{
	static const char prefix[] = "vram_";
	const char *name, *end;
	struct gp_sysfs_dir d;
	u64 id, inode;
	int nr = 0, err = gp_sysfs_dir_open(&d, dir, ".");

	if (err)
		return err;
	while ((err = gp_sysfs_dir_next(&d, &name, &inode)) > 0) {
		if (strncmp(name, prefix, strlen(prefix)) ||
		    !gp_sysfs_parse(name + strlen(prefix), 10, &id, &end) || *end)
			continue;
		if (nr == GP_GPUS_MAX) {
			err = -E2BIG;
			break;
		}
		ret[nr++] = (u32)id;
	}
	gp_sysfs_dir_close(&d);
	return err ? err : nr;
}

/*
 * Lists the GPUs. The driver makes the files of all GPUs when the process opens it, and adds none
 * later.
 */
static int list_gpus(struct gp_process_record *r, int process)
{
	u32 id[GP_GPUS_MAX];
	int nr = gp_process_gpus(process, id);

	if (nr <= 0)
		return nr;
	r->gpus = gp_sys->realloc(NULL, (u32)nr * sizeof(*r->gpus));
	if (!r->gpus)
		return -ENOMEM;
	r->nr_gpus = (u32)nr;
	for (int i = 0; i < nr; i++)
		r->gpus[i] = (struct gp_process_gpu){ .gpu_id = id[i] };
	return 0;
}

/* Leaves @ret unchanged if the file cannot be read. */
static void read_usage_file(const struct gp_process_look *look, int process, const char *path,
			    u64 *ret)
{
	int err = gp_sysfs_number(process, path, ret);

	if (err && !gp_sys_is_gone(err))
		look->fault(look->ctx, err);
}

static void read_gpu(struct gp_process_gpu *g, int process, const struct gp_process_look *look)
{
	u64 cus = GP_PROCESS_UNKNOWN;
	char path[64];

	snprintf(path, sizeof(path), "vram_%u", g->gpu_id);
	read_usage_file(look, process, path, &g->vram_bytes);
	snprintf(path, sizeof(path), "stats_%u/evicted_ms", g->gpu_id);
	read_usage_file(look, process, path, &g->evicted_ms);
	if (look->what & GP_SCAN_OCCUPANCY) {
		snprintf(path, sizeof(path), "stats_%u/cu_occupancy", g->gpu_id);
		read_usage_file(look, process, path, &cus);
	}
	g->cu_occupancy = (u32)cus;
}

static void read_usage(struct gp_process_record *r, struct gp_process_look *look)
{
	int process = gp_sys->openat(look->kfd_fd, r->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = process < 0 ? -errno : 0;

	if (!err && !r->nr_gpus)
		err = list_gpus(r, process);
	if (err && !gp_sys_is_gone(err))
		look->fault(look->ctx, err);
	if (process < 0)
		return;
	for (u32 i = 0; i < r->nr_gpus; i++)
		read_gpu(&r->gpus[i], process, look);
	look->steps += r->nr_gpus;
	gp_sys->close(process);
}

int gp_process_occupancy(const char *kfd, pid_t pid, u32 gpu_id, u32 *ret)
{
	char path[PATH_MAX];
	u64 value;
	int err;

	if (snprintf(path, sizeof(path), "%s/proc/%d/stats_%u/cu_occupancy",
		     kfd ? kfd : GP_SYSFS_KFD, pid, gpu_id) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = gp_sysfs_number(AT_FDCWD, path, &value);
	/* sysfs returns ENODEV for a file whose object has just gone */
	if (err)
		return err == -ENODEV ? -ENOENT : err;
	*ret = (u32)value;
	return 0;
}

/* Checks /proc, because the driver may need seconds to remove its directory of an ended process. */
static int check_alive(const char *proc, const char *name)
{
	char path[GP_PROCESS_PROC_MAX + 32];
	struct stat st;

	stpcpy(stpcpy(stpcpy(path, proc), "/"), name);
	return gp_sys->fstatat(AT_FDCWD, path, &st, 0) ? -errno : 0;
}

int gp_process_record_update(struct gp_process_record *r, struct gp_process_look *look)
{
	int err = check_alive(look->proc, r->name);

	look->steps = 0;
	look->unfinished = false;
	if (gp_sys_is_gone(err))
		return -ESRCH;
	if (err)
		look->fault(look->ctx, err);
	read_queues(r, look);
	if (look->what & (GP_SCAN_USAGE | GP_SCAN_OCCUPANCY) && !look->unfinished)
		read_usage(r, look);
	return 0;
}

void gp_process_record_free(struct gp_process_record *r)
{
	free(r->queues);
	free(r->gpus);
	free(r);
}

void gp_process_record_show(struct gp_process_record *r, struct gp_process *ret)
{
	*ret = (struct gp_process){
		.pid = r->pid, .start = r->start, .birth = r->birth, .seen_ns = r->seen_ns,
		.uid = r->uid, .gid = r->gid, .user = r->user, .comm = r->comm,
		.queues = r->queues, .nr_queues = r->nr_queues, .gpus = r->gpus,
		.nr_gpus = r->nr_gpus, .queues_changed = r->queues_changed, .is_new = !r->shown,
	};
	r->shown = true;
	r->queues_changed = false;
}

/*
 * Finds the KFD descriptors of a process. Uses statx() with AT_STATX_DONT_SYNC, which does not call
 * the file system, because a file of the process may be on one that hangs. The name of the file
 * does not identify it, because the process can rename it.
 */
static int kfd_fds(pid_t pid, int *to)
{
	int fds[GP_PROCESS_KFD_FDS], n = 0, i, err;
	struct gp_sysfs_dir dir;
	const char *name;
	struct statx st;
	struct stat kfd;
	char path[64];
	u64 inode;

	if (gp_sys->fstatat(AT_FDCWD, GP_KFD_DEVICE, &kfd, 0))
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	err = gp_sysfs_dir_open(&dir, AT_FDCWD, path);
	if (err)
		return err == -ENOENT ? -ESRCH : err == -EACCES ? -EPERM : err;
	while ((err = gp_sysfs_dir_next(&dir, &name, &inode)) > 0) {
		if (name[0] == '.' || statx(dir.fd, name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) ||
		    !S_ISCHR(st.stx_mode) || st.stx_rdev_major != major(kfd.st_rdev) ||
		    st.stx_rdev_minor != minor(kfd.st_rdev))
			continue;
		if (n == GP_PROCESS_KFD_FDS)
			memmove(fds, fds + 1, (size_t)--n * sizeof(*fds));
		fds[n++] = atoi(name);
	}
	gp_sysfs_dir_close(&dir);
	if (err)
		return err;
	for (i = 0; i < n; i++)
		to[i] = fds[n - 1 - i];
	return n ? n : -EBADF;
}

int gp_process_take_kfd(const struct gp_process_id *p, u32 which, int fds[2])
{
	int theirs[GP_PROCESS_KFD_FDS], n = 0;
	u64 start;

	fds[0] = gp_sys->pidfd_open(p->pid, 0);
	if (fds[0] < 0)
		return -errno;
	/* The pidfd is open, so the check of the start time below is final. */
	if (p->start)
		n = gp_process_start(NULL, p->pid, &start);
	if (!n && p->start && start != p->start)
		n = -ESRCH;
	if (!n)
		n = kfd_fds(p->pid, theirs);
	if (n > 0) {
		fds[1] = gp_sys->pidfd_getfd(fds[0], theirs[which < (u32)n ? which : (u32)n - 1],
					     0);
		if (fds[1] >= 0)
			return n;
		n = -errno;
	}
	close(fds[0]);
	return n;
}
