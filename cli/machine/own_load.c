// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "own_load.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "ways.h"

enum { STEP_MS = 50, PATIENCE_MS = 60000, LAST_MS = 10000 };

static void pause_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

/* Runs @argv in the child. Writes the errno of exec() to @told, which exec() closes on success. */
static void become(char *const *argv, int told)
{
	int err;

	/* The child ends when this command ends. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(argv[0], argv);
	err = errno;
	if (write(told, &err, sizeof(err)) < 0)
		_exit(GP_EXIT_OURS);
	_exit(GP_EXIT_NOEXEC);
}

int gp_own_load_start(char *const *argv, pid_t *ret)
{
	int told[2], err = 0;
	ssize_t n;

	if (pipe2(told, O_CLOEXEC)) {
		gp_error("bench: %s", strerror(errno));
		return GP_EXIT_OURS;
	}
	*ret = fork();
	if (!*ret)
		become(argv, told[1]);
	close(told[1]);
	n = *ret < 0 ? 0 : read(told[0], &err, sizeof(err));
	if (*ret < 0)
		err = errno;
	close(told[0]);
	if (*ret > 0 && n != (ssize_t)sizeof(err))
		return GP_EXIT_OK;
	gp_error("bench: %s: %s", argv[0], strerror(err));
	if (*ret < 0)
		return GP_EXIT_OURS;
	waitpid(*ret, NULL, 0);
	return err == ENOENT ? GP_EXIT_NOENT : GP_EXIT_NOEXEC;
}

/* Returns -EAGAIN if the process is not ready. */
static int is_ready(pid_t pid)
{
	struct gp_bench_target t = { .pid = pid };
	struct gp_local_queue *queue;
	struct gp_local *local;
	size_t nr = 0;
	int err = gp_local_open(NULL, NULL, &local);

	if (err)
		return err;
	if (!gp_local_queues(local, pid, &queue, &nr))
		free(queue);
	gp_local_close(local);
	if (!nr)
		return -EAGAIN;
	/* Waits for a slow runtime. The measurement reports a runtime that never becomes ready. */
	err = gp_bench_ways[0]->open(&t);
	if (!err)
		gp_bench_ways[0]->close(&t);
	return err == -EAGAIN ? err : 0;
}

int gp_own_load_await(pid_t pid)
{
	int err = -EAGAIN, status;

	for (int ms = 0; err == -EAGAIN && ms < PATIENCE_MS; ms += STEP_MS) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			gp_error("bench: the command ended before it had a queue on a GPU");
			return GP_EXIT_FAILED;
		}
		err = is_ready(pid);
		if (err == -EAGAIN)
			pause_ms(STEP_MS);
	}
	if (!err)
		return GP_EXIT_OK;
	if (err != -EAGAIN)
		return gp_ask_failed(err, "bench");
	gp_error("bench: the command has no queue on a GPU after %d s", PATIENCE_MS / 1000);
	return GP_EXIT_TIMEOUT;
}

void gp_own_load_end(pid_t pid)
{
	kill(pid, SIGTERM);
	for (int ms = 0; ms < LAST_MS; ms += STEP_MS) {
		if (waitpid(pid, NULL, WNOHANG))
			return;
		pause_ms(STEP_MS);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
