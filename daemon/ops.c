// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Calls that change something. */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/value.h"

/* A hold that did not come about by then: attaching waits for a queue to be a second old. */
#define HOLD_WAIT_NS	(4 * GP_SEC)

static struct gp_home *home_of(void *ctx)
{
	return ((struct gp_ops *)ctx)->args.home;
}

static struct gp_who who_of(const struct gp_target *target)
{
	return (struct gp_who){ target->pid, target->start };
}

/* The socket's sentence is as long as the home's. */
static_assert((int)GP_WHY_MAX == (int)GP_HOME_WHY, "one buffer for both");

static int reply(void *ctx, const struct gp_request *rq, json_t *parameters)
{
	struct gp_ops *o = ctx;

	gp_control_reply(o->control, rq->token, parameters);
	return 0;
}

/* ---- permission ---- */

static int ops_owner(void *ctx, const struct gp_target *target, uid_t *ret)
{
	struct gp_who who = who_of(target);

	return gp_home_owner(home_of(ctx), &who, ret);
}

static int ops_raises(void *ctx, const struct gp_target *target, const char *class)
{
	struct gp_who who = who_of(target);

	return gp_home_raises(home_of(ctx), &who, class);
}

/* ---- policy ---- */

struct change {
	bool policy_set;
	const struct gp_policy *policy;		/* NULL: only observe */
	bool param_set[GP_NR_PARAMS];
	u64 param[GP_NR_PARAMS];
};

static int refuse(char *why, int err, const char *what, const char *about)
{
	snprintf(why, GP_WHY_MAX, "%s: %s", about, what);
	return err;
}

static int read_param(struct change *c, const char *name, const char *text, char *why)
{
	char range[64];
	u32 i;
	int err;

	for (i = 0; i < GP_NR_PARAMS; i++)
		if (!strcmp(gp_params[i].name, name))
			break;
	if (i == GP_NR_PARAMS)
		return refuse(why, -EINVAL, "no such parameter; gpreempt policy lists them", name);
	err = text ? gp_parse_param(&gp_params[i], text, &c->param[i]) : -EINVAL;
	if (err) {
		gp_print_param_range(&gp_params[i], range, sizeof(range));
		snprintf(why, GP_WHY_MAX, "%s: '%.60s' will not do (%s); write %s", name,
			 text ? text : "", gp_params[i].what, range);
		return -EINVAL;
	}
	c->param_set[i] = true;
	return 0;
}

/* Everything that is asked for, understood, before anything is changed. */
static int read_change(struct gp_home *h, const struct gp_policy_args *args, struct change *c,
		       char *why)
{
	const char *name;
	json_t *value;
	int err;

	memset(c, 0, sizeof(*c));
	if (args->policy && strcmp(args->policy, "none")) {
		c->policy = gp_policy_find(args->policy);
		if (!c->policy)
			return refuse(why, -EINVAL, "no such policy; write one of none, fifo, "
				      "priority, fair, deadline", args->policy);
		if (h->args.observe)
			return refuse(why, -EBUSY, "started with --observe: it never acts",
				      args->policy);
	}
	c->policy_set = args->policy;
	json_object_foreach(args->parameters, name, value) {
		err = read_param(c, name, json_string_value(value), why);
		if (err)
			return err;
	}
	return 0;
}

static int make_change(struct gp_home *h, const struct change *c, char *why)
{
	u32 i;
	int err;

	if (c->policy_set) {
		err = gp_home_set_policy(h, c->policy, why);
		if (err)
			return err;
	}
	for (i = 0; i < GP_NR_PARAMS; i++)
		if (c->param_set[i])
			gp_home_set_param(h, (enum gp_param)i, c->param[i]);
	return 0;
}

/* The parameters after @c, made or not. */
static void would_be(const struct gp_home *h, const struct change *c, u64 *param)
{
	const u64 *from = c->policy ? gp_config_params(h->config, c->policy) : h->param;

	for (u32 i = 0; i < GP_NR_PARAMS; i++)
		param[i] = c->param_set[i] ? c->param[i] : from[i];
}

