// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "children.h"

#include <unistd.h>

static struct {
	int fd;			/* 0: not connected (descriptor 0 is never the channel) */
	u32 last;		/* number given */
	struct gp_child_owner owner[GP_NR_ROLES];
	pid_t pid[GP_SUPERVISOR_CHILDREN];	/* those that live; 0: free */
} here;

int gp_children_connect(int fd)
{
	if (fd <= 0 || here.fd)
		return -EINVAL;
	here.fd = fd;
	return 0;
}

void gp_children_disconnect(void)
{
	if (here.fd)
		close(here.fd);
	here.fd = 0;
}

int gp_children_fd(void)
{
	return here.fd ? here.fd : -1;
}

void gp_children_own(u32 role, const struct gp_child_owner *owner)
{
	here.owner[role] = owner ? *owner : (struct gp_child_owner){ 0 };
}

int gp_children_start(u32 role, uid_t user, u32 *ret)
{
	struct gp_supervisor_message m =
		GP_MESSAGE(struct gp_supervisor_message, GP_SUP_START, .child = here.last + 1,
			   .role = role, .user = user);
	int err;

	if (!here.fd)
		return -EPIPE;
	err = gp_channel_send(here.fd, &m.is, NULL, 0);
	if (err)
		return err;
	*ret = ++here.last;
	return 0;
}

void gp_children_kill(u32 child)
{
	struct gp_supervisor_message m =
		GP_MESSAGE(struct gp_supervisor_message, GP_SUP_KILL, .child = child);

	if (here.fd)
		gp_channel_send(here.fd, &m.is, NULL, 0);
}

static void replace_pid(pid_t old, pid_t new)
{
	for (u32 i = 0; i < GP_SUPERVISOR_CHILDREN; i++) {
		if (here.pid[i] != old)
			continue;
		here.pid[i] = new;
		return;
	}
}

bool gp_children_has(pid_t pid)
{
	for (u32 i = 0; pid && i < GP_SUPERVISOR_CHILDREN; i++)
		if (here.pid[i] == pid)
			return true;
	return false;
}

static void take(const struct gp_supervisor_message *m, int *fds)
{
	const struct gp_child_owner *owner = &here.owner[m->role];
	bool started = m->is.kind == GP_SUP_STARTED;

	if (m->pid)
		replace_pid(started ? 0 : m->pid, started ? m->pid : 0);
	if (started && owner->started) {
		owner->started(owner->ctx, m->child, m->err ? -1 : fds[0],
			       m->err || fds[0] < 0 ? m->err ? m->err : -EPROTO : 0);
		fds[0] = -1;
	} else if (!started && owner->ended) {
		owner->ended(owner->ctx, m->child, m->err);
	}
}

int gp_children_run(void)
{
	struct gp_supervisor_message m;
	int fds[GP_CHANNEL_FDS], n;

	while (here.fd) {
		n = gp_channel_recv(here.fd, &m, sizeof(m), fds);
		if (n == -EAGAIN)
			return 0;
		/* A supervisor that sends nonsense is as good as gone. */
		if (n != (int)sizeof(m) || m.role >= GP_NR_ROLES ||
		    (m.is.kind != GP_SUP_STARTED && m.is.kind != GP_SUP_ENDED)) {
			gp_children_disconnect();
			break;
		}
		take(&m, fds);
		for (u32 i = 0; i < GP_CHANNEL_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
	return -EPIPE;
}
