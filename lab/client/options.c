// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpload's command line: a table of options, and one line per mistake. */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_WAVES_PER_GROUP = 16,
	MAX_QUEUES	= 1024,		/* the driver's limit per process */
	MAX_DEPTH	= 512,		/* half a ring */
	DEPTH		= 2,
	DEPTH_POISSON	= 16,
};

const char gp_load_help[] =
"usage: gpload [options]\n"
"\n"
"Uses the lab's virtual GPU as ROCr uses a real one, by raw KFD calls, and verifies\n"
"that every workgroup ran exactly once. Times are of the model's device clock.\n"
"\n"
"  --class offline|online  name of the process: gpload-CLASS        (offline)\n"
"  --queues N              AQL queues, 1..1024                      (1)\n"
"  --kernel TIME           how long a workgroup runs: 20ms, 300us   (1ms)\n"
"  --waves full|N          waves of a kernel; full: what the GPU holds  (full)\n"
"  --workgroups N          among how many workgroups they are divided   (fewest)\n"
"  --requests N            stop after N kernels                     (100)\n"
"  --seconds S             stop after S seconds of the device clock\n"
"  --poisson RATE          N per second arrive by chance; else as fast as they complete\n"
"  --depth N               in flight per queue, 1..512              (2; poisson 16)\n"
"  --warm-up N             leave the first N out of the latencies   (0)\n"
"  --spoil N               make the result of the Nth wrong: a test of the verification\n"
"  --pointers userptr|gtt  memory of rings and pointers             (userptr)\n"
"  --save-area sparse|full memory of save areas                     (sparse)\n"
"  --wait poll|event       how to wait for completions              (poll)\n"
"  --gpu N                 which GPU, from 0                        (0)\n"
"  --vm all|one            address spaces acquired: of all GPUs, as ROCr does, or its own  (all)\n"
"  --linger TIME           stay so long in hsa_init and hsa_shut_down, named gpload-init\n"
"                          and gpload-exit: before and after the runtime's call  (0)\n"
"  --seed N                of keys and arrivals                     (1)\n"
"  --patience S            give up after S seconds without a completion (120; 0: never)\n"
"  --print-every S         a line of progress on stderr\n"
"  --print-submits         when each request was submitted, CLOCK_MONOTONIC ns, on stderr\n"
"  --print-kernels         when each kernel began and ended, device clock ns, on stderr\n"
"  --json                  the result as JSON\n"
"  --check                 what the driver says; create and destroy one queue\n"
"\n"
"SIGTERM and SIGINT end it early, with verification.\n"
"Exit: 0 right, 1 work lost or done twice, 2 wrong usage or no GPU, 3 out of patience.\n";

static int wrong(const char *option, const char *value, const char *wanted)
{
	return gp_client_say(EINVAL, "--%s %s: %s is wanted", option, value, wanted);
}

static int number(const char *text, u64 max, u64 *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, &end, 0);
	return *end || errno || *ret > max ? -EINVAL : 0;
}

/* Reads a decimal number with up to nine digits after the point, times @unit. */
static int decimal(const char *text, u64 unit, const char **ret_end, u64 *ret)
{
	u64 whole = 0, part = 0, scale = 1;
	const char *c = text;

	for (; *c >= '0' && *c <= '9'; c++) {
		whole = whole * 10 + (u64)(*c - '0');
		if (whole > UINT64_MAX / 100 / unit)
			return -EINVAL;
	}
	if (c == text)
		return -EINVAL;
	if (*c == '.')
		for (c++; *c >= '0' && *c <= '9' && scale < 1000000000; c++, scale *= 10)
			part = part * 10 + (u64)(*c - '0');
	*ret_end = c;
	*ret = whole * unit + (u64)((unsigned __int128)part * unit / scale);
	return 0;
}

int gp_load_duration(const char *text, u64 *ret_ns)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
		{ "min", 60000000000 }, { "h", 3600000000000 },
	};
	const char *end;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		u64 ns;

		if (decimal(text, units[i].ns, &end, &ns))
			return -EINVAL;
		if (!strcmp(end, units[i].name)) {
			*ret_ns = ns;
			return 0;
		}
	}
	return -EINVAL;
}

static int seconds(const char *text, u64 *ret_ns)
{
	const char *end;

	return decimal(text, 1000000000, &end, ret_ns) || (*end && strcmp(end, "s")) ? -EINVAL : 0;
}

static int choice(const char *text, const char *const names[2])
{
	for (int i = 0; i < 2; i++)
		if (!strcmp(text, names[i]))
			return i;
	return -EINVAL;
}

