/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Claims about the driver and its GPU, for programs that run in the lab's guest.
 *
 * Each claim is a function that runs in a process of its own with a client of its
 * own: one that fails, hangs or crashes takes nothing with it, and what it leaves
 * behind the driver has to clean up. A check that does not hold says where, and
 * ends the claim.
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

/* Runs those whose title contains an argument, or all; the exit code of the program. */
int probe_all(const struct probe *probes, u32 nr, int argc, char **argv);

void probe_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));

/*
 * When a count is wrong: if the kernel moved user pages of this process, the driver has
 * evicted and restored it meanwhile, and the claim is tried again. Never for a result.
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

/* The same for what an eviction in between would change. */
#define EXPECT_COUNT(got, want)						\
do {									\
	u64 count_ = (got);						\
									\
	if (count_ != (u64)(want))					\
		probe_excuse();						\
	EXPECT_EQ(count_, want);					\
} while (0)

/* A call of the client library that must work. */
#define OK(call)							\
do {									\
	int err_ = (call);						\
									\
	if (err_)							\
		probe_fail(__FILE__, __LINE__, "%s: %d: %s", #call, err_, gp_client_error()); \
} while (0)

/* One that must be refused with @err. */
#define REFUSED(call, err)						\
do {									\
	int got_ = (call);						\
									\
	if (got_ != -(err))						\
		probe_fail(__FILE__, __LINE__, "%s gives %d, expected %d (%s)", #call, got_, \
			   -(err), #err);				\
} while (0)

/* Until @cond holds; a machine under load is slow. */
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
/* Long enough for the GPU to do what it must not do. */
void probe_pause(void);

/* Views ------------------------------------------------------------------------ */

/* A counter of the device by its name in the view. */
u64 probe_counter(const char *name);
/* The content of a small file, as a string; "" if it cannot be read. */
const char *probe_file(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How many entries a directory has; -1 if there is none. */
int probe_entries(const char *path);

/* What went through the HIQ so far. */
struct probe_hiq {
	u64 unmaps;
	u64 queries;
	u64 runlists;
	u64 processes;		/* MAP_PROCESS */
	u64 queues;		/* MAP_QUEUES */
	u64 writes;		/* WRITE_DATA */
};

struct probe_hiq probe_hiq(void);
/* Waits for exactly these more than @since, and for no more; then takes a new @since. */
void probe_hiq_cost(const char *file, int line, const char *what, struct probe_hiq *since,
		    struct probe_hiq want);
#define COSTS(since, what, ...)						\
	probe_hiq_cost(__FILE__, __LINE__, what, since,			\
		       (struct probe_hiq){ __VA_ARGS__, .writes = 0 })

/* The MQDs of the compute queues of a process, newest first, as the driver shows them. */
struct probe_mqds {
	u32 queues;
	u32 copies;		/* of each */
	u32 (*dw)[PROBE_XCCS][PROBE_MQD_DW];
};
void probe_mqds(struct probe_mqds *m, pid_t pid);
/* Of a process that has one queue: copy @xcc of its MQD. */
u32 probe_mqd(u32 xcc, u32 dw);

/* The runlist as the driver shows it: dwords, 0 if there is none. */
u32 probe_runlist(u32 dw[PROBE_IB_DW]);

/* The hardware queues that are loaded, as the driver reads them from the registers. */
struct probe_hqd {
	u32 xcc, pipe, queue;
	bool hiq;
	u32 reg[56];		/* [i] is dword 128 + i of the MQD */
};
u32 probe_hqds(struct probe_hqd *hqds, u32 room);

/* The queues the device knows. */
struct probe_queue {
	u32 pasid;
	u32 doorbell;
	char state[12];
	u64 mqd, ring, rptr, wptr;
	u32 waves;
	u64 saved;
};
u32 probe_queues(struct probe_queue *queues, u32 room);
/* Waves that this process's queues have on the device. */
u32 probe_waves(void);
u32 probe_pasid(void);

/* Work ------------------------------------------------------------------------- */

/* A queue of AQL with nothing special about it. */
void probe_queue(struct gp_lab_client *c, struct gp_lab_queue *q);
/* The same with percentage 0. */
void probe_queue_off(struct gp_lab_client *c, struct gp_lab_queue *q);
/* Slots of work whose workgroups take @ns. */
void probe_work(struct gp_lab_client *c, struct gp_work *w, u32 slots, u64 ns);
/* All slots end, and every sum is right. */
void probe_finish(struct gp_work *w);

#endif /* LAB_PROBE_H */
