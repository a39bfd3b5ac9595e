// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A debug session as a handle that several threads may use. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/gpreempt.h"
#include "lib/sys.h"
#include "session.h"

struct gp_suspender {
	pthread_mutex_t lock;	/* of the session */
	struct gp_session session;
	int kfd_fd;
};

/*
 * Refuses an older driver that accepts calls only from one thread, because this handle has no
 * thread of its own.
 */
static int refuse_attached(struct gp_suspender *s)
{
	if (!s->session.attached)
		return 0;
	gp_session_close(&s->session);
	return gp_fail(ENOSYS, "this driver lets only a tracer suspend: use gpreemptd");
}

int gp_suspender_open(const struct gp_daemon_target *target, struct gp_suspender **ret)
{
	struct gp_suspender *s = calloc(1, sizeof(*s));
	struct gp_session_args args = { .pid = target->pid, .start = target->start };
	int err;

	if (!s)
		return gp_fail(ENOMEM, "out of memory");
	s->kfd_fd = gp_sys->openat(AT_FDCWD, "/dev/kfd", O_RDWR | O_CLOEXEC);
	if (s->kfd_fd < 0) {
		err = gp_fail(errno == ENOENT || errno == ENXIO ? ENODEV : errno,
			      "cannot open /dev/kfd: %s", strerrordesc_np(errno));
		free(s);
		return err;
	}
	args.kfd_fd = s->kfd_fd;
	err = gp_session_open(&s->session, &args);
	if (!err)
		err = refuse_attached(s);
	if (err) {
		close(s->kfd_fd);
		free(s);
		return err;
	}
	pthread_mutex_init(&s->lock, NULL);
	*ret = s;
	return 0;
}

void gp_suspender_close(struct gp_suspender *s)
{
	if (!s)
		return;
	gp_session_close(&s->session);
	close(s->kfd_fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int gp_suspender_suspend(struct gp_suspender *s, uint32_t gpu_id, uint32_t grace,
			 uint32_t *queues)
{
	struct gp_session_done done = { 0 };
	u32 fresh;
	int err;

	pthread_mutex_lock(&s->lock);
	/* The driver suspends a new queue only after a snapshot. */
	err = gp_session_refresh(&s->session, &fresh);
	if (!err)
		err = gp_session_suspend(&s->session, gpu_id, grace, &done);
	pthread_mutex_unlock(&s->lock);
	if (!err && queues)
		*queues = done.done;
	return err;
}

int gp_suspender_resume(struct gp_suspender *s, uint32_t gpu_id, uint32_t *queues)
{
	struct gp_session_done done = { 0 };
	int err;

	pthread_mutex_lock(&s->lock);
	err = gp_session_resume(&s->session, gpu_id, &done);
	pthread_mutex_unlock(&s->lock);
	if (!err && queues)
		*queues = done.done;
	return err;
}

int gp_suspender_fd(const struct gp_suspender *s)
{
	return s->session.pipe[0];
}

int gp_suspender_events(struct gp_suspender *s)
{
	int mask, events = 0;

	pthread_mutex_lock(&s->lock);
	mask = gp_session_events(&s->session);
	pthread_mutex_unlock(&s->lock);
	if (mask < 0)
		return mask;
	if (mask & GP_SESSION_NEW_QUEUES)
		events |= GP_SUSPENDER_NEW_QUEUES;
	if (mask & GP_SESSION_OTHER)
		events |= GP_SUSPENDER_CHANGED;
	if (mask & (GP_SESSION_RUNTIME | GP_SESSION_GONE))
		events |= GP_SUSPENDER_ENDED;
	return events;
}
