// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* User queues: their buffers, their doorbell, and their packets. */
#include "client.h"
#include "save.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum {
	RING_BYTES	= 64 << 10,
	NORMAL		= 7,	/* the priority that runtimes ask for */
};

static bool computes(u32 type)
{
	return type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL || type == KFD_IOC_QUEUE_TYPE_COMPUTE;
}

/* Bytes of the ring per step of the queue's pointers. */
static u32 step(const struct gp_lab_queue *q)
{
	switch (q->type) {
	case KFD_IOC_QUEUE_TYPE_COMPUTE_AQL:
		return GP_AQL_PACKET_BYTES;
	case KFD_IOC_QUEUE_TYPE_COMPUTE:
		return sizeof(u32);
	default:
		return 1;
	}
}

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

static int alloc_buffers(struct gp_lab_queue *q, const struct gp_queue_args *args)
{
	struct gp_lab_client *c = q->c;
	int err = gp_buffer_alloc(c, &q->ring, args->pointers, q->ring_bytes);

	if (!err)
		err = gp_buffer_alloc(c, &q->pointers, args->pointers, sizeof(struct gp_amd_queue));
	if (!err && computes(q->type))
		err = gp_buffer_alloc(c, &q->eop, args->pointers, c->geometry.eop_bytes);
	if (!err && computes(q->type))
		err = gp_save_alloc(c, &q->save, args->save_area);
	return err;
}

static int free_buffers(struct gp_lab_queue *q)
{
	int err = gp_buffer_free(q->c, &q->ring);

	if (!err)
		err = gp_buffer_free(q->c, &q->pointers);
	if (!err)
		err = gp_buffer_free(q->c, &q->eop);
	if (!err)
		err = gp_buffer_free(q->c, &q->save);
	return err;
}

/* Fills the page like AMD's runtime, because tools that inspect a process read it. */
static void init_pointers(struct gp_lab_queue *q)
{
	struct gp_amd_queue *page = q->pointers.at;

	page->type = 1;
	page->features = 1;
	page->base = address(q->ring.at);
	page->packets = q->ring_bytes / GP_AQL_PACKET_BYTES;
	page->read_index_offset = offsetof(struct gp_amd_queue, read_index);
	q->write = (u64 *)&page->write_index;
	q->read = (u64 *)&page->read_index;
}

/* Marks all packets invalid. A ring of zeros would be full of vendor packets. */
static void invalidate_ring(struct gp_lab_queue *q)
{
	union gp_aql_packet *packets = q->ring.at;

	for (u32 i = 0; i < q->ring_bytes / GP_AQL_PACKET_BYTES; i++)
		packets[i].kernel.header = GP_AQL_INVALID;
}

static int map_doorbells(struct gp_lab_client *c, u64 offset)
{
	void *at;

	if (c->doorbells)
		return 0;
	at = mmap(NULL, GP_KFD_DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, c->kfd_fd,
		  (off_t)(offset & ~(u64)(GP_KFD_DOORBELL_BYTES - 1)));
	if (at == MAP_FAILED)
		return gp_client_fail(errno, "cannot map the doorbells");
	c->doorbells = at;
	return 0;
}

static int kfd_create(struct gp_lab_queue *q)
{
	struct gp_lab_client *c = q->c;
	struct kfd_ioctl_create_queue_args k = {
		.ring_base_address	= address(q->ring.at),
		.write_pointer_address	= address(q->write),
		.read_pointer_address	= address(q->read),
		.ring_size		= q->ring_bytes,
		.gpu_id			= c->node.gpu_id,
		.queue_type		= q->type,
		.queue_percentage	= q->percentage,
		.queue_priority		= q->priority,
	};
	int err;

	if (computes(q->type)) {
		k.eop_buffer_address = address(q->eop.at);
		k.eop_buffer_size = q->eop.bytes;
		k.ctx_save_restore_address = address(q->save.at);
		k.ctx_save_restore_size = c->geometry.save_bytes;
		k.ctl_stack_size = c->geometry.ctl_stack_bytes;
	}
	err = gp_client_call(c, AMDKFD_IOC_CREATE_QUEUE, &k, "CREATE_QUEUE");
	if (err)
		return err;
	q->id = k.queue_id;
	q->doorbell_offset = (u32)(k.doorbell_offset & (GP_KFD_DOORBELL_BYTES - 1));
	err = map_doorbells(c, k.doorbell_offset);
	if (err) {
		struct kfd_ioctl_destroy_queue_args d = { .queue_id = q->id };

		ioctl(c->kfd_fd, AMDKFD_IOC_DESTROY_QUEUE, &d);
		return err;
	}
	q->doorbell = (volatile u64 *)(c->doorbells + q->doorbell_offset);
	return 0;
}

