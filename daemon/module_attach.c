// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Attaching tasks to the module.
 *
 * The module needs a pidfd and a KFD descriptor of each process. A process can delay their fetch
 * without limit, so the holder of its user fetches them (holders.h).
 *
 * A process can also delay the module by keeping its memory locked. So a run stops attaching after
 * ATTACH_RUN_NS, and the next run continues. Attaches for one user take at most a share of the
 * time, so that the processes of other users get theirs.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "module_private.h"

enum {
	USER_SHARE	= 10,	/* attaches for one user take at most a tenth of the time */
	TRIES_DOUBLE	= 6,
};

/* Delay between two attaches of a task; doubles while the process keeps its memory locked. */
#define AGAIN_NS	(1 * GP_SEC)
/* Time of a run after which the remaining attaches wait for the next run. */
#define ATTACH_RUN_NS	(2 * GP_MSEC)
/* Timeout of the descriptors of a task. */
#define FETCH_NS	(2 * GP_SEC)
/* Part of its share that a user may use at once. */
#define USER_BURST_NS	(ATTACH_RUN_NS * USER_SHARE)

const char *gp_module_why_not(int err)
{
	switch (err) {
	case -EEXIST:
		return "another program has attached it to the module";
	case -EXDEV:
	case -EBADF:
		return "it has no descriptor of the driver that is its own";
	case -EPERM:
		return "it may not be traced, so its descriptor cannot be had";
	case -ENOSPC:
		return "the module does not admit it";
	case -EOPNOTSUPP:
		return "the driver is not the one the module was built for";
	case -ENODEV:
		return "a GPU was unbound since it began";
	case -E2BIG:
		return "its gang has more than 64 processes, the most that the module takes";
	case -EAGAIN:
		return "it keeps its memory locked; gpreemptd tries again";
	case -ECONNRESET:
		return "the holder process of its user died; it is started again";
	case -ETIME:
	case -EBUSY:
		return "its descriptor could not be had in time; gpreemptd tries again";
	default:
		return strerror(-err);
	}
}

void gp_module_detach(struct gp_module *m, struct gp_module_task *t)
{
	if (!t->handle)
		return;
	gp_kmod_detach(m->base.fd, t->handle);
	m->detaches++;
	t->handle = t->nr = 0;
	t->number = GP_NONE;
}

/*
 * Gets the present processes of the task of @r, at most GP_UAPI_MEMBERS. Returns how many there
 * are.
 */
static u32 members_of(const struct gp_decider *h, const struct gp_gpu_process *r,
		      struct gp_process_id *to)
{
	u32 i, n = 0;

	/* Most processes are in no gang, which needs no search. */
	to[0] = (struct gp_process_id){ r->pid, r->start };
	for (i = 0; r->gang[0] && i < h->nr_processes; i++)
		if (h->process[i]->task == r->task && n++ < GP_UAPI_MEMBERS)
			to[n - 1] = (struct gp_process_id){ h->process[i]->pid,
							      h->process[i]->start };
	return n ? n : 1;
}

static bool same_members(const struct gp_module_task *t, const struct gp_process_id *p, u32 nr)
{
	u32 i;

	if (!t->handle || t->nr != nr)
		return false;
	for (i = 0; i < nr; i++)
		if (t->pid[i] != p[i].pid)
			return false;
	return true;
}

/* Sets the attachment of the processes of @task by the result of an attach. */
static void attached(struct gp_decider *h, u32 task, int err)
{
	u32 i;

	for (i = 0; i < h->nr_processes; i++) {
		struct gp_gpu_process *r = h->process[i];

		if (r->task != task)
			continue;
		r->attachment = err ? GP_NOT_ATTACHED : GP_ATTACHED;
		r->refused = err && err != -ESRCH;
		if (!err) {
			r->trouble[0] = 0;
			gp_decider_news(h, GP_NEWS_PROCESS, r, "can be preempted from now on");
		} else if (err != -ESRCH && strcmp(r->trouble, gp_module_why_not(err))) {
			snprintf(r->trouble, sizeof(r->trouble), "%s", gp_module_why_not(err));
			gp_decider_news(h, GP_NEWS_TROUBLE, r, "cannot be preempted: %s",
				     r->trouble);
		}
		/* The class says whether it is preemptible. */
		gp_tasks_update(h, r);
	}
}

