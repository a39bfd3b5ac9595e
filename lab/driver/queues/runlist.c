// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The runlist: its queues, the cost of each operation, and oversubscription. */
#include "queues.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
	MS		= 1000000,
	SLOTS		= 24,	/* hardware queues of the driver */
	PROCESS_DW	= 21,
	QUEUE_DW	= 7,
	RUNLIST_DW	= 4,
	CHAIN		= 1 << 20 | 1 << 22,
	VALID		= 1 << 23,
};

#define MAP_PROCESS	0xc013a100u
#define MAP_QUEUES	0xc005a200u
#define RUN_LIST	0xc002a500u

struct listed {
	u32 processes;
	u32 pasid[16];
	u32 queue_count[16];	/* as in MAP_PROCESS */
	u32 queues;
	u32 doorbell[PROBE_QUEUES];
	u64 mqd[PROBE_QUEUES];
	u64 wptr[PROBE_QUEUES];
	u32 chained;		/* dword 3 of the RUN_LIST at the end, or 0 */
	u32 dwords;
};

static struct listed read_runlist(void)
{
	static u32 dw[PROBE_IB_DW];
	struct listed l = { .dwords = probe_runlist(dw) };

	for (u32 at = 0; at < l.dwords && dw[at];) {
		if (dw[at] == MAP_PROCESS) {
			EXPECT(l.processes < 16);
			l.pasid[l.processes] = dw[at + 1] & 0xffff;
			l.queue_count[l.processes++] = dw[at + 13] >> 22;
			at += PROCESS_DW;
		} else if (dw[at] == MAP_QUEUES) {
			EXPECT(l.queues < PROBE_QUEUES);
			EXPECT_EQ(dw[at + 1], 0x20000010);
			l.doorbell[l.queues] = dw[at + 2] >> 2 & 0x3ffffff;
			l.mqd[l.queues] = dw[at + 3] | (u64)dw[at + 4] << 32;
			l.wptr[l.queues++] = dw[at + 5] | (u64)dw[at + 6] << 32;
			at += QUEUE_DW;
		} else {
			EXPECT_EQ(dw[at], RUN_LIST);
			l.chained = dw[at + 3];
			at += RUNLIST_DW;
		}
	}
	return l;
}

/* Returns dword 3 of the last RUN_LIST on the HIQ. */
static u32 last_run_list(void)
{
	const char *text = probe_file("/sys/kernel/debug/vgpu/0/packets");
	u32 last = 0, dw;

	for (const char *at = text; (at = strstr(at, "RUN_LIST ")); at++)
		if (sscanf(at, "RUN_LIST c002a500 %*x %*x %x", &dw) == 1)
			last = dw;
	return last;
}

void runlist_is_active(struct gp_lab_client *c)
{
	struct gp_lab_queue q[5];
	struct probe_mqds m = { 0 };
	struct listed l;

	for (u32 i = 0; i < 5; i++)
		OK(gp_queue_create(c, &q[i], &(struct gp_queue_args){
			.type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, .off = i == 1 || i == 3 }));
	l = read_runlist();
	EXPECT_EQ(l.processes, 1);
	EXPECT_EQ(l.pasid[0], probe_pasid());
	/* The count includes all queues of the process, but only the active ones follow. */
	EXPECT_EQ(l.queue_count[0], 5);
	EXPECT_EQ(l.queues, 3);
	EXPECT_EQ(l.chained, 0);
	EXPECT_EQ(l.dwords, PROCESS_DW + 3 * QUEUE_DW);
	probe_mqds(&m, getpid());
	for (u32 i = 0; i < 3; i++) {
		/* Newest first: 4, 2, 0. The MQD dump lists all five in the same order. */
		const struct gp_lab_queue *want = &q[4 - 2 * i];
		const u32 *dw = m.dw[2 * i][0];

		EXPECT_EQ(l.wptr[i], (u64)(uintptr_t)want->write);
		EXPECT_EQ(l.mqd[i], dw[MQD_BASE] | (u64)dw[MQD_BASE + 1] << 32);
		EXPECT_EQ(l.doorbell[i], dw[MQD_DOORBELL] >> 2 & 0x3ffffff);
	}
	SOON(last_run_list() == (VALID | 1 << 24 | l.dwords));

	OK(gp_queue_update(&q[3], 100, 7));
	OK(gp_queue_update(&q[0], 0, 7));
	l = read_runlist();
	EXPECT_EQ(l.queues, 3);
	EXPECT_EQ(l.wptr[1], (u64)(uintptr_t)q[3].write);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	EXPECT_EQ(read_runlist().dwords, 0);
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	EXPECT_EQ(read_runlist().queues, 3);
	for (u32 i = 0; i < 5; i++)
		OK(gp_queue_destroy(&q[i]));
	EXPECT_EQ(read_runlist().dwords, 0);
}

