// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "pointers.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sys.h"
#include "uapi/aql.h"

enum {
	PIECES_PER_CALL	= 1024,		/* UIO_MAXIOV */
	PAGE		= 4096,
	/* Pointers that are closer than this, as in ROCr's queues, are read as one piece. */
	SPAN		= 256,
};

/* Bytes of the process that one call reads. */
struct piece {
	u32 ring;
	u32 to;			/* where in the buffer */
};

struct gp_pointers_set {
	char mem[PATH_MAX];
	pid_t pid;
	int mem_fd;		/* -1: not open yet */
	u32 nr;
	bool heads;		/* pieces are packets, not pointers */
	struct gp_ring_pointers *rings;
	struct piece *pieces;	/* room for two per ring */
	struct iovec *remote;	/* of the pieces */
	u8 *buffer;
};

static bool is_power_of_two(u32 n)
{
	return n && !(n & (n - 1));
}

bool gp_pointers_sane(const struct gp_ring_pointers *r)
{
	return is_power_of_two(r->ring_bytes) && r->ring_bytes >= GP_AQL_PACKET_BYTES &&
	       r->read_at && !(r->read_at & 7) && !(r->write_at & 7) && !(r->ring_base & 7) &&
	       r->kind <= GP_RING_SDMA && (r->write_at || r->kind == GP_RING_SDMA);
}

int gp_pointers_alloc(const char *proc, pid_t pid, const struct gp_ring_pointers *rings,
		      u32 count, struct gp_pointers_set **ret)
{
	struct gp_pointers_set *s;

	if (count > GP_MQDS_MAX || pid <= 0)
		return -EINVAL;
	for (u32 i = 0; i < count; i++)
		if (!gp_pointers_sane(&rings[i]))
			return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->pid = pid;
	s->mem_fd = -1;
	s->nr = count;
	s->rings = calloc(count + 1, sizeof(*s->rings));
	s->pieces = calloc(2 * count + 1, sizeof(*s->pieces));
	s->remote = calloc(2 * count + 1, sizeof(*s->remote));
	s->buffer = calloc(count + 1, SPAN);
	if (!s->rings || !s->pieces || !s->remote || !s->buffer) {
		gp_pointers_free(s);
		return -ENOMEM;
	}
	if (snprintf(s->mem, sizeof(s->mem), "%s/%d/mem", proc ? proc : "/proc", pid) >=
	    (int)sizeof(s->mem)) {
		gp_pointers_free(s);
		return -ENAMETOOLONG;
	}
	for (u32 i = 0; i < count; i++)
		s->rings[i] = (struct gp_ring_pointers){
			.read_at = rings[i].read_at, .write_at = rings[i].write_at,
			.ring_base = rings[i].ring_base, .ring_bytes = rings[i].ring_bytes,
			.kind = rings[i].kind,
			.at = { .ring_bytes = rings[i].ring_bytes, .kind = (u8)rings[i].kind,
				.blind = !rings[i].write_at },
		};
	*ret = s;
	return 0;
}

void gp_pointers_free(struct gp_pointers_set *s)
{
	if (!s)
		return;
	if (s->mem_fd >= 0)
		close(s->mem_fd);
	free(s->rings);
	free(s->pieces);
	free(s->remote);
	free(s->buffer);
	free(s);
}

bool gp_pointers_same(const struct gp_ring_pointers *a, const struct gp_ring_pointers *b)
{
	return a->read_at == b->read_at && a->write_at == b->write_at &&
	       a->ring_base == b->ring_base && a->ring_bytes == b->ring_bytes &&
	       a->kind == b->kind;
}

void gp_pointers_carry(struct gp_pointers_set *to, const struct gp_pointers_set *from)
{
	for (u32 i = 0; i < to->nr; i++) {
		for (u32 j = 0; j < from->nr; j++) {
			if (!gp_pointers_same(&to->rings[i], &from->rings[j]))
				continue;
			to->rings[i] = from->rings[j];
			break;
		}
	}
}

