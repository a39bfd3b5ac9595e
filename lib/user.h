/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user charged for a process.
 *
 * This is the real uid, as seen in the initial user namespace. A user who may map subordinate uids
 * (subuid(5)) can run processes under thousands of uids in a user namespace. Those processes count
 * as that user's, so that limits per user hold for them together.
 */
#ifndef GP_LIB_USER_H
#define GP_LIB_USER_H

#include <sys/types.h>

#include "gp_env.h"

enum {
	GP_SUBUIDS_MAX		= 16384,	/* ranges; more are ignored */
	GP_SUBUID_BYTES_MAX	= 1 << 20,	/* of each file; more are ignored */
};

/* A line of /etc/subuid, "OWNER:START:COUNT". */
struct gp_subuid_range {
	u32 start, count;
	u32 name, name_bytes;	/* of the owner, where in the text */
	uid_t owner;		/* (uid_t)-1: the owner is a name, and not looked up yet */
};

/*
 * Parses @text, which ends with a NUL, and returns how many ranges it has, at most @room. Invalid
 * lines are ignored.
 */
u32 gp_subuid_parse(const char *text, struct gp_subuid_range *ret, u32 room);
/* Finds the uid of the user @name in @text, a file like /etc/passwd that ends with a NUL. */
bool gp_passwd_find(const char *text, const char *name, size_t name_bytes, uid_t *ret);

/*
 * The contents of /etc/subuid, read again when the file changes. One thread at a time may use it.
 */
struct gp_subuids;

/* @etc: the directory of subuid and passwd; NULL: /etc. -ENOMEM, -ENAMETOOLONG. */
int gp_subuids_alloc(const char *etc, struct gp_subuids **ret);
void gp_subuids_free(struct gp_subuids *s);

/*
 * Gets the user charged for the process @pid with the real uid @uid. @proc: NULL is /proc. The
 * owner of a range whose name /etc/passwd does not have (a user of LDAP) counts as the range's
 * first uid.
 *
 * -ESRCH: the process ended. Other errors say nothing about the user.
 */
int gp_user_of(struct gp_subuids *s, const char *proc, pid_t pid, uid_t uid, uid_t *ret);

/*
 * For a process that has ended: returns the owner of the range that holds @uid, or @uid. A uid that
 * is in a range and in use outside of any namespace counts for the owner, too.
 */
uid_t gp_user_of_uid(struct gp_subuids *s, uid_t uid);

/*
 * Gets the ranges that @user owns, at most @room. Returns how many; 0 also if the files cannot be
 * read.
 */
u32 gp_subuids_of(struct gp_subuids *s, uid_t user, struct gp_subuid_range *ret, u32 room);

/* Calls gp_user_of() with the files of this machine, which it reads each time. */
int gp_process_user(const char *proc, pid_t pid, uid_t *ret);

#endif /* GP_LIB_USER_H */
