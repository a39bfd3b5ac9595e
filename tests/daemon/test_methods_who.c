// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The permitted methods and visible fields of each user: the tables of gpreemptd(8). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "methods_room.h"

enum actor { ROOT, MEMBER, OWNER, STRANGER, NR_ACTORS };

static const char *const actor_names[NR_ACTORS] = {
	"root", "a member of the group", "the owner", "another user",
};

/* Makes a connection of @actor. The processes of the room belong to this test's user. */
static int connect_as(struct room *r, enum actor actor)
{
	uid_t uid = actor == ROOT ? 0 : actor == OWNER ? getuid() : getuid() + (uid_t)actor;
	int fd;

	r->peer = (struct gp_peer){ .pid = r->w->process[r->offline].pid, .uid = uid,
				    .user = uid, .privileged = actor == ROOT || actor == MEMBER };
	room_spin(r);
	fd = room_connect(r->socket);
	room_spin(r);
	return fd;
}

/* Calls @method as @actor and returns the answer. */
static json_t *call_as(struct room *r, enum actor actor, const char *method,
		       const char *parameters, char *error)
{
	int own = r->fd;
	json_t *a;

	r->fd = connect_as(r, actor);
	a = room_call(r, method, parameters, error);
	close(r->fd);
	r->fd = own;
	return a;
}

/* ---- permissions ---- */

/* Y: allowed, n: PermissionDenied; for root, member, owner, stranger. P is the offline process. */
static const struct {
	const char *method, *parameters;
	char may[NR_ACTORS + 1];
} calls[] = {
	{ "Status", "{}", "YYYY" },
	{ "List", "{}", "YYYY" },
	{ "List", "{P}", "YYYY" },
	{ "Stats", "{}", "YYYY" },
	{ "GetPolicy", "{}", "YYYY" },
	{ "SetPolicy", "{\"policy\":\"priority\"}", "YYnn" },
	{ "SetPolicy", "{\"policy\":\"fifo\",\"dry_run\":true}", "YYnn" },
	{ "SetPolicy", "{\"parameters\":{\"linger\":\"1ms\"}}", "YYnn" },
	{ "SetClass", "{P,\"class\":\"offline\"}", "YYYn" },
	{ "SetClass", "{P,\"class\":\"online\"}", "YYnn" },
	{ "Register", "{P,\"class\":\"offline\"}", "YYYn" },
	{ "Register", "{P,\"class\":\"online\"}", "YYnn" },
	{ "Hint", "{P,\"in_ns\":0,\"for_ns\":1}", "YYYn" },
	{ "Hold", "{P,\"lease_ns\":1}", "YYYn" },
	{ "Hold", "{P,\"lease_ns\":100000000,\"wait\":true}", "YYYn" },
	{ "Release", "{P}", "YYYn" },
	{ "Trigger", "{P}", "YYYn" },
	{ "SetClass", "{P,\"class\":\"idle\"}", "YYYn" },
	{ "Register", "{P}", "YYnn" },		/* resets to the class of the rules */
	{ "Enable", "{}", "YYnn" },
	{ "Disable", "{}", "YYnn" },
	{ "Enable", "{}", "YYnn" },
	{ "Reload", "{}", "YYnn" },
	{ "org.varlink.service.GetInfo", "{}", "YYYY" },
};

/* Copies @text with P replaced by the pid of process @i. */
static void with_pid(struct room *r, u32 i, const char *text, char *to, size_t size)
{
	const char *p = strchr(text, 'P');
	int before = p ? (int)(p - text) : (int)strlen(text);

	if (p)
		snprintf(to, size, "%.*s\"pid\":%d%s", before, text, r->w->process[i].pid, p + 1);
	else
		snprintf(to, size, "%s", text);
}

