// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One step on one GPU: which processes are stopped and started, in which way, and the outcome. All
 * of this runs in the GPU's worker.
 */
#include "gp_bounds.h"
#include "gp_dev_file.h"
#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_step.h"
#include "gp_target.h"
#include "gp_worker.h"

/* ---- the processes of a step ---- */

static void enrol(struct gp_kernel_gpu *gpu, struct gp_member *m, u32 task, bool out)
{
	struct gp_seat_k *seat = &m->seat[gpu->device];
	struct gp_crew *crew = gpu->crew;

	kref_get(&m->ref);
	seat->moving = true;
	crew->member[crew->step.nr] = m;
	crew->task[crew->step.nr] = task;
	crew->move[crew->step.nr++] = (struct gp_kfd_move){
		.seat = seat->pdd, .out = out, .owes = seat->owes,
	};
}

void gp_step_add(struct gp_kernel_gpu *gpu, u32 task, bool out)
{
	struct gp_target *t = gp_target_of_task(task);
	u32 i;

	for (i = 0; t && i < t->nr_members; i++) {
		struct gp_member *m = t->member[i];
		struct gp_seat_k *seat = m ? &m->seat[gpu->device] : NULL;

		if (!seat || !seat->pdd || m->dead)
			continue;
		/* This action now takes care of the start, so the seat is no orphan. */
		seat->orphan = false;
		if (seat->owes != out)
			enrol(gpu, m, task, out);
	}
}

void gp_step_begin(struct gp_kernel_gpu *gpu, u64 patience_ns)
{
	gpu->crew->step = (struct gp_kfd_step){
		.node = gpu->node, .move = gpu->crew->move, .deadline_ns = patience_ns,
	};
}

/* ---- the way ---- */

static void refused_direct(struct gp_kernel_gpu *gpu, const char *why)
{
	unsigned long flags;

	spin_lock_irqsave(&gp_home.lock, flags);
	strscpy(gpu->why_not_direct, why, sizeof(gpu->why_not_direct));
	gp_home.stats->direct_refused++;
	spin_unlock_irqrestore(&gp_home.lock, flags);
}

static bool any_out(const struct gp_kfd_step *step)
{
	u32 i;

	for (i = 0; i < step->nr; i++)
		if (step->move[i].out)
			return true;
	return false;
}

/* Returns the selected way, or evict if that way would refuse. Starts alone always use evict. */
const struct gp_way *gp_step_way(struct gp_kernel_gpu *gpu)
{
	const struct gp_way *way = READ_ONCE(gp_home.way);
	struct gp_kfd_step *step = &gpu->crew->step;

	if (gpu->halted)
		return &gp_way_halt;
	if (way != &gp_way_direct)
		return way;
	if (!any_out(step))
		return &gp_way_evict;
	if (!gpu->direct_ok && (gp_home.way_auto || !gp_bounds.allow_direct)) {
		refused_direct(gpu, "its self test has not passed here");
		return &gp_way_evict;
	}
	if (way->can(step)) {
		refused_direct(gpu, step->why_not);
		return &gp_way_evict;
	}
	return way;
}

static void count(struct gp_kernel_gpu *gpu, const struct gp_way *way, int err)
{
	const struct gp_kfd_step *step = &gpu->crew->step;
	unsigned long flags;

	spin_lock_irqsave(&gp_home.lock, flags);
	gpu->way = way;
	if (!err && way == &gp_way_direct)
		gp_home.stats->direct_stops++;
	else if (!err && way == &gp_way_halt)
		gp_home.stats->halts++;
	else if (!err)
		gp_home.stats->evict_cycles++;
	gp_home.stats->kicks += step->kicks;
	spin_unlock_irqrestore(&gp_home.lock, flags);
}

int gp_step_move(struct gp_kernel_gpu *gpu, const struct gp_way *way)
{
	struct gp_kfd_step *step = &gpu->crew->step;
	int err;

	if (!step->nr)
		return 0;
	err = way->move(step);
	if (err == -EBUSY && way == &gp_way_direct) {
		refused_direct(gpu, step->why_not);
		way = &gp_way_evict;
		err = way->move(step);
	}
	gpu->crew->unsure |= err == -EIO;
	count(gpu, way, err);
	return err;
}

