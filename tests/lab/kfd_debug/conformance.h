/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Mechanisms of the real driver on trial: tests/shared/conformance.h with gploads as tasks. */
#ifndef LAB_CONFORMANCE_H
#define LAB_CONFORMANCE_H

#include "daemon/holders.h"
#include "lib/gpu.h"
#include "lib/process.h"
#include "mechanism_kmod.h"
#include "tests/shared/conformance.h"

enum { PATIENCE_MS = 60000 };

struct subject;

struct kfd_bench {
	struct bench base;
	const struct subject *subject;
	struct gp_mechanism shown;	/* the mechanism in the clock of the tests */
	struct gp_mechanism_ops ops;
	struct gp_mechanism *real;
	struct gp_holders *holders;	/* of kfd-debug */
	struct gp_kmodm *kmodm;		/* of the others */
	pid_t pid[BENCH_TASKS];
	struct gp_pointers_set *pointers[BENCH_TASKS];
	bool hung;
	u64 now_ns;			/* of the tests */
	u64 begun_ns, begun_real_ns;	/* the action under way, in both clocks */
};

struct subject {
	const char *name;
	struct gp_mechanism *(*open)(struct kfd_bench *k, const struct gp_gpu_info *gpu);
	void (*close)(struct kfd_bench *k);
	void (*attach)(struct kfd_bench *k, u32 task);
	/* The next stop of @task is refused. */
	void (*refuse)(struct kfd_bench *k, u32 task);
	/* Something is under way; then fd() is readable when there is an answer. */
	bool (*busy)(struct kfd_bench *k);
	int (*fd)(struct kfd_bench *k);
};

extern const struct subject conformance_kfd_debug, conformance_evict, conformance_direct,
			    conformance_halt;

#endif /* LAB_CONFORMANCE_H */
