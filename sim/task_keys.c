// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The keys of a task; those of its class are gp_class_keys[]. */
#include "scenario.h"

#include <stdio.h>
#include <string.h>

#include "text/value.h"

#define OF	struct gp_task_spec

static int set_class(const struct gp_key_value *v)
{
	struct gp_task_spec *t = v->to;

	for (const struct gp_class_preset *p = gp_class_presets; p->name; p++) {
		if (!strcmp(p->name, v->text)) {
			t->class = p->is;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_role(const struct gp_key_value *v)
{
	struct gp_task_spec *t = v->to;

	if (strcmp(v->text, "online") && strcmp(v->text, "offline"))
		return -EINVAL;
	t->online = !strcmp(v->text, "online");
	return set_class(v);
}

/* Parses a rate such as "50/s" into the mean time between two requests. */
static int parse_rate(const char *text, u64 *ret)
{
	char number[24];
	size_t n = strlen(text);
	u64 millionths;

	if (n < 3 || n > sizeof(number) || strcmp(text + n - 2, "/s"))
		return -EINVAL;
	memcpy(number, text, n - 2);
	number[n - 2] = '\0';
	if (strchr(number, '%') || gp_parse_millionths(number, &millionths) ||
	    millionths < 1000 || millionths > 1000000000000ull)
		return -EINVAL;
	*ret = GP_SEC * 1000000ull / millionths;
	return 0;
}

/* Parses "trace FILE", FILE relative to the folder of the scenario. */
static int set_trace(const struct gp_scenario *sc, struct gp_task_spec *t, const char *file)
{
	int n;

	if (!sc->dir[0] || !*file)
		return -EINVAL;
	n = snprintf(t->trace, sizeof(t->trace), "%s%s%s", *file == '/' ? "" : sc->dir,
		     *file == '/' ? "" : "/", file);
	if (n < 0 || (size_t)n >= sizeof(t->trace))
		return -EINVAL;
	t->loop = GP_LOOP_TRACE;
	return 0;
}

static int set_burst(struct gp_task_spec *t, char word[][24], u32 nr)
{
	u64 count, every;

	if (nr != 4 || strcmp(word[2], "every") || gp_parse_u64(word[1], &count) ||
	    count < 1 || count > 100000 || gp_parse_ns(word[3], &every) || every < GP_USEC)
		return -EINVAL;
	t->burst = (u32)count;
	t->interval_ns = every;
	t->loop = GP_LOOP_BURST;
	return 0;
}

static int set_arrivals(const struct gp_key_value *v)
{
	struct gp_task_spec *t = v->to;
	char word[4][24];
	u64 interval;
	u32 nr;

	if (!strncmp(v->text, "trace ", 6))
		return set_trace(v->context, t, v->text + 6);
	nr = gp_split(v->text, word, 4);
	if (nr < 2)
		return -EINVAL;
	if (!strcmp(word[0], "burst"))
		return set_burst(t, word, nr);
	if (nr == 2 && !strcmp(word[0], "poisson") && !parse_rate(word[1], &interval))
		t->loop = GP_LOOP_POISSON;
	else if (nr == 2 && !strcmp(word[0], "periodic") && !gp_parse_ns(word[1], &interval) &&
		 interval >= GP_USEC)
		t->loop = GP_LOOP_PERIODIC;
	else
		return -EINVAL;
	t->interval_ns = interval;
	return 0;
}

static int set_server(const struct gp_key_value *v)
{
	u64 n;

	if (strncmp(v->text, "fifo ", 5) || gp_parse_u64(v->text + 5, &n) || n < 1 || n > 1024)
		return -EINVAL;
	((struct gp_task_spec *)v->to)->server = (u32)n;
	return 0;
}

static int set_slots(const struct gp_key_value *v)
{
	struct gp_task_spec *t = v->to;
	bool part = !strncmp(v->text, "1/", 2);
	u64 n = 1;

	if (strcmp(v->text, "all") && (gp_parse_u64(part ? v->text + 2 : v->text, &n) ||
				       n < 1 || n > 1000000))
		return -EINVAL;
	part = part || !strcmp(v->text, "all");
	t->slots_divisor = part ? (u32)n : 0;
	t->slots = part ? 0 : (u32)n;
	return 0;
}

static int set_devices(const struct gp_key_value *v)
{
	char word[GP_SCENARIO_GPUS][24];
	u32 nr = gp_split(v->text, word, GP_SCENARIO_GPUS);
	u64 devices = 0, n;

	for (u32 i = 0; i < nr; i++) {
		if (gp_parse_u64(word[i], &n) || n >= GP_SCENARIO_GPUS)
			return -EINVAL;
		devices |= BIT_ULL(n);
	}
	if (!devices)
		return -EINVAL;
	((struct gp_task_spec *)v->to)->devices = devices;
	return 0;
}

static int set_dist(const struct gp_key_value *v)
{
	struct gp_dist d;

	if (gp_dist_parse(v->text, &d) || d.a_ns < v->key->min || d.a_ns > v->key->max ||
	    d.b_ns > v->key->max)
		return -EINVAL;
	memcpy((char *)v->to + v->key->offset, &d, sizeof(d));
	return 0;
}

#define DIST(n, m, lo, ...)	GP_CUSTOM(n, set_dist, "T, uniform A..B, lognormal MEDIAN SIGMA, " \
				       "lognormal MEDIAN p95 T, or lognormal P5..P95", GP_AT(m), \
				       .min = lo, .max = 100 * GP_SEC, __VA_ARGS__)

static const char *const loop_names[] = { [GP_LOOP_CLOSED] = "closed", NULL };
static const char *const submit_names[] = { "batch", "sync", NULL };

/* A workgroup of 256 threads with 64 VGPRs each: 8 of them fill a CU of an MI308X. */
const struct gp_key gp_task_keys[] = {
	GP_CUSTOM("role", set_role, "online or offline"),
	GP_CUSTOM("class", set_class, "online, interactive, offline or idle", .initial = "offline"),
	GP_NUMBER("processes", processes, 1, GP_SCENARIO_TASKS, .initial = "1"),
	GP_NUMBER("queues", queues, 1, 512, .initial = "1"),
	GP_CHOICE("loop", loop, loop_names, .what = "see arrivals for the others"),
	GP_NUMBER("ahead", ahead, 1, 1024, .initial = "2", .what = "kernels kept queued"),
	GP_CUSTOM("arrivals", set_arrivals,
		  "poisson R/s, periodic T, burst N every T, or trace FILE"),
	GP_CUSTOM("server", set_server, "fifo N", .initial = "fifo 1"),
	GP_NUMBER("kernels", kernels, 1, 10000, .initial = "1", .what = "of a request"),
	DIST("kernel.time", kernel_ns, 100, .initial = "1ms"),
	GP_TIME("kernel.workgroup", workgroup_ns, 100, 100 * GP_SEC, .zero = "kernel",
		.initial = "100us"),
	GP_CUSTOM("kernel.slots", set_slots, "all, 1/N or N", .initial = "all"),
	GP_NUMBER("kernel.waves", waves, 1, 16, .initial = "4", .what = "of a workgroup"),
	GP_NUMBER("kernel.vgpr", vgpr_bytes, 1024, 131072, .initial = "16384",
		  .what = "bytes per wave"),
	GP_NUMBER("kernel.lds", lds_bytes, 0, 65536, .initial = "8192",
		  .what = "bytes per workgroup"),
	GP_CHOICE("submit", sync, submit_names),
	DIST("gap.host", gap_host, 0),
	GP_TIME("gap.device", gap_device_ns, 0, GP_SEC, .what = "between two kernels"),
	GP_TIME("barrier.host", barrier_host_ns, 0, 100 * GP_SEC, .what = "until it opens"),
	GP_CUSTOM("devices", set_devices, "a list of GPUs from 0 to 15", .initial = "0"),
	GP_YES_NO("gang", gang),
	GP_TIME("start", start_ns, 0, 10000 * GP_SEC),
	GP_TIME("stop", stop_ns, 0, 10000 * GP_SEC, .what = "when it leaves; 0 is never"),
	GP_NUMBER("queue.priority", queue_priority, 0, 15, .initial = "7"),
	GP_NUMBER("cu.first", cu_first, 0, 303),
	GP_NUMBER("cu.count", cu_count, 0, 304, .what = "0 is all"),
	{ 0 },
};
