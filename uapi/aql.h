/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The content of an AQL queue: packets, signals, and the page with the queue's pointers. The
 * layouts follow the HSA platform specification 1.2 and AMD's runtime.
 *
 * A program writes a packet's header last (release). Until then the command processor sees
 * GP_AQL_INVALID and waits.
 */
#ifndef GP_UAPI_AQL_H
#define GP_UAPI_AQL_H

#include <linux/types.h>

enum gp_aql_type {
	GP_AQL_VENDOR		= 0,
	GP_AQL_INVALID		= 1,	/* also the type of a retired packet */
	GP_AQL_KERNEL		= 2,
	GP_AQL_BARRIER_AND	= 3,
	GP_AQL_AGENT		= 4,
	GP_AQL_BARRIER_OR	= 5,
};

enum gp_aql_scope {
	GP_AQL_SCOPE_NONE	= 0,
	GP_AQL_SCOPE_AGENT	= 1,
	GP_AQL_SCOPE_SYSTEM	= 2,
};

#define GP_AQL_PACKET_BYTES	64
#define GP_AQL_BARRIER		(1u << 8)	/* wait until every earlier packet has completed */
#define GP_AQL_ACQUIRE(scope)	((unsigned int)(scope) << 9)
#define GP_AQL_RELEASE(scope)	((unsigned int)(scope) << 11)
#define GP_AQL_SYSTEM		(GP_AQL_ACQUIRE(GP_AQL_SCOPE_SYSTEM) | \
				 GP_AQL_RELEASE(GP_AQL_SCOPE_SYSTEM))

struct gp_aql_kernel {
	__u16 header;			/* type | GP_AQL_* */
	__u16 dimensions;		/* 1..3 */
	__u16 workgroup[3];		/* work-items, 1..1024 in all */
	__u16 pad0;
	__u32 grid[3];			/* work-items */
	__u32 private_bytes;		/* per work-item */
	__u32 group_bytes;		/* LDS per workgroup */
	__u64 kernel_object;
	__u64 kernarg;
	__u64 pad1;
	__u64 completion;		/* address of a struct gp_amd_signal, or 0 */
};

#define GP_AQL_DEPENDENCIES	5

struct gp_aql_barrier {
	__u16 header;
	__u16 pad0;
	__u32 pad1;
	__u64 waits_for[GP_AQL_DEPENDENCIES];	/* signals that must become 0; 0: none */
	__u64 pad2;
	__u64 completion;
};

union gp_aql_packet {
	struct gp_aql_kernel kernel;
	struct gp_aql_barrier barrier;
	__u32 word[16];
};

/* 64-byte aligned. The command processor subtracts 1 from @value when a packet completes. */
struct gp_amd_signal {
	__s64 kind;			/* GP_AMD_SIGNAL_USER */
	__s64 value;
	__u64 mailbox;			/* address of the event's slot; 0: no interrupt */
	__u32 event_id;			/* value to write to the mailbox */
	__u32 pad0;
	__u64 start_ts;			/* device clock */
	__u64 end_ts;
	__u64 queue;
	__u64 pad1;
};

#define GP_AMD_SIGNAL_USER	1

/* AMD's queue structure up to the pointers; one page of its own (gp_kfd_create_queue). */
struct gp_amd_queue {
	__u32 type;			/* 0: many producers, 1: one */
	__u32 features;			/* 1: kernels */
	__u64 base;
	__u64 doorbell_signal;
	__u32 packets;
	__u32 pad0;
	__u64 id;
	__u32 caps;
	__u32 pad1[3];
	__u64 write_index;		/* packets ever reserved */
	__u64 pad2[8];
	__u64 read_index;		/* packets ever retired */
	__u32 read_index_offset;	/* of @read_index in this structure */
	__u32 pad3[29];
};

_Static_assert(sizeof(union gp_aql_packet) == GP_AQL_PACKET_BYTES, "HSA 1.2");
_Static_assert(__builtin_offsetof(struct gp_aql_kernel, kernel_object) == 32, "HSA 1.2");
_Static_assert(__builtin_offsetof(struct gp_aql_kernel, completion) == 56, "HSA 1.2");
_Static_assert(__builtin_offsetof(struct gp_aql_barrier, waits_for) == 8, "HSA 1.2");
_Static_assert(__builtin_offsetof(struct gp_aql_barrier, completion) == 56, "HSA 1.2");
_Static_assert(sizeof(struct gp_amd_signal) == 64, "AMD's runtime");
_Static_assert(__builtin_offsetof(struct gp_amd_signal, start_ts) == 32, "AMD's runtime");
_Static_assert(sizeof(struct gp_amd_queue) == 256, "AMD's runtime");
_Static_assert(__builtin_offsetof(struct gp_amd_queue, write_index) == 56, "AMD's runtime");
_Static_assert(__builtin_offsetof(struct gp_amd_queue, read_index) == 128, "AMD's runtime");

#endif /* GP_UAPI_AQL_H */
