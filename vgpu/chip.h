/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The virtual MI308X at the level of bytes: the chip as its driver sees it.
 *
 * A real driver puts packets on rings in memory, rings doorbells, reads and
 * writes a few registers, and gets interrupts. The chip decodes those bytes onto
 * the operations of vgpu.h: it is a command processor without a scheduler of its
 * own. Nothing here imitates a driver.
 *
 *   KIQ ring  ->  MAP_QUEUES loads the HIQ, once per XCC
 *   HIQ ring  ->  SET_RESOURCES, RUN_LIST, UNMAP_QUEUES, QUERY_STATUS, WRITE_DATA
 *   runlist   ->  MAP_PROCESS, MAP_QUEUES: which MQDs are to be on
 *   MQD       ->  a user queue: AQL or PM4 on the compute units, or SDMA
 *   doorbell  ->  the write pointer of a queue moved
 *
 * Like the device below it, the chip has no clock, no lock and no memory of its
 * own: it is told the time and reaches the world through struct vgpu_bus. The
 * caller serialises. Bytes are never trusted: whatever is wrong is reported in a
 * sentence, the queue it concerns stops with an error, and the chip goes on.
 *
 * What a queue is, it keeps in its MQD, as on hardware: the chip knows a queue
 * again by the handle it left there when it took it off (VGPU_MQD_HANDLE), which
 * the driver overwrites when it makes a new queue in the same memory.
 */
#ifndef VGPU_CHIP_H
#define VGPU_CHIP_H

#include "vgpu.h"

enum {
	VGPU_CHIP_PROCESSES	= VGPU_MAX_PROCESSES,
	VGPU_CHIP_XCCS		= 8,
	VGPU_CHIP_PIPES		= 4,
	VGPU_CHIP_SLOTS		= 32,	/* pipe * 8 + queue; the mask says which are ours */
	VGPU_CHIP_SDMA_ENGINES	= 16,
	VGPU_CHIP_SDMA_QUEUES	= 8,	/* per engine */
	VGPU_HQD_REGISTERS	= 56,	/* CP_MQD_BASE_ADDR.. = MQD dw 128.. */
	VGPU_LAST_PACKETS	= 32,
	VGPU_CHIP_SHARE		= 512,	/* pages and packets per call; the last run may exceed it */
};

/* An address space: 0 is the driver's (VMID 0), others are roots of page tables. */
typedef u64 vgpu_space;
#define VGPU_SPACE_DRIVER	0ull

/* Interrupt sources, as the driver knows them (client and source id of the IH). */
enum vgpu_interrupt_kind {
	VGPU_IRQ_END_OF_PIPE,	/* client GRBM_CP, source 181: RELEASE_MEM, AQL signals */
	VGPU_IRQ_QUERY_STATUS,	/* the same client and source, for QUERY_STATUS with an interrupt */
	VGPU_IRQ_SDMA_TRAP,	/* client SDMAn, source 224 */
	VGPU_IRQ_BAD_PACKET,	/* client GRBM_CP, source 183: a packet the CP does not know */
	VGPU_IRQ_FAULT,		/* client VMC, source 0: an address that is not mapped */
};

struct vgpu_interrupt {
	u8 kind;		/* enum vgpu_interrupt_kind */
	u8 vmid;
	u8 engine;		/* VGPU_IRQ_SDMA_TRAP */
	u8 xcc;
	u16 pasid;
	u32 context;		/* context id: the event's number; of QUERY_STATUS its context_id */
	u32 doorbell;		/* offset of the queue's doorbell: VGPU_IRQ_BAD_PACKET */
	u64 address;		/* VGPU_IRQ_FAULT */
	bool write;		/* VGPU_IRQ_FAULT */
};

