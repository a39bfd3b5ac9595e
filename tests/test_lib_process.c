// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* GPU processes as found in a sysfs and a /proc that the test writes. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_tree.h"
#include "gp_test.h"
#include "lib/process.h"

struct world {
	struct fake_tree *tree;
	char kfd[128], proc[128];
	struct gp_scanner *scanner;
	const struct gp_process *p;
	u32 count;
};

static int up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->tree = fake_tree_make();
	snprintf(w->kfd, sizeof(w->kfd), "%s/kfd", w->tree->path);
	snprintf(w->proc, sizeof(w->proc), "%s/p", w->tree->path);
	EXPECT_EQ(gp_scanner_alloc(&(struct gp_scan_args){ w->kfd, w->proc }, &w->scanner), 0);
	fake_tree_dir(w->tree, "kfd/proc");
	*state = w;
	return 0;
}

static int down(void **state)
{
	struct world *w = *state;

	gp_scanner_free(w->scanner);
	fake_tree_free(w->tree);
	free(w);
	return 0;
}

static void scan(struct world *w, u32 what)
{
	EXPECT_EQ(gp_scanner_run(w->scanner, what, &w->p, &w->count), 0);
}

static void put_proc(struct world *w, int pid, const char *name, u64 start)
{
	static const char cmdline[] = "python3\0train.py\0--big\0";
	char text[256], path[64];

	snprintf(text, sizeof(text),
		 "%d (%s) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %llu 99 98\n", pid, name,
		 (unsigned long long)start);
	fake_tree_put(w->tree, text, "p/%d/stat", pid);
	fake_tree_put(w->tree, "Name:\tx\nUmask:\t22\nUid:\t1000\t0\t0\t0\nGid:\t1001\t0\t0\t0\n",
		      "p/%d/status", pid);
	fake_tree_put(w->tree, "12:cpu:/legacy\n0::/kubepods.slice/pod7\n", "p/%d/cgroup", pid);
	snprintf(path, sizeof(path), "p/%d/cmdline", pid);
	fake_tree_put_bytes(w->tree, cmdline, sizeof(cmdline) - 1, path);
	snprintf(path, sizeof(path), "p/%d/exe", pid);
	fake_tree_link(w->tree, "/usr/bin/python3.11", path);
}

static void put_queue(struct world *w, int pid, u32 id, const char *gpu, const char *type)
{
	fake_tree_put(w->tree, gpu, "kfd/proc/%d/queues/%u/gpuid", pid, id);
	fake_tree_put(w->tree, type, "kfd/proc/%d/queues/%u/type", pid, id);
	fake_tree_put(w->tree, "65536", "kfd/proc/%d/queues/%u/size", pid, id);
}

static void put_process(struct world *w, int pid)
{
	put_proc(w, pid, "python3", 4711);
	fake_tree_put(w->tree, "32769\n", "kfd/proc/%d/pasid", pid);
	fake_tree_put(w->tree, "1048576\n", "kfd/proc/%d/vram_54702", pid);
	fake_tree_put(w->tree, "7\n", "kfd/proc/%d/stats_54702/evicted_ms", pid);
	fake_tree_put(w->tree, "40\n", "kfd/proc/%d/stats_54702/cu_occupancy", pid);
	put_queue(w, pid, 0, "54702", "0");
	put_queue(w, pid, 10, "54702", "1");
	put_queue(w, pid, 9, "54702", "0");
}

