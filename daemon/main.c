// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreemptd(8): the command line, and the decider's loop, which waits for descriptors of the
 * decider, the control socket, signals and timers.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "lib/exit.h"
#include "lib/kmod.h"
#include "lib/sys.h"
#include "log.h"
#include "methods.h"
#include "notify.h"
#include "supervisor.h"

struct decider_options {
	const char *config;	/* NULL: GP_CONFIG_PATH */
	bool observe;
	bool talkative;		/* log everything */
};

/* Time that SIGTERM waits until all processes are released. The exit releases the rest. */
#define LEAVE_NS	(2 * GP_SEC)

enum { DECIDER, CONTROL, SIGNALS, NR_SOURCES };

struct loop {
	const struct decider_options *args;
	struct gp_heart *heart;
	struct gp_decider *decider;
	struct gp_methods *methods;
	struct gp_control *control;
	char state[GP_CONFIG_TEXT + 8];	/* the file of state.h */
	int epoll, signals;
	u64 watchdog_ns, watchdog_at_ns;
	bool leaving;
	u64 leave_until_ns;
};

/* ---- what the decider calls ---- */

/* Returns the GPU that a log line about @r names; -1: none. */
static int first_gpu(const struct loop *l, const struct gp_gpu_process *r)
{
	u32 d;

	for (d = 0; l->decider && d < l->decider->nr_gpus; d++)
		if (r->devices & BIT_ULL(d))
			return (int)l->decider->gpu[d].index;
	return -1;
}

static void on_news(void *ctx, const struct gp_news *news)
{
	struct loop *l = ctx;
	enum gp_log_level level = GP_LOG_INFO;

	if (news->kind == GP_NEWS_TROUBLE || news->kind == GP_NEWS_GPU)
		level = GP_LOG_WARNING;
	else if (news->kind == GP_NEWS_PROCESS || news->kind == GP_NEWS_QUEUE)
		level = GP_LOG_DEBUG;
	if (news->who) {
		struct gp_log_subject subject = {
			.pid = news->who->pid, .user = news->who->user,
			.class_name = news->who->class.name, .gpu = first_gpu(l, news->who),
		};

		gp_log_about(level, &subject, "%s (%d) %s", news->who->name, news->who->pid,
			     news->what);
	} else {
		gp_log(level, "%s", news->what);
	}
	if (l->methods)
		gp_methods_news(l->methods, news);
}

static void on_holding(void *ctx)
{
	struct loop *l = ctx;

	if (!l->heart->busy)
		gp_heart_beat(l->heart, gp_sys->monotonic_ns());
}

/* ---- configuration ---- */

/* Loads the configuration. 0 and *@ret, or an exit code and a message on stderr. */
static int load(const char *path, struct gp_config **ret)
{
	static char errors[GP_CONFIG_ERRORS];
	int err = gp_config_load(path, ret, errors, sizeof(errors));

	if (err)
		fputs(err == -ENOMEM ? "gpreemptd: out of memory\n" : errors, stderr);
	return err == -EINVAL ? GP_EXIT_BAD : err ? GP_EXIT_FAILED : 0;
}

/* On an error the old configuration stays, and @why is the first line about the new one. */
static int reload(void *ctx, char *why)
{
	struct gp_config *config;
	struct loop *l = ctx;
	int err = gp_config_reload(l->args->config, l->decider->config, &config, why,
				   GP_DECIDER_WHY);

	if (err) {
		why[strcspn(why, "\n")] = '\0';
		if (!*why)
			snprintf(why, GP_DECIDER_WHY, "%s", strerror(-err));
		return -EINVAL;
	}
	err = gp_decider_reload(l->decider, config, why);
	if (err)
		gp_config_free(config);
	else
		gp_methods_reloaded(l->methods);
	return err;
}

