// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* State that survives a restart of the daemon, and files that must not harm it. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "methods_room.h"

static struct gp_saved_state state_now, state_read;

static void a_state_is_read_as_it_was_written(void **unused)
{
	struct gp_saved_state *s = &state_now;
	char why[GP_DECIDER_WHY], *text;
	u32 i;

	(void)unused;
	memset(s, 0, sizeof(*s));
	s->restarts = 7;
	s->nr_restarts = GP_STATE_REASONS;
	for (i = 0; i < GP_STATE_REASONS; i++) {
		s->restart[i].at_s = 1700000000 + i;
		snprintf(s->restart[i].why, GP_STATE_REASON, "reason %u", i);
	}
	snprintf(s->end, sizeof(s->end), "stopped by a signal");
	snprintf(s->policy, sizeof(s->policy), "fair");
	s->param_set[GP_SLICE] = true;
	s->param[GP_SLICE] = 3 * GP_MSEC;
	s->nr_classes = GP_CLASS_REQUESTS;
	for (i = 0; i < GP_CLASS_REQUESTS; i++) {
		s->class[i] = (struct gp_class_request){ .who = { 1 + (pid_t)i, ~0ull - i },
							 .uid = i };
		memset(s->class[i].class_name, 'x', GP_CLASS_NAME - 1);
	}
	s->nr_holds = GP_STATE_HOLDS;
	for (i = 0; i < GP_STATE_HOLDS; i++)
		s->hold[i] = (struct gp_kept_hold){ { 1 + (pid_t)i, 5 }, GP_NEVER - 1 };
	text = gp_state_print(s, "boot-1");
	/* The largest state fits. */
	EXPECT(strlen(text) <= GP_STATE_BYTES);
	EXPECT_EQ(gp_state_parse(text, strlen(text), "boot-1", &state_read, why), 0);
	EXPECT(!memcmp(&state_read, s, sizeof(*s)));
	EXPECT_EQ(gp_state_parse(text, strlen(text), "boot-2", &state_read, why), -EINVAL);
	EXPECT_EQ(state_read.restarts, 0);
	free(text);
}

static void an_invalid_state_is_ignored_as_a_whole(void **unused)
{
	static const char *const bad[] = {
		"", "gpreempt-state 2\ndone\n", "gpreempt-state 1\n",
		"gpreempt-state 1\nrestarts 1\n", "gpreempt-state 1\nrestarts 1\ndone\nmore\n",
		"gpreempt-state 1\nrestarts -1\ndone\n", "gpreempt-state 1\nrestarts 1 1\ndone\n",
		"gpreempt-state 1\nrestarts 99999999999999999999\ndone\n",
		"gpreempt-state 1\nclass 0 5 0 x\ndone\n",
		"gpreempt-state 1\nclass 1 0 0 x\ndone\n",
		"gpreempt-state 1\nclass 1 5 0\ndone\n", "gpreempt-state 1\nclass 1 5 0 \ndone\n",
		"gpreempt-state 1\nclass 4294967297 5 0 x\ndone\n",
		"gpreempt-state 1\nhold 1 5\ndone\n", "gpreempt-state 1\nnonsense 1\ndone\n",
		"gpreempt-state 1\nparam nonsense 1\ndone\n",
		"gpreempt-state 1\nparam slice 99999999999999\ndone\n",
		"gpreempt-state 1\n\ndone\n", "gpreempt-state 1\nrestart 1 a\tb\ndone\n",
		"gpreempt-state 1\nclass 1 5 0 "
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\ndone\n",
	};
	char why[GP_DECIDER_WHY];
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (gp_state_parse(bad[i], strlen(bad[i]), NULL, &state_read, why) != -EINVAL ||
		    !why[0] || state_read.nr_classes || state_read.restarts)
			fail_msg("%zu: accepted", i);
	EXPECT_EQ(gp_state_parse("gpreempt-state 1\ndone\n", 22, NULL, &state_read, why), 0);
}

