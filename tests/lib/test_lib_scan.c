// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Scans in steps, limits per user, and system calls that fail in the middle. */
#include <stdio.h>
#include <string.h>

#include "process_world.h"
#include "tests/shared/sys_faults.h"

enum { ALICE = 1000, BOB = 1001, CROWD = GP_PROCESSES_MAX, BOBS = 5000 };

/* Returns how many calls of @steps steps a scan takes. */
static u32 scan_in_steps(struct process_world *w, u32 what, u32 steps)
{
	for (u32 calls = 1; calls < 100000; calls++) {
		int err = gp_scanner_step(w->scanner, what, steps);

		EXPECT(err == 0 || err == 1);
		if (err == 1) {
			w->p = gp_scanner_processes(w->scanner, &w->count);
			return calls;
		}
	}
	fail_msg("the scan does not end");
	return 0;
}

static const struct gp_process *find(const struct process_world *w, int pid)
{
	for (u32 i = 0; i < w->count; i++)
		if (w->p[i].pid == pid)
			return &w->p[i];
	return NULL;
}

/* ---- limits ---- */

static void another_users_process_is_found_beside_4096_of_one_user(void **state)
{
	enum { STEPS = 64, CALLS = (CROWD * 2 + GP_USER_PROCESSES_MAX) / STEPS + 2 };
	struct process_world *w = *state;
	struct gp_scan_user user;
	u32 calls;

	for (int i = 1; i <= CROWD; i++)
		process_world_put_idle(w, i, ALICE);
	calls = scan_in_steps(w, 0, STEPS);
	EXPECT(calls <= CALLS);
	EXPECT_EQ(w->count, GP_USER_PROCESSES_MAX);
	EXPECT_EQ(gp_scanner_left_out(w->scanner), CROWD - GP_USER_PROCESSES_MAX);

	process_world_put_process(w, BOBS);
	process_world_put_user(w, BOBS, BOB);
	calls = scan_in_steps(w, 0, STEPS);
	EXPECT(find(w, BOBS) && find(w, BOBS)->is_new && find(w, BOBS)->nr_queues == 3);
	/* A skipped process costs no step of its own. */
	EXPECT(calls <= (CROWD / 128 + GP_USER_PROCESSES_MAX + 6) / STEPS + 1);
	EXPECT_EQ(w->count, GP_USER_PROCESSES_MAX + 1);

	EXPECT(gp_scanner_user(w->scanner, 0, &user));
	EXPECT(user.user == ALICE && user.tracked == GP_USER_PROCESSES_MAX &&
	       user.left_out == CROWD - GP_USER_PROCESSES_MAX);
	EXPECT(gp_scanner_user(w->scanner, 1, &user));
	EXPECT(user.user == BOB && user.tracked == 1 && user.left_out == 0);
	EXPECT(!gp_scanner_user(w->scanner, 2, &user));
}

static void a_process_that_was_left_out_takes_the_place_of_one_that_ends(void **state)
{
	struct process_world *w = *state;
	char path[64];

	gp_scanner_free(w->scanner);
	w->scanner = process_world_scanner(w, 20);
	for (int i = 1; i <= 50; i++)
		process_world_put_idle(w, i, ALICE);
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 20);
	for (u32 i = 0; i < 10; i++) {
		snprintf(path, sizeof(path), "kfd/proc/%d", w->p[i].pid);
		fake_tree_remove(w->tree, path);
	}
	process_world_scan(w, 0);
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 20);
	EXPECT_EQ(gp_scanner_left_out(w->scanner), 20);
}

