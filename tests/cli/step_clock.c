// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Preloaded into a command, this makes its clock go by steps: each look at CLOCK_MONOTONIC is
 * STEP_CLOCK_MS later than the one before, or 1 ms. Timeouts and leases of the command then
 * depend on what it does, and a busy machine does not change them.
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
