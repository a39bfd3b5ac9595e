/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The decider: which processes use the GPUs, which class each has, and what users ask for. A
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

/* Something that users may want to know. */
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
	bool observe;			/* never act, whatever the configuration says */
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
/* Does what is due. @now_ns: of the clock. */
void gp_decider_run(struct gp_decider *h, u64 now_ns);
/* A process is off the GPU, or could be at any moment: a daemon that stops now does harm. */
bool gp_decider_busy(const struct gp_decider *h);
/* The GPUs have changed since the start (a partition switch): make a new decider. */
bool gp_decider_outdated(const struct gp_decider *h);
/* Releases everything. Run it until gp_decider_quiet(): all processes are on the GPU and left. */
void gp_decider_leave(struct gp_decider *h, u64 now_ns);
bool gp_decider_quiet(const struct gp_decider *h);

/* ---- requests. 0 or -errno with a sentence in @why (GP_DECIDER_WHY bytes) ---- */

/* NULL if it uses no GPU. */
struct gp_gpu_process *gp_decider_find(struct gp_decider *h, const struct gp_process_id *who);
/* Its user; root if its user ids differ. Fills in @who->start. -ESRCH: no such process. */
int gp_decider_owner(struct gp_decider *h, struct gp_process_id *who, uid_t *ret);
/*
 * Does the class (NULL: what the rules give) give the process more than it has, or than the rules
 * give it? 1, 0, -EINVAL, -ESRCH.
 */
int gp_decider_raises(struct gp_decider *h, const struct gp_process_id *who,
		      const char *class_name);
/*
 * From now on the process has that class (NULL: what the rules give), also if it uses no GPU yet
 * and whatever it executes. @previous, @now: GP_CLASS_NAME bytes.
 */
int gp_decider_set_class(struct gp_decider *h, const struct gp_process_id *who,
			 const char *class_name, char *previous, char *now, char *why);
/* May its user, who is not privileged, request a class for it? -ENOSPC, -ESRCH. */
int gp_decider_may_request_class(struct gp_decider *h, const struct gp_process_id *who, char *why);
int gp_decider_hold(struct gp_decider *h, const struct gp_process_id *who, u64 lease_ns,
		    u64 *granted, char *why);
int gp_decider_release(struct gp_decider *h, const struct gp_process_id *who, char *why);
int gp_decider_hint(struct gp_decider *h, const struct gp_process_id *who, u64 in_ns, u64 for_ns,
		    char *why);
/* Look at all its GPUs now. */
int gp_decider_trigger(struct gp_decider *h, const struct gp_process_id *who, char *why);
/* Kept in the state folder. Returns whether it changed, or -errno. */
int gp_decider_enable(struct gp_decider *h, bool on, char *why);
/* @policy NULL: only observe. */
int gp_decider_set_policy(struct gp_decider *h, const struct gp_policy *policy, char *why);
/* Would @policy admit the present tasks? The module cannot be asked: 0. */
int gp_decider_try_policy(struct gp_decider *h, const struct gp_policy *policy, char *why);
/* -ERANGE: beyond its bounds or the module's. -EINVAL. */
int gp_decider_set_param(struct gp_decider *h, enum gp_param param, u64 value);
/* @config is owned by the decider if 0 is returned, and by the caller otherwise. */
int gp_decider_reload(struct gp_decider *h, struct gp_config *config, char *why);
/*
 * From now on @watcher gets changes of states (GP_REC_STATE) and the parts of preemptions
 * (GP_REC_PARTS), and @recorder everything that goes into and comes out of the scheduler that
 * decides. With a recorder all queues are looked at.
 */
void gp_decider_trace(struct gp_decider *h, const struct gp_trace *watcher,
		      const struct gp_trace *recorder);
/* Describes the scheduler that decides to the recorder (gp_trace_describe). */
void gp_decider_describe(struct gp_decider *h);

/* ---- reading, the same for every backend ---- */

void gp_decider_status(const struct gp_decider *h, struct gp_backend_status *ret);
/* "none" while it only observes. */
const char *gp_decider_policy_name(const struct gp_decider *h);
/* -ENOENT: it has no task, or the task is not on @device. */
int gp_decider_seat(const struct gp_decider *h, const struct gp_gpu_process *r, u32 device,
		    struct gp_seat_view *ret);
/* All but @part. -ENOENT: it has no task. */
int gp_decider_account(const struct gp_decider *h, const struct gp_gpu_process *r,
		       struct gp_account *ret);
/* gp_account.part of its task; NULL: it has none. */
const struct gp_hist *gp_decider_parts(const struct gp_decider *h, const struct gp_gpu_process *r);
/* How much memory it has on a GPU now; 0 also if that cannot be read. */
u64 gp_decider_vram(const struct gp_decider *h, const struct gp_gpu_process *r, u32 gpu_id);
/* Until when it is held by hand; 0: it is not. */
u64 gp_decider_held_until(const struct gp_decider *h, const struct gp_gpu_process *r);
void gp_decider_device_view(const struct gp_decider *h, u32 device, struct gp_device_view *ret);
/* The number of its task in the records of the recorder; GP_NONE: none. */
u32 gp_decider_record_task(const struct gp_decider *h, const struct gp_gpu_process *r);
/* The first process of @task, as records of the watcher and views name it; NULL. */
const struct gp_gpu_process *gp_decider_by_task(const struct gp_decider *h, u32 task);
/*
 * What is wrong with a process: of its own, of a process of its gang that cannot be preempted, or
 * (unpreemptible = no-online-beside) of one with a lower class on its GPUs. In @text
 * (GP_DECIDER_WHY bytes); NULL: nothing.
 */
const char *gp_decider_trouble(const struct gp_decider *h, const struct gp_gpu_process *r,
			       char *text);
/* What is wrong with users and their processes, a sentence each. @names: users are named. */
typedef void gp_trouble_fn(void *ctx, const char *text);
void gp_decider_troubles(const struct gp_decider *h, bool names, gp_trouble_fn *tell, void *ctx);
/* How many processes should be scheduled and were not admitted; @text: one of them. */
u32 gp_decider_unplaced(const struct gp_decider *h, char *text);
/* How many have a lower priority beside one that cannot be preempted (no-online-beside). */
u32 gp_decider_capped(const struct gp_decider *h);
/* How many processes cannot be preempted though their class may be; @text: one of them. */
u32 gp_decider_unpreemptible(const struct gp_decider *h, char *text);
/* Counters of the backend; those that only it has go to @tell. */
void gp_decider_counters(const struct gp_decider *h, struct gp_backend_counters *ret,
			 gp_counter_fn *tell, void *ctx);

#endif /* GP_DAEMON_DECIDER_H */