static void a_process_with_queues_displaces_an_idle_one_of_its_user(void **state)
{
	struct process_world *w = *state;
	struct gp_scan_user user;

	gp_scanner_free(w->scanner);
	w->scanner = process_world_scanner(w, 20);
	for (int i = 1; i <= 300; i++)
		process_world_put_idle(w, i, ALICE);
	process_world_put_idle(w, 400, BOB);
	process_world_scan(w, 0);
	process_world_put_process(w, 500);
	process_world_put_process(w, 501);
	/* Three scans examine 300 processes. */
	for (u32 i = 0; i < 4; i++)
		scan_in_steps(w, 0, 1);
	EXPECT(find(w, 500) && find(w, 500)->nr_queues == 3 && find(w, 501));
	EXPECT(find(w, 400));
	EXPECT_EQ(w->count, 21);
	EXPECT(gp_scanner_user(w->scanner, 0, &user));
	EXPECT(user.tracked == 20 && user.left_out == 282 && !user.busy);
	/* When all have queues, the skipped ones are counted. */
	for (int i = 502; i < 530; i++)
		process_world_put_process(w, i);
	for (u32 i = 0; i < 8; i++)
		process_world_scan(w, 0);
	EXPECT_EQ(w->count, 21);
	for (u32 i = 0; i < w->count; i++)
		EXPECT(w->p[i].nr_queues || w->p[i].pid == 400);
	EXPECT(gp_scanner_user(w->scanner, 0, &user));
	EXPECT(user.tracked == 20 && user.busy == 10);
}

static void many_users_leave_room_for_users_who_have_few(void **state)
{
	struct process_world *w = *state;
	u32 nr = 0;

	/* Eight users with 512 processes each would fill the table. */
	for (int i = 1; i <= CROWD; i++)
		process_world_put_idle(w, i, ALICE + (uid_t)i % 8);
	process_world_scan(w, 0);
	EXPECT(w->count >= GP_PROCESSES_MAX - GP_PROCESSES_MAX / 4 && w->count < GP_PROCESSES_MAX);
	for (int i = 0; i < 100; i++)
		process_world_put_idle(w, BOBS + i, 2000);
	process_world_scan(w, 0);
	for (u32 i = 0; i < w->count; i++)
		nr += w->p[i].user == 2000;
	EXPECT_EQ(nr, GP_USER_PROCESSES_MAX / 8);
	EXPECT_EQ(w->count + gp_scanner_left_out(w->scanner), CROWD + 100);
}

static void uids_of_a_user_namespace_count_as_their_owners(void **state)
{
	struct process_world *w = *state;
	struct gp_scan_user user;

	fake_tree_put(w->tree, "alice:100000:65536\n", "etc/subuid");
	fake_tree_put(w->tree, "alice:x:1000:1000::/:/bin/sh\n", "etc/passwd");
	gp_scanner_free(w->scanner);
	w->scanner = process_world_scanner(w, 20);
	for (int i = 1; i <= 50; i++)
		process_world_put_idle(w, i, 100000 + (uid_t)i);
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 20);
	EXPECT(w->p[0].user == ALICE && w->p[0].uid > 100000);
	EXPECT(gp_scanner_user(w->scanner, 0, &user) && user.user == ALICE && user.left_out == 30);
	EXPECT(!gp_scanner_user(w->scanner, 1, &user));
}

/* ---- steps ---- */

static void an_incomplete_scan_changes_nothing_that_is_seen(void **state)
{
	struct process_world *w = *state;
	u32 calls = 0;

	for (int i = 1; i <= 50; i++)
		process_world_put_process(w, i);
	scan_in_steps(w, 0, 7);
	EXPECT_EQ(w->count, 50);
	fake_tree_remove(w->tree, "kfd/proc/7");
	process_world_put_process(w, 60);
	while (!gp_scanner_step(w->scanner, 0, 1)) {
		gp_scanner_processes(w->scanner, &w->count);
		EXPECT_EQ(w->count, 50);
		calls++;
	}
	EXPECT(calls >= 50);
	w->p = gp_scanner_processes(w->scanner, &w->count);
	EXPECT_EQ(w->count, 50);
	EXPECT(!find(w, 7) && find(w, 60) && find(w, 60)->is_new && !find(w, 8)->is_new);
	/* A complete scan during a stepwise one starts again. */
	process_world_put_queue(w, 60, 3, "1", "0");
	for (u32 i = 0; i < 60; i++)
		EXPECT(gp_scanner_step(w->scanner, 0, 1) >= 0);
	process_world_scan(w, 0);
	EXPECT_EQ(find(w, 60)->nr_queues, 4);
}

