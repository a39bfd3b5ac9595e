/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A file of the core's trace records: GP_TRACE_MAGIC, then struct gp_rec, all
 * little endian. A reader trusts nothing in it.
 */
#ifndef GP_TRACEFILE_H
#define GP_TRACEFILE_H

#include <stdio.h>

#include "core/trace.h"

/* ---- writing ---- */

/* Once, before the first record. Errors stay in the stream: ferror(). */
void gp_tracefile_begin(FILE *file);
/* A gp_trace.emit whose ctx is the FILE. */
void gp_tracefile_emit(void *file, const struct gp_rec *rec);

/* ---- reading ---- */

struct gp_tracefile {
	const u8 *bytes;	/* records, not aligned */
	u64 nr;
	void *map;		/* NULL: the bytes are the caller's */
	size_t map_size;
};

/* One sentence that says what is wrong. */
struct gp_tracefile_error {
	char text[160];
};

/* Reads @n bytes in place. -EINVAL and *@err; there is nothing to close. */
int gp_tracefile_over(const void *bytes, size_t n, struct gp_tracefile *ret,
		      struct gp_tracefile_error *err);
/* Reads a file. -errno and *@err. Close it with gp_tracefile_close(). */
int gp_tracefile_open(const char *path, struct gp_tracefile *ret,
		      struct gp_tracefile_error *err);
void gp_tracefile_close(struct gp_tracefile *t);

/* Record @i, which must be smaller than @t->nr. */
struct gp_rec gp_tracefile_get(const struct gp_tracefile *t, u64 i);

/* The process of a task, as a record of kind GP_REC_NAME has it. */
struct gp_rec_who {
	u32 pid;		/* 0: not known */
	bool preemptible;	/* by its class; in observe mode the scheduler may stop no task */
	char name[48];
	char class_name[16];
};
struct gp_rec_who gp_rec_who(const struct gp_rec *rec);
struct gp_rec gp_rec_of_who(u32 task, const struct gp_rec_who *who);

/* "look", "action", ...; "?" if there is no such kind. */
const char *gp_rec_name(u32 kind);
static inline bool gp_rec_is_input(u32 kind)
{
	return kind > 0 && kind < GP_REC_NR_INPUTS;
}
static inline bool gp_rec_is_output(u32 kind)
{
	return kind >= GP_REC_ACTION && kind < GP_REC_NAME;
}

#endif /* GP_TRACEFILE_H */
