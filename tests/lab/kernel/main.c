// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt.ko on the real driver, as stories: lab-kernel [--hostile] [PART OF A CLAIM] */
#include <string.h>
#include <unistd.h>

#include "kernel.h"

u64 vram_at_start;

/* Those that need two GPUs. */
static bool tell_hostile(const char *only)
{
	u32 number = 0;
	bool all = tell_all(hostile, only, &number);

	return tell_all(unanswered, only, &number) && all;
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	u32 number = 0;
	bool all;

	if (only && !strcmp(only, "--sleep"))
		return pause();
	if (only && !strcmp(only, "--hostile"))
		return !tell_hostile(argc > 2 ? argv[2] : NULL);
	vram_at_start = vram_used();
	all = tell_all(refusals, only, &number);
	all = tell_all(packets, only, &number) && all;
	all = tell_all(nested, only, &number) && all;
	all = tell_all(edges, only, &number) && all;
	all = tell_all(rivals, only, &number) && all;
	all = tell_all(watch, only, &number) && all;
	all = tell_all(late, only, &number) && all;
	all = tell_all(faults, only, &number) && all;
	return !all;
}
