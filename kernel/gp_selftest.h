/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The test of `direct`'s assumptions on a GPU. */
#ifndef GP_KERNEL_SELFTEST_H
#define GP_KERNEL_SELFTEST_H

#include "gp_env.h"

struct gp_kernel_gpu;
struct gp_target;

/* A self test that a caller waits for. */
struct gp_selftest {
	u32 task, handle;
	int err;
	char *why;
	size_t size;
	bool done;
};

/* Starts the test, which stops and starts @target once. The caller holds home.mutex. -EBUSY. */
int gp_selftest_begin(struct gp_kernel_gpu *gpu, const struct gp_target *target,
		      struct gp_selftest *test);
/* Waits until the worker has finished the test. The caller holds no lock. */
int gp_selftest_wait(struct gp_selftest *test);
/* Fails a test that waits for a worker which has ended. */
void gp_selftest_cancel(struct gp_kernel_gpu *gpu);
/* The worker's part. */
void gp_selftest_run(struct gp_kernel_gpu *gpu);

#endif /* GP_KERNEL_SELFTEST_H */
