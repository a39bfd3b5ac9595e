/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A reader is a process that reads the memory and the /proc texts of one user's processes, so that
 * the decider does not have to.
 *
 * A hostile process can delay each of these reads without limit, also uninterruptibly: by a page of
 * a FUSE file system over a queue's pointers, or a command line behind a locked memory map. So a
 * reader is disposable. It holds nothing, no process waits for it, and the decider abandons it when
 * it is late (readers.h). A user who hangs it harms only the user's own processes.
 *
 * It has one thread. It reads the queue pointers at the interval that the decider sets, writes them
 * into the page (reader_wire.h) and wakes the decider for the changes that the decider asked for.
 * It answers DESCRIBE between two looks. A reader of the dump only reads the driver's dump of queue
 * descriptors, which takes a lock of every process that uses a GPU.
 *
 * Rights: uid 0 with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH only, and the system calls of a list
 * (no ptrace, no write to other processes, no socket, no exec, no kill, files for reading only). It
 * does not run as the target's user, because Yama (ptrace_scope) and set-uid programs would forbid
 * reading, and the user could signal and stop it. Since CAP_SYS_PTRACE reaches every process, the
 * reader itself refuses processes of other users, and uses a descriptor of the process where a pid
 * could be reused. The reader of the dump keeps no capability.
 *
 * A process counts as gone only after ESRCH, the end of its memory or an event of its pidfd. Any
 * other failed call is reported as an ERROR and retried.
 *
 *	reader_process.c	life, orders
 *	reader_look.c		processes, their queues, and what is reported of them
 *	reader_subject.c	their texts
 */
#ifndef GP_DAEMON_READER_H
#define GP_DAEMON_READER_H

#include <sys/types.h>

#include "core/param.h"
#include "lib/pointers.h"
#include "reader_wire.h"

#define GP_READER_DUMP_USER	((uid_t)-1)	/* no user: the reader of the dump */

struct gp_reader_args {
	int channel;		/* a SOCK_SEQPACKET socket to the decider */
	uid_t user;		/* the user; HELLO adds uids of its user namespaces */
	const char *mqds;	/* NULL: GP_MQD_DUMP */
	/* for tests */
	bool unconfined;	/* keeps its rights */
	u64 (*clock)(void *ctx);	/* NULL: CLOCK_MONOTONIC */
	void *ctx;
};

/* Runs until the decider closes the channel. Returns an exit code. */
int gp_reader_serve(const struct gp_reader_args *args);
/* Calls gp_reader_serve() with the default arguments. */
int gp_reader_main(int channel, uid_t user);

/* gp_reader_serve() in steps. @args stay valid to the end. -ENOMEM, -EPROTO, ... */
struct gp_reader_self;
int gp_reader_begin(const struct gp_reader_args *args, struct gp_reader_self **ret);
/* Does the work that is due; waits for work if @wait. Returns false when the channel was closed. */
bool gp_reader_turn(struct gp_reader_self *r, bool wait);
/* Frees @r. Does not close the channel. NULL is a no-op. */
void gp_reader_end(struct gp_reader_self *r);

/* ---- reader_subject.c: texts of a process for the rules, from /proc ---- */

/* A process's directory in /proc. While it is open it never refers to another process. */
struct gp_reader_process {
	int dir;
	u64 start;
	u32 uid, gid;		/* real ones */
	u32 owner;		/* the uid; 0 if its four user ids differ (set-uid programs) */
};

/*
 * Opens process @pid that started at @start. -ESRCH: it is gone, or the pid was reused. Any other
 * error says nothing about the process.
 */
int gp_reader_process_open(pid_t pid, u64 start, struct gp_reader_process *ret);
/* Fills in all but dir and start. */
int gp_reader_process_ids(struct gp_reader_process *p);
/*
 * Reads the path of cgroup 2 ("0::/path") if it is more than the root, else the longest of cgroup
 * 1. @to has GP_READER_PATH bytes. 1; 0: there is none; -errno.
 */
