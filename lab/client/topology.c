// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GPUs as the driver shows them under /sys/class/kfd, and the sizes that follow.
 *
 * The driver shows cwsr_size and ctl_stack_size but not the debugger's part of the save area,
 * yet CREATE_QUEUE wants a mapping of exactly the sum. So this file repeats the formula, and
 * compares its two visible results with the driver's.
 */
#include "client.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE		= 4096,
	SGPR_PER_CU	= 0x4000,
	LDS_PER_CU	= 0x10000,
	HWREG_PER_CU	= 0x1000,
	WAVES_PER_CU	= 40,		/* the driver's number for every chip */
	WAVES_PER_ENGINE = 512,
	STACK_PER_WAVE	= 8,
	DEBUG_PER_WAVE	= 32,
	DEBUG_ALIGN	= 64,
	MAX_NODES	= 512,
};

static const struct {
	const char *name;
	size_t at;
} properties[] = {
	{ "drm_render_minor",		offsetof(struct gp_node, render_minor) },
	{ "gfx_target_version",		offsetof(struct gp_node, gfx_version) },
	{ "device_id",			offsetof(struct gp_node, device_id) },
	{ "location_id",		offsetof(struct gp_node, location_id) },
	{ "domain",			offsetof(struct gp_node, domain) },
	{ "num_xcc",			offsetof(struct gp_node, xccs) },
	{ "simd_count",			offsetof(struct gp_node, simds) },
	{ "simd_per_cu",		offsetof(struct gp_node, simds_per_cu) },
	{ "max_waves_per_simd",		offsetof(struct gp_node, waves_per_simd) },
	{ "wave_front_size",		offsetof(struct gp_node, wave_size) },
	{ "array_count",		offsetof(struct gp_node, arrays) },
	{ "simd_arrays_per_engine",	offsetof(struct gp_node, arrays_per_engine) },
	{ "lds_size_in_kb",		offsetof(struct gp_node, lds_kb) },
	{ "num_cp_queues",		offsetof(struct gp_node, cp_queues) },
	{ "num_sdma_engines",		offsetof(struct gp_node, sdma_engines) },
	{ "num_sdma_queues_per_engine",	offsetof(struct gp_node, sdma_queues) },
	{ "cwsr_size",			offsetof(struct gp_node, save_bytes) },
	{ "ctl_stack_size",		offsetof(struct gp_node, ctl_stack_bytes) },
	{ "capability",			offsetof(struct gp_node, capability) },
};

static void set_property(struct gp_node *node, const char *name, u64 value)
{
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		if (!strcmp(name, properties[i].name))
			*(u32 *)((u8 *)node + properties[i].at) = (u32)value;
}

static int read_gpu_id(const char *path, u32 *ret)
{
	FILE *f = fopen(path, "r");
	int found;

	if (!f)
		return -errno;
	found = fscanf(f, "%u", ret);
	fclose(f);
	return found == 1 ? 0 : -EPROTO;
}

static int read_properties(const char *path, struct gp_node *node)
{
	FILE *f = fopen(path, "r");
	unsigned long long value;
	char name[64];

	if (!f)
		return -errno;
	node->xccs = 1;		/* drivers before 6.5 have no such line */
	while (fscanf(f, "%63s %llu", name, &value) == 2)
		set_property(node, name, value);
	fclose(f);
	return 0;
}

/* -ENODEV: a processor, or a node this process may not see. */
static int read_node(const char *dir, u32 nr, struct gp_node *ret)
{
	char path[PATH_MAX];
	int err;

	*ret = (struct gp_node){ .node = nr };
	snprintf(path, sizeof(path), "%s/nodes/%u/gpu_id", dir, nr);
	err = read_gpu_id(path, &ret->gpu_id);
	if (err == -EPERM || err == -EACCES || (!err && !ret->gpu_id))
		return -ENODEV;
	if (err)
		return gp_client_fail(-err, "cannot read %s", path);
	snprintf(path, sizeof(path), "%s/nodes/%u/properties", dir, nr);
	err = read_properties(path, ret);
	if (err == -EPERM || err == -EACCES)
		return -ENODEV;
	return err ? gp_client_fail(-err, "cannot read %s", path) : 0;
}

