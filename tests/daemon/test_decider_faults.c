// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * System calls of the decider, its readers, its control socket and its state that fail or are
 * late. Every scenario runs in virtual time, once per fault (sys_sweep.h), with its own daemon.
 */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/methods.h"
#include "decider_world.h"
#include "tests/shared/sys_sweep.h"

/*
 * The longest time until everything works again. A failed reader is replaced after a second,
 * which doubles.
 */
#define PATIENCE	(20 * GP_SEC)
#define LEASE		(20 * GP_MSEC)
/* Looks are rare, because a scenario runs a hundred thousand times. */
#define LOOKS		"[policy priority]\nlook_min = 1ms\nlook_max = 2ms\nmin_share = 0\n"

/* A daemon without its main loop, and one client. */
struct daemon {
	struct world *w;
	struct gp_decider_args args;
	struct gp_methods *methods;
	struct gp_control *control;
	char socket[100], state[100];
	int fd;			/* the client's; -1: not connected */
	u32 online, offline;
	bool away;		/* the offline process does not use the GPU */
	u64 left;		/* number of times it left the GPU */
	struct gp_gpu_process *record;	/* of the online process; NULL: not seen yet */
	u64 held_until_ns;	/* end of the last lease */
	u64 late_ns;		/* total delay of calls */
};

static struct sys_sweep_sum sum;

static void on_late(void *ctx, u64 ns)
{
	struct daemon *d = ctx;

	d->w->now_ns += ns;
	d->late_ns += ns;
}

static u32 descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	u32 nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/* ---- the daemon ---- */

static int identify(void *ctx, int fd, struct gp_peer *ret)
{
	(void)ctx;
	(void)fd;
	*ret = (struct gp_peer){ .pid = getpid(), .uid = getuid(), .gid = getgid(),
				 .user = getuid(), .privileged = true };
	return 0;
}

static int no_reload(void *ctx, char *why)
{
	(void)ctx;
	(void)why;
	return 0;
}

static struct gp_config *configuration(struct daemon *d, const char *more)
{
	char text[1024], errors[GP_CONFIG_ERRORS];
	struct gp_config *config;

	snprintf(text, sizeof(text), "[daemon]\nstate = %s\n%s%s", d->w->state,
		 WORLD_ACTING LOOKS, more);
	if (gp_config_parse("test", text, strlen(text), &config, errors, sizeof(errors)))
		fail_msg("%s", errors);
	return config;
}

/* Starts the daemon. With a fault it may fail; the supervisor would then start it again. */
static bool start(struct daemon *d)
{
	struct gp_control_args control = { .path = d->socket, .identify = identify };
	struct gp_methods_args methods = { .version = "9", .group = "testers", .state = d->state,
					   .reload = no_reload };
	char why_text[GP_DECIDER_WHY];
	const char *why;

	if (!d->args.clock) {
		/* Sets the world's callbacks. */
		world_decider(d->w, "");
		d->args = d->w->decider->args;
		gp_decider_free(d->w->decider);
		d->w->decider = NULL;
	}
	d->args.config = configuration(d, "");
	if (gp_decider_new(&d->args, &d->w->decider, why_text)) {
		d->w->decider = NULL;
		return false;
	}
	methods.decider = d->w->decider;
	if (gp_methods_new(&methods, &d->methods)) {
		d->methods = NULL;
		return false;
	}
	gp_methods_serve(d->methods, &control);
	if (gp_control_new(&control, &d->control, &why)) {
		d->control = NULL;
		return false;
	}
	gp_methods_connect(d->methods, d->control);
	d->left = 0;
	d->record = NULL;
	return true;
}

