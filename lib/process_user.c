// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "process_user.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sysfs.h"

/* Longer lines of subuid and passwd are not used. */
enum { LINE = 512 };

/* The uid of @name in @passwd. */
static bool uid_of_name(const char *passwd, const char *name, u64 *ret)
{
	size_t n = strlen(name);
	char line[LINE];
	const char *end;
	bool found = false;
	FILE *f = fopen(passwd, "re");

	while (f && !found && fgets(line, sizeof(line), f)) {
		char *field = line + n;

		/* name:password:uid:... */
		if (strncmp(line, name, n) || *field != ':')
			continue;
		field = strchr(field + 1, ':');
		found = field && gp_sysfs_parse(field + 1, 10, ret, &end) && *end == ':';
	}
	if (f)
		fclose(f);
	return found;
}

/* Replaces @uid by the user to whom /etc/subuid gives it; leaves it if there is none. */
static void map_by_subuid(const char *subuid, const char *passwd, u64 *uid)
{
	char line[LINE], *colon;
	u64 first, count, owner;
	const char *end;
	FILE *f = fopen(subuid, "re");

	while (f && fgets(line, sizeof(line), f)) {
		/* name:first:count, or uid:first:count */
		colon = strchr(line, ':');
		if (!colon || !gp_sysfs_parse(colon + 1, 10, &first, &end) || *end != ':' ||
		    !gp_sysfs_parse(end + 1, 10, &count, &end))
			continue;
		if (*uid < first || *uid - first >= count)
			continue;
		*colon = '\0';
		if ((gp_sysfs_parse(line, 10, &owner, &end) && !*end) ||
		    uid_of_name(passwd, line, &owner)) {
			*uid = owner;
			break;
		}
	}
	if (f)
		fclose(f);
}

/* Every uid is mapped to itself: the initial namespace. */
static bool is_identity(const char *uid_map)
{
	unsigned long inside, outside, count;

	return sscanf(uid_map, "%lu %lu %lu", &inside, &outside, &count) == 3 && !inside &&
	       !outside && count == UINT_MAX;
}

int gp_process_user(const struct gp_user_files *files, pid_t pid, uid_t *ret)
{
	const char *proc = files && files->proc ? files->proc : "/proc";
	char path[PATH_MAX], text[4096];
	const char *at, *end;
	u64 uid;
	int n;

	snprintf(path, sizeof(path), "%s/%d/status", proc, pid);
	n = gp_sysfs_text(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	at = strstr(text, "\nUid:\t");
	if (!at || !gp_sysfs_parse(at + 6, 10, &uid, &end))
		return -EIO;
	snprintf(path, sizeof(path), "%s/%d/uid_map", proc, pid);
	n = gp_sysfs_text(AT_FDCWD, path, text, sizeof(text));
	if (n == -ENOENT || n == -ESRCH)
		return -ESRCH;
	if (n >= 0 && !is_identity(text))
		map_by_subuid(files && files->subuid ? files->subuid : "/etc/subuid",
			      files && files->passwd ? files->passwd : "/etc/passwd", &uid);
	*ret = (uid_t)uid;
	return 0;
}
