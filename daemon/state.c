// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/sys.h"
#include "log.h"
#include "text/ini.h"
#include "text/value.h"

/* Minimum interval between two saves. */
#define SAVE_NS		(100 * GP_MSEC)
/* Delay before a failed save or load is retried. */
#define AGAIN_NS	(1 * GP_SEC)

/* ---- reading ---- */

/* Takes the next word from *@at. NULL: no word is left. */
static char *word(char **at)
{
	char *w = strsep(at, " ");

	return w && *w ? w : NULL;
}

/* Takes the next word as a number of at most @max. */
static bool number(char **at, u64 max, u64 *ret)
{
	const char *w = word(at);
	char *end;

	if (!w || *w < '0' || *w > '9')
		return false;
	errno = 0;
	*ret = strtoull(w, &end, 10);
	return !*end && !errno && *ret <= max;
}

/* Takes the rest of the line, at most @size bytes. */
static bool rest(char **at, char *to, size_t size)
{
	size_t n = *at ? strlen(*at) : 0;

	if (!n || n >= size)
		return false;
	memset(to, 0, size);	/* the last of several such lines counts */
	memcpy(to, *at, n);
	*at = NULL;
	return true;
}

static bool read_id(char **at, struct gp_process_id *ret)
{
	u64 pid;

	if (!number(at, INT32_MAX, &pid) || !number(at, UINT64_MAX, &ret->start))
		return false;
	ret->pid = (pid_t)pid;
	return pid && ret->start;
}

static bool read_param(char **at, struct gp_saved_state *s)
{
	const char *name = word(at);
	u32 i = 0;

	while (name && i < GP_NR_PARAMS && strcmp(gp_params[i].name, name))
		i++;
	if (!name || i == GP_NR_PARAMS ||
	    !number(at, gp_params[i].max, &s->param[i]) || s->param[i] < gp_params[i].min)
		return false;
	s->param_set[i] = true;
	return true;
}

static bool read_class(char **at, struct gp_saved_state *s)
{
	struct gp_class_request *c = &s->class[s->nr_classes];
	u64 uid;

	if (s->nr_classes == GP_CLASS_REQUESTS || !read_id(at, &c->who) ||
	    !number(at, UINT32_MAX, &uid) || !rest(at, c->class_name, sizeof(c->class_name)))
		return false;
	c->uid = (uid_t)uid;
	s->nr_classes++;
	return true;
}

static bool read_hold(char **at, struct gp_saved_state *s)
{
	struct gp_kept_hold *h = &s->hold[s->nr_holds];

	if (s->nr_holds == GP_STATE_HOLDS || !read_id(at, &h->id) ||
	    !number(at, GP_NEVER - 1, &h->until_ns))
		return false;
	s->nr_holds++;
	return true;
}

static bool read_restart(char **at, struct gp_saved_state *s)
{
	struct gp_kept_restart *r = &s->restart[s->nr_restarts];

	if (s->nr_restarts == GP_STATE_REASONS || !number(at, INT64_MAX, &r->at_s) ||
	    !rest(at, r->why, sizeof(r->why)))
		return false;
	s->nr_restarts++;
	return true;
}

static bool read_restarts(char **at, struct gp_saved_state *s)
{
	u64 n;

	if (!number(at, UINT32_MAX - 1, &n))
		return false;
	s->restarts = (u32)n;
	return true;
}

static bool read_end(char **at, struct gp_saved_state *s)
{
	return rest(at, s->end, sizeof(s->end));
}

static bool read_policy(char **at, struct gp_saved_state *s)
{
	return rest(at, s->policy, sizeof(s->policy));
}

static const struct {
	const char *key;
	bool (*read)(char **at, struct gp_saved_state *s);
} lines[] = {
	{ "restarts", read_restarts }, { "restart", read_restart }, { "end", read_end },
	{ "policy", read_policy }, { "param", read_param }, { "class", read_class },
	{ "hold", read_hold },
};

static bool read_line(char *line, const char *boot, struct gp_saved_state *s)
{
	const char *key = word(&line);
	char text[64];

	if (key && !strcmp(key, "boot"))
		return rest(&line, text, sizeof(text)) && (!boot || !strcmp(text, boot));
	for (size_t i = 0; key && i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strcmp(key, lines[i].key))
			return lines[i].read(&line, s) && !line;
	return false;
}

static bool is_printable(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' && text[i] != '\n')
			return false;
	return true;
}

/* Parses all lines. Returns the number of the first invalid line; 0: none. */
static u32 read_lines(char *text, const char *boot, struct gp_saved_state *ret)
{
	char *line, *at = text, version[32];
	u32 nr = 0;

	snprintf(version, sizeof(version), "gpreempt-state %d", GP_STATE_VERSION);
	while ((line = strsep(&at, "\n"))) {
		nr++;
		if (!strcmp(line, "done"))
			return at && !*at ? 0 : nr;
		if (nr == 1 ? strcmp(line, version) != 0 : !read_line(line, boot, ret))
			return nr;
	}
	return nr ? nr : 1;
}

