/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Replays a recording of the lab's chip (lab/recording.h) on another chip.
 *
 * Reads of memory and doorbells by this chip are answered from the recording. The chip must
 * read the same, in the same order, and write the same bytes. At the end its state must equal
 * the last one of the recording.
 */
#ifndef LAB_REPLAY_H
#define LAB_REPLAY_H

#include "lab/recording.h"
#include "vgpu/chip.h"

struct lab_replay {
	const u8 *data;		/* entries; owned by the caller */
	u64 size;
	u64 most_step_ns;	/* longest time between two entries; a longer one is malformed */
	struct recording_head head;

	u64 at;			/* offset of the next entry */
	u64 nr;			/* entries consumed so far */
	u64 now_ns;		/* of the call under way */
	u64 states;		/* states compared so far */
	void *memory;
	struct vgpu_chip *chip;
	int err;		/* the first error, and its message */
	char why[320];
};

/*
 * @data: the whole file, which is not copied. 0, -EINVAL if it is not a recording, -ENOMEM;
 * @r->why has a message. Call lab_replay_fini() in any case.
 */
int lab_replay_init(struct lab_replay *r, const void *data, u64 size);
/* Replays to the end. 0; -EPROTO: this chip behaved differently; -EINVAL: malformed. */
int lab_replay_run(struct lab_replay *r);
void lab_replay_fini(struct lab_replay *r);

#endif /* LAB_REPLAY_H */