static void reload_by_signal(struct loop *l)
{
	char why[GP_DECIDER_WHY] = "";
	int err = reload(l, why);

	if (err)
		gp_log(GP_LOG_ERROR, "the old configuration stays: %s", why);
	else
		gp_log(GP_LOG_INFO, "the configuration was read again");
}

/* ---- life ---- */

static int block_signals(struct loop *l)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	l->signals = gp_sys->signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signals < 0 ? -errno : 0;
}

static int add(struct loop *l, int fd, u32 source)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = source };

	return gp_sys->epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* Makes the folder of the socket, which may be missing without systemd. */
static void make_folder(const char *socket)
{
	char path[GP_CONFIG_TEXT], *slash;

	snprintf(path, sizeof(path), "%s", socket);
	slash = strrchr(path, '/');
	if (slash && slash != path) {
		*slash = 0;
		gp_sys->mkdir(path, 0755);
	}
}

static int open_control(struct loop *l, const struct gp_daemon_settings *set)
{
	struct gp_control_args args = {
		.path = set->socket, .group = set->group, .clients = set->clients,
	};
	const char *why = "";
	int err;

	make_folder(set->socket);
	gp_methods_serve(l->methods, &args);
	err = gp_control_new(&args, &l->control, &why);
	if (err) {
		gp_log(GP_LOG_ERROR, "%s: %s (%s)%s", set->socket, why, strerror(-err),
		       err == -EADDRINUSE ? "; another gpreemptd runs" : "");
		return err == -EADDRINUSE ? GP_EXIT_BUSY : GP_EXIT_FAILED;
	}
	gp_methods_connect(l->methods, l->control);
	return 0;
}

/*
 * Puts the state file beside the control socket, under /run, because it is valid for this boot
 * only.
 */
static void state_file(struct loop *l)
{
	const char *socket = l->decider->config->daemon.socket, *slash = strrchr(socket, '/');

	snprintf(l->state, sizeof(l->state), "%.*s/state",
		 slash ? (int)(slash - socket) : 1, slash ? socket : ".");
}

static int open_decider(struct loop *l)
{
	struct gp_decider_args args = {
		.observe = l->args->observe, .kmod = GP_KMOD_DEVICE,
		.news = on_news, .holding = on_holding, .ctx = l,
	};
	struct gp_methods_args methods = { .version = GP_VERSION, .reload = reload, .ctx = l };
	char why[GP_DECIDER_WHY];
	int code = load(l->args->config, &args.config);

	if (code)
		return code;
	gp_log_timestamps(l->args->talkative);
	gp_log_open(l->args->talkative ? GP_LOG_DEBUG : args.config->daemon.log);
	if (gp_decider_new(&args, &l->decider, why)) {
		gp_log(GP_LOG_ERROR, "%s", why);
		return GP_EXIT_FAILED;
	}
	methods.decider = l->decider;
	methods.group = l->decider->config->daemon.group;
	state_file(l);
	methods.state = l->state;
	if (l->heart->reason[0])
		gp_state_set_end(l->heart->reason);
	return gp_methods_new(&methods, &l->methods) ? GP_EXIT_FAILED : 0;
}

static int open_all(struct loop *l)
{
	int code;

	if (block_signals(l))
		return GP_EXIT_FAILED;
	code = open_decider(l);
	if (!code)
		code = open_control(l, &l->decider->config->daemon);
	if (code)
		return code;
	l->epoll = gp_sys->epoll_create(EPOLL_CLOEXEC);
	if (l->epoll < 0 || add(l, gp_decider_fd(l->decider), DECIDER) ||
	    add(l, gp_control_fd(l->control), CONTROL) || add(l, l->signals, SIGNALS))
		return GP_EXIT_FAILED;
	l->watchdog_ns = gp_notify_watchdog();
	/* Looks need timers with microsecond precision. */
	prctl(PR_SET_TIMERSLACK, 1000);
	return 0;
}

