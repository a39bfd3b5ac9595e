// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The roster: adds and removes devices, tasks and queues.
 */
#include "internal.h"

void gp_seat_activate(struct gp_sched *s, struct gp_seat *seat)
{
	struct gp_device *d = &s->devices[seat->device];

	if (seat->active)
		return;
	seat->active = true;
	seat->prev_active = GP_NONE;
	seat->next_active = d->active;
	if (d->active != GP_NONE)
		s->seats[d->active].prev_active = gp_seat_id(s, seat);
	d->active = gp_seat_id(s, seat);
}

void gp_seat_deactivate(struct gp_sched *s, struct gp_seat *seat)
{
	struct gp_device *d = &s->devices[seat->device];

	if (!seat->active)
		return;
	seat->active = false;
	if (seat->prev_active == GP_NONE)
		d->active = seat->next_active;
	else
		s->seats[seat->prev_active].next_active = seat->next_active;
	if (seat->next_active != GP_NONE)
		s->seats[seat->next_active].prev_active = seat->prev_active;
}

int gp_device_add(struct gp_sched *s, u32 flags, u32 *ret)
{
	struct gp_device *d;
	u32 i;

	if (flags & ~(u32)(GP_RPTR_IS_COMPLETION | GP_CAN_PROBE))
		return -EINVAL;
	for (i = 0; i < s->limits.devices && s->devices[i].used; i++)
		;
	if (i == s->limits.devices)
		return -ENOSPC;

	if (i >= s->nr_devices)
		s->nr_devices = i + 1;
	d = &s->devices[i];
	*d = (struct gp_device){
		.used = true, .flags = flags, .seats = GP_NONE, .active = GP_NONE,
		.action_cause = GP_NONE, .look_ns = GP_NEVER, .wake_ns = GP_NEVER,
		.policy_wake_ns = GP_NEVER,
	};
	gp_trace(s, GP_REC_DEVICE_ADD, .device = i, .device_add = { flags, i });
	*ret = i;
	return 0;
}

static void free_queue(struct gp_sched *s, u32 queue)
{
	s->queues[queue].seat = GP_NONE;
	if (queue < s->queues_used)
		s->queues_used = queue;
}

static void queues_of_seat_del(struct gp_sched *s, u32 seat)
{
	u32 i;

	for (i = 0; i < s->limits.queues; i++)
		if (s->queues[i].seat == seat)
			free_queue(s, i);
}

static void seat_del(struct gp_sched *s, struct gp_seat *seat)
{
	struct gp_device *d = &s->devices[seat->device];
	struct gp_task *t = &s->tasks[seat->task];
	u32 id = gp_seat_id(s, seat), *at = &d->seats;

	gp_action_forget(s, seat);
	gp_account_move(&t->account, seat->state, GP_LOST);
	t->account.state_ns[seat->state] += s->now_ns - seat->since_ns;
	t->lost -= seat->state == GP_LOST;
	gp_seat_deactivate(s, seat);
	queues_of_seat_del(s, id);
	while (*at != id)
		at = &s->seats[*at].next_of_device;
	*at = seat->next_of_device;
	d->nr_seats--;

	at = &t->seats;
	while (*at != id)
		at = &s->seats[*at].next_of_task;
	*at = seat->next_of_task;

	memset(seat, 0, sizeof(*seat));
	seat->next_of_task = s->free_seat;
	s->free_seat = id;
}

int gp_device_del(struct gp_sched *s, u32 device, u64 now_ns)
{
	struct gp_device *d = gp_device_of(s, device);
	u32 t;

	if (!d)
		return -ENOENT;

	gp_now(s, now_ns);
	gp_trace(s, GP_REC_DEVICE_DEL, .device = device);
	while (d->seats != GP_NONE)
		seat_del(s, &s->seats[d->seats]);
	/* Drop the holds that this device had on gangs. */
	for (t = 0; t < s->limits.tasks; t++) {
		if (!s->tasks[t].used)
			continue;
		s->tasks[t].devices &= ~BIT_ULL(device);
		s->tasks[t].held_by &= ~BIT_ULL(device);
		s->dirty |= s->tasks[t].devices;
	}
	d->used = false;
	s->dirty &= ~BIT_ULL(device);
	s->ready &= ~BIT_ULL(device);
	return 0;
}

