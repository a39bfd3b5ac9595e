// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A load on a GPU.
 *
 * One thread serves all queues. It takes completed requests, checks their sums, submits due
 * requests and sleeps. A slot is reused as late as possible and checked once more before that,
 * which finds work done twice long after it completed. Times are from the device clock;
 * patience uses this machine's clock.
 */
#include "load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MIN_SLOTS	= 4096,
	MAX_SLOTS	= 16384,
	NAP_NS		= 50 * 1000,
	LONG_NAP_NS	= 1000 * 1000,
	EVENT_MS	= 20,	/* longest sleep in WAIT_EVENTS */
	WAITED_MAX	= 64,
};

static u64 machine_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static u64 random_next(u64 *state)
{
	u64 z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static u64 poisson_gap_ns(struct gp_load *l)
{
	double u = (double)((random_next(&l->random) >> 11) + 1) / 9007199254740993.0;

	return (u64)(-log(u) * 1e12 / (double)l->o->rate_milli);
}

static u32 slots_for(const struct gp_load_options *o)
{
	u32 in_flight = o->queues * o->depth;
	u64 wanted = o->requests && o->requests < MAX_SLOTS ? o->requests : MIN_SLOTS;

	return wanted < in_flight ? in_flight : (u32)wanted;
}

static int create_queue(struct gp_load *l, struct gp_load_queue *lq)
{
	const struct gp_queue_args args = {
		.type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
		.pointers = l->o->pointers,
		.save_area = l->o->save_area,
	};
	int err = gp_queue_create(&l->c, &lq->q, &args);

	if (err)
		return err;
	l->created++;
	lq->in_flight = calloc(l->o->depth, sizeof(*lq->in_flight));
	if (!lq->in_flight)
		return gp_client_fail(ENOMEM, "queue %u", lq->q.id);
	if (l->o->wait == GP_LOAD_EVENT)
		err = gp_event_create(&l->c, &lq->event, KFD_IOC_EVENT_SIGNAL, true);
	return err;
}

static int init_work(struct gp_load *l)
{
	const struct gp_work_args args = {
		.slots = slots_for(l->o),
		.memory = l->o->pointers,
		.workgroup_ns = l->o->kernel_ns,
		.seed = l->o->seed,
	};
	int err = gp_work_init(&l->work, &l->c, &args);

	if (err)
		return err;
	l->arrived_ns = calloc(args.slots, sizeof(*l->arrived_ns));
	l->used = calloc(args.slots, sizeof(*l->used));
	l->queues = calloc(l->o->queues, sizeof(*l->queues));
	if (!l->arrived_ns || !l->used || !l->queues)
		return gp_client_fail(ENOMEM, "%u slots", args.slots);
	return 0;
}

int gp_load_init(struct gp_load *l, const struct gp_load_options *o)
{
	const struct gp_client_args args = {
		.gpu = o->gpu, .all_vms = !o->one_vm, .at_runtime = o->at_runtime,
	};
	int err;

	memset(l, 0, sizeof(*l));
	l->o = o;
	l->random = o->seed;
	err = gp_client_open(&l->c, &args);
	if (err)
		return err;
	if (!gp_client_is_model(&l->c))
		return gp_client_say(ENODEV, "GPU %u is not the lab's: a synthetic kernel would be "
				     "executed as code on it, so nothing is submitted", o->gpu);
	err = gp_load_shape(o, &l->c.node, &l->workgroups, &l->waves);
	if (!err)
		err = init_work(l);
	for (u32 i = 0; i < o->queues && !err; i++)
		err = create_queue(l, &l->queues[i]);
	return err;
}

void gp_load_fini(struct gp_load *l)
{
	for (u32 i = 0; i < l->created; i++) {
		if (l->queues[i].event.id)
			gp_event_destroy(&l->c, &l->queues[i].event);
		gp_queue_destroy(&l->queues[i].q);
		free(l->queues[i].in_flight);
	}
	if (l->work.c)
		gp_work_fini(&l->work);
	if (l->c.node.gpu_id)
		gp_client_close(&l->c);
	free(l->queues);
	free(l->arrived_ns);
	free(l->used);
}

/* Keeps the first mistake, because later ones may follow from it. */
static void check(struct gp_load *l, const struct gp_load_queue *lq, u64 packet, u32 slot,
		  const char *when)
{
	if (!gp_work_check(&l->work, slot) || l->lost[0])
		return;
	if (lq)
		snprintf(l->lost, sizeof(l->lost), "queue %u packet %llu: %s %s", lq->q.id,
			 (unsigned long long)packet, gp_client_error(), when);
	else
		snprintf(l->lost, sizeof(l->lost), "%s %s", gp_client_error(), when);
}

static void complete(struct gp_load *l, struct gp_load_queue *lq)
{
	u32 slot = lq->in_flight[lq->head];
	u64 end = gp_work_end_ns(&l->work, slot);

	/* The device writes no times, so use the time when the completion was seen. */
	if (end < l->arrived_ns[slot])
		end = l->now_ns > l->arrived_ns[slot] ? l->now_ns : l->arrived_ns[slot];
	if (l->completed + 1 == l->o->spoil)
		gp_work_spoil(&l->work, slot);
	check(l, lq, lq->completed, slot, "when it completed");
	if (l->o->print_kernels)
		fprintf(stderr, "kernel %llu %llu\n",
			(unsigned long long)gp_work_start_ns(&l->work, slot),
			(unsigned long long)end);
	if (l->completed >= l->o->warm_up)
		gp_hist_add(&l->latency, end - l->arrived_ns[slot]);
	if (end > l->last_done_ns)
		l->last_done_ns = end;
	lq->head = (lq->head + 1) % l->o->depth;
	lq->count--;
	lq->completed++;
	l->completed++;
}

/* Packets of a queue complete in order: their barrier bits are set. */
static void reap(struct gp_load *l)
{
	for (u32 i = 0; i < l->created; i++) {
		struct gp_load_queue *lq = &l->queues[i];

		while (lq->count && gp_work_done(&l->work, lq->in_flight[lq->head]))
			complete(l, lq);
	}
}

/*
 * Finds a free slot, and skips queues that stand still. A queue with room has a free slot,
 * because it has as many slots as requests can be in flight.
 */
static u32 free_slot(const struct gp_load *l)
{
	u32 slot = l->next_slot;

	while (l->used[slot] && !gp_work_done(&l->work, slot))
		slot = (slot + 1) % l->work.slots;
	return slot;
}

static int submit(struct gp_load *l, struct gp_load_queue *lq, u64 arrived_ns)
{
	u32 slot = free_slot(l);
	u64 began;
	int err;

	if (l->used[slot])
		check(l, NULL, 0, slot, "long after it completed");
	began = l->o->print_submits ? machine_ns() : 0;
	err = gp_work_submit(&l->work, slot, &lq->q, l->workgroups, l->waves,
			     lq->event.id ? &lq->event : NULL);
	if (err)
		return err;
	l->used[slot] = true;
	l->arrived_ns[slot] = arrived_ns;
	l->next_slot = (slot + 1) % l->work.slots;
	lq->in_flight[(lq->head + lq->count++) % l->o->depth] = slot;
	lq->submitted++;
	l->submitted++;
	if (began)
		fprintf(stderr, "submit %llu\n", (unsigned long long)began);
	return 0;
}

static struct gp_load_queue *queue_with_room(struct gp_load *l)
{
	for (u32 i = 0; i < l->created; i++) {
		struct gp_load_queue *lq = &l->queues[(l->next_queue + i) % l->created];

		if (lq->count < l->o->depth) {
			l->next_queue = (u32)(lq - l->queues + 1) % l->created;
			return lq;
		}
	}
	return NULL;
}

static bool wanted(const struct gp_load *l)
{
	if (l->o->requests && l->submitted >= l->o->requests)
		return false;
	if (l->o->seconds_ns && l->now_ns - l->start_ns >= l->o->seconds_ns)
		return false;
	return true;
}

static int submit_due(struct gp_load *l)
{
	while (wanted(l)) {
		struct gp_load_queue *lq;
		u64 arrived = l->now_ns;
		int err;

		if (l->o->rate_milli && l->next_arrival_ns > l->now_ns)
			return 0;
		lq = queue_with_room(l);
		if (!lq)
			return 0;
		if (l->o->rate_milli) {
			/*
			 * Keep the arrival time, even if a queue had room for the request only
			 * now.
			 */
			arrived = l->next_arrival_ns;
			l->next_arrival_ns += poisson_gap_ns(l);
		}
		err = submit(l, lq, arrived);
		if (err == -EAGAIN)
			return 0;
		if (err)
			return err;
	}
	return 0;
}

static u64 clamp_ns(u64 ns, u64 least, u64 most)
{
	return ns < least ? least : ns > most ? most : ns;
}

/*
 * How long to sleep between two looks for completions. A load without a rate only keeps the GPU
 * full, so it looks eight times per kernel. A load with a rate measures its requests, so it looks
 * often while one is in flight, and otherwise sleeps until the next arrival.
 */
static u64 nap_ns(const struct gp_load *l, bool arrivals, u64 gap)
{
	if (!l->o->rate_milli)
		return clamp_ns(l->o->kernel_ns / 8, NAP_NS, LONG_NAP_NS);
	if (arrivals && l->completed == l->submitted)
		return clamp_ns(gap, NAP_NS, LONG_NAP_NS);
	return NAP_NS;
}

/* Sleeps until a request may have completed or arrived. */
static int rest(struct gp_load *l)
{
	struct gp_lab_event events[WAITED_MAX];
	u64 gap = l->next_arrival_ns > l->now_ns ? l->next_arrival_ns - l->now_ns : 0;
	bool arrivals = l->o->rate_milli && wanted(l);
	struct timespec nap = { .tv_nsec = (long)nap_ns(l, arrivals, gap) };
	u32 nr = 0;
	int err;

	for (u32 i = 0; i < l->created && nr < WAITED_MAX; i++)
		if (l->queues[i].event.id && l->queues[i].count)
			events[nr++] = l->queues[i].event;
	/* WAIT_EVENTS counts milliseconds, which is too coarse just before an arrival. */
	if (!nr || (arrivals && gap < 2000000)) {
		nanosleep(&nap, NULL);
		return 0;
	}
	if (arrivals && gap / 1000000 < EVENT_MS)
		err = gp_event_wait(&l->c, events, nr, false, (u32)(gap / 1000000));
	else
		err = gp_event_wait(&l->c, events, nr, false, EVENT_MS);
	return err == -ETIME ? 0 : err;
}

static void say_stuck(struct gp_load *l)
{
	for (u32 i = 0; i < l->created; i++) {
		const struct gp_load_queue *lq = &l->queues[i];

		if (!lq->count)
			continue;
		snprintf(l->stuck, sizeof(l->stuck),
			 "queue %u packet %llu never completed (%llu of %llu requests did; "
			 "read index %llu, write index %llu)", lq->q.id,
			 (unsigned long long)lq->completed, (unsigned long long)l->completed,
			 (unsigned long long)l->submitted, (unsigned long long)*lq->q.read,
			 (unsigned long long)*lq->q.write);
		return;
	}
}

struct watch {
	u64 completed;		/* completed requests at the last look */
	u64 moved_ns;		/* machine's time of the last completion */
	u64 printed_ns;
};

static int out_of_patience(struct gp_load *l, struct watch *w)
{
	u64 now = machine_ns();

	if (l->completed != w->completed || l->completed == l->submitted) {
		w->completed = l->completed;
		w->moved_ns = now;
	}
	if (l->o->print_every_ns && now - w->printed_ns >= l->o->print_every_ns) {
		fprintf(stderr, "gpload-%s: %.3f s of the device clock: %llu of %llu requests "
			"completed, p50 %.3f ms\n", l->o->class,
			(double)(l->now_ns - l->start_ns) / 1e9, (unsigned long long)l->completed,
			(unsigned long long)l->submitted,
			(double)gp_hist_quantile(&l->latency, 5000) / 1e6);
		w->printed_ns = now;
	}
	if (!l->o->patience_ns || now - w->moved_ns < l->o->patience_ns)
		return 0;
	say_stuck(l);
	return -ETIME;
}

static void check_all(struct gp_load *l)
{
	for (u32 i = 0; i < l->work.slots; i++)
		if (l->used[i])
			check(l, NULL, 0, i, "at the end");
}

int gp_load_run(struct gp_load *l, const volatile int *stop)
{
	struct watch w = { .moved_ns = machine_ns(), .printed_ns = machine_ns() };
	int err = gp_client_clock(&l->c, &l->now_ns);

	l->start_ns = l->now_ns;
	l->next_arrival_ns = l->start_ns + (l->o->rate_milli ? poisson_gap_ns(l) : 0);
	while (!err) {
		reap(l);
		if (!*stop)
			err = submit_due(l);
		if (err || (l->completed == l->submitted && (*stop || !wanted(l))))
			break;
		err = rest(l);
		if (!err)
			err = out_of_patience(l, &w);
		if (!err)
			err = gp_client_clock(&l->c, &l->now_ns);
	}
	if (!err)
		check_all(l);
	return err ? err : l->lost[0] ? -EBADMSG : 0;
}
