// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The daemon's home with a module that only notes what it is told: lib/kmod.h is this file. */
#include <string.h>
#include <sys/eventfd.h>

#include "home_world.h"
#include "lib/kmod.h"

#define CONFIG	"policy = priority\ndefault_class = offline\nattach_after = 0\nscan = 10ms\n"
/* All children of a test are in its cgroup. */
#define GANG	"[rule job]\ncgroup = **\nclass = offline\ngang = cgroup\n"

/* ---- the module ---- */

static struct {
	int attach_error;
	u32 attaches, detaches;
	u32 held, handle;	/* how often, and who was last */
	u64 lease_ns;
} module;

int gp_kmod_open(const char *path, struct gp_uapi_version *is)
{
	(void)path;
	(void)is;
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int gp_kmod_call(int fd, unsigned long call, void *arg)
{
	(void)fd;
	(void)call;
	(void)arg;
	return -ENOTTY;
}

int gp_kmod_attach(int fd, const struct gp_kmod_process *processes, u32 nr,
		   const struct gp_class *class, u32 *ret)
{
	(void)fd;
	(void)class;
	EXPECT(nr && processes[0].pid);
	if (module.attach_error)
		return module.attach_error;
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
	return 0;
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
	(void)name;
	(void)value;
	return 0;
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
	(void)ret;
	return -EAGAIN;
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
	return 0;
}

static u64 hold(struct world *w, u32 i, u64 lease_ns)
{
	struct gp_who who = { .pid = w->process[i].pid };
	char why[GP_HOME_WHY] = "";
	u64 granted = 0;

	if (gp_home_hold(w->home, &who, lease_ns, &granted, why))
		fail_msg("%s", why);
	return granted;
}

static void a_hold_is_the_modules(void **state)
{
	struct world *w = *state;
	u32 i;

	world_home(w, CONFIG);
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

	world_home(w, CONFIG);
	i = world_process(w);
	world_queue(w, i, 0);
	module.attach_error = -EEXIST;
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_resident(w, i)->grip, GP_GRIP_NONE);
	hold(w, i, 100 * GP_MSEC);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(module.held, 0);
	module.attach_error = 0;
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(module.attaches, 1);
	EXPECT_EQ(module.held, 1);
	EXPECT_EQ(module.handle, 1);
	EXPECT_EQ(module.lease_ns, 100 * GP_MSEC);
	EXPECT_EQ(world_resident(w, i)->lease_ns, 0);
}

static void a_hold_that_came_too_late_is_none(void **state)
{
	struct world *w = *state;
	u32 i;

	world_home(w, CONFIG);
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

/* Another set of processes is another task to the module: it lets go of the first. */
static void who_is_attached_anew_stays_held_for_the_rest_of_its_lease(void **state)
{
	struct world *w = *state;
	u32 rank[2], i;
	u64 granted;

	world_home(w, CONFIG GANG);
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

PROVE(
	CLAIM_WITH(a_hold_is_the_modules, up, world_down),
	CLAIM_WITH(a_hold_of_who_cannot_be_attached_yet_comes_when_it_can, up, world_down),
	CLAIM_WITH(a_hold_that_came_too_late_is_none, up, world_down),
	CLAIM_WITH(who_is_attached_anew_stays_held_for_the_rest_of_its_lease, up, world_down),
)