static void a_file_is_replaced_at_once_or_not_at_all(void **state)
{
	struct room *r = *state;
	char path[160], temporary[176], why[GP_DECIDER_WHY];
	struct stat st;

	room_spin(r);
	snprintf(path, sizeof(path), "%s/other", r->w->tree->path);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	memset(&state_now, 0, sizeof(state_now));
	state_now.restarts = 1;
	EXPECT_EQ(gp_state_load(path, &state_read, why), -ENOENT);
	EXPECT_EQ(gp_state_save(path, &state_now), 0);
	EXPECT_EQ(stat(path, &st), 0);
	EXPECT_EQ(st.st_mode & 0777, 0600);
	/* The temporary file of a daemon that died while writing does not block the next write. */
	EXPECT_EQ(symlink("/etc/passwd", temporary), 0);
	state_now.restarts = 2;
	EXPECT_EQ(gp_state_save(path, &state_now), 0);
	EXPECT_EQ(access(temporary, F_OK), -1);
	EXPECT_EQ(gp_state_load(path, &state_read, why), 0);
	EXPECT_EQ(state_read.restarts, 2);
	/* Links, folders and huge files are not read. */
	EXPECT_EQ(unlink(path), 0);
	EXPECT_EQ(symlink(r->state, path), 0);
	EXPECT(gp_state_load(path, &state_read, why) < 0);
	EXPECT_EQ(unlink(path), 0);
	EXPECT_EQ(mkdir(path, 0700), 0);
	EXPECT(gp_state_load(path, &state_read, why) < 0);
	EXPECT(gp_state_save(path, &state_now) < 0);
	EXPECT_EQ(rmdir(path), 0);
	EXPECT_EQ(gp_state_save("/nowhere/state", &state_now), -ENOENT);
	EXPECT_EQ(truncate(r->state, GP_STATE_BYTES + 1), 0);
	EXPECT_EQ(gp_state_load(r->state, &state_read, why), -EINVAL);
}

static json_int_t restarts(struct room *r, char *why, size_t size)
{
	json_t *a = room_call(r, "Status", "{}", NULL);
	json_int_t n = room_number(a, "restarts");
	const char *first = json_string_value(json_array_get(json_object_get(a,
							     "restart_reasons"), 0));

	snprintf(why, size, "%s", first ? first : "");
	json_decref(a);
	return n;
}

static void classes_policy_and_holds_survive_a_restart(void **state)
{
	struct room *r = *state;
	char text[128], why[160];
	json_t *a;

	room_pid(text, sizeof(text), r, r->offline, ",\"class\":\"idle\"");
	json_decref(room_call(r, "SetClass", text, NULL));
	json_decref(room_call(r, "SetPolicy", "{\"policy\":\"fair\",\"parameters\":"
			      "{\"slice\":\"3ms\"}}", NULL));
	room_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":900000000,\"wait\":true");
	json_decref(room_call(r, "Hold", text, NULL));
	world_run(r->w, 200 * GP_MSEC);
	gp_methods_after(r->methods);
	EXPECT_EQ(restarts(r, why, sizeof(why)), 0);
	room_restart(r);
	EXPECT_EQ(restarts(r, why, sizeof(why)), 1);
	EXPECT(strstr(why, "ended without a word"));
	assert_string_equal(world_find(r->w, r->offline)->class.name, "idle");
	EXPECT(world_sched(r->w)->policy == &gp_policy_fair);
	EXPECT_EQ(world_sched(r->w)->param[GP_SLICE], 3 * GP_MSEC);
	for (u32 i = 0; i < 20; i++)
		room_spin(r);
	EXPECT_EQ(world_state(r->w, r->offline), GP_OFF);
	/* The hold lasts for the rest of the lease and no longer. */
	world_run(r->w, GP_SEC);
	EXPECT_EQ(world_state(r->w, r->offline), GP_ON);
	/* Loads the configuration again. */
	gp_methods_reloaded(r->methods);
	gp_methods_end(r->methods, "the test ends it");
	room_restart(r);
	EXPECT(world_sched(r->w)->policy == &gp_policy_priority);
	EXPECT_EQ(restarts(r, why, sizeof(why)), 2);
	EXPECT(strstr(why, "the test ends it"));
	a = room_call(r, "Status", "{}", NULL);
	EXPECT_EQ(json_array_size(json_object_get(a, "restart_reasons")), 2);
	json_decref(a);
}

