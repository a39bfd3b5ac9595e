// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Holder processes, one per user, and the sessions in them as the decider sees them. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "holders_private.h"

/* Delay between two starts of a user's holder; doubles when the holder dies soon. */
#define BACKOFF_NS	(1 * GP_SEC)
#define BACKOFF_MAX_NS	(60 * GP_SEC)
/* Time after which a holder without a process ends. */
#define IDLE_NS		(5 * GP_SEC)
/* Time in which the supervisor reports the end of a holder, unless its message is lost. */
#define GONE_NS		(2 * GP_SEC)
/* Timeout of an answer; a holder that hangs on a process does not answer. */
#define ASK_NS		(2 * GP_SEC)

/* ---- users ---- */

int gp_hold_user_get(struct gp_holders *h, uid_t uid, struct gp_hold_user **ret)
{
	struct gp_hold_user *u;

	for (u = h->users; u && u->uid != uid; u = u->next)
		;
	if (!u) {
		u = calloc(1, sizeof(*u));
		if (!u)
			return -ENOMEM;
		*u = (struct gp_hold_user){
			.source = GP_SOURCE_USER, .next = h->users, .uid = uid, .control = -1,
			.backoff_ns = BACKOFF_NS, .idle_ns = GP_NEVER,
		};
		h->users = u;
	}
	*ret = u;
	return 0;
}

static void answer_ask(struct gp_holders *h, struct gp_hold_ask *a, int err)
{
	a->answer.err = err;
	a->answered = true;
	a->user->nr_asks--;
	a->user->idle_ns = gp_holders_now(h);
}

/* Forgets a user's holder that is gone or must end. Its sessions end by their own channels. */
static void drop_holder(struct gp_holders *h, struct gp_hold_user *u)
{
	u64 now = gp_holders_now(h);

	if (u->control >= 0)
		close(u->control);
	u->control = -1;
	u->child = 0;
	u->nr_stuck = 0;
	if (now - u->started_ns >= BACKOFF_MAX_NS)
		u->backoff_ns = BACKOFF_NS;
	u->not_before_ns = now + u->backoff_ns;
	u->backoff_ns = u->backoff_ns * 2 < BACKOFF_MAX_NS ? u->backoff_ns * 2 : BACKOFF_MAX_NS;
	/* Requests for descriptors get an error. */
	for (struct gp_hold_ask *a = h->asks; a; a = a->next)
		if (a->user == u && a->serial && !a->answered)
			answer_ask(h, a, -ECONNRESET);
	gp_holders_due(h, u->not_before_ns);
}

void gp_hold_user_drop(struct gp_holders *h, struct gp_hold_user *u)
{
	struct gp_hold_user **at;

	if (u->control >= 0)
		close(u->control);
	for (at = &h->users; *at != u; at = &(*at)->next)
		;
	*at = u->next;
	free(u);
}

static struct gp_hold_user *user_by_child(const struct gp_holders *h, u64 child)
{
	struct gp_hold_user *u;

	for (u = h->users; u && u->child != child; u = u->next)
		;
	return u;
}

static void close_control(struct gp_holders *h, struct gp_hold_user *u)
{
	close(u->control);
	u->control = -1;
	u->closed_ns = gp_holders_now(h);
}

static void holder_gone(void *ctx, u64 child, int why)
{
	struct gp_holders *h = ctx;
	struct gp_hold_user *u = user_by_child(h, child);

	(void)why;
	if (!u)
		return;
	h->stats.died++;
	drop_holder(h, u);
}

static int start_holder(struct gp_holders *h, struct gp_hold_user *u, u64 now)
{
	/* Shared by all mechanisms of this process, because a number is used once. */
	static u64 last_child;
	int ends[2], err = gp_channel_pair(ends);

	if (err)
		return err;
	u->started_ns = now;
	err = gp_children_start(GP_ROLE_HOLDER, last_child + 1, u->uid, ends[1]);
	close(ends[1]);
	if (!err)
		err = gp_holders_watch(h, ends[0], u);
	if (err) {
		close(ends[0]);
		return err;
	}
	u->child = ++last_child;
	u->control = ends[0];
	h->stats.started++;
	return 0;
}

