/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Drivers that the lab cannot provide: an older one that accepts calls of the tracer only, one
 * whose hardware releases only some queues, one that hangs. ptrace and its targets are real.
 * Children of the test share the driver's state.
 */
#ifndef GP_FAKE_DRIVER_H
#define GP_FAKE_DRIVER_H

#include <pthread.h>
#include <sys/types.h>

#include "gp_env.h"

enum { TARGETS = 3, QUEUES = 3, GPU_ID = 77, OTHER_GPU = 88, NO_TARGET = 99 };

struct fake_target {
	pid_t pid;
	bool enabled;
	int fd;			/* the driver's own end of the pipe */
	u32 held;		/* bit per queue */
};

/* The behaviour of the driver and the calls it received. */
struct fake_driver {
	pthread_mutex_t lock;
	struct fake_target target[TARGETS];
	bool insists;		/* accepts calls of the tracing thread only */
	u32 fails;		/* the queue that its hardware does not release */
	u32 fails_of;		/* bit per target that owns that queue */
	u32 hangs;		/* bit per target whose suspend hangs */
	u32 queues;		/* per target */
	u32 new;		/* bit per queue that no snapshot has cleared */
	u32 no_memory;		/* bit per operation that fails with ENOMEM */
	u32 refused;		/* bit per operation that fails with EPERM */
	bool no_threads;	/* creating a thread fails */
	u32 suspends, resumes, grace;
	u32 left_off;		/* targets with a suspended queue when DISABLE was called */
	u64 last_ns;		/* time of the last ENABLE or DISABLE */
	u64 resumed_ns;		/* time of the last RESUME */
};

extern struct fake_driver *driver;

u64 fake_now(void);
/* Returns the thread that traces @pid, or 0. */
pid_t fake_tracer_of(pid_t pid);

/* For CLAIM_WITH(). */
int fake_driver_up(void **state);
int fake_driver_down(void **state);
/* Makes target @i open another GPU. It has a VM on neither GPU, so only its queues show use. */
void fake_driver_opens_other_gpu(u32 i);

#endif /* GP_FAKE_DRIVER_H */
