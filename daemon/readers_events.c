// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "readers_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/sys.h"

enum { TRIES = 8 };		/* at a slot that is being written */

/* ---- what is known ---- */

void gp_readers_beat(struct gp_readers *rs, struct gp_readers_user *u)
{
	u64 looks = __atomic_load_n(&u->page->looks, __ATOMIC_ACQUIRE);
	u64 answered = __atomic_load_n(&u->page->answered, __ATOMIC_ACQUIRE);

	if (looks != u->looks) {
		rs->stats.looks += looks - u->looks;
		u->looks = looks;
		u->beat_ns = rs->now_ns;
	}
	/* Accept only numbers that were requested. */
	if (answered > u->look_done && answered <= u->look_told) {
		u->look_done = answered;
		u->looked = rs->busy = true;
	}
}

enum gp_reader_state gp_readers_state(const struct gp_readers *rs, uid_t user)
{
	const struct gp_readers_user *u = gp_readers_find(rs, user);

	return u ? u->state : GP_READER_NONE;
}

/* Copies one slot. Returns false if the reader keeps writing it. */
static bool copy_slot(const struct gp_reader_slot *from, u32 generation,
		      struct gp_reader_sample *to)
{
	u32 i, before, flags, of;

	for (i = 0; i < TRIES; i++) {
		before = __atomic_load_n(&from->sequence, __ATOMIC_ACQUIRE);
		of = __atomic_load_n(&from->generation, __ATOMIC_RELAXED);
		flags = __atomic_load_n(&from->flags, __ATOMIC_RELAXED);
		to->rptr = __atomic_load_n(&from->rptr, __ATOMIC_RELAXED);
		to->wptr = __atomic_load_n(&from->wptr, __ATOMIC_RELAXED);
		to->before_ns = __atomic_load_n(&from->before_ns, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (before & 1 || before != __atomic_load_n(&from->sequence, __ATOMIC_RELAXED))
			continue;
		if (of != generation || !(flags & GP_SLOT_READ))
			return false;
		to->at_barrier = flags & GP_SLOT_AT_BARRIER;
		if (to->rptr > to->wptr)
			to->rptr = to->wptr;
		return true;
	}
	return false;
}

int gp_readers_samples(const struct gp_readers *rs, const struct gp_watch *w,
		       struct gp_reader_sample *to, u32 room)
{
	const struct gp_readers_user *u = w->user;
	u64 limit = gp_readers_limit(rs, u), oldest = rs->now_ns > limit ? rs->now_ns - limit : 0;
	bool all = u->state == GP_READER_GOOD;
	u32 i;

