// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreemptd(8): the command line. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "loop.h"
#include "supervisor.h"

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
	struct gp_loop_args loop;
	const char *check;
	bool json;
};

/*
 * The decider needs no capability. Holders trace processes and take their descriptors, readers read
 * their memory, their texts and the driver's dump, and only the supervisor kills.
 */
static const struct gp_confinement decider_may = { .oom = -500 };

static int decide(void *ctx, struct gp_heart *heart)
{
	return gp_loop(ctx, heart);
}

/* -1: go on; else an exit code. */
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
			o->loop.config = optarg;
			break;
		case CHECK:
			o->check = optarg;
			break;
		case JSON:
			o->json = true;
			break;
		case OBSERVE:
			o->loop.observe = true;
			break;
		case NO_KEEPER:
			/* Of older versions: there is always a supervisor now. */
			break;
		case FOREGROUND:
			o->loop.talkative = true;
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
			return GP_EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "gpreemptd: '%s': no arguments are taken; see gpreemptd --help\n",
			argv[optind]);
		return GP_EXIT_USAGE;
	}
	return -1;
}

/* Before there is a supervisor: what is refused now is not tried again and again. */
static int read_heartbeat(const char *path, u64 *ret)
{
	static char errors[GP_CONFIG_ERRORS];
	struct gp_config *config;
	int err = gp_config_load(path, &config, errors, sizeof(errors));

	if (err) {
		fputs(errors, stderr);
		return err == -EINVAL ? GP_EXIT_USAGE : GP_EXIT_FAILED;
	}
	*ret = config->daemon.heartbeat_ns;
	gp_config_free(config);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct gp_supervisor_args args = {
		.decider = decide, .ctx = &o.loop, .decider_may = &decider_may, .roles = gp_roles,
	};
	int code = parse(argc, argv, &o);

	if (code >= 0)
		return code;
	if (o.check)
		return gp_check(o.check, o.json, stdout, stderr);
	code = read_heartbeat(o.loop.config, &args.heartbeat_ns);
	return code ? code : gp_supervisor_run(&args);
}
