// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt doctor: the kernel, its driver and the driver's parameters. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "uapi/kfd.h"

/* The first kernel whose debug interface supports several processes. */
enum { KERNEL_MAJOR = 6, KERNEL_MINOR = 5 };

enum { TIMEOUT_INITIAL_MS = 9000, TIMEOUT_LEAST_MS = 1000 };

void gp_check_kernel(struct gp_doctor *d)
{
	unsigned int major = 0, minor = 0;
	char release[128], version[64];

	if (gp_doctor_text(d, "/proc/sys/kernel/osrelease", release, sizeof(release)) < 0 ||
	    sscanf(release, "%u.%u", &major, &minor) != 2) {
		gp_found(d, GP_FAIL, "mount /proc", "the kernel's release cannot be read");
		return;
	}
	if (major > KERNEL_MAJOR || (major == KERNEL_MAJOR && minor >= KERNEL_MINOR))
		gp_found(d, GP_PASS, NULL, "%s", release);
	else if (gp_doctor_text(d, "/sys/module/amdgpu/version", version, sizeof(version)) > 0)
		gp_found(d, GP_WARN, "see check kfd-version: it decides",
			 "%s is older than %d.%d, with a driver of its own (%s)", release,
			 KERNEL_MAJOR, KERNEL_MINOR, version);
	else
		gp_found(d, GP_FAIL, "boot Linux 6.5 or newer, or install amdgpu-dkms of ROCm 6",
			 "%s is older than %d.%d: its driver cannot stop queues of others", release,
			 KERNEL_MAJOR, KERNEL_MINOR);
}

static bool is_loaded(const struct gp_doctor *d)
{
	char path[GP_DOCTOR_PATH];

	return !access(gp_doctor_path(d, "/sys/module/amdgpu", path), F_OK);
}

void gp_check_driver(struct gp_doctor *d)
{
	char path[GP_DOCTOR_PATH];

	if (!is_loaded(d))
		gp_found(d, GP_FAIL, "modprobe amdgpu", "amdgpu is not loaded");
	else if (access(gp_doctor_path(d, GP_SYSFS_KFD, path), F_OK))
		gp_found(d, GP_FAIL, "boot a kernel with CONFIG_HSA_AMD",
			 "amdgpu is loaded without KFD, its compute part");
	else if (access(gp_doctor_path(d, "/dev/kfd", path), F_OK))
		gp_found(d, GP_FAIL, "restart udev; in a container: --device /dev/kfd",
			 "there is no /dev/kfd");
	else
		gp_found(d, GP_PASS, NULL, "amdgpu with KFD is loaded");
}

/* Reads the driver's version. In a test's tree the file contains it as text: "1.17". */
static int kfd_version(const struct gp_doctor *d, struct kfd_ioctl_get_version_args *ret)
{
	char path[GP_DOCTOR_PATH], text[32];
	struct stat st;
	int fd, err = 0;

	fd = open(gp_doctor_path(d, "/dev/kfd", path), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (*d->root && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		err = gp_doctor_text(d, "/dev/kfd", text, sizeof(text)) < 0 ||
		      sscanf(text, "%u.%u", &ret->major_version, &ret->minor_version) != 2 ?
		      -EPROTO : 0;
	} else if (ioctl(fd, AMDKFD_IOC_GET_VERSION, ret)) {
		err = -errno;
	}
	close(fd);
	return err;
}

void gp_check_version(struct gp_doctor *d)
{
	struct kfd_ioctl_get_version_args v = { 0, 0 };
	int err = kfd_version(d, &v);

	if (err == -ENOENT)
		return;		/* the check driver reports this */
	if (err == -EACCES || err == -EPERM)
		gp_found(d, GP_WARN, "run as root, or join group render",
			 "/dev/kfd may not be opened");
	else if (err)
		gp_found(d, GP_FAIL, "read the kernel's log", "/dev/kfd does not answer: %s",
			 strerror(-err));
	else if (v.major_version == KFD_IOCTL_MAJOR_VERSION &&
		 v.minor_version < GP_KFD_MINOR_DEBUGGER)
		gp_found(d, GP_FAIL, "boot Linux 6.5 or newer, or install amdgpu-dkms of ROCm 6",
			 "%u.%u has no debug interface, which came with %d.%d", v.major_version,
			 v.minor_version, KFD_IOCTL_MAJOR_VERSION, GP_KFD_MINOR_DEBUGGER);
	else
		gp_found(d, GP_PASS, NULL, "%u.%u", v.major_version, v.minor_version);
}

/* The scheduler of queues. There are three sources because each can be unavailable. */
enum scheduler { NOT_KNOWN, CPSCH, MES, NO_HWS };

static const char *const names[] = { "not known", "CPSCH", "MES", "no hardware scheduler" };

static enum scheduler by_parameter(const struct gp_doctor *d)
{
	s64 value;

	if (!gp_doctor_parameter(d, "sched_policy", &value) && value == 2)
		return NO_HWS;
	if (!gp_doctor_parameter(d, "mes", &value) && value == 1)
		return MES;
	for (u32 i = 0; i < d->nr_gpus; i++) {
		/* From gfx11 on the driver uses MES whatever the parameter says. */
		if (gp_doctor_chosen(d, i))
			return d->gpu[i].gfx_version >= 110000 ? MES : CPSCH;
	}
	return NOT_KNOWN;
}

static enum scheduler by_log(const struct gp_doctor *d)
{
	if (gp_doctor_log(d, "SW scheduler is used") == 1)
		return NO_HWS;
	if (gp_doctor_log(d, "<mes_v") == 1)
		return MES;
	/* The log names the driver's blocks, and MES is not among them. */
	return gp_doctor_log(d, "<gfx_v") == 1 ? CPSCH : NOT_KNOWN;
}

static enum scheduler by_debugfs(const struct gp_doctor *d)
{
	if (gp_doctor_grep(d, "/sys/kernel/debug/kfd/hqds", "HIQ on MEC") == 1)
		return CPSCH;
	return gp_doctor_grep(d, "/sys/kernel/debug/kfd/hqds", "CP Pipe") == 1 ? MES : NOT_KNOWN;
}

void gp_check_scheduler(struct gp_doctor *d)
{
	const enum scheduler said[] = { by_parameter(d), by_log(d), by_debugfs(d) };
	enum scheduler is = NOT_KNOWN;
	bool disagree = false;

	if (!is_loaded(d))
		return;
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		disagree |= is && said[i] && said[i] != is;
		is = is ? is : said[i];
	}
	if (disagree)
		gp_found(d, GP_WARN, "believe debugfs, and report it",
			 "parameters say %s, the log %s, debugfs %s", names[said[0]],
			 names[said[1]], names[said[2]]);
	else if (is == NOT_KNOWN)
		gp_found(d, GP_WARN, "run as root", "parameters, log and debugfs say nothing");
	else if (is == NO_HWS)
		gp_found(d, GP_FAIL, "remove amdgpu.sched_policy=2 from the kernel's command line",
			 "%s: queues cannot be stopped", names[is]);
	else if (is == MES)
		gp_found(d, GP_WARN, "try with one process before you rely on it",
			 "%s: stopping queues is tested with CPSCH only", names[is]);
	else
		gp_found(d, GP_PASS, NULL, "%s (parameters: %s, log: %s, debugfs: %s)", names[is],
			 names[said[0]], names[said[1]], names[said[2]]);
}

