// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpload's loop on a device of this file's own, which can lose work, do it twice and
 * stand still: the program must notice each of them.
 *
 * The device is behind ioctl(), which this file defines: whenever the load asks for the
 * time, a millisecond passes and each queue completes one packet.
 */
#include "tests/shared/gp_test.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "lab/client/load.h"

enum { QUEUES = 2, DEPTH = 4, PACKETS = 16, SLOTS = 32, TICK_NS = 1000000, LONG_AGO = 8 };

enum fault { NONE, LOSE, TWICE, SWAP, LATE, STUCK };

static struct device {
	enum fault fault;
	u64 at;			/* the packet that goes wrong, of all of them */
	u64 done;
	u64 now_ns;
	u64 machine_ns;		/* the load's patience is of the machine's time */
	struct gp_load load;
	struct gp_load_queue queues[QUEUES];
	union gp_aql_packet ring[QUEUES][PACKETS];
	struct gp_amd_queue pointers[QUEUES];
	u64 doorbell[QUEUES];
	u32 in_flight[QUEUES][DEPTH];
	struct vgpu_kernel kernel;
	struct gp_work_slot slots[SLOTS];
	u64 arrived_ns[SLOTS];
	bool used[SLOTS];
	struct gp_work_slot *past[LONG_AGO];	/* what completed last */
} dev;

static void run_packet(const struct gp_aql_kernel *p)
{
	struct gp_work_slot *slot = (void *)((u8 *)(uintptr_t)p->kernarg -
					     offsetof(struct gp_work_slot, arg));
	u64 groups = p->grid[0] / p->workgroup[0];
	bool wrong = dev.done++ == dev.at;

	slot->count += groups;
	slot->sum += slot->arg.key * (groups * (groups + 1) / 2);
	if (wrong && dev.fault == LOSE) {
		slot->count -= 1;
		slot->sum -= slot->arg.key;
	}
	if (wrong && dev.fault == TWICE) {
		slot->count += 1;
		slot->sum += slot->arg.key;
	}
	/* One workgroup lost, another done twice: the count alone does not tell. */
	if (wrong && dev.fault == SWAP)
		slot->sum += slot->arg.key;
	/* A packet that completed and was checked long ago gets one more workgroup. */
	if (wrong && dev.fault == LATE)
		dev.past[dev.done % LONG_AGO]->count += 1;
	dev.past[dev.done % LONG_AGO] = slot;
	slot->done.end_ts = dev.now_ns / 10;
	__atomic_store_n(&slot->done.value, 0, __ATOMIC_RELEASE);
}

