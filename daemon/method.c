// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The methods of org.gpreempt: what each takes, and who may call it. */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "conn.h"

/* What of another's a call touches; root and the group may everything. */
enum who {
	ANYONE,		/* nothing: it reads */
	OWNER,		/* a process: that of the caller's user */
	LOWER,		/* and its class, which must not rise */
	GROUP,		/* everybody's */
	WATCHER,	/* nothing, but it sees of everybody what List does not tell */
};

struct method {
	const char *name;
	u8 who;			/* enum who */
	bool more;		/* answers again and again */
	u32 takes, needs;	/* bit per enum gp_argument */
	/* 0 or -errno as in struct gp_control_ops; -ENOSYS: it is not there. */
	int (*call)(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		    const struct gp_arguments *a);
};

#define OPS(c, op) (!(c)->args.ops->op ? -ENOSYS : (c)->args.ops->op

static struct gp_target target_of(const struct gp_arguments *a)
{
	return (struct gp_target){ .pid = (pid_t)a->pid, .start = (u64)a->start };
}

/* ---- calls, in the order of the table ---- */

static int status(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		  const struct gp_arguments *a)
{
	(void)conn, (void)a;
	return OPS(c, status)(c->args.ctx, rq));
}

static int list(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		const struct gp_arguments *a)
{
	const struct gp_list_args args = { .gpu = a->gpu, .pid = (pid_t)a->pid };
	json_t *head;
	int err = OPS(c, list_head)(c->args.ctx, rq, &args, &head));

	if (err)
		return err;
	conn->pieces = (struct gp_pieces){ .pid = args.pid };
	snprintf(conn->pieces.gpu, sizeof(conn->pieces.gpu), "%s", a->gpu ? a->gpu : "");
	gp_pieces_begin(conn, head);
	return 0;
}

static int stats(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		 const struct gp_arguments *a)
{
	json_t *head;
	int err = OPS(c, stats_head)(c->args.ctx, rq, &head));

	if (err)
		return err;
	conn->pieces = (struct gp_pieces){ .stats = true, .pid = (pid_t)a->pid };
	gp_pieces_begin(conn, head);
	return 0;
}

static int get_policy(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		      const struct gp_arguments *a)
{
	(void)conn, (void)a;
	return OPS(c, get_policy)(c->args.ctx, rq));
}

static int set_policy(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		      const struct gp_arguments *a)
{
	const struct gp_policy_args args = {
		.policy = a->policy, .parameters = a->parameters, .dry_run = a->dry_run,
	};

	(void)conn;
	return OPS(c, set_policy)(c->args.ctx, rq, &args));
}

static int set_class(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		     const struct gp_arguments *a)
{
	const struct gp_target target = target_of(a);

	(void)conn;
	return OPS(c, set_class)(c->args.ctx, rq, &target, a->class));
}

static int enrol(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		 const struct gp_arguments *a)
{
	const struct gp_target target = target_of(a);

	(void)conn;
	return OPS(c, enrol)(c->args.ctx, rq, &target, a->class));
}

static int hint(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		const struct gp_arguments *a)
{
	const struct gp_target target = target_of(a);

	(void)conn;
	return OPS(c, hint)(c->args.ctx, rq, &target, (u64)a->in_ns, (u64)a->for_ns));
}

static int hold(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		const struct gp_arguments *a)
{
	const struct gp_target target = target_of(a);

	(void)conn;
	return OPS(c, hold)(c->args.ctx, rq, &target, (u64)a->lease_ns, a->wait));
}

static int release(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		   const struct gp_arguments *a)
{
	const struct gp_target target = target_of(a);

	(void)conn;
	return OPS(c, release)(c->args.ctx, rq, &target));
}

static int trigger(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		   const struct gp_arguments *a)
{
	const struct gp_target target = target_of(a);

	(void)conn;
	return OPS(c, trigger)(c->args.ctx, rq, &target));
}

static int enable(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		  const struct gp_arguments *a)
{
	(void)conn, (void)a;
	return OPS(c, enable)(c->args.ctx, rq, true));
}

static int disable(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		   const struct gp_arguments *a)
{
	(void)conn, (void)a;
	return OPS(c, enable)(c->args.ctx, rq, false));
}

static int reload(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		  const struct gp_arguments *a)
{
	(void)conn, (void)a;
	return OPS(c, reload)(c->args.ctx, rq));
}

