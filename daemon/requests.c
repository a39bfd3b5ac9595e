// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Requests of users: classes, holds, hints, another policy, the kill switch. The control socket has
 * already checked the rights of the user.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decider_private.h"
#include "lib/sys.h"
#include "lib/user.h"

enum { FORGET_PER_SCAN = 16 };	/* requests checked for an ended process */

/* Time after which a hold that waits for the attach is dropped. */
#define ATTACH_NS	(3 * GP_SEC)

static int refuse(char *why, int err, const char *sentence)
{
	snprintf(why, GP_DECIDER_WHY, "%s", sentence);
	return err;
}

/* ---- classes ---- */

const struct gp_class_request *gp_class_request_find(const struct gp_decider *h, pid_t pid,
						     u64 start)
{
	u32 i;

	for (i = 0; i < h->nr_requests; i++)
		if (h->request[i].who.pid == pid && h->request[i].who.start == start)
			return &h->request[i];
	return NULL;
}

static void forget(struct gp_decider *h, const struct gp_class_request *request)
{
	u32 i = (u32)(request - h->request);

	h->request[i] = h->request[--h->nr_requests];
	if (h->request_at > h->nr_requests)
		h->request_at = h->nr_requests;
}

void gp_class_request_forget_ended(struct gp_decider *h)
{
	u32 left = h->nr_requests < FORGET_PER_SCAN ? h->nr_requests : FORGET_PER_SCAN;
	const struct gp_class_request *request;
	u64 start;
	int err;

	for (; left; left--) {
		/* Check from the end, so that the last one can take the place of a removed one. */
		if (!h->request_at)
			h->request_at = h->nr_requests;
		request = &h->request[--h->request_at];
		err = gp_process_start(h->args.proc, request->who.pid, &start);
		/* Any other error, such as EMFILE, says nothing about the process. */
		if (err == -ESRCH || (!err && start != request->who.start))
			forget(h, request);
	}
}

/*
 * Gets the process that has the pid now. -ESRCH: no process, or not the one that @who names. Other
 * errors say nothing about the process.
 */
static int identify(const struct gp_decider *h, const struct gp_process_id *who,
		    struct gp_process_id *ret)
{
	u64 start;
	int err = who->pid > 0 ? gp_process_start(h->args.proc, who->pid, &start) : -ESRCH;

	if (err)
		return err;
	if (who->start && who->start != start)
		return -ESRCH;
	*ret = (struct gp_process_id){ who->pid, start };
	return 0;
}

int gp_decider_owner(struct gp_decider *h, struct gp_process_id *who, uid_t *ret)
{
	int err = identify(h, who, who);

	return err ? err : gp_subject_owner(h->args.proc, who->pid, ret);
}

/*
 * Gets the subject for the rules. The command line is known only of processes that use a GPU. It is
 * not read here, because a process can block that for ever.
 */
static int subject_of(struct gp_decider *h, const struct gp_process_id *is, struct gp_subject *ret,
		      struct gp_match *match)
{
	const struct gp_gpu_process *r = gp_decider_find(h, is);

	*ret = (struct gp_subject){ 0 };
	if (r && r->described)
		gp_rules_match(&h->config->rules, &r->subject, match);
	else if (gp_subject_read(h->args.proc, is->pid, ret))
		return -ESRCH;
	else
		gp_rules_match(&h->config->rules, ret, match);
	return r && r->described;
}

/* With incomplete texts, @to must not exceed any class that the rules could give. */
int gp_decider_raises(struct gp_decider *h, const struct gp_process_id *who, const char *class_name)
{
	const struct gp_named_class *to = NULL, *asked, *has, *c;
	const struct gp_rules *rules = &h->config->rules;
	const struct gp_class_request *request;
	struct gp_subject subject;
	struct gp_process_id is;
	struct gp_match match;
	int known, raises = 0;

	if (class_name) {
		to = gp_rules_class(rules, class_name);
		if (!to)
			return -EINVAL;
	}
	if (identify(h, who, &is))
		return -ESRCH;
	known = subject_of(h, &is, &subject, &match);
	if (known < 0)
		return -ESRCH;
	request = gp_class_request_find(h, is.pid, is.start);
	asked = request ? gp_rules_class(rules, request->class_name) : NULL;
	for (u32 i = 0; i < rules->nr_classes && !raises; i++) {
		c = &rules->class[i];
		if (known ? c != match.class : !gp_rules_could_give(rules, &subject, c))
			continue;
		has = asked ? asked : c;
		raises = !gp_class_lowers(c, to ? to : c) || !gp_class_lowers(has, to ? to : c);
	}
	gp_subject_free(&subject);
	return raises;
}

