// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Actions. Each task of an action is a move: a request to the session of each of its processes, and
 * one answer when all have replied. Processes are stopped in parallel. Tasks start when all that
 * are to stop have been answered.
 */
#include <stdlib.h>

#include "holders_private.h"
#include "lib/process.h"

/*
 * Time after its deadline in which a call of the driver may return before its process is abandoned.
 * Until then no action begins on that GPU.
 */
#define STUCK_NS	(50 * GP_MSEC)
/*
 * The same if the driver has made progress on that GPU since, because the call hangs on its process
 * then.
 */
#define STUCK_ALONE_NS	(10 * GP_MSEC)
/* Hangs that are closer together count as one. */
#define ONE_HANG_NS	(250 * GP_MSEC)
/* An operation that is so far behind the others of its action is abandoned. */
#define BEHIND_NS	(10 * GP_MSEC)
/* Time after a hang without attaches for the user; doubles. */
#define HUNG_WAIT_NS	(1 * GP_SEC)
#define HUNG_WAIT_MAX_NS	(600 * GP_SEC)

/* ---- answers ---- */

/* Makes room for answers of @moves more moves, so that an answer never needs memory. */
static int make_room(struct gp_holders *h, u32 moves)
{
	u32 room = h->answers.room ? h->answers.room : 64;
	struct gp_answer *at;

	/* Twice, because a move that timed out is also answered late. */
	while (room < h->answers.nr + 2 * (h->nr_moves + moves))
		room *= 2;
	if (room == h->answers.room)
		return 0;
	at = calloc(room, sizeof(*at));
	if (!at)
		return -ENOMEM;
	for (u32 i = 0; i < h->answers.nr; i++)
		at[i] = h->answers.at[(h->answers.first + i) & (h->answers.room - 1)];
	free(h->answers.at);
	h->answers.at = at;
	h->answers.first = 0;
	h->answers.room = room;
	return 0;
}

static void answer(struct gp_holders *h, const struct gp_move *m, u32 outcome)
{
	struct gp_answer a = m->times;

	if (m->task->gone)
		return;
	a.action = m->action;
	a.task = m->task->number;
	a.outcome = outcome;
	h->answers.at[(h->answers.first + h->answers.nr++) & (h->answers.room - 1)] = a;
}

/* ---- moves ---- */

static void move_put(struct gp_move *m)
{
	if (--m->refs)
		return;
	gp_hold_task_put(m->task);
	free(m);
}

static void begin_ins(struct gp_holders *h, u32 device);

static void action_over(struct gp_holders *h, u32 device)
{
	struct gp_hold_action *a = &h->device[device].action;

	for (u32 i = 0; i < a->nr; i++)
		move_put(a->move[i]);
	free(a->move);
	*a = (struct gp_hold_action){ 0 };
}

void gp_hold_act_clear(struct gp_holders *h, u32 device)
{
	action_over(h, device);
}

/* Counts the answer of one move, and continues the action. */
static void action_goes_on(struct gp_holders *h, u32 device)
{
	struct gp_hold_action *a = &h->device[device].action;

	a->open--;
	if (!a->ins_begun && a->open == a->nr - a->nr_out)
		begin_ins(h, device);
	if (a->id && !a->open)
		action_over(h, device);
}

static void unlink_move(struct gp_holders *h, struct gp_move *m)
{
	struct gp_move **at;

	for (at = &h->moves; *at != m; at = &(*at)->next)
		;
	*at = m->next;
	h->nr_moves--;
	move_put(m);
}

static void finish(struct gp_holders *h, struct gp_move *m)
{
	u32 device = m->device;
	bool late = m->timed_out;

	m->over = true;
	if (!m->err && !m->times.command_ns) {
		/* There was nothing to do. */
		m->times.command_ns = m->begun_ns;
		m->times.switched_ns = gp_holders_now(h);
	}
	h->stats.sessions.late += late;
	answer(h, m, m->err ? GP_REFUSED : GP_DONE);
	unlink_move(h, m);
	if (!late)
		action_goes_on(h, device);
}

/* ---- operations ---- */

