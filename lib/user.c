// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "user.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys.h"
#include "sysfs.h"

#define NOT_LOOKED_UP	((uid_t)-1)

struct gp_subuids {
	char subuid[PATH_MAX], passwd[PATH_MAX];
	struct stat of;			/* the file that @text was read from */
	char *text;			/* NULL: no such file, or not read yet */
	struct gp_subuid_range *range;
	u32 nr;
};

/* ---- parsing ---- */

/* Parses a decimal number from *@at to @behind, and moves *@at after it. */
static bool parse_number(const char **at, char behind, u32 *ret)
{
	const char *end;
	u64 value;

	if (!gp_sysfs_parse(*at, 10, &value, &end) || *end != behind || value > UINT32_MAX)
		return false;
	*ret = (u32)value;
	*at = end + 1;
	return true;
}

/* @line ends with a NUL. */
static bool parse_range(const char *line, struct gp_subuid_range *ret)
{
	size_t name_bytes = strcspn(line, ":");
	const char *at = line + name_bytes + 1;
	u32 owner;

	if (!name_bytes || !line[name_bytes] || !parse_number(&at, ':', &ret->start) ||
	    !parse_number(&at, '\0', &ret->count) || !ret->count)
		return false;
	ret->name_bytes = (u32)name_bytes;
	at = line;
	ret->owner = parse_number(&at, ':', &owner) ? owner : NOT_LOOKED_UP;
	return true;
}

u32 gp_subuid_parse(const char *text, struct gp_subuid_range *ret, u32 room)
{
	const char *at = text;
	char line[256];
	u32 nr = 0;

	while (*at && nr < room) {
		size_t bytes = strcspn(at, "\n");

		if (bytes < sizeof(line)) {
			memcpy(line, at, bytes);
			line[bytes] = '\0';
			ret[nr].name = (u32)(at - text);
			nr += parse_range(line, &ret[nr]);
		}
		at += bytes + (at[bytes] == '\n');
	}
	return nr;
}

/* Lines are "NAME:PASSWORD:UID:...". */
bool gp_passwd_find(const char *text, const char *name, size_t name_bytes, uid_t *ret)
{
	for (const char *line = text; *line;) {
		size_t bytes = strcspn(line, "\n");

		if (bytes > name_bytes && !strncmp(line, name, name_bytes) &&
		    line[name_bytes] == ':') {
			const char *at = line + name_bytes + 1;

			at += strcspn(at, ":\n");
			return *at++ == ':' && parse_number(&at, ':', ret);
		}
		line += bytes + (line[bytes] == '\n');
	}
	return false;
}

/* ---- files ---- */

