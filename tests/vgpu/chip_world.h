/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A small world around one chip, for byte-level tests. It has memory per address space,
 * doorbells, and a driver that writes the same packets to rings as amdkfd. It records everything
 * that the chip does.
 */
#ifndef CHIP_WORLD_H
#define CHIP_WORLD_H

#include <stdio.h>
#include <string.h>

#include "tests/shared/gp_test.h"
#include "vgpu/aql.h"
#include "vgpu/chip.h"
#include "vgpu/kernel.h"
#include "vgpu/mqd.h"
#include "vgpu/pm4.h"

#define US(n)	((n) * 1000ull)
#define MS(n)	((n) * 1000000ull)

enum {
	CW_PROCESSES	= 16,		/* the driver is the first */
	CW_MEMORY	= 4 << 20,	/* bytes per space */
	CW_DOORBELLS	= 4096,
	CW_QUEUES	= 64,
	CW_RING		= 64,		/* AQL packets of a ring */
	CW_HIQ_RING	= 512,		/* dwords */
	CW_IRQS		= 256,
	CW_WAIT_REG	= 0x30b0,
	CW_STACK	= 0x2000,
	CW_SAVE		= 0xba6000,	/* per XCC, as amdkfd asks for on an MI308X */
};

#define CW_BASE		0x100000000ull	/* first address of every space */

struct cw_queue {
	bool used;
	u32 process;		/* 1.. */
	u32 doorbell;		/* dword index */
	u32 map;		/* dword 1 of its MAP_QUEUES, which selects the engine */
	u64 mqd;		/* address of the driver */
	u64 ring, rptr, wptr;	/* addresses of the process */
	u64 save;
	u64 kernel, kernarg, result;
	u64 written;		/* packets */
	u64 expected, expected_sum;	/* results of everything dispatched so far */
};

struct chip_world {
	struct vgpu_chip *chip;
	void *chip_memory;
	struct vgpu_facts facts;
	u32 xccs;
	u64 now;
	u8 *memory[CW_PROCESSES];
	u64 allocated[CW_PROCESSES];
	u64 root[CW_PROCESSES];		/* page table; 0: the driver, or removed */
	u64 doorbells[CW_DOORBELLS];
	struct cw_queue q[CW_QUEUES];

	/* the driver's HIQ */
	u64 hiq_mqd, hiq_ring, hiq_rptr, hiq_wptr, fence, ib;
	u32 hiq_doorbell;
	u32 pending;			/* index of the ring */
	u64 pending64;
	bool no_room;			/* the driver found the ring full */
	u32 at_a_time;			/* hws_max_conc_proc; 0: one per VMID */

	struct vgpu_interrupt irq[CW_IRQS];
	u32 nr_irqs;
	u32 nr_reports;
	char report[256];		/* the last report */
	/* called before an interrupt is counted, to check memory at that time */
	void (*on_irq)(struct chip_world *w, const struct vgpu_interrupt *irq);
	u64 seen;			/* set by on_irq */
};

int cw_up(void **state);
int cw_down(void **state);
void cw_init(struct chip_world *w, const char *profile);
void cw_fini(struct chip_world *w);

/* Memory. Unmapped addresses fail the test. */
u64 cw_alloc(struct chip_world *w, u32 space, u64 bytes, u64 align);
void *cw_at(struct chip_world *w, u32 space, u64 address);
u32 cw_get32(struct chip_world *w, u32 space, u64 address);
u64 cw_get64(struct chip_world *w, u32 space, u64 address);
void cw_put32(struct chip_world *w, u32 space, u64 address, u32 value);
void cw_put64(struct chip_world *w, u32 space, u64 address, u64 value);

/* Time: reads the doorbells and runs the chip for @ns. */
void cw_run(struct chip_world *w, u64 ns);

/* The driver. */
void cw_load_hiq(struct chip_world *w);
void cw_unload_hiq(struct chip_world *w);
void cw_submit(struct chip_world *w, const u32 *dw, u32 n);	/* one packet on the HIQ */
void cw_set_resources(struct chip_world *w);
void cw_grace(struct chip_world *w, u32 sch_wave);
void cw_unmap(struct chip_world *w, u32 sel, u32 action, u32 param);
void cw_query(struct chip_world *w);			/* fence := 10, QUERY_STATUS(100) */
bool cw_fenced(struct chip_world *w);
bool cw_wait(struct chip_world *w, u64 ns);		/* for the fence */
/*
 * Submits a runlist of the @nr queues in that order. Consecutive queues of a process share
 * MAP_PROCESS.
 */
void cw_run_list(struct chip_world *w, const u32 *queues, u32 nr);
void cw_run_list_one(struct chip_world *w, u32 queue);
/* Unmaps all queues and expects the fence within 50 ms of device time. */
void cw_unmap_all(struct chip_world *w);

/* Queues. */
u32 cw_queue(struct chip_world *w, u32 process);	/* makes an AQL queue; returns its index */
void cw_mqd(struct chip_world *w, u32 queue);		/* writes its MQDs as for a new queue */
u32 cw_mqd_get(struct chip_world *w, u32 queue, u32 xcc, u32 dw);
void cw_mqd_put(struct chip_world *w, u32 queue, u32 dw, u32 value);	/* all XCCs */
u64 cw_signal(struct chip_world *w, u32 process, u64 value);
s64 cw_signal_value(struct chip_world *w, u32 process, u64 signal);

struct cw_dispatch {
	u32 workgroups;
	u64 ns;			/* per workgroup */
	u64 signal;
	bool barrier;
	bool unpublished;	/* the header stays invalid */
};
/* Writes a kernel to the ring without the doorbell. Returns its index. */
u64 cw_dispatch(struct chip_world *w, u32 queue, const struct cw_dispatch *d);
/* Writes a packet of 64 bytes unchanged. Returns its index. */
u64 cw_packet(struct chip_world *w, u32 queue, const void *packet);
void cw_ring(struct chip_world *w, u32 queue);		/* rings the doorbell */
void *cw_slot(struct chip_world *w, u32 queue, u64 index);
u64 cw_rptr(struct chip_world *w, u32 queue);
bool cw_sums_right(struct chip_world *w, u32 queue);
int cw_view(struct chip_world *w, u32 queue, struct vgpu_chip_queue_view *ret);

#endif /* CHIP_WORLD_H */
