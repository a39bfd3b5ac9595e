/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What record draws from the scheduler's own records: who had work, what preemptions took. */
#ifndef GP_CLI_RECORD_H
#define GP_CLI_RECORD_H

#include "records.h"
#include "sim/run.h"

/* What one call of the driver does, where its parts cannot be told apart. */
#define GP_PARTS_WITHIN	"command, save and switch"
#define GP_PARTS_SAVE	"command and save"

/* A queue as last seen. */
struct gp_drawn_queue {
	u32 task, device;
	bool known, pending;
};

/* A task on a GPU. */
struct gp_drawn_seat {
	u32 pending;		/* queues with work in them */
	u64 since_ns;		/* when the first of it came */
};

struct gp_drawing {
	const struct gp_timeline *timeline;
	const struct gp_records *records;
	u64 looked_ns[GP_MAX_DEVICES];
	u32 gpu[GP_MAX_DEVICES];		/* index by device */
	u64 preemptions;
	struct gp_drawn_queue queue[GP_MAX_QUEUES];
	struct gp_drawn_seat seat[GP_MAX_TASKS][GP_MAX_DEVICES];
};

void gp_drawing_take(struct gp_drawing *d, const struct gp_rec *rec);
/* Draws what is still open. */
void gp_drawing_end(struct gp_drawing *d, u64 now_ns);

#endif /* GP_CLI_RECORD_H */
