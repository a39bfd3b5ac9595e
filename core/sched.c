// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Creation, settings and reading of the scheduler.
 */
#include "internal.h"

static bool limits_ok(const struct gp_limits *l)
{
	return l->devices && l->devices <= GP_MAX_DEVICES &&
	       l->tasks && l->tasks <= GP_MAX_TASKS &&
	       l->seats && l->seats <= GP_MAX_SEATS &&
	       l->queues && l->queues <= GP_MAX_QUEUES;
}

u64 gp_sched_size(const struct gp_limits *l)
{
	if (!limits_ok(l))
		return 0;

	return sizeof(struct gp_sched) +
	       l->queues * (sizeof(struct gp_pointers) + sizeof(struct gp_queue)) +
	       l->seats * sizeof(struct gp_seat) +
	       l->tasks * sizeof(struct gp_task) +
	       l->devices * sizeof(struct gp_device);
}

static void *carve(u8 **from, u64 bytes)
{
	void *at = *from;

	*from += bytes;
	return at;
}

static void carve_all(struct gp_sched *s, u8 *from)
{
	const struct gp_limits *l = &s->limits;
	u32 i;

	s->pointers = carve(&from, l->queues * sizeof(*s->pointers));
	s->seats = carve(&from, l->seats * sizeof(*s->seats));
	s->tasks = carve(&from, l->tasks * sizeof(*s->tasks));
	s->devices = carve(&from, l->devices * sizeof(*s->devices));
	/* Last: it need not be a multiple of eight bytes. */
	s->queues = carve(&from, l->queues * sizeof(*s->queues));

	/*
	 * Tasks and seats are large, so each is set up when it is taken. A daemon with
	 * room for a thousand touches only the memory of those that exist.
	 */
	memset(s->pointers, 0, l->queues * sizeof(*s->pointers));
	memset(s->devices, 0, l->devices * sizeof(*s->devices));
	for (i = 0; i < l->queues; i++)
		s->queues[i] = (struct gp_queue){ .seat = GP_NONE };
	for (i = 0; i < l->seats; i++)
		s->seats[i].next_of_task = i + 1 < l->seats ? i + 1 : GP_NONE;
	for (i = 0; i < l->tasks; i++)
		s->tasks[i].used = false;
	s->free_seat = 0;
}

int gp_sched_init(void *mem, const struct gp_sched_args *args, struct gp_sched **ret)
{
	u64 size = gp_sched_size(&args->limits);
	struct gp_sched *s = mem;
	u32 i;

	if (!mem || !size)
		return -EINVAL;

	memset(s, 0, sizeof(*s));
	s->limits = args->limits;
	s->enabled = true;
	s->policy = args->policy ? args->policy : &gp_policy_fifo;
	s->trace = args->trace;
	for (i = 0; i < GP_NR_PARAMS; i++)
		s->param[i] = gp_params[i].initial;
	carve_all(s, (u8 *)(s + 1));

	gp_trace(s, GP_REC_INIT, .init = { s->limits.devices, s->limits.tasks, s->limits.seats,
					   s->limits.queues, 0 });
	gp_trace(s, GP_REC_POLICY, .policy = { gp_policy_number(s->policy) });
	*ret = s;
	return 0;
}

int gp_sched_set(struct gp_sched *s, enum gp_param param, u64 value)
{
	u32 i;

	if ((u32)param >= GP_NR_PARAMS)
		return -EINVAL;
	if (value < gp_params[param].min || value > gp_params[param].max)
		return -ERANGE;

	s->param[param] = value;
	for (i = 0; i < s->limits.devices; i++)
		if (s->devices[i].used)
			gp_dirty(s, i);
	gp_trace(s, GP_REC_PARAM, .param = { param, value });
	return 0;
}

/* Every task that exists must be admitted by @policy on each of its devices. */
static int admit_all(struct gp_sched *s, const struct gp_policy *policy, const char **why)
{
	u32 d, t;
	int err;

	if (!policy->admit)
		return 0;

	for (t = 0; t < s->limits.tasks; t++) {
		for (d = 0; s->tasks[t].used && d < s->limits.devices; d++) {
			if (!(s->tasks[t].devices & BIT_ULL(d)))
				continue;
			err = policy->admit(s, d, t, &s->tasks[t].class, why);
			if (err)
				return err;
		}
	}
	return 0;
}

