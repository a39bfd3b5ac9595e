// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The scanner. A scan walks over the driver's directory of processes, removes the processes that
 * the walk did not find, and shows the rest.
 */
#include "process.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_record.h"
#include "sys.h"
#include "sysfs.h"
#include "user.h"

enum {
	/* Entries at most, because the driver has 2^16 numbers for address spaces. */
	ENTRIES_MAX	= 1 << 16,
	FIRST_ROOM	= 64,
	/* Processes beyond a limit whose queues are checked, in a scan and in a step. */
	PEEKS		= 128,
	PEEKS_IN_STEP	= 8,
};

/*
 * A directory of the driver. A tracked process has a record. Without a record the process is beyond
 * a limit, has ended, or could not be read yet.
 */
struct entry {
	pid_t pid;
	u32 scan;		/* the last scan that found it */
	u64 birth;
	uid_t user;
	bool has_user;		/* the user is known */
	bool busy;		/* it is beyond a limit and has queues */
	u32 peeked;		/* the scan that set @busy */
	struct gp_process_record *record;
};

struct user {
	uid_t uid;
	u32 processes, tracked, busy;
};

/* The phase of a scan: WALK is in @dir, SWEEP is at the entry @at, which it may remove. */
enum phase { BETWEEN_SCANS, WALK, SWEEP };

struct gp_scanner {
	char kfd[PATH_MAX];	/* with /proc behind it */
	char proc[GP_PROCESS_PROC_MAX];
	struct gp_subuids *subuids;
	u32 user_max;

	struct entry *entry;	/* in no order */
	u32 nr, room;
	u32 *slot;		/* hash table: index of the entry + 1 by its pid */
	u32 slots;		/* a power of two, at least twice @room */
	u32 beyond;		/* directories of the last scan without an entry */

	struct user *user;	/* by uid */
	u32 nr_users, users_room, nr_with_user;

	struct gp_process_record **record;	/* by pid */
	struct gp_process *shown;		/* the result */
	u32 nr_records, nr_shown, records_room;

	enum phase phase;
	u32 scan, what, left;	/* @left: steps of this call */
	u32 peeks;		/* of this scan */
	struct gp_sysfs_dir dir;
	u32 at;
	/* The directory that the walk has reached, and how many new queues of it may be read. */
	struct { bool begun; pid_t pid; u64 birth; u32 queues; } now;

	u64 faults[GP_SCAN_FAULTS];
};

int gp_scanner_alloc(const struct gp_scan_args *args, struct gp_scanner **ret)
{
	const char *kfd = args->kfd ? args->kfd : GP_SYSFS_KFD;
	const char *proc = args->proc ? args->proc : "/proc";
	struct gp_scanner *s;
	int err;

	if (strlen(kfd) + sizeof("/proc") > sizeof(s->kfd) || strlen(proc) >= sizeof(s->proc))
		return -ENAMETOOLONG;
	s = gp_sys->realloc(NULL, sizeof(*s));
	if (!s)
		return -ENOMEM;
	memset(s, 0, sizeof(*s));
	err = gp_subuids_alloc(args->etc, &s->subuids);
	if (err) {
		free(s);
		return err;
	}
	snprintf(s->kfd, sizeof(s->kfd), "%s/proc", kfd);
	snprintf(s->proc, sizeof(s->proc), "%s", proc);
	s->user_max = args->user_max ? args->user_max : GP_USER_PROCESSES_MAX;
	*ret = s;
	return 0;
}

void gp_scanner_free(struct gp_scanner *s)
{
	if (!s)
		return;
	if (s->phase != BETWEEN_SCANS)
		gp_sysfs_dir_close(&s->dir);
	for (u32 i = 0; i < s->nr_records; i++)
		gp_process_record_free(s->record[i]);
	gp_subuids_free(s->subuids);
	free(s->entry);
	free(s->slot);
	free(s->user);
	free(s->record);
	free(s->shown);
	free(s);
}

/* ---- faults ---- */