static int by_number(const void *a, const void *b)
{
	const u32 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Lists the numbers of the nodes, sorted. Returns how many, or -errno. */
static int list_nodes(const char *dir, u32 *numbers)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int count = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/nodes", dir);
	d = opendir(path);
	if (!d)
		return gp_client_fail(errno, "cannot open %s; is the driver loaded?", path);
	while (count < MAX_NODES && (entry = readdir(d))) {
		char *end;
		unsigned long nr = strtoul(entry->d_name, &end, 10);

		if (end != entry->d_name && !*end)
			numbers[count++] = (u32)nr;
	}
	closedir(d);
	qsort(numbers, (size_t)count, sizeof(*numbers), by_number);
	return count;
}

int gp_topology_read(const char *dir, struct gp_node *nodes, u32 room, u32 *ret_count)
{
	u32 numbers[MAX_NODES] = { 0 };
	struct gp_node node;
	u32 found = 0;
	int count;

	dir = dir ? dir : GP_TOPOLOGY;
	count = list_nodes(dir, numbers);
	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		int err = read_node(dir, numbers[i], &node);

		if (err == -ENODEV)
			continue;
		if (err)
			return err;
		if (found < room)
			nodes[found] = node;
		found++;
	}
	*ret_count = found;
	return 0;
}

static u64 align(u64 n, u64 to)
{
	return (n + to - 1) / to * to;
}

static u32 vgpr_per_cu(u32 gfx_version)
{
	bool doubled = gfx_version / 100 == 904 || gfx_version / 100 == 905 ||
		       gfx_version == 90010 || gfx_version == 90008;

	return doubled ? 0x80000 : 0x40000;
}

int gp_geometry(const struct gp_node *n, struct gp_geometry *ret)
{
	struct gp_geometry g = { .eop_bytes = GP_KFD_EOP_BYTES };
	u64 per_cu;
	u32 most;

	if (n->gfx_version < 90000 || n->gfx_version >= 100000)
		return gp_client_fail(ENOTSUP, "GPU %u is gfx version %u; only gfx9 is known here",
				      n->gpu_id, n->gfx_version);
	if (!n->xccs || !n->simds_per_cu || !n->arrays_per_engine || !n->simds || !n->arrays)
		return gp_client_fail(EINVAL, "GPU %u: the driver shows no XCCs, SIMDs or arrays",
				      n->gpu_id);
	g.cus = n->simds / n->simds_per_cu / n->xccs;
	most = n->arrays / n->xccs / n->arrays_per_engine * WAVES_PER_ENGINE;
	g.waves = g.cus * WAVES_PER_CU < most ? g.cus * WAVES_PER_CU : most;
	per_cu = vgpr_per_cu(n->gfx_version) + SGPR_PER_CU + LDS_PER_CU + HWREG_PER_CU;
	g.ctl_stack_bytes = (u32)align(sizeof(struct kfd_context_save_area_header) +
				       g.waves * STACK_PER_WAVE + 8, PAGE);
	g.save_bytes = g.ctl_stack_bytes + (u32)align(g.cus * per_cu, PAGE);
	g.debug_bytes = (u32)align(g.waves * DEBUG_PER_WAVE, DEBUG_ALIGN);
	g.mapping_bytes = align((u64)(g.save_bytes + g.debug_bytes) * n->xccs, PAGE);
	if (g.save_bytes != n->save_bytes || g.ctl_stack_bytes != n->ctl_stack_bytes)
		return gp_client_fail(EPROTO, "GPU %u: the driver's cwsr_size %u and "
				      "ctl_stack_size %u are not the expected %u and %u",
				      n->gpu_id, n->save_bytes, n->ctl_stack_bytes,
				      g.save_bytes, g.ctl_stack_bytes);
	*ret = g;
	return 0;
}

u32 gp_node_waves(const struct gp_node *n)
{
	u32 per_simd = n->waves_per_simd;

	/* CDNA 2 and later have 8 per SIMD; the driver reports 10 for every gfx9. */
	if (vgpr_per_cu(n->gfx_version) == 0x80000 && n->gfx_version != 90008 && per_simd > 8)
		per_simd = 8;
	return n->simds * per_simd;
}
