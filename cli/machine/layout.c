// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Compares the table of gpreempt.ko with the BTF of the running driver, see layout.h. */
#include "layout.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "btf.h"
#include "cli/term.h"
#include "elf_section.h"
#include "kernel/gp_layout.h"
#include "lib/gpreempt.h"

enum { FILE_MAX = 256 << 20, PIECE = 1 << 20 };

struct bytes {
	u8 *at;
	size_t size;
};

/* Files of sysfs do not report their size. */
static int read_whole(const char *path, struct bytes *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;
	int err = 0;

	*ret = (struct bytes) { 0 };
	if (fd < 0)
		return -errno;
	while (n > 0 && ret->size < FILE_MAX) {
		u8 *more = realloc(ret->at, ret->size + PIECE);

		if (!more) {
			err = -ENOMEM;
			break;
		}
		ret->at = more;
		n = read(fd, ret->at + ret->size, PIECE);
		if (n < 0)
			err = -errno;
		else
			ret->size += (size_t)n;
	}
	close(fd);
	if (err) {
		free(ret->at);
		ret->at = NULL;
	}
	return err;
}

/* ---- comparing ---- */

static void __attribute__((format(printf, 2, 3)))
differs(struct gp_layout_report *r, const char *format, ...)
{
	va_list args;

	if (r->nr_different < GP_DIFFERENCES) {
		va_start(args, format);
		vsnprintf(r->different[r->nr_different], GP_DIFFERENCE_TEXT, format, args);
		va_end(args);
	}
	r->nr_different++;
}

static void compare_struct(const struct gp_btf *b, const struct gp_layout *l,
			   struct gp_layout_report *r)
{
	u64 last = 0;

	for (u32 id = 0; (id = gp_btf_struct(b, l->type, id));) {
		last = gp_btf_size(b, id);
		if (last == l->bytes)
			return;
	}
	if (last)
		differs(r, "%s: built with %" PRIu32 " bytes, running driver has %" PRIu64,
			l->type, l->bytes, last);
	else
		differs(r, "%s: the running driver has no such structure", l->type);
}

/* Different files of the driver may define types of one name. One match is enough. */
static void compare_member(const struct gp_btf *b, const struct gp_layout *l,
			   struct gp_layout_report *r)
{
	struct gp_btf_member there = { 0 };
	bool seen = false;

	for (u32 id = 0; (id = gp_btf_struct(b, l->type, id));) {
		if (gp_btf_member(b, id, l->name, &there))
			continue;
		if (there.offset == l->value && there.size == l->bytes)
			return;
		seen = true;
	}
	if (!seen)
		differs(r, "%s.%s: the running driver has no such member", l->type, l->name);
	else if (there.offset != l->value)
		differs(r, "%s.%s: built with offset %" PRIu32 ", running driver has %" PRIu64,
			l->type, l->name, l->value, there.offset);
	else
		differs(r, "%s.%s: built with %" PRIu32 " bytes, running driver has %" PRIu64,
			l->type, l->name, l->bytes, there.size);
}

static void compare_constant(const struct gp_btf *b, const struct gp_layout *l,
			     struct gp_layout_report *r)
{
	u64 value;

	for (u32 id = 0; (id = gp_btf_enum(b, l->type, id));) {
		if (gp_btf_constant(b, id, l->name, &value))
			continue;
		if ((u32)value != l->value)
			differs(r, "%s: built with %" PRIu32 ", running driver has %" PRIu64,
				l->name, l->value, value);
		return;
	}
	differs(r, "%s: the running driver has no such constant", l->name);
}

/* Checks the table, because any user may have made the file. */
static bool sane(const struct gp_layout *l)
{
	return memchr(l->type, '\0', sizeof(l->type)) && memchr(l->name, '\0', sizeof(l->name)) &&
	       l->kind >= GP_LAYOUT_MEMBER && l->kind <= GP_LAYOUT_CONSTANT;
}

static int compare(const struct gp_btf *b, const void *table, size_t size,
		   struct gp_layout_report *r)
{
	struct gp_layout l;

	if (!size || size % sizeof(l))
		return -EBADMSG;
	for (size_t at = 0; at < size; at += sizeof(l)) {
		memcpy(&l, (const u8 *)table + at, sizeof(l));
		if (!sane(&l))
			return -EBADMSG;
		if (l.kind == GP_LAYOUT_STRUCT)
			compare_struct(b, &l, r);
		else if (l.kind == GP_LAYOUT_MEMBER)
			compare_member(b, &l, r);
		else
			compare_constant(b, &l, r);
		r->nr_compared++;
	}
	r->result = r->nr_different ? GP_LAYOUT_DIFFERS : GP_LAYOUT_SAME;
	return 0;
}

/* ---- files ---- */

/* Finds the table of the module's file. *@ret points into *@file. */
static int find_table(const char *path, struct bytes *file, struct gp_elf_section *ret)
{
	int err = read_whole(path, file);

	if (err) {
		gp_error("module: %s: %s", path, strerror(-err));
		return err;
	}
	err = gp_elf_section(file->at, file->size, GP_LAYOUT_SECTION, ret);
	if (err == -ENOENT)
		gp_error("module: %s: no section %s; it is not gpreempt.ko", path,
			 GP_LAYOUT_SECTION);
	else if (err)
		gp_error("module: %s: %s", path, gp_strerror(err));
	return err;
}

struct types {
	struct bytes kernel, driver;
	struct gp_btf base, all;
	const struct gp_btf *use;	/* NULL: the driver is not described */
};

static int open_btf(const char *root, const char *name, struct bytes *bytes)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/sys/kernel/btf/%s", root, name);
	return read_whole(path, bytes);
}

/* A built-in driver is described with the kernel. */
static int open_types(const char *root, struct types *t)
{
	int err;

	if (open_btf(root, "vmlinux", &t->kernel))
		return 0;
	err = gp_btf_open(&t->base, t->kernel.at, t->kernel.size, NULL);
	if (!err && open_btf(root, "amdgpu", &t->driver)) {
		t->use = gp_btf_struct(&t->base, "kfd_process", 0) ? &t->base : NULL;
		return 0;
	}
	if (!err)
		err = gp_btf_open(&t->all, t->driver.at, t->driver.size, &t->base);
	if (err)
		gp_error("module: %s/sys/kernel/btf: %s", root, gp_strerror(err));
	t->use = err ? NULL : &t->all;
	return err;
}

static void close_types(struct types *t)
{
	gp_btf_close(&t->all);
	gp_btf_close(&t->base);
	free(t->driver.at);
	free(t->kernel.at);
}

int gp_layout_compare(const char *file, const char *root, struct gp_layout_report *ret)
{
	struct gp_elf_section table = { 0 };
	struct bytes module = { 0 };
	struct types t = { 0 };
	int err = find_table(file, &module, &table);

	*ret = (struct gp_layout_report) { .result = GP_LAYOUT_UNKNOWN };
	if (!err)
		err = open_types(root, &t);
	if (!err && t.use) {
		err = compare(t.use, table.at, table.size, ret);
		if (err)
			gp_error("module: %s: its table %s is damaged", file, GP_LAYOUT_SECTION);
	}
	close_types(&t);
	free(module.at);
	return err;
}
