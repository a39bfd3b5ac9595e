// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Prints what uapi/kfd.h adds to the installed kfd_ioctl.h: constants, and the place and width
 * of each member. lab/abi/check compiles this file a second time with KERNEL_KFD_IOCTL_H, which
 * names the header of the driver's source, and compares what the two print.
 */
#include <stddef.h>
#include <stdio.h>

#ifdef KERNEL_KFD_IOCTL_H
#include KERNEL_KFD_IOCTL_H
#define CREATE_QUEUE struct kfd_ioctl_create_queue_args
#else
#include "uapi/kfd.h"
#define CREATE_QUEUE union gp_kfd_create_queue
#endif

#define VALUE(name)	printf(#name " %#llx\n", (unsigned long long)(name))
#define SIZE(type)	printf("size of " #type " %zu\n", sizeof(struct type))
#define AT(type, member)	printf(#type "." #member " %zu+%zu\n",		\
				       offsetof(struct type, member),		\
				       sizeof(((struct type *)0)->member))

static void constants(void)
{
	VALUE(DEBUG_RUNTIME_STATE_DISABLED);
	VALUE(DEBUG_RUNTIME_STATE_ENABLED);
	VALUE(DEBUG_RUNTIME_STATE_ENABLED_BUSY);
	VALUE(DEBUG_RUNTIME_STATE_ENABLED_ERROR);
	VALUE(EC_QUEUE_WAVE_TRAP);
	VALUE(EC_QUEUE_NEW);
	VALUE(EC_DEVICE_QUEUE_DELETE);
	VALUE(EC_DEVICE_MEMORY_VIOLATION);
	VALUE(EC_PROCESS_RUNTIME);
	VALUE(KFD_DBG_TRAP_WAVE_LAUNCH_MODE_HALT);
	VALUE(KFD_DBG_TRAP_FLAG_SINGLE_MEM_OP);
	VALUE(KFD_DBG_TRAP_FLAG_SINGLE_ALU_OP);
	VALUE(KFD_IOC_DBG_TRAP_ENABLE);
	VALUE(KFD_IOC_DBG_TRAP_DISABLE);
	VALUE(KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT);
	VALUE(KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED);
	VALUE(KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE);
	VALUE(KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_MODE);
	VALUE(KFD_IOC_DBG_TRAP_SUSPEND_QUEUES);
	VALUE(KFD_IOC_DBG_TRAP_RESUME_QUEUES);
	VALUE(KFD_IOC_DBG_TRAP_SET_NODE_ADDRESS_WATCH);
	VALUE(KFD_IOC_DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH);
	VALUE(KFD_IOC_DBG_TRAP_SET_FLAGS);
	VALUE(KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT);
	VALUE(KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO);
	VALUE(KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT);
	VALUE(KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT);
	VALUE(AMDKFD_IOC_EXPORT_DMABUF);
	VALUE(KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK);
	VALUE(KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK);
	VALUE(AMDKFD_IOC_RUNTIME_ENABLE);
	VALUE((unsigned int)KFD_DBG_QUEUE_ERROR_MASK);
	VALUE((unsigned int)KFD_DBG_QUEUE_INVALID_MASK);
	VALUE(AMDKFD_IOC_DBG_TRAP);
	VALUE(KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID);
	printf("an SDMA queue's engine %zu of %zu\n", offsetof(CREATE_QUEUE, sdma_engine_id),
	       sizeof(CREATE_QUEUE));
}

/* The arguments of calls. */
static void calls(void)
{
	SIZE(kfd_ioctl_export_dmabuf_args);
	AT(kfd_ioctl_export_dmabuf_args, handle);
	AT(kfd_ioctl_export_dmabuf_args, flags);
	AT(kfd_ioctl_export_dmabuf_args, dmabuf_fd);
	SIZE(kfd_ioctl_runtime_enable_args);
	AT(kfd_ioctl_runtime_enable_args, r_debug);
	AT(kfd_ioctl_runtime_enable_args, mode_mask);
	AT(kfd_ioctl_runtime_enable_args, capabilities_mask);
}

