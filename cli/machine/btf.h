/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reader of BTF, the kernel's description of its own types (/sys/kernel/btf/): where members are,
 * how large they are, what constants are. That of a module continues the kernel's: its base.
 *
 * Any bytes may be given; what is read later was checked when it was opened.
 */
#ifndef GP_CLI_BTF_H
#define GP_CLI_BTF_H

#include <stddef.h>

#include "gp_env.h"

struct gp_btf {
	const u8 *types;	/* in the caller's bytes, which must stay */
	const char *strings;
	u32 types_bytes, strings_bytes;
	u32 *at;		/* where type first + i begins */
	u32 first, nr;
	const struct gp_btf *base;
};

/* 0, -ENOMEM, or -EBADMSG: no BTF of this byte order, or it contradicts itself (gp_strerror). */
int gp_btf_open(struct gp_btf *b, const void *bytes, size_t size, const struct gp_btf *base);
void gp_btf_close(struct gp_btf *b);

/*
 * The next type behind @after (0: from the start) that is a struct or union called @name, or an
 * enum; the base comes first. 0: none. Several types may have one name.
 */
u32 gp_btf_struct(const struct gp_btf *b, const char *name, u32 after);
u32 gp_btf_enum(const struct gp_btf *b, const char *name, u32 after);

/* Bytes of a type; 0 if it has no size. */
u64 gp_btf_size(const struct gp_btf *b, u32 id);
struct gp_btf_member {
	u64 offset, size;	/* bytes */
};

/* A member of a struct, also one inside its nameless members. 0 or -ENOENT. */
int gp_btf_member(const struct gp_btf *b, u32 id, const char *name, struct gp_btf_member *ret);
/* A constant of an enum. 0 or -ENOENT. */
int gp_btf_constant(const struct gp_btf *b, u32 id, const char *name, u64 *value);

#endif /* GP_CLI_BTF_H */