void gp_holders_own_role(struct gp_holders *h)
{
	const struct gp_child_owner owner = {
		.failed = holder_gone, .ended = holder_gone, .ctx = h,
	};

	gp_children_own(GP_ROLE_HOLDER, &owner);
}

/* ---- wards ---- */

void gp_ward_free(struct gp_holders *h, struct gp_ward *w)
{
	(void)h;
	if (w->channel >= 0)
		close(w->channel);
	gp_hold_task_put(w->task);
	free(w->queues);
	free(w);
}

void gp_ward_forget(struct gp_holders *h, struct gp_ward *w)
{
	if (w->state == GP_WARD_DEAD)
		return;
	w->state = GP_WARD_DEAD;
	if (w->channel >= 0)
		close(w->channel);
	w->channel = -1;
	gp_ward_fail_ops(h, w, -ECONNRESET);
	if (w->user) {
		w->user->nr_wards--;
		w->user->nr_hung -= w->hung != 0;
		w->user->idle_ns = gp_holders_now(h);
	}
	h->any_dead = true;
	gp_holders_due(h, 0);
}

void gp_ward_close(struct gp_holders *h, struct gp_ward *w)
{
	if (w->state >= GP_WARD_CLOSING)
		return;
	w->state = GP_WARD_CLOSING;
	w->closing_ns = gp_holders_now(h);
	h->stats.sessions.detaches++;
	shutdown(w->channel, SHUT_WR);
}

/* Handles a session that ended without a message. */
static void lose(struct gp_holders *h, struct gp_ward *w, int err)
{
	bool attached = w->state == GP_WARD_ATTACHED;

	if (attached || w->state == GP_WARD_OPENING)
		gp_holders_tell(h, w, (struct gp_holders_event){
			.what = attached ? GP_HOLDERS_LEFT : GP_HOLDERS_NOT_ATTACHED, .err = err });
	h->stats.sessions.attach_failures += w->state == GP_WARD_OPENING;
	gp_ward_forget(h, w);
}

int gp_ward_send(struct gp_holders *h, struct gp_ward *w, struct gp_holder_request *r)
{
	int err = gp_channel_send(w->channel, &r->is, NULL, 0);

	if (err == -EAGAIN && r->is.kind == GP_HOLDER_RENEW)
		return 0;
	/* A session that does not read hangs. A closed channel means that its holder died. */
	if (err == -EAGAIN) {
		gp_holders_tell(h, w, (struct gp_holders_event){
			.what = GP_HOLDERS_LEFT, .err = -ETIME });
		gp_ward_close(h, w);
		gp_ward_fail_ops(h, w, -ETIME);
	} else if (err) {
		lose(h, w, -ECONNRESET);
	}
	return err;
}

/* ---- messages of sessions ---- */

static void take_queues(struct gp_ward *w, const struct gp_holder_queues *q)
{
	struct kfd_queue_snapshot_entry *more;

	if (q->total > GP_KFD_DBG_QUEUE_MAX || q->count > GP_HOLDER_ENTRIES ||
	    q->first > q->total || q->count > q->total - q->first)
		return;
	if (q->total > w->room_queues) {
		more = realloc(w->queues, q->total * sizeof(*more));
		if (!more)
			return;
		w->queues = more;
		w->room_queues = q->total;
	}
	/* Queues arrive in order. */
	if (q->first && q->first != w->nr_queues)
		return;
	memcpy(w->queues + q->first, q->entry, q->count * sizeof(*q->entry));
	w->nr_queues = q->first + q->count;
}

static void take_left(struct gp_holders *h, struct gp_ward *w, int err)
{
	h->stats.sessions.runtime_ends += err == -EAGAIN;
	if (w->state == GP_WARD_ATTACHED) {
		gp_holders_tell(h, w, (struct gp_holders_event){
			.what = GP_HOLDERS_LEFT, .err = err });
		gp_ward_close(h, w);
		/* A process that is gone counts as off; otherwise it runs. */
		gp_ward_fail_ops(h, w, err == -ESRCH ? -ESRCH : -EPERM);
	}
}