static void count_fault(void *ctx, int err)
{
	struct gp_scanner *s = ctx;

	if (err == -EMFILE || err == -ENFILE)
		s->faults[GP_SCAN_DESCRIPTORS]++;
	else if (err == -ENOMEM)
		s->faults[GP_SCAN_MEMORY]++;
	else if (err == -EIO)
		s->faults[GP_SCAN_IO]++;
	else if (err == -EAGAIN || err == -EINTR)
		s->faults[GP_SCAN_AGAIN]++;
	else
		s->faults[GP_SCAN_OTHER]++;
}

u64 gp_scanner_faults(const struct gp_scanner *s, enum gp_scan_fault why)
{
	return s->faults[why];
}

const char *gp_scan_fault_text(enum gp_scan_fault why)
{
	static const char *const text[] = {
		[GP_SCAN_DESCRIPTORS]	= "no file descriptor is free",
		[GP_SCAN_MEMORY]	= "no memory is free",
		[GP_SCAN_IO]		= "input/output error",
		[GP_SCAN_AGAIN]		= "a file is busy",
		[GP_SCAN_OTHER]		= "a file cannot be read",
	};

	return text[why];
}

/* ---- entries ---- */

/* Makes room for at least one more element. */
static bool grow(void *array, u32 *room, u32 nr, size_t size)
{
	void **at = array, *more;
	u32 want = *room ? 2 * *room : FIRST_ROOM;

	if (nr < *room)
		return true;
	more = gp_sys->realloc(*at, want * size);
	if (!more)
		return false;
	*at = more;
	*room = want;
	return true;
}

static u32 hash(const struct gp_scanner *s, pid_t pid)
{
	return (u32)pid * 2654435761u >> 7 & (s->slots - 1);
}

/* Returns the slot of @pid, or the free one where it belongs. */
static u32 find_slot(const struct gp_scanner *s, pid_t pid)
{
	u32 at = hash(s, pid);

	while (s->slot[at] && s->entry[s->slot[at] - 1].pid != pid)
		at = (at + 1) & (s->slots - 1);
	return at;
}

static struct entry *find_entry(const struct gp_scanner *s, pid_t pid)
{
	u32 index = s->slots ? s->slot[find_slot(s, pid)] : 0;

	return index ? &s->entry[index - 1] : NULL;
}

/* Makes room for one more entry, and keeps the hash table at most half full. */
static bool grow_entries(struct gp_scanner *s)
{
	u32 want, *slot;

	if (!grow(&s->entry, &s->room, s->nr, sizeof(*s->entry)))
		return false;
	want = 2 * s->room;
	if (want == s->slots)
		return true;
	slot = gp_sys->realloc(NULL, want * sizeof(*slot));
	if (!slot)
		return false;
	memset(slot, 0, want * sizeof(*slot));
	free(s->slot);
	s->slot = slot;
	s->slots = want;
	for (u32 i = 0; i < s->nr; i++)
		slot[find_slot(s, s->entry[i].pid)] = i + 1;
	return true;
}

/* Adds an entry. NULL: no memory, or too many. */
static struct entry *add_entry(struct gp_scanner *s, pid_t pid, u64 birth)
{
	struct entry *e;

	if (s->nr == ENTRIES_MAX) {
		s->beyond++;
		return NULL;
	}
	if (!grow_entries(s)) {
		count_fault(s, -ENOMEM);
		return NULL;
	}
	e = &s->entry[s->nr++];
	*e = (struct entry){ .pid = pid, .birth = birth, .scan = s->scan - 1 };
	s->slot[find_slot(s, pid)] = s->nr;
	return e;
}

/* Removes an entry. The last entry takes its place. */
static void remove_entry(struct gp_scanner *s, struct entry *e)
{
	u32 mask = s->slots - 1, hole = find_slot(s, e->pid), at = hole;

	/* Entries behind the hole move up, unless that would put them before their own place. */
	while (s->slot[at = (at + 1) & mask]) {
		u32 own = hash(s, s->entry[s->slot[at] - 1].pid);

		if (((at - own) & mask) >= ((at - hole) & mask)) {
			s->slot[hole] = s->slot[at];
			hole = at;
		}
	}
	s->slot[hole] = 0;
	if (e != &s->entry[s->nr - 1]) {
		s->slot[find_slot(s, s->entry[s->nr - 1].pid)] = (u32)(e - s->entry) + 1;
		*e = s->entry[s->nr - 1];
	}
	s->nr--;
}

