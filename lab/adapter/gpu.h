/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * One virtual GPU in the guest: the chip, and the amdgpu_device that amdgpu's bring-up of a
 * real chip would create.
 *
 *   module.c	 parameters, PCI driver, life
 *   profile.c	 properties of each kind of GPU, as IP discovery reports them
 *   memory.c	 VRAM, GART and the page-table format
 *   bus.c	 memory and doorbells as the chip sees them
 *   registers.c registers that the driver accesses by MMIO
 *   moves.c	 the ring by which amdgpu itself moves and clears memory
 *   kiq.c	 the ring that loads the HIQ
 *   interrupt.c from the chip to the IH ring
 *   doorbell.c	 wakes the thread when the HIQ is rung
 *   thread.c	 the thread that is the GPU
 *   clock.c	 the ledger: stolen and modelled time
 *   render.c	 the render node: open, close, info
 *   reset.c	 amdgpu's half of a GPU reset
 *   standstill.c halts or resets the GPU while a file is open
 *   absent.c	 functions for features that this GPU lacks
 *   record.c	 records all inputs of the chip, for a replay outside
 *   state.c	 the chip's state as text, here and outside
 *   fault.c	 faults by name
 *   views.c	 debugfs
 */
#ifndef LAB_GPU_H
#define LAB_GPU_H

#include <linux/irq_work.h>
#include <linux/seq_file.h>

#include "amdgpu.h"
#include "amdgpu_amdkfd.h"
#include "lab/recording.h"
#include "vgpu/chip.h"
#include "vgpu/sdma.h"

enum {
	LAB_KIQ_DWORDS		= 256,
	LAB_DOORBELL_BYTES	= 4 << 20,
	LAB_MAX_XCCS		= 8,
	LAB_RINGS		= 64,	/* rings of the HIQ that are kept */
};

struct lab_profile {
	const char *name;		/* of the facts in vgpu, too */
	const char *product;
	u16 device_id;
	u32 rev_id;
	u32 gc_version, sdma_version;
	u32 xccs;
	u32 engines, arrays_per_engine, cus_per_array;	/* of one XCC, as laid out on the die */
	u32 cus_on;			/* of an XCC, spread over the engines */
	u32 sdma_engines;
	u32 lds_kib, l1_kib, instruction_kib, l2_kib, mall_mib;
};

/* Guest time that belongs to the model, and time that only the model knows. */
struct lab_clock {
	spinlock_t lock;
	u64 stolen_ns;
	u64 trapped_ns;		/* part of it that the thread did not take */
	u64 modelled_ns;
	u64 entered_ns;		/* guest time when the thread began to run; 0 while it sleeps */
	u64 latest_ns;		/* latest device time that was read */
	struct lab_mark *marks;	/* [lab_marks], ends of the thread's last runs, or NULL */
	u64 nr_marks;		/* total number of runs */
};

/* One moment by both clocks, and how far the device's clock has jumped until then. */
struct lab_mark {
	u64 guest_ns, device_ns, modelled_ns;
};

/* A doorbell of the HIQ that was rung; see lab/ledger.h. */
struct lab_ring {
	u64 device_ns;
	u64 cost_ns;
};

struct lab_doorbell {
	struct perf_event * __percpu *watch;	/* NULL if the doorbell is polled */
	struct irq_work rang;
	u64 began_ns, inner_ns;	/* guest time in the last trap */
	u64 outer_ns;		/* time to enter and leave the trap */
	spinlock_t lock;	/* of the rings, which an interrupt writes */
	struct lab_ring rings[LAB_RINGS];
	u32 nr_rings;
};

/* NULL unless the parameter record= asked for it. */
struct lab_record {
	struct recording_head *head;	/* entries follow it */
	u64 room;
};

/* amdgpu's own jobs: one at a time. */
struct lab_moves {
	struct mutex lock;	/* from the making of a job to its end */
	struct amdgpu_job *job;
	struct amdgpu_ring ring;
	struct amdgpu_bo *bo;	/* its packets */
	u64 address;
	u32 *dwords;
	struct vgpu_sdma sdma;
	u64 page[VGPU_SDMA_PAGE / 8];	/* data being moved, protected by the chip's lock */
};

/* The instances that GRBM_GFX_CNTL and GRBM_GFX_INDEX of one XCC select. */
struct lab_select {
	u32 me, pipe, queue, vmid;
	u32 engine;
};

struct lab_gpu {
	struct amdgpu_device adev;
	const struct lab_profile *profile;
	struct list_head link;		/* in lab_gpus */
	u64 *doorbells;			/* the aperture as the chip reads it */
	void *vram;
	u64 vram_bytes;