static void a_change_seen_by_an_abandoned_scan_is_still_told(void **state)
{
	struct process_world *w = *state;

	process_world_put_process(w, 20);
	process_world_scan(w, 0);
	process_world_put_queue(w, 20, 3, "1", "0");
	process_world_put_process(w, 21);
	/* A part of the directory, 20 and its queue, identity of 21, 21, two of its queues. */
	EXPECT_EQ(gp_scanner_step(w->scanner, 0, 7), 0);
	process_world_scan(w, 0);
	EXPECT(find(w, 20)->queues_changed && !find(w, 20)->is_new);
	EXPECT(find(w, 21)->is_new);
	process_world_scan(w, 0);
	EXPECT(!find(w, 20)->queues_changed && !find(w, 21)->is_new);
}

static void a_process_with_many_queues_is_read_in_steps(void **state)
{
	enum { QUEUES = 300, STEPS = 20 };
	struct process_world *w = *state;
	u32 calls = 0;

	process_world_put_idle(w, 20, ALICE);
	for (u32 i = 0; i < QUEUES; i++)
		process_world_put_queue(w, 20, i, "1", "0");
	for (int err = 0; !err; calls++) {
		sys_faults_begin(NULL);
		err = gp_scanner_step(w->scanner, 0, STEPS);
		EXPECT(sys_faults_calls(GP_SYS_openat) <= 3 * STEPS + 10);
		sys_faults_end();
	}
	EXPECT(calls > QUEUES / STEPS);
	w->p = gp_scanner_processes(w->scanner, &w->count);
	EXPECT_EQ(w->count, 1);
	EXPECT_EQ(w->p[0].nr_queues, QUEUES);
	process_world_scan(w, 0);
	EXPECT(w->p[0].nr_queues == QUEUES && !w->p[0].queues_changed);
}

static void an_unchanged_process_costs_five_system_calls(void **state)
{
	struct process_world *w = *state;

	for (int i = 1; i <= 100; i++)
		process_world_put_process(w, i);
	process_world_scan(w, 0);
	sys_faults_begin(NULL);
	process_world_scan(w, 0);
	EXPECT_EQ(sys_faults_calls(GP_SYS_openat), 101);
	EXPECT_EQ(sys_faults_calls(GP_SYS_fstatat), 100);
	EXPECT(sys_faults_calls(GP_SYS_getdents) <= 205);
	EXPECT_EQ(sys_faults_calls(GP_SYS_read), 0);
	EXPECT_EQ(sys_faults_calls(GP_SYS_realloc), 0);
	sys_faults_end();
}

/* ---- faults ---- */

static const enum gp_sys_call faulty[] = {
	GP_SYS_openat, GP_SYS_read, GP_SYS_fstatat, GP_SYS_getdents, GP_SYS_realloc,
};
static const int errors[] = { EMFILE, ENFILE, ENOMEM, EIO, EAGAIN, EINTR };

static u64 all_faults(const struct gp_scanner *s)
{
	u64 sum = 0;

	for (int why = 0; why < GP_SCAN_FAULTS; why++)
		sum += gp_scanner_faults(s, why);
	return sum;
}

static u64 faults_of(const struct gp_scanner *s, int err)
{
	switch (err) {
	case EMFILE:
	case ENFILE:
		return gp_scanner_faults(s, GP_SCAN_DESCRIPTORS);
	case ENOMEM:
		return gp_scanner_faults(s, GP_SCAN_MEMORY);
	case EIO:
		return gp_scanner_faults(s, GP_SCAN_IO);
	default:
		return gp_scanner_faults(s, GP_SCAN_AGAIN);
	}
}