int gp_subuids_alloc(const char *etc, struct gp_subuids **ret)
{
	struct gp_subuids *s = gp_sys->realloc(NULL, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = (struct gp_subuids){ 0 };
	etc = etc ? etc : "/etc";
	if (snprintf(s->subuid, PATH_MAX, "%s/subuid", etc) >= PATH_MAX ||
	    snprintf(s->passwd, PATH_MAX, "%s/passwd", etc) >= PATH_MAX) {
		free(s);
		return -ENAMETOOLONG;
	}
	*ret = s;
	return 0;
}

void gp_subuids_free(struct gp_subuids *s)
{
	if (!s)
		return;
	free(s->text);
	free(s->range);
	free(s);
}

static void forget(struct gp_subuids *s)
{
	free(s->text);
	free(s->range);
	s->text = NULL;
	s->range = NULL;
	s->nr = 0;
}

/* Reads the file up to the size limit. The caller frees the text. */
static int read_file(const char *path, char **ret)
{
	char *text = gp_sys->realloc(NULL, GP_SUBUID_BYTES_MAX + 1), *less;
	int n;

	if (!text)
		return -ENOMEM;
	n = gp_sysfs_text(AT_FDCWD, path, text, GP_SUBUID_BYTES_MAX + 1);
	if (n < 0) {
		free(text);
		return n;
	}
	less = realloc(text, (size_t)n + 1);
	*ret = less ? less : text;
	return 0;
}

static u32 count_lines(const char *text)
{
	u32 nr = 1;

	for (; (text = strchr(text, '\n')); text++)
		nr++;
	return nr;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads the file if it changed. After an error the old contents stay. */
static int refresh(struct gp_subuids *s)
{
	struct gp_subuid_range *range;
	struct stat now;
	char *text;
	u32 room;
	int err = gp_sys->fstatat(AT_FDCWD, s->subuid, &now, 0) ? -errno : 0;

	if (gp_sys_is_gone(err) || gp_sys_is_denied(err)) {
		forget(s);
		return 0;
	}
	if (err || (s->text && same_file(&now, &s->of)))
		return err;
	err = read_file(s->subuid, &text);
	if (err)
		return gp_sys_is_gone(err) || gp_sys_is_denied(err) ? 0 : err;
	room = count_lines(text);
	if (room > GP_SUBUIDS_MAX)
		room = GP_SUBUIDS_MAX;
	range = gp_sys->realloc(NULL, room * sizeof(*range));
	if (!range) {
		free(text);
		return -ENOMEM;
	}
	forget(s);
	s->nr = gp_subuid_parse(text, range, room);
	s->range = range;
	s->text = text;
	s->of = now;
	return 0;
}

static int look_up_owner(struct gp_subuids *s, struct gp_subuid_range *range)
{
	uid_t owner = range->start;
	char *text = NULL;
	int err = read_file(s->passwd, &text);

	if (err && !gp_sys_is_gone(err) && !gp_sys_is_denied(err))
		return err;
	if (text)
		gp_passwd_find(text, s->text + range->name, range->name_bytes, &owner);
	free(text);
	range->owner = owner;
	return 0;
}

static struct gp_subuid_range *find_range(const struct gp_subuids *s, uid_t uid)
{
	for (u32 i = 0; i < s->nr; i++)
		if (uid - s->range[i].start < s->range[i].count && uid >= s->range[i].start)
			return &s->range[i];
	return NULL;
}

/* Returns 1 if the process has the uids of the initial user namespace, 0 if not, or -errno. */
static int has_identity_map(const char *proc, pid_t pid)
{
	unsigned int inside, outside, count;
	char text[128];
	int n = gp_proc_text(proc, pid, "uid_map", text, sizeof(text));

	if (n < 0)
		return n;
	return sscanf(text, "%u %u %u", &inside, &outside, &count) == 3 && !inside && !outside &&
	       count == UINT32_MAX;
}

static int owner_of(struct gp_subuids *s, struct gp_subuid_range *range, uid_t *ret)
{
	int err = range->owner == NOT_LOOKED_UP ? look_up_owner(s, range) : 0;

	if (!err)
		*ret = range->owner;
	return err;
}

uid_t gp_user_of_uid(struct gp_subuids *s, uid_t uid)
{
	struct gp_subuid_range *range = refresh(s) ? NULL : find_range(s, uid);
	uid_t user = uid;

	if (range)
		owner_of(s, range, &user);
	return user;
}

int gp_user_of(struct gp_subuids *s, const char *proc, pid_t pid, uid_t uid, uid_t *ret)
{
	struct gp_subuid_range *range;
	int err = refresh(s);

	if (err)
		return err;
	range = find_range(s, uid);
	if (range)
		err = has_identity_map(proc, pid);
	if (err < 0)
		return err;
	if (!range || err) {
		*ret = uid;
		return 0;
	}
	return owner_of(s, range, ret);
}

u32 gp_subuids_of(struct gp_subuids *s, uid_t user, struct gp_subuid_range *ret, u32 room)
{
	u32 n = 0;

	if (refresh(s))
		return 0;
	for (u32 i = 0; i < s->nr && n < room; i++) {
		if (s->range[i].owner == NOT_LOOKED_UP && look_up_owner(s, &s->range[i]))
			return 0;
		if (s->range[i].owner == user)
			ret[n++] = s->range[i];
	}
	return n;
}

int gp_process_user(const char *proc, pid_t pid, uid_t *ret)
{
	struct gp_subuids *s;
	char text[4096];
	u64 uid;
	int n = gp_proc_text(proc, pid, "status", text, sizeof(text));

	if (n < 0)
		return n;
	if (!gp_proc_field(text, "\nUid:", &uid, NULL))
		return -EPROTO;
	n = gp_subuids_alloc(NULL, &s);
	if (n)
		return n;
	n = gp_user_of(s, proc, pid, (uid_t)uid, ret);
	gp_subuids_free(s);
	return n;
}
