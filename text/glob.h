/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Patterns of the shell. Not fnmatch(): its time can grow exponentially with the
 * number of stars, and the matched process itself chooses the text.
 */
#ifndef GP_TEXT_GLOB_H
#define GP_TEXT_GLOB_H

#include "gp_env.h"

enum gp_glob_kind {
	GP_GLOB_TEXT,	/* '*' and '?' match everything */
	GP_GLOB_PATH,	/* '*', '?' and [] do not match '/'; "**" does */
};

/*
 * Matches '*' '?' "[a-z]" "[!a-z]", and '\' before any of these. @pattern must be valid by
 * gp_glob_wrong(). Takes at most |pattern| x |text| steps, for a path times its longest name.
 */
bool gp_glob(const char *pattern, const char *text, enum gp_glob_kind kind);
/*
 * The same for @path or a folder above it: "/a" matches "/a/b". Returns the length of the first
 * folder that matches; 0: none.
 */
size_t gp_glob_within(const char *pattern, const char *path);
/* Returns a message about an invalid @pattern, or NULL. */
const char *gp_glob_wrong(const char *pattern);

#endif /* GP_TEXT_GLOB_H */
