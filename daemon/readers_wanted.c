// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "readers_internal.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { AT_ONCE = 4 };		/* DESCRIBE orders with the reader */

/* ---- orders ---- */

/* False: the channel is full, or the reader is gone. */
static bool order(struct gp_readers *rs, struct gp_readers_user *u, struct gp_order *o)
{
	o->version = GP_READER_VERSION;
	if (send(u->channel, o, sizeof(*o), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*o))
		return true;
	u->blocked = true;
	gp_readers_listen(rs, u, GP_READERS_CHANNEL, EPOLLIN | EPOLLOUT);
	return false;
}

static bool tell_slot(struct gp_readers *rs, struct gp_readers_user *u, u32 i)
{
	struct gp_wanted_slot *s = &u->slot[i];
	struct gp_order o = { .kind = GP_ORDER_UNWATCH, .value = i };

	if (s->of) {
		o.kind = GP_ORDER_WATCH;
		o.pid = s->of->who.pid;
		o.start = s->of->who.start;
		o.watch = (struct gp_order_watch){
			.slot = i, .generation = s->generation, .wake = s->wake,
			.kind = s->ring.kind, .ring_bytes = s->ring.ring_bytes,
			.read_at = s->ring.read_at, .write_at = s->ring.write_at,
			.ring_base = s->ring.ring_base,
		};
	}
	if (!order(rs, u, &o))
		return false;
	s->given = s->of;
	s->told = true;
	u->untold--;
	return true;
}

static bool tell_question(struct gp_readers *rs, struct gp_readers_user *u,
			  struct gp_readers_question *q)
{
	struct gp_order o = { .kind = GP_ORDER_DESCRIBE, .pid = q->who.pid,
			      .start = q->who.start, .value = q->number };

	if (!order(rs, u, &o))
		return false;
	q->sent_ns = rs->now_ns ? rs->now_ns : 1;
	return true;
}

static void tell_questions(struct gp_readers *rs, struct gp_readers_user *u)
{
	u32 i, out = 0;

	for (i = 0; i < u->nr_questions && out < AT_ONCE; i++) {
		struct gp_readers_question *q = &u->question[i];

		if (q->failed || (!q->sent_ns && !tell_question(rs, u, q)))
			continue;
		out += q->sent_ns != 0;
	}
}

void gp_readers_tell(struct gp_readers *rs, struct gp_readers_user *u)
{
	struct gp_order interval = { .kind = GP_ORDER_INTERVAL, .value = u->interval_ns };
	struct gp_order look = { .kind = GP_ORDER_LOOK, .value = u->look_asked };
	struct gp_order dump = { .kind = GP_ORDER_DUMP, .pid = rs->dump.only };
	u32 i;

	if (u->channel < 0 || u->blocked)
		return;
	if (u->uid == GP_READER_DUMP_USER) {
		if (rs->dump.asked && !rs->dump.sent && order(rs, u, &dump)) {
			rs->dump.sent = true;
			rs->dump.ns = rs->now_ns;
		}
		return;
	}
	if (!u->interval_told)
		u->interval_told = order(rs, u, &interval);
	for (i = 0; i < u->nr_slots && u->untold && !u->blocked; i++)
		if (!u->slot[i].told && !tell_slot(rs, u, i))
			return;
	if (!u->blocked && u->look_asked != u->look_told && order(rs, u, &look))
		u->look_told = u->look_asked;
	if (!u->blocked)
		tell_questions(rs, u);
}

/* ---- what is wanted ---- */

static void free_slot(struct gp_readers_user *u, u32 i)
{
	struct gp_wanted_slot *s = &u->slot[i];

	u->untold -= !s->told;
	*s = (struct gp_wanted_slot){ .generation = s->generation, .given = s->given,
				      .told = !s->given };
	u->untold += !s->told;
}

static u32 take_slot(struct gp_readers_user *u, struct gp_watch *w,
		     const struct gp_ring_pointers *ring, u32 wake)
{
	u32 i;

	for (i = 0; i < GP_READER_SLOTS && u->slot[i].of; i++)
		;
	if (i == GP_READER_SLOTS)
		return i;
	if (i >= u->nr_slots) {
		u->nr_slots = i + 1;
		u->slot[i].told = true;
	}
	u->untold += u->slot[i].told;
	u->slot[i] = (struct gp_wanted_slot){ .of = w, .generation = u->slot[i].generation + 1,
				    .wake = wake, .given = u->slot[i].given, .ring = *ring };
	return i;
}

/* The slot of @ring that @w has already, if it is to be read as before. */
static u32 keep_slot(const struct gp_readers_user *u, struct gp_watch *w,
		     const struct gp_ring_pointers *ring, u32 wake)
{
	u32 i, slot;

	for (i = 0; i < w->nr; i++) {
		slot = w->slots[i];
		if (slot == GP_READER_SLOTS || u->slot[slot].wake != wake ||
		    !gp_pointers_same(&u->slot[slot].ring, ring))
			continue;
		w->slots[i] = GP_READER_SLOTS;
		return slot;
	}
	return GP_READER_SLOTS;
}

static struct gp_watch *add_watch(struct gp_readers *rs, const struct gp_reader_target *who)
{
	struct gp_readers_user *u = gp_readers_find_or_add(rs, who->user);
	struct gp_watch *w = u && u->nr_watches < GP_READERS_PROCESSES ? calloc(1, sizeof(*w)) :
									 NULL;

