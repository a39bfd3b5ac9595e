// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Asks the policy which tasks may be on a device, checks the verdict, and turns it
 * into holds. A policy that breaks a rule is replaced by fifo, and the system runs on.
 */
#include "internal.h"

/* ---- what a policy may call ---- */

static void broken(struct gp_verdict *v, const char *how)
{
	if (!v->broken)
		v->broken = how;
}

void gp_hold(struct gp_verdict *v, struct gp_seat *victim, const struct gp_seat *cause)
{
	const struct gp_sched *s = v->sched;

	if (!cause || cause == victim)
		broken(v, "held a task for no other task");
	else if (victim->device != v->device_id || cause->device != v->device_id)
		broken(v, "held a task of another device");
	else if (!(s->tasks[victim->task].class.flags & GP_PREEMPTIBLE))
		broken(v, "held a task that may not be preempted");
	else if (cause->unknown)
		broken(v, "held a task for one whose pointers cannot be read");
	else if (!gp_seat_claims(cause) && v->now_ns - cause->idle_ns > s->param[GP_LEASE])
		broken(v, "held a task for one that has been idle for a whole lease");
	if (v->broken)
		return;

	victim->held = true;
	s->seats[gp_seat_id(s, cause)].causing = true;
}

void gp_wake_at(struct gp_verdict *v, u64 ns)
{
	if (ns <= v->now_ns)
		broken(v, "wanted to wake in the past");
	else if (ns < v->wake_ns)
		v->wake_ns = ns;
}

void gp_ask(struct gp_verdict *v, struct gp_seat *seat)
{
	(void)v;
	seat->ask = true;
}

void gp_ask_since(struct gp_verdict *v, struct gp_seat *seat, u64 ns)
{
	if (seat->asked_ns >= ns)
		return;
	gp_ask(v, seat);
	seat->probe_ns = 0;
}

/*
 * The policy does not see this seat: it is LOST, or held by hand or by another device
 * of its gang, so that it could not use the GPU.
 */
static bool absent(const struct gp_sched *s, const struct gp_seat *seat)
{
	const struct gp_task *t = &s->tasks[seat->task];

	if (seat->state == GP_LOST)
		return true;
	return gp_task_wanted_off(s, t) && (t->manual_until_ns > s->now_ns ||
					    (t->held_by & ~BIT_ULL(seat->device)));
}

static struct gp_seat *skip_absent(const struct gp_sched *s, struct gp_seat *seat)
{
	while (seat && seat->absent)
		seat = gp_seat_at(s, seat->next_active);
	return seat;
}

struct gp_seat *gp_active_first(const struct gp_verdict *v)
{
	return skip_absent(v->sched, gp_seat_at(v->sched, v->device->active));
}

struct gp_seat *gp_active_next(const struct gp_verdict *v, const struct gp_seat *seat)
{
	return skip_absent(v->sched, gp_seat_at(v->sched, seat->next_active));
}

const struct gp_class *gp_class_of(const struct gp_sched *s, const struct gp_seat *seat)
{
	return &s->tasks[seat->task].class;
}

u64 gp_off_since(const struct gp_sched *s, const struct gp_seat *seat)
{
	u64 since = GP_NEVER;

	for (seat = gp_seat_at(s, s->tasks[seat->task].seats); seat;
	     seat = gp_seat_at(s, seat->next_of_task))
		if (seat->state != GP_ON && seat->state != GP_LOST && seat->held_ns < since)
			since = seat->held_ns;
	return since;
}

u64 gp_linger_ns(const struct gp_sched *s, const struct gp_seat *seat)
{
	const struct gp_device *d = &s->devices[seat->device];
	u64 mode = s->param[GP_LINGER], cost = d->stop_cost_ns + d->start_cost_ns;

	if (mode == GP_LINGER_SKI)
		return cost;
	if (mode != GP_LINGER_LEARNT)
		return mode;
	return gp_gaps_best(&seat->gaps, cost + s->param[GP_LATENCY_WEIGHT] * d->added_ns);
}

bool gp_lingers(struct gp_verdict *v, const struct gp_seat *seat, u64 ns)
{
	u64 lease = v->sched->param[GP_LEASE];
	u64 until = seat->idle_ns + (ns < lease ? ns : lease);

	if (seat->unknown || v->now_ns >= until)
		return false;
	gp_wake_at(v, until);
	return true;
}

/* ---- changing the policy ---- */