/* Repeats a hold that waited for the attach, or that ended with the former attach. */
static void hold_again(struct gp_module *m, u32 task)
{
	struct gp_decider *h = m->base.h;
	const struct gp_gpu_process *r = gp_decider_by_task(h, task);
	u64 until = m->task[task]->held_until_ns;
	u64 lease = until > h->now_ns ? until - h->now_ns : 0;

	if (!r)
		return;
	if (r->lease_ns && h->now_ns < r->lease_until_ns)
		lease = r->lease_ns;
	if (lease)
		gp_module_trouble(m, "a hold", gp_module_hold(&m->base, task, lease));
	gp_tasks_lease(h, r, 0, 0);
}

/* ---- descriptors ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_members(struct gp_module_fetch *f)
{
	u32 i;

	for (i = 0; i < f->nr; i++) {
		close_fd(&f->member[i].pidfd);
		close_fd(&f->member[i].kfd_fd);
	}
}

static void drop_fetch(struct gp_module_fetch *f)
{
	close_members(f);
	f->nr = 0;
}

void gp_module_drop_fetches(struct gp_module *m, u32 task)
{
	u32 i;

	for (i = 0; i < GP_MODULE_FETCHES; i++)
		if (m->fetch[i].nr && (task == GP_NONE || m->fetch[i].task == task))
			drop_fetch(&m->fetch[i]);
}

static bool is_over(const struct gp_module *m, const struct gp_module_fetch *f)
{
	return !f->left || f->err || m->base.h->now_ns >= f->until_ns;
}

u64 gp_module_fetch_until(const struct gp_module *m)
{
	u64 at = GP_NEVER;
	u32 i;

	for (i = 0; i < GP_MODULE_FETCHES; i++)
		if (m->fetch[i].nr && m->fetch[i].until_ns < at)
			at = m->fetch[i].until_ns;
	return at;
}

static void ask(struct gp_module *m, struct gp_module_fetch *f)
{
	u32 i;

	f->left = f->nr;
	f->err = 0;
	f->until_ns = m->base.h->now_ns + FETCH_NS;
	for (i = 0; i < f->nr && !f->err; i++) {
		const struct gp_holders_process p = {
			.pid = f->member[i].pid, .start = f->member[i].start, .user = f->user,
			.which = f->which,
		};

		f->member[i].err = -EINPROGRESS;
		f->err = gp_holders_ask_kfd(m->holders, &p);
	}
}

static void begin_fetch(struct gp_module *m, const struct gp_gpu_process *r,
			const struct gp_process_id *p, u32 nr)
{
	struct gp_module_fetch *f = NULL;
	u32 i;

	for (i = 0; i < GP_MODULE_FETCHES; i++) {
		if (m->fetch[i].nr && m->fetch[i].user == r->user)
			return;
		if (!m->fetch[i].nr)
			f = &m->fetch[i];
	}
	if (!f)
		return;
	*f = (struct gp_module_fetch){ .nr = nr, .task = r->task, .user = r->user };
	for (i = 0; i < nr; i++)
		f->member[i] = (struct gp_holders_kfd){ .pid = p[i].pid, .start = p[i].start,
							.pidfd = -1, .kfd_fd = -1 };
	ask(m, f);
}

static struct gp_module_fetch *fetch_of(struct gp_module *m, u32 task)
{
	u32 i;

	for (i = 0; i < GP_MODULE_FETCHES; i++)
		if (m->fetch[i].nr && m->fetch[i].task == task)
			return &m->fetch[i];
	return NULL;
}

static bool is_for(const struct gp_module_fetch *f, const struct gp_process_id *p, u32 nr)
{
	u32 i;

	for (i = 0; i < nr && i < f->nr; i++)
		if (f->member[i].pid != p[i].pid || f->member[i].start != p[i].start)
			return false;
	return f->nr == nr;
}

/*
 * Returns true if the fetch for the task of @r is over, with descriptors or an error. Begins it if
 * needed.
 */
