// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "random_scenario.h"

static __attribute__((format(printf, 2, 3))) void part(struct random_scenario *r,
							const char *format, ...)
{
	va_list args;

	if (r->nr == RANDOM_PARTS)
		return;
	va_start(args, format);
	vsnprintf(r->part[r->nr++], RANDOM_PART_TEXT, format, args);
	va_end(args);
}

static unsigned int between(struct gp_rng *rng, unsigned int low, unsigned int high)
{
	return low + (unsigned int)gp_rng_below(rng, high - low + 1);
}

static const char *one_of(struct gp_rng *rng, const char *const *words)
{
	u32 n = 0;

	while (words[n])
		n++;
	return words[gp_rng_below(rng, n)];
}

#define ONE_OF(rng, ...) one_of(rng, (const char *const[]){ __VA_ARGS__, NULL })

static void offline_task(struct random_scenario *r, struct gp_rng *rng, u32 i, bool two_gpus)
{
	const char *where = two_gpus ? ONE_OF(rng, "devices = 0", "devices = 1",
					      "devices = 0,1\ngang = yes") : "";
	unsigned int kernel = between(rng, 2, 40) * between(rng, 1, 20) * 25;

	part(r, "[batch%u]\nrole = offline\nqueues = %u\nloop = closed\nahead = %u\n"
	     "kernel.time = uniform %u..%uus\nkernel.slots = %s\nkernel.workgroup = %s\n"
	     "weight = %u\n%s\n", i, between(rng, 1, 6), between(rng, 1, 3), kernel, kernel * 3,
	     ONE_OF(rng, "all", "all", "all", "1/2", "1/10", "7"),
	     ONE_OF(rng, "kernel", "kernel", "200us"), between(rng, 1, 500), where);
}

static void online_task(struct random_scenario *r, struct gp_rng *rng, u32 i, bool two_gpus)
{
	const char *where = two_gpus ? ONE_OF(rng, "devices = 0", "devices = 1") : "";

	part(r, "[serve%u]\nrole = online\nqueues = %u\nserver = fifo %u\n"
	     "arrivals = %s %u%s\nkernels = %u\nkernel.time = %uus\nkernel.slots = %s\n"
	     "submit = %s\ngap.host = lognormal %u..%uus\ngap.device = %uus\n%s\n%s\n", i,
	     between(rng, 1, 3), between(rng, 1, 4), i % 2 ? "periodic" : "poisson",
	     i % 2 ? between(rng, 300, 2000) : between(rng, 500, 4000), i % 2 ? "us" : "/s",
	     between(rng, 1, 4), between(rng, 2, 30), ONE_OF(rng, "all", "1/4", "1/2"),
	     ONE_OF(rng, "batch", "sync"), between(rng, 1, 20), between(rng, 30, 400),
	     between(rng, 0, 8), between(rng, 0, 5) ? "" : "barrier.host = 400us", where);
}

/* A victim that fills the GPU and frequent short work, which preempts for each request. */
static void dense_tasks(struct random_scenario *r, struct gp_rng *rng)
{
	part(r, "[batch0]\nrole = offline\nqueues = %u\nloop = closed\nahead = 2\n"
	     "kernel.time = uniform 1..%ums\nkernel.slots = all\nkernel.workgroup = %s\n",
	     between(rng, 1, 4), between(rng, 2, 60), ONE_OF(rng, "kernel", "kernel", "500us"));
	part(r, "[serve0]\nrole = online\nserver = fifo %u\narrivals = %s\nkernels = %u\n"
	     "kernel.time = %uus\nkernel.slots = %s\nsubmit = %s\n", between(rng, 1, 2),
	     ONE_OF(rng, "poisson 1500/s", "poisson 2500/s", "periodic 431us", "periodic 277us"),
	     between(rng, 1, 2), between(rng, 2, 20), ONE_OF(rng, "all", "1/4"),
	     ONE_OF(rng, "batch", "sync"));
}

/* Excludes a hang, which ends with a reset of the GPU, because a reset loses work. */
static void fault(struct random_scenario *r, struct gp_rng *rng, u32 i)
{
	const char *what = ONE_OF(rng, "preempt-failed", "slow-save", "early-rptr",
				  "process-death", "area-too-small");
	bool ends = !strcmp(what, "slow-save") || !strcmp(what, "early-rptr");

	part(r, "[fault%u]\nwhat = %s\nat = %ums\nevery = %ums\nrandom = yes\n%s %u%s\n%s%s\n",
	     i, what, between(rng, 1, 60), between(rng, 5, 90), ends ? "for =" : "#",
	     between(rng, 1, 40), ends ? "ms" : "",
	     strcmp(what, "slow-save") ? "" : "factor = 50\n",
	     strcmp(what, "process-death") && strcmp(what, "area-too-small") ? "" :
	     "task = batch0\n");
}