void gp_policy_takes_over(struct gp_sched *s, const struct gp_policy *policy)
{
	struct gp_seat *seat;
	u32 i;

	s->policy = policy;
	for (i = 0; i < s->limits.devices; i++) {
		struct gp_device *d = &s->devices[i];

		if (!d->used)
			continue;
		memset(d->scratch, 0, sizeof(d->scratch));
		for (seat = gp_seat_at(s, d->seats); seat;
		     seat = gp_seat_at(s, seat->next_of_device))
			memset(seat->scratch, 0, sizeof(seat->scratch));
		gp_rewatch(s, i);
	}
}

void gp_eject(struct gp_sched *s, const char *why)
{
	s->ejected = why;
	s->ejections++;
	gp_trace(s, GP_REC_EJECT, .policy = { gp_policy_number(s->policy) });
	gp_policy_takes_over(s, &gp_policy_fifo);
}

void gp_rewatch(struct gp_sched *s, u32 device)
{
	struct gp_device *d = &s->devices[device];
	const struct gp_seat *seat;

	if (!d->used)
		return;
	d->watched = s->policy->watch && s->policy->watch(s, d);
	d->critical = false;
	for (seat = gp_seat_at(s, d->seats); seat; seat = gp_seat_at(s, seat->next_of_device))
		d->critical |= !!(s->tasks[seat->task].class.flags & GP_LATENCY_CRITICAL);
	gp_dirty(s, device);
}

/* ---- one decision ---- */

static const char *rule_broken(const struct gp_sched *s, const struct gp_verdict *v)
{
	const struct gp_seat *seat;
	u64 since;

	if (v->broken)
		return v->broken;
	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat)) {
		if (seat->held && seat->causing)
			return "held a task for one that is held itself";
		since = gp_off_since(s, seat);
		if (seat->held && since != GP_NEVER && s->now_ns - since >= s->param[GP_LEASE])
			return "kept a task off past the lease";
	}
	return NULL;
}

static void ask_policy(struct gp_sched *s, struct gp_verdict *v)
{
	struct gp_seat *seat;

	for (seat = gp_seat_at(s, v->device->active); seat;
	     seat = gp_seat_at(s, seat->next_active)) {
		seat->held = false;
		seat->causing = false;
		seat->ask = false;
		seat->absent = absent(s, seat);
	}
	v->wake_ns = GP_NEVER;
	v->broken = NULL;
	if (s->enabled)
		s->policy->decide(v);
}

bool gp_task_wanted_off(const struct gp_sched *s, const struct gp_task *t)
{
	if (t->lost || !s->enabled)
		return false;
	return t->held_by || t->manual_until_ns > s->now_ns;
}

/* A task is off everywhere as soon as one of its devices wants it off. */
static void note_held(struct gp_sched *s, struct gp_seat *seat)
{
	struct gp_task *t = &s->tasks[seat->task];
	u64 bit = BIT_ULL(seat->device), before = t->held_by;
	struct gp_seat *other;

	if (seat->held)
		t->held_by |= bit;
	else
		t->held_by &= ~bit;
	if (!before == !t->held_by)
		return;

	for (other = gp_seat_at(s, t->seats); other;
	     other = gp_seat_at(s, other->next_of_task)) {
		if (other == seat)
			continue;
		gp_seat_activate(s, other);
		gp_dirty(s, other->device);
	}
}

