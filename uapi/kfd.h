/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * <linux/kfd_ioctl.h> of the build machine, and what this tree uses beyond it.
 *
 * Debian 12 ships the header of KFD 1.11 (Linux 6.1). This header defines an entry of a later
 * version, by the kernel's own name, only if the installed header is older. The last part holds
 * facts about the driver that no exported header states. lab/abi/check compares all of it with the
 * header of the driver's source.
 *
 * The driver copies as many bytes as the ioctl number says and treats the rest of its own structure
 * as zero. Every call on a descriptor of another process fails with EBADF, except
 * AMDKFD_IOC_CRIU_OP by its tracer.
 */
#ifndef GP_UAPI_KFD_H
#define GP_UAPI_KFD_H

#include <linux/kfd_ioctl.h>
#include <linux/types.h>

/* KFD 1.12, Linux 6.4: exports a buffer as a dma-buf. */
#if KFD_IOCTL_MINOR_VERSION < 12
struct kfd_ioctl_export_dmabuf_args {
	__u64 handle;
	__u32 flags;
	__u32 dmabuf_fd;		/* out */
};

#define AMDKFD_IOC_EXPORT_DMABUF	AMDKFD_IOWR(0x24, struct kfd_ioctl_export_dmabuf_args)
#endif

/* KFD 1.13, Linux 6.5: the debugger's interface, down to AMDKFD_IOC_DBG_TRAP. */
#define GP_KFD_MINOR_DEBUGGER	13
#if KFD_IOCTL_MINOR_VERSION < GP_KFD_MINOR_DEBUGGER

/*
 * Enables the debug runtime of the calling process before its first queue (EEXIST afterwards).
 * Without it, AMDKFD_IOC_DBG_TRAP refuses every operation on hardware with EPERM.
 */
struct kfd_ioctl_runtime_enable_args {
	__u64 r_debug;
	__u32 mode_mask;		/* KFD_RUNTIME_ENABLE_MODE_*; 0: disable */
	__u32 capabilities_mask;
};

#define KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK	1
#define KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK	2	/* the trap handler may use its registers */

#define AMDKFD_IOC_RUNTIME_ENABLE	AMDKFD_IOWR(0x25, struct kfd_ioctl_runtime_enable_args)

/* State of a process's debug runtime, as KFD_IOC_DBG_TRAP_ENABLE returns it. */
enum kfd_dbg_runtime_state {
	DEBUG_RUNTIME_STATE_DISABLED		= 0,
	DEBUG_RUNTIME_STATE_ENABLED		= 1,
	DEBUG_RUNTIME_STATE_ENABLED_BUSY	= 2,
	DEBUG_RUNTIME_STATE_ENABLED_ERROR	= 3,
};

struct kfd_runtime_info {
	__u64 r_debug;
	__u32 runtime_state;		/* enum kfd_dbg_runtime_state */
	__u32 ttmp_setup;
};

/* The exceptions that this tree uses, of about twenty-five. */
enum kfd_dbg_trap_exception_code {
	EC_QUEUE_WAVE_TRAP		= 2,
	EC_QUEUE_NEW			= 31,	/* set on every queue from its creation */
	EC_DEVICE_QUEUE_DELETE		= 32,
	EC_DEVICE_MEMORY_VIOLATION	= 33,
	EC_PROCESS_RUNTIME		= 48,	/* runtime enable waits for SEND_RUNTIME_EVENT */
};

#define KFD_EC_MASK(code)	(1ULL << ((code) - 1))

/* Wave launch modes and additional wave settings. */
enum kfd_dbg_trap_wave_launch_mode {
	KFD_DBG_TRAP_WAVE_LAUNCH_MODE_HALT	= 1,
};

enum kfd_dbg_trap_flags {
	KFD_DBG_TRAP_FLAG_SINGLE_MEM_OP		= 1,
	KFD_DBG_TRAP_FLAG_SINGLE_ALU_OP		= 2,
};

enum kfd_dbg_trap_operations {
	KFD_IOC_DBG_TRAP_ENABLE				= 0,
	KFD_IOC_DBG_TRAP_DISABLE			= 1,
	KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT		= 2,
	KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED		= 3,
	KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE	= 4,
	KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_MODE		= 5,
	KFD_IOC_DBG_TRAP_SUSPEND_QUEUES			= 6,
	KFD_IOC_DBG_TRAP_RESUME_QUEUES			= 7,
	KFD_IOC_DBG_TRAP_SET_NODE_ADDRESS_WATCH		= 8,
	KFD_IOC_DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH	= 9,
	KFD_IOC_DBG_TRAP_SET_FLAGS			= 10,
	KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT		= 11,
	KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO		= 12,
	KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT		= 13,
	KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT		= 14,
};

