// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt report: gathers the evidence and writes report.json and index.html. */
#include "evidence.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "term.h"

#define DATA	"report.json"
#define PAGE	"index.html"
#define NEW	".new"			/* until all is there */
#define FOLDER	"gpreempt-report"

/* In the order in which they are gathered: later ones use what earlier ones found. */
static const struct gp_chapter chapters[] = {
	{ "compare",	1, false, gp_gather_compare },
	{ "better",	0, false, gp_gather_better },
	{ "steps",	2, false, gp_gather_steps },
	{ "interfaces",	4, false, gp_gather_interfaces },
	{ "placements",	3, false, gp_gather_placements },
	{ "vendors",	3, false, gp_gather_vendors },
	{ "scale",	42, false, gp_gather_scale },
	{ "robust",	1, false, gp_gather_robust },
	{ "frontier",	1, false, gp_gather_frontier },
	{ "suite",	2, false, gp_gather_suite },
	{ "lab",	4, true, gp_gather_lab },
	{ "sources",	0, false, gp_gather_sources },
	{ "acceptance",	0, false, gp_gather_acceptance },
};
enum { NR_CHAPTERS = sizeof(chapters) / sizeof(*chapters) };

/* ---- the folder ---- */

/* Opens o->output, made if need be; -errno after a message if we may not write there. */
static int open_folder(const char *folder)
{
	int fd, file;

	if (mkdir(folder, 0777) && errno != EEXIST) {
		gp_error("%s: %s", folder, strerror(errno));
		return -EINVAL;
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		gp_error("%s: %s", folder, strerror(errno));
		return -EINVAL;
	}
	if (!faccessat(fd, PAGE, F_OK, 0) && faccessat(fd, DATA, F_OK, 0)) {
		gp_error("%s has an " PAGE " but no " DATA ": it is no report of ours, and is "
			 "left alone; name another folder with -o", folder);
		goto close_fd;
	}
	/* Now, and not after half an hour. */
	file = openat(fd, DATA NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file < 0) {
		gp_error("%s/" DATA NEW ": %s", folder, strerror(errno));
		goto close_fd;
	}
	close(file);
	return fd;

close_fd:
	close(fd);
	return -EINVAL;
}

static FILE *create(int folder, const char *name)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

/* Both or none: the old report stays until the new one is whole. */
static int write_files(int folder, json_t *report)
{
	FILE *data = create(folder, DATA NEW), *page = create(folder, PAGE NEW);
	int bad = !data || !page;

	if (!bad)
		bad = gp_json_print(json_incref(report), data) || gp_evidence_page(report, page);
	if (data)
		bad |= !!fclose(data);
	if (page)
		bad |= !!fclose(page);
	if (!bad)
		bad = renameat(folder, DATA NEW, folder, DATA) ||
		      renameat(folder, PAGE NEW, folder, PAGE);
	if (bad)
		gp_error("cannot write the report: %s", strerror(errno));
	return bad ? GP_EXIT_BAD : GP_EXIT_OK;
}

/* ---- gathering ---- */

static json_t *head(const struct gp_options *o)
{
	json_t *root = json_object();

	gp_json_put(root, "schema", json_integer(GP_EVIDENCE_SCHEMA));
	gp_json_put(root, "version", json_string(GP_VERSION));
	gp_json_put(root, "model", json_string(GP_MODEL_NOTE));
	gp_json_put(root, "seed", json_integer((json_int_t)o->seed));
	gp_json_put(root, "quick", json_boolean(o->quick));
	gp_json_put(root, "reading",
		    json_string("unit, source and repeat of an object hold for every number below "
				"it that has none of its own"));
	return root;
}

static bool wanted(const struct gp_options *o, const struct gp_chapter *c)
{
	return !c->lab || o->lab;
}

static int gather(struct gp_evidence *e)
{
	for (int i = 0; i < NR_CHAPTERS; i++) {
		if (wanted(e->o, &chapters[i]))
			e->nr_steps += chapters[i].steps;
	}
	for (int i = 0; i < NR_CHAPTERS; i++) {
		json_t *chapter = json_object();
		int code;

		if (!wanted(e->o, &chapters[i])) {
			json_decref(chapter);
			continue;
		}
		e->chapter = chapters[i].name;
		gp_json_put(e->root, e->chapter, chapter);
		code = chapters[i].gather(e, chapter);
		if (code)
			return code;
	}
	return GP_EXIT_OK;
}

/* All that differs between two equal runs is under this one key. */
static void put_wall_clock(json_t *root, const struct timespec *from)
{
	struct timespec now;
	char started[32];
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&from->tv_sec, &tm);
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &tm);
	gp_json_put(root, "wall_clock", json_pack("{s:s, s:I, s:I}", "started", started, "seconds",
						  (json_int_t)(now.tv_sec - from->tv_sec),
						  "processors",
						  (json_int_t)sysconf(_SC_NPROCESSORS_ONLN)));
}

static void print_summary(const struct gp_evidence *e, const char *folder)
{
	const json_t *bars = json_object_get(json_object_get(e->root, "acceptance"), "bars"), *bar;
	u32 passed = 0, failed = 0, not_tried = 0;
	size_t i;

	json_array_foreach(bars, i, bar) {
		const char *result = gp_evidence_text(bar, "result");

		passed += !strcmp(result, "pass");
		not_tried += !strcmp(result, "not tried");
		if (strcmp(result, "fail"))
			continue;
		failed++;
		printf("%sfails%s (%s): %s: %.6g %s, accepted %s\n", gp_paint(GP_BAD),
		       gp_paint(GP_PLAIN), gp_evidence_text(bar, "level"),
		       gp_evidence_text(bar, "claim"),
		       json_number_value(json_object_get(bar, "value")),
		       gp_evidence_text(bar, "unit"), gp_evidence_text(bar, "accepted"));
	}
	printf("%" PRIu32 " bars pass, %" PRIu32 " fail, %" PRIu32 " not tried; " GP_MODEL_NOTE "\n"
	       "wrote %s/" PAGE " and %s/" DATA "\n",
	       passed, failed, not_tried, folder, folder);
}

static int report(struct gp_evidence *e, const char *folder)
{
	int fd = open_folder(folder), code;
	struct timespec began;

	if (fd < 0)
		return GP_EXIT_BAD;
	clock_gettime(CLOCK_REALTIME, &began);
	e->root = head(e->o);
	code = gather(e);
	gp_evidence_end_steps();
	if (!code) {
		put_wall_clock(e->root, &began);
		code = write_files(fd, e->root);
	}
	if (code)
		unlinkat(fd, DATA NEW, 0);
	else
		print_summary(e, folder);
	gp_comparison_fini(&e->main);
	json_decref(e->root);
	close(fd);
	return code ? code : e->failed ? GP_EXIT_FAILED : GP_EXIT_OK;
}

int gp_cmd_report(const struct gp_options *o)
{
	const struct gp_trial any = { .scenario = "colocate" };
	struct gp_evidence e = { .o = o };
	struct gp_scenario *sc;
	char tree[512];

	/* Said at once, and not after half an hour. */
	if (o->lab && gp_lab_tree(tree, sizeof(tree)))
		return GP_EXIT_BAD;
	if (gp_trial_load(&e, &any, &sc))
		return GP_EXIT_BAD;
	free(sc);
	return report(&e, o->output ? o->output : FOLDER);
}