static void every_method_is_refused_to_users_who_may_not_call_it(void **state)
{
	struct room *r = *state;
	char text[160], error[64];
	size_t i;
	u32 a;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		with_pid(r, r->offline, calls[i].parameters, text, sizeof(text));
		/* Weakest actor first, so that a refused call that took effect is noticed. */
		for (a = NR_ACTORS; a--;) {
			bool may = calls[i].may[a] == 'Y';

			/* Every user begins with a process whose class may be lowered. */
			if (!strcmp(calls[i].method, "SetClass") && strstr(text, "offline"))
				json_decref(call_as(r, ROOT, "Register", text, error));
			json_decref(call_as(r, a, calls[i].method, text, error));
			if (strcmp(error, may ? "" : "PermissionDenied"))
				fail_msg("%s%s by %s: '%s'", calls[i].method, text,
					 actor_names[a], error);
			if (!strcmp(calls[i].method, "Register") && !a) {
				with_pid(r, r->offline, "{P,\"class\":\"offline\"}", text,
					 sizeof(text));
				json_decref(call_as(r, ROOT, "SetClass", text, NULL));
			}
		}
	}
}

/* ---- what a user sees: the table of man/gpreemptd.8.scd ---- */

/* True if @o has "a.b". If a is an array, its first entry counts. */
static bool has(const json_t *o, const char *path)
{
	char name[64];
	size_t n = strcspn(path, ".");

	snprintf(name, sizeof(name), "%.*s", (int)n, path);
	o = json_object_get(o, name);
	if (!path[n])
		return o && (!json_is_array(o) || json_array_size(o)) &&
		       (!json_is_object(o) || json_object_size(o));
	return has(json_is_array(o) ? json_array_get(o, 0) : o, path + n + 1);
}

/*
 * True if @actor sees @field of Status.trouble (the lines, or the name of the offline process
 * anywhere in the answer). That process cannot be preempted.
 */
static bool sees_trouble(struct room *r, enum actor actor, const char *field)
{
	struct gp_gpu_process *p = world_find(r->w, r->offline);
	char *text;
	bool found;
	json_t *a;

	snprintf(p->name, sizeof(p->name), "secret-job");
	p->refused = true;
	a = call_as(r, actor, "Status", "{}", NULL);
	p->refused = false;
	text = json_dumps(a, 0);
	found = strchr(field, '.') ? strstr(text, p->name) != NULL : has(a, field);
	free(text);
	json_decref(a);
	return found;
}

/* True if @actor sees @field in the answer to @method. For List, in the offline process. */
static bool sees(struct room *r, enum actor actor, const char *method, const char *field)
{
	char text[64] = "{}", error[64];
	bool found;
	json_t *a;

	if (!strcmp(method, "Status") && !strncmp(field, "trouble", 7))
		return sees_trouble(r, actor, field);
	if (!strcmp(method, "List"))
		room_pid(text, sizeof(text), r, r->offline, "");
	a = call_as(r, actor, method, text, error);
	if (error[0])
		found = false;
	else if (!strcmp(method, "List"))
		found = has(json_array_get(json_object_get(a, "processes"), 0), field);
	else
		found = has(a, field);
	json_decref(a);
	return found;
}

/* Returns the next message, or NULL if none comes within a while. */
static json_t *hear(struct room *r, int fd)
{
	char bytes[1];
	u32 i;

	for (i = 0; i < 20; i++) {
		if (recv(fd, bytes, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
			return room_hear(r, fd);
		room_spin(r);
	}
	return NULL;
}

/* Causes an event of @kind, about the offline process or about none. */
static void make_event(struct room *r, const char *kind)
{
	static const struct {
		const char *name;
		u32 kind;
		bool process;
	} news[] = {
		{ "process", GP_NEWS_PROCESS, true }, { "queue", GP_NEWS_QUEUE, true },
		{ "class", GP_NEWS_CLASS, true }, { "hold", GP_NEWS_HOLD, true },
		{ "trouble", GP_NEWS_TROUBLE, true }, { "policy", GP_NEWS_POLICY, false },
		{ "enabled", GP_NEWS_ENABLED, false }, { "gpu", GP_NEWS_GPU, false },
	};
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(news) / sizeof(news[0]); i++) {
		struct gp_news n = { .kind = news[i].kind, .what = "something about it" };

		if (strcmp(news[i].name, kind))
			continue;
		n.who = news[i].process ? world_find(r->w, r->offline) : NULL;
		gp_methods_news(r->methods, &n);
		return;
	}
	/* The online process of another user preempts the offline one. */
	room_pid(text, sizeof(text), r, r->offline, "");
	json_decref(room_call(r, "Release", text, NULL));
	world_find(r->w, r->offline)->gang[0] = 0;
	world_find(r->w, r->online)->uid = getuid() + 77;
	world_submit(r->w, r->offline, 0, 8);
	world_occupy(r->w, r->offline, 80);
	room_spin(r);
	world_submit(r->w, r->online, 0, 1);
	for (i = 0; i < 5; i++)
		room_spin(r);
	world_complete(r->w, r->online, 0, 1);
	for (i = 0; i < 100; i++)
		room_spin(r);
}

/* True if @actor receives an event of @kind ("state.cause_pid": with that field). */
static bool hears(struct room *r, enum actor actor, const char *kind)
{
	char name[32], text[64];
	const char *field = strchr(kind, '.');
	int fd = connect_as(r, actor);
	bool found = false;
	json_t *a;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(kind, "."), kind);
	snprintf(text, sizeof(text), "{\"kinds\":[\"%s\"]}", name);
	room_ask(fd, "Subscribe", text, true);
	json_decref(room_hear(r, fd));
	room_spin(r);
	make_event(r, name);
	while ((a = hear(r, fd))) {
		const json_t *event = json_object_get(json_object_get(a, "parameters"), "event");

		found |= event && (!field || json_object_get(event, field + 1));
		json_decref(a);
	}
	close(fd);
	room_spin(r);
	return found;
}