static void advance(void)
{
	dev.now_ns += TICK_NS;
	for (u32 i = 0; i < QUEUES; i++) {
		struct gp_amd_queue *p = &dev.pointers[i];

		if (p->read_index == p->write_index)
			continue;
		if (dev.fault == STUCK && dev.done >= dev.at)
			return;
		run_packet(&dev.ring[i][p->read_index % PACKETS].kernel);
		p->read_index++;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	struct kfd_ioctl_get_clock_counters_args *clocks;
	va_list args;

	(void)fd;
	va_start(args, request);
	clocks = va_arg(args, struct kfd_ioctl_get_clock_counters_args *);
	va_end(args);
	if (request != AMDKFD_IOC_GET_CLOCK_COUNTERS) {
		errno = ENOTTY;
		return -1;
	}
	advance();
	clocks->gpu_clock_counter = dev.now_ns / 10;
	return 0;
}

/* Every look at the machine's clock takes 100 us, on a busy machine too. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	dev.machine_ns += 100000;
	ret->tv_sec = (time_t)(dev.machine_ns / 1000000000);
	ret->tv_nsec = (long)(dev.machine_ns % 1000000000);
	return 0;
}

/* A load of @o on a fresh device with one @fault, at packet @at. */
static struct gp_load *fresh(const struct gp_load_options *o, enum fault fault, u64 at)
{
	struct gp_load *l = &dev.load;

	memset(&dev, 0, sizeof(dev));
	dev.fault = fault;
	dev.at = at;
	l->o = o;
	l->queues = dev.queues;
	l->created = QUEUES;
	l->workgroups = 10;
	l->waves = 4;
	l->arrived_ns = dev.arrived_ns;
	l->used = dev.used;
	l->random = o->seed;
	l->work = (struct gp_work){
		.c = &l->c, .kernel = &dev.kernel, .slot = dev.slots, .slots = SLOTS, .key = 1,
	};
	for (u32 i = 0; i < QUEUES; i++) {
		struct gp_lab_queue *q = &dev.queues[i].q;

		q->id = 10 + i;
		q->type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
		q->ring_bytes = sizeof(dev.ring[i]);
		q->ring.at = dev.ring[i];
		q->write = (u64 *)&dev.pointers[i].write_index;
		q->read = (u64 *)&dev.pointers[i].read_index;
		q->doorbell = &dev.doorbell[i];
		dev.queues[i].in_flight = dev.in_flight[i];
	}
	return l;
}

static const struct gp_load_options hundred = {
	.class = "offline", .queues = QUEUES, .depth = DEPTH, .requests = 100, .seed = 1,
};
static const volatile int never;

static void work_done_once_is_right(void **state)
{
	struct gp_load *l = fresh(&hundred, NONE, 0);

	(void)state;
	EXPECT_EQ(gp_load_run(l, &never), 0);
	EXPECT_EQ(l->submitted, 100);
	EXPECT_EQ(l->completed, 100);
	EXPECT_EQ(l->latency.count, 100);
	EXPECT_EQ(dev.done, 100);
	/* Two queues of four requests, one of each completes per millisecond. */
	EXPECT_EQ(l->latency.max, 4 * TICK_NS);
	EXPECT_EQ(l->last_done_ns - l->start_ns, 50 * TICK_NS);
}

static void the_first_requests_can_be_left_out_of_the_latencies(void **state)
{
	struct gp_load_options warm = hundred;
	struct gp_load *l;

	(void)state;
	warm.warm_up = 30;
	l = fresh(&warm, NONE, 0);
	EXPECT_EQ(gp_load_run(l, &never), 0);
	EXPECT_EQ(l->completed, 100);
	EXPECT_EQ(l->latency.count, 70);
}

static void a_result_that_is_made_wrong_is_found_wrong(void **state)
{
	struct gp_load_options spoilt = hundred;
	struct gp_load *l;

	(void)state;
	spoilt.spoil = 30;
	l = fresh(&spoilt, NONE, 0);
	EXPECT_EQ(gp_load_run(l, &never), -EBADMSG);
	EXPECT_EQ(l->completed, 100);
}

static void expect_lost(enum fault fault, const char *what)
{
	struct gp_load *l = fresh(&hundred, fault, 7);

	EXPECT_EQ(gp_load_run(l, &never), -EBADMSG);
	if (!strstr(l->lost, what))
		fail_msg("'%s' lacks '%s'", l->lost, what);
	EXPECT_EQ(l->completed, 100);
}

static void lost_and_doubled_work_is_named_by_queue_and_packet(void **state)
{
	(void)state;
	expect_lost(LOSE, "queue 11 packet 3: ");
	expect_lost(LOSE, "work was lost");
	expect_lost(TWICE, "work was done twice");
	expect_lost(SWAP, "some was lost and some done twice");
}

static void work_done_again_after_it_completed_is_found(void **state)
{
	struct gp_load *l = fresh(&hundred, LATE, 50);

	(void)state;
	/* In a slot that is used again later ... */
	EXPECT_EQ(gp_load_run(l, &never), -EBADMSG);
	EXPECT(strstr(l->lost, "done twice"));
	/* ... and in one that is not. */
	l = fresh(&hundred, LATE, 99);
	EXPECT_EQ(gp_load_run(l, &never), -EBADMSG);
	EXPECT(strstr(l->lost, "done twice"));
}

static void patience_ends_with_the_name_of_what_is_stuck(void **state)
{
	struct gp_load_options o = hundred;
	struct gp_load *l;

	(void)state;
	o.patience_ns = 20000000;
	l = fresh(&o, STUCK, 5);
	EXPECT_EQ(gp_load_run(l, &never), -ETIME);
	EXPECT(strstr(l->stuck, "packet"));
	EXPECT(strstr(l->stuck, "never completed"));
	EXPECT_EQ(l->completed, 5);
}

static void a_stop_waits_for_what_is_in_flight_and_submits_no_more(void **state)
{
	static const volatile int now = 1;
	struct gp_load *l = fresh(&hundred, NONE, 0);

	(void)state;
	EXPECT_EQ(gp_load_run(l, &now), 0);
	EXPECT_EQ(l->submitted, 0);
}

static void seconds_are_of_the_device_clock(void **state)
{
	struct gp_load_options o = hundred;
	struct gp_load *l;

	(void)state;
	o.requests = 0;
	o.seconds_ns = 100 * TICK_NS;
	l = fresh(&o, NONE, 0);
	EXPECT_EQ(gp_load_run(l, &never), 0);
	EXPECT(l->completed >= 195 && l->completed <= 210);
}

static void poisson_arrivals_have_the_rate_asked_for_and_the_seed_decides_them(void **state)
{
	struct gp_load_options o = hundred;
	struct gp_load *l;
	u64 end;

	(void)state;
	o.rate_milli = 500 * 1000;		/* 500/s: half of what a queue completes */
	l = fresh(&o, NONE, 0);
	EXPECT_EQ(gp_load_run(l, &never), 0);
	end = l->last_done_ns - l->start_ns;
	EXPECT(end > 140 * TICK_NS && end < 280 * TICK_NS);
	l = fresh(&o, NONE, 0);
	EXPECT_EQ(gp_load_run(l, &never), 0);
	EXPECT_EQ(l->last_done_ns - l->start_ns, end);
	o.seed = 2;
	l = fresh(&o, NONE, 0);
	EXPECT_EQ(gp_load_run(l, &never), 0);
	EXPECT(l->last_done_ns - l->start_ns != end);
}

PROVE(
	CLAIM(work_done_once_is_right),
	CLAIM(the_first_requests_can_be_left_out_of_the_latencies),
	CLAIM(a_result_that_is_made_wrong_is_found_wrong),
	CLAIM(lost_and_doubled_work_is_named_by_queue_and_packet),
	CLAIM(work_done_again_after_it_completed_is_found),
	CLAIM(patience_ends_with_the_name_of_what_is_stuck),
	CLAIM(a_stop_waits_for_what_is_in_flight_and_submits_no_more),
	CLAIM(seconds_are_of_the_device_clock),
	CLAIM(poisson_arrivals_have_the_rate_asked_for_and_the_seed_decides_them),
)
