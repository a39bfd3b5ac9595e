// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreempt doctor --bundle: collects what a developer needs to diagnose this machine remotely.
 *
 * The bundle contains only the files and folders named here. It never contains environments,
 * command lines, the configuration, process memory, or names and serial numbers of the machine.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/machine/ask.h"
#include "doctor.h"
#include "tar.h"

enum { FILE_MOST = 1 << 20, LOG_MOST = 1 << 20, DEPTH_MOST = 6, FILES_MOST = 4096 };

static const char readme[] =
"What `gpreempt doctor --bundle` collected for others to look at. Read it before you send it.\n"
"\n"
"doctor.json       every check, as `gpreempt doctor --json` prints it\n"
"versions.txt      gpreempt, the kernel, the distribution, the module amdgpu\n"
"parameters/       of the modules amdgpu and gpreempt\n"
"topology/         what the driver says of the GPUs (/sys/class/kfd/kfd/topology), without caches\n"
"debugfs/          queues and runlists as the driver has them (/sys/kernel/debug/kfd)\n"
"kernel.log        lines of the kernel's log about the GPU\n"
"status.json, list.json, stats.json   of gpreemptd: names and users of GPU processes are in it\n"
"missing.txt       what could not be read, and why\n"
"\n"
"Not in it: environments, command lines, the configuration, the name of the machine, serial\n"
"numbers.\n";

static const char *const debugfs[] = { "hqds", "mqds", "rls", "mem_limit" };

/* The bundle contains the lines of the log that have one of these words. */
static const char *const log_words[] = {
	"amdgpu", "kfd", "gpreempt", "[drm", "CWSR", "HWS", "IOMMU", "iommu", "BUG:", "WARNING:",
};

struct bundle {
	const struct gp_doctor *d;
	struct gp_tar tar;
	char *buffer;		/* FILE_MOST + 1 bytes */
	char missing[16384];
	size_t missing_length;
};

static void missed(struct bundle *b, const char *what, const char *why)
{
	int n = snprintf(b->missing + b->missing_length, sizeof(b->missing) - b->missing_length,
			 "%s: %s\n", what, why);

	if (n > 0 && b->missing_length + (size_t)n < sizeof(b->missing))
		b->missing_length += (size_t)n;
}

/* Files of sysfs and debugfs do not report their size. Reads until the end or the limit. */
static ssize_t read_whole(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	size_t have = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (n > 0 && have < size) {
		n = read(fd, buffer + have, size - have);
		if (n > 0)
			have += (size_t)n;
	}
	n = n < 0 ? -errno : (ssize_t)have;
	close(fd);
	return n;
}

/* Hides the serial number of a GPU, which is private. */
static void hide_serial(char *text)
{
	static const char key[] = "unique_id ";
	char *at = strstr(text, key);

	for (at = at ? at + strlen(key) : text + strlen(text); *at >= '0' && *at <= '9'; at++)
		*at = 'x';
}

