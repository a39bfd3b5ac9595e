// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "varlink.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/param.h"
#include "error.h"
#include "gpreempt.h"
#include "sys.h"

enum { GROW_FIRST = 1024, SHRINK_ABOVE = 64 << 10, BACKLOG_PAUSE_MS = 5 };

/* Makes room for @need bytes. Doubles it, so that feeding byte by byte stays linear. */
static int reserve(char **buf, size_t *room, size_t need)
{
	size_t bigger = *room ? *room : GROW_FIRST;
	char *to;

	if (need <= *room)
		return 0;
	while (bigger < need)
		bigger *= 2;
	to = realloc(*buf, bigger);
	if (!to)
		return -ENOMEM;
	*buf = to;
	*room = bigger;
	return 0;
}

/* ---- reading ---- */

void gp_varlink_reader_fini(struct gp_varlink_reader *r)
{
	free(r->buf);
	*r = (struct gp_varlink_reader){ .max = r->max, .values = r->values };
}

/* Returns the length of the first message, or -EAGAIN. Remembers how far it has searched. */
static ssize_t first(struct gp_varlink_reader *r)
{
	const char *end;

	if (r->seen < r->begin)
		r->seen = r->begin;
	if (r->seen == r->len)
		return -EAGAIN;
	end = memchr(r->buf + r->seen, '\0', r->len - r->seen);
	r->seen = end ? (size_t)(end - r->buf) : r->len;
	return end ? (ssize_t)(r->seen - r->begin) : -EAGAIN;
}

/* Moves unread bytes to the front, if that is cheap or frees much. */
static void compact(struct gp_varlink_reader *r)
{
	if (r->begin == r->len) {
		r->begin = r->len = r->seen = 0;
		if (r->room > SHRINK_ABOVE)
			gp_varlink_reader_fini(r);
	} else if (r->begin > r->room / 2) {
		memmove(r->buf, r->buf + r->begin, r->len - r->begin);
		r->len -= r->begin;
		r->seen = r->seen > r->begin ? r->seen - r->begin : 0;
		r->begin = 0;
	}
}

static int check_size(struct gp_varlink_reader *r)
{
	ssize_t n = first(r);
	size_t size = n >= 0 ? (size_t)n : r->len - r->begin;

	return size > r->max ? -EMSGSIZE : 0;
}

int gp_varlink_feed(struct gp_varlink_reader *r, const void *bytes, size_t n)
{
	int err;

	if (!n)
		return 0;
	compact(r);
	err = reserve(&r->buf, &r->room, r->len + n);
	if (err)
		return err;
	memcpy(r->buf + r->len, bytes, n);
	r->len += n;
	return check_size(r);
}