/* The arguments of AMDKFD_IOC_DBG_TRAP. */
static void operations(void)
{
	SIZE(kfd_ioctl_dbg_trap_enable_args);
	AT(kfd_ioctl_dbg_trap_enable_args, exception_mask);
	AT(kfd_ioctl_dbg_trap_enable_args, rinfo_ptr);
	AT(kfd_ioctl_dbg_trap_enable_args, rinfo_size);
	AT(kfd_ioctl_dbg_trap_enable_args, dbg_fd);
	SIZE(kfd_ioctl_dbg_trap_send_runtime_event_args);
	AT(kfd_ioctl_dbg_trap_send_runtime_event_args, exception_mask);
	AT(kfd_ioctl_dbg_trap_send_runtime_event_args, gpu_id);
	AT(kfd_ioctl_dbg_trap_send_runtime_event_args, queue_id);
	SIZE(kfd_ioctl_dbg_trap_set_exceptions_enabled_args);
	AT(kfd_ioctl_dbg_trap_set_exceptions_enabled_args, exception_mask);
	SIZE(kfd_ioctl_dbg_trap_set_wave_launch_override_args);
	AT(kfd_ioctl_dbg_trap_set_wave_launch_override_args, override_mode);
	AT(kfd_ioctl_dbg_trap_set_wave_launch_override_args, enable_mask);
	AT(kfd_ioctl_dbg_trap_set_wave_launch_override_args, support_request_mask);
	AT(kfd_ioctl_dbg_trap_set_wave_launch_override_args, pad);
	SIZE(kfd_ioctl_dbg_trap_set_wave_launch_mode_args);
	AT(kfd_ioctl_dbg_trap_set_wave_launch_mode_args, launch_mode);
	AT(kfd_ioctl_dbg_trap_set_wave_launch_mode_args, pad);
	SIZE(kfd_ioctl_dbg_trap_suspend_queues_args);
	AT(kfd_ioctl_dbg_trap_suspend_queues_args, exception_mask);
	AT(kfd_ioctl_dbg_trap_suspend_queues_args, queue_array_ptr);
	AT(kfd_ioctl_dbg_trap_suspend_queues_args, num_queues);
	AT(kfd_ioctl_dbg_trap_suspend_queues_args, grace_period);
	SIZE(kfd_ioctl_dbg_trap_resume_queues_args);
	AT(kfd_ioctl_dbg_trap_resume_queues_args, queue_array_ptr);
	AT(kfd_ioctl_dbg_trap_resume_queues_args, num_queues);
	AT(kfd_ioctl_dbg_trap_resume_queues_args, pad);
	SIZE(kfd_ioctl_dbg_trap_set_node_address_watch_args);
	AT(kfd_ioctl_dbg_trap_set_node_address_watch_args, address);
	AT(kfd_ioctl_dbg_trap_set_node_address_watch_args, mode);
	AT(kfd_ioctl_dbg_trap_set_node_address_watch_args, mask);
	AT(kfd_ioctl_dbg_trap_set_node_address_watch_args, gpu_id);
	AT(kfd_ioctl_dbg_trap_set_node_address_watch_args, id);
	SIZE(kfd_ioctl_dbg_trap_clear_node_address_watch_args);
	AT(kfd_ioctl_dbg_trap_clear_node_address_watch_args, gpu_id);
	AT(kfd_ioctl_dbg_trap_clear_node_address_watch_args, id);
	SIZE(kfd_ioctl_dbg_trap_set_flags_args);
	AT(kfd_ioctl_dbg_trap_set_flags_args, flags);
	AT(kfd_ioctl_dbg_trap_set_flags_args, pad);
	SIZE(kfd_ioctl_dbg_trap_query_debug_event_args);
	AT(kfd_ioctl_dbg_trap_query_debug_event_args, exception_mask);
	AT(kfd_ioctl_dbg_trap_query_debug_event_args, gpu_id);
	AT(kfd_ioctl_dbg_trap_query_debug_event_args, queue_id);
	SIZE(kfd_ioctl_dbg_trap_query_exception_info_args);
	AT(kfd_ioctl_dbg_trap_query_exception_info_args, info_ptr);
	AT(kfd_ioctl_dbg_trap_query_exception_info_args, info_size);
	AT(kfd_ioctl_dbg_trap_query_exception_info_args, source_id);
	AT(kfd_ioctl_dbg_trap_query_exception_info_args, exception_code);
	AT(kfd_ioctl_dbg_trap_query_exception_info_args, clear_exception);
	SIZE(kfd_ioctl_dbg_trap_queue_snapshot_args);
	AT(kfd_ioctl_dbg_trap_queue_snapshot_args, exception_mask);
	AT(kfd_ioctl_dbg_trap_queue_snapshot_args, snapshot_buf_ptr);
	AT(kfd_ioctl_dbg_trap_queue_snapshot_args, num_queues);
	AT(kfd_ioctl_dbg_trap_queue_snapshot_args, entry_size);
	SIZE(kfd_ioctl_dbg_trap_device_snapshot_args);
	AT(kfd_ioctl_dbg_trap_device_snapshot_args, exception_mask);
	AT(kfd_ioctl_dbg_trap_device_snapshot_args, snapshot_buf_ptr);
	AT(kfd_ioctl_dbg_trap_device_snapshot_args, num_devices);
	AT(kfd_ioctl_dbg_trap_device_snapshot_args, entry_size);
	SIZE(kfd_ioctl_dbg_trap_args);
	AT(kfd_ioctl_dbg_trap_args, pid);
	AT(kfd_ioctl_dbg_trap_args, op);
	AT(kfd_ioctl_dbg_trap_args, enable);
	AT(kfd_ioctl_dbg_trap_args, send_runtime_event);
	AT(kfd_ioctl_dbg_trap_args, set_exceptions_enabled);
	AT(kfd_ioctl_dbg_trap_args, launch_override);
	AT(kfd_ioctl_dbg_trap_args, launch_mode);
	AT(kfd_ioctl_dbg_trap_args, suspend_queues);
	AT(kfd_ioctl_dbg_trap_args, resume_queues);
	AT(kfd_ioctl_dbg_trap_args, set_node_address_watch);
	AT(kfd_ioctl_dbg_trap_args, clear_node_address_watch);
	AT(kfd_ioctl_dbg_trap_args, set_flags);
	AT(kfd_ioctl_dbg_trap_args, query_debug_event);
	AT(kfd_ioctl_dbg_trap_args, query_exception_info);
	AT(kfd_ioctl_dbg_trap_args, queue_snapshot);
	AT(kfd_ioctl_dbg_trap_args, device_snapshot);
}