static void close_all(struct loop *l)
{
	/* Free the control socket first, so that no client calls a decider that is being freed. */
	if (l->methods)
		gp_methods_connect(l->methods, NULL);
	gp_control_free(l->control);
	gp_decider_free(l->decider);
	gp_methods_free(l->methods);
	if (l->epoll >= 0)
		close(l->epoll);
	if (l->signals >= 0)
		close(l->signals);
}

/* ---- the loop ---- */

static void take_signals(struct loop *l, u64 now)
{
	struct signalfd_siginfo info;

	while (gp_sys->read(l->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			gp_notify("RELOADING=1");
			reload_by_signal(l);
			gp_notify("READY=1");
		} else if (!l->leaving) {
			gp_notify("STOPPING=1");
			l->leaving = true;
			l->leave_until_ns = now + LEAVE_NS;
			gp_decider_leave(l->decider, now);
		}
	}
}

static void show_life(struct loop *l, u64 now)
{
	bool busy = gp_decider_busy(l->decider);

	if (busy && (!l->heart->busy || now >= l->heart->next_ns))
		gp_heart_beat(l->heart, now);
	else if (!busy)
		gp_heart_rest(l->heart);
	if (l->watchdog_ns && now >= l->watchdog_at_ns) {
		gp_notify("WATCHDOG=1");
		l->watchdog_at_ns = now + l->watchdog_ns;
	}
}

static u64 wake_at(const struct loop *l)
{
	u64 at = gp_sooner(gp_decider_wake_at(l->decider), gp_control_wake_at(l->control));

	if (l->heart->busy)
		at = gp_sooner(at, l->heart->next_ns);
	if (l->watchdog_ns)
		at = gp_sooner(at, l->watchdog_at_ns);
	if (l->leaving)
		at = gp_sooner(at, l->leave_until_ns);
	return at;
}

/* Sleeps until something is ready or @at; returns a bit per source. */
static u32 sleep_until(const struct loop *l, u64 at)
{
	u64 now = gp_sys->monotonic_ns(), ns = at > now ? at - now : 0;
	struct timespec timeout = { (time_t)(ns / GP_SEC), (long)(ns % GP_SEC) };
	struct epoll_event e[NR_SOURCES];
	u32 ready = 0;
	int i, n;

	n = gp_sys->epoll_pwait2(l->epoll, e, NR_SOURCES, at == GP_NEVER ? NULL : &timeout);
	for (i = 0; i < n; i++)
		ready |= 1u << e[i].data.u32;
	return ready;
}

static int run(struct loop *l)
{
	u32 ready = ~0u;
	u64 now;

	for (;;) {
		now = gp_sys->monotonic_ns();
		if (ready & (1u << SIGNALS))
			take_signals(l, now);
		gp_decider_run(l->decider, now);
		/* Serve clients after decisions. Their requests are decided in the next round. */
		if ((ready & (1u << CONTROL)) || now >= gp_control_wake_at(l->control))
			gp_control_run(l->control, now);
		gp_methods_after(l->methods);
		show_life(l, gp_sys->monotonic_ns());
		if (l->leaving && (gp_decider_quiet(l->decider) || now >= l->leave_until_ns)) {
			gp_methods_end(l->methods, "stopped by a signal");
			return GP_EXIT_OK;
		}
		if (gp_decider_outdated(l->decider) && !l->leaving) {
			gp_log(GP_LOG_INFO, "the GPUs have changed: started again");
			gp_methods_end(l->methods, "the GPUs changed");
			return GP_SUPERVISOR_AGAIN;
		}
		ready = sleep_until(l, wake_at(l));
	}
}

/* Runs one life of the decider. Returns enum gp_exit, or GP_SUPERVISOR_AGAIN. */
static int decide(void *ctx, struct gp_heart *heart)
{
	struct loop l = { .args = ctx, .heart = heart, .epoll = -1, .signals = -1 };
	struct gp_backend_status status;
	int code;

	gp_sys = &gp_sys_counted;
	code = open_all(&l);

	if (!code) {
		gp_decider_status(l.decider, &status);
		gp_notify("READY=1\nSTATUS=running");
		gp_log(GP_LOG_INFO, "%u GPU%s, policy %s, mechanism %s%s", l.decider->nr_gpus,
		       l.decider->nr_gpus == 1 ? "" : "s",
		       gp_decider_policy_name(l.decider), status.mechanism,
		       l.decider->enabled ? "" : ", switched off");
		code = run(&l);
	}
	close_all(&l);
	gp_heart_rest(heart);
	return code;
}

