// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A timeline as Chrome's JSON trace ("Trace Event Format", object form).
 *
 * Written as it comes rather than built in memory: a run has millions of events.
 */
#include "chrome.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static void put_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (iscntrl((unsigned char)*s))
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

/* The format counts microseconds; three decimals keep every nanosecond. */
static void put_us(FILE *f, const char *key, u64 ns)
{
	fprintf(f, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

/* Opens an event up to its name; the caller adds the rest and closes it. */
static void begin_event(struct gp_chrome *c, char phase, u32 lane, const char *name)
{
	fprintf(c->file, "%s\n{\"ph\":\"%c\",\"pid\":1,\"tid\":%" PRIu32 ",\"name\":",
		c->events ? "," : "", phase, lane);
	put_string(c->file, name);
	c->events++;
}

static u32 lane_for(struct gp_chrome *c, const struct gp_lane_want *want)
{
	bool is_new;
	u32 lane = gp_tracks_lane(&c->tracks, want, &is_new);

	/* A counter is its own track: its name is all there is to say. */
	if (is_new && !want->counter) {
		begin_event(c, 'M', lane, "thread_name");
		fputs(",\"args\":{\"name\":", c->file);
		put_string(c->file, want->track);
		fputs("}}", c->file);
	}
	return lane;
}

static void span(void *ctx, const char *track, const char *name, u64 begin_ns, u64 end_ns)
{
	struct gp_lane_want want = { track, false, begin_ns, end_ns };
	struct gp_chrome *c = ctx;
	u32 lane = lane_for(c, &want);

	if (!lane)
		return;
	begin_event(c, 'X', lane, name);
	put_us(c->file, "ts", begin_ns);
	put_us(c->file, "dur", end_ns - begin_ns);
	fputc('}', c->file);
}

static void instant(void *ctx, const char *track, const char *name, u64 at_ns)
{
	struct gp_lane_want want = { track, false, at_ns, at_ns };
	struct gp_chrome *c = ctx;
	u32 lane = lane_for(c, &want);

	if (!lane)
		return;
	begin_event(c, 'i', lane, name);
	put_us(c->file, "ts", at_ns);
	fputs(",\"s\":\"t\"}", c->file);
}

static void counter(void *ctx, const char *track, u64 value, u64 at_ns)
{
	struct gp_lane_want want = { track, true, at_ns, at_ns };
	struct gp_chrome *c = ctx;
	u32 lane = lane_for(c, &want);

	if (!lane)
		return;
	begin_event(c, 'C', lane, track);
	put_us(c->file, "ts", at_ns);
	fprintf(c->file, ",\"args\":{\"value\":%" PRIu64 "}}", value);
}

void gp_chrome_init(struct gp_chrome *c, FILE *file)
{
	memset(c, 0, sizeof(*c));
	c->file = file;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
}

void gp_chrome_fini(struct gp_chrome *c)
{
	fputs("\n]}\n", c->file);
}

struct gp_timeline gp_chrome_timeline(struct gp_chrome *c)
{
	return (struct gp_timeline){ c, span, instant, counter };
}
