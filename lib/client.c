// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The calls that change something, and what all calls share. */
#include "gpreempt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "wire.h"

enum { TIMEOUT_MS = 5000 };

struct gp_daemon {
	pthread_mutex_t lock;	/* of everything below */
	struct gp_wire wire;
	int timeout_ms;
};

int gp_daemon_open(const char *path, struct gp_daemon **ret)
{
	struct gp_daemon *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return gp_fail(ENOMEM, "out of memory");
	d->timeout_ms = TIMEOUT_MS;
	err = gp_wire_init(&d->wire, path);
	if (!err)
		err = gp_wire_connect(&d->wire, gp_wire_deadline(d->timeout_ms));
	if (err) {
		free(d);
		return err;
	}
	pthread_mutex_init(&d->lock, NULL);
	*ret = d;
	return 0;
}

void gp_daemon_close(struct gp_daemon *d)
{
	if (!d)
		return;
	gp_wire_close(&d->wire);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

void gp_daemon_set_timeout(struct gp_daemon *d, int milliseconds)
{
	pthread_mutex_lock(&d->lock);
	d->timeout_ms = milliseconds;
	pthread_mutex_unlock(&d->lock);
}

/* Leaves the connection closed unless the whole answer came: no call gets another's. */
static int transact(struct gp_daemon *d, const char *method, json_t *parameters, json_t **ret)
{
	u64 deadline = gp_wire_deadline(d->timeout_ms);
	struct gp_varlink_reply reply;
	json_t *message;
	int err = 0;

	if (d->wire.fd < 0)
		err = gp_wire_connect(&d->wire, deadline);
	if (!err)
		err = gp_wire_send(&d->wire, method, json_incref(parameters), false, deadline);
	else
		return err;
	if (!err)
		err = gp_wire_receive(&d->wire, deadline, &message);
	if (err) {
		gp_wire_close(&d->wire);
		return err;
	}
	err = gp_wire_result(message, &reply);
	if (err == -EPROTO)
		gp_wire_close(&d->wire);
	if (!err)
		*ret = reply.parameters ? json_incref(reply.parameters) : json_object();
	json_decref(message);
	return err;
}

int gp_wire_call(struct gp_daemon *d, const char *method, json_t *parameters, json_t **ret)
{
	bool fresh;
	int err;

	if (!parameters)
		parameters = json_object();
	pthread_mutex_lock(&d->lock);
	fresh = d->wire.fd < 0;
	err = transact(d, method, parameters, ret);
	/* It was restarted, or tired of us: every call may be made twice. */
	if (err == -EPIPE && !fresh)
		err = transact(d, method, parameters, ret);
	pthread_mutex_unlock(&d->lock);
	json_decref(parameters);
	return err == -EPIPE ? gp_fail(ENOTCONN, "gpreemptd closed the connection") : err;
}

int gp_wire_again(struct gp_daemon *d, struct gp_wire *ret, u64 *deadline_ns)
{
	int err;

	pthread_mutex_lock(&d->lock);
	*deadline_ns = gp_wire_deadline(d->timeout_ms);
	err = gp_wire_init(ret, d->wire.at.sun_path);
	pthread_mutex_unlock(&d->lock);
	return err ? err : gp_wire_connect(ret, *deadline_ns);
}

int gp_daemon_call(struct gp_daemon *d, const char *method, const char *parameters, char **ret)
{
	json_t *in = NULL, *out;
	int err;

	if (parameters && gp_varlink_parse(parameters, strlen(parameters), 0, &in))
		return gp_fail(EINVAL, "the parameters of %s are not a JSON object", method);
	err = gp_wire_call(d, method, in, &out);
	if (err)
		return err;
	if (ret) {
		*ret = json_dumps(out, 0);
		if (!*ret)
			err = gp_fail(ENOMEM, "out of memory");
	}
	json_decref(out);
	return err;
}

/* A call whose answer says nothing. Takes over @parameters. */
static int tell(struct gp_daemon *d, const char *method, json_t *parameters)
{
	json_t *answer;
	int err = gp_wire_call(d, method, parameters, &answer);

	if (!err)
		json_decref(answer);
	return err;
}

/* An object that names @target; nothing if that is the caller. */
static json_t *about(const struct gp_daemon_target *target)
{
	json_t *o = json_object();

	if (target && target->pid)
		json_object_set_new(o, "pid", json_integer(target->pid));
	if (target && target->start)
		json_object_set_new(o, "start", json_integer((json_int_t)target->start));
	return o;
}

static void set_number(json_t *o, const char *name, uint64_t value)
{
	json_object_set_new(o, name, json_integer(value > INT64_MAX ? INT64_MAX : (s64)value));
}

int gp_daemon_register(struct gp_daemon *d, const char *class_name)
{
	json_t *o = json_object();

	if (class_name)
		json_object_set_new(o, "class", json_string(class_name));
	return tell(d, "Register", o);
}

int gp_daemon_set_class(struct gp_daemon *d, const struct gp_daemon_target *target,
			const char *class_name)
{
	json_t *o = about(target);

	json_object_set_new(o, "class", json_string(class_name));
	return tell(d, "SetClass", o);
}

int gp_daemon_hint(struct gp_daemon *d, const struct gp_daemon_target *target,
		   uint64_t in_ns, uint64_t for_ns)
{
	json_t *o = about(target);

	set_number(o, "in_ns", in_ns);
	set_number(o, "for_ns", for_ns);
	return tell(d, "Hint", o);
}

int gp_daemon_hold(struct gp_daemon *d, const struct gp_daemon_target *target,
		   uint64_t lease_ns, uint32_t flags, uint64_t *granted_ns)
{
	json_t *o = about(target), *answer;
	int err;

	set_number(o, "lease_ns", lease_ns);
	if (flags & GP_DAEMON_WAIT)
		json_object_set_new(o, "wait", json_true());
	if (flags & GP_DAEMON_RENEW)
		json_object_set_new(o, "renew", json_true());
	err = gp_wire_call(d, "Hold", o, &answer);
	if (err)
		return err;
	if (granted_ns)
		*granted_ns = (uint64_t)gp_wire_number(answer, "lease_ns");
	json_decref(answer);
	return 0;
}

int gp_daemon_release(struct gp_daemon *d, const struct gp_daemon_target *target)
{
	return tell(d, "Release", about(target));
}

int gp_daemon_trigger(struct gp_daemon *d, const struct gp_daemon_target *target)
{
	return tell(d, "Trigger", about(target));
}

int gp_daemon_enable(struct gp_daemon *d)
{
	return tell(d, "Enable", NULL);
}

int gp_daemon_disable(struct gp_daemon *d)
{
	return tell(d, "Disable", NULL);
}
