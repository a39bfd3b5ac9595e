/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The state that survives a restart of the daemon and is not in the configuration: classes, holds
 * and a policy set by hand, and how often and why the daemon was restarted.
 *
 * It is a text file beside the control socket, a fact per line:
 *
 *	gpreempt-state 1
 *	boot BOOT-ID
 *	restarts COUNT
 *	restart UNIX-SECONDS REASON		the newest first
 *	end REASON				why the last daemon ended, if it could say
 *	policy NAME				set by hand
 *	param NAME VALUE
 *	class PID START UID CLASS
 *	hold PID START UNTIL-NS			of CLOCK_MONOTONIC
 *	done
 *
 * A new file replaces the old one by a rename, so a reader never sees half of it. A file of another
 * boot or another version, or with an invalid line, is ignored as a whole.
 */
#ifndef GP_DAEMON_STATE_H
#define GP_DAEMON_STATE_H

#include "core/param.h"
#include "decider_private.h"

enum {
	GP_STATE_VERSION	= 1,
	GP_STATE_BYTES		= 1 << 18,	/* of the file, at most */
	GP_STATE_REASONS	= 8,
	GP_STATE_REASON		= 96,		/* bytes of one */
	GP_STATE_HOLDS		= 256,
};

struct gp_kept_restart {
	u64 at_s;		/* since 1970 */
	char why[GP_STATE_REASON];
};

struct gp_kept_hold {
	struct gp_process_id id;
	u64 until_ns;
};

struct gp_saved_state {
	u32 restarts;
	struct gp_kept_restart restart[GP_STATE_REASONS];	/* the newest first */
	u32 nr_restarts;
	char end[GP_STATE_REASON];	/* "": unknown */
	char policy[GP_CLASS_NAME];	/* "": as configured */
	bool param_set[GP_NR_PARAMS];
	u64 param[GP_NR_PARAMS];
	struct gp_class_request class[GP_CLASS_REQUESTS];
	u32 nr_classes;
	struct gp_kept_hold hold[GP_STATE_HOLDS];
	u32 nr_holds;
};

/*
 * Parses @n bytes. 0, or -EINVAL with a sentence in @why (GP_DECIDER_WHY bytes) and an empty *@ret.
 * @boot: the present boot; NULL: any.
 */
int gp_state_parse(const char *text, size_t n, const char *boot, struct gp_saved_state *ret,
		   char *why);
/* The text of @s, to be given to free(); NULL: out of memory. */
char *gp_state_print(const struct gp_saved_state *s, const char *boot);

/* -ENOENT: there is no file; -EINVAL: it is ignored; -errno. @why and *@ret as above. */
int gp_state_load(const char *path, struct gp_saved_state *ret, char *why);
int gp_state_save(const char *path, const struct gp_saved_state *s);

/*
 * Sets how the last daemon ended. The parent calls it before it starts the next daemon, which
 * inherits the text by fork().
 */
void gp_state_set_end(const char *why);
/* Counts a restart, with the reason of gp_state_set_end() or s->end. */
void gp_state_count_restart(struct gp_saved_state *s, u64 now_s);

/* ---- the state of a running daemon ---- */

struct gp_state_store {
	const char *path;	/* owned by the caller; NULL: nothing is saved */
	struct gp_saved_state state;
	struct gp_saved_state restore;	/* the loaded state; its holds are still to be renewed */
	bool changed;
	bool failed;		/* the last save failed */
	bool unread;		/* the file could not be read yet; do not replace it */
	bool policy_is_newer;	/* set or configured after the load */
	u64 save_at_ns;		/* no save before */
};

/*
 * Loads the state, counts a restart, and gives processes that still live their classes. Call it
 * before the decider's first scan. The caller applies the policy. NULL: out of memory.
 */
struct gp_state_store *gp_state_open(const char *path, struct gp_decider *h);
/*
 * After each run of the decider: renews holds for what is left of their leases, as soon as the
 * decider knows the processes, and saves what changed, at most ten times a second. Returns true if
 * the state was loaded only now. The caller applies its policy then.
 */
bool gp_state_tend(struct gp_state_store *store, struct gp_decider *h);
/* Saves why the daemon ends. */
void gp_state_end(struct gp_state_store *store, const struct gp_decider *h, const char *why);

#endif /* GP_DAEMON_STATE_H */
