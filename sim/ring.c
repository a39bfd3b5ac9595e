// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "core/seat.h"
#include "ring.h"

enum { FIRST_SIZE = 16, WORDS = 16 };	/* packets; bytes of result per packet */

struct gp_ring *gp_ring_new(struct gp_gpu *gpu, struct gp_client *client, u64 area_bytes)
{
	struct gp_ring *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->gpu = gpu;
	r->client = client;
	r->area_bytes = area_bytes;
	r->queue = GP_NONE;
	r->size = FIRST_SIZE;
	r->kernel = calloc(r->size, sizeof(*r->kernel));
	if (!r->kernel) {
		free(r);
		return NULL;
	}
	return r;
}

void gp_ring_free(struct gp_ring *r)
{
	free(r->kernel);
	free(r->area);
	free(r);
}

struct gp_kernel *gp_ring_at(const struct gp_ring *r, u64 index)
{
	struct gp_kernel *k = &r->kernel[index & (r->size - 1)];

	return index < r->tail && k->index == index ? k : NULL;
}

/* Grows the ring. Packets from the oldest incomplete one on keep their index. */
static int grow(struct gp_ring *r)
{
	u64 size = r->size * 2;
	struct gp_kernel *kernel = calloc(size, sizeof(*kernel));

	if (!kernel)
		return -ENOMEM;
	for (u64 i = r->tail > r->size ? r->tail - r->size : 0; i < r->tail; i++)
		kernel[i & (size - 1)] = r->kernel[i & (r->size - 1)];
	free(r->kernel);
	r->kernel = kernel;
	r->size = size;
	return 0;
}

struct gp_kernel *gp_ring_write(struct gp_ring *r, const struct vgpu_packet *p, u64 now_ns)
{
	struct gp_kernel *k;

	/* The slot may be used again only if its packet is complete. */
	while (r->tail >= r->size && !r->kernel[r->tail & (r->size - 1)].complete) {
		if (grow(r))
			return NULL;
	}
	k = &r->kernel[r->tail & (r->size - 1)];
	*k = (struct gp_kernel){
		.packet = *p, .index = r->tail, .submit_ns = now_ns, .request = GP_NO_REQUEST,
	};
	k->packet.result = r->tail * WORDS;
	k->packet.key = (r->tail + 1) * 0x9e3779b97f4a7c15ull | 1;
	r->tail++;
	return k;
}

void gp_ring_publish(struct gp_ring *r, u64 now_ns)
{
	if (r->wptr == r->tail)
		return;
	r->wptr = r->tail;
	if (!r->visible_ns)
		r->visible_ns = now_ns;
}

void gp_ring_add(struct gp_ring *r, u64 address, u64 value)
{
	struct gp_kernel *k = gp_ring_at(r, address / WORDS);

	if (!k || k->complete) {	/* after its end: done twice */
		r->doubled += address % WORDS ? 0 : value;
		return;
	}
	if (address % WORDS)
		k->sum += value;
	else
		k->count += value;
}

/*
 * Checks the sum. Every workgroup i adds (i + 1) * key, so one lost and another doubled give a
 * wrong sum.
 */
static void audit(struct gp_ring *r, const struct gp_kernel *k)
{
	u64 n = k->packet.workgroups;
	u64 even = n % 2 ? n : n / 2, odd = n % 2 ? (n + 1) / 2 : n + 1;

	if (k->count < n) {
		r->lost += n - k->count;
	} else if (k->count > n) {
		r->doubled += k->count - n;
	} else if (k->sum != even * odd * k->packet.key) {
		r->lost++;
		r->doubled++;
	}
}

struct gp_kernel *gp_ring_complete(struct gp_ring *r, u64 index)
{
	struct gp_kernel *k = gp_ring_at(r, index);

	if (!k || k->complete)
		return NULL;
	k->complete = true;
	r->done++;
	if (k->packet.kind != VGPU_KERNEL)
		return k;
	audit(r, k);
	if (k->repeat)
		r->repeated_ns += k->packet.workgroups * k->packet.workgroup_ns;
	else
		r->finished++;
	return k;
}

void gp_ring_close_books(struct gp_ring *r)
{
	u64 first = r->tail > r->size ? r->tail - r->size : 0;

	for (u64 i = first; i < r->tail; i++) {
		const struct gp_kernel *k = gp_ring_at(r, i);

		if (k && !k->complete && k->packet.kind == VGPU_KERNEL &&
		    k->count > k->packet.workgroups)
			r->doubled += k->count - k->packet.workgroups;
	}
}

int gp_ring_area_write(struct gp_ring *r, u64 offset, const void *from, u32 n)
{
	if (offset > r->area_bytes || n > r->area_bytes - offset)
		return -EFAULT;
	if (offset + n > r->area_room) {
		u64 room = (offset + n) * 2;
		u8 *area = realloc(r->area, room);

		if (!area)
			return -EFAULT;
		memset(area + r->area_room, 0, room - r->area_room);
		r->area = area;
		r->area_room = room;
	}
	memcpy(r->area + offset, from, n);
	return 0;
}

int gp_ring_area_read(struct gp_ring *r, u64 offset, void *to, u32 n)
{
	if (offset > r->area_room || n > r->area_room - offset)
		return -EFAULT;
	memcpy(to, r->area + offset, n);
	return 0;
}
