/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the files of the byte level share. No file outside this folder includes it.
 *
 *   chip.c		life, time, doorbells
 *   chip_bus.c		memory, interrupts, sentences
 *   kiq.c		loading the HIQ
 *   hiq.c		the ring on which the driver commands
 *   ib.c		the runlist: bytes into a list of queues
 *   user_queue.c	an MQD and the queue it is
 *   slot.c		queues that are on: slots, VMIDs, what is left in the MQD
 *   aql.c		AQL packets
 *   aql_ring.c		a queue's ring as the device below sees it: fetch, complete
 *   stream_queue.c	SDMA queues and PM4 queues
 *   chip_view.c	what can be asked
 *
 * The number of a queue is its number in the device below, for all kinds.
 */
#ifndef VGPU_CHIP_PRIVATE_H
#define VGPU_CHIP_PRIVATE_H

#include "chip.h"
#include "device.h"
#include "mqd.h"
#include "pm4.h"
#include "pm4_stream.h"
#include "sdma.h"

enum {
	VGPU_NO_SLOT		= 0xff,
	VGPU_AQL_DEPS		= 5,
	VGPU_AQL_IN_FLIGHT	= 16,	/* more than the device below holds: 8 and a head */
	VGPU_FLIGHT_PM4		= 0xff,	/* the type of a dispatch of a PM4 queue */
};

/* A packet that was fetched and is not complete: its slot in the ring may be reused. */
struct vgpu_aql_flight {
	bool used;
	bool done;		/* complete, not reported yet */
	u8 type;		/* enum vgpu_aql_type */
	u64 index;		/* in the ring */
	u64 signal;		/* 0: none */
	u64 start_ns, end_ns;
	u64 dep[VGPU_AQL_DEPS];
	struct vgpu_packet p;
};

struct vgpu_user_queue {
	bool used;
	bool on;		/* has a slot, or an SDMA engine */
	bool fresh;		/* its doorbell has not been seen moving */
	bool unpublished;	/* packets below the write pointer that are not valid yet */
	bool blocked;		/* at a barrier */
	bool awake;		/* PM4: its stream can go on */
	bool vendor;		/* AQL: its stream is at a vendor packet */
	u8 kind;		/* enum vgpu_queue_kind */
	u8 slot;		/* VGPU_NO_SLOT: none */
	u8 engine;
	u8 xcc;			/* of a PM4 queue: where it runs */
	u8 reset_xccs;		/* SPI_COMPUTE_QUEUE_RESET came there */
	u32 process;
	u32 handle;		/* stored in its MQD to recognise the queue */
	u32 doorbell;
	u64 rung;		/* value of its doorbell at the last look */
	const char *error;
	const char *failed;	/* error to report once the device below can be called */

	/* the MQD as of the last map */
	u64 mqd;
	u64 stride;
	u64 ring, ring_packets;	/* PM4: dwords; SDMA: bytes */
	u64 rptr_address, wptr_address;
	u64 save_base;
	u32 save_size, stack_size;
	u32 image[VGPU_HQD_REGISTERS];

	/* indices of the ring; the device below counts from @base */
	u64 base;
	u64 rptr, published, wptr;
	u64 finished;		/* PM4: of the @published dispatches */
	union {
		struct vgpu_sdma sdma;
		struct vgpu_pm4 pm4;	/* of an AQL queue: its vendor packets */
	} stream;
	struct vgpu_aql_flight flight[VGPU_AQL_IN_FLIGHT];
};

struct vgpu_process {
	bool used;
	u8 vmid;		/* 0: none now */
	u32 pasid;
	u32 queues;		/* that the chip knows */
	u32 on;			/* of those, on the GPU */
	vgpu_space space;
};

enum vgpu_hiq_waits { VGPU_HIQ_READY, VGPU_HIQ_UNMAPS, VGPU_HIQ_MAPS };

