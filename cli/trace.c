// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The file --trace names. */
#include "trace.h"

#include <inttypes.h>
#include <string.h>

#include "term.h"
#include "trace/tracefile.h"

static const struct {
	const char *suffix;
	enum gp_trace_form form;
} forms[] = {
	{ ".pftrace", GP_TRACE_PERFETTO },
	{ ".json", GP_TRACE_CHROME },
	{ ".gptrace", GP_TRACE_RECORDS },
};

static int form_of(const char *path, enum gp_trace_form *ret)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t k = strlen(forms[i].suffix);

		if (n > k && !strcmp(path + n - k, forms[i].suffix)) {
			*ret = forms[i].form;
			return 0;
		}
	}
	gp_error("'%s' ends with none of .pftrace (Perfetto), .json (Chrome), .gptrace "
		 "(for replay and what-if)",
		 path);
	return -EINVAL;
}

int gp_trace_open(struct gp_trace_out *t, const char *path)
{
	t->path = path;
	t->file = NULL;
	if (!path)
		return 0;
	if (form_of(path, &t->form))
		return -EINVAL;
	t->file = fopen(path, "we");
	if (!t->file) {
		gp_error("%s: %s", path, strerror(errno));
		return -EINVAL;
	}
	if (t->form == GP_TRACE_PERFETTO) {
		gp_pftrace_init(&t->perfetto, t->file);
		t->timeline = gp_pftrace_timeline(&t->perfetto);
	} else if (t->form == GP_TRACE_CHROME) {
		gp_chrome_init(&t->chrome, t->file);
		t->timeline = gp_chrome_timeline(&t->chrome);
	} else {
		gp_tracefile_begin(t->file);
	}
	gp_states_init(&t->states, &t->timeline);
	return 0;
}

void gp_trace_use(struct gp_trace_out *t, struct gp_run_args *args)
{
	if (!t->file)
		return;
	if (t->form == GP_TRACE_RECORDS) {
		args->trace = (struct gp_trace){ gp_tracefile_emit, t->file };
		return;
	}
	args->trace = (struct gp_trace){ gp_states_take, &t->states };
	args->timeline = &t->timeline;
}

int gp_trace_close(struct gp_trace_out *t)
{
	const struct gp_tracks *tracks;
	bool bad;

	if (!t->file)
		return 0;
	gp_states_fini(&t->states);
	tracks = t->form == GP_TRACE_CHROME ? &t->chrome.tracks : &t->perfetto.tracks;
	if (t->form == GP_TRACE_CHROME)
		gp_chrome_fini(&t->chrome);
	if (t->form != GP_TRACE_RECORDS && tracks->dropped)
		gp_error("%s: %" PRIu64 " spans left out: more than %d at once on one track",
			 t->path, tracks->dropped, GP_TRACK_LANES);
	bad = ferror(t->file);
	if (fclose(t->file) || bad) {
		gp_error("%s: cannot write it all: %s", t->path, strerror(errno));
		return -EIO;
	}
	return 0;
}
