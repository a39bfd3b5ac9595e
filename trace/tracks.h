/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tracks of a picture and their lanes.
 *
 * A viewer nests the spans of one line by time, so two requests that overlap
 * without nesting would be drawn wrong. Each gets a lane of its own; lanes of one
 * track have the track's name and the viewer puts them under each other.
 */
#ifndef GP_TRACKS_H
#define GP_TRACKS_H

#include "gp_env.h"

enum {
	GP_TRACKS_LANES	 = 512,		/* of all tracks */
	GP_TRACK_LANES	 = 16,		/* of one: a queue that grows for ever is no picture */
	GP_TRACK_NAME	 = 80,
};

struct gp_lane {
	char name[GP_TRACK_NAME];
	bool counter;
	u64 end_ns;		/* of its last span */
};

struct gp_tracks {
	u32 nr;
	u64 dropped;		/* spans for which there was no lane */
	struct gp_lane lane[GP_TRACKS_LANES];
};

/* What a span, an instant (begin = end) or a counter asks for. */
struct gp_lane_want {
	const char *track;
	bool counter;
	u64 begin_ns, end_ns;
};

/*
 * The number of a lane, from 1, that is free for @want; *@is_new if nobody has
 * heard of it before. 0 if there is none left: counted, to be left out.
 * Spans of a track come in the order of their begins or of their ends.
 */
u32 gp_tracks_lane(struct gp_tracks *t, const struct gp_lane_want *want, bool *is_new);

#endif /* GP_TRACKS_H */
