// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* One process's connection to one GPU, the raw call, and its error message. */
#include "client.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	VENDOR_QEMU	= 0x1af4,
	CLOCK_TICK_NS	= 10,	/* 100 MHz, the same on every gfx9 */
};

static _Thread_local char failure[256];

const char *gp_client_error(void)
{
	return failure;
}

int gp_client_fail(int err, const char *format, ...)
{
	va_list args;
	size_t n;

	va_start(args, format);
	vsnprintf(failure, sizeof(failure), format, args);
	va_end(args);
	n = strlen(failure);
	snprintf(failure + n, sizeof(failure) - n, ": %s", strerror(err));
	return -err;
}

int gp_client_say(int err, const char *format, ...)
{
	char line[sizeof(failure)];	/* arguments may contain the last message */
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	memcpy(failure, line, sizeof(failure));
	return -err;
}

int gp_client_call(struct gp_lab_client *c, unsigned long request, void *arg, const char *what)
{
	int r;

	do {
		r = ioctl(c->kfd_fd, request, arg);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? gp_client_fail(errno, "%s", what) : r;
}

int gp_client_clock(struct gp_lab_client *c, u64 *ret_ns)
{
	struct kfd_ioctl_get_clock_counters_args clocks = { .gpu_id = c->node.gpu_id };
	int err = gp_client_call(c, AMDKFD_IOC_GET_CLOCK_COUNTERS, &clocks, "GET_CLOCK_COUNTERS");

	if (!err)
		*ret_ns = clocks.gpu_clock_counter * CLOCK_TICK_NS;
	return err;
}

bool gp_client_is_model(const struct gp_lab_client *c)
{
	u8 vendor[2] = { 0 };
	char path[64];
	int fd;

	/*
	 * Read the configuration space itself, because the driver may show other ids than the
	 * device has.
	 */
	snprintf(path, sizeof(path), "/sys/class/drm/renderD%u/device/config",
		 c->node.render_minor);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, vendor, sizeof(vendor)) != sizeof(vendor))
		vendor[0] = 0;
	close(fd);
	return (vendor[0] | vendor[1] << 8) == VENDOR_QEMU;
}

static int find_gpu(const struct gp_client_args *args, struct gp_node *ret)
{
	struct gp_node nodes[GP_CLIENT_GPUS];
	u32 count;
	int err = gp_topology_read(args->topology, nodes, GP_CLIENT_GPUS, &count);

	if (err)
		return err;
	if (args->gpu >= count || args->gpu >= GP_CLIENT_GPUS)
		return gp_client_fail(ENODEV, "GPU %u: the driver shows %u", args->gpu, count);
	*ret = nodes[args->gpu];
	return 0;
}

static int open_device(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? gp_client_fail(errno, "cannot open %s", path) : fd;
}

static int check_version(struct gp_lab_client *c)
{
	int err = gp_client_call(c, AMDKFD_IOC_GET_VERSION, &c->version, "GET_VERSION");

	if (err)
		return err;
	if (c->version.major_version != KFD_IOCTL_MAJOR_VERSION)
		return gp_client_fail(EPROTO, "KFD %u.%u: only 1.x is known here",
				      c->version.major_version, c->version.minor_version);
	return 0;
}

static int open_render(const struct gp_node *node)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/dri/renderD%u", node->render_minor);
	return open_device(path);
}

static int acquire_vm(struct gp_lab_client *c, int render_fd, const struct gp_node *node)
{
	struct kfd_ioctl_acquire_vm_args vm = { .drm_fd = (u32)render_fd, .gpu_id = node->gpu_id };

	return gp_client_call(c, AMDKFD_IOC_ACQUIRE_VM, &vm, "ACQUIRE_VM");
}

/* Acquires the VMs of the GPUs that the client does not use. */
static int acquire_others(struct gp_lab_client *c, const char *topology)
{
	struct gp_node nodes[GP_CLIENT_GPUS];
	u32 count = 0, i;
	int err = gp_topology_read(topology, nodes, GP_CLIENT_GPUS, &count);

	for (i = 0; !err && i < count && i < GP_CLIENT_GPUS; i++) {
		int fd;

		if (nodes[i].gpu_id == c->node.gpu_id)
			continue;
		fd = open_render(&nodes[i]);
		if (fd < 0)
			return fd;
		c->other_fd[c->others++] = fd;
		err = acquire_vm(c, fd, &nodes[i]);
	}
	return err;
}

static int enter(struct gp_lab_client *c, const struct gp_client_args *args)
{
	struct kfd_ioctl_runtime_enable_args enable = {
		.mode_mask = KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK |
			     KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK,
	};
	int err = check_version(c);

	if (!err)
		err = acquire_vm(c, c->render_fd, &c->node);
	if (!err && args->all_vms)
		err = acquire_others(c, args->topology);
	if (err || args->no_runtime)
		return err;
	if (c->at_runtime)
		c->at_runtime(true);
	err = gp_client_call(c, AMDKFD_IOC_RUNTIME_ENABLE, &enable, "RUNTIME_ENABLE");
	c->runtime = !err;
	if (c->runtime && c->at_runtime)
		c->at_runtime(true);
	return err;
}

int gp_client_open(struct gp_lab_client *c, const struct gp_client_args *args)
{
	int err;

	*c = (struct gp_lab_client){
		.kfd_fd = -1, .render_fd = -1, .padding_fd = -1, .at_runtime = args->at_runtime,
	};
	err = find_gpu(args, &c->node);
	if (!err)
		err = gp_geometry(&c->node, &c->geometry);
	if (err)
		return err;
	err = c->kfd_fd = open_device(GP_KFD_DEVICE);
	if (err < 0)
		return err;
	err = c->render_fd = open_render(&c->node);
	if (err >= 0)
		err = enter(c, args);
	if (err)
		gp_client_close(c);
	return err;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void end_runtime(struct gp_lab_client *c)
{
	struct kfd_ioctl_runtime_enable_args disable = { .mode_mask = 0 };

	if (c->at_runtime)
		c->at_runtime(false);
	gp_client_call(c, AMDKFD_IOC_RUNTIME_ENABLE, &disable, "RUNTIME_ENABLE(0)");
	if (c->at_runtime)
		c->at_runtime(false);
	c->runtime = false;
}

void gp_client_close(struct gp_lab_client *c)
{
	if (c->debugs_itself)
		gp_debug_disable(c, getpid());
	if (c->runtime)
		end_runtime(c);
	if (c->doorbells)
		munmap(c->doorbells, GP_KFD_DOORBELL_BYTES);
	c->doorbells = NULL;
	close_fd(&c->padding_fd);
	while (c->others)
		close_fd(&c->other_fd[--c->others]);
	close_fd(&c->render_fd);
	close_fd(&c->kfd_fd);
}
