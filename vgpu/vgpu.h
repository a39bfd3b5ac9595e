/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The virtual MI308X at the level of operations.
 *
 * What a driver can ask of the hardware scheduler (map and unmap sets of
 * queues), what a process can do to it (ring a doorbell), and what it does by
 * itself: fetch packets, place workgroups on compute units, let waves run until
 * they end, save and restore them.
 *
 * The device has no clock, no lock and no memory of its own. It is told the
 * time, says when it next has something to do, and reaches the rest of the
 * world (rings, pointers, save areas, results) only through struct vgpu_world.
 * The caller serialises. Time never goes backwards.
 *
 * The progress of a wave that is off the GPU exists only in the queue's save
 * area: a corrupted area gives a wrong result, as on hardware.
 */
#ifndef VGPU_H
#define VGPU_H

#include "facts.h"

#define VGPU_NEVER	(~0ull)

enum {
	VGPU_MAX_PROCESSES	= 256,
	VGPU_MAX_QUEUES		= 1024,
	VGPU_MAX_CUS		= 304,
};

enum vgpu_packet_kind {
	VGPU_KERNEL,
	VGPU_BARRIER,		/* holds the queue until @signal is set */
};

/*
 * A synthetic kernel: @workgroups workgroups of @waves waves that each run
 * @workgroup_ns and then add to memory. Workgroup i adds 1 at @result and
 * (i + 1) * @key at @result + 8, so that one lost or done twice is a wrong sum.
 */
struct vgpu_packet {
	u8 kind;		/* enum vgpu_packet_kind */
	bool barrier_bit;	/* starts only when all earlier packets are complete */
	u16 waves;		/* per workgroup */
	u32 vgpr_bytes;		/* per wave */
	u32 lds_bytes;		/* per workgroup */
	u64 workgroups;
	u64 workgroup_ns;
	u64 gap_ns;		/* from the completion of the packet before to this launch */
	u64 result;		/* address, interpreted by the world */
	u64 key;
	u64 signal;		/* VGPU_BARRIER: waits for it; VGPU_KERNEL: unused */
};

enum vgpu_how {
	VGPU_SAVE,		/* waves to the save area, continue later */
	VGPU_DRAIN,		/* running waves end by themselves, none start */
	VGPU_RESET,		/* waves are killed; the running kernels restart when mapped */
};

enum vgpu_outcome {
	VGPU_DONE,
	VGPU_FAILED,		/* this queue could not be unmapped (dw 240 of the HIQ MQD) */
};

/* Result and times of an unmap, for the parts of a latency. */
struct vgpu_unmapped {
	u64 ticket;		/* as returned by vgpu_unmap() */
	u64 command_at;		/* the CP began */
	u64 save_at;		/* grace over, saving began (draining: began to wait) */
	u64 done_at;		/* no wave of the set holds a slot: the fence */
	u64 bytes;		/* saved */
	u32 waves;		/* saved */
	u32 queues;		/* unmapped */
	u32 failed;		/* queues that could not be unmapped */
};

/*
 * The device's way to the outside. Called from vgpu_advance() and the
 * operations below; they may not call back into the device except for
 * vgpu_busy() and vgpu_queue_state(). @ctx is the caller's.
 */
struct vgpu_world {
	/* The packet at @index of @queue's ring. 0, or -EINVAL: the queue stops with an error. */
	int (*fetch)(void *ctx, u32 queue, u64 index, struct vgpu_packet *ret);
	/* The write pointer in memory; read at doorbells and when a queue is mapped. */
	u64 (*wptr)(void *ctx, u32 queue);
	/* The read pointer moved. */
	void (*rptr)(void *ctx, u32 queue, u64 value, u64 now_ns);
	/* Packet @index is complete (its completion signal). */
	void (*complete)(void *ctx, u32 queue, u64 index, u64 now_ns);
	/* First wave of packet @index has a slot (once per packet, also after a save). */
	void (*launch)(void *ctx, u32 queue, u64 index, u64 now_ns);
	/*
	 * Workgroups add @value to the word at @address of the queue's process.
	 * May come later than the workgroups end, never later than the packet
	 * completes or is saved: rounds that nothing can disturb are one event.
	 */
	void (*add)(void *ctx, u32 queue, u64 address, u64 value);
	/* True if the signal of a barrier is set. Called again after vgpu_signal(). */
	bool (*signalled)(void *ctx, u32 queue, u64 signal);
	/*
	 * Bytes of the queue's save area. -EFAULT: the save of that queue fails.
	 * Waves take far less than on hardware: 16 bytes and 32 per group of
	 * workgroups, at most 128 groups (16 per packet in flight) and what
	 * could not be restored since the save before.
	 */
	int (*area_write)(void *ctx, u32 queue, u64 offset, const void *from, u32 n);
	int (*area_read)(void *ctx, u32 queue, u64 offset, void *to, u32 n);
	/* An unmap ended: the fence. Exactly once per vgpu_unmap() unless hung. */
	void (*unmapped)(void *ctx, const struct vgpu_unmapped *what);
	/* A map ended: every queue of the runlist that got a slot is on. */
	void (*mapped)(void *ctx, u64 ticket, u64 now_ns);
	/*
	 * Something the model does not do or a queue error; @what is a sentence.
	 * @queue is ~0 if it belongs to no queue in particular.
	 */
	void (*report)(void *ctx, u32 queue, const char *what);
};