	for (i = 0; i < w->nr && i < room; i++) {
		const struct gp_wanted_slot *s = &u->slot[w->slots[i]];

		to[i] = (struct gp_reader_sample){ .read = false };
		if (u->page && u->state == GP_READER_GOOD)
			to[i].read = copy_slot(&u->page->slot[w->slots[i]], s->generation, &to[i]);
		/* Clamp it: not in the future, and not older than a reader may take. */
		if (to[i].before_ns)
			to[i].before_ns = gp_sooner(gp_readers_later(to[i].before_ns,
							    oldest), rs->now_ns);
		all &= to[i].read;
	}
	return all ? (int)i : -EAGAIN;
}

bool gp_readers_looked_since(const struct gp_watch *w, u64 ns)
{
	const struct gp_readers_user *u = w->user;

	return u->state != GP_READER_GOOD || !u->page ||
	       __atomic_load_n(&u->page->looked_ns, __ATOMIC_RELAXED) > ns;
}

void gp_readers_stats(const struct gp_readers *rs, struct gp_readers_stats *ret)
{
	u32 i;

	*ret = rs->stats;
	for (i = 0; i < rs->nr_users; i++) {
		ret->users += rs->user[i].used;
		ret->silent += rs->user[i].used && (rs->user[i].state == GP_READER_LATE ||
						    rs->user[i].state == GP_READER_ABANDONED);
		ret->stuck += rs->user[i].used ? rs->user[i].nr_stuck : 0;
		if (rs->user[i].used && rs->user[i].page)
			ret->looks += __atomic_load_n(&rs->user[i].page->looks, __ATOMIC_RELAXED) -
				      rs->user[i].looks;
	}
}

/* ---- events ---- */

static void drop_question(struct gp_readers_user *u, u32 i)
{
	u->nr_questions--;
	memmove(&u->question[i], &u->question[i + 1],
		(u->nr_questions - i) * sizeof(u->question[i]));
}

/*
 * Drops the question that @r answers. Finds it by its number, because a report about a watched
 * process can arrive while the process is being described.
 */
static bool answer_question(struct gp_readers *rs, struct gp_readers_user *u,
			    const struct gp_report *r)
{
	u32 i;

	for (i = 0; i < u->nr_questions; i++) {
		const struct gp_readers_question *q = &u->question[i];

		if (q->number != r->value || q->who.pid != r->pid || q->who.start != r->start ||
		    !q->sent_ns || q->failed)
			continue;
		drop_question(u, i);
		rs->dirty = true;	/* so that the next one is sent */
		return true;
	}
	return false;
}

static bool is_watched(const struct gp_readers_user *u, pid_t pid, u64 start)
{
	const struct gp_watch *w;

	for (w = u->watches; w; w = w->next)
		if (w->who.pid == pid && w->who.start == start)
			return true;
	return false;
}

static bool take_mqds(struct gp_readers *rs, const struct gp_report_mqds *x)
{
	struct gp_mqd_list *l = &rs->dump.list;
	struct gp_mqd *more;
	u32 i;

	if (x->nr > GP_READER_MQDS || l->count + x->nr > GP_MQDS_MAX)
		return false;
	more = realloc(l->mqd, (l->count + x->nr + 1) * sizeof(*more));
	if (!more)
		return false;
	l->mqd = more;
	l->room = l->count + x->nr;
	for (i = 0; i < x->nr; i++) {
		const struct gp_report_mqd *m = &x->mqd[i];

		l->mqd[l->count++] = (struct gp_mqd){
			.pid = m->pid, .gpu_id = m->gpu_id, .kind = m->kind, .copies = m->copies,
			.ring_bytes = m->ring_bytes, .doorbell = m->doorbell,
			.active = m->active != 0, .pipe_priority = m->pipe_priority,
			.queue_priority = m->queue_priority, .ring_base = m->ring_base,
			.read_at = m->read_at, .write_at = m->write_at, .save_base = m->save_base,
		};
	}
	return true;
}

static bool take_dump(struct gp_readers *rs, const struct gp_report *r)
{
	if (!rs->dump.sent || rs->dump.done)
		return false;
	if (r->kind == GP_REPORT_MQDS)
		return take_mqds(rs, &r->mqds);
	if (r->kind != GP_REPORT_DUMPED || (!r->error && r->value != rs->dump.list.count))
		return false;
	rs->dump.done = true;
	rs->dump.error = r->error;
	rs->dump.number = r->error ? r->value : 0;
	if (r->error)
		gp_mqd_list_fini(&rs->dump.list);
	return true;
}

/* Cleans the texts again, because the reader is not trusted. */
static void clean_subject(struct gp_report_subject *s)
{
	gp_reader_clean(s->exe, sizeof(s->exe));
	gp_reader_clean(s->cmdline, sizeof(s->cmdline));
	gp_reader_clean(s->cgroup, sizeof(s->cgroup));
	gp_reader_clean(s->class_name, sizeof(s->class_name));
	gp_reader_clean(s->gang, sizeof(s->gang));
}

/* Takes a report. Returns false if it is invalid. */
static bool take_report(struct gp_readers *rs, struct gp_readers_user *u, ssize_t bytes,
			struct gp_readers_event *ret)
{
	struct gp_report *r = &rs->report;
	bool asked;

