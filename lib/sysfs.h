/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Small files and directories of sysfs and /proc, relative to a directory that is open. */
#ifndef GP_LIB_SYSFS_H
#define GP_LIB_SYSFS_H

#include <sys/types.h>

#include "gp_env.h"

/*
 * Reads the file's first bytes, as many as fit, into @text and appends a NUL. Returns how many, or
 * -errno.
 */
int gp_sysfs_text(int dir, const char *path, char *text, size_t room);
/* Reads a file that has one decimal number. -EPROTO: it has something else. */
int gp_sysfs_number(int dir, const char *path, u64 *ret);
/* Parses a number at the start of @text, and sets *@end behind it. Refuses a sign or a blank. */
bool gp_sysfs_parse(const char *text, int base, u64 *ret, const char **end);

/* A directory that is being read. */
struct gp_sysfs_dir {
	int fd;
	u32 at, filled;		/* entries in @piece: read so far, and all */
	u64 piece[1024];	/* as getdents() writes them */
};

/* Opens the directory. 0, or -errno and nothing to close. */
int gp_sysfs_dir_open(struct gp_sysfs_dir *d, int dir, const char *path);
void gp_sysfs_dir_close(struct gp_sysfs_dir *d);
/*
 * Gets the next entry: 1 and its name, valid until the next call, and its inode. 0: no more.
 * -errno: the entries after this one are not known.
 */
int gp_sysfs_dir_next(struct gp_sysfs_dir *d, const char **name, u64 *ret_inode);
/* Gets the next entry whose name is a decimal number from @low to @high. */
int gp_sysfs_dir_number(struct gp_sysfs_dir *d, u64 low, u64 high, u64 *ret, u64 *ret_inode);

/* ---- /proc ---- */

/* Reads the file @name of process @pid below @proc (NULL: /proc). -ESRCH: no such process. */
int gp_proc_text(const char *proc, pid_t pid, const char *name, char *text, size_t room);
/*
 * Parses the first number behind @key, as in "Uid:\t1000\t..."; *@end, if not NULL, is behind it.
 */
bool gp_proc_field(const char *text, const char *key, u64 *ret, const char **end);

/* Values of /proc/PID/task/PID/stat. Reading it takes equally long for every process. */
struct gp_proc_stat {
	char comm[32];
	char state;
	u64 start;		/* in clock ticks since boot */
};

bool gp_proc_stat_parse(const char *text, struct gp_proc_stat *ret);
/* -ESRCH: no such process. Other errors say nothing about it. */
int gp_proc_stat(const char *proc, pid_t pid, struct gp_proc_stat *ret);

#endif /* GP_LIB_SYSFS_H */
