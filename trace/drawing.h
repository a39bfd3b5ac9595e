/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Draws the records of a scheduler as a Perfetto trace.
 *
 *	train (101)			a process
 *	    GPU 0			stopping, off, starting, lost; nothing while it may run
 *	    GPU 0 queue 3		"work" while the queue had packets in it
 *	    GPU 0 pending		packets that wait in all its queues
 *	    GPU 0 waves			permille of the GPU that its waves filled, where known
 *	infer (102)
 *	    GPU 0 preemptions		each preemption for this process, its parts nested in it
 *
 * A flow leads from each preemption to the "stopping" of every victim. Processes are drawn when
 * the first of it is known, under the name that was recorded last.
 */
#ifndef GP_DRAWING_H
#define GP_DRAWING_H

#include "core/trace.h"
#include "perfetto.h"

/* Name of the parts that one call of the driver does and that cannot be separated. */
#define GP_PARTS_WITHIN	"command, save and switch"
#define GP_PARTS_SAVE	"command and save"

struct gp_drawing;

/* NULL: out of memory. The caller owns @file and checks its errors (ferror()). */
struct gp_drawing *gp_drawing_alloc(FILE *file, enum gp_perfetto_clock clock);
/* NULL is allowed. */
void gp_drawing_free(struct gp_drawing *d);

/* A gp_trace.emit whose ctx is the gp_drawing. */
void gp_drawing_take(void *drawing, const struct gp_rec *rec);
/* Draws what is still open, up to @now_ns or the last record, whatever is later. */
void gp_drawing_end(struct gp_drawing *d, u64 now_ns);

/* A track for events that have no record. */
struct gp_drawing_at {
	const char *process;	/* NULL: none, @track is at the top */
	u32 pid;
	const char *track;	/* below the process; NULL: the process itself */
};

/* @d NULL: nothing is drawn. */
void gp_drawing_span(struct gp_drawing *d, const struct gp_drawing_at *at, const char *name,
		     u64 begin_ns, u64 end_ns);
void gp_drawing_instant(struct gp_drawing *d, const struct gp_drawing_at *at, const char *name,
			u64 at_ns);

struct gp_drawn {
	u64 preemptions;
	u64 slices;
	u64 dropped;		/* slices dropped because too many were open on one track */
};
struct gp_drawn gp_drawing_count(const struct gp_drawing *d);

#endif /* GP_DRAWING_H */
