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

#include "daemon/methods.h"
#include "gp_test.h"

/* ---- the daemon ---- */

/* True for methods that name a process. */
static bool has_target(const char *name)
{
	static const char *const names[] = {
		"Hold", "Release", "Hint", "Trigger", "SetClass", "Register",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int check_target(struct control_world *w, struct gp_call *call,
			const struct gp_arguments *a)
{
	pid_t pid = a->pid ? (pid_t)a->pid : call->peer->pid;

	snprintf(call->why, GP_WHY_MAX, "process %d: not found", pid);
	if (pid != ALICES && pid != BOBS)
		return -ESRCH;
	snprintf(call->why, GP_WHY_MAX, "process %d: permission denied", pid);
	if (!call->peer->privileged && call->peer->uid != (pid == BOBS ? BOB : ALICE))
		return -EPERM;
	w->target = (struct gp_process_id){ .pid = pid, .start = (u64)a->start };
	return 0;
}

static int stream(struct gp_call *call, const struct gp_arguments *a, json_t **ret)
{
	const char *kind = json_string_value(json_array_get(a->kinds, 0));

	if (json_array_size(a->kinds) > 1 && !strcmp(json_string_value(
			json_array_get(a->kinds, 1)), "nonsense"))
		return -EINVAL;
	call->wants = !kind ? (1u << GP_NR_EVENTS) - 1 : !strcmp(kind, "record") ?
		      1u << GP_EVENT_RECORD : 1u << GP_EVENT_HOLD | 1u << GP_EVENT_STATE;
	*ret = NULL;
	return GP_CALL_STREAM;
}

static int answer(void *ctx, struct gp_call *call, json_t **ret)
{
	struct control_world *w = ctx;
	const char *dot = strrchr(call->method, '.'), *name = dot ? dot + 1 : "";
	struct gp_arguments a;
	int err;

	if (!strcmp(name, "Nonsense") || !dot) {
		call->error = "org.varlink.service.MethodNotFound";
		return GP_CALL_REFUSED;
	}
	err = gp_arguments_read(call->parameters, ~0u, 0, &a, &call->bad, call->why);
	if (!err && has_target(name))
		err = check_target(w, call, &a);
	if (err)
		return err;
	w->asked++;
	snprintf(w->last, sizeof(w->last), "%s", name);
	w->token = call->token;
	w->number = (u64)(a.lease_ns ? a.lease_ns : a.in_ns);
	if (w->refuse) {
		snprintf(call->why, GP_WHY_MAX, "refused, as the test wants");
		return -w->refuse;
	}
	if (!strcmp(name, "Subscribe"))
		return call->more ? stream(call, &a, ret) : -EINVAL;
	if (!strcmp(name, "List") || !strcmp(name, "Stats")) {
		call->listing.pid = (pid_t)a.pid;
		*ret = name[0] == 'L' ? json_pack("{s:[]}", "gpus") : json_object();
		return GP_CALL_LIST;
	}
	if (w->defer)
		return GP_CALL_LATER;
	*ret = json_pack("{s:s}", "did", name);
	return GP_CALL_DONE;
}

static u64 real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * GP_SEC + (u64)t.tv_nsec;
}

static int next(void *ctx, const struct gp_peer *peer, struct gp_listing *l, json_t **ret)
{
	struct control_world *w = ctx;
	u64 until = real_ns() + w->slow_ns;
	char *name;

	(void)peer;
	while (w->slow_ns && real_ns() < until)
		;
	if (l->cursor >= w->processes || (l->pid && l->cursor))
		return 0;
	w->told++;
	if (++l->cursor == w->untold)
		return -EILSEQ;
	name = calloc(1, w->large + 1);
	memset(name, 'x', w->large);
	*ret = json_pack("{s:i, s:s}", "pid", l->pid ? l->pid : (int)l->cursor, "name", name);
	free(name);
	return 1;
}

static void gone(void *ctx, gp_token token)
{
	struct control_world *w = ctx;

	w->gone += token == w->token;
}

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
	w->args.call = answer;
	w->args.next = next;
	w->args.gone = gone;
	w->args.ctx = w;
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

int world_up(void **state)
{
	*state = world_new(NULL);
	return 0;
}

int world_down(void **state)
{
	world_free(*state);
	return 0;
}

struct gp_control_stats world_stats(const struct control_world *w)
{
	struct gp_control_stats s;

	gp_control_stats(w->c, &s);
	return s;
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

static int connect_peer(struct control_world *w)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", w->path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		fail_msg("cannot connect: %s", strerror(errno));
	world_run(w, 1);
	return fd;
}

int world_connect(struct control_world *w, uid_t uid, bool privileged)
{
	w->peer = (struct gp_peer){
		.pid = uid == ALICE ? ALICES : uid == BOB ? BOBS : 1, .uid = uid, .gid = uid,
		.user = uid, .privileged = privileged,
	};
	return connect_peer(w);
}

int world_connect_as(struct control_world *w, uid_t uid, uid_t user)
{
	w->peer = (struct gp_peer){ .pid = 1, .uid = uid, .gid = uid, .user = user };
	return connect_peer(w);
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