int gp_state_parse(const char *text, size_t n, const char *boot, struct gp_saved_state *ret,
		   char *why)
{
	bool good = n <= GP_STATE_BYTES && is_printable(text, n);
	char *copy = good ? strndup(text, n) : NULL;
	u32 bad = 1;

	memset(ret, 0, sizeof(*ret));
	snprintf(why, GP_DECIDER_WHY, "out of memory");
	if (good && !copy)
		return -ENOMEM;
	if (copy)
		bad = read_lines(copy, boot, ret);
	free(copy);
	if (!bad)
		return 0;
	memset(ret, 0, sizeof(*ret));
	snprintf(why, GP_DECIDER_WHY, "line %u is invalid, or of another boot or version", bad);
	return -EINVAL;
}

static void read_boot(char *to, size_t size)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	snprintf(to, size, "unknown");
	if (f && fgets(to, (int)size, f))
		to[strcspn(to, "\n")] = 0;
	if (f)
		fclose(f);
}

int gp_state_load(const char *path, struct gp_saved_state *ret, char *why)
{
	int fd = gp_sys->openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char boot[64], *text = NULL;
	size_t n = 0;
	int err = fd < 0 ? -errno : gp_ini_read(fd, &text, &n);

	memset(ret, 0, sizeof(*ret));
	snprintf(why, GP_DECIDER_WHY, "%s", strerror(-err));
	if (fd >= 0)
		close(fd);
	read_boot(boot, sizeof(boot));
	if (!err)
		err = gp_state_parse(text, n, boot, ret, why);
	free(text);
	return err == -EFBIG || err == -EISDIR ? -EINVAL : err;
}

/* ---- writing ---- */

static void print_lines(const struct gp_saved_state *s, const char *boot, FILE *f)
{
	u32 i;

	fprintf(f, "gpreempt-state %d\nboot %s\nrestarts %u\n", GP_STATE_VERSION, boot,
		s->restarts);
	for (i = 0; i < s->nr_restarts; i++)
		fprintf(f, "restart %llu %s\n", (unsigned long long)s->restart[i].at_s,
			s->restart[i].why);
	if (s->end[0])
		fprintf(f, "end %s\n", s->end);
	if (s->policy[0])
		fprintf(f, "policy %s\n", s->policy);
	for (i = 0; i < GP_NR_PARAMS; i++)
		if (s->param_set[i])
			fprintf(f, "param %s %llu\n", gp_params[i].name,
				(unsigned long long)s->param[i]);
	for (i = 0; i < s->nr_classes; i++)
		fprintf(f, "class %d %llu %u %s\n", s->class[i].who.pid,
			(unsigned long long)s->class[i].who.start, s->class[i].uid,
			s->class[i].class_name);
	for (i = 0; i < s->nr_holds; i++)
		fprintf(f, "hold %d %llu %llu\n", s->hold[i].id.pid,
			(unsigned long long)s->hold[i].id.start,
			(unsigned long long)s->hold[i].until_ns);
	fputs("done\n", f);
}

