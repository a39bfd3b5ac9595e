// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "methods.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/varlink.h"
#include "log.h"
#include "text/value.h"

#define SERVICE		"org.varlink.service"

/* Timeout of a hold. It includes the second that attaching waits for a queue. */
#define HOLD_WAIT_NS	(4 * GP_SEC)

/* Sentences of the decider and of the socket have the same size. */
static_assert((int)GP_WHY_MAX == (int)GP_DECIDER_WHY, "one buffer for both");

/* ---- parameters ---- */

enum kind { NUMBER, TEXT, FLAG, TEXTS, TEXT_OF_NAME };

#define AT(member) offsetof(struct gp_arguments, member)

static const struct {
	const char *name;
	u8 kind;
	size_t at;
	s64 min, max;		/* of a number; of the bytes of a text */
} parameters[GP_NR_ARGUMENTS] = {
	[GP_ARG_PID]		= { "pid", NUMBER, AT(pid), 1, INT_MAX },
	[GP_ARG_START]		= { "start", NUMBER, AT(start), 1, INT64_MAX },
	[GP_ARG_CLASS]		= { "class", TEXT, AT(class), 1, 63 },
	[GP_ARG_GPU]		= { "gpu", TEXT, AT(gpu), 1, 31 },
	[GP_ARG_POLICY]		= { "policy", TEXT, AT(policy), 1, 31 },
	[GP_ARG_PARAMETERS]	= { "parameters", TEXT_OF_NAME, AT(parameters), 0, 127 },
	[GP_ARG_DRY_RUN]	= { "dry_run", FLAG, AT(dry_run), 0, 0 },
	[GP_ARG_IN_NS]		= { "in_ns", NUMBER, AT(in_ns), 0, 3600 * (s64)GP_SEC },
	[GP_ARG_FOR_NS]		= { "for_ns", NUMBER, AT(for_ns), 0, 3600 * (s64)GP_SEC },
	[GP_ARG_LEASE_NS]	= { "lease_ns", NUMBER, AT(lease_ns), 1, 3600 * (s64)GP_SEC },
	[GP_ARG_WAIT]		= { "wait", FLAG, AT(wait), 0, 0 },
	[GP_ARG_RENEW]		= { "renew", FLAG, AT(renew), 0, 0 },
	[GP_ARG_KINDS]		= { "kinds", TEXTS, AT(kinds), 1, 31 },
};