static bool records(struct room *r, enum actor actor)
{
	int fd = connect_as(r, actor);
	bool denied;
	json_t *a;

	room_ask(fd, "Record", "{}", true);
	a = room_hear(r, fd);
	denied = json_object_get(a, "error") != NULL;
	json_decref(a);
	close(fd);
	return !denied;
}

static bool finds(struct room *r, enum actor actor, const char *method, const char *field)
{
	if (!strcmp(method, "Subscribe"))
		return hears(r, actor, field);
	if (!strcmp(method, "Record"))
		return records(r, actor);
	return sees(r, actor, method, field);
}

static void check_row(struct room *r, const char *method, char *fields, const bool want[3])
{
	char *field, *rest = fields;
	u32 a;

	while ((field = strsep(&rest, ", \n"))) {
		if (!*field)
			continue;
		for (a = 0; a < NR_ACTORS; a++)
			if (finds(r, a, method, field) != want[a < OWNER ? 0 : a - 1])
				fail_msg("%s: %s: %s", method, field, actor_names[a]);
	}
}

/* Sets every field that List may show of a process. */
static void give_everything(struct room *r)
{
	struct gp_gpu_process *p = world_find(r->w, r->offline);
	char text[128];

	room_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":900000000");
	json_decref(room_call(r, "Hold", text, NULL));
	snprintf(p->trouble, sizeof(p->trouble), "some trouble");
	snprintf(p->gang, sizeof(p->gang), "a gang");
}

/* For methods that change something, the row must agree with the table of calls. */
static void check_calls(char *names, const bool want[3])
{
	char *name, *rest = names;
	size_t i;

	while ((name = strsep(&rest, ", \n"))) {
		for (i = 0; *name && i < sizeof(calls) / sizeof(calls[0]); i++)
			if (!strcmp(calls[i].method, name) &&
			    (want[0] != (calls[i].may[ROOT] == 'Y') ||
			     want[1] != (calls[i].may[OWNER] == 'Y') ||
			     want[2] != (calls[i].may[STRANGER] == 'Y')))
				fail_msg("%s: the manual says something else", name);
	}
}

/*
 * Rows of the manual: "|  Method: field, field", or "|  Method, Method", then three lines ":  yes"
 * or ":  no", for root and the group, the owner, and other users.
 */
static void every_user_sees_what_the_manual_says(void **state)
{
	struct room *r = *state;
	char path[256], line[512], row[512] = "", *colon;
	u32 column = 0, rows = 0;
	bool want[3];
	FILE *f;

	snprintf(path, sizeof(path), "%s/man/gpreemptd.8.scd", getenv("GP_TOP"));
	f = fopen(path, "re");
	EXPECT(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "|  ", 3)) {
			snprintf(row, sizeof(row), "%s", line + 3);
			column = 0;
		}
		if (strncmp(line, ":  ", 3) || column == 3)
			continue;
		want[column++] = !strncmp(line + 3, "yes", 3);
		if (column < 3)
			continue;
		rows++;
		colon = strchr(row, ':');
		if (colon)
			*colon = 0;
		if (!colon)
			check_calls(row, want);
		else if (!strchr(row, ',')) {
			give_everything(r);
			check_row(r, row, colon + 1, want);
		}
	}
	fclose(f);
	EXPECT(rows >= 15);
}

