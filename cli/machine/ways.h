/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Ways to take a process off a GPU and put it back, which `gpreempt bench` measures. */
#ifndef GP_CLI_WAYS_H
#define GP_CLI_WAYS_H

#include <sys/types.h>

#include "gp_env.h"
#include "lib/kfd_debug/session.h"
#include "uapi/gpreempt.h"

/* The times of one call, by CLOCK_MONOTONIC. */
struct gp_bench_done {
	u64 begin_ns, end_ns;
	u32 queues;
};

struct gp_bench_target {
	pid_t pid;
	u32 gpu_id;
	const struct gp_bench_way *way;
	/* for kfd-debug */
	int kfd_fd;
	struct gp_session session;
	/* for the module */
	int kmod_fd;
	u32 task, queues;
	char mechanism_before[GP_UAPI_NAME];
};

/*
 * The functions return 0, or -errno with a sentence in gp_strerror(). They return -EOPNOTSUPP if
 * the way is not available here. Only one thread calls them.
 */
struct gp_bench_way {
	const char *name;
	bool graceful;		/* supports a grace period */
	const char *until;	/* remedy when another debugger has the process (-EALREADY) */
	int (*open)(struct gp_bench_target *t);
	void (*close)(struct gp_bench_target *t);
	/* @grace: 1..255 thousand GPU clocks. */
	int (*unmap)(struct gp_bench_target *t, u32 grace, struct gp_bench_done *ret);
	int (*map)(struct gp_bench_target *t, struct gp_bench_done *ret);
	/*
	 * Called between two rounds. Returns -ESRCH if the process has ended or leaves its
	 * runtime.
	 */
	int (*between)(struct gp_bench_target *t);
};

extern const struct gp_bench_way gp_bench_evict, gp_bench_direct, gp_bench_halt;

/* All ways, kfd-debug first, ended by NULL. */
extern const struct gp_bench_way *const gp_bench_ways[];

#endif /* GP_CLI_WAYS_H */
