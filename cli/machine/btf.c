// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads BTF, see btf.h. The kernel's Documentation/bpf/btf.rst describes the format. */
#include "btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

enum {
	MAGIC = 0xeb9f, VERSION = 1, HEADER = 24, DEPTH = 32, TYPES_MAX = 1 << 22,
	NAMELESS_MAX = 128,	/* nameless members of one struct; the kernel has a dozen */
};

enum kind {
	VOID, INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC,
	FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64, NR_KINDS,
};

/* Bytes after the three words that every type has, once per type and per element. */
static const struct { u8 once, each; } behind[NR_KINDS] = {
	[INT] = { 4, 0 }, [ARRAY] = { 12, 0 }, [STRUCT] = { 0, 12 }, [UNION] = { 0, 12 },
	[ENUM] = { 0, 8 }, [FUNC_PROTO] = { 0, 8 }, [VAR] = { 4, 0 }, [DATASEC] = { 0, 12 },
	[DECL_TAG] = { 4, 0 }, [ENUM64] = { 0, 12 },
};

struct type {
	u32 name, info, size;		/* or the type it refers to */
	const u8 *behind;
};

static u32 word(const u8 *at)
{
	u32 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static u32 kind_of(u32 info)
{
	return info >> 24 & 0x1f;
}

static u32 elements(u32 info)
{
	return info & 0xffff;
}

static int bad(const char *what)
{
	return gp_fail(EBADMSG, "not BTF of this machine: %s", what);
}

/* ---- opening ---- */

/* Returns the bytes of the type at @at, or 0 if it is invalid or does not fit. */
static u32 type_bytes(const struct gp_btf *b, u32 at)
{
	u32 left = b->types_bytes - at, info, need;

	if (left < 12)
		return 0;
	info = word(b->types + at + 4);
	if (kind_of(info) >= NR_KINDS || kind_of(info) == VOID)
		return 0;
	need = 12 + behind[kind_of(info)].once + behind[kind_of(info)].each * elements(info);
	return need <= left ? need : 0;
}

static int index_types(struct gp_btf *b)
{
	u32 at, bytes, i = 0;

	for (at = 0; at < b->types_bytes; at += bytes, b->nr++) {
		bytes = type_bytes(b, at);
		if (!bytes || b->nr == TYPES_MAX)
			return bad("a type is cut off");
	}
	b->at = malloc((b->nr + 1) * sizeof(*b->at));
	if (!b->at)
		return -ENOMEM;
	for (at = 0; at < b->types_bytes; at += type_bytes(b, at))
		b->at[i++] = at;
	return 0;
}

/* True if [@off, @off + @len) of the data after the header is within @size. */
static bool within(u32 off, u32 len, size_t size)
{
	return off <= size && len <= size - off;
}

int gp_btf_open(struct gp_btf *b, const void *bytes, size_t size, const struct gp_btf *base)
{
	const u8 *p = bytes;
	u32 header, v[4];

	memset(b, 0, sizeof(*b));
	b->base = base;
	b->first = base ? base->first + base->nr : 1;
	if (size < HEADER || (word(p) & 0xffff) != MAGIC || p[2] != VERSION)
		return bad("no header");
	header = word(p + 4);
	if (header < HEADER || header > size)
		return bad("a header of a strange length");
	for (u32 i = 0; i < 4; i++)
		v[i] = word(p + 8 + 4 * i);
	if (!within(v[0], v[1], size - header) || !within(v[2], v[3], size - header))
		return bad("it is cut off");
	b->types = p + header + v[0];
	b->types_bytes = v[1];
	b->strings = (const char *)p + header + v[2];
	b->strings_bytes = v[3];
	if (v[3] && b->strings[v[3] - 1])
		return bad("its last string does not end");
	return index_types(b);
}

void gp_btf_close(struct gp_btf *b)
{
	free(b->at);
	memset(b, 0, sizeof(*b));
}

/* ---- looking ---- */

static u32 strings_below(const struct gp_btf *b)
{
	return b->base ? strings_below(b->base) + b->base->strings_bytes : 0;
}

static const char *string(const struct gp_btf *b, u32 at)
{
	for (; b; b = b->base) {
		u32 below = strings_below(b);

		if (at >= below)
			return at - below < b->strings_bytes ? b->strings + (at - below) : "";
	}
	return "";
}

static bool get(const struct gp_btf *b, u32 id, struct type *ret)
{
	const u8 *p;

	while (b && id < b->first)
		b = b->base;
	if (!b || id - b->first >= b->nr)
		return false;
	p = b->types + b->at[id - b->first];
	*ret = (struct type) { word(p), word(p + 4), word(p + 8), p + 12 };
	return true;
}

static u32 find(const struct gp_btf *b, u32 kinds, const char *name, u32 after)
{
	struct type t;

	for (u32 id = after + 1; id < b->first + b->nr; id++)
		if (get(b, id, &t) && (1u << kind_of(t.info) & kinds) &&
		    !strcmp(string(b, t.name), name))
			return id;
	return 0;
}

u32 gp_btf_struct(const struct gp_btf *b, const char *name, u32 after)
{
	return find(b, 1 << STRUCT | 1 << UNION, name, after);
}

u32 gp_btf_enum(const struct gp_btf *b, const char *name, u32 after)
{
	return find(b, 1 << ENUM | 1 << ENUM64, name, after);
}

/* Limits the depth, because types in a bad file may refer to themselves. */
static u64 size_of(const struct gp_btf *b, u32 id, u32 depth)
{
	struct type t;

	if (!depth || !get(b, id, &t))
		return 0;
	switch (kind_of(t.info)) {
	case INT: case STRUCT: case UNION: case ENUM: case ENUM64: case FLOAT: case DATASEC:
		return t.size;
	case PTR:
		return sizeof(void *);
	case ARRAY:
		return word(t.behind + 8) * size_of(b, word(t.behind), depth - 1);
	case TYPEDEF: case VOLATILE: case CONST: case RESTRICT: case TYPE_TAG: case VAR:
		return size_of(b, t.size, depth - 1);
	}
	return 0;
}

u64 gp_btf_size(const struct gp_btf *b, u32 id)
{
	return size_of(b, id, DEPTH);
}

static bool is_struct(const struct gp_btf *b, u32 id)
{
	struct type t;

	return get(b, id, &t) && (kind_of(t.info) == STRUCT || kind_of(t.info) == UNION);
}

struct search {
	const struct gp_btf *b;
	const char *name;
	/* Types of nameless members already searched. In a bad file they may contain each other. */
	u32 searched[NAMELESS_MAX], nr_searched;
	struct gp_btf_member found;
};

/* Returns false if @id was searched before or the limit is reached. */
static bool search_once(struct search *s, u32 id)
{
	for (u32 i = 0; i < s->nr_searched; i++)
		if (s->searched[i] == id)
			return false;
	if (s->nr_searched == NAMELESS_MAX)
		return false;
	s->searched[s->nr_searched++] = id;
	return true;
}

static bool find_member(struct search *s, u32 id, u64 base, u32 depth)
{
	struct type t;

	if (!depth || !is_struct(s->b, id) || !search_once(s, id) || !get(s->b, id, &t))
		return false;
	for (u32 i = 0; i < elements(t.info); i++) {
		const u8 *m = t.behind + 12 * i;
		u32 bits = t.info >> 31 ? word(m + 8) & 0xffffff : word(m + 8);
		const char *name = string(s->b, word(m));

		if (*name && !strcmp(name, s->name)) {
			s->found.offset = base + bits / 8;
			s->found.size = gp_btf_size(s->b, word(m + 4));
			return true;
		}
		if (!*name && find_member(s, word(m + 4), base + bits / 8, depth - 1))
			return true;
	}
	return false;
}

int gp_btf_member(const struct gp_btf *b, u32 id, const char *name, struct gp_btf_member *ret)
{
	struct search s = { .b = b, .name = name };

	if (!find_member(&s, id, 0, DEPTH))
		return -ENOENT;
	*ret = s.found;
	return 0;
}

int gp_btf_constant(const struct gp_btf *b, u32 id, const char *name, u64 *value)
{
	struct type t;
	u32 each;

	if (!get(b, id, &t) || (kind_of(t.info) != ENUM && kind_of(t.info) != ENUM64))
		return -ENOENT;
	each = behind[kind_of(t.info)].each;
	for (u32 i = 0; i < elements(t.info); i++) {
		const u8 *e = t.behind + each * i;

		if (strcmp(string(b, word(e)), name))
			continue;
		*value = word(e + 4) | (each == 12 ? (u64)word(e + 8) << 32 : 0);
		return 0;
	}
	return -ENOENT;
}
