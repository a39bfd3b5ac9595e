// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Who may call what: every method by every kind of user, and who the kernel says it is. */
#include "gp_test.h"

#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control_world.h"

static int up(void **state)
{
	*state = world_new(NULL);
	return 0;
}

static int down(void **state)
{
	world_free(*state);
	return 0;
}

enum user { ROOT, MEMBER, OWNER, STRANGER, NR_USERS };

static const struct {
	const char *name;
	uid_t uid;
	bool privileged;
} users[NR_USERS] = {
	[ROOT] = { "root", 0, true },
	[MEMBER] = { "a member of the group", 1003, true },
	[OWNER] = { "the owner", ALICE, false },
	[STRANGER] = { "another user", BOB, false },
};

/* Y: allowed, n: PermissionDenied; for root, member, owner, stranger. */
static const struct {
	const char *method, *parameters;
	char may[NR_USERS + 1];
} table[] = {
	{ "Status", NULL, "YYYY" },
	{ "List", NULL, "YYYY" },
	{ "List", "{\"pid\":100}", "YYYY" },
	{ "Stats", NULL, "YYYY" },
	{ "GetPolicy", NULL, "YYYY" },
	{ "SetPolicy", "{\"policy\":\"fifo\"}", "YYnn" },
	{ "SetPolicy", "{\"policy\":\"fifo\",\"dry_run\":true}", "YYnn" },
	{ "SetPolicy", "{\"parameters\":{\"linger\":\"1ms\"}}", "YYnn" },
	{ "SetClass", "{\"pid\":100,\"class\":\"batch\"}", "YYYn" },
	{ "SetClass", "{\"pid\":100,\"class\":\"offline\"}", "YYYn" },
	{ "SetClass", "{\"pid\":100,\"class\":\"online\"}", "YYnn" },
	{ "Register", "{\"pid\":100}", "YYYn" },
	{ "Register", "{\"pid\":101}", "YYnn" },
	{ "Register", "{\"pid\":100,\"class\":\"batch\"}", "YYYn" },
	{ "Register", "{\"pid\":100,\"class\":\"online\"}", "YYnn" },
	{ "Hint", "{\"pid\":100,\"in_ns\":0,\"for_ns\":1}", "YYYn" },
	{ "Hold", "{\"pid\":100,\"lease_ns\":1}", "YYYn" },
	{ "Hold", "{\"pid\":100,\"lease_ns\":1,\"wait\":true}", "YYYn" },
	{ "Release", "{\"pid\":100}", "YYYn" },
	{ "Trigger", "{\"pid\":100}", "YYYn" },
	{ "Enable", NULL, "YYnn" },
	{ "Disable", NULL, "YYnn" },
	{ "Reload", NULL, "YYnn" },
	{ "org.varlink.service.GetInfo", NULL, "YYYY" },
	{ "org.varlink.service.GetInterfaceDescription", "{\"interface\":\"org.gpreempt\"}",
	  "YYYY" },
};

static void every_call_by_every_user(void **state)
{
	struct control_world *w = *state;
	const char *want, *got;
	u32 before, reached;
	size_t i, u;
	int fd;

	for (u = 0; u < NR_USERS; u++) {
		fd = world_connect(w, users[u].uid, users[u].privileged);
		for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
			want = table[i].may[u] == 'Y' ? "" : "PermissionDenied";
			before = w->asked;
			got = world_error(world_ask(w, fd, table[i].method, table[i].parameters));
			reached = w->asked - before;
			if (strcmp(got, want))
				fail_msg("%s by %s: '%s', expected '%s'", table[i].method,
					 users[u].name, got, want);
			if (*want && reached)
				fail_msg("%s by %s was refused and done", table[i].method,
					 users[u].name);
		}
		close(fd);
	}
}

/* Calls that are answered again and again: anyone may hear what happens, not see every pointer. */
static void who_may_follow(void **state)
{
	static const struct {
		const char *method;
		char may[NR_USERS + 1];
	} streams[] = { { "Subscribe", "YYYY" }, { "Record", "YYnn" } };
	struct control_world *w = *state;
	char text[128];

	for (size_t u = 0; u < NR_USERS; u++) {
		for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
			struct gp_varlink_reader r = { .max = GP_VARLINK_REPLY_MAX };
			int fd = world_connect(w, users[u].uid, users[u].privileged);
			bool denied;

			snprintf(text, sizeof(text),
				 "{\"method\":\"org.gpreempt.%s\",\"more\":true}",
				 streams[i].method);
			world_send(fd, text);
			denied = !strcmp(world_error(world_receive(w, &r, fd)),
					 "PermissionDenied");
			if (denied != (streams[i].may[u] == 'n'))
				fail_msg("%s by %s: denied is %d", streams[i].method,
					 users[u].name, denied);
			gp_varlink_reader_fini(&r);
			close(fd);
		}
	}
}

static void a_process_that_is_not_there_is_nobodys(void **state)
{
	struct control_world *w = *state;
	static const uid_t uids[] = { 0, ALICE };
	size_t i;
	int fd;

	for (i = 0; i < 2; i++) {
		fd = world_connect(w, uids[i], !uids[i]);
		assert_string_equal(world_error(world_ask(w, fd, "Release", "{\"pid\":999}")),
				    "NotFound");
		close(fd);
	}
	EXPECT_EQ(w->asked, 0);
}

/* A child that has become that user asks to hold another's process; 0 if it may. */
static int as(struct control_world *w, uid_t uid, gid_t gid, gid_t extra)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	static const char call[] = "{\"method\":\"org.gpreempt.Hold\","
				   "\"parameters\":{\"pid\":100,\"lease_ns\":1}}";
	char answer[512] = "";
	int fd, status = -1;
	pid_t child;

	w->peer.pid = -1;
	child = fork();
	if (!child) {
		snprintf(at.sun_path, sizeof(at.sun_path), "%s", w->path);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (setgroups(extra != (gid_t)-1, &extra) || setgid(gid) || setuid(uid) ||
		    connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
		    write(fd, call, sizeof(call)) < 0 || read(fd, answer, sizeof(answer) - 1) <= 0)
			_exit(2);
		_exit(strstr(answer, "PermissionDenied") ? 1 : !strstr(answer, "hold"));
	}
	while (waitpid(child, &status, WNOHANG) == 0) {
		world_run(w, 1);
		usleep(100);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_kernel_says_who_somebody_is(void **state)
{
	struct control_world *w = *state;
	struct group *group = getgrnam("daemon");

	if (geteuid() || !group) {
		skip();
		return;
	}
	EXPECT_EQ(as(w, 0, 0, (gid_t)-1), 0);
	EXPECT_EQ(as(w, ALICE, ALICE, (gid_t)-1), 0);
	EXPECT_EQ(as(w, BOB, BOB, (gid_t)-1), 1);
	EXPECT_EQ(as(w, BOB, BOB, 12345), 1);
	/* Of the group by the first or by any further group. */
	EXPECT_EQ(as(w, BOB, group->gr_gid, (gid_t)-1), 0);
	EXPECT_EQ(as(w, BOB, BOB, group->gr_gid), 0);
}

PROVE(
	CLAIM_WITH(every_call_by_every_user, up, down),
	CLAIM_WITH(who_may_follow, up, down),
	CLAIM_WITH(a_process_that_is_not_there_is_nobodys, up, down),
	CLAIM_WITH(the_kernel_says_who_somebody_is, up, down),
)