/* Structures that the driver fills. */
static void entries(void)
{
	SIZE(kfd_runtime_info);
	AT(kfd_runtime_info, r_debug);
	AT(kfd_runtime_info, runtime_state);
	AT(kfd_runtime_info, ttmp_setup);
	SIZE(kfd_queue_snapshot_entry);
	AT(kfd_queue_snapshot_entry, exception_status);
	AT(kfd_queue_snapshot_entry, ring_base_address);
	AT(kfd_queue_snapshot_entry, write_pointer_address);
	AT(kfd_queue_snapshot_entry, read_pointer_address);
	AT(kfd_queue_snapshot_entry, ctx_save_restore_address);
	AT(kfd_queue_snapshot_entry, queue_id);
	AT(kfd_queue_snapshot_entry, gpu_id);
	AT(kfd_queue_snapshot_entry, ring_size);
	AT(kfd_queue_snapshot_entry, queue_type);
	AT(kfd_queue_snapshot_entry, ctx_save_restore_area_size);
	AT(kfd_queue_snapshot_entry, reserved);
	SIZE(kfd_dbg_device_info_entry);
	AT(kfd_dbg_device_info_entry, exception_status);
	AT(kfd_dbg_device_info_entry, lds_base);
	AT(kfd_dbg_device_info_entry, lds_limit);
	AT(kfd_dbg_device_info_entry, scratch_base);
	AT(kfd_dbg_device_info_entry, scratch_limit);
	AT(kfd_dbg_device_info_entry, gpuvm_base);
	AT(kfd_dbg_device_info_entry, gpuvm_limit);
	AT(kfd_dbg_device_info_entry, gpu_id);
	AT(kfd_dbg_device_info_entry, location_id);
	AT(kfd_dbg_device_info_entry, vendor_id);
	AT(kfd_dbg_device_info_entry, device_id);
	AT(kfd_dbg_device_info_entry, revision_id);
	AT(kfd_dbg_device_info_entry, subsystem_vendor_id);
	AT(kfd_dbg_device_info_entry, subsystem_device_id);
	AT(kfd_dbg_device_info_entry, fw_version);
	AT(kfd_dbg_device_info_entry, gfx_target_version);
	AT(kfd_dbg_device_info_entry, simd_count);
	AT(kfd_dbg_device_info_entry, max_waves_per_simd);
	AT(kfd_dbg_device_info_entry, array_count);
	AT(kfd_dbg_device_info_entry, simd_arrays_per_engine);
	AT(kfd_dbg_device_info_entry, num_xcc);
	AT(kfd_dbg_device_info_entry, capability);
	AT(kfd_dbg_device_info_entry, debug_prop);
	SIZE(kfd_context_save_area_header);
	AT(kfd_context_save_area_header, wave_state.control_stack_offset);
	AT(kfd_context_save_area_header, wave_state.control_stack_size);
	AT(kfd_context_save_area_header, wave_state.wave_state_offset);
	AT(kfd_context_save_area_header, wave_state.wave_state_size);
	AT(kfd_context_save_area_header, debug_offset);
	AT(kfd_context_save_area_header, debug_size);
	AT(kfd_context_save_area_header, err_payload_addr);
	AT(kfd_context_save_area_header, err_event_id);
	AT(kfd_context_save_area_header, reserved1);
}

int main(void)
{
	constants();
	calls();
	operations();
	entries();
	return 0;
}
