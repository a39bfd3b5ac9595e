/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the files of vgpu/ share. No file outside this folder includes it.
 *
 * The device is a list of nouns, one file each:
 *
 *   facts.c	the numbers
 *   device.c	life, time, queries
 *   queue.c	packets: fetched, launched, complete
 *   dispatch.c	who gets the slots that are free
 *   cu.c	compute units: what fits on them
 *   cohort.c	workgroups that started together
 *   cwsr.c	waves in the save area
 *   hws.c	the command processor: unmap and map
 *   runlist.c	which queues are on, and whose turn it is
 */
#ifndef VGPU_DEVICE_H
#define VGPU_DEVICE_H

#include "vgpu.h"

enum {
	VGPU_IN_FLIGHT		= 8,	/* packets of one queue launched, not complete */
	VGPU_DIMS		= 3,	/* what a workgroup needs: waves, VGPR, LDS */
	VGPU_MAX_WAVES_PER_CU	= 255,	/* counts per CU are bytes */
};

#define VGPU_NONE	(~0u)

static_assert(VGPU_MAX_CUS % 8 == 0, "counts per CU are added eight at a time");

/* The resources of a CU that one workgroup takes. */
struct vgpu_shape {
	u32 need[VGPU_DIMS];
};

/*
 * Workgroups of one packet that started together and end together: one event
 * for all of them.
 *
 * While no other queue could get their slots, the next workgroups of the packet
 * follow on the same slots, so a cohort can stand for several rounds. The
 * workgroups of the later rounds are promised (flight.promised), and are taken
 * from the packet only when the rounds are over or are cut short.
 */
struct vgpu_cohort {
	u64 start_ns;		/* of the first round; in the future while being restored */
	u64 end_ns;		/* of the last round */
	u64 round_ns;
	u64 value;		/* what the workgroups of the first round will add */
	u32 rounds;
	u32 count;		/* workgroups of a round */
	u32 queue;
	u32 next, prev;		/* in the queue's list, or next in the free list */
	u32 heap;		/* place in the heap, VGPU_NONE when frozen */
	u32 flight;		/* slot in the queue's ring of launched packets */
	u8 per_cu[];		/* how many on each logical CU */
};

struct vgpu_end {
	u64 end_ns;
	u64 seq;		/* an earlier start ends first */
	u32 cohort;
};

/* A launched packet. Off the GPU only index, placed and the flags are kept. */
struct vgpu_flight {
	struct vgpu_packet p;
	struct vgpu_shape shape;
	u64 index;
	u64 placed;		/* next workgroup to dispatch */
	u64 promised;		/* workgroups promised to cohorts with further rounds */
	u64 live;		/* workgroups that hold a slot */
	u64 work_ns;		/* accounted so far; a reset subtracts it again */
	bool launched;		/* world.launch() was called */
	bool complete;
};

/* Waves in the save area: a header, then @records of these. */
struct vgpu_record {
	u64 index;		/* of the packet */
	u64 count;
	u64 left_ns;
	u64 value;		/* what these workgroups will add */
};

struct vgpu_queue {
	bool used;
	bool error;		/* stopped for good, because a packet was invalid */
	bool blocked;		/* at a barrier whose signal was not set */
	bool unread;		/* the world holds packets not yet turned into dispatches */
	bool stuck;		/* could not be unmapped last time */
	bool listed;		/* on the runlist */
	bool on;		/* has a slot */
	bool marked;		/* seen while a runlist is checked */
	bool joined;		/* its demand for slots is known to the other queues */
	bool has_head;
	u8 state;		/* enum vgpu_queue_state, never VGPU_ERROR */
	u8 pipe;		/* 0..2 */
	u32 process;
	u32 cu_first, cu_end;
	u64 area_bytes;

	u64 wptr;
	u64 next;		/* index of the next packet to launch */
	u64 rptr;
	u64 wake_ns;		/* waits until then (gap, first dispatch) */
	u64 ready_ns;		/* no new workgroups before */
	u64 resume_ns;		/* restored waves run from then */
	u64 last_done_ns;	/* VGPU_NEVER: nothing completed yet */
	struct vgpu_packet head;
	struct vgpu_flight flight[VGPU_IN_FLIGHT];
	u32 first_flight, nr_flights;
	u32 cohorts;		/* list of those that hold slots */
	u32 turn;

