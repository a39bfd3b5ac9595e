/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Values as people write them, and back. Readers return 0, or -EINVAL and leave
 * *@ret alone; what does not fit the integer it becomes is refused, not rounded.
 */
#ifndef GP_DAEMON_VALUE_H
#define GP_DAEMON_VALUE_H

#include "core/param.h"

/* "200us", "1.5ms", "2s", "1min", "0". Other numbers need a unit. */
int gp_value_ns(const char *text, u64 *ret);
int gp_value_u64(const char *text, u64 *ret);
int gp_value_bool(const char *text, bool *ret);
/* A value of the setting @info, by its unit; within its bounds or -ERANGE. */
int gp_value_param(const struct gp_param_info *info, const char *text, u64 *ret);

/* The shortest of "1500us", "2s" that is exact. */
void gp_value_print_ns(u64 ns, char *text, size_t size);
void gp_value_print_param(const struct gp_param_info *info, u64 value, char *text, size_t size);

/* One printable line: control characters become '?'. */
void gp_text_clean(char *text);

#endif /* GP_DAEMON_VALUE_H */
