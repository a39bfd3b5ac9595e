/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A class: a name for how a process is treated. Four are built in, as in the
 * simulator, and can be changed by the configuration; a fifth, `unmanaged`,
 * cannot: who is in it is left alone.
 */
#ifndef GP_DAEMON_CLASS_H
#define GP_DAEMON_CLASS_H

#include "core/task.h"

enum { GP_CLASS_NAME = 32, GP_CLASSES = 64 };

#define GP_UNMANAGED	"unmanaged"

struct gp_named_class {
	char name[GP_CLASS_NAME];
	/*
	 * Not managed: no task of the core, never held, nobody is held for it, never
	 * traced, its pointers never read. @is then only says how far such a process
	 * may go by itself: as far as `offline`.
	 */
	bool managed;
	struct gp_class is;
	/* where it was defined; NULL and 0: built in */
	const char *file;
	u32 line;
};

/* Built-in classes by number, NULL behind the last. */
const struct gp_named_class *gp_class_builtin(u32 i);

/* 1..31 letters, digits, '_' or '-', the first a letter. */
bool gp_class_name_ok(const char *name);

/*
 * Is @to at most @from in everything: priority, weight, latency_critical, being
 * left alone, reservation? Then whoever owns a process of @from may make it @to.
 */
bool gp_class_lowers(const struct gp_named_class *from, const struct gp_named_class *to);

#endif /* GP_DAEMON_CLASS_H */
