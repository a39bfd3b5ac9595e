// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Tracks of a picture and their lanes. */
#include "tracks.h"

#include <stdio.h>
#include <string.h>

static bool same_track(const struct gp_lane *lane, const struct gp_lane_want *want)
{
	return lane->counter == want->counter &&
	       !strncmp(lane->name, want->track, sizeof(lane->name) - 1);
}

/* Instants and counters have no length: any lane of the track takes them. */
static bool is_free(const struct gp_lane *lane, const struct gp_lane_want *want)
{
	return want->begin_ns == want->end_ns || lane->end_ns <= want->begin_ns;
}

static void take(struct gp_lane *lane, const struct gp_lane_want *want)
{
	if (want->begin_ns != want->end_ns && want->end_ns > lane->end_ns)
		lane->end_ns = want->end_ns;
}

u32 gp_tracks_lane(struct gp_tracks *t, const struct gp_lane_want *want, bool *is_new)
{
	u32 i, lanes = 0;

	*is_new = false;
	for (i = 0; i < t->nr; i++) {
		if (!same_track(&t->lane[i], want))
			continue;
		if (is_free(&t->lane[i], want)) {
			take(&t->lane[i], want);
			return i + 1;
		}
		lanes++;
	}
	if (t->nr == GP_TRACKS_LANES || lanes == GP_TRACK_LANES) {
		t->dropped++;
		return 0;
	}
	snprintf(t->lane[i].name, sizeof(t->lane[i].name), "%s", want->track);
	t->lane[i].counter = want->counter;
	t->lane[i].end_ns = 0;
	take(&t->lane[i], want);
	t->nr++;
	*is_new = true;
	return t->nr;
}