static void hang_up(struct daemon *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

static void stop(struct daemon *d)
{
	hang_up(d);
	if (d->methods)
		gp_methods_connect(d->methods, NULL);
	gp_control_free(d->control);
	gp_decider_free(d->w->decider);
	if (d->methods)
		gp_methods_free(d->methods);
	d->w->decider = NULL;
	d->methods = NULL;
	d->control = NULL;
	/* Readers end with their channels. */
	for (u32 i = 0; i < WORLD_READERS; i++) {
		struct world_reader *r = &d->w->reader[i];

		if (!r->args.channel)
			continue;
		gp_reader_end(r->self);
		close(r->args.channel);
		*r = (struct world_reader){ 0 };
	}
}

/* ---- time ---- */

static void check(struct daemon *d)
{
	const struct gp_decider *h = d->w->decider;

	/* A failed call proves nothing. A process that still exists must not count as gone. */
	EXPECT(h->stats.gone <= d->left);
	EXPECT(!d->record || world_find(d->w, d->online) == d->record);
}

static void run(struct daemon *d, u64 ns)
{
	for (u64 until = d->w->now_ns + ns; d->w->decider && d->w->now_ns < until;) {
		world_run(d->w, GP_MSEC);
		gp_control_run(d->control, d->w->decider->now_ns);
		gp_methods_after(d->methods);
		check(d);
	}
}

static bool is(struct daemon *d, u32 i, u32 state)
{
	struct gp_gpu_process *r = d->w->decider ? world_find(d->w, i) : NULL;
	struct gp_seat_view seat;

	return r && !gp_decider_seat(d->w->decider, r, 0, &seat) && seat.state == state;
}

static bool is_ready(struct daemon *d)
{
	struct gp_gpu_process *online = world_find(d->w, d->online);
	struct gp_gpu_process *offline = world_find(d->w, d->offline);

	return online && offline && offline->attachment == GP_ATTACHED &&
	       online->task != GP_NONE && !strcmp(online->class.name, "online");
}

/* Runs until process @i is in @state, for at most @ns. Returns true if it is. */
static bool await(struct daemon *d, u32 i, u32 state, u64 ns)
{
	u64 until = d->w->now_ns + ns;

	while (!is(d, i, state) && d->w->now_ns < until)
		run(d, GP_MSEC);
	return is(d, i, state);
}

/* ---- the client ---- */

/* Sends @text. Returns true if an answer came. A closed connection counts as no answer. */
static bool ask(struct daemon *d, const char *text, bool *ret_good)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char answer[65536];
	size_t n = 0;

	if (d->fd < 0) {
		d->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		snprintf(to.sun_path, sizeof(to.sun_path), "%s", d->socket);
		EXPECT_EQ(connect(d->fd, (struct sockaddr *)&to, sizeof(to)), 0);
	}
	if (send(d->fd, text, strlen(text) + 1, MSG_NOSIGNAL) < 0)
		goto closed;
	for (u64 until = d->w->now_ns + PATIENCE; d->w->now_ns < until;) {
		ssize_t got = recv(d->fd, answer + n, sizeof(answer) - n, MSG_DONTWAIT);

		if (!got || (got < 0 && errno != EAGAIN))
			goto closed;
		n += got > 0 ? (size_t)got : 0;
		if (n && !answer[n - 1]) {
			if (ret_good)
				*ret_good = !strstr(answer, "\"error\"");
			return true;
		}
		run(d, GP_MSEC);
	}
	fail_msg("no answer and no end of the connection");
closed:
	hang_up(d);
	return false;
}

static bool call(struct daemon *d, const char *method, const char *parameters)
{
	char text[512];
	bool good = false;

	snprintf(text, sizeof(text), "{\"method\":\"org.gpreempt.%s\",\"parameters\":{%s}}", method,
		 parameters);
	return ask(d, text, &good) && good;
}

/* ---- what happens ---- */

static void work(struct daemon *d)
{
	world_submit(d->w, d->online, 0, 1);
	run(d, 3 * GP_MSEC);
	world_complete(d->w, d->online, 0, 1);
	run(d, 10 * GP_MSEC);
}

static bool hold(struct daemon *d)
{
	char parameters[128];

	snprintf(parameters, sizeof(parameters), "\"pid\":%d,\"lease_ns\":%llu",
		 d->w->process[d->offline].pid, (unsigned long long)LEASE);
	if (!call(d, "Hold", parameters))
		return false;
	d->held_until_ns = d->w->now_ns + LEASE;
	return true;
}

static void move(struct daemon *d, bool away)
{
	char there[192], here[192];

	snprintf(there, sizeof(there), "%s/proc/%d", d->w->kfd, d->w->process[d->offline].pid);
	snprintf(here, sizeof(here), "%s/away", d->w->tree->path);
	if (d->away != away)
		EXPECT_EQ(rename(away ? there : here, away ? here : there), 0);
	d->left += away && !d->away;
	d->away = away;
}

static void set_class(struct daemon *d)
{
	char parameters[128];

	snprintf(parameters, sizeof(parameters), "\"pid\":%d,\"class\":\"online\"",
		 d->w->process[d->online].pid);
	call(d, "SetClass", parameters);
}