struct vgpu_hiq {
	u32 loaded;		/* bit per XCC */
	bool running;		/* on all of them */
	bool hung;
	u8 waits;		/* enum vgpu_hiq_waits */
	u32 doorbell;
	u64 rung;
	u64 mqd[VGPU_CHIP_XCCS];
	u64 ring, ring_dwords;
	u64 rptr_address, wptr_address;
	u64 rptr, wptr;		/* dwords, never wrap */
	u64 began_ns;		/* when the operation it waits for began */
	/* UNMAP_QUEUES by doorbell: queues not yet unmapped */
	u32 todo[4], nr_todo;
	u8 todo_how;
	u64 todo_grace_ns;
};

struct vgpu_chip {
	struct vgpu *v;
	struct vgpu_bus bus;
	void *ctx;
	struct vgpu_facts facts;
	u64 unknown_ns;
	u32 xccs;
	u32 sdma_engines;
	u32 wait2, wait2_reset, wait2_register;
	u32 vmid_mask;
	u32 slot_mask;
	u32 slots;		/* in use */
	u32 vmids;		/* in use */
	u32 handles;
	bool ended;		/* an unmap or map, since it was looked at */
	bool signalled;		/* a signal changed */
	bool awake;		/* a PM4 stream can go on */
	u32 share;		/* what is left of VGPU_CHIP_SHARE in this call */
	u32 nr_sdma;		/* queues on engines */
	bool failing;		/* a queue has @failed set */
	u32 untold;		/* packets complete and not reported */
	u32 top;		/* no queue from here on is used */
	u32 mqd[VGPU_MQD_DW];	/* the one being read: too large for a kernel's stack */
	u64 page[VGPU_SDMA_PAGE / 8];	/* bytes that SDMA queues move */
	u64 seen_moves;		/* queues mapped and unmapped so far */
	struct vgpu_hiq hiq;
	struct vgpu_unmapped last_unmapped;
	struct vgpu_chip_counters counters;
	struct vgpu_chip_past past[VGPU_LAST_PACKETS];
	u64 nr_past;
	u32 list[VGPU_MAX_QUEUES], nr_list;	/* the runlist being read */
	struct vgpu_process processes[VGPU_CHIP_PROCESSES];
	struct vgpu_user_queue described;	/* by the MQD being read */
	struct vgpu_user_queue queues[VGPU_MAX_QUEUES];
};

static inline u32 vgpu_user_id(const struct vgpu_chip *c, const struct vgpu_user_queue *q)
{
	return (u32)(q - c->queues);
}

static inline struct vgpu_process *vgpu_process_of(struct vgpu_chip *c,
						   const struct vgpu_user_queue *q)
{
	return &c->processes[q->process];
}

/* Takes @nr pages or packets from the share of this call. */
static inline void vgpu_chip_spend(struct vgpu_chip *c, u64 nr)
{
	c->share -= nr < c->share ? (u32)nr : c->share;
}

/* AQL queues run on all XCCs, PM4 queues where their MQD says. */
static inline bool vgpu_user_on_one_xcc(const struct vgpu_chip *c, const struct vgpu_user_queue *q)
{
	return q->kind == VGPU_QUEUE_PM4 && c->xccs > 1;
}

/* True if the queue is on the runlist of the device below (compute) or on an engine (SDMA). */
static inline bool vgpu_user_listed(const struct vgpu_chip *c, const struct vgpu_user_queue *q)
{
	return q->kind == VGPU_QUEUE_SDMA ? q->on : c->v->queues[vgpu_user_id(c, q)].listed;
}

/* chip_bus.c: 0 or -EFAULT, which is reported */
int vgpu_driver_read(struct vgpu_chip *c, u64 address, void *to, u32 n);
int vgpu_driver_write(struct vgpu_chip *c, u64 address, const void *from, u32 n);
int vgpu_driver_put(struct vgpu_chip *c, u64 address, u32 value);
int vgpu_user_read(struct vgpu_chip *c, struct vgpu_user_queue *q, u64 address, void *to, u32 n);
int vgpu_user_write(struct vgpu_chip *c, struct vgpu_user_queue *q, u64 address,
		    const void *from, u32 n);
