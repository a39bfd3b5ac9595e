/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a program says to /dev/kfd, in our own words.
 *
 * Distributions ship a kfd_ioctl.h older than the driver they run (Debian 12's
 * lacks the debugger's calls), so we do not depend on it. The layouts are those of
 * KFD 1.17; lab/abi/check holds every number here against the driver's headers.
 *
 * The driver copies as many bytes as the ioctl number says and takes the rest of
 * its own structure as zero. A descriptor serves only the process that opened
 * /dev/kfd (anybody else: EBADF), except for GP_KFD_IOC_CRIU by its tracer.
 *
 * In the field comments "out" is written by the driver, "io" is read and written;
 * what has neither is only read.
 */
#ifndef GP_UAPI_KFD_H
#define GP_UAPI_KFD_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GP_KFD_DEVICE		"/dev/kfd"
#define GP_KFD_MAJOR		1
#define GP_KFD_MINOR_DEBUGGER	13	/* the first minor version with GP_KFD_IOC_DBG */

struct gp_kfd_version {
	__u32 major;			/* out */
	__u32 minor;			/* out */
};

/* Queues ------------------------------------------------------------------- */

enum gp_kfd_queue_type {
	GP_KFD_QUEUE_PM4	= 0,
	GP_KFD_QUEUE_SDMA	= 1,
	GP_KFD_QUEUE_AQL	= 2,
	GP_KFD_QUEUE_SDMA_XGMI	= 3,
	GP_KFD_QUEUE_SDMA_ENGINE = 4,	/* on the engine that @sdma_engine_id names */
};

#define GP_KFD_MAX_PERCENTAGE	100
#define GP_KFD_MAX_PRIORITY	15
#define GP_KFD_MIN_RING_BYTES	1024	/* smaller sizes are raised to it */
#define GP_KFD_DOORBELL_BYTES	8192	/* a process's doorbells of one GPU; mmap exactly this */
#define GP_KFD_EOP_BYTES	4096

/*
 * Each address must be the start of a GPU mapping of its own: one page for each
 * of the two pointers, exactly the ring's size, the end-of-pipe buffer's, and
 * the save area of all XCCs with its debugger part.
 */
struct gp_kfd_create_queue {
	__u64 ring_base;
	__u64 write_pointer;		/* AQL: packets; PM4: dwords; SDMA: bytes */
	__u64 read_pointer;
	__u64 doorbell_offset;		/* out: low 13 bits: where in the mmap; rest: of it */
	__u32 ring_bytes;		/* a power of two */
	__u32 gpu_id;
	__u32 type;			/* enum gp_kfd_queue_type */
	__u32 percentage;		/* 0: never mapped; bits 8..15: XCC of a PM4 queue */
	__u32 priority;			/* 0..15; 7: normal */
	__u32 queue_id;			/* out: unique in the process */
	__u64 eop_base;
	__u64 eop_bytes;
	__u64 save_area;
	__u32 save_bytes;		/* of one XCC, without the debugger part */
	__u32 ctl_stack_bytes;		/* exactly what the topology says */
	__u32 sdma_engine_id;
	__u32 pad;
};

struct gp_kfd_destroy_queue {
	__u32 queue_id;			/* io */
	__u32 pad;
};

/* Replaces all four properties. Ring base 0 or percentage 0 take it off the GPU. */
struct gp_kfd_update_queue {
	__u64 ring_base;
	__u32 queue_id;
	__u32 ring_bytes;
	__u32 percentage;
	__u32 priority;
};

struct gp_kfd_set_cu_mask {
	__u32 queue_id;
	__u32 bits;			/* a multiple of 32 */
	__u64 mask;			/* address of bits/32 words */
};

/* Only of a queue that is not on the GPU. The sizes are those of XCC 0. */
struct gp_kfd_wave_state {
	__u64 ctl_stack;		/* where to put header and control stack of each XCC */
	__u32 ctl_stack_used;		/* out */
	__u32 save_area_used;		/* out */
	__u32 queue_id;
	__u32 pad;
};

struct gp_kfd_alloc_gws {
	__u32 queue_id;
	__u32 count;
	__u32 first;			/* out */
	__u32 pad;
};

/* At the start of each XCC's save area. The driver writes the first four words. */
struct gp_kfd_save_header {
	__u32 ctl_stack_offset;
	__u32 ctl_stack_bytes;
	__u32 wave_state_offset;
	__u32 wave_state_bytes;
	__u32 debug_offset;		/* from here to the debugger part of all XCCs */
	__u32 debug_bytes;
	__u64 err_payload;		/* address of a word that gets an exception's mask */
	__u32 err_event_id;
	__u32 pad;
};

/* Memory -------------------------------------------------------------------- */

struct gp_kfd_memory_policy {
	__u64 alternate_base;
	__u64 alternate_bytes;
	__u32 gpu_id;
	__u32 default_policy;		/* 0: coherent, 1: not */
	__u32 alternate_policy;
	__u32 pad;
};

struct gp_kfd_acquire_vm {
	__u32 drm_fd;			/* an open render node, whose address space becomes ours */
	__u32 gpu_id;
};

#define GP_KFD_MEM_VRAM		(1u << 0)
#define GP_KFD_MEM_GTT		(1u << 1)
#define GP_KFD_MEM_USERPTR	(1u << 2)
#define GP_KFD_MEM_DOORBELL	(1u << 3)
#define GP_KFD_MEM_MMIO		(1u << 4)
#define GP_KFD_MEM_CONTIGUOUS	(1u << 23)
#define GP_KFD_MEM_EXT_COHERENT	(1u << 24)
#define GP_KFD_MEM_UNCACHED	(1u << 25)
#define GP_KFD_MEM_COHERENT	(1u << 26)
#define GP_KFD_MEM_AQL_RING	(1u << 27)	/* GPU mapping is twice the size: old GPUs only */
#define GP_KFD_MEM_NO_SUBSTITUTE (1u << 28)
#define GP_KFD_MEM_PUBLIC	(1u << 29)	/* VRAM the CPU may map */
#define GP_KFD_MEM_EXECUTABLE	(1u << 30)
#define GP_KFD_MEM_WRITABLE	(1u << 31)

struct gp_kfd_alloc_memory {
	__u64 gpu_address;		/* chosen by the caller */
	__u64 bytes;
	__u64 handle;			/* out */
	__u64 mmap_offset;		/* io: userptr: CPU address; else out, on the render node */
	__u32 gpu_id;
	__u32 flags;			/* GP_KFD_MEM_* */
};

struct gp_kfd_free_memory {
	__u64 handle;
};

/* For both directions. A call that stops half way may be repeated with its @done. */
struct gp_kfd_map_memory {
	__u64 handle;
	__u64 gpu_ids;			/* address of @gpus words */
	__u32 gpus;
	__u32 done;			/* io */
};

struct gp_kfd_available_memory {
	__u64 bytes;			/* out */
	__u32 gpu_id;
	__u32 pad;
};

struct gp_kfd_export_dmabuf {
	__u64 handle;
	__u32 flags;
	__u32 dmabuf_fd;		/* out */
};

struct gp_kfd_aperture {
	__u64 lds_base;
	__u64 lds_limit;
	__u64 scratch_base;
	__u64 scratch_limit;
	__u64 gpuvm_base;
	__u64 gpuvm_limit;
	__u32 gpu_id;
	__u32 pad;
};

struct gp_kfd_apertures {
	__u64 array;			/* address of @count struct gp_kfd_aperture */
	__u32 count;			/* io; 0 on entry: only count */
	__u32 pad;
};

struct gp_kfd_trap_handler {
	__u64 code;
	__u64 memory;
	__u32 gpu_id;
	__u32 pad;
};

struct gp_kfd_xnack {
	__s32 mode;			/* io: 0, 1; negative on entry: only ask */
};

/* Clocks and events --------------------------------------------------------- */

struct gp_kfd_clocks {
	__u64 gpu;			/* out: 100 MHz on gfx9 */
	__u64 cpu;			/* out: ns, raw monotonic */
	__u64 system;			/* out: ns, boot time */
	__u64 system_hz;		/* out */
	__u32 gpu_id;
	__u32 pad;
};

enum gp_kfd_event_type {
	GP_KFD_EVENT_SIGNAL	= 0,
	GP_KFD_EVENT_NODE	= 1,
	GP_KFD_EVENT_DEVICE	= 2,
	GP_KFD_EVENT_HW_EXCEPTION = 3,
	GP_KFD_EVENT_SYSTEM	= 4,
	GP_KFD_EVENT_DEBUG	= 5,
	GP_KFD_EVENT_PROFILE	= 6,
	GP_KFD_EVENT_QUEUE	= 7,
	GP_KFD_EVENT_MEMORY	= 8,
};

#define GP_KFD_EVENT_PAGE_BYTES	32768	/* 4096 slots of 8 bytes */
#define GP_KFD_EVENT_SLOTS	4096

struct gp_kfd_create_event {
	__u64 page_offset;		/* io: in: handle of our own page, or 0 */
	__u32 trigger;			/* out: what to write into the slot */
	__u32 type;			/* enum gp_kfd_event_type */
	__u32 auto_reset;
	__u32 node_id;
	__u32 event_id;			/* out */
	__u32 slot;			/* out */
};

/* To destroy, set and reset an event. */
struct gp_kfd_event {
	__u32 event_id;
	__u32 pad;
};

struct gp_kfd_memory_fault {
	__u32 not_present;
	__u32 read_only;
	__u32 no_execute;
	__u32 imprecise;
	__u64 address;
	__u32 gpu_id;
	__u32 kind;			/* 0: plain, 1: SRAM ECC, 2: poison, 3: hang */
};

struct gp_kfd_hw_fault {
	__u32 reset_type;
	__u32 reset_cause;
	__u32 memory_lost;
	__u32 gpu_id;
};

/* One event of a wait. */
struct gp_kfd_event_data {
	union {
		struct gp_kfd_memory_fault memory;	/* out */
		struct gp_kfd_hw_fault hw;		/* out */
		__u64 age;				/* io: 0: as in versions before 1.14 */
	};
	__u64 extension;
	__u32 event_id;
	__u32 pad;
};

enum gp_kfd_wait_result {
	GP_KFD_WAIT_DONE	= 0,
	GP_KFD_WAIT_TIMEOUT	= 1,
	GP_KFD_WAIT_FAILED	= 2,
};

#define GP_KFD_WAIT_FOREVER	0xffffffffu	/* 0xfffffffe too */

struct gp_kfd_wait_events {
	__u64 events;			/* address of @count struct gp_kfd_event_data */
	__u32 count;
	__u32 all;			/* 0: any of them */
	__u32 timeout_ms;		/* io: what is left when a signal interrupts */
	__u32 result;			/* out: enum gp_kfd_wait_result */
};

/* System management events --------------------------------------------------- */

enum gp_kfd_smi_event {
	GP_KFD_SMI_VM_FAULT	= 1,
	GP_KFD_SMI_THROTTLE	= 2,
	GP_KFD_SMI_PRE_RESET	= 3,
	GP_KFD_SMI_POST_RESET	= 4,
	GP_KFD_SMI_MIGRATE_START = 5,
	GP_KFD_SMI_MIGRATE_END	= 6,
	GP_KFD_SMI_FAULT_START	= 7,
	GP_KFD_SMI_FAULT_END	= 8,
	GP_KFD_SMI_EVICTION	= 9,
	GP_KFD_SMI_RESTORE	= 10,
	GP_KFD_SMI_UNMAP	= 11,
	GP_KFD_SMI_ALL_PROCESSES = 64,
};

#define GP_KFD_SMI_BIT(event)	(1ull << ((event) - 1))
#define GP_KFD_SMI_LINE		96	/* bytes of the longest message */

/* Why a process's queues left the GPU: the last field of a GP_KFD_SMI_EVICTION line. */
enum gp_kfd_eviction {
	GP_KFD_EVICTION_SVM	= 0,
	GP_KFD_EVICTION_USERPTR	= 1,
	GP_KFD_EVICTION_TTM	= 2,
	GP_KFD_EVICTION_SUSPEND	= 3,
	GP_KFD_EVICTION_CHECKPOINT = 4,
	GP_KFD_EVICTION_RESTORE	= 5,
};

/* The descriptor takes a mask of GP_KFD_SMI_BIT by write() and gives lines of text. */
struct gp_kfd_smi {
	__u32 gpu_id;
	__u32 fd;			/* out */
};

/* Checkpoint and restore ------------------------------------------------------ */

enum gp_kfd_criu_op {
	GP_KFD_CRIU_PAUSE	= 0,	/* also counts the process's objects; not idempotent */
	GP_KFD_CRIU_CHECKPOINT	= 1,
	GP_KFD_CRIU_UNPAUSE	= 2,
	GP_KFD_CRIU_RESTORE	= 3,
	GP_KFD_CRIU_RESUME	= 4,
};

struct gp_kfd_criu {
	__u64 devices;
	__u64 bos;
	__u64 private_data;
	__u64 private_bytes;		/* io */
	__u32 device_count;		/* io */
	__u32 bo_count;			/* io */
	__u32 object_count;		/* io */
	__u32 pid;			/* io */
	__u32 op;			/* enum gp_kfd_criu_op */
};

/* The debug runtime ------------------------------------------------------------ */

#define GP_KFD_RUNTIME_ENABLE	1u
#define GP_KFD_RUNTIME_TTMP	2u	/* the trap handler may use its registers */

/* Before the first queue (EEXIST). Without it every GP_KFD_DBG call on hardware: EPERM. */
struct gp_kfd_runtime_enable {
	__u64 r_debug;
	__u32 mode;			/* 0: disable */
	__u32 capabilities;
};

enum gp_kfd_runtime_state {
	GP_KFD_RUNTIME_OFF	= 0,
	GP_KFD_RUNTIME_ON	= 1,
	GP_KFD_RUNTIME_BUSY	= 2,
	GP_KFD_RUNTIME_ERROR	= 3,
};

struct gp_kfd_runtime_info {
	__u64 r_debug;
	__u32 state;			/* enum gp_kfd_runtime_state */
	__u32 ttmp_setup;
};

/* An exception's bit in a mask is GP_KFD_EC_BIT of its code. */
enum gp_kfd_exception {
	GP_KFD_EC_WAVE_ABORT	= 1,
	GP_KFD_EC_WAVE_TRAP	= 2,
	GP_KFD_EC_WAVE_MATH	= 3,
	GP_KFD_EC_WAVE_ILLEGAL	= 4,
	GP_KFD_EC_WAVE_MEMORY	= 5,
	GP_KFD_EC_WAVE_APERTURE	= 6,
	GP_KFD_EC_PACKET_DIM	= 16,
	GP_KFD_EC_PACKET_GROUP	= 17,
	GP_KFD_EC_PACKET_CODE	= 18,
	GP_KFD_EC_PACKET_RESERVED = 19,
	GP_KFD_EC_PACKET_UNSUPPORTED = 20,
	GP_KFD_EC_PACKET_WORKGROUP = 21,
	GP_KFD_EC_PACKET_REGISTER = 22,
	GP_KFD_EC_PACKET_VENDOR	= 23,
	GP_KFD_EC_PREEMPTION	= 30,
	GP_KFD_EC_QUEUE_NEW	= 31,	/* on every queue from its creation until cleared */
	GP_KFD_EC_QUEUE_DELETE	= 32,
	GP_KFD_EC_DEVICE_MEMORY	= 33,
	GP_KFD_EC_DEVICE_RAS	= 34,
	GP_KFD_EC_DEVICE_HALT	= 35,
	GP_KFD_EC_DEVICE_NEW	= 36,
	GP_KFD_EC_RUNTIME	= 48,	/* runtime enable waits for GP_KFD_DBG_SEND_EVENT */
	GP_KFD_EC_DEVICE_REMOVE	= 49,
};

#define GP_KFD_EC_BIT(code)	(1ull << ((code) - 1))

enum gp_kfd_dbg_op {
	GP_KFD_DBG_ENABLE	= 0,
	GP_KFD_DBG_DISABLE	= 1,
	GP_KFD_DBG_SEND_EVENT	= 2,
	GP_KFD_DBG_SET_EXCEPTIONS = 3,
	GP_KFD_DBG_LAUNCH_OVERRIDE = 4,
	GP_KFD_DBG_LAUNCH_MODE	= 5,
	GP_KFD_DBG_SUSPEND	= 6,
	GP_KFD_DBG_RESUME	= 7,
	GP_KFD_DBG_SET_WATCH	= 8,
	GP_KFD_DBG_CLEAR_WATCH	= 9,
	GP_KFD_DBG_SET_FLAGS	= 10,
	GP_KFD_DBG_QUERY_EVENT	= 11,
	GP_KFD_DBG_QUERY_INFO	= 12,
	GP_KFD_DBG_QUEUE_SNAPSHOT = 13,
	GP_KFD_DBG_DEVICE_SNAPSHOT = 14,
};

/* In the id array of suspend and resume, as it comes back. */
#define GP_KFD_DBG_QUEUE_ERROR	 (1u << 30)	/* the hardware failed */
#define GP_KFD_DBG_QUEUE_INVALID (1u << 31)	/* unknown, still new, or being destroyed */
#define GP_KFD_DBG_QUEUE_MAX	1024		/* ids in one call */

#define GP_KFD_GRACE_DEFAULT	0xffffffffu	/* the device's own */
#define GP_KFD_GRACE_MAX	255u		/* the register has 8 bits; 256 would be endless */

#define GP_KFD_LAUNCH_NORMAL	0u
#define GP_KFD_LAUNCH_HALT	1u
#define GP_KFD_LAUNCH_DEBUG	3u

#define GP_KFD_DBG_FLAG_SINGLE_MEM 1u
#define GP_KFD_DBG_FLAG_SINGLE_ALU 2u

struct gp_kfd_dbg_enable {
	__u64 exceptions;		/* what makes a byte appear on @fd */
	__u64 runtime_info;		/* address of a struct gp_kfd_runtime_info */
	__u32 runtime_info_bytes;	/* io */
	__u32 fd;			/* the writing end of a pipe; an eventfd does not do */
};

struct gp_kfd_dbg_event {		/* to send, and to query */
	__u64 exceptions;		/* query: io: in: what to clear */
	__u32 gpu_id;			/* query: out */
	__u32 queue_id;			/* query: out */
};

struct gp_kfd_dbg_launch_override {
	__u32 mode;			/* 0: or, 1: replace */
	__u32 enable;			/* io */
	__u32 support;			/* io */
	__u32 pad;
};

struct gp_kfd_dbg_launch_mode {
	__u32 mode;			/* GP_KFD_LAUNCH_* */
	__u32 pad;
};

struct gp_kfd_dbg_suspend {
	__u64 clear;			/* exceptions to clear; too late for GP_KFD_EC_QUEUE_NEW */
	__u64 queue_ids;		/* address of @queues words, marked in place */
	__u32 queues;
	__u32 grace;			/* 1000 GPU clocks each: 1..255, or GP_KFD_GRACE_DEFAULT */
};

struct gp_kfd_dbg_resume {
	__u64 queue_ids;		/* 0: all of the process */
	__u32 queues;
	__u32 pad;
};

struct gp_kfd_dbg_set_watch {
	__u64 address;
	__u32 mode;			/* 0: read, 1: not read, 2: atomic, 3: all */
	__u32 mask;
	__u32 gpu_id;
	__u32 id;			/* out */
};

struct gp_kfd_dbg_clear_watch {
	__u32 gpu_id;
	__u32 id;
};

struct gp_kfd_dbg_flags {
	__u32 flags;			/* io: GP_KFD_DBG_FLAG_*; out: the flags before */
	__u32 pad;
};

struct gp_kfd_dbg_info {
	__u64 info;
	__u32 info_bytes;		/* io */
	__u32 source_id;
	__u32 code;			/* enum gp_kfd_exception */
	__u32 clear;
};

struct gp_kfd_dbg_snapshot {		/* of queues, and of devices */
	__u64 clear;			/* exceptions to clear in what is copied */
	__u64 entries;
	__u32 count;			/* io: room; out: how many there are */
	__u32 entry_bytes;		/* io: stride; out: what the driver fills */
};

struct gp_kfd_dbg {
	__u32 pid;
	__u32 op;			/* enum gp_kfd_dbg_op */
	union {
		struct gp_kfd_dbg_enable enable;
		struct gp_kfd_dbg_event event;
		__u64 exceptions;
		struct gp_kfd_dbg_launch_override launch_override;
		struct gp_kfd_dbg_launch_mode launch_mode;
		struct gp_kfd_dbg_suspend suspend;
		struct gp_kfd_dbg_resume resume;
		struct gp_kfd_dbg_set_watch set_watch;
		struct gp_kfd_dbg_clear_watch clear_watch;
		struct gp_kfd_dbg_flags flags;
		struct gp_kfd_dbg_info info;
		struct gp_kfd_dbg_snapshot snapshot;
	};
};

/* The newest queue comes first. */
struct gp_kfd_queue_entry {
	__u64 exceptions;
	__u64 ring_base;
	__u64 write_pointer;
	__u64 read_pointer;
	__u64 save_area;
	__u32 queue_id;
	__u32 gpu_id;
	__u32 ring_bytes;
	__u32 type;			/* enum gp_kfd_queue_type */
	__u32 save_bytes;
	__u32 pad;
};

struct gp_kfd_device_entry {
	__u64 exceptions;
	__u64 lds_base;
	__u64 lds_limit;
	__u64 scratch_base;
	__u64 scratch_limit;
	__u64 gpuvm_base;
	__u64 gpuvm_limit;
	__u32 gpu_id;
	__u32 location_id;
	__u32 vendor_id;
	__u32 device_id;
	__u32 revision_id;
	__u32 subsystem_vendor_id;
	__u32 subsystem_device_id;
	__u32 fw_version;
	__u32 gfx_target_version;
	__u32 simd_count;
	__u32 max_waves_per_simd;
	__u32 array_count;
	__u32 simd_arrays_per_engine;
	__u32 num_xcc;
	__u32 capability;
	__u32 debug_prop;
};

/* mmap offsets on /dev/kfd: a type, a GPU, and an offset within. */
#define GP_KFD_MMAP_TYPE_SHIFT	62
#define GP_KFD_MMAP_GPU_SHIFT	46
#define GP_KFD_MMAP_DOORBELL	(3ull << GP_KFD_MMAP_TYPE_SHIFT)
#define GP_KFD_MMAP_EVENTS	(2ull << GP_KFD_MMAP_TYPE_SHIFT)
#define GP_KFD_MMAP_RESERVED	(1ull << GP_KFD_MMAP_TYPE_SHIFT)

#define GP_KFD_IOC_GET_VERSION		_IOR('K', 0x01, struct gp_kfd_version)
#define GP_KFD_IOC_CREATE_QUEUE		_IOWR('K', 0x02, struct gp_kfd_create_queue)
#define GP_KFD_IOC_DESTROY_QUEUE	_IOWR('K', 0x03, struct gp_kfd_destroy_queue)
#define GP_KFD_IOC_SET_MEMORY_POLICY	_IOW('K', 0x04, struct gp_kfd_memory_policy)
#define GP_KFD_IOC_GET_CLOCKS		_IOWR('K', 0x05, struct gp_kfd_clocks)
#define GP_KFD_IOC_UPDATE_QUEUE		_IOW('K', 0x07, struct gp_kfd_update_queue)
#define GP_KFD_IOC_CREATE_EVENT		_IOWR('K', 0x08, struct gp_kfd_create_event)
#define GP_KFD_IOC_DESTROY_EVENT	_IOW('K', 0x09, struct gp_kfd_event)
#define GP_KFD_IOC_SET_EVENT		_IOW('K', 0x0a, struct gp_kfd_event)
#define GP_KFD_IOC_RESET_EVENT		_IOW('K', 0x0b, struct gp_kfd_event)
#define GP_KFD_IOC_WAIT_EVENTS		_IOWR('K', 0x0c, struct gp_kfd_wait_events)
#define GP_KFD_IOC_SET_TRAP_HANDLER	_IOW('K', 0x13, struct gp_kfd_trap_handler)
#define GP_KFD_IOC_GET_APERTURES	_IOWR('K', 0x14, struct gp_kfd_apertures)
#define GP_KFD_IOC_ACQUIRE_VM		_IOW('K', 0x15, struct gp_kfd_acquire_vm)
#define GP_KFD_IOC_ALLOC_MEMORY		_IOWR('K', 0x16, struct gp_kfd_alloc_memory)
#define GP_KFD_IOC_FREE_MEMORY		_IOW('K', 0x17, struct gp_kfd_free_memory)
#define GP_KFD_IOC_MAP_MEMORY		_IOWR('K', 0x18, struct gp_kfd_map_memory)
#define GP_KFD_IOC_UNMAP_MEMORY		_IOWR('K', 0x19, struct gp_kfd_map_memory)
#define GP_KFD_IOC_SET_CU_MASK		_IOW('K', 0x1a, struct gp_kfd_set_cu_mask)
#define GP_KFD_IOC_GET_WAVE_STATE	_IOWR('K', 0x1b, struct gp_kfd_wave_state)
#define GP_KFD_IOC_ALLOC_GWS		_IOWR('K', 0x1e, struct gp_kfd_alloc_gws)
#define GP_KFD_IOC_SMI			_IOWR('K', 0x1f, struct gp_kfd_smi)
#define GP_KFD_IOC_SET_XNACK		_IOWR('K', 0x21, struct gp_kfd_xnack)
#define GP_KFD_IOC_CRIU			_IOWR('K', 0x22, struct gp_kfd_criu)
#define GP_KFD_IOC_AVAILABLE_MEMORY	_IOWR('K', 0x23, struct gp_kfd_available_memory)
#define GP_KFD_IOC_EXPORT_DMABUF	_IOWR('K', 0x24, struct gp_kfd_export_dmabuf)
#define GP_KFD_IOC_RUNTIME_ENABLE	_IOWR('K', 0x25, struct gp_kfd_runtime_enable)
/* Suspend and resume return how many queues they moved; the others return 0. */
#define GP_KFD_IOC_DBG			_IOWR('K', 0x26, struct gp_kfd_dbg)

_Static_assert(sizeof(struct gp_kfd_create_queue) == 96, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_update_queue) == 24, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_set_cu_mask) == 16, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_wave_state) == 24, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_save_header) == 40, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_memory_policy) == 32, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_alloc_memory) == 40, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_map_memory) == 24, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_aperture) == 56, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_clocks) == 40, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_create_event) == 32, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_event_data) == 48, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_wait_events) == 24, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_criu) == 56, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_dbg) == 32, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_queue_entry) == 64, "KFD 1.17");
_Static_assert(sizeof(struct gp_kfd_device_entry) == 120, "KFD 1.17");

#endif /* GP_UAPI_KFD_H */