static void dense_settings(struct random_scenario *r, struct gp_rng *rng)
{
	part(r, "[policy]\nname = priority\nlinger = %s\n", ONE_OF(rng, "0", "0", "ski", "20us"));
	part(r, "[policy]\nmax_hold = %uus\n", between(rng, 300, 30000));
	part(r, "[policy]\nsettle = %uus\n", between(rng, 10, 100));
	part(r, "[mechanism]\nname = %s\n", ONE_OF(rng, "evict", "evict", "direct", "debug"));
	part(r, "[monitor]\nplacement = %s\n", ONE_OF(rng, "kernel", "bound"));
}

static void settings(struct random_scenario *r, struct gp_rng *rng)
{
	part(r, "[policy]\nname = %s\n", ONE_OF(rng, "priority", "priority", "priority", "priority",
						"priority", "priority", "fair", "deadline"));
	part(r, "[policy]\nlinger = %s\n", ONE_OF(rng, "learnt", "ski", "0", "0", "30us"));
	part(r, "[policy]\nmax_hold = %uus\n", between(rng, 300, 30000));
	part(r, "[policy]\nmin_share = %u\nmin_turn = %uus\n", between(rng, 0, 300),
	     between(rng, 0, 500));
	part(r, "[policy]\nslice = %uus\n", between(rng, 200, 3000));
	part(r, "[policy]\nsettle = %uus\nsmall_victim = %u\n", between(rng, 10, 300),
	     between(rng, 0, 300));
	part(r, "[policy]\nstop_deadline = %uus\n", between(rng, 2000, 60000));
	part(r, "[mechanism]\nname = %s\ngrace = %s\n",
	     ONE_OF(rng, "evict", "evict", "direct", "debug", "halt", "drain"),
	     ONE_OF(rng, "1", "default"));
	part(r, "[monitor]\nplacement = %s\n", ONE_OF(rng, "kernel", "kernel", "daemon", "bound"));
	part(r, "[costs]\nscale.assumed = %s\n", ONE_OF(rng, "0.5", "1", "3"));
}

static void mixed_tasks(struct random_scenario *r, struct gp_rng *rng, bool two_gpus)
{
	u32 i, n = between(rng, 1, 3);

	for (i = 0; i < n; i++)
		offline_task(r, rng, i, two_gpus);
	n = between(rng, 1, 2);
	for (i = 0; i < n; i++)
		online_task(r, rng, i, two_gpus);
}

void random_scenario(struct random_scenario *r, u64 seed)
{
	bool dense = seed % 2, two_gpus;
	struct gp_rng rng;
	u32 i, n;

	memset(r, 0, sizeof(*r));
	gp_rng_init(&rng, seed, "random scenario");
	two_gpus = !dense && !gp_rng_below(&rng, 4);

	part(r, "[run]\nwarmup = 10ms\nlength = %ums\n",
	     dense ? between(&rng, 900, 2000) : between(&rng, 100, 500));
	part(r, "[gpu]\nprofile = %s\nrptr_at = %s\nsave_area = %s\ncount = %u\n",
	     dense ? "mi308x" : ONE_OF(&rng, "mi308x", "mi308x", "mi300x"),
	     ONE_OF(&rng, "completion", "launch"),
	     dense ? "vram" : ONE_OF(&rng, "vram", "vram", "host"), two_gpus ? 2 : 1);
	if (dense) {
		dense_tasks(r, &rng);
		dense_settings(r, &rng);
	} else {
		mixed_tasks(r, &rng, two_gpus);
		settings(r, &rng);
	}
	n = between(&rng, 0, 3);
	for (i = 0; i < n; i++)
		fault(r, &rng, i);
}

void random_scenario_text(const struct random_scenario *r, char *text, size_t size)
{
	size_t at = 0;
	u32 i;

	text[0] = 0;
	for (i = 0; i < r->nr && at < size; i++)
		if (!r->left_out[i])
			at += (size_t)snprintf(text + at, size - at, "%s\n", r->part[i]);
}
