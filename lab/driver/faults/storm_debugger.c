// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The storm's debugger. It seizes one process after another, suspends and resumes its queues, and
 * releases it in one of several ways. Now and then it is killed meanwhile, and the driver then
 * resumes the queues. Its victims may die at any time, so any of its calls may fail.
 */
#include "storm.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENTRIES = 16, SESSIONS = 30, MOST_PAUSE_US = 20000 };

/* Continues a process after a stop that does not matter here. */
static void let_run(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, WNOHANG | __WALL) > 0)
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, pid, NULL, 0);
}

static void rounds(struct gp_lab_client *c, pid_t pid, u64 *random)
{
	u64 new_bit = KFD_EC_MASK(EC_QUEUE_NEW);
	u32 turns = storm_random(random, 8) + 1;

	for (u32 turn = 0; turn < turns && !storm->over; turn++) {
		struct kfd_queue_snapshot_entry entries[ENTRIES];
		u32 ids[ENTRIES], n = 0;

		let_run(pid);
		if (gp_debug_snapshot(c, pid, new_bit, entries, ENTRIES, &n) || !n)
			return;
		if (n > ENTRIES)
			n = ENTRIES;
		for (u32 i = 0; i < n; i++)
			ids[i] = entries[i].queue_id;
		if (gp_debug_suspend(c, pid, ids, n, storm_random(random, 3)) > 0)
			storm_count(&storm->suspends);
		sleep_us(storm_random(random, MOST_PAUSE_US));
		/* Sometimes the queues stay suspended into the next turn, or until the end. */
		if (storm_random(random, 4))
			gp_debug_resume(c, pid, NULL, 0);
		sleep_us(storm_random(random, MOST_PAUSE_US));
	}
}

static void session(struct gp_lab_client *c, u32 seat, int fd, u64 *random)
{
	struct kfd_runtime_info info;
	pid_t pid = storm->pid[seat];
	int err;

	if (!pid)
		return;
	if (ptrace(PTRACE_SEIZE, pid, NULL, 0))
		return;
	err = -ESRCH;
	storm->enabling = pid;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (storm->pid[seat] == pid)
		err = gp_debug_enable(c, pid, 0, fd, &info);
	storm->enabling = 0;
	if (!err) {
		storm_count(&storm->sessions);
		rounds(c, pid, random);
		if (storm_random(random, 3))
			gp_debug_disable(c, pid);
	}
	/* ptrace can detach only from a stopped process. Otherwise our exit detaches. */
	ptrace(PTRACE_INTERRUPT, pid, NULL, 0);
	for (int i = 0; i < 200; i++) {
		int status;

		if (waitpid(pid, &status, WNOHANG | __WALL) > 0) {
			ptrace(PTRACE_DETACH, pid, NULL, 0);
			return;
		}
		sleep_us(5000);
	}
}

void storm_debug(u64 seed, u32 actors)
{
	const struct gp_client_args args = { 0 };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct gp_lab_client c;

	if (gp_client_open(&c, &args)) {
		printf("# debugger: %s\n", gp_client_error());
		exit(1);
	}
	for (int i = 0; i < SESSIONS && !storm->over; i++) {
		session(&c, storm_random(&seed, actors), fd, &seed);
		sleep_us(storm_random(&seed, MOST_PAUSE_US));
	}
	exit(0);
}
