// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Runs the stories one after the other, each in its own process. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "story.h"

enum { STORY_SECONDS = 90 };

static bool failed;

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool story_check(bool holds, const char *file, int line, const char *what)
{
	if (holds)
		return true;
	failed = true;
	printf("# %s:%d: not so: %s\n", file_name(file), line, what);
	fflush(stdout);
	return false;
}

bool story_check_eq(s64 got, s64 want, const char *file, int line, const char *what)
{
	if (got == want)
		return true;
	failed = true;
	printf("# %s:%d: not so: %s; got %lld (0x%llx), not %lld", file_name(file), line, what,
	       (long long)got, (unsigned long long)got, (long long)want);
	if (got < 0 && got > -200)
		printf(": %s", strerror((int)-got));
	printf("\n");
	fflush(stdout);
	return false;
}

void story_stop(const char *file, int line, const char *what)
{
	story_check(false, file, line, what);
	if (*gp_client_error())
		printf("# the last error was: %s\n", gp_client_error());
	fflush(stdout);
	_exit(1);
}

static int to_parent;

pid_t fork_until_ready(void)
{
	char word;
	int said[2];
	pid_t pid;

	NEED(pipe(said) == 0);
	pid = fork();
	NEED(pid >= 0);
	if (!pid) {
		close(said[0]);
		to_parent = said[1];
		return 0;
	}
	close(said[1]);
	NEED(read(said[0], &word, 1) == 1);
	close(said[0]);
	return pid;
}

void is_ready(void)
{
	NEED(write(to_parent, "x", 1) == 1);
	close(to_parent);
}

void ready_until_killed(void)
{
	is_ready();
	for (;;)
		pause();
}

/* The story and the processes that it started are one process group, which is killed here. */
static bool tell(const struct story *s)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		alarm(STORY_SECONDS);
		s->tell();
		fflush(stdout);
		_exit(failed);
	}
	if (pid < 0)
		return false;
	setpgid(pid, pid);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status))
		printf("# it ended by signal %d%s\n", WTERMSIG(status),
		       WTERMSIG(status) == SIGALRM ? ": too slow" : "");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tell_all(const struct story *s, const char *only, u32 *number)
{
	bool all = true;

	for (; s->claim; s++) {
		bool holds;

		if (only && !strstr(s->claim, only))
			continue;
		holds = tell(s);
		printf("%sok %u - %s\n", holds ? "" : "not ", ++*number, s->claim);
		fflush(stdout);
		all = holds && all;
	}
	return all;
}