/* Sends an operation. On an error there is no operation. 0 or -errno. */
static int send_op(struct gp_holders *h, struct gp_ward *w, struct gp_move *m, u32 device,
		   bool hold)
{
	u64 now = gp_holders_now(h);
	struct gp_holder_request r = GP_MESSAGE(struct gp_holder_request,
		hold ? GP_HOLDER_HOLD : GP_HOLDER_RELEASE, .serial = h->serial + 1,
		.gpu_id = h->device[device].gpu.gpu_id, .grace = h->args.grace,
		.until_ns = now + h->args.lease_ns);
	struct gp_hold_op *op = calloc(1, sizeof(*op));
	int err;

	if (!op && !hold) {
		/* The end of its session also releases it. */
		gp_holders_tell(h, w, (struct gp_holders_event){
			.what = GP_HOLDERS_LEFT, .err = -ENOMEM });
		gp_ward_close(h, w);
	}
	if (!op)
		return -ENOMEM;
	err = gp_ward_send(h, w, &r);
	if (err) {
		free(op);
		return err;
	}
	h->serial++;
	*op = (struct gp_hold_op){
		.next = w->ops, .serial = h->serial, .device = device, .move = m, .hold = hold,
	};
	w->ops = op;
	m->pending++;
	m->refs++;
	if (hold) {
		w->lapses = false;
		w->wanted |= BIT_ULL(device);
		w->renew_ns = now + h->args.lease_ns / 4;
		gp_holders_due(h, w->renew_ns);
	}
	return 0;
}

/* Releases the processes that were stopped in vain. Returns true if an operation is pending. */
static bool undo(struct gp_holders *h, struct gp_move *m)
{
	m->undoing = true;
	for (struct gp_ward *w = h->wards; w; w = w->next)
		if (w->task == m->task && w->state == GP_WARD_ATTACHED &&
		    (w->wanted & BIT_ULL(m->device))) {
			w->wanted &= ~BIT_ULL(m->device);
			send_op(h, w, m, m->device, false);
		}
	return m->pending;
}

/* Answers @m if none of its operations is pending. */
static void settle(struct gp_holders *h, struct gp_move *m)
{
	if (m->pending || m->over)
		return;
	if (m->out && m->err && !m->undoing && undo(h, m))
		return;
	finish(h, m);
}

static void add_times(struct gp_answer *a, const struct gp_holder_reply *r)
{
	if (!r->command_ns)
		return;
	if (!a->command_ns || r->command_ns < a->command_ns)
		a->command_ns = r->command_ns;
	/* One driver call does all steps, so the times within it are not known. */
	if (r->done_ns > a->switched_ns)
		a->switched_ns = r->done_ns;
}

static void count_reply(struct gp_holders *h, bool hold, const struct gp_holder_reply *r)
{
	/* A process of a gang that has no queue on this GPU needs no call. */
	if (!r->err && r->command_ns && hold)
		h->stats.sessions.suspends++;
	else if (!r->err && r->command_ns)
		h->stats.sessions.resumes++;
	else if (hold && r->err && r->err != -ESRCH)
		h->stats.sessions.suspend_failures++;
}

static void note_reply(struct gp_holders *h, const struct gp_hold_op *op,
		       const struct gp_holder_reply *r)
{
	struct gp_hold_action *a = &h->device[op->device].action;

	if (r->err || !r->command_ns)
		return;
	h->device[op->device].replied_ns = gp_holders_now(h);
	if (a->id == op->move->action)
		a->replied_ns = gp_holders_now(h);
}

static void op_done(struct gp_holders *h, struct gp_ward *w, struct gp_hold_op *op,
		    const struct gp_holder_reply *r)
{
	struct gp_move *m = op->move;
	u64 bit = BIT_ULL(op->device);
	/* A process that is gone counts as off. */
	int err = op->hold && r->err == -ESRCH ? 0 : r->err;

	count_reply(h, op->hold, r);
	note_reply(h, op, r);
	if (op->hold && r->err) {
		w->wanted &= ~bit;
	} else if (err) {
		/* It is still off, and another start may be tried until its lease ends. */
		w->wanted |= bit;
		w->lapses = true;
	}
	m->pending--;
	if (!m->undoing) {
		m->err = m->err ? m->err : err;
		add_times(&m->times, r);
	}
	settle(h, m);
	move_put(m);
	free(op);
}