static void class_now(struct gp_decider *h, const struct gp_process_id *is, char *name)
{
	const struct gp_class_request *request = gp_class_request_find(h, is->pid, is->start);
	struct gp_subject subject;
	struct gp_match match;

	if (request) {
		snprintf(name, GP_CLASS_NAME, "%s", request->class_name);
		return;
	}
	snprintf(name, GP_CLASS_NAME, "%s",
		 subject_of(h, is, &subject, &match) < 0 ? "" : match.class->name);
	gp_subject_free(&subject);
}

/* Gets the process that @who names now, and the user charged for it. */
static int identify_user(struct gp_decider *h, const struct gp_process_id *who,
			 struct gp_process_id *is, uid_t *ret, char *why)
{
	uid_t uid;
	int err;

	*is = *who;
	err = gp_decider_owner(h, is, &uid);
	if (!err)
		err = gp_user_of(h->subuids, h->args.proc, is->pid, uid, ret);
	if (err && err != -ESRCH)
		return refuse(why, err, "the user of that process cannot be found out; try again");
	return err ? refuse(why, -ESRCH, "no such process") : 0;
}

int gp_decider_may_request_class(struct gp_decider *h, const struct gp_process_id *who, char *why)
{
	u32 i, nr = 0;
	struct gp_process_id is;
	uid_t user;
	int err = identify_user(h, who, &is, &user, why);

	if (err)
		return err;
	/* Replacing a request needs no room. */
	if (gp_class_request_find(h, is.pid, is.start))
		return 0;
	for (i = 0; i < h->nr_requests; i++)
		nr += h->request[i].uid == user;
	if (nr >= GP_CLASS_REQUESTS_PER_USER)
		return refuse(why, -ENOSPC, "too many processes of that user with a class of their "
			      "own");
	if (h->nr_requests >= GP_CLASS_REQUESTS - GP_CLASS_REQUESTS_KEPT)
		return refuse(why, -ENOSPC, "too many processes with a class of their own: the "
			      "rest is for root and the group");
	return 0;
}

/* Checks whether @policy would admit the task of @r with @class. */
static int admitted(struct gp_decider *h, const struct gp_policy *policy,
		    const struct gp_gpu_process *r, const struct gp_class *class, char *why)
{
	const char *reason = NULL;
	int err;

	if (!h->backend->ops->admits || r->task == GP_NONE)
		return 0;
	err = h->backend->ops->admits(h->backend, policy, r->task, class, &reason);
	return err ? refuse(why, err, reason ? reason : "not admitted") : 0;
}

int gp_decider_set_class(struct gp_decider *h, const struct gp_process_id *who,
			 const char *class_name, char *previous, char *now, char *why)
{
	const struct gp_named_class *class = NULL;
	struct gp_backend_status status;
	const struct gp_class_request *old;
	struct gp_gpu_process *r;
	struct gp_process_id is;
	uid_t user;
	int err = identify_user(h, who, &is, &user, why);

	if (err)
		return err;
	r = gp_decider_find(h, &is);
	if (class_name && !r && is.pid == 1)
		return refuse(why, -ESRCH, "process 1 is init, which uses no GPU");
	if (class_name) {
		class = gp_rules_class(&h->config->rules, class_name);
		if (!class)
			return refuse(why, -EINVAL, "no such class");
		gp_decider_status(h, &status);
		err = r && class->managed ? admitted(h, status.policy, r, &class->is, why) : 0;
		if (err)
			return err;
	}
	class_now(h, &is, previous);
	old = gp_class_request_find(h, is.pid, is.start);
	if (old)
		forget(h, old);
	if (class && h->nr_requests == GP_CLASS_REQUESTS)
		return refuse(why, -ENOSPC, "too many processes with a class of their own");
	if (class) {
		h->request[h->nr_requests].who = is;
		h->request[h->nr_requests].uid = user;
		snprintf(h->request[h->nr_requests++].class_name, GP_CLASS_NAME, "%s", class->name);
	}
	class_now(h, &is, now);
	if (r) {
		gp_processes_classify(h, r);
		gp_tasks_update(h, r);
		if (strcmp(now, previous))
			gp_decider_news(h, GP_NEWS_CLASS, r, "has class %s now, %s before", now,
				     previous);
	}
	return 0;
}

/* ---- one process ---- */

