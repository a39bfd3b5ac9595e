/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A sysfs, a /proc and an /etc that a test of the process scanner writes. */
#ifndef PROCESS_WORLD_H
#define PROCESS_WORLD_H

#include "tests/shared/fake_tree.h"
#include "tests/shared/gp_test.h"
#include "lib/process.h"

struct process_world {
	struct fake_tree *tree;
	char kfd[128], proc[128], etc[128];
	struct gp_scanner *scanner;
	const struct gp_process *p;	/* result of the last scan */
	u32 count;
};

int process_world_up(void **state);
int process_world_down(void **state);
/* Creates another scanner on the same files. @user_max: as in gp_scan_args. */
struct gp_scanner *process_world_scanner(struct process_world *w, u32 user_max);

/* Writes /proc/PID of user 1000. */
void process_world_put_proc(struct process_world *w, int pid, const char *name, u64 start);
void process_world_put_user(struct process_world *w, int pid, uid_t uid);
void process_world_put_queue(struct process_world *w, int pid, u32 id, const char *gpu,
			     const char *type);
/* Writes a process in /proc and sysfs with three queues on one GPU. */
void process_world_put_process(struct process_world *w, int pid);
/* Writes a process without a queue, in a user namespace. */
void process_world_put_idle(struct process_world *w, int pid, uid_t uid);

/* Makes one whole scan, which must succeed. */
void process_world_scan(struct process_world *w, u32 what);

#endif /* PROCESS_WORLD_H */
