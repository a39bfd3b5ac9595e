/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The scheduler's home in real time: GPUs are its devices, processes its tasks, queues its
 * queues. It looks when the scheduler wants a look, hands its actions to a doer and the
 * doer's answers back. It decides nothing and knows nobody who asks.
 *
 *	epoll: gp_home_fd() is readable, or gp_home_wake_at() has come
 *		-> gp_home_run()
 *
 * One thread calls everything here. What is public is in the first half; the second is
 * for the files of the home:
 *
 *	home.c		life; looks, actions and answers; when to wake
 *	census.c	which processes there are, and which class they have
 *	job.c		which tasks they are: each by itself, or a gang together
 *	choose.c	who carries decisions out
 *	grip.c		who can be stopped: attaching and leaving
 *	resets.c	GPUs that the driver resets, and who is lost by that
 *	rings.c		where their queues' pointers are, and what they say
 *	probes.c	whether they execute, by the driver's wave counters
 *	kernel.c	all of that by the module, if there is one; mirror.c shows what it does
 *	wish.c		what people want: classes, holds, hints, policy, the kill switch
 */
#ifndef GP_DAEMON_HOME_H
#define GP_DAEMON_HOME_H

#include "config.h"
#include "core/sched.h"
#include "doer.h"
#include "lib/gpu.h"
#include "lib/pointers.h"
#include "lib/process.h"
#include "lib/reset.h"

enum {
	GP_HOME_WHY	= 256,
	GP_HOME_SEATS	= 4096,
	GP_HOME_PROBES	= GP_HOME_SEATS,	/* each seat is asked about once at a time */
};

/* Something that people may want to know. */
enum gp_news_kind {
	GP_NEWS_PROCESS, GP_NEWS_QUEUE, GP_NEWS_CLASS, GP_NEWS_HOLD, GP_NEWS_POLICY,
	GP_NEWS_ENABLED, GP_NEWS_GPU, GP_NEWS_TROUBLE,
};

struct gp_resident;

struct gp_news {
	u32 kind;			/* enum gp_news_kind */
	const struct gp_resident *who;	/* NULL: of no process */
	const char *what;		/* a sentence; lives during the call */
};

struct gp_home_args {
	struct gp_config *config;	/* the home's from here on, also on failure */
	bool observe;			/* whatever the configuration says */
	/* Where things are; NULL: where they really are. */
	const char *kfd, *proc, *mqds;
	const char *kmod;	/* the module's node; NULL: no module is used */
	/* Makes the doer that is used when the mechanism is not `none`. */
	int (*make_doer)(void *ctx, const struct gp_doer_args *args, struct gp_doer **ret,
			 const char **why);
	/* CLOCK_MONOTONIC, or a test's. */
	u64 (*clock)(void *ctx);
	void (*news)(void *ctx, const struct gp_news *news);
	/* Right before something or somebody is stopped: who must hear from us from now on? */
	void (*holding)(void *ctx);
	void *ctx;
};

struct gp_home;

/* 0, or -errno and a sentence in @why (GP_HOME_WHY bytes). */
int gp_home_new(const struct gp_home_args *args, struct gp_home **ret, char *why);
/* Everything is released. NULL is fine. */
void gp_home_free(struct gp_home *h);

int gp_home_fd(const struct gp_home *h);
u64 gp_home_wake_at(const struct gp_home *h);
/* What is due. @now_ns: of the clock. */
void gp_home_run(struct gp_home *h, u64 now_ns);
/* Somebody is off the GPU, or could be any moment: a home that stops now does harm. */
bool gp_home_busy(const struct gp_home *h);
/* The GPUs are others than at the start (a partition switch): make a new home. */
bool gp_home_outdated(const struct gp_home *h);
/*
 * Nobody is held or attached from now on. Run it until gp_home_quiet(): all are on the GPU and
 * left.
 */
void gp_home_leave(struct gp_home *h, u64 now_ns);
bool gp_home_quiet(const struct gp_home *h);

/* ---- wishes. 0 or -errno with a sentence in @why (GP_HOME_WHY bytes) ---- */

#define gp_who gp_process_id	/* the former name, until all callers use the new one */

/* NULL if it uses no GPU. */
struct gp_resident *gp_home_find(struct gp_home *h, const struct gp_who *who);
/* Its user; root, if not all its user ids are his. -ESRCH: no such process. */
int gp_home_owner(struct gp_home *h, const struct gp_who *who, uid_t *ret);
/*
 * Would the class (NULL: what the rules give) give it more than it has, or than the rules would?
 * 1, 0, -EINVAL, -ESRCH.
 */
int gp_home_raises(struct gp_home *h, const struct gp_who *who, const char *class_name);
/*
 * From now on it has that class (NULL: what the rules give), also if it uses no GPU yet, and
 * whatever it executes. @previous, @now: GP_CLASS_NAME bytes.
 */
int gp_home_set_class(struct gp_home *h, const struct gp_who *who, const char *class_name,
		      char *previous, char *now, char *why);