static bool fetched(struct gp_module *m, const struct gp_gpu_process *r,
		    const struct gp_process_id *p, u32 nr)
{
	struct gp_module_fetch *f = fetch_of(m, r->task);

	if (f && !is_for(f, p, nr)) {
		drop_fetch(f);
		f = NULL;
	}
	if (!f)
		begin_fetch(m, r, p, nr);
	return f && is_over(m, f);
}

static struct gp_holders_kfd *awaited(struct gp_module_fetch *f, const struct gp_holders_kfd *a)
{
	u32 i;

	for (i = 0; i < f->nr; i++)
		if (f->member[i].pid == a->pid && f->member[i].start == a->start &&
		    f->member[i].err == -EINPROGRESS)
			return &f->member[i];
	return NULL;
}

static void take_descriptors(struct gp_module *m, struct gp_holders_kfd *a)
{
	struct gp_holders_kfd *to = NULL;
	struct gp_module_fetch *f;

	for (f = m->fetch; f < m->fetch + GP_MODULE_FETCHES && !to; f++)
		to = awaited(f, a);
	if (!to) {
		/* The fetch has timed out. */
		close_fd(&a->pidfd);
		close_fd(&a->kfd_fd);
		return;
	}
	f--;
	*to = *a;
	f->left--;
	if (a->count > f->count)
		f->count = a->count;
	if (!f->err)
		f->err = a->err;
}

void gp_module_take_descriptors(struct gp_module *m)
{
	struct gp_holders_kfd answer;
	u32 i;

	while (!gp_holders_next_kfd(m->holders, &answer))
		take_descriptors(m, &answer);
	for (i = 0; i < GP_MODULE_FETCHES; i++)
		if (m->fetch[i].nr && is_over(m, &m->fetch[i]))
			m->base.h->attach_due = true;
}

/* ---- whose turn it is ---- */

/* Returns the entry of @user. Reuses the entry that is paid first if there is none. */
static struct gp_module_user *user_of(struct gp_module *m, uid_t user)
{
	struct gp_module_user *best = &m->user[0];
	u32 i;

	for (i = 0; i < GP_MODULE_USERS; i++) {
		if (m->user[i].paid_ns && m->user[i].user == user)
			return &m->user[i];
		if (m->user[i].paid_ns < best->paid_ns)
			best = &m->user[i];
	}
	*best = (struct gp_module_user){ .user = user };
	return best;
}

/* Charges @user for an attach that took @ns. */
static void charge(struct gp_module *m, uid_t user, u64 ns)
{
	struct gp_module_user *u = user_of(m, user);
	u64 now = m->base.h->now_ns;

	u->paid_ns = (u->paid_ns > now ? u->paid_ns : now) + ns * USER_SHARE;
}

static bool may_attach(struct gp_module *m, u32 task, uid_t user)
{
	u64 now = m->base.h->now_ns;
	u32 i;

	/* Its share was checked before the fetch began. */
	if (fetch_of(m, task))
		return true;
	for (i = 0; i < GP_MODULE_USERS; i++)
		if (m->user[i].user == user && m->user[i].paid_ns > now + USER_BURST_NS)
			return false;
	return now >= m->task[task]->again_ns;
}

/* ---- attaching ---- */

/* Returns when to retry @t after @err. */
static u64 again_at(const struct gp_decider *h, struct gp_module_task *t, int err)
{
	u64 wait = AGAIN_NS << t->tries;

	if (err != -EAGAIN && err != -ETIME && err != -EBUSY) {
		t->tries = 0;
		return err ? h->now_ns + AGAIN_NS : 0;
	}
	if (t->tries < TRIES_DOUBLE)
		t->tries++;
	return h->now_ns + wait;
}

