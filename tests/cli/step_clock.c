// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A preloaded library that makes the clock of a command move in steps. Each read of
 * CLOCK_MONOTONIC returns a time STEP_CLOCK_MS (default 1) later than the last one. Timeouts and
 * leases then depend only on what the command does and not on the load of the machine.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND	1000000000ull

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static _Atomic uint64_t steps_ns;
	const char *ms = getenv("STEP_CLOCK_MS");
	uint64_t step_ns = (ms ? strtoull(ms, NULL, 10) : 1) * 1000000;
	uint64_t now_ns;

	if (clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, ret);
	now_ns = SECOND + atomic_fetch_add(&steps_ns, step_ns);
	ret->tv_sec = (time_t)(now_ns / SECOND);
	ret->tv_nsec = (long)(now_ns % SECOND);
	return 0;
}