	/* The chip and everything below is protected by @lock, which never sleeps. */
	spinlock_t lock;
	void *chip_memory;
	struct vgpu_chip *chip;
	struct xarray registers;	/* others read back the last value written */
	struct lab_select select[LAB_MAX_XCCS];
	u64 interrupts_lost;
	struct lab_record record;

	struct lab_moves moves;
	struct lab_clock clock;
	struct task_struct *thread;
	wait_queue_head_t wake;
	struct lab_doorbell doorbell;
	bool kicked;			/* the HIQ was rung, or @alarm came */
	u64 active_ns;			/* guest time of the last doorbell */
	struct hrtimer alarm;		/* wakes the thread */
	u64 due_ns;			/* when the chip has work next */
	u64 poll_ns;			/* time between two reads of the doorbells */
	bool napping;			/* the thread sleeps; @alarm and both times are valid */
	bool resting;			/* the processor idles and the thread has nothing to poll */
	u64 runs;			/* of the thread */
	struct dentry *views;
	u32 kiq_dwords[LAB_MAX_XCCS][LAB_KIQ_DWORDS];
};

static inline struct lab_gpu *lab_gpu(struct amdgpu_device *adev)
{
	return container_of(adev, struct lab_gpu, adev);
}

extern char *lab_profile_name;
extern char *lab_fault_names;
extern char *lab_rptr_at;
extern char *lab_save_area;
extern uint lab_poll_us, lab_idle_poll_us, lab_marks;
extern uint lab_unknown_us;
extern int lab_num_kcq;
extern uint lab_record_mb;

/* profile.c */
const struct lab_profile *lab_profile_find(const char *name);
void lab_profile_apply(struct lab_gpu *gpu);

/* memory.c */
int lab_memory_init(struct lab_gpu *gpu);
void lab_memory_fini(struct lab_gpu *gpu);

/* bus.c */
extern const struct vgpu_bus lab_bus;
extern const struct vgpu_bus lab_bus_unrecorded;
extern struct list_head lab_gpus;
extern struct mutex lab_gpus_lock;

/* registers.c */
int lab_registers_init(struct lab_gpu *gpu);
void lab_registers_fini(struct lab_gpu *gpu);
u32 lab_register_of_wait_time2(struct lab_gpu *gpu);

/* moves.c */
int lab_moves_init(struct lab_gpu *gpu);
void lab_moves_fini(struct lab_gpu *gpu);

/* kiq.c */
void lab_kiq_init(struct lab_gpu *gpu);

/* interrupt.c */
int lab_interrupt_init(struct lab_gpu *gpu);
void lab_interrupt_fini(struct lab_gpu *gpu);
void lab_interrupt_raise(void *ctx, const struct vgpu_interrupt *irq);
void lab_interrupt_deliver(struct lab_gpu *gpu);

/* clock.c */
void lab_clock_init(struct lab_clock *c);
void lab_clock_fini(struct lab_clock *c);
u64 lab_clock_now(struct lab_clock *c);
void lab_clock_enter(struct lab_clock *c);
void lab_clock_leave(struct lab_clock *c);
void lab_clock_steal(struct lab_clock *c, u64 ns);
u64 lab_clock_jump(struct lab_clock *c, u64 to_ns);
struct lab_ledger;
void lab_clock_ledger(struct lab_gpu *gpu, struct lab_ledger *l);
void lab_clock_show(struct lab_clock *c, struct seq_file *m);

/* doorbell.c */
void lab_doorbell_watch(struct lab_gpu *gpu);
void lab_doorbell_unwatch(struct lab_gpu *gpu);
/* Returns the last value that the driver wrote to the doorbell. */
u64 lab_doorbell_rung(struct lab_gpu *gpu);

/* thread.c */
int lab_thread_start(struct lab_gpu *gpu);
void lab_thread_stop(struct lab_gpu *gpu);
void lab_thread_kick(struct lab_gpu *gpu);
/* With one processor: look at doorbells when it begins to idle, and do not poll while it idles. */
int lab_thread_watch_idle(void);
void lab_thread_unwatch_idle(void);

/* render.c */
extern const struct drm_driver lab_drm_driver;

/* reset.c: called while the domain is locked; unlocks it. */
int lab_reset_locked(struct lab_gpu *gpu, struct amdgpu_reset_context *reset_context);

/* standstill.c */
extern const struct file_operations lab_halt_fops, lab_lock_fops, lab_partition_fops,
	lab_reset_fops;

/* fault.c */
int lab_fault_init(struct lab_gpu *gpu);
int lab_fault_set(struct lab_gpu *gpu, char *text);

/* views.c */
void lab_views_init(struct lab_gpu *gpu);
void lab_views_fini(struct lab_gpu *gpu);

#endif /* LAB_GPU_H */
