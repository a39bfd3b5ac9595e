// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The rights that a process of the daemon drops, and messages between such processes. */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/channel.h"
#include "daemon/confine.h"
#include "tests/shared/gp_test.h"

/* Runs @fn in a child and returns its exit code. */
static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(fn());
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static unsigned long long status_hex(const char *name)
{
	unsigned long long value = ~0ull;
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), " %llx", &value);
	if (f)
		fclose(f);
	return value;
}

static int confines(void)
{
	struct gp_confinement to = { .caps = BIT_ULL(CAP_SYS_PTRACE), .oom = 300, .files = 64 };
	unsigned long long before = status_hex("CapEff:");
	struct rlimit files;

	if (gp_confine(&to))
		return 1;
	if (status_hex("CapEff:") != (before & to.caps) || status_hex("CapPrm:") & ~to.caps ||
	    status_hex("CapInh:"))
		return 2;
	if (status_hex("NoNewPrivs:") != 1 || prctl(PR_GET_DUMPABLE))
		return 3;
	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur > 64 || files.rlim_max > 64)
		return 4;
	if (before & BIT_ULL(CAP_SETPCAP) && !(prctl(PR_GET_SECUREBITS) & SECBIT_NOROOT_LOCKED))
		return 5;
	return 0;
}

static void a_confined_process_keeps_only_its_capabilities_and_gets_no_others(void **state)
{
	(void)state;
	EXPECT_EQ(in_child(confines), 0);
}

static int cannot_drop(void)
{
	static const int numbers[] = { SYS_write, SYS_close, SYS_exit_group, SYS_prctl, SYS_capget,
				       SYS_openat };
	static const struct gp_syscalls calls = { numbers, 6, true };
	const struct gp_confinement all = { .caps = ~0ull }, none = { 0 };
	bool has_some = status_hex("CapPrm:");

	if (gp_confine(&all) || gp_confine_syscalls(&calls))
		return 1;
	/* Under a sanitizer there is no filter. */
	if (syscall(SYS_capset, NULL, NULL) != -1 || errno != ENOSYS)
		return 0;
	if (gp_confine(&all))
		return 2;
	return gp_confine(&none) == (has_some ? -ENOSYS : 0) ? 0 : 3;
}

static void a_process_that_cannot_drop_capabilities_is_not_confined(void **state)
{
	(void)state;
	EXPECT_EQ(in_child(cannot_drop), 0);
}

static int filters(void)
{
	static const int numbers[] = { SYS_write, SYS_exit_group, SYS_getpid, SYS_close, SYS_openat,
				       SYS_ioctl };
	static const struct gp_syscalls calls = { numbers, 6, true };

	if (gp_confine(&(struct gp_confinement){ 0 }) || gp_confine_syscalls(&calls))
		return 1;
	if (getpid() <= 0)
		return 2;
	if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != ENOSYS)
		return 3;
	if (syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY) < 0)
		return 4;
	if (syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR) >= 0 || errno != EPERM)
		return 5;
	if (syscall(SYS_openat, AT_FDCWD, "/tmp/x", O_CREAT, 0600) >= 0 || errno != EPERM)
		return 6;
	if (!syscall(SYS_ioctl, 1, TIOCSTI, "x") || errno != EPERM)
		return 7;
	if (!syscall(SYS_ioctl, -1, 0xc0204b26, 0) || errno != EBADF)
		return 8;
	return 0;
}

static void a_filtered_process_reads_files_talks_to_the_driver_and_does_little_else(void **state)
{
	(void)state;
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
	EXPECT_EQ(in_child(filters), 0);
#else
	(void)filters;
#endif
}

struct long_message {
	struct gp_message is;
	u64 value[4];
};

static void a_message_arrives_whole_with_its_descriptors(void **state)
{
	struct long_message m = GP_MESSAGE(struct long_message, 7, .value = { 1, 2, 3, 4 }), got;
	int ends[2], fds[GP_CHANNEL_FDS], null = open("/dev/null", O_RDONLY);

	(void)state;
	EXPECT_EQ(gp_channel_pair(ends), 0);
	EXPECT_EQ(gp_channel_recv(ends[1], &got, sizeof(got), fds), -EAGAIN);
	EXPECT_EQ(gp_channel_send(ends[0], &m.is, &null, 1), 0);
	EXPECT_EQ(gp_channel_recv(ends[1], &got, sizeof(got), fds), (int)sizeof(got));
	EXPECT(!memcmp(&m, &got, sizeof(m)));
	EXPECT(fds[0] >= 0 && fds[0] != null && fds[1] == -1);
	EXPECT(fcntl(fds[0], F_GETFD) & FD_CLOEXEC);
	close(fds[0]);
	/* A receiver without room for descriptors refuses a message that has one. */
	EXPECT_EQ(gp_channel_send(ends[0], &m.is, &null, 1), 0);
	EXPECT_EQ(gp_channel_recv(ends[1], &got, sizeof(got), NULL), -EPROTO);
	/* A receiver that does not read does not block the sender. */
	while (!gp_channel_send(ends[0], &m.is, NULL, 0))
		;
	EXPECT_EQ(gp_channel_send(ends[0], &m.is, NULL, 0), -EAGAIN);
	close(ends[1]);
	EXPECT_EQ(gp_channel_send(ends[0], &m.is, NULL, 0), -EPIPE);
	EXPECT_EQ(gp_channel_recv(ends[0], &got, sizeof(got), fds), -EPIPE);
	close(ends[0]);
	close(null);
}

static void a_message_of_another_version_or_size_is_malformed(void **state)
{
	struct long_message m = GP_MESSAGE(struct long_message, 7), got;
	struct { struct long_message m; u64 more; } longer = { .m = m };
	int ends[2];

	(void)state;
	EXPECT_EQ(gp_channel_pair(ends), 0);
	m.is.version = GP_CHANNEL_VERSION + 1;
	EXPECT(send(ends[0], &m, sizeof(m), 0) > 0);
	EXPECT_EQ(gp_channel_recv(ends[1], &got, sizeof(got), NULL), -EPROTO);
	m.is.version = GP_CHANNEL_VERSION;
	EXPECT(send(ends[0], &m, sizeof(m) - 8, 0) > 0);
	EXPECT_EQ(gp_channel_recv(ends[1], &got, sizeof(got), NULL), -EPROTO);
	EXPECT(send(ends[0], &m, 3, 0) > 0);
	EXPECT_EQ(gp_channel_recv(ends[1], &got, sizeof(got), NULL), -EPROTO);
	EXPECT(send(ends[0], &longer, sizeof(longer), 0) > 0);
	EXPECT_EQ(gp_channel_recv(ends[1], &got, sizeof(got), NULL), -EPROTO);
	EXPECT(send(ends[0], &m, sizeof(m), 0) > 0);
	EXPECT_EQ(gp_channel_recv(ends[1], &got, sizeof(got), NULL), (int)sizeof(m));
	EXPECT(gp_message_is(&got.is, 7, sizeof(m)) && !gp_message_is(&got.is, 8, sizeof(m)) &&
	       !gp_message_is(&got.is, 7, 8));
	close(ends[0]);
	close(ends[1]);
}

PROVE(
	CLAIM(a_confined_process_keeps_only_its_capabilities_and_gets_no_others),
	CLAIM(a_process_that_cannot_drop_capabilities_is_not_confined),
	CLAIM(a_filtered_process_reads_files_talks_to_the_driver_and_does_little_else),
	CLAIM(a_message_arrives_whole_with_its_descriptors),
	CLAIM(a_message_of_another_version_or_size_is_malformed),
)
