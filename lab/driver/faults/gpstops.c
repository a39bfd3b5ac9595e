// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpstops [TIMES]: stops kernels in the middle, TIMES (200) times in each way, and expects the
 * right sums. Expects wrong sums after a corruption of the save area.
 */
#include "lab_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	KERNEL_US = 20000,	/* of one workgroup, so that a stop always finds one running */
	PATIENCE_MS = 120000,
};

static int times;

struct way {
	const char *claim;
	int (*stop)(struct steady *s);
	int (*go)(struct steady *s);
	int divide;		/* divisor of TIMES, for slow or redundant ways */
};

static int suspend(struct steady *s)
{
	u32 ids[STEADY_QUEUES] = { 0 };
	int n;

	for (u32 i = 0; i < s->queues; i++)
		ids[i] = s->q[i].id;
	n = gp_debug_suspend(&s->c, getpid(), ids, s->queues, 0);
	if (n >= 0 && (u32)n != s->queues)
		return gp_client_say(EBUSY, "suspended %d of %u queues; marks 0x%x 0x%x", n,
				     s->queues, ids[0], ids[1]);
	return n;
}

/* No program reads the events that the driver writes. */
static int debug_self(struct steady *s)
{
	struct kfd_queue_snapshot_entry entries[STEADY_QUEUES];
	struct kfd_runtime_info info;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : gp_debug_enable(&s->c, getpid(), 0, fd, &info);
	u32 n;

	/* A new queue cannot be suspended before the debugger has seen it. */
	if (!err)
		err = gp_debug_snapshot(&s->c, getpid(), KFD_EC_MASK(EC_QUEUE_NEW),
					entries, STEADY_QUEUES, &n);
	if (fd >= 0)
		close(fd);
	return err;
}

static int resume(struct steady *s)
{
	return gp_debug_resume(&s->c, getpid(), NULL, 0);
}

static int update(struct steady *s, u32 percentage)
{
	int err = 0;

	for (u32 i = 0; i < s->queues && !err; i++)
		err = gp_queue_update(&s->q[i], percentage, s->q[i].priority);
	return err;
}

static int update_off(struct steady *s)
{
	return update(s, 0);
}

static int update_on(struct steady *s)
{
	return update(s, KFD_MAX_QUEUE_PERCENTAGE);
}

static int pause_process(struct steady *s)
{
	return gp_criu(&s->c, KFD_CRIU_OP_PROCESS_INFO);
}

static int unpause_process(struct steady *s)
{
	return gp_criu(&s->c, KFD_CRIU_OP_UNPAUSE);
}

/* Starts another process that works, and kills it meanwhile. */
static int neighbour(struct steady *s)
{
	int ready[2], status;
	char byte;
	pid_t pid;

	if (pipe(ready))
		return -errno;
	pid = fork();
	if (!pid) {
		struct steady own;

		if (steady_open(&own, s->c.node.render_minor - 128, 1, KERNEL_US) ||
		    steady_turn(&own) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		kill(pid, SIGTERM);
	close(ready[0]);
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 :
	       gp_client_say(EIO, "the neighbour did not come up");
}

static int nothing(struct steady *s)
{
	(void)s;
	return 0;
}

/* Stops until @wanted stops have saved waves. */
static int stop_often(struct steady *s, const struct way *way, int wanted)
{
	u32 gpu = s->c.node.render_minor - 128;
	int hits = 0, err = 0;

	for (int tries = 0; hits < wanted && tries < 4 * wanted && err >= 0; tries++) {
		u64 saved = device_counter(gpu, "waves_saved");

		err = steady_turn(s);
		if (!err)
			err = way->stop(s);
		hits += device_counter(gpu, "waves_saved") > saved;
		if (err >= 0)
			err = way->go(s);
		/* Stop the kernel at another place each time. */
		sleep_us((u32)(tries * 37 % 1500));
	}
	if (err >= 0 && hits < wanted)
		return gp_client_say(ERANGE, "only %d of %d stops found a running kernel", hits,
				     wanted);
	return err < 0 ? err : 0;
}

static void stops(void *arg)
{
	const struct way *way = arg;
	int wanted = times / way->divide ? times / way->divide : 1;
	struct steady s;
	int err = steady_open(&s, 0, 2, KERNEL_US);

	if (!err && way->stop == suspend)
		err = debug_self(&s);
	if (err >= 0)
		err = stop_often(&s, way, wanted);
	if (!err)
		err = steady_drain(&s, PATIENCE_MS);
	claim(!err && s.completed, "%d stops in the middle of kernels %s leave every sum right",
	      wanted, way->claim);
	note("%u kernels completed", s.completed);
	if (way->stop == suspend)
		gp_debug_disable(&s.c, getpid());
	steady_close(&s);
}

/* Overwrites the saved waves of each XCC behind the header of its part. */
static void scribble(struct gp_lab_queue *q)
{
	const struct gp_geometry *g = &q->c->geometry;

	for (u32 xcc = 0; xcc < q->c->node.xccs; xcc++) {
		u8 *at = (u8 *)q->save.at + (u64)xcc * g->save_bytes;
		u64 from = sizeof(struct kfd_context_save_area_header);

		memset(at + from, 0x5a, g->ctl_stack_bytes + GP_SAVE_REAL / 2 - from);
	}
}

/* Shows that the sums detect a corruption. Without this the claims above would prove nothing. */
static void a_scribbled_save_area_is_seen(void *unused)
{
	struct steady s;
	u64 saved;
	int err = steady_open(&s, 0, 1, KERNEL_US), tries = 0;

	(void)unused;
	if (!err)
		err = debug_self(&s);
	do {
		saved = device_counter(0, "waves_saved");
		if (!err)
			err = steady_turn(&s);
		sleep_us(3000);
		if (!err)
			err = suspend(&s);
		if (err < 0 || device_counter(0, "waves_saved") > saved)
			break;
		err = resume(&s);
	} while (err >= 0 && ++tries < 100);
	if (err >= 0) {
		scribble(&s.q[0]);
		err = resume(&s);
	}
	if (err >= 0)
		err = steady_drain(&s, 20000);
	claim(err == -EBADMSG || err == -ETIME, "a scribbled save area is seen in the sums");
	note("it says: %s", gp_client_error());
	gp_debug_disable(&s.c, getpid());
	steady_close(&s);
}

int main(int argc, char *argv[])
{
	struct way ways[] = {
		{ "by a debugger", suspend, resume, 1 },
		{ "by UPDATE_QUEUE", update_off, update_on, 4 },
		{ "by CRIU", pause_process, unpause_process, 4 },
		{ "by neighbours that come and are killed", neighbour, nothing, 20 },
	};

	times = argc > 1 ? atoi(argv[1]) : 200;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		apart(stops, &ways[i]);
	apart(a_scribbled_save_area_is_seen, NULL);
	return claims_end();
}
