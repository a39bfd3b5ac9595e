/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shared by backend_module.c and module_attach.c. */
#ifndef GP_DAEMON_MODULE_PRIVATE_H
#define GP_DAEMON_MODULE_PRIVATE_H

#include "decider_private.h"
#include "holders.h"
#include "lib/kmod.h"

enum {
	GP_MODULE_TASKS	= 1024,
	GP_MODULE_USERS	= 64,	/* users whose attach time is counted */
	GP_MODULE_FETCHES = 32,	/* tasks whose descriptors are fetched at once, one per user */
};

/* A task on a GPU, as last reported by the kernel. */
struct gp_module_seat {
	u8 state;		/* enum gp_state */
	u8 work;		/* enum gp_work */
	u64 since_ns;
	u64 held_ns;		/* when the running hold began; valid unless ON */
};

struct gp_module_task {
	u64 devices;
	struct gp_class class;
	u32 handle;		/* in the kernel; 0: not attached */
	u32 nr;			/* processes attached */
	pid_t pid[GP_UAPI_MEMBERS];
	u64 again_ns;		/* no attach before */
	u32 tries;		/* tries that found its memory locked */
	u32 number;		/* in the kernel's records; GP_NONE: not known */
	u64 held_until_ns;	/* by hand */
	struct gp_account account;
	struct gp_module_seat seat[GP_GPUS_MAX];
};

/* A user for whom processes were attached. */
struct gp_module_user {
	uid_t user;
	u64 paid_ns;		/* when its share has paid for its attaches */
};

/*
 * A task to attach. The holder of the user fetches the descriptors of its processes, because that
 * may take as long as a process wants.
 */
struct gp_module_fetch {
	u32 nr;			/* processes; 0: unused */
	u32 left;		/* processes without an answer */
	u32 task;
	uid_t user;
	u32 which, count;	/* which KFD descriptor of each; the most that one of them has */
	int err;		/* of the first that failed */
	u64 until_ns;		/* deadline of the answers */
	struct gp_holders_kfd member[GP_UAPI_MEMBERS];
};

struct gp_module {
	struct gp_backend base;	/* first; its fd is subscribed to events */
	int record_fd;		/* subscribed to records; -1: no recorder */
	bool missed;		/* events were dropped, so read the states */
	const struct gp_uapi_stats *stats;	/* the module's; NULL: not available */
	const struct gp_policy *policy;	/* in effect */
	u64 param[GP_NR_PARAMS];	/* as set; GP_NEVER: not yet */
	const char *ejected;
	u64 ejections;
	u64 attaches, failures, detaches;
	pid_t tried;		/* the last process attached; the next run begins after it */
	struct gp_module_user user[GP_MODULE_USERS];
	struct gp_holders *holders;	/* they only fetch descriptors */
	struct gp_module_fetch fetch[GP_MODULE_FETCHES];
	struct gp_module_task *task[GP_MODULE_TASKS];	/* NULL: no such task */
};

static inline struct gp_module *gp_module_of(struct gp_backend *b)
{
	return (struct gp_module *)b;
}

/* backend_module.c */
void gp_module_trouble(struct gp_module *m, const char *what, int err);
/* Sets the state of all seats of @task to @to. */
void gp_module_all_seats(struct gp_module *m, u32 task, u32 to);
/* gp_backend_ops.hold() */
int gp_module_hold(struct gp_backend *b, u32 task, u64 lease_ns);

/* module_attach.c */
/* gp_backend_ops.attach() */
void gp_module_attach(struct gp_backend *b);
void gp_module_detach(struct gp_module *m, struct gp_module_task *t);
/* Takes fetched descriptors, and sets decider.attach_due when a task has all of its descriptors. */
void gp_module_take_descriptors(struct gp_module *m);
/* Returns the next deadline of fetches, or GP_NEVER. */
u64 gp_module_fetch_until(const struct gp_module *m);
/* Cancels the fetch of @task. GP_NONE: all fetches. */
void gp_module_drop_fetches(struct gp_module *m, u32 task);
/* Returns a sentence for an error of the module's attach. */
const char *gp_module_why_not(int err);

#endif /* GP_DAEMON_MODULE_PRIVATE_H */