/* Detaches a process, which runs at the latest when its session has ended. */
static void leave(struct gp_holders *h, struct gp_ward *w, int err)
{
	if (w->state == GP_WARD_ATTACHED)
		gp_holders_tell(h, w, (struct gp_holders_event){
			.what = GP_HOLDERS_LEFT, .err = err });
	gp_ward_close(h, w);
	gp_ward_fail_ops(h, w, err);
}

void gp_ward_replied(struct gp_holders *h, struct gp_ward *w, const struct gp_holder_reply *r)
{
	struct gp_hold_op **at, *op;
	bool hold = r->is.kind == GP_HOLDER_HELD;

	for (at = &w->ops; (op = *at) && op->serial != r->serial; at = &op->next)
		;
	if (!op || op->hold != hold)
		return;
	*at = op->next;
	op_done(h, w, op, r);
}

/* Does not hold the process again, because late renewals would keep it off for ever. */
void gp_ward_expired(struct gp_holders *h, struct gp_ward *w)
{
	h->stats.expired++;
	if (w->wanted)
		leave(h, w, -ETIMEDOUT);
}

void gp_ward_fail_ops(struct gp_holders *h, struct gp_ward *w, int err)
{
	while (w->ops) {
		struct gp_hold_op *op = w->ops;
		/* The holder is dead or abandons the process, which runs soon. */
		struct gp_holder_reply r = { .err = op->hold ? err : 0 };

		w->ops = op->next;
		op_done(h, w, op, &r);
	}
	w->wanted = 0;
}

/* ---- beginning ---- */

static void begin_out(struct gp_holders *h, struct gp_move *m)
{
	struct gp_ward *w;
	u32 nr = 0;

	m->begun_ns = gp_holders_now(h);
	for (w = h->wards; w; w = w->next) {
		if (w->task != m->task || w->state >= GP_WARD_LEAVING)
			continue;
		nr++;
		if (w->state != GP_WARD_ATTACHED)
			m->err = -EPERM;
	}
	if (!nr)
		m->err = -EPERM;
	/* On an error no request is sent, so there is nothing to undo. */
	m->undoing = m->err;
	/* Stops at the first failed request; settle() undoes the rest. */
	for (w = h->wards; !m->err && w; w = w->next)
		if (w->task == m->task && w->state == GP_WARD_ATTACHED)
			m->err = send_op(h, w, m, m->device, true);
	m->begun = true;
	settle(h, m);
}

static void begin_in(struct gp_holders *h, struct gp_move *m)
{
	u64 bit = BIT_ULL(m->device);

	m->begun_ns = gp_holders_now(h);
	for (struct gp_ward *w = h->wards; w; w = w->next) {
		if (w->task != m->task || w->state != GP_WARD_ATTACHED || !(w->wanted & bit))
			continue;
		w->wanted &= ~bit;
		/*
		 * If the request fails, its session has ended or is being closed, so the process
		 * runs.
		 */
		send_op(h, w, m, m->device, false);
	}
	m->begun = true;
	settle(h, m);
}

static void begin_ins(struct gp_holders *h, u32 device)
{
	struct gp_hold_action *a = &h->device[device].action;
	u64 id = a->id;

	a->ins_begun = true;
	/* The last answer ends the action, which changes @id. */
	for (u32 i = a->nr_out; a->id == id && i < a->nr; i++)
		if (!a->move[i]->begun)
			begin_in(h, a->move[i]);
}

static int check_action(const struct gp_holders *h, const struct gp_action *action)
{
	if (action->device >= h->args.nr_gpus)
		return -ENODEV;
	for (u32 i = 0; i < action->nr_out + action->nr_in; i++) {
		const struct gp_hold_task *t = gp_holders_task(h, action->tasks[i]);

		if (!t || !(t->devices & BIT_ULL(action->device)))
			return -ENOENT;
	}
	return h->device[action->device].action.id ? -EBUSY : 0;
}

