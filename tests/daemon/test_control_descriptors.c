// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Clients that send descriptors whose close() blocks as long as the client wants. */
#include "tests/shared/gp_test.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/shared/control_world.h"
#include "tests/shared/sys_faults.h"

enum { LINGER_S = 10000, MANY = 600 };

/* Simulates a kernel without SO_PASSRIGHTS, which Linux 6.16 added. */
static int old_kernel(void **state)
{
	sys_faults_begin(&(struct sys_fault){ .call = GP_SYS_setsockopt, .nth = 1,
					      .err = ENOPROTOOPT });
	*state = world_new(NULL);
	return sys_faults_end() == 1 ? 0 : -1;
}

/*
 * Returns a TCP socket with unsent bytes. Its close() waits LINGER_S for the peer, which never
 * reads.
 */
static int lingering(int *other)
{
	const struct linger linger = { 1, LINGER_S };
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	static char bytes[1 << 20];

	EXPECT_EQ(bind(listener, (struct sockaddr *)&at, size), 0);
	EXPECT_EQ(listen(listener, 1), 0);
	EXPECT_EQ(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	EXPECT_EQ(connect(fd, (struct sockaddr *)&at, size), 0);
	*other = accept(listener, NULL, NULL);
	EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	close(listener);
	return fd;
}

/* Sends @text with @passed and closes @passed. Returns the result of sendmsg(). */
static ssize_t send_with(int fd, const char *text, int passed, int flags)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} room = { .bytes = { 0 } };
	struct iovec part = { (char *)text, strlen(text) };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room,
			      .msg_controllen = sizeof(room) };
	ssize_t n;

	room.header = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&room.header), &passed, sizeof(passed));
	n = sendmsg(fd, &msg, flags | MSG_NOSIGNAL);
	close(passed);
	return n;
}

static void expect_served(struct control_world *w)
{
	int fd = world_connect(w, BOB, false);

	assert_string_equal(world_error(world_ask(w, fd, "Status", NULL)), "");
	close(fd);
}

static void a_descriptor_with_a_call_ends_its_connection_and_delays_no_other(void **state)
{
	struct control_world *w = *state;
	int alice = world_connect(w, ALICE, false), other;

	EXPECT_EQ(send_with(alice, "{", lingering(&other), 0), 1);
	EXPECT(world_closed(w, alice));
	EXPECT_EQ(world_stats(w).malformed, 1);
	w->now_ns += GP_SEC;
	world_run(w, 1);
	expect_served(w);
	close(alice);
	close(other);
}

static void a_descriptor_behind_a_call_or_with_urgent_data_delays_no_other(void **state)
{
	struct control_world *w = *state;
	int alice = world_connect(w, ALICE, false), bob = world_connect(w, BOB, false), other[2];

	w->defer = true;
	world_send(alice, "{\"method\":\"org.gpreempt.Status\"}");
	world_run(w, 2);
	/* The message is not read while the call has no answer. */
	EXPECT_EQ(send_with(alice, "{", lingering(&other[0]), 0), 1);
	shutdown(alice, SHUT_WR);
	EXPECT_EQ(send_with(bob, "!", lingering(&other[1]), MSG_OOB), 1);
	EXPECT(world_closed(w, bob));
	w->defer = false;
	gp_control_reply(w->c, w->token, NULL);
	EXPECT(world_closed(w, alice));
	EXPECT_EQ(world_stats(w).clients, 0);
	w->now_ns += GP_SEC;
	world_run(w, 1);
	expect_served(w);
	close(alice);
	close(bob);
	close(other[0]);
	close(other[1]);
}

/* Waits until all copies of the other end of @pipe are closed. */
static void expect_closed(struct control_world *w, int pipe)
{
	char byte;

	w->now_ns += GP_SEC;
	world_run(w, 1);
	EXPECT_EQ(read(pipe, &byte, 1), 0);
}

static void every_descriptor_is_closed_however_many_clients_send_one(void **state)
{
	struct control_world *w = *state;
	int ends[2], fd;

	EXPECT_EQ(pipe(ends), 0);
	for (u32 i = 0; i < MANY; i++) {
		fd = world_connect(w, 1000 + i % 3, false);
		EXPECT_EQ(send_with(fd, "{", dup(ends[1]), 0), 1);
		world_run(w, 1);
		close(fd);
		w->now_ns += GP_MSEC;
	}
	close(ends[1]);
	expect_closed(w, ends[0]);
	expect_served(w);
	close(ends[0]);
}

static void a_descriptor_is_closed_later_if_no_process_can_be_made(void **state)
{
	struct control_world *w = *state;
	int alice = world_connect(w, ALICE, false), ends[2];

	EXPECT_EQ(pipe(ends), 0);
	sys_faults_begin(&(struct sys_fault){ .call = GP_SYS_fork, .nth = 1, .err = EAGAIN });
	EXPECT_EQ(send_with(alice, "{", ends[1], 0), 1);
	EXPECT(world_closed(w, alice));
	EXPECT_EQ(sys_faults_end(), 1);
	expect_served(w);
	expect_closed(w, ends[0]);
	close(alice);
	close(ends[0]);
}

static void a_client_that_was_not_taken_in_does_not_delay_the_end(void **state)
{
	struct control_world *w = *state;
	int alice = world_connect(w, ALICE, false), other[2];

	EXPECT_EQ(send_with(alice, "{", lingering(&other[0]), 0), 1);
	gp_control_free(w->c);
	world_rebind(w, 0);
	expect_served(w);
	close(alice);
	close(other[0]);
}

/* For Linux 6.16 and newer. */
static void the_kernel_refuses_descriptors_for_it_if_it_can(void **state)
{
	struct control_world *w = *state;
	int alice = world_connect(w, ALICE, false), ends[2], on = 1;
	bool can = !setsockopt(alice, SOL_SOCKET, 83 /* SO_PASSRIGHTS */, &on, sizeof(on));

	EXPECT_EQ(pipe(ends), 0);
	EXPECT_EQ(send_with(alice, "{", ends[1], 0), can ? -1 : 1);
	close(alice);
	close(ends[0]);
}

PROVE(
	CLAIM_WITH(a_descriptor_with_a_call_ends_its_connection_and_delays_no_other, old_kernel,
		   world_down),
	CLAIM_WITH(a_descriptor_behind_a_call_or_with_urgent_data_delays_no_other, old_kernel,
		   world_down),
	CLAIM_WITH(every_descriptor_is_closed_however_many_clients_send_one, old_kernel,
		   world_down),
	CLAIM_WITH(a_descriptor_is_closed_later_if_no_process_can_be_made, old_kernel, world_down),
	CLAIM_WITH(a_client_that_was_not_taken_in_does_not_delay_the_end, old_kernel, world_down),
	CLAIM_WITH(the_kernel_refuses_descriptors_for_it_if_it_can, world_up, world_down),
)