int gp_device_reset(struct gp_sched *s, u32 device, u64 now_ns)
{
	struct gp_device *d = gp_device_of(s, device);
	struct gp_seat *seat;

	if (!d)
		return -ENOENT;

	gp_now(s, now_ns);
	gp_trace(s, GP_REC_DEVICE_RESET, .device = device);
	for (seat = gp_seat_at(s, d->seats); seat; seat = gp_seat_at(s, seat->next_of_device)) {
		gp_action_forget(s, seat);
		if (seat->state != GP_LOST)
			gp_seat_go(s, seat, GP_LOST);
		gp_task_changed(s, &s->tasks[seat->task]);
	}
	d->overdue = 0;
	gp_dirty(s, device);
	return 0;
}

const char *gp_class_wrong(const struct gp_class *c)
{
	u64 within = c->deadline_ns && c->deadline_ns < c->period_ns ? c->deadline_ns :
								       c->period_ns;

	if (!c->weight || c->weight > 10000)
		return "the weight must be 1 to 10000";
	if (c->flags & ~(u32)(GP_LATENCY_CRITICAL | GP_PREEMPTIBLE))
		return "unknown flag";
	if (!c->period_ns && (c->budget_ns || c->deadline_ns))
		return "a budget or deadline needs a period";
	if (c->period_ns && (!c->budget_ns || c->budget_ns > within))
		return "the budget must be more than 0 and fit in the period and the deadline";
	if (c->period_ns > 3600 * GP_SEC || c->deadline_ns > 3600 * GP_SEC)
		return "the period and the deadline must be an hour at most";
	return NULL;
}

static int admit(struct gp_sched *s, u64 devices, u32 task, const struct gp_class *class,
		 const char **why)
{
	u32 d;
	int err;

	*why = gp_class_wrong(class);
	if (*why)
		return -EINVAL;
	for (d = 0; s->policy->admit && d < s->limits.devices; d++) {
		if (!(devices & BIT_ULL(d)))
			continue;
		err = s->policy->admit(s, d, task, class, why);
		if (err)
			return err;
	}
	return 0;
}

/* Not __builtin_popcountll(): without the instruction it is a call into libgcc. */
static u32 count_bits(u64 bits)
{
	u32 n;

	for (n = 0; bits; n++)
		bits &= bits - 1;
	return n;
}

static u32 seats_free(const struct gp_sched *s, u32 wanted)
{
	u32 at = s->free_seat, n = 0;

	while (at != GP_NONE && n < wanted) {
		n++;
		at = s->seats[at].next_of_task;
	}
	return n;
}

static void seat_add(struct gp_sched *s, u32 task, u32 device)
{
	struct gp_seat *seat = &s->seats[s->free_seat];
	struct gp_device *d = &s->devices[device];
	struct gp_task *t = &s->tasks[task];
	u32 id = s->free_seat;

	s->free_seat = seat->next_of_task;
	*seat = (struct gp_seat){
		.task = task, .device = device, .state = GP_ON, .since_ns = s->now_ns,
		.idle_ns = s->now_ns, .occupancy = GP_OCCUPANCY_UNKNOWN,
		.next_of_task = t->seats, .next_of_device = d->seats,
	};
	t->seats = id;
	d->seats = id;
	d->nr_seats++;
}

static bool devices_exist(const struct gp_sched *s, u64 devices)
{
	u32 i;

	for (i = 0; i < GP_MAX_DEVICES; i++)
		if ((devices & BIT_ULL(i)) && !gp_device_of(s, i))
			return false;
	return devices != 0;
}

static u32 task_free(const struct gp_sched *s)
{
	u32 i;

	for (i = 0; i < s->limits.tasks && s->tasks[i].used; i++)
		;
	return i < s->limits.tasks ? i : GP_NONE;
}

