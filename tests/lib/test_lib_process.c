// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Finding GPU processes in a sysfs and a /proc that the test writes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process_world.h"

static void a_process_is_read(void **state)
{
	struct process_world *w = *state;
	const struct gp_process *p;
	u32 occupancy;

	process_world_put_process(w, 1234);
	process_world_scan(w, GP_SCAN_USAGE | GP_SCAN_OCCUPANCY);
	EXPECT_EQ(w->count, 1);
	p = w->p;
	EXPECT_EQ(p->pid, 1234);
	EXPECT_EQ(p->start, 4711);
	EXPECT_EQ(p->uid, 1000);
	EXPECT_EQ(p->gid, 1001);
	EXPECT(!strcmp(p->comm, "python3"));
	EXPECT_EQ(p->user, 1000);
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
	struct process_world *w = *state;
	u64 seen, birth;

	process_world_put_process(w, 20);
	process_world_put_process(w, 3);
	process_world_scan(w, GP_SCAN_USAGE);
	EXPECT_EQ(w->count, 2);
	EXPECT(w->p[0].pid == 3 && w->p[1].pid == 20);
	EXPECT_EQ(w->p[0].gpus[0].cu_occupancy, GP_PROCESS_UNKNOWN);
	seen = w->p[1].seen_ns;
	birth = w->p[1].queues[1].birth;
	process_world_scan(w, 0);
	EXPECT(!w->p[1].is_new && !w->p[1].queues_changed);
	EXPECT_EQ(w->p[1].seen_ns, seen);
	EXPECT_EQ(w->p[1].queues[1].birth, birth);

	process_world_put_queue(w, 20, 11, "54702", "0");
	process_world_scan(w, 0);
	EXPECT(w->p[1].queues_changed && !w->p[1].is_new && !w->p[0].queues_changed);
	EXPECT_EQ(w->p[1].nr_queues, 4);
	EXPECT_EQ(w->p[1].queues[1].birth, birth);
	EXPECT(w->p[1].queues[3].seen_ns > seen);

	fake_tree_remove(w->tree, "kfd/proc/20/queues/11");
	process_world_scan(w, 0);
	EXPECT(w->p[1].queues_changed && w->p[1].nr_queues == 3);
	fake_tree_remove(w->tree, "kfd/proc/3");
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 1);
	EXPECT_EQ(w->p[0].pid, 20);
	EXPECT(!w->p[0].is_new);
}

static void a_queue_with_a_used_id_is_another_queue(void **state)
{
	struct process_world *w = *state;
	char old[256], kept[256];
	u64 birth;

	process_world_put_process(w, 20);
	process_world_scan(w, 0);
	birth = w->p[0].queues[1].birth;
	/* moves the directory, so that its inode is not reused */
	snprintf(old, sizeof(old), "%s/proc/20/queues/9", w->kfd);
	snprintf(kept, sizeof(kept), "%s/kept", w->kfd);
	EXPECT_EQ(rename(old, kept), 0);
	process_world_put_queue(w, 20, 9, "99", "0");
	process_world_scan(w, 0);
	EXPECT(w->p[0].queues_changed);
	EXPECT_EQ(w->p[0].queues[1].id, 9);
	EXPECT_EQ(w->p[0].queues[1].gpu_id, 99);
	EXPECT(w->p[0].queues[1].birth != birth);
}

static void after_exec_it_is_another_process(void **state)
{
	struct process_world *w = *state;
	char old[256], kept[256];
	u64 birth;

	process_world_put_process(w, 20);
	process_world_scan(w, 0);
	birth = w->p[0].birth;
	snprintf(old, sizeof(old), "%s/proc/20", w->kfd);
	snprintf(kept, sizeof(kept), "%s/kept", w->kfd);
	EXPECT_EQ(rename(old, kept), 0);
	fake_tree_put(w->tree, "3\n", "kfd/proc/20/pasid");
	process_world_put_proc(w, 20, "other", 4711);
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 1);
	EXPECT(w->p[0].is_new && w->p[0].birth != birth && w->p[0].start == 4711);
	EXPECT(!strcmp(w->p[0].comm, "other"));
	EXPECT_EQ(w->p[0].nr_queues, 0);
}

