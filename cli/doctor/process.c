// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt doctor: the processes that use the GPUs now. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define RUNTIME	"libhsa-runtime64.so."

/* The first runtime that enables itself for debugging: ROCm 5.7. */
enum { ROCM_LEAST = 50700, RUNTIME_LEAST = 11 };

static long tracer_of(const struct gp_doctor *d, pid_t pid)
{
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (gp_doctor_text(d, path, text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "\nTracerPid:");
	return line ? strtol(line + strlen("\nTracerPid:"), NULL, 10) : 0;
}

void gp_check_tracers(struct gp_doctor *d)
{
	u32 traced = 0;

	for (u32 i = 0; i < d->nr_processes; i++) {
		long tracer = tracer_of(d, d->process[i].pid);
		char path[64], name[64] = "?";

		if (!tracer)
			continue;
		snprintf(path, sizeof(path), "/proc/%ld/comm", tracer);
		gp_doctor_text(d, path, name, sizeof(name));
		if (!strcmp(name, "gpreemptd"))
			continue;
		traced++;
		gp_found(d, GP_WARN, "end the debugger: one process has one debugger",
			 "%s (%d) is traced by %s (%ld) and cannot be preempted",
			 d->process[i].comm, (int)d->process[i].pid, name, tracer);
	}
	if (!traced)
		gp_found(d, GP_PASS, NULL, "no GPU process is traced by another process");
}

/* True for the path of a ROCm runtime that never enables itself for debugging. */
static bool is_old(const char *library)
{
	unsigned int major = 0, minor = 0, rocm = 0;
	const char *version = strstr(library, RUNTIME);

	if (!version ||
	    sscanf(version + strlen(RUNTIME), "%u.%u.%u", &major, &minor, &rocm) < 2)
		return false;
	/* Distributions omit the number of the release. */
	return rocm >= 10000 ? rocm < ROCM_LEAST : minor < RUNTIME_LEAST;
}

/* Finds the runtime that a process has mapped, "" if none. Returns -errno if it is not visible. */
static int runtime_of(const struct gp_doctor *d, pid_t pid, char *ret, size_t size)
{
	char path[64], full[GP_DOCTOR_PATH], line[1024];
	FILE *maps;

	*ret = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(gp_doctor_path(d, path, full), "re");
	if (!maps)
		return -errno;
	while (!*ret && fgets(line, sizeof(line), maps)) {
		char *slash = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (slash && strstr(slash, RUNTIME))
			snprintf(ret, size, "%s", slash);
	}
	fclose(maps);
	return 0;
}

void gp_check_runtime(struct gp_doctor *d)
{
	u32 good = 0, hidden = 0, old = 0;

	for (u32 i = 0; i < d->nr_processes; i++) {
		const struct gp_process *p = &d->process[i];
		char library[192];

		/* The daemon opens the driver for its own calls and has no runtime. */
		if (!strcmp(p->comm, "gpreemptd"))
			continue;
		if (runtime_of(d, p->pid, library, sizeof(library))) {
			hidden++;
		} else if (is_old(library)) {
			old++;
			gp_found(d, GP_WARN, "run it with ROCm 5.7 or newer",
				 "%s (%d) uses %s, which cannot be preempted by kfd-debug", p->comm,
				 (int)p->pid, library);
		} else {
			good++;
		}
	}
	if (hidden)
		gp_found(d, GP_WARN, "run as root", "the runtime of %s cannot be seen",
			 gp_number_of(hidden, "process").s);
	if (!hidden && !old)
		gp_found(d, GP_PASS, NULL, "%s with a GPU open, none with an old ROCm",
			 gp_number_of(good, "process").s);
}