int gp_reader_cgroup(int dir, char *to);
/* Checks that the process still exists. 0, -ESRCH, or another error. */
int gp_reader_process_check(const struct gp_reader_process *p);
void gp_reader_process_close(struct gp_reader_process *p);

/*
 * Reads the texts of @p. Hidden or too long texts are left unknown. -EAGAIN: the process executed
 * other programs repeatedly during the read.
 */
int gp_reader_subject_read(const struct gp_reader_process *p, struct gp_report_subject *ret);

/*
 * Replaces everything that is not printable UTF-8 in @text by '?', and terminates it within @room.
 */
void gp_reader_clean(char *text, size_t room);

/* ---- shared by the files of a reader ---- */

enum { GP_READER_NO_SLOT = GP_READER_SLOTS };

#define GP_READER_CHANNEL	((void *)0)	/* of epoll; else a struct gp_reader_watched */

/* A process with queues to look at. */
struct gp_reader_watched {
	struct gp_reader_watched *next;
	pid_t pid;
	u64 start;
	int pidfd;			/* -1: not opened yet, or gone */
	u64 retry_ns;			/* no open before */
	u64 looked_ns;			/* the last look that read it; 0: none */
	struct gp_pointers_set *set;	/* of @slots */
	u32 *slots;
	u32 first;			/* of the chain of its queues */
	u32 nr;
	bool stale;			/* @set is for other queues */
	bool urgent;			/* some queue of it is */
	bool gone, unsaid;		/* gone; not yet reported */
	int error;			/* last reported, 0 */
};

struct gp_reader_queue {
	struct gp_reader_watched *of;		/* NULL: unused */
	u32 next;
	u32 generation, wake;
	struct gp_ring_pointers ring;
	u64 rptr, wptr;			/* as published */
	u64 before_ns;			/* the last look that saw another @wptr; 0: none */
	u32 flags;
	bool fresh;			/* to be published */
};

struct gp_reader_self {
	const struct gp_reader_args *args;
	struct gp_order_hello hello;	/* role 0 and slots 0 before it came */
	struct gp_reader_page *page;
	int epoll, wakefd;
	struct gp_reader_queue *queue;		/* by slot */
	struct gp_reader_watched *watched;
	u64 interval_ns, next_ns, now_ns;
	u64 looks, asked;		/* the number of a LOOK that is due, 0 */
	u32 *fresh;			/* slots to be published; some may be there twice */
	u32 nr_fresh;
	bool wake, unsaid;
	u32 listens;			/* events of the channel that epoll waits for */
	size_t out_bytes;		/* of @out, which waits for room in the channel */
	struct gp_report out;
};

/* reader_look.c */

/* Sends the report that waits, if there is room. @flags: MSG_DONTWAIT */
void gp_reader_flush(struct gp_reader_self *r, int flags);
/* Sends the report whose body is in @r->out. No other report may wait. @err: -errno */
void gp_reader_report(struct gp_reader_self *r, u32 kind, const struct gp_order *about, int err);
/* Reports GONE if @err is -ESRCH, else ERROR. */
void gp_reader_fail(struct gp_reader_self *r, const struct gp_order *about, int err);
/* Sends the reports for which the channel had no room. */
void gp_reader_say_rest(struct gp_reader_self *r);
/* Opens a process of the reader's user. -EPERM: it is another user's. */
int gp_reader_open(const struct gp_reader_self *r, const struct gp_order *o,
		   struct gp_reader_process *ret);
void gp_reader_drop(struct gp_reader_self *r, struct gp_reader_watched *w);
/* Handles a failed read of @w; -ESRCH: the process is gone. */
void gp_reader_failed(struct gp_reader_self *r, struct gp_reader_watched *w, int err);
void gp_reader_look(struct gp_reader_self *r);

#endif /* GP_DAEMON_READER_H */