	/* the save area as the MQD knows it */
	u32 saved;		/* records in it */
	u32 restored;		/* of those, already restored */
	u64 saved_bytes;
	bool has_record;	/* @record is the one being restored */
	struct vgpu_record record;
};

/* One contender for free slots. */
struct vgpu_want {
	struct vgpu_queue *q;
	struct vgpu_flight *f;
	u32 left;		/* workgroups it could place now */
	u32 give;
	u32 cohort;
	u32 most;		/* rounds that may be promised to it */
	bool restore;		/* out of the save area */
	bool shared;		/* the free slots of its CUs are given out */
	bool satisfied;		/* got all it wanted */
	bool stuck;		/* fits nowhere */
};

/* The operation of the command processor. */
enum vgpu_phase {
	VGPU_CP_IDLE,
	VGPU_CP_GRACE, VGPU_CP_SAVE, VGPU_CP_DRAIN, VGPU_CP_RESET, VGPU_CP_HUNG,
	VGPU_CP_MAP, VGPU_CP_RESTORE,
};

struct vgpu_cp {
	u8 phase;
	u8 how;
	bool rotating;		/* a turn of the hardware scheduler itself */
	u64 at;
	struct vgpu_unmapped what;
};

enum vgpu_op_kind { VGPU_OP_NONE, VGPU_OP_MAP, VGPU_OP_UNMAP };

/* The driver's last request; the CP begins it at @at, if it is free then. */
struct vgpu_op {
	u8 kind;
	u8 whom;
	u8 how;
	u32 id;
	u64 grace_ns;
	u64 at;
	u64 ticket;
};

struct vgpu_faults {
	bool hang, rptr_early;
	u32 stuck;		/* queue, or VGPU_NONE */
	u64 slow;		/* factor */
};

struct vgpu {
	u64 now;
	struct vgpu_facts facts;
	struct vgpu_world world;
	void *ctx;
	struct vgpu_counters counters;
	struct vgpu_faults faults;
	bool inside;
	u64 tickets;
	u64 wake_ns;		/* earliest of the queues that are on */

	struct vgpu_cp cp;
	struct vgpu_op op;

	/* the runlist, grouped by process; @on are those with a slot */
	u32 list[VGPU_MAX_QUEUES], nr_list;
	u32 on[VGPU_MAX_QUEUES], nr_on;
	u32 on_pipe[3];		/* how many of those have each priority */
	u32 nr_turns, turn;
	u64 quantum_at;
	u64 rotate_at;

	/* compute units in logical order: XCC first, then CU */
	u32 nr_cus;
	u32 size[VGPU_DIMS];			/* of one empty CU */
	u32 free[VGPU_DIMS][VGPU_MAX_CUS];	/* when @cap0 was taken */
	struct vgpu_shape shape;		/* that @cap counts */
	bool cap_valid;
	u8 cap[VGPU_MAX_CUS];			/* workgroups of @shape that fit now */
	u8 cap0[VGPU_MAX_CUS];
	u16 hist[VGPU_MAX_WAVES_PER_CU + 1];
	u32 cap_sum;
	u32 next_cu;
	u32 next_on;				/* the next queue among equals */

	struct vgpu_want want[VGPU_MAX_QUEUES];
	u32 nr_wants;
	bool steady;		/* the same queues get the same slots again */

	char *cohorts;
	u64 cohort_stride;
	u32 free_cohort;
	u32 max_cohorts;
	struct vgpu_end *heap;
	u32 nr_heap;
	u64 seq;

	u64 work_ns[VGPU_MAX_PROCESSES];
	struct vgpu_queue queues[VGPU_MAX_QUEUES];
};

static inline u64 vgpu_fact(const struct vgpu *v, enum vgpu_fact_id id)
{
	return v->facts.f[id].value;
}

static inline u32 vgpu_queue_id(const struct vgpu *v, const struct vgpu_queue *q)
{
	return (u32)(q - v->queues);
}

/* Saturating addition; a time that far away is never reached. */
static inline u64 vgpu_after(u64 t, u64 ns)
{
	return t + ns < t ? VGPU_NEVER - 1 : t + ns;
}

static inline u64 vgpu_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 vgpu_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline bool vgpu_queue_has_saved(const struct vgpu_queue *q)
{
	return q->restored < q->saved;
}

/* device.c */
struct vgpu_queue *vgpu_queue_get(struct vgpu *v, u32 queue);
void vgpu_report(struct vgpu *v, const struct vgpu_queue *q, const char *what);
void vgpu_settle(struct vgpu *v);

