// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "reset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "uapi/kfd.h"

enum { GPUS = 64, BYTES = 4096 };

struct gp_reset_watch {
	int epoll;
	int fd[GPUS];
	u32 nr;
};

static int subscribe(int kfd_fd, u32 gpu_id)
{
	const u64 mask = GP_KFD_SMI_BIT(GP_KFD_SMI_PRE_RESET) |
			 GP_KFD_SMI_BIT(GP_KFD_SMI_POST_RESET);
	struct gp_kfd_smi args = { .gpu_id = gpu_id };
	int err;

	if (ioctl(kfd_fd, GP_KFD_IOC_SMI, &args))
		return -errno;
	if (write((int)args.fd, &mask, sizeof(mask)) != sizeof(mask)) {
		err = -errno;
		close((int)args.fd);
		return err;
	}
	fcntl((int)args.fd, F_SETFD, FD_CLOEXEC);
	return (int)args.fd;
}

static int add(struct gp_reset_watch *w, int kfd_fd, u32 gpu_id)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = w->nr };
	int fd = subscribe(kfd_fd, gpu_id);

	if (fd < 0)
		return fd;
	w->fd[w->nr++] = fd;
	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

int gp_reset_open(int kfd_fd, const u32 *gpu_ids, u32 nr, struct gp_reset_watch **ret)
{
	struct gp_reset_watch *w;
	int err;

	if (!nr || nr > GPUS)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = w->epoll < 0 ? -errno : 0;
	for (u32 i = 0; !err && i < nr; i++)
		err = add(w, kfd_fd, gpu_ids[i]);
	if (err) {
		gp_reset_close(w);
		return err;
	}
	*ret = w;
	return 0;
}

void gp_reset_close(struct gp_reset_watch *w)
{
	if (!w)
		return;
	while (w->nr)
		close(w->fd[--w->nr]);
	if (w->epoll >= 0)
		close(w->epoll);
	free(w);
}

int gp_reset_fd(const struct gp_reset_watch *w)
{
	return w->epoll;
}

/* A line begins with its event's number in hexadecimal. */
u32 gp_reset_parse(const char *text, size_t bytes)
{
	bool begins = true;
	u32 what = 0;

	for (size_t i = 0; i + 1 < bytes; i++) {
		if (begins && text[i + 1] == ' ')
			what |= text[i] == '0' + GP_KFD_SMI_PRE_RESET ? GP_RESET_BEGINS :
				text[i] == '0' + GP_KFD_SMI_POST_RESET ? GP_RESET_ENDS : 0;
		begins = text[i] == '\n';
	}
	return what;
}

u32 gp_reset_next(struct gp_reset_watch *w, u32 *ret_gpu)
{
	struct epoll_event e;
	char text[BYTES];
	ssize_t got;
	u32 what;

	while (epoll_wait(w->epoll, &e, 1, 0) == 1) {
		got = read(w->fd[e.data.u32], text, sizeof(text));
		if (got <= 0)
			return 0;
		what = gp_reset_parse(text, (size_t)got);
		if (!what)
			continue;
		*ret_gpu = e.data.u32;
		return what;
	}
	return 0;
}
