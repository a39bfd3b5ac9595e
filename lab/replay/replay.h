/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A recording of the lab's chip (lab/recording.h), led through another chip.
 *
 * Whatever the chip here asks of memory and doorbells is answered from the recording.
 * It must ask the same, in the same order, and write the same bytes; and at the end
 * its state must be the one that the recording ends with.
 */
#ifndef LAB_REPLAY_H
#define LAB_REPLAY_H

#include "lab/recording.h"
#include "vgpu/chip.h"

struct lab_replay {
	const u8 *data;		/* entries; the caller's */
	u64 size;
	u64 most_step_ns;	/* between two entries; more is malformed */
	struct recording_head head;

	u64 at;			/* offset of the next entry */
	u64 nr;			/* entries taken so far */
	u64 now_ns;		/* of the call under way */
	u64 states;		/* that were compared */
	void *memory;
	struct vgpu_chip *chip;
	int err;		/* the first thing that went wrong, and its sentence */
	char why[320];
};

/*
 * @data: the whole file, which is not copied. 0, -EINVAL if it is no recording,
 * -ENOMEM; @r->why says it. lab_replay_fini() in any case.
 */
int lab_replay_init(struct lab_replay *r, const void *data, u64 size);
/* To the end. 0; -EPROTO: the chip here did something else; -EINVAL: malformed. */
int lab_replay_run(struct lab_replay *r);
void lab_replay_fini(struct lab_replay *r);

#endif /* LAB_REPLAY_H */
