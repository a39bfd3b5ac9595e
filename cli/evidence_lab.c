// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Chapter: the same in the lab, where the real driver has the virtual GPU. The lab needs
 * the source tree; what it prints is read as it is, so a row that a program of the lab
 * learns to print is a row of the report.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence.h"
#include "term.h"

#define COST(options)	"lab/run --seed 0 --param poll_us=20000 " \
			"--param no_system_mem_limit=1 --timeout 1200 -- " \
			"sh -c 'modprobe gpreempt && gpcost --json" options "'"

enum form { JSON_LINES, COLUMNS };

/* Run in this order. */
static const struct probe {
	const char *name;
	const char *what;
	const char *command, *quick;
	enum form form;
	const char *unit;
} probes[] = {
	{ "colocate", "online beside offline work: alone, natively, by each mechanism",
	  "lab/run --seed 0 --timeout 1200 -- lab-colocate", NULL, COLUMNS, "us" },
	{ "arrival", "how long an online arrival waits for a full GPU, by who preempts",
	  "lab/latency", "lab/latency 20", JSON_LINES, "counted; times in ns" },
	{ "model_error", "the same operations by the driver and by the simulator",
	  "lab/model-error --json", NULL, JSON_LINES, "counted; times in ns" },
	{ "costs", "what the driver executes to stop and start work",
	  COST(""), COST(" --repetitions 20"), JSON_LINES,
	  "instructions; times in ns; counted" },
};
enum { NR_PROBES = sizeof(probes) / sizeof(*probes) };

/* Built in BUILD/cli of the tree, or else there is no tree. */
int gp_lab_tree(char *tree, size_t size)
{
	char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	for (int up = 0; n > 0 && up < 3; up++) {
		path[n] = 0;
		n = strrchr(path, '/') - path;
		path[n] = 0;
		if (up == 1)
			setenv("GP_BUILD", path, 0);	/* lab/model-error asks */
	}
	snprintf(tree, size, "%s", path);
	snprintf(path + (n > 0 ? n : 0), sizeof(path) - (size_t)(n > 0 ? n : 0), "/lab/run");
	if (n > 0 && !access(path, X_OK))
		return 0;
	gp_error("--lab: the lab is part of the source tree, and this gpreempt was not built in "
		 "one; there, type ./run report --lab");
	return -ENOENT;
}

/* ---- reading what the lab prints ---- */

/* {"operation": "suspend", "queues": 8} is called suspend-8; gplatency names its rows itself. */
static void name_line(json_t *line)
{
	const char *what = gp_evidence_text(line, "operation");
	json_t *queues = json_object_get(line, "queues");
	char name[64];

	if (queues)
		snprintf(name, sizeof(name), "%s-%lld", what,
			 (long long)json_integer_value(queues));
	else
		snprintf(name, sizeof(name), "%s",
			 *what ? what : gp_evidence_text(line, "latency"));
	gp_json_put(line, "name", json_string(name));
}

static double in_us(double value, const char *unit)
{
	return !strcmp(unit, "ns") ? value / 1e3 : !strcmp(unit, "ms") ? value * 1e3 :
	       !strcmp(unit, "s") ? value * 1e6 : value;
}

/* "with gpreemptd   812.0 us   790.1 us   1.2 ms   42": a name and four columns. */
static json_t *columns(const char *line)
{
	double mean, p50, p99;
	char u[3][8], done[24], name[23];
	json_t *o;

	snprintf(name, sizeof(name), "%.22s", line);
	if (strlen(line) < sizeof(name) ||
	    sscanf(line + sizeof(name) - 1, "%lf %7s %lf %7s %lf %7s %23s", &mean, u[0], &p50, u[1],
		   &p99, u[2], done) != 7)
		return NULL;
	for (size_t n = strlen(name); n && name[n - 1] == ' '; n--)
		name[n - 1] = 0;
	o = json_object();
	gp_json_put(o, "name", json_string(name));
	gp_json_put(o, "mean", gp_json_fraction(true, in_us(mean, u[0])));
	gp_json_put(o, "p50", gp_json_fraction(true, in_us(p50, u[1])));
	gp_json_put(o, "p99", gp_json_fraction(true, in_us(p99, u[2])));
	gp_json_put(o, "offline_kernels", *done == '-' ? json_null() : json_integer(atoll(done)));
	return o;
}

static void take_line(const struct probe *p, char *line, json_t *rows)
{
	json_t *o;

	line[strcspn(line, "\r\n")] = 0;
	if (p->form == COLUMNS) {
		o = columns(line);
	} else {
		o = json_loads(line, 0, NULL);
		if (o)
			name_line(o);
	}
	if (o)
		json_array_append_new(rows, o);
}

static int run_probe(struct gp_evidence *e, const struct probe *p, json_t *chapter)
{
	const char *command = e->o->quick && p->quick ? p->quick : p->command;
	json_t *o = json_object(), *rows = json_array();
	char line[4096];
	FILE *from;
	int status;

	gp_json_put(chapter, p->name, o);
	gp_evidence_of(o, p->unit, GP_FROM_LAB, command);
	gp_json_put(o, "what", json_string(p->what));
	gp_json_put(o, "rows", rows);
	fflush(NULL);
	from = popen(command, "r");
	if (!from) {
		gp_error("%s: %s", command, strerror(errno));
		return GP_EXIT_BAD;
	}
	while (fgets(line, sizeof(line), from))
		take_line(p, line, rows);
	status = pclose(from);
	gp_json_put(o, "exit", json_integer(WIFEXITED(status) ? WEXITSTATUS(status) : status));
	if (status || !json_array_size(rows))
		gp_error("--lab: '%s' failed or printed nothing that was expected", command);
	return GP_EXIT_OK;
}

int gp_gather_lab(struct gp_evidence *e, json_t *chapter)
{
	char tree[512];
	int code = GP_EXIT_OK;

	if (gp_lab_tree(tree, sizeof(tree)))
		return GP_EXIT_BAD;
	if (chdir(tree)) {
		gp_error("%s: %s", tree, strerror(errno));
		return GP_EXIT_BAD;
	}
	for (int i = 0; i < NR_PROBES && !code; i++) {
		gp_evidence_step(e, probes[i].what);
		code = run_probe(e, &probes[i], chapter);
	}
	return code;
}
