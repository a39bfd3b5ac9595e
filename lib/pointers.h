/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The read and write pointers of a process's queues, read from outside.
 *
 * One process_vm_readv per look reads all queues of a process. That call cannot read pages of
 * the driver (queues whose pointers are in GTT), so such queues are read through /proc/PID/mem,
 * one by one, from then on. The resulting pointers count up for ever, whatever the unit and the
 * wrap of the queue, and only their differences mean anything.
 *
 * A look costs about a third of a microsecond per range of memory. So a read pointer that is not
 * beside its write pointer is read only if the queue had something pending or its write pointer
 * moved.
 *
 * A process can block both ways to read without limit, by a page of a file system that it serves
 * itself. SIGKILL ends process_vm_readv() then, but not a read of /proc/PID/mem. Only a process
 * that can be abandoned may call gp_pointers_look().
 *
 * A set belongs to one thread at a time.
 */
#ifndef GP_LIB_POINTERS_H
#define GP_LIB_POINTERS_H

#include "mqd_dump.h"

enum gp_ring_flag {
	GP_RING_READ		= 1 << 0,	/* read in the last look */
	GP_RING_MOVED		= 1 << 1,	/* changed since the look before */
	GP_RING_AT_BARRIER	= 1 << 2,	/* as gp_pointers_barriers() saw it */
};

struct gp_ring_pointers {
	/* the caller's */
	u64 read_at, write_at;	/* addresses; write_at 0: not known, see below */
	u64 ring_base;
	u32 ring_bytes;		/* a power of two */
	u32 kind;		/* enum gp_ring_kind */
	/* results */
	u64 rptr, wptr;		/* wptr - rptr: what is pending */
	u32 flags;		/* enum gp_ring_flag */
	/* private */
	struct gp_ring_at at;
	u64 raw_read, raw_write;
	bool by_file;
	bool head_by_file, head_read;	/* the same of the packet at the read pointer */
	bool half;		/* this look reads only the write pointer */
};

struct gp_pointers_set;

/* Returns true if the caller's fields of two queues are equal. */
bool gp_pointers_same(const struct gp_ring_pointers *a, const struct gp_ring_pointers *b);
/* Returns true if gp_pointers_alloc() accepts the caller's fields. */
bool gp_pointers_sane(const struct gp_ring_pointers *r);

/*
 * Makes a set. @pid is not opened before the first look. @proc NULL: /proc. The set copies the
 * rings and clears their results. -EINVAL: a size is no power of two, an address is not aligned to
 * 8 or @count is above GP_MQDS_MAX.
 *
 * For a queue whose write pointer is not known (SDMA in a dump) the read pointer is used as write
 * pointer. A look then sees that it moves, but not that it has work.
 */
int gp_pointers_alloc(const char *proc, pid_t pid, const struct gp_ring_pointers *rings,
		      u32 count, struct gp_pointers_set **ret);
void gp_pointers_free(struct gp_pointers_set *s);
/* Copies the state of queues that are in both @to and @from, of the same process. */
void gp_pointers_carry(struct gp_pointers_set *to, const struct gp_pointers_set *from);

/*
 * Reads all queues once. 0: flags say which queues were read. -ESRCH: the process ended, or
 * executed another program. Any other error says nothing about the process: -EPERM (reading is not
 * allowed), -EMFILE, -ENOMEM, -EIO and so on.
 */
int gp_pointers_look(struct gp_pointers_set *s);

/*
 * Finds out which pending AQL queues have a barrier packet at the read pointer, and so wait instead
 * of having work. Costs one more call, so use it only for queues that have not moved for a while. A
 * packet that cannot be read is no barrier, and its queue stays read. 0 or as gp_pointers_look().
 */
int gp_pointers_barriers(struct gp_pointers_set *s);

/* Returns the rings of the set, in their order. */
const struct gp_ring_pointers *gp_pointers_rings(const struct gp_pointers_set *s, u32 *ret_count);

#endif /* GP_LIB_POINTERS_H */
