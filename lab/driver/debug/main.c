// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Runs the stories about the driver's debug interface. */
#include <string.h>
#include <unistd.h>

#include "story.h"

/* An exec in a story runs this program with `--sleep`. */
int main(int argc, char **argv)
{
	static const struct story *const groups[] = {
		refusals, sessions, suspends, flags, ends, runtimes, events, hardware, selves,
	};
	const char *only = argc > 1 ? argv[1] : NULL;
	bool all = true;
	u32 number = 0;

	if (only && !strcmp(only, "--sleep"))
		return pause();
	if (only && !strcmp(only, "--no-hws"))
		return !tell_all(no_hws, NULL, &number);
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		all = tell_all(groups[i], only, &number) && all;
	return !all;
}