static const char *const classes[] = { "offline", "online" };
static const char *const pointer_kinds[] = { "userptr", "gtt" };
static const char *const save_kinds[] = { "sparse", "full" };
static const char *const wait_kinds[] = { "poll", "event" };
static const char *const vm_kinds[] = { "all", "one" };

static const struct choice_option {
	const char *name;
	const char *const *names;
	const char *wanted;
} choices[] = {
	{ "class",	classes,	"offline or online" },
	{ "pointers",	pointer_kinds,	"userptr or gtt" },
	{ "save-area",	save_kinds,	"sparse or full" },
	{ "wait",	wait_kinds,	"poll or event" },
	{ "vm",		vm_kinds,	"all or one" },
};

static int set_choice(const char *name, const char *value, struct gp_load_options *o)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		int c;

		if (strcmp(name, choices[i].name))
			continue;
		c = choice(value, choices[i].names);
		if (c < 0)
			return wrong(name, value, choices[i].wanted);
		if (choices[i].names == classes)
			o->class = classes[c];
		else if (choices[i].names == pointer_kinds)
			o->pointers = c ? GP_MEMORY_GTT : GP_MEMORY_USERPTR;
		else if (choices[i].names == save_kinds)
			o->save_area = c ? GP_SAVE_FULL : GP_SAVE_SPARSE;
		else if (choices[i].names == vm_kinds)
			o->one_vm = c;
		else
			o->wait = c ? GP_LOAD_EVENT : GP_LOAD_POLL;
		return 0;
	}
	return -ENOENT;
}

static const struct number_option {
	const char *name;
	size_t at;
	bool wide;		/* a u64 */
	u64 min, max;
	const char *wanted;
} numbers[] = {
	{ "queues", offsetof(struct gp_load_options, queues), false, 1, MAX_QUEUES,
	  "a number from 1 to 1024" },
	{ "workgroups", offsetof(struct gp_load_options, workgroups), false, 1, 1u << 20,
	  "a number from 1 to 1048576" },
	{ "requests", offsetof(struct gp_load_options, requests), true, 1, 1ull << 40,
	  "a number from 1" },
	{ "depth", offsetof(struct gp_load_options, depth), false, 1, MAX_DEPTH,
	  "a number from 1 to 512" },
	{ "warm-up", offsetof(struct gp_load_options, warm_up), true, 0, 1ull << 40, "a number" },
	{ "spoil", offsetof(struct gp_load_options, spoil), true, 1, 1ull << 40,
	  "a number from 1" },
	{ "gpu", offsetof(struct gp_load_options, gpu), false, 0, 63, "a number from 0 to 63" },
	{ "seed", offsetof(struct gp_load_options, seed), true, 0, UINT64_MAX, "a number" },
};

static int set_number(const char *name, const char *value, struct gp_load_options *o)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct number_option *n = &numbers[i];
		u64 v;

		if (strcmp(name, n->name))
			continue;
		if (number(value, n->max, &v) || v < n->min)
			return wrong(name, value, n->wanted);
		if (n->wide)
			*(u64 *)((u8 *)o + n->at) = v;
		else
			*(u32 *)((u8 *)o + n->at) = (u32)v;
		return 0;
	}
	return -ENOENT;
}

static int set_time(const char *name, const char *value, struct gp_load_options *o)
{
	if (!strcmp(name, "kernel"))
		return gp_load_duration(value, &o->kernel_ns) || !o->kernel_ns ?
		       wrong(name, value, "a time such as 20ms, 300us or 1.5s") : 0;
	if (!strcmp(name, "linger"))
		return gp_load_duration(value, &o->linger_ns) ?
		       wrong(name, value, "a time such as 300ms") : 0;
	if (!strcmp(name, "seconds"))
		return seconds(value, &o->seconds_ns) || !o->seconds_ns ?
		       wrong(name, value, "a number of seconds above 0") : 0;
	if (!strcmp(name, "patience"))
		return seconds(value, &o->patience_ns) ?
		       wrong(name, value, "a number of seconds") : 0;
	if (!strcmp(name, "print-every"))
		return seconds(value, &o->print_every_ns) || !o->print_every_ns ?
		       wrong(name, value, "a number of seconds above 0") : 0;
	return -ENOENT;
}