/* Fields missing from the table must not appear. */
static void another_users_process_has_no_further_fields(void **state)
{
	static const char *const allowed = " pid class gpus seats ", *const seat = " gpu state ";
	struct room *r = *state;
	char text[64], word[64];
	const char *name;
	json_t *a, *p, *value;

	give_everything(r);
	room_pid(text, sizeof(text), r, r->offline, "");
	a = call_as(r, STRANGER, "List", text, NULL);
	p = json_array_get(json_object_get(a, "processes"), 0);
	EXPECT(json_object_size(p) == 4);
	json_object_foreach(p, name, value) {
		snprintf(word, sizeof(word), " %s ", name);
		EXPECT(strstr(allowed, word));
	}
	json_object_foreach(json_array_get(json_object_get(p, "seats"), 0), name, value) {
		snprintf(word, sizeof(word), " %s ", name);
		EXPECT(strstr(seat, word));
	}
	json_decref(a);
	a = call_as(r, STRANGER, "Stats", "{}", NULL);
	EXPECT_EQ(json_object_size(json_object_get(a, "counters")), 0);
	EXPECT_EQ(json_array_size(json_object_get(a, "processes")), 0);
	json_decref(a);
}

/* Only root and the group see names in texts. Checks the whole answer. */
static void no_text_names_another_users_process(void **state)
{
	struct room *r = *state;
	struct gp_gpu_process *p = world_find(r->w, r->offline), *q = world_find(r->w, r->online);
	char pid[32], *text, why[GP_DECIDER_WHY];
	json_t *a;
	u32 actor;

	p->attachment = GP_NOT_ATTACHED;
	p->attach_at_ns = GP_NEVER;
	p->refused = true;
	snprintf(p->name, sizeof(p->name), "secret");
	snprintf(p->trouble, sizeof(p->trouble), "a reason");
	snprintf(pid, sizeof(pid), "%d", p->pid);
	for (actor = 0; actor < NR_ACTORS; actor++) {
		a = call_as(r, actor, "Status", "{}", NULL);
		text = json_dumps(json_object_get(a, "trouble"), 0);
		EXPECT(text && strstr(text, "1 processes cannot be preempted"));
		EXPECT_EQ(strstr(text, "secret") && strstr(text, pid), actor < OWNER);
		EXPECT_EQ(strstr(text, "a reason") != NULL, actor < OWNER);
		free(text);
		json_decref(a);
	}
	/* The trouble of an online process beside it does not name it either. */
	r->w->decider->config->daemon.unpreemptible = GP_UNPREEMPTIBLE_NOT_BESIDE;
	r->w->decider->attach_due = true;
	world_run(r->w, GP_MSEC);
	EXPECT(gp_decider_trouble(r->w->decider, q, why) && strstr(why, "secret"));
	p->uid = q->uid + 1;
	EXPECT(gp_decider_trouble(r->w->decider, q, why) && strstr(why, "another user's process"));
	EXPECT(!strstr(why, "secret") && !strstr(why, "a reason"));
	p->uid = q->uid;
}

/* ---- parameters ---- */

static void a_call_that_names_no_process_means_the_caller(void **state)
{
	struct room *r = *state;
	char error[64];

	json_decref(call_as(r, OWNER, "Hint", "{\"in_ns\":1,\"for_ns\":2}", NULL));
	json_decref(call_as(r, OWNER, "Trigger", "{}", NULL));
	json_decref(call_as(r, OWNER, "Trigger", "{\"start\":2}", error));
	EXPECT(!strcmp(error, "InvalidParameter"));
	json_decref(call_as(r, OWNER, "Release", "{\"pid\":2147483647}", error));
	EXPECT(!strcmp(error, "NotFound"));
}

