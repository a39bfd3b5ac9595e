// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The keys of a task's section. */
#include <stdio.h>
#include <string.h>

#include "keys.h"
#include "text/value.h"

/* A workgroup of 256 threads with 64 VGPRs each: 8 of them fill a CU of an MI308X. */
enum { WAVES = 4, VGPR_BYTES = 16384, LDS_BYTES = 8192 };

static const struct preset {
	const char *name;
	struct gp_class class;
} presets[] = {
	{ "online", { .priority = 10, .weight = 100, .flags = GP_LATENCY_CRITICAL } },
	{ "interactive", { .priority = 7, .weight = 100,
			   .flags = GP_LATENCY_CRITICAL | GP_PREEMPTIBLE } },
	{ "offline", { .priority = 1, .weight = 100, .flags = GP_PREEMPTIBLE } },
	{ "idle", { .priority = 0, .weight = 1, .flags = GP_PREEMPTIBLE } },
};

static int set_class(struct gp_scenario *sc, void *section, const char *value)
{
	struct gp_task_spec *t = section;

	(void)sc;
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		if (!strcmp(presets[i].name, value)) {
			t->class = presets[i].class;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_role(struct gp_scenario *sc, void *section, const char *value)
{
	struct gp_task_spec *t = section;

	if (strcmp(value, "online") && strcmp(value, "offline"))
		return -EINVAL;
	t->online = !strcmp(value, "online");
	return set_class(sc, section, value);
}

static int set_flag(struct gp_task_spec *t, u32 flag, const char *value)
{
	bool on;

	if (gp_parse_bool(value, &on))
		return -EINVAL;
	t->class.flags = on ? t->class.flags | flag : t->class.flags & ~flag;
	return 0;
}

static int set_critical(struct gp_scenario *sc, void *section, const char *value)
{
	(void)sc;
	return set_flag(section, GP_LATENCY_CRITICAL, value);
}

static int set_preemptible(struct gp_scenario *sc, void *section, const char *value)
{
	(void)sc;
	return set_flag(section, GP_PREEMPTIBLE, value);
}

static int set_loop(struct gp_scenario *sc, void *section, const char *value)
{
	struct gp_task_spec *t = section;

	(void)sc;
	if (strcmp(value, "closed"))
		return -EINVAL;
	t->loop = GP_LOOP_CLOSED;
	return 0;
}

/* "50/s": the mean time between two. */
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

/* "trace FILE", FILE relative to the scenario's. */
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

static int set_arrivals(struct gp_scenario *sc, void *section, const char *value)
{
	struct gp_task_spec *t = section;
	char word[4][24];
	u64 interval;
	u32 nr;

	if (!strncmp(value, "trace ", 6))
		return set_trace(sc, t, value + 6);
	nr = gp_split(value, word, 4);
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

static int set_server(struct gp_scenario *sc, void *section, const char *value)
{
	struct gp_task_spec *t = section;
	u64 n;

	(void)sc;
	if (strncmp(value, "fifo ", 5) || gp_parse_u64(value + 5, &n) || n < 1 || n > 1024)
		return -EINVAL;
	t->server = (u32)n;
	return 0;
}

static int set_slots(struct gp_scenario *sc, void *section, const char *value)
{
	struct gp_task_spec *t = section;
	bool part = !strncmp(value, "1/", 2);
	u64 n = 1;

	(void)sc;
	if (strcmp(value, "all") && (gp_parse_u64(part ? value + 2 : value, &n) ||
				     n < 1 || n > 1000000))
		return -EINVAL;
	part = part || !strcmp(value, "all");
	t->slots_divisor = part ? (u32)n : 0;
	t->slots = part ? 0 : (u32)n;
	return 0;
}

static int set_workgroup(struct gp_scenario *sc, void *section, const char *value)
{
	struct gp_task_spec *t = section;
	u64 ns = 0;

	(void)sc;
	if (strcmp(value, "kernel") &&
	    (gp_parse_ns(value, &ns) || ns < 100 || ns > 100 * GP_SEC))
		return -EINVAL;
	t->workgroup_ns = ns;
	return 0;
}

static int set_devices(struct gp_scenario *sc, void *section, const char *value)
{
	struct gp_task_spec *t = section;
	char word[GP_SCENARIO_GPUS][24];
	u32 nr = gp_split(value, word, GP_SCENARIO_GPUS);
	u64 devices = 0, n;

	(void)sc;
	for (u32 i = 0; i < nr; i++) {
		if (gp_parse_u64(word[i], &n) || n >= GP_SCENARIO_GPUS)
			return -EINVAL;
		devices |= BIT_ULL(n);
	}
	if (!devices)
		return -EINVAL;
	t->devices = devices;
	return 0;
}

void gp_task_spec_init(struct gp_task_spec *t, const char *name)
{
	memset(t, 0, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "%s", name);
	set_class(NULL, t, "offline");
	t->processes = 1;
	t->queues = 1;
	t->ahead = 2;
	t->server = 1;
	t->kernels = 1;
	t->kernel_ns.a_ns = GP_MSEC;
	t->workgroup_ns = 100 * GP_USEC;
	t->slots_divisor = 1;
	t->waves = WAVES;
	t->vgpr_bytes = VGPR_BYTES;
	t->lds_bytes = LDS_BYTES;
	t->devices = 1;
	t->queue_priority = 7;
}

#define AT(member)	.offset = offsetof(struct gp_task_spec, member)
#define TIME(n, m, lo, hi)	{ .name = n, .kind = GP_KEY_NS, AT(m), .min = lo, .max = hi }
#define NUMBER(n, m, lo, hi)	{ .name = n, .kind = GP_KEY_U32, AT(m), .min = lo, .max = hi }
#define BY_HAND(n, fn, text)	{ .name = n, .kind = GP_KEY_BY_HAND, .set = fn, .allowed = text }

static const char *const submit_names[] = { "batch", "sync", NULL };

const struct gp_key gp_task_keys[] = {
	BY_HAND("role", set_role, "online or offline"),
	BY_HAND("class", set_class, "online, interactive, offline or idle"),
	NUMBER("priority", class.priority, 0, 1000),
	NUMBER("weight", class.weight, 1, 10000),
	BY_HAND("latency_critical", set_critical, "yes or no"),
	BY_HAND("preemptible", set_preemptible, "yes or no"),
	TIME("period", class.period_ns, 0, 100 * GP_SEC),
	TIME("budget", class.budget_ns, 0, 100 * GP_SEC),
	TIME("deadline", class.deadline_ns, 0, 100 * GP_SEC),
	NUMBER("processes", processes, 1, GP_SCENARIO_TASKS),
	NUMBER("queues", queues, 1, 512),
	BY_HAND("loop", set_loop, "closed (or use arrivals)"),
	NUMBER("ahead", ahead, 1, 1024),
	BY_HAND("arrivals", set_arrivals,
		"poisson R/s, periodic T, burst N every T, or trace FILE"),
	BY_HAND("server", set_server, "fifo N"),
	NUMBER("kernels", kernels, 1, 10000),
	{ .name = "kernel.time", .kind = GP_KEY_DIST, AT(kernel_ns), .min = 100,
	  .max = 100 * GP_SEC },
	BY_HAND("kernel.workgroup", set_workgroup, "a time from 100ns to 100s, or kernel"),
	BY_HAND("kernel.slots", set_slots, "all, 1/N or N"),
	NUMBER("kernel.waves", waves, 1, 16),
	NUMBER("kernel.vgpr", vgpr_bytes, 1024, 131072),
	NUMBER("kernel.lds", lds_bytes, 0, 65536),
	{ .name = "submit", .kind = GP_KEY_CHOICE, AT(sync), .choices = submit_names },
	{ .name = "gap.host", .kind = GP_KEY_DIST, AT(gap_host), .max = 100 * GP_SEC },
	TIME("gap.device", gap_device_ns, 0, GP_SEC),
	TIME("barrier.host", barrier_host_ns, 0, 100 * GP_SEC),
	BY_HAND("devices", set_devices, "a list of GPUs from 0 to 15"),
	{ .name = "gang", .kind = GP_KEY_BOOL, AT(gang) },
	TIME("start", start_ns, 0, 10000 * GP_SEC),
	TIME("stop", stop_ns, 0, 10000 * GP_SEC),
	{ .name = "queue.priority", .kind = GP_KEY_U8, AT(queue_priority), .max = 15 },
	NUMBER("cu.first", cu_first, 0, 303),
	NUMBER("cu.count", cu_count, 0, 304),
	{ 0 },
};

static_assert(sizeof(bool) == sizeof(u8), "a choice of two is stored in a bool");