	*ret = (struct gp_readers_event){ .kind = GP_READERS_ERROR,
					  .who = { u->uid, r->pid, r->start }, .error = r->error };
	if (bytes < (ssize_t)offsetof(struct gp_report, subject) ||
	    r->version != GP_READER_VERSION || (size_t)bytes != gp_report_bytes(r->kind))
		return false;
	if (u->uid == GP_READER_DUMP_USER) {
		ret->who.pid = 0;
		ret->kind = GP_READERS_CHANGED;	/* no event until the dump is done */
		return take_dump(rs, r);
	}
	asked = answer_question(rs, u, r);
	ret->answers = asked;
	switch (r->kind) {
	case GP_REPORT_SUBJECT:
		clean_subject(&r->subject);
		ret->kind = GP_READERS_SUBJECT;
		ret->subject = &r->subject;
		return asked;
	case GP_REPORT_GONE:
		ret->kind = GP_READERS_GONE;
		break;
	case GP_REPORT_ERROR:
		rs->stats.errors++;
		break;
	default:
		return false;
	}
	/* Drop a late report about a process that is no longer watched. */
	if (!asked && !is_watched(u, r->pid, r->start))
		ret->kind = GP_READERS_CHANGED;
	return true;
}

/* Receives a message. Returns true if *@ret is an event. */
static bool receive(struct gp_readers *rs, struct gp_readers_user *u, struct gp_readers_event *ret)
{
	struct gp_report *r = &rs->report;
	ssize_t n;

	while (u->readable && u->budget) {
		u->budget--;
		n = gp_sys->recv(u->channel, r, sizeof(*r), MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			u->readable = false;
			return false;
		}
		if (n <= 0) {
			gp_readers_ended(rs, u);
			return false;
		}
		if (!take_report(rs, u, n, ret)) {
			rs->stats.refused++;
			gp_readers_abandon(rs, u);
			return false;
		}
		if (ret->kind != GP_READERS_CHANGED)
			return true;
	}
	/* epoll reports new data again. */
	u->readable = false;
	return false;
}

static bool take_failed(struct gp_readers_user *u, struct gp_readers_event *ret)
{
	u32 i;

	for (i = 0; i < u->nr_questions; i++) {
		if (!u->question[i].failed)
			continue;
		*ret = (struct gp_readers_event){ .kind = GP_READERS_ERROR,
						  .who = u->question[i].who,
						  .error = u->question[i].failed,
						  .answers = true };
		drop_question(u, i);
		return true;
	}
	return false;
}

static bool next_of(struct gp_readers *rs, struct gp_readers_user *u, struct gp_readers_event *ret)
{
	if (u->readable && receive(rs, u, ret))
		return true;
	if (take_failed(u, ret))
		return true;
	*ret = (struct gp_readers_event){ .who.user = u->uid, .state = u->state };
	if (u->uid == GP_READER_DUMP_USER && rs->dump.asked && rs->dump.done) {
		rs->dump.asked = false;
		ret->kind = GP_READERS_DUMPED;
		ret->error = rs->dump.error;
		ret->number = rs->dump.number;
		ret->list = &rs->dump.list;
		return true;
	}
	if (u->state != u->told_state) {
		u->told_state = u->state;
		ret->kind = GP_READERS_STATE;
		return true;
	}
	if (u->looked) {
		u->looked = u->woken = false;
		ret->kind = GP_READERS_LOOKED;
		ret->number = u->look_done;
		return true;
	}
	if (u->woken) {
		u->woken = false;
		ret->kind = GP_READERS_CHANGED;
		return true;
	}
	return false;
}

bool gp_readers_next(struct gp_readers *rs, struct gp_readers_event *ret)
{
	u32 i;

	if (!rs->busy)
		return false;
	for (i = 0; i < rs->nr_users; i++) {
		struct gp_readers_user *u = &rs->user[rs->cursor++ % rs->nr_users];

		if (u->used && next_of(rs, u, ret)) {
			rs->cursor--;	/* the user may have more */
			return true;
		}
	}
	rs->busy = false;
	return false;
}
