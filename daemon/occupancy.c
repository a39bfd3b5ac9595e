// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Probes whether tasks execute, by the driver's wave counters.
 *
 * Reading a counter takes a lock that the driver holds while it switches the GPU, for seconds if
 * the GPU hangs. So no counter is read on a GPU with an action under way, and few are read at a
 * time.
 */
#include "scheduler.h"

enum { AT_ONCE = 4 };

static struct gp_probe *at(const struct gp_scheduler *s, u32 i)
{
	return &s->probe[(s->first_probe + i) % GP_SCHEDULER_PROBES];
}

void gp_occupancy_ask(struct gp_scheduler *s, u32 device, u32 task)
{
	u32 i;

	/* The scheduler asks again if an answer takes too long. */
	for (i = 0; i < s->nr_probes; i++)
		if (at(s, i)->device == device && at(s, i)->task == task)
			return;
	if (s->nr_probes < GP_SCHEDULER_PROBES)
		*at(s, s->nr_probes++) = (struct gp_probe){ device, task };
}

static struct gp_probe next(struct gp_scheduler *s)
{
	struct gp_probe probe = s->probe[s->first_probe];

	s->first_probe = (s->first_probe + 1) % GP_SCHEDULER_PROBES;
	s->nr_probes--;
	return probe;
}

void gp_occupancy_looked(struct gp_scheduler *s, uid_t user, u64 number)
{
	struct gp_probe_waiting is;
	u32 i;

	for (i = 0; i < s->nr_waiting;) {
		is = s->waiting[i];
		if (is.user != user || is.number > number) {
			i++;
			continue;
		}
		s->waiting[i] = s->waiting[--s->nr_waiting];
		gp_sched_probed(s->sched, &is.probed, s->base.h->now_ns);
	}
}

void gp_occupancy_forget(struct gp_scheduler *s, u32 task)
{
	u32 i;

	for (i = 0; i < s->nr_waiting;) {
		if (s->waiting[i].probed.task == task)
			s->waiting[i] = s->waiting[--s->nr_waiting];
		else
			i++;
	}
}

/*
 * Probes a task. Reads the counters first, then the pointers, and answers last, so that work that
 * arrives in between is seen.
 */
static void probe(struct gp_scheduler *s, u32 device, u32 task)
{
	struct gp_decider *h = s->base.h;
	struct gp_probed probed = { .device = device, .task = task, .executing = GP_EXEC_UNKNOWN,
				    .permille = GP_OCCUPANCY_UNKNOWN };
	struct gp_probe_waiting *waiting = &s->waiting[s->nr_waiting];
	u32 i, cus = 0, sum = 0, asked = 0;
	uid_t user = (uid_t)-1;

	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *r = h->process[i];

		if (r->task != task)
			continue;
		user = r->user;		/* the same for the whole gang */
		if (gp_process_occupancy(h->args.kfd, r->pid, h->gpu[device].gpu_id, &cus))
			break;
		sum += cus;
		asked++;
	}
	/*
	 * The driver counts the waves of the first XCC only. So 0 means that nothing executes only
	 * on a GPU with one XCC; elsewhere the scheduler waits for the settle time.
	 */
	if (asked && i == h->nr_processes && h->gpu[device].cus &&
	    (sum || h->gpu[device].xccs == 1)) {
		u32 permille = sum * 1000 / h->gpu[device].cus;

		probed.executing = sum ? GP_EXEC_YES : GP_EXEC_NO;
		probed.permille = permille < 1000 ? permille : 1000;
	}
	h->stats.probes++;
	/* Without a reader the task is unknown, and the answer says little. */
	if (s->nr_waiting == GP_SCHEDULER_WAITING ||
	    gp_readers_look(h->readers, user, &waiting->number)) {
		gp_sched_probed(s->sched, &probed, h->now_ns);
		return;
	}
	waiting->probed = probed;
	waiting->user = user;
	s->nr_waiting++;
}

/* Bounded, because a probe is always due where a read takes longer than its answer is valid. */
bool gp_occupancy_run(struct gp_scheduler *s)
{
	u32 left = s->nr_probes, done = 0;

	while (left-- && done < AT_ONCE) {
		struct gp_probe p = next(s);

		if (gp_scheduler_acting(s, p.device)) {
			gp_occupancy_ask(s, p.device, p.task);
			continue;
		}
		probe(s, p.device, p.task);
		done++;
	}
	return done;
}

bool gp_occupancy_due(struct gp_scheduler *s)
{
	u32 i;

	for (i = 0; i < s->nr_probes; i++)
		if (!gp_scheduler_acting(s, at(s, i)->device))
			return true;
	return false;
}
