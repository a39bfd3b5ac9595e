// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What goes into and comes out of the kernel's scheduler, for those who record. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kernel.h"
#include "lib/kmod.h"

enum { RECORDS = 4096 };	/* of one run; the rest waits for the next */

static_assert(sizeof(struct gp_rec) == sizeof(struct gp_uapi_event), "records come as events");

/* The task of a process has this number in the kernel. */
static void name(struct gp_home *h, pid_t pid, u32 number)
{
	u32 i, task = GP_NONE;

	for (i = 0; i < h->nr_residents; i++)
		if (h->resident[i]->pid == pid)
			task = h->resident[i]->task;
	for (i = 0; i < h->nr_residents && task != GP_NONE; i++)
		if (h->resident[i]->task == task)
			h->resident[i]->kernel_task = number;
}

static void take(struct gp_home *h, const struct gp_uapi_event *e)
{
	struct gp_rec rec;
	u32 device;

	if (e->kind == GP_UAPI_EVENT_DROPPED)
		gp_home_news(h, GP_NEWS_TROUBLE, NULL, "%llu of the kernel's records had no room",
			     (unsigned long long)e->arg[0]);
	if (e->kind >= GP_UAPI_EVENT_FIRST)
		return;
	memcpy(&rec, e, sizeof(rec));
	if (rec.kind == GP_REC_NAME)
		name(h, (pid_t)rec.queue, rec.task);
	if (rec.kind == GP_REC_DEVICE_ADD) {
		device = gp_rings_device(h, (u32)rec.arg[1]);
		rec.arg[1] = device == GP_NONE ? rec.device : h->gpu[device].index;
	}
	if (h->recorder.emit)
		h->recorder.emit(h->recorder.ctx, &rec);
}

void gp_kernel_take_records(struct gp_home *h)
{
	struct gp_uapi_event e;
	u32 i;

	for (i = 0; i < RECORDS && h->record_fd >= 0 && !gp_kmod_next(h->record_fd, &e); i++)
		take(h, &e);
}

static void stop(struct gp_home *h)
{
	if (h->record_fd >= 0)
		close(h->record_fd);
	h->record_fd = -1;
}

/* A descriptor of its own: who subscribes anew loses what he has not read. */
static int start(struct gp_home *h)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_HOME_DOER };

	h->record_fd = gp_kmod_open(h->args.kmod, NULL);
	if (h->record_fd < 0)
		return h->record_fd;
	return epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->record_fd, &e) ? -errno : 0;
}

void gp_kernel_record(struct gp_home *h, bool on)
{
	int err = 0;

	if (!on) {
		stop(h);
		return;
	}
	gp_kernel_take_records(h);
	if (h->record_fd < 0)
		err = start(h);
	if (!err)
		err = gp_kmod_subscribe(h->record_fd, GP_UAPI_TRACE, -1);
	if (!err)
		return;
	gp_home_news(h, GP_NEWS_TROUBLE, NULL, "the module refuses to be recorded: %s",
		     strerror(-err));
	stop(h);
}
