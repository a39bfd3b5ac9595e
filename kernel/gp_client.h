/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* An open descriptor of /dev/gpreempt: what it attached, and what it has not read yet. */
#ifndef GP_KERNEL_CLIENT_H
#define GP_KERNEL_CLIENT_H

#include <linux/eventfd.h>
#include <linux/poll.h>

#include "gp_home.h"

/* Ring of a client; a full one drops the newest. A power of two. */
enum { GP_CLIENT_EVENTS = 8192 };

struct gp_client {
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

struct gp_client *gp_client_open(void);
/* Detaches everything; the last one leaves the settings as after loading. */
void gp_client_close(struct gp_client *client);
/* -EBADF: not an eventfd. */
int gp_client_subscribe(struct gp_client *client, const struct gp_uapi_subscribe *s);
ssize_t gp_client_read(struct gp_client *client, char __user *to, size_t bytes, bool wait);
/* To those who record: what the scheduler says, and whose its numbers are. Under home.lock. */
void gp_client_record(const struct gp_rec *rec);
void gp_client_record_task(const struct gp_target *target);
void gp_client_record_gpu(const struct gp_gpu *gpu);
__poll_t gp_client_poll(struct gp_client *client, struct file *file, poll_table *table);

#endif /* GP_KERNEL_CLIENT_H */
