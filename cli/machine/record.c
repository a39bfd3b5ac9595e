// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreempt record: writes the inputs and actions of the daemon's scheduler, as a picture or as
 * records.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "cli/trace.h"
#include "core/param.h"
#include "lib/sys.h"
#include "records.h"
#include "sim/json.h"
#include "trace/tracefile.h"

struct recording {
	struct gp_daemon *daemon;
	struct gp_trace_out trace;
	bool picture;
	struct gp_drawn drawn;
	u64 events, lost;
	u64 last_ns;		/* of the last event drawn */

	struct gp_records records;
	bool records_begun;	/* the first record was seen */
	u64 records_named;	/* gp_records.renamed as of the last names drawn */
	u64 nr_records;		/* written */
	u64 sampled;		/* bit per device: has a sample since its last look */
};

static void mark(struct recording *r, const char *what, u64 at)
{
	gp_drawing_instant(r->trace.drawing, &(struct gp_drawing_at){ .track = "gpreemptd" }, what,
			   at);
}

/* Skips states and preemptions, which are drawn from the more detailed records of the scheduler. */
static void take(struct recording *r, const struct gp_daemon_event *e)
{
	/* Keeps the times of drawn events in order. */
	u64 at = e->at_ns > r->last_ns ? e->at_ns : r->last_ns;
	char what[192];

	r->events++;
	r->last_ns = at;
	if (e->lost) {
		r->lost += e->lost;
		snprintf(what, sizeof(what), "%" PRIu32 " events lost", e->lost);
		mark(r, what, at);
	}
	if (!strcmp(e->kind, "state") || !strcmp(e->kind, "preemption"))
		return;
	snprintf(what, sizeof(what), "%s: %s", e->kind, e->what);
	mark(r, what, at);
}

/* ---- the records of the scheduler ---- */

static void emit_names(struct recording *r, u64 now_ns)
{
	for (u32 i = 0; i < GP_MAX_TASKS; i++) {
		struct gp_rec rec = gp_rec_of_who(i, &r->records.task[i]);

		if (!r->records.task[i].pid)
			continue;
		rec.now_ns = now_ns;
		r->trace.to.emit(r->trace.to.ctx, &rec);
	}
}

/*
 * Every recorder that starts makes the daemon describe its scheduler to all recorders. Drops
 * records before the own description, which have no context, and later descriptions, because a
 * file has only one INIT.
 */
static void take_record(struct recording *r, const struct gp_rec *rec)
{
	if (!r->records_begun && rec->kind != GP_REC_INIT)
		return;
	if (r->records_begun && rec->kind == GP_REC_INIT)
		return;
	r->records_begun = true;
	if (r->trace.drawing || !gp_rec_is_idle(rec, &r->sampled)) {
		r->trace.to.emit(r->trace.to.ctx, rec);
		r->nr_records++;
	}
	if (rec->kind == GP_REC_TASK_DEL && rec->task < GP_MAX_TASKS)
		r->records.task[rec->task] = (struct gp_rec_who){ 0 };
	if (r->records_named == r->records.renamed)
		return;
	r->records_named = r->records.renamed;
	emit_names(r, rec->now_ns);
}

/* ---- life ---- */

/* Reads everything that both streams have. Returns 0 or -errno. */
static int take_all(struct recording *r, struct gp_events *events)
{
	struct gp_daemon_event event;
	struct gp_rec rec;
	int err;

	while (!(err = gp_events_next(events, &event)))
		take(r, &event);
	while (err == -EAGAIN && !(err = gp_records_next(&r->records, &rec))) {
		take_record(r, &rec);
		err = -EAGAIN;
	}
	r->lost += gp_records_lost(&r->records);
	return err == -EAGAIN ? 0 : err;
}