ssize_t gp_varlink_recv(int fd, void *to, size_t room)
{
	struct iovec part = { .iov_base = to, .iov_len = room };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	do {
		n = gp_sys->recvmsg(fd, &msg, MSG_PEEK | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n > 0 && msg.msg_flags & MSG_CTRUNC)
		return -EBADF;
	/*
	 * Receive only the bytes that were checked. A call that does not wait is not interrupted.
	 */
	if (n > 0)
		n = gp_sys->recv(fd, to, (size_t)n, MSG_DONTWAIT);
	return n < 0 ? -errno : n;
}

ssize_t gp_varlink_receive(struct gp_varlink_reader *r, int fd)
{
	size_t most = r->max < GP_VARLINK_READ_MAX ? r->max + 1 : GP_VARLINK_READ_MAX;
	ssize_t n;
	int err;

	compact(r);
	err = reserve(&r->buf, &r->room, r->len + most);
	if (err)
		return err;
	n = gp_varlink_recv(fd, r->buf + r->len, most);
	if (n <= 0)
		return n;
	r->len += (size_t)n;
	err = check_size(r);
	return err ? err : n;
}

bool gp_varlink_waiting(struct gp_varlink_reader *r)
{
	return first(r) >= 0;
}

size_t gp_varlink_partial(struct gp_varlink_reader *r)
{
	return first(r) >= 0 ? 0 : r->len - r->begin;
}

/*
 * Returns true if the text outside of strings nests too deep or has too many values. This costs a
 * fraction of the parser's time.
 */
static bool too_much(const char *text, size_t n, size_t values)
{
	bool string = false;
	size_t i, found = 0;
	int depth = 0;

	for (i = 0; i < n; i++) {
		if (string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				string = false;
		} else if (text[i] == '"') {
			string = true;
		} else if (text[i] == '{' || text[i] == '[') {
			if (++depth > GP_VARLINK_DEPTH_MAX)
				return true;
			found++;
		} else if (text[i] == '}' || text[i] == ']') {
			depth--;
		} else if (text[i] == ',') {
			found++;
		}
	}
	return values && found > values;
}

int gp_varlink_parse(const char *text, size_t n, size_t values, json_t **ret)
{
	json_error_t error;
	json_t *message;

	if (too_much(text, n, values))
		return -EBADMSG;
	message = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
	if (!message)
		return -EBADMSG;
	if (!json_is_object(message)) {
		json_decref(message);
		return -EBADMSG;
	}
	*ret = message;
	return 0;
}

int gp_varlink_next(struct gp_varlink_reader *r, json_t **ret)
{
	ssize_t n = first(r);
	int err;

	if (n < 0)
		return -EAGAIN;
	/* Later messages are checked when they are first. */
	err = (size_t)n > r->max ? -EBADMSG :
	      gp_varlink_parse(r->buf + r->begin, (size_t)n, r->values, ret);
	r->begin += (size_t)n + 1;
	return err;
}

/* ---- writing ---- */

void gp_varlink_writer_fini(struct gp_varlink_writer *w)
{
	free(w->buf);
	*w = (struct gp_varlink_writer){ .max = w->max };
}

int gp_varlink_put(struct gp_varlink_writer *w, const void *text, size_t n)
{
	int err;

	if (n > w->max || gp_varlink_unsent(w) > w->max - n)
		return -ENOBUFS;
	if (w->begin && w->len + n > w->room) {
		memmove(w->buf, w->buf + w->begin, gp_varlink_unsent(w));
		w->len -= w->begin;
		w->begin = 0;
	}
	err = reserve(&w->buf, &w->room, w->len + n);
	if (err)
		return err;
	memcpy(w->buf + w->len, text, n);
	w->len += n;
	return 0;
}

int gp_varlink_put_json(struct gp_varlink_writer *w, const json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);
	int err;

	if (!text)
		return -ENOMEM;
	err = gp_varlink_put(w, text, strlen(text) + 1);
	free(text);
	return err;
}

