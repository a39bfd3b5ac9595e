// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Debug sessions and discovery of lib/ on the real driver, as stories. */
#include <string.h>
#include <unistd.h>

#include "kfd_debug.h"

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	u32 number = 0;
	bool all;

	if (only && !strcmp(only, "--sleep"))
		return pause();
	if (only && !strcmp(only, "--two-gpus"))
		return !tell_all(two_gpus, NULL, &number);
	all = tell_all(discoveries, only, &number);
	all = tell_all(readers, only, &number) && all;
	all = tell_all(holds, only, &number) && all;
	all = tell_all(edges, only, &number) && all;
	all = tell_all(mechanisms, only, &number) && all;
	return !all;
}