static void names_may_contain_anything(void **state)
{
	struct process_world *w = *state;
	u64 start = 0;

	process_world_put_proc(w, 5, "a) S 1 (b", 77);
	EXPECT_EQ(gp_process_start(w->proc, 5, &start), 0);
	EXPECT_EQ(start, 77);
	EXPECT_EQ(gp_process_start(w->proc, 6, &start), -ESRCH);
	fake_tree_put(w->tree, "7 (x) S 1 2", "p/7/task/7/stat");
	EXPECT_EQ(gp_process_start(w->proc, 7, &start), -EPROTO);
	fake_tree_put(w->tree, "nonsense", "p/8/task/8/stat");
	EXPECT_EQ(gp_process_start(w->proc, 8, &start), -EPROTO);
	EXPECT_EQ(gp_process_start(NULL, getpid(), &start), 0);
}

static void what_vanishes_or_is_odd_is_left_out(void **state)
{
	struct process_world *w = *state;

	process_world_put_process(w, 20);
	fake_tree_put(w->tree, "1\n", "kfd/proc/21/pasid");	/* not in /proc: it has ended */
	fake_tree_put(w->tree, "1\n", "kfd/proc/x22/pasid");
	fake_tree_put(w->tree, "1\n", "kfd/proc/0/pasid");
	fake_tree_put(w->tree, "1", "kfd/proc/20/queues/4/gpuid");	/* incomplete */
	process_world_put_queue(w, 20, 5, "12x", "0");
	process_world_scan(w, GP_SCAN_USAGE);
	EXPECT_EQ(w->count, 1);
	EXPECT_EQ(w->p[0].nr_queues, 3);
	/* the incomplete queue is complete one scan later */
	process_world_put_queue(w, 20, 4, "1", "0");
	process_world_scan(w, 0);
	EXPECT_EQ(w->p[0].nr_queues, 4);
	fake_tree_remove(w->tree, "kfd/proc");
	EXPECT_EQ(gp_scanner_run(w->scanner, 0, &w->p, &w->count), -ENOENT);
	fake_tree_dir(w->tree, "kfd/proc");
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 0);
}

static void a_process_that_ended_is_gone_while_the_driver_still_lists_it(void **state)
{
	struct process_world *w = *state;

	process_world_put_process(w, 20);
	process_world_put_process(w, 21);
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 2);
	fake_tree_remove(w->tree, "p/20");
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 1);
	EXPECT_EQ(w->p[0].pid, 21);
	process_world_scan(w, 0);
	EXPECT_EQ(w->count, 1);
	fake_tree_remove(w->tree, "kfd/proc/20");
	process_world_scan(w, 0);
	EXPECT(w->count == 1 && !w->p[0].is_new);
}

static void the_end_of_one_process_leaves_the_others(void **state)
{
	struct process_world *w = *state;
	u64 seed = gp_test_seed(1);
	bool is_there[300] = { false };
	char path[64];

	for (int i = 1; i < 300; i++)
		process_world_put_proc(w, i << 13, "x", 1);
	for (u32 round = 0; round < 150; round++) {
		for (int i = 1; i < 300; i++) {
			/* First many processes come, then few change at a time. */
			if (gp_test_random(&seed) % (round ? 200 : 2))
				continue;
			is_there[i] = !is_there[i];
			/* These pids share few slots of the scanner's hash table. */
			snprintf(path, sizeof(path), "kfd/proc/%d", i << 13);
			if (is_there[i])
				fake_tree_dir(w->tree, path);
			else
				fake_tree_remove(w->tree, path);
		}
		/* The second scan must find each process after the first scan removed others. */
		process_world_scan(w, 0);
		process_world_scan(w, 0);
		for (u32 i = 1, at = 0; i < 300; i++) {
			if (!is_there[i])
				continue;
			EXPECT(at < w->count);
			EXPECT_EQ(w->p[at].pid, i << 13);
			EXPECT(!w->p[at].is_new);
			at++;
			if (i == 299)
				EXPECT_EQ(at, w->count);
		}
	}
}

PROVE(
	CLAIM_WITH(a_process_is_read, process_world_up, process_world_down),
	CLAIM_WITH(a_scan_follows_what_changes, process_world_up, process_world_down),
	CLAIM_WITH(a_queue_with_a_used_id_is_another_queue, process_world_up, process_world_down),
	CLAIM_WITH(after_exec_it_is_another_process, process_world_up, process_world_down),
	CLAIM_WITH(names_may_contain_anything, process_world_up, process_world_down),
	CLAIM_WITH(what_vanishes_or_is_odd_is_left_out, process_world_up, process_world_down),
	CLAIM_WITH(a_process_that_ended_is_gone_while_the_driver_still_lists_it, process_world_up,
		   process_world_down),
	CLAIM_WITH(the_end_of_one_process_leaves_the_others, process_world_up, process_world_down),
)