/* May its user, who is not privileged, have a wish for it? 0, -ENOSPC, -ESRCH. */
int gp_home_may_wish(struct gp_home *h, const struct gp_who *who, char *why);
int gp_home_hold(struct gp_home *h, const struct gp_who *who, u64 lease_ns, u64 *granted,
		 char *why);
int gp_home_release(struct gp_home *h, const struct gp_who *who, char *why);
int gp_home_hint(struct gp_home *h, const struct gp_who *who, u64 in_ns, u64 for_ns, char *why);
/* Look at all its GPUs now. */
int gp_home_trigger(struct gp_home *h, const struct gp_who *who, char *why);
/* Kept in the state folder. Returns whether it changed, or -errno. */
int gp_home_enable(struct gp_home *h, bool on, char *why);
/* @policy NULL: only observe. */
int gp_home_set_policy(struct gp_home *h, const struct gp_policy *policy, char *why);
int gp_home_set_param(struct gp_home *h, enum gp_param param, u64 value);
/* @config is the home's if 0 is returned, and stays the caller's else. */
int gp_home_reload(struct gp_home *h, struct gp_config *config, char *why);
/*
 * Whatever goes into and comes out of the home's scheduler, from now on, to @watcher. Somebody
 * records if there is a @recorder: then all queues are looked at, and if the kernel decides, it is
 * told what goes into and comes out of the kernel's scheduler.
 */
void gp_home_trace(struct gp_home *h, const struct gp_trace *watcher,
		   const struct gp_trace *recorder);
/* To the recorder: the scheduler that decides, as it is now (gp_trace_describe). */
void gp_home_describe(struct gp_home *h);
/*
 * Reads how much memory of which GPU everybody has, into gp_resident.usage; not more often
 * than is good for who waits for decisions.
 */
void gp_home_read_usage(struct gp_home *h);

/* ---- what it knows; read only from outside ---- */

/* How far we are with a process that may be stopped. */
enum gp_grip {
	GP_GRIP_NONE,		/* it cannot be stopped, and is no target for the scheduler */
	GP_GRIP_ASKED,
	GP_GRIP_HAS,
};

/* A queue whose pointers we know where to find. */
struct gp_ring {
	struct gp_ring_pointers at;
	u32 gpu_id;
	u32 device;
	u32 queue;		/* the scheduler's; GP_NONE: of a GPU that is not ours */
};

/* A process that has the driver open. */
struct gp_resident {
	pid_t pid;
	u64 start, birth;
	uid_t uid;
	int pidfd;		/* -1: none */
	bool seen;		/* by the scan under way */
	bool lost;		/* by a reset: for the driver it only has to end */
	char name[64];

	struct gp_named_class class;	/* @class.file is not valid */
	char class_from[GP_MATCH_WHY];
	char gang[GP_GANG_NAME];	/* "": none */

	/* what sysfs says */
	struct gp_process_queue *queues;
	u32 nr_queues;
	struct gp_process_gpu *usage;	/* as of the last gp_home_read_usage() */
	u32 nr_usage;

	/* the scheduler's task; all of a gang have the same */
	u32 task;		/* GP_NONE: none: no queues, not managed, not admitted */
	u32 kernel_task;	/* in the kernel's records; GP_NONE: not told */
	u64 devices;
	struct gp_class told;	/* what the scheduler was told of its class */
	u64 stopped_before;	/* as other tasks: before it came to use one more GPU */

	/* its pointers */
	struct gp_pointers_set *pointers;
	struct gp_ring *rings;
	u32 nr_rings;
	bool rings_stale;
	u64 rings_at_ns;	/* not to be read again before */
	u32 rings_tries;

	/* the doer's */
	u8 grip;		/* enum gp_grip */
	u64 grip_at_ns;		/* not to be asked again before */
	u64 lease_ns;		/* to be held as soon as it can be; 0: no */
	u64 lease_until_ns;	/* not wanted any more after that */
	char trouble[128];	/* why it cannot be stopped; "" */
};

/* A class that somebody asked for, for a process and what it executes. */
struct gp_wish {
	struct gp_who who;
	uid_t uid;		/* whose process it is */
	char class_name[GP_CLASS_NAME];
};

/*
 * How many there may be. Who is not privileged may have so many for his processes, and none of the
 * last ones: no user takes them from the others, nor all users from root and the group.
 */
enum { GP_WISHES = 1024, GP_WISHES_PER_USER = 256, GP_WISHES_KEPT = 128 };

struct gp_home_stats {
	u64 runs, scans, looks, probes, dumps;
	u64 refused;		/* actions that the doer did not even begin */
	u64 stray;		/* answers nobody waited for */
	u64 seen, gone;		/* processes */
	u64 attached, attach_failed, left;
	u64 resets, lost;	/* of GPUs; processes lost by them */
	u64 scan_ns_max, look_ns_max;
	/* of tasks that are gone, so that sums only grow */
	struct gp_account ended;
};

struct gp_home {
	struct gp_home_args args;
	struct gp_config *config;
	struct gp_sched *sched;
	void *memory;
	u64 now_ns;
	u64 started_ns;

	struct gp_gpu_info gpu[GP_GPUS_MAX];	/* by device */
	u32 nr_gpus;
	u32 generation;
	bool outdated;

