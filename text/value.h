/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reads and writes values as text: "5ms", "1.2us", "yes", "0.84". Readers return 0, or -EINVAL
 * and leave *@ret unchanged. A value that does not fit its integer is refused, not rounded.
 */
#ifndef GP_TEXT_VALUE_H
#define GP_TEXT_VALUE_H

#include "core/param.h"

/* "200us", "1.5ms", "2s", "1min", "1h", "0". Other numbers need a unit. */
int gp_parse_ns(const char *text, u64 *ret);
/* Reads two times; the first may use the unit of the second. */
int gp_parse_range_ns(const char *low, const char *high, u64 *a, u64 *b);
int gp_parse_u64(const char *text, u64 *ret);
/* "0.84" is 840000, "5%" is 50000. */
int gp_parse_millionths(const char *text, u64 *ret);
int gp_parse_bool(const char *text, bool *ret);
/* Reads a value of the setting @info, by its unit. -ERANGE: outside its bounds. */
int gp_parse_param(const struct gp_param_info *info, const char *text, u64 *ret);

/*
 * Copies the word at the start of *@text, which ends at a blank or comma, and moves *@text
 * behind it. Returns its length, which is @size or more if it was cut; 0: no more words.
 */
size_t gp_next_word(const char **text, char *word, size_t size);
/* Splits @text at blanks and commas into at most @max words. Returns 0 for more or longer words. */
u32 gp_split(const char *text, char word[][24], u32 max);

/* Prints the shortest exact form, such as "1500us" or "2s". */
void gp_print_ns(u64 ns, char *text, size_t size);
void gp_print_param(const struct gp_param_info *info, u64 value, char *text, size_t size);

/* Prints the valid range, such as "a time from 1us to 1s". */
void gp_print_param_range(const struct gp_param_info *info, char *text, size_t size);

/* True if @text has 1 to @size - 1 characters, all letters, digits or in @also. */
bool gp_is_name(const char *text, size_t size, const char *also);

/* Makes @text one printable line of valid UTF-8; every other byte becomes '?'. */
void gp_text_clean(char *text);

#endif /* GP_TEXT_VALUE_H */