/* Attaches with fetched descriptors. -EINPROGRESS: another descriptor is being fetched. */
static int attach_fetched(struct gp_module *m, struct gp_module_fetch *f)
{
	struct gp_uapi_member members[GP_UAPI_MEMBERS];
	struct gp_module_task *t = m->task[f->task];
	int err = f->err ? f->err : f->left ? -ETIME : 0;
	u32 i;

	for (i = 0; i < f->nr && !err; i++)
		members[i] = (struct gp_uapi_member){ .pidfd = f->member[i].pidfd,
						      .kfd_fd = f->member[i].kfd_fd };
	if (!err)
		err = gp_kmod_attach_members(m->base.fd, members, f->nr, &t->class, &t->handle);
	/* A process may also have descriptors of the process that it was forked from. */
	if (err == -EXDEV && f->which + 1 < f->count) {
		close_members(f);
		f->which++;
		ask(m, f);
		return -EINPROGRESS;
	}
	drop_fetch(f);
	return err;
}

static void attach(struct gp_module *m, u32 task, const struct gp_process_id *p, u32 nr)
{
	struct gp_module_task *t = m->task[task];
	struct gp_decider *h = m->base.h;
	u32 i;
	int err;

	gp_module_detach(m, t);
	/* An attached part of a gang would wait for the rest, so attach all or none. */
	err = nr > GP_UAPI_MEMBERS ? -E2BIG : attach_fetched(m, fetch_of(m, task));
	if (err == -EINPROGRESS)
		return;
	t->again_ns = again_at(h, t, err);
	m->attaches += !err;
	m->failures += !!err;
	t->nr = nr;
	for (i = 0; i < nr && i < GP_UAPI_MEMBERS; i++)
		t->pid[i] = p[i].pid;
	/* A task that was just attached or detached is ON. */
	gp_module_all_seats(m, task, GP_ON);
	attached(h, task, err);
	if (!err)
		hold_again(m, task);
}

static void leave_all(struct gp_module *m)
{
	u32 i;

	gp_module_drop_fetches(m, GP_NONE);
	for (i = 0; i < GP_MODULE_TASKS; i++) {
		if (!m->task[i])
			continue;
		if (m->task[i]->handle)
			gp_module_all_seats(m, i, GP_ON);
		gp_module_detach(m, m->task[i]);
	}
	for (i = 0; i < m->base.h->nr_processes; i++)
		m->base.h->process[i]->attachment = GP_NOT_ATTACHED;
}

/* Attaches the task of process @i, if due. Returns how long that took. */
static u64 attach_one(struct gp_module *m, u32 i)
{
	struct gp_process_id p[GP_UAPI_MEMBERS];
	struct gp_decider *h = m->base.h;
	const struct gp_gpu_process *r = h->process[i];
	u64 began, took;
	bool done;
	u32 nr;

	if (r->task == GP_NONE || !gp_tasks_first(h, i))
		return 0;
	nr = members_of(h, r, p);
	done = r->lost || same_members(m->task[r->task], p, nr);
	if (done || nr > GP_UAPI_MEMBERS)
		gp_module_drop_fetches(m, r->task);
	if (done || !may_attach(m, r->task, r->user) ||
	    (nr <= GP_UAPI_MEMBERS && !fetched(m, r, p, nr)))
		return 0;
	began = h->args.clock(h->args.ctx);
	attach(m, r->task, p, nr);
	took = h->args.clock(h->args.ctx) - began;
	charge(m, r->user, took);
	m->tried = r->pid;
	return took;
}

void gp_module_attach(struct gp_backend *b)
{
	struct gp_module *m = gp_module_of(b);
	struct gp_decider *h = b->h;
	u32 i, first = 0;
	u64 took = 0;

	if (h->leaving) {
		leave_all(m);
		return;
	}
	while (first < h->nr_processes && h->process[first]->pid <= m->tried)
		first++;
	for (i = 0; i < h->nr_processes && took < ATTACH_RUN_NS; i++)
		took += attach_one(m, (first + i) % h->nr_processes);
	if (i < h->nr_processes)
		h->attach_due = true;
}
