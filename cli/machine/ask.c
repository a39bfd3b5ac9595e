// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Calls to gpreemptd. */
#include "ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/json.h"
#include "text/value.h"

int gp_ask_code(int err)
{
	switch (err < 0 ? -err : err) {
	case 0:
		return GP_EXIT_OK;
	case EINVAL:
		return GP_EXIT_BAD;
	case ENOTCONN:
		return GP_EXIT_ABSENT;
	case EPERM:
	case EACCES:
		return GP_EXIT_DENIED;
	case ESRCH:
	case ENOENT:
		return GP_EXIT_UNKNOWN;
	case ETIMEDOUT:
		return GP_EXIT_TIMEOUT;
	default:
		return GP_EXIT_FAILED;
	}
}

int gp_ask_failed(int err, const char *what)
{
	const char *hint = "";

	if (err == -ENOTCONN)
		hint = "; start it (systemctl start gpreemptd), or see 'gpreempt doctor'";
	gp_error("%s%s%s%s", what ? what : "", what ? ": " : "", gp_strerror(err), hint);
	return gp_ask_code(err);
}

int gp_ask_open(struct gp_daemon **ret)
{
	const char *path = getenv("GPREEMPT_SOCKET");
	int err = gp_daemon_open(path && *path ? path : NULL, ret);

	if (err == -EACCES) {
		gp_error("%s; the socket is for all users; check its mode", gp_strerror(err));
		return gp_ask_code(err);
	}
	return err ? gp_ask_failed(err, NULL) : GP_EXIT_OK;
}

/* Makes the call. Returns 0 or -errno. */
static int call(struct gp_daemon *daemon, const char *method, json_t *parameters, json_t **ret)
{
	char *in = json_dumps(parameters, 0), *out = NULL;
	int err = in ? gp_daemon_call(daemon, method, in, &out) : -ENOMEM;

	free(in);
	if (err)
		return err;
	*ret = json_loads(out, 0, NULL);
	free(out);
	return json_is_object(*ret) ? 0 : -EPROTO;
}

int gp_ask_call(struct gp_daemon *daemon, const char *method, json_t *parameters, json_t **ret)
{
	struct gp_daemon *own = NULL;
	int err = 0, code = GP_EXIT_OK;

	if (!parameters)
		parameters = json_object();
	if (!daemon)
		code = gp_ask_open(&own);
	if (!code) {
		err = call(daemon ? daemon : own, method, parameters, ret);
		if (err)
			code = gp_ask_failed(err, NULL);
	}
	gp_daemon_close(own);
	json_decref(parameters);
	return code;
}

int gp_ask_pid(const char *text, pid_t *ret)
{
	u64 value;

	if (gp_parse_u64(text, &value) || !value || value > INT32_MAX) {
		gp_error("'%s' is not a process id; 'gpreempt list' has them", text);
		return -EINVAL;
	}
	*ret = (pid_t)value;
	return 0;
}

const char *gp_ask_text(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));

	return text ? text : "";
}

u64 gp_ask_number(const json_t *o, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(o, name));

	return value < 0 ? 0 : (u64)value;
}

bool gp_ask_true(const json_t *o, const char *name)
{
	return json_is_true(json_object_get(o, name));
}

const char *gp_ask_unit(const char *counter)
{
	const char *at = strstr(counter, "_ns");

	while (at && at[3] && at[3] != '_')
		at = strstr(at + 1, "_ns");
	return at;
}

int gp_ask_print(const struct gp_options *o, json_t *answer)
{
	json_t *root = json_object();
	int err = 0;

	gp_json_put(root, "schema", json_integer(GP_JSON_SCHEMA));
	json_object_update(root, answer);
	json_decref(answer);
	if (!o->every_ns)
		return gp_json_print(root, stdout) ? GP_EXIT_BAD : GP_EXIT_OK;
	err = json_dumpf(root, stdout, JSON_COMPACT) || putchar('\n') == EOF;
	json_decref(root);
	return err ? GP_EXIT_BAD : GP_EXIT_OK;
}

json_t *gp_ask_about(const char *pid_text)
{
	json_t *o;
	pid_t pid;

	if (gp_ask_pid(pid_text, &pid))
		return NULL;
	o = json_object();
	gp_json_put(o, "pid", json_integer(pid));
	return o;
}
