/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Values as people write them, "5ms", "1.2us", "yes", "0.84", and back. Readers return 0,
 * or -EINVAL and leave *@ret alone; what does not fit the integer it becomes is refused, not
 * rounded.
 */
#ifndef GP_TEXT_VALUE_H
#define GP_TEXT_VALUE_H

#include "core/param.h"

/* "200us", "1.5ms", "2s", "1min", "1h", "0". Other numbers need a unit. */
int gp_parse_ns(const char *text, u64 *ret);
/* Two times of which the first may borrow the unit of the second. */
int gp_parse_range_ns(const char *low, const char *high, u64 *a, u64 *b);
int gp_parse_u64(const char *text, u64 *ret);
/* "0.84" is 840000, "5%" is 50000. */
int gp_parse_millionths(const char *text, u64 *ret);
int gp_parse_bool(const char *text, bool *ret);
/* A value of the setting @info, by its unit; within its bounds or -ERANGE. */
int gp_parse_param(const struct gp_param_info *info, const char *text, u64 *ret);

/*
 * Copies the word at the start of *@text, which ends at a blank or comma, and moves *@text
 * behind it. Returns its length, which is @size or more if it was cut; 0: there is no more.
 */
size_t gp_next_word(const char **text, char *word, size_t size);
/* Cut @text at blanks and commas into at most @max words; more, or longer ones: 0. */
u32 gp_split(const char *text, char word[][24], u32 max);

/* The shortest of "1500us", "2s" that is exact. */
void gp_print_ns(u64 ns, char *text, size_t size);
void gp_print_param(const struct gp_param_info *info, u64 value, char *text, size_t size);

/* What may be written: "a time from 1us to 1s". */
void gp_print_param_range(const struct gp_param_info *info, char *text, size_t size);

/* Is it 1 to @size - 1 letters, digits and characters of @also? */
bool gp_is_name(const char *text, size_t size, const char *also);

/* One printable line of valid UTF-8: every other byte becomes '?'. */
void gp_text_clean(char *text);

#endif /* GP_TEXT_VALUE_H */