int gp_task_add(struct gp_sched *s, u64 devices, const struct gp_class *class, u64 now_ns,
		u32 *ret, const char **why)
{
	u32 nr = count_bits(devices), task, d;
	int err;

	*why = NULL;
	if (!devices_exist(s, devices)) {
		*why = "no such device";
		return -EINVAL;
	}
	task = task_free(s);
	if (task == GP_NONE || seats_free(s, nr) < nr)
		return -ENOSPC;
	err = admit(s, devices, GP_NONE, class, why);
	if (err)
		return err;

	gp_now(s, now_ns);
	memset(&s->tasks[task], 0, sizeof(s->tasks[task]));
	s->tasks[task].used = true;
	s->tasks[task].class = *class;
	s->tasks[task].devices = devices;
	s->tasks[task].seats = GP_NONE;
	gp_trace_rec(s, gp_rec_of_task(s, GP_REC_TASK_ADD, task));
	for (d = 0; d < s->limits.devices; d++) {
		if (!(devices & BIT_ULL(d)))
			continue;
		seat_add(s, task, d);
		gp_rewatch(s, d);
	}
	*ret = task;
	return 0;
}

int gp_task_del(struct gp_sched *s, u32 task, u64 now_ns)
{
	struct gp_task *t = gp_task_of(s, task);
	u64 devices;
	u32 d;

	if (!t)
		return -ENOENT;

	gp_now(s, now_ns);
	gp_trace(s, GP_REC_TASK_DEL, .task = task);
	devices = t->devices;
	while (t->seats != GP_NONE)
		seat_del(s, &s->seats[t->seats]);
	t->used = false;
	for (d = 0; d < s->limits.devices; d++)
		if (devices & BIT_ULL(d))
			gp_rewatch(s, d);
	return 0;
}

int gp_task_set_class(struct gp_sched *s, u32 task, const struct gp_class *class, u64 now_ns,
		      const char **why)
{
	struct gp_task *t = gp_task_of(s, task);
	u32 d;
	int err;

	*why = NULL;
	if (!t)
		return -ENOENT;
	err = admit(s, t->devices, task, class, why);
	if (err)
		return err;

	gp_now(s, now_ns);
	t->class = *class;
	if (!(class->flags & GP_PREEMPTIBLE))
		t->manual_until_ns = 0;
	gp_trace_rec(s, gp_rec_of_task(s, GP_REC_TASK_CLASS, task));
	for (d = 0; d < s->limits.devices; d++)
		if (t->devices & BIT_ULL(d))
			gp_rewatch(s, d);
	return 0;
}

int gp_queue_add(struct gp_sched *s, u32 task, u32 device, const struct gp_pointers *at,
		 u64 now_ns, u32 *ret)
{
	struct gp_seat *seat = (struct gp_seat *)gp_sched_seat(s, task, device);
	u32 i;

	if (!seat)
		return -ENOENT;
	for (i = s->queues_used; i < s->limits.queues && s->queues[i].seat != GP_NONE; i++)
		;
	s->queues_used = i;
	if (i == s->limits.queues)
		return -ENOSPC;

	gp_now(s, now_ns);
	s->queues[i].seat = gp_seat_id(s, seat);
	s->pointers[i] = *at;
	seat->queues++;
	gp_trace(s, GP_REC_QUEUE_ADD, .device = device, .task = task, .queue = i,
		 .queue_add = { at->rptr, at->wptr });
	if (at->rptr != at->wptr) {
		gp_work_arrives(s, seat, s->now_ns);
		seat->pending++;
		gp_set_work(s, seat, GP_PENDING);
	}
	*ret = i;
	return 0;
}

int gp_queue_del(struct gp_sched *s, u32 queue, u64 now_ns)
{
	struct gp_seat *seat;

	if (queue >= s->limits.queues || s->queues[queue].seat == GP_NONE)
		return -ENOENT;

	gp_now(s, now_ns);
	gp_trace(s, GP_REC_QUEUE_DEL, .queue = queue);
	seat = &s->seats[s->queues[queue].seat];
	free_queue(s, queue);
	seat->queues--;
	if (s->pointers[queue].rptr != s->pointers[queue].wptr && !--seat->pending)
		gp_set_work(s, seat, seat->queues ? GP_DRAINED : GP_IDLE);
	return 0;
}
