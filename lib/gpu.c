// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "gpu.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys.h"
#include "sysfs.h"

/* Node numbers are small and dense, and begin with the processors. */
enum { NODES_MAX = 1024, BANKS_MAX = 64, PROPERTIES = 4096 };

/* Heaps of mem_banks that are the device's own: visible to the processor, and not. */
enum { HEAP_PUBLIC = 1, HEAP_PRIVATE = 2 };

/* Returns the value of "name value" in a file of such lines, or 0. */
static u64 property(const char *text, const char *name)
{
	size_t bytes = strlen(name);
	const char *end;
	u64 value;

	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		if (!strncmp(text, name, bytes) && text[bytes] == ' ' &&
		    gp_sysfs_parse(text + bytes + 1, 10, &value, &end))
			return value;
	return 0;
}

static u32 property32(const char *text, const char *name)
{
	u64 value = property(text, name);

	return value > UINT32_MAX ? 0 : (u32)value;
}

static int read_vram(int node, u64 *ret)
{
	char path[64], text[PROPERTIES];
	u64 bytes = 0;
	int n;

	for (u32 i = 0; i < BANKS_MAX; i++) {
		u32 heap;

		snprintf(path, sizeof(path), "mem_banks/%u/properties", i);
		n = gp_sysfs_text(node, path, text, sizeof(text));
		if (n < 0 && !gp_sys_is_gone(n) && !gp_sys_is_denied(n))
			return n;
		if (n < 0)
			break;
		heap = property32(text, "heap_type");
		if (heap == HEAP_PUBLIC || heap == HEAP_PRIVATE)
			bytes += property(text, "size_in_bytes");
	}
	*ret = bytes;
	return 0;
}

static void name_it(struct gp_gpu_info *g, u32 location)
{
	/* The driver puts the number of the partition above the PCI address. */
	g->partition = location >> 28;
	g->bus = location >> 8 & 0xff;
	g->device = location >> 3 & 0x1f;
	g->function = location & 7;
	snprintf(g->bdf, sizeof(g->bdf), "%04x:%02x:%02x.%x", g->domain, g->bus, g->device,
		 g->function);
	snprintf(g->gfx, sizeof(g->gfx), "gfx%u%u%x", g->gfx_version / 10000,
		 g->gfx_version / 100 % 100, g->gfx_version % 100);
}

static void read_properties(struct gp_gpu_info *g, const char *text)
{
	u32 simds = property32(text, "simd_count"), simds_per_cu = property32(text, "simd_per_cu");

	g->render_minor = property32(text, "drm_render_minor");
	g->domain = property32(text, "domain");
	g->device_id = property32(text, "device_id");
	g->unique_id = property(text, "unique_id");
	g->gfx_version = property32(text, "gfx_target_version");
	g->xccs = property32(text, "num_xcc");
	if (!g->xccs)
		g->xccs = 1;	/* a driver older than the word */
	g->cus = simds_per_cu ? simds / simds_per_cu : 0;
	g->wave_slots = simds * property32(text, "max_waves_per_simd");
	g->cp_queues = property32(text, "num_cp_queues");
	g->save_bytes = property32(text, "cwsr_size");
	g->capability = property32(text, "capability");
	g->debug_prop = property32(text, "debug_prop");
	name_it(g, property32(text, "location_id"));
}

/* Reads a node. 0: a GPU. -ENODEV: not a GPU. -EACCES, -EPERM: a GPU hidden from this process. */
static int read_open_node(int node, struct gp_gpu_info *g)
{
	char text[PROPERTIES];
	u64 gpu_id = 0;
	int n = gp_sysfs_number(node, "gpu_id", &gpu_id);

	if (n)
		return n;
	if (!gpu_id || gpu_id > UINT32_MAX)
		return -ENODEV;
	n = gp_sysfs_text(node, "properties", text, sizeof(text));
	if (n < 0)
		return n;
	g->gpu_id = (u32)gpu_id;
	read_properties(g, text);
	return g->cus && g->gfx_version ? read_vram(node, &g->vram_bytes) : -ENODEV;
}

