// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* AQL packets as a runtime writes them. */
#include "client.h"

enum { WAVE_SIZE = 64 };

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

union gp_aql_packet gp_aql_kernel_packet(const struct gp_launch *l)
{
	u16 items = (u16)(l->waves * WAVE_SIZE);

	return (union gp_aql_packet){ .kernel = {
		.header = (u16)(GP_AQL_KERNEL | (l->unordered ? 0 : GP_AQL_BARRIER) |
				GP_AQL_SYSTEM),
		.dimensions = 1,
		.workgroup = { items, 1, 1 },
		.grid = { items * l->workgroups, 1, 1 },
		.group_bytes = l->lds_bytes,
		.kernel_object = l->kernel,
		.kernarg = l->kernarg,
		.completion = address(l->done),
	} };
}

union gp_aql_packet gp_aql_barrier_packet(enum gp_aql_type type,
					  struct gp_amd_signal *const on[GP_AQL_DEPENDENCIES],
					  struct gp_amd_signal *done)
{
	union gp_aql_packet p = { .barrier = {
		.header = (u16)(type | GP_AQL_BARRIER | GP_AQL_SYSTEM),
		.completion = address(done),
	} };

	for (u32 i = 0; i < GP_AQL_DEPENDENCIES; i++)
		p.barrier.waits_for[i] = address(on[i]);
	return p;
}
