/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Claims about the driver and its GPU, for programs that run in the lab's guest.
 *
 * Each claim is a function that runs in its own process with its own client. So a claim that fails,
 * hangs or crashes does not affect others, and the driver must clean up after it. A check that
 * fails prints its place and ends the claim.
 */
#ifndef LAB_PROBE_H
#define LAB_PROBE_H

#include <stdio.h>
#include <unistd.h>

#include "lab/client/client.h"
#include "lab/client/work.h"

struct probe {
	const char *title;		/* the claim, as a sentence */
	void (*fn)(struct gp_lab_client *c);
	bool bare;			/* opens its own client: @c is NULL */
};

/* Runs the claims whose title contains an argument, or all. Returns the program's exit code. */
int probe_all(const struct probe *probes, u32 nr, int argc, char **argv);

void probe_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));

/*
 * Call this when a count is wrong. If the kernel moved user pages of this process, the driver has
 * evicted and restored it meanwhile, so the claim is retried. Not for wrong results of work.
 */
void probe_excuse(void);

#define EXPECT(cond)							\
do {									\
	if (!(cond))							\
		probe_fail(__FILE__, __LINE__, "expected %s", #cond);	\
} while (0)

#define EXPECT_EQ(got, want)						\
do {									\
	s64 got_ = (s64)(got);						\
	s64 want_ = (s64)(want);					\
									\
	if (got_ != want_)						\
		probe_fail(__FILE__, __LINE__, "%s is %lld (0x%llx), expected %s = %lld (0x%llx)", \
			   #got, (long long)got_, (long long)got_,	\
			   #want, (long long)want_, (long long)want_);	\
} while (0)

/* The same for a count that an eviction in between would change. */
#define EXPECT_COUNT(got, want)						\
do {									\
	u64 count_ = (got);						\
									\
	if (count_ != (u64)(want))					\
		probe_excuse();						\
	EXPECT_EQ(count_, want);					\
} while (0)

/* Expects that a call of the client library succeeds. */
#define OK(call)							\
do {									\
	int err_ = (call);						\
									\
	if (err_)							\
		probe_fail(__FILE__, __LINE__, "%s: %d: %s", #call, err_, gp_client_error()); \
} while (0)

/* Expects that a call fails with @err. */
#define REFUSED(call, err)						\
do {									\
	int got_ = (call);						\
									\
	if (got_ != -(err))						\
		probe_fail(__FILE__, __LINE__, "%s gives %d, expected %d (%s)", #call, got_, \
			   -(err), #err);				\
} while (0)

/* Waits until @cond holds, with a long timeout for a machine under load. */
#define SOON(cond)							\
do {									\
	u64 until_ = probe_now_ms() + PROBE_SOON_MS;			\
									\
	while (!(cond)) {						\
		if (probe_now_ms() > until_)				\
			probe_fail(__FILE__, __LINE__, "never: %s", #cond); \
		usleep(2000);						\
	}								\
} while (0)

enum {
	PROBE_SOON_MS	= 40000,
	PROBE_XCCS	= 8,
	PROBE_MQD_DW	= 512,
	PROBE_IB_DW	= 4096,
	PROBE_QUEUES	= 64,
};

u64 probe_now_ms(void);
/* Gives the GPU time to do what it must not do. */
void probe_pause(void);

/* Views ------------------------------------------------------------------------ */

/* Returns a counter of the device by its name in the view. */
u64 probe_counter(const char *name);
/* Returns the content of a small file, or "" if it cannot be read. */
const char *probe_file(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns the number of entries of a directory, or -1 if there is none. */
int probe_entries(const char *path);

/* Packets on the HIQ so far. */
struct probe_hiq {
	u64 unmaps;
	u64 queries;
	u64 runlists;
	u64 processes;		/* MAP_PROCESS */
	u64 queues;		/* MAP_QUEUES */
	u64 writes;		/* WRITE_DATA */
};

struct probe_hiq probe_hiq(void);
/* Waits for exactly these packets since @since, and no more. Then updates @since. */
void probe_hiq_cost(const char *file, int line, const char *what, struct probe_hiq *since,
		    struct probe_hiq want);
#define COSTS(since, what, ...)						\
	probe_hiq_cost(__FILE__, __LINE__, what, since,			\
		       (struct probe_hiq){ __VA_ARGS__, .writes = 0 })

/* The MQDs of a process's compute queues, newest first, as the driver shows them. */
struct probe_mqds {
	u32 queues;
	u32 copies;		/* copies of each MQD */
	u32 (*dw)[PROBE_XCCS][PROBE_MQD_DW];
};
void probe_mqds(struct probe_mqds *m, pid_t pid);
/* Returns a word of copy @xcc of the MQD. The process must have one queue. */
u32 probe_mqd(u32 xcc, u32 dw);

/* Reads the runlist that the driver shows. Returns its dwords, 0 if there is none. */
u32 probe_runlist(u32 dw[PROBE_IB_DW]);

/* The loaded hardware queues, as the driver reads them from the registers. */
struct probe_hqd {
	u32 xcc, pipe, queue;
	bool hiq;
	u32 reg[56];		/* [i] is dword 128 + i of the MQD */
};
u32 probe_hqds(struct probe_hqd *hqds, u32 room);

/* A queue that the device knows. */
struct probe_queue {
	u32 pasid;
	u32 doorbell;
	char state[12];
	u64 mqd, ring, rptr, wptr;
	u32 waves;
	u64 saved;
};
u32 probe_queues(struct probe_queue *queues, u32 room);
/* Returns the number of waves that this process's queues have on the device. */
u32 probe_waves(void);
u32 probe_pasid(void);

/* Work ------------------------------------------------------------------------- */

/* Creates an ordinary AQL queue. */
void probe_queue(struct gp_lab_client *c, struct gp_lab_queue *q);
/* Creates an AQL queue with percentage 0. */
void probe_queue_off(struct gp_lab_client *c, struct gp_lab_queue *q);
/* Creates slots of work whose workgroups take @ns. */
void probe_work(struct gp_lab_client *c, struct gp_work *w, u32 slots, u64 ns);
/* Waits for all slots and checks every sum. */
void probe_finish(struct gp_work *w);

#endif /* LAB_PROBE_H */
