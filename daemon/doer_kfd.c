// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The mechanism kfd-debug as a doer. */
#include <stdlib.h>
#include <unistd.h>

#include "doer.h"
#include "lib/mqd_dump.h"
#include "lib/process_user.h"
#include "uapi/kfd.h"

struct kfd_doer {
	struct gp_doer base;	/* first */
	struct gp_holders *m;
};

static struct gp_holders *of(struct gp_doer *d)
{
	return ((struct kfd_doer *)d)->m;
}

static void kfd_free(struct gp_doer *d)
{
	struct kfd_doer *k = (struct kfd_doer *)d;

	gp_holders_free(k->m);
	free(k);
}

static int kfd_task_add(struct gp_doer *d, u32 task, u64 devices)
{
	return gp_holders_task_add(of(d), task, devices);
}

static int kfd_task_del(struct gp_doer *d, u32 task)
{
	return gp_holders_task_del(of(d), task);
}

static int kfd_process_add(struct gp_doer *d, u32 task, pid_t pid, u64 start)
{
	struct gp_holders_process process = { .pid = pid, .start = start };
	int err = gp_process_user(NULL, pid, &process.user);

	return err ? err : gp_holders_process_add(of(d), task, &process);
}

static int kfd_process_del(struct gp_doer *d, pid_t pid)
{
	return gp_holders_process_del(of(d), pid);
}

static bool kfd_attaching(struct gp_doer *d)
{
	return gp_holders_attaching(of(d));
}

static bool kfd_acting(struct gp_doer *d, u32 device)
{
	return gp_holders_acting(of(d), device);
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
	int i, nr = gp_holders_queues(of(d), pid, from, GP_PROCESS_QUEUES_MAX);

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
	return gp_holders_next(of(d), ret);
}

static u64 kfd_wake_at(struct gp_doer *d)
{
	return gp_holders_wake_at(of(d));
}

static void kfd_stats(struct gp_doer *d, struct gp_kfdm_stats *ret)
{
	struct gp_holders_stats stats;

	gp_holders_stats(of(d), &stats);
	*ret = stats.sessions;
}

static void kfd_counters(struct gp_doer *d, void (*tell)(void *ctx, const char *name, u64 value),
			 void *ctx)
{
	struct gp_holders_stats stats;

	gp_holders_stats(of(d), &stats);
	tell(ctx, "holders_started", stats.started);
	tell(ctx, "holders_died", stats.died);
	tell(ctx, "sessions_stuck", stats.stuck);
	tell(ctx, "leases_expired", stats.expired);
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
	.counters	= kfd_counters,
};

int gp_doer_kfd_debug(void *ctx, const struct gp_doer_args *args, struct gp_doer **ret,
		      const char **why)
{
	struct gp_holders_args holders = {
		.gpus = args->gpus, .nr_gpus = args->nr_gpus, .grace = args->grace,
		.attach_interval_ns = args->attach_interval_ns, .kfd_root = args->kfd_root,
	};
	struct kfd_doer *k = calloc(1, sizeof(*k));
	int err;

	(void)ctx;
	*why = "out of memory";
	if (!k)
		return -ENOMEM;
	/* Holders open it, but what is wrong with it is to be known now. */
	if (access(GP_KFD_DEVICE, R_OK | W_OK)) {
		err = -errno;
		*why = "cannot open /dev/kfd; is the driver loaded, and are we root?";
		free(k);
		return err;
	}
	err = gp_holders_alloc(&holders, &k->m);
	if (err) {
		free(k);
		return err;
	}
	k->base = (struct gp_doer){
		.ops = &kfd_ops, .mechanism = gp_holders_mechanism(k->m),
		.fd = gp_holders_fd(k->m),
	};
	*ret = &k->base;
	return 0;
}