/* Finds the task of a process. Fails if the mechanism cannot preempt. */
static int find_task(struct gp_decider *h, const struct gp_process_id *who,
		     struct gp_gpu_process **ret, char *why)
{
	*ret = gp_decider_find(h, who);
	if (!*ret)
		return refuse(why, -ESRCH, "that process uses no GPU");
	if ((*ret)->task != GP_NONE)
		return 0;
	if (!(*ret)->announced)
		return refuse(why, -EBUSY, "its class is not known yet; try again");
	if (!(*ret)->class.managed)
		return refuse(why, -EBUSY, "its class is unmanaged: it is left alone; give it "
			      "another class");
	return refuse(why, -EBUSY, (*ret)->trouble[0] ? (*ret)->trouble :
		      "that process has no queue yet");
}

int gp_decider_hold(struct gp_decider *h, const struct gp_process_id *who, u64 lease_ns,
		    u64 *granted, char *why)
{
	u64 longest = h->param[GP_LEASE];
	struct gp_gpu_process *r;
	bool renewed;
	int err = find_task(h, who, &r, why);

	if (err)
		return err;
	if (!lease_ns)
		return refuse(why, -EINVAL, "a hold needs a lease");
	if (!h->enabled)
		return refuse(why, -EBUSY, "gpreempt is switched off; gpreempt on");
	if (h->observe || !h->backend->ops->preempts)
		return refuse(why, -EOPNOTSUPP, h->backend_trouble[0] ? h->backend_trouble :
			      "the daemon only observes; configure a policy and a mechanism");
	if (!(r->class.is.flags & GP_PREEMPTIBLE))
		return refuse(why, -EBUSY, "its class may not be preempted; give it another class");

	*granted = lease_ns < longest ? lease_ns : longest;
	renewed = gp_decider_held_until(h, r);
	if (gp_tasks_attached(h, r)) {
		err = h->backend->ops->hold(h->backend, r->task, *granted);
		if (err)
			return refuse(why, err, "it cannot be held");
	} else {
		/* Hold it as soon as it is attached. */
		gp_tasks_lease(h, r, *granted, h->now_ns + h->config->daemon.attach_after_ns +
			     ATTACH_NS);
		h->attach_due = true;
	}
	/* Do not report a renewed lease. */
	if (!renewed)
		gp_decider_news(h, GP_NEWS_HOLD, r, "is to be held, with a lease of %llu ms",
			     (unsigned long long)(*granted / GP_MSEC));
	return 0;
}

int gp_decider_release(struct gp_decider *h, const struct gp_process_id *who, char *why)
{
	struct gp_gpu_process *r;
	int err = find_task(h, who, &r, why);

	if (err)
		return err;
	if (r->lease_ns || gp_decider_held_until(h, r))
		gp_decider_news(h, GP_NEWS_HOLD, r, "is released");
	gp_tasks_lease(h, r, 0, 0);
	return h->backend->ops->hold(h->backend, r->task, 0);
}

int gp_decider_hint(struct gp_decider *h, const struct gp_process_id *who, u64 in_ns, u64 for_ns,
		    char *why)
{
	struct gp_gpu_process *r;
	u64 at = h->now_ns + in_ns, until = at + for_ns;
	int err = find_task(h, who, &r, why);

	if (err)
		return err;
	if (at < h->now_ns || until <= at)
		return refuse(why, -EINVAL, "a hint needs a time to come and a time to last");
	err = h->backend->ops->hint(h->backend, r->task, at, until);
	return err ? refuse(why, err, "a hint may look ahead for an hour at most") : 0;
}

int gp_decider_trigger(struct gp_decider *h, const struct gp_process_id *who, char *why)
{
	struct gp_gpu_process *r;
	int err = find_task(h, who, &r, why);
	u64 number;
	u32 d;

	if (!err)
		gp_readers_look(h->readers, r->user, &number);
	for (d = 0; !err && d < h->nr_gpus; d++)
		if (r->devices & BIT_ULL(d))
			h->backend->ops->look(h->backend, d);
	return err;
}

/* ---- all processes ---- */

static bool off_file(const struct gp_decider *h, char *path, size_t size)
{
	return h->config->daemon.state[0] &&
	       snprintf(path, size, "%s/off", h->config->daemon.state) < (int)size;
}

int gp_switched_off(const struct gp_decider *h)
{
	char path[GP_CONFIG_TEXT + 8];

	if (!off_file(h, path, sizeof(path)))
		return 0;
	if (!gp_sys->access(path, F_OK))
		return 1;
	return gp_sys_is_gone(-errno) || gp_sys_is_denied(-errno) ? 0 : -errno;
}

