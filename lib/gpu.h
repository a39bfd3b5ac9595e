/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The GPUs of this machine, as the driver describes them in sysfs.
 *
 * One entry is one GPU of the driver: a whole card, or a partition of it.
 */
#ifndef GP_LIB_GPU_H
#define GP_LIB_GPU_H

#include "gp_env.h"

#define GP_SYSFS_KFD	"/sys/class/kfd/kfd"

enum { GP_GPUS_MAX = 64 };

struct gp_gpu_info {
	u32 index;		/* from 0, in the order of their nodes: what -g takes */
	u32 node;		/* the driver's number for it */
	u32 gpu_id;		/* as in ioctls and proc/; decimal there, hex in debugfs */
	u32 render_minor;	/* /dev/dri/renderD<this> */
	u32 domain, bus, device, function;
	char bdf[24];		/* "0000:c1:00.0" */
	u32 partition;		/* which part of its card, from 0 */
	u32 partitions;		/* of its card, this one included */
	u32 device_id;		/* PCI */
	u64 unique_id;		/* 0: not known */
	u32 gfx_version;	/* 90402 is gfx942 */
	char gfx[16];		/* "gfx942" */
	u32 xccs;
	u32 cus;		/* of all XCCs */
	u32 wave_slots;		/* of all XCCs */
	u32 cp_queues;		/* compute queues the hardware runs at once */
	u32 save_bytes;		/* save area of one queue and XCC, control stack included */
	u32 capability;		/* the driver's mask */
	u32 debug_prop;		/* the driver's mask */
	u64 vram_bytes;		/* 0: not known */
};

/*
 * Reads the GPUs under @root (NULL: GP_SYSFS_KFD), in the order of their node numbers, at most
 * @room of them. @ret_count: how many there are. Skips a node whose files are not readable (a
 * device cgroup) or invalid. -ENOENT: the driver is not loaded. Any other error, such as -EMFILE,
 * says nothing about the GPUs, and the caller keeps those that it knew. Keeps nothing open.
 */
int gp_gpus_read(const char *root, struct gp_gpu_info *gpus, u32 room, u32 *ret_count);

/* Reads a number that changes whenever the GPUs do (a partition switch). 0 or -errno. */
int gp_gpus_generation(const char *root, u32 *ret);

/*
 * Returns true if the driver saves running waves (amdgpu.cwsr_enable), or if that is not known.
 * Without saving a stop waits until the waves end, and after seconds the driver resets the GPU.
 */
bool gp_driver_saves_waves(void);

/*
 * Parses the argument of -g: "all", or a list of indexes and addresses ("0,2", "0000:c1:00.0",
 * "c1:00.0", "c1:00.0/3" for one partition). *@ret: bit per entry of @gpus. -EINVAL: invalid text.
 * -ENOENT: no such GPU. @bad, if not NULL, then points to the place.
 */
int gp_gpus_select(const struct gp_gpu_info *gpus, u32 count, const char *text, u64 *ret,
		   const char **bad);

/* Returns the entry with this gpu_id, or NULL. */
const struct gp_gpu_info *gp_gpus_by_id(const struct gp_gpu_info *gpus, u32 count, u32 gpu_id);

#endif /* GP_LIB_GPU_H */
