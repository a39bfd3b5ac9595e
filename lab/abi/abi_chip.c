// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Compares the device model's packets and queue descriptors of the driver (vgpu/) with amdkfd's
 * and amdgpu's own headers, which lab/abi/check puts on the include path, and its AQL packets
 * with those of programs (uapi/aql.h).
 */
#include "abi.h"

/* The driver's headers leave these types to the files that include them. */
#include <stdbool.h>

#include KERNEL_V9_STRUCTS_H
#include KERNEL_PM4_OPCODES_H
#include KERNEL_PM4_HEADERS_H
#include KERNEL_PM4_ALDEBARAN_H
#include KERNEL_SDMA_H

#include "uapi/aql.h"
#include "vgpu/aql.h"
#include "vgpu/mqd.h"
#include "vgpu/pm4.h"
#include "vgpu/sdma_packet.h"

#define DWORD(ours, ktype, kfield)	VALUE(ours, offsetof(ktype, kfield) / 4)
#define BYTE(ours, ktype, kfield)	VALUE(ours, offsetof(ktype, kfield))

static const struct gp_abi_pair opcodes[] = {
	VALUE(VGPU_PM4_NOP, IT_NOP),
	VALUE(VGPU_PM4_WRITE_DATA, IT_WRITE_DATA),
	VALUE(VGPU_PM4_SET_RESOURCES, IT_SET_RESOURCES),
	VALUE(VGPU_PM4_MAP_PROCESS, IT_MAP_PROCESS),
	VALUE(VGPU_PM4_MAP_QUEUES, IT_MAP_QUEUES),
	VALUE(VGPU_PM4_UNMAP_QUEUES, IT_UNMAP_QUEUES),
	VALUE(VGPU_PM4_QUERY_STATUS, IT_QUERY_STATUS),
	VALUE(VGPU_PM4_RUN_LIST, IT_RUN_LIST),
	VALUE(VGPU_PM4_WRITE_DATA_DW, sizeof(struct pm4_mec_write_data_mmio) / 4),
	VALUE(VGPU_PM4_SET_RESOURCES_DW, sizeof(struct pm4_mes_set_resources) / 4),
	VALUE(VGPU_PM4_MAP_PROCESS_DW, sizeof(struct pm4_mes_map_process) / 4),
	VALUE(VGPU_PM4_MAP_PROCESS_WATCH_DW, sizeof(struct pm4_mes_map_process_aldebaran) / 4),
	VALUE(VGPU_PM4_MAP_QUEUES_DW, sizeof(struct pm4_mes_map_queues) / 4),
	VALUE(VGPU_PM4_UNMAP_QUEUES_DW, sizeof(struct pm4_mes_unmap_queues) / 4),
	VALUE(VGPU_PM4_QUERY_STATUS_DW, sizeof(struct pm4_mes_query_status) / 4),
	VALUE(VGPU_PM4_RUN_LIST_DW, sizeof(struct pm4_mes_runlist) / 4),
};

static const struct gp_abi_pair selectors[] = {
	VALUE(VGPU_PM4_PREEMPT, action__mes_unmap_queues__preempt_queues),
	VALUE(VGPU_PM4_RESET, action__mes_unmap_queues__reset_queues),
	VALUE(VGPU_PM4_DISABLE, action__mes_unmap_queues__disable_process_queues),
	VALUE(VGPU_PM4_BY_DOORBELL,
	      queue_sel__mes_unmap_queues__perform_request_on_specified_queues),
	VALUE(VGPU_PM4_BY_PASID, queue_sel__mes_unmap_queues__perform_request_on_pasid_queues),
	VALUE(VGPU_PM4_ALL, queue_sel__mes_unmap_queues__unmap_all_queues),
	VALUE(VGPU_PM4_DYNAMIC, queue_sel__mes_unmap_queues__unmap_all_non_static_queues),
	VALUE(VGPU_PM4_IRQ_ONLY, command__mes_query_status__interrupt_only),
	VALUE(VGPU_PM4_FENCE_AT_ONCE, command__mes_query_status__fence_only_immediate),
	VALUE(VGPU_PM4_FENCE, command__mes_query_status__fence_only_after_write_ack),
	VALUE(VGPU_PM4_FENCE_AND_IRQ,
	      command__mes_query_status__fence_wait_for_write_ack_send_interrupt),
	VALUE(VGPU_PM4_COMPUTE, engine_sel__mes_map_queues__compute_vi),
	VALUE(VGPU_PM4_SDMA0, engine_sel__mes_map_queues__sdma0_vi),
	VALUE(VGPU_PM4_SDMA1, engine_sel__mes_map_queues__sdma1_vi),
};

