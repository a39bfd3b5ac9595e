// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The module backend: its calls of the module, and its view of what the module did. This file has
 * its own functions of lib/kmod.h, which record calls and deliver the events of a test.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "decider_world.h"
#include "lib/kmod.h"

#define CONFIG	"policy = priority\ndefault_class = offline\nattach_after = 0\nscan = 10ms\n"
/* All children of a test are in its cgroup. */
#define GANG	"[rule job]\ncgroup = **\nclass = offline\ngang = cgroup\n"

/* ---- the module ---- */

static struct {
	struct world *world;
	int attach_error;
	u64 attach_ns;		/* duration of a failing attempt */
	u32 tries;		/* attach attempts */
	u32 failures;		/* attempts until one succeeds, inclusive; 0: see @attach_error */
	pid_t attachable;	/* attaching this process does not fail */
	u64 slow_run;		/* the last run of the decider with a slow attempt */
	u32 attaches, detaches;
	u32 held, handle;	/* number of holds, and the last task held */
	u64 lease_ns;
	struct gp_uapi_event event[16];
	u32 nr_events;
	struct gp_uapi_seat seat;	/* the answer of GP_IOC_SEAT; task 0: refused */
	bool refuses_class;
	u64 refuses_value;	/* of the parameter slice */
} module;