int gp_sched_set_policy(struct gp_sched *s, const struct gp_policy *policy, u64 now_ns,
			const char **why)
{
	int err;

	*why = NULL;
	if (!policy || !policy->name || !policy->decide)
		return -EINVAL;

	err = admit_all(s, policy, why);
	if (err)
		return err;

	gp_now(s, now_ns);
	s->ejected = NULL;
	gp_policy_takes_over(s, policy);
	gp_trace(s, GP_REC_POLICY, .policy = { gp_policy_number(policy) });
	return 0;
}

void gp_sched_enable(struct gp_sched *s, bool on, u64 now_ns)
{
	u32 i;

	gp_now(s, now_ns);
	s->enabled = on;
	for (i = 0; i < s->limits.devices; i++)
		if (s->devices[i].used)
			gp_dirty(s, i);
	gp_trace(s, GP_REC_ENABLE, .enable = { on });
}

void gp_sched_tick(struct gp_sched *s, u64 now_ns)
{
	u64 now = gp_now(s, now_ns);
	bool any = false;
	u32 i;

	for (i = 0; i < s->nr_devices; i++) {
		struct gp_device *d = &s->devices[i];

		if (!d->used || now < d->wake_ns)
			continue;
		if (!any)
			gp_trace(s, GP_REC_TICK, .device = GP_NONE);
		any = true;
		gp_expire(s, i);
		gp_dirty(s, i);
	}
}

bool gp_sched_due(const struct gp_sched *s, u64 now_ns)
{
	return s->dirty || s->ready || gp_sched_wake_at(s) <= now_ns;
}

u64 gp_sched_look_at(const struct gp_sched *s, u32 device)
{
	const struct gp_device *d = gp_device_of(s, device);

	if (!d || d->look_ns == GP_NEVER)
		return GP_NEVER;
	return d->looked_ns + d->look_ns;
}

u64 gp_sched_wake_at(const struct gp_sched *s)
{
	u64 at = GP_NEVER;
	u32 i;

	if (s->dirty || s->ready)
		return s->now_ns;

	for (i = 0; i < s->nr_devices; i++)
		if (s->devices[i].used && s->devices[i].wake_ns < at)
			at = s->devices[i].wake_ns;
	return at;
}

const struct gp_seat *gp_sched_seat(const struct gp_sched *s, u32 task, u32 device)
{
	const struct gp_task *t = gp_task_of(s, task);
	struct gp_seat *seat;

	for (seat = t ? gp_seat_at(s, t->seats) : NULL; seat;
	     seat = gp_seat_at(s, seat->next_of_task))
		if (seat->device == device)
			return seat;
	return NULL;
}

int gp_sched_sums(const struct gp_sched *s, u32 task, u64 now_ns, struct gp_account *ret)
{
	const struct gp_task *t = gp_task_of(s, task);
	const struct gp_seat *seat;

	if (!t)
		return -ENOENT;

	memcpy(ret, &t->account, offsetof(struct gp_account, part));
	for (seat = gp_seat_at(s, t->seats); seat; seat = gp_seat_at(s, seat->next_of_task)) {
		if (now_ns > seat->since_ns)
			ret->state_ns[seat->state] += now_ns - seat->since_ns;
		if (seat->starved && now_ns > seat->starved_ns)
			ret->waiting_ns += now_ns - seat->starved_ns;
	}
	return 0;
}

int gp_sched_account(const struct gp_sched *s, u32 task, u64 now_ns, struct gp_account *ret)
{
	int err = gp_sched_sums(s, task, now_ns, ret);

	if (!err)
		memcpy(ret->part, s->tasks[task].account.part, sizeof(ret->part));
	return err;
}

void gp_seat_go(struct gp_sched *s, struct gp_seat *seat, enum gp_state to)
{
	struct gp_account *a = &s->tasks[seat->task].account;
	u32 from = seat->state;
	u64 was = s->now_ns - seat->since_ns;

	if (GP_WARN_ON(gp_seat_move(seat, to, s->now_ns)))
		return;

	gp_account_move(a, from, to);
	a->state_ns[from] += was;
	s->tasks[seat->task].lost += (to == GP_LOST) - (from == GP_LOST);
	if (to == GP_STOPPING)
		seat->held_ns = s->now_ns;
	if (to == GP_ON && (from == GP_STARTING || from == GP_LOST) &&
	    s->now_ns - seat->held_ns > a->longest_hold_ns)
		a->longest_hold_ns = s->now_ns - seat->held_ns;
	if (to == GP_ON) {
		/* Only time on the GPU counts towards a stall. */
		if (seat->starved)
			a->waiting_ns += s->now_ns - seat->starved_ns;
		seat->starved = false;
		seat->probe_ns = 0;
	}
	gp_trace(s, GP_REC_STATE, .device = seat->device, .task = seat->task,
		 .state = { from, to });
}