/* ---- the outcome ---- */

/* True if a live process is off on this GPU. The caller holds home.lock. */
static bool anybody_owes(const struct gp_kernel_gpu *gpu)
{
	const struct gp_member *m;

	list_for_each_entry(m, &gp_home.members, of_home)
		if (m->seat[gpu->device].owes && !m->dead)
			return true;
	return false;
}

/* Copies the driver's counts to the seats. Orphans members that left their task meanwhile. */
void gp_step_book(struct gp_kernel_gpu *gpu)
{
	struct gp_crew *crew = gpu->crew;
	u32 i;

	for (i = 0; i < crew->step.nr; i++) {
		struct gp_member *m = crew->member[i];
		struct gp_seat_k *seat = &m->seat[gpu->device];

		seat->moving = false;
		seat->owes = crew->move[i].owes;
		if (!seat->owes)
			seat->orphan = false;
		else if (!m->target || gpu->gone)
			gp_member_orphan(m, gpu);
		gp_member_settle(m);
	}
	gpu->halted = gpu->way == &gp_way_halt && anybody_owes(gpu);
}

void gp_step_end_halt(struct gp_kernel_gpu *gpu)
{
	unsigned long flags;
	bool over;

	spin_lock_irqsave(&gp_home.lock, flags);
	over = gpu->way == &gp_way_halt && !anybody_owes(gpu);
	if (over)
		gpu->halted = false;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	if (over)
		gp_kfd_unhalt(gpu->node);
}

void gp_step_let_go(struct gp_crew *crew)
{
	u32 i;

	for (i = 0; i < crew->step.nr; i++)
		gp_member_put(crew->member[i]);
	crew->step.nr = 0;
}

/*
 * True if the place of the process is unknown. The driver counted the eviction, then gave up on the
 * GPU or began a reset. The reset that follows settles the state.
 */
static bool nobody_knows(const struct gp_kfd_move *m)
{
	return m->out && (m->err == -ETIME || m->err == -EIO);
}

/*
 * Returns GP_DONE if every process of @task moved. After a refused stop, the processes that did
 * stop become orphans, so that they are started again.
 */
static enum gp_outcome outcome(struct gp_kernel_gpu *gpu, u32 task, bool out, int err)
{
	struct gp_crew *crew = gpu->crew;
	bool all = !err || err == -EIO;
	u32 i;

	if (err == -ETIME && out)
		return GP_TIMED_OUT;
	for (i = 0; i < crew->step.nr; i++) {
		if (crew->task[i] != task || crew->member[i]->dead)
			continue;
		if (nobody_knows(&crew->move[i]))
			return GP_TIMED_OUT;
		/* A start that is no longer owed is not repeated, even if it reported an error. */
		all &= out ? !crew->move[i].err : !crew->move[i].owes;
	}
	for (i = 0; i < crew->step.nr && out && !all; i++)
		if (crew->task[i] == task && crew->move[i].owes)
			gp_member_orphan(crew->member[i], gpu);
	return all ? GP_DONE : GP_REFUSED;
}

/* The caller holds home.lock. */
static void answer(struct gp_kernel_gpu *gpu, int err, u64 now_ns)
{
	const struct gp_action *action = &gpu->crew->order.action;
	const struct gp_kfd_times *times = &gpu->crew->step.times;
	struct gp_answer a = {
		.action = action->id, .command_ns = times->command_ns,
		.acted_ns = times->acted_ns, .saved_ns = times->saved_ns,
		.switched_ns = times->switched_ns,
	};
	u32 i;

	for (i = 0; i < action->nr_out + action->nr_in; i++) {
		a.task = action->tasks[i];
		a.outcome = outcome(gpu, a.task, i < action->nr_out, err);
		/* -EPROTO: the task was detached or died meanwhile. */
		gp_sched_answer(gp_home.sched, &a, now_ns);
	}
	if (err == -ETIME)
		gpu->crew->late = action->id;
	/* The scheduler orders no other stop while one is unanswered. Only evict has counted it. */
	if (err == -EIO && action->nr_out)
		gpu->crew->unsure_of = (struct gp_answer){
			.action = action->id, .task = GP_NONE,
			.outcome = gpu->way == &gp_way_evict ? GP_DONE : GP_REFUSED,
		};
}