int gp_kmod_open(const char *path, struct gp_uapi_version *is)
{
	(void)path;
	(void)is;
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int gp_kmod_call(int fd, unsigned long call, void *arg)
{
	struct gp_uapi_seat *seat = arg;

	(void)fd;
	if (call != GP_IOC_SEAT || !module.seat.task)
		return -ENOTTY;
	EXPECT_EQ(seat->gpu_id, WORLD_GPU);
	*seat = module.seat;
	return 0;
}

/* Returns the process of a pidfd. */
static pid_t pid_of(int pidfd)
{
	char path[64], line[64];
	pid_t pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	f = fopen(path, "r");
	EXPECT(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Pid: %d", &pid) == 1)
			break;
	fclose(f);
	return pid;
}

int gp_kmod_attach_members(int fd, const struct gp_uapi_member *members, u32 nr,
			   const struct gp_class *class, u32 *ret)
{
	(void)fd;
	(void)class;
	EXPECT(nr && members[0].kfd_fd >= 0);
	module.tries++;
	if (module.failures && !--module.failures)
		module.attach_error = 0;
	if (module.attach_error && pid_of(members[0].pidfd) != module.attachable) {
		module.world->now_ns += module.attach_ns;
		/* A run makes at most one slow attempt. */
		if (module.attach_ns)
			EXPECT(module.slow_run != module.world->decider->stats.runs);
		module.slow_run = module.world->decider->stats.runs;
		return module.attach_error;
	}
	*ret = ++module.attaches;
	return 0;
}

int gp_kmod_detach(int fd, u32 task)
{
	(void)fd;
	EXPECT(task && task <= module.attaches);
	module.detaches++;
	return 0;
}

int gp_kmod_preempt(int fd, const struct gp_kmod_move *move, u32 *nr_done)
{
	(void)fd;
	(void)nr_done;
	EXPECT_EQ(move->nr, 1);
	module.held++;
	module.handle = move->tasks[0];
	module.lease_ns = move->lease_ns;
	return 0;
}

int gp_kmod_resume(int fd, const struct gp_kmod_move *move, u32 *nr_done)
{
	(void)fd;
	(void)move;
	(void)nr_done;
	return 0;
}

int gp_kmod_set_class(int fd, u32 task, const struct gp_class *class)
{
	(void)fd;
	(void)task;
	(void)class;
	return module.refuses_class ? -ENOSPC : 0;
}

int gp_kmod_set_policy(int fd, const char *name)
{
	(void)fd;
	(void)name;
	return 0;
}

int gp_kmod_set_param(int fd, const char *name, u64 value)
{
	(void)fd;
	return value == module.refuses_value && !strcmp(name, "slice") ? -ERANGE : 0;
}

int gp_kmod_set_mechanism(int fd, const char *name, u32 grace)
{
	(void)fd;
	(void)name;
	(void)grace;
	return 0;
}

int gp_kmod_enable(int fd, bool on)
{
	(void)fd;
	(void)on;
	return 0;
}

int gp_kmod_subscribe(int fd, u32 what, int eventfd)
{
	(void)fd;
	(void)what;
	(void)eventfd;
	return 0;
}

int gp_kmod_hint(int fd, u32 task, u64 in_ns, u64 for_ns)
{
	(void)fd;
	(void)task;
	(void)in_ns;
	(void)for_ns;
	return 0;
}

int gp_kmod_trigger(int fd, u32 task)
{
	(void)fd;
	(void)task;
	return 0;
}

int gp_kmod_next(int fd, struct gp_uapi_event *ret)
{
	(void)fd;
	if (!module.nr_events)
		return -EAGAIN;
	*ret = module.event[0];
	memmove(module.event, module.event + 1, --module.nr_events * sizeof(*module.event));
	return 0;
}

const struct gp_uapi_stats *gp_kmod_stats(int fd)
{
	(void)fd;
	return NULL;
}

/* ---- claims ---- */

static int up(void **state)
{
	struct world *w;

	world_up(state);
	w = *state;
	w->kmod = "/dev/null";
	memset(&module, 0, sizeof(module));
	module.world = w;
	return 0;
}

static u64 hold(struct world *w, u32 i, u64 lease_ns)
{
	struct gp_process_id who = { .pid = w->process[i].pid };
	char why[GP_DECIDER_WHY] = "";
	u64 granted = 0;

	if (gp_decider_hold(w->decider, &who, lease_ns, &granted, why))
		fail_msg("%s", why);
	return granted;
}

static void a_hold_is_the_modules(void **state)
{
	struct world *w = *state;
	u32 i;

	world_decider(w, CONFIG);
	i = world_process(w);
	world_queue(w, i, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(module.attaches, 1);
	EXPECT_EQ(module.held, 0);
	hold(w, i, 100 * GP_MSEC);
	EXPECT_EQ(module.held, 1);
	EXPECT_EQ(module.lease_ns, 100 * GP_MSEC);
}

static void a_hold_of_who_cannot_be_attached_yet_comes_when_it_can(void **state)
{
	struct world *w = *state;
	u32 i;

	world_decider(w, CONFIG);
	i = world_process(w);
	world_queue(w, i, 0);
	module.attach_error = -EEXIST;
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, i)->attachment, GP_NOT_ATTACHED);
	hold(w, i, 100 * GP_MSEC);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(module.held, 0);
	module.attach_error = 0;
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(module.attaches, 1);
	EXPECT_EQ(module.held, 1);
	EXPECT_EQ(module.handle, 1);
	EXPECT_EQ(module.lease_ns, 100 * GP_MSEC);
	EXPECT_EQ(world_find(w, i)->lease_ns, 0);
}

static void a_hold_that_came_too_late_is_none(void **state)
{
	struct world *w = *state;
	u32 i;

	world_decider(w, CONFIG);
	i = world_process(w);
	world_queue(w, i, 0);
	module.attach_error = -EEXIST;
	world_run(w, 30 * GP_MSEC);
	hold(w, i, 100 * GP_MSEC);
	world_run(w, 10 * GP_SEC);
	module.attach_error = 0;
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(module.attaches, 1);
	EXPECT_EQ(module.held, 0);
}

/* For the module, another set of processes is another task. The module releases the old one. */
static void who_is_attached_anew_stays_held_for_the_rest_of_its_lease(void **state)
{
	struct world *w = *state;
	u32 rank[2], i;
	u64 granted;

	world_decider(w, CONFIG GANG);
	for (i = 0; i < 2; i++) {
		rank[i] = world_process(w);
		world_queue(w, rank[i], 0);
	}
	world_run(w, 50 * GP_MSEC);
	granted = hold(w, rank[0], 400 * GP_MSEC);
	EXPECT_EQ(module.held, 1);
	world_run(w, 20 * GP_MSEC);
	world_end(w, rank[1]);
	world_run(w, 100 * GP_MSEC);
	EXPECT_EQ(module.held, 2);
	EXPECT_EQ(module.handle, module.attaches);
	EXPECT(module.lease_ns < granted && module.lease_ns > granted - 100 * GP_MSEC);
}

/* Adds a queue in sysfs only, because the module backend reads no dump. */
static void queue_in_sysfs(struct world *w, u32 i)
{
	pid_t pid = w->process[i].pid;
	char id[16];

	snprintf(id, sizeof(id), "%u", WORLD_GPU);
	fake_tree_put(w->tree, "0", "kfd/proc/%d/queues/0/type", pid);
	fake_tree_put(w->tree, "4096", "kfd/proc/%d/queues/0/size", pid);
	fake_tree_put(w->tree, id, "kfd/proc/%d/queues/0/gpuid", pid);
}

static void a_gang_of_more_processes_than_the_module_takes_is_refused_as_a_whole(void **state)
{
	struct world *w = *state;
	u32 i;

	world_decider(w, CONFIG GANG);
	for (i = 0; i <= GP_UAPI_MEMBERS; i++)
		queue_in_sysfs(w, world_process(w));
	/* The processes join one after the other. A refused task is retried each second. */
	world_run(w, 3 * GP_SEC);
	EXPECT_EQ(module.attaches, module.detaches);
	for (i = 0; i <= GP_UAPI_MEMBERS; i++) {
		EXPECT_EQ(world_find(w, i)->attachment, GP_NOT_ATTACHED);
		EXPECT(strstr(world_find(w, i)->trouble, "more than 64 processes"));
	}
	/* With one process less the task fits. */
	world_end(w, GP_UAPI_MEMBERS);
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(module.attaches, module.detaches + 1);
	EXPECT_EQ(world_find(w, 0)->attachment, GP_ATTACHED);
}

/* ---- processes that keep the module waiting ---- */

static void make_slow(struct world *w, u32 nr, int err, u64 ns)
{
	world_decider(w, CONFIG);
	module.attach_error = err;
	module.attach_ns = ns;
	while (nr--)
		world_queue(w, world_process(w), 0);
}

static void the_processes_of_one_user_keep_the_decider_for_a_tenth_of_the_time(void **state)
{
	struct world *w = *state;
	u64 began = w->now_ns;
	u32 i;

	/* Each of the tasks is due every second. */
	make_slow(w, 3, -EBADF, 100 * GP_MSEC);
	world_run(w, 30 * GP_SEC);
	EXPECT(module.tries * module.attach_ns <= (w->now_ns - began) / 10 + module.attach_ns);
	/* Every task gets its turn. */
	EXPECT(module.tries > 20);
	for (i = 0; i < 3; i++)
		EXPECT(world_find(w, i)->refused);
}

static void a_slow_user_delays_no_other_user(void **state)
{
	struct world *w = *state;
	u32 i;

	if (getuid())
		skip();
	make_slow(w, 3, -EBADF, 100 * GP_MSEC);
	world_run(w, 2 * GP_SEC);
	i = world_process_of(w, 12345);
	module.attachable = w->process[i].pid;
	world_queue(w, i, 0);
	world_run(w, 150 * GP_MSEC);
	EXPECT_EQ(world_find(w, i)->attachment, GP_ATTACHED);
}

/* gp_kmod_attach_members() expects this. */
static void a_run_waits_for_one_of_several_users_only(void **state)
{
	struct world *w = *state;
	u32 i;

	if (getuid())
		skip();
	make_slow(w, 0, -EBADF, 10 * GP_MSEC);
	for (i = 0; i < 3; i++)
		world_queue(w, world_process_of(w, 12345 + i), 0);
	world_run(w, 100 * GP_MSEC);
	EXPECT_EQ(module.tries, 3);
}

static void a_process_that_keeps_its_memory_locked_is_tried_less_and_less(void **state)
{
	struct world *w = *state;

	make_slow(w, 1, -EAGAIN, 10 * GP_MSEC);
	world_run(w, 60 * GP_SEC);
	EXPECT_EQ(module.tries, 6);		/* after 0, 1, 3, 7, 15 and 31 s */
	EXPECT(strstr(world_find(w, 0)->trouble, "memory locked"));
	module.attach_error = 0;
	world_run(w, 5 * GP_SEC);
	EXPECT_EQ(world_find(w, 0)->attachment, GP_ATTACHED);
}

/* ---- descriptors that the holders fetch ---- */

static u32 open_descriptors(void)
{
	u32 n = 0;
	int fd;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void a_process_whose_descriptor_does_not_come_keeps_no_other_waiting(void **state)
{
	struct world *w = *state;
	u32 hung, i;

	world_decider(w, CONFIG);
	hung = world_process(w);
	i = world_process(w);
	world_queue(w, hung, 0);
	w->debug.asks_hang = w->process[hung].pid;
	world_run(w, 20 * GP_MSEC);
	world_queue(w, i, 0);
	/* A process of the same user is attached once the wait for the first one ends. */
	world_run(w, 3 * GP_SEC);
	EXPECT_EQ(world_find(w, i)->attachment, GP_ATTACHED);
	EXPECT_EQ(world_find(w, hung)->attachment, GP_NOT_ATTACHED);
	EXPECT(strstr(world_find(w, hung)->trouble, "in time"));
	if (getuid())
		return;
	/* A process of another user is attached at once. */
	i = world_process_of(w, 12345);
	world_queue(w, i, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, i)->attachment, GP_ATTACHED);
	/* The interval between requests grows: after 0, 3, 7 and 13 s, 2 s each. */
	world_run(w, 15 * GP_SEC);
	EXPECT(w->debug.asked <= 2 + 4);
	w->debug.asks_hang = 0;
	world_run(w, 20 * GP_SEC);
	EXPECT_EQ(world_find(w, hung)->attachment, GP_ATTACHED);
}

static void a_descriptor_of_the_parent_is_not_the_last_one_tried(void **state)
{
	struct world *w = *state;
	u32 i, before;

	world_decider(w, CONFIG);
	w->debug.descriptors = 3;
	module.attach_error = -EXDEV;
	module.failures = 3;
	i = world_process(w);
	world_queue(w, i, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(w->debug.asked, 3);
	EXPECT_EQ(world_find(w, i)->attachment, GP_ATTACHED);

	/* All three descriptors of one more process belong to its parent. */
	before = open_descriptors();
	module.failures = 0;
	module.attach_error = -EXDEV;
	i = world_process(w);
	world_queue(w, i, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(w->debug.asked, 6);
	EXPECT(strstr(world_find(w, i)->trouble, "that is its own"));
	/* The backend keeps only the pidfd of the process. */
	EXPECT_EQ(open_descriptors(), before + 1);
}

static void descriptors_of_a_task_that_ended_are_closed(void **state)
{
	struct world *w = *state;
	u32 before, i;

	world_decider(w, CONFIG);
	i = world_process(w);
	world_run(w, 20 * GP_MSEC);
	before = open_descriptors();
	world_queue(w, i, 0);
	w->debug.asks_hang = w->process[i].pid;
	world_run(w, 20 * GP_MSEC);
	world_queue_gone(w, i, 0);
	world_run(w, 20 * GP_MSEC);
	w->debug.asks_hang = 0;
	world_run(w, 20 * GP_MSEC);
	EXPECT_EQ(w->debug.nr_asks, 0);
	EXPECT_EQ(module.tries, 0);
	EXPECT_EQ(open_descriptors(), before);
}

/* ---- the view ---- */

struct seen {
	u32 states, parts;
	struct gp_rec last;	/* the last event with parts */
};

static void watch(void *ctx, const struct gp_rec *rec)
{
	struct seen *seen = ctx;

	seen->states += rec->kind == GP_REC_STATE;
	seen->parts += rec->kind == GP_REC_PARTS;
	if (rec->kind == GP_REC_PARTS)
		seen->last = *rec;
}

/* Makes a world with one attached process and a watcher. */
static u32 stage(struct world *w, struct seen *seen)
{
	const struct gp_trace watcher = { watch, seen };
	u32 i;

	*seen = (struct seen){ 0 };
	world_decider(w, CONFIG);
	i = world_process(w);
	world_queue(w, i, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(module.attaches, 1);
	gp_decider_trace(w->decider, &watcher, NULL);
	return i;
}

static void tell(struct world *w, u32 kind, u32 gpu_id, const u64 *arg)
{
	struct gp_uapi_event *e = &module.event[module.nr_events++];

	*e = (struct gp_uapi_event){ .kind = kind, .gpu_id = gpu_id, .task = 1 };
	memcpy(e->arg, arg, sizeof(e->arg));
	world_run(w, GP_MSEC);
	EXPECT_EQ(module.nr_events, 0);
}

static void tell_state(struct world *w, u64 to)
{
	const u64 arg[8] = { 0, to };

	tell(w, GP_UAPI_EVENT_STATE, WORLD_GPU, arg);
}

static const struct gp_account *account(struct world *w, u32 i)
{
	static struct gp_account a;

	EXPECT_EQ(gp_decider_account(w->decider, world_find(w, i), &a), 0);
	memcpy(a.part, gp_decider_parts(w->decider, world_find(w, i)), sizeof(a.part));
	return &a;
}

static void a_preemption_is_told_with_its_parts(void **state)
{
	const u64 is[8] = { 10, 20, 30, 40, 50, 2, 0, 12345 };
	struct world *w = *state;
	struct seen seen;
	u32 i = stage(w, &seen);

	tell(w, GP_UAPI_EVENT_PREEMPTION, WORLD_GPU, is);
	EXPECT_EQ(seen.parts, 1);
	EXPECT_EQ(seen.last.task, world_find(w, i)->task);
	EXPECT_EQ(seen.last.device, 0);
	for (u32 part = 0; part < GP_PART_TOTAL; part++) {
		EXPECT_EQ(seen.last.parts.ns[part], is[part]);
		EXPECT_EQ(account(w, i)->part[part].count, 1);
	}
	EXPECT_EQ(seen.last.parts.ns[GP_PART_TOTAL], 150);
	EXPECT_EQ(seen.last.parts.victims, 2);
	EXPECT_EQ(seen.last.parts.begin_ns, 12345);
}

static void a_part_that_is_within_another_is_not_counted(void **state)
{
	const u64 is[8] = { 10, 20, 30, GP_PART_WITHIN, GP_PART_WITHIN, 1, 0, 7 };
	struct world *w = *state;
	struct seen seen;
	u32 i = stage(w, &seen);

	tell(w, GP_UAPI_EVENT_PREEMPTION, WORLD_GPU, is);
	EXPECT_EQ(account(w, i)->part[GP_PART_SAVE].count, 0);
	EXPECT_EQ(account(w, i)->part[GP_PART_SWITCH].count, 0);
	EXPECT_EQ(seen.last.parts.ns[GP_PART_TOTAL], 60);
	EXPECT_EQ(seen.last.parts.ns[GP_PART_SAVE], GP_PART_WITHIN);
}

static void a_preemption_on_an_unknown_gpu_is_only_counted(void **state)
{
	const u64 is[8] = { 1, 1, 1, 1, 1, 1, 0, 1 };
	struct world *w = *state;
	struct seen seen;
	u32 i = stage(w, &seen);

	tell(w, GP_UAPI_EVENT_PREEMPTION, WORLD_GPU + 7, is);
	EXPECT_EQ(seen.parts, 0);
	EXPECT_EQ(account(w, i)->part[GP_PART_TOTAL].count, 1);
	/* A state event of that GPU changes nothing either. */
	tell(w, GP_UAPI_EVENT_STATE, WORLD_GPU + 7, (u64[8]){ 0, GP_OFF });
	EXPECT_EQ(world_state(w, i), GP_ON);
}

static void states_that_were_not_told_must_have_passed(void **state)
{
	struct world *w = *state;
	struct seen seen;
	u32 i = stage(w, &seen);

	tell_state(w, GP_OFF);
	EXPECT_EQ(seen.states, 2);		/* includes STOPPING */
	EXPECT_EQ(account(w, i)->stopped, 1);
	EXPECT_EQ(world_state(w, i), GP_OFF);
	world_run(w, 20 * GP_MSEC);
	EXPECT(account(w, i)->state_ns[GP_OFF] >= 20 * GP_MSEC);
	tell_state(w, GP_LOST);
	tell_state(w, GP_ON);
	EXPECT_EQ(account(w, i)->late, 1);
	EXPECT(account(w, i)->longest_hold_ns >= 20 * GP_MSEC);
	tell_state(w, GP_NR_STATES);
	EXPECT_EQ(world_state(w, i), GP_ON);
}

static void states_are_read_only_after_events_were_dropped(void **state)
{
	struct world *w = *state;
	struct seen seen;
	u32 i = stage(w, &seen);

	module.seat = (struct gp_uapi_seat){ .task = 1, .state = GP_OFF, .work = GP_PENDING,
					     .arrivals = 5, .waiting_ns = 7 };
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_state(w, i), GP_ON);
	EXPECT_EQ(account(w, i)->arrivals, 5);
	EXPECT_EQ(account(w, i)->waiting_ns, 7);
	tell(w, GP_UAPI_EVENT_DROPPED, 0, (u64[8]){ 3 });
	EXPECT_EQ(world_state(w, i), GP_OFF);
}

static void an_ejection_in_the_kernel_is_shown(void **state)
{
	struct gp_backend_status status;
	struct world *w = *state;
	char why[GP_DECIDER_WHY];
	struct seen seen;

	stage(w, &seen);
	EXPECT(!strcmp(gp_decider_policy_name(w->decider), "priority"));
	tell(w, GP_UAPI_EVENT_EJECTED, 0, (u64[8]){ 0 });
	gp_decider_status(w->decider, &status);
	EXPECT(status.ejected);
	EXPECT_EQ(status.ejections, 1);
	EXPECT(!strcmp(gp_decider_policy_name(w->decider), "fifo"));
	/* Another parameter does not restore the policy, but setting the policy does. */
	EXPECT_EQ(gp_decider_set_param(w->decider, GP_SLICE, 3 * GP_MSEC), 0);
	EXPECT(!strcmp(gp_decider_policy_name(w->decider), "fifo"));
	EXPECT_EQ(gp_decider_set_policy(w->decider, &gp_policy_priority, why), 0);
	EXPECT(!strcmp(gp_decider_policy_name(w->decider), "priority"));
}

static void a_parameter_that_the_module_refuses_keeps_its_value(void **state)
{
	struct world *w = *state;
	struct seen seen;
	u64 before;

	stage(w, &seen);
	before = w->decider->param[GP_SLICE];
	module.refuses_value = 3 * GP_MSEC;
	EXPECT_EQ(gp_decider_set_param(w->decider, GP_SLICE, 3 * GP_MSEC), -ERANGE);
	EXPECT_EQ(w->decider->param[GP_SLICE], before);
	EXPECT(strstr(w->news, "refuses slice"));
	EXPECT_EQ(gp_decider_set_param(w->decider, GP_SLICE, 4 * GP_MSEC), 0);
	EXPECT_EQ(w->decider->param[GP_SLICE], 4 * GP_MSEC);
}

static void a_class_that_the_module_refuses_is_trouble(void **state)
{
	struct world *w = *state;
	struct seen seen;
	u32 i = stage(w, &seen);

	module.refuses_class = true;
	world_class(w, i, "idle");
	EXPECT(strstr(world_find(w, i)->trouble, "not admitted"));
}

static void a_reset_loses_the_seats_of_the_view(void **state)
{
	struct world *w = *state;
	struct seen seen;
	u32 i = stage(w, &seen);

	gp_resets_event(w->decider, 0, GP_RESET_BEGINS);
	EXPECT_EQ(world_state(w, i), GP_LOST);
	EXPECT(world_find(w, i)->lost);
}

PROVE(
	CLAIM_WITH(a_hold_is_the_modules, up, world_down),
	CLAIM_WITH(a_hold_of_who_cannot_be_attached_yet_comes_when_it_can, up, world_down),
	CLAIM_WITH(a_hold_that_came_too_late_is_none, up, world_down),
	CLAIM_WITH(who_is_attached_anew_stays_held_for_the_rest_of_its_lease, up, world_down),
	CLAIM_WITH(a_gang_of_more_processes_than_the_module_takes_is_refused_as_a_whole, up,
		   world_down),
	CLAIM_WITH(the_processes_of_one_user_keep_the_decider_for_a_tenth_of_the_time, up,
		   world_down),
	CLAIM_WITH(a_slow_user_delays_no_other_user, up, world_down),
	CLAIM_WITH(a_run_waits_for_one_of_several_users_only, up, world_down),
	CLAIM_WITH(a_process_that_keeps_its_memory_locked_is_tried_less_and_less, up, world_down),
	CLAIM_WITH(a_process_whose_descriptor_does_not_come_keeps_no_other_waiting, up,
		   world_down),
	CLAIM_WITH(a_descriptor_of_the_parent_is_not_the_last_one_tried, up, world_down),
	CLAIM_WITH(descriptors_of_a_task_that_ended_are_closed, up, world_down),
	CLAIM_WITH(a_preemption_is_told_with_its_parts, up, world_down),
	CLAIM_WITH(a_part_that_is_within_another_is_not_counted, up, world_down),
	CLAIM_WITH(a_preemption_on_an_unknown_gpu_is_only_counted, up, world_down),
	CLAIM_WITH(states_that_were_not_told_must_have_passed, up, world_down),
	CLAIM_WITH(states_are_read_only_after_events_were_dropped, up, world_down),
	CLAIM_WITH(an_ejection_in_the_kernel_is_shown, up, world_down),
	CLAIM_WITH(a_parameter_that_the_module_refuses_keeps_its_value, up, world_down),
	CLAIM_WITH(a_class_that_the_module_refuses_is_trouble, up, world_down),
	CLAIM_WITH(a_reset_loses_the_seats_of_the_view, up, world_down),
)
