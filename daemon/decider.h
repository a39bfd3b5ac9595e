/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The decider tracks which processes use the GPUs, which class each has, and what users request. A
 * backend (backend.h) decides which of them are on the GPUs and takes the others off.
 *
 *	epoll: gp_decider_fd() is readable, or gp_decider_wake_at() has come
 *		-> gp_decider_run()
 *
 * One thread calls everything here.
 */
#ifndef GP_DAEMON_DECIDER_H
#define GP_DAEMON_DECIDER_H

#include <sys/types.h>

#include "backend.h"
#include "config.h"
#include "lib/process.h"

enum { GP_DECIDER_WHY = 256 };

/* A kind of event for users. */
enum gp_news_kind {
	GP_NEWS_PROCESS, GP_NEWS_QUEUE, GP_NEWS_CLASS, GP_NEWS_HOLD, GP_NEWS_POLICY,
	GP_NEWS_ENABLED, GP_NEWS_GPU, GP_NEWS_TROUBLE,
};

struct gp_news {
	u32 kind;			/* enum gp_news_kind */
	const struct gp_gpu_process *who;	/* the process it is about, or NULL */
	const char *what;		/* a sentence; valid during the call */
};

struct gp_decider_args {
	struct gp_config *config;	/* owned by the decider from here on, also on failure */
	bool observe;			/* never preempt, whatever the configuration says */
	/* Paths, for tests; NULL: sysfs of KFD, /proc, the dump in debugfs, /dev/kfd. */
	const char *kfd, *proc, *mqds, *node;
	const char *kmod;	/* the module's node; NULL: the module is not used */
	u64 (*clock)(void *ctx);	/* NULL: CLOCK_MONOTONIC */
	void (*news)(void *ctx, const struct gp_news *news);
	/* Called right before a process is stopped or attached to: heartbeats begin. */
	void (*holding)(void *ctx);
	/* Of struct gp_readers_args, for tests; NULL: the supervisor's. */
	int (*make_reader)(void *ctx, uid_t user, u64 id, int channel);
	void (*kill_reader)(void *ctx, uid_t user, u64 id);
	void *ctx;
};

struct gp_decider;

/* 0, or -errno and a sentence in @why (GP_DECIDER_WHY bytes). */
int gp_decider_new(const struct gp_decider_args *args, struct gp_decider **ret, char *why);
/* Releases everything, without waiting for the driver. NULL is a no-op. */
void gp_decider_free(struct gp_decider *h);

int gp_decider_fd(const struct gp_decider *h);
u64 gp_decider_wake_at(const struct gp_decider *h);
/* Does the work that is due at @now_ns of the clock. */
void gp_decider_run(struct gp_decider *h, u64 now_ns);
/*
 * Returns true if a process is off the GPU or may be at any moment. A daemon that hangs then would
 * keep processes off.
 */
bool gp_decider_busy(const struct gp_decider *h);
/*
 * Returns true if the GPUs changed since the start (a partition switch). Make a new decider then.
 */
bool gp_decider_outdated(const struct gp_decider *h);
/*
 * Releases everything. Run the decider until gp_decider_quiet(): then all processes are on the GPU
 * and detached.
 */
void gp_decider_leave(struct gp_decider *h, u64 now_ns);
bool gp_decider_quiet(const struct gp_decider *h);

/* ---- requests. 0 or -errno with a sentence in @why (GP_DECIDER_WHY bytes) ---- */

/* Returns the process, or NULL if it uses no GPU. */
struct gp_gpu_process *gp_decider_find(struct gp_decider *h, const struct gp_process_id *who);
/*
 * Gets the user of a process; root if its user ids differ. Fills in @who->start. -ESRCH: no such
 * process.
 */
int gp_decider_owner(struct gp_decider *h, struct gp_process_id *who, uid_t *ret);
/*
 * Checks whether the class (NULL: the class by the rules) gives the process more than its present
 * class or than the rules. 1, 0, -EINVAL, -ESRCH.
 */
int gp_decider_raises(struct gp_decider *h, const struct gp_process_id *who,
		      const char *class_name);
/*
 * Gives the process a class (NULL: the class by the rules). The class also holds if the process
 * uses no GPU yet, and for all programs that it executes. @previous, @now: GP_CLASS_NAME bytes.
 */
int gp_decider_set_class(struct gp_decider *h, const struct gp_process_id *who,
			 const char *class_name, char *previous, char *now, char *why);
/* Checks whether an unprivileged user may request a class for the process. -ENOSPC, -ESRCH. */
int gp_decider_may_request_class(struct gp_decider *h, const struct gp_process_id *who, char *why);
int gp_decider_hold(struct gp_decider *h, const struct gp_process_id *who, u64 lease_ns,
		    u64 *granted, char *why);