static void a_process_is_read(void **state)
{
	struct world *w = *state;
	const struct gp_process *p;
	u32 occupancy;

	put_process(w, 1234);
	scan(w, GP_SCAN_USAGE | GP_SCAN_OCCUPANCY);
	EXPECT_EQ(w->count, 1);
	p = w->p;
	EXPECT_EQ(p->pid, 1234);
	EXPECT_EQ(p->start, 4711);
	EXPECT_EQ(p->uid, 1000);
	EXPECT_EQ(p->gid, 1001);
	EXPECT(!strcmp(p->comm, "python3"));
	EXPECT(!strcmp(p->exe, "/usr/bin/python3.11"));
	EXPECT(!strcmp(p->cmdline, "python3 train.py --big"));
	EXPECT(!strcmp(p->cgroup, "/kubepods.slice/pod7"));
	EXPECT(p->is_new && p->queues_changed && p->birth && p->seen_ns);
	EXPECT_EQ(p->nr_queues, 3);
	EXPECT(p->queues[0].id == 0 && p->queues[1].id == 9 && p->queues[2].id == 10);
	EXPECT_EQ(p->queues[2].type, GP_PROCESS_SDMA);
	EXPECT_EQ(p->queues[0].gpu_id, 54702);
	EXPECT_EQ(p->queues[0].ring_bytes, 65536);
	EXPECT_EQ(p->nr_gpus, 1);
	EXPECT_EQ(p->gpus[0].gpu_id, 54702);
	EXPECT_EQ(p->gpus[0].vram_bytes, 1048576);
	EXPECT_EQ(p->gpus[0].evicted_ms, 7);
	EXPECT_EQ(p->gpus[0].cu_occupancy, 40);
	EXPECT_EQ(gp_process_occupancy(w->kfd, 1234, 54702, &occupancy), 0);
	EXPECT_EQ(occupancy, 40);
	EXPECT_EQ(gp_process_occupancy(w->kfd, 1234, 1, &occupancy), -ENOENT);
}

static void a_scan_follows_what_changes(void **state)
{
	struct world *w = *state;
	u64 seen, birth;

	put_process(w, 20);
	put_process(w, 3);
	scan(w, GP_SCAN_USAGE);
	EXPECT_EQ(w->count, 2);
	EXPECT(w->p[0].pid == 3 && w->p[1].pid == 20);
	EXPECT_EQ(w->p[0].gpus[0].cu_occupancy, GP_PROCESS_UNKNOWN);
	seen = w->p[1].seen_ns;
	birth = w->p[1].queues[1].birth;
	scan(w, 0);
	EXPECT(!w->p[1].is_new && !w->p[1].queues_changed);
	EXPECT_EQ(w->p[1].seen_ns, seen);
	EXPECT_EQ(w->p[1].queues[1].birth, birth);

	put_queue(w, 20, 11, "54702", "0");
	scan(w, 0);
	EXPECT(w->p[1].queues_changed && !w->p[1].is_new && !w->p[0].queues_changed);
	EXPECT_EQ(w->p[1].nr_queues, 4);
	EXPECT_EQ(w->p[1].queues[1].birth, birth);
	EXPECT(w->p[1].queues[3].seen_ns > seen);

	fake_tree_remove(w->tree, "kfd/proc/20/queues/11");
	scan(w, 0);
	EXPECT(w->p[1].queues_changed && w->p[1].nr_queues == 3);
	fake_tree_remove(w->tree, "kfd/proc/3");
	scan(w, 0);
	EXPECT_EQ(w->count, 1);
	EXPECT_EQ(w->p[0].pid, 20);
	EXPECT(!w->p[0].is_new);
}

static void a_queue_with_a_used_id_is_another_queue(void **state)
{
	struct world *w = *state;
	char old[256], kept[256];
	u64 birth;

	put_process(w, 20);
	scan(w, 0);
	birth = w->p[0].queues[1].birth;
	/* moved away, so that its inode cannot be reused */
	snprintf(old, sizeof(old), "%s/proc/20/queues/9", w->kfd);
	snprintf(kept, sizeof(kept), "%s/kept", w->kfd);
	EXPECT_EQ(rename(old, kept), 0);
	put_queue(w, 20, 9, "99", "0");
	scan(w, 0);
	EXPECT(w->p[0].queues_changed);
	EXPECT_EQ(w->p[0].queues[1].id, 9);
	EXPECT_EQ(w->p[0].queues[1].gpu_id, 99);
	EXPECT(w->p[0].queues[1].birth != birth);
}

