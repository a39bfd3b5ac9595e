// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One process: who it is (/proc), its queues and what it uses (the driver's directory
 * of it). Only a missing process is an error: what cannot be read is not known.
 */
#include "process_record.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

enum { STAT_START = 22, GPUS_MAX = GP_GPUS_MAX };

static int open_process(const char *proc, pid_t pid)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%d", proc, pid) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

/* "pid (name) state ...": a name may contain blanks and brackets, the rest not. */
static bool parse_stat(const char *text, char *comm, size_t room, u64 *ret_start)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')'), *at, *end;
	size_t bytes;

	if (!open || !close || close < open)
		return false;
	bytes = (size_t)(close - open) - 1;
	if (bytes >= room)
		bytes = room - 1;
	memcpy(comm, open + 1, bytes);
	comm[bytes] = '\0';
	at = close + 1;
	for (u32 field = 3; field <= STAT_START; field++) {
		if (*at != ' ')
			return false;
		at++;
		if (field < STAT_START)
			at += strcspn(at, " ");
	}
	return gp_sysfs_parse(at, 10, ret_start, &end);
}

static int read_stat(int dir, char *comm, size_t room, u64 *ret_start)
{
	char text[1024];
	int n = gp_sysfs_text(dir, "stat", text, sizeof(text));

	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	return parse_stat(text, comm, room, ret_start) ? 0 : -ESRCH;
}

int gp_process_start(const char *proc, pid_t pid, u64 *ret)
{
	int dir = open_process(proc ? proc : "/proc", pid);
	char comm[32];
	int err;

	if (dir < 0)
		return dir;
	err = read_stat(dir, comm, sizeof(comm), ret);
	close(dir);
	return err;
}

/* The real ids: the first number behind "Uid:" and "Gid:". */
static u32 status_id(const char *text, const char *name)
{
	const char *at = strstr(text, name), *end;
	u64 value;

	if (!at)
		return (u32)-1;
	at += strlen(name);
	return gp_sysfs_parse(at + strspn(at, "\t "), 10, &value, &end) ? (u32)value : (u32)-1;
}

static char *read_link(int dir, const char *name)
{
	char text[GP_PROCESS_TEXT];
	ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1);

	if (n < 0)
		return NULL;
	text[n] = '\0';
	return strdup(text);
}

