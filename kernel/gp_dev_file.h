/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* An open descriptor of /dev/gpreempt: what it attached, and what it has not read yet. */
#ifndef GP_KERNEL_DEV_FILE_H
#define GP_KERNEL_DEV_FILE_H

#include <linux/eventfd.h>
#include <linux/poll.h>

#include "core/trace.h"
#include "uapi/gpreempt.h"

struct gp_kernel_gpu;
struct gp_target;

/* Ring of a client; a full one drops the newest. A power of two. */
enum { GP_DEV_FILE_EVENTS = 8192 };

struct gp_dev_file {
	struct list_head of_home;	/* home.lock */
	struct list_head targets;	/* home.mutex */
	struct mutex reading;		/* one reader at a time: what it copied is read then */
	spinlock_t lock;		/* the ring; inside home.lock */
	struct gp_uapi_event *ring;	/* by vmalloc on the first subscription */
	u32 head, tail;			/* written next, read next; they count up */
	bool owed;			/* it has been told something and sleeps on */
	u64 dropped;			/* since the last one that had room */
	u32 what;			/* enum gp_uapi_subscription; home.lock */
	struct eventfd_ctx *eventfd;
	wait_queue_head_t wait;
};

struct gp_dev_file *gp_dev_file_open(void);
/* Detaches everything; the last one leaves the settings as after loading. */
void gp_dev_file_close(struct gp_dev_file *client);
/* -EBADF: not an eventfd. */
int gp_dev_file_subscribe(struct gp_dev_file *client, const struct gp_uapi_subscribe *s);
ssize_t gp_dev_file_read(struct gp_dev_file *client, char __user *to, size_t bytes, bool wait);
/* To those who record: what the scheduler says, and whose its numbers are. Under home.lock. */
void gp_dev_file_record(const struct gp_rec *rec);
void gp_dev_file_record_task(const struct gp_target *target);
void gp_dev_file_record_gpu(const struct gp_kernel_gpu *gpu);
__poll_t gp_dev_file_poll(struct gp_dev_file *client, struct file *file, poll_table *table);

/* To every client that wants it (GP_UAPI_EVENTS: only the target's own). Under home.lock. */
void gp_dev_file_tell(const struct gp_uapi_event *event, const struct gp_target *target);
/* Those who were told something while it was hushed. Under home.lock. */
void gp_dev_file_wake_owed(void);

/* ---- gp_trace.c ---- */

/*
 * The scheduler's trace: to those who record, to tracepoints, as events, and to those statistics
 * that follow from it: nr_tasks, nr_off, decisions, stopped, started, refused, lost, late,
 * ejections and the parts. The others are counted by who does it.
 */
void gp_dev_file_trace(void *ctx, const struct gp_rec *rec);

#endif /* GP_KERNEL_DEV_FILE_H */
