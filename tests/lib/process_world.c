// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "process_world.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

struct gp_scanner *process_world_scanner(struct process_world *w, u32 user_max)
{
	struct gp_scan_args args = {
		.kfd = w->kfd, .proc = w->proc, .etc = w->etc, .user_max = user_max,
	};
	struct gp_scanner *s = NULL;

	EXPECT_EQ(gp_scanner_alloc(&args, &s), 0);
	return s;
}

int process_world_up(void **state)
{
	struct process_world *w = calloc(1, sizeof(*w));

	w->tree = fake_tree_make();
	snprintf(w->kfd, sizeof(w->kfd), "%s/kfd", w->tree->path);
	snprintf(w->proc, sizeof(w->proc), "%s/p", w->tree->path);
	snprintf(w->etc, sizeof(w->etc), "%s/etc", w->tree->path);
	w->scanner = process_world_scanner(w, 0);
	fake_tree_dir(w->tree, "kfd/proc");
	*state = w;
	return 0;
}

int process_world_down(void **state)
{
	struct process_world *w = *state;

	gp_scanner_free(w->scanner);
	fake_tree_free(w->tree);
	free(w);
	return 0;
}

void process_world_put_user(struct process_world *w, int pid, uid_t uid)
{
	char text[128];

	snprintf(text, sizeof(text), "Name:\tx\nUid:\t%u\t0\t0\t0\nGid:\t1001\t0\t0\t0\n", uid);
	fake_tree_put(w->tree, text, "p/%d/status", pid);
}

void process_world_put_proc(struct process_world *w, int pid, const char *name, u64 start)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%d (%s) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %llu 99 98\n", pid, name,
		 (unsigned long long)start);
	fake_tree_put(w->tree, text, "p/%d/task/%d/stat", pid, pid);
	process_world_put_user(w, pid, 1000);
}

void process_world_put_queue(struct process_world *w, int pid, u32 id, const char *gpu,
			     const char *type)
{
	fake_tree_put(w->tree, gpu, "kfd/proc/%d/queues/%u/gpuid", pid, id);
	fake_tree_put(w->tree, type, "kfd/proc/%d/queues/%u/type", pid, id);
	fake_tree_put(w->tree, "65536", "kfd/proc/%d/queues/%u/size", pid, id);
}

void process_world_put_process(struct process_world *w, int pid)
{
	process_world_put_proc(w, pid, "python3", 4711);
	fake_tree_put(w->tree, "32769\n", "kfd/proc/%d/pasid", pid);
	fake_tree_put(w->tree, "1048576\n", "kfd/proc/%d/vram_54702", pid);
	fake_tree_put(w->tree, "7\n", "kfd/proc/%d/stats_54702/evicted_ms", pid);
	fake_tree_put(w->tree, "40\n", "kfd/proc/%d/stats_54702/cu_occupancy", pid);
	process_world_put_queue(w, pid, 0, "54702", "0");
	process_world_put_queue(w, pid, 10, "54702", "1");
	process_world_put_queue(w, pid, 9, "54702", "0");
}

/* All idle processes of a user share a directory, because tests make thousands of them. */
void process_world_put_idle(struct process_world *w, int pid, uid_t uid)
{
	char text[64], path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/p/user-%u", w->tree->path, uid);
	if (access(path, F_OK)) {
		snprintf(path, sizeof(path), "p/user-%u/task", uid);
		fake_tree_dir(w->tree, path);
		fake_tree_put(w->tree,
			      "1 (idle) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1 2\n",
			      "p/user-%u/stat", uid);
		snprintf(text, sizeof(text), "Name:\tx\nUid:\t%u\nGid:\t1\n", uid);
		fake_tree_put(w->tree, text, "p/user-%u/status", uid);
		fake_tree_put(w->tree, "0 1000 1\n1 100000 65536\n", "p/user-%u/uid_map", uid);
	}
	snprintf(path, sizeof(path), "p/%d", pid);
	snprintf(text, sizeof(text), "user-%u", uid);
	fake_tree_link(w->tree, text, path);
	snprintf(path, sizeof(path), "p/user-%u/task/%d", uid, pid);
	fake_tree_link(w->tree, "..", path);
	snprintf(path, sizeof(path), "kfd/proc/%d", pid);
	fake_tree_dir(w->tree, path);
}

void process_world_scan(struct process_world *w, u32 what)
{
	EXPECT_EQ(gp_scanner_run(w->scanner, what, &w->p, &w->count), 0);
}