	if (!w)
		return NULL;
	*w = (struct gp_watch){ .user = u, .who = *who, .next = u->watches };
	u->watches = w;
	u->nr_watches++;
	return w;
}

static bool are_sane(const struct gp_reader_wanted *x)
{
	u32 i;

	for (i = 0; i < x->count; i++)
		if (!gp_pointers_sane(&x->rings[i]))
			return false;
	return x->count <= GP_READER_SLOTS && !(x->wake & ~(u32)GP_WAKE_ALL);
}

static u32 free_slots(const struct gp_readers_user *u)
{
	u32 i, n = GP_READER_SLOTS - u->nr_slots;

	for (i = 0; i < u->nr_slots; i++)
		n += !u->slot[i].of;
	return n;
}

int gp_readers_watch(struct gp_readers *rs, const struct gp_reader_target *who,
		     const struct gp_reader_wanted *wanted, struct gp_watch **watch)
{
	struct gp_watch *w = *watch;
	u32 i, *slots;

	if (!are_sane(wanted) || who->pid <= 0 || who->user == GP_READER_DUMP_USER)
		return -EINVAL;
	if (w && (w->who.pid != who->pid || w->who.start != who->start ||
		  w->who.user != who->user))
		return -EINVAL;
	slots = calloc(wanted->count + 1, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (!w)
		w = add_watch(rs, who);
	if (!w || free_slots(w->user) < wanted->count) {
		free(slots);
		if (w && !*watch)
			gp_readers_unwatch(rs, w);
		return -ENOSPC;
	}
	for (i = 0; i < wanted->count; i++) {
		slots[i] = keep_slot(w->user, w, &wanted->rings[i], wanted->wake);
		if (slots[i] == GP_READER_SLOTS)
			slots[i] = take_slot(w->user, w, &wanted->rings[i], wanted->wake);
	}
	for (i = 0; i < w->nr; i++)
		if (w->slots[i] != GP_READER_SLOTS)
			free_slot(w->user, w->slots[i]);
	free(w->slots);
	w->slots = slots;
	w->nr = wanted->count;
	*watch = w;
	rs->dirty = true;
	return 0;
}

void gp_readers_unwatch(struct gp_readers *rs, struct gp_watch *w)
{
	struct gp_watch **at;
	u32 i;

	if (!w)
		return;
	for (i = 0; i < w->nr; i++)
		free_slot(w->user, w->slots[i]);
	for (at = &w->user->watches; *at != w; at = &(*at)->next)
		;
	*at = w->next;
	w->user->nr_watches--;
	free(w->slots);
	free(w);
	rs->dirty = true;
}

void gp_readers_interval(struct gp_readers *rs, uid_t user, u64 ns)
{
	struct gp_readers_user *u = gp_readers_find(rs, user);

	if (ns)
		ns = gp_readers_sooner(gp_readers_later(ns, GP_READER_FASTEST), GP_READER_SLOWEST);
	if (!u || u->interval_ns == ns)
		return;
	u->interval_ns = ns;
	u->interval_told = false;
	u->beat_ns = rs->now_ns;
	rs->dirty = true;
}

int gp_readers_look(struct gp_readers *rs, uid_t user, u64 *number)
{
	struct gp_readers_user *u = gp_readers_find(rs, user);

	if (!u || u->state != GP_READER_GOOD)
		return -ENOENT;
	/* The oldest one that is not answered says whether the reader is late. */
	if (u->look_done == u->look_asked)
		u->look_ns = rs->now_ns;
	*number = ++u->look_asked;
	/* It is told without another run. The next one is when it may be late. */
	gp_readers_tell(rs, u);
	rs->wake_ns = gp_readers_sooner(rs->wake_ns, rs->now_ns + gp_readers_limit(rs, u));
	return 0;
}

int gp_readers_describe(struct gp_readers *rs, const struct gp_reader_target *who)
{
	struct gp_readers_user *u;

	if (who->pid <= 0 || who->user == GP_READER_DUMP_USER)
		return -EINVAL;
	u = gp_readers_find_or_add(rs, who->user);
	if (!u)
		return -ENOSPC;
	if (u->nr_questions == GP_READERS_ASKED)
		return -EAGAIN;
	u->question[u->nr_questions++] = (struct gp_readers_question){
		.who = *who, .number = ++u->last_question,
	};
	rs->dirty = true;
	return 0;
}

int gp_readers_dump(struct gp_readers *rs, pid_t only)
{
	struct gp_readers_user *u = gp_readers_find_or_add(rs, GP_READER_DUMP_USER);

	if (!u)
		return -ENOSPC;
	if (rs->dump.asked || u->state == GP_READER_LATE ||
	    (u->channel < 0 && (rs->now_ns < u->retry_at_ns || u->nr_stuck == GP_READERS_STUCK)))
		return -EAGAIN;
	gp_mqd_list_fini(&rs->dump.list);
	rs->dump.asked = true;
	rs->dump.sent = rs->dump.done = false;
	rs->dump.only = only;
	rs->dump.error = 0;
	rs->dump.number = 0;
	rs->dirty = true;
	return 0;
}
