// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Whether tasks execute, by the driver's wave counters.
 *
 * To read them takes a lock of the driver's that it holds while it switches the GPU: a moment, or
 * seconds if the GPU hangs. So none is read where the doer is at work, and few at a time.
 */
#include "home.h"

enum { AT_ONCE = 4 };

static struct gp_probe *at(const struct gp_home *h, u32 i)
{
	return &h->probe[(h->first_probe + i) % GP_HOME_PROBES];
}

void gp_probes_put(struct gp_home *h, u32 device, u32 task)
{
	u32 i;

	/* The scheduler gives one up that is not answered in time, and asks again. */
	for (i = 0; i < h->nr_probes; i++)
		if (at(h, i)->device == device && at(h, i)->task == task)
			return;
	if (h->nr_probes < GP_HOME_PROBES)
		*at(h, h->nr_probes++) = (struct gp_probe){ device, task };
}

static struct gp_probe next(struct gp_home *h)
{
	struct gp_probe probe = h->probe[h->first_probe];

	h->first_probe = (h->first_probe + 1) % GP_HOME_PROBES;
	h->nr_probes--;
	return probe;
}

/* First the counters, then the pointers, then the answer: work that comes in between is seen. */
static void probe(struct gp_home *h, u32 device, u32 task)
{
	struct gp_probed probed = { .device = device, .task = task, .executing = GP_EXEC_UNKNOWN,
				    .permille = GP_OCCUPANCY_UNKNOWN };
	u32 i, cus = 0, sum = 0, asked = 0;
	u64 now;

	for (i = 0; i < h->nr_residents; i++) {
		const struct gp_resident *r = h->resident[i];

		if (r->task != task)
			continue;
		if (gp_process_occupancy(h->args.kfd, r->pid, h->gpu[device].gpu_id, &cus))
			break;
		sum += cus;
		asked++;
	}
	if (asked && i == h->nr_residents && h->gpu[device].cus) {
		u32 permille = sum * 1000 / h->gpu[device].cus;

		probed.executing = sum ? GP_EXEC_YES : GP_EXEC_NO;
		probed.permille = permille < 1000 ? permille : 1000;
	}
	h->stats.probes++;
	/* A pointer that moved since we were asked must be seen to be later than that. */
	now = h->args.clock(h->args.ctx);
	h->now_ns = now > h->now_ns ? now : h->now_ns + 1;
	gp_home_look(h, device);
	gp_sched_probed(h->sched, &probed, h->now_ns);
}

/*
 * Not as long as there are any: where reading takes longer than what was read is worth, there
 * always are, and who else waits for us would wait for ever.
 */
bool gp_probes_run(struct gp_home *h)
{
	u32 left = h->nr_probes, done = 0;

	while (left-- && done < AT_ONCE) {
		struct gp_probe p = next(h);

		if (gp_home_acting(h, p.device)) {
			gp_probes_put(h, p.device, p.task);
			continue;
		}
		probe(h, p.device, p.task);
		done++;
	}
	return done;
}

bool gp_probes_due(const struct gp_home *h)
{
	u32 i;

	for (i = 0; i < h->nr_probes; i++)
		if (!gp_home_acting(h, at(h, i)->device))
			return true;
	return false;
}