const struct gp_ring_pointers *gp_pointers_rings(const struct gp_pointers_set *s, u32 *ret_count)
{
	*ret_count = s->nr;
	return s->rings;
}

static int open_mem(struct gp_pointers_set *s)
{
	if (s->mem_fd >= 0)
		return 0;
	s->mem_fd = gp_sys->openat(AT_FDCWD, s->mem, O_RDONLY | O_CLOEXEC);
	if (s->mem_fd >= 0)
		return 0;
	return errno == ENOENT ? -ESRCH : errno == EACCES ? -EPERM : -errno;
}

static bool *by_file(struct gp_pointers_set *s, u32 piece)
{
	struct gp_ring_pointers *r = &s->rings[s->pieces[piece].ring];

	return s->heads ? &r->head_by_file : &r->by_file;
}

/* Reads piece @i through the driver's access function, which readv does not use. */
static int read_by_file(struct gp_pointers_set *s, u32 i)
{
	const struct iovec *from = &s->remote[i];
	struct gp_ring_pointers *r = &s->rings[s->pieces[i].ring];
	int err = open_mem(s);
	ssize_t n;

	if (err)
		return err;
	n = gp_sys->pread(s->mem_fd, s->buffer + s->pieces[i].to, from->iov_len,
		  (off_t)(uintptr_t)from->iov_base);
	if (n == 0)
		return -ESRCH;	/* its memory is gone: exit or exec */
	/* The kernel returns EIO for a page that is not mapped. */
	if (n < 0 && errno != EIO && errno != EFAULT)
		return -errno;
	if (n == (ssize_t)from->iov_len)
		return 0;
	if (s->heads)
		r->head_read = false;
	else
		r->flags &= ~(u32)GP_RING_READ;
	return 0;
}

/* Returns how many pieces from @first on one call can read. */
static u32 batch(struct gp_pointers_set *s, u32 first, u32 nr, size_t *ret_bytes)
{
	u32 i;

	*ret_bytes = 0;
	for (i = first; i < nr && i - first < PIECES_PER_CALL; i++) {
		if (*by_file(s, i))
			break;
		*ret_bytes += s->remote[i].iov_len;
	}
	return i - first;
}

/* Reads the pieces one after the other into the buffer. */
static int gather(struct gp_pointers_set *s, u32 nr)
{
	for (u32 i = 0; i < nr;) {
		size_t bytes;
		u32 pieces = batch(s, i, nr, &bytes);
		struct iovec local = { .iov_base = s->buffer + s->pieces[i].to, .iov_len = bytes };
		ssize_t n;
		int err;

		if (!pieces) {
			err = read_by_file(s, i++);
			if (err)
				return err;
			continue;
		}
		n = gp_sys->process_vm_readv(s->pid, &local, 1, s->remote + i, pieces);
		if (n < 0 && errno != EFAULT)
			return -errno;
		for (n = n < 0 ? 0 : n; pieces && (size_t)n >= s->remote[i].iov_len; pieces--, i++)
			n -= (ssize_t)s->remote[i].iov_len;
		/* A page of the driver. Read this piece and later ones by file. */
		if (pieces)
			*by_file(s, i) = true;
	}
	return 0;
}

static u32 add_piece(struct gp_pointers_set *s, u32 nr, u32 ring, u64 at, u32 bytes)
{
	u32 to = nr ? s->pieces[nr - 1].to + (u32)s->remote[nr - 1].iov_len : 0;

	s->pieces[nr] = (struct piece){ .ring = ring, .to = to };
	s->remote[nr] = (struct iovec){
		.iov_base = (void *)(uintptr_t)at, .iov_len = bytes,
	};
	return nr + 1;
}

/*
 * Adds the pieces of a queue's pointers. If nothing is pending the write pointer alone shows new
 * work. Adjacent pointers are one range, whose second word costs nothing.
 */
