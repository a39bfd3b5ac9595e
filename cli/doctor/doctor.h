/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The checks of gpreempt doctor. A check examines the machine and reports its findings. It
 * changes nothing, never waits and needs no daemon.
 *
 * Every path is below a root, which is "" for this machine. Tests use a tree of their own, in
 * which a device such as dev/kfd or dev/kmsg is a file with the device's answer.
 */
#ifndef GP_DOCTOR_H
#define GP_DOCTOR_H

#include <jansson.h>

#include "cli/term.h"
#include "lib/gpu.h"
#include "lib/process.h"

enum gp_health { GP_PASS, GP_WARN, GP_FAIL, GP_NR_HEALTHS };

#define GP_CAP_SVM	0x08000000u	/* of gp_gpu_info.capability: shared virtual memory */

enum { GP_FINDINGS = 128, GP_FINDING_TEXT = 240, GP_DOCTOR_PATH = 512 };

struct gp_finding {
	const char *check;
	enum gp_health verdict;
	char found[GP_FINDING_TEXT];
	const char *remedy;		/* NULL with GP_PASS */
};

struct gp_doctor {
	const char *root;
	const char *check;		/* the current check */
	bool needed;			/* kfd-debug does not work if this check fails */
	bool no_debug;			/* a needed check failed */
	struct gp_gpu_info gpu[GP_GPUS_MAX];
	u32 nr_gpus;
	int gpus_err;			/* -errno of reading @gpus */
	u64 chosen;			/* by -g; bit per index */
	struct gp_scanner *scanner;
	const struct gp_process *process;
	u32 nr_processes;
	struct gp_finding finding[GP_FINDINGS];
	u32 nr_findings;
	u32 count[GP_NR_HEALTHS];
};

/* Reports a finding of the current check. @remedy must stay valid. */
void gp_found(struct gp_doctor *d, enum gp_health verdict, const char *remedy,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Returns @path below the root. */
const char *gp_doctor_path(const struct gp_doctor *d, const char *path, char *ret);
/* Reads the first bytes of a file without the last newline. Returns their number, or -errno. */
int gp_doctor_text(const struct gp_doctor *d, const char *path, char *text, size_t size);
/* Reads a file that contains one number, which may be negative. Returns 0 or -errno. */
int gp_doctor_number(const struct gp_doctor *d, const char *path, s64 *ret);
/* Reads a parameter of the module amdgpu. */
int gp_doctor_parameter(const struct gp_doctor *d, const char *name, s64 *ret);
/* Returns 1 if a line of the kernel's log contains @text, 0 if not, -errno if it cannot be read. */
int gp_doctor_log(const struct gp_doctor *d, const char *text);
/* The same for a file. */
int gp_doctor_grep(const struct gp_doctor *d, const char *path, const char *text);
bool gp_doctor_chosen(const struct gp_doctor *d, u32 gpu);

/* driver.c */
void gp_check_kernel(struct gp_doctor *d);
void gp_check_driver(struct gp_doctor *d);
void gp_check_version(struct gp_doctor *d);
void gp_check_scheduler(struct gp_doctor *d);
void gp_check_cwsr(struct gp_doctor *d);
void gp_check_sched_policy(struct gp_doctor *d);
void gp_check_timeout(struct gp_doctor *d);
void gp_check_halt(struct gp_doctor *d);
/* gpu.c */
void gp_check_gpus(struct gp_doctor *d);
void gp_check_debug(struct gp_doctor *d);
void gp_check_save_area(struct gp_doctor *d);
void gp_check_vram(struct gp_doctor *d);
void gp_check_queues(struct gp_doctor *d);
/* rights.c */
void gp_check_ptrace(struct gp_doctor *d);
void gp_check_rights(struct gp_doctor *d);
void gp_check_debugfs(struct gp_doctor *d);
void gp_check_lockdown(struct gp_doctor *d);
void gp_check_secure_boot(struct gp_doctor *d);
/* process.c */
void gp_check_tracers(struct gp_doctor *d);
void gp_check_runtime(struct gp_doctor *d);
/* save.c */
void gp_check_save_places(struct gp_doctor *d);
/* module.c */
void gp_check_module(struct gp_doctor *d);
/* daemon.c */
void gp_check_configuration(struct gp_doctor *d);
void gp_check_daemon(struct gp_doctor *d);

struct gp_options;
/* Tests the assumptions of `direct` on a process (module.c). Returns enum gp_exit after a line. */
int gp_doctor_selftest(const struct gp_options *o);
/*
 * Writes @findings and their sources as a tar file (bundle.c). Returns enum gp_exit and prints a
 * line.
 */
int gp_doctor_bundle(const struct gp_doctor *d, const json_t *findings, const char *path);

#endif /* GP_DOCTOR_H */
