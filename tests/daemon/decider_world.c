// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "decider_world.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/shared/sys_faults.h"

enum { WORDS = 512, RING = 4096, SHARED = 1 << 17, CLOCKS_MAX = 1000 };
enum { WORLD_IDLE_PID = 5000000 };	/* above all real pids */

/* ---- the mechanism kfd-debug ---- */

/* Belongs to the only world. */
static struct world_debug *debug;

int gp_holders_alloc(const struct gp_holders_args *args, struct gp_holders **ret)
{
	EXPECT_EQ(args->nr_gpus, debug->m.devices);
	EXPECT_EQ(args->gpus[0].gpu_id, WORLD_GPU);
	debug->made++;
	*ret = (struct gp_holders *)debug;
	return 0;
}

bool gp_holders_leave(struct gp_holders *m)
{
	(void)m;
	return !debug->leave_hangs;
}

void gp_holders_free(struct gp_holders *m)
{
	if (!m)
		return;
	debug->freed++;
}

struct gp_mechanism *gp_holders_mechanism(struct gp_holders *m)
{
	(void)m;
	return &debug->m.base;
}

int gp_holders_fd(const struct gp_holders *m)
{
	(void)m;
	return debug->bell;
}

int gp_holders_task_add(struct gp_holders *m, u32 task, u64 devices)
{
	(void)m;
	EXPECT(devices && devices < BIT_ULL(debug->m.devices));
	for (u32 i = 0; i < debug->m.devices; i++)
		if (devices & BIT_ULL(i))
			gp_null_task(&debug->m, i, task);
	return 0;
}

int gp_holders_task_del(struct gp_holders *m, u32 task)
{
	(void)m;
	gp_null_task_gone(&debug->m, task);
	return 0;
}

int gp_holders_process_add(struct gp_holders *m, u32 task, const struct gp_holders_process *p)
{
	(void)m;
	EXPECT(p->start);
	debug->attaches++;
	debug->attaching = debug->attach_hangs;
	if (debug->attaching)
		return 0;
	debug->event[debug->nr_events++] = (struct gp_holders_event){
		.what = debug->attach_error ? GP_HOLDERS_NOT_ATTACHED : GP_HOLDERS_ATTACHED,
		.task = task, .pid = p->pid, .err = debug->attach_error,
	};
	return 0;
}

int gp_holders_process_del(struct gp_holders *m, pid_t pid)
{
	(void)m;
	EXPECT(pid);
	debug->deletes++;
	return 0;
}

bool gp_holders_attaching(const struct gp_holders *m)
{
	(void)m;
	return debug->attaching;
}

bool gp_holders_acting(const struct gp_holders *m, u32 device)
{
	(void)m;
	(void)device;
	return debug->acting;
}

bool gp_holders_in_trouble(const struct gp_holders *m, uid_t user)
{
	(void)m;
	return debug->troubles % 2 && debug->hung == user;
}

u32 gp_holders_troubles(const struct gp_holders *m)
{
	(void)m;
	return debug->troubles;
}

int gp_holders_queues(const struct gp_holders *m, pid_t pid, struct kfd_queue_snapshot_entry *to,
		      u32 room)
{
	(void)m;
	(void)pid;
	(void)to;
	(void)room;
	return -EAGAIN;
}

int gp_holders_next(struct gp_holders *m, struct gp_holders_event *ret)
{
	(void)m;
	if (!debug->nr_events)
		return -EAGAIN;
	*ret = debug->event[0];
	memmove(debug->event, debug->event + 1, --debug->nr_events * sizeof(*debug->event));
	return 0;
}

int gp_holders_ask_kfd(struct gp_holders *m, const struct gp_holders_process *p)
{
	(void)m;
	EXPECT(p->start && debug->nr_asks < 128);
	debug->ask[debug->nr_asks++] = *p;
	debug->asked++;
	return 0;
}