static struct gp_move *make_move(struct gp_holders *h, const struct gp_action *action, u32 i)
{
	struct gp_move *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	*m = (struct gp_move){
		.next = h->moves, .refs = 2, .action = action->id, .device = action->device,
		.deadline_ns = action->deadline_ns, .out = i < action->nr_out,
		.task = gp_holders_task(h, action->tasks[i]),
	};
	m->task->refs++;
	h->moves = m;
	h->nr_moves++;
	return m;
}

/* Makes all moves of the action, or none. */
static int make_moves(struct gp_holders *h, const struct gp_action *action,
		      struct gp_hold_action *a)
{
	u32 nr = action->nr_out + action->nr_in;

	*a = (struct gp_hold_action){
		.id = action->id, .deadline_ns = action->deadline_ns, .nr_out = action->nr_out,
		.move = calloc(nr + 1, sizeof(struct gp_move *)),
	};
	if (!a->move || make_room(h, nr)) {
		free(a->move);
		return -ENOMEM;
	}
	for (; a->nr < nr; a->nr++) {
		a->move[a->nr] = make_move(h, action, a->nr);
		if (!a->move[a->nr])
			break;
	}
	if (a->nr == nr) {
		a->open = nr;
		return 0;
	}
	while (a->nr--) {
		unlink_move(h, a->move[a->nr]);
		move_put(a->move[a->nr]);
	}
	free(a->move);
	return -ENOMEM;
}

static struct gp_holders *of(struct gp_mechanism *base)
{
	return (struct gp_holders *)base;
}

static int begin(struct gp_mechanism *base, const struct gp_action *action, u64 now_ns)
{
	struct gp_holders *h = of(base);
	struct gp_hold_action *a, made;
	int err = check_action(h, action);

	(void)now_ns;
	if (!err)
		err = make_moves(h, action, &made);
	if (err)
		return err;
	a = &h->device[action->device].action;
	*a = made;
	for (u32 i = 0; a->id == action->id && i < a->nr_out; i++)
		begin_out(h, a->move[i]);
	if (a->id == action->id && !a->nr_out)
		begin_ins(h, action->device);
	if (a->id == action->id && !a->nr)
		action_over(h, action->device);
	gp_holders_ring(h);
	return 0;
}

/* ---- time ---- */

static void note_hang(struct gp_ward *w, u32 device, u64 now)
{
	struct gp_hold_user *u = w->user;

	u->nr_hung += !w->hung;
	w->hung |= BIT_ULL(device);
	if (u->hung_ns && now < u->hung_ns + ONE_HANG_NS)
		return;
	if (!u->hung_ns || now > u->hung_ns + 2 * HUNG_WAIT_MAX_NS)
		u->hung_wait_ns = HUNG_WAIT_NS;
	else if (u->hung_wait_ns < HUNG_WAIT_MAX_NS)
		u->hung_wait_ns *= 2;
	u->hung_ns = now;
}

/* Abandons the processes of a move for which the driver has not returned from a call. */
static void give_up(struct gp_holders *h, struct gp_move *m, u64 now)
{
	struct gp_ward *w = h->wards, *next;
	bool undoing = m->undoing;

	m->refs++;
	/* Requests that undo the rest have a deadline of their own. */
	m->deadline_ns = now;
	for (; w && m->pending && m->undoing == undoing; w = next) {
		struct gp_hold_op *op;

		next = w->next;
		for (op = w->ops; op && op->move != m; op = op->next)
			;
		if (!op)
			continue;
		h->stats.stuck++;
		note_hang(w, m->device, now);
		gp_holders_due(h, 0);
		leave(h, w, -ETIME);
	}
	move_put(m);
}

/* Returns when @m is too far behind; GP_NEVER: the driver has done nothing since @m began. */
static u64 behind_at(const struct gp_hold_action *a, const struct gp_move *m)
{
	return m->begun && a->replied_ns > m->begun_ns ? a->replied_ns + BEHIND_NS : GP_NEVER;
}

/* Abandons the moves that are behind, because they hang on their processes. */
static void leave_behind(struct gp_holders *h, u32 device, u64 now)
{
	struct gp_hold_action *a = &h->device[device].action;
	u64 id = a->id;

	for (u32 i = 0; a->id == id && i < a->nr; i++) {
		struct gp_move *m = a->move[i];

		if (m->over || m->timed_out || !m->begun || now < behind_at(a, m))
			continue;
		m->timed_out = true;
		m->deadline_ns = now;
		answer(h, m, GP_TIMED_OUT);
		action_goes_on(h, device);
	}
}

