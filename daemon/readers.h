/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The decider's side of the readers: one reader process per user (reader.h), and one for
 * the driver's dump of queue descriptors.
 *
 * Nothing here blocks, whatever a reader or a process does. A reader is late if its heartbeat is
 * too old, or if a LOOK, a DESCRIBE or a DUMP is not answered. Then its user is unknown
 * (GP_READER_LATE). If it stays late it is abandoned and, at a bounded rate, replaced. An abandoned
 * reader may be stuck in the kernel and survive SIGKILL, so a user has at most GP_READERS_STUCK of
 * them; after that it stays unknown until one ends. Other users have other readers and notice none
 * of it.
 *
 *	epoll: gp_readers_fd() is readable, or gp_readers_wake_at() has come
 *		-> gp_readers_run(), then gp_readers_next() until it returns false
 *
 * One thread calls everything. Time is an argument, from CLOCK_MONOTONIC as in a reader. The times
 * that a reader reports never affect other users.
 *
 * The cost of a user is one process with about 200 kB of its own, and in the decider one socket,
 * one eventfd and 256 kB of address space, of which only the pages with queues are used. A look at
 * eight queues of one process takes about 5 us of processor time, wake-up included, so the interval
 * should be 0 unless the user's queues can change a decision. Compared with a decider that reads
 * the pointers itself, an arrival costs one more wake-up.
 */
#ifndef GP_DAEMON_READERS_H
#define GP_DAEMON_READERS_H

#include <sys/types.h>

#include "lib/pointers.h"
#include "reader_wire.h"

enum {
	GP_READERS_USERS	= 128,	/* with readers at one time; the rest is unknown */
	GP_READERS_STUCK	= 4,	/* abandoned ones of a user that have not ended */
	GP_READERS_PROCESSES	= 1024,	/* watched, per user */
	GP_READERS_ASKED	= 64,	/* DESCRIBE orders that wait, per user */
};

struct gp_readers_args {
	/*
	 * Starts a reader, number @id, that serves @user (GP_READER_DUMP_USER: the dump) at
	 * the other end of @channel, which is closed here afterwards. May return before the
	 * reader runs, and must not block. 0 or -errno.
	 */
	int (*make)(void *ctx, uid_t user, u64 id, int channel);
	/* Sends SIGKILL to reader @id, which may not have started yet. */
	void (*kill)(void *ctx, uid_t user, u64 id);
	/* Gets the other user ids of @user (/etc/subuid). NULL: none. Returns how many ranges. */
	u32 (*ranges)(void *ctx, uid_t user, struct gp_uid_range *to, u32 room);
	void *ctx;
	/* 0: the value in brackets */
	u64 late_ns;		/* a reader is late after that [20 ms] or, if that is longer, */
	u32 late_intervals;	/* after so many intervals [20] */
	u64 start_ns;		/* the time a new reader has for its first beat [1 s] */
	u64 dump_ns;		/* the time a dump may take [1 s] */
	u64 abandon_ns;		/* abandoned when it has been late for so long [200 ms] */
	u64 retry_ns;		/* from one start to the next [1 s], doubles up to */
	u64 retry_max_ns;	/* [60 s] */
	u64 idle_ns;		/* a reader with nothing to do is ended after that [10 s] */
};

enum gp_reader_state {
	GP_READER_NONE,		/* none is needed */
	GP_READER_STARTING,
	GP_READER_GOOD,
	GP_READER_LATE,
	GP_READER_ABANDONED,	/* the last one was abandoned; the next starts later */
};

struct gp_readers;
struct gp_watch;

int gp_readers_new(const struct gp_readers_args *args, struct gp_readers **ret);
/* Frees @rs and closes the channels, which ends the readers. NULL is a no-op. */
void gp_readers_free(struct gp_readers *rs);

int gp_readers_fd(const struct gp_readers *rs);
u64 gp_readers_wake_at(const struct gp_readers *rs);
void gp_readers_run(struct gp_readers *rs, u64 now_ns);

/* ---- what is wanted ---- */

/* A process and its user. */
struct gp_reader_target {
	uid_t user;
	pid_t pid;
	u64 start;
};

