// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GPUs that the driver resets.
 *
 * Whoever was there is lost: the driver runs nothing of it any more, on no GPU, and only waits for
 * it to end. So all are LOST to the scheduler, nothing is owed to them, and they are left. Who
 * comes after the reset is treated like anybody.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "home.h"

void gp_resets_watch(struct gp_home *h)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_HOME_RESETS };
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
		gp_home_news(h, GP_NEWS_TROUBLE, NULL, "resets of GPUs will not be noticed: %s",
			     strerror(-err));
	else
		epoll_ctl(h->epoll, EPOLL_CTL_ADD, gp_reset_fd(h->resets), &e);
}

void gp_resets_unwatch(struct gp_home *h)
{
	if (h->resets)
		epoll_ctl(h->epoll, EPOLL_CTL_DEL, gp_reset_fd(h->resets), NULL);
	gp_reset_close(h->resets);
	h->resets = NULL;
}

static void lose(struct gp_resident *r)
{
	r->lost = true;
	r->lease_ns = 0;
	snprintf(r->trouble, sizeof(r->trouble),
		 "a GPU was reset: the driver runs nothing of it any more; it has to end");
}

/* What the doer has under way is not waited for; its answers go to nobody. */
static void begins(struct gp_home *h, u32 device)
{
	u32 i, d, lost = 0;

	for (d = 0; d < h->nr_gpus; d++)
		gp_device_reset(h->sched, d, h->now_ns);
	/* Also who has no queue yet: those it makes are never run. */
	for (i = 0; i < h->nr_residents; i++) {
		lost += !h->resident[i]->lost;
		lose(h->resident[i]);
	}
	h->stats.resets++;
	h->stats.lost += lost;
	gp_home_news(h, GP_NEWS_GPU, NULL, "GPU %u: the driver resets it; %u processes are lost",
		     h->gpu[device].index, lost);
}

void gp_resets_event(struct gp_home *h, u32 device, u32 what)
{
	if (what & GP_RESET_BEGINS)
		begins(h, device);
	if (what & GP_RESET_ENDS)
		gp_home_news(h, GP_NEWS_GPU, NULL, "GPU %u: the reset has ended",
			     h->gpu[device].index);
	/* They are left: nobody can stop them, nobody has to. */
	h->tend = true;
}

void gp_resets_take(struct gp_home *h)
{
	u32 device, what;

	while (h->resets && (what = gp_reset_next(h->resets, &device)))
		gp_resets_event(h, device, what);
}
