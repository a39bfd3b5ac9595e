/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reads BTF, the kernel's description of its own types (/sys/kernel/btf/): offsets of members,
 * sizes and constants. A module's BTF continues the kernel's, its base.
 *
 * The input is not trusted. gp_btf_open() checks everything that the other functions read.
 */
#ifndef GP_CLI_BTF_H
#define GP_CLI_BTF_H

#include <stddef.h>

#include "gp_env.h"

struct gp_btf {
	const u8 *types;	/* in the caller's buffer, which must stay valid */
	const char *strings;
	u32 types_bytes, strings_bytes;
	u32 *at;		/* the offset of type first + i */
	u32 first, nr;
	const struct gp_btf *base;
};

/* Returns 0, -ENOMEM, or -EBADMSG (gp_strerror) if @bytes are no valid BTF of this byte order. */
int gp_btf_open(struct gp_btf *b, const void *bytes, size_t size, const struct gp_btf *base);
void gp_btf_close(struct gp_btf *b);

/*
 * Returns the next type after @after (0: from the start) that is a struct or union called @name,
 * or an enum. Types of the base come first. Returns 0 if there is none. Several types may have
 * one name.
 */
u32 gp_btf_struct(const struct gp_btf *b, const char *name, u32 after);
u32 gp_btf_enum(const struct gp_btf *b, const char *name, u32 after);

/* Returns the bytes of a type, or 0 if it has no size. */
u64 gp_btf_size(const struct gp_btf *b, u32 id);
struct gp_btf_member {
	u64 offset, size;	/* bytes */
};

/* Finds a member of a struct, also inside its nameless members. Returns 0 or -ENOENT. */
int gp_btf_member(const struct gp_btf *b, u32 id, const char *name, struct gp_btf_member *ret);
/* Finds a constant of an enum. Returns 0 or -ENOENT. */
int gp_btf_constant(const struct gp_btf *b, u32 id, const char *name, u64 *value);

#endif /* GP_CLI_BTF_H */
