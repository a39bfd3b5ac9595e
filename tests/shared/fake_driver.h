/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Drivers that the lab's cannot be: an older one that insists on its tracer, one whose hardware
 * lets go of some queues only, one that hangs. ptrace is real, and so are its targets. Its state
 * is shared with children of the test.
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

/* What the driver is, and what it was told. */
struct fake_driver {
	pthread_mutex_t lock;
	struct fake_target target[TARGETS];
	bool insists;		/* on the thread that traces */
	u32 fails;		/* the queue that its hardware does not let go of */
	u32 fails_of;		/* bit per target whose queue that is */
	u32 hangs;		/* bit per target that cannot be suspended for now */
	u32 queues;		/* how many each target has */
	u32 new;		/* bit per queue that no snapshot has cleared yet */
	u32 no_memory;		/* bit per operation for which the kernel has none */
	u32 refused;		/* bit per operation that is answered with EPERM */
	bool no_threads;	/* the kernel has none left for this program */
	u32 suspends, resumes, grace;
	u32 left_off;		/* targets with a suspended queue when DISABLE was called */
	u64 last_ns;		/* of ENABLE or DISABLE */
	u64 resumed_ns;		/* of the last RESUME */
};

extern struct fake_driver *driver;

u64 fake_now(void);
/* The thread that traces @pid; 0: none. */
pid_t fake_tracer_of(pid_t pid);

/* For CLAIM_WITH(). */
int fake_driver_up(void **state);
int fake_driver_down(void **state);
/* Target @i has another GPU open. It has a VM on neither, so only its queues prove one. */
void fake_driver_opens_other_gpu(u32 i);

#endif /* GP_FAKE_DRIVER_H */
