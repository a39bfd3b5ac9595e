// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "gpu.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

/* Node numbers are small and dense; the processors have the first. */
enum { NODES_MAX = 1024, BANKS_MAX = 64, PROPERTIES = 4096 };

/* Heaps of mem_banks that are the device's own: visible to the processor, and not. */
enum { HEAP_PUBLIC = 1, HEAP_PRIVATE = 2 };

/* The value of "name value" in a file of such lines, or 0. */
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

static u64 vram_bytes(int node)
{
	char path[64], text[PROPERTIES];
	u64 bytes = 0;

	for (u32 i = 0; i < BANKS_MAX; i++) {
		u32 heap;

		snprintf(path, sizeof(path), "mem_banks/%u/properties", i);
		if (gp_sysfs_text(node, path, text, sizeof(text)) < 0)
			break;
		heap = property32(text, "heap_type");
		if (heap == HEAP_PUBLIC || heap == HEAP_PRIVATE)
			bytes += property(text, "size_in_bytes");
	}
	return bytes;
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

/* Whether the node is a GPU that we may see. */
static bool read_node(int nodes, u32 number, struct gp_gpu_info *g)
{
	char text[PROPERTIES], name[16];
	u32 simds, simds_per_cu;
	u64 gpu_id = 0;
	int node;

	snprintf(name, sizeof(name), "%u", number);
	node = openat(nodes, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (node < 0)
		return false;
	memset(g, 0, sizeof(*g));
	if (gp_sysfs_number(node, "gpu_id", &gpu_id) || !gpu_id || gpu_id > UINT32_MAX ||
	    gp_sysfs_text(node, "properties", text, sizeof(text)) <= 0) {
		close(node);
		return false;
	}
	g->node = number;
	g->gpu_id = (u32)gpu_id;
	g->render_minor = property32(text, "drm_render_minor");
	g->domain = property32(text, "domain");
	g->device_id = property32(text, "device_id");
	g->unique_id = property(text, "unique_id");
	g->gfx_version = property32(text, "gfx_target_version");
	g->xccs = property32(text, "num_xcc");
	simds = property32(text, "simd_count");
	simds_per_cu = property32(text, "simd_per_cu");
	g->cus = simds_per_cu ? simds / simds_per_cu : 0;
	g->wave_slots = simds * property32(text, "max_waves_per_simd");
	g->cp_queues = property32(text, "num_cp_queues");
	g->save_bytes = property32(text, "cwsr_size");
	g->capability = property32(text, "capability");
	g->debug_prop = property32(text, "debug_prop");
	g->vram_bytes = vram_bytes(node);
	name_it(g, property32(text, "location_id"));
	close(node);
	if (!g->xccs)
		g->xccs = 1;	/* a driver older than the word */
	return g->cus && g->gfx_version;
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

static int open_below(const char *root, const char *below)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", root ? root : GP_SYSFS_KFD, below);
	int fd;

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* The numbers of the nodes, in order; at most @room. */
static u32 list_nodes(DIR *dir, u32 *ret, u32 room)
{
	struct dirent *entry;
	const char *end;
	u32 count = 0;
	u64 number;

	while (count < room && (entry = readdir(dir)))
		if (gp_sysfs_parse(entry->d_name, 10, &number, &end) && !*end &&
		    number <= UINT32_MAX)
			ret[count++] = (u32)number;
	qsort(ret, count, sizeof(*ret), by_number);
	return count;
}

int gp_gpus_read(const char *root, struct gp_gpu_info *gpus, u32 room, u32 *ret_count)
{
	u32 node[NODES_MAX], nodes, found = 0, kept = 0;
	struct gp_gpu_info g;
	DIR *dir;
	int fd = open_below(root, "topology/nodes");

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	nodes = list_nodes(dir, node, NODES_MAX);
	for (u32 i = 0; i < nodes; i++) {
		if (!read_node(fd, node[i], &g))
			continue;
		g.index = found++;
		if (kept < room)
			gpus[kept++] = g;
	}
	closedir(dir);
	count_partitions(gpus, kept);
	*ret_count = found;
	return 0;
}

int gp_gpus_generation(const char *root, u32 *ret)
{
	int fd = open_below(root, "topology");
	u64 value;
	int err;

	if (fd < 0)
		return fd;
	err = gp_sysfs_number(fd, "generation_id", &value);
	close(fd);
	if (!err)
		*ret = (u32)value;
	return err;
}

bool gp_driver_saves_waves(void)
{
	int fd = open("/sys/module/amdgpu/parameters", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	u64 value = 1;

	if (fd < 0)
		return true;
	if (gp_sysfs_number(fd, "cwsr_enable", &value))
		value = 1;
	close(fd);
	return value;
}

const struct gp_gpu_info *gp_gpus_by_id(const struct gp_gpu_info *gpus, u32 count, u32 gpu_id)
{
	for (u32 i = 0; i < count; i++)
		if (gpus[i].gpu_id == gpu_id)
			return &gpus[i];
	return NULL;
}

/* An address as people write it. */
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

/* "[domain:]bus:device.function[/partition]" */
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
	bool found = false;
	const char *end;
	u64 index;

	if (!strcmp(word, "all")) {
		for (u32 i = 0; i < count; i++)
			*mask |= BIT_ULL(i);
		return count ? 0 : -ENOENT;
	}
	if (gp_sysfs_parse(word, 10, &index, &end) && !*end) {
		if (index >= count)
			return -ENOENT;
		*mask |= BIT_ULL(index);
		return 0;
	}
	if (!parse_address(word, &address))
		return -EINVAL;
	for (u32 i = 0; i < count; i++) {
		if (is_at(&gpus[i], &address)) {
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
