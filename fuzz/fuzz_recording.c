// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Any bytes may be a recording: replaying them ends with an answer.
 *
 * The first byte says whether the rest is a whole file, or entries behind a head that is
 * right; few inputs would get beyond a wrong one.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/replay/replay.h"

enum { MOST = 1 << 16, STEP_NS = 1000 * 1000 * 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const void *file, u64 size)
{
	struct lab_replay r;

	if (!lab_replay_init(&r, file, size)) {
		r.most_step_ns = STEP_NS;	/* a year of a busy GPU is not interesting */
		lab_replay_run(&r);
	}
	lab_replay_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording_head head = {
		.magic = RECORDING_MAGIC, .profile = "mi308x", .unknown_ns = 100000,
		.iq_wait_time2 = 0x40404040, .iq_wait_time2_register = 0x30b0, .sdma_engines = 4,
	};
	u8 *file;

	if (!size || size > MOST)
		return 0;
	if (data[0] & 1) {
		replay(data + 1, size - 1);
		return 0;
	}
	file = malloc(sizeof(head) + size);
	if (!file)
		return 0;
	head.bytes = size - 1;
	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), data + 1, size - 1);
	replay(file, sizeof(head) + size - 1);
	free(file);
	return 0;
}
