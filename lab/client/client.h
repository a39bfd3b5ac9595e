/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A GPU by raw KFD calls: what a runtime such as ROCr does, without one.
 *
 * For the lab's programs and tests. A program opens a client (one GPU), allocates
 * buffers that CPU and GPU see at the same address, creates queues, puts packets
 * into them and waits for signals:
 *
 *	gp_client_open -> gp_buffer_alloc -> gp_queue_create -> gp_aql_put, gp_queue_ring
 *	-> gp_signal_wait -> gp_queue_destroy -> gp_client_close
 *
 * Every function that can fail returns 0 or -errno, and gp_client_error() then has
 * one line that says which call failed on what. Nothing prints. No function locks:
 * a queue, a buffer and a set of work belong to one thread at a time; different
 * threads may use different ones of the same client.
 *
 * Work that checks itself is in work.h.
 */
#ifndef GP_LAB_CLIENT_H
#define GP_LAB_CLIENT_H

#include <sys/types.h>

#include "gp_env.h"
#include "uapi/aql.h"
#include "uapi/kfd.h"

/* The message of the last call of this thread that failed; "" before the first failure. */
const char *gp_client_error(void);
/* For layers above: set that message (fail: with the name of @err behind it) and return -@err. */
int gp_client_fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int gp_client_say(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Topology ------------------------------------------------------------------- */

#define GP_TOPOLOGY	"/sys/class/kfd/kfd/topology"

/* One GPU as the driver describes it. */
struct gp_node {
	u32 node;		/* its number under nodes/ */
	u32 gpu_id;
	u32 render_minor;
	u32 gfx_version;	/* gfx_target_version: 90402 is gfx942 */
	u32 device_id;
	u32 location_id;
	u32 domain;
	u32 xccs;
	u32 simds;		/* of all XCCs */
	u32 simds_per_cu;
	u32 waves_per_simd;
	u32 wave_size;
	u32 arrays;		/* of all XCCs */
	u32 arrays_per_engine;
	u32 lds_kb;
	u32 cp_queues;
	u32 sdma_engines;
	u32 sdma_queues;	/* per engine */
	u32 save_bytes;		/* cwsr_size: of one XCC */
	u32 ctl_stack_bytes;
	u32 capability;
};

/*
 * Reads the GPUs under @dir (NULL: GP_TOPOLOGY), in the order of their node numbers, at most
 * @room of them. @ret_count: their total number. -ENOENT: no such directory. A node whose files
 * may not be read (a device cgroup) is left out.
 */
int gp_topology_read(const char *dir, struct gp_node *nodes, u32 room, u32 *ret_count);

/* Sizes that CREATE_QUEUE requires, by the driver's own formula. */
struct gp_geometry {
	u32 cus;		/* of one XCC */
	u32 waves;		/* of one XCC, that the save area must hold */
	u32 ctl_stack_bytes;
	u32 save_bytes;		/* of one XCC, control stack included */
	u32 debug_bytes;	/* of one XCC: the debugger part */
	u32 eop_bytes;
	u64 mapping_bytes;	/* of the whole save area of a queue */
};

/*
 * -EINVAL: a property that the formula divides by is 0. -ENOTSUP: not gfx9. -EPROTO: the
 * driver's cwsr_size or ctl_stack_size differs from the result of the formula.
 */
int gp_geometry(const struct gp_node *node, struct gp_geometry *ret);

/* Number of waves that the GPU runs at once if nothing else limits them. */
u32 gp_node_waves(const struct gp_node *node);

/* The client ------------------------------------------------------------------ */

struct gp_client_args {
	const char *topology;	/* NULL: GP_TOPOLOGY */
	u32 gpu;		/* index of the GPU, from 0 */
	bool no_runtime;	/* leave out RUNTIME_ENABLE: debug calls then give EPERM */
	/*
	 * Acquire the VM of every GPU, as ROCr does. Without that a debugger's SUSPEND_QUEUES
	 * crashes the stock driver if there is a GPU behind this one (lib/kfd_debug/vm.h).
	 */
	bool all_vms;
	/* Called before and after RUNTIME_ENABLE (@begins), and before and after its end. */
	void (*at_runtime)(bool begins);
};

enum { GP_CLIENT_GPUS = 64 };

struct gp_buffer {
	void *at;		/* the same address on CPU and GPU */
	u64 bytes;
	u64 handle;		/* KFD's */
	u8 kind;		/* enum gp_memory */
	bool ours;		/* unmap the CPU mapping with the buffer */
	bool on_gpu;
};

/* Read-only for callers. */
struct gp_lab_client {
	int kfd_fd;
	int render_fd;
	struct gp_node node;
	struct gp_geometry geometry;
	struct kfd_ioctl_get_version_args version;
	bool runtime;
	bool debugs_itself;
	u8 *doorbells;			/* mapped with the first queue */
	struct gp_buffer event_page;	/* allocated with the first event */
	int padding_fd;			/* file that sparse save areas share; -1: none yet */
	int other_fd[GP_CLIENT_GPUS];	/* render nodes of the GPUs that the client does not use */
	u32 others;
	void (*at_runtime)(bool begins);	/* NULL: not called */
};

/*
 * Opens /dev/kfd and the GPU's render node, acquires its VM and enables the debug
 * runtime as ROCr does. -ENODEV: no such GPU.
 */
int gp_client_open(struct gp_lab_client *c, const struct gp_client_args *args);
/*
 * Destroy queues and buffers first; the driver frees the remaining ones. Ends a debug session
 * of the process with itself. While another process debugs this one, the call sleeps until that
 * process detaches, as ROCr's shutdown does.
 */
void gp_client_close(struct gp_lab_client *c);

/*
 * One raw call. @what names the call in gp_client_error(). Repeats interrupted calls. Returns
 * the driver's result (0, or a count) or -errno.
 */
int gp_client_call(struct gp_lab_client *c, unsigned long request, void *arg, const char *what);

/*
 * Whether the GPU is the lab's (its PCI device is QEMU's). Synthetic kernels are not
 * code: on hardware they would be executed as if they were.
 */
bool gp_client_is_model(const struct gp_lab_client *c);

/* The GPU's clock in ns. Every reported time is a difference of it. */
int gp_client_clock(struct gp_lab_client *c, u64 *ret_ns);

/* Memory ----------------------------------------------------------------------- */

enum gp_memory {
	GP_MEMORY_USERPTR,	/* this process's pages */
	GP_MEMORY_GTT,		/* the driver's pages, mapped through the render node */
	GP_MEMORY_VRAM,		/* the device's, mapped through the render node */
};

/* Page-aligned, zeroed, mapped on CPU and GPU. */
int gp_buffer_alloc(struct gp_lab_client *c, struct gp_buffer *b, enum gp_memory kind, u64 bytes);
/* The caller's own pages at @at; they must outlive the buffer. */
int gp_buffer_register(struct gp_lab_client *c, struct gp_buffer *b, void *at, u64 bytes);
/* A buffer that was never allocated (all zero) is fine. */
int gp_buffer_free(struct gp_lab_client *c, struct gp_buffer *b);

/* Queues ------------------------------------------------------------------------ */

enum gp_save_area {
	/*
	 * Allocates only the memory that a save writes (the header, the control stack and the
	 * first GP_SAVE_REAL bytes of wave state of each XCC). The rest of the mapping shows
	 * one padding file again and again. For the model only, whose saved waves are short.
	 * The driver asks for every page of a user pointer, and 100 queues of full areas are
	 * 4.9 GB. Their *size* still counts against the driver's limit, so load it with
	 * no_system_mem_limit=1.
	 */
	GP_SAVE_SPARSE,
	GP_SAVE_FULL,
};

#define GP_SAVE_REAL	(128u << 10)
#define GP_SAVE_PADDING	(4u << 20)	/* bytes of the padding file */

struct gp_queue_args {
	u32 type;
	u32 ring_bytes;		/* 0: 64 KiB */
	u32 priority;		/* 0: 7, normal */
	bool lowest_priority;	/* use priority 0, because 0 above means 7 */
	bool off;		/* percentage 0: the queue exists and is never mapped */
	u32 xcc;		/* of a PM4 queue */
	enum gp_memory pointers;	/* of ring and pointers: userptr or GTT */
	enum gp_save_area save_area;
};

/* Read-only for callers. */
struct gp_lab_queue {
	struct gp_lab_client *c;
	u32 id;
	u32 type;		/* u32 */
	u32 ring_bytes;
	u32 percentage;		/* as given to the driver, with the XCC */
	u32 priority;
	u64 next;		/* packets, dwords or bytes put so far, in the unit of its type */
	u64 *write;		/* the pointers in memory */
	u64 *read;		/* a PM4 queue reports 32 bits, modulo its ring */
	volatile u64 *doorbell;
	u32 doorbell_offset;	/* bytes, in the process's doorbells */
	struct gp_buffer ring;
	struct gp_buffer pointers;	/* a struct gp_amd_queue */
	struct gp_buffer eop;
	struct gp_buffer save;
};

int gp_queue_create(struct gp_lab_client *c, struct gp_lab_queue *q,
		    const struct gp_queue_args *args);
/* If the driver refuses, the queue and its memory stay as they are. */
int gp_queue_destroy(struct gp_lab_queue *q);
/* UPDATE_QUEUE: percentage 0 unmaps the queue, 1..100 maps it again. */
int gp_queue_update(struct gp_lab_queue *q, u32 percentage, u32 priority);
/* Rings the doorbell for everything put so far. */
void gp_queue_ring(struct gp_lab_queue *q);
/* True if everything put has been fetched (PM4, SDMA) or retired (AQL). */
bool gp_queue_empty(const struct gp_lab_queue *q);

/* Copies a packet into the ring. -EAGAIN: no room. gp_queue_ring() rings the doorbell. */
int gp_aql_put(struct gp_lab_queue *q, const union gp_aql_packet *packet);
/* Puts @nr dwords on a PM4 or SDMA queue. -EAGAIN: no room. */
int gp_queue_put(struct gp_lab_queue *q, const u32 *dwords, u32 nr);

/* Contents of a kernel packet. */
struct gp_launch {
	u64 kernel;		/* address of a struct vgpu_kernel */
	u64 kernarg;		/* address of a struct vgpu_kernarg */
	u32 workgroups;
	u32 waves;		/* per workgroup, 1..16 */
	u32 lds_bytes;
	bool unordered;		/* without the barrier bit: may overlap the packets before it */
	struct gp_amd_signal *done;	/* or NULL */
};

union gp_aql_packet gp_aql_kernel_packet(const struct gp_launch *l);
/* @type: GP_AQL_BARRIER_AND or _OR; up to five signals, NULL for none. */
union gp_aql_packet gp_aql_barrier_packet(enum gp_aql_type type,
					  struct gp_amd_signal *const on[GP_AQL_DEPENDENCIES],
					  struct gp_amd_signal *done);

/* Events and signals -------------------------------------------------------------- */

struct gp_lab_event {
	u32 id;
	u64 *slot;		/* the word that the GPU writes; NULL: not a signal event */
};

/* @auto_reset: a wait that the event ends resets it. */
int gp_event_create(struct gp_lab_client *c, struct gp_lab_event *e, u32 type,
		    bool auto_reset);
int gp_event_destroy(struct gp_lab_client *c, struct gp_lab_event *e);
int gp_event_set(struct gp_lab_client *c, const struct gp_lab_event *e);
/* Waits for any of them (or all). -ETIME: none came. @timeout_ms GP_KFD_WAIT_FOREVER: no limit. */
int gp_event_wait(struct gp_lab_client *c, const struct gp_lab_event *e, u32 nr, bool all,
		  u32 timeout_ms);

/* @s lies in GPU memory, 64-byte aligned. Without @e there is no interrupt. */
void gp_signal_init(struct gp_amd_signal *s, s64 value, const struct gp_lab_event *e);
s64 gp_signal_value(const struct gp_amd_signal *s);
void gp_signal_store(struct gp_amd_signal *s, s64 value);
/*
 * Waits until the value is below 1: asleep in WAIT_EVENTS if @e, else polling every 50 us.
 * -ETIME after @timeout_ms of this machine's time.
 */
int gp_signal_wait(struct gp_lab_client *c, const struct gp_amd_signal *s,
		   const struct gp_lab_event *e, u32 timeout_ms);

/* Debugging of this or another process ------------------------------------------ */

/* Any operation; fills in @pid. Returns the driver's result, or -errno. */
int gp_debug(struct gp_lab_client *c, pid_t pid, struct kfd_ioctl_dbg_trap_args *args,
	     const char *what);
/* @fd: a pipe's writing end that gets a byte per exception of @exceptions. */
int gp_debug_enable(struct gp_lab_client *c, pid_t pid, u64 exceptions, int fd,
		    struct kfd_runtime_info *ret);
int gp_debug_disable(struct gp_lab_client *c, pid_t pid);
/* Reads at most @room entries. @ret_count: total number of queues. */
int gp_debug_snapshot(struct gp_lab_client *c, pid_t pid, u64 clear,
		      struct kfd_queue_snapshot_entry *entries, u32 room, u32 *ret_count);
/* Marks @ids in place (GP_KFD_DBG_QUEUE_*). Returns the number of suspended queues, or -errno. */
int gp_debug_suspend(struct gp_lab_client *c, pid_t pid, u32 *ids, u32 nr, u32 grace);
/* @ids NULL: all of the process. Returns the number of resumed queues, or -errno. */
int gp_debug_resume(struct gp_lab_client *c, pid_t pid, u32 *ids, u32 nr);

/*
 * Returns a descriptor of SMI events, subscribed to @mask (KFD_SMI_EVENT_MASK_FROM_INDEX), or
 * -errno.
 */
int gp_smi_open(struct gp_lab_client *c, u64 mask);
/* KFD_CRIU_OP_PROCESS_INFO or _UNPAUSE of the calling process. */
int gp_criu(struct gp_lab_client *c, enum kfd_criu_op op);

#endif /* GP_LAB_CLIENT_H */
