/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Compares the layout that gpreempt.ko was built with and that of the running driver. */
#ifndef GP_LAYOUT_CHECK_H
#define GP_LAYOUT_CHECK_H

#include <stddef.h>

#include "gp_env.h"

enum { GP_DIFFERENCES = 16, GP_DIFFERENCE_TEXT = 200 };

enum gp_layout_result {
	GP_LAYOUT_SAME,
	GP_LAYOUT_DIFFERS,
	GP_LAYOUT_UNKNOWN,	/* the kernel does not describe the driver's types */
};

struct gp_layout_report {
	enum gp_layout_result result;
	u32 nr_compared;
	u32 nr_different;			/* may exceed the number listed */
	char different[GP_DIFFERENCES][GP_DIFFERENCE_TEXT];
};

/*
 * Compares the table in the module @file with the BTF below @root ("": /sys/kernel/btf). Returns
 * 0, or -errno after a message.
 */
int gp_layout_compare(const char *file, const char *root, struct gp_layout_report *ret);

#endif /* GP_LAYOUT_CHECK_H */