static void refuse_stops(struct gp_kernel_gpu *gpu, u64 now_ns)
{
	struct gp_action *action = &gpu->crew->order.action;
	struct gp_answer a = { .action = action->id, .outcome = GP_REFUSED };
	u32 i;

	for (i = 0; i < action->nr_out; i++) {
		a.task = action->tasks[i];
		gp_sched_answer(gp_home.sched, &a, now_ns);
	}
	action->tasks += action->nr_out;
	action->nr_out = 0;
}

/* Task numbers are reused, so check that the seat still belongs to this action. */
static bool still_meant(const struct gp_kernel_gpu *gpu, const struct gp_action *action, u32 task)
{
	const struct gp_seat *seat = gp_sched_seat(gp_home.sched, task, gpu->device);

	return seat && seat->action == action->id;
}

void gp_step_action(struct gp_kernel_gpu *gpu)
{
	struct gp_action *action = &gpu->crew->order.action;
	unsigned long flags;
	u64 now;
	u32 i;
	int err;

	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	/* The step gives up just before the scheduler stops waiting for the answer. */
	gp_step_begin(gpu, action->deadline_ns > now ? (action->deadline_ns - now) / 8 * 7 : 0);
	/* Refuse late stops, because the scheduler no longer waits for them. */
	if (now >= action->deadline_ns || gpu->gone)
		refuse_stops(gpu, now);
	for (i = 0; i < action->nr_out + action->nr_in; i++)
		if (still_meant(gpu, action, action->tasks[i]))
			gp_step_add(gpu, action->tasks[i], i < action->nr_out);
	spin_unlock_irqrestore(&gp_home.lock, flags);

	err = gp_step_move(gpu, gp_step_way(gpu));

	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	answer(gpu, err, now);
	gp_step_book(gpu);
	gp_step_reset(gpu, now);
	gp_home_settle(now);
	gp_dev_file_wake_owed();
	spin_unlock_irqrestore(&gp_home.lock, flags);
	gp_step_let_go(gpu->crew);
	wake_up_all(&gp_home.moved);
}

/* ---- orphans: starts outside of actions ---- */

/* The caller holds home.lock. */
static void gather_orphans(struct gp_kernel_gpu *gpu)
{
	struct gp_member *m;

	list_for_each_entry(m, &gp_home.members, of_home) {
		const struct gp_seat_k *seat = &m->seat[gpu->device];

		if (seat->orphan && seat->owes && !m->dead)
			enrol(gpu, m, GP_NONE, false);
	}
}

bool gp_step_orphans(struct gp_kernel_gpu *gpu)
{
	unsigned long flags;
	bool left;
	u32 i;

	gp_step_begin(gpu, GP_NEVER);
	spin_lock_irqsave(&gp_home.lock, flags);
	gpu->orphans = false;
	gather_orphans(gpu);
	spin_unlock_irqrestore(&gp_home.lock, flags);

	gp_step_move(gpu, gpu->halted ? &gp_way_halt : &gp_way_evict);

	spin_lock_irqsave(&gp_home.lock, flags);
	for (i = 0; i < gpu->crew->step.nr; i++)
		if (gpu->crew->move[i].owes)
			gpu->orphans = true;	/* retry later */
	gp_step_book(gpu);
	gp_step_reset(gpu, gp_home_now());
	left = gpu->orphans;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	gp_step_let_go(gpu->crew);
	wake_up_all(&gp_home.moved);
	return !left;
}

/* ---- strays: processes that came while their task was off ---- */

