/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Small files of sysfs and /proc, relative to a directory that is open. */
#ifndef GP_LIB_SYSFS_H
#define GP_LIB_SYSFS_H

#include "gp_env.h"

/*
 * The file's first bytes, as many as fit, into @text and a NUL behind them. Returns
 * how many, or -errno.
 */
int gp_sysfs_text(int dir, const char *path, char *text, size_t room);
/* One number, decimal, of a file that has nothing else. -EPROTO: it has something else. */
int gp_sysfs_number(int dir, const char *path, u64 *ret);
/* A number at the start of @text and *@end behind it; a sign or blank is no number. */
bool gp_sysfs_parse(const char *text, int base, u64 *ret, const char **end);

#endif /* GP_LIB_SYSFS_H */
