/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rest of the module's view of the stock driver. Only the files gp_kfd*.c know the driver's
 * private structures (tools/check-layers). The driver exports nothing to this module, so the module
 * starts from a file of /dev/kfd and calls the driver's own tables of functions.
 *
 * Lifetimes. A struct kfd_process and its seats (kfd_process_device: one process on one GPU) are
 * valid while the module holds a reference to a KFD file of that process. The module releases the
 * file when the process dies, because a held file keeps a dead process's queues running. A struct
 * kfd_node is valid until the GPU is unbound (gp_gpu.c listens for that), and only while some
 * process has a KFD file. Without such a file the compute partitions of a GPU can be switched
 * without any notification.
 *
 * Contexts. "Worker" calls sleep, take the driver's locks, and stay in the driver until the GPU
 * answers or the driver gives up (queue_preemption_timeout_ms, 9 s, then a reset). The caller has
 * normal priority and holds no lock of the module. "Any" calls only load, so they may also run in a
 * timer callback.
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
 * True if @file is a KFD file and not another file of amdgpu (render node, SMI descriptor,
 * debugfs). Accepts any file and does not dereference private_data.
 */
bool gp_kfd_is_file(struct file *file);
struct kfd_process *gp_kfd_process(struct file *file);
/* NULL: the process has ended. Use the pointer for comparison only. Any. */
struct mm_struct *gp_kfd_mm(const struct kfd_process *p);
/*
 * Checks whether the running driver is the one whose headers this module was built with. Follows
 * the cross links of @p without faulting. If @current_is_it, also compares with known facts about
 * the current process. Returns 0, or -EOPNOTSUPP with the difference in @why.
 */
int gp_kfd_check(struct file *file, bool current_is_it, char *why, size_t size);
/* Opens /dev/kfd for the current process, at load, and checks. 0, -ENODEV, -EOPNOTSUPP. */
int gp_kfd_check_driver(char *why, size_t size);

/* ---- GPUs ---- */

u32 gp_kfd_nr_seats(const struct kfd_process *p);
struct kfd_process_device *gp_kfd_seat(struct kfd_process *p, u32 i);
struct kfd_node *gp_kfd_node(struct kfd_process_device *seat);
/* True if the seat's GPU is @dev. The driver must not have freed the GPU yet. */
bool gp_kfd_sits_on(struct kfd_process_device *seat, const struct device *dev);
/* The process's first thread. It is older than the seats, whose GPUs were bound at that time. */
const struct task_struct *gp_kfd_lead(const struct kfd_process *p);

struct gp_kfd_gpu {
	u32 gpu_id;
	u32 compute_units;
	u32 wave_slots;		/* on all compute units */
	u64 location;		/* PCI domain << 16 | bus << 8 | devfn */
	struct device *dev;	/* to recognise the GPU when it is unbound; not referenced */
	bool mes;		/* no runlist: batches loop, no direct, no halt */
	bool can_probe;
};

void gp_kfd_describe(struct kfd_node *node, struct gp_kfd_gpu *ret);
/* Increases with every reset of the GPU. Any. */
u32 gp_kfd_resets(struct kfd_node *node);
/* True if HWS shares the GPU in time between processes; see gp_way_evict. Any. */
bool gp_kfd_isolated(struct kfd_node *node);

/* ---- queues ---- */

enum gp_kfd_ring { GP_KFD_AQL, GP_KFD_PM4, GP_KFD_SDMA };

struct gp_kfd_queue {
	u32 id;
	u32 kind;			/* enum gp_kfd_ring */
	u64 read_at, write_at;		/* user addresses */
	u64 ring_base;
	u32 ring_bytes;
	/* Buffers that hold the pointers; gp_kfd_queue_put() drops references that are not NULL. */
	struct ttm_buffer_object *read_bo, *write_bo;
};

/*
 * Writes the queues of a seat to @to. Returns the number of queues, which may exceed @room; the
 * rest is not written. -EBUSY: the driver's lock is held, which can last until the GPU answers.
 * Sleeps for a fraction of a millisecond at most.
 */
int gp_kfd_queues(struct kfd_process_device *seat, struct gp_kfd_queue *to, u32 room);
void gp_kfd_queue_put(struct gp_kfd_queue *q);
/*
 * Returns a number that changes when queues come or go. May miss a change, so scan now and then.
 * Any.
 */
u64 gp_kfd_queues_stamp(const struct kfd_process_device *seat);

/* ---- waves ---- */

/*
 * Counts the waves of @seat that are on the GPU now. -EOPNOTSUPP. Takes tens of us and mutexes.
 * Worker.
 */
