/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The decider's side of the readers, with real reader processes that read real children. Only the
 * test moves the clock, so that load does not make a reader late.
 */
#ifndef READERS_WORLD_H
#define READERS_WORLD_H

#include <signal.h>

#include "core/param.h"
#include "daemon/reader.h"
#include "daemon/readers.h"
#include "tests/shared/gp_test.h"

#define MS(n)	((n) * 1000000ull)

enum { RW_READERS = 512, RW_QUEUES = 64, RW_KINDS = 8 };

/* A child whose pointers are in memory shared with the test. */
struct rw_target {
	pid_t pid;
	u64 start;
	struct rw_memory {
		u64 near[RW_QUEUES][4];		/* read, write: one range */
		u64 far_read[RW_QUEUES], pad[1024], far_write[RW_QUEUES];
		u32 ring[1024];
		u64 page;			/* a page that the target owns and reports */
		char text[256];
	} *m;
};

struct readers_world {
	struct gp_readers *rs;
	u64 now;
	struct rw_reader {
		u64 id;
		uid_t user;
		pid_t pid;
		u32 killed;
		u64 made_ns;
		int channel;		/* the reader's end of a simulated reader */
	} reader[RW_READERS];
	u32 nr_readers;
	bool fake;			/* the test plays the readers */
	bool no_make, no_kill;
	u32 files;			/* RLIMIT_NOFILE of readers; 0: unchanged */
	const char *mqds;
	struct gp_uid_range range;

	u32 count[RW_KINDS];		/* events so far */
	struct gp_readers_event last[RW_KINDS];
	struct gp_report_subject subject;
	struct gp_mqd mqd[64];
};

struct readers_world *rw_new(const struct gp_readers_args *args);
void rw_free(struct readers_world *w);
/* Returns the last reader made for @user. */
struct rw_reader *rw_reader(struct readers_world *w, uid_t user);
/* Runs and takes the available events. Waits a moment for one. */
void rw_turn(struct readers_world *w);
/* Moves the clock and runs. */
void rw_later(struct readers_world *w, u64 ns);

void rw_target(struct rw_target *t, uid_t user, void (*body)(struct rw_memory *m));
void rw_target_end(struct rw_target *t);
struct gp_reader_target rw_who(const struct rw_target *t, uid_t user);
struct gp_ring_pointers rw_near(const struct rw_target *t, u32 i);
struct gp_ring_pointers rw_far(const struct rw_target *t, u32 i);
/* Watches the first @nr queues of @t, near ones. Fails the test if that is refused. */
struct gp_watch *rw_watch(struct readers_world *w, const struct rw_target *t, uid_t user, u32 nr);

/* Maps a page that never arrives and stores its address in @m->page. A reader of it blocks. */
void rw_hang(struct rw_memory *m);

/* Requests a look at the queues of @user and waits until it is done. */
void rw_look(struct readers_world *w, uid_t user);

/* A world and one target, for CLAIM_WITH(). */
struct rw_stage {
	struct readers_world *w;
	struct rw_target t;
	uid_t me;
};
int rw_up(void **state);
int rw_down(void **state);

#define RW_UNTIL(w, cond) do {						\
	u32 naps_ = 0;							\
									\
	while (!(cond)) {						\
		if (naps_++ == GP_TEST_PATIENCE_MS)			\
			fail_msg("waited in vain for %s", #cond);	\
		rw_turn(w);						\
	}								\
} while (0)

#endif /* READERS_WORLD_H */
