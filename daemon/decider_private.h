/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Shared by the files of the decider:
 *
 *	decider.c		life; descriptors, time and what is due
 *	processes.c	which processes use the GPUs, and which class each has
 *	descriptions.c	the descriptions of processes by the readers
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

/* Whether a process is attached. Only an attached process can be taken off the GPU. */
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
	u32 queue;		/* the scheduler's number; GP_NONE: its GPU is not scheduled */
};

/* A process that has the driver open. */
struct gp_gpu_process {
	pid_t pid;
	u64 start, birth;
	uid_t uid;
	uid_t user;		/* the user charged for it (lib/user.h) */
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
	bool announced;		/* its class was known before */
	bool logged;		/* reported to users, because it had a queue, too */
	u64 describe_at_ns;	/* when to describe it next; GP_NEVER: not again */
	u32 describe_tries;
	char undescribed[160];	/* why the class has no description; "" */

	/* from sysfs */
	struct gp_process_queue *queues;
	u32 nr_queues;

	/* tasks.c; all processes of a gang have the same task */
	u32 task;		/* GP_NONE: no queues, not managed or not admitted */
	u64 devices;
	struct gp_class told;	/* the class that the backend has for its task */
	u64 stopped_before;	/* by earlier tasks; a new GPU makes a new task */
	bool unplaced;		/* not admitted as a task: @trouble says why */
	u64 place_at_ns;	/* no retry before */

	/* queues.c */
	struct gp_watch *watch;	/* of the reader; NULL: none */
	struct gp_watched *watched;	/* in the order of @watch */
	u32 nr_watched;
	bool watched_stale;
	u64 watched_at_ns;	/* no retry before */
	u32 watched_tries;
	bool crowded;		/* some are not watched: its user has too many */
	u64 crowded_ns;		/* when that was found out */

	/* the backend's */
	u8 attachment;		/* enum gp_attachment */
	u64 attach_at_ns;	/* no attach before */
	u64 attached_ns;	/* when it was attached */
	u64 computes_ns;	/* when its first compute queue was seen; 0: none yet */
	u8 attach_tries;	/* failures, for the back-off */
	u64 lease_ns;		/* hold requested for after the attach; 0: none */
	u64 lease_until_ns;	/* when @lease_ns expires */
	bool refused;		/* it could not be attached; @trouble says why */
	bool mistrusted;	/* its user's holder hangs: preempts no process */
	u32 judged;		/* the look that set @mistrusted, by scheduler.c */
	char trouble[128];	/* what is wrong with the process; "" */
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
	uid_t uid;		/* the user charged for the process (lib/user.h) */
	char class_name[GP_CLASS_NAME];
};

/*
 * Each unprivileged user has at most GP_CLASS_REQUESTS_PER_USER. The last ones are reserved for
 * root and the group.
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

	/* settings; the backend has a copy */
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
	/*
	 * Processes that ended last. The driver still lists a process while it cleans up after it.
	 */
	struct gp_process_id ended[GP_ENDED_PROCESSES];
	u32 nr_ended;
	struct gp_class_request request[GP_CLASS_REQUESTS];
	u32 nr_requests;
	u32 request_at;		/* the next scan checks requests before this one */
	u64 scan_at_ns;
	u64 scan_again_ns;	/* no scan before */
	u64 scan_began_ns;	/* the last one */
	u8 scan_state;		/* enum gp_scan_state */
	u32 scan_taken;		/* processes of its result that were taken */
	/* unpreemptible = no-online-beside: GPUs with a cap, and the highest priority there. */
	u64 capped;
	u32 cap[GP_GPUS_MAX];
	bool attach_due;	/* a process may have to be attached or detached */
	bool attach_later;	/* set @attach_due after the next answer */
	int dump_error;		/* error of the last dump; 0 */
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
/* Returns true if processes may be attached and held: a policy is set, enabled and not leaving. */
bool gp_decider_acts(const struct gp_decider *h);
/* Returns the device of a GPU, or GP_NONE if the daemon does not schedule it. */
u32 gp_decider_device(const struct gp_decider *h, u32 gpu_id);

/* backend.c */
/* Replaces the backend if the settings require another one or @anew is true. */
int gp_backend_choose(struct gp_decider *h, bool anew);
/* Frees retired backends that are done. */
void gp_backend_reap(struct gp_decider *h);
/* Frees all. */
void gp_backend_drop_all(struct gp_decider *h);