/* ---- the command line ---- */

static const char usage[] =
"usage: gpreemptd [OPTION]...\n"
"\n"
"Watches the processes that use the GPUs, and runs those of higher classes first.\n"
"\n"
"  --config FILE  configuration, or its folder (" GP_CONFIG_PATH ")\n"
"  --check FILE   say whether this configuration would be taken, and end\n"
"  --json         with --check: as JSON\n"
"  --observe      never stop a process, whatever the configuration says\n"
"  --foreground   for people: log everything\n"
"  --help, --version\n"
"\n"
"SIGTERM releases all processes and ends it; SIGHUP reads the configuration again.\n"
"Exit status: 0 told to end, 1 failed, 2 usage or configuration, 3 another one runs;\n"
"with --check: 0 it would be taken, 1 it would not, 2 it cannot be read.\n";

struct options {
	struct decider_options decider;
	const char *check;
	bool json;
};

/*
 * The decider needs no capability. Holders trace processes and take their descriptors. Readers read
 * their memory, their texts and the driver's dump. Only the supervisor kills.
 */
static const struct gp_confinement decider_may = { .oom = -500 };

/* Parses the command line. -1: continue; else an exit code. */
static int parse(int argc, char **argv, struct options *o)
{
	enum { CONFIG = 256, CHECK, JSON, OBSERVE, NO_KEEPER, FOREGROUND, HELP, VERSION };
	static const struct option table[] = {
		{ "config", required_argument, NULL, CONFIG },
		{ "check", required_argument, NULL, CHECK },
		{ "json", no_argument, NULL, JSON },
		{ "observe", no_argument, NULL, OBSERVE },
		{ "no-keeper", no_argument, NULL, NO_KEEPER },
		{ "foreground", no_argument, NULL, FOREGROUND },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", table, NULL)) != -1) {
		switch (c) {
		case CONFIG:
			o->decider.config = optarg;
			break;
		case CHECK:
			o->check = optarg;
			break;
		case JSON:
			o->json = true;
			break;
		case OBSERVE:
			o->decider.observe = true;
			break;
		case NO_KEEPER:
			/*
			 * An option of older versions, ignored because there is always a
			 * supervisor.
			 */
			break;
		case FOREGROUND:
			o->decider.talkative = true;
			break;
		case HELP:
			fputs(usage, stdout);
			return GP_EXIT_OK;
		case VERSION:
			puts("gpreemptd " GP_VERSION);
			return GP_EXIT_OK;
		default:
			fprintf(stderr, "gpreemptd: '%s': %s; see gpreemptd --help\n",
				argv[optind - 1],
				c == ':' ? "missing value" : "unknown option");
			return GP_EXIT_BAD;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "gpreemptd: '%s': no arguments are taken; see gpreemptd --help\n",
			argv[optind]);
		return GP_EXIT_BAD;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct gp_supervisor_args args = {
		.decider = decide, .ctx = &o.decider, .decider_may = &decider_may,
		.roles = gp_roles,
	};
	struct gp_config *config;
	int code = parse(argc, argv, &o);

	if (code >= 0)
		return code;
	if (o.check)
		return gp_config_check(o.check, o.json, stdout, stderr);
	/* Load it before the supervisor starts, which would retry a refused configuration. */
	code = load(o.decider.config, &config);
	if (code)
		return code;
	args.heartbeat_ns = config->daemon.heartbeat_ns;
	gp_config_free(config);
	return gp_supervisor_run(&args);
}