bool gp_step_is_stray(const struct gp_kernel_gpu *gpu, const struct gp_member *m)
{
	const struct gp_seat_k *seat = &m->seat[gpu->device];
	const struct gp_seat *is;

	if (!m->target || m->target->task == GP_NONE || m->dead || gpu->halted)
		return false;
	if (!seat->pdd || !seat->queues || seat->owes || seat->moving)
		return false;
	is = gp_sched_seat(gp_home.sched, m->target->task, gpu->device);
	return is && is->state == GP_OFF;
}

/* The strays are started with the other processes of their task. */
void gp_step_strays(struct gp_kernel_gpu *gpu)
{
	unsigned long flags;
	struct gp_member *m;

	gp_step_begin(gpu, GP_NEVER);
	spin_lock_irqsave(&gp_home.lock, flags);
	gpu->strays = false;
	list_for_each_entry(m, &gp_home.members, of_home)
		if (gp_step_is_stray(gpu, m))
			enrol(gpu, m, GP_NONE, true);
	spin_unlock_irqrestore(&gp_home.lock, flags);

	gp_step_move(gpu, &gp_way_evict);

	spin_lock_irqsave(&gp_home.lock, flags);
	gp_step_book(gpu);
	gp_step_reset(gpu, gp_home_now());
	spin_unlock_irqrestore(&gp_home.lock, flags);
	gp_step_let_go(gpu->crew);
}

/* ---- resets and recovery of the GPU ---- */

bool gp_step_reset(struct gp_kernel_gpu *gpu, u64 now_ns)
{
	struct gp_uapi_event event = { .time_ns = now_ns, .gpu_id = gpu->is.gpu_id,
				       .kind = GP_UAPI_EVENT_RESET };
	u32 resets = gp_kfd_resets(gpu->node);
	struct gp_member *m, *next;

	if (resets == gpu->resets)
		return false;
	gpu->resets = resets;
	gpu->nr_resets++;
	gp_home.stats->resets++;
	gpu->crew->late = 0;
	gpu->crew->unsure = false;
	gpu->crew->unsure_of.action = 0;
	gpu->halted = false;
	gpu->orphans = false;
	/* The driver leaves every process evicted for good, so the module's counts are void. */
	list_for_each_entry_safe(m, next, &gp_home.members, of_home) {
		m->seat[gpu->device].owes = false;
		m->seat[gpu->device].orphan = false;
		gp_member_settle(m);
	}
	if (!gpu->gone)
		gp_device_reset(gp_home.sched, gpu->device, now_ns);
	gp_dev_file_tell(&event, NULL);
	return true;
}

/* The driver locks a GPU for other reasons than a reset too. No reset follows then, so kick it. */
void gp_step_resync(struct gp_kernel_gpu *gpu)
{
	struct gp_crew *crew = gpu->crew;
	unsigned long flags;
	u64 now;

	if (gp_kfd_resets(gpu->node) != gpu->resets || gp_kfd_kick(gpu->node))
		return;
	crew->unsure = false;
	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	/* MES removes queues one by one, so some may be off and others on. Do not answer then. */
	if (crew->unsure_of.action && !gpu->is.mes)
		gp_sched_answer(gp_home.sched, &crew->unsure_of, now);
	crew->unsure_of.action = 0;
	gp_home_settle(now);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	wake_up_all(&gp_home.moved);
}

void gp_step_late(struct gp_kernel_gpu *gpu)
{
	struct gp_answer a = { .action = gpu->crew->late, .task = GP_NONE, .outcome = GP_REFUSED };
	int come = gp_kfd_direct_late(gpu->node);
	unsigned long flags;

	if (!come)
		return;
	spin_lock_irqsave(&gp_home.lock, flags);
	/* The driver has mapped the queues again and nothing was booked, so the tasks are on. */
	if (a.action != GP_LATE_TEST)
		gp_sched_answer(gp_home.sched, &a, gp_home_now());
	gpu->crew->late = 0;
	spin_unlock_irqrestore(&gp_home.lock, flags);
}