static void count_retake(struct gp_holders *h, u64 ns)
{
	struct gp_holders_session_stats *s = &h->stats.sessions;

	s->retakes++;
	s->retake_ns_sum += ns;
	if (ns > s->retake_ns_max)
		s->retake_ns_max = ns;
}

static void take_reply(struct gp_holders *h, struct gp_ward *w, const struct gp_holder_reply *m)
{
	bool attached = w->state == GP_WARD_ATTACHED;

	switch (m->is.kind) {
	case GP_HOLDER_ATTACHED:
		h->stats.sessions.attaches++;
		if (w->state != GP_WARD_OPENING)
			return;
		w->state = GP_WARD_ATTACHED;
		gp_holders_tell(h, w, (struct gp_holders_event){ .what = GP_HOLDERS_ATTACHED });
		return;
	case GP_HOLDER_FAILED:
		lose(h, w, m->err);
		return;
	case GP_HOLDER_HELD:
	case GP_HOLDER_RELEASED:
		gp_ward_replied(h, w, m);
		return;
	case GP_HOLDER_NEW_QUEUES:
		if (attached)
			gp_holders_tell(h, w, (struct gp_holders_event){
				.what = GP_HOLDERS_QUEUES, .count = m->count, .ns = m->ns });
		return;
	case GP_HOLDER_RETAKEN:
		count_retake(h, m->ns);
		if (attached)
			gp_holders_tell(h, w, (struct gp_holders_event){
				.what = GP_HOLDERS_RETAKEN, .count = m->count, .ns = m->ns });
		return;
	case GP_HOLDER_EXPIRED:
		if (attached)
			gp_ward_expired(h, w);
		return;
	case GP_HOLDER_LEFT:
		take_left(h, w, m->err);
		return;
	}
	lose(h, w, -EPROTO);
}

void gp_ward_read(struct gp_holders *h, struct gp_ward *w)
{
	union {
		struct gp_message is;
		struct gp_holder_reply reply;
		struct gp_holder_queues queues;
	} m;
	int n;

	for (u32 i = 0; i < GP_HOLDERS_MESSAGES && w->state != GP_WARD_DEAD; i++) {
		n = gp_channel_recv(w->channel, &m, sizeof(m), NULL);
		if (n == -EAGAIN)
			return;
		if (n > 0 && gp_message_is(&m.is, GP_HOLDER_QUEUES, sizeof(m.queues)))
			take_queues(w, &m.queues);
		else if (n == (int)sizeof(m.reply) && m.is.kind != GP_HOLDER_QUEUES)
			take_reply(h, w, &m.reply);
		else
			lose(h, w, n == -EPIPE ? -ECONNRESET : -EPROTO);
	}
}

/* ---- messages of holders ---- */

static void take_kfd(struct gp_holders *h, const struct gp_holder_reply *m, int *fds)
{
	struct gp_hold_ask *a;

	for (a = h->asks; a && (a->answered || !a->serial || a->serial != m->serial); a = a->next)
		;
	if (!a)
		return;
	answer_ask(h, a, !m->err && (fds[0] < 0 || fds[1] < 0) ? -EPROTO : m->err);
	if (!a->answer.err) {
		a->answer.pidfd = fds[0];
		a->answer.kfd_fd = fds[1];
		a->answer.count = m->count;
		fds[0] = fds[1] = -1;
	}
}