/* What ends each argument is a zero byte; people read a blank. */
static char *read_cmdline(int dir)
{
	char text[GP_PROCESS_TEXT];
	int n = gp_sysfs_text(dir, "cmdline", text, sizeof(text));

	if (n < 0)
		return NULL;
	while (n > 0 && !text[n - 1])
		n--;
	for (int i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = '\0';
	return strdup(text);
}

/* "0::/path" of the unified hierarchy, else the path of the first line. */
static char *read_cgroup(int dir)
{
	char text[GP_PROCESS_TEXT], *line, *path;

	if (gp_sysfs_text(dir, "cgroup", text, sizeof(text)) < 0)
		return NULL;
	line = strncmp(text, "0::", 3) ? strstr(text, "\n0::") : text;
	line = line ? line + (*line == '\n') : text;
	path = strchr(line, ':');
	path = path ? strchr(path + 1, ':') : NULL;
	if (!path)
		return NULL;
	path[1 + strcspn(path + 1, "\n")] = '\0';
	return strdup(path + 1);
}

static int read_identity(struct gp_process_record *r, const char *proc)
{
	char status[4096];
	int dir = open_process(proc, r->pid);
	int err;

	if (dir < 0)
		return dir;
	err = read_stat(dir, r->comm, sizeof(r->comm), &r->start);
	if (!err) {
		if (gp_sysfs_text(dir, "status", status, sizeof(status)) < 0)
			status[0] = '\0';
		r->uid = status_id(status, "\nUid:");
		r->gid = status_id(status, "\nGid:");
		r->exe = read_link(dir, "exe");
		r->cmdline = read_cmdline(dir);
		r->cgroup = read_cgroup(dir);
	}
	close(dir);
	return err;
}

static DIR *open_below(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir;

	if (fd < 0)
		return NULL;
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

static bool read_queue(int queues, struct gp_process_queue *q)
{
	char path[48];
	u64 gpu_id, type, bytes;

	snprintf(path, sizeof(path), "%u/gpuid", q->id);
	if (gp_sysfs_number(queues, path, &gpu_id))
		return false;
	snprintf(path, sizeof(path), "%u/type", q->id);
	if (gp_sysfs_number(queues, path, &type))
		return false;
	snprintf(path, sizeof(path), "%u/size", q->id);
	if (gp_sysfs_number(queues, path, &bytes))
		return false;
	q->gpu_id = (u32)gpu_id;
	q->type = (u32)type;
	q->ring_bytes = (u32)bytes;
	return true;
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

/* Into @ret, in order; what is known is not read again. */
static u32 list_queues(const struct gp_process_record *r, DIR *dir, u64 now_ns,
		       struct gp_process_queue *ret, bool *changed)
{
	struct dirent *entry;
	const char *end;
	u32 nr = 0;
	u64 id;

	while (nr < GP_PROCESS_QUEUES_MAX && (entry = readdir(dir))) {
		const struct gp_process_queue *known;
		struct gp_process_queue *q = &ret[nr];

		if (!gp_sysfs_parse(entry->d_name, 10, &id, &end) || *end || id > UINT32_MAX)
			continue;
		known = known_queue(r, (u32)id, entry->d_ino);
		if (known) {
			*q = *known;
			nr++;
			continue;
		}
		*q = (struct gp_process_queue){
			.id = (u32)id, .birth = entry->d_ino, .seen_ns = now_ns,
		};
		if (read_queue(dirfd(dir), q)) {
			*changed = true;
			nr++;
		}
	}
	qsort(ret, nr, sizeof(*ret), by_id);
	return nr;
}

static void read_queues(struct gp_process_record *r, int process, u64 now_ns)
{
	struct gp_process_queue now[GP_PROCESS_QUEUES_MAX], *copy;
	DIR *dir = open_below(process, "queues");
	u32 nr = 0;

	r->queues_changed = false;
	if (dir) {
		nr = list_queues(r, dir, now_ns, now, &r->queues_changed);
		closedir(dir);
	}
	if (!r->queues_changed && nr == r->nr_queues)
		return;
	/* Without memory the old ones stay, and the next scan tries again. */
	copy = malloc(nr ? nr * sizeof(*now) : 1);
	r->queues_changed = copy;
	if (!copy)
		return;
	memcpy(copy, now, nr * sizeof(*now));
	free(r->queues);
	r->queues = copy;
	r->nr_queues = nr;
}

/* The driver makes one set of files per GPU when the process opens it, and adds none. */
static void list_gpus(struct gp_process_record *r, int process)
{
	struct gp_process_gpu gpus[GPUS_MAX];
	DIR *dir = open_below(process, ".");
	struct dirent *entry;
	const char *end;
	u32 nr = 0;
	u64 id;

	if (!dir)
		return;
	while (nr < GPUS_MAX && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "vram_", 5) &&
		    gp_sysfs_parse(entry->d_name + 5, 10, &id, &end) && !*end && id <= UINT32_MAX)
			gpus[nr++] = (struct gp_process_gpu){ .gpu_id = (u32)id };
	closedir(dir);
	if (!nr)
		return;
	r->gpus = malloc(nr * sizeof(*gpus));
	if (!r->gpus)
		return;
	memcpy(r->gpus, gpus, nr * sizeof(*gpus));
	r->nr_gpus = nr;
}

static void read_usage(struct gp_process_record *r, int process, u32 what)
{
	char path[64];
	u64 value;

	if (!r->nr_gpus)
		list_gpus(r, process);
	for (u32 i = 0; i < r->nr_gpus; i++) {
		struct gp_process_gpu *g = &r->gpus[i];

		snprintf(path, sizeof(path), "vram_%u", g->gpu_id);
		if (!gp_sysfs_number(process, path, &value))
			g->vram_bytes = value;
		snprintf(path, sizeof(path), "stats_%u/evicted_ms", g->gpu_id);
		if (!gp_sysfs_number(process, path, &value))
			g->evicted_ms = value;
		g->cu_occupancy = GP_PROCESS_UNKNOWN;
		if (!(what & GP_SCAN_OCCUPANCY))
			continue;
		snprintf(path, sizeof(path), "stats_%u/cu_occupancy", g->gpu_id);
		if (!gp_sysfs_number(process, path, &value))
			g->cu_occupancy = (u32)value;
	}
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
	/* sysfs says ENODEV of a file whose object has just gone */
	if (err)
		return err == -ENODEV ? -ENOENT : err;
	*ret = (u32)value;
	return 0;
}

int gp_process_record_update(struct gp_process_record *r, const struct gp_process_look *look)
{
	char name[16];
	int process;

	r->is_new = false;
	snprintf(name, sizeof(name), "%d", r->pid);
	process = openat(look->kfd_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return -ESRCH;
	read_queues(r, process, look->now_ns);
	if (look->what & (GP_SCAN_USAGE | GP_SCAN_OCCUPANCY))
		read_usage(r, process, look->what);
	close(process);
	return 0;
}

int gp_process_record_init(struct gp_process_record *r, const struct gp_process_look *look)
{
	int err = read_identity(r, look->proc);

	if (!err)
		err = gp_process_record_update(r, look);
	r->seen_ns = look->now_ns;
	r->is_new = true;
	return err;
}

void gp_process_record_fini(struct gp_process_record *r)
{
	free(r->exe);
	free(r->cmdline);
	free(r->cgroup);
	free(r->queues);
	free(r->gpus);
}

static const char *known(const char *text)
{
	return text ? text : "";
}

void gp_process_record_show(const struct gp_process_record *r, struct gp_process *ret)
{
	*ret = (struct gp_process){
		.pid = r->pid, .start = r->start, .birth = r->birth, .seen_ns = r->seen_ns,
		.uid = r->uid, .gid = r->gid, .comm = r->comm, .exe = known(r->exe),
		.cmdline = known(r->cmdline), .cgroup = known(r->cgroup), .queues = r->queues,
		.nr_queues = r->nr_queues, .gpus = r->gpus, .nr_gpus = r->nr_gpus,
		.queues_changed = r->queues_changed, .is_new = r->is_new,
	};
}
