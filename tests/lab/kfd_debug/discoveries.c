// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* GPUs, processes, queues and pointers: what lib/ says against what the program itself knows. */
#include <string.h>
#include <unistd.h>

#include "kfd_debug.h"
#include "lib/gpu.h"
#include "lib/pointers.h"
#include "lib/process.h"

static void the_gpu(void)
{
	struct gp_gpu_info g[4];
	u32 count = 0;

	EQ(gp_gpus_read(NULL, g, 4, &count), 0);
	NEED(count == 1);
	CHECK(!strcmp(g[0].gfx, "gfx942"));
	EQ(g[0].xccs, 4);
	EQ(g[0].cus, 80);
	EQ(g[0].wave_slots, 2560);
	EQ(g[0].partitions, 1);
	CHECK(g[0].gpu_id && g[0].render_minor >= 128 && g[0].vram_bytes);
	EQ(gp_gpus_generation(NULL, &count), 0);
}

static const struct gp_process *find(const struct gp_process *p, u32 count, pid_t pid)
{
	for (u32 i = 0; i < count; i++)
		if (p[i].pid == pid)
			return &p[i];
	return NULL;
}

static void the_process(void)
{
	struct target t = target_busy(2);
	const struct gp_process *p;
	struct gp_scanner *s;
	u64 start, birth;
	u32 count;

	EQ(gp_process_start(NULL, t.pid, &start), 0);
	NEED(gp_scanner_alloc(&(struct gp_scan_args){ 0 }, &s) == 0);
	EQ(gp_scanner_run(s, GP_SCAN_USAGE | GP_SCAN_OCCUPANCY, &p, &count), 0);
	p = find(p, count, t.pid);
	NEED(p);
	EQ(p->start, start);
	EQ(p->uid, 0);
	CHECK(strstr(p->comm, "lab-kfd-debug") && p->user == p->uid);
	EQ(p->nr_queues, 2);
	EQ(p->queues[0].id, t.queue[0]);
	EQ(p->queues[0].type, GP_PROCESS_COMPUTE);
	EQ(p->queues[0].ring_bytes, 65536);
	EQ(p->nr_gpus, 1);
	EQ(p->gpus[0].gpu_id, p->queues[0].gpu_id);
	CHECK(p->gpus[0].cu_occupancy && p->gpus[0].cu_occupancy != GP_PROCESS_UNKNOWN);
	birth = p->queues[1].birth;
	/* the same id, and another queue */
	EQ(target_ask(&t, ASK_DESTROY, 1), 0);
	EQ(target_ask(&t, ASK_QUEUE, 0), t.queue[1]);
	EQ(gp_scanner_run(s, 0, &p, &count), 0);
	p = find(p, count, t.pid);
	NEED(p);
	CHECK(p->queues_changed && !p->is_new);
	EQ(p->queues[1].id, t.queue[1]);
	CHECK(p->queues[1].birth != birth);
	target_ends_right(&t);
	EQ(gp_scanner_run(s, 0, &p, &count), 0);
	CHECK(!find(p, count, t.pid));
	gp_scanner_free(s);
}

/* @kind's pointers by the dump of descriptors, against the program's own. */
static void pointers(const char *memory)
{
	const char *const options[] = {
		"--requests", "40", "--kernel", "20ms", "--queues", "2", "--pointers", memory, NULL,
	};
	pid_t pid = start_gpload(options);
	const struct gp_ring_pointers *r;
	struct gp_ring_pointers rings[2] = { 0 };
	struct gp_mqd_list l = { 0 };
	struct gp_pointers_set *s;
	bool pending = false, moved = false;
	u32 nr;

	NEED(has_queues(pid, 2));
	EQ(gp_mqd_dump_read(NULL, pid, &l, &nr), 0);
	NEED(l.count == 2);
	for (u32 i = 0; i < 2; i++) {
		EQ(l.mqd[i].kind, GP_RING_AQL);
		EQ(l.mqd[i].copies, 4);
		EQ(l.mqd[i].ring_bytes, 65536);
		rings[i] = (struct gp_ring_pointers){
			.read_at = l.mqd[i].read_at, .write_at = l.mqd[i].write_at,
			.ring_base = l.mqd[i].ring_base, .ring_bytes = l.mqd[i].ring_bytes,
		};
	}
	NEED(gp_pointers_alloc(NULL, pid, rings, 2, &s) == 0);
	r = gp_pointers_rings(s, &nr);
	for (u32 i = 0; i < 3000 && !(pending && moved); i++) {
		NEED(gp_pointers_look(s) == 0);
		CHECK(r[0].flags & GP_RING_READ && r[1].flags & GP_RING_READ);
		EQ(r[0].by_file, !strcmp(memory, "gtt"));
		pending = pending || r[0].wptr - r[0].rptr == 2;	/* gpload's depth */
		moved = moved || r[1].flags & GP_RING_MOVED;
		usleep(1000);
	}
	CHECK(pending && moved);
	NEED(gp_pointers_barriers(s) == 0);
	CHECK(!(r[0].flags & GP_RING_AT_BARRIER));
	EQ(gpload_ends(pid), 0);
	EQ(gp_pointers_look(s), -ESRCH);
	gp_pointers_free(s);
	gp_mqd_list_fini(&l);
}

static void pointers_in_user_memory(void)
{
	pointers("userptr");
}

static void pointers_in_gtt(void)
{
	pointers("gtt");
}

const struct story discoveries[] = {
	{ "the GPU is found with its size", the_gpu },
	{ "a process is found with its queues and what it occupies; a used id is another queue",
	  the_process },
	{ "pointers of a process without a debugger: from the dump, by one readv per look",
	  pointers_in_user_memory },
	{ "... and through /proc/PID/mem where they are the driver's pages", pointers_in_gtt },
	{ NULL, NULL }
};
