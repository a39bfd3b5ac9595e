// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The user who is accountable for a process, from an /etc and a /proc that the test writes. */
#include <stdio.h>
#include <string.h>

#include "tests/shared/fake_tree.h"
#include "tests/shared/gp_test.h"
#include "lib/user.h"
#include "tests/shared/sys_faults.h"

#define INITIAL		"         0          0 4294967295\n"
#define ROOTLESS	"         0       1000          1\n         1     100000      65536\n"

struct world {
	struct fake_tree *tree;
	char etc[128], proc[128];
	struct gp_subuids *subuids;
};

static int up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->tree = fake_tree_make();
	snprintf(w->etc, sizeof(w->etc), "%s/etc", w->tree->path);
	snprintf(w->proc, sizeof(w->proc), "%s/p", w->tree->path);
	EXPECT_EQ(gp_subuids_alloc(w->etc, &w->subuids), 0);
	fake_tree_put(w->tree, INITIAL, "p/1/uid_map");
	fake_tree_put(w->tree, ROOTLESS, "p/2/uid_map");
	fake_tree_put(w->tree, "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/:/bin/sh\n"
		      "alic:x:999:1::/:\nbob:x:1001:1::/:/bin/sh\nbad:x\nworse:x:12\n",
		      "etc/passwd");
	*state = w;
	return 0;
}

static int down(void **state)
{
	struct world *w = *state;

	gp_subuids_free(w->subuids);
	fake_tree_free(w->tree);
	free(w);
	return 0;
}

static s64 user_of(struct world *w, pid_t pid, uid_t uid)
{
	uid_t user = 0;
	int err = gp_user_of(w->subuids, w->proc, pid, uid, &user);

	return err ? err : (s64)user;
}

static void a_mapped_uid_belongs_to_the_owner_of_its_range(void **state)
{
	struct world *w = *state;

	EXPECT_EQ(user_of(w, 2, 100005), 100005);
	fake_tree_put(w->tree, "alice:100000:65536\n1001:165536:10\n\n:1:2\nx:y:z\nbob:165546:10\n"
		      "ldap:500000:100\nbad:600000:5\nworse:600005:5\nlast:4294967290:100",
		      "etc/subuid");
	EXPECT_EQ(user_of(w, 2, 99999), 99999);
	EXPECT_EQ(user_of(w, 2, 100000), 1000);
	EXPECT_EQ(user_of(w, 2, 165535), 1000);
	EXPECT_EQ(user_of(w, 2, 165536), 1001);
	EXPECT_EQ(user_of(w, 2, 165546), 1001);
	EXPECT_EQ(user_of(w, 2, 165556), 165556);
	/* Also if the process has ended, because then only its uid is known. */
	EXPECT_EQ(user_of(w, 77, 100000), -ESRCH);
	EXPECT_EQ(gp_user_of_uid(w->subuids, 100000), 1000);
	EXPECT_EQ(gp_user_of_uid(w->subuids, 99999), 99999);
	/* Owners missing from /etc/passwd count as one user per range. */
	EXPECT_EQ(user_of(w, 2, 500099), 500000);
	EXPECT_EQ(user_of(w, 2, 600001), 600000);
	EXPECT_EQ(user_of(w, 2, 600006), 600005);
	EXPECT_EQ(user_of(w, 2, 4294967294u), 4294967290u);
	EXPECT_EQ(user_of(w, 2, 1), 1);
	EXPECT_EQ(user_of(w, 2, 1000), 1000);
}

static void a_uid_of_the_initial_namespace_is_its_own_user(void **state)
{
	struct world *w = *state;

	fake_tree_put(w->tree, "alice:100000:65536\n", "etc/subuid");
	EXPECT_EQ(user_of(w, 1, 100005), 100005);
	EXPECT_EQ(user_of(w, 3, 100005), -ESRCH);
	EXPECT_EQ(user_of(w, 3, 5), 5);
}

static void a_changed_file_is_read_again_and_an_unchanged_one_is_not(void **state)
{
	struct world *w = *state;

	fake_tree_put(w->tree, "alice:100000:65536\n", "etc/subuid");
	EXPECT_EQ(user_of(w, 2, 100005), 1000);
	sys_faults_begin(NULL);
	EXPECT_EQ(user_of(w, 2, 100005), 1000);
	EXPECT_EQ(sys_faults_calls(GP_SYS_fstatat), 1);
	EXPECT_EQ(sys_faults_calls(GP_SYS_openat), 1);	/* uid_map */
	sys_faults_end();
	fake_tree_put(w->tree, "bob:100000:65536\n\n", "etc/subuid");
	EXPECT_EQ(user_of(w, 2, 100005), 1001);
	fake_tree_remove(w->tree, "etc/subuid");
	EXPECT_EQ(user_of(w, 2, 100005), 100005);
	/* /etc/passwd may be missing. */
	fake_tree_put(w->tree, "bob:100000:65536\n", "etc/subuid");
	fake_tree_remove(w->tree, "etc/passwd");
	EXPECT_EQ(user_of(w, 2, 100005), 100000);
}

static void a_failed_call_gives_no_user(void **state)
{
	static const enum gp_sys_call calls[] = {
		GP_SYS_openat, GP_SYS_read, GP_SYS_fstatat, GP_SYS_realloc,
	};
	struct world *w = *state;
	u32 failed = 0;

	fake_tree_put(w->tree, "alice:100000:65536\n", "etc/subuid");
	for (u32 i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		for (u64 n = 1;; n++) {
			s64 user;

			gp_subuids_free(w->subuids);
			EXPECT_EQ(gp_subuids_alloc(w->etc, &w->subuids), 0);
			sys_faults_begin(&(struct sys_fault){ calls[i], n, .err = ENOMEM });
			user = user_of(w, 2, 100005);
			if (!sys_faults_end()) {
				EXPECT_EQ(user, 1000);
				break;
			}
			EXPECT_EQ(user, -ENOMEM);
			EXPECT_EQ(user_of(w, 2, 100005), 1000);
			failed++;
		}
	}
	EXPECT(failed >= 12);
}

static void a_file_of_any_size_is_read_up_to_the_limits(void **state)
{
	struct world *w = *state;
	size_t bytes = GP_SUBUID_BYTES_MAX + 100000, at = 0;
	char *text = malloc(bytes);

	while (at + 32 < bytes)
		at += (size_t)sprintf(text + at, "%zu:%zu:1\n", at, 100000 + at);
	fake_tree_put_bytes(w->tree, text, at, "etc/subuid");
	free(text);
	EXPECT_EQ(user_of(w, 2, 100000), 0);
	EXPECT_EQ(user_of(w, 2, 100000 + (uid_t)at), 100000 + (s64)at);
}

PROVE(
	CLAIM_WITH(a_mapped_uid_belongs_to_the_owner_of_its_range, up, down),
	CLAIM_WITH(a_uid_of_the_initial_namespace_is_its_own_user, up, down),
	CLAIM_WITH(a_changed_file_is_read_again_and_an_unchanged_one_is_not, up, down),
	CLAIM_WITH(a_failed_call_gives_no_user, up, down),
	CLAIM_WITH(a_file_of_any_size_is_read_up_to_the_limits, up, down),
)
