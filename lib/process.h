/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The processes that have /dev/kfd open, and their queues, from sysfs.
 *
 * A scanner is used repeatedly and caches what cannot change. It reads /proc once per process, and
 * each queue once. A process that did not change costs one directory read.
 *
 * A scan is done in steps, so that no user can make one call take long. Its result appears when the
 * scan is complete. Until then callers see the previous result.
 *
 * A failed system call is not a fact. If the files of a process cannot be read, for want of
 * descriptors for instance, the known queues are kept and the failure is counted. A process is gone
 * when the driver's directory of it is gone, or when /proc has no such process. A new process
 * appears in the result when its queues are known.
 *
 * At most user_max processes of one user are tracked (lib/user.h says what a user is), so that one
 * user's processes never displace another's. The last quarter of GP_PROCESSES_MAX is for users who
 * have less than an eighth of user_max. Processes beyond these limits are counted. One of them that
 * has queues takes the place of one of the same user that has none, within a few scans.
 *
 * Identity: a pid is reused, so a process is (pid, start). An exec keeps both and
 * makes another process for the driver: (pid, birth) tells them apart.
 *
 * A scanner belongs to one thread at a time. It keeps at most one descriptor, the directory of an
 * incomplete scan.
 */
#ifndef GP_LIB_PROCESS_H
#define GP_LIB_PROCESS_H

#include <sys/types.h>

#include "gpu.h"

enum {
	GP_PROCESSES_MAX	= 4096,	/* tracked at once */
	GP_USER_PROCESSES_MAX	= 512,	/* of one user, unless gp_scan_args has another limit */
	GP_PROCESS_QUEUES_MAX	= 1024,	/* the driver's own limit */
};

/* A process. The start time tells two processes apart that had the same pid. */
struct gp_process_id {
	pid_t pid;
	u64 start;		/* clock ticks since boot, as in /proc/PID/stat; 0: any */
};

/* The type of a queue in sysfs. Compute is PM4 and AQL. */
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

/* The resources of one GPU that a process uses. */
struct gp_process_gpu {
	u32 gpu_id;
	u32 cu_occupancy;	/* compute units it occupies now; GP_PROCESS_UNKNOWN */
	u64 vram_bytes;
	u64 evicted_ms;		/* so far; the driver adds up when it restores */
};

struct gp_process {
	pid_t pid;
	u64 start;		/* its start time, clock ticks since boot */
	u64 birth;		/* of the driver's record of it */
	u64 seen_ns;		/* CLOCK_MONOTONIC of the scan that saw it first */
	uid_t uid;		/* real ones; -1: not known */
	gid_t gid;
	uid_t user;		/* the user charged for it (lib/user.h) */
	const char *comm;
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
	const char *etc;	/* NULL: /etc, for subuid and passwd */
	u32 user_max;		/* 0: GP_USER_PROCESSES_MAX */
};

struct gp_scanner;

/* -ENOMEM, or -ENAMETOOLONG. The directories need not exist yet. */
int gp_scanner_alloc(const struct gp_scan_args *args, struct gp_scanner **ret);
void gp_scanner_free(struct gp_scanner *s);

/*
 * Continues the scan, or begins one. The call that begins it sets @what. Does at most @steps steps
 * (0 counts as 1). A step is one piece of the directory of processes, one process, or one new
 * queue, and takes at most 24 system calls. With GP_SCAN_USAGE each GPU of a process is a step too,
 * and the GPUs of one process are read together.
 *
 * 1: the scan is complete, gp_scanner_processes() has its result, and the next call begins another.
 * 0: there is more to do. -ENOENT: the driver is not loaded; no process uses a GPU. Any other error
 * ends this scan, and nothing is known to have changed.
 */
int gp_scanner_step(struct gp_scanner *s, u32 what, u32 steps);

/*
 * The result of the last complete scan, ordered by pid. Call it directly after a gp_scanner_step()
 * that returned 1: the processes are valid until the next call of gp_scanner_step() or _run().
 */
const struct gp_process *gp_scanner_processes(const struct gp_scanner *s, u32 *ret_count);

/*
 * Does one whole scan, however long it takes. Restarts an incomplete scan. Returns 0 and the
 * result, or an error of gp_scanner_step().
 */
int gp_scanner_run(struct gp_scanner *s, u32 what, const struct gp_process **ret, u32 *ret_count);

/* Returns how many processes use a GPU and are not tracked, because a limit is reached. */
u32 gp_scanner_left_out(const struct gp_scanner *s);

/* The untracked processes of one user. */
struct gp_scan_user {
	uid_t user;
	u32 tracked, left_out;
	u32 busy;		/* left out and known to have queues */
};
/* Gets the @i-th user by uid, from 0. Returns false if there are fewer. */
bool gp_scanner_user(const struct gp_scanner *s, u32 i, struct gp_scan_user *ret);

/* The reason of a failed system call. */
enum gp_scan_fault {
	GP_SCAN_DESCRIPTORS,	/* EMFILE, ENFILE */
	GP_SCAN_MEMORY,		/* ENOMEM */
	GP_SCAN_IO,		/* EIO */
	GP_SCAN_AGAIN,		/* EAGAIN, EINTR */
	GP_SCAN_OTHER,
	GP_SCAN_FAULTS,
};

/*
 * Returns the number of failed system calls, except those which say that a process or queue is
 * gone.
 */
u64 gp_scanner_faults(const struct gp_scanner *s, enum gp_scan_fault why);
/* Returns a text such as "no file descriptor is free". */
const char *gp_scan_fault_text(enum gp_scan_fault why);

/*
 * Reads the start time of @pid in clock ticks since boot. -ESRCH: no such process. Other errors say
 * nothing about the process.
 */
int gp_process_start(const char *proc, pid_t pid, u64 *ret);

/*
 * Reads the ids of the GPUs that a process has opened, from the driver's directory @dir of the
 * process. Returns how many, GP_GPUS_MAX at most, or -errno.
 */
int gp_process_gpus(int dir, u32 *ret);

/* Reads cu_occupancy of one process on one GPU. -ENOENT: it is gone. */
int gp_process_occupancy(const char *kfd, pid_t pid, u32 gpu_id, u32 *ret);

/* KFD descriptors of one process that are tried. */
enum { GP_PROCESS_KFD_FDS = 8 };
/*
 * Takes a pidfd (fds[0]) and a KFD descriptor (fds[1]) of a process. @which counts its descriptors
 * from the newest, because a child may have its parent's too; beyond the end it takes the last one.
 * Returns how many it has, GP_PROCESS_KFD_FDS at most; -EBADF: none; -ESRCH, -EPERM. Can wait as
 * long as the process wants.
 */
int gp_process_take_kfd(const struct gp_process_id *p, u32 which, int fds[2]);

#endif /* GP_LIB_PROCESS_H */
