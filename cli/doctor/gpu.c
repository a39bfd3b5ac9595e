// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt doctor: the GPUs, their memory and their queues. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

/* Bits of a GPU's capability in sysfs. */
#define CAP_DEBUG		0x00008000u
#define CAP_DEBUG_FIRMWARE	0x20000000u

/* The practical rate of PCIe 5 x16, which saves to host memory use. */
#define HOST_BYTES_PER_SECOND	55e9

void gp_check_gpus(struct gp_doctor *d)
{
	u32 chosen = 0;

	if (d->gpus_err == -ENOENT) {
		gp_found(d, GP_FAIL, "see check driver", "the driver lists no GPUs");
		return;
	}
	if (d->gpus_err) {
		gp_found(d, GP_FAIL, "read the kernel's log",
			 "the driver's list cannot be read: %s", strerror(-d->gpus_err));
		return;
	}
	for (u32 i = 0; i < d->nr_gpus; i++) {
		const struct gp_gpu_info *g = &d->gpu[i];

		if (!gp_doctor_chosen(d, i))
			continue;
		chosen++;
		gp_found(d, GP_PASS, NULL, "GPU %" PRIu32 ": %s at %s, %" PRIu32 " XCCs, %" PRIu32
			 " CUs", g->index, g->gfx, g->bdf, g->xccs, g->cus);
	}
	if (!chosen)
		gp_found(d, GP_FAIL, "in a container: allow its render node, --device /dev/dri",
			 "no GPU that can compute");
}

void gp_check_debug(struct gp_doctor *d)
{
	for (u32 i = 0; i < d->nr_gpus; i++) {
		const struct gp_gpu_info *g = &d->gpu[i];

		if (!gp_doctor_chosen(d, i))
			continue;
		if (!(g->capability & CAP_DEBUG))
			gp_found(d, GP_FAIL, "use another GPU, or a newer kernel",
				 "GPU %" PRIu32 " (%s): the driver cannot debug it", g->index,
				 g->gfx);
		else if (!(g->capability & CAP_DEBUG_FIRMWARE))
			gp_found(d, GP_FAIL, "update the GPU's firmware (linux-firmware)",
				 "GPU %" PRIu32 " (%s): its firmware is too old to be debugged",
				 g->index, g->gfx);
		else
			gp_found(d, GP_PASS, NULL, "GPU %" PRIu32 ": queues can be stopped",
				 g->index);
	}
}

void gp_check_save_area(struct gp_doctor *d)
{
	for (u32 i = 0; i < d->nr_gpus; i++) {
		const struct gp_gpu_info *g = &d->gpu[i];
		double bytes = (double)g->save_bytes * g->xccs;

		if (!gp_doctor_chosen(d, i))
			continue;
		if (!g->save_bytes)
			gp_found(d, GP_WARN, "see check cwsr; before Linux 6.12 it is not told",
				 "GPU %" PRIu32 ": the size of the save area is not known",
				 g->index);
		else if (g->capability & GP_CAP_SVM)
			gp_found(d, GP_PASS, NULL, "GPU %" PRIu32 ": %.1f MB per queue, in VRAM",
				 g->index, bytes / 1e6);
		else
			gp_found(d, GP_WARN, "a kernel with CONFIG_HSA_AMD_SVM can have it in VRAM",
				 "GPU %" PRIu32 ": %.1f MB per queue, in host memory: a full save "
				 "takes about %.1f ms", g->index, bytes / 1e6,
				 bytes / HOST_BYTES_PER_SECOND * 1e3);
	}
}

static u64 vram_used(const struct gp_doctor *d, u32 gpu_id)
{
	u64 sum = 0;

	for (u32 i = 0; i < d->nr_processes; i++) {
		for (u32 k = 0; k < d->process[i].nr_gpus; k++) {
			if (d->process[i].gpus[k].gpu_id == gpu_id)
				sum += d->process[i].gpus[k].vram_bytes;
		}
	}
	return sum;
}

void gp_check_vram(struct gp_doctor *d)
{
	for (u32 i = 0; i < d->nr_gpus; i++) {
		const struct gp_gpu_info *g = &d->gpu[i];
		double used = (double)vram_used(d, g->gpu_id) / 1e9;
		double all = (double)g->vram_bytes / 1e9;

		if (!gp_doctor_chosen(d, i))
			continue;
		if (!g->vram_bytes)
			gp_found(d, GP_WARN, "compare with the card's data sheet",
				 "GPU %" PRIu32 ": %.1f GB in use, the card's size is not told",
				 g->index, used);
		else if (used > all)
			gp_found(d, GP_WARN, "give the processes less: memory of those held off is "
				 "moved in again and again, which stops those that run",
				 "GPU %" PRIu32 ": the processes want %.1f GB of %.1f GB",
				 g->index, used, all);
		else
			gp_found(d, GP_PASS, NULL, "GPU %" PRIu32 ": %.1f GB of %.1f GB in use",
				 g->index, used, all);
	}
}

static u32 queues_on(const struct gp_doctor *d, u32 gpu_id, u32 *processes)
{
	u32 sum = 0;

	*processes = 0;
	for (u32 i = 0; i < d->nr_processes; i++) {
		u32 own = 0;

		for (u32 k = 0; k < d->process[i].nr_queues; k++)
			own += d->process[i].queues[k].gpu_id == gpu_id &&
			       d->process[i].queues[k].type == GP_PROCESS_COMPUTE;
		sum += own;
		*processes += own > 0;
	}
	return sum;
}

void gp_check_queues(struct gp_doctor *d)
{
	static const char remedy[] = "fewer queues (GPU_MAX_HW_QUEUES=2) or processes: beyond that "
		"the hardware takes turns by itself, which costs all of them time";
	s64 most = 0;

	gp_doctor_parameter(d, "hws_max_conc_proc", &most);
	for (u32 i = 0; i < d->nr_gpus; i++) {
		const struct gp_gpu_info *g = &d->gpu[i];
		u32 processes, queues = queues_on(d, g->gpu_id, &processes);

		if (!gp_doctor_chosen(d, i))
			continue;
		if (g->cp_queues && queues > g->cp_queues)
			gp_found(d, GP_WARN, remedy, "GPU %" PRIu32 ": %" PRIu32
				 " compute queues for %" PRIu32 " slots", g->index, queues,
				 g->cp_queues);
		else if (most > 0 && processes > most)
			gp_found(d, GP_WARN, remedy, "GPU %" PRIu32 ": %" PRIu32
				 " processes, amdgpu.hws_max_conc_proc = %" PRId64, g->index,
				 processes, most);
		else
			gp_found(d, GP_PASS, NULL, "GPU %" PRIu32 ": %" PRIu32
				 " compute queue%s of %s for %" PRIu32 " slots", g->index, queues,
				 queues == 1 ? "" : "s", gp_number_of(processes, "process").s,
				 g->cp_queues);
	}
	if (gp_doctor_log(d, "Runlist is getting oversubscribed") == 1)
		gp_found(d, GP_WARN, remedy, "the driver's log says that it was oversubscribed");
}
