// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "user.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "core/param.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS	59	/* Linux 4.13 */
#endif

enum {
	MAX_GROUPS	= 4096,		/* a peer in more groups does not count as a member */
	FILE_MAX	= 1 << 20,	/* bytes read of /etc/subuid */
};

/* ---- subuid ranges ---- */

/*
 * The uid of a name in /etc/passwd. Not getpwnam(), which may wait for a network service.
 * A user who is not in the file is represented by @otherwise.
 */
static uid_t uid_of(const char *passwd, const char *name, uid_t otherwise)
{
	FILE *f = fopen(passwd, "re");
	struct passwd *entry;
	uid_t uid = otherwise;

	while (f && (entry = fgetpwent(f))) {
		if (!strcmp(entry->pw_name, name)) {
			uid = entry->pw_uid;
			break;
		}
	}
	if (f)
		fclose(f);
	return uid;
}

/* "owner:first:count", where owner is a name or a uid. */
static bool read_range(const char *passwd, char *line, struct gp_subuid_range *ret)
{
	char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL, *end;
	unsigned long long a, b, owner;

	if (!count || first == line)
		return false;
	*first++ = 0;
	*count++ = 0;
	a = strtoull(first, &end, 10);
	if (end == first || *end)
		return false;
	b = strtoull(count, &end, 10);
	if (end == count || (*end && *end != '\n') || !b || a + b > (1ull << 32) || a + b < a)
		return false;
	owner = strtoull(line, &end, 10);
	*ret = (struct gp_subuid_range){ .first = (uid_t)a, .count = (u32)b };
	ret->owner = *end ? uid_of(passwd, line, (uid_t)a) : (uid_t)owner;
	return true;
}

static void read_ranges(struct gp_subuids *s, FILE *f)
{
	const char *passwd = s->passwd ? s->passwd : "/etc/passwd";
	char line[256];
	size_t bytes = 0;

	s->nr = 0;
	if (!s->range)
		s->range = calloc(GP_SUBUID_RANGES, sizeof(*s->range));
	while (s->range && s->nr < GP_SUBUID_RANGES && bytes < FILE_MAX &&
	       fgets(line, sizeof(line), f)) {
		bytes += strlen(line);
		s->nr += read_range(passwd, line, &s->range[s->nr]);
	}
}

void gp_subuids_refresh(struct gp_subuids *s, u64 now_ns)
{
	const char *path = s->subuid ? s->subuid : "/etc/subuid";
	struct stat st = { 0 };
	u64 stamp;
	FILE *f;

	if (s->read_ns && now_ns < s->read_ns + GP_SEC)
		return;
	s->read_ns = now_ns;
	stamp = stat(path, &st) ? 0 : (u64)st.st_ctim.tv_sec * GP_SEC +
				      (u64)st.st_ctim.tv_nsec + st.st_ino;
	if (stamp == s->stamp)
		return;
	s->stamp = stamp;
	f = stamp ? fopen(path, "re") : NULL;
	s->nr = 0;
	if (f) {
		read_ranges(s, f);
		fclose(f);
	}
}

void gp_subuids_fini(struct gp_subuids *s)
{
	free(s->range);
	s->range = NULL;
	s->nr = 0;
}

/* Is process @pid one of @uid in the initial user namespace? */
static bool is_initial(const char *proc, pid_t pid, uid_t uid)
{
	unsigned int inside, outside, count, ids[4] = { 0 };
	char path[256], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/uid_map", proc, (int)pid);
	f = pid > 0 ? fopen(path, "re") : NULL;
	if (!f)
		return false;
	found = fscanf(f, "%u %u %u", &inside, &outside, &count) == 3 && !inside && !outside &&
		count == ~0u;
	fclose(f);
	if (!found)
		return false;
	/* The pid may have been reused: the process must have the uid. */
	snprintf(path, sizeof(path), "%s/%d/status", proc, (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == 4)
			break;
	if (f)
		fclose(f);
	return f && (ids[0] == uid || ids[1] == uid);
}

uid_t gp_subuids_user(const struct gp_subuids *s, uid_t uid, pid_t pid)
{
	u32 i;

	for (i = 0; i < s->nr; i++)
		if (uid >= s->range[i].first && uid - s->range[i].first < s->range[i].count)
			break;
	if (i == s->nr || is_initial(s->proc ? s->proc : "/proc", pid, uid))
		return uid;
	return s->range[i].owner;
}

uid_t gp_user_of(uid_t uid, pid_t pid)
{
	static struct gp_subuids here;
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	gp_subuids_refresh(&here, (u64)ts.tv_sec * GP_SEC + (u64)ts.tv_nsec);
	return gp_subuids_user(&here, uid, pid);
}

/* ---- peers ---- */

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

int gp_peer_identify(int fd, gid_t group, struct gp_peer *ret)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size))
		return -errno;
	*ret = (struct gp_peer){
		.pid = cred.pid, .uid = cred.uid, .gid = cred.gid,
		.user = gp_user_of(cred.uid, cred.pid), .privileged = cred.uid == 0,
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
