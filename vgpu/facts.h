/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Every number the model rests on, with its unit and where it comes from.
 *
 * A result is no better than the weakest number it used, so reports print it.
 * A profile (mi308x, mi300x, mi210, a100) is a full set; a scenario may override
 * single values, which makes them ASSUMED by the scenario.
 */
#ifndef VGPU_FACTS_H
#define VGPU_FACTS_H

#include "gp_env.h"

/* Weakest last, so that the weakest of two is the larger. */
enum vgpu_source {
	VGPU_UNSET,	/* not set, which is a bug */
	VGPU_MEASURED,	/* on hardware; the note says on which */
	VGPU_READ,	/* in public code or documents; the note says where */
	VGPU_ASSUMED,	/* a guess; the note says what would replace it */
};

enum vgpu_unit {
	VGPU_COUNT,
	VGPU_NS,
	VGPU_BYTES,
	VGPU_BYTES_PER_US,
	VGPU_PERMILLE,
	VGPU_CHOICE,	/* an enum of this file */
};

/* When the read pointer passes a packet. AMD's processors do both. */
enum vgpu_rptr_at { VGPU_RPTR_AT_COMPLETION, VGPU_RPTR_AT_LAUNCH };

/* Where waves are saved: HBM, or host memory over PCIe (kernels without SVM). */
enum vgpu_save_area { VGPU_SAVE_VRAM, VGPU_SAVE_HOST };

enum vgpu_fact_id {
	/* the chip */
	VGPU_XCCS,
	VGPU_CUS_PER_XCC,
	VGPU_WAVES_PER_CU,
	VGPU_VGPR_PER_CU,		/* bytes */
	VGPU_LDS_PER_CU,		/* bytes */
	VGPU_SGPR_PER_WAVE,		/* bytes saved */
	VGPU_HWREG_PER_WAVE,		/* bytes saved */
	VGPU_HQD_SLOTS,
	VGPU_VMIDS,
	VGPU_RPTR_AT,
	VGPU_SAVE_AREA,
	VGPU_BANDWIDTH_VRAM,
	VGPU_BANDWIDTH_HOST,
	VGPU_SAVE_EFFICIENCY,		/* share of the bandwidth a save reaches */
	/* the firmware */
	VGPU_COMMAND_NS,		/* HIQ doorbell until the CP acts */
	VGPU_GRACE_NS,			/* SCH_WAVE set to 1 */
	VGPU_GRACE_DEFAULT_NS,		/* SCH_WAVE as the driver leaves it */
	VGPU_SAVE_FIXED_NS,
	VGPU_RESTORE_FIXED_NS,
	VGPU_MAP_PROCESS_NS,
	VGPU_MAP_QUEUE_NS,
	VGPU_DISPATCH_NS,		/* first dispatch of a mapped queue */
	VGPU_QUANTUM_NS,		/* of the hardware scheduler */
	VGPU_PREEMPT_TIMEOUT_NS,	/* after this the driver resets the GPU */
	VGPU_RESET_NS,			/* killing the waves of a queue */
	/* the copy engines */
	VGPU_SDMA_PACKET_NS,		/* until a packet takes effect */
	VGPU_SDMA_BANDWIDTH,		/* of one engine */
	/* the path from the processor, as a home sees it */
	VGPU_LOOK_NS,			/* one pass over the pointers */
	VGPU_WAKE_NS,			/* timer callback to running worker */
	VGPU_DECIDE_NS,			/* one decision of the core */
	VGPU_PROBE_NS,			/* reading the wave counters once */
	VGPU_RUNLIST_NS,		/* fence seen until RUN_LIST is on the ring */
	VGPU_NR_FACTS,
};

struct vgpu_fact {
	u64 value;
	u8 unit;		/* enum vgpu_unit */
	u8 from;		/* enum vgpu_source */
	const char *note;	/* where, or what would replace it */
};

struct vgpu_facts {
	const char *profile;
	struct vgpu_fact f[VGPU_NR_FACTS];
};

/* NULL if there is no such profile. vgpu_profile_names ends with NULL. */
const struct vgpu_facts *vgpu_profile(const char *name);
extern const char *const vgpu_profile_names[];

/* The key a scenario uses, e.g. "save_fixed" for VGPU_SAVE_FIXED_NS. */
const char *vgpu_fact_name(enum vgpu_fact_id id);

/* True if no number of @facts is unset. */
bool vgpu_facts_complete(const struct vgpu_facts *facts);

enum vgpu_source vgpu_facts_weakest(const struct vgpu_facts *facts);

static inline u64 vgpu_value(const struct vgpu_facts *facts, enum vgpu_fact_id id)
{
	return facts->f[id].value;
}

#endif /* VGPU_FACTS_H */
