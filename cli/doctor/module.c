// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt doctor: the kernel module, and the firmware behaviour that `direct` assumes. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/machine/ask.h"
#include "doctor.h"
#include "lib/kmod.h"
#include "sim/json.h"

static void describe(struct gp_doctor *d, const struct gp_uapi_version *v)
{
	gp_found(d, GP_PASS, NULL, "gpreempt.ko, version %" PRIu32 ", policy %s, mechanism %s%s%s",
		 v->version, v->policy, v->mechanism,
		 v->flags & GP_UAPI_ENABLED ? "" : ", switched off",
		 v->flags & GP_UAPI_DIRECT_TESTED ? "; direct has passed its self test" : "");
}

void gp_check_module(struct gp_doctor *d)
{
	struct gp_uapi_version v = { 0 };
	char path[GP_DOCTOR_PATH];
	int fd;

	if (access(gp_doctor_path(d, "/sys/module/gpreempt", path), F_OK)) {
		gp_found(d, GP_PASS, NULL, "gpreempt.ko is not loaded: kfd-debug is used");
		return;
	}
	fd = gp_kmod_open(gp_doctor_path(d, GP_KMOD_DEVICE, path), &v);
	if (fd == -EPROTO)
		gp_found(d, GP_FAIL, "build and load the module of this version: gpreempt module",
			 "gpreempt.ko has version %" PRIu32 " of its calls, this is %u", v.version,
			 GP_UAPI_VERSION);
	else if (fd < 0)
		gp_found(d, GP_WARN, "run it as root, or become a member of the group gpreempt",
			 "gpreempt.ko is loaded, but " GP_KMOD_DEVICE " cannot be opened: %s",
			 strerror(-fd));
	else
		describe(d, &v);
	if (fd >= 0)
		close(fd);
}

/* ---- --selftest-direct ---- */

/* Tests one GPU. Returns 0 or -errno. *@next is the task's next GPU, 0 if there is none. */
static int test_gpu(int fd, u32 task, u32 gpu_id, struct gp_uapi_selftest *t, u32 *next)
{
	struct gp_uapi_seat seat = { .task = task, .gpu_id = gpu_id };
	int err = gp_kmod_call(fd, GP_IOC_SEAT, &seat);

	*next = 0;
	if (err)
		return err;
	if (seat.state == GP_UAPI_ABSENT)
		return -ENODEV;
	*next = seat.next_gpu_id;
	*t = (struct gp_uapi_selftest){ .task = task, .gpu_id = seat.gpu_id };
	return gp_kmod_call(fd, GP_IOC_SELFTEST, t);
}

static json_t *one_result(const struct gp_uapi_selftest *t, int err)
{
	json_t *one = json_object();

	gp_json_put(one, "gpu_id", json_integer(t->gpu_id));
	gp_json_put(one, "result", json_string(!err ? "PASS" : err == -EPROTO ? "FAIL" : "WARN"));
	gp_json_put(one, "why", json_string(err ? t->why[0] ? t->why : strerror(-err) : ""));
	return one;
}

static int test_all(int fd, u32 task, json_t *results)
{
	struct gp_uapi_selftest t = { 0 };
	u32 gpu_id = 0;
	int err, worst = 0;

	do {
		err = test_gpu(fd, task, gpu_id, &t, &gpu_id);
		json_array_append_new(results, one_result(&t, err));
		if (err == -EPROTO || !worst)
			worst = err;
	} while (gpu_id);
	return worst;
}

static int code_of(int err)
{
	return !err ? GP_EXIT_OK : err == -EPROTO ? GP_EXIT_FAILED : GP_EXIT_BAD;
}

static int report(const struct gp_options *o, json_t *results, int err)
{
	json_t *root, *one;
	size_t i;

	if (o->json) {
		root = json_object();
		gp_json_put(root, "selftest_direct", results);
		gp_ask_print(o, root);
		return code_of(err);
	}
	json_array_foreach(results, i, one)
		printf("%s  direct  GPU %lld: %s\n",
		       json_string_value(json_object_get(one, "result")),
		       (long long)json_integer_value(json_object_get(one, "gpu_id")),
		       err ? json_string_value(json_object_get(one, "why")) :
		       "UNMAP_QUEUES by PASID takes its queues off, and nothing maps them again");
	json_decref(results);
	return code_of(err);
}

static int refuse(const char *what, int err)
{
	switch (err) {
	case -EEXIST:
		gp_error("--selftest-direct: gpreemptd has that process; systemctl stop gpreemptd "
			 "first");
		return GP_EXIT_BAD;
	case -ESRCH:
	case -EBADF:
		gp_error("--selftest-direct: %s uses no GPU", what);
		return GP_EXIT_UNKNOWN;
	case -ENOENT:
		gp_error("--selftest-direct: the module is not loaded; gpreempt module load");
		return GP_EXIT_BAD;
	default:
		gp_error("--selftest-direct: %s: %s", what, strerror(-err));
		return GP_EXIT_BAD;
	}
}

int gp_doctor_selftest(const struct gp_options *o)
{
	struct gp_class class = { .weight = 100, .flags = GP_PREEMPTIBLE };
	struct gp_process_id p = { .pid = o->selftest_pid };
	char who[32];
	json_t *results;
	u32 task;
	int fd = gp_kmod_open(NULL, NULL), err;

	if (fd < 0)
		return refuse(GP_KMOD_DEVICE, fd);
	snprintf(who, sizeof(who), "process %d", p.pid);
	err = gp_kmod_attach(fd, &p, 1, &class, &task);
	if (err) {
		close(fd);
		return refuse(who, err);
	}
	results = json_array();
	err = test_all(fd, task, results);
	close(fd);
	return report(o, results, err);
}
