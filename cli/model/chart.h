/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A bar chart of a comparison, for a terminal. */
#ifndef GP_CHART_H
#define GP_CHART_H

#include "sim/compare.h"

/*
 * Prints latency bars and the goodput of the offline work. The latency scale is logarithmic
 * because the rows differ by factors of a thousand.
 */
void gp_chart(const struct gp_comparison *c);

#endif /* GP_CHART_H */