static int read_node(int nodes, u32 number, struct gp_gpu_info *g)
{
	char name[16];
	int node, err;

	snprintf(name, sizeof(name), "%u", number);
	node = gp_sys->openat(nodes, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (node < 0)
		return -errno;
	*g = (struct gp_gpu_info){ .node = number };
	err = read_open_node(node, g);
	gp_sys->close(node);
	return err;
}

static bool same_card(const struct gp_gpu_info *a, const struct gp_gpu_info *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->device == b->device &&
	       a->function == b->function;
}

static void count_partitions(struct gp_gpu_info *gpus, u32 count)
{
	for (u32 i = 0; i < count; i++)
		for (u32 j = 0; j < count; j++)
			gpus[i].partitions += same_card(&gpus[i], &gpus[j]);
}

static int below(const char *root, const char *name, char *path)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", root ? root : GP_SYSFS_KFD, name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Lists the numbers of the nodes in order, at most @room. */
static int list_nodes(struct gp_sysfs_dir *dir, u32 *ret, u32 room, u32 *ret_count)
{
	u64 number, inode;
	u32 count = 0;
	int err = 0;

	while (count < room && (err = gp_sysfs_dir_number(dir, 0, UINT32_MAX, &number, &inode)) > 0)
		ret[count++] = (u32)number;
	if (err < 0)
		return err;
	qsort(ret, count, sizeof(*ret), by_number);
	*ret_count = count;
	return 0;
}

int gp_gpus_read(const char *root, struct gp_gpu_info *gpus, u32 room, u32 *ret_count)
{
	u32 node[NODES_MAX], nodes = 0, found = 0, kept = 0;
	struct gp_sysfs_dir dir;
	struct gp_gpu_info g;
	char path[PATH_MAX];
	int err = below(root, "topology/nodes", path);

	if (!err)
		err = gp_sysfs_dir_open(&dir, AT_FDCWD, path);
	if (err)
		return err;
	err = list_nodes(&dir, node, NODES_MAX, &nodes);
	for (u32 i = 0; i < nodes && !err; i++) {
		err = read_node(dir.fd, node[i], &g);
		if (gp_sys_is_gone(err) || gp_sys_is_denied(err) || err == -EPROTO) {
			err = 0;
			continue;
		}
		g.index = found++;
		if (kept < room)
			gpus[kept++] = g;
	}
	gp_sysfs_dir_close(&dir);
	if (err)
		return err;
	count_partitions(gpus, kept);
	*ret_count = found;
	return 0;
}

int gp_gpus_generation(const char *root, u32 *ret)
{
	char path[PATH_MAX];
	u64 value;
	int err = below(root, "topology/generation_id", path);

	if (!err)
		err = gp_sysfs_number(AT_FDCWD, path, &value);
	if (!err)
		*ret = (u32)value;
	return err;
}

bool gp_driver_saves_waves(void)
{
	static const char path[] = "/sys/module/amdgpu/parameters/cwsr_enable";
	u64 value;

	return gp_sysfs_number(AT_FDCWD, path, &value) || value;
}

const struct gp_gpu_info *gp_gpus_by_id(const struct gp_gpu_info *gpus, u32 count, u32 gpu_id)
{
	for (u32 i = 0; i < count; i++)
		if (gpus[i].gpu_id == gpu_id)
			return &gpus[i];
	return NULL;
}

/* An address as users write it. */
struct address {
	u64 domain, bus, device, function, partition;
	bool has_partition;
};

static bool field(const char **at, char behind, u64 most, u64 *ret)
{
	const char *end;

	if (!gp_sysfs_parse(*at, 16, ret, &end) || *ret > most || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

/* Parses "[domain:]bus:device.function[/partition]". */
static bool parse_address(const char *text, struct address *ret)
{
	const char *at = text, *end;

	*ret = (struct address){ 0 };
	if (!strchr(text, ':'))
		return false;
	if (strchr(strchr(text, ':') + 1, ':') && !field(&at, ':', UINT32_MAX, &ret->domain))
		return false;
	if (!field(&at, ':', 0xff, &ret->bus) || !field(&at, '.', 0x1f, &ret->device))
		return false;
	if (!gp_sysfs_parse(at, 16, &ret->function, &end) || ret->function > 7)
		return false;
	if (*end == '/') {
		ret->has_partition = true;
		if (!gp_sysfs_parse(end + 1, 10, &ret->partition, &end))
			return false;
	}
	return !*end;
}

static bool is_at(const struct gp_gpu_info *g, const struct address *a)
{
	return g->domain == a->domain && g->bus == a->bus && g->device == a->device &&
	       g->function == a->function && (!a->has_partition || g->partition == a->partition);
}

static int select_one(const struct gp_gpu_info *gpus, u32 count, const char *word, u64 *mask)
{
	struct address address;
	bool found = false, all = !strcmp(word, "all"), by_index;
	const char *end;
	u64 index;

	by_index = gp_sysfs_parse(word, 10, &index, &end) && !*end;
	if (!all && !by_index && !parse_address(word, &address))
		return -EINVAL;
	for (u32 i = 0; i < count; i++) {
		if (all || (by_index ? gpus[i].index == index : is_at(&gpus[i], &address))) {
			*mask |= BIT_ULL(i);
			found = true;
		}
	}
	return found ? 0 : -ENOENT;
}

int gp_gpus_select(const struct gp_gpu_info *gpus, u32 count, const char *text, u64 *ret,
		   const char **bad)
{
	char word[64];
	u64 mask = 0;
	size_t bytes;
	int err = -EINVAL;

	if (count > GP_GPUS_MAX)
		count = GP_GPUS_MAX;
	for (;; text += bytes + 1) {
		bytes = strcspn(text, ",");
		if (bytes < sizeof(word)) {
			memcpy(word, text, bytes);
			word[bytes] = '\0';
			err = select_one(gpus, count, word, &mask);
		} else {
			err = -EINVAL;
		}
		if (err || !text[bytes])
			break;
	}
	if (err && bad)
		*bad = text;
	if (!err)
		*ret = mask;
	return err;
}
