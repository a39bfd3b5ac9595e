// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreempt module: the kernel module gpreempt.ko. No symbol ties the module to a version of the
 * driver. Only this comparison prevents a module built for another version from reading wrong
 * words.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ask.h"
#include "layout.h"
#include "secure_boot.h"
#include "sim/json.h"

enum { PATH = 512 };

static const char *const results[] = {
	[GP_LAYOUT_SAME] = "same", [GP_LAYOUT_DIFFERS] = "differs", [GP_LAYOUT_UNKNOWN] = "unknown",
};

struct module {
	const char *root;
	char file[PATH];
	struct gp_layout_report layout;
	bool loaded;
	int secure_boot;	/* 1, 0, or -1: unknown */
	char lockdown[16];	/* the level, "none" */
};

/* ---- what is there ---- */

static int read_text(const struct module *m, const char *path, char *text, size_t size)
{
	char full[PATH];
	ssize_t n;
	int fd;

	snprintf(full, sizeof(full), "%s%s", m->root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? -EIO : (int)n;
}

/* The level is the word in brackets. */
static void read_lockdown(struct module *m)
{
	char text[128] = "", *from;

	strcpy(m->lockdown, "none");
	if (read_text(m, "/sys/kernel/security/lockdown", text, sizeof(text)) < 0)
		return;
	from = strchr(text, '[');
	if (from)
		snprintf(m->lockdown, sizeof(m->lockdown), "%.*s", (int)strcspn(from + 1, "]"),
			 from + 1);
}

static void read_secure_boot(struct module *m)
{
	char full[PATH];

	snprintf(full, sizeof(full), "%s%s", m->root, GP_SECURE_BOOT);
	m->secure_boot = gp_secure_boot(full);
}

static bool exists(const struct module *m, const char *path)
{
	char full[PATH];

	snprintf(full, sizeof(full), "%s%s", m->root, path);
	return !access(full, F_OK);
}

/* Where DKMS, a distribution and `make modules_install` put modules. */
static int find_file(struct module *m, const char *given)
{
	static const char *const places[] = { "updates/dkms", "updates", "extra", "kernel" };
	struct utsname is;

	if (given) {
		snprintf(m->file, sizeof(m->file), "%s", given);
		return GP_EXIT_OK;
	}
	uname(&is);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(m->file, sizeof(m->file), "%s/lib/modules/%s/%s/gpreempt.ko", m->root,
			 is.release, places[i]);
		if (!access(m->file, F_OK))
			return GP_EXIT_OK;
	}
	gp_error("module: no gpreempt.ko for the kernel %s in %s/lib/modules; install its DKMS "
		 "package, or say where it is with --file (unpacked, if it is compressed)",
		 is.release, m->root);
	return GP_EXIT_UNKNOWN;
}

static int look(struct module *m, const struct gp_options *o)
{
	int code;

	m->root = o->root ? o->root : "";
	read_lockdown(m);
	read_secure_boot(m);
	m->loaded = exists(m, "/sys/module/gpreempt");
	code = find_file(m, o->module_file);
	if (code)
		return code;
	return gp_layout_compare(m->file, m->root, &m->layout) ? GP_EXIT_BAD : GP_EXIT_OK;
}

/* ---- telling ---- */

static void print_layout(const struct module *m, FILE *to)
{
	const struct gp_layout_report *l = &m->layout;

	switch (l->result) {
	case GP_LAYOUT_SAME:
		fprintf(to, "driver      the one it was built for: %" PRIu32 " members, sizes and "
			"constants are where it takes them\n", l->nr_compared);
		return;
	case GP_LAYOUT_UNKNOWN:
		fprintf(to, "driver      not compared: the kernel has no BTF of amdgpu; the module "
			"follows its links when it is loaded\n");
		return;
	case GP_LAYOUT_DIFFERS:
		fprintf(to, "driver      %sNOT the one it was built for%s: %" PRIu32 " of %" PRIu32
			" differ\n", gp_paint(GP_BAD), gp_paint(GP_PLAIN), l->nr_different,
			l->nr_compared);
	}
	for (u32 i = 0; i < l->nr_different && i < GP_DIFFERENCES; i++)
		fprintf(to, "            %s\n", l->different[i]);
}

