/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The claims about queues, by file. */
#ifndef LAB_QUEUES_H
#define LAB_QUEUES_H

#include "probe.h"

/* Dwords of an MQD. */
enum {
	MQD_HEADER	= 0,
	MQD_RESOURCES	= 22,
	MQD_SE0		= 23,
	MQD_LOGIC_XCC	= 39,
	MQD_CHUNK	= 41,
	MQD_BASE	= 128,
	MQD_ACTIVE	= 130,
	MQD_PIPE_PRIORITY = 133,
	MQD_PRIORITY	= 134,
	MQD_QUANTUM	= 135,
	MQD_RING	= 136,
	MQD_RPTR_REPORT	= 139,
	MQD_DOORBELL	= 143,
	MQD_CONTROL	= 145,
	MQD_SAVE_BASE	= 171,
	MQD_STACK_OFFSET = 174,
	MQD_STACK_SIZE	= 175,
	MQD_WAVE_OFFSET	= 176,
	MQD_SAVE_SIZE	= 177,
	MQD_AQL		= 181,
	MQD_TARGET_XCC	= 225,
	MQD_STRIDE	= 226,
};

#define MQD_NO_UPDATE_RPTR	(1u << 27)

/* life.c */
void mqd_copies(struct gp_lab_client *c);
void mqd_of_pm4(struct gp_lab_client *c);
void hiq_everywhere(struct gp_lab_client *c);
void mapped_and_not(struct gp_lab_client *c);
void unmapped_takes_work(struct gp_lab_client *c);
void unmapped_while_running(struct gp_lab_client *c);
void evicted_takes_work(struct gp_lab_client *c);
void barrier_ends_soon(struct gp_lab_client *c);
void copies_evicted(struct gp_lab_client *c);

/* runlist.c */
void runlist_is_active(struct gp_lab_client *c);
void idle_process_listed(struct gp_lab_client *c);
void costs(struct gp_lab_client *c);
void cost_of_exit(struct gp_lab_client *c);
void oversubscribed(struct gp_lab_client *c);
void crowded_aql(struct gp_lab_client *c);
void crowded_pm4(struct gp_lab_client *c);

/* refuse.c */
void create_refusals(struct gp_lab_client *c);
void create_without_vm(struct gp_lab_client *c);
void update_refusals(struct gp_lab_client *c);
void small_calls_refused(struct gp_lab_client *c);
void memory_in_use(struct gp_lab_client *c);
void numbers_and_owners(struct gp_lab_client *c);

/* change.c */
void priorities(struct gp_lab_client *c);
void null_ring(struct gp_lab_client *c);
void ring_replaced(struct gp_lab_client *c);
void cu_masks(struct gp_lab_client *c);
void cu_mask_slows(struct gp_lab_client *c);
void wave_state(struct gp_lab_client *c);
void gws(struct gp_lab_client *c);
void xnack(struct gp_lab_client *c);
void sysfs(struct gp_lab_client *c);
void occupancy(struct gp_lab_client *c);
void ids_reused(struct gp_lab_client *c);

/* evict.c */
void criu_pause(struct gp_lab_client *c);
void criu_counts(struct gp_lab_client *c);
void criu_twice(struct gp_lab_client *c);
void criu_capability(struct gp_lab_client *c);
void criu_no_process(struct gp_lab_client *c);
void smi_lines(struct gp_lab_client *c);
void smi_filter(struct gp_lab_client *c);
void smi_fifo(struct gp_lab_client *c);
void userptr_eviction(struct gp_lab_client *c);
void evictions_nest(struct gp_lab_client *c);
void userptr_read_only(struct gp_lab_client *c);
void fork_evicts(struct gp_lab_client *c);
void vram_pressure(struct gp_lab_client *c);

/* memory.c */
void render_mappings(struct gp_lab_client *c);
void doorbell_mapping(struct gp_lab_client *c);
void user_pages(struct gp_lab_client *c);
void clock_is_device(struct gp_lab_client *c);
void event_by_signal(struct gp_lab_client *c);
void event_timeout(struct gp_lab_client *c);
void many_events(struct gp_lab_client *c);

#endif /* LAB_QUEUES_H */