static void invalid_parameters_are_refused_before_anything_is_done(void **state)
{
	static const char *const bad[][2] = {
		{ "Hold", "{}" },
		{ "Hold", "{P}" },
		{ "Hold", "{\"pid\":null,\"lease_ns\":1}" },
		{ "Hold", "{\"pid\":\"100\",\"lease_ns\":1}" },
		{ "Hold", "{P,\"lease_ns\":0}" },
		{ "Hold", "{P,\"lease_ns\":3600000000001}" },
		{ "Hold", "{P,\"lease_ns\":1.5}" },
		{ "Hold", "{P,\"lease_ns\":1,\"wait\":1}" },
		{ "Hold", "{P,\"lease_ns\":1,\"renew\":\"yes\"}" },
		{ "Hold", "{P,\"lease_ns\":1,\"class\":\"batch\"}" },
		{ "Hold", "{\"pid\":0,\"lease_ns\":1}" },
		{ "Hold", "{\"pid\":-1,\"lease_ns\":1}" },
		{ "Hold", "{\"pid\":4294967396,\"lease_ns\":1}" },
		{ "SetClass", "{P,\"class\":\"\"}" },
		{ "SetClass", "{P,\"class\":\"a\\nb\"}" },
		{ "SetClass", "{P,\"class\":\"nonsense\"}" },
		{ "SetPolicy", "{\"parameters\":{\"linger\":5}}" },
		{ "SetPolicy", "{\"parameters\":[\"linger\"]}" },
		{ "SetPolicy", "{\"dry_run\":\"yes\"}" },
		{ "Status", "{\"verbose\":true}" },
	};
	struct room *r = *state;
	char text[128], error[64];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		with_pid(r, r->offline, bad[i][1], text, sizeof(text));
		json_decref(room_call(r, bad[i][0], text, error));
		if (strcmp(error, "InvalidParameter"))
			fail_msg("%s%s: '%s'", bad[i][0], text, error);
	}
	EXPECT_EQ(world_state(r->w, r->offline), GP_ON);
	assert_string_equal(world_find(r->w, r->offline)->class.name, "offline");
}

/* The description and the service have the same methods. */
static void the_service_describes_itself(void **state)
{
	struct room *r = *state;
	char name[64], error[64];
	const char *at;
	u32 methods = 0;
	json_t *a = room_call(r, "org.varlink.service.GetInterfaceDescription",
			      "{\"interface\":\"org.gpreempt\"}", NULL);

	for (at = json_string_value(json_object_get(a, "description"));
	     (at = strstr(at, "\nmethod ")); methods++) {
		at += strlen("\nmethod ");
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "("), at);
		json_decref(room_call(r, name, "{\"no\":1}", error));
		/* No method accepts that parameter. A streaming method must be called with more. */
		if (strcmp(error, "InvalidParameter") && strcmp(error, "ExpectedMore"))
			fail_msg("%s: '%s'", name, error);
	}
	EXPECT_EQ(methods, 16);
	json_decref(a);
	a = room_call(r, "org.varlink.service.GetInfo", "{}", NULL);
	room_text(a, "product", "gpreemptd");
	json_decref(a);
	json_decref(room_call(r, "Nonsense", "{}", error));
	EXPECT(!strcmp(error, "MethodNotFound"));
	json_decref(room_call(r, "org.x.Y", "{}", error));
	EXPECT(!strcmp(error, "InterfaceNotFound"));
	json_decref(room_call(r, "org.varlink.service.Y", "{}", error));
	EXPECT(!strcmp(error, "MethodNotFound"));
}

PROVE(
	CLAIM_WITH(every_method_is_refused_to_users_who_may_not_call_it, room_up, room_down),
	CLAIM_WITH(every_user_sees_what_the_manual_says, room_up, room_down),
	CLAIM_WITH(another_users_process_has_no_further_fields, room_up, room_down),
	CLAIM_WITH(no_text_names_another_users_process, room_up, room_down),
	CLAIM_WITH(a_call_that_names_no_process_means_the_caller, room_up, room_down),
	CLAIM_WITH(invalid_parameters_are_refused_before_anything_is_done, room_up, room_down),
	CLAIM_WITH(the_service_describes_itself, room_up, room_down),
)
