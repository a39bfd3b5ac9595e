// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Identifies the user of a client, and chooses which connections to accept and which to evict. */
#include <grp.h>
#include <sys/socket.h>

#include "control_private.h"
#include "lib/sys.h"
#include "lib/user.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS	59	/* Linux 4.13 */
#endif

/* ---- the peer ---- */

/* A peer in more groups than that does not count as a member of the group. */
enum { MAX_GROUPS = 4096 };

static bool in_group(int fd, gid_t group)
{
	static gid_t groups[MAX_GROUPS];
	socklen_t size = sizeof(groups);
	size_t i;

	if (gp_sys->getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (i = 0; i < size / sizeof(gid_t); i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* Gets the user of @cred. 0, or -errno: unknown for now. */
static int user_of(const struct ucred *cred, uid_t *ret)
{
	static struct gp_subuids *subuids;
	int err = subuids ? 0 : gp_subuids_alloc(NULL, &subuids);

	*ret = cred->uid;
	if (!err)
		err = gp_user_of(subuids, NULL, cred->pid, cred->uid, ret);
	if (err != -ESRCH)
		return err;
	/* The process has ended, so use the owner of its uid, or it could be a user of its own. */
	*ret = gp_user_of_uid(subuids, cred->uid);
	return 0;
}

int gp_peer_identify(int fd, gid_t group, struct gp_peer *ret)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);
	int err;

	if (gp_sys->getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size))
		return -errno;
	*ret = (struct gp_peer){
		.pid = cred.pid, .uid = cred.uid, .gid = cred.gid, .privileged = cred.uid == 0,
	};
	if (group != (gid_t)-1)
		ret->privileged |= cred.gid == group || in_group(fd, group);
	err = user_of(&cred, &ret->user);
	/* Root and the group have no limits, so their user does not matter. */
	return ret->privileged ? 0 : err;
}

gid_t gp_peer_group(const char *name)
{
	struct group *group = name ? getgrnam(name) : NULL;

	return group ? group->gr_gid : (gid_t)-1;
}

/* ---- places ---- */

/* Returns the entry of @user, a new one if needed. There are more entries than connections. */
struct client_user *gp_control_user(struct gp_control *c, uid_t user)
{
	struct client_user *u, *unused = NULL;

	for (u = c->users; u < c->users + 2 * c->args.clients; u++) {
		if (u->user == user)
			return u;
		/* Reuse the entry without connections that owes least. */
		if (!u->connections && (!unused || u->paid_ns < unused->paid_ns))
			unused = u;
	}
	*unused = (struct client_user){ .user = user };
	return unused;
}

/*
 * Closes the connection of @user (NULL: of root and the group) that has been idle longest. With
 * @busy it closes any if none is idle.
 */
static struct connection *evict(struct gp_control *c, const struct client_user *user, bool busy)
{
	struct connection *found = NULL, *conn;

	for (EACH(c, conn)) {
		if (!conn->state || conn->peer.privileged == !!user ||
		    (user && conn->user != user))
			continue;
		if (!gp_connection_idle(conn) ? busy && !found :
		    !found || !gp_connection_idle(found) || conn->idle_ns < found->idle_ns)
			found = conn;
	}
	if (found) {
		gp_connection_end(found, EVICTED);
		gp_connection_close(c, found);
	}
	return found;
}

/*
 * Returns the unprivileged user with the most connections; of equals one with an idle connection.
 */
static struct client_user *largest_user(struct gp_control *c)
{
	struct client_user *most = NULL;
	struct connection *conn;
	bool idle = false;

	for (EACH(c, conn)) {
		u32 n = conn->state && !conn->peer.privileged ? conn->user->connections : 0;

		if (!n || (most && n < most->connections))
			continue;
		if (!most || n > most->connections || (!idle && gp_connection_idle(conn))) {
			most = conn->user;
			idle = gp_connection_idle(conn);
		}
	}
	return most;
}

static struct connection *free_place(struct gp_control *c)
{
	struct connection *conn;

	for (EACH(c, conn))
		if (!conn->state)
			return conn;
	return NULL;
}

/*
 * Returns a place for @peer, or NULL to refuse it. Evicts another connection if needed. When all
 * places are taken, the user with the most connections loses one; a busy one only to a user who has
 * at least two fewer.
 */
struct connection *gp_control_place(struct gp_control *c, const struct gp_peer *peer,
				    const struct client_user *user)
{
	u32 shared = c->args.clients - c->args.clients / 8;
	struct client_user *most;

	if (peer->privileged) {
		most = largest_user(c);
		return c->stats.clients < c->args.clients ? free_place(c) :
		       evict(c, most, most);
	}
	if (user->connections >= c->args.clients_per_user)
		return evict(c, user, false);
	if (c->plain < shared && c->stats.clients < c->args.clients)
		return free_place(c);
	most = largest_user(c);
	if (!most || (most != user && most->connections <= user->connections))
		return NULL;
	return evict(c, most, most != user && most->connections >= user->connections + 2);
}
