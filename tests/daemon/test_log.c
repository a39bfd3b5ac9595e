// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The daemon's log and its messages to systemd: fields, limits, and no blocking. */
#include "tests/shared/gp_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/param.h"
#include "daemon/log.h"
#include "daemon/notify.h"

static u64 now;
static int saved, out[2];
static char path[64];

static u64 clock_of_test(void)
{
	return now;
}

static int no_journal(void **state)
{
	(void)state;
	now = 1000 * GP_SEC;
	fflush(stderr);
	saved = dup(STDERR_FILENO);
	if (pipe2(out, O_NONBLOCK))
		return -1;
	dup2(out[1], STDERR_FILENO);
	unsetenv("JOURNAL_STREAM");
	gp_log_replace("/nowhere", clock_of_test);
	gp_log_open(GP_LOG_INFO);
	return 0;
}

static int down(void **state)
{
	(void)state;
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(out[0]);
	close(out[1]);
	gp_log_replace(NULL, NULL);
	gp_log_timestamps(false);
	unlink(path);
	return 0;
}

/* Returns everything written to stderr so far. */
static const char *written(void)
{
	static char text[1 << 20];
	ssize_t n = read(out[0], text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static u32 lines(const char *text)
{
	u32 n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Makes a datagram socket at @path, like those of the journal and systemd. */
static int receiver(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	snprintf(path, sizeof(path), "/tmp/gp_log.%d", (int)getpid());
	unlink(path);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	EXPECT_EQ(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void with_journal(void)
{
	char stream[64];
	struct stat st;

	EXPECT_EQ(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
}

static void a_line_goes_to_stderr_with_its_level_and_the_time(void **state)
{
	char year[8];

	(void)state;
	gp_log(GP_LOG_WARNING, "a %s\nof %d", "line", 2);
	assert_string_equal(written(), "gpreemptd: warning: a line?of 2\n");
	gp_log(GP_LOG_DEBUG, "not wanted");
	assert_string_equal(written(), "");
	gp_log_timestamps(true);
	gp_log(GP_LOG_INFO, "when");
	EXPECT_EQ(sscanf(written(), "%4[0-9]-%*2d-%*2d %*2d:%*2d:%*2d.%*3d gpreemptd: when\n",
			 year), 1);
}

static void a_line_in_the_journal_has_fields(void **state)
{
	struct gp_log_subject s = { .pid = 7, .user = 1001, .class_name = "offline", .gpu = 3 };
	int fd = receiver();
	char text[2048];
	ssize_t n;

	(void)state;
	with_journal();
	gp_log_replace(path, clock_of_test);
	gp_log_about(GP_LOG_INFO, &s, "train (7) is held");
	n = recv(fd, text, sizeof(text) - 1, 0);
	EXPECT(n > 0);
	text[n] = 0;
	assert_string_equal(text, "MESSAGE=train (7) is held\nPRIORITY=6\n"
			    "SYSLOG_IDENTIFIER=gpreemptd\nGPREEMPT_PID=7\nGPREEMPT_USER=1001\n"
			    "GPREEMPT_CLASS=offline\nGPREEMPT_GPU=3\n");
	assert_string_equal(written(), "");
	/* Without its native socket, the journal gets stderr. */
	unlink(path);
	gp_log(GP_LOG_ERROR, "here");
	assert_string_equal(written(), "<3>gpreemptd: error: here\n");
	/* A stderr that is not systemd's does not reach the journal. */
	setenv("JOURNAL_STREAM", "1:1", 1);
	gp_log(GP_LOG_ERROR, "there");
	assert_string_equal(written(), "gpreemptd: error: there\n");
	close(fd);
}

static void a_full_log_does_not_block_and_is_counted(void **state)
{
	int fd = receiver(), i;
	char text[2048];
	ssize_t n;
	u32 got = 0;

	(void)state;
	for (i = 0; i < 20000; i++)
		gp_log(GP_LOG_INFO, "line %d, long enough to fill a pipe some time", i);
	got = lines(written());
	EXPECT(got > 0 && got < 20000);
	gp_log(GP_LOG_INFO, "the next");
	snprintf(text, sizeof(text), "gpreemptd: warning: %u lines of the log were dropped\n"
		 "gpreemptd: the next\n", 20000 - got);
	assert_string_equal(written(), text);
	/* Repeats this with a journal that does not read. */
	with_journal();
	gp_log_replace(path, clock_of_test);
	for (i = 0; i < 20000; i++)
		gp_log(GP_LOG_INFO, "line %d", i);
	for (got = 0; recv(fd, text, sizeof(text), 0) > 0; got++)
		;
	EXPECT(got > 0 && got < 20000);
	gp_log(GP_LOG_INFO, "the next");
	n = recv(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	EXPECT(strstr(text, "lines of the log were dropped"));
	close(fd);
}

static void a_user_cannot_flood_the_log(void **state)
{
	struct gp_log_subject alice = { .user = 1001, .gpu = -1 };
	struct gp_log_subject bob = { .user = 1002, .gpu = -1 };
	const char *text;
	u32 i;

	(void)state;
	for (i = 0; i < 10000; i++)
		gp_log_about(GP_LOG_INFO, &alice, "class offline, class idle");
	EXPECT_EQ(lines(written()), GP_LOG_BURST);
	/* Other users are not affected, and lines about no process are not limited. */
	gp_log_about(GP_LOG_INFO, &bob, "is held");
	gp_log(GP_LOG_INFO, "something");
	EXPECT_EQ(lines(written()), 2);
	now += 2 * GP_SEC;
	for (i = 0; i < 100; i++)
		gp_log_about(GP_LOG_INFO, &alice, "class offline, class idle");
	text = written();
	EXPECT(strstr(text, "9968 lines about processes of user 1001 were suppressed"));
	EXPECT_EQ(lines(text), 1 + 2);
	/* Up to GP_LOG_USERS users do not reset each other's limits. */
	now += 100 * GP_SEC;
	for (i = 0; i < GP_LOG_USERS * 100; i++) {
		struct gp_log_subject s = { .user = 5000 + i % GP_LOG_USERS, .gpu = -1 };

		gp_log_about(GP_LOG_INFO, &s, "x");
	}
	EXPECT_EQ(lines(written()), GP_LOG_USERS * GP_LOG_BURST);
}

static void systemd_that_does_not_read_does_not_block_the_daemon(void **state)
{
	int fd = receiver(), i, full = 0;
	char text[512];
	ssize_t n;

	(void)state;
	setenv("NOTIFY_SOCKET", path, 1);
	for (i = 0; i < 100000 && full != -EAGAIN; i++)
		full = gp_notify("WATCHDOG=1");
	EXPECT_EQ(full, -EAGAIN);
	EXPECT_EQ(gp_notify("READY=1"), -EAGAIN);
	EXPECT_EQ(gp_notify("WATCHDOG=1"), -EAGAIN);
	while (recv(fd, text, sizeof(text), 0) > 0)
		;
	/* Unsent messages precede the next one. The watchdog message is not repeated. */
	EXPECT_EQ(gp_notify("WATCHDOG=1"), 0);
	n = recv(fd, text, sizeof(text) - 1, 0);
	EXPECT(n > 0);
	text[n] = 0;
	assert_string_equal(text, "READY=1\nWATCHDOG=1");
	EXPECT_EQ(gp_notify(""), 0);
	EXPECT_EQ(recv(fd, text, sizeof(text), 0), -1);
	unsetenv("NOTIFY_SOCKET");
	close(fd);
}

PROVE(
	CLAIM_WITH(a_line_goes_to_stderr_with_its_level_and_the_time, no_journal, down),
	CLAIM_WITH(a_line_in_the_journal_has_fields, no_journal, down),
	CLAIM_WITH(a_full_log_does_not_block_and_is_counted, no_journal, down),
	CLAIM_WITH(a_user_cannot_flood_the_log, no_journal, down),
	CLAIM_WITH(systemd_that_does_not_read_does_not_block_the_daemon, no_journal, down),
)