/* Frees the queue and keeps the first message, although freeing may fail too. */
static int give_up(struct gp_lab_queue *q, int err)
{
	char line[256];

	snprintf(line, sizeof(line), "%s", gp_client_error());
	free_buffers(q);
	return gp_client_say(-err, "%s", line);
}

int gp_queue_create(struct gp_lab_client *c, struct gp_lab_queue *q,
		    const struct gp_queue_args *args)
{
	int err;

	*q = (struct gp_lab_queue){
		.c = c,
		.type = args->type,
		.ring_bytes = args->ring_bytes ? args->ring_bytes : RING_BYTES,
		.percentage = (args->off ? 0 : KFD_MAX_QUEUE_PERCENTAGE) | args->xcc << 8,
		.priority = args->lowest_priority ? 0 : args->priority ? args->priority : NORMAL,
	};
	err = alloc_buffers(q, args);
	if (err)
		return give_up(q, err);
	init_pointers(q);
	if (q->type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL)
		invalidate_ring(q);
	err = kfd_create(q);
	return err ? give_up(q, err) : 0;
}

int gp_queue_destroy(struct gp_lab_queue *q)
{
	struct kfd_ioctl_destroy_queue_args d = { .queue_id = q->id };
	int err = gp_client_call(q->c, AMDKFD_IOC_DESTROY_QUEUE, &d, "DESTROY_QUEUE");

	return err ? err : free_buffers(q);
}

int gp_queue_update(struct gp_lab_queue *q, u32 percentage, u32 priority)
{
	struct kfd_ioctl_update_queue_args u = {
		.ring_base_address = address(q->ring.at),
		.queue_id = q->id,
		.ring_size = q->ring_bytes,
		.queue_percentage = percentage | (q->percentage & ~0xffu),
		.queue_priority = priority,
	};
	int err = gp_client_call(q->c, AMDKFD_IOC_UPDATE_QUEUE, &u, "UPDATE_QUEUE");

	if (!err) {
		q->percentage = u.queue_percentage;
		q->priority = priority;
	}
	return err;
}

void gp_queue_ring(struct gp_lab_queue *q)
{
	/* AMD's AQL doorbell takes the index of the last packet, others that of the next one. */
	u64 value = q->type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL ? q->next - 1 : q->next;

	__atomic_store_n(q->write, q->next, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*q->doorbell = value;
}

/* Returns how much the GPU still has to read, in steps of the pointers. */
static u64 pending(const struct gp_lab_queue *q)
{
	u64 read = __atomic_load_n(q->read, __ATOMIC_ACQUIRE);
	u64 steps = q->ring_bytes / step(q);

	if (q->type == KFD_IOC_QUEUE_TYPE_COMPUTE)
		return (q->next - (u32)read) % steps;
	return q->next - read;
}

bool gp_queue_empty(const struct gp_lab_queue *q)
{
	return !pending(q);
}

int gp_aql_put(struct gp_lab_queue *q, const union gp_aql_packet *packet)
{
	u32 packets = q->ring_bytes / GP_AQL_PACKET_BYTES;
	union gp_aql_packet *at = (union gp_aql_packet *)q->ring.at + q->next % packets;

	if (pending(q) >= packets)
		return -EAGAIN;
	/* Write the first word last, because it holds the header that publishes the packet. */
	memcpy(&at->word[1], &packet->word[1], sizeof(*at) - sizeof(at->word[0]));
	__atomic_store_n(&at->word[0], packet->word[0], __ATOMIC_RELEASE);
	q->next++;
	return 0;
}

int gp_queue_put(struct gp_lab_queue *q, const u32 *dwords, u32 nr)
{
	u32 per_dword = q->type == KFD_IOC_QUEUE_TYPE_COMPUTE ? 1 : sizeof(u32);
	u64 steps = q->ring_bytes / step(q);
	u32 *ring = q->ring.at;

	/* Keep one step free, because a full ring would look empty. */
	if (pending(q) + (u64)nr * per_dword >= steps)
		return -EAGAIN;
	for (u32 i = 0; i < nr; i++) {
		u64 at = q->next / per_dword;

		ring[at % (q->ring_bytes / sizeof(u32))] = dwords[i];
		q->next += per_dword;
	}
	return 0;
}
