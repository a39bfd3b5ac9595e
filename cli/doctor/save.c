// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreempt doctor: finds the save areas of running processes.
 *
 * The queue's descriptor has the address of the save area. The mapping at that address shows the
 * kind of memory. A buffer of the driver is mapped from a render node. All other memory belongs
 * to the process and is host memory unless SVM has moved it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "lib/mqd_dump.h"

enum place { NOT_SEEN, DRIVER, OWN };

/* Returns the kind of memory that @pid has mapped at @at. */
static enum place place_of(const struct gp_doctor *d, pid_t pid, u64 at)
{
	char path[64], full[GP_DOCTOR_PATH], line[1024];
	enum place is = NOT_SEEN;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(gp_doctor_path(d, path, full), "re");
	if (!maps)
		return NOT_SEEN;
	while (is == NOT_SEEN && fgets(line, sizeof(line), maps)) {
		u64 from, to;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from <= at && at < to)
			is = strstr(line, "/dev/dri/") ? DRIVER : OWN;
	}
	fclose(maps);
	return is;
}

static const struct gp_gpu_info *gpu_of(const struct gp_doctor *d, u32 gpu_id)
{
	const struct gp_gpu_info *g = gp_gpus_by_id(d->gpu, d->nr_gpus, gpu_id);

	return g && gp_doctor_chosen(d, (u32)(g - d->gpu)) ? g : NULL;
}

static const struct gp_mqd *first_of(const struct gp_doctor *d, const struct gp_mqd_list *list,
				     pid_t pid)
{
	for (u32 i = 0; i < list->count; i++) {
		if (list->mqd[i].pid == pid && list->mqd[i].save_base &&
		    gpu_of(d, list->mqd[i].gpu_id))
			return &list->mqd[i];
	}
	return NULL;
}

static bool has_queue(const struct gp_doctor *d, const struct gp_process *p)
{
	for (u32 i = 0; i < p->nr_queues; i++) {
		if (gpu_of(d, p->queues[i].gpu_id))
			return true;
	}
	return false;
}

static void judge(struct gp_doctor *d, const struct gp_process *p, const struct gp_mqd *q)
{
	enum place is = place_of(d, p->pid, q->save_base);

	if (is == DRIVER)
		gp_found(d, GP_PASS, NULL, "%s (%d): a buffer of the driver", p->comm,
			 (int)p->pid);
	else if (is == OWN && gpu_of(d, q->gpu_id)->capability & GP_CAP_SVM)
		gp_found(d, GP_PASS, NULL, "%s (%d): its own memory, which SVM may have moved to "
			 "VRAM", p->comm, (int)p->pid);
	else if (is == OWN)
		gp_found(d, GP_WARN, "see check save-area: each of its preemptions pays for that",
			 "%s (%d): host memory", p->comm, (int)p->pid);
}

void gp_check_save_places(struct gp_doctor *d)
{
	struct gp_mqd_list list = { 0 };
	u32 before = d->nr_findings, hidden = 0;
	char path[GP_DOCTOR_PATH];
	int err;

	err = gp_mqd_dump_read(gp_doctor_path(d, GP_MQD_DUMP, path), 0, &list, NULL);
	for (u32 i = 0; i < d->nr_processes; i++) {
		const struct gp_mqd *q = first_of(d, &list, d->process[i].pid);

		hidden += has_queue(d, &d->process[i]);
		if (q)
			judge(d, &d->process[i], q);
	}
	gp_mqd_list_fini(&list);
	if (d->nr_findings > before)
		return;
	if (hidden)
		gp_found(d, err ? GP_WARN : GP_PASS, err ? "see check debugfs" : NULL,
			 "of %s with queues it cannot be seen", gp_number_of(hidden, "process").s);
	else
		gp_found(d, GP_PASS, NULL, "no process has a queue");
}
