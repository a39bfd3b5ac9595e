/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The scanner's record of one process. */
#ifndef GP_LIB_PROCESS_RECORD_H
#define GP_LIB_PROCESS_RECORD_H

#include "process.h"

struct gp_process_record {
	pid_t pid;
	char name[16];		/* the pid as text */
	u64 birth, start, seen_ns;
	uid_t uid, user;
	gid_t gid;
	char comm[32];
	struct gp_process_queue *queues;	/* by id */
	u32 nr_queues;
	struct gp_process_gpu *gpus;
	u32 nr_gpus;
	bool queues_known;	/* all queues were read at least once */
	bool queues_changed;	/* since the last gp_process_record_show() */
	bool shown;
};

enum { GP_PROCESS_PROC_MAX = 1024 };

/* Where and how to look at one process. */
struct gp_process_look {
	const char *proc;	/* shorter than GP_PROCESS_PROC_MAX */
	int kfd_fd;		/* the driver's directory of processes */
	u64 now_ns;
	u32 what;		/* enum gp_scan_what */
	u32 queues_max;		/* new queues that may be read */
	u32 steps;		/* out: new queues and GPUs that were read */
	bool unfinished;	/* out: there are more new queues */
	/* Counts a failed system call. */
	void (*fault)(void *ctx, int err);
	void *ctx;
};

/*
 * Reads pid, start, comm and ids of a process into @r, but not its birth and user. -ESRCH: the
 * process ended. Other errors say nothing about it.
 */
int gp_process_record_identify(struct gp_process_record *r, const char *proc, pid_t pid);
/* Reads queues and usage. -ESRCH: the process ended. What cannot be read keeps its old value. */
int gp_process_record_update(struct gp_process_record *r, struct gp_process_look *look);
void gp_process_record_free(struct gp_process_record *r);
/* Fills in *@ret. Clears the marks of changes since the last call. */
void gp_process_record_show(struct gp_process_record *r, struct gp_process *ret);

#endif /* GP_LIB_PROCESS_RECORD_H */