struct vgpu_queue_args {
	u32 process;		/* 0..VGPU_MAX_PROCESSES-1; PASID and VMID follow from it */
	u8 priority;		/* 0..15 as in KFD; pipe priority follows from it */
	u64 area_bytes;		/* size of the save area; too small: the save fails */
	u32 cu_first;		/* CU mask: a range of logical CUs, spread over XCCs */
	u32 cu_count;		/* 0: all of them */
};

struct vgpu;

/* Bytes the caller provides for a device with @facts; constant for a profile. */
u64 vgpu_size(const struct vgpu_facts *facts);

/*
 * @mem: vgpu_size() bytes, 8-byte aligned. @facts is copied.
 * 0, -EINVAL if facts are incomplete or beyond the limits above.
 */
int vgpu_init(void *mem, const struct vgpu_facts *facts, const struct vgpu_world *world,
	      void *ctx, struct vgpu **ret);

/* Queues are created unmapped. 0 and a handle, -ENOSPC, -EINVAL. */
int vgpu_queue_create(struct vgpu *v, const struct vgpu_queue_args *args, u32 *ret);
/* Changes a queue between two maps, except its process. -ENOENT, -EINVAL, -EBUSY while listed. */
int vgpu_queue_update(struct vgpu *v, u32 queue, const struct vgpu_queue_args *args);
/* The queue stops with an error, as if a packet of it were wrong; its waves run on. -ENOENT. */
int vgpu_queue_fail(struct vgpu *v, u32 queue, const char *what, u64 now_ns);
/* The queue and its waves vanish, mapped or not (a process died). -ENOENT. */
int vgpu_queue_destroy(struct vgpu *v, u32 queue, u64 now_ns);

/* The write pointer of @queue moved. Accepted in every state, nothing is lost. */
int vgpu_doorbell(struct vgpu *v, u32 queue, u64 now_ns);
/*
 * The ring of @queue holds packets that are no dispatches yet, or no longer does: the
 * world reads them while the queue is mapped (PM4). Until then they count as work, so
 * that a queue without a slot gets its turn. 0 or -ENOENT.
 */
int vgpu_queue_unread(struct vgpu *v, u32 queue, bool unread, u64 now_ns);
/* A signal some barrier may wait for was set. */
void vgpu_signal(struct vgpu *v, u64 now_ns);

/* The queues that should be mapped. */
struct vgpu_runlist {
	const u32 *queues;
	u32 nr;
	u32 processes;		/* processes mapped at a time; 0: as many as there are VMIDs */
};

/*
 * RUN_LIST: exactly the queues of @list are on from now (those already mapped
 * stay untouched only if nothing was unmapped: a driver always unmaps first).
 * More than the slots or VMIDs: the hardware scheduler takes turns by quantum;
 * as many processes at a time as the list says. Costs MAP_PROCESS_NS per process and
 * MAP_QUEUE_NS per queue after COMMAND_NS, and the restore of saved waves.
 * -EBUSY while an unmap or map is under way, -ENOENT for an unknown queue, -EINVAL
 * (reported) for a queue twice, for a list without a queue that is on and could
 * leave, and if queues are on and not all fit. Nothing changes then.
 */
int vgpu_map(struct vgpu *v, const struct vgpu_runlist *list, u64 now_ns, u64 *ticket);

