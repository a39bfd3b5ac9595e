// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Every kind of descriptor that could be taken for one of the KFD driver. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz.h"
#include "lab/client/client.h"

static int wrong(struct fuzz_fds *f, const char *what, int fd)
{
	size_t n = strlen(f->text);

	if (fd < 0) {
		fprintf(stderr, "gpioctl-fuzz: no descriptor of this kind: %s\n", what);
		return -1;
	}
	f->wrong[f->nr_wrong++] = fd;
	snprintf(f->text + n, sizeof(f->text) - n, " %s", what);
	return 0;
}

static int smi_fd(const struct gp_lab_client *c)
{
	struct kfd_ioctl_smi_events_args smi = { .gpuid = c->node.gpu_id };

	return ioctl(c->kfd_fd, AMDKFD_IOC_SMI_EVENTS, &smi) ? -1 : (int)smi.anon_fd;
}

static int dmabuf_fd(struct gp_lab_client *c)
{
	static struct gp_buffer b;
	struct kfd_ioctl_export_dmabuf_args e = { .flags = O_CLOEXEC };

	if (gp_buffer_alloc(c, &b, GP_MEMORY_GTT, 4096))
		return -1;
	e.handle = b.handle;
	return ioctl(c->kfd_fd, AMDKFD_IOC_EXPORT_DMABUF, &e) ? -1 : (int)e.dmabuf_fd;
}

static int closed_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd < 0 ? -1 : 900;
}

static int card_fd(void)
{
	int fd = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);

	return fd >= 0 ? fd : open("/dev/dri/card1", O_RDWR | O_CLOEXEC);
}

int fuzz_fds_open(struct fuzz_fds *f, const pid_t *loads, u32 nr)
{
	static struct gp_lab_client client;
	int err = 0;

	*f = (struct fuzz_fds){ 0 };
	for (u32 i = 0; i < nr; i++) {
		f->pidfd[f->nr_pidfds] = (int)syscall(SYS_pidfd_open, loads[i], 0);
		if (f->pidfd[f->nr_pidfds++] < 0)
			return -1;
	}
	if (gp_client_open(&client, &(struct gp_client_args){ 0 }))
		return -1;
	err |= wrong(f, "render", client.render_fd);
	err |= wrong(f, "smi", smi_fd(&client));
	err |= wrong(f, "dma-buf", dmabuf_fd(&client));
	/* Ours: right in itself, but not of the process of the pidfd. */
	err |= wrong(f, "kfd-of-another", client.kfd_fd);
	err |= wrong(f, "debugfs", open("/sys/kernel/debug/kfd/mqds", O_RDONLY | O_CLOEXEC));
	err |= wrong(f, "sysfs", open("/sys/class/kfd/kfd/topology/system_properties", O_RDONLY));
	err |= wrong(f, "socket", socket(AF_UNIX, SOCK_STREAM, 0));
	err |= wrong(f, "eventfd", eventfd(0, 0));
	err |= wrong(f, "null", open("/dev/null", O_RDWR | O_CLOEXEC));
	err |= wrong(f, "directory", open("/dev", O_RDONLY | O_CLOEXEC));
	err |= wrong(f, "path", open(GP_KFD_DEVICE, O_PATH | O_CLOEXEC));
	err |= wrong(f, "gpreempt", open(GP_KMOD_DEVICE, O_RDWR | O_CLOEXEC));
	err |= wrong(f, "pidfd", f->pidfd[0]);
	err |= wrong(f, "closed", closed_fd());
	/* A driver without modesetting may have none. */
	if (card_fd() >= 0)
		err |= wrong(f, "card", card_fd());
	f->wrong[f->nr_wrong++] = -1;
	return err;
}
