// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The mechanism kfd-debug as a doer. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "doer.h"
#include "lib/mqd_dump.h"
#include "uapi/kfd.h"

struct kfd_doer {
	struct gp_doer base;	/* first */
	struct gp_kfdm *m;
	int kfd_fd;
};

static struct gp_kfdm *of(struct gp_doer *d)
{
	return ((struct kfd_doer *)d)->m;
}

static void kfd_free(struct gp_doer *d)
{
	struct kfd_doer *k = (struct kfd_doer *)d;

	gp_kfdm_free(k->m);
	close(k->kfd_fd);
	free(k);
}

static int kfd_task_add(struct gp_doer *d, u32 task, u64 devices)
{
	return gp_kfdm_task_add(of(d), task, devices);
}

static int kfd_task_del(struct gp_doer *d, u32 task)
{
	return gp_kfdm_task_del(of(d), task);
}

static int kfd_process_add(struct gp_doer *d, u32 task, pid_t pid, u64 start)
{
	const struct gp_kfdm_process process = { .pid = pid, .start = start };

	return gp_kfdm_process_add(of(d), task, &process);
}

static int kfd_process_del(struct gp_doer *d, pid_t pid)
{
	return gp_kfdm_process_del(of(d), pid);
}

static bool kfd_attaching(struct gp_doer *d)
{
	return gp_kfdm_attaching(of(d));
}

static bool kfd_acting(struct gp_doer *d, u32 device)
{
	return gp_kfdm_acting(of(d), device);
}

static u32 ring_kind(u32 type)
{
	switch (type) {
	case GP_KFD_QUEUE_AQL:
		return GP_RING_AQL;
	case GP_KFD_QUEUE_PM4:
		return GP_RING_PM4;
	default:
		return GP_RING_SDMA;
	}
}

static int kfd_queues(struct gp_doer *d, pid_t pid, struct gp_doer_queue *to)
{
	static struct gp_kfd_queue_entry from[GP_PROCESS_QUEUES_MAX];
	int i, nr = gp_kfdm_queues(of(d), pid, from, GP_PROCESS_QUEUES_MAX);

	for (i = 0; i < nr && i < GP_PROCESS_QUEUES_MAX; i++)
		to[i] = (struct gp_doer_queue){
			.id = from[i].queue_id, .gpu_id = from[i].gpu_id,
			.kind = ring_kind(from[i].type), .ring_bytes = from[i].ring_bytes,
			.ring_base = from[i].ring_base, .read_at = from[i].read_pointer,
			.write_at = from[i].write_pointer,
		};
	return nr < GP_PROCESS_QUEUES_MAX ? nr : GP_PROCESS_QUEUES_MAX;
}

static int kfd_next(struct gp_doer *d, struct gp_kfdm_event *ret)
{
	return gp_kfdm_next(of(d), ret);
}

static u64 kfd_wake_at(struct gp_doer *d)
{
	return gp_kfdm_wake_at(of(d));
}

static void kfd_stats(struct gp_doer *d, struct gp_kfdm_stats *ret)
{
	gp_kfdm_stats(of(d), ret);
}

static const struct gp_doer_ops kfd_ops = {
	.name		= "kfd-debug",
	.attaches	= true,
	.free		= kfd_free,
	.task_add	= kfd_task_add,
	.task_del	= kfd_task_del,
	.process_add	= kfd_process_add,
	.process_del	= kfd_process_del,
	.attaching	= kfd_attaching,
	.acting		= kfd_acting,
	.queues		= kfd_queues,
	.next		= kfd_next,
	.wake_at	= kfd_wake_at,
	.stats		= kfd_stats,
};

int gp_doer_kfd_debug(void *ctx, const struct gp_doer_args *args, struct gp_doer **ret,
		      const char **why)
{
	struct gp_kfdm_args kfdm = {
		.gpus = args->gpus, .nr_gpus = args->nr_gpus, .grace = args->grace,
		.attach_interval_ns = args->attach_interval_ns, .kfd_root = args->kfd_root,
	};
	struct kfd_doer *k = calloc(1, sizeof(*k));
	int err;

	(void)ctx;
	if (!k) {
		*why = "out of memory";
		return -ENOMEM;
	}
	k->kfd_fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (k->kfd_fd < 0) {
		err = -errno;
		*why = "cannot open /dev/kfd; is the driver loaded, and are we root?";
		goto free_doer;
	}
	kfdm.kfd_fd = k->kfd_fd;
	err = gp_kfdm_alloc(&kfdm, &k->m);
	if (err) {
		*why = "cannot start the threads of the mechanism kfd-debug";
		goto close_kfd;
	}
	k->base = (struct gp_doer){
		.ops = &kfd_ops, .mechanism = gp_kfdm_mechanism(k->m), .fd = gp_kfdm_fd(k->m),
	};
	*ret = &k->base;
	return 0;

close_kfd:
	close(k->kfd_fd);
free_doer:
	free(k);
	return err;
}
