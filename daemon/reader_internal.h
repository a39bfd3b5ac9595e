/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the files of a reader process share.
 *
 *	reader_process.c	life, orders
 *	reader_look.c		processes, their queues, and what is reported of them
 *	reader_subject.c	their texts
 */
#ifndef GP_DAEMON_READER_INTERNAL_H
#define GP_DAEMON_READER_INTERNAL_H

#include "core/param.h"
#include "lib/pointers.h"
#include "reader_process.h"
#include "reader_subject.h"

enum { GP_READER_NO_SLOT = GP_READER_SLOTS };

#define GP_READER_CHANNEL	((void *)0)	/* of epoll; else a struct gp_reader_watched */

/* A process with queues to look at. */
struct gp_reader_watched {
	struct gp_reader_watched *next;
	pid_t pid;
	u64 start;
	int pidfd;			/* -1: not opened yet, or gone */
	u64 retry_ns;			/* not to be opened before */
	u64 looked_ns;			/* the last look that read it; 0: none */
	struct gp_pointers_set *set;	/* of @slots */
	u32 *slots;
	u32 first;			/* of the chain of its queues */
	u32 nr;
	bool stale;			/* @set is not of these queues */
	bool urgent;			/* some queue of it is */
	bool gone, unsaid;		/* and the decider has not been told */
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
	u32 listens;			/* what epoll waits for of the channel */
	size_t out_bytes;		/* of @out: it waits for room in the channel */
	struct gp_report out;
};

/* reader_look.c */

/* Sends the report that waits, if there is room. @flags: MSG_DONTWAIT */
void gp_reader_flush(struct gp_reader_self *r, int flags);
/* @r->out has its body, and no report waits. @err: -errno */
void gp_reader_report(struct gp_reader_self *r, u32 kind, const struct gp_order *about, int err);
/* GONE if @err is -ESRCH, else ERROR. */
void gp_reader_fail(struct gp_reader_self *r, const struct gp_order *about, int err);
/* What there was no room for. */
void gp_reader_say_rest(struct gp_reader_self *r);
/* Opens a process of the reader's user. -EPERM: it is another user's. */
int gp_reader_open(const struct gp_reader_self *r, const struct gp_order *o,
		   struct gp_reader_process *ret);
void gp_reader_drop(struct gp_reader_self *r, struct gp_reader_watched *w);
/* @w could not be read; -ESRCH: it is gone. */
void gp_reader_failed(struct gp_reader_self *r, struct gp_reader_watched *w, int err);
void gp_reader_look(struct gp_reader_self *r);

#endif /* GP_DAEMON_READER_INTERNAL_H */