/* What the configuration may not say may not be said here either. */
static int fits(const struct gp_home *h, const u64 *param, char *why)
{
	return gp_looks_fit(param, why, GP_WHY_MAX) &&
	       gp_lease_fits(param, h->config->daemon.heartbeat_ns, why, GP_WHY_MAX) ? 0 : -EINVAL;
}

static int ops_set_policy(void *ctx, struct gp_request *rq, const struct gp_policy_args *args)
{
	struct gp_home *h = home_of(ctx);
	const char *name;
	u64 param[GP_NR_PARAMS];
	struct change c;
	int err = read_change(h, args, &c, rq->why);

	would_be(h, &c, param);
	if (!err && (c.policy || !c.policy_set))
		err = fits(h, param, rq->why);
	if (!err && args->dry_run)
		err = gp_home_try_policy(h, c.policy, rq->why);
	else if (!err)
		err = make_change(h, &c, rq->why);
	if (err)
		return err;
	name = gp_home_policy_name(h);
	if (args->dry_run && c.policy_set)
		name = c.policy ? c.policy->name : "none";
	return reply(ctx, rq, json_pack("{s:s, s:o, s:b}", "policy", name, "parameters",
					gp_ops_parameters(param), "changed", !args->dry_run));
}

/* ---- one process ---- */

/* Is there room for a class of its own, for who asks? */
static int may_wish(struct gp_home *h, const struct gp_request *rq, const struct gp_who *who,
		    const char *class)
{
	return class && !rq->peer->privileged ? gp_home_may_wish(h, who, rq->why) : 0;
}

static int ops_set_class(void *ctx, struct gp_request *rq, const struct gp_target *target,
			 const char *class)
{
	char previous[GP_CLASS_NAME], now[GP_CLASS_NAME];
	struct gp_who who = who_of(target);
	int err = may_wish(home_of(ctx), rq, &who, class);

	if (!err)
		err = gp_home_set_class(home_of(ctx), &who, class, previous, now, rq->why);
	return err ? err : reply(ctx, rq, json_pack("{s:s, s:s}", "class", now, "previous",
						    previous));
}

static int ops_enrol(void *ctx, struct gp_request *rq, const struct gp_target *target,
		     const char *class)
{
	char previous[GP_CLASS_NAME], now[GP_CLASS_NAME];
	struct gp_who who = who_of(target);
	int err = may_wish(home_of(ctx), rq, &who, class);

	if (!err)
		err = gp_home_set_class(home_of(ctx), &who, class, previous, now, rq->why);
	return err ? err : reply(ctx, rq, json_pack("{s:s}", "class", now));
}

static int ops_hint(void *ctx, struct gp_request *rq, const struct gp_target *target, u64 in_ns,
		    u64 for_ns)
{
	struct gp_who who = who_of(target);
	int err = gp_home_hint(home_of(ctx), &who, in_ns, for_ns, rq->why);

	return err ? err : reply(ctx, rq, NULL);
}

static json_t *granted(u64 ns)
{
	return json_pack("{s:I}", "lease_ns", (json_int_t)ns);
}

static int ops_hold(void *ctx, struct gp_request *rq, const struct gp_target *target,
		    u64 lease_ns, bool wait)
{
	struct gp_who who = who_of(target);
	struct gp_ops *o = ctx;
	u64 ns = 0;
	int err;

	if (wait && o->nr_waiters == GP_OPS_WAITERS)
		return refuse(rq->why, -EBUSY, "too many wait for a hold already", "wait");
	err = gp_home_hold(o->args.home, &who, lease_ns, &ns, rq->why);
	if (err)
		return err;
	if (!wait)
		return reply(ctx, rq, granted(ns));
	o->waiter[o->nr_waiters++] = (struct gp_ops_waiter){
		.token = rq->token, .who = who, .granted_ns = ns,
		.until_ns = o->args.home->now_ns + HOLD_WAIT_NS,
	};
	return 0;
}

