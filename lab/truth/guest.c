// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * lab-operations: performs the operations of operations.h with the real driver and prints what
 * the device counted for each, one line per operation on stderr:
 *
 *	op suspend unmaps 1 runlists 1 ...
 *
 * If the driver was loaded with record=, the recording (with the state after every operation in
 * it) follows on stdout. Exit code 1: an operation failed.
 *
 * This process does not use the GPU. It watches two children and commands them through a
 * socket. gpreempt.ko must be loaded.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/client/client.h"
#include "lab/client/hand.h"
#include "lab/client/work.h"
#include "operations.h"

#define VIEWS	"/sys/kernel/debug/vgpu/0/"

enum { PATIENCE_MS = 60000 };

/* ---- in a child ---- */

enum order {
	OPEN, CREATE, DESTROY, UPDATE, RUN, WORK, ATTACH, DETACH, SUSPEND, RESUME, PAUSE, UNPAUSE,
};

struct task {
	u32 order;
	u32 queue;
	u32 arg;
};

struct answer {
	int err;
	char why[200];
};

struct child {
	struct gp_lab_client c;
	struct gp_work forever, short_work;
	struct gp_lab_queue q[LAB_QUEUES];
	u32 ids[LAB_QUEUES], nr;
};

static int child_open(struct child *k)
{
	int err = gp_client_open(&k->c, &(struct gp_client_args){ 0 });

	if (!err)
		err = gp_work_init(&k->forever, &k->c, &(struct gp_work_args){
			.slots = 1, .memory = GP_MEMORY_GTT, .workgroup_ns = LAB_FOREVER_NS });
	if (!err)
		k->forever.kernel->vgpr_bytes = LAB_VGPR_BYTES;
	if (!err)
		err = gp_work_init(&k->short_work, &k->c, &(struct gp_work_args){
			.slots = LAB_QUEUES, .memory = GP_MEMORY_GTT, .workgroup_ns = 200 * 1000 });
	return err;
}

/* A process may debug itself. */
static int child_attach(struct child *k)
{
	struct kfd_runtime_info info;
	int events[2];

	if (pipe2(events, O_CLOEXEC))
		return gp_client_fail(errno, "no pipe for a debugger's events");
	return gp_debug_enable(&k->c, getpid(), 0, events[1], &info);
}

static int child_create(struct child *k, u32 i)
{
	const struct gp_queue_args args = { .type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
					    .pointers = GP_MEMORY_GTT };
	int err = gp_queue_create(&k->c, &k->q[i], &args);

	if (!err)
		k->nr = i + 1;
	return err;
}

/* Runs a short kernel on every queue but the first, which is always busy; one interrupts. */
static int child_work(struct child *k)
{
	struct gp_lab_event event;
	int err = gp_event_create(&k->c, &event, KFD_IOC_EVENT_SIGNAL, true);
	u32 i;

	for (i = 1; i < k->nr && !err; i++)
		err = gp_work_submit(&k->short_work, i, &k->q[i], 8, LAB_WAVES,
				     i == 1 ? &event : NULL);
	for (i = 1; i < k->nr && !err; i++) {
		err = gp_signal_wait(&k->c, &k->short_work.slot[i].done, i == 1 ? &event : NULL,
				     PATIENCE_MS);
		if (!err)
			err = gp_work_check(&k->short_work, i);
	}
	return err;
}

static int child_suspend(struct child *k, u32 grace)
{
	struct kfd_queue_snapshot_entry seen[LAB_QUEUES];
	u32 nr;
	/* A queue that no debugger has seen yet is not suspended. */
	int n = gp_debug_snapshot(&k->c, getpid(), KFD_EC_MASK(EC_QUEUE_NEW),
				  seen, LAB_QUEUES, &nr);

	if (n)
		return n;
	for (u32 i = 0; i < k->nr; i++)
		k->ids[i] = k->q[i].id;
	n = gp_debug_suspend(&k->c, getpid(), k->ids, k->nr, grace);
	if (n >= 0 && (u32)n != k->nr)
		return gp_client_say(EPROTO, "%d of %u queues were suspended", n, k->nr);
	return n < 0 ? n : 0;
}

