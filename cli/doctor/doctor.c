// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt doctor: checks whether this machine can preempt and names remedies. */
#include "doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/machine/ask.h"
#include "sim/json.h"

static const struct check {
	const char *name;
	bool needed;		/* by the mechanism kfd-debug */
	void (*run)(struct gp_doctor *d);
} checks[] = {
	{ "kernel", true, gp_check_kernel },
	{ "driver", true, gp_check_driver },
	{ "kfd-version", true, gp_check_version },
	{ "gpus", true, gp_check_gpus },
	{ "scheduler", true, gp_check_scheduler },
	{ "cwsr", true, gp_check_cwsr },
	{ "sched-policy", true, gp_check_sched_policy },
	{ "stop-timeout", false, gp_check_timeout },
	{ "hang-halt", false, gp_check_halt },
	{ "debug", true, gp_check_debug },
	{ "ptrace", true, gp_check_ptrace },
	{ "permissions", false, gp_check_rights },
	{ "debugfs", false, gp_check_debugfs },
	{ "lockdown", false, gp_check_lockdown },
	{ "secure-boot", false, gp_check_secure_boot },
	{ "module", false, gp_check_module },
	{ "debuggers", false, gp_check_tracers },
	{ "runtime", false, gp_check_runtime },
	{ "save-area", false, gp_check_save_area },
	{ "save-place", false, gp_check_save_places },
	{ "vram", false, gp_check_vram },
	{ "queues", false, gp_check_queues },
	{ "configuration", false, gp_check_configuration },
	{ "daemon", false, gp_check_daemon },
};

static const char *const verdicts[] = {
	[GP_PASS] = "PASS", [GP_WARN] = "WARN", [GP_FAIL] = "FAIL",
};

void gp_found(struct gp_doctor *d, enum gp_health verdict, const char *remedy,
	      const char *format, ...)
{
	struct gp_finding *f;
	va_list args;

	d->count[verdict]++;
	d->no_debug |= d->needed && verdict == GP_FAIL;
	if (d->nr_findings == GP_FINDINGS)
		return;
	f = &d->finding[d->nr_findings++];
	f->check = d->check;
	f->verdict = verdict;
	f->remedy = remedy;
	va_start(args, format);
	vsnprintf(f->found, sizeof(f->found), format, args);
	va_end(args);
}

bool gp_doctor_chosen(const struct gp_doctor *d, u32 gpu)
{
	return gpu < GP_GPUS_MAX && (d->chosen & BIT_ULL(gpu));
}

/*
 * Chooses kmod if it is loaded, because it stops processes without tracing. Otherwise chooses
 * kfd-debug unless a check forbids it.
 */
static const char *mechanism(const struct gp_doctor *d)
{
	char path[GP_DOCTOR_PATH];

	if (!access(gp_doctor_path(d, "/sys/module/gpreempt", path), F_OK))
		return "kmod";
	return d->no_debug ? "none" : "kfd-debug";
}

static enum gp_paint paint(enum gp_health verdict)
{
	return verdict == GP_PASS ? GP_GOOD : verdict == GP_WARN ? GP_BOLD : GP_BAD;
}

static void print_text(const struct gp_doctor *d)
{
	for (u32 i = 0; i < d->nr_findings; i++) {
		const struct gp_finding *f = &d->finding[i];

		printf("%s%s%s  %-13s  %s\n", gp_paint(paint(f->verdict)), verdicts[f->verdict],
		       gp_paint(GP_PLAIN), f->check, f->found);
		if (f->remedy)
			printf("                     -> %s\n", f->remedy);
	}
	printf("\n%" PRIu32 " pass, %" PRIu32 " warn, %" PRIu32 " fail; mechanism to use: %s%s%s\n",
	       d->count[GP_PASS], d->count[GP_WARN], d->count[GP_FAIL], gp_paint(GP_BOLD),
	       mechanism(d), gp_paint(GP_PLAIN));
}

static json_t *findings(const struct gp_doctor *d)
{
	json_t *root = json_object(), *all = json_array();

	for (u32 i = 0; i < d->nr_findings; i++) {
		const struct gp_finding *f = &d->finding[i];
		json_t *one = json_object();

		gp_json_put(one, "check", json_string(f->check));
		gp_json_put(one, "result", json_string(verdicts[f->verdict]));
		gp_json_put(one, "found", json_string(f->found));
		gp_json_put(one, "remedy", f->remedy ? json_string(f->remedy) : json_null());
		json_array_append_new(all, one);
	}
	gp_json_put(root, "checks", all);
	gp_json_put(root, "pass", json_integer(d->count[GP_PASS]));
	gp_json_put(root, "warn", json_integer(d->count[GP_WARN]));
	gp_json_put(root, "fail", json_integer(d->count[GP_FAIL]));
	gp_json_put(root, "mechanism", json_string(mechanism(d)));
	return root;
}

static int bundle(const struct gp_doctor *d, const char *path)
{
	json_t *found = findings(d);
	int code = gp_doctor_bundle(d, found, path);

	json_decref(found);
	return code;
}

/* Chooses the GPUs that -g names, or all without -g. Returns enum gp_exit. */
static int choose(struct gp_doctor *d, const char *text)
{
	const char *bad = text;
	int err;

	d->chosen = ~0ull;
	if (!text)
		return GP_EXIT_OK;
	err = gp_gpus_select(d->gpu, d->nr_gpus, text, &d->chosen, &bad);
	if (err)
		gp_error("--gpu: no GPU '%.*s' among the %" PRIu32 " that the driver lists",
			 (int)strcspn(bad, ","), bad, d->nr_gpus);
	return gp_ask_code(err);
}

/* Opens what the checks read. A missing file is reported by the check that needs it. */
static int prepare(struct gp_doctor *d)
{
	char kfd[GP_DOCTOR_PATH], proc[GP_DOCTOR_PATH];
	struct gp_scan_args args = {
		.kfd = gp_doctor_path(d, GP_SYSFS_KFD, kfd),
		.proc = gp_doctor_path(d, "/proc", proc),
	};
	int err;

	d->gpus_err = gp_gpus_read(kfd, d->gpu, GP_GPUS_MAX, &d->nr_gpus);
	if (d->gpus_err)
		d->nr_gpus = 0;
	if (d->nr_gpus > GP_GPUS_MAX)
		d->nr_gpus = GP_GPUS_MAX;
	err = gp_scanner_alloc(&args, &d->scanner);
	if (err)
		return err;
	if (gp_scanner_run(d->scanner, GP_SCAN_USAGE, &d->process, &d->nr_processes))
		d->nr_processes = 0;
	return 0;
}

static void examine(struct gp_doctor *d)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		d->check = checks[i].name;
		d->needed = checks[i].needed;
		checks[i].run(d);
	}
}

int gp_cmd_doctor(const struct gp_options *o)
{
	struct gp_doctor *d;
	int code = GP_EXIT_FAILED, err;

	if (o->selftest_pid)
		return gp_doctor_selftest(o);
	d = calloc(1, sizeof(*d));
	if (!d)
		return code;
	d->root = o->root ? o->root : "";
	err = prepare(d);
	if (err) {
		gp_error("doctor: %s", strerror(-err));
		goto free;
	}
	code = choose(d, o->gpu);
	if (code)
		goto free;
	examine(d);
	if (o->json)
		code = gp_ask_print(o, findings(d));
	else
		print_text(d);
	if (!code && o->bundle)
		code = bundle(d, o->bundle);
	if (!code && d->count[GP_FAIL])
		code = GP_EXIT_FAILED;
free:
	gp_scanner_free(d->scanner);
	free(d);
	return code;
}