/*
 * Another process. On command it creates a queue that is off, and on command it ends. It starts
 * before any buffers exist, because a fork evicts a process that has buffers.
 */
struct other {
	pid_t pid;
	int tell[2], hear[2];
};

static void be_other(const struct other *o)
{
	struct gp_lab_client c;
	struct gp_lab_queue q;
	char byte;

	EXPECT_EQ(read(o->tell[0], &byte, 1), 1);
	OK(gp_client_open(&c, &(struct gp_client_args){ 0 }));
	probe_queue_off(&c, &q);
	EXPECT_EQ(write(o->hear[1], "r", 1), 1);
	EXPECT_EQ(read(o->tell[0], &byte, 1), 1);
	_exit(0);
}

static void other_start(struct other *o)
{
	EXPECT_EQ(pipe(o->tell) | pipe(o->hear), 0);
	o->pid = fork();
	if (!o->pid)
		be_other(o);
	EXPECT(o->pid > 0);
}

static void other_makes_queue(struct other *o)
{
	char byte;

	EXPECT_EQ(write(o->tell[1], "q", 1), 1);
	EXPECT_EQ(read(o->hear[0], &byte, 1), 1);
}

static void other_ends(struct other *o)
{
	int status;

	EXPECT_EQ(write(o->tell[1], "e", 1), 1);
	EXPECT_EQ(waitpid(o->pid, &status, 0), o->pid);
	EXPECT_EQ(status, 0);
}

void idle_process_listed(struct gp_lab_client *c)
{
	struct other o;
	struct listed l;
	struct gp_lab_queue q;

	other_start(&o);
	other_makes_queue(&o);
	probe_queue(c, &q);
	l = read_runlist();
	EXPECT_EQ(l.processes, 2);
	EXPECT_EQ(l.queues, 1);
	/* The process that created its first queue last comes first. */
	EXPECT_EQ(l.pasid[0], probe_pasid());
	EXPECT_EQ(l.queue_count[1], 1);
	EXPECT_EQ(l.dwords, 2 * PROCESS_DW + QUEUE_DW);
	other_ends(&o);
	SOON(read_runlist().processes == 1);
}

