/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the files of the decider share:
 *
 *	decider.c		life; descriptors, time and what is due
 *	processes.c	which processes use the GPUs, and which class each has
 *	descriptions.c	what the readers say about them
 *	tasks.c		which processes are one task: each by itself, or a gang
 *	requests.c	what users ask for: classes, holds, hints, policy, the kill switch
 *	resets.c	GPUs that the driver resets, and the processes lost by that
 *	backend.c	which backend is used; the others are named in backend.h
 */
#ifndef GP_DAEMON_DECIDER_PRIVATE_H
#define GP_DAEMON_DECIDER_PRIVATE_H

#include "decider.h"
#include "lib/gpu.h"
#include "lib/pointers.h"
#include "lib/process.h"
#include "readers.h"
#include "rules.h"

/* Is a process attached, so that it can be taken off the GPU? */
enum gp_attachment {
	GP_NOT_ATTACHED,		/* no: it is not preemptible for the scheduler */
	GP_ATTACHING,
	GP_ATTACHED,
};

/* A queue whose pointers the reader can read. */
struct gp_watched {
	struct gp_ring_pointers at;
	u32 gpu_id;
	u32 device;
	u32 queue;		/* the scheduler's number; GP_NONE: of a GPU that is not ours */
};

/* A process that has the driver open. */
struct gp_gpu_process {
	pid_t pid;
	u64 start, birth;
	uid_t uid;
	uid_t user;		/* that answers for it (lib/user.h) */
	int pidfd;		/* -1: none */
	bool seen;		/* by the scan under way */
	bool lost;		/* by a reset: the driver runs nothing of it any more */
	char name[64];

	struct gp_named_class class;	/* @class.file is not valid */
	char class_from[GP_MATCH_WHY];
	char gang[GP_GANG_NAME];	/* "": none */

	/* descriptions.c */
	struct gp_subject subject;	/* if @described */
	bool described;
	bool asked;		/* an answer of the reader will come */
	bool announced;		/* its class was known once */
	bool logged;		/* users were told of it: it had a queue, too */
	u64 describe_at_ns;	/* not to be asked about before; GP_NEVER: not again */
	u32 describe_tries;
	char undescribed[160];	/* why the class is given without a description; "" */

	/* from sysfs */
	struct gp_process_queue *queues;
	u32 nr_queues;

	/* tasks.c; all processes of a gang have the same task */
	u32 task;		/* GP_NONE: none: no queues, not managed, not admitted */
	u64 devices;
	struct gp_class told;	/* the class of its task, as the backend was told */
	u64 stopped_before;	/* by earlier tasks; one more GPU means another task */
	bool unplaced;		/* it should have a task, and was not admitted: @trouble */
	u64 place_at_ns;	/* not to be tried again before */

	/* queues.c */
	struct gp_watch *watch;	/* of the reader; NULL: none */
	struct gp_watched *watched;	/* in the order of @watch */
	u32 nr_watched;
	bool watched_stale;
	u64 watched_at_ns;	/* not to be read again before */
	u32 watched_tries;
	bool crowded;		/* its user has too many: some are not watched */
	u64 crowded_ns;		/* when that was found out */

	/* the backend's */
	u8 attachment;		/* enum gp_attachment */
	u64 attach_at_ns;	/* not to be attached again before */
	u64 attached_ns;	/* since when, if it is */
	u64 computes_ns;	/* when its first compute queue was seen; 0: none yet */
	u8 attach_tries;	/* failures that make the next try later */
	u64 lease_ns;		/* to be held as soon as it is attached; 0: no */
	u64 lease_until_ns;	/* the request for that expires */
	bool refused;		/* it could not be attached; @trouble says why */
	bool mistrusted;	/* the holder of its user hangs: it preempts no process */
	u32 judged;		/* when that was found out, by scheduler.c */
	char trouble[128];	/* what is wrong with it; "" */
};

/* A scan takes several runs if there are many processes. */
enum gp_scan_state {
	GP_SCAN_NONE,
	GP_SCAN_STEPPING,	/* the scanner is not done */
	GP_SCAN_TAKING,		/* its result is being taken */
};

/* A class that was requested for a process and what it executes. */
struct gp_class_request {
	struct gp_process_id who;
	uid_t uid;		/* the user who answers for the process (lib/user.h) */
	char class_name[GP_CLASS_NAME];
};