struct vgpu_bus {
	/*
	 * Memory as the device sees it through the page tables of @space. 0 or
	 * -EFAULT (nothing or a part was copied). A naturally aligned access
	 * of 4 or 8 bytes is one access.
	 */
	int (*read)(void *ctx, vgpu_space space, u64 address, void *to, u32 n);
	int (*write)(void *ctx, vgpu_space space, u64 address, const void *from, u32 n);
	/* Adds to an aligned 64-bit word in one access; the new value in @ret. 0, -EFAULT. */
	int (*add)(void *ctx, vgpu_space space, u64 address, u64 value, u64 *ret);
	/* The 64 bits last written to the doorbell at @index (a count of dwords on the BAR). */
	u64 (*doorbell)(void *ctx, u32 index);
	void (*interrupt)(void *ctx, const struct vgpu_interrupt *irq);
	/* A sentence about bytes that were wrong or are not modelled. */
	void (*report)(void *ctx, const char *what);
};

struct vgpu_chip_args {
	const struct vgpu_facts *facts;		/* copied */
	const struct vgpu_bus *bus;		/* copied */
	void *ctx;
	u64 unknown_ns;		/* run time of a workgroup whose kernel cannot be executed */
	u32 iq_wait_time2;	/* reset value of CP_IQ_WAIT_TIME2: 0x40404040 */
	u32 iq_wait_time2_register;	/* its dword offset, as WRITE_DATA names it */
	u32 sdma_engines;
};

struct vgpu_chip;

u64 vgpu_chip_size(const struct vgpu_facts *facts);
/* @mem: vgpu_chip_size() bytes, 8-byte aligned. 0 or -EINVAL. */
int vgpu_chip_init(void *mem, const struct vgpu_chip_args *args, struct vgpu_chip **ret);

/*
 * The driver committed @nr dwords on the KIQ ring of @xcc: MAP_QUEUES of the HIQ,
 * UNMAP_QUEUES of it, NOP; everything else is reported and skipped. Done at once.
 */
void vgpu_chip_kiq(struct vgpu_chip *c, u32 xcc, const u32 *dwords, u32 nr, u64 now_ns);

/* Look at every doorbell that means something; true if one of them had moved. */
bool vgpu_chip_doorbells(struct vgpu_chip *c, u64 now_ns);

/*
 * Whether a processor may have written something that vgpu_chip_doorbells() or
 * vgpu_chip_advance() would act on. Reads only doorbells and changes nothing, so a caller
 * that cannot wait may call it. MAYBE: a queue waits for a word of memory that is not a
 * doorbell (a barrier, a poll, a packet not yet published), or its doorbell may still hold
 * an old value.
 */
enum vgpu_rung {
	VGPU_RUNG_NO,
	VGPU_RUNG_MAYBE,
	VGPU_RUNG_YES,
};
enum vgpu_rung vgpu_chip_rung(struct vgpu_chip *c);

/*
 * Let everything happen that happens until @now_ns. Barriers and polls of memory
 * that were not fulfilled are looked at again, at most once per call.
 *
 * A call does at most VGPU_CHIP_SHARE of the long work: pages that SDMA queues move and
 * packets that PM4 queues read. Queues that are behind continue in the next call, the
 * furthest behind first. Everything else happens on time, so the HIQ never waits for them.
 */
void vgpu_chip_advance(struct vgpu_chip *c, u64 now_ns);
/*
 * When something happens by itself; VGPU_NEVER if nothing will. Not after the time
 * of the last call if queues are behind.
 */
u64 vgpu_chip_next_ns(const struct vgpu_chip *c);
/*
 * The command processor is in the middle of what the driver asked of it (it has
 * not reached the end of the HIQ ring) and it will end at a known time: a caller
 * that keeps time by a ledger may advance straight to vgpu_chip_command_ns(), again
 * and again. False when hung.
 */
bool vgpu_chip_commanded(const struct vgpu_chip *c);
/* As vgpu_chip_next_ns(), but without the queues of SDMA and PM4 that may be behind. */
u64 vgpu_chip_command_ns(const struct vgpu_chip *c);

/* GPU reset: everything is off, the HIQ is not loaded, rings are where they were. */
void vgpu_chip_reset(struct vgpu_chip *c, u64 now_ns);
/* SPI_COMPUTE_QUEUE_RESET of one slot on one XCC; the queue leaves when reset on all of them. */
void vgpu_chip_slot_reset(struct vgpu_chip *c, u32 xcc, u32 pipe, u32 queue, u64 now_ns);

