// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* lab-replay: see usage(). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/adapter/state.h"
#include "replay.h"

enum { SAME = 0, DIVERGED = 1, TROUBLE = 2 };

static int usage(FILE *out, int code)
{
	fputs("usage: lab-replay FILE\n"
	      "\n"
	      "Leads what the lab's chip was given (/sys/kernel/debug/vgpu/0/record of a guest\n"
	      "whose driver was loaded with record=MB) through another chip, outside the virtual\n"
	      "machine, and compares all that it reads, writes and raises, and its state at the\n"
	      "end. Prints that state as the guest's views show it. FILE may be - for stdin.\n"
	      "\n"
	      "Exit code: 0 the same, 1 something else happened (one line on stderr says where),\n"
	      "2 no recording, or one that is malformed.\n", out);
	return code;
}

/* Reads all of @in. NULL with errno. */
static void *read_all(FILE *in, size_t *size)
{
	size_t room = 1 << 20, n;
	char *data = malloc(room), *more;

	*size = 0;
	while (data && (n = fread(data + *size, 1, room - *size, in))) {
		*size += n;
		if (*size < room)
			continue;
		more = realloc(data, room *= 2);
		if (!more)
			free(data);
		data = more;
	}
	if (data && ferror(in)) {
		free(data);
		return NULL;
	}
	return data;
}

static void *load(const char *name, size_t *size)
{
	FILE *in = strcmp(name, "-") ? fopen(name, "rb") : stdin;
	void *data;

	if (!in)
		return NULL;
	data = read_all(in, size);
	if (in != stdin)
		fclose(in);
	return data;
}

static void print_state(struct lab_replay *r)
{
	static char state[LAB_STATE_BYTES + 1];
	struct lab_text text = { .at = state, .room = LAB_STATE_BYTES };

	lab_state_counters(&text, r->chip);
	lab_state_queues(&text, r->chip);
	fwrite(state, 1, text.used, stdout);
}

int main(int argc, char **argv)
{
	struct lab_replay r;
	size_t size;
	void *data;
	int err;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage(stdout, SAME);
	if (argc != 2 || (argv[1][0] == '-' && argv[1][1]))
		return usage(stderr, TROUBLE);
	data = load(argv[1], &size);
	if (!data) {
		fprintf(stderr, "lab-replay: cannot read %s: %s\n", argv[1], strerror(errno));
		return TROUBLE;
	}
	err = lab_replay_init(&r, data, size);
	if (!err)
		err = lab_replay_run(&r);
	if (!err && !r.states) {
		err = -EINVAL;
		snprintf(r.why, sizeof(r.why), "malformed: it does not end with a state");
	}
	if (err)
		fprintf(stderr, "lab-replay: %s: %s\n", argv[1], r.why);
	else
		print_state(&r);
	lab_replay_fini(&r);
	free(data);
	return err ? err == -EPROTO ? DIVERGED : TROUBLE : SAME;
}
