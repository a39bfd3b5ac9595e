/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Values as people write them: "5ms", "1.2us", "50/s", "yes", "1/4". All return
 * 0, or -EINVAL and leave *@ret alone. Nothing is rounded silently: what does
 * not fit into the integer it becomes is refused.
 */
#ifndef GP_VALUE_H
#define GP_VALUE_H

#include "gp_env.h"

/* "200us", "1.5ms", "2s", "0", "50ns". Other numbers need a unit. */
int gp_parse_ns(const char *text, u64 *ret);
/* Two times of which the first may borrow the unit of the second. */
int gp_parse_range_ns(const char *low, const char *high, u64 *a, u64 *b);
int gp_parse_u64(const char *text, u64 *ret);
/* "0.84" is 840000, "5%" is 50000. */
int gp_parse_millionths(const char *text, u64 *ret);
int gp_parse_bool(const char *text, bool *ret);

/* Cut @text at blanks and commas into at most @max words; more, or longer ones: 0. */
u32 gp_split(const char *text, char word[][24], u32 max);

#endif /* GP_VALUE_H */