/* processes.c */
/* Begins or continues a scan. Returns true at its end. */
bool gp_processes_scan(struct gp_decider *h);
/* Its pidfd says that the process @pid has ended. */
void gp_processes_ended(struct gp_decider *h, pid_t pid);
void gp_processes_clear(struct gp_decider *h);
/* Gives @r the class of the rules or of a request. */
void gp_processes_classify(struct gp_decider *h, struct gp_gpu_process *r);

/* descriptions.c */
/* 0 or -errno; gp_descriptions_close() in any case. */
int gp_descriptions_open(struct gp_decider *h);
void gp_descriptions_close(struct gp_decider *h);
/* Takes the events of the readers. */
void gp_descriptions_run(struct gp_decider *h);
/* Requests the description of @r, if due. */
void gp_descriptions_ask(struct gp_decider *h, struct gp_gpu_process *r);
/* Requests the description of @r again, because the known one may be old. */
void gp_descriptions_renew(struct gp_decider *h, struct gp_gpu_process *r);
/*
 * Reads the ids and the cgroup of a process from /proc/PID/status and cgroup. The process cannot
 * block that, but tens of thousands of groups take ms. The other texts are NULL. gp_subject_free()
 * frees @ret's strings. @proc: NULL is /proc. -ESRCH: no such process. Other errors say nothing
 * about the process.
 */
int gp_subject_read(const char *proc, pid_t pid, struct gp_subject *ret);
/* Reads only gp_subject.owner. */
int gp_subject_owner(const char *proc, pid_t pid, u32 *ret);
void gp_subject_free(struct gp_subject *s);

/* tasks.c */
/* Updates the task of @r after a change of its class, gang or queues. */
void gp_tasks_update(struct gp_decider *h, struct gp_gpu_process *r);
/* Removes @r from its task. A gang continues without it. */
void gp_tasks_leave(struct gp_decider *h, struct gp_gpu_process *r);
/* Returns a bit per device on which @r has queues. */
u64 gp_tasks_devices(const struct gp_decider *h, const struct gp_gpu_process *r);
/* Returns true if the task of @r is ON or LOST on all its GPUs. */
bool gp_tasks_at_rest(const struct gp_decider *h, const struct gp_gpu_process *r);
/* Returns true if process @i is the first of its task, to count each task once. */
bool gp_tasks_first(const struct gp_decider *h, u32 i);
/* Returns true if all processes of the task of @r are attached. @r has a task. */
bool gp_tasks_attached(const struct gp_decider *h, const struct gp_gpu_process *r);
/*
 * Returns a process that makes the task of @r unpreemptible although its class may be preempted, or
 * NULL. The trouble of that process says why.
 */
const struct gp_gpu_process *gp_tasks_unpreemptible(const struct gp_decider *h,
						 const struct gp_gpu_process *r);
/* Updates the priority caps of no-online-beside, and passes them to the backend. */
void gp_tasks_cap(struct gp_decider *h);
/* Requests a hold of @lease_ns for when the whole task is attached; 0: cancels the request. */
void gp_tasks_lease(struct gp_decider *h, const struct gp_gpu_process *r, u64 lease_ns,
		    u64 until_ns);

/* resets.c */
enum gp_reset_what { GP_RESET_BEGINS = 1 << 0, GP_RESET_ENDS = 1 << 1 };

void gp_resets_watch(struct gp_decider *h);
void gp_resets_unwatch(struct gp_decider *h);
void gp_resets_take(struct gp_decider *h);
/* Handles an event of @device. @what: bits of enum gp_reset_what */
void gp_resets_event(struct gp_decider *h, u32 device, u32 what);
/* Parses the events of a GPU into bits of enum gp_reset_what. */
u32 gp_reset_parse(const char *text, size_t bytes);

/* requests.c */
const struct gp_class_request *gp_class_request_find(const struct gp_decider *h, pid_t pid,
						     u64 start);
/* Forgets requests whose process has ended. Checks a bounded number of them per call. */
void gp_class_request_forget_ended(struct gp_decider *h);
/*
 * Returns 1 if the file `off` in the state folder switches gpreempt off, 0 if not, or -errno if not
 * known.
 */
int gp_switched_off(const struct gp_decider *h);

#endif /* GP_DAEMON_DECIDER_PRIVATE_H */