/* Records until a signal, @until_ns or the end of the daemon. Returns enum gp_exit. */
static int follow(struct recording *r, struct gp_events *events, int signals, u64 until_ns)
{
	struct pollfd fd[] = {
		{ .fd = gp_events_fd(events), .events = POLLIN },
		{ .fd = gp_events_fd(r->records.events), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};

	for (;;) {
		u64 now = gp_sys->monotonic_ns(), left = until_ns > now ? until_ns - now : 0;
		int err = take_all(r, events);

		if (err)
			return gp_ask_failed(err, "record");
		if (!left)
			return GP_EXIT_OK;
		poll(fd, 3, left > GP_SEC ? 1000 : (int)(left / GP_MSEC) + 1);
		/* Read the events that arrived before the signal, then stop. */
		if (fd[2].revents)
			until_ns = 0;
	}
}

static int catch_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

static int listen_to(struct recording *r, struct gp_events **events)
{
	int err = gp_daemon_subscribe(r->daemon, NULL, events);

	if (err)
		return gp_ask_failed(err, "record");
	err = gp_records_open(&r->records, r->daemon);
	if (!err)
		return GP_EXIT_OK;
	gp_events_close(*events);
	return gp_ask_failed(err, "record");
}

static int record(const struct gp_options *o, struct recording *r, struct gp_events *events)
{
	u64 until_ns = o->for_ns ? gp_sys->monotonic_ns() + o->for_ns : GP_NEVER;
	int fd = catch_signals(), code = follow(r, events, fd, until_ns);

	close(fd);
	r->picture = r->trace.drawing;
	if (!r->picture)
		return code;
	gp_drawing_end(r->trace.drawing, gp_sys->monotonic_ns());
	r->drawn = gp_drawing_count(r->trace.drawing);
	return code;
}

static int report(const struct gp_options *o, const struct recording *r)
{
	if (o->json) {
		json_t *root = json_object();

		gp_json_put(root, "file", json_string(o->file));
		gp_json_put(root, "events", json_integer((json_int_t)r->events));
		gp_json_put(root, "lost", json_integer((json_int_t)r->lost));
		gp_json_put(root, "slices", json_integer((json_int_t)r->drawn.slices));
		gp_json_put(root, "preemptions", json_integer((json_int_t)r->drawn.preemptions));
		gp_json_put(root, "records", json_integer((json_int_t)r->nr_records));
		return gp_ask_print(o, root);
	}
	if (!r->picture)
		printf("%s: %s records, %s lost; see 'gpreempt what-if %s'\n", o->file,
		       gp_count(r->nr_records).s, gp_count(r->lost).s, o->file);
	else
		printf("%s: %s slices, %s preemptions, %s events lost; open it at "
		       "https://ui.perfetto.dev\n", o->file, gp_count(r->drawn.slices).s,
		       gp_count(r->drawn.preemptions).s, gp_count(r->lost).s);
	return GP_EXIT_OK;
}

/* Creates the file after the daemon has answered, so that a refused user leaves no file. */
static int write_file(const struct gp_options *o, struct recording *r)
{
	struct gp_events *events;
	int code = listen_to(r, &events);

	if (code)
		return code;
	if (gp_trace_open(&r->trace, o->file, GP_PERFETTO_MONOTONIC)) {
		code = GP_EXIT_BAD;
	} else {
		code = record(o, r, events);
		if (gp_trace_close(&r->trace, 0) && !code)
			code = GP_EXIT_BAD;
	}
	gp_records_close(&r->records);
	gp_events_close(events);
	return code;
}

int gp_cmd_record(const struct gp_options *o)
{
	struct recording *r;
	int code;

	if (gp_trace_check(o->file))
		return GP_EXIT_BAD;
	r = calloc(1, sizeof(*r));
	if (!r)
		return GP_EXIT_FAILED;
	code = gp_ask_open(&r->daemon);
	if (!code)
		code = write_file(o, r);
	if (!code)
		code = report(o, r);
	gp_daemon_close(r->daemon);
	free(r);
	return code;
}
