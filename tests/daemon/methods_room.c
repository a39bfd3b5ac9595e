// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "methods_room.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int reload(void *ctx, char *why)
{
	struct room *r = ctx;

	(void)why;
	r->reloads++;
	return 0;
}

static int identify(void *ctx, int fd, struct gp_peer *ret)
{
	const struct room *r = ((struct gp_methods *)ctx)->args.ctx;

	(void)fd;
	*ret = r->peer;
	return 0;
}

int room_connect(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	EXPECT_EQ(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void open_room(struct room *r)
{
	struct gp_methods_args methods = {
		.decider = r->w->decider, .version = "9", .group = "testers", .state = r->state,
		.reload = reload, .ctx = r,
	};
	struct gp_control_args args = { .path = r->socket, .identify = identify };
	const char *why;

	EXPECT_EQ(gp_methods_new(&methods, &r->methods), 0);
	gp_methods_serve(r->methods, &args);
	EXPECT_EQ(gp_control_new(&args, &r->control, &why), 0);
	gp_methods_connect(r->methods, r->control);
	r->peer = (struct gp_peer){ .pid = getpid(), .uid = getuid(), .gid = getgid(),
				    .user = getuid(), .privileged = true };
	r->fd = room_connect(r->socket);
}

static void close_room(struct room *r)
{
	close(r->fd);
	gp_methods_connect(r->methods, NULL);
	gp_control_free(r->control);
	gp_methods_free(r->methods);
}

/* Makes a room whose offline process is on all GPUs. */
static int room_with(void **state, u32 gpus)
{
	struct room *r = calloc(1, sizeof(*r));
	void *world;
	u32 i;

	world_up(&world);
	r->w = world;
	for (i = 1; i < gpus; i++)
		world_gpu(r->w);
	world_decider(r->w, WORLD_ACTING);
	snprintf(r->socket, sizeof(r->socket), "%s/control", r->w->tree->path);
	snprintf(r->state, sizeof(r->state), "%s/state-file", r->w->tree->path);
	open_room(r);
	r->online = world_process(r->w);
	r->offline = world_process(r->w);
	world_class(r->w, r->online, "online");
	world_queue(r->w, r->online, 0);
	for (i = 0; i < gpus; i++)
		world_queue_on(r->w, r->offline, i, i);
	world_run(r->w, 50 * GP_MSEC);
	*state = r;
	return 0;
}

void room_restart(struct room *r)
{
	close_room(r);
	gp_decider_free(r->w->decider);
	r->w->decider = NULL;
	world_decider(r->w, WORLD_ACTING);
	open_room(r);
	world_run(r->w, 50 * GP_MSEC);
}

int room_up(void **state)
{
	return room_with(state, 1);
}

int two_gpus_up(void **state)
{
	return room_with(state, 2);
}

int room_down(void **state)
{
	struct room *r = *state;
	void *world = r->w;

	close_room(r);
	world_down(&world);
	free(r);
	return 0;
}

void room_spin(struct room *r)
{
	gp_control_run(r->control, r->w->decider->now_ns);
	world_run(r->w, GP_MSEC);
	gp_methods_after(r->methods);
}

json_t *room_hear(struct room *r, int fd)
{
	static char text[1 << 20];
	size_t n = 0;
	u32 tries;

	for (tries = 0; tries < 5000 && n < sizeof(text);) {
		ssize_t got = recv(fd, text + n, 1, MSG_DONTWAIT);

		if (got == 1 && !text[n++])
			return json_loads(text, 0, NULL);
		if (got == 1)
			continue;
		room_spin(r);
		tries++;
	}
	return NULL;
}

void room_ask(int fd, const char *method, const char *parameters, bool more)
{
	char text[1024];
	int n = snprintf(text, sizeof(text), "{\"method\":\"%s%s\",\"parameters\":%s%s}",
			 strchr(method, '.') ? "" : "org.gpreempt.", method, parameters,
			 more ? ",\"more\":true" : "");

	EXPECT_EQ(send(fd, text, (size_t)n + 1, 0), n + 1);
}

json_t *room_call(struct room *r, const char *method, const char *parameters, char *error)
{
	json_t *answer, *p;
	const char *name;

	room_ask(r->fd, method, parameters, false);
	answer = room_hear(r, r->fd);
	EXPECT(answer);
	name = json_string_value(json_object_get(answer, "error"));
	if (!error && name)
		fail_msg("%s: %s", method, json_dumps(answer, 0));
	if (error)
		snprintf(error, 64, "%s", name ? strrchr(name, '.') + 1 : "");
	p = json_incref(json_object_get(answer, "parameters"));
	json_decref(answer);
	return p;
}

json_int_t room_number(const json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	if (!json_is_integer(v))
		fail_msg("%s is not a number", key);
	return json_integer_value(v);
}

void room_text(const json_t *o, const char *key, const char *want)
{
	const char *got = json_string_value(json_object_get(o, key));

	if (!got || strcmp(got, want))
		fail_msg("%s is %s, expected %s", key, got ? got : "no text", want);
}

void room_pid(char *text, size_t size, const struct room *r, u32 i, const char *rest)
{
	snprintf(text, size, "{\"pid\":%d%s}", r->w->process[i].pid, rest);
}
