// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The input is what a client sends. The reader must find the same messages however they are
 * split, and a control socket that received them must serve the next client.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/methods.h"
#include "lib/varlink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct gp_control *control;
static char path[64];
static u64 now_ns;

static int answer(void *ctx, struct gp_call *call, json_t **ret)
{
	struct gp_arguments a;

	(void)ctx;
	if (gp_arguments_read(call->parameters, ~0u, 0, &a, &call->bad, call->why))
		return -EINVAL;
	if (a.wait)
		return GP_CALL_LATER;
	*ret = json_pack("{s:s}", "did", call->method);
	return GP_CALL_DONE;
}

static void leave(void)
{
	gp_control_free(control);
}

static void serve(void)
{
	struct gp_control_args args = { .path = path, .call = answer };
	const char *why;

	snprintf(path, sizeof(path), "/tmp/gp_fuzz.%d", (int)getpid());
	if (gp_control_new(&args, &control, &why))
		abort();
	atexit(leave);
}

static int connected(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)))
		abort();
	return fd;
}

static void run(int times)
{
	while (times--)
		gp_control_run(control, now_ns += 1000000);
}

static void send_to_server(const uint8_t *data, size_t size)
{
	static const char call[] = "{\"method\":\"org.varlink.service.GetInfo\"}";
	char reply[512];
	int bad = connected(), good = connected();

	if (send(bad, data, size, MSG_NOSIGNAL) < 0 && size)
		abort();
	run(4);
	if (send(good, call, sizeof(call), MSG_NOSIGNAL) < 0)
		abort();
	run(4);
	if (recv(good, reply, sizeof(reply), 0) <= 0)
		abort();
	close(bad);
	close(good);
	run(2);
}

/* Returns a number that depends on every message and every error. */
static u64 digest(struct gp_varlink_reader *r, u64 sum)
{
	struct gp_varlink_call call;
	char why[GP_WHY_MAX];
	struct gp_arguments a;
	const char *text;
	json_t *message;
	int err;

	while ((err = gp_varlink_next(r, &message)) != -EAGAIN) {
		sum = sum * 31 + (u64)-err;
		if (err)
			continue;
		if (!gp_varlink_call(message, &call)) {
			err = gp_arguments_read(call.parameters, ~0u, 0, &a, &text, why);
			for (text = call.method; *text; text++)
				sum = sum * 31 + (u8)*text;
			sum = sum * 31 + (err ? 1 : a.given);
		}
		json_decref(message);
	}
	return sum;
}

static u64 in_parts(const uint8_t *data, size_t size, size_t part)
{
	struct gp_varlink_reader r = { .max = 1 << 20 };
	size_t at, n;
	u64 sum = 0;

	for (at = 0; at < size; at += n) {
		n = size - at < part ? size - at : part;
		if (gp_varlink_feed(&r, data + at, n))
			break;
		sum = digest(&r, sum);
	}
	gp_varlink_reader_fini(&r);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!control)
		serve();
	if (size > 64 << 10)
		return 0;
	if (in_parts(data, size, size + 1) != in_parts(data, size, size % 7 + 1))
		abort();
	send_to_server(data, size);
	return 0;
}