/* Adds the file @path of this machine as @name. */
static void add_file(struct bundle *b, const char *path, const char *name)
{
	char full[GP_DOCTOR_PATH];
	ssize_t n = read_whole(gp_doctor_path(b->d, path, full), b->buffer, FILE_MOST);

	if (n < 0) {
		missed(b, path, strerror((int)-n));
		return;
	}
	b->buffer[n] = '\0';
	hide_serial(b->buffer);
	if (gp_tar_add(&b->tar, name, b->buffer, (size_t)n) == -ENAMETOOLONG)
		missed(b, path, "its name is too long");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Skips the caches: hundreds of files whose content follows from the name of the GPU. */
static bool is_noise(const char *entry)
{
	return *entry == '.' || !strcmp(entry, "caches");
}

/* Adds every plain file below the folder @path. Skips links, which may lead elsewhere. */
static void add_folder(struct bundle *b, const char *path, const char *name, u32 depth)
{
	char full[GP_DOCTOR_PATH], inner[GP_DOCTOR_PATH], inner_name[GP_DOCTOR_PATH];
	struct dirent **entries;
	struct stat st;
	int n = scandir(gp_doctor_path(b->d, path, full), &entries, NULL, by_name);

	if (n < 0) {
		missed(b, path, strerror(errno));
		return;
	}
	for (int i = 0; i < n; i++) {
		const char *entry = entries[i]->d_name;

		snprintf(inner, sizeof(inner), "%s/%s", path, entry);
		snprintf(inner_name, sizeof(inner_name), "%s/%s", name, entry);
		if (!is_noise(entry) && b->tar.files < FILES_MOST &&
		    !lstat(gp_doctor_path(b->d, inner, full), &st)) {
			if (S_ISDIR(st.st_mode) && depth < DEPTH_MOST)
				add_folder(b, inner, inner_name, depth + 1);
			else if (S_ISREG(st.st_mode))
				add_file(b, inner, inner_name);
		}
		free(entries[i]);
	}
	free(entries);
}

static bool of_the_gpu(const char *line)
{
	/*
	 * Skips the kernel's command line, which names disks. Module parameters are collected
	 * elsewhere.
	 */
	if (strstr(line, "ommand line:"))
		return false;
	for (size_t i = 0; i < sizeof(log_words) / sizeof(*log_words); i++)
		if (strstr(line, log_words[i]))
			return true;
	return false;
}

/*
 * Adds the matching lines of the kernel's log. A read returns one record, or -EPIPE for
 * overwritten ones.
 */
static void add_log(struct bundle *b)
{
	char full[GP_DOCTOR_PATH], line[8192];
	int fd = open(gp_doctor_path(b->d, "/dev/kmsg", full), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t have = 0;
	ssize_t n;

	if (fd < 0) {
		missed(b, "/dev/kmsg", strerror(errno));
		return;
	}
	while ((n = read(fd, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		char *rest = line, *one;

		line[n > 0 ? n : 0] = '\0';
		while ((one = strsep(&rest, "\n"))) {
			size_t length = strlen(one);

			if (!of_the_gpu(one) || have + length + 1 > LOG_MOST)
				continue;
			memcpy(b->buffer + have, one, length);
			b->buffer[have + length] = '\n';
			have += length + 1;
		}
	}
	close(fd);
	gp_tar_add(&b->tar, "kernel.log", b->buffer, have);
}

static void add_versions(struct bundle *b)
{
	static const char *const files[] = {
		"/etc/os-release", "/sys/module/amdgpu/version", "/sys/module/amdgpu/srcversion",
		"/sys/module/gpreempt/version", "/proc/sys/kernel/tainted",
	};
	struct utsname kernel;
	char text[8192], one[2048];
	int n = 0;

	if (uname(&kernel))
		memset(&kernel, 0, sizeof(kernel));
	n += snprintf(text, sizeof(text), "gpreempt: %s\nkernel: %s %s %s\n", GP_VERSION,
		      kernel.release, kernel.version, kernel.machine);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && n < (int)sizeof(text); i++)
		if (gp_doctor_text(b->d, files[i], one, sizeof(one)) >= 0)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s: %s\n", files[i],
				      one);
	gp_tar_add(&b->tar, "versions.txt", text, strlen(text));
}

/* Adds a text as a file of lines. Takes over @text, which is NULL if an allocation failed. */
static void add_text(struct bundle *b, const char *name, char *text)
{
	size_t length = text ? strlen(text) : 0;
	char *line = text ? realloc(text, length + 1) : NULL;

	if (!line) {
		missed(b, name, "out of memory");
		free(text);
		return;
	}
	line[length] = '\n';
	gp_tar_add(&b->tar, name, line, length + 1);
	free(line);
}

static void add_daemon(struct bundle *b)
{
	static const struct {
		const char *method, *name;
	} calls[] = {
		{ "Status", "status.json" }, { "List", "list.json" }, { "Stats", "stats.json" },
	};
	const char *given = getenv("GPREEMPT_SOCKET");
	char path[GP_DOCTOR_PATH], *answer;
	struct gp_daemon *daemon;
	int err = gp_daemon_open(given && *given ? given :
				 gp_doctor_path(b->d, GP_CONTROL_SOCKET, path), &daemon);

	if (err) {
		missed(b, "gpreemptd", gp_strerror(err));
		return;
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		err = gp_daemon_call(daemon, calls[i].method, NULL, &answer);
		if (err) {
			missed(b, calls[i].name, gp_strerror(err));
			continue;
		}
		add_text(b, calls[i].name, answer);
	}
	gp_daemon_close(daemon);
}

static void collect(struct bundle *b, const json_t *findings)
{
	char path[128], name[128];

	gp_tar_add(&b->tar, "README.txt", readme, strlen(readme));
	add_text(b, "doctor.json", json_dumps(findings, JSON_INDENT(2)));
	add_versions(b);
	add_folder(b, "/sys/module/amdgpu/parameters", "parameters/amdgpu", 0);
	add_folder(b, "/sys/module/gpreempt/parameters", "parameters/gpreempt", 0);
	add_folder(b, "/sys/class/kfd/kfd/topology", "topology", 0);
	for (size_t i = 0; i < sizeof(debugfs) / sizeof(*debugfs); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/kfd/%s", debugfs[i]);
		snprintf(name, sizeof(name), "debugfs/%s", debugfs[i]);
		add_file(b, path, name);
	}
	add_log(b);
	add_daemon(b);
	gp_tar_add(&b->tar, "missing.txt", b->missing, b->missing_length);
}

int gp_doctor_bundle(const struct gp_doctor *d, const json_t *findings, const char *path)
{
	struct bundle *b = calloc(1, sizeof(*b));
	int err = b ? 0 : -ENOMEM;

	if (!err) {
		b->d = d;
		b->buffer = malloc(FILE_MOST + 1);
		err = b->buffer ? gp_tar_create(&b->tar, path) : -ENOMEM;
	}
	if (!err) {
		collect(b, findings);
		err = gp_tar_close(&b->tar);
		if (err)
			unlink(path);
	}
	if (err)
		gp_error("--bundle: cannot write '%s': %s", path, strerror(-err));
	else
		fprintf(stderr,
			"gpreempt: wrote %u files to '%s'; read them before you send them\n",
			b->tar.files, path);
	if (b)
		free(b->buffer);
	free(b);
	return err ? GP_EXIT_BAD : GP_EXIT_OK;
}
