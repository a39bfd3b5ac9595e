/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The inside of the mechanism kfd-debug: what its owner (mechanism_kfd_debug.c,
 * kfdm_table.c) and its threads (kfdm_worker.c, kfdm_act.c) share.
 *
 * m->lock protects everything here but sessions, and is never held in a driver call.
 * member->busy protects a session and who holds it, and is held in driver calls; it is
 * taken first. A member is attached, heard and left by its home thread only.
 */
#ifndef GP_LIB_KFDM_H
#define GP_LIB_KFDM_H

#include <pthread.h>

#include "kfd_debug.h"
#include "mechanism_kfd_debug.h"

enum { GP_KFDM_GPUS = 64, GP_KFDM_EVENTS = 1024 };

enum gp_member_state {
	GP_MEMBER_WATCHED,	/* never attached */
	GP_MEMBER_WAITING,	/* to be attached */
	GP_MEMBER_ATTACHED,
	GP_MEMBER_LEAVING,	/* to be left, then freed */
};

struct gp_kfdm_task {
	u32 number;
	u32 refs;		/* the table's, and those of an action under way */
	u64 devices;
	bool gone;		/* deleted: it is not answered any more */
};

/* One process. */
struct gp_member {
	struct gp_member *next;
	struct gp_kfdm_task *task;	/* with a reference */
	pid_t pid;
	u64 start;
	u32 home;		/* worker */
	u32 state;		/* enum gp_member_state */
	u32 refs;

	pthread_mutex_t busy;
	struct gp_session session;
	u64 held;		/* devices on which it is off */
};

/* What is under way on a device. */
struct gp_kfdm_action {
	u64 id;			/* 0: nothing */
	u64 deadline_ns;
	u32 nr_out, nr;
	struct gp_kfdm_task **tasks;	/* with references */
	bool *answered;
	bool begun;		/* a worker is at it */
	bool timed_out;
};

struct gp_kfdm_device {
	struct gp_kfdm_gpu gpu;
	u32 worker;		/* who acts for it */
	struct gp_kfdm_action action;
};

struct gp_kfdm_worker {
	struct gp_kfdm *m;
	u32 index;
	pthread_t thread;
	bool running;
	int epoll_fd, wake_fd;
};

/* A queue of answers that grows. */
struct gp_kfdm_answers {
	struct gp_answer *at;
	u32 first, nr, room;	/* room: a power of two, or 0 */
};

struct gp_kfdm {
	struct gp_mechanism base;
	struct gp_kfdm_args args;
	int fd;
	pthread_mutex_t lock;
	bool stop;
	u32 nr_gpus;
	struct gp_kfdm_device devices[GP_KFDM_GPUS];
	struct gp_kfdm_worker workers[GP_KFDM_GPUS];
	struct gp_kfdm_task **tasks;	/* by number */
	u32 room_tasks;
	struct gp_member *members;
	u64 next_attach_ns;
	u32 attaching;		/* threads that are at it */
	struct gp_kfdm_answers answers;
	struct gp_kfdm_event events[GP_KFDM_EVENTS];
	u32 first_event, nr_events;
	struct gp_kfdm_stats stats;
};

u64 gp_kfdm_now(void);
void gp_kfdm_wake(const struct gp_kfdm_worker *w);
void gp_kfdm_kick(const struct gp_kfdm *m);	/* the owner */

/* With m->lock. */
void gp_kfdm_answer(struct gp_kfdm *m, const struct gp_answer *answer);
void gp_kfdm_tell(struct gp_kfdm *m, const struct gp_kfdm_event *event);
struct gp_kfdm_task *gp_kfdm_find_task(const struct gp_kfdm *m, u32 task);
void gp_kfdm_task_put(struct gp_kfdm_task *t);
void gp_member_put(struct gp_member *x);
/* It is to be left, and is or may be off. */
bool gp_member_owed(struct gp_member *x);
void gp_kfdm_action_clear(struct gp_kfdm_action *a);

/* A worker's: carries out what is under way on @device. */
void gp_kfdm_act(struct gp_kfdm *m, u32 device);
/* A worker's: the member's queues are off on these devices, the new ones too. */
int gp_kfdm_retake(struct gp_kfdm *m, struct gp_member *x);

void *gp_kfdm_worker_main(void *worker);

#endif /* GP_LIB_KFDM_H */