static const struct gp_abi_pair mqd[] = {
	VALUE(VGPU_MQD_DW, sizeof(struct v9_mqd) / 4),
	DWORD(VGPU_MQD_THREAD_MGMT_SE0, struct v9_mqd, compute_static_thread_mgmt_se0),
	DWORD(VGPU_MQD_THREAD_MGMT_SE1, struct v9_mqd, compute_static_thread_mgmt_se1),
	DWORD(VGPU_MQD_THREAD_MGMT_SE2, struct v9_mqd, compute_static_thread_mgmt_se2),
	DWORD(VGPU_MQD_THREAD_MGMT_SE3, struct v9_mqd, compute_static_thread_mgmt_se3),
	DWORD(VGPU_MQD_REGISTERS, struct v9_mqd, cp_mqd_base_addr_lo),
	DWORD(VGPU_MQD_BASE_LO, struct v9_mqd, cp_mqd_base_addr_lo),
	DWORD(VGPU_MQD_ACTIVE, struct v9_mqd, cp_hqd_active),
	DWORD(VGPU_MQD_VMID, struct v9_mqd, cp_hqd_vmid),
	DWORD(VGPU_MQD_PIPE_PRIORITY, struct v9_mqd, cp_hqd_pipe_priority),
	DWORD(VGPU_MQD_QUEUE_PRIORITY, struct v9_mqd, cp_hqd_queue_priority),
	DWORD(VGPU_MQD_PQ_BASE_LO, struct v9_mqd, cp_hqd_pq_base_lo),
	DWORD(VGPU_MQD_PQ_BASE_HI, struct v9_mqd, cp_hqd_pq_base_hi),
	DWORD(VGPU_MQD_PQ_RPTR, struct v9_mqd, cp_hqd_pq_rptr),
	DWORD(VGPU_MQD_RPTR_REPORT_LO, struct v9_mqd, cp_hqd_pq_rptr_report_addr_lo),
	DWORD(VGPU_MQD_RPTR_REPORT_HI, struct v9_mqd, cp_hqd_pq_rptr_report_addr_hi),
	DWORD(VGPU_MQD_WPTR_POLL_LO, struct v9_mqd, cp_hqd_pq_wptr_poll_addr_lo),
	DWORD(VGPU_MQD_WPTR_POLL_HI, struct v9_mqd, cp_hqd_pq_wptr_poll_addr_hi),
	DWORD(VGPU_MQD_DOORBELL_CONTROL, struct v9_mqd, cp_hqd_pq_doorbell_control),
	DWORD(VGPU_MQD_PQ_CONTROL, struct v9_mqd, cp_hqd_pq_control),
	DWORD(VGPU_MQD_CTX_SAVE_LO, struct v9_mqd, cp_hqd_ctx_save_base_addr_lo),
	DWORD(VGPU_MQD_CTX_SAVE_HI, struct v9_mqd, cp_hqd_ctx_save_base_addr_hi),
	DWORD(VGPU_MQD_CNTL_STACK_OFFSET, struct v9_mqd, cp_hqd_cntl_stack_offset),
	DWORD(VGPU_MQD_CNTL_STACK_SIZE, struct v9_mqd, cp_hqd_cntl_stack_size),
	DWORD(VGPU_MQD_WG_STATE_OFFSET, struct v9_mqd, cp_hqd_wg_state_offset),
	DWORD(VGPU_MQD_CTX_SAVE_SIZE, struct v9_mqd, cp_hqd_ctx_save_size),
	DWORD(VGPU_MQD_PQ_WPTR_LO, struct v9_mqd, cp_hqd_pq_wptr_lo),
	DWORD(VGPU_MQD_PQ_WPTR_HI, struct v9_mqd, cp_hqd_pq_wptr_hi),
	DWORD(VGPU_MQD_TARGET_XCC, struct v9_mqd, pm4_target_xcc_in_xcp),
	DWORD(VGPU_MQD_STRIDE, struct v9_mqd, cp_mqd_stride_size),
	DWORD(VGPU_MQD_HANDLE, struct v9_mqd, reserved_236),
	DWORD(VGPU_MQD_FAILED_DOORBELL, struct v9_mqd, queue_doorbell_id0),
};

static const struct gp_abi_pair sdma_mqd[] = {
	VALUE(VGPU_SDMA_MQD_DW, sizeof(struct v9_sdma_mqd) / 4),
	DWORD(VGPU_SDMA_MQD_RB_CNTL, struct v9_sdma_mqd, sdmax_rlcx_rb_cntl),
	DWORD(VGPU_SDMA_MQD_BASE_LO, struct v9_sdma_mqd, sdmax_rlcx_rb_base),
	DWORD(VGPU_SDMA_MQD_BASE_HI, struct v9_sdma_mqd, sdmax_rlcx_rb_base_hi),
	DWORD(VGPU_SDMA_MQD_RPTR_LO, struct v9_sdma_mqd, sdmax_rlcx_rb_rptr),
	DWORD(VGPU_SDMA_MQD_RPTR_HI, struct v9_sdma_mqd, sdmax_rlcx_rb_rptr_hi),
	DWORD(VGPU_SDMA_MQD_WPTR_LO, struct v9_sdma_mqd, sdmax_rlcx_rb_wptr),
	DWORD(VGPU_SDMA_MQD_WPTR_HI, struct v9_sdma_mqd, sdmax_rlcx_rb_wptr_hi),
	DWORD(VGPU_SDMA_MQD_RPTR_ADDR_HI, struct v9_sdma_mqd, sdmax_rlcx_rb_rptr_addr_hi),
	DWORD(VGPU_SDMA_MQD_RPTR_ADDR_LO, struct v9_sdma_mqd, sdmax_rlcx_rb_rptr_addr_lo),
	DWORD(VGPU_SDMA_MQD_DOORBELL_OFFSET, struct v9_sdma_mqd, sdmax_rlcx_doorbell_offset),
	DWORD(VGPU_SDMA_MQD_HANDLE, struct v9_sdma_mqd, reserved_124),
	DWORD(VGPU_SDMA_MQD_ENGINE, struct v9_sdma_mqd, sdma_engine_id),
	DWORD(VGPU_SDMA_MQD_QUEUE, struct v9_sdma_mqd, sdma_queue_id),
};

