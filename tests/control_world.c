// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "control_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "daemon/peer.h"
#include "gp_test.h"

/* ---- the daemon ---- */

static int note(struct control_world *w, struct gp_request *rq, const char *what,
		const struct gp_target *target)
{
	w->asked++;
	snprintf(w->last, sizeof(w->last), "%s", what);
	w->token = rq->token;
	w->target = target ? *target : (struct gp_target){ 0 };
	if (w->refuse) {
		snprintf(rq->why, GP_WHY_MAX, "refused, as the test wants");
		return -w->refuse;
	}
	if (!w->defer)
		gp_control_reply(w->c, rq->token, json_pack("{s:s}", "did", what));
	return 0;
}

static int owner(void *ctx, const struct gp_target *target, uid_t *ret)
{
	(void)ctx;
	if (target->pid != ALICES && target->pid != LOWERED && target->pid != BOBS)
		return -ESRCH;
	*ret = target->pid == BOBS ? BOB : ALICE;
	return 0;
}

static int raises(void *ctx, const struct gp_target *target, const char *class)
{
	(void)ctx;
	if (!class)
		return target->pid == LOWERED;
	if (!strcmp(class, "online"))
		return 1;
	return !strcmp(class, "offline") || !strcmp(class, "batch") ? 0 : -EINVAL;
}

static int status(void *ctx, struct gp_request *rq)
{
	return note(ctx, rq, "status", NULL);
}

static int get_policy(void *ctx, struct gp_request *rq)
{
	return note(ctx, rq, "get_policy", NULL);
}

static int list_head(void *ctx, struct gp_request *rq, const struct gp_list_args *args,
		     json_t **ret)
{
	struct control_world *w = ctx;

	(void)rq;
	w->asked++;
	snprintf(w->last, sizeof(w->last), "list");
	if (args->gpu && strcmp(args->gpu, "0")) {
		snprintf(rq->why, GP_WHY_MAX, "there is no GPU %s", args->gpu);
		return -ENOENT;
	}
	*ret = json_pack("{s:[]}", "gpus");
	return 0;
}

static int list_next(void *ctx, const struct gp_list_args *args, u64 *cursor, json_t **ret)
{
	struct control_world *w = ctx;
	char *name;

	if (*cursor >= w->processes || (args->pid && *cursor))
		return 0;
	++*cursor;
	if (*cursor == w->untold)
		return -EILSEQ;
	name = calloc(1, w->large + 1);
	memset(name, 'x', w->large);
	*ret = json_pack("{s:i, s:s}", "pid", args->pid ? args->pid : (int)*cursor, "name", name);
	free(name);
	return 1;
}

static int stats_head(void *ctx, struct gp_request *rq, json_t **ret)
{
	struct control_world *w = ctx;

	(void)rq;
	w->asked++;
	*ret = json_object();
	return 0;
}

static int stats_next(void *ctx, pid_t pid, u64 *cursor, json_t **ret)
{
	const struct gp_list_args args = { .pid = pid };

	return list_next(ctx, &args, cursor, ret);
}

static int set_policy(void *ctx, struct gp_request *rq, const struct gp_policy_args *args)
{
	(void)args;
	return note(ctx, rq, "set_policy", NULL);
}

static int set_class(void *ctx, struct gp_request *rq, const struct gp_target *target,
		     const char *class)
{
	(void)class;
	return note(ctx, rq, "set_class", target);
}

static int enrol(void *ctx, struct gp_request *rq, const struct gp_target *target,
		 const char *class)
{
	(void)class;
	return note(ctx, rq, "enrol", target);
}

static int hint(void *ctx, struct gp_request *rq, const struct gp_target *target, u64 in_ns,
		u64 for_ns)
{
	struct control_world *w = ctx;

	(void)for_ns;
	w->number = in_ns;
	return note(ctx, rq, "hint", target);
}

static int hold(void *ctx, struct gp_request *rq, const struct gp_target *target, u64 lease_ns,
		bool wait)
{
	struct control_world *w = ctx;

	(void)wait;
	w->number = lease_ns;
	return note(ctx, rq, "hold", target);
}

static int release(void *ctx, struct gp_request *rq, const struct gp_target *target)
{
	return note(ctx, rq, "release", target);
}

static int trigger(void *ctx, struct gp_request *rq, const struct gp_target *target)
{
	return note(ctx, rq, "trigger", target);
}

static int enable(void *ctx, struct gp_request *rq, bool on)
{
	return note(ctx, rq, on ? "enable" : "disable", NULL);
}

static int reload(void *ctx, struct gp_request *rq)
{
	return note(ctx, rq, "reload", NULL);
}