/* Fails with a message unless both have the same processes, queues and usage. */
static void expect_same(const struct process_world *w, struct gp_scanner *other)
{
	const struct gp_process *p;
	u32 count;

	EXPECT_EQ(gp_scanner_run(other, GP_SCAN_USAGE, &p, &count), 0);
	EXPECT_EQ(w->count, count);
	for (u32 i = 0; i < count; i++) {
		const struct gp_process *a = &w->p[i], *b = &p[i];

		EXPECT(a->pid == b->pid && a->start == b->start && a->birth == b->birth);
		EXPECT(a->uid == b->uid && a->user == b->user && a->nr_queues == b->nr_queues);
		for (u32 k = 0; k < a->nr_queues; k++)
			EXPECT(a->queues[k].id == b->queues[k].id &&
			       a->queues[k].birth == b->queues[k].birth &&
			       a->queues[k].gpu_id == b->queues[k].gpu_id);
		EXPECT(a->nr_gpus == b->nr_gpus &&
		       !memcmp(a->gpus, b->gpus, a->nr_gpus * sizeof(*a->gpus)));
	}
}

/* Moves a directory, which is quicker than writing all its files again. */
static void move(const struct process_world *w, const char *from, const char *to)
{
	char full_from[256], full_to[256];

	snprintf(full_from, sizeof(full_from), "%s/kfd/%s", w->tree->path, from);
	snprintf(full_to, sizeof(full_to), "%s/kfd/%s", w->tree->path, to);
	EXPECT_EQ(rename(full_from, full_to), 0);
}

/*
 * Two processes are known. Process 3 is new. Process 1 has a new queue and lost one. Process 2 is
 * unchanged. One call of the scan fails.
 */
static void faulty_scan(struct process_world *w, const struct sys_fault *fault)
{
	const struct gp_process *p = NULL;
	u32 count = 0;
	int err;

	gp_scanner_free(w->scanner);
	move(w, "old-queue", "proc/1/queues/9");
	move(w, "proc/1/queues/11", "new-queue");
	move(w, "proc/3", "new-process");
	w->scanner = process_world_scanner(w, 0);
	process_world_scan(w, GP_SCAN_USAGE);
	move(w, "proc/1/queues/9", "old-queue");
	move(w, "new-queue", "proc/1/queues/11");
	move(w, "new-process", "proc/3");

	sys_faults_begin(fault);
	err = gp_scanner_run(w->scanner, GP_SCAN_USAGE, &p, &count);
	if (!fault)
		return;
	EXPECT_EQ(sys_faults_end(), 1);
	EXPECT(!err || err == -fault->err);
	if (err)
		return;
	w->p = p;
	w->count = count;
	EXPECT(find(w, 1) && find(w, 2));
	EXPECT_EQ(find(w, 2)->nr_queues, 3);
	EXPECT(find(w, 1)->nr_queues >= 2 && find(w, 1)->queues[0].id == 0);
	EXPECT(!find(w, 3) || find(w, 3)->nr_queues == 3);
	EXPECT(find(w, 2)->nr_gpus == 1 && find(w, 2)->gpus[0].vram_bytes == 1048576);
}

static void a_failed_system_call_loses_nothing_and_is_counted(void **state)
{
	struct process_world *w = *state;
	u64 calls[GP_SYS_NR], tried = 0;
	struct gp_scanner *other = process_world_scanner(w, 0);

	for (int i = 1; i <= 3; i++)
		process_world_put_process(w, i);
	process_world_put_queue(w, 1, 11, "54702", "0");
	move(w, "proc/1/queues/9", "old-queue");
	faulty_scan(w, NULL);
	for (u32 i = 0; i < GP_SYS_NR; i++)
		calls[i] = sys_faults_calls(i);
	sys_faults_end();
	for (u32 c = 0; c < sizeof(faulty) / sizeof(*faulty); c++) {
		for (u64 n = 1; n <= calls[faulty[c]]; n++) {
			for (u32 e = 0; e < sizeof(errors) / sizeof(*errors); e++) {
				struct sys_fault fault = { faulty[c], n, .err = errors[e] };
				bool retried = fault.err == EINTR && fault.call == GP_SYS_read;

				if (fault.call == GP_SYS_realloc)
					fault.err = ENOMEM;
				faulty_scan(w, &fault);
				EXPECT_EQ(faults_of(w->scanner, fault.err), !retried);
				EXPECT_EQ(all_faults(w->scanner), !retried);
				process_world_scan(w, GP_SCAN_USAGE);
				EXPECT(find(w, 3));
				EXPECT_EQ(w->count, 3);
				expect_same(w, other);
				EXPECT_EQ(all_faults(w->scanner), !retried);
				tried++;
			}
		}
	}
	print_message("#| %llu faults\n", (unsigned long long)tried);
	EXPECT(tried > 300);
	gp_scanner_free(other);
}

