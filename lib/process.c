// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The scanner: who is there, compared with who was there the time before. */
#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process_record.h"
#include "sysfs.h"

struct gp_scanner {
	char kfd[PATH_MAX];	/* with /proc behind it */
	char proc[PATH_MAX];
	struct gp_process_record *records;	/* by pid; their processes are in @shown */
	u32 nr;
	struct gp_process *shown;
	u32 left_out;
};

static u64 monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

int gp_scanner_alloc(const struct gp_scan_args *args, struct gp_scanner **ret)
{
	const char *kfd = args->kfd ? args->kfd : GP_SYSFS_KFD;
	const char *proc = args->proc ? args->proc : "/proc";
	struct gp_scanner *s;

	if (strlen(kfd) + sizeof("/proc") > sizeof(s->kfd) || strlen(proc) >= sizeof(s->proc))
		return -ENAMETOOLONG;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	snprintf(s->kfd, sizeof(s->kfd), "%s/proc", kfd);
	snprintf(s->proc, sizeof(s->proc), "%s", proc);
	*ret = s;
	return 0;
}

void gp_scanner_free(struct gp_scanner *s)
{
	if (!s)
		return;
	for (u32 i = 0; i < s->nr; i++)
		gp_process_record_fini(&s->records[i]);
	free(s->records);
	free(s->shown);
	free(s);
}

u32 gp_scanner_left_out(const struct gp_scanner *s)
{
	return s->left_out;
}

/* A directory of the driver's, before it is looked into. */
struct found {
	pid_t pid;
	u64 birth;
};

static int by_pid(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* At most GP_PROCESSES_MAX; the others are counted. */
static int list_processes(struct gp_scanner *s, DIR *dir, struct found **ret, u32 *ret_nr)
{
	struct found *found = NULL;
	u32 nr = 0, room = 0;
	struct dirent *entry;
	const char *end;
	u64 pid;

	s->left_out = 0;
	while ((entry = readdir(dir))) {
		if (!gp_sysfs_parse(entry->d_name, 10, &pid, &end) || *end || !pid || pid > INT_MAX)
			continue;
		if (nr == GP_PROCESSES_MAX) {
			s->left_out++;
			continue;
		}
		if (nr == room) {
			struct found *more = realloc(found, (room + 64) * sizeof(*found));

			if (!more) {
				free(found);
				return -ENOMEM;
			}
			found = more;
			room += 64;
		}
		found[nr++] = (struct found){ .pid = (pid_t)pid, .birth = entry->d_ino };
	}
	if (nr)
		qsort(found, nr, sizeof(*found), by_pid);
	*ret = found;
	*ret_nr = nr;
	return 0;
}

static struct gp_process_record *find_record(struct gp_scanner *s, const struct found *f)
{
	u32 low = 0, high = s->nr;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (s->records[middle].pid < f->pid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->nr || s->records[low].pid != f->pid || s->records[low].birth != f->birth)
		return NULL;
	return &s->records[low];
}

/* Takes over the records of those who are still there, and makes those who are new. */
static u32 follow(struct gp_scanner *s, const struct gp_process_look *look,
		  const struct found *found, u32 nr, struct gp_process_record *now)
{
	u32 kept = 0;

	for (u32 i = 0; i < nr; i++) {
		struct gp_process_record *old = find_record(s, &found[i]), *r = &now[kept];
		int err;

		if (old) {
			*r = *old;
			memset(old, 0, sizeof(*old));
			old->pid = found[i].pid;	/* stays in order */
			err = gp_process_record_update(r, look);
		} else {
			*r = (struct gp_process_record){
				.pid = found[i].pid, .birth = found[i].birth,
			};
			err = gp_process_record_init(r, look);
		}
		if (err)
			gp_process_record_fini(r);	/* vanished while we looked */
		else
			kept++;
	}
	return kept;
}

int gp_scanner_run(struct gp_scanner *s, u32 what, const struct gp_process **ret, u32 *ret_count)
{
	struct gp_process_record *now = NULL;
	struct gp_process *shown = NULL;
	struct gp_process_look look;
	struct found *found = NULL;
	DIR *dir = opendir(s->kfd);
	u32 nr = 0;
	int err;

	if (!dir)
		return -errno;
	err = list_processes(s, dir, &found, &nr);
	if (!err) {
		now = calloc(nr + 1, sizeof(*now));
		shown = calloc(nr + 1, sizeof(*shown));
		if (!now || !shown)
			err = -ENOMEM;
	}
	if (err) {
		free(now);
		free(shown);
		goto close_dir;
	}
	look = (struct gp_process_look){
		.proc = s->proc, .kfd_fd = dirfd(dir), .now_ns = monotonic_ns(), .what = what,
	};
	nr = follow(s, &look, found, nr, now);
	for (u32 i = 0; i < s->nr; i++)
		gp_process_record_fini(&s->records[i]);
	free(s->records);
	free(s->shown);
	s->records = now;
	s->shown = shown;
	s->nr = nr;
	for (u32 i = 0; i < nr; i++)
		gp_process_record_show(&now[i], &shown[i]);
	*ret = shown;
	*ret_count = nr;

close_dir:
	free(found);
	closedir(dir);
	return err;
}