/* queue.c */
void vgpu_queue_launch(struct vgpu *v, struct vgpu_queue *q);
u64 vgpu_flight_take(struct vgpu_flight *f, u64 n);
void vgpu_queue_sync(struct vgpu *v, struct vgpu_cohort *c);
void vgpu_queue_stop(struct vgpu *v, struct vgpu_queue *q);
void vgpu_queue_cut(struct vgpu *v, struct vgpu_queue *q);
void vgpu_queue_ended(struct vgpu *v, struct vgpu_cohort *c);
void vgpu_queue_drop(struct vgpu *v, struct vgpu_queue *q);
void vgpu_queue_restart(struct vgpu *v, struct vgpu_queue *q);
void vgpu_queue_refetch(struct vgpu *v, struct vgpu_queue *q);
void vgpu_queue_check(struct vgpu *v, struct vgpu_queue *q);
void vgpu_queue_error(struct vgpu *v, struct vgpu_queue *q, const char *what);
bool vgpu_queue_has_work(const struct vgpu_queue *q);

/* dispatch.c */
void vgpu_dispatch(struct vgpu *v);

/* cu.c */
int vgpu_shape_of(const struct vgpu_facts *facts, const struct vgpu_packet *p,
		  struct vgpu_shape *ret);
bool vgpu_shape_same(const struct vgpu_shape *a, const struct vgpu_shape *b);
void vgpu_cu_init(struct vgpu *v);
void vgpu_cu_shape(struct vgpu *v, const struct vgpu_shape *s);
u32 vgpu_cu_fit_empty(const struct vgpu *v, u32 cus);
u32 vgpu_cu_fits(struct vgpu *v, u32 cu_first, u32 cu_end);
void vgpu_cu_take(struct vgpu *v, const struct vgpu_queue *q, u8 *per_cu, u32 n);
void vgpu_cu_flush(struct vgpu *v);
u32 vgpu_cu_take_one(struct vgpu *v, const struct vgpu_queue *q, const struct vgpu_shape *s);
void vgpu_cu_give(struct vgpu *v, const struct vgpu_shape *s, const struct vgpu_cohort *cohort);

/* cohort.c */
u64 vgpu_cohort_stride(u64 cus);
void vgpu_cohort_init(struct vgpu *v);
struct vgpu_cohort *vgpu_cohort_at(const struct vgpu *v, u32 id);
u32 vgpu_cohort_new(struct vgpu *v, struct vgpu_queue *q);
void vgpu_cohort_start(struct vgpu *v, u32 id);
void vgpu_cohort_cut(struct vgpu *v, struct vgpu_cohort *c);
void vgpu_cohort_freeze(struct vgpu *v, struct vgpu_cohort *c);
void vgpu_cohort_free(struct vgpu *v, u32 id);
bool vgpu_cohort_end_next(struct vgpu *v);

/* cwsr.c */
struct vgpu_saved {
	u64 bytes;
	u32 waves;
};
u64 vgpu_wave_bytes(const struct vgpu_facts *facts, const struct vgpu_packet *p);
int vgpu_save(struct vgpu *v, struct vgpu_queue *q, struct vgpu_saved *ret);
void vgpu_restore_begin(struct vgpu *v, struct vgpu_queue *q);
bool vgpu_restore_next(struct vgpu *v, struct vgpu_queue *q);
struct vgpu_flight *vgpu_restore_flight(struct vgpu_queue *q);
u64 vgpu_restore_take(struct vgpu *v, struct vgpu_queue *q, u32 n);
u64 vgpu_restore_ns(const struct vgpu_facts *facts, u64 bytes);

/* hws.c */
u64 vgpu_hws_next(const struct vgpu *v);
void vgpu_hws_step(struct vgpu *v);
void vgpu_hws_check_empty(struct vgpu *v);
void vgpu_hws_reset(struct vgpu *v);

/* runlist.c */
int vgpu_runlist_set(struct vgpu *v, const struct vgpu_runlist *list);
void vgpu_runlist_remove(struct vgpu *v, struct vgpu_queue *q);
u32 vgpu_runlist_first_turn(const struct vgpu *v);
u32 vgpu_runlist_next_turn(const struct vgpu *v);
void vgpu_runlist_plan(struct vgpu *v);
void vgpu_on_add(struct vgpu *v, struct vgpu_queue *q);
void vgpu_on_remove(struct vgpu *v, struct vgpu_queue *q);

#endif /* VGPU_DEVICE_H */