enum { RANDOM = 10 };

struct random_world {
	struct process_world *w;
	u64 seed;
	bool is_there[RANDOM + 1], has_queue[RANDOM + 1];
};

static u32 pick(struct random_world *r, u32 below)
{
	return (u32)(gp_test_random(&r->seed) % below);
}

/* Adds or removes a process or one of its queues. */
static void change(struct random_world *r)
{
	u32 i = 1 + pick(r, RANDOM);
	char here[64], away[64];
	bool *is;

	if (pick(r, 2) || !r->is_there[i]) {
		snprintf(here, sizeof(here), "proc/%u", i);
		snprintf(away, sizeof(away), "process-%u", i);
		is = &r->is_there[i];
	} else {
		snprintf(here, sizeof(here), "proc/%u/queues/9", i);
		snprintf(away, sizeof(away), "queue-%u", i);
		is = &r->has_queue[i];
	}
	move(r->w, *is ? here : away, *is ? away : here);
	*is = !*is;
}

/* Scans in steps of random size. Returns true if the scan is complete. */
static bool random_scan(struct random_world *r, bool with_fault)
{
	struct sys_fault fault = {
		.call = faulty[pick(r, sizeof(faulty) / sizeof(*faulty))],
		.nth = 1 + pick(r, 100), .times = 1 + pick(r, 20),
		.err = errors[pick(r, sizeof(errors) / sizeof(*errors))],
	};
	u32 steps = 1 + pick(r, 40);
	int err;

	sys_faults_begin(with_fault ? &fault : NULL);
	while (!(err = gp_scanner_step(r->w->scanner, GP_SCAN_USAGE, steps)))
		;
	sys_faults_end();
	if (err == 1)
		r->w->p = gp_scanner_processes(r->w->scanner, &r->w->count);
	EXPECT(err == 1 || with_fault);
	return err == 1;
}

static void random_changes_and_faults_lose_no_process_and_no_queue(void **state)
{
	struct random_world r = { .w = *state, .seed = gp_test_seed(1) };
	struct gp_scanner *other = process_world_scanner(r.w, 0);
	u32 rounds = gp_test_full() ? 100000 : 2000;
	bool was_there[RANDOM + 1] = { false };

	for (int i = 1; i <= RANDOM; i++) {
		process_world_put_process(r.w, i);
		r.is_there[i] = r.has_queue[i] = true;
	}
	for (u32 round = 0; round < rounds; round++) {
		bool with_fault = pick(&r, 4);

		for (u32 i = pick(&r, 4); i; i--)
			change(&r);
		if (!random_scan(&r, with_fault))
			continue;
		for (int i = 1; i <= RANDOM; i++) {
			const struct gp_process *p = find(r.w, i);

			EXPECT(p || !was_there[i] || !r.is_there[i]);
			EXPECT(!p || !r.is_there[i] || p->nr_queues >= 2);
			was_there[i] = p && r.is_there[i];
		}
		if (!with_fault)
			expect_same(r.w, other);
	}
	gp_scanner_free(other);
}

