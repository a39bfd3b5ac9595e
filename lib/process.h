/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The processes that have /dev/kfd open, and their queues, from sysfs.
 *
 * A scanner is asked again and again and remembers what cannot change: a process is
 * looked at in /proc once, a queue is read once, and a scan in which nothing is new
 * costs two directory reads per process. Processes and queues that vanish in the
 * middle are left out. A scanner belongs to one thread at a time.
 *
 * Who is who: a pid is reused, so a process is (pid, start). An exec keeps both and
 * makes another process for the driver: (pid, birth) tells them apart.
 */
#ifndef GP_LIB_PROCESS_H
#define GP_LIB_PROCESS_H

#include <sys/types.h>

#include "gpu.h"

enum {
	GP_PROCESSES_MAX	= 4096,	/* more are left out and counted */
	GP_PROCESS_QUEUES_MAX	= 1024,	/* the driver's own limit */
	GP_PROCESS_TEXT		= 4096,	/* bytes kept of a command line, a cgroup, a path */
};

/* A process. The start time tells two processes apart that had the same pid. */
struct gp_process_id {
	pid_t pid;
	u64 start;		/* clock ticks since boot, as in /proc/PID/stat; 0: any */
};

/* What sysfs calls the type of a queue: compute is PM4 and AQL. */
enum gp_process_queue_type {
	GP_PROCESS_COMPUTE	= 0,
	GP_PROCESS_SDMA		= 1,
	GP_PROCESS_SDMA_XGMI	= 4,
};

struct gp_process_queue {
	u64 birth;		/* never the same for two queues, though ids are reused */
	u64 seen_ns;		/* CLOCK_MONOTONIC of the scan that saw it first */
	u32 id;			/* unique in the process */
	u32 gpu_id;
	u32 type;		/* enum gp_process_queue_type */
	u32 ring_bytes;
};

#define GP_PROCESS_UNKNOWN	(~0u)

/* What a process uses of one GPU. */
struct gp_process_gpu {
	u32 gpu_id;
	u32 cu_occupancy;	/* compute units it occupies now; GP_PROCESS_UNKNOWN */
	u64 vram_bytes;
	u64 evicted_ms;		/* so far; the driver adds up when it restores */
};

struct gp_process {
	pid_t pid;
	u64 start;		/* its start time, clock ticks since boot; 0: not known */
	u64 birth;		/* of the driver's record of it */
	u64 seen_ns;		/* CLOCK_MONOTONIC of the scan that saw it first */
	uid_t uid;		/* real ones; -1: not known */
	gid_t gid;
	const char *comm;	/* "": not known, as are the next three */
	const char *exe;
	const char *cmdline;	/* arguments separated by single blanks */
	const char *cgroup;	/* of the unified hierarchy, else the first line's */
	const struct gp_process_queue *queues;
	u32 nr_queues;
	const struct gp_process_gpu *gpus;	/* only GPUs it has opened; with GP_SCAN_USAGE */
	u32 nr_gpus;
	bool queues_changed;	/* since the scan before */
	bool is_new;		/* not in the scan before */
};

enum gp_scan_what {
	GP_SCAN_USAGE		= 1 << 0,	/* vram_bytes, evicted_ms */
	GP_SCAN_OCCUPANCY	= 1 << 1,	/* cu_occupancy too: the driver asks the GPU */
};

struct gp_scan_args {
	const char *kfd;	/* NULL: GP_SYSFS_KFD */
	const char *proc;	/* NULL: /proc */
};

struct gp_scanner;

/* -ENOMEM, or -ENAMETOOLONG. The directories need not exist yet. */
int gp_scanner_alloc(const struct gp_scan_args *args, struct gp_scanner **ret);
void gp_scanner_free(struct gp_scanner *s);

/*
 * One scan. The processes, ordered by pid, are the scanner's and stay until the next
 * scan. -ENOENT: the driver is not loaded. -ENOMEM: nothing changed.
 */
int gp_scanner_run(struct gp_scanner *s, u32 what, const struct gp_process **ret, u32 *ret_count);

/* Processes beyond the limit in the last scan. */
u32 gp_scanner_left_out(const struct gp_scanner *s);

/* The start time of @pid in clock ticks since boot. -ESRCH: no such process. */
int gp_process_start(const char *proc, pid_t pid, u64 *ret);

/* cu_occupancy of one process on one GPU, now. -ENOENT: not there (any more). */
int gp_process_occupancy(const char *kfd, pid_t pid, u32 gpu_id, u32 *ret);

#endif /* GP_LIB_PROCESS_H */