int gp_decider_release(struct gp_decider *h, const struct gp_process_id *who, char *why);
int gp_decider_hint(struct gp_decider *h, const struct gp_process_id *who, u64 in_ns, u64 for_ns,
		    char *why);
/* Looks at all GPUs of the process now. */
int gp_decider_trigger(struct gp_decider *h, const struct gp_process_id *who, char *why);
/* Sets the kill switch and stores it in the state folder. Returns whether it changed, or -errno. */
int gp_decider_enable(struct gp_decider *h, bool on, char *why);
/* Switches to @policy; NULL: only observe. */
int gp_decider_set_policy(struct gp_decider *h, const struct gp_policy *policy, char *why);
/* Checks whether @policy would admit the present tasks. 0 also if only the module knows. */
int gp_decider_try_policy(struct gp_decider *h, const struct gp_policy *policy, char *why);
/* Sets a parameter. -ERANGE: beyond its bounds or the module's. -EINVAL. */
int gp_decider_set_param(struct gp_decider *h, enum gp_param param, u64 value);
/* Applies @config. The decider owns it if 0 is returned, and the caller otherwise. */
int gp_decider_reload(struct gp_decider *h, struct gp_config *config, char *why);
/*
 * Sets the receivers of records. @watcher gets changes of states (GP_REC_STATE) and the parts of
 * preemptions (GP_REC_PARTS). @recorder gets all inputs and outputs of the scheduler that decides.
 * With a recorder the decider looks at all queues.
 */
void gp_decider_trace(struct gp_decider *h, const struct gp_trace *watcher,
		      const struct gp_trace *recorder);
/* Describes the scheduler that decides to the recorder (gp_trace_describe). */
void gp_decider_describe(struct gp_decider *h);

/* ---- reading, the same for every backend ---- */

void gp_decider_status(const struct gp_decider *h, struct gp_backend_status *ret);
/* Returns the name of the policy, "none" while the decider only observes. */
const char *gp_decider_policy_name(const struct gp_decider *h);
/* Gets the seat of a process. -ENOENT: it has no task, or the task is not on @device. */
int gp_decider_seat(const struct gp_decider *h, const struct gp_gpu_process *r, u32 device,
		    struct gp_seat_view *ret);
/* Gets all but @part. -ENOENT: the process has no task. */
int gp_decider_account(const struct gp_decider *h, const struct gp_gpu_process *r,
		       struct gp_account *ret);
/* Returns gp_account.part of the process's task; NULL: no task. */
const struct gp_hist *gp_decider_parts(const struct gp_decider *h, const struct gp_gpu_process *r);
/* Returns how much memory the process has on a GPU now; 0 also if that cannot be read. */
u64 gp_decider_vram(const struct gp_decider *h, const struct gp_gpu_process *r, u32 gpu_id);
/* Returns the end of the hold by hand; 0: not held. */
u64 gp_decider_held_until(const struct gp_decider *h, const struct gp_gpu_process *r);
void gp_decider_device_view(const struct gp_decider *h, u32 device, struct gp_device_view *ret);
/* Returns the number of the process's task in the records of the recorder, or GP_NONE. */
u32 gp_decider_record_task(const struct gp_decider *h, const struct gp_gpu_process *r);
/* Returns the first process of @task, as records of the watcher and views number it, or NULL. */
const struct gp_gpu_process *gp_decider_by_task(const struct gp_decider *h, u32 task);
/*
 * Returns what is wrong with a process in @text (GP_DECIDER_WHY bytes), or NULL. The cause can be
 * the process itself, a process of its gang that cannot be preempted, or (unpreemptible =
 * no-online-beside) a process with a lower class on its GPUs.
 */
const char *gp_decider_trouble(const struct gp_decider *h, const struct gp_gpu_process *r,
			       char *text);
/* Reports what is wrong with users and their processes, a sentence each. @names: name the users. */
typedef void gp_trouble_fn(void *ctx, const char *text);
void gp_decider_troubles(const struct gp_decider *h, bool names, gp_trouble_fn *tell, void *ctx);
/* Returns how many processes should be scheduled and were not admitted; @text: one of them. */
u32 gp_decider_unplaced(const struct gp_decider *h, char *text);
/* Counts processes whose priority is lowered beside one that cannot be preempted. */
u32 gp_decider_capped(const struct gp_decider *h);
/* Returns how many processes cannot be preempted though their class may be; @text: one of them. */
u32 gp_decider_unpreemptible(const struct gp_decider *h, char *text);
/* Gets the counters of the backend. Counters that only this backend has go to @tell. */
void gp_decider_counters(const struct gp_decider *h, struct gp_backend_counters *ret,
			 gp_counter_fn *tell, void *ctx);

#endif /* GP_DAEMON_DECIDER_H */
