// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt record: who was on which GPU, and why it changed, as a timeline. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "core/param.h"
#include "record.h"
#include "sim/json.h"
#include "trace.h"
#include "trace/tracefile.h"

enum { SEATS = 1024, NAME = 48 };

/* A process on a GPU, and the state it has been in since then. */
struct seat {
	pid_t pid;
	u64 start;
	int gpu;
	u32 state;		/* enum gp_daemon_state */
	u64 since_ns;
	char name[NAME];
};

struct recording {
	struct gp_daemon *daemon;
	struct gp_trace_out trace;
	struct seat seat[SEATS];
	u32 nr;
	u64 events, lost, left_out;
	u64 last_ns;		/* nothing is drawn before it */

	struct gp_records records;
	bool records_begun;	/* the first of them was seen */
	u64 records_named;	/* as of gp_records.renamed */
	u64 nr_records;		/* written */
	u64 sampled;		/* bit per device: a sample since its last look */
	struct gp_drawing drawing;
};

static const char *const states[] = {
	[GP_DAEMON_ON] = "on", [GP_DAEMON_STARTING] = "starting", [GP_DAEMON_STOPPING] = "stopping",
	[GP_DAEMON_OFF] = "off", [GP_DAEMON_LOST] = "lost", [GP_DAEMON_UNKNOWN] = "?",
};

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * GP_SEC + (u64)t.tv_nsec;
}

static u32 state_of(const char *name)
{
	for (u32 i = 0; i < GP_DAEMON_UNKNOWN; i++) {
		if (!strcmp(states[i], name))
			return i;
	}
	return GP_DAEMON_UNKNOWN;
}

static void track_of(const struct seat *s, char track[GP_TRACK_NAME])
{
	snprintf(track, GP_TRACK_NAME, "GPU %d: %s (%d)", s->gpu, s->name, (int)s->pid);
}

/* The state up to @at, as a span. */
static void draw(struct recording *r, const struct seat *s, u64 at)
{
	char track[GP_TRACK_NAME];

	track_of(s, track);
	if (at > s->since_ns && r->trace.timeline.span)
		r->trace.timeline.span(r->trace.timeline.ctx, track, states[s->state], s->since_ns,
				       at);
}

static void mark(struct recording *r, const char *track, const char *what, u64 at)
{
	if (r->trace.timeline.instant)
		r->trace.timeline.instant(r->trace.timeline.ctx, track, what, at);
}

static struct seat *find(struct recording *r, pid_t pid, u64 start, int gpu)
{
	for (u32 i = 0; i < r->nr; i++) {
		if (r->seat[i].pid == pid && r->seat[i].start == start && r->seat[i].gpu == gpu)
			return &r->seat[i];
	}
	return NULL;
}

static struct seat *add(struct recording *r, const struct seat *seat)
{
	if (r->nr == SEATS) {
		r->left_out++;
		return NULL;
	}
	r->seat[r->nr] = *seat;
	return &r->seat[r->nr++];
}

/* What a process is called: that of another seat of it, or what the daemon says. */
static void name_of(struct recording *r, pid_t pid, char name[NAME])
{
	char in[48], *out;
	json_t *list;

	for (u32 i = 0; i < r->nr; i++) {
		if (r->seat[i].pid == pid) {
			memcpy(name, r->seat[i].name, NAME);
			return;
		}
	}
	snprintf(name, NAME, "process");
	snprintf(in, sizeof(in), "{\"pid\": %d}", (int)pid);
	if (gp_daemon_call(r->daemon, "List", in, &out))
		return;
	list = json_loads(out, 0, NULL);
	free(out);
	snprintf(name, NAME, "%s",
		 gp_ask_text(json_array_get(json_object_get(list, "processes"), 0), "name"));
	json_decref(list);
}

/* Everybody as they are when the recording begins. enum gp_exit */
static int begin(struct recording *r)
{
	json_t *list, *process, *one;
	size_t i, k;
	int code = gp_ask_call(r->daemon, "List", NULL, &list);

	if (code)
		return code;
	r->last_ns = now_ns();
	json_array_foreach(json_object_get(list, "processes"), i, process) {
		json_array_foreach(json_object_get(process, "seats"), k, one) {
			struct seat s = {
				.pid = (pid_t)gp_ask_number(process, "pid"),
				.start = gp_ask_number(process, "start"),
				.gpu = (int)gp_ask_number(one, "gpu"),
				.state = state_of(gp_ask_text(one, "state")),
				.since_ns = r->last_ns,
			};

			snprintf(s.name, NAME, "%s", gp_ask_text(process, "name"));
			add(r, &s);
		}
	}
	json_decref(list);
	return GP_EXIT_OK;
}

static void take_state(struct recording *r, const struct gp_daemon_event *e, u64 at)
{
	struct seat *s = find(r, e->pid, e->start, e->gpu);
	char track[GP_TRACK_NAME], name[NAME], why[96];

	if (s) {
		draw(r, s, at);
	} else {
		struct seat fresh = { .pid = e->pid, .start = e->start, .gpu = e->gpu };

		name_of(r, e->pid, fresh.name);
		s = add(r, &fresh);
	}
	if (!s)
		return;
	s->state = e->state <= GP_DAEMON_UNKNOWN ? e->state : GP_DAEMON_UNKNOWN;
	s->since_ns = at;
	if (!e->cause_pid)
		return;
	name_of(r, e->cause_pid, name);
	snprintf(why, sizeof(why), "%s for %s (%d)", states[s->state], name, (int)e->cause_pid);
	track_of(s, track);
	mark(r, track, why, at);
}