void gp_hold_user_read(struct gp_holders *h, struct gp_hold_user *u)
{
	struct gp_holder_reply m;
	int fds[GP_CHANNEL_FDS], n;

	for (u32 read = 0; read < GP_HOLDERS_MESSAGES && u->control >= 0; read++) {
		n = gp_channel_recv(u->control, &m, sizeof(m), fds);
		if (n == -EAGAIN)
			return;
		if (n != (int)sizeof(m)) {
			/* The supervisor reports its end. Kill a broken holder. */
			if (n != -EPIPE)
				gp_children_kill(GP_ROLE_HOLDER, u->child);
			close_control(h, u);
			gp_holders_due(h, 0);
			return;
		}
		if (m.is.kind == GP_HOLDER_KFD)
			take_kfd(h, &m, fds);
		else if (m.is.kind == GP_HOLDER_STUCK)
			u->nr_stuck = m.count;
		gp_holders_due(h, 0);
		for (u32 i = 0; i < GP_CHANNEL_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
}

/* ---- what is due ---- */

static void tend_user(struct gp_holders *h, struct gp_hold_user *u, u64 now)
{
	if (u->nr_wards && now < u->hung_ns + u->hung_wait_ns)
		gp_holders_due(h, u->hung_ns + u->hung_wait_ns);
	if (u->child && u->control < 0 && now < u->closed_ns + GONE_NS)
		gp_holders_due(h, u->closed_ns + GONE_NS);
	else if (u->child && u->control < 0)
		drop_holder(h, u);
	if (u->nr_wards || u->nr_asks) {
		if (!u->child && now < u->not_before_ns) {
			gp_holders_due(h, u->not_before_ns);
		} else if (!u->child && start_holder(h, u, now)) {
			u->not_before_ns = now + u->backoff_ns;
			gp_holders_due(h, u->not_before_ns);
		}
		return;
	}
	if (!u->child || u->control < 0)
		return;
	if (now < u->idle_ns + IDLE_NS) {
		gp_holders_due(h, u->idle_ns + IDLE_NS);
		return;
	}
	/* It ends by itself. An early end of this kind does not increase the back-off. */
	close(u->control);
	u->control = -1;
	u->child = 0;
	u->backoff_ns = BACKOFF_NS;
}

static void tend_ask(struct gp_holders *h, struct gp_hold_ask *a, u64 now)
{
	struct gp_holder_request r = GP_MESSAGE(struct gp_holder_request, GP_HOLDER_GET_KFD,
		.pid = a->answer.pid, .start = a->answer.start, .which = a->which,
		.serial = h->serial + 1);

	if (a->answered)
		return;
	if (!a->serial && a->user->control >= 0) {
		if (gp_channel_send(a->user->control, &r.is, NULL, 0)) {
			gp_holders_due(h, now + h->args.attach_interval_ns);
			return;
		}
		a->serial = ++h->serial;
		a->sent_ns = now;
	}
	if (a->serial && now >= a->sent_ns + ASK_NS)
		answer_ask(h, a, -ETIME);
	else if (a->serial)
		gp_holders_due(h, a->sent_ns + ASK_NS);
}

static void open_session(struct gp_holders *h, struct gp_ward *w)
{
	struct gp_holder_request r = GP_MESSAGE(struct gp_holder_request, GP_HOLDER_OPEN,
		.pid = w->pid, .start = w->start,
		.flags = h->args.stay_attached ? GP_HOLDER_STAY_ATTACHED : 0);
	int ends[2], err = gp_channel_pair(ends);

	w->state = GP_WARD_OPENING;
	if (!err) {
		w->channel = ends[0];
		err = gp_channel_send(w->user->control, &r.is, &ends[1], 1);
		close(ends[1]);
	}
	if (err == -EPIPE) {
		/* Its holder has just died, so it waits for the next holder. */
		close(w->channel);
		w->channel = -1;
		w->state = GP_WARD_WAITING;
		close_control(h, w->user);
		gp_holders_due(h, 0);
		return;
	}
	if (!err)
		err = gp_holders_watch(h, w->channel, w);
	if (err)
		lose(h, w, err);
}

/* Returns true if no earlier session of the same process is open. */
static bool is_free(const struct gp_holders *h, struct gp_ward *w)
{
	if (!w->follows)
		return true;
	for (const struct gp_ward *x = h->wards; x; x = x->next)
		if (x != w && x->pid == w->pid && x->state >= GP_WARD_LEAVING &&
		    x->state != GP_WARD_DEAD)
			return false;
	w->follows = false;
	return true;
}

static bool any_waits(const struct gp_holders *h, bool leave)
{
	for (const struct gp_ward *w = h->wards; w; w = w->next)
		if (w->state == (leave ? GP_WARD_LEAVING : GP_WARD_WAITING))
			return true;
	return false;
}

/*
 * Returns the next ward to attach or detach: the oldest of the user whose last turn is longest ago.
 */
static struct gp_ward *next_turn(const struct gp_holders *h, bool leave, u64 now)
{
	struct gp_ward *w, *next = NULL;

	for (w = h->wards; w; w = w->next) {
		if (w->state != (leave ? GP_WARD_LEAVING : GP_WARD_WAITING) ||
		    (next && w->user->turn_ns[leave] > next->user->turn_ns[leave]) ||
		    (!leave && now < w->user->hung_ns + w->user->hung_wait_ns))
			continue;
		/* The newest ward is first in the list. */
		if (leave || (w->user->control >= 0 && is_free(h, w)))
			next = w;
	}
	return next;
}

static void leave(struct gp_holders *h, struct gp_ward *w)
{
	gp_ward_close(h, w);
	gp_ward_fail_ops(h, w, -ECONNRESET);
}

/*
 * Attaches and detaches processes one by one, because both cycle all queues on the GPUs of the
 * process. Detaches do not wait for attaches. A process that is off is detached at once.
 */
static void take_turns(struct gp_holders *h, u64 now)
{
	struct gp_ward *w;

	for (w = h->wards; w; w = w->next)
		if (w->state == GP_WARD_LEAVING && (w->wanted || w->ops))
			leave(h, w);
	for (u32 line = 0; line < GP_HOLDERS_LINES; line++) {
		if (now >= h->next_turn_ns[line] && (w = next_turn(h, line, now))) {
			h->next_turn_ns[line] = now + h->args.attach_interval_ns;
			w->user->turn_ns[line] = now;
			if (line == GP_LINE_LEAVE)
				leave(h, w);
			else
				open_session(h, w);
		}
		if (now < h->next_turn_ns[line] && any_waits(h, line))
			gp_holders_due(h, h->next_turn_ns[line]);
	}
}

static void renew(struct gp_holders *h, struct gp_ward *w, u64 now)
{
	struct gp_holder_request r = GP_MESSAGE(struct gp_holder_request, GP_HOLDER_RENEW,
						.until_ns = now + h->args.lease_ns);

	if (w->state != GP_WARD_ATTACHED || !w->wanted || w->lapses)
		return;
	if (now >= w->renew_ns) {
		w->renew_ns = now + h->args.lease_ns / 4;
		if (gp_ward_send(h, w, &r))
			return;
	}
	gp_holders_due(h, w->renew_ns);
}

static void bury(struct gp_holders *h)
{
	struct gp_ward **at = &h->wards, *w;

	h->any_dead = false;
	while ((w = *at)) {
		if (w->state != GP_WARD_DEAD || w->in_news) {
			h->any_dead |= w->state == GP_WARD_DEAD;
			at = &w->next;
			continue;
		}
		*at = w->next;
		gp_ward_free(h, w);
	}
}

/*
 * Updates whether the processes of @u can be stopped now. If not, they must preempt no other
 * process.
 */
static void note_trouble(struct gp_holders *h, struct gp_hold_user *u)
{
	bool trouble = u->nr_stuck || u->nr_hung || (u->control < 0 && u->nr_wards);

	h->troubles += trouble != u->trouble;
	u->trouble = trouble;
}

void gp_holders_tend(struct gp_holders *h, u64 now)
{
	h->tend_at_ns = GP_NEVER;
	for (struct gp_hold_user *u = h->users; u; u = u->next)
		tend_user(h, u, now);
	for (struct gp_hold_ask *a = h->asks; a; a = a->next)
		tend_ask(h, a, now);
	for (struct gp_ward *w = h->wards; w; w = w->next)
		renew(h, w, now);
	take_turns(h, now);
	for (struct gp_hold_user *u = h->users; u; u = u->next)
		note_trouble(h, u);
	if (h->any_dead)
		bury(h);
}