/* Runs after the faults until the daemon knows every process. */
static void settle(struct daemon *d)
{
	u64 until;

	if (!d->control) {
		stop(d);
		EXPECT(start(d));
	}
	move(d, false);
	*d->w->process[d->online].queue[0].wptr = *d->w->process[d->online].queue[0].rptr;
	until = d->w->now_ns + PATIENCE;
	set_class(d);
	while (!is_ready(d) && d->w->now_ns < until)
		run(d, 10 * GP_MSEC);
	EXPECT(is_ready(d));
	d->record = world_find(d->w, d->online);
	/* No lease of a client remains. */
	EXPECT(await(d, d->offline, GP_ON, PATIENCE));
}

/* Expects that the daemon decides as before. */
static void recover(struct daemon *d)
{
	settle(d);
	world_submit(d->w, d->online, 0, 1);
	EXPECT(await(d, d->offline, GP_OFF, PATIENCE));
	world_complete(d->w, d->online, 0, 1);
	EXPECT(await(d, d->offline, GP_ON, PATIENCE));
	EXPECT(call(d, "Status", ""));
}

/* ---- scenarios ---- */

/* Starts a daemon with both processes. Returns the number of open descriptors before that. */
static u32 begin(struct daemon *d)
{
	u32 before = descriptors();

	d->late_ns = d->held_until_ns = 0;
	EXPECT(start(d));
	settle(d);
	return before;
}

static void end(struct daemon *d, u32 before)
{
	sys_faults_end();
	recover(d);
	stop(d);
	EXPECT_EQ(descriptors(), before);
}

/* Online work comes and goes. A client holds the offline process. */
static void preempt(void *ctx, const struct sys_fault *faults, u32 nr)
{
	struct daemon *d = ctx;
	u32 before = begin(d);

	sys_faults_begin_all(faults, nr);
	work(d);
	work(d);
	if (hold(d)) {
		while (!is(d, d->offline, GP_ON) &&
		       d->w->now_ns < d->held_until_ns + 50 * GP_MSEC + 2 * d->late_ns)
			run(d, GP_MSEC);
		/* No process is off for longer than its lease and 50 ms unless a call was late. */
		EXPECT(is(d, d->offline, GP_ON) || d->late_ns);
	}
	end(d, before);
}

/* Processes start, are described, attached and preempted, leave the GPU and return. */
static void come_and_go(void *ctx, const struct sys_fault *faults, u32 nr)
{
	struct daemon *d = ctx;
	u32 before = begin(d);

	move(d, true);
	run(d, 25 * GP_MSEC);
	sys_faults_begin_all(faults, nr);
	move(d, false);
	run(d, 40 * GP_MSEC);
	work(d);
	move(d, true);
	run(d, 25 * GP_MSEC);
	move(d, false);
	run(d, 25 * GP_MSEC);
	work(d);
	end(d, before);
}

/* Ends the daemon without notice and starts it with the classes and holds of the state file. */
static void restart(void *ctx, const struct sys_fault *faults, u32 nr)
{
	struct daemon *d = ctx;
	u32 before = begin(d);

	run(d, 120 * GP_MSEC);
	sys_faults_begin_all(faults, nr);
	hold(d);
	run(d, 120 * GP_MSEC);
	stop(d);
	for (u32 tries = 0; tries < 3 && !start(d); tries++)
		stop(d);
	run(d, 30 * GP_MSEC);
	sys_faults_end();
	if (!d->control) {
		stop(d);
		EXPECT(start(d));
	}
	/* The class that a client set earlier is restored. */
	for (u64 until = d->w->now_ns + PATIENCE; !is_ready(d) && d->w->now_ns < until;)
		run(d, 10 * GP_MSEC);
	EXPECT(is_ready(d));
	end(d, before);
}

/* Changes the configuration and the policy, switches off and on. */
static void configure(void *ctx, const struct sys_fault *faults, u32 nr)
{
	struct daemon *d = ctx;
	char why[GP_DECIDER_WHY];
	struct gp_config *config;
	u32 before = begin(d);

	sys_faults_begin_all(faults, nr);
	config = configuration(d, "[class new]\npriority = 3\n");
	if (gp_decider_reload(d->w->decider, config, why))
		gp_config_free(config);
	run(d, 10 * GP_MSEC);
	call(d, "SetPolicy", "\"policy\":\"fair\"");
	run(d, 10 * GP_MSEC);
	call(d, "SetPolicy", "\"policy\":\"priority\"");
	gp_decider_enable(d->w->decider, false, why);
	run(d, 20 * GP_MSEC);
	gp_decider_enable(d->w->decider, true, why);
	run(d, 20 * GP_MSEC);
	sys_faults_end();
	/* The operator repeats calls that failed. */
	EXPECT(gp_decider_enable(d->w->decider, true, why) >= 0);
	EXPECT(call(d, "SetPolicy", "\"policy\":\"priority\""));
	end(d, before);
}