static u64 isqrt(u64 n)
{
	u64 root = 0, bit = BIT_ULL(62);

	while (bit > n)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (n >= root + bit) {
			n -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

/*
 * Between two arrivals, gap apart, looking every I costs the processor
 * gap / I * cost and the arrival weight * I / 2 of latency. The sum is smallest
 * at I = sqrt(2 * cost * gap / weight).
 */
static u64 look_interval(const struct gp_sched *s, const struct gp_device *d, bool victims)
{
	u64 weight = s->param[GP_LOOK_WEIGHT], best, most;

	if (!s->enabled || !d->watched)
		return GP_NEVER;
	if (!victims || !d->critical)
		return s->param[GP_LOOK_RELAXED];

	most = s->param[GP_LOOK_MAX];
	if (!weight || !d->gap_ns)
		return most;
	best = isqrt(2 * s->param[GP_LOOK_COST] * d->gap_ns / weight);
	if (best > most)
		best = most;
	return best > s->param[GP_LOOK_MIN] ? best : s->param[GP_LOOK_MIN];
}

static bool nothing_to_decide(const struct gp_sched *s, const struct gp_seat *seat)
{
	const struct gp_task *t = &s->tasks[seat->task];

	/* A hold without effect now (scheduling off, a rank LOST) may take effect later. */
	return seat->state == GP_ON && seat->work == GP_IDLE && !seat->hint_from_ns &&
	       !seat->causing && !t->held_by && t->manual_until_ns <= s->now_ns;
}

static u64 wake_for(const struct gp_sched *s, const struct gp_seat *seat)
{
	const struct gp_task *t = &s->tasks[seat->task];
	u64 at = gp_age_at(s, seat), since;

	if (t->manual_until_ns > s->now_ns && t->manual_until_ns < at)
		at = t->manual_until_ns;
	if (seat->retry_ns > s->now_ns && seat->retry_ns < at)
		at = seat->retry_ns;
	since = seat->held ? gp_off_since(s, seat) : GP_NEVER;
	if (since != GP_NEVER && since + s->param[GP_LEASE] < at)
		at = since + s->param[GP_LEASE];
	return at;
}

void gp_rewake(struct gp_sched *s, u32 device)
{
	struct gp_device *d = &s->devices[device];
	const struct gp_seat *seat;
	u64 at;

	d->wake_ns = d->policy_wake_ns;
	if (d->action && d->action_deadline_ns < d->wake_ns)
		d->wake_ns = d->action_deadline_ns;
	for (seat = gp_seat_at(s, d->active); seat; seat = gp_seat_at(s, seat->next_active)) {
		at = wake_for(s, seat);
		if (at < d->wake_ns)
			d->wake_ns = at;
	}
}

/* Stores the verdict in the seats. */
static void apply(struct gp_sched *s, struct gp_verdict *v)
{
	struct gp_device *d = v->device;
	struct gp_seat *seat, *next;
	bool victims = false;

	for (seat = gp_seat_at(s, d->active); seat; seat = next) {
		next = gp_seat_at(s, seat->next_active);
		if (seat->causing && !seat->cause)
			seat->cause_ns = s->now_ns;
		seat->cause = seat->causing;
		note_held(s, seat);
		victims |= (s->tasks[seat->task].class.flags & GP_PREEMPTIBLE) &&
			   (gp_seat_claims(seat) || seat->unknown || seat->state != GP_ON);
		if (nothing_to_decide(s, seat))
			gp_seat_deactivate(s, seat);
	}
	if (d->look_ns == GP_NEVER)
		d->watched_ns = s->now_ns;
	d->look_ns = look_interval(s, d, victims);
	d->policy_wake_ns = v->wake_ns;
}

void gp_decide(struct gp_sched *s, u32 device)
{
	struct gp_verdict v = {
		.sched = s, .device = &s->devices[device], .device_id = device,
		.now_ns = s->now_ns,
	};
	const char *why;

	s->dirty &= ~BIT_ULL(device);
	gp_age(s, device);
	ask_policy(s, &v);
	why = rule_broken(s, &v);
	if (why) {
		gp_eject(s, why);
		ask_policy(s, &v);
	}
	apply(s, &v);
	/* Ageing and ejecting mark what has just been looked at. */
	s->dirty &= ~BIT_ULL(device);
	s->ready |= BIT_ULL(device);
}

/* ---- by hand ---- */

void gp_task_changed(struct gp_sched *s, const struct gp_task *t)
{
	struct gp_seat *seat;

	for (seat = gp_seat_at(s, t->seats); seat; seat = gp_seat_at(s, seat->next_of_task)) {
		gp_seat_activate(s, seat);
		gp_dirty(s, seat->device);
	}
}

int gp_sched_hold(struct gp_sched *s, u32 task, u64 lease_ns, u64 now_ns)
{
	struct gp_task *t = gp_task_of(s, task);

	if (!t)
		return -ENOENT;
	if (!(t->class.flags & GP_PREEMPTIBLE))
		return -EPERM;
	if (!lease_ns || lease_ns > s->param[GP_LEASE])
		return -ERANGE;

	gp_now(s, now_ns);
	gp_trace(s, GP_REC_HOLD, .task = task, .hold = { lease_ns });
	t->manual_until_ns = s->now_ns + lease_ns;
	gp_task_changed(s, t);
	return 0;
}

int gp_sched_release(struct gp_sched *s, u32 task, u64 now_ns)
{
	struct gp_task *t = gp_task_of(s, task);

	if (!t)
		return -ENOENT;

	gp_now(s, now_ns);
	gp_trace(s, GP_REC_RELEASE, .task = task);
	t->manual_until_ns = 0;
	gp_task_changed(s, t);
	return 0;
}