struct kfd_ioctl_dbg_trap_enable_args {
	__u64 exception_mask;		/* exceptions that write a byte to @dbg_fd */
	__u64 rinfo_ptr;		/* address of a struct kfd_runtime_info */
	__u32 rinfo_size;		/* in and out */
	__u32 dbg_fd;			/* write end of a pipe; an eventfd is refused */
};

struct kfd_ioctl_dbg_trap_send_runtime_event_args {
	__u64 exception_mask;
	__u32 gpu_id;
	__u32 queue_id;
};

struct kfd_ioctl_dbg_trap_set_exceptions_enabled_args {
	__u64 exception_mask;
};

struct kfd_ioctl_dbg_trap_set_wave_launch_override_args {
	__u32 override_mode;		/* 0: or, 1: replace */
	__u32 enable_mask;		/* in and out */
	__u32 support_request_mask;	/* in and out */
	__u32 pad;
};

struct kfd_ioctl_dbg_trap_set_wave_launch_mode_args {
	__u32 launch_mode;		/* enum kfd_dbg_trap_wave_launch_mode */
	__u32 pad;
};

/* The bits of an id that the driver sets in the arrays of suspend and resume. */
#define KFD_DBG_QUEUE_ERROR_MASK	(1u << 30)	/* the hardware failed */
#define KFD_DBG_QUEUE_INVALID_MASK	(1u << 31)	/* unknown, still new, or being destroyed */

/* Suspend and resume return the number of queues they moved. */
struct kfd_ioctl_dbg_trap_suspend_queues_args {
	__u64 exception_mask;		/* exceptions to clear; too late for EC_QUEUE_NEW */
	__u64 queue_array_ptr;		/* address of @num_queues words, marked in place */
	__u32 num_queues;
	__u32 grace_period;		/* 1000 GPU clocks each, 1..GP_KFD_GRACE_MAX */
};

struct kfd_ioctl_dbg_trap_resume_queues_args {
	__u64 queue_array_ptr;		/* 0: all queues of the process */
	__u32 num_queues;
	__u32 pad;
};

struct kfd_ioctl_dbg_trap_set_node_address_watch_args {
	__u64 address;
	__u32 mode;			/* 0: read, 1: not read, 2: atomic, 3: all */
	__u32 mask;
	__u32 gpu_id;
	__u32 id;			/* out */
};

struct kfd_ioctl_dbg_trap_clear_node_address_watch_args {
	__u32 gpu_id;
	__u32 id;
};

struct kfd_ioctl_dbg_trap_set_flags_args {
	__u32 flags;			/* enum kfd_dbg_trap_flags; out: the flags before */
	__u32 pad;
};

struct kfd_ioctl_dbg_trap_query_debug_event_args {
	__u64 exception_mask;		/* in: exceptions to clear; out: those that are set */
	__u32 gpu_id;			/* out */
	__u32 queue_id;			/* out */
};

struct kfd_ioctl_dbg_trap_query_exception_info_args {
	__u64 info_ptr;
	__u32 info_size;		/* in and out */
	__u32 source_id;
	__u32 exception_code;		/* enum kfd_dbg_trap_exception_code */
	__u32 clear_exception;
};

struct kfd_ioctl_dbg_trap_queue_snapshot_args {
	__u64 exception_mask;		/* to clear in the queues that are copied */
	__u64 snapshot_buf_ptr;
	__u32 num_queues;		/* in: room; out: how many queues there are */
	__u32 entry_size;		/* in: stride; out: bytes that the driver fills */
};

struct kfd_ioctl_dbg_trap_device_snapshot_args {
	__u64 exception_mask;
	__u64 snapshot_buf_ptr;
	__u32 num_devices;
	__u32 entry_size;
};

