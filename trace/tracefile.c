// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A file of the core's trace records. */
#include "tracefile.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = sizeof(u64), REC_BYTES = sizeof(struct gp_rec) };

static const char *const names[] = {
	[GP_REC_INIT]		= "init",
	[GP_REC_PARAM]		= "param",
	[GP_REC_POLICY]		= "policy",
	[GP_REC_DEVICE_ADD]	= "device-add",
	[GP_REC_DEVICE_DEL]	= "device-del",
	[GP_REC_DEVICE_RESET]	= "device-reset",
	[GP_REC_TASK_ADD]	= "task-add",
	[GP_REC_TASK_DEL]	= "task-del",
	[GP_REC_TASK_CLASS]	= "task-class",
	[GP_REC_QUEUE_ADD]	= "queue-add",
	[GP_REC_QUEUE_DEL]	= "queue-del",
	[GP_REC_SAMPLE]		= "sample",
	[GP_REC_LOOK]		= "look",
	[GP_REC_PROBED]		= "probed",
	[GP_REC_ANSWER]		= "answer",
	[GP_REC_HINT]		= "hint",
	[GP_REC_HOLD]		= "hold",
	[GP_REC_RELEASE]	= "release",
	[GP_REC_ENABLE]		= "enable",
	[GP_REC_TICK]		= "tick",
	[GP_REC_PULL]		= "pull",
	[GP_REC_TASK_UNKNOWN]	= "task-unknown",
	[GP_REC_ACTION]		= "action",
	[GP_REC_ACTION_TASK]	= "action-task",
	[GP_REC_PROBE]		= "probe",
	[GP_REC_STATE]		= "state",
	[GP_REC_EJECT]		= "eject",
	[GP_REC_PARTS]		= "parts",
	[GP_REC_NAME]		= "name",
};
static_assert(sizeof(names) / sizeof(*names) == GP_REC_NR_OUTPUTS, "a record kind has no name");

const char *gp_rec_name(u32 kind)
{
	return kind < GP_REC_NR_OUTPUTS && names[kind] ? names[kind] : "?";
}

static_assert(sizeof(((struct gp_rec_who *)0)->name) == sizeof(((struct gp_rec *)0)->name.text) &&
	      sizeof(((struct gp_rec_who *)0)->class_name) ==
	      sizeof(((struct gp_rec *)0)->name.class_name), "a name fits a record");

struct gp_rec gp_rec_of_who(u32 task, const struct gp_rec_who *who)
{
	struct gp_rec rec = { .kind = GP_REC_NAME, .task = task, .queue = who->pid,
			      .device = who->preemptible };

	memcpy(rec.name.text, who->name, sizeof(rec.name.text));
	memcpy(rec.name.class_name, who->class_name, sizeof(rec.name.class_name));
	return rec;
}

struct gp_rec_who gp_rec_who(const struct gp_rec *rec)
{
	struct gp_rec_who who = { .pid = rec->queue, .preemptible = rec->device };

	memcpy(who.name, rec->name.text, sizeof(who.name));
	memcpy(who.class_name, rec->name.class_name, sizeof(who.class_name));
	who.name[sizeof(who.name) - 1] = '\0';
	who.class_name[sizeof(who.class_name) - 1] = '\0';
	return who;
}

/* Its own inverse: the same swap brings a record to the file and back. */
static struct gp_rec swapped(struct gp_rec rec)
{
	rec.now_ns = htole64(rec.now_ns);
	rec.kind = htole32(rec.kind);
	rec.device = htole32(rec.device);
	rec.task = htole32(rec.task);
	rec.queue = htole32(rec.queue);
	for (size_t i = 0; i < sizeof(rec.arg) / sizeof(*rec.arg); i++)
		rec.arg[i] = htole64(rec.arg[i]);
	return rec;
}

void gp_tracefile_begin(FILE *file)
{
	u64 magic = htole64(GP_TRACE_MAGIC);

	fwrite(&magic, sizeof(magic), 1, file);
}

void gp_tracefile_emit(void *file, const struct gp_rec *rec)
{
	struct gp_rec out = swapped(*rec);

	fwrite(&out, sizeof(out), 1, file);
}

struct gp_rec gp_tracefile_get(const struct gp_tracefile *t, u64 i)
{
	struct gp_rec rec;

	memcpy(&rec, t->bytes + i * REC_BYTES, REC_BYTES);
	return swapped(rec);
}

static int check_kinds(const struct gp_tracefile *t, struct gp_tracefile_error *err)
{
	for (u64 i = 0; i < t->nr; i++) {
		u32 kind = gp_tracefile_get(t, i).kind;

		if (!strcmp(gp_rec_name(kind), "?")) {
			snprintf(err->text, sizeof(err->text),
				 "record %" PRIu64 ": unknown kind %" PRIu32, i, kind);
			return -EINVAL;
		}
		if ((kind == GP_REC_INIT) != (i == 0)) {
			snprintf(err->text, sizeof(err->text), "record %" PRIu64 ": %s", i,
				 i ? "a second init; a trace has one, at its beginning" :
				     "not an init; a trace begins with one");
			return -EINVAL;
		}
	}
	return 0;
}

int gp_tracefile_over(const void *bytes, size_t n, struct gp_tracefile *ret,
		      struct gp_tracefile_error *err)
{
	struct gp_tracefile t = { 0 };
	u64 magic;

	if (n >= MAGIC_BYTES)
		memcpy(&magic, bytes, MAGIC_BYTES);
	if (n < MAGIC_BYTES || le64toh(magic) != GP_TRACE_MAGIC) {
		snprintf(err->text, sizeof(err->text),
			 "not a trace of gpreempt: it does not begin with \"ptrace10\"");
		return -EINVAL;
	}
	t.bytes = (const u8 *)bytes + MAGIC_BYTES;
	n -= MAGIC_BYTES;
	t.nr = n / REC_BYTES;
	if (!t.nr || n % REC_BYTES) {
		snprintf(err->text, sizeof(err->text),
			 "cut short: %zu bytes after record %" PRIu64 ", a record has %d",
			 n % REC_BYTES, t.nr, REC_BYTES);
		return -EINVAL;
	}
	if (check_kinds(&t, err))
		return -EINVAL;
	*ret = t;
	return 0;
}

/* -errno. An empty file cannot be mapped; *@bytes is NULL then. */
static int map(const char *path, void **bytes, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		err = -errno;
	} else if (S_ISDIR(st.st_mode)) {
		err = -EISDIR;
	} else {
		*n = (size_t)st.st_size;
		*bytes = *n ? mmap(NULL, *n, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
		if (*bytes == MAP_FAILED)
			err = -errno;
	}
	close(fd);
	return err;
}

int gp_tracefile_open(const char *path, struct gp_tracefile *ret,
		      struct gp_tracefile_error *err)
{
	void *bytes = NULL;
	size_t n = 0;
	int bad = map(path, &bytes, &n);

	if (bad) {
		snprintf(err->text, sizeof(err->text), "%s", strerror(-bad));
		return bad;
	}
	bad = gp_tracefile_over(bytes ? bytes : "", n, ret, err);
	if (bad) {
		if (bytes)
			munmap(bytes, n);
		return bad;
	}
	ret->map = bytes;
	ret->map_size = n;
	return 0;
}

void gp_tracefile_close(struct gp_tracefile *t)
{
	if (t->map)
		munmap(t->map, t->map_size);
	memset(t, 0, sizeof(*t));
}
