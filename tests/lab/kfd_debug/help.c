// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kfd_debug.h"
#include "lib/process.h"

int open_kfd(void)
{
	int fd = open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC);

	NEED(fd >= 0);
	return fd;
}

static int open_session(struct gp_session *s, const struct target *t)
{
	u64 start;

	NEED(gp_process_start(NULL, t->pid, &start) == 0);
	return gp_session_open(s, &(struct gp_session_args){
		.kfd_fd = open_kfd(), .pid = t->pid, .start = start,
	});
}

struct gp_session session_of(const struct target *t)
{
	struct gp_session s;

	NEED(open_session(&s, t) == 0);
	return s;
}

int try_session(const struct target *t)
{
	struct gp_session s;
	int err = open_session(&s, t);

	if (!err)
		gp_session_close(&s);
	return err;
}

bool is_traced(pid_t pid)
{
	char path[64], line[128];
	bool traced = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	NEED(f);
	while (fgets(line, sizeof(line), f))
		traced = traced || (!strncmp(line, "TracerPid:", 10) && atoi(line + 10));
	fclose(f);
	return traced;
}

bool comes_to_be_untraced(pid_t pid)
{
	for (u32 i = 0; i < 1000 && is_traced(pid); i++)
		usleep(1000);
	return !is_traced(pid);
}

int wait_events(struct gp_session *s)
{
	if (poll(&(struct pollfd){ .fd = s->pipe[0], .events = POLLIN }, 1, 10000) != 1)
		return -ETIME;
	return gp_session_events(s);
}

pid_t start_gpload(const char *const *options)
{
	const char *argv[32] = { "gpload" };
	pid_t pid;

	for (u32 i = 0; options[i]; i++)
		argv[i + 1] = options[i];
	pid = fork();
	NEED(pid >= 0);
	if (pid)
		return pid;
	if (!freopen("/dev/null", "we", stdout))
		_exit(99);
	execvp("gpload", (char **)argv);
	_exit(98);
}

int gpload_ends(pid_t pid)
{
	int status = 0;

	NEED(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool has_queues(pid_t pid, u32 nr)
{
	const struct gp_process *p;
	struct gp_scanner *s;
	bool has = false;
	u32 count;

	NEED(gp_scanner_alloc(&(struct gp_scan_args){ 0 }, &s) == 0);
	for (u32 i = 0; !has && i < 3000; i++) {
		NEED(gp_scanner_run(s, 0, &p, &count) == 0);
		for (u32 j = 0; j < count; j++)
			has = has || (p[j].pid == pid && p[j].nr_queues == nr);
		usleep(10000);
	}
	gp_scanner_free(s);
	return has;
}