int gp_kfd_waves(struct kfd_process_device *seat, u32 *ret);

/* ---- stopping and starting: worker ---- */

/* One seat in a step. All seats of a step are of one node. */
struct gp_kfd_move {
	struct kfd_process_device *seat;
	bool out;		/* true: stop, false: start */
	/*
	 * The result. The caller sets @owes to its current value. A stop of a seat that owes and a
	 * start of a seat that does not owe do nothing.
	 * Stop: 0 means off. If @owes is set, even after an error, the driver has counted and one
	 * start is owed.
	 * Start: 0 means on. @owes is cleared once the start was given. -ESRCH: the process has
	 * ended and nothing is owed.
	 */
	int err;
	bool owes;
};

/* CLOCK_MONOTONIC; 0: unknown. */
struct gp_kfd_times {
	u64 command_ns;		/* before the command was given */
	u64 acted_ns;		/* after the command was given; 0 if the driver gives it itself */
	u64 saved_ns;		/* the GPU reported that the victims are off */
	u64 switched_ns;	/* the other processes are mapped or requested */
};

struct gp_kfd_step {
	struct kfd_node *node;
	struct gp_kfd_move *move;
	u32 nr;
	u64 deadline_ns;	/* `direct` waits this long from its command on */
	struct gp_kfd_times times;
	bool hangs;		/* the driver reported a hang in this step */
	/* for statistics */
	u32 kicks;
	char why_not[64];	/* why the step was refused up front, or "" */
};

/*
 * One way to carry out a step.
 *
 * @can: Returns 0, or -EBUSY with why_not. Nothing was sent, so the caller may try another way. A
 * race may change the answer, so @move checks again and refuses in the same way.
 *
 * @move:
 * - 0: each move has its own result.
 * - -EBUSY: refused; nothing changed.
 * - -ETIME (direct): no answer by the deadline; nothing was booked. gp_kfd_direct_late() reports a
 *   late answer.
 * - -EIO: the GPU is locked, nearly always for a reset.
 *
 * If a stop's own error is -EIO or -ETIME, the driver gave up on the GPU and resets it. The stop
 * was counted but the place of the process is unknown. It stays unknown until gp_kfd_resets()
 * changes or, after -EIO, gp_kfd_kick() succeeds. After a kick the stopped processes are off and
 * the started ones are on.
 */
struct gp_way {
	const char *name;
	int (*can)(struct gp_kfd_step *step);
	int (*move)(struct gp_kfd_step *step);
};

/* Stops and starts together behind the driver's own gate, in one runlist cycle. */
extern const struct gp_way gp_way_evict;
/*
 * Sends UNMAP_QUEUES for each victim's PASID on the HIQ and books after its own fence. Starts use
 * evict.
 */
extern const struct gp_way gp_way_direct;
/*
 * Stops the whole GPU by the driver's halt while any move is out, and starts it by unhalt. The
 * moves are only counted. The caller decides which processes may use this way.
 */
extern const struct gp_way gp_way_halt;

/*
 * Checks, after -ETIME, whether the fence has arrived. 1: yes, and the driver has mapped the queues
 * that its books list as active (one cycle). 0: not yet. -ENODEV: a reset made the fence void.
 */
int gp_kfd_direct_late(struct kfd_node *node);
/*
 * Makes the driver map the queues that its books list as active, by one whole cycle if any are
 * mapped. To do so it evicts a dummy process without queues. Returns 0, also where there is no
 * runlist, -ENOMEM, or the driver's error.
 */
int gp_kfd_kick(struct kfd_node *node);
/*
 * Ends a halt by this module, which the driver would keep for ever. Call this when no start is owed
 * any more, after a reset or the death of the processes. Worker.
 */
void gp_kfd_unhalt(struct kfd_node *node);
/* Forgets all state about a GPU that was removed. */
void gp_kfd_forget(struct kfd_node *node);
/*
 * Counts the seat's compute queues that are in a hardware slot now, by the HQD registers of every
 * XCC. -EOPNOTSUPP. Used by the self test of direct.
 */
int gp_kfd_mapped(struct kfd_process_device *seat);

/*
 * Sets the time that a running wave gets before it is saved, in 1000 GPU clocks (1..255), by one
 * packet on the HIQ. 0 restores the driver's value. -EBUSY, -EOPNOTSUPP. Worker.
 */
int gp_kfd_set_grace(struct kfd_node *node, u32 grace);

#endif /* GP_KERNEL_KFD_H */
