// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "children.h"

#include <unistd.h>

static struct {
	int fd;			/* 0: not connected (descriptor 0 is never the channel) */
	struct gp_child_owner owner[GP_NR_ROLES];
	pid_t pid[GP_SUPERVISOR_CHILDREN];	/* live children; 0: free */
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
	here.owner[role] = *owner;
}

void gp_children_disown(u32 role, const void *ctx)
{
	if (here.owner[role].ctx == ctx)
		here.owner[role] = (struct gp_child_owner){ 0 };
}

int gp_children_start(u32 role, u64 child, uid_t user, int channel)
{
	struct gp_supervisor_message m =
		GP_MESSAGE(struct gp_supervisor_message, GP_SUP_START, .child = child,
			   .role = role, .user = user);

	return here.fd ? gp_channel_send(here.fd, &m.is, &channel, 1) : -EPIPE;
}

void gp_children_kill(u32 role, u64 child)
{
	struct gp_supervisor_message m =
		GP_MESSAGE(struct gp_supervisor_message, GP_SUP_KILL, .child = child,
			   .role = role);

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

static void take(const struct gp_supervisor_message *m)
{
	const struct gp_child_owner *owner = &here.owner[m->role];
	bool started = m->is.kind == GP_SUP_STARTED;

	if (m->pid)
		replace_pid(started ? 0 : m->pid, started ? m->pid : 0);
	if (started && m->err && owner->failed)
		owner->failed(owner->ctx, m->child, m->err);
	else if (!started && owner->ended)
		owner->ended(owner->ctx, m->child, m->err);
}

int gp_children_run(void)
{
	struct gp_supervisor_message m;
	int n;

	while (here.fd) {
		n = gp_channel_recv(here.fd, &m, sizeof(m), NULL);
		if (n == -EAGAIN)
			return 0;
		/* Treat a supervisor that sends invalid messages as gone. */
		if (n != (int)sizeof(m) || m.role >= GP_NR_ROLES ||
		    (m.is.kind != GP_SUP_STARTED && m.is.kind != GP_SUP_ENDED)) {
			gp_children_disconnect();
			break;
		}
		take(&m);
	}
	return -EPIPE;
}
