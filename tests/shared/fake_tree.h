/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A directory of files that a test writes to replace sysfs and /proc. */
#ifndef FAKE_TREE_H
#define FAKE_TREE_H

struct fake_tree {
	char path[64];
};

struct fake_tree *fake_tree_make(void);
void fake_tree_free(struct fake_tree *t);

/* Writes @text to the file at this path below the tree and makes missing directories. */
void fake_tree_put(const struct fake_tree *t, const char *text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes a file that may contain zero bytes. */
void fake_tree_put_bytes(const struct fake_tree *t, const void *bytes, unsigned long nr,
			 const char *path);
/* Makes an empty directory. */
void fake_tree_dir(const struct fake_tree *t, const char *path);
void fake_tree_link(const struct fake_tree *t, const char *to, const char *path);
/* Removes a file, or a directory with its content. */
void fake_tree_remove(const struct fake_tree *t, const char *path);

#endif /* FAKE_TREE_H */