/*
 * Users without privilege have some each and none of the last ones, so that no user takes all of
 * them, nor all users together those of root and the group.
 */
enum { GP_CLASS_REQUESTS = 1024, GP_CLASS_REQUESTS_PER_USER = 256, GP_CLASS_REQUESTS_KEPT = 128 };

enum { GP_ENDED_PROCESSES = 16 };

struct gp_decider_stats {
	u64 runs, scans, looks, probes, dumps;
	u64 refused;		/* actions that the mechanism refused at once */
	u64 stray;		/* answers to actions that nothing waited for */
	u64 seen, gone;		/* processes */
	u64 resets, lost;	/* of GPUs; processes lost by them */
	u64 scan_ns_max, look_ns_max;
	/* of earlier backends and tasks, so that sums only grow */
	u64 ejections, stale_samples;
	struct gp_account ended;
};

struct gp_decider {
	struct gp_decider_args args;
	struct gp_config *config;
	u64 now_ns;
	u64 started_ns;

	struct gp_gpu_info gpu[GP_GPUS_MAX];	/* by device */
	u32 nr_gpus;
	u32 generation;
	bool outdated;

	/* settings; the backend is told them */
	const struct gp_policy *policy;	/* fifo while it only observes */
	u64 param[GP_NR_PARAMS];
	bool observe;		/* no policy: no process is attached or held */
	bool enabled;		/* the kill switch */
	bool leaving;
	struct gp_trace watcher, recorder;	/* gp_decider_trace() */

	struct gp_backend *backend;	/* never NULL after gp_decider_new() */
	struct gp_backend *retired;	/* still releasing; nothing is attached meanwhile */
	char backend_trouble[GP_DECIDER_WHY];
	u64 choose_again_ns;	/* the backend; 0: not */

	struct gp_scanner *scanner;
	struct gp_readers *readers;
	struct gp_subuids *subuids;	/* for @readers */
	struct gp_gpu_process **process;	/* ordered by pid */
	u32 nr_processes;
	/* that ended last; the driver lists a process until it has cleaned up after it */
	struct gp_process_id ended[GP_ENDED_PROCESSES];
	u32 nr_ended;
	struct gp_class_request request[GP_CLASS_REQUESTS];
	u32 nr_requests;
	u32 request_at;		/* those before are to be looked at in the next scan */
	u64 scan_at_ns;
	u64 scan_again_ns;	/* not before, whatever asks for a scan */
	u64 scan_began_ns;	/* the last one */
	u8 scan_state;		/* enum gp_scan_state */
	u32 scan_taken;		/* processes of its result that were taken */
	/* unpreemptible = no-online-beside: GPUs with a cap, and the highest priority there. */
	u64 capped;
	u32 cap[GP_GPUS_MAX];
	bool attach_due;	/* a process may have to be attached or left */
	bool attach_later;	/* when the next answer has come */
	int dump_error;		/* of the last dump; 0 */
	pid_t dump_only;	/* the process of the dump under way; 0: all */

	int epoll;
	int inotify;
	int reset_fd[GP_GPUS_MAX];	/* by device; none: resets are not watched */
	u32 nr_reset_fds;
	struct gp_decider_stats stats;
};

/* Values of epoll_event.data in decider.epoll; others are pids. */
#define GP_DECIDER_BACKEND	(~0ull)
#define GP_DECIDER_INOTIFY	(~0ull - 1)
#define GP_DECIDER_RESETS	(~0ull - 2)
#define GP_DECIDER_READERS	(~0ull - 3)
#define GP_DECIDER_CHILDREN	(~0ull - 4)

