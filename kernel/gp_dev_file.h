/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* An open descriptor of /dev/gpreempt: the tasks it attached and its unread events. */
#ifndef GP_KERNEL_DEV_FILE_H
#define GP_KERNEL_DEV_FILE_H

#include <linux/eventfd.h>
#include <linux/poll.h>

#include "core/trace.h"
#include "uapi/gpreempt.h"

struct gp_kernel_gpu;
struct gp_target;

/* Size of a client's ring, a power of two. A full ring drops the newest events. */
enum { GP_DEV_FILE_EVENTS = 8192 };

struct gp_dev_file {
	struct list_head of_home;	/* home.lock */
	struct list_head targets;	/* home.mutex */
	struct mutex reading;		/* one reader at a time: it takes what it copied */
	spinlock_t lock;		/* the ring; inside home.lock */
	struct gp_uapi_event *ring;	/* allocated by the first subscription */
	u32 head, tail;			/* next to write, next to read; they count up */
	bool owed;			/* has a new event but was not woken yet */
	u64 dropped;			/* events dropped since the last one that had room */
	u32 what;			/* enum gp_uapi_subscription; home.lock */
	struct eventfd_ctx *eventfd;
	wait_queue_head_t wait;
};

struct gp_dev_file *gp_dev_file_open(void);
/* Detaches all tasks. Closing the last client restores the settings after loading. */
void gp_dev_file_close(struct gp_dev_file *client);
/* -EBADF: not an eventfd. */
int gp_dev_file_subscribe(struct gp_dev_file *client, const struct gp_uapi_subscribe *s);
ssize_t gp_dev_file_read(struct gp_dev_file *client, char __user *to, size_t bytes, bool wait);
/* Sends a record to the recording clients. The caller holds home.lock. */
void gp_dev_file_record(const struct gp_rec *rec);
void gp_dev_file_record_task(const struct gp_target *target);
void gp_dev_file_record_gpu(const struct gp_kernel_gpu *gpu);
__poll_t gp_dev_file_poll(struct gp_dev_file *client, struct file *file, poll_table *table);

/* Sends @event to subscribed clients (GP_UAPI_EVENTS: own tasks only). Under home.lock. */
void gp_dev_file_tell(const struct gp_uapi_event *event, const struct gp_target *target);
/* Wakes clients that got an event while wakeups were deferred. The caller holds home.lock. */
void gp_dev_file_wake_owed(void);

/* ---- gp_trace.c ---- */

/*
 * Receives the scheduler's trace. Passes records to recording clients, tracepoints and events.
 * Updates the statistics that follow from records: nr_tasks, nr_off, decisions, stopped, started,
 * refused, lost, late, ejections and the parts. The code that does the work counts the others.
 */
void gp_dev_file_trace(void *ctx, const struct gp_rec *rec);

#endif /* GP_KERNEL_DEV_FILE_H */