void costs(struct gp_lab_client *c)
{
	struct kfd_ioctl_set_cu_mask_args mask = {
		.num_cu_mask = 32, .cu_mask_ptr = (u64)(uintptr_t)&(u32){ 0xffff }
	};
	struct gp_lab_queue a, b, o;
	struct probe_hiq since = probe_hiq();

	probe_queue(c, &a);
	COSTS(&since, "create the first queue", 0, 0, 1, 1, 1);
	probe_queue_off(c, &o);
	COSTS(&since, "create a queue that is off", 0, 0, 0, 0, 0);
	probe_queue(c, &b);
	COSTS(&since, "create another", 1, 1, 1, 1, 2);
	OK(gp_queue_update(&a, 100, 9));
	COSTS(&since, "update, still on", 1, 1, 1, 1, 2);
	OK(gp_queue_update(&a, 0, 9));
	COSTS(&since, "update to off", 1, 1, 1, 1, 1);
	OK(gp_queue_update(&o, 0, 9));
	COSTS(&since, "update of a queue that is off", 1, 1, 1, 1, 1);
	OK(gp_queue_update(&b, 0, 9));
	COSTS(&since, "update the last one to off", 1, 1, 0, 0, 0);
	OK(gp_queue_update(&b, 0, 7));
	COSTS(&since, "update with no runlist", 0, 0, 0, 0, 0);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	COSTS(&since, "evict and restore with nothing on", 0, 0, 0, 0, 0);
	OK(gp_queue_update(&b, 100, 7));
	COSTS(&since, "update back on", 0, 0, 1, 1, 1);
	OK(gp_queue_update(&a, 100, 7));
	COSTS(&since, "update the other on", 1, 1, 1, 1, 2);
	mask.queue_id = a.id;
	OK(gp_client_call(c, AMDKFD_IOC_SET_CU_MASK, &mask, "SET_CU_MASK"));
	COSTS(&since, "set a CU mask", 1, 1, 1, 1, 2);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	COSTS(&since, "evict", 1, 1, 0, 0, 0);
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	COSTS(&since, "restore", 0, 0, 1, 1, 2);
	OK(gp_queue_destroy(&o));
	COSTS(&since, "destroy a queue that is off", 0, 0, 0, 0, 0);
	OK(gp_queue_destroy(&a));
	COSTS(&since, "destroy one", 1, 1, 1, 1, 1);
	OK(gp_queue_destroy(&b));
	COSTS(&since, "destroy the last one", 1, 1, 0, 0, 0);
}

void cost_of_exit(struct gp_lab_client *c)
{
	struct probe_hiq since;
	struct gp_lab_queue q;
	struct other o;

	other_start(&o);
	since = probe_hiq();
	probe_queue(c, &q);
	COSTS(&since, "create", 0, 0, 1, 1, 1);
	other_makes_queue(&o);
	/* The queue is off, so nothing happens now. The next runlist includes the process. */
	COSTS(&since, "another process with a queue that is off", 0, 0, 0, 0, 0);
	other_ends(&o);
	/*
	 * The process's user pages are unmapped first, which evicts it. A worker of the driver
	 * frees the process later.
	 */
	COSTS(&since, "the end of a process", 2, 2, 2, 3, 2);
}

static bool logged(const char *what)
{
	static char log[1 << 20];
	FILE *f = popen("dmesg", "re");
	size_t n = f ? fread(log, 1, sizeof(log) - 1, f) : 0;

	log[n] = '\0';
	if (f)
		pclose(f);
	return strstr(log, what);
}

static u32 hqds_of_xcc(u32 xcc)
{
	static struct probe_hqd h[PROBE_QUEUES * 4];
	u32 n = probe_hqds(h, PROBE_QUEUES * 4), count = 0;

	for (u32 i = 0; i < n; i++)
		count += !h[i].hiq && h[i].xcc == xcc;
	return count;
}

void oversubscribed(struct gp_lab_client *c)
{
	static struct gp_lab_queue q[SLOTS + 2];
	static const char line[] = "Runlist is getting oversubscribed";
	bool before = logged(line);
	struct gp_work w;
	struct listed l;
	u32 dwords;

	probe_work(c, &w, SLOTS + 2, 20 * MS);
	for (u32 i = 0; i < SLOTS; i++)
		probe_queue(c, &q[i]);
	l = read_runlist();
	EXPECT_EQ(l.queues, SLOTS);
	EXPECT_EQ(l.chained, 0);
	EXPECT_EQ(l.dwords, PROCESS_DW + SLOTS * QUEUE_DW);
	SOON(last_run_list() == (VALID | 1 << 24 | l.dwords));
	for (u32 k = 0; k < c->node.xccs; k++)
		SOON(hqds_of_xcc(k) == SLOTS);
	EXPECT_EQ(logged(line), before);

	probe_queue(c, &q[SLOTS]);
	probe_queue(c, &q[SLOTS + 1]);
	l = read_runlist();
	dwords = PROCESS_DW + (SLOTS + 2) * QUEUE_DW + RUNLIST_DW;
	EXPECT_EQ(l.queues, SLOTS + 2);
	EXPECT_EQ(l.dwords, dwords);
	/* The list ends with a RUN_LIST of its own address. */
	EXPECT_EQ(l.chained, VALID | CHAIN | 1 << 24 | dwords);
	SOON((last_run_list() & ~(u32)CHAIN) == (VALID | 1 << 24 | dwords));
	EXPECT(logged(line));
	SOON(hqds_of_xcc(0) == SLOTS);
	for (u32 i = 0; i < w.slots; i++)
		OK(gp_work_submit(&w, i, &q[i], 20, 4, NULL));
	probe_finish(&w);
	OK(gp_queue_destroy(&q[SLOTS]));
	OK(gp_queue_destroy(&q[SLOTS + 1]));
	EXPECT_EQ(read_runlist().chained, 0);
}