struct kfd_ioctl_dbg_trap_args {
	__u32 pid;
	__u32 op;			/* enum kfd_dbg_trap_operations */
	union {
		struct kfd_ioctl_dbg_trap_enable_args enable;
		struct kfd_ioctl_dbg_trap_send_runtime_event_args send_runtime_event;
		struct kfd_ioctl_dbg_trap_set_exceptions_enabled_args set_exceptions_enabled;
		struct kfd_ioctl_dbg_trap_set_wave_launch_override_args launch_override;
		struct kfd_ioctl_dbg_trap_set_wave_launch_mode_args launch_mode;
		struct kfd_ioctl_dbg_trap_suspend_queues_args suspend_queues;
		struct kfd_ioctl_dbg_trap_resume_queues_args resume_queues;
		struct kfd_ioctl_dbg_trap_set_node_address_watch_args set_node_address_watch;
		struct kfd_ioctl_dbg_trap_clear_node_address_watch_args clear_node_address_watch;
		struct kfd_ioctl_dbg_trap_set_flags_args set_flags;
		struct kfd_ioctl_dbg_trap_query_debug_event_args query_debug_event;
		struct kfd_ioctl_dbg_trap_query_exception_info_args query_exception_info;
		struct kfd_ioctl_dbg_trap_queue_snapshot_args queue_snapshot;
		struct kfd_ioctl_dbg_trap_device_snapshot_args device_snapshot;
	};
};

#define AMDKFD_IOC_DBG_TRAP		AMDKFD_IOWR(0x26, struct kfd_ioctl_dbg_trap_args)

/* An entry of GET_QUEUE_SNAPSHOT. The newest queue comes first. */
struct kfd_queue_snapshot_entry {
	__u64 exception_status;
	__u64 ring_base_address;
	__u64 write_pointer_address;
	__u64 read_pointer_address;
	__u64 ctx_save_restore_address;
	__u32 queue_id;
	__u32 gpu_id;
	__u32 ring_size;
	__u32 queue_type;		/* KFD_IOC_QUEUE_TYPE_* */
	__u32 ctx_save_restore_area_size;
	__u32 reserved;
};

/* An entry of GET_DEVICE_SNAPSHOT. */
struct kfd_dbg_device_info_entry {
	__u64 exception_status;
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

/* The start of each XCC's save area; the driver writes the first four words. */
struct kfd_context_save_area_header {
	struct {
		__u32 control_stack_offset;
		__u32 control_stack_size;
		__u32 wave_state_offset;
		__u32 wave_state_size;
	} wave_state;
	__u32 debug_offset;		/* from here to the debugger part of all XCCs */
	__u32 debug_size;
	__u64 err_payload_addr;		/* address of a word that gets an exception's mask */
	__u32 err_event_id;
	__u32 reserved1;
};
#endif /* the debugger's interface */

/* KFD 1.17, Linux 6.12: an SDMA queue on the engine that the caller names. */
#if KFD_IOCTL_MINOR_VERSION < 17
#define KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID	0x4
#endif

/* With either header: struct kfd_ioctl_create_queue_args as 1.17 has it. */
union gp_kfd_create_queue {
	struct kfd_ioctl_create_queue_args args;
	struct {
		__u8 args_1_11[88];
		__u32 sdma_engine_id;
		__u32 pad;
	};
};

#define GP_KFD_IOC_CREATE_QUEUE		AMDKFD_IOWR(0x02, union gp_kfd_create_queue)

/* Facts that the driver's exported headers do not state. */
#define GP_KFD_DEVICE		"/dev/kfd"
#define GP_KFD_DOORBELL_BYTES	8192	/* a process's doorbells of one GPU; mmap exactly this */
#define GP_KFD_EOP_BYTES	4096
#define GP_KFD_EVENT_PAGE_BYTES	(KFD_SIGNAL_EVENT_LIMIT * 8)
#define GP_KFD_WAIT_FOREVER	0xffffffffu	/* 0xfffffffe too */
#define GP_KFD_DBG_QUEUE_MAX	1024	/* ids in one suspend or resume */
#define GP_KFD_GRACE_DEFAULT	0xffffffffu	/* the device's own grace period */
#define GP_KFD_GRACE_MAX	255u	/* the register has 8 bits; 256 would be endless */

/* mmap offsets on /dev/kfd: a type, a GPU, and an offset within. */
#define GP_KFD_MMAP_GPU_SHIFT	46
#define GP_KFD_MMAP_DOORBELL	(3ull << 62)

#endif /* GP_UAPI_KFD_H */
