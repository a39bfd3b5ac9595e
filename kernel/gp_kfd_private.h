/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The driver's private headers and the differences of its versions, shared by gp_kfd*.c. */
#ifndef GP_KERNEL_KFD_PRIVATE_H
#define GP_KERNEL_KFD_PRIVATE_H

#include <linux/version.h>

/*
 * Before 6.5 a GPU was not divided into nodes. Functions that use other features missing from those
 * versions return an error at run time.
 */
#define GP_KFD_NODES	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0))
#if !GP_KFD_NODES
#define kfd_node	kfd_dev
#endif

#include "kfd_priv.h"
#include "kfd_device_queue_manager.h"
#include "kfd_kernel_queue.h"
#include "amdgpu_amdkfd.h"
#include "amdgpu_reset.h"
#include "v9_structs.h"

#undef pr_fmt
#define pr_fmt(fmt) "gpreempt: " fmt

#include "gp_kfd.h"

static inline struct kfd_dev *gp_kfd_dev(struct kfd_node *node)
{
#if GP_KFD_NODES
	return node->kfd;
#else
	return node;
#endif
}

static inline bool gp_kfd_mes(struct kfd_node *node)
{
	return gp_kfd_dev(node)->shared_resources.enable_mes;
}

/* True if the driver gives the firmware lists of queues. The gate, direct and halt need that. */
static inline bool gp_kfd_has_runlist(struct kfd_node *node)
{
	return GP_KFD_NODES && !gp_kfd_mes(node) &&
	       node->dqm->sched_policy != KFD_SCHED_POLICY_NO_HWS;
}

static inline bool gp_kfd_is_sdma(const struct queue *q)
{
	return q->properties.type == KFD_QUEUE_TYPE_SDMA ||
	       q->properties.type == KFD_QUEUE_TYPE_SDMA_XGMI;
}

/*
 * State of a GPU that is kept between two calls. There are few GPUs, so it is a list
 * (gp_kfd_move.c).
 */
struct gp_kfd_memory {
	struct kfd_node *node;
	u32 halts;		/* number of seats stopped by our halt */
	u64 late;		/* the fence value that did not arrive in time, 0: none */
	u32 resets;		/* gp_kfd_resets() at that time */
};

/* NULL: no room. Callers must treat that as an error. */
struct gp_kfd_memory *gp_kfd_memory(struct kfd_node *node);

#endif /* GP_KERNEL_KFD_PRIVATE_H */