static int child_do(struct child *k, const struct task *t)
{
	switch (t->order) {
	case OPEN:
		return child_open(k);
	case CREATE:
		return child_create(k, t->queue);
	case DESTROY:
		k->nr = t->queue;
		return gp_queue_destroy(&k->q[t->queue]);
	case UPDATE:
		return gp_queue_update(&k->q[t->queue], t->arg, 7);
	case RUN:
		return gp_work_submit(&k->forever, 0, &k->q[t->queue], t->arg, LAB_WAVES, NULL);
	case WORK:
		return child_work(k);
	case ATTACH:
		return child_attach(k);
	case DETACH:
		return gp_debug_disable(&k->c, getpid());
	case SUSPEND:
		return child_suspend(k, t->arg);
	case RESUME: {
		int n = gp_debug_resume(&k->c, getpid(), NULL, 0);

		return n < 0 ? n : 0;
	}
	case PAUSE:
		return gp_criu(&k->c, KFD_CRIU_OP_PROCESS_INFO);
	default:
		return gp_criu(&k->c, KFD_CRIU_OP_UNPAUSE);
	}
}

/* Runs until the parent closes its end; the driver frees queues and memory. */
static void be_child(int fd)
{
	static struct child k;
	struct answer answer;
	struct task t;

	while (read(fd, &t, sizeof(t)) == sizeof(t)) {
		memset(&answer, 0, sizeof(answer));
		answer.err = child_do(&k, &t);
		snprintf(answer.why, sizeof(answer.why), "%s", gp_client_error());
		if (write(fd, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

/* ---- in the parent ---- */

struct person {
	pid_t pid;
	int fd;
	char name;
};

static struct person a = { .name = 'A' }, b = { .name = 'B' };

static void give_up(const char *what, const char *why)
{
	fprintf(stderr, "lab-operations: %s: %s\n", what, why);
	exit(1);
}

static void start(struct person *p)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		give_up("socketpair", strerror(errno));
	p->pid = fork();
	if (p->pid < 0)
		give_up("fork", strerror(errno));
	if (!p->pid) {
		close(fd[0]);
		if (p == &b)
			close(a.fd);
		be_child(fd[1]);
	}
	close(fd[1]);
	p->fd = fd[0];
}

static void tell(struct person *p, u32 order, u32 queue, u32 arg)
{
	const struct task t = { .order = order, .queue = queue, .arg = arg };
	struct answer answer;
	char what[32];

	snprintf(what, sizeof(what), "%c, order %u", p->name, order);
	if (write(p->fd, &t, sizeof(t)) != sizeof(t) ||
	    recv(p->fd, &answer, sizeof(answer), MSG_WAITALL) != sizeof(answer))
		give_up(what, "it is gone");
	if (answer.err)
		give_up(what, answer.why);
}

static void view(const char *name, char *text, size_t room)
{
	FILE *in = fopen(name, "r");
	size_t n;

	if (!in)
		give_up(name, strerror(errno));
	n = fread(text, 1, room - 1, in);
	text[n] = '\0';
	fclose(in);
}

static u64 value(const char *text, const char *name)
{
	char line[64];
	const char *at;

	snprintf(line, sizeof(line), "\n%s ", name);
	at = strstr(text, line);
	if (!at)
		give_up(name, "the device has no such counter");
	return strtoull(at + strlen(line), NULL, 10);
}

static struct lab_cost count(void)
{
	static char text[16384];
	struct lab_cost c = { 0 };
	u64 unmaps_ns;

	view(VIEWS "counters", text, sizeof(text));
	unmaps_ns = value(text, "unmaps_ns");
	c.part[LAB_UNMAPS] = value(text, "unmaps");
	c.part[LAB_RUNLISTS] = value(text, "maps");
	c.part[LAB_QUEUES_MAPPED] = value(text, "queues_mapped");
	c.part[LAB_QUEUES_UNMAPPED] = value(text, "queues_unmapped");
	c.part[LAB_WAVES_SAVED] = value(text, "waves_saved");
	c.part[LAB_BYTES_SAVED] = value(text, "bytes_saved");
	c.part[LAB_SAVE_NS] = value(text, "saves_ns");
	c.part[LAB_COMMAND_NS] = unmaps_ns - c.part[LAB_SAVE_NS];
	c.part[LAB_SWITCH_NS] = value(text, "commands_ns") - unmaps_ns;
	return c;
}

/* The processes and queues on the GPU. */
struct on {
	u32 queues;
	u32 workgroups;
};

static struct on look(void)
{
	static char text[65536];
	struct on on = { 0 };
	char state[16];
	u32 waves;

	view(VIEWS "queues", text, sizeof(text));
	for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		if (sscanf(line + 1, "%*s %*s %*s %15s %*s %*s %*s %*s %*s %*s %u", state,
			   &waves) != 2)
			continue;
		on.queues += !strcmp(state, "mapped");
		on.workgroups += waves / LAB_WAVES;
	}
	return on;
}

/* Waits, because the driver does not wait until its runlist is read. */
static void wait_for(struct on want)
{
	struct on now = look();

	for (u32 ms = 0; now.queues != want.queues || now.workgroups != want.workgroups; ms += 2) {
		if (ms > PATIENCE_MS) {
			fprintf(stderr, "%u queues and %u workgroups on, not %u and %u\n",
				now.queues, now.workgroups, want.queues, want.workgroups);
			give_up("the GPU", "not what should be on it is on it");
		}
		usleep(2000);
		now = look();
	}
}

/* Adds a state to the recording, by opening it. */
static void mark(void)
{
	int fd = open(VIEWS "record", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		give_up(VIEWS "record", strerror(errno));
	close(fd);
}

static struct lab_cost before;

static void begin(void)
{
	before = count();
}

/* Ends the operation when @want is on the GPU. */
static void end(enum lab_operation op, struct on want)
{
	struct lab_cost now;

	wait_for(want);
	now = count();
	fprintf(stderr, "op %s", lab_operation_names[op]);
	for (u32 i = 0; i < LAB_NR_PARTS; i++)
		fprintf(stderr, " %s %llu", lab_part_names[i],
			(unsigned long long)(now.part[i] - before.part[i]));
	fputc('\n', stderr);
	mark();
}

/* The driver cleans up some time after a process has ended. */
static void wait_until_forgotten(pid_t pid)
{
	char name[64];

	snprintf(name, sizeof(name), "/sys/class/kfd/kfd/proc/%d", (int)pid);
	for (u32 ms = 0; !access(name, F_OK); ms += 2) {
		if (ms > PATIENCE_MS)
			give_up(name, "the driver does not forget it");
		usleep(2000);
	}
}

static void do_one(enum lab_operation op, struct person *p, u32 order, u32 queue, u32 arg,
		   struct on want)
{
	begin();
	tell(p, order, queue, arg);
	end(op, want);
}

enum { OF_A = LAB_A_WORKGROUPS, OF_B = LAB_B_WORKGROUPS, SLOTS = 24 };
#define ON(q, w)	((struct on){ .queues = (q), .workgroups = (w) })

/* Runs @op and the operation that ends it. */
static void by_module(const char *mechanism, enum lab_operation op, struct on without)
{
	if (gp_hand_mechanism(mechanism))
		give_up(mechanism, "the module refuses it");
	wait_for(ON(3, OF_A + OF_B));
	for (u32 i = 0; i < 2; i++) {
		begin();
		if (gp_hand_move(!i))
			give_up(mechanism, "the module could not do it");
		end(op + i, i ? ON(3, OF_A + OF_B) : without);
	}
}

static void two_processes(void)
{
	const u32 the_driver_s = 0xffffffff;

	tell(&a, OPEN, 0, 0);
	tell(&b, OPEN, 0, 0);
	do_one(LAB_CREATE_FIRST, &a, CREATE, 0, 0, ON(1, 0));
	do_one(LAB_CREATE_SECOND, &a, CREATE, 1, 0, ON(2, 0));
	tell(&a, RUN, 0, LAB_A_WORKGROUPS);
	wait_for(ON(2, OF_A));
	do_one(LAB_CREATE_BESIDE, &b, CREATE, 0, 0, ON(3, OF_A));
	tell(&b, RUN, 0, LAB_B_WORKGROUPS);
	wait_for(ON(3, OF_A + OF_B));
	do_one(LAB_UPDATE_OFF, &a, UPDATE, 1, 0, ON(2, OF_A + OF_B));
	do_one(LAB_UPDATE_ON, &a, UPDATE, 1, 100, ON(3, OF_A + OF_B));
	do_one(LAB_ATTACH, &a, ATTACH, 0, 0, ON(3, OF_A + OF_B));
	do_one(LAB_SUSPEND, &a, SUSPEND, 0, the_driver_s, ON(1, OF_B));
	do_one(LAB_RESUME, &a, RESUME, 0, 0, ON(3, OF_A + OF_B));
	do_one(LAB_SUSPEND_GRACE_1, &a, SUSPEND, 0, 1, ON(1, OF_B));
	do_one(LAB_RESUME_GRACE_1, &a, RESUME, 0, 0, ON(3, OF_A + OF_B));
	do_one(LAB_DETACH, &a, DETACH, 0, 0, ON(3, OF_A + OF_B));
	do_one(LAB_EVICT, &a, PAUSE, 0, 0, ON(1, OF_B));
	do_one(LAB_RESTORE, &a, UNPAUSE, 0, 0, ON(3, OF_A + OF_B));
	if (gp_hand_open(a.pid))
		give_up("/dev/gpreempt", "not there, or it does not take A (modprobe gpreempt)");
	by_module("evict", LAB_MODULE_EVICT, ON(1, OF_B));
	by_module("direct", LAB_MODULE_DIRECT, ON(1, OF_B));
	by_module("halt", LAB_MODULE_HALT, ON(0, 0));
}

/*
 * The driver lists the newest queue first, so the oldest queue, whose kernel never ends, is in
 * the last turn. Returns the number of queues mapped with it.
 */
static u32 second_turn(u32 queues)
{
	return queues > SLOTS ? queues - SLOTS : queues;
}

static void oversubscribe(void)
{
	static char registers[1 << 20];

	begin();
	for (u32 i = 2; i < LAB_QUEUES; i++) {
		tell(&a, CREATE, i, 0);
		wait_for(ON(second_turn(i + 1), OF_A));
	}
	end(LAB_OVERSUBSCRIBE, ON(second_turn(LAB_QUEUES), OF_A));
	tell(&a, WORK, 0, 0);
	wait_for(ON(second_turn(LAB_QUEUES), OF_A));
	/* Reading makes the driver read the registers of every slot. */
	view("/sys/kernel/debug/kfd/hqds", registers, sizeof(registers));
}

static void end_of(struct person *p, enum lab_operation op, struct on want)
{
	begin();
	if (op == LAB_KILL)
		kill(p->pid, SIGKILL);
	else
		shutdown(p->fd, SHUT_WR);
	waitpid(p->pid, NULL, 0);
	wait_until_forgotten(p->pid);
	end(op, want);
}

static void print_recording(void)
{
	char data[65536];
	size_t n;
	FILE *in = fopen(VIEWS "record", "r");

	if (!in)
		give_up(VIEWS "record", strerror(errno));
	while ((n = fread(data, 1, sizeof(data), in)))
		fwrite(data, 1, n, stdout);
	fclose(in);
}

int main(void)
{
	start(&a);
	start(&b);
	two_processes();
	end_of(&b, LAB_KILL, ON(2, OF_A));
	oversubscribe();
	do_one(LAB_DESTROY, &a, DESTROY, LAB_QUEUES - 1, 0,
	       ON(second_turn(LAB_QUEUES - 1), OF_A));
	end_of(&a, LAB_EXIT, ON(0, 0));
	print_recording();
	return 0;
}