static void time_out_action(struct gp_holders *h, u32 device)
{
	struct gp_hold_action *a = &h->device[device].action;

	for (u32 i = 0; i < a->nr; i++) {
		struct gp_move *m = a->move[i];

		if (m->over || m->timed_out)
			continue;
		m->timed_out = true;
		answer(h, m, GP_TIMED_OUT);
	}
	/* Starts that wait for stops time out too. */
	for (u32 i = a->nr_out; i < a->nr; i++)
		if (!a->move[i]->begun)
			begin_in(h, a->move[i]);
	action_over(h, device);
}

/* Returns when gp_holders_time_out() must handle a pending move. */
static u64 due_at(const struct gp_holders *h, const struct gp_move *m)
{
	const struct gp_hold_action *a = &h->device[m->device].action;
	bool alone = h->device[m->device].replied_ns > m->deadline_ns;

	if (m->timed_out)
		return m->deadline_ns + (alone ? STUCK_ALONE_NS : STUCK_NS);
	if (a->id == m->action && behind_at(a, m) < m->deadline_ns)
		return behind_at(a, m);
	return m->deadline_ns;
}

void gp_holders_time_out(struct gp_holders *h, u64 now)
{
	struct gp_move *m, *next;

	for (u32 i = 0; i < h->args.nr_gpus; i++) {
		struct gp_hold_action *a = &h->device[i].action;

		if (a->id && a->deadline_ns <= now)
			time_out_action(h, i);
		else if (a->id && a->replied_ns)
			leave_behind(h, i, now);
	}
	for (m = h->moves; m; m = next) {
		next = m->next;
		if (m->timed_out && !m->over && now >= due_at(h, m)) {
			give_up(h, m, now);
			next = h->moves;	/* the list has changed */
		}
	}
}

u64 gp_holders_deadline(const struct gp_holders *h)
{
	u64 at = ~0ull, when;

	for (const struct gp_move *m = h->moves; m; m = m->next) {
		when = due_at(h, m);
		if (when < at)
			at = when;
	}
	return at;
}

/* ---- the rest of the table ---- */

static int poll(struct gp_mechanism *base, u64 now_ns, struct gp_answer *ret)
{
	struct gp_holders *h = of(base);

	if (!h->answers.nr) {
		gp_holders_run(h);
		gp_holders_time_out(h, now_ns);
	}
	if (!h->answers.nr) {
		gp_holders_ring(h);
		return -EAGAIN;
	}
	*ret = h->answers.at[h->answers.first];
	h->answers.first = (h->answers.first + 1) & (h->answers.room - 1);
	h->answers.nr--;
	gp_holders_ring(h);
	return 0;
}

static int probe(struct gp_mechanism *base, u32 device, u32 task, u32 *waves, u32 *permille)
{
	struct gp_holders *h = of(base);
	struct gp_hold_task *t = gp_holders_task(h, task);
	u32 cus = 0, all, one;
	int err = 0;

	if (device >= h->args.nr_gpus)
		return -ENODEV;
	if (!t || !(t->devices & BIT_ULL(device)))
		return -ENOENT;
	for (struct gp_ward *w = h->wards; w && !err; w = w->next) {
		if (w->task != t)
			continue;
		err = gp_process_occupancy(h->args.kfd_root, w->pid,
					   h->device[device].gpu.gpu_id, &one);
		if (!err)
			cus += one;
		if (err == -ENOENT)
			err = 0;	/* gone, so it occupies nothing */
	}
	if (err)
		return err;
	all = h->device[device].gpu.cus;
	*waves = cus;
	*permille = !all || cus >= all ? (cus ? 1000 : 0) : cus * 1000 / all;
	return 0;
}

const struct gp_mechanism_ops gp_holders_ops = {
	.name	= "kfd-debug",
	.grain	= GP_GRAIN_PROCESS,
	.keeps	= GP_KEEPS_SAVE,
	.reach	= GP_REACH_EVERYBODY,
	.probes	= true,
	.begin	= begin,
	.poll	= poll,
	.probe	= probe,
};