struct gp_reader_wanted {
	const struct gp_ring_pointers *rings;	/* only the caller's fields count */
	u32 count;
	u32 wake;			/* enum gp_wake */
};

/*
 * Watches queues of the process. *@watch is NULL or an earlier watch of the same process: queues
 * that were in it continue, also if -ENOSPC (too many users, processes or queues), -ENOMEM or
 * -EINVAL (a queue that lib/pointers.h refuses) is returned. A process that cannot be watched
 * must be taken for unknown.
 */
int gp_readers_watch(struct gp_readers *rs, const struct gp_reader_target *who,
		     const struct gp_reader_wanted *wanted, struct gp_watch **watch);
void gp_readers_unwatch(struct gp_readers *rs, struct gp_watch *watch);
/* Sets the interval between looks; 0: only on request. Clamped to the reader's bounds. */
void gp_readers_interval(struct gp_readers *rs, uid_t user, u64 ns);
/*
 * Requests a look at all queues of @user now. GP_READERS_LOOKED follows, with *@number or the
 * number of a later request. -ENOENT: the user is not GP_READER_GOOD.
 */
int gp_readers_look(struct gp_readers *rs, uid_t user, u64 *number);
/*
 * Requests the texts that the rules use. GP_READERS_SUBJECT, _GONE or _ERROR follows, also if the
 * reader is abandoned (then _ERROR with ETIMEDOUT). -EAGAIN: too many requests are pending; retry
 * when one was answered. -ENOSPC.
 */
int gp_readers_describe(struct gp_readers *rs, const struct gp_reader_target *who);
/*
 * Requests the driver's dump of process @only, or of all if 0. GP_READERS_DUMPED follows. -EAGAIN:
 * a dump is being read, or its reader was abandoned a moment ago.
 */
int gp_readers_dump(struct gp_readers *rs, pid_t only);

/* ---- what is known ---- */

enum gp_reader_state gp_readers_state(const struct gp_readers *rs, uid_t user);

struct gp_reader_sample {
	u64 rptr, wptr;
	u64 before_ns;		/* the last look before @wptr moved; 0: not known */
	bool read;		/* the last look could read it; the pointers are valid */
	bool at_barrier;
};

/*
 * Gets the queues of @watch as last read, in the order in which they were given. Returns how many,
 * if all were read. -EAGAIN: at least one was not read, or the user is not good, so the process is
 * unknown (@to is filled in anyway). @room: at least as many as are watched.
 */
int gp_readers_samples(const struct gp_readers *rs, const struct gp_watch *watch,
		       struct gp_reader_sample *to, u32 room);
/*
 * Returns true if @watch was looked at after @ns. Also true if its user is not good, because
 * waiting is of no use then.
 */
bool gp_readers_looked_since(const struct gp_watch *watch, u64 ns);

enum gp_readers_event_kind {
	GP_READERS_CHANGED,	/* samples of @user changed, or became (un)known */
	GP_READERS_LOOKED,	/* @number; samples may have changed, too */
	GP_READERS_STATE,	/* of @user: @state */
	GP_READERS_SUBJECT,	/* @subject */
	GP_READERS_GONE,
	GP_READERS_ERROR,	/* @error, an errno; says nothing about the process */
	GP_READERS_DUMPED,	/* @list, or @error and perhaps @number, the line */
};

struct gp_readers_event {
	u32 kind;
	u32 state;			/* enum gp_reader_state */
	struct gp_reader_target who;	/* pid 0: of no process */
	int error;
	bool answers;			/* GONE, ERROR: a gp_readers_describe() */
	u64 number;
	/* valid until the next call */
	const struct gp_report_subject *subject;
	const struct gp_mqd_list *list;
};

bool gp_readers_next(struct gp_readers *rs, struct gp_readers_event *ret);

struct gp_readers_stats {
	u64 looks;
	u64 started, abandoned, late;
	u64 refused;		/* invalid messages of readers */
	u64 errors;		/* system calls that failed in a reader */
	u32 users, stuck;	/* now */
	u32 silent;		/* users whose reader is late or was abandoned, now */
};
void gp_readers_stats(const struct gp_readers *rs, struct gp_readers_stats *ret);

#endif /* GP_DAEMON_READERS_H */
