/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The search: a queue of states to examine and a table of known states. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

/* The first path that reached a state. */
struct seen {
	u32 parent;
	struct ex_event event;
};

/* A state to examine, stored as the words that differ from the first state. */
struct waiting {
	struct waiting *next;
	u32 id, depth;
	u32 nr;
	u64 which[(EX_WORDS + 63) / 64];
	u64 words[];
};

struct search {
	struct ex_model m;
	u64 *table;		/* of hashes, 0 is free */
	u64 mask;
	struct seen *seen;
	struct waiting *first, **last;
	u64 now[EX_WORDS];	/* the state under examination */
	u64 base[EX_WORDS];	/* the first state */
	struct ex_result *r;
};

static u64 hash(const u8 *at, u32 n)
{
	u64 h = 0xcbf29ce484222325ull ^ n;

	while (n--)
		h = (h ^ *at++) * 0x100000001b3ull;
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9ull;
	h ^= h >> 32;
	return h ? h : 1;
}

/* Returns true if the hash was new. */
static bool remember(struct search *x, u64 h)
{
	u64 at = h & x->mask;

	while (x->table[at] && x->table[at] != h)
		at = (at + 1) & x->mask;
	if (x->table[at])
		return false;
	x->table[at] = h;
	return true;
}

static struct waiting *pack(const struct search *x, const u64 *state)
{
	struct waiting *w;
	u32 i, nr = 0;

	for (i = 0; i < x->m.words; i++)
		nr += state[i] != x->base[i];
	w = calloc(1, sizeof(*w) + nr * sizeof(u64));
	if (!w)
		return NULL;
	for (i = 0; i < x->m.words; i++) {
		if (state[i] == x->base[i])
			continue;
		w->which[i / 64] |= BIT_ULL(i % 64);
		w->words[w->nr++] = state[i];
	}
	return w;
}

static void unpack(const struct search *x, const struct waiting *w, u64 *state)
{
	u32 i, n = 0;

	for (i = 0; i < x->m.words; i++)
		state[i] = w->which[i / 64] & BIT_ULL(i % 64) ? w->words[n++] : x->base[i];
}

static void found(struct search *x, u32 id, const struct ex_event *last, const char *wrong)
{
	struct ex_event back[EX_PATH];
	u32 n = 0;

	if (last)
		back[n++] = *last;
	for (; id && n < EX_PATH; id = x->seen[id].parent)
		back[n++] = x->seen[id].event;
	x->r->wrong = wrong;
	x->r->length = n;
	while (n--)
		x->r->path[x->r->length - 1 - n] = back[n];
}

/* Stores the model's current state, which is new, and checks that it can complete. */
static int keep(struct search *x, u32 parent, const struct ex_event *e, u32 depth)
{
	u64 state[EX_WORDS];
	struct waiting *w;
	const char *wrong;
	u32 id = (u32)x->r->states, busy;

	ex_save(&x->m, state);
	w = pack(x, state);
	if (!w)
		return -ENOMEM;
	w->id = id;
	w->depth = depth;
	*x->last = w;
	x->last = &w->next;
	x->seen[id].parent = parent;
	if (e)
		x->seen[id].event = *e;
	x->r->states++;
	if (depth > x->r->depth)
		x->r->depth = depth;

	for (busy = 0; busy < 2; busy++) {
		wrong = ex_complete(&x->m, busy);
		x->r->completions++;
		ex_restore(&x->m, state);
		if (wrong) {
			found(x, id, NULL, wrong);
			x->r->later = true;
			x->r->busy = busy;
			break;
		}
	}
	return 0;
}

static int expand(struct search *x, const struct waiting *w)
{
	struct ex_event events[EX_EVENTS];
	u8 canon[EX_CANON];
	const char *wrong;
	u32 i, nr;
	int err = 0;

	unpack(x, w, x->now);
	ex_restore(&x->m, x->now);
	nr = ex_events(&x->m, events);
	for (i = 0; i < nr && !err && !x->r->wrong; i++) {
		ex_restore(&x->m, x->now);
		wrong = ex_apply(&x->m, &events[i]);
		x->r->transitions++;
		if (wrong) {
			found(x, w->id, &events[i], wrong);
			break;
		}
		if (!remember(x, hash(canon, ex_canon(&x->m, canon))))
			continue;
		if (x->r->states >= x->m.config->max_states) {
			x->r->complete = false;
			return 0;
		}
		err = keep(x, w->id, &events[i], w->depth + 1);
	}
	return err;
}

static int search(struct search *x)
{
	const struct explore *config = x->m.config;
	struct waiting *w;
	int err;

	memcpy(x->base, x->m.base, sizeof(x->base));
	x->last = &x->first;
	err = keep(x, 0, NULL, 0);
	while (x->first && !err && !x->r->wrong && x->r->complete) {
		w = x->first;
		x->first = w->next;
		if (!x->first)
			x->last = &x->first;
		if (!config->max_depth || w->depth < config->max_depth)
			err = expand(x, w);
		free(w);
	}
	while (x->first) {
		w = x->first;
		x->first = w->next;
		free(w);
	}
	return err;
}

int explore(const struct explore *config, struct ex_result *ret)
{
	struct search *x = calloc(1, sizeof(*x));
	u64 slots = 1024;
	int err = -ENOMEM;

	if (!x)
		return -ENOMEM;
	while (slots < 2 * config->max_states)
		slots *= 2;
	memset(ret, 0, sizeof(*ret));
	ret->complete = true;
	x->r = ret;
	x->mask = slots - 1;
	x->table = calloc(slots, sizeof(*x->table));
	x->seen = calloc(config->max_states + 1, sizeof(*x->seen));
	if (x->table && x->seen)
		err = ex_model_init(&x->m, config);
	if (!err)
		err = search(x);
	ex_model_fini(&x->m);
	free(x->table);
	free(x->seen);
	free(x);
	return err;
}

void explore_tell(const struct explore *config, const struct ex_result *r, char *to, size_t size)
{
	static struct ex_model m;
	u32 i;

	to[0] = 0;
	if (ex_model_init(&m, config))
		return;
	m.began_ns = m.s->now_ns;
	m.tell = to;
	m.tell_size = size;
	for (i = 0; i < r->length; i++)
		ex_apply(&m, &r->path[i]);
	if (r->later) {
		snprintf(to + strlen(to), size - strlen(to), "\nand from there on");
		ex_complete(&m, r->busy);
	}
	snprintf(to + strlen(to), size - strlen(to), "\n           %s\n", r->wrong);
	ex_model_fini(&m);
}
