// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The cost of a scan per process when nothing changed, which is the common case: a scan of the
 * largest number of processes that can be tracked, against a loop that only reads the same
 * directories. Both run in turns, and the best turn of each counts.
 */
#include "bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/process.h"

enum { PROCESSES = GP_PROCESSES_MAX, USERS = 64, QUEUES = 2, ROUNDS = 10 };

static char top[] = "/dev/shm/gp-bench-XXXXXX";

static void need(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	exit(1);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	need(f && fputs(text, f) >= 0 && !fclose(f), path);
}

static void put_user(u32 user)
{
	char path[PATH_MAX], text[64];

	snprintf(path, sizeof(path), "%s/p/user-%u", top, user);
	need(!mkdir(path, 0700), path);
	snprintf(path, sizeof(path), "%s/p/user-%u/task", top, user);
	need(!mkdir(path, 0700), path);
	snprintf(path, sizeof(path), "%s/p/user-%u/stat", top, user);
	put(path, "1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1 2\n");
	snprintf(path, sizeof(path), "%s/p/user-%u/status", top, user);
	snprintf(text, sizeof(text), "Name:\tx\nUid:\t%u\nGid:\t1\n", user);
	put(path, text);
}

static void put_process(u32 pid)
{
	static const char *const files[] = { "gpuid", "type", "size" };
	char path[PATH_MAX], user[32];

	snprintf(user, sizeof(user), "user-%u", pid % USERS);
	snprintf(path, sizeof(path), "%s/p/%u", top, pid);
	need(!symlink(user, path), path);
	snprintf(path, sizeof(path), "%s/p/%s/task/%u", top, user, pid);
	need(!symlink("..", path), path);
	snprintf(path, sizeof(path), "%s/kfd/proc/%u", top, pid);
	need(!mkdir(path, 0700), path);
	snprintf(path, sizeof(path), "%s/kfd/proc/%u/queues", top, pid);
	need(!mkdir(path, 0700), path);
	for (u32 q = 0; q < QUEUES; q++) {
		snprintf(path, sizeof(path), "%s/kfd/proc/%u/queues/%u", top, pid, q);
		need(!mkdir(path, 0700), path);
		for (u32 i = 0; i < 3; i++) {
			snprintf(path, sizeof(path), "%s/kfd/proc/%u/queues/%u/%s", top, pid, q,
				 files[i]);
			put(path, "1");
		}
	}
}

static void make_tree(void)
{
	static const char *const folders[] = { "p", "kfd", "kfd/proc" };
	char path[PATH_MAX];

	need(mkdtemp(top), top);
	for (u32 i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", top, folders[i]);
		need(!mkdir(path, 0700), path);
	}
	for (u32 i = 0; i < USERS; i++)
		put_user(i);
	for (u32 i = 1; i <= PROCESSES; i++)
		put_process(i);
}

static void remove_tree(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	need(!system(command), command);
}

/* Nanoseconds per process of a scan. */
static u64 scan(struct gp_scanner *s)
{
	u64 begin = bench_own_clock();
	const struct gp_process *p;
	u32 count = 0;

	if (gp_scanner_run(s, 0, &p, &count) || count != PROCESSES) {
		fprintf(stderr, "bench: the scan found %u of %u processes\n", count, PROCESSES);
		remove_tree();
		exit(1);
	}
	return (bench_own_clock() - begin) / PROCESSES;
}

/* Nanoseconds per process of the system calls that every scan needs. */
static u64 bare(int dir)
{
	u64 begin = bench_own_clock();
	char path[32], entries[4096];

	for (u32 i = 1; i <= PROCESSES; i++) {
		int fd;

		snprintf(path, sizeof(path), "%u/queues", i);
		fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		need(fd >= 0, path);
		while (syscall(SYS_getdents64, fd, entries, sizeof(entries)) > 0)
			;
		close(fd);
	}
	return (bench_own_clock() - begin) / PROCESSES;
}

int main(void)
{
	struct gp_scan_args args = { 0 };
	u64 ours = GP_NEVER, least = GP_NEVER;
	char kfd[64], proc[64], path[64];
	struct gp_scanner *s;
	int dir;

	make_tree();
	snprintf(kfd, sizeof(kfd), "%s/kfd", top);
	snprintf(proc, sizeof(proc), "%s/p", top);
	snprintf(path, sizeof(path), "%s/kfd/proc", top);
	args.kfd = kfd;
	args.proc = proc;
	need(!gp_scanner_alloc(&args, &s), "gp_scanner_alloc");
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	need(dir >= 0, path);
	scan(s);
	for (u32 i = 0; i < ROUNDS; i++) {
		bench_keep_least(&ours, scan(s));
		bench_keep_least(&least, bare(dir));
	}
	printf("{\"bench\": \"scan_unchanged\", \"value\": %llu, \"unit\": \"ns per process\", "
	       "\"baseline\": %llu, \"ratio\": %.2f, \"limit\": %.1f}\n", (unsigned long long)ours,
	       (unsigned long long)least, (double)ours / (double)(least ? least : 1), 3.0);
	gp_scanner_free(s);
	close(dir);
	remove_tree();
	return 0;
}
