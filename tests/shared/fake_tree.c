// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_tree.h"
#include "gp_test.h"

struct fake_tree *fake_tree_make(void)
{
	struct fake_tree *t = calloc(1, sizeof(*t));

	EXPECT(t);
	/* Prefers a directory in memory, because some tests make thousands of files. */
	strcpy(t->path, "/dev/shm/gp-tree-XXXXXX");
	if (mkdtemp(t->path))
		return t;
	strcpy(t->path, "/tmp/gp-tree-XXXXXX");
	EXPECT(mkdtemp(t->path));
	return t;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_all(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void fake_tree_free(struct fake_tree *t)
{
	remove_all(t->path);
	free(t);
}

static void full_path(const struct fake_tree *t, const char *path, char *ret)
{
	char *last;

	EXPECT(snprintf(ret, PATH_MAX, "%s/%s", t->path, path) < PATH_MAX);
	last = strrchr(ret, '/');
	*last = '\0';
	if (!mkdir(ret, 0700) || errno == EEXIST) {
		*last = '/';
		return;
	}
	*last = '/';
	for (char *at = ret + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(ret, 0700);
		*at = '/';
	}
}

void fake_tree_put_bytes(const struct fake_tree *t, const void *bytes, unsigned long nr,
			 const char *path)
{
	char full[PATH_MAX];
	FILE *f;

	full_path(t, path, full);
	f = fopen(full, "we");
	EXPECT(f);
	EXPECT_EQ(fwrite(bytes, 1, nr, f), nr);
	EXPECT_EQ(fclose(f), 0);
}

void fake_tree_put(const struct fake_tree *t, const char *text, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	EXPECT(vsnprintf(path, sizeof(path), format, args) < PATH_MAX);
	va_end(args);
	fake_tree_put_bytes(t, text, strlen(text), path);
}

void fake_tree_dir(const struct fake_tree *t, const char *path)
{
	char full[PATH_MAX];

	full_path(t, path, full);
	mkdir(full, 0700);
}

void fake_tree_link(const struct fake_tree *t, const char *to, const char *path)
{
	char full[PATH_MAX];

	full_path(t, path, full);
	EXPECT_EQ(symlink(to, full), 0);
}

void fake_tree_remove(const struct fake_tree *t, const char *path)
{
	char full[PATH_MAX];

	full_path(t, path, full);
	remove_all(full);
}
