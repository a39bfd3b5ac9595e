/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the programs of this folder share: claims, the device's counters, steady work. */
#ifndef GP_LAB_TEST_H
#define GP_LAB_TEST_H

#include <stdio.h>
#include <sys/types.h>

#include "lab/client/work.h"

/* Prints the claim (printf text) as it @holds, and gp_client_error() if it does not. */
bool claim(bool holds, const char *text, ...) __attribute__((format(printf, 2, 3)));
/* A line of explanation. */
void note(const char *text, ...) __attribute__((format(printf, 1, 2)));
/*
 * Runs @story(@arg) in a process of its own: a process gets one address space of a GPU
 * in its life, and whatever a story does to the driver ends with it.
 */
void apart(void (*story)(void *arg), void *arg);
/* The exit code of the program. */
int claims_end(void);

/* The line "@name value" of the device's counters; 0 if there is none. */
u64 device_counter(u32 gpu, const char *name);
/* Writes @text to the device's fault file; 0 or -errno. */
int device_fault(u32 gpu, const char *text);
/* The doorbell by which the device knows a queue, from the view of its queues; 0: not there. */
u32 device_doorbell(u32 gpu, u64 ring);

u64 now_ms(void);
void sleep_us(u32 us);

/* The kernel's log from now on. */
int kernel_log_open(void);
/* Reads on until a line contains @text or @ms have passed. */
bool kernel_log_has(int fd, const char *text, u32 ms);

/* A client with queues that always have kernels in flight, each checked when it completes. */
enum { STEADY_QUEUES = 4, STEADY_DEPTH = 4, STEADY_SLOTS = STEADY_QUEUES * STEADY_DEPTH };

struct steady {
	struct gp_lab_client c;
	struct gp_lab_queue q[STEADY_QUEUES];
	u32 queues;
	struct gp_work work;
	bool flying[STEADY_SLOTS];
	u32 completed, wrong;
	char complaint[256];	/* of the first wrong one */
};

/* 0 or -errno with gp_client_error(). @kernel_us: of a workgroup. */
int steady_open(struct steady *s, u32 gpu, u32 queues, u32 kernel_us);
/* Looks at what has completed and puts new work in its place. 0 or -errno. */
int steady_turn(struct steady *s);
/* Waits for all in flight. -ETIME: not all within @ms; -EBADMSG: a wrong sum, now or before. */
int steady_drain(struct steady *s, u32 ms);
void steady_close(struct steady *s);

#endif /* GP_LAB_TEST_H */
