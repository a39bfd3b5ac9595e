// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "peer.h"

#include <grp.h>
#include <sys/socket.h>

#include "lib/user.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS	59	/* Linux 4.13 */
#endif

/* A peer in more groups than that is not found to be in ours. */
enum { MAX_GROUPS = 4096 };

static bool in_group(int fd, gid_t group)
{
	static gid_t groups[MAX_GROUPS];
	socklen_t size = sizeof(groups);
	size_t i;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (i = 0; i < size / sizeof(gid_t); i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* A peer that has passed its socket on and ended gains no user of its own by that. */
static uid_t user_of(const struct ucred *cred)
{
	static struct gp_subuids *subuids;
	uid_t user;

	if (!subuids && gp_subuids_alloc(NULL, &subuids))
		return cred->uid;
	if (gp_user_of(subuids, NULL, cred->pid, cred->uid, &user))
		return gp_user_of_uid(subuids, cred->uid);
	return user;
}

int gp_peer_identify(int fd, gid_t group, struct gp_peer *ret)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size))
		return -errno;
	*ret = (struct gp_peer){
		.pid = cred.pid, .uid = cred.uid, .gid = cred.gid,
		.user = user_of(&cred), .privileged = cred.uid == 0,
	};
	if (group != (gid_t)-1)
		ret->privileged |= cred.gid == group || in_group(fd, group);
	return 0;
}

gid_t gp_peer_group(const char *name)
{
	struct group *group = name ? getgrnam(name) : NULL;

	return group ? group->gr_gid : (gid_t)-1;
}
