/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Writes a Perfetto trace (https://ui.perfetto.dev opens it).
 *
 * A file is a sequence of TracePacket messages in protobuf: descriptions of tracks, events on
 * them, and readings of clocks. The fields used here are few, so they are written by hand.
 *
 * Tracks form a tree. A track gets a number when it is asked for the first time; 0 is no track,
 * and events on it are dropped and counted. A viewer nests the slices of one track by time, so
 * slices that overlap without nesting need lanes.
 */
#ifndef GP_PERFETTO_H
#define GP_PERFETTO_H

#include <stdio.h>

#include "gp_env.h"

enum {
	GP_PERFETTO_NAME	= 80,
	GP_PERFETTO_LANES	= 16,	/* more overlapping slices on one track are dropped */
	GP_PERFETTO_FLOWS	= 64,	/* from one event */
	GP_PERFETTO_ARGS	= 9,
};

enum gp_perfetto_clock {
	GP_PERFETTO_VIRTUAL,	/* of a simulation */
	/*
	 * The trace says how CLOCK_MONOTONIC relates to the other clocks, so that it can be merged
	 * with one of rocprof, whose times are CLOCK_BOOTTIME.
	 */
	GP_PERFETTO_MONOTONIC,
};

enum gp_perfetto_kind { GP_PERFETTO_SLICES, GP_PERFETTO_COUNTER, GP_PERFETTO_PROCESS };

struct gp_perfetto_track {
	u64 parent;
	u32 kind, pid;
	u64 end_ns;		/* of the last slice that asked for a lane */
	char name[GP_PERFETTO_NAME];
};

struct gp_perfetto {
	FILE *file;
	enum gp_perfetto_clock clock;
	bool begun;
	u64 slices, dropped;
	u64 flows;		/* numbers given out */
	struct gp_perfetto_track *track;
	u32 nr, room;
};

struct gp_perfetto_arg {
	const char *name;	/* NULL ends the list */
	const char *text;	/* NULL: a number */
	u64 number;
};

struct gp_perfetto_event {
	u64 track, at_ns;
	const char *name;
	struct gp_perfetto_arg arg[GP_PERFETTO_ARGS];
	u64 flow, nr_flows;	/* flows that begin here: @flow, @flow + 1, ... */
	u64 flow_end;		/* a flow that ends here; 0: none */
};

/* @file stays the caller's; so do its errors (ferror()). */
void gp_perfetto_init(struct gp_perfetto *p, FILE *file, enum gp_perfetto_clock clock);
void gp_perfetto_fini(struct gp_perfetto *p);

/* The track of a process. @pid 0: not known. */
u64 gp_perfetto_process(struct gp_perfetto *p, u32 pid, const char *name);
/* The track @name below @parent, or at the top if that is 0. */
u64 gp_perfetto_track(struct gp_perfetto *p, u64 parent, enum gp_perfetto_kind kind,
		      const char *name);
/* The track @name below @parent, or the first of "@name 2", "@name 3"... that is free then. */
u64 gp_perfetto_lane(struct gp_perfetto *p, u64 parent, const char *name, u64 begin_ns, u64 end_ns);

/* @nr new flows; the number of the first. */
u64 gp_perfetto_flows(struct gp_perfetto *p, u64 nr);

void gp_perfetto_begin(struct gp_perfetto *p, const struct gp_perfetto_event *e);
void gp_perfetto_end(struct gp_perfetto *p, u64 track, u64 at_ns);
void gp_perfetto_instant(struct gp_perfetto *p, const struct gp_perfetto_event *e);
void gp_perfetto_counter(struct gp_perfetto *p, u64 track, u64 value, u64 at_ns);

#endif /* GP_PERFETTO_H */
