/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The protocol between a reader and the decider.
 *
 * Orders go to the reader and reports come back, one message each, over a SOCK_SEQPACKET
 * channel. All have a fixed size and begin with a version; the receiver refuses any other
 * version, size or type. The first order is HELLO. It brings two descriptors: the page, a
 * sealed memfd that only the reader writes, and an eventfd that wakes the decider.
 *
 * The page holds numbers only. The decider never takes a size, an index or an address from it, so a
 * reader that was taken over can lie about queue pointers and no more. Whatever pointers a process
 * shows are under its user's control anyway.
 */
#ifndef GP_DAEMON_READER_WIRE_H
#define GP_DAEMON_READER_WIRE_H

#include "lib/mqd_dump.h"

enum {
	GP_READER_VERSION	= 1,
	GP_READER_SLOTS		= 4096,	/* queues of one user */
	GP_READER_RANGES	= 8,	/* of user ids that belong to a user */
	GP_READER_MQDS		= 32,	/* in one message */
	GP_READER_PATH		= 4096,	/* bytes of a path, command line or cgroup, with its 0 */
	GP_READER_NAME		= 256,	/* of a class or a gang */
};

#define GP_READER_FASTEST	(5 * GP_USEC)	/* bounds of the interval */
#define GP_READER_SLOWEST	(10 * GP_SEC)

/* ---- orders ---- */

enum gp_order_kind {
	GP_ORDER_HELLO = 1,
	GP_ORDER_WATCH,
	GP_ORDER_UNWATCH,
	GP_ORDER_INTERVAL,
	GP_ORDER_LOOK,
	GP_ORDER_DESCRIBE,
	GP_ORDER_DUMP,
};

enum gp_reader_role {
	GP_READER_OF_USER,	/* everything but DUMP, and only processes of its user */
	GP_READER_OF_DUMP,	/* DUMP only */
};

/* The changes of a queue that wake the decider. */
enum gp_wake {
	GP_WAKE_WRITE	= 1 << 0,	/* the write pointer moved; became (un)readable */
	GP_WAKE_READ	= 1 << 1,	/* the read pointer moved */
	/* With every 16th look and every LOOK: for queues whose arrivals are not urgent. */
	GP_WAKE_SELDOM	= 1 << 2,
	GP_WAKE_ALL	= 7,
};

struct gp_uid_range {
	u32 first, count;
};

struct gp_order_hello {
	u32 role;		/* enum gp_reader_role */
	u32 slots;		/* in the page; GP_READER_SLOTS */
	u32 nr_ranges;		/* besides the user's own id: of its user namespaces */
	struct gp_uid_range range[GP_READER_RANGES];
};

struct gp_order_watch {
	u32 slot;
	u32 generation;		/* copied to the slot, to detect a reused slot */
	u32 wake;		/* enum gp_wake */
	u32 kind, ring_bytes;	/* as in struct gp_ring_pointers */
	u32 zero;
	u64 read_at, write_at, ring_base;
};

struct gp_order {
	u32 version;
	u32 kind;		/* enum gp_order_kind */
	int32_t pid;		/* WATCH, DESCRIBE; DUMP: 0 is all */
	u32 zero;
	u64 start;		/* of @pid */
	/* UNWATCH: slot; INTERVAL: ns, 0 is none; LOOK, DESCRIBE: its number */
	u64 value;
	union {
		struct gp_order_hello hello;
		struct gp_order_watch watch;
	};
};

/* ---- reports ---- */

enum gp_report_kind {
	GP_REPORT_GONE = 1,	/* the process ended, or became another one by exec */
	GP_REPORT_ERROR,	/* a call failed; says nothing about the process */
	GP_REPORT_SUBJECT,
	GP_REPORT_MQDS,		/* some of a dump's queues */
	GP_REPORT_DUMPED,	/* the dump ends */
};

enum gp_subject_known {
	GP_KNOWN_EXE		= 1 << 0,
	GP_KNOWN_CMDLINE	= 1 << 1,
	GP_KNOWN_CGROUP		= 1 << 2,
	GP_KNOWN_CLASS		= 1 << 3,	/* GPREEMPT_CLASS is set */
	GP_KNOWN_GANG		= 1 << 4,	/* GPREEMPT_GANG is set */
};

/* Texts are printable UTF-8 and end with a 0; '?' replaces what is not. */
struct gp_report_subject {
	u32 uid, gid, owner;	/* as in struct gp_subject */
	u32 known;		/* enum gp_subject_known */
	char exe[GP_READER_PATH], cmdline[GP_READER_PATH], cgroup[GP_READER_PATH];
	char class_name[GP_READER_NAME], gang[GP_READER_NAME];
};

/* struct gp_mqd without padding, and only with types that have no invalid values. */
struct gp_report_mqd {
	int32_t pid;
	u32 gpu_id, kind, copies, ring_bytes, doorbell, active, pipe_priority, queue_priority;
	u32 zero;
	u64 ring_base, read_at, write_at, save_base;
};

struct gp_report_mqds {
	u32 nr;
	u32 zero;
	struct gp_report_mqd mqd[GP_READER_MQDS];
};

struct gp_report {
	u32 version;
	u32 kind;		/* enum gp_report_kind */
	int32_t pid;
	int32_t error;		/* ERROR: an errno; DUMPED: an errno, or 0 */
	u64 start;
	/* DUMPED: how many queues, or the line of an EPROTO; else the number of the DESCRIBE, 0 */
	u64 value;
	union {
		struct gp_report_subject subject;
		struct gp_report_mqds mqds;
	};
};

/* Bytes of a report of @kind; 0: no such kind. */
static inline size_t gp_report_bytes(u32 kind)
{
	switch (kind) {
	case GP_REPORT_GONE:
	case GP_REPORT_ERROR:
	case GP_REPORT_DUMPED:
		return offsetof(struct gp_report, subject);
	case GP_REPORT_SUBJECT:
		return offsetof(struct gp_report, subject) + sizeof(struct gp_report_subject);
	case GP_REPORT_MQDS:
		return offsetof(struct gp_report, mqds) + sizeof(struct gp_report_mqds);
	}
	return 0;
}

/* ---- the page ---- */

enum gp_slot_flag {
	GP_SLOT_READ		= 1 << 0,	/* the last look read it */
	GP_SLOT_AT_BARRIER	= 1 << 1,
	GP_SLOT_ALL		= 3,
};

/* A sequence lock: odd while the reader writes. */
struct gp_reader_slot {
	u32 sequence;
	u32 generation;
	u32 flags;		/* enum gp_slot_flag */
	u32 zero;
	u64 rptr, wptr;
	u64 before_ns;		/* CLOCK_MONOTONIC of the last look before @wptr moved; 0 */
	u64 spare[3];
};

struct gp_reader_page {
	u64 looks;		/* completed: the heartbeat */
	u64 looked_ns;		/* CLOCK_MONOTONIC of the last one */
	u64 answered;		/* the number of the last LOOK that is done */
	u64 spare[5];
	struct gp_reader_slot slot[GP_READER_SLOTS];
};

static_assert(sizeof(struct gp_reader_slot) == 64, "a slot is a cache line");

#endif /* GP_DAEMON_READER_WIRE_H */