/*
 * Registers. @reg counts from CP_MQD_BASE_ADDR. The HIQ is at pipe 4 (MEC 2, pipe
 * 0) queue 0. Slots without a queue read as zero.
 */
u32 vgpu_chip_hqd(const struct vgpu_chip *c, u32 xcc, u32 pipe, u32 queue, u32 reg);
/* Waves that the queue in that slot has on that XCC: SPI_CSQ_WF_ACTIVE_COUNT. */
u32 vgpu_chip_waves(const struct vgpu_chip *c, u32 xcc, u32 pipe, u32 queue);
u32 vgpu_chip_iq_wait_time2(const struct vgpu_chip *c);
/* The command processor has done all that the HIQ's doorbell @rung asks for, or never will. */
bool vgpu_chip_hiq_idle(const struct vgpu_chip *c, u64 rung);

/* Faults on demand, on top of vgpu_fault(): the same enum, @arg of PREEMPT is a doorbell index. */
int vgpu_chip_fault(struct vgpu_chip *c, enum vgpu_fault fault, u64 arg);

enum vgpu_chip_packet {
	VGPU_SET_RESOURCES, VGPU_MAP_PROCESS, VGPU_MAP_QUEUES, VGPU_UNMAP_QUEUES,
	VGPU_QUERY_STATUS, VGPU_RUN_LIST, VGPU_WRITE_DATA, VGPU_NOP, VGPU_BAD_PACKET,
	VGPU_AQL_DISPATCH, VGPU_AQL_BARRIER_AND, VGPU_AQL_BARRIER_OR, VGPU_AQL_VENDOR,
	VGPU_PM4_USER, VGPU_SDMA_COPY, VGPU_SDMA_OTHER,
	VGPU_NR_PACKETS,
};
const char *vgpu_chip_packet_name(enum vgpu_chip_packet kind);

struct vgpu_chip_counters {
	u64 packets[VGPU_NR_PACKETS];
	u64 time_only;		/* kernels that could not be executed and took time only */
	u64 sdma_bytes;
	u64 interrupts;
	u64 reports;
	u64 faults;		/* accesses to addresses that are not mapped */
	u64 commands_ns;	/* time the command processor took for what the driver asked */
	u64 unmaps_ns;		/* of that, until the fences of unmaps */
	u64 saves_ns;		/* of that, saving waves (or waiting for their end) */
};
const struct vgpu_chip_counters *vgpu_chip_counters(const struct vgpu_chip *c);
/* The device below: its counters, its state. */
struct vgpu *vgpu_chip_device(struct vgpu_chip *c);

/* Times of the last unmap that ended, for the parts of a latency. */
const struct vgpu_unmapped *vgpu_chip_last_unmapped(const struct vgpu_chip *c);

/* One queue the chip knows, for views. */
struct vgpu_chip_queue_view {
	u64 mqd;		/* its address */
	u64 ring;
	u64 rptr, wptr;		/* packets (AQL), dwords (PM4), bytes (SDMA) */
	u32 doorbell;
	u32 pasid;
	u8 vmid;		/* 0: none now */
	u8 kind;		/* enum vgpu_queue_kind */
	u8 state;		/* enum vgpu_queue_state */
	u8 pipe, queue;		/* the slot when it has one */
	u8 engine;		/* SDMA */
	bool slotted;
	u32 waves;
	u64 saved_bytes;
	const char *error;	/* the sentence it stopped with, or NULL */
};
enum vgpu_queue_kind { VGPU_QUEUE_AQL, VGPU_QUEUE_PM4, VGPU_QUEUE_SDMA };
/* The queues by number, 0 up to the first -ENOENT; -EAGAIN for a number not in use. */
int vgpu_chip_view(const struct vgpu_chip *c, u32 nr, struct vgpu_chip_queue_view *ret);

/* The last packets of the HIQ, oldest first. */
struct vgpu_chip_past {
	u64 at_ns;
	u8 kind;		/* enum vgpu_chip_packet */
	u8 nr;			/* dwords kept below */
	u32 dw[8];
};
u32 vgpu_chip_last_packets(const struct vgpu_chip *c, struct vgpu_chip_past ret[VGPU_LAST_PACKETS]);

#endif /* VGPU_CHIP_H */
