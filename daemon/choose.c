// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which doer the home has: what the configuration and the mode want, and what is there. */
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "home.h"
#include "kernel.h"

static int make_doer(struct gp_home *h, struct gp_doer **ret, const char **why)
{
	const struct gp_daemon_settings *set = &h->config->daemon;
	struct gp_kfdm_gpu gpus[GP_GPUS_MAX];
	struct gp_doer_args args = {
		.gpus = gpus, .nr_gpus = h->nr_gpus, .grace = set->grace,
		.attach_interval_ns = GP_SEC / (set->attach_rate ? set->attach_rate : 1),
		.kfd_root = h->args.kfd,
	};
	u32 i;

	for (i = 0; i < h->nr_gpus; i++)
		gpus[i] = (struct gp_kfdm_gpu){ h->gpu[i].gpu_id, h->gpu[i].cus };
	return h->args.make_doer(h->args.ctx, &args, ret, why);
}

void gp_home_drop_doer(struct gp_home *h)
{
	if (h->doer->fd >= 0)
		epoll_ctl(h->epoll, EPOLL_CTL_DEL, h->doer->fd, NULL);
	if (h->doer->ops->free)
		h->doer->ops->free(h->doer);
	h->doer = gp_doer_none();
	gp_resets_unwatch(h);
}

static void take_doer(struct gp_home *h, struct gp_doer *doer)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_HOME_DOER };

	h->doer = doer;
	if (doer->fd >= 0)
		epoll_ctl(h->epoll, EPOLL_CTL_ADD, doer->fd, &e);
	gp_resets_watch(h);
}

/* The module if it is there, the driver's debug interface else. */
static void find_doer(struct gp_home *h)
{
	u8 choice = h->config->daemon.mechanism;
	struct gp_doer *doer = NULL;
	char why_not[GP_HOME_WHY] = "there is no kernel part here";
	const char *why = "";
	int err = -ENOENT;

	if (choice != GP_USE_KFD_DEBUG && h->args.kmod)
		err = gp_kernel_open(h, &doer, why_not);
	if (err && choice == GP_USE_KMOD) {
		snprintf(h->doer_trouble, sizeof(h->doer_trouble),
			 "mechanism = kmod: %.180s; use auto or kfd-debug", why_not);
		return;
	}
	if (err && err != -ENOENT)
		gp_home_news(h, GP_NEWS_TROUBLE, NULL, "%s; kfd-debug is used", why_not);
	if (err)
		err = make_doer(h, &doer, &why);
	if (err)
		snprintf(h->doer_trouble, sizeof(h->doer_trouble),
			 "nobody can be preempted: %s (%s)", why, strerror(-err));
	else
		take_doer(h, doer);
}

/* The driver is open only while we may act: an open one blocks a partition switch. */
void gp_home_choose_doer(struct gp_home *h, bool anew)
{
	u8 choice = h->config->daemon.mechanism;
	bool real = !h->observe && choice != GP_USE_NONE && h->nr_gpus;
	u32 i;

	if (real == (h->doer != gp_doer_none()) && !anew)
		return;
	/* Whom the old one knows, it leaves; the tasks are made again for the new one. */
	for (i = 0; i < h->nr_residents; i++)
		gp_job_leave(h, h->resident[i]);
	gp_home_drop_doer(h);
	h->doer_trouble[0] = 0;
	if (real)
		find_doer(h);
	if (h->doer_trouble[0])
		gp_home_news(h, GP_NEWS_TROUBLE, NULL, "%s", h->doer_trouble);
	for (i = 0; i < h->nr_residents; i++)
		gp_job_settle(h, h->resident[i]);
	/* Another scheduler decides now. */
	if (h->recorder.emit)
		gp_home_describe(h);
	h->tend = true;
}