int gp_holders_next_kfd(struct gp_holders *m, struct gp_holders_kfd *ret)
{
	const struct gp_holders_process *p;
	u32 i;

	(void)m;
	for (i = 0; i < debug->nr_asks && debug->ask[i].pid == debug->asks_hang; i++)
		;
	if (i == debug->nr_asks)
		return -EAGAIN;
	p = &debug->ask[i];
	*ret = (struct gp_holders_kfd){ .pid = p->pid, .start = p->start, .err = debug->ask_error,
					.pidfd = -1, .kfd_fd = -1 };
	if (!ret->err) {
		ret->count = debug->descriptors ? debug->descriptors : 1;
		ret->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
		ret->kfd_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		EXPECT(ret->kfd_fd >= 0);
	}
	memmove(&debug->ask[i], &debug->ask[i + 1], (--debug->nr_asks - i) * sizeof(*p));
	return 0;
}

u64 gp_holders_wake_at(struct gp_holders *m)
{
	(void)m;
	return debug->nr_events || (debug->nr_asks && !debug->asks_hang) ? 0 :
									   gp_null_next(&debug->m);
}

void gp_holders_stats(const struct gp_holders *m, struct gp_holders_stats *ret)
{
	(void)m;
	*ret = (struct gp_holders_stats){ .sessions.attaches = debug->attaches };
}

/* ---- what the decider calls ---- */

static u64 clock_of(void *ctx)
{
	struct world *w = ctx;

	w->now_ns += w->slow_ns;
	/* A caller that polls the clock would loop forever. */
	if (++w->clocks > CLOCKS_MAX)
		fail_msg("the decider does not come to an end");
	return w->now_ns;
}

static void news(void *ctx, const struct gp_news *n)
{
	struct world *w = ctx;

	snprintf(w->news, sizeof(w->news), "%s", n->what);
}

static void holding(void *ctx)
{
	((struct world *)ctx)->holding++;
}

/* ---- readers ---- */

static u64 time_of(void *ctx)
{
	return ((struct world *)ctx)->now_ns;
}

static int make_reader(void *ctx, uid_t user, u64 id, int channel)
{
	struct world *w = ctx;
	struct world_reader *r;
	u32 i;

	for (i = 0; i < WORLD_READERS && w->reader[i].args.channel; i++)
		;
	EXPECT(i < WORLD_READERS);
	r = &w->reader[i];
	*r = (struct world_reader){
		.args = { .channel = dup(channel), .user = user, .mqds = w->mqds,
			  .unconfined = true, .clock = time_of, .ctx = w },
		.id = id,
	};
	w->readers += user != GP_READER_DUMP_USER;
	return r->args.channel < 0 ? -errno : 0;
}

static void end_reader(struct world_reader *r)
{
	gp_reader_end(r->self);
	close(r->args.channel);
	*r = (struct world_reader){ 0 };
}

static void kill_reader(void *ctx, uid_t user, u64 id)
{
	struct world *w = ctx;
	u32 i;

	(void)user;
	for (i = 0; i < WORLD_READERS; i++)
		w->reader[i].killed |= w->reader[i].args.channel && w->reader[i].id == id;
}

/* Lets all readers do their pending work. */
static void run_readers(struct world *w)
{
	u32 i;

	for (i = 0; i < WORLD_READERS; i++) {
		struct world_reader *r = &w->reader[i];

		if (!r->args.channel || (w->hangs && w->hung == r->args.user))
			continue;
		if (r->killed || (!r->self && gp_reader_begin(&r->args, &r->self)) ||
		    !gp_reader_turn(r->self, false))
			end_reader(r);
	}
}

/* ---- life ---- */

void world_gpu(struct world *w)
{
	u32 i = w->debug.m.devices++;
	char text[256];

	snprintf(text, sizeof(text), "%u\n", WORLD_GPU + i);
	fake_tree_put(w->tree, text, "kfd/topology/nodes/%u/gpu_id", i + 1);
	snprintf(text, sizeof(text), "simd_count 320\nmax_waves_per_simd 8\nsimd_per_cu 4\n"
		 "gfx_target_version 90402\nlocation_id %u\nnum_xcc %u\n", 49408 + 256 * i,
		 w->xccs ? w->xccs : 4);
	fake_tree_put(w->tree, text, "kfd/topology/nodes/%u/properties", i + 1);
}

