/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The stock driver as the rest of the module sees it: only the files gp_kfd*.c know its private
 * structures (tools/check-layers). Nothing of the driver is exported to us; everything is reached
 * from a file of /dev/kfd and called through the driver's own tables.
 *
 * Lifetimes. A struct kfd_process and its seats (kfd_process_device: one process on one GPU) are
 * valid while a reference to a KFD file of that process is held, and that only while the process
 * lives: a held file keeps a dead process's queues running. A struct kfd_node is valid until the
 * GPU is unbound (gp_gpu.c listens for that), and only while there is a file of any process:
 * without one the compute partitions of a GPU may be switched, and nobody is told.
 *
 * Contexts. "Worker" calls sleep, take the driver's locks, and stay in the driver until the
 * GPU answers or the driver gives up (queue_preemption_timeout_ms, 9 s, then a reset): normal
 * priority, none of our locks held. "Any" calls only load: also in a timer callback.
 */
#ifndef GP_KERNEL_KFD_H
#define GP_KERNEL_KFD_H

#include <linux/types.h>

struct device;
struct file;
struct kfd_node;
struct kfd_process;
struct kfd_process_device;
struct mm_struct;
struct task_struct;
struct ttm_buffer_object;

/* ---- files and processes ---- */

/*
 * Of the driver, and no other file of amdgpu (render node, SMI descriptor, debugfs). Any file may
 * be given; nothing behind private_data is touched.
 */
bool gp_kfd_is_file(struct file *file);
struct kfd_process *gp_kfd_process(struct file *file);
/* To compare only; NULL: it has ended. Any. */
struct mm_struct *gp_kfd_mm(const struct kfd_process *p);
/*
 * Is the running driver the one whose headers we were built with? Follows cross links of @p
 * without faulting; when @current_is_it, also compares with what is known of the current process.
 * 0, or -EOPNOTSUPP and what differs in @why.
 */
int gp_kfd_check(struct file *file, bool current_is_it, char *why, size_t size);
/* At load: opens /dev/kfd once for the current process and checks. 0, -ENODEV, -EOPNOTSUPP. */
int gp_kfd_check_driver(char *why, size_t size);

/* ---- GPUs ---- */

u32 gp_kfd_nr_seats(const struct kfd_process *p);
struct kfd_process_device *gp_kfd_seat(struct kfd_process *p, u32 i);
struct kfd_node *gp_kfd_node(struct kfd_process_device *seat);
/* Its GPU is there: neither unbound nor about to be. */
bool gp_kfd_sits_on(struct kfd_process_device *seat, const struct device *dev);
/* Its first thread, older than its seats, whose GPUs were there when they were made. */
const struct task_struct *gp_kfd_lead(const struct kfd_process *p);

struct gp_kfd_gpu {
	u32 gpu_id;
	u32 compute_units;
	u32 wave_slots;		/* on all of them */
	u64 location;		/* PCI domain << 16 | bus << 8 | devfn */
	struct device *dev;	/* to recognise it when it is unbound; not referenced */
	bool mes;		/* no runlist: batches loop, no direct, no halt */
	bool can_probe;
};

void gp_kfd_describe(struct kfd_node *node, struct gp_kfd_gpu *ret);
/* Goes up with every reset of the GPU. Any. */
u32 gp_kfd_resets(struct kfd_node *node);
/* HWS shares the GPU in time between processes; see gp_kfd_evict. Any. */
bool gp_kfd_isolated(struct kfd_node *node);

/* ---- queues ---- */

enum gp_kfd_ring { GP_KFD_AQL, GP_KFD_PM4, GP_KFD_SDMA };

struct gp_kfd_queue {
	u32 id;
	u32 kind;			/* enum gp_kfd_ring */
	u64 read_at, write_at;		/* user addresses */
	u64 ring_base;
	u32 ring_bytes;
	/* Where the pointers are, referenced if not NULL: gp_kfd_queue_put(). */
	struct ttm_buffer_object *read_bo, *write_bo;
};

/*
 * The queues of a seat into @to; how many there are (may be more than @room, then the rest is
 * not written). -EBUSY: the driver's lock is held, which can last as long as the GPU takes. Sleeps
 * for a fraction of a millisecond at most.
 */
int gp_kfd_queues(struct kfd_process_device *seat, struct gp_kfd_queue *to, u32 room);
void gp_kfd_queue_put(struct gp_kfd_queue *q);
/* Another number after queues came or went; may miss a change: look again now and then. Any. */
u64 gp_kfd_queues_stamp(const struct kfd_process_device *seat);

