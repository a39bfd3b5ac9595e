// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What is on this machine, as structures that do not change with the library. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "gpreempt.h"
#include "process.h"

struct gp_local {
	pthread_mutex_t lock;	/* of the scanner */
	char *kfd;		/* NULL: the usual place */
	struct gp_scanner *scanner;
};

int gp_local_open(const char *kfd, const char *proc, struct gp_local **ret)
{
	const struct gp_scan_args args = { .kfd = kfd, .proc = proc };
	struct gp_local *l = calloc(1, sizeof(*l));
	int err = l ? gp_scanner_alloc(&args, &l->scanner) : -ENOMEM;

	if (!err && kfd) {
		l->kfd = strdup(kfd);
		err = l->kfd ? 0 : -ENOMEM;
	}
	if (err) {
		if (l)
			gp_scanner_free(l->scanner);
		free(l);
		return gp_fail(-err, "cannot look for GPUs: %s", strerrordesc_np(-err));
	}
	pthread_mutex_init(&l->lock, NULL);
	*ret = l;
	return 0;
}

void gp_local_close(struct gp_local *l)
{
	if (!l)
		return;
	gp_scanner_free(l->scanner);
	pthread_mutex_destroy(&l->lock);
	free(l->kfd);
	free(l);
}

static int cannot_read(int err)
{
	if (err == -ENOENT)
		return gp_fail(ENODEV, "the driver amdkfd is not loaded, or has no GPU");
	return gp_fail(-err, "cannot read the driver's files: %s", strerrordesc_np(-err));
}

static void copy_gpu(const struct gp_gpu_info *g, struct gp_local_gpu *ret)
{
	*ret = (struct gp_local_gpu){
		.index = g->index, .gpu_id = g->gpu_id, .node = g->node,
		.render_minor = g->render_minor, .partition = g->partition,
		.partitions = g->partitions, .xccs = g->xccs, .compute_units = g->cus,
		.gfx_version = g->gfx_version, .vram_bytes = g->vram_bytes,
	};
	snprintf(ret->bdf, sizeof(ret->bdf), "%s", g->bdf);
	snprintf(ret->gfx, sizeof(ret->gfx), "%s", g->gfx);
}

int gp_local_gpus(struct gp_local *l, struct gp_local_gpu **ret, size_t *count)
{
	struct gp_gpu_info *gpus = calloc(GP_GPUS_MAX, sizeof(*gpus));
	struct gp_local_gpu *list = calloc(GP_GPUS_MAX, sizeof(*list));
	u32 i, n = 0;
	int err = gpus && list ? gp_gpus_read(l->kfd, gpus, GP_GPUS_MAX, &n) : -ENOMEM;

	n = n < GP_GPUS_MAX ? n : GP_GPUS_MAX;
	for (i = 0; !err && i < n; i++)
		copy_gpu(&gpus[i], &list[i]);
	free(gpus);
	if (err) {
		free(list);
		return cannot_read(err);
	}
	*ret = list;
	*count = n;
	return 0;
}

static void copy_process(const struct gp_process *p, struct gp_local_process *ret)
{
	u32 i;

	*ret = (struct gp_local_process){
		.pid = p->pid, .uid = p->uid, .start = p->start, .queues = p->nr_queues,
		.gpus = p->nr_gpus,
	};
	for (i = 0; i < p->nr_gpus; i++) {
		ret->vram_bytes += p->gpus[i].vram_bytes;
		ret->evicted_ms += p->gpus[i].evicted_ms;
	}
	snprintf(ret->name, sizeof(ret->name), "%s", p->comm);
}

/* Locked, because what a scan finds is the scanner's until the next. */
static int processes_locked(struct gp_local *l, struct gp_local_process **ret, size_t *count)
{
	const struct gp_process *found;
	struct gp_local_process *list;
	u32 i, n;
	int err = gp_scanner_run(l->scanner, GP_SCAN_USAGE, &found, &n);

	if (err)
		return cannot_read(err);
	list = calloc(n ? n : 1, sizeof(*list));
	if (!list)
		return gp_fail(ENOMEM, "out of memory");
	for (i = 0; i < n; i++)
		copy_process(&found[i], &list[i]);
	*ret = list;
	*count = n;
	return 0;
}

int gp_local_processes(struct gp_local *l, struct gp_local_process **ret, size_t *count)
{
	int err;

	pthread_mutex_lock(&l->lock);
	err = processes_locked(l, ret, count);
	pthread_mutex_unlock(&l->lock);
	return err;
}

static int copy_queues(const struct gp_process *p, struct gp_local_queue **ret, size_t *count)
{
	struct gp_local_queue *list = calloc(p->nr_queues ? p->nr_queues : 1, sizeof(*list));
	u32 i;

	if (!list)
		return gp_fail(ENOMEM, "out of memory");
	for (i = 0; i < p->nr_queues; i++)
		list[i] = (struct gp_local_queue){
			.id = p->queues[i].id, .gpu_id = p->queues[i].gpu_id,
			.type = p->queues[i].type, .ring_bytes = p->queues[i].ring_bytes,
		};
	*ret = list;
	*count = p->nr_queues;
	return 0;
}

int gp_local_queues(struct gp_local *l, int32_t pid, struct gp_local_queue **ret, size_t *count)
{
	const struct gp_process *found;
	u32 i = 0, n = 0;
	int err;

	pthread_mutex_lock(&l->lock);
	err = gp_scanner_run(l->scanner, 0, &found, &n);
	while (!err && i < n && found[i].pid != pid)
		i++;
	if (err)
		err = cannot_read(err);
	else if (i == n)
		err = gp_fail(ESRCH, "process %d does not use a GPU", pid);
	else
		err = copy_queues(&found[i], ret, count);
	pthread_mutex_unlock(&l->lock);
	return err;
}