/* ---- users ---- */

/* Returns the index of @uid among the users. */
static u32 user_place(const struct gp_scanner *s, uid_t uid)
{
	u32 low = 0, high = s->nr_users;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (s->user[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct user *find_user(const struct gp_scanner *s, uid_t uid)
{
	u32 at = user_place(s, uid);

	return at < s->nr_users && s->user[at].uid == uid ? &s->user[at] : NULL;
}

static bool set_user(struct gp_scanner *s, struct entry *e, uid_t uid)
{
	struct user *u = find_user(s, uid);
	u32 at = user_place(s, uid);

	if (!u) {
		if (!grow(&s->user, &s->users_room, s->nr_users, sizeof(*u)))
			return false;
		u = &s->user[at];
		memmove(u + 1, u, (s->nr_users++ - at) * sizeof(*u));
		*u = (struct user){ .uid = uid };
	}
	u->processes++;
	s->nr_with_user++;
	e->user = uid;
	e->has_user = true;
	return true;
}

static void unset_user(struct gp_scanner *s, struct entry *e)
{
	struct user *u = e->has_user ? find_user(s, e->user) : NULL;

	if (!u)
		return;
	e->has_user = false;
	u->busy -= e->busy;
	e->busy = false;
	s->nr_with_user--;
	if (--u->processes)
		return;
	s->nr_users--;
	memmove(u, u + 1, (size_t)(&s->user[s->nr_users] - u) * sizeof(*u));
}

static bool may_track(const struct gp_scanner *s, uid_t uid)
{
	const struct user *u = find_user(s, uid);
	u32 limit = s->user_max;

	if (s->nr_records >= GP_PROCESSES_MAX - GP_PROCESSES_MAX / 4)
		limit = limit > 8 ? limit / 8 : 1;
	return s->nr_records < GP_PROCESSES_MAX && (!u || u->tracked < limit);
}

u32 gp_scanner_left_out(const struct gp_scanner *s)
{
	return s->nr_with_user - s->nr_records + s->beyond;
}

bool gp_scanner_user(const struct gp_scanner *s, u32 i, struct gp_scan_user *ret)
{
	if (i >= s->nr_users)
		return false;
	*ret = (struct gp_scan_user){
		.user = s->user[i].uid, .tracked = s->user[i].tracked,
		.left_out = s->user[i].processes - s->user[i].tracked,
		.busy = s->user[i].busy,
	};
	return true;
}

/* ---- tracked processes ---- */

static u32 record_place(const struct gp_scanner *s, pid_t pid)
{
	u32 low = 0, high = s->nr_records;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (s->record[middle]->pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool grow_records(struct gp_scanner *s)
{
	u32 room = s->records_room;
	struct gp_process *shown;

	if (s->nr_records < room)
		return true;
	if (!grow(&s->record, &room, s->nr_records, sizeof(struct gp_process_record *)))
		return false;
	shown = gp_sys->realloc(s->shown, room * sizeof(*shown));
	if (!shown)
		return false;
	s->shown = shown;
	s->records_room = room;
	return true;
}

static int track(struct gp_scanner *s, struct entry *e, const struct gp_process_record *from)
{
	struct gp_process_record *r;
	u32 at = record_place(s, e->pid);

	if (!grow_records(s))
		return -ENOMEM;
	r = gp_sys->realloc(NULL, sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = *from;
	memmove(&s->record[at + 1], &s->record[at],
		(s->nr_records++ - at) * sizeof(struct gp_process_record *));
	s->record[at] = r;
	e->record = r;
	find_user(s, e->user)->tracked++;
	return 0;
}

static void drop_record(struct gp_scanner *s, struct entry *e)
{
	u32 at = record_place(s, e->pid);

	s->nr_records--;
	memmove(&s->record[at], &s->record[at + 1],
		(s->nr_records - at) * sizeof(struct gp_process_record *));
	find_user(s, e->user)->tracked--;
	gp_process_record_free(e->record);
	e->record = NULL;
}

/* Removes the record of @e, whose process is gone. */
static void untrack(struct gp_scanner *s, struct entry *e)
{
	if (e->record)
		drop_record(s, e);
	unset_user(s, e);
}

/* Finds the user of a process, and tracks it if it has a place or the user's limit allows it. */
static void admit(struct gp_scanner *s, struct entry *e, bool placed, u64 now_ns)
{
	struct gp_process_record r;
	int err = gp_process_record_identify(&r, s->proc, e->pid);

	unset_user(s, e);
	if (!err)
		err = gp_user_of(s->subuids, s->proc, e->pid, r.uid, &r.user);
	if (!err && !set_user(s, e, r.user))
		err = -ENOMEM;
	if (!err && (placed || may_track(s, e->user))) {
		r.birth = e->birth;
		r.seen_ns = now_ns;
		err = track(s, e, &r);
	}
	if (err && err != -ESRCH)
		count_fault(s, err);
}

/* ---- a scan ---- */

static bool take_step(struct gp_scanner *s)
{
	if (!s->left)
		return false;
	s->left--;
	return true;
}

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Returns false if more steps are needed. */
static bool update(struct gp_scanner *s, struct entry *e, u64 now_ns)
{
	struct gp_process_look look = {
		.proc = s->proc, .kfd_fd = s->dir.fd, .now_ns = now_ns, .what = s->what,
		.fault = count_fault, .ctx = s,
	};

	if (!take_step(s))
		return false;
	/* At least one new queue, so that every call gets further. */
	look.queues_max = least(s->left ? s->left : 1, s->now.queues);
	if (gp_process_record_update(e->record, &look)) {
		untrack(s, e);
		return true;
	}
	s->left -= least(s->left, look.steps);
	s->now.queues -= least(s->now.queues, look.steps);
	return !look.unfinished || !s->now.queues;
}

/* The oldest tracked process of @user that has no queues; NULL: each has some. */
static struct entry *find_idle(const struct gp_scanner *s, uid_t user)
{
	const struct gp_process_record *idle = NULL;

	for (u32 i = 0; i < s->nr_records; i++) {
		const struct gp_process_record *r = s->record[i];

		if (r->user == user && r->queues_known && !r->nr_queues &&
		    (!idle || r->seen_ns < idle->seen_ns))
			idle = r;
	}
	return idle ? find_entry(s, idle->pid) : NULL;
}

static void peek(struct gp_scanner *s, struct entry *e)
{
	struct gp_sysfs_dir dir;
	char path[32];
	u64 id, birth;
	int err;

	snprintf(path, sizeof(path), "%d/queues", e->pid);
	err = gp_sysfs_dir_open(&dir, s->dir.fd, path);
	if (!err) {
		err = gp_sysfs_dir_number(&dir, 0, UINT32_MAX, &id, &birth);
		gp_sysfs_dir_close(&dir);
	}
	if (err < 0 && !gp_sys_is_gone(err)) {
		count_fault(s, err);
		return;
	}
	find_user(s, e->user)->busy += (err > 0) - e->busy;
	e->busy = err > 0;
}

/*
 * A process beyond a limit that has queues takes the place of one of the same user that has none,
 * so that idle processes do not keep a busy one from being managed. Returns false if more steps are
 * needed.
 */
static bool displace(struct gp_scanner *s, struct entry *e)
{
	struct entry *idle;

	if (s->peeks >= PEEKS || s->scan - e->peeked <= gp_scanner_left_out(s) / PEEKS)
		return true;
	if (!s->left)
		return false;
	e->peeked = s->scan;
	s->left -= !(++s->peeks % PEEKS_IN_STEP);
	peek(s, e);
	idle = e->busy ? find_idle(s, e->user) : NULL;
	if (idle) {
		s->left -= s->left > 0;
		drop_record(s, idle);
		admit(s, e, true, gp_sys->monotonic_ns());
	}
	return true;
}

/* Visits the directory that the walk has reached. Returns false if more steps are needed. */
static bool visit(struct gp_scanner *s)
{
	struct entry *e = find_entry(s, s->now.pid);
	u64 now_ns;

	if (!e)
		e = add_entry(s, s->now.pid, s->now.birth);
	if (!e || e->scan == s->scan)
		return true;
	if (e->birth != s->now.birth) {
		untrack(s, e);
		e->birth = s->now.birth;
	}
	if (!e->record && e->has_user && !may_track(s, e->user) && !displace(s, e))
		return false;
	if (e->record || !e->has_user || may_track(s, e->user)) {
		now_ns = gp_sys->monotonic_ns();
		if (!e->record) {
			if (!take_step(s))
				return false;
			admit(s, e, false, now_ns);
		}
		if (e->record && !update(s, e, now_ns))
			return false;
	}
	e->scan = s->scan;
	return true;
}

/* Returns 1 when done, 0 if more steps are needed. */
static int walk(struct gp_scanner *s)
{
	u64 pid;
	int err;

	for (;;) {
		if (!s->now.begun) {
			if (s->dir.at == s->dir.filled && !take_step(s))
				return 0;
			err = gp_sysfs_dir_number(&s->dir, 1, INT_MAX, &pid, &s->now.birth);
			if (err <= 0)
				return err < 0 ? err : 1;
			s->now.pid = (pid_t)pid;
			s->now.queues = GP_PROCESS_QUEUES_MAX;
			s->now.begun = true;
		}
		if (!visit(s))
			return 0;
		s->now.begun = false;
	}
}

/*
 * The walk did not find a tracked process. A directory that changes while it is read may lack an
 * entry that is there, so ask for this one by its name.
 */
static bool is_gone(struct gp_scanner *s, const struct entry *e)
{
	struct stat st;
	int err = gp_sys->fstatat(s->dir.fd, e->record->name, &st, 0) ? -errno : 0;

	if (err && !gp_sys_is_gone(err))
		count_fault(s, err);
	return err ? gp_sys_is_gone(err) : st.st_ino != e->birth;
}

/* Returns 1 when done, 0 if more steps are needed. */
static int sweep(struct gp_scanner *s)
{
	while (s->at < s->nr) {
		struct entry *e = &s->entry[s->at];

		if (e->scan == s->scan) {
			s->at++;
			continue;
		}
		if (e->record) {
			if (!take_step(s))
				return 0;
			if (!is_gone(s, e)) {
				s->at++;
				continue;
			}
		}
		untrack(s, e);
		remove_entry(s, e);
	}
	return 1;
}

static void show(struct gp_scanner *s)
{
	s->nr_shown = 0;
	for (u32 i = 0; i < s->nr_records; i++)
		if (s->record[i]->queues_known)
			gp_process_record_show(s->record[i], &s->shown[s->nr_shown++]);
}

static int begin(struct gp_scanner *s, u32 what)
{
	int err = gp_sysfs_dir_open(&s->dir, AT_FDCWD, s->kfd);

	if (err)
		return err;
	s->phase = WALK;
	s->what = what;
	s->scan++;
	s->beyond = 0;
	s->peeks = 0;
	s->at = 0;
	s->now.begun = false;
	return 0;
}

static void end(struct gp_scanner *s)
{
	if (s->phase != BETWEEN_SCANS)
		gp_sysfs_dir_close(&s->dir);
	s->phase = BETWEEN_SCANS;
}

int gp_scanner_step(struct gp_scanner *s, u32 what, u32 steps)
{
	int err = 1;

	s->left = steps ? steps : 1;
	if (s->phase == BETWEEN_SCANS)
		err = begin(s, what);
	if (err >= 0 && s->phase == WALK)
		err = walk(s);
	if (err > 0) {
		s->phase = SWEEP;
		err = sweep(s);
	}
	if (err > 0)
		show(s);
	if (err < 0 && err != -ENOENT)
		count_fault(s, err);
	if (err)
		end(s);
	return err;
}

const struct gp_process *gp_scanner_processes(const struct gp_scanner *s, u32 *ret_count)
{
	*ret_count = s->nr_shown;
	return s->shown;
}

int gp_scanner_run(struct gp_scanner *s, u32 what, const struct gp_process **ret, u32 *ret_count)
{
	int err;

	end(s);
	err = gp_scanner_step(s, what, UINT32_MAX);
	if (err < 0)
		return err;
	*ret = gp_scanner_processes(s, ret_count);
	return 0;
}