/* Returns true for printable text, which can be shown and logged unchanged. */
static bool is_text(const json_t *value, s64 min, s64 max)
{
	const char *text = json_string_value(value);
	size_t i, n = json_string_length(value);

	if (!text || (s64)n < min || (s64)n > max)
		return false;
	for (i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return true;
}

static bool all_texts(json_t *values, s64 min, s64 max)
{
	const json_t *value;
	const char *name;
	size_t i;

	json_array_foreach(values, i, value)
		if (!is_text(value, min, max))
			return false;
	json_object_foreach(values, name, value)
		if (!is_text(value, min, max))
			return false;
	return true;
}

static int read_one(u32 i, json_t *value, struct gp_arguments *ret, char *why)
{
	static const char *const expected[] = {
		[FLAG] = "true or false", [TEXTS] = "an array of texts",
		[TEXT_OF_NAME] = "an object of texts",
	};
	const char *name = parameters[i].name;
	void *to = (char *)ret + parameters[i].at;
	s64 min = parameters[i].min, max = parameters[i].max;
	bool good = false;

	switch (parameters[i].kind) {
	case NUMBER:
		*(s64 *)to = json_integer_value(value);
		good = json_is_integer(value) && *(s64 *)to >= min && *(s64 *)to <= max;
		break;
	case TEXT:
		*(const char **)to = json_string_value(value);
		good = is_text(value, min, max);
		break;
	case FLAG:
		*(bool *)to = json_is_true(value);
		good = json_is_boolean(value);
		break;
	case TEXTS:
	case TEXT_OF_NAME:
		*(json_t **)to = value;
		good = parameters[i].kind == TEXTS ? json_is_array(value) : json_is_object(value);
		good = good && all_texts(value, min, max);
		break;
	}
	if (good)
		return 0;
	if (parameters[i].kind == NUMBER || parameters[i].kind == TEXT)
		snprintf(why, GP_WHY_MAX, "%s: expected %s %lld to %lld%s", name,
			 parameters[i].kind == NUMBER ? "an integer from" : "a text of",
			 (long long)min, (long long)max,
			 parameters[i].kind == NUMBER ? "" : " bytes");
	else
		snprintf(why, GP_WHY_MAX, "%s: expected %s", name, expected[parameters[i].kind]);
	return -EINVAL;
}

int gp_arguments_read(const json_t *object, u32 takes, u32 needs, struct gp_arguments *ret,
		      const char **bad, char *why)
{
	json_t *value;
	u32 i;

	*ret = (struct gp_arguments){ 0 };
	json_object_foreach((json_t *)object, *bad, value) {
		for (i = 0; i < GP_NR_ARGUMENTS; i++)
			if ((takes & (1u << i)) && !strcmp(parameters[i].name, *bad))
				break;
		if (i == GP_NR_ARGUMENTS) {
			snprintf(why, GP_WHY_MAX, "%.64s: unknown parameter", *bad);
			return -EINVAL;
		}
		if (json_is_null(value))
			continue;
		if (read_one(i, value, ret, why))
			return -EINVAL;
		ret->given |= 1u << i;
	}
	for (i = 0; i < GP_NR_ARGUMENTS; i++) {
		if (!(needs & ~ret->given & (1u << i)))
			continue;
		*bad = parameters[i].name;
		snprintf(why, GP_WHY_MAX, "%s: missing parameter", *bad);
		return -EINVAL;
	}
	return 0;
}

static struct gp_process_id id_of(const struct gp_arguments *a)
{
	return (struct gp_process_id){ .pid = (pid_t)a->pid, .start = (u64)a->start };
}

static int refuse(struct gp_call *call, int err, const char *about, const char *what)
{
	snprintf(call->why, GP_WHY_MAX, "%.80s: %s", about, what);
	return err;
}

/* ---- the policy ---- */

struct policy_change {
	bool policy_set;
	const struct gp_policy *policy;		/* NULL: only observe */
	bool param_set[GP_NR_PARAMS];
	u64 param[GP_NR_PARAMS];
};

static int read_param(struct policy_change *c, const char *name, const char *text,
		      struct gp_call *call)
{
	char range[64];
	u32 i;

	for (i = 0; i < GP_NR_PARAMS; i++)
		if (!strcmp(gp_params[i].name, name))
			break;
	if (i == GP_NR_PARAMS)
		return refuse(call, -EINVAL, name,
			      "unknown parameter; 'gpreempt policy' lists them");
	if (text && !gp_parse_param(&gp_params[i], text, &c->param[i])) {
		c->param_set[i] = true;
		return 0;
	}
	gp_print_param_range(&gp_params[i], range, sizeof(range));
	snprintf(call->why, GP_WHY_MAX, "%s: '%.60s': invalid value (%s); expected %s", name,
		 text ? text : "", gp_params[i].what, range);
	return -EINVAL;
}

/* Reads the whole change before any part of it is applied. */
static int read_change(const struct gp_decider *h, const struct gp_arguments *a,
		       struct policy_change *c, struct gp_call *call)
{
	const char *name;
	json_t *value;
	int err = 0;

	memset(c, 0, sizeof(*c));
	if (a->policy && strcmp(a->policy, "none")) {
		c->policy = gp_policy_find(a->policy);
		if (!c->policy)
			return refuse(call, -EINVAL, a->policy, "unknown policy; expected none, "
				      "fifo, priority, fair or deadline");
		if (h->args.observe)
			return refuse(call, -EBUSY, a->policy,
				      "the daemon was started with --observe and never acts");
	}
	c->policy_set = a->policy;
	json_object_foreach(a->parameters, name, value) {
		err = read_param(c, name, json_string_value(value), call);
		if (err)
			return err;
	}
	return 0;
}

/* Gets the parameters that result from @c. */
static void params_after(const struct gp_decider *h, const struct policy_change *c, u64 *param)
{
	const u64 *from = c->policy ? gp_config_params(h->config, c->policy) : h->param;

	for (u32 i = 0; i < GP_NR_PARAMS; i++)
		param[i] = c->param_set[i] ? c->param[i] : from[i];
}

/* Checks the bounds that the configuration has, too. */
static int check_change(const struct gp_decider *h, const struct policy_change *c, const u64 *param,
			char *why)
{
	if (c->policy_set && !c->policy)
		return 0;
	return gp_looks_fit(param, why, GP_WHY_MAX) &&
	       gp_lease_fits(param, h->config->daemon.heartbeat_ns, why, GP_WHY_MAX) ? 0 : -EINVAL;
}

/* Applies the whole change, or nothing. */
static int make_change(struct gp_decider *h, const struct policy_change *c, char *why)
{
	const struct gp_policy *policy = h->observe ? NULL : h->policy;
	u64 before[GP_NR_PARAMS];
	u32 i, refused = 0;
	int err;

	memcpy(before, h->param, sizeof(before));
	err = c->policy_set ? gp_decider_set_policy(h, c->policy, why) : 0;
	if (err)
		return err;
	while (refused < GP_NR_PARAMS && (!c->param_set[refused] ||
	       !gp_decider_set_param(h, (enum gp_param)refused, c->param[refused])))
		refused++;
	if (refused == GP_NR_PARAMS)
		return 0;
	if (c->policy_set)
		gp_decider_set_policy(h, policy, why);
	for (i = 0; i < GP_NR_PARAMS; i++)
		gp_decider_set_param(h, (enum gp_param)i, before[i]);
	snprintf(why, GP_WHY_MAX, "%s: beyond the bounds of the module; see gpreempt(4)",
		 gp_params[refused].name);
	return -EINVAL;
}

/*
 * Saves the change. A policy begins with its configured parameters, so earlier parameters set by
 * hand are forgotten.
 */
static void keep_change(struct gp_methods *m, const struct policy_change *c)
{
	struct gp_saved_state *s = &m->state->state;

	m->state->policy_is_newer = m->state->unread;
	if (c->policy_set) {
		memset(s->param_set, 0, sizeof(s->param_set));
		snprintf(s->policy, sizeof(s->policy), "%s", c->policy ? c->policy->name : "none");
	}
	for (u32 i = 0; i < GP_NR_PARAMS; i++) {
		if (!c->param_set[i])
			continue;
		s->param_set[i] = true;
		s->param[i] = c->param[i];
	}
}

static int set_policy(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		      json_t **ret)
{
	struct gp_decider *h = m->args.decider;
	struct policy_change c;
	u64 param[GP_NR_PARAMS];
	const char *name;
	int err = read_change(h, a, &c, call);

	params_after(h, &c, param);
	if (!err)
		err = check_change(h, &c, param, call->why);
	if (!err)
		err = a->dry_run ? gp_decider_try_policy(h, c.policy, call->why) : make_change(h,
							 &c, call->why);
	if (err)
		return err;
	if (!a->dry_run)
		keep_change(m, &c);
	name = gp_decider_policy_name(h);
	if (a->dry_run && c.policy_set)
		name = c.policy ? c.policy->name : "none";
	*ret = json_pack("{s:s, s:o, s:b}", "policy", name, "parameters",
			 gp_method_parameters(a->dry_run ? param : h->param),
			 "changed", !a->dry_run);
	return GP_CALL_DONE;
}

/* ---- one process ---- */

/* SetClass, and Register with a shorter answer. */
static int set_class(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		     json_t **ret)
{
	char previous[GP_CLASS_NAME], now[GP_CLASS_NAME];
	struct gp_process_id id = id_of(a);
	int err = 0;

	/* Requests of unprivileged users leave room for root and the group. */
	if (a->class && !call->peer->privileged)
		err = gp_decider_may_request_class(m->args.decider, &id, call->why);
	if (!err)
		err = gp_decider_set_class(m->args.decider, &id, a->class, previous, now,
					   call->why);
	if (err)
		return err;
	*ret = json_pack("{s:s}", "class", now);
	if (*ret && !strcmp(call->method, GP_INTERFACE ".SetClass"))
		json_object_update_new(*ret, json_pack("{s:s, s:b}", "previous", previous,
			"uses_gpu", gp_decider_find(m->args.decider, &id) != NULL));
	return GP_CALL_DONE;
}

static int hint(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		json_t **ret)
{
	struct gp_process_id id = id_of(a);

	(void)ret;
	return gp_decider_hint(m->args.decider, &id, (u64)a->in_ns, (u64)a->for_ns, call->why);
}

static json_t *granted(u64 ns)
{
	return json_pack("{s:I}", "lease_ns", (json_int_t)ns);
}

static int hold(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		json_t **ret)
{
	struct gp_decider *h = m->args.decider;
	struct gp_process_id id = id_of(a);
	const struct gp_gpu_process *r = gp_decider_find(h, &id);
	u64 ns = 0;
	int err;

	if (a->wait && m->nr_waiters == GP_WAITERS)
		return refuse(call, -EBUSY, "wait", "too many calls wait for a hold");
	if (a->renew && r && !gp_method_held_until(h, r)) {
		snprintf(call->why, GP_WHY_MAX,
			 "process %d is not held: it was released, or its lease ended", id.pid);
		return -ECANCELED;
	}
	err = gp_decider_hold(h, &id, (u64)a->lease_ns, &ns, call->why);
	if (err)
		return err;
	if (!a->wait) {
		*ret = granted(ns);
		return GP_CALL_DONE;
	}
	m->waiter[m->nr_waiters++] = (struct gp_hold_waiter){
		.token = call->token, .id = id, .granted_ns = ns,
		.until_ns = h->now_ns + HOLD_WAIT_NS,
	};
	return GP_CALL_LATER;
}

/* Release and Trigger, whose answers are empty. */
static int act(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
	       json_t **ret)
{
	struct gp_process_id id = id_of(a);

	(void)ret;
	return !strcmp(call->method, GP_INTERFACE ".Release") ?
	       gp_decider_release(m->args.decider, &id, call->why) :
	       gp_decider_trigger(m->args.decider, &id, call->why);
}

/* ---- all processes ---- */

static int enable(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		  json_t **ret)
{
	bool on = !strcmp(call->method, GP_INTERFACE ".Enable");
	int changed = gp_decider_enable(m->args.decider, on, call->why);

	(void)a;
	if (changed < 0)
		return changed;
	*ret = json_pack("{s:b}", "changed", changed);
	return GP_CALL_DONE;
}

static int reload(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		  json_t **ret)
{
	(void)a, (void)ret;
	return m->args.reload(m->args.ctx, call->why);
}

/* ---- the table ---- */

enum right {
	ANYONE,		/* the handler shows each client what it may see */
	OWN,		/* a process of the caller's user; root, group: any */
	OWN_LOWER,	/* the same, and only root and the group may raise its class */
	ADMIN,		/* root and the group */
};

#define TAKES(x) (1u << GP_ARG_##x)
#define TARGET (TAKES(PID) | TAKES(START))

static const struct method {
	const char *name;
	u8 right;		/* enum right */
	bool more;		/* the method has several answers */
	bool changes;		/* the method changes the state of state.h */
	u32 takes, needs;	/* bit per enum gp_argument */
	gp_handler *run;
} methods[] = {
	{ "Status", ANYONE, false, false, 0, 0, gp_method_status },
	{ "List", ANYONE, false, false, TAKES(GPU) | TAKES(PID), 0, gp_method_list },
	{ "Stats", ANYONE, false, false, TAKES(PID), 0, gp_method_stats },
	{ "GetPolicy", ANYONE, false, false, 0, 0, gp_method_get_policy },
	{ "SetPolicy", ADMIN, false, true, TAKES(POLICY) | TAKES(PARAMETERS) | TAKES(DRY_RUN), 0,
	  set_policy },
	{ "SetClass", OWN_LOWER, false, true, TARGET | TAKES(CLASS), TAKES(PID) | TAKES(CLASS),
	  set_class },
	{ "Register", OWN_LOWER, false, true, TARGET | TAKES(CLASS), 0, set_class },
	{ "Hint", OWN, false, false, TARGET | TAKES(IN_NS) | TAKES(FOR_NS),
	  TAKES(IN_NS) | TAKES(FOR_NS), hint },
	{ "Hold", OWN, false, true, TARGET | TAKES(LEASE_NS) | TAKES(WAIT) | TAKES(RENEW),
	  TAKES(PID) | TAKES(LEASE_NS), hold },
	{ "Release", OWN, false, true, TARGET, TAKES(PID), act },
	{ "Trigger", OWN, false, false, TARGET, 0, act },
	{ "Enable", ADMIN, false, false, 0, 0, enable },
	{ "Disable", ADMIN, false, false, 0, 0, enable },
	{ "Reload", ADMIN, false, true, 0, 0, reload },
	{ "Subscribe", ANYONE, true, false, TAKES(KINDS), 0, gp_method_subscribe },
	{ "Record", ADMIN, true, false, 0, 0, gp_method_record },
};

/* ---- rights ---- */

static int deny(const struct gp_methods *m, struct gp_call *call, const char *what)
{
	snprintf(call->why, GP_WHY_MAX, "permission denied: %s needs root or the group %s", what,
		 m->group);
	return -EPERM;
}

static int check_process(struct gp_methods *m, const struct method *method, struct gp_call *call,
			 struct gp_arguments *a)
{
	struct gp_decider *h = m->args.decider;
	struct gp_process_id id = id_of(a);
	char text[80];
	uid_t owner;
	int err = gp_decider_owner(h, &id, &owner);

	if (err == -ESRCH)
		snprintf(call->why, GP_WHY_MAX, "process %d%s: not found", id.pid,
			 id.start ? " with that start time" : "");
	if (err)
		return err;
	if (!call->peer->privileged && owner != call->peer->uid) {
		snprintf(text, sizeof(text), "%s of another user's process %d", method->name,
			 id.pid);
		return deny(m, call, text);
	}
	/* Bind the call to this process, because the pid may be reused. */
	a->start = (s64)id.start;
	if (method->right != OWN_LOWER)
		return 0;
	/* No class means the class by the rules, which may be higher than the present one. */
	err = gp_decider_raises(h, &id, a->class);
	if (err == -EINVAL)
		snprintf(call->why, GP_WHY_MAX, "%.31s: unknown class; expected online, "
			 "interactive, offline, idle, unmanaged, or one of gpreempt.conf",
			 a->class);
	if (err <= 0 || call->peer->privileged)
		return err < 0 ? err : 0;
	return deny(m, call, "a higher class");
}

/* Sets the process of a call that names none to the caller's, if the daemon can see it. */
static int default_process(const struct gp_peer *peer, struct gp_call *call,
			   struct gp_arguments *a)
{
	if (a->pid)
		return 0;
	call->bad = a->start ? "start" : "pid";
	if (a->start)
		return refuse(call, -EINVAL, "start", "needs pid");
	if (!peer->pid)
		return refuse(call, -EINVAL, "pid",
			      "missing, and the daemon cannot see the caller's process");
	a->pid = peer->pid;
	return 0;
}

static int check_rights(struct gp_methods *m, const struct method *method, struct gp_call *call,
			struct gp_arguments *a)
{
	int err;

	if (method->right == ANYONE)
		return 0;
	if (method->right == ADMIN)
		return call->peer->privileged ? 0 : deny(m, call, method->name);
	err = default_process(call->peer, call, a);
	if (err)
		return err;
	call->bad = a->class ? "class" : NULL;
	return check_process(m, method, call, a);
}

/* ---- org.varlink.service: what every Varlink service says about itself ---- */

/* Consumes @parameters. */
static int service_error(struct gp_call *call, const char *name, json_t *parameters,
			 json_t **ret)
{
	call->error = name;
	*ret = parameters;
	return GP_CALL_REFUSED;
}

static int describe(struct gp_call *call, json_t **ret)
{
	const char *which = json_string_value(json_object_get(call->parameters, "interface"));
	const char *text = NULL;

	if (!which)
		return service_error(call, SERVICE ".InvalidParameter",
				     json_pack("{s:s}", "parameter", "interface"), ret);
	if (!strcmp(which, GP_INTERFACE))
		text = gp_varlink_description;
	else if (!strcmp(which, SERVICE))
		text = gp_varlink_service;
	else
		return service_error(call, SERVICE ".InterfaceNotFound",
				     json_pack("{s:s}", "interface", which), ret);
	*ret = json_pack("{s:s}", "description", text);
	return GP_CALL_DONE;
}

/* A method of org.varlink.service, or of an interface that is not served. */
static int call_service(struct gp_methods *m, struct gp_call *call, json_t **ret)
{
	const char *dot = strrchr(call->method, '.');
	size_t n = dot ? (size_t)(dot - call->method) : strlen(call->method);

	if (!strcmp(call->method, SERVICE ".GetInterfaceDescription"))
		return describe(call, ret);
	if (!strcmp(call->method, SERVICE ".GetInfo")) {
		*ret = json_pack("{s:s, s:s, s:s, s:s, s:[s, s]}", "vendor", "gpreempt", "product",
				 "gpreemptd", "version", m->args.version, "url", "",
				 "interfaces", SERVICE, GP_INTERFACE);
		return GP_CALL_DONE;
	}
	if (n == strlen(SERVICE) && !strncmp(call->method, SERVICE, n))
		return service_error(call, SERVICE ".MethodNotFound",
				     json_pack("{s:s}", "method", call->method), ret);
	return service_error(call, SERVICE ".InterfaceNotFound",
			     json_pack("{s:s%}", "interface", call->method, n), ret);
}

/* ---- one call ---- */

static const struct method *find(const char *full)
{
	const char *name = full + sizeof(GP_INTERFACE);
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

static int call_method(void *ctx, struct gp_call *call, json_t **ret)
{
	const char *dot = strrchr(call->method, '.');
	struct gp_methods *m = ctx;
	const struct method *method;
	struct gp_arguments a;
	int result;

	if (strncmp(call->method, GP_INTERFACE ".", sizeof(GP_INTERFACE)) ||
	    dot != call->method + sizeof(GP_INTERFACE) - 1)
		return call_service(m, call, ret);
	method = find(call->method);
	if (!method)
		return service_error(call, SERVICE ".MethodNotFound",
				     json_pack("{s:s}", "method", call->method), ret);
	if (method->more && (!call->more || call->oneway))
		return service_error(call, SERVICE ".ExpectedMore", json_object(), ret);
	result = gp_arguments_read(call->parameters, method->takes, method->needs, &a, &call->bad,
				   call->why);
	if (!result)
		result = check_rights(m, method, call, &a);
	if (result)
		return result;
	/* From here on -EINVAL means that the decider refused this value. */
	call->bad = a.class ? "class" : a.policy || a.parameters ? "parameters" : NULL;
	call->why[0] = 0;
	result = method->run(m, call, &a, ret);
	if (method->changes && result >= 0)
		m->state->changed = true;
	return result;
}

/* ---- holds that clients wait for ---- */

static void client_gone(void *ctx, gp_token token)
{
	struct gp_methods *m = ctx;
	u32 i;

	for (i = m->nr_waiters; i--;)
		if (m->waiter[i].token == token)
			m->waiter[i] = m->waiter[--m->nr_waiters];
}

/* Returns whether the call was answered. */
static bool answer_waiter(struct gp_methods *m, const struct gp_hold_waiter *w)
{
	struct gp_decider *h = m->args.decider;
	const struct gp_gpu_process *r = gp_decider_find(h, &w->id);

	if (!r)
		gp_control_fail(m->control, w->token, ESRCH, "the process exited");
	else if (gp_method_is_off(gp_method_states(h, r)))
		gp_control_reply(m->control, w->token, granted(w->granted_ns));
	else if (h->now_ns >= w->until_ns)
		gp_control_fail(m->control, w->token, ETIMEDOUT,
				r->trouble[0] ? r->trouble : "it could not be stopped in time");
	else
		return false;
	return true;
}

/* ---- the state ---- */

static void restore_policy(struct gp_methods *m)
{
	struct gp_decider *h = m->args.decider;
	struct gp_saved_state *s = &m->state->state;
	struct policy_change c = { .policy_set = s->policy[0] };
	char why[GP_DECIDER_WHY] = "unknown policy";
	u64 param[GP_NR_PARAMS];
	int err = 0;
	u32 i;

	for (i = 0; i < GP_NR_PARAMS && !s->param_set[i]; i++)
		;
	if (!c.policy_set && i == GP_NR_PARAMS)
		return;
	memcpy(c.param_set, s->param_set, sizeof(c.param_set));
	memcpy(c.param, s->param, sizeof(c.param));
	if (c.policy_set && strcmp(s->policy, "none")) {
		c.policy = gp_policy_find(s->policy);
		err = c.policy && !h->args.observe ? 0 : -EINVAL;
	}
	params_after(h, &c, param);
	if (!err)
		err = check_change(h, &c, param, why);
	if (!err)
		err = make_change(h, &c, why);
	if (err)
		gp_log(GP_LOG_WARNING, "policy %s, set by hand before the restart, is dropped: %s",
		       s->policy, why);
	else if (c.policy_set)
		gp_log(GP_LOG_INFO, "policy %s, set by hand before the restart, is kept; "
		       "'gpreempt policy' or a reload changes it", s->policy);
	if (err)
		gp_methods_reloaded(m);
}

void gp_methods_end(struct gp_methods *m, const char *why)
{
	gp_state_end(m->state, m->args.decider, why);
}

void gp_methods_reloaded(struct gp_methods *m)
{
	m->state->policy_is_newer = m->state->unread;
	m->state->state.policy[0] = 0;
	memset(m->state->state.param_set, 0, sizeof(m->state->state.param_set));
	m->state->changed = true;
}

/* ---- life ---- */

void gp_methods_after(struct gp_methods *m)
{
	u32 i;

	for (i = m->nr_waiters; i--;)
		if (answer_waiter(m, &m->waiter[i]))
			m->waiter[i] = m->waiter[--m->nr_waiters];
	gp_method_stream(m);
	if (gp_state_tend(m->state, m->args.decider))
		restore_policy(m);
}

int gp_methods_new(const struct gp_methods_args *args, struct gp_methods **ret)
{
	struct gp_methods *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->args = *args;
	/* A copy, because a reload replaces the configuration it belongs to. */
	snprintf(m->group, sizeof(m->group), "%s", args->group ? args->group : "root");
	m->state = gp_state_open(args->state, args->decider);
	if (!m->state) {
		free(m);
		return -ENOMEM;
	}
	restore_policy(m);
	*ret = m;
	return 0;
}

void gp_methods_free(struct gp_methods *m)
{
	if (!m)
		return;
	json_decref(m->records);
	free(m->state);
	free(m);
}

void gp_methods_serve(struct gp_methods *m, struct gp_control_args *args)
{
	args->ctx = m;
	args->call = call_method;
	args->next = gp_method_next;
	args->gone = client_gone;
}