/* Clients connect, ask and disconnect. */
static void clients(void *ctx, const struct sys_fault *faults, u32 nr)
{
	static const char *const text[] = {
		"{\"method\":\"org.gpreempt.List\",\"parameters\":{}}",
		"{\"method\":\"org.gpreempt.Stats\",\"parameters\":{}}",
		"{\"method\":\"org.gpreempt.GetConfig\",\"parameters\":{}}",
		"{\"method\":\"org.gpreempt.Subscribe\",\"parameters\":{},\"more\":true}",
	};
	struct daemon *d = ctx;
	u32 before = begin(d);

	hang_up(d);
	run(d, 2 * GP_MSEC);
	sys_faults_begin_all(faults, nr);
	for (u32 i = 0; i < 3; i++)
		ask(d, text[i], NULL);
	hang_up(d);
	work(d);
	set_class(d);
	hang_up(d);
	/* A subscriber gets events and leaves during them. */
	call(d, "Status", "");
	if (d->fd >= 0 && send(d->fd, text[3], strlen(text[3]) + 1, MSG_NOSIGNAL) > 0)
		work(d);
	hang_up(d);
	run(d, 5 * GP_MSEC);
	end(d, before);
}

static int up(void **state)
{
	struct daemon *d = calloc(1, sizeof(*d));
	void *world;

	/* The daemon's tables are large. These settings let the next daemon reuse their pages. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	gp_log_open(GP_LOG_ERROR);
	world_up(&world);
	d->w = world;
	d->fd = -1;
	snprintf(d->socket, sizeof(d->socket), "%s/control", d->w->tree->path);
	snprintf(d->state, sizeof(d->state), "%s/state-file", d->w->tree->path);
	d->online = world_process(d->w);
	d->offline = world_process(d->w);
	world_queue(d->w, d->online, 0);
	world_queue(d->w, d->offline, 0);
	world_submit(d->w, d->offline, 0, 8);
	world_occupy(d->w, d->offline, 80);
	sys_faults_on(NULL, on_late, d);
	*state = d;
	return 0;
}

static int down(void **state)
{
	struct daemon *d = *state;
	void *world = d->w;

	sys_faults_end();
	sys_faults_on(NULL, NULL, NULL);
	sys_sweep_tell();
	stop(d);
	world_down(&world);
	free(d);
	return 0;
}

static void sweep(struct daemon *d, const char *name,
		  void (*scenario)(void *ctx, const struct sys_fault *faults, u32 nr))
{
	const struct sys_sweep s = {
		.name = name, .scenario = scenario, .ctx = d,
		.late_ns = { 3 * GP_MSEC, 600 * GP_MSEC }, .sample = 60, .rounds = 10,
	};

	sys_sweep_run(&s, &sum);
}

static void failed_calls_while_processes_are_preempted_and_held_lose_nothing(void **state)
{
	sweep(*state, "preempt", preempt);
}

static void failed_calls_while_processes_come_and_go_lose_none_of_them(void **state)
{
	sweep(*state, "come and go", come_and_go);
}

static void failed_calls_during_a_restart_lose_no_class(void **state)
{
	sweep(*state, "restart", restart);
}

static void failed_calls_while_the_configuration_changes_leave_a_daemon_that_decides(void **state)
{
	sweep(*state, "configure", configure);
}

static void failed_calls_of_the_control_socket_leave_no_client_waiting(void **state)
{
	sweep(*state, "clients", clients);
}

static void enough_faults_were_tried(void **state)
{
	(void)state;
	sys_sweep_enough(sum.tried, 50000);
}

PROVE(
	CLAIM_WITH(failed_calls_while_processes_are_preempted_and_held_lose_nothing, up, down),
	CLAIM_WITH(failed_calls_while_processes_come_and_go_lose_none_of_them, up, down),
	CLAIM_WITH(failed_calls_during_a_restart_lose_no_class, up, down),
	CLAIM_WITH(failed_calls_while_the_configuration_changes_leave_a_daemon_that_decides, up,
		   down),
	CLAIM_WITH(failed_calls_of_the_control_socket_leave_no_client_waiting, up, down),
	CLAIM(enough_faults_were_tried),
)