/* Reads a parameter. On failure it returns false and reports it, unless the check driver has. */
static bool parameter(struct gp_doctor *d, const char *name, s64 *ret)
{
	int err = gp_doctor_parameter(d, name, ret);

	if (err && is_loaded(d))
		gp_found(d, GP_WARN, "tell us the driver's version: it is not one we know",
			 "amdgpu.%s cannot be read: %s", name, strerror(-err));
	return !err;
}

void gp_check_cwsr(struct gp_doctor *d)
{
	s64 value;

	if (!parameter(d, "cwsr_enable", &value))
		return;
	if (value)
		gp_found(d, GP_PASS, NULL, "amdgpu.cwsr_enable = %" PRId64, value);
	else
		gp_found(d, GP_FAIL, "remove amdgpu.cwsr_enable=0 from the kernel's command line",
			 "amdgpu.cwsr_enable = 0: running waves cannot be saved");
}

void gp_check_sched_policy(struct gp_doctor *d)
{
	s64 value;

	if (!parameter(d, "sched_policy", &value))
		return;
	if (!value)
		gp_found(d, GP_PASS, NULL, "amdgpu.sched_policy = 0");
	else if (value == 1)
		gp_found(d, GP_WARN, "remove amdgpu.sched_policy=1 from the kernel's command line",
			 "amdgpu.sched_policy = 1: queues beyond the hardware's slots are refused");
	else
		gp_found(d, GP_FAIL, "remove amdgpu.sched_policy from the kernel's command line",
			 "amdgpu.sched_policy = %" PRId64 ": queues cannot be stopped", value);
}

void gp_check_timeout(struct gp_doctor *d)
{
	static const char remedy[] =
		"echo 9000 > /sys/module/amdgpu/parameters/queue_preemption_timeout_ms";
	s64 ms;

	if (!parameter(d, "queue_preemption_timeout_ms", &ms))
		return;
	if (ms < TIMEOUT_LEAST_MS)
		gp_found(d, GP_WARN, remedy,
			 "after %" PRId64 " ms the driver takes a slow save for a hang", ms);
	else if (ms > TIMEOUT_INITIAL_MS)
		gp_found(d, GP_WARN, remedy,
			 "a stop that hangs blocks its GPU for %" PRId64 " ms", ms);
	else
		gp_found(d, GP_PASS, NULL, "a stop that hangs ends after %" PRId64 " ms", ms);
}

void gp_check_halt(struct gp_doctor *d)
{
	s64 value;

	if (!parameter(d, "halt_if_hws_hang", &value))
		return;
	if (value)
		gp_found(d, GP_WARN, "echo 0 > /sys/module/amdgpu/parameters/halt_if_hws_hang",
			 "amdgpu.halt_if_hws_hang = %" PRId64 ": a stop that hangs never ends",
			 value);
	else
		gp_found(d, GP_PASS, NULL, "amdgpu.halt_if_hws_hang = 0");
}