static u32 add_pointers(struct gp_pointers_set *s, u32 nr, u32 ring)
{
	struct gp_ring_pointers *r = &s->rings[ring];
	u64 low = r->read_at < r->write_at ? r->read_at : r->write_at;
	u64 high = r->read_at < r->write_at ? r->write_at : r->read_at;

	if (!r->write_at)
		return add_piece(s, nr, ring, r->read_at, 8);
	if (low / PAGE == high / PAGE && high - low <= SPAN - 8) {
		r->half = false;
		return add_piece(s, nr, ring, low, (u32)(high - low) + 8);
	}
	/* Read the write pointer last, so that the older read pointer never overtakes it. */
	if (!r->half)
		nr = add_piece(s, nr, ring, r->read_at, 8);
	return add_piece(s, nr, ring, r->write_at, 8);
}

static void copy_word(const struct gp_pointers_set *s, u32 piece, u64 address, u64 *to)
{
	u64 base = (u64)(uintptr_t)s->remote[piece].iov_base;

	if (address >= base && address + 8 <= base + s->remote[piece].iov_len)
		memcpy(to, s->buffer + s->pieces[piece].to + (address - base), sizeof(*to));
}

/* Reads @nr pieces into the raw pointers of their queues. */
static int load(struct gp_pointers_set *s, u32 nr)
{
	int err = gather(s, nr);

	for (u32 i = 0; !err && i < nr; i++) {
		struct gp_ring_pointers *r = &s->rings[s->pieces[i].ring];

		copy_word(s, i, r->read_at, &r->raw_read);
		copy_word(s, i, r->write_at, &r->raw_write);
	}
	return err;
}

/*
 * Takes the pointers. Returns how many pieces a second read needs, for queues with new work of
 * which only the write pointer was read.
 */
static u32 take(struct gp_pointers_set *s)
{
	u32 nr = 0;

	for (u32 i = 0; i < s->nr; i++) {
		struct gp_ring_pointers *r = &s->rings[i];

		if (!(r->flags & GP_RING_READ))
			continue;
		if (r->half && !gp_ring_quiet(&r->at, r->raw_write)) {
			r->half = false;
			nr = add_pointers(s, nr, i);
			continue;
		}
		if (r->half || gp_ring_same(&r->at, r->raw_read, r->raw_write))
			continue;
		if (gp_ring_take(&r->at, r->raw_read, r->raw_write))
			r->flags |= GP_RING_MOVED;
		r->rptr = r->at.rptr;
		r->wptr = r->at.wptr;
	}
	return nr;
}

int gp_pointers_look(struct gp_pointers_set *s)
{
	u32 nr = 0;
	int err;

	for (u32 i = 0; i < s->nr; i++) {
		struct gp_ring_pointers *r = &s->rings[i];

		r->flags = GP_RING_READ;
		r->half = gp_ring_quiet(&r->at, r->at.raw_write);
		nr = add_pointers(s, nr, i);
	}
	err = load(s, nr);
	nr = err ? 0 : take(s);
	if (nr) {
		err = load(s, nr);
		if (!err)
			take(s);
	}
	for (u32 i = 0; err && i < s->nr; i++)
		s->rings[i].flags = 0;
	return err;
}

int gp_pointers_barriers(struct gp_pointers_set *s)
{
	u32 nr = 0, head;
	int err;

	for (u32 i = 0; i < s->nr; i++) {
		struct gp_ring_pointers *r = &s->rings[i];
		u64 packets = r->ring_bytes / GP_AQL_PACKET_BYTES;

		r->flags &= ~(u32)GP_RING_AT_BARRIER;
		r->head_read = true;
		if (r->kind == GP_RING_AQL && r->flags & GP_RING_READ && r->rptr != r->wptr)
			nr = add_piece(s, nr, i, r->ring_base + (r->rptr & (packets - 1)) *
				       GP_AQL_PACKET_BYTES, sizeof(head));
	}
	s->heads = true;
	err = gather(s, nr);
	s->heads = false;
	for (u32 i = 0; !err && i < nr; i++) {
		struct gp_ring_pointers *r = &s->rings[s->pieces[i].ring];

		memcpy(&head, s->buffer + s->pieces[i].to, sizeof(head));
		if (r->head_read && gp_ring_waits_at(head))
			r->flags |= GP_RING_AT_BARRIER;
	}
	return err;
}