char *gp_state_print(const struct gp_saved_state *s, const char *boot)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	print_lines(s, boot, f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

int gp_state_save(const char *path, const struct gp_saved_state *s)
{
	char temporary[GP_CONFIG_TEXT + 16], boot[64], *text;
	size_t n;
	int fd, err = 0;

	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	read_boot(boot, sizeof(boot));
	text = gp_state_print(s, boot);
	if (!text)
		return -ENOMEM;
	n = strlen(text);
	gp_sys->unlink(temporary);
	fd = gp_sys->create(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || gp_sys->write(fd, text, n) != (ssize_t)n || gp_sys->fsync(fd))
		err = errno ? -errno : -EIO;
	if (fd >= 0)
		close(fd);
	if (!err && gp_sys->rename(temporary, path))
		err = -errno;
	if (err)
		gp_sys->unlink(temporary);
	free(text);
	return err;
}

/* ---- restarts ---- */

static char last_end[GP_STATE_REASON];

void gp_state_set_end(const char *why)
{
	snprintf(last_end, sizeof(last_end), "%s", why);
}

void gp_state_count_restart(struct gp_saved_state *s, u64 now_s)
{
	const char *why = last_end[0] ? last_end : s->end[0] ? s->end : "it ended without a word";

	s->restarts++;
	memmove(s->restart + 1, s->restart, sizeof(s->restart) - sizeof(s->restart[0]));
	if (s->nr_restarts < GP_STATE_REASONS)
		s->nr_restarts++;
	s->restart[0].at_s = now_s;
	snprintf(s->restart[0].why, GP_STATE_REASON, "%s", why);
	gp_text_clean(s->restart[0].why);
	last_end[0] = s->end[0] = 0;
}

/* ---- the decider ---- */

/* Replaces the classes and holds in @s by those of @h. */
static void read_decider(struct gp_saved_state *s, const struct gp_decider *h)
{
	u32 i;

	s->nr_classes = h->nr_requests;
	memcpy(s->class, h->request, sizeof(s->class));
	s->nr_holds = 0;
	for (i = 0; i < h->nr_processes && s->nr_holds < GP_STATE_HOLDS; i++) {
		const struct gp_gpu_process *r = h->process[i];
		u64 until = gp_decider_held_until(h, r);

		if (until > h->now_ns && until != GP_NEVER)
			s->hold[s->nr_holds++] = (struct gp_kept_hold){
				.id = { r->pid, r->start }, .until_ns = until };
	}
}

/*
 * Returns false if the process has ended. An error other than -ESRCH says nothing, so a later check
 * decides.
 */
static bool may_live(const struct gp_decider *h, const struct gp_process_id *id)
{
	u64 start = id->start;

	return gp_process_start(h->args.proc, id->pid, &start) != -ESRCH && start == id->start;
}

static void restore_classes(const struct gp_saved_state *s, struct gp_decider *h)
{
	for (u32 i = 0; i < s->nr_classes && h->nr_requests < GP_CLASS_REQUESTS; i++) {
		const struct gp_class_request *c = &s->class[i];

		if (may_live(h, &c->who) && gp_rules_class(&h->config->rules, c->class_name) &&
		    !gp_class_request_find(h, c->who.pid, c->who.start))
			h->request[h->nr_requests++] = *c;
	}
}

/* Renews holds, and drops those that were renewed or are over. Returns true if any was dropped. */
static bool restore_holds(struct gp_saved_state *s, struct gp_decider *h)
{
	u32 i, had = s->nr_holds;
	char why[GP_DECIDER_WHY];
	u64 granted;

	for (i = s->nr_holds; i--;) {
		const struct gp_kept_hold *hold = &s->hold[i];

		if (hold->until_ns <= h->now_ns || !may_live(h, &hold->id) ||
		    !gp_decider_hold(h, &hold->id, hold->until_ns - h->now_ns, &granted, why))
			s->hold[i] = s->hold[--s->nr_holds];
	}
	return s->nr_holds < had;
}

/* ---- the state of a running daemon ---- */

static void save(struct gp_state_store *store, const struct gp_decider *h)
{
	struct gp_saved_state *s = &store->state;
	u32 i;
	int err;

	read_decider(s, h);
	/* Keep holds that are not renewed yet, so that a second restart does not lose them. */
	for (i = 0; i < store->restore.nr_holds && s->nr_holds < GP_STATE_HOLDS; i++)
		s->hold[s->nr_holds++] = store->restore.hold[i];
	err = store->path && !store->unread ? gp_state_save(store->path, s) : 0;
	if (err && !store->failed)
		gp_log(GP_LOG_WARNING, "%s: %s; a restart will lose classes, holds and policy set "
		       "by hand", store->path, strerror(-err));
	store->failed = err;
	/* Retry after a failure, at a lower rate. */
	store->changed = err;
	store->save_at_ns = h->now_ns + (err ? AGAIN_NS : SAVE_NS);
}

/* Returns true if there was a state to load. */
static bool load(struct gp_state_store *store, struct gp_decider *h)
{
	struct gp_saved_state *s = &store->restore;
	char why[GP_DECIDER_WHY];
	int err = store->path ? gp_state_load(store->path, s, why) : -ENOENT;
	bool was_unread = store->unread;

	/* An unreadable file may be valid, so do not replace it, and retry. */
	store->unread = err && err != -ENOENT && err != -EINVAL;
	if (store->unread)
		store->save_at_ns = h->now_ns + AGAIN_NS;
	if (err && err != -ENOENT && !was_unread)
		gp_log(GP_LOG_WARNING, "%s: %s: %s", store->path,
		       store->unread ? "cannot be read for now" : "ignored", why);
	if (err)
		return false;
	gp_state_count_restart(s, (u64)time(NULL));
	gp_log(GP_LOG_INFO, "restart %u: %s", s->restarts, s->restart[0].why);
	restore_classes(s, h);
	if (store->policy_is_newer) {
		memcpy(s->policy, store->state.policy, sizeof(s->policy));
		memcpy(s->param_set, store->state.param_set, sizeof(s->param_set));
		memcpy(s->param, store->state.param, sizeof(s->param));
	}
	store->state = *s;
	return true;
}

struct gp_state_store *gp_state_open(const char *path, struct gp_decider *h)
{
	struct gp_state_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->path = path;
	store->changed = true;
	load(store, h);
	return store;
}

bool gp_state_tend(struct gp_state_store *store, struct gp_decider *h)
{
	bool loaded = store->unread && h->now_ns >= store->save_at_ns && load(store, h);

	for (u32 i = 0; loaded && i < h->nr_processes; i++) {
		gp_processes_classify(h, h->process[i]);
		gp_tasks_update(h, h->process[i]);
	}
	if (restore_holds(&store->restore, h))
		store->changed = true;
	if (store->changed && !store->unread && h->now_ns >= store->save_at_ns)
		save(store, h);
	return loaded;
}

void gp_state_end(struct gp_state_store *store, const struct gp_decider *h, const char *why)
{
	snprintf(store->state.end, sizeof(store->state.end), "%s", why);
	save(store, h);
}
