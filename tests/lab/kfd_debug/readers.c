// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Readers on the real driver: the dump and the pointers of gpload, by processes of their own. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/param.h"
#include "daemon/reader.h"
#include "daemon/readers.h"
#include "kfd_debug.h"
#include "lib/process.h"

enum { QUEUES = 2, READERS = 4, PATIENCE = 30000 };

struct world {
	struct gp_readers *rs;
	pid_t reader[READERS];
	u32 nr_readers;
	u64 now, looked;
	struct gp_ring_pointers ring[QUEUES];
	u32 nr_rings;
	bool gone, dumped;
};

static int make(void *ctx, uid_t user, u64 id, int channel)
{
	struct world *w = ctx;
	pid_t pid = fork();

	(void)id;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (channel > 3)
			close_range(3, (u32)channel - 1, 0);
		close_range((u32)channel + 1, ~0u, 0);
		_exit(gp_reader_main(channel, user));
	}
	if (pid > 0 && w->nr_readers < READERS)
		w->reader[w->nr_readers++] = pid;
	return pid < 0 ? -EAGAIN : 0;
}

static void end_reader(void *ctx, uid_t user, u64 id)
{
	(void)ctx;
	(void)user;
	(void)id;
}

static void keep_rings(struct world *w, const struct gp_mqd_list *l)
{
	for (u32 i = 0; i < l->count && w->nr_rings < QUEUES; i++)
		w->ring[w->nr_rings++] = (struct gp_ring_pointers){
			.read_at = l->mqd[i].read_at, .write_at = l->mqd[i].write_at,
			.ring_base = l->mqd[i].ring_base, .ring_bytes = l->mqd[i].ring_bytes,
			.kind = l->mqd[i].kind,
		};
}

/* The clock stands still: an emulated machine on a loaded one is late without any fault. */
static void turn(struct world *w)
{
	struct pollfd p = { .fd = gp_readers_fd(w->rs), .events = POLLIN };
	struct gp_readers_event e;

	gp_readers_run(w->rs, w->now);
	while (gp_readers_next(w->rs, &e)) {
		w->gone |= e.kind == GP_READERS_GONE;
		if (e.kind == GP_READERS_LOOKED)
			w->looked = e.number;
		if (e.kind != GP_READERS_DUMPED)
			continue;
		w->dumped = true;
		EQ(e.error, 0);
		keep_rings(w, e.list);
	}
	poll(&p, 1, 1);
}

#define UNTIL(w, cond) do {						\
	u32 naps_ = 0;							\
									\
	while (!(cond) && naps_++ < PATIENCE)				\
		turn(w);						\
	NEED(cond);							\
} while (0)

/* What the reader saw lies between a look before and a look after. */
static void compare(struct world *w, struct gp_watch *watch, struct gp_pointers_set *set)
{
	const struct gp_ring_pointers *r;
	struct gp_ring_pointers before[QUEUES];
	struct gp_reader_sample x[QUEUES];
	u64 number;
	u32 nr;

	NEED(gp_pointers_look(set) == 0);
	r = gp_pointers_rings(set, &nr);
	memcpy(before, r, sizeof(before));
	NEED(gp_readers_look(w->rs, 0, &number) == 0);
	UNTIL(w, w->looked == number);
	EQ(gp_readers_samples(w->rs, watch, x, QUEUES), QUEUES);
	NEED(gp_pointers_look(set) == 0);
	for (u32 i = 0; i < QUEUES; i++) {
		CHECK(before[i].wptr <= x[i].wptr && x[i].wptr <= r[i].wptr);
		CHECK(before[i].rptr <= x[i].rptr && x[i].rptr <= r[i].rptr);
	}
}

static void by_reader(const char *memory)
{
	const char *const options[] = {
		"--requests", "40", "--kernel", "20ms", "--queues", "2", "--pointers", memory, NULL,
	};
	struct world w = { .now = GP_SEC };
	const struct gp_readers_args args = { .make = make, .kill = end_reader, .ctx = &w };
	pid_t pid = start_gpload(options);
	struct gp_reader_target who = { .user = 0, .pid = pid };
	struct gp_reader_wanted wanted = { w.ring, QUEUES, GP_WAKE_WRITE };
	struct gp_pointers_set *set;
	struct gp_watch *watch = NULL;

	NEED(has_queues(pid, QUEUES));
	EQ(gp_process_start(NULL, pid, &who.start), 0);
	NEED(gp_readers_new(&args, &w.rs) == 0);
	NEED(gp_readers_dump(w.rs, pid) == 0);
	UNTIL(&w, w.dumped);
	EQ(w.nr_rings, QUEUES);
	NEED(gp_readers_watch(w.rs, &who, &wanted, &watch) == 0);
	NEED(gp_pointers_alloc(NULL, pid, w.ring, QUEUES, &set) == 0);
	UNTIL(&w, gp_readers_state(w.rs, 0) == GP_READER_GOOD);
	for (u32 i = 0; i < 20; i++)
		compare(&w, watch, set);
	EQ(gpload_ends(pid), 0);
	UNTIL(&w, w.gone);
	gp_pointers_free(set);
	gp_readers_free(w.rs);
	/* they end by themselves */
	for (u32 i = 0; i < w.nr_readers; i++)
		EQ(waitpid(w.reader[i], NULL, 0), w.reader[i]);
	EQ(w.nr_readers, 2);
}

static void user_memory(void)
{
	by_reader("userptr");
}

static void gtt(void)
{
	by_reader("gtt");
}

const struct story readers[] = {
	{ "confined readers read the dump, and the pointers as lib/ reads them", user_memory },
	{ "... the readers read pointers in the driver's pages", gtt },
	{ NULL, NULL }
};