static void take(struct recording *r, const struct gp_daemon_event *e)
{
	/* The order of arrival is that of the scheduler; a clock step back would be none. */
	u64 at = e->at_ns > r->last_ns ? e->at_ns : r->last_ns;
	char what[192];

	r->events++;
	r->last_ns = at;
	if (e->lost) {
		r->lost += e->lost;
		snprintf(what, sizeof(what), "%" PRIu32 " events lost", e->lost);
		mark(r, "gpreemptd", what, at);
	}
	if (!strcmp(e->kind, "state") && e->pid && e->gpu >= 0) {
		take_state(r, e, at);
		return;
	}
	snprintf(what, sizeof(what), "%s: %s", e->kind, e->what);
	mark(r, "gpreemptd", what, at);
}

/* ---- what the scheduler hears and says ---- */

/* What says nothing: thousands of looks a second at queues that do not move. */
static bool is_idle_talk(struct recording *r, const struct gp_rec *rec)
{
	u64 bit = BIT_ULL(rec->device % GP_MAX_DEVICES);
	bool sampled = r->sampled & bit;

	switch (rec->kind) {
	case GP_REC_SAMPLE:
		r->sampled |= bit;
		return false;
	case GP_REC_LOOK:
		r->sampled &= ~bit;
		return !sampled;
	case GP_REC_TICK:
	case GP_REC_PULL:
	case GP_REC_PROBE:
		return true;
	default:
		return false;
	}
}

static void write_names(struct recording *r, u64 now_ns)
{
	for (u32 i = 0; i < GP_MAX_TASKS; i++) {
		struct gp_rec rec = gp_rec_of_who(i, &r->records.task[i]);

		if (!r->records.task[i].pid)
			continue;
		rec.now_ns = now_ns;
		gp_tracefile_emit(r->trace.file, &rec);
	}
}

/* A file has one beginning; that of others who record later is left out. */
static void write_record(struct recording *r, const struct gp_rec *rec, bool again)
{
	if (!again && !is_idle_talk(r, rec)) {
		gp_tracefile_emit(r->trace.file, rec);
		r->nr_records++;
	}
	if (r->records_named == r->records.renamed || again)
		return;
	r->records_named = r->records.renamed;
	write_names(r, rec->now_ns);
}

static void take_record(struct recording *r, const struct gp_rec *rec)
{
	bool again = r->records_begun && rec->kind == GP_REC_INIT;

	/* What comes before the beginning is what somebody else records. */
	r->records_begun |= rec->kind == GP_REC_INIT;
	if (!r->records_begun)
		return;
	if (r->trace.form == GP_TRACE_RECORDS)
		write_record(r, rec, again);
	else
		gp_drawing_take(&r->drawing, rec);
}

/* ---- life ---- */

/* All there is of both streams. 0, or -errno. */
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

/* Until a signal, @until_ns, or the end of the daemon. enum gp_exit */
static int follow(struct recording *r, struct gp_events *events, int signals, u64 until_ns)
{
	struct pollfd fd[] = {
		{ .fd = gp_events_fd(events), .events = POLLIN },
		{ .fd = gp_events_fd(r->records.events), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};

	for (;;) {
		u64 now = now_ns(), left = until_ns > now ? until_ns - now : 0;
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

/* First to listen, then to look: what happens in between is drawn twice, not never. */
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
	u64 until_ns = o->for_ns ? now_ns() + o->for_ns : GP_NEVER, end_ns;
	int code, fd = catch_signals();

	r->drawing.timeline = &r->trace.timeline;
	r->drawing.records = &r->records;
	code = begin(r);
	if (!code)
		code = follow(r, events, fd, until_ns);
	end_ns = now_ns();
	for (u32 i = 0; i < r->nr; i++)
		draw(r, &r->seat[i], end_ns);
	if (r->trace.form != GP_TRACE_RECORDS)
		gp_drawing_end(&r->drawing, end_ns);
	close(fd);
	return code;
}

static int report(const struct gp_options *o, const struct recording *r)
{
	if (o->json) {
		json_t *root = json_object();

		gp_json_put(root, "file", json_string(o->file));
		gp_json_put(root, "events", json_integer((json_int_t)r->events));
		gp_json_put(root, "lost", json_integer((json_int_t)r->lost));
		gp_json_put(root, "preemptions",
			    json_integer((json_int_t)r->drawing.preemptions));
		gp_json_put(root, "records", json_integer((json_int_t)r->nr_records));
		return gp_ask_print(o, root);
	}
	if (r->trace.form == GP_TRACE_RECORDS)
		printf("%s: %s records, %s lost; see 'gpreempt what-if %s'\n", o->file,
		       gp_count(r->nr_records).s, gp_count(r->lost).s, o->file);
	else
		printf("%s: %s events, %s preemptions, %s lost; open it at "
		       "https://ui.perfetto.dev\n", o->file, gp_count(r->events).s,
		       gp_count(r->drawing.preemptions).s, gp_count(r->lost).s);
	return GP_EXIT_OK;
}

/* Who may not record leaves no file: it is made when the daemon has answered. */
static int write_file(const struct gp_options *o, struct recording *r)
{
	struct gp_events *events;
	int code = listen_to(r, &events);

	if (code)
		return code;
	if (gp_trace_open(&r->trace, o->file)) {
		code = GP_EXIT_BAD;
	} else {
		code = record(o, r, events);
		if (gp_trace_close(&r->trace) && !code)
			code = GP_EXIT_BAD;
	}
	gp_records_close(&r->records);
	gp_events_close(events);
	return code;
}

int gp_cmd_record(const struct gp_options *o)
{
	struct recording *r = calloc(1, sizeof(*r));
	int code;

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