/* decider.c */
void gp_decider_news(struct gp_decider *h, u32 kind, const struct gp_gpu_process *who,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* May processes be attached and held: a policy, enabled, not leaving? */
bool gp_decider_acts(const struct gp_decider *h);
/* The device of a GPU; GP_NONE: not one of ours. */
u32 gp_decider_device(const struct gp_decider *h, u32 gpu_id);

/* backend.c */
/* Replaces the backend if the settings want another one, or in any case if @anew. */
int gp_backend_choose(struct gp_decider *h, bool anew);
/* Frees retired backends that are done. */
void gp_backend_reap(struct gp_decider *h);
/* Frees all. */
void gp_backend_drop_all(struct gp_decider *h);

/* processes.c */
/* Begins a scan, or goes on with it. Returns true at its end. */
bool gp_processes_scan(struct gp_decider *h);
/* @pid ended: cheaper than a scan. */
/* Its pidfd says that the process @pid has ended. */
void gp_processes_ended(struct gp_decider *h, pid_t pid);
void gp_processes_clear(struct gp_decider *h);
/* Gives @r the class of the rules or of a request. */
void gp_processes_classify(struct gp_decider *h, struct gp_gpu_process *r);

/* descriptions.c */
/* 0 or -errno; gp_descriptions_close() in any case. */
int gp_descriptions_open(struct gp_decider *h);
void gp_descriptions_close(struct gp_decider *h);
/* Takes what the readers said. */
void gp_descriptions_run(struct gp_decider *h);
/* Asks for the description of @r, if that is due. */
void gp_descriptions_ask(struct gp_decider *h, struct gp_gpu_process *r);
/* The same in any case: what is known of it may be old. */
void gp_descriptions_renew(struct gp_decider *h, struct gp_gpu_process *r);
/*
 * The ids and the cgroup of a process, from /proc/PID/status and cgroup, which never wait for the
 * process; its groups, if it has tens of thousands, take ms. The other texts are NULL.
 * gp_subject_free() frees @ret's strings. @proc: NULL is /proc.
 * -ESRCH: no such process. Other errors say nothing about the process.
 */
int gp_subject_read(const char *proc, pid_t pid, struct gp_subject *ret);
/* gp_subject.owner alone. */
int gp_subject_owner(const char *proc, pid_t pid, u32 *ret);
void gp_subject_free(struct gp_subject *s);

/* tasks.c */
/* Makes the task of @r what its class, gang and queues want. */
void gp_tasks_update(struct gp_decider *h, struct gp_gpu_process *r);
/* @r leaves its task; a gang goes on without it. */
void gp_tasks_leave(struct gp_decider *h, struct gp_gpu_process *r);
/* Where @r has queues: bit per device. */
u64 gp_tasks_devices(const struct gp_decider *h, const struct gp_gpu_process *r);
/* The task of @r is on, or lost, on all its GPUs. */
bool gp_tasks_at_rest(const struct gp_decider *h, const struct gp_gpu_process *r);
/* Is process @i the first of its task? For counting each task once. */
bool gp_tasks_first(const struct gp_decider *h, u32 i);
/* Are all processes of its task attached? @r has a task. */
bool gp_tasks_attached(const struct gp_decider *h, const struct gp_gpu_process *r);
/*
 * A process because of which the task of @r cannot be preempted, though its class may be: its
 * trouble says why. NULL: there is none.
 */
const struct gp_gpu_process *gp_tasks_unpreemptible(const struct gp_decider *h,
						 const struct gp_gpu_process *r);
/* Finds out beside which processes none may be online, and tells the backend. */
void gp_tasks_cap(struct gp_decider *h);
/* Hold the task for @lease_ns as soon as all of it is attached; 0: no (more). */
void gp_tasks_lease(struct gp_decider *h, const struct gp_gpu_process *r, u64 lease_ns,
		    u64 until_ns);

/* resets.c */
enum gp_reset_what { GP_RESET_BEGINS = 1 << 0, GP_RESET_ENDS = 1 << 1 };

void gp_resets_watch(struct gp_decider *h);
void gp_resets_unwatch(struct gp_decider *h);
void gp_resets_take(struct gp_decider *h);
/* @what: bits of enum gp_reset_what */
void gp_resets_event(struct gp_decider *h, u32 device, u32 what);
/* What a read of the events of a GPU says: bits of enum gp_reset_what. */
u32 gp_reset_parse(const char *text, size_t bytes);

/* requests.c */
const struct gp_class_request *gp_class_request_find(const struct gp_decider *h, pid_t pid,
						     u64 start);
/* Some of the requests whose process has ended, the others in the next calls. */
void gp_class_request_forget_ended(struct gp_decider *h);
/* Is gpreempt switched off by the file `off` in the state folder? 1, 0, or -errno: not known. */
int gp_switched_off(const struct gp_decider *h);

#endif /* GP_DAEMON_DECIDER_PRIVATE_H */