int world_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	w->now_ns = (u64)ts.tv_sec * GP_SEC + (u64)ts.tv_nsec + WORLD_AHEAD;

	w->tree = fake_tree_make();
	snprintf(w->kfd, sizeof(w->kfd), "%s/kfd", w->tree->path);
	snprintf(w->mqds, sizeof(w->mqds), "%s/mqds", w->tree->path);
	snprintf(w->state, sizeof(w->state), "%s/state", w->tree->path);
	fake_tree_dir(w->tree, "kfd/proc");
	fake_tree_put(w->tree, "7\n", "kfd/topology/generation_id");
	fake_tree_put(w->tree, "", "mqds");
	w->shared = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(w->shared != MAP_FAILED);
	gp_null_init(&w->debug.m, 0);
	world_gpu(w);
	debug = &w->debug;
	debug->bell = eventfd(0, EFD_CLOEXEC);
	*state = w;
	return 0;
}

int world_down(void **state)
{
	struct world *w = *state;
	u32 i;

	gp_decider_free(w->decider);
	for (i = 0; i < WORLD_READERS; i++)
		if (w->reader[i].args.channel)
			end_reader(&w->reader[i]);
	for (i = 0; i < WORLD_PROCESSES; i++)
		if (w->process[i].pid)
			world_end(w, i);
	close(w->debug.bell);
	munmap(w->shared, SHARED);
	fake_tree_free(w->tree);
	free(w);
	return 0;
}

void world_decider(struct world *w, const char *config)
{
	struct gp_decider_args args = {
		.kfd = w->kfd, .proc = w->proc[0] ? w->proc : NULL,
		.mqds = w->mqds, .kmod = w->kmod, .node = "/dev/null",
		.clock = clock_of, .news = news, .holding = holding,
		.make_reader = make_reader, .kill_reader = kill_reader, .ctx = w,
	};
	char text[4096], errors[GP_CONFIG_ERRORS], why[GP_DECIDER_WHY];

	snprintf(text, sizeof(text), "[daemon]\nstate = %s\n%s", w->state, config);
	if (gp_config_parse("test", text, strlen(text), &args.config, errors, sizeof(errors)))
		fail_msg("%s", errors);
	if (gp_decider_new(&args, &w->decider, why))
		fail_msg("%s", why);
}

/* ---- processes ---- */

u32 world_process(struct world *w)
{
	return world_process_of(w, getuid());
}

u32 world_process_of(struct world *w, uid_t uid)
{
	char real[32], path[32];
	volatile u64 *ready;
	u32 i;

	for (i = 0; w->process[i].pid; i++)
		EXPECT(i + 1 < WORLD_PROCESSES);
	ready = &w->shared[SHARED / sizeof(u64) - 1];
	*ready = 0;
	w->process[i].pid = fork();
	EXPECT(w->process[i].pid >= 0);
	if (!w->process[i].pid) {
		if (uid != getuid() && setresuid(uid, uid, uid))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* A name with an invalid character and special ones. */
		prctl(PR_SET_NAME, "gp\xff\n\"test");
		*ready = 1;
		for (;;)
			pause();
	}
	while (!*ready)
		usleep(100);
	if (w->proc[0]) {
		snprintf(real, sizeof(real), "/proc/%d", w->process[i].pid);
		snprintf(path, sizeof(path), "p/%d", w->process[i].pid);
		fake_tree_link(w->tree, real, path);
	}
	fake_tree_put(w->tree, "32769\n", "kfd/proc/%d/pasid", w->process[i].pid);
	world_occupy(w, i, 0);
	return i;
}

void world_own_proc(struct world *w)
{
	fake_tree_dir(w->tree, "p");
	snprintf(w->proc, sizeof(w->proc), "%s/p", w->tree->path);
}

void world_idle(struct world *w, uid_t uid, u32 nr)
{
	char text[64], path[64];
	u32 i;

	/* The processes share a directory, because a test makes thousands of them. */
	fake_tree_put(w->tree, "1 (idle) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1 2\n",
		      "p/idle/stat");
	snprintf(text, sizeof(text), "Name:\tidle\nUid:\t%u\nGid:\t1\n", uid);
	fake_tree_put(w->tree, text, "p/idle/status");
	fake_tree_put(w->tree, "0 0 4294967295\n", "p/idle/uid_map");
	fake_tree_dir(w->tree, "p/idle/task");
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "p/%u", WORLD_IDLE_PID + i);
		fake_tree_link(w->tree, "idle", path);
		snprintf(path, sizeof(path), "p/idle/task/%u", WORLD_IDLE_PID + i);
		fake_tree_link(w->tree, "..", path);
		snprintf(path, sizeof(path), "kfd/proc/%u", WORLD_IDLE_PID + i);
		fake_tree_dir(w->tree, path);
	}
}