/* Consumes @first, the first answer. */
static void begin_stream(struct gp_conn *conn, u32 wants, json_t *first)
{
	json_object_set_new(first, "lost", json_integer(0));
	gp_conn_send(conn, json_pack("{s:o, s:b}", "parameters", first, "continues", 1));
	conn->state = GP_CONN_STREAM;
	conn->wants = wants;
	conn->lost = 0;
}

static const char *const event_names[GP_NR_EVENTS] = {
	[GP_EVENT_PROCESS] = "process", [GP_EVENT_QUEUE] = "queue", [GP_EVENT_CLASS] = "class",
	[GP_EVENT_STATE] = "state", [GP_EVENT_HOLD] = "hold", [GP_EVENT_POLICY] = "policy",
	[GP_EVENT_ENABLED] = "enabled", [GP_EVENT_GPU] = "gpu", [GP_EVENT_TROUBLE] = "trouble",
	[GP_EVENT_PREEMPTION] = "preemption",
};

static int subscribe(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		     const struct gp_arguments *a)
{
	u32 wants = a->kinds ? 0 : (1u << GP_NR_EVENTS) - 1, k;
	const json_t *kind;
	size_t i;

	(void)c;
	json_array_foreach(a->kinds, i, kind) {
		for (k = 0; k < GP_NR_EVENTS; k++)
			if (!strcmp(json_string_value(kind), event_names[k]))
				break;
		if (k == GP_NR_EVENTS) {
			snprintf(rq->why, GP_WHY_MAX, "there is no kind of events called %s",
				 json_string_value(kind));
			return -EINVAL;
		}
		wants |= 1u << k;
	}
	begin_stream(conn, wants, json_object());
	return 0;
}

static int record(struct gp_control *c, struct gp_conn *conn, struct gp_request *rq,
		  const struct gp_arguments *a)
{
	json_t *first;
	int err = OPS(c, record)(c->args.ctx, rq, &first));

	(void)a;
	if (!err)
		begin_stream(conn, 1u << GP_EVENT_RECORD, first);
	return err;
}

#define TAKES(x) (1u << GP_ARG_##x)
#define TARGET (TAKES(PID) | TAKES(START))

static const struct method methods[] = {
	{ "Status", ANYONE, false, 0, 0, status },
	{ "List", ANYONE, false, TAKES(GPU) | TAKES(PID), 0, list },
	{ "Stats", ANYONE, false, TAKES(PID), 0, stats },
	{ "GetPolicy", ANYONE, false, 0, 0, get_policy },
	{ "SetPolicy", GROUP, false, TAKES(POLICY) | TAKES(PARAMETERS) | TAKES(DRY_RUN), 0,
	  set_policy },
	{ "SetClass", LOWER, false, TARGET | TAKES(CLASS), TAKES(PID) | TAKES(CLASS), set_class },
	{ "Register", LOWER, false, TARGET | TAKES(CLASS), 0, enrol },
	{ "Hint", OWNER, false, TARGET | TAKES(IN_NS) | TAKES(FOR_NS),
	  TAKES(IN_NS) | TAKES(FOR_NS), hint },
	{ "Hold", OWNER, false, TARGET | TAKES(LEASE_NS) | TAKES(WAIT),
	  TAKES(PID) | TAKES(LEASE_NS), hold },
	{ "Release", OWNER, false, TARGET, TAKES(PID), release },
	{ "Trigger", OWNER, false, TARGET, 0, trigger },
	{ "Enable", GROUP, false, 0, 0, enable },
	{ "Disable", GROUP, false, 0, 0, disable },
	{ "Reload", GROUP, false, 0, 0, reload },
	{ "Subscribe", ANYONE, true, TAKES(KINDS), 0, subscribe },
	{ "Record", WATCHER, true, 0, 0, record },
};

/* ---- may it? ---- */

static int deny(struct gp_control *c, char *why, const char *text)
{
	c->stats.denied++;
	snprintf(why, GP_WHY_MAX, "%s: that needs root or the group %s", text,
		 c->args.group ? c->args.group : "root");
	return -EPERM;
}