static void a_reused_pid_does_not_inherit_a_class_or_a_hold(void **state)
{
	struct room *r = *state;
	char why[GP_DECIDER_WHY], text[128];
	u32 i;

	room_pid(text, sizeof(text), r, r->offline, ",\"class\":\"idle\"");
	json_decref(room_call(r, "SetClass", text, NULL));
	room_pid(text, sizeof(text), r, r->offline, ",\"lease_ns\":900000000,\"wait\":true");
	json_decref(room_call(r, "Hold", text, NULL));
	world_run(r->w, 200 * GP_MSEC);
	gp_methods_after(r->methods);
	EXPECT_EQ(gp_state_load(r->state, &state_now, why), 0);
	EXPECT_EQ(state_now.nr_holds, 1);
	EXPECT(state_now.nr_classes >= 1);
	for (i = 0; i < state_now.nr_classes; i++)
		state_now.class[i].who.start++;
	state_now.hold[0].id.start++;
	EXPECT_EQ(gp_state_save(r->state, &state_now), 0);
	room_restart(r);
	for (i = 0; i < 20; i++)
		room_spin(r);
	assert_string_equal(world_find(r->w, r->offline)->class.name, "offline");
	EXPECT_EQ(world_state(r->w, r->offline), GP_ON);
}

static void a_hold_that_cannot_be_renewed_is_written_once(void **state)
{
	struct room *r = *state;
	const struct gp_gpu_process *p = world_find(r->w, r->online);
	struct gp_process_id online = { p->pid, p->start };
	char why[GP_DECIDER_WHY];

	gp_methods_after(r->methods);
	EXPECT_EQ(gp_state_load(r->state, &state_now, why), 0);
	/* The class of the first process may not be preempted. The second has ended. */
	state_now.nr_holds = 2;
	state_now.hold[0] = (struct gp_kept_hold){
		online, r->w->decider->now_ns + 60 * GP_SEC };
	state_now.hold[1] = state_now.hold[0];
	state_now.hold[1].id.start++;
	EXPECT_EQ(gp_state_save(r->state, &state_now), 0);
	room_restart(r);
	for (u32 i = 0; i < 4; i++) {
		world_run(r->w, 200 * GP_MSEC);
		gp_methods_after(r->methods);
	}
	EXPECT_EQ(gp_state_load(r->state, &state_read, why), 0);
	EXPECT_EQ(state_read.nr_holds, 1);
	EXPECT_EQ(state_read.hold[0].id.start, online.start);
	EXPECT_EQ(unlink(r->state), 0);
	world_run(r->w, 200 * GP_MSEC);
	gp_methods_after(r->methods);
	EXPECT_EQ(access(r->state, F_OK), -1);
}

static void a_policy_set_while_the_state_cannot_be_read_is_kept(void **state)
{
	struct room *r = *state;
	char kept[sizeof(r->state) + 8];

	snprintf(kept, sizeof(kept), "%s.kept", r->state);
	json_decref(room_call(r, "SetPolicy", "{\"policy\":\"fifo\"}", NULL));
	world_run(r->w, 200 * GP_MSEC);
	gp_methods_after(r->methods);
	/* A link is not followed, even if its target is a valid file. */
	EXPECT_EQ(rename(r->state, kept), 0);
	EXPECT_EQ(symlink(kept, r->state), 0);
	room_restart(r);
	EXPECT(world_sched(r->w)->policy == &gp_policy_priority);
	json_decref(room_call(r, "SetPolicy", "{\"policy\":\"fair\"}", NULL));
	EXPECT_EQ(rename(kept, r->state), 0);
	for (u32 i = 0; i < 8; i++) {
		world_run(r->w, 200 * GP_MSEC);
		gp_methods_after(r->methods);
	}
	EXPECT(world_sched(r->w)->policy == &gp_policy_fair);
}

static void a_broken_state_does_not_stop_the_daemon(void **state)
{
	struct room *r = *state;
	char why[160];
	FILE *f = fopen(r->state, "we");

	fputs("gpreempt-state 1\nclass x\n", f);
	fclose(f);
	room_restart(r);
	EXPECT_EQ(restarts(r, why, sizeof(why)), 0);
	/* A valid file replaces it. */
	gp_methods_after(r->methods);
	EXPECT_EQ(gp_state_load(r->state, &state_read, why), 0);
}

PROVE(
	CLAIM(a_state_is_read_as_it_was_written),
	CLAIM(an_invalid_state_is_ignored_as_a_whole),
	CLAIM_WITH(a_file_is_replaced_at_once_or_not_at_all, room_up, room_down),
	CLAIM_WITH(classes_policy_and_holds_survive_a_restart, room_up, room_down),
	CLAIM_WITH(a_reused_pid_does_not_inherit_a_class_or_a_hold, room_up, room_down),
	CLAIM_WITH(a_hold_that_cannot_be_renewed_is_written_once, room_up, room_down),
	CLAIM_WITH(a_policy_set_while_the_state_cannot_be_read_is_kept, room_up, room_down),
	CLAIM_WITH(a_broken_state_does_not_stop_the_daemon, room_up, room_down),
)