static int set_load(const char *name, const char *value, struct gp_load_options *o)
{
	const char *end;
	u64 v;

	if (!strcmp(name, "poisson"))
		return decimal(value, 1000, &end, &o->rate_milli) || *end || !o->rate_milli ?
		       wrong(name, value, "a rate per second above 0") : 0;
	if (strcmp(name, "waves"))
		return -ENOENT;
	if (!strcmp(value, "full")) {
		o->waves = 0;
		return 0;
	}
	if (number(value, 1u << 24, &v) || !v)
		return wrong(name, value, "full or a number from 1");
	o->waves = (u32)v;
	return 0;
}

static int set(const char *name, const char *value, struct gp_load_options *o)
{
	int (*const setters[])(const char *, const char *, struct gp_load_options *) = {
		set_choice, set_number, set_time, set_load,
	};

	for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); i++) {
		int err = setters[i](name, value, o);

		if (err != -ENOENT)
			return err;
	}
	return -ENOENT;
}

static void set_flag(const char *name, struct gp_load_options *o)
{
	bool *flag = !strcmp(name, "json") ? &o->json : !strcmp(name, "check") ? &o->check :
		     !strcmp(name, "print-submits") ? &o->print_submits :
		     !strcmp(name, "print-kernels") ? &o->print_kernels :
		     !strcmp(name, "help") ? &o->help : NULL;

	if (flag)
		*flag = true;
}

#define VALUE(name)	{ name, required_argument, NULL, 0 }
#define FLAG(name)	{ name, no_argument, NULL, 0 }

static const struct option table[] = {
	VALUE("class"), VALUE("pointers"), VALUE("save-area"), VALUE("wait"), VALUE("vm"),
	VALUE("queues"), VALUE("workgroups"), VALUE("requests"), VALUE("depth"), VALUE("warm-up"),
	VALUE("spoil"), VALUE("gpu"), VALUE("seed"), VALUE("kernel"), VALUE("linger"),
	VALUE("seconds"), VALUE("patience"), VALUE("print-every"), VALUE("poisson"),
	VALUE("waves"), FLAG("json"), FLAG("check"), FLAG("print-submits"), FLAG("print-kernels"),
	FLAG("help"), { 0 },
};

static int parse_all(int argc, const char *const argv[], struct gp_load_options *o)
{
	int c, at = 0, err = 0;

	optind = 0;	/* makes glibc start over */
	opterr = 0;
	while (!err && (c = getopt_long(argc, (char *const *)argv, "+:", table, &at)) != -1) {
		if (c == ':')
			err = gp_client_say(EINVAL, "%s: missing value (see --help)",
					    argv[optind - 1]);
		else if (c)
			err = gp_client_say(EINVAL, "%s: no such option (see --help)",
					    argv[optind - 1]);
		else if (table[at].has_arg == required_argument)
			err = set(table[at].name, optarg, o);
		else
			set_flag(table[at].name, o);
	}
	if (!err && optind < argc)
		err = gp_client_say(EINVAL, "%s: no option (see --help)", argv[optind]);
	return err;
}

int gp_load_parse(int argc, const char *const argv[], struct gp_load_options *ret)
{
	struct gp_load_options o = {
		.class = "offline",
		.queues = 1,
		.kernel_ns = 1000000,
		.seed = 1,
		.patience_ns = 120 * 1000000000ull,
	};
	int err = parse_all(argc, argv, &o);

	if (err)
		return err;
	if (o.requests && o.seconds_ns)
		return gp_client_say(EINVAL, "--requests and --seconds: only one of them");
	if (!o.requests && !o.seconds_ns)
		o.requests = 100;
	if (!o.depth)
		o.depth = o.rate_milli ? DEPTH_POISSON : DEPTH;
	*ret = o;
	return 0;
}

static u32 fewest_workgroups(u32 waves)
{
	u32 per_group = waves < MAX_WAVES_PER_GROUP ? waves : MAX_WAVES_PER_GROUP;

	while (waves % per_group)
		per_group--;
	return waves / per_group;
}

int gp_load_shape(const struct gp_load_options *o, const struct gp_node *node, u32 *ret_workgroups,
		  u32 *ret_waves)
{
	u32 waves = o->waves ? o->waves : gp_node_waves(node);
	u32 groups = o->workgroups ? o->workgroups : waves ? fewest_workgroups(waves) : 0;

	if (!waves)
		return gp_client_say(EINVAL, "GPU %u: the driver shows no waves; give --waves N",
				     node->gpu_id);
	if (waves % groups || waves / groups > MAX_WAVES_PER_GROUP)
		return gp_client_say(EINVAL, "--workgroups %u: %u waves do not divide among them "
				     "into 1 to 16 each", groups, waves);
	*ret_workgroups = groups;
	*ret_waves = waves / groups;
	return 0;
}