/* Stores the switch as a file, so that the next daemon sees it too. */
static int keep_switch(const struct gp_decider *h, bool on)
{
	char path[GP_CONFIG_TEXT + 8];
	int fd;

	if (!off_file(h, path, sizeof(path)))
		return -ENAMETOOLONG;
	if (on)
		return gp_sys->unlink(path) && errno != ENOENT ? -errno : 0;
	gp_sys->mkdir(h->config->daemon.state, 0755);
	fd = gp_sys->create(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	gp_sys->fsync(fd);
	close(fd);
	return 0;
}

int gp_decider_enable(struct gp_decider *h, bool on, char *why)
{
	bool changed = h->enabled != on;
	int err;

	/* Switch off even if the file cannot be written, which is the smaller harm. */
	h->enabled = on;
	h->backend->ops->set(h->backend);
	h->attach_due = true;
	/* Release first, because writing the file may wait for the disk. */
	if (h->backend->ops->decide)
		h->backend->ops->decide(h->backend);
	err = keep_switch(h, on);
	if (changed)
		gp_decider_news(h, GP_NEWS_ENABLED, NULL, on ? "switched on" :
			     "switched off: all processes are released");
	if (err)
		return refuse(why, err, "done, but the state folder cannot be written: it will "
			      "not survive a restart");
	return changed;
}

int gp_decider_try_policy(struct gp_decider *h, const struct gp_policy *policy, char *why)
{
	char reason[GP_DECIDER_WHY];
	u32 i;
	int err = 0;

	for (i = 0; !err && policy && i < h->nr_processes; i++) {
		err = admitted(h, policy, h->process[i], &h->process[i]->told, reason);
		if (err)
			snprintf(why, GP_DECIDER_WHY, "%s (%d): %.180s", h->process[i]->name,
				 h->process[i]->pid, reason);
	}
	return err;
}

int gp_decider_set_policy(struct gp_decider *h, const struct gp_policy *policy, char *why)
{
	const struct gp_policy *old = h->policy;
	const char *reason = NULL;
	int err;

	if (policy && h->args.observe)
		return refuse(why, -EBUSY, "started with --observe: it never acts");
	h->policy = policy ? policy : &gp_policy_fifo;
	err = h->backend->ops->set_policy(h->backend, &reason);
	if (err) {
		h->policy = old;
		return refuse(why, err, reason ? reason : "the policy cannot be used");
	}
	if (policy)
		memcpy(h->param, gp_config_params(h->config, policy), sizeof(h->param));
	h->backend->ops->set(h->backend);
	h->observe = !policy;
	gp_backend_choose(h, false);
	gp_decider_news(h, GP_NEWS_POLICY, NULL, "policy %s", policy ? policy->name : "none");
	h->attach_due = true;
	return 0;
}

int gp_decider_set_param(struct gp_decider *h, enum gp_param param, u64 value)
{
	if ((u32)param >= GP_NR_PARAMS)
		return -EINVAL;
	if (value < gp_params[param].min || value > gp_params[param].max)
		return -ERANGE;
	h->param[param] = value;
	h->backend->ops->set(h->backend);
	return h->param[param] == value ? 0 : -ERANGE;
}

int gp_decider_reload(struct gp_decider *h, struct gp_config *config, char *why)
{
	struct gp_config *old = h->config;
	const struct gp_daemon_settings *a = &old->daemon, *b = &config->daemon;
	bool anew = a->grace != b->grace || a->attach_rate != b->attach_rate ||
		    a->mechanism != b->mechanism;
	u32 i;
	int err;

	if (strcmp(a->socket, b->socket) || strcmp(a->gpus, b->gpus) || strcmp(a->state, b->state))
		return refuse(why, -EBUSY, "socket, gpus and state change only by a restart");
	h->config = config;
	err = gp_decider_set_policy(h, h->args.observe ? NULL : config->policy, why);
	if (err) {
		h->config = old;
		return err;
	}
	for (i = 0; i < h->nr_processes; i++) {
		gp_processes_classify(h, h->process[i]);
		gp_tasks_update(h, h->process[i]);
		gp_descriptions_renew(h, h->process[i]);
	}
	if (anew)
		gp_backend_choose(h, true);
	gp_config_free(old);
	h->scan_at_ns = h->now_ns;
	return 0;
}
