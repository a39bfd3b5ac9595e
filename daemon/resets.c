// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GPUs that the driver resets.
 *
 * A reset loses every process that has the driver open: the driver runs nothing of it any more, on
 * no GPU, and waits for it to end. So all seats are lost and all processes are left. Processes that
 * come after the reset are treated as usual.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "decider_private.h"

void gp_resets_watch(struct gp_decider *h)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_DECIDER_RESETS };
	u32 gpu_ids[GP_GPUS_MAX], d;
	int fd, err;

	/* In tests there is no driver. */
	if (h->args.kfd || !h->nr_gpus)
		return;
	for (d = 0; d < h->nr_gpus; d++)
		gpu_ids[d] = h->gpu[d].gpu_id;
	fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	err = fd < 0 ? -errno : gp_reset_open(fd, gpu_ids, h->nr_gpus, &h->resets);
	if (fd >= 0)
		close(fd);
	if (err)
		gp_decider_news(h, GP_NEWS_TROUBLE, NULL, "resets of GPUs will not be noticed: %s",
			     strerror(-err));
	else
		epoll_ctl(h->epoll, EPOLL_CTL_ADD, gp_reset_fd(h->resets), &e);
}

void gp_resets_unwatch(struct gp_decider *h)
{
	if (h->resets)
		epoll_ctl(h->epoll, EPOLL_CTL_DEL, gp_reset_fd(h->resets), NULL);
	gp_reset_close(h->resets);
	h->resets = NULL;
}

static void lose(struct gp_gpu_process *r)
{
	r->lost = true;
	r->lease_ns = 0;
	snprintf(r->trouble, sizeof(r->trouble),
		 "a GPU was reset: the driver runs nothing of it any more; it has to end");
}

/* Answers to actions under way are ignored. */
static void begins(struct gp_decider *h, u32 device)
{
	u32 i, lost = 0;

	h->backend->ops->reset(h->backend);
	/* Also a process without queues: the driver never runs those that it makes. */
	for (i = 0; i < h->nr_processes; i++) {
		lost += !h->process[i]->lost;
		lose(h->process[i]);
	}
	h->stats.resets++;
	h->stats.lost += lost;
	gp_decider_news(h, GP_NEWS_GPU, NULL, "GPU %u: the driver resets it; %u processes are lost",
		     h->gpu[device].index, lost);
}

void gp_resets_event(struct gp_decider *h, u32 device, u32 what)
{
	if (what & GP_RESET_BEGINS)
		begins(h, device);
	if (what & GP_RESET_ENDS)
		gp_decider_news(h, GP_NEWS_GPU, NULL, "GPU %u: the reset has ended",
			     h->gpu[device].index);
	/* Lost processes are left. */
	h->attach_due = true;
}

void gp_resets_take(struct gp_decider *h)
{
	u32 device, what;

	while (h->resets && (what = gp_reset_next(h->resets, &device)))
		gp_resets_event(h, device, what);
}