ssize_t gp_varlink_flush(struct gp_varlink_writer *w, int fd)
{
	size_t n = gp_varlink_unsent(w);
	ssize_t sent;

	if (!n)
		return 0;
	if (n > GP_VARLINK_FLUSH_MAX)
		n = GP_VARLINK_FLUSH_MAX;
	do {
		sent = gp_sys->send(fd, w->buf + w->begin, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	w->begin += (size_t)sent;
	if (w->begin == w->len) {
		w->begin = w->len = 0;
		if (w->room > SHRINK_ABOVE)
			gp_varlink_writer_fini(w);
	}
	return sent;
}

/* ---- calls ---- */

static int flag(const json_t *message, const char *name, bool *ret)
{
	const json_t *value = json_object_get(message, name);

	if (value && !json_is_boolean(value) && !json_is_null(value))
		return -EBADMSG;
	*ret = json_is_true(value);
	return 0;
}

static int parameters(json_t *message, json_t **ret)
{
	json_t *value = json_object_get(message, "parameters");

	if (value && !json_is_object(value) && !json_is_null(value))
		return -EBADMSG;
	*ret = json_is_object(value) ? value : NULL;
	return 0;
}

int gp_varlink_call(json_t *message, struct gp_varlink_call *ret)
{
	struct gp_varlink_call call = { 0 };

	call.method = json_string_value(json_object_get(message, "method"));
	if (!call.method || parameters(message, &call.parameters) ||
	    flag(message, "more", &call.more) || flag(message, "oneway", &call.oneway) ||
	    flag(message, "upgrade", &call.upgrade))
		return -EBADMSG;
	*ret = call;
	return 0;
}

int gp_varlink_reply(json_t *message, struct gp_varlink_reply *ret)
{
	const json_t *error = json_object_get(message, "error");
	struct gp_varlink_reply reply = { .error = json_string_value(error) };

	if ((error && !reply.error && !json_is_null(error)) ||
	    parameters(message, &reply.parameters) || flag(message, "continues", &reply.continues))
		return -EBADMSG;
	*ret = reply;
	return 0;
}

/* ---- errors ---- */

/* The first entry with a name gives the errno of that name. */
static const struct {
	int err;
	const char *name;
} errors[] = {
	{ EPERM,	GP_INTERFACE ".PermissionDenied" },
	{ EACCES,	GP_INTERFACE ".PermissionDenied" },
	{ ESRCH,	GP_INTERFACE ".NotFound" },
	{ ENOENT,	GP_INTERFACE ".NotFound" },
	{ ENODEV,	GP_INTERFACE ".NotFound" },
	{ EINVAL,	GP_INTERFACE ".InvalidParameter" },
	{ ERANGE,	GP_INTERFACE ".InvalidParameter" },
	{ EBUSY,	GP_INTERFACE ".Busy" },
	{ EAGAIN,	GP_INTERFACE ".Busy" },
	{ ENOSPC,	GP_INTERFACE ".NotAdmitted" },
	{ ETIMEDOUT,	GP_INTERFACE ".TimedOut" },
	{ EOPNOTSUPP,	GP_INTERFACE ".NotSupported" },
	{ ECANCELED,	GP_INTERFACE ".NotHeld" },
	{ EIO,		GP_INTERFACE ".Failed" },
	{ ENOSYS,	"org.varlink.service.InterfaceNotFound" },
	{ ENOSYS,	"org.varlink.service.MethodNotFound" },
	{ ENOSYS,	"org.varlink.service.MethodNotImplemented" },
	{ EINVAL,	"org.varlink.service.InvalidParameter" },
	{ EPERM,	"org.varlink.service.PermissionDenied" },
	{ EINVAL,	"org.varlink.service.ExpectedMore" },
};

enum { NR_ERRORS = sizeof(errors) / sizeof(errors[0]) };

const char *gp_varlink_error_name(int err)
{
	size_t i;

	for (i = 0; i < NR_ERRORS; i++)
		if (errors[i].err == err && !strncmp(errors[i].name, GP_INTERFACE ".",
						     sizeof(GP_INTERFACE)))
			return errors[i].name;
	return GP_INTERFACE ".Failed";
}

int gp_varlink_error_number(const char *name)
{
	size_t i;

	for (i = 0; i < NR_ERRORS; i++)
		if (!strcmp(errors[i].name, name))
			return errors[i].err;
	return EREMOTEIO;
}

/* ---- a connection to the daemon ---- */

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
		r = gp_sys->poll(&p, 1, milliseconds_until(deadline_ns));
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
		return gp_fail(ENOTCONN, "gpreemptd is not running: no process listens on %s",
			       path);
	if (err == EAGAIN)
		return gp_fail(ETIMEDOUT, "gpreemptd does not take connections on %s", path);
	return gp_fail(err, "cannot connect to %s: %s", path, strerrordesc_np(err));
}

int gp_wire_connect(struct gp_wire *wire, u64 deadline_ns)
{
	int err;

	wire->fd = gp_sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (wire->fd < 0)
		return gp_fail(errno, "no socket: %s", strerrordesc_np(errno));
	while (gp_sys->connect(wire->fd, (struct sockaddr *)&wire->at, sizeof(wire->at))) {
		err = errno;
		/* The backlog of the daemon is full, and no descriptor reports when it is not. */
		if (err == EAGAIN && milliseconds_until(deadline_ns)) {
			gp_sys->poll(NULL, 0, BACKLOG_PAUSE_MS);
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

/* Makes the sentence: that of the daemon, or one from the error's name and parameter. */
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
