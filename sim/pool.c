// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Runs many rows at once, each in its own process. */
#include "pool.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDTH_MAX = 64 };

/* A process at work on one job. */
struct worker {
	struct gp_job *job;	/* NULL: idle */
	pid_t pid;
	int fd;			/* its end of the pipe */
};

static int send_all(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t sent = write(fd, at, n);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return -EIO;
		at += sent;
		n -= (size_t)sent;
	}
	return 0;
}

static int receive_all(int fd, void *bytes, size_t n)
{
	char *at = bytes;

	while (n) {
		ssize_t got = read(fd, at, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EIO;
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

/* Expands @job to the rows that must run: itself, or the rows for which it stands. */
static int expand(struct gp_job *job)
{
	struct gp_expansion as = { .nr = 1 };
	int err = 0;

	snprintf(as.row[0].name, sizeof(as.row[0].name), "%s", job->row ? job->row : "");
	snprintf(as.row[0].spec, sizeof(as.row[0].spec), "%s", job->row ? job->row : "");
	if (job->expand)
		err = gp_row_expand(job->scenario, job->row, job->seed, &as);
	job->nr = as.nr;
	memcpy(job->as, as.row, sizeof(as.row));
	memcpy(job->why, as.why, sizeof(as.why));
	return err;
}

static int run_one(struct gp_job *job, u32 i)
{
	static struct gp_scenario scenario;
	struct gp_run_args args = { .seed = job->seed };
	int err;

	scenario = *job->scenario;
	if (*job->as[i].spec) {
		err = gp_row_apply(&scenario, job->as[i].spec, job->why, sizeof(job->why));
		if (err)
			return err;
	}
	return gp_run(&scenario, &args, &job->result[i], job->why, sizeof(job->why));
}

/* Sends the job filled in by the child, then the latencies of its requests. */
static int send_home(const struct gp_job *job, int fd)
{
	int bad = send_all(fd, job, sizeof(*job));

	for (u32 i = 0; i < job->nr && !bad; i++)
		bad = send_all(fd, job->result[i].request_ns,
			       job->result[i].nr_requests * sizeof(u64));
	return bad;
}

/* Runs in the child. Never returns, so that the parent's buffers and exit handlers are not used. */
static void work(struct gp_job *job, int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);	/* no process would read the result */
	job->err = expand(job);
	for (u32 i = 0; i < job->nr && !job->err; i++)
		job->err = run_one(job, i);
	if (job->err)
		job->nr = 0;
	_exit(send_home(job, fd) ? 1 : 0);
}

static int start(struct worker *w, struct gp_job *job)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -errno;
	pid = fork();
	if (pid < 0) {
		int err = -errno;

		close(ends[0]);
		close(ends[1]);
		return err;
	}
	if (!pid) {
		close(ends[0]);
		work(job, ends[1]);
	}
	close(ends[1]);
	*w = (struct worker){ .job = job, .pid = pid, .fd = ends[0] };
	return 0;
}

/* Receives a job. On an error @job is unchanged, with no results. */
static int receive(struct gp_job *job, int fd)
{
	static struct gp_job letter;
	u32 i;

	if (receive_all(fd, &letter, sizeof(letter)))
		return -EIO;
	for (i = 0; i < letter.nr; i++) {
		size_t n = letter.result[i].nr_requests * sizeof(u64);
		u64 *requests = malloc(n ? n : 1);

		letter.result[i].request_ns = requests;
		if (!requests || receive_all(fd, requests, n)) {
			free(requests);
			goto free_results;
		}
	}
	*job = letter;
	return 0;

free_results:
	while (i--)
		free(letter.result[i].request_ns);
	return -EIO;
}

static void finish(struct worker *w)
{
	struct gp_job *job = w->job;
	int err = receive(job, w->fd);
	int status = 0;

	close(w->fd);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	w->job = NULL;
	if (!err)
		return;
	job->err = err;
	if (WIFSIGNALED(status))
		snprintf(job->why, sizeof(job->why),
			 "the process of row %s was ended by signal %d (%s)",
			 job->row ? job->row : "-", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(job->why, sizeof(job->why),
			 "the process of row %s exited without a result",
			 job->row ? job->row : "-");
}

/* Waits for the first worker with a result. At least one of @w must be busy. */
static struct worker *wait_any(struct worker *w, u32 width)
{
	struct pollfd fds[WIDTH_MAX];

	for (u32 i = 0; i < width; i++)
		fds[i] = (struct pollfd){ .fd = w[i].job ? w[i].fd : -1, .events = POLLIN };
	for (;;) {
		if (poll(fds, width, -1) <= 0)
			continue;
		for (u32 i = 0; i < width; i++) {
			if (fds[i].revents)
				return &w[i];
		}
	}
}

static u32 width_of(const struct gp_pool *pool)
{
	long n = pool->width ? (long)pool->width : sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > WIDTH_MAX ? WIDTH_MAX : (u32)n;
}

static struct worker *idle_of(struct worker *w, u32 width)
{
	for (u32 i = 0; i < width; i++) {
		if (!w[i].job)
			return &w[i];
	}
	return NULL;
}

int gp_pool_run(const struct gp_pool *pool, struct gp_job *jobs, u32 nr)
{
	struct worker workers[WIDTH_MAX] = { 0 };
	u32 width = width_of(pool), started = 0, done = 0;
	struct gp_job *job;
	int err = 0;

	fflush(NULL);	/* so that children do not inherit unwritten output */
	while (done < nr) {
		struct worker *w = started < nr && !err ? idle_of(workers, width) : NULL;

		if (w) {
			err = start(w, &jobs[started]);
			if (!err)
				started++;
			continue;
		}
		if (done == started)	/* start() failed and nothing runs */
			return err;
		w = wait_any(workers, width);
		job = w->job;
		finish(w);
		done++;
		if (pool->progress)
			pool->progress(pool->ctx, job, done, nr);
	}
	return err;
}
