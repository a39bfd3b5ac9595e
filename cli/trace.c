// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The file that a recording or a run writes. */
#include "trace.h"

#include <inttypes.h>
#include <string.h>

#include "term.h"
#include "trace/tracefile.h"

static bool ends_with(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);

	return n > k && !strcmp(path + n - k, suffix);
}

int gp_trace_check(const char *path)
{
	if (ends_with(path, ".pftrace") || ends_with(path, ".gptrace"))
		return 0;
	if (ends_with(path, ".json"))
		gp_error("%s: Chrome's JSON is not written any more; use a name that ends with "
			 ".pftrace, which the same viewer opens (https://ui.perfetto.dev)", path);
	else
		gp_error("%s: unknown kind of trace; expected a name that ends with .pftrace "
			 "(Perfetto) or .gptrace (for replay and what-if)", path);
	return -EINVAL;
}

static int begin(struct gp_trace_out *t, enum gp_perfetto_clock clock)
{
	if (ends_with(t->path, ".gptrace")) {
		gp_tracefile_begin(t->file);
		t->to = (struct gp_trace){ gp_tracefile_emit, t->file };
		return 0;
	}
	t->drawing = gp_drawing_alloc(t->file, clock);
	t->to = (struct gp_trace){ gp_drawing_take, t->drawing };
	return t->drawing ? 0 : -ENOMEM;
}

int gp_trace_open(struct gp_trace_out *t, const char *path, enum gp_perfetto_clock clock)
{
	int err;

	*t = (struct gp_trace_out){ .path = path };
	if (!path)
		return 0;
	if (gp_trace_check(path))
		return -EINVAL;
	t->file = fopen(path, "we");
	err = t->file ? begin(t, clock) : -errno;
	if (!err)
		return 0;
	gp_error("%s: %s", path, strerror(-err));
	if (t->file)
		fclose(t->file);
	return -EINVAL;
}

int gp_trace_close(struct gp_trace_out *t, u64 now_ns)
{
	u64 dropped = 0;
	bool bad;

	if (!t->file)
		return 0;
	if (t->drawing) {
		gp_drawing_end(t->drawing, now_ns);
		dropped = gp_drawing_count(t->drawing).dropped;
	}
	gp_drawing_free(t->drawing);
	if (dropped)
		gp_error("%s: %" PRIu64 " slices left out: more than %d at once on one track",
			 t->path, dropped, GP_PERFETTO_LANES);
	bad = ferror(t->file);
	if (fclose(t->file) || bad) {
		gp_error("%s: cannot write it all: %s", t->path, strerror(errno));
		return -EIO;
	}
	return 0;
}