enum { CROWD = 3, CROWD_QUEUES = 13, CROWD_ROUNDS = 4 };

/* Runs one process of the crowd: creates queues, then submits work on all of them repeatedly. */
static void be_of_crowd(const struct other *o, u32 type)
{
	static struct gp_lab_queue q[CROWD_QUEUES];
	struct gp_lab_client c;
	struct gp_work w;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	EXPECT_EQ(read(o->tell[0], &byte, 1), 1);
	OK(gp_client_open(&c, &(struct gp_client_args){ 0 }));
	probe_work(&c, &w, CROWD_QUEUES, 2 * MS);
	for (u32 i = 0; i < CROWD_QUEUES; i++)
		OK(gp_queue_create(
			&c, &q[i],
			&(struct gp_queue_args){
				.type = type,
				.xcc = type == KFD_IOC_QUEUE_TYPE_COMPUTE ? i % c.node.xccs : 0 }));
	EXPECT_EQ(write(o->hear[1], "r", 1), 1);
	EXPECT_EQ(read(o->tell[0], &byte, 1), 1);
	for (u32 round = 0; round < CROWD_ROUNDS; round++) {
		for (u32 i = 0; i < CROWD_QUEUES; i++)
			OK(gp_work_submit(&w, i, &q[i], 100, 4, NULL));
		probe_finish(&w);
	}
	EXPECT_EQ(write(o->hear[1], "d", 1), 1);
	/* Keep the queues until all others have finished too. */
	EXPECT_EQ(read(o->tell[0], &byte, 1), 1);
	fflush(stdout);
	_exit(0);
}

static void crowd_says(struct other *crowd, const char *what)
{
	for (u32 i = 0; i < CROWD; i++)
		EXPECT_EQ(write(crowd[i].tell[1], what, 1), 1);
}

/* Returns false if a process ended before it answered. */
static bool crowd_answers(struct other *crowd)
{
	char byte;

	for (u32 i = 0; i < CROWD; i++)
		if (read(crowd[i].hear[0], &byte, 1) != 1)
			return false;
	return true;
}

static void crowded(u32 type)
{
	struct other crowd[CROWD];
	struct listed l;

	for (u32 i = 0; i < CROWD; i++) {
		EXPECT_EQ(pipe(crowd[i].tell) | pipe(crowd[i].hear), 0);
		crowd[i].pid = fork();
		if (!crowd[i].pid)
			be_of_crowd(&crowd[i], type);
		EXPECT(crowd[i].pid > 0);
		close(crowd[i].hear[1]);
	}
	crowd_says(crowd, "q");
	EXPECT(crowd_answers(crowd));
	l = read_runlist();
	EXPECT_EQ(l.processes, CROWD);
	EXPECT_EQ(l.queues, CROWD * CROWD_QUEUES);
	EXPECT(l.chained);
	crowd_says(crowd, "g");
	EXPECT(crowd_answers(crowd));
	for (u32 i = 0; i < CROWD; i++)
		other_ends(&crowd[i]);
}

void crowded_aql(struct gp_lab_client *c)
{
	(void)c;
	crowded(KFD_IOC_QUEUE_TYPE_COMPUTE_AQL);
}

void crowded_pm4(struct gp_lab_client *c)
{
	(void)c;
	crowded(KFD_IOC_QUEUE_TYPE_COMPUTE);
}