int vgpu_user_add(struct vgpu_chip *c, struct vgpu_user_queue *q, u64 address, u64 value);
void vgpu_interrupt(struct vgpu_chip *c, const struct vgpu_interrupt *irq);
void vgpu_user_interrupt(struct vgpu_chip *c, const struct vgpu_user_queue *q,
			 enum vgpu_interrupt_kind kind, u32 context);
void vgpu_say(struct vgpu_chip *c, const char *what);
void vgpu_say_number(struct vgpu_chip *c, const char *what, u64 number);
void vgpu_say_queue(struct vgpu_chip *c, const struct vgpu_user_queue *q, const char *what);
/* Marks the queue to stop with an error. Stopping is not allowed inside a callback. */
void vgpu_user_fail(struct vgpu_chip *c, struct vgpu_user_queue *q, const char *what);

/* The bus for executors, which counts accesses. Its context is the chip. */
extern const struct vgpu_bus vgpu_counted_bus;

/* chip.c */
void vgpu_chip_settle(struct vgpu_chip *c);

/* hiq.c */
bool vgpu_hiq_look(struct vgpu_chip *c);
bool vgpu_hiq_run(struct vgpu_chip *c);
void vgpu_hiq_ended(struct vgpu_chip *c);

/* ib.c */
void vgpu_ib_run(struct vgpu_chip *c, const u32 *run_list);

/* user_queue.c */
struct vgpu_process *vgpu_process_find(struct vgpu_chip *c, u32 pasid);
struct vgpu_process *vgpu_process_get(struct vgpu_chip *c, u32 pasid, vgpu_space space);
struct vgpu_user_queue *vgpu_user_by_doorbell(struct vgpu_chip *c, u32 doorbell);
struct vgpu_user_queue *vgpu_user_map(struct vgpu_chip *c, u32 process, const u32 *map_queues);
void vgpu_user_gone(struct vgpu_chip *c, struct vgpu_user_queue *q);

/* slot.c */
void vgpu_slots_sync(struct vgpu_chip *c);
void vgpu_slot_free(struct vgpu_chip *c, struct vgpu_user_queue *q);
void vgpu_vmid_take(struct vgpu_chip *c, struct vgpu_process *p);
void vgpu_vmid_drop(struct vgpu_chip *c, struct vgpu_process *p);

/* stream_queue.c */
const char *vgpu_sdma_from_mqd(struct vgpu_chip *c, struct vgpu_user_queue *q);
int vgpu_sdma_begin(struct vgpu_chip *c, struct vgpu_user_queue *q);
void vgpu_sdma_on(struct vgpu_chip *c, struct vgpu_user_queue *q);
void vgpu_sdma_off(struct vgpu_chip *c, struct vgpu_user_queue *q);
void vgpu_sdma_due(struct vgpu_chip *c);
u64 vgpu_sdma_next_ns(const struct vgpu_chip *c);
int vgpu_pm4_begin(struct vgpu_chip *c, struct vgpu_user_queue *q);
void vgpu_stream_wake(struct vgpu_chip *c, struct vgpu_user_queue *q);
void vgpu_stream_look(struct vgpu_chip *c, struct vgpu_user_queue *q);
void vgpu_stream_poll(struct vgpu_chip *c);
void vgpu_stream_run(struct vgpu_chip *c);

/* aql_ring.c */
struct vgpu_aql_flight *vgpu_flight_new(struct vgpu_user_queue *q, u64 index);
extern const struct vgpu_world vgpu_chip_world;
void vgpu_aql_tell(struct vgpu_chip *c);
u64 vgpu_aql_look(struct vgpu_chip *c, struct vgpu_user_queue *q);

#endif /* VGPU_CHIP_PRIVATE_H */
