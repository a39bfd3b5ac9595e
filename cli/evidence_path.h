/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A number of the evidence by its path: compare.rows.ours-evict.added.mean. A word names a
 * member of an object, or the element of an array whose "name" it is. The documentation
 * names its figures the same way (tools/check-figures).
 */
#ifndef GP_EVIDENCE_PATH_H
#define GP_EVIDENCE_PATH_H

#include <jansson.h>

#include "gp_env.h"

struct gp_number {
	double value;
	const char *unit, *source, *repeat;	/* of the nearest object that has them */
};

/* False if there is no such number. */
bool gp_evidence_at(const json_t *root, const char *path, struct gp_number *ret);

#endif /* GP_EVIDENCE_PATH_H */