static int record(void *ctx, struct gp_request *rq, json_t **ret)
{
	struct control_world *w = ctx;

	(void)rq;
	w->asked++;
	*ret = json_pack("{s:[]}", "tasks");
	return 0;
}

static void gone(void *ctx, gp_token token)
{
	struct control_world *w = ctx;

	w->gone += token == w->token;
}

static const struct gp_control_ops ops = {
	.owner = owner, .raises = raises, .status = status, .get_policy = get_policy,
	.list_head = list_head, .list_next = list_next, .stats_head = stats_head,
	.stats_next = stats_next, .set_policy = set_policy, .set_class = set_class,
	.enrol = enrol, .hint = hint, .hold = hold, .release = release, .trigger = trigger,
	.enable = enable, .reload = reload, .record = record, .gone = gone,
};

/* ---- the world ---- */

static int identify(void *ctx, int fd, struct gp_peer *ret)
{
	struct control_world *w = ctx;

	if (w->peer.pid < 0)
		return gp_peer_identify(fd, gp_peer_group("daemon"), ret);
	*ret = w->peer;
	return 0;
}

struct control_world *world_new(const struct gp_control_args *limits)
{
	struct control_world *w = calloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/gp_control.XXXXXX");
	if (!mkdtemp(w->dir) || chmod(w->dir, 0755))
		fail_msg("no folder in /tmp");
	snprintf(w->path, sizeof(w->path), "%s/control", w->dir);
	w->now_ns = 1000 * GP_SEC;
	if (limits)
		w->args = *limits;
	w->args.path = w->path;
	w->args.group = "daemon";
	w->args.ops = &ops;
	w->args.ctx = w;
	w->args.version = "test";
	w->args.identify = identify;
	world_rebind(w, 0);
	return w;
}

void world_rebind(struct control_world *w, int expected)
{
	const char *why = "";
	int err = gp_control_new(&w->args, &w->c, &why);

	if (err != expected)
		fail_msg("%s: %d, expected %d", why, err, expected);
}

void world_free(struct control_world *w)
{
	gp_control_free(w->c);
	rmdir(w->dir);
	free(w);
}

static u64 real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * GP_SEC + (u64)t.tv_nsec;
}

void world_run(struct control_world *w, u32 times)
{
	u64 begin, took;

	while (times--) {
		begin = real_ns();
		gp_control_run(w->c, w->now_ns);
		took = real_ns() - begin;
		w->slowest_ns = took > w->slowest_ns ? took : w->slowest_ns;
	}
}

int world_connect(struct control_world *w, uid_t uid, bool privileged)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", w->path);
	w->peer = (struct gp_peer){
		.pid = uid == ALICE ? ALICES : uid == BOB ? BOBS : 1, .uid = uid, .gid = uid,
		.privileged = privileged,
	};
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		fail_msg("cannot connect: %s", strerror(errno));
	world_run(w, 1);
	return fd;
}

json_t *world_receive(struct control_world *w, struct gp_varlink_reader *r, int fd)
{
	json_t *message;
	ssize_t n;
	u32 i;

	for (i = 0; i < 10000; i++) {
		if (!gp_varlink_next(r, &message))
			return message;
		n = gp_varlink_receive(r, fd);
		if (n == 0 || (n < 0 && n != -EAGAIN))
			return NULL;
		world_run(w, n < 0);
	}
	return NULL;
}

void world_send(int fd, const char *text)
{
	if (send(fd, text, strlen(text) + 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}

json_t *world_ask(struct control_world *w, int fd, const char *method, const char *parameters)
{
	struct gp_varlink_reader r = { .max = GP_VARLINK_REPLY_MAX };
	char call[8192];
	json_t *reply;

	snprintf(call, sizeof(call), "{\"method\":\"%s%s\",\"parameters\":%s}",
		 strchr(method, '.') ? "" : "org.gpreempt.", method,
		 parameters ? parameters : "{}");
	world_send(fd, call);
	reply = world_receive(w, &r, fd);
	gp_varlink_reader_fini(&r);
	return reply;
}

const char *world_error(json_t *reply)
{
	static char name[128];
	const char *error = json_string_value(json_object_get(reply, "error"));

	if (!reply)
		return "closed";
	snprintf(name, sizeof(name), "%s", error ? strrchr(error, '.') + 1 : "");
	json_decref(reply);
	return name;
}

bool world_closed(struct control_world *w, int fd)
{
	char bytes[4096];
	ssize_t n;

	world_run(w, 3);
	do {
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (n > 0);
	return n == 0 || errno != EAGAIN;
}
