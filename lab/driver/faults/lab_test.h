/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shared by the programs of this folder: claims, the device's counters, steady work. */
#ifndef GP_LAB_TEST_H
#define GP_LAB_TEST_H

#include <stdio.h>
#include <sys/types.h>

#include "lab/client/work.h"

/* Prints whether the claim (printf text) @holds. Adds gp_client_error() if it does not. */
bool claim(bool holds, const char *text, ...) __attribute__((format(printf, 2, 3)));
/* Prints a line of explanation. */
void note(const char *text, ...) __attribute__((format(printf, 1, 2)));
/*
 * Runs @story(@arg) in its own process. A process gets only one address space per GPU in its life,
 * and changes to the driver end with the process.
 */
void apart(void (*story)(void *arg), void *arg);
/* Returns the program's exit code. */
int claims_end(void);

/* Reads the line "@name value" of the device's counters. 0 if there is none. */
u64 device_counter(u32 gpu, const char *name);
/* Writes @text to the device's fault file; 0 or -errno. */
int device_fault(u32 gpu, const char *text);
/* Returns the queue's doorbell in the device's view of its queues. 0: not found. */
u32 device_doorbell(u32 gpu, u64 ring);

u64 now_ms(void);
void sleep_us(u32 us);

/* Opens the kernel's log at its end. */
int kernel_log_open(void);
/* Reads until a line contains @text or @ms have passed. True if found. */
bool kernel_log_has(int fd, const char *text, u32 ms);

/* A client that keeps kernels in flight on its queues and checks each one when it completes. */
enum { STEADY_QUEUES = 4, STEADY_DEPTH = 4, STEADY_SLOTS = STEADY_QUEUES * STEADY_DEPTH };

struct steady {
	struct gp_lab_client c;
	struct gp_lab_queue q[STEADY_QUEUES];
	u32 queues;
	struct gp_work work;
	bool flying[STEADY_SLOTS];
	u32 completed, wrong;
	char complaint[256];	/* of the first wrong sum */
};

/* 0 or -errno with gp_client_error(). @kernel_us: duration of a workgroup. */
int steady_open(struct steady *s, u32 gpu, u32 queues, u32 kernel_us);
/* Checks completed work and submits new work in its place. 0 or -errno. */
int steady_turn(struct steady *s);
/*
 * Waits for all work in flight. -ETIME: not complete within @ms; -EBADMSG: a wrong sum, now or
 * before.
 */
int steady_drain(struct steady *s, u32 ms);
void steady_close(struct steady *s);

#endif /* GP_LAB_TEST_H */