static void without_descriptors_everything_stays_as_it_was(void **state)
{
	struct process_world *w = *state;

	for (int i = 1; i <= 20; i++)
		process_world_put_process(w, i);
	process_world_scan(w, 0);
	fake_tree_remove(w->tree, "kfd/proc/5");
	for (u64 n = 1; n <= 21; n++) {
		struct sys_fault fault = { GP_SYS_openat, n, .times = 1000000, .err = EMFILE };
		int err;

		sys_faults_begin(&fault);
		err = gp_scanner_run(w->scanner, 0, &w->p, &w->count);
		sys_faults_end();
		EXPECT_EQ(err, n == 1 ? -EMFILE : 0);
		/* Process 5 has ended. The other processes keep their queues. */
		EXPECT_EQ(w->count, n == 1 ? 20 : 19);
		for (u32 i = 0; n > 1 && i < w->count; i++)
			EXPECT(w->p[i].nr_queues == 3 && !w->p[i].queues_changed);
		EXPECT(gp_scanner_faults(w->scanner, GP_SCAN_DESCRIPTORS));
	}
	EXPECT_EQ(gp_scanner_faults(w->scanner, GP_SCAN_IO), 0);
}

static void a_process_appears_when_its_queues_are_known(void **state)
{
	struct sys_fault fault = { .call = GP_SYS_openat, .nth = 4, .times = 1000, .err = EMFILE };
	struct process_world *w = *state;

	process_world_put_process(w, 1);
	/* Only the directory, stat and status can be opened. */
	sys_faults_begin(&fault);
	process_world_scan(w, 0);
	sys_faults_end();
	EXPECT_EQ(w->count, 0);
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 1);
	EXPECT(w->p[0].is_new && w->p[0].queues_changed && w->p[0].nr_queues == 3);
}

static ssize_t no_entries(int dir, void *to, size_t bytes)
{
	(void)dir;
	(void)to;
	(void)bytes;
	return 0;
}

static int stat_fails(int dir, const char *path, struct stat *ret, int flags)
{
	(void)dir;
	(void)path;
	(void)ret;
	(void)flags;
	errno = EIO;
	return -1;
}

static void a_process_that_a_directory_read_misses_stays(void **state)
{
	struct process_world *w = *state;
	struct gp_sys table = gp_sys_real;

	process_world_put_process(w, 1);
	process_world_put_process(w, 2);
	process_world_scan(w, 0);
	fake_tree_remove(w->tree, "kfd/proc/2");
	table.getdents = no_entries;
	gp_sys = &table;
	process_world_scan(w, 0);
	EXPECT(w->count == 1 && w->p[0].pid == 1 && w->p[0].nr_queues == 3);
	table.fstatat = stat_fails;
	fake_tree_remove(w->tree, "kfd/proc/1");
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 1);
	EXPECT_EQ(gp_scanner_faults(w->scanner, GP_SCAN_IO), 1);
	gp_sys = &gp_sys_real;
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 0);
}

#define IN_WORLD(claim)	CLAIM_WITH(claim, process_world_up, process_world_down)

PROVE(
	IN_WORLD(another_users_process_is_found_beside_4096_of_one_user),
	IN_WORLD(a_process_that_was_left_out_takes_the_place_of_one_that_ends),
	IN_WORLD(a_process_with_queues_displaces_an_idle_one_of_its_user),
	IN_WORLD(many_users_leave_room_for_users_who_have_few),
	IN_WORLD(uids_of_a_user_namespace_count_as_their_owners),
	IN_WORLD(an_incomplete_scan_changes_nothing_that_is_seen),
	IN_WORLD(a_change_seen_by_an_abandoned_scan_is_still_told),
	IN_WORLD(a_process_with_many_queues_is_read_in_steps),
	IN_WORLD(an_unchanged_process_costs_five_system_calls),
	IN_WORLD(a_failed_system_call_loses_nothing_and_is_counted),
	IN_WORLD(random_changes_and_faults_lose_no_process_and_no_queue),
	IN_WORLD(without_descriptors_everything_stays_as_it_was),
	IN_WORLD(a_process_that_a_directory_read_misses_stays),
	IN_WORLD(a_process_appears_when_its_queues_are_known),
)