static const struct gp_abi_pair sdma_opcodes[] = {
	VALUE(OP_NOP, SDMA_OP_NOP),
	VALUE(OP_COPY, SDMA_OP_COPY),
	VALUE(OP_WRITE, SDMA_OP_WRITE),
	VALUE(OP_INDIRECT, SDMA_OP_INDIRECT),
	VALUE(OP_FENCE, SDMA_OP_FENCE),
	VALUE(OP_TRAP, SDMA_OP_TRAP),
	VALUE(OP_POLL, SDMA_OP_POLL_REGMEM),
	VALUE(OP_COND_EXE, SDMA_OP_COND_EXE),
	VALUE(OP_ATOMIC, SDMA_OP_ATOMIC),
	VALUE(OP_FILL, SDMA_OP_CONST_FILL),
	VALUE(OP_TIMESTAMP, SDMA_OP_TIMESTAMP),
	VALUE(OP_SRBM_WRITE, SDMA_OP_SRBM_WRITE),
	VALUE(OP_PRE_EXE, SDMA_OP_PRE_EXE),
};

static const struct gp_abi_pair aql[] = {
	VALUE(VGPU_AQL_TYPE_VENDOR, GP_AQL_VENDOR),
	VALUE(VGPU_AQL_TYPE_INVALID, GP_AQL_INVALID),
	VALUE(VGPU_AQL_TYPE_KERNEL, GP_AQL_KERNEL),
	VALUE(VGPU_AQL_TYPE_AND, GP_AQL_BARRIER_AND),
	VALUE(VGPU_AQL_TYPE_AGENT, GP_AQL_AGENT),
	VALUE(VGPU_AQL_TYPE_OR, GP_AQL_BARRIER_OR),
	VALUE(VGPU_AQL_BYTES, sizeof(union gp_aql_packet)),
	BYTE(VGPU_AQL_HEADER, struct gp_aql_kernel, header),
	BYTE(VGPU_AQL_SETUP, struct gp_aql_kernel, dimensions),
	BYTE(VGPU_AQL_WORKGROUP, struct gp_aql_kernel, workgroup),
	BYTE(VGPU_AQL_GRID, struct gp_aql_kernel, grid),
	BYTE(VGPU_AQL_GROUP_SEGMENT, struct gp_aql_kernel, group_bytes),
	BYTE(VGPU_AQL_KERNEL_OBJECT, struct gp_aql_kernel, kernel_object),
	BYTE(VGPU_AQL_KERNARG, struct gp_aql_kernel, kernarg),
	BYTE(VGPU_AQL_SIGNAL, struct gp_aql_kernel, completion),
	BYTE(VGPU_AQL_DEP, struct gp_aql_barrier, waits_for),
	BYTE(VGPU_AQL_SIGNAL, struct gp_aql_barrier, completion),
	BYTE(VGPU_SIGNAL_VALUE, struct gp_amd_signal, value),
	BYTE(VGPU_SIGNAL_MAILBOX, struct gp_amd_signal, mailbox),
	BYTE(VGPU_SIGNAL_EVENT, struct gp_amd_signal, event_id),
	BYTE(VGPU_SIGNAL_START, struct gp_amd_signal, start_ts),
	BYTE(VGPU_SIGNAL_END, struct gp_amd_signal, end_ts),
};

static const struct gp_abi_claim claims[] = {
	CLAIM("PM4: opcodes and sizes of the scheduler's packets", opcodes),
	CLAIM("PM4: what UNMAP_QUEUES, QUERY_STATUS and MAP_QUEUES select", selectors),
	CLAIM("MQD: where the fields of a compute queue are", mqd),
	CLAIM("MQD: where the fields of an SDMA queue are", sdma_mqd),
	CLAIM("SDMA: opcodes", sdma_opcodes),
	CLAIM("AQL: device and programs mean the same bytes", aql),
};

int main(void)
{
	return gp_abi_prove(claims, sizeof(claims) / sizeof(claims[0])) != 0;
}