static void after_exec_it_is_another_process(void **state)
{
	struct world *w = *state;
	char old[256], kept[256];
	u64 birth;

	put_process(w, 20);
	scan(w, 0);
	birth = w->p[0].birth;
	snprintf(old, sizeof(old), "%s/proc/20", w->kfd);
	snprintf(kept, sizeof(kept), "%s/kept", w->kfd);
	EXPECT_EQ(rename(old, kept), 0);
	fake_tree_put(w->tree, "3\n", "kfd/proc/20/pasid");
	fake_tree_remove(w->tree, "p/20/exe");
	fake_tree_link(w->tree, "/usr/bin/other", "p/20/exe");
	scan(w, 0);
	EXPECT_EQ(w->count, 1);
	EXPECT(w->p[0].is_new && w->p[0].birth != birth && w->p[0].start == 4711);
	EXPECT(!strcmp(w->p[0].exe, "/usr/bin/other"));
	EXPECT_EQ(w->p[0].nr_queues, 0);
}

static void names_may_contain_anything(void **state)
{
	struct world *w = *state;
	u64 start = 0;

	put_proc(w, 5, "a) S 1 (b", 77);
	EXPECT_EQ(gp_process_start(w->proc, 5, &start), 0);
	EXPECT_EQ(start, 77);
	EXPECT_EQ(gp_process_start(w->proc, 6, &start), -ESRCH);
	fake_tree_put(w->tree, "7 (x) S 1 2", "p/7/stat");
	EXPECT_EQ(gp_process_start(w->proc, 7, &start), -ESRCH);
	fake_tree_put(w->tree, "nonsense", "p/8/stat");
	EXPECT_EQ(gp_process_start(w->proc, 8, &start), -ESRCH);
	EXPECT_EQ(gp_process_start(NULL, getpid(), &start), 0);
}

static void what_vanishes_or_is_odd_is_left_out(void **state)
{
	struct world *w = *state;

	put_process(w, 20);
	fake_tree_put(w->tree, "1\n", "kfd/proc/21/pasid");	/* not in /proc: it has ended */
	fake_tree_put(w->tree, "1\n", "kfd/proc/x22/pasid");
	fake_tree_put(w->tree, "1\n", "kfd/proc/0/pasid");
	fake_tree_put(w->tree, "1", "kfd/proc/20/queues/4/gpuid");	/* half made */
	put_queue(w, 20, 5, "12x", "0");
	scan(w, GP_SCAN_USAGE);
	EXPECT_EQ(w->count, 1);
	EXPECT_EQ(w->p[0].nr_queues, 3);
	/* the half made one is complete a scan later */
	put_queue(w, 20, 4, "1", "0");
	scan(w, 0);
	EXPECT_EQ(w->p[0].nr_queues, 4);
	fake_tree_remove(w->tree, "kfd/proc");
	EXPECT_EQ(gp_scanner_run(w->scanner, 0, &w->p, &w->count), -ENOENT);
	fake_tree_dir(w->tree, "kfd/proc");
	scan(w, 0);
	EXPECT_EQ(w->count, 0);
}

static void too_many_are_counted(void **state)
{
	struct world *w = *state;
	char path[64];

	for (int i = 1; i <= GP_PROCESSES_MAX + 3; i++) {
		snprintf(path, sizeof(path), "kfd/proc/%d", i);
		fake_tree_dir(w->tree, path);
	}
	put_proc(w, 100, "x", 1);
	scan(w, 0);
	EXPECT(w->count <= 1);
	EXPECT_EQ(gp_scanner_left_out(w->scanner), 3);
}

PROVE(
	CLAIM_WITH(a_process_is_read, up, down),
	CLAIM_WITH(a_scan_follows_what_changes, up, down),
	CLAIM_WITH(a_queue_with_a_used_id_is_another_queue, up, down),
	CLAIM_WITH(after_exec_it_is_another_process, up, down),
	CLAIM_WITH(names_may_contain_anything, up, down),
	CLAIM_WITH(what_vanishes_or_is_odd_is_left_out, up, down),
	CLAIM_WITH(too_many_are_counted, up, down),
)