static void write_dump(struct world *w);

void world_end(struct world *w, u32 i)
{
	char path[64];

	snprintf(path, sizeof(path), "kfd/proc/%d", w->process[i].pid);
	fake_tree_remove(w->tree, path);
	if (w->proc[0]) {
		snprintf(path, sizeof(path), "p/%d", w->process[i].pid);
		fake_tree_remove(w->tree, path);
	}
	kill(w->process[i].pid, SIGKILL);
	waitpid(w->process[i].pid, NULL, 0);
	memset(&w->process[i], 0, sizeof(w->process[i]));
	write_dump(w);
}

static void dump_queue(FILE *f, const struct world_queue *q)
{
	u64 read_at = (u64)(uintptr_t)q->rptr, write_at = (u64)(uintptr_t)q->wptr;
	u32 word[WORDS] = { 0 }, i;

	word[136] = 0x1000;		/* the ring, in units of 256 bytes */
	word[139] = (u32)read_at;
	word[140] = (u32)(read_at >> 32);
	word[141] = (u32)write_at;
	word[142] = (u32)(write_at >> 32);
	word[145] = 9;			/* 8 << 9 bytes */
	word[181] = 1;			/* AQL */
	fprintf(f, "  Compute queue on device %x\n", WORLD_GPU + q->gpu);
	for (i = 0; i < WORDS; i++)
		fprintf(f, "%s%08x%s", i % 8 ? " " : "", word[i], i % 8 == 7 ? "\n" : "");
}

/* Prints the dump with "    00000020: " before each eight words. */
static void with_offsets(const char *plain, FILE *f)
{
	char line[256];
	FILE *in = fmemopen((void *)(uintptr_t)plain, strlen(plain), "r");
	u32 offset = 0;

	while (in && fgets(line, sizeof(line), in)) {
		if (line[0] == 'P' || line[0] == ' ') {
			fputs(line, f);
			offset = 0;
			continue;
		}
		fprintf(f, "    %08x: %s", offset, line);
		offset += 32;
	}
	if (in)
		fclose(in);
}

static void write_dump(struct world *w)
{
	static char plain[1 << 18], text[1 << 18];
	FILE *f = fmemopen(plain, sizeof(plain), "w");
	u32 i, q;

	for (i = 0; i < WORLD_PROCESSES; i++) {
		if (!w->process[i].pid)
			continue;
		fprintf(f, "Process %d PASID 0x8001:\n", w->process[i].pid);
		for (q = 0; q < WORLD_QUEUES; q++)
			if (w->process[i].queue[q].there)
				dump_queue(f, &w->process[i].queue[q]);
	}
	fputc(0, f);
	fclose(f);
	f = fmemopen(text, sizeof(text), "w");
	if (plain[0])
		with_offsets(plain, f);
	fputc(0, f);
	fclose(f);
	fake_tree_put(w->tree, text, "mqds");
}

void world_queue(struct world *w, u32 i, u32 queue)
{
	world_queue_on(w, i, queue, 0);
}

void world_queue_on(struct world *w, u32 i, u32 queue, u32 gpu)
{
	struct world_queue *q = &w->process[i].queue[queue];
	pid_t pid = w->process[i].pid;
	char id[16];

	snprintf(id, sizeof(id), "%u", WORLD_GPU + gpu);
	q->there = true;
	q->gpu = gpu;
	q->wptr = &w->shared[(i * WORLD_QUEUES + queue) * 32];
	q->rptr = q->wptr + 16;
	*q->rptr = *q->wptr = 0;
	fake_tree_put(w->tree, "0", "kfd/proc/%d/queues/%u/type", pid, queue);
	fake_tree_put(w->tree, "4096", "kfd/proc/%d/queues/%u/size", pid, queue);
	fake_tree_put(w->tree, id, "kfd/proc/%d/queues/%u/gpuid", pid, queue);
	write_dump(w);
}