static int ops_release(void *ctx, struct gp_request *rq, const struct gp_target *target)
{
	struct gp_who who = who_of(target);
	int err = gp_home_release(home_of(ctx), &who, rq->why);

	return err ? err : reply(ctx, rq, NULL);
}

static int ops_trigger(void *ctx, struct gp_request *rq, const struct gp_target *target)
{
	struct gp_who who = who_of(target);
	int err = gp_home_trigger(home_of(ctx), &who, rq->why);

	return err ? err : reply(ctx, rq, NULL);
}

/* ---- everybody ---- */

static int ops_enable(void *ctx, struct gp_request *rq, bool on)
{
	int changed = gp_home_enable(home_of(ctx), on, rq->why);

	if (changed < 0)
		return changed;
	return reply(ctx, rq, json_pack("{s:b}", "changed", changed));
}

static int ops_reload(void *ctx, struct gp_request *rq)
{
	struct gp_ops *o = ctx;
	int err = o->args.reload(o->args.ctx, rq->why);

	return err ? err : reply(ctx, rq, NULL);
}

/* ---- holds that are waited for ---- */

static void drop_waiter(struct gp_ops *o, u32 i)
{
	o->waiter[i] = o->waiter[--o->nr_waiters];
}

static void ops_gone(void *ctx, gp_token token)
{
	struct gp_ops *o = ctx;
	u32 i;

	for (i = o->nr_waiters; i--;)
		if (o->waiter[i].token == token)
			drop_waiter(o, i);
}

/* True: it was answered. */
static bool answer_waiter(struct gp_ops *o, const struct gp_ops_waiter *w)
{
	struct gp_home *h = o->args.home;
	const struct gp_resident *r = gp_home_find(h, &w->who);

	if (!r)
		gp_control_fail(o->control, w->token, ESRCH, "the process has ended");
	else if (gp_ops_off(gp_ops_states(h, r)))
		gp_control_reply(o->control, w->token, granted(w->granted_ns));
	else if (h->now_ns >= w->until_ns)
		gp_control_fail(o->control, w->token, ETIMEDOUT,
				r->trouble[0] ? r->trouble : "it could not be stopped in time");
	else
		return false;
	return true;
}

void gp_ops_after(struct gp_ops *o)
{
	u32 i;

	for (i = o->nr_waiters; i--;)
		if (answer_waiter(o, &o->waiter[i]))
			drop_waiter(o, i);
	gp_ops_stream(o);
}

/* ---- life ---- */

const struct gp_control_ops gp_ops_table = {
	.owner		= ops_owner,
	.raises		= ops_raises,
	.status		= gp_ops_status,
	.get_policy	= gp_ops_get_policy,
	.list_head	= gp_ops_list_head,
	.list_next	= gp_ops_list_next,
	.stats_head	= gp_ops_stats_head,
	.stats_next	= gp_ops_stats_next,
	.set_policy	= ops_set_policy,
	.set_class	= ops_set_class,
	.enrol		= ops_enrol,
	.hint		= ops_hint,
	.hold		= ops_hold,
	.release	= ops_release,
	.trigger	= ops_trigger,
	.enable		= ops_enable,
	.reload		= ops_reload,
	.record		= gp_ops_record,
	.gone		= ops_gone,
};

int gp_ops_new(const struct gp_ops_args *args, struct gp_ops **ret)
{
	struct gp_ops *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->args = *args;
	*ret = o;
	return 0;
}

void gp_ops_free(struct gp_ops *o)
{
	if (!o)
		return;
	json_decref(o->records);
	free(o);
}

void gp_ops_connect(struct gp_ops *o, struct gp_control *control)
{
	o->control = control;
	if (!control)
		gp_ops_deaf(o);
}