/* ---- waves ---- */

/* Waves of @seat that are on the GPU now; -EOPNOTSUPP. Tens of us, takes mutexes. Worker. */
int gp_kfd_waves(struct kfd_process_device *seat, u32 *ret);

/* ---- stopping and starting: worker ---- */

/* One seat in a step. All of a step are of one node. */
struct gp_kfd_move {
	struct kfd_process_device *seat;
	bool out;		/* else: in */
	/*
	 * What became of it. For out: 0 is off. Whatever it says, if @owes is set one start is
	 * owed to the driver's counter; for in: 0 is on, @owes is cleared once it was given back.
	 * The caller sets @owes to what it knows: an out that owes and an in that does not do
	 * nothing. An in of a process that has ended is -ESRCH and nothing is owed any more.
	 */
	int err;
	bool owes;
};

/* CLOCK_MONOTONIC; 0 where it is not known. */
struct gp_kfd_times {
	u64 command_ns;		/* before the command was given */
	u64 acted_ns;		/* it was; not known of what the driver itself gives */
	u64 saved_ns;		/* the GPU has said that they are off */
	u64 switched_ns;	/* the rest is mapped, or asked to be */
};

struct gp_kfd_step {
	struct kfd_node *node;
	struct gp_kfd_move *move;
	u32 nr;
	u64 deadline_ns;	/* `direct` waits so long from its command on */
	struct gp_kfd_times times;
	bool hangs;		/* the driver has said so in this step */
	/* what was done, for statistics */
	u32 kicks;
	char why_not[64];	/* why it was refused up front, "" */
};

/*
 * One way to carry a step out.
 *
 * @can: 0, or -EBUSY with why_not: nothing was sent, another way may be tried. Races are settled
 * by @move itself, which refuses the same way.
 * @move: 0: every move says what became of it. -EBUSY: refused, nothing changed. -ETIME (direct):
 * no answer by the deadline; nothing was booked, gp_kfd_direct_late() tells when it came.
 * -EIO: the GPU is locked, nearly always for a reset. A stop whose own error is -EIO or -ETIME (the
 * driver gave up on the GPU and resets it) was counted, and nobody knows more until gp_kfd_resets()
 * moves or, after -EIO, gp_kfd_kick() succeeds: then it is off, and who was started is on.
 */
struct gp_way {
	const char *name;
	int (*can)(struct gp_kfd_step *step);
	int (*move)(struct gp_kfd_step *step);
};

/* Out and in together behind the driver's own gate: one runlist cycle. */
extern const struct gp_way gp_way_evict;
/* UNMAP_QUEUES per victim's PASID on the HIQ, booked after an own fence; starts are evict's. */
extern const struct gp_way gp_way_direct;
/*
 * The whole GPU, by the driver's halt and unhalt: stopped while any move is out. The moves only
 * count; who may use it is the caller's business.
 */
extern const struct gp_way gp_way_halt;

/*
 * After -ETIME: has the fence come by now? 1: yes, and the driver has been made to map what it
 * believes in (one cycle). 0: not yet. -ENODEV: a reset made it meaningless.
 */
int gp_kfd_direct_late(struct kfd_node *node);
/*
 * Makes the driver map what it believes in, if nothing is mapped; else one whole cycle. The driver
 * is told that a process without queues is evicted. 0, also where there is no runlist; -ENOMEM, or
 * what the driver says.
 */
int gp_kfd_kick(struct kfd_node *node);
/*
 * Worker: nothing is owed to anybody any more, after a reset or since they have died. So a halt of
 * ours, which the driver would keep for ever, ends.
 */
void gp_kfd_unhalt(struct kfd_node *node);
/* The GPU is gone: what was remembered of it goes too. */
void gp_kfd_forget(struct kfd_node *node);
/*
 * Which of the seat's compute queues are in a hardware slot right now, by the HQD registers of
 * every XCC: their number. -EOPNOTSUPP. For the self test of direct.
 */
int gp_kfd_mapped(struct kfd_process_device *seat);

/*
 * The grace a running wave gets before it is saved, in 1000 GPU clocks (1..255) by one packet on
 * the HIQ; 0: what the driver uses. -EBUSY, -EOPNOTSUPP. Worker.
 */
int gp_kfd_set_grace(struct kfd_node *node, u32 grace);

#endif /* GP_KERNEL_KFD_H */