static int check_owner(struct gp_control *c, const struct gp_peer *peer,
		       const struct gp_target *target, char *why)
{
	uid_t owner;
	int err = c->args.ops->owner(c->args.ctx, target, &owner);
	char text[64];

	if (err == -ESRCH)
		snprintf(why, GP_WHY_MAX, "there is no process %d%s", target->pid,
			 target->start ? " that started then" : "");
	if (err || peer->privileged || owner == peer->uid)
		return err;
	snprintf(text, sizeof(text), "process %d is another user's", target->pid);
	return deny(c, why, text);
}

static int check(struct gp_control *c, const struct method *m, const struct gp_peer *peer,
		 const struct gp_arguments *a, char *why)
{
	const struct gp_target target = target_of(a);
	int err;

	if (m->who == GROUP && !peer->privileged)
		return deny(c, why, "this changes what happens to everybody");
	if (m->who == WATCHER && !peer->privileged)
		return deny(c, why, "this shows what the queues of everybody do");
	if (m->who != OWNER && m->who != LOWER)
		return 0;
	err = check_owner(c, peer, &target, why);
	if (err || m->who != LOWER)
		return err;
	/* No class is what the rules give: more, if somebody gave it less. */
	err = c->args.ops->raises(c->args.ctx, &target, a->class);
	if (err == -EINVAL)
		snprintf(why, GP_WHY_MAX, "there is no class %.31s; there are online, interactive, "
			 "offline, idle, unmanaged, and those of gpreempt.conf", a->class);
	if (err <= 0 || peer->privileged)
		return err < 0 ? err : 0;
	return deny(c, why, "this raises the class of the process");
}

/* ---- one call ---- */

static const struct method *find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

/* Whoever names no process means itself, if that can be seen from here. */
static int default_target(const struct gp_conn *conn, const struct method *m,
			  struct gp_arguments *a)
{
	if ((m->who != OWNER && m->who != LOWER) || a->pid)
		return 0;
	a->bad = a->start ? "start" : "pid";
	snprintf(a->why, sizeof(a->why), a->start ? "start without pid means nothing" :
		 "say which process: yours is not visible to gpreemptd");
	a->pid = conn->peer.pid;
	return a->start || !a->pid ? -EINVAL : 0;
}

static int invoke(struct gp_control *c, struct gp_conn *conn, const struct method *m,
		  struct gp_request *rq, struct gp_arguments *a)
{
	int err = default_target(conn, m, a);

	if (err) {
		snprintf(rq->why, GP_WHY_MAX, "%s", a->why);
		return err;
	}
	/* From here on a bad value is one that the daemon does not know. */
	a->bad = a->class ? "class" : a->policy || a->parameters ? "parameters" : NULL;
	err = check(c, m, rq->peer, a, rq->why);
	if (err)
		return err;
	rq->why[0] = '\0';
	return m->call(c, conn, rq, a);
}

void gp_method_call(struct gp_control *c, struct gp_conn *conn,
		    const struct gp_varlink_call *call)
{
	const struct method *m;
	char why[GP_WHY_MAX] = "";
	struct gp_request rq = { .peer = &conn->peer, .why = why };
	struct gp_arguments a;
	int err;

	if (gp_service_call(c, conn, call))
		return;
	m = find(call->method + sizeof(GP_INTERFACE));
	if (!m || (m->more && (!call->more || call->oneway))) {
		gp_conn_error(conn, m ? "org.varlink.service.ExpectedMore" :
			      "org.varlink.service.MethodNotFound",
			      m ? json_object() : json_pack("{s:s}", "method", call->method));
		return;
	}
	conn->token = rq.token = ++c->serial << 8 | (u64)(conn - c->conns);
	conn->state = GP_CONN_ASKED;
	err = gp_arguments_read(call->parameters, m->takes, m->needs, &a);
	if (err)
		snprintf(why, sizeof(why), "%s", a.why);
	else
		err = invoke(c, conn, m, &rq, &a);
	if (!err || conn->state != GP_CONN_ASKED)
		return;
	c->stats.errors++;
	why[GP_WHY_MAX - 1] = '\0';
	if (err == -ENOSYS)
		gp_conn_error(conn, "org.varlink.service.MethodNotImplemented",
			      json_pack("{s:s}", "method", call->method));
	else
		gp_conn_fail(conn, -err, a.bad, why);
}

int gp_method_check(const struct gp_control_ops *ops)
{
	if (!ops || !ops->owner || !ops->raises)
		return -EINVAL;
	if (!ops->list_head != !ops->list_next || !ops->stats_head != !ops->stats_next)
		return -EINVAL;
	return 0;
}