enum vgpu_whom { VGPU_ALL, VGPU_PROCESS, VGPU_QUEUE };

struct vgpu_unmap_args {
	enum vgpu_whom whom;
	u32 id;			/* of the process or queue */
	enum vgpu_how how;
	u64 grace_ns;		/* waves keep running this long after the CP began */
};

/*
 * UNMAP_QUEUES: take queues off. Ends with world.unmapped(). Waves keep
 * running for the grace after the CP began; nothing new is dispatched from the set.
 * Grace and drain end early with the last wave. -EBUSY while an unmap or map is
 * under way, -ENOENT for an unknown queue, -EINVAL.
 */
int vgpu_unmap(struct vgpu *v, const struct vgpu_unmap_args *args, u64 now_ns, u64 *ticket);

/*
 * SET_RESOURCES: the driver leaves the scheduler so many slots and VMIDs, from the
 * next runlist on. -EINVAL if one is 0 or more than there can be.
 */
int vgpu_limit(struct vgpu *v, u32 slots, u32 vmids);

/* Time of the next event; VGPU_NEVER if there is none. */
u64 vgpu_next_ns(const struct vgpu *v);
/* Processes all events up to @now_ns. */
void vgpu_advance(struct vgpu *v, u64 now_ns);

enum vgpu_queue_state {
	VGPU_UNMAPPED, VGPU_MAPPING, VGPU_MAPPED, VGPU_UNMAPPING,
	VGPU_WAITING,	/* on the runlist, no slot now (oversubscribed) */
	VGPU_ERROR,
};

struct vgpu_busy {
	u32 waves;		/* holding slots now */
	u32 cus;		/* with at least one such wave */
	u32 permille;		/* of the device's wave slots, by the scarcest resource */
};

/* The wave counters (SPI): waves of @process that hold slots right now. */
void vgpu_busy(const struct vgpu *v, u32 process, struct vgpu_busy *ret);
int vgpu_queue_state(const struct vgpu *v, u32 queue);
/* Waves of @queue that hold slots of @xcc right now; 0 if there is no such queue. */
u32 vgpu_queue_waves(const struct vgpu *v, u32 queue, u32 xcc);
/*
 * Workgroup-nanoseconds executed for @process since init, exact at any time. Work
 * that a reset threw away is taken back, so none is counted twice.
 */
u64 vgpu_work_ns(const struct vgpu *v, u32 process);
/* Workgroups of @p that fit on the whole device at once. */
u64 vgpu_slots(const struct vgpu_facts *facts, const struct vgpu_packet *p);
/* Bytes that a save of @workgroups workgroups of @p writes. */
u64 vgpu_save_bytes(const struct vgpu_facts *facts, const struct vgpu_packet *p, u64 workgroups);
u64 vgpu_save_ns(const struct vgpu_facts *facts, u64 bytes);

/*
 * Faults on demand. Each holds until cleared with VGPU_FAULT_NONE; a hang also ends
 * with a GPU reset, a failing preemption with its queue.
 */
enum vgpu_fault {
	VGPU_FAULT_NONE,
	VGPU_FAULT_HANG,		/* the next unmap never ends */
	VGPU_FAULT_PREEMPT,		/* the next unmap leaves @arg (a queue) on: FAILED */
	VGPU_FAULT_SLOW_SAVE,		/* saves take @arg times as long */
	VGPU_FAULT_RPTR_EARLY,		/* read pointers move at launch, contrary to the fact */
};
/* 0, -EINVAL, or -ENOENT if @arg is no queue. NONE clears all of them. */
int vgpu_fault(struct vgpu *v, enum vgpu_fault fault, u64 arg);
/*
 * GPU reset: drops every unmap and map that is not complete, unmaps all queues and loses their
 * waves. Packets that were running restart when mapped again. Save areas of queues without a
 * slot keep their waves.
 */
void vgpu_gpu_reset(struct vgpu *v, u64 now_ns);

/* Counters, for tests and the model error table. */
struct vgpu_counters {
	u64 maps, unmaps, queues_mapped, queues_unmapped;
	u64 waves_saved, waves_restored, bytes_saved, bytes_restored;
	u64 workgroups_done, packets_done, doorbells, events;
};
const struct vgpu_counters *vgpu_counters(const struct vgpu *v);

#endif /* VGPU_H */