void world_queue_gone(struct world *w, u32 i, u32 queue)
{
	char path[64];

	w->process[i].queue[queue].there = false;
	snprintf(path, sizeof(path), "kfd/proc/%d/queues/%u", w->process[i].pid, queue);
	fake_tree_remove(w->tree, path);
	write_dump(w);
}

void world_submit(struct world *w, u32 i, u32 queue, u64 nr)
{
	*w->process[i].queue[queue].wptr += nr;
}

void world_complete(struct world *w, u32 i, u32 queue, u64 nr)
{
	*w->process[i].queue[queue].rptr += nr;
}

void world_occupy(struct world *w, u32 i, u32 cus)
{
	char text[16];

	snprintf(text, sizeof(text), "%u\n", cus);
	fake_tree_put(w->tree, text, "kfd/proc/%d/stats_%u/cu_occupancy", w->process[i].pid,
		      WORLD_GPU);
	fake_tree_put(w->tree, "4096\n", "kfd/proc/%d/vram_%u", w->process[i].pid, WORLD_GPU);
}

void world_class(struct world *w, u32 i, const char *name)
{
	char previous[GP_CLASS_NAME], now[GP_CLASS_NAME], why[GP_DECIDER_WHY] = "";
	struct gp_process_id who = { .pid = w->process[i].pid };

	if (gp_decider_set_class(w->decider, &who, name, previous, now, why))
		fail_msg("%s", why);
}

/* ---- time ---- */

static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static u64 calls_so_far(void)
{
	u64 calls = 0;
	u32 i;

	for (i = 0; i < GP_SYS_NR; i++)
		calls += sys_faults_calls(i);
	return calls;
}

static void run_once(struct world *w)
{
	u64 before = calls_so_far(), calls;

	w->clocks = 0;
	gp_decider_run(w->decider, w->now_ns);
	calls = calls_so_far() - before;
	if (calls > w->calls_max)
		w->calls_max = calls;
}

void world_run(struct world *w, u64 ns)
{
	u64 until = w->now_ns + ns, step, at;

	do {
		run_readers(w);
		run_once(w);
		run_readers(w);
		at = is_readable(gp_readers_fd(w->decider->readers)) ? w->now_ns :
		     gp_decider_wake_at(w->decider);
		step = at > w->now_ns ? at - w->now_ns : 10 * GP_USEC;
		if (step > GP_MSEC)
			step = GP_MSEC;
		w->now_ns += step;
	} while (w->now_ns < until);
	/* Handles everything that is due now, and requested looks, before the test continues. */
	for (step = 0; step < 2; step++) {
		run_readers(w);
		run_once(w);
	}
}

struct gp_sched *world_sched(struct world *w)
{
	return gp_scheduler_of(w->decider->backend)->sched;
}

struct gp_gpu_process *world_find(struct world *w, u32 i)
{
	return gp_decider_find(w->decider, &(struct gp_process_id){ .pid = w->process[i].pid });
}

u32 world_state(struct world *w, u32 i)
{
	struct gp_gpu_process *r = world_find(w, i);
	struct gp_seat_view seat;

	EXPECT(r);
	EXPECT_EQ(gp_decider_seat(w->decider, r, 0, &seat), 0);
	return seat.state;
}

void world_pair(struct world *w, u32 *online, u32 *offline)
{
	*online = world_process(w);
	*offline = world_process(w);
	world_class(w, *online, "online");
	world_queue(w, *online, 0);
	world_queue(w, *offline, 0);
}

void world_two(struct world *w, u32 *online, u32 *offline)
{
	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	world_pair(w, online, offline);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, *offline)->attachment, GP_ATTACHED);
	world_submit(w, *offline, 0, 8);
	world_occupy(w, *offline, 80);
	world_run(w, 5 * GP_MSEC);
	EXPECT_EQ(world_state(w, *offline), GP_ON);
}

void world_two_preempted(struct world *w, u32 *online, u32 *offline)
{
	world_two(w, online, offline);
	world_submit(w, *online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, *offline), GP_OFF);
}