static void print_text(const struct module *m)
{
	printf("file        %s\n", m->file);
	printf("loaded      %s\n", m->loaded ? "yes" : "no");
	print_layout(m, stdout);
	printf("secure boot %s\n", m->secure_boot > 0 ? "on: the module must be signed" :
	       m->secure_boot ? "not known" : "off");
	printf("lockdown    %s%s\n", m->lockdown,
	       strcmp(m->lockdown, "none") ? ": the module must be signed" : "");
}

static int print_json(const struct gp_options *o, const struct module *m)
{
	json_t *root = json_object(), *all = json_array();

	for (u32 i = 0; i < m->layout.nr_different && i < GP_DIFFERENCES; i++)
		json_array_append_new(all, json_string(m->layout.different[i]));
	gp_json_put(root, "file", json_string(m->file));
	gp_json_put(root, "loaded", json_boolean(m->loaded));
	gp_json_put(root, "layout", json_string(results[m->layout.result]));
	gp_json_put(root, "compared", json_integer(m->layout.nr_compared));
	gp_json_put(root, "different", json_integer(m->layout.nr_different));
	gp_json_put(root, "differences", all);
	gp_json_put(root, "secure_boot",
		    m->secure_boot < 0 ? json_null() : json_boolean(m->secure_boot));
	gp_json_put(root, "lockdown", json_string(m->lockdown));
	return gp_ask_print(o, root);
}

/* ---- doing ---- */

static const char *why_not_loaded(int err)
{
	switch (err) {
	case EPERM:
		return "not permitted: be root; if you are, the kernel is locked down or refuses "
		       "all modules";
	case EKEYREJECTED: case ENOKEY: case EBADMSG:
		return "its signature is missing or not trusted: Secure Boot or module.sig_enforce "
		       "wants one; sign it with a key enrolled by mokutil";
	case ENOEXEC:
		return "it was built for another kernel; build it again (dkms autoinstall)";
	case ENODEV:
		return "no GPU of the driver amdgpu is there; the kernel log says more";
	case EOPNOTSUPP:
		return "the running amdgpu is not the one it was built for, or does not save "
		       "running waves; the kernel log says how";
	}
	return strerror(err);
}

static int load(struct module *m)
{
	int fd, err;

	if (m->loaded) {
		gp_error("module: gpreempt is loaded already");
		return GP_EXIT_FAILED;
	}
	if (m->layout.result == GP_LAYOUT_DIFFERS) {
		gp_error("module: not loaded: %s was built for another amdgpu than the running "
			 "one (%s)", m->file, m->layout.different[0]);
		return GP_EXIT_FAILED;
	}
	fd = open(m->file, O_RDONLY | O_CLOEXEC);
	err = fd < 0 || syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (!err) {
		m->loaded = true;
		return GP_EXIT_OK;
	}
	gp_error("module: %s: %s", m->file, why_not_loaded(err));
	return err == EPERM ? GP_EXIT_DENIED : GP_EXIT_FAILED;
}

static int unload(const struct gp_options *o)
{
	int err;

	if (!syscall(SYS_delete_module, "gpreempt", O_NONBLOCK)) {
		if (!o->json)
			puts("gpreempt is unloaded; everything is back on the GPUs");
		return o->json ? gp_ask_print(o, json_pack("{sb}", "loaded", 0)) : GP_EXIT_OK;
	}
	err = errno;
	gp_error("module: not unloaded: %s", err == ENOENT ? "it is not loaded" :
		 err == EWOULDBLOCK || err == EBUSY ?
		 "a process has /dev/gpreempt open; stop gpreemptd" : strerror(err));
	return err == EPERM ? GP_EXIT_DENIED : err == ENOENT ? GP_EXIT_UNKNOWN : GP_EXIT_FAILED;
}

int gp_cmd_module(const struct gp_options *o)
{
	const char *what = o->file ? o->file : "check";
	struct module *m;
	int code, shown;

	if (!strcmp(what, "unload"))
		return unload(o);
	if (strcmp(what, "check") && strcmp(what, "load")) {
		gp_error("module: what is '%s'? usage: gpreempt module [check|load|unload]", what);
		return GP_EXIT_BAD;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return GP_EXIT_FAILED;
	code = look(m, o);
	if (!code) {
		code = !strcmp(what, "load") ? load(m) :
		       m->layout.result == GP_LAYOUT_DIFFERS ? GP_EXIT_FAILED : GP_EXIT_OK;
		shown = o->json ? print_json(o, m) : (print_text(m), GP_EXIT_OK);
		code = code ? code : shown;
	}
	free(m);
	return code;
}
