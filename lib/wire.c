// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "wire.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/param.h"
#include "error.h"
#include "gpreempt.h"
#include "sys.h"

enum { BACKLOG_PAUSE_MS = 5 };

u64 gp_wire_deadline(int milliseconds)
{
	return milliseconds < 0 ? GP_NEVER : gp_sys->monotonic_ns() + (u64)milliseconds * GP_MSEC;
}

/* For poll(): rounded up, so that it does not spin through the last millisecond. */
static int milliseconds_until(u64 deadline_ns)
{
	u64 now = gp_sys->monotonic_ns(), left;

	if (deadline_ns == GP_NEVER)
		return -1;
	left = deadline_ns > now ? (deadline_ns - now + GP_MSEC - 1) / GP_MSEC : 0;
	return left > 1000000 ? 1000000 : (int)left;
}

static int wait_for(struct gp_wire *wire, short events, u64 deadline_ns)
{
	struct pollfd p = { .fd = wire->fd, .events = events };
	int r;

	do {
		r = poll(&p, 1, milliseconds_until(deadline_ns));
	} while ((r < 0 && errno == EINTR) || (r == 0 && milliseconds_until(deadline_ns)));
	if (r < 0)
		return gp_fail(errno, "poll: %s", strerrordesc_np(errno));
	return r ? 0 : gp_fail(ETIMEDOUT, "gpreemptd did not answer in time on %s",
			       wire->at.sun_path);
}

int gp_wire_init(struct gp_wire *wire, const char *path)
{
	if (!path)
		path = GP_CONTROL_SOCKET;
	*wire = (struct gp_wire){
		.at.sun_family = AF_UNIX, .fd = -1,
		.in.max = GP_VARLINK_REPLY_MAX, .out.max = GP_VARLINK_REPLY_MAX,
	};
	if (strlen(path) >= sizeof(wire->at.sun_path))
		return gp_fail(ENAMETOOLONG, "the path of the socket has more than %zu bytes",
			       sizeof(wire->at.sun_path) - 1);
	memcpy(wire->at.sun_path, path, strlen(path) + 1);
	return 0;
}

static int refused(const struct gp_wire *wire, int err)
{
	const char *path = wire->at.sun_path;

	if (err == ENOENT || err == ECONNREFUSED)
		return gp_fail(ENOTCONN, "gpreemptd is not running: nobody listens on %s", path);
	if (err == EAGAIN)
		return gp_fail(ETIMEDOUT, "gpreemptd does not take connections on %s", path);
	return gp_fail(err, "cannot connect to %s: %s", path, strerrordesc_np(err));
}

int gp_wire_connect(struct gp_wire *wire, u64 deadline_ns)
{
	int err;

	wire->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (wire->fd < 0)
		return gp_fail(errno, "no socket: %s", strerrordesc_np(errno));
	while (connect(wire->fd, (struct sockaddr *)&wire->at, sizeof(wire->at))) {
		err = errno;
		/* Its backlog is full, and there is nothing to wait on. */
		if (err == EAGAIN && milliseconds_until(deadline_ns)) {
			poll(NULL, 0, BACKLOG_PAUSE_MS);
			continue;
		}
		if (err == EINTR)
			continue;
		gp_wire_close(wire);
		return refused(wire, err);
	}
	return 0;
}

void gp_wire_close(struct gp_wire *wire)
{
	if (wire->fd >= 0)
		close(wire->fd);
	wire->fd = -1;
	gp_varlink_reader_fini(&wire->in);
	gp_varlink_writer_fini(&wire->out);
}

static int flush(struct gp_wire *wire, u64 deadline_ns)
{
	ssize_t n;
	int err;

	while ((n = gp_varlink_flush(&wire->out, wire->fd))) {
		if (n > 0)
			continue;
		if (n == -EPIPE || n == -ECONNRESET)
			return gp_fail(EPIPE, "gpreemptd closed the connection");
		if (n != -EAGAIN)
			return gp_fail((int)-n, "cannot send to gpreemptd: %s",
				       strerrordesc_np((int)-n));
		err = wait_for(wire, POLLOUT, deadline_ns);
		if (err)
			return err;
	}
	return 0;
}

int gp_wire_send(struct gp_wire *wire, const char *method, json_t *parameters, bool more,
		 u64 deadline_ns)
{
	char full[128];
	json_t *call;
	int err;

	snprintf(full, sizeof(full), "%s%s", strchr(method, '.') ? "" : GP_INTERFACE ".", method);
	call = json_pack("{s:s, s:o*}", "method", full, "parameters", parameters);
	if (call && more)
		json_object_set_new(call, "more", json_true());
	err = call ? gp_varlink_put_json(&wire->out, call) : -EINVAL;
	json_decref(call);
	if (err)
		return gp_fail(-err, "the call %s cannot be sent: %s", full, strerrordesc_np(-err));
	return flush(wire, deadline_ns);
}

int gp_wire_receive(struct gp_wire *wire, u64 deadline_ns, json_t **ret)
{
	ssize_t n;
	int err;

	for (;;) {
		err = gp_varlink_next(&wire->in, ret);
		if (!err)
			return 0;
		if (err != -EAGAIN)
			return gp_fail(EPROTO, "gpreemptd sent what is not JSON");
		n = gp_varlink_receive(&wire->in, wire->fd);
		if (n == 0 || n == -ECONNRESET)
			return gp_fail(EPIPE, "gpreemptd closed the connection");
		if (n == -EMSGSIZE)
			return gp_fail(EPROTO, "gpreemptd sent more than %d bytes",
				       GP_VARLINK_REPLY_MAX);
		if (n < 0 && n != -EAGAIN)
			return gp_fail((int)-n, "cannot read from gpreemptd: %s",
				       strerrordesc_np((int)-n));
		if (n < 0) {
			err = wait_for(wire, POLLIN, deadline_ns);
			if (err)
				return err;
		}
	}
}

/* The daemon's own sentence, or what the error's name and parameter say. */
static int remote_error(const struct gp_varlink_reply *reply)
{
	const char *what = json_string_value(json_object_get(reply->parameters, "message"));
	const char *which = json_string_value(json_object_get(reply->parameters, "parameter"));
	json_int_t number = json_integer_value(json_object_get(reply->parameters, "errno"));
	int err = gp_varlink_error_number(reply->error);

	if (err == EIO && number > 0 && number < 4096)
		err = (int)number;
	if (what)
		return gp_fail(err, "%s", what);
	return gp_fail(err, "gpreemptd answered %s%s%s", reply->error, which ? ": " : "",
		       which ? which : "");
}

int gp_wire_result(json_t *message, struct gp_varlink_reply *ret)
{
	if (gp_varlink_reply(message, ret))
		return gp_fail(EPROTO, "gpreemptd sent what is not a reply");
	return ret->error ? remote_error(ret) : 0;
}
