/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the scanner remembers of one process. */
#ifndef GP_LIB_PROCESS_RECORD_H
#define GP_LIB_PROCESS_RECORD_H

#include "process.h"

struct gp_process_record {
	pid_t pid;
	u64 birth, start, seen_ns;
	uid_t uid;
	gid_t gid;
	char comm[32];
	char *exe, *cmdline, *cgroup;	/* NULL: not known */
	struct gp_process_queue *queues;	/* by id */
	u32 nr_queues;
	struct gp_process_gpu *gpus;
	u32 nr_gpus;
	bool is_new, queues_changed;
};

/* Where and how to look. */
struct gp_process_look {
	const char *proc;
	int kfd_fd;		/* the driver's directory of processes */
	u64 now_ns;
	u32 what;		/* enum gp_scan_what */
};

/* @r has its pid and birth, and is otherwise zero. -ESRCH: it is not there (any more). */
int gp_process_record_init(struct gp_process_record *r, const struct gp_process_look *look);
int gp_process_record_update(struct gp_process_record *r, const struct gp_process_look *look);
void gp_process_record_fini(struct gp_process_record *r);
void gp_process_record_show(const struct gp_process_record *r, struct gp_process *ret);

#endif /* GP_LIB_PROCESS_RECORD_H */