	bool observe;		/* no policy: nobody is attached or held */
	bool enabled;		/* the kill switch */
	bool leaving;
	struct gp_trace watcher;	/* who wants to hear the scheduler */
	struct gp_trace recorder;	/* who wants to hear the one that decides */
	int record_fd;		/* the kernel's, for him; -1: none */
	struct gp_doer *doer;	/* never NULL */
	char doer_trouble[GP_HOME_WHY];

	struct gp_scanner *scanner;
	struct gp_resident **resident;	/* ordered by pid */
	u32 nr_residents;
	struct gp_wish wish[GP_WISHES];
	u32 nr_wishes;
	u64 scan_at_ns;
	u64 usage_at_ns;	/* not to be read again before */
	bool tend;		/* somebody may have to be attached or left */
	bool tend_later;	/* when the next answer has come */
	int dump_error;		/* of the last dump; 0 */

	/* Wave counters that are to be read: a ring of GP_HOME_PROBES. */
	struct gp_probe {
		u32 device, task;
	} *probe;
	u32 first_probe, nr_probes;

	int epoll;
	int inotify;
	struct gp_reset_watch *resets;	/* NULL: only while we may act */
	struct gp_sample *samples;
	u32 *tasks;
	struct gp_home_stats stats;
};

/* ---- of the home's own files ---- */

/* What a descriptor in the home's epoll is; a pid otherwise. */
#define GP_HOME_DOER	(~0ull)
#define GP_HOME_INOTIFY	(~0ull - 1)
#define GP_HOME_RESETS	(~0ull - 2)

/* home.c */
void gp_home_news(struct gp_home *h, u32 kind, const struct gp_resident *who,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Is there a policy, a mechanism and the will to use them? */
bool gp_home_acts(const struct gp_home *h);
/* Who asks the driver about @device now may have to wait for what the doer does there. */
bool gp_home_acting(const struct gp_home *h, u32 device);
/* One look at @device. */
void gp_home_look(struct gp_home *h, u32 device);

/* choose.c */
/* The doer that the configuration and the mode want is the one we have. @anew: made again. */
void gp_home_choose_doer(struct gp_home *h, bool anew);
void gp_home_drop_doer(struct gp_home *h);

/* census.c */
/* @what: enum gp_scan_what */
void gp_census_scan(struct gp_home *h, u32 what);
/* Somebody ended: cheaper than a scan. */
void gp_census_gone(struct gp_home *h, pid_t pid);
void gp_census_clear(struct gp_home *h);
/* The class that rules and wishes give @r. */
void gp_census_classify(struct gp_home *h, struct gp_resident *r);

/* job.c */
/* The scheduler's task is as the class, the gang and the queues of @r want it. */
void gp_job_settle(struct gp_home *h, struct gp_resident *r);
/* @r is of no task (any more); its gang goes on. */
void gp_job_leave(struct gp_home *h, struct gp_resident *r);
/* Nothing of its task is off or on its way. */
bool gp_job_at_rest(const struct gp_home *h, const struct gp_resident *r);
/* Is resident @i the first of its task? So each task is counted once. */
bool gp_job_first(const struct gp_home *h, u32 i);
/* Can all of its task be stopped? It has one. */
bool gp_job_gripped(const struct gp_home *h, const struct gp_resident *r);
/* Its task is to be held for so long as soon as all of it can be; 0: no (more). */
void gp_job_lease(struct gp_home *h, const struct gp_resident *r, u64 lease_ns, u64 until_ns);

/* grip.c */

/* Attach those who should be, leave those who should not. */
void gp_grip_tend(struct gp_home *h);
void gp_grip_event(struct gp_home *h, const struct gp_kfdm_event *e);

/* resets.c */
void gp_resets_watch(struct gp_home *h);
void gp_resets_unwatch(struct gp_home *h);
void gp_resets_take(struct gp_home *h);
/* @what: enum gp_reset_what */
void gp_resets_event(struct gp_home *h, u32 device, u32 what);

/* rings.c */
void gp_rings_refresh(struct gp_home *h);
void gp_rings_forget(struct gp_home *h, struct gp_resident *r);
/* Samples of @r on @device into @to; returns how many. */
u32 gp_rings_look(struct gp_home *h, struct gp_resident *r, u32 device, struct gp_sample *to,
		  u32 room);
u32 gp_rings_device(const struct gp_home *h, u32 gpu_id);

/* probes.c */
void gp_probes_put(struct gp_home *h, u32 device, u32 task);
/* Some of them; are there any that were? */
bool gp_probes_run(struct gp_home *h);
/* Is there one that can be made now? If it cannot, the doer's descriptor says when. */
bool gp_probes_due(const struct gp_home *h);

/* wish.c */
const struct gp_wish *gp_wish_find(const struct gp_home *h, pid_t pid, u64 start);
void gp_wish_forget_ended(struct gp_home *h);
/* Is the kill switch off, by the state folder? */
bool gp_wish_switched_off(const struct gp_home *h);

#endif /* GP_DAEMON_HOME_H */
