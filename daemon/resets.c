// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Handles resets of GPUs, which the driver reports by its system management events.
 *
 * After a reset the driver keeps the queues of every process that has it open off all GPUs, and
 * waits for the process to end. So all seats are LOST and all processes are detached. Processes
 * that start after the reset are treated as usual.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "decider_private.h"
#include "lib/sys.h"
#include "uapi/kfd.h"

/* Returns a descriptor of the events of one GPU, or -errno. */
static int subscribe(int kfd_fd, u32 gpu_id)
{
	const u64 mask = KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_PRE_RESET) |
			 KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_POST_RESET);
	struct kfd_ioctl_smi_events_args args = { .gpuid = gpu_id };
	int err;

	if (gp_sys->ioctl(kfd_fd, AMDKFD_IOC_SMI_EVENTS, &args))
		return -errno;
	if (gp_sys->write((int)args.anon_fd, &mask, sizeof(mask)) != sizeof(mask)) {
		err = -errno;
		close((int)args.anon_fd);
		return err;
	}
	gp_sys->fcntl((int)args.anon_fd, F_SETFD, FD_CLOEXEC);
	return (int)args.anon_fd;
}

void gp_resets_watch(struct gp_decider *h)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_DECIDER_RESETS };
	int kfd_fd, err;

	/* In tests there is no driver. */
	if (h->args.kfd || !h->nr_gpus)
		return;
	/* Close it, because an open driver blocks a partition switch. */
	kfd_fd = gp_sys->openat(AT_FDCWD, "/dev/kfd", O_RDWR | O_CLOEXEC);
	err = kfd_fd < 0 ? -errno : 0;
	for (u32 d = 0; !err && d < h->nr_gpus; d++) {
		err = subscribe(kfd_fd, h->gpu[d].gpu_id);
		if (err < 0)
			break;
		h->reset_fd[h->nr_reset_fds++] = err;
		err = gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_ADD, err, &e) ? -errno : 0;
	}
	if (kfd_fd >= 0)
		close(kfd_fd);
	if (!err)
		return;
	gp_resets_unwatch(h);
	gp_decider_news(h, GP_NEWS_TROUBLE, NULL, "resets of GPUs will not be noticed: %s",
			strerror(-err));
}

void gp_resets_unwatch(struct gp_decider *h)
{
	while (h->nr_reset_fds)
		close(h->reset_fd[--h->nr_reset_fds]);
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
	/* Also a process without queues, because the driver never runs its later queues. */
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
	/* Lost processes must be detached. */
	h->attach_due = true;
}

/* Parses events. A line begins with the number of its event in hexadecimal. */
u32 gp_reset_parse(const char *text, size_t bytes)
{
	bool begins = true;
	u32 what = 0;

	for (size_t i = 0; i + 1 < bytes; i++) {
		if (begins && text[i + 1] == ' ')
			what |= text[i] == '0' + KFD_SMI_EVENT_GPU_PRE_RESET ? GP_RESET_BEGINS :
				text[i] == '0' + KFD_SMI_EVENT_GPU_POST_RESET ? GP_RESET_ENDS : 0;
		begins = text[i] == '\n';
	}
	return what;
}

/* Reads the events. The driver's read() does not block. */
void gp_resets_take(struct gp_decider *h)
{
	char text[4096];
	ssize_t got;
	u32 what;

	for (u32 d = 0; d < h->nr_reset_fds; d++)
		while ((got = gp_sys->read(h->reset_fd[d], text, sizeof(text))) > 0) {
			what = gp_reset_parse(text, (size_t)got);
			if (what)
				gp_resets_event(h, d, what);
		}
}
