// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How the driver evicts a whole process: checkpoint, user pages, memory pressure. */
#include "queues.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "lab/driver/hungry.h"

enum {
	MS	= 1000000,
	PAGE	= 4096,
};

#define QUEUE_EVENTS \
	(KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_QUEUE_EVICTION) | \
	 KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_QUEUE_RESTORE))

void criu_pause(struct gp_lab_client *c)
{
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 2, 500ull * MS);
	probe_queue(c, &q);
	REFUSED(gp_criu(c, KFD_CRIU_OP_UNPAUSE), EINVAL);
	OK(gp_work_submit(&w, 0, &q, 100, 4, NULL));
	SOON(probe_waves() == 400);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	EXPECT_EQ(probe_waves(), 0);
	OK(gp_work_submit(&w, 1, &q, 5, 1, NULL));
	usleep(700000);
	EXPECT(!gp_work_done(&w, 0));
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	REFUSED(gp_criu(c, KFD_CRIU_OP_UNPAUSE), EINVAL);
	probe_finish(&w);
	REFUSED(gp_criu(c, 5), EINVAL);	/* no such operation */
}

static struct kfd_ioctl_criu_args info(struct gp_lab_client *c)
{
	struct kfd_ioctl_criu_args args = { .op = KFD_CRIU_OP_PROCESS_INFO };

	OK(gp_client_call(c, AMDKFD_IOC_CRIU_OP, &args, "CRIU_OP PROCESS_INFO"));
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	return args;
}

void criu_counts(struct gp_lab_client *c)
{
	struct kfd_ioctl_criu_args before = info(c), after;
	struct gp_lab_queue q;
	struct gp_lab_event e;

	EXPECT_EQ(before.pid, getpid());
	EXPECT_EQ(before.num_devices, 1);
	probe_queue(c, &q);
	after = info(c);
	EXPECT_EQ(after.num_objects - before.num_objects, 1);
	EXPECT_EQ(after.num_bos - before.num_bos, 4);	/* ring, pointers, EOP, save area */
	EXPECT(after.priv_data_size > before.priv_data_size);
	OK(gp_event_create(c, &e, KFD_IOC_EVENT_SIGNAL, true));
	EXPECT(info(c).num_objects > after.num_objects);
}

/* Until 6.12.117 each pause evicted once more, and one unpause undid only one eviction. */
static bool pauses_are_counted(void)
{
	struct utsname is;
	u32 major, minor, patch;

	EXPECT_EQ(uname(&is), 0);
	EXPECT_EQ(sscanf(is.release, "%u.%u.%u", &major, &minor, &patch), 3);
	return major == 6 && (minor < 12 || (minor == 12 && patch < 117));
}

void criu_twice(struct gp_lab_client *c)
{
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 1, MS);
	probe_queue(c, &q);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	OK(gp_work_submit(&w, 0, &q, 10, 1, NULL));
	probe_pause();
	EXPECT(!gp_work_done(&w, 0));
	EXPECT_EQ(probe_mqd(0, MQD_ACTIVE), 0);
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	REFUSED(gp_criu(c, KFD_CRIU_OP_UNPAUSE), EINVAL);
	if (!pauses_are_counted()) {
		probe_finish(&w);
		return;
	}
	probe_pause();
	EXPECT(!gp_work_done(&w, 0));
	EXPECT_EQ(probe_mqd(0, MQD_ACTIVE), 0);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	EXPECT_EQ(syscall(SYS_capset, &header, none), 0);
}

void criu_capability(struct gp_lab_client *c)
{
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 1, MS);
	probe_queue(c, &q);
	drop_capabilities();
	REFUSED(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO), EACCES);
	REFUSED(gp_criu(c, KFD_CRIU_OP_UNPAUSE), EACCES);
	/* Other operations on its own queues need no capability. */
	OK(gp_queue_update(&q, 0, 7));
	OK(gp_work_submit(&w, 0, &q, 10, 1, NULL));
	OK(gp_queue_update(&q, 100, 7));
	probe_finish(&w);
	OK(gp_queue_destroy(&q));
}

void criu_no_process(struct gp_lab_client *c)
{
	struct gp_lab_client bare = { .kfd_fd = open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC) };
	struct probe_hiq since = probe_hiq();

	(void)c;
	EXPECT(bare.kfd_fd >= 0);
	OK(gp_criu(&bare, KFD_CRIU_OP_PROCESS_INFO));
	OK(gp_criu(&bare, KFD_CRIU_OP_UNPAUSE));
	COSTS(&since, "pause of a process without an address space", 0, 0, 0, 0, 0);
}

/* Returns the next line of @fd, or "" if there is none. */
static const char *next_line(int fd)
{
	static char line[KFD_SMI_EVENT_MSG_SIZE];
	size_t n = 0;

	while (n + 1 < sizeof(line) && read(fd, line + n, 1) == 1)
		if (line[n++] == '\n')
			break;
	line[n] = '\0';
	return line;
}

static void expect_line(int fd, struct gp_lab_client *c, pid_t pid, u32 event, char last)
{
	long long ns;
	u32 got, gpu;
	char tail;
	int who;

	EXPECT_EQ(sscanf(next_line(fd), "%x %lld -%d %x %c\n", &got, &ns, &who, &gpu, &tail), 5);
	EXPECT_EQ(got, event);
	EXPECT(ns > 0);
	EXPECT_EQ(who, pid);
	EXPECT_EQ(gpu, c->node.gpu_id);
	EXPECT_EQ(tail, last);
}

void smi_lines(struct gp_lab_client *c)
{
	int fd = gp_smi_open(c, QUEUE_EVENTS);
	struct gp_lab_queue q;

	EXPECT(fd >= 0);
	probe_queue(c, &q);
	EXPECT(!*next_line(fd));
	EXPECT_EQ(errno, EAGAIN);
	/* Updates of a process's own queues cause no event. */
	OK(gp_queue_update(&q, 0, 7));
	OK(gp_queue_update(&q, 100, 7));
	EXPECT(!*next_line(fd));
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	expect_line(fd, c, getpid(), KFD_SMI_EVENT_QUEUE_EVICTION, '4');
	EXPECT(!*next_line(fd));
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	expect_line(fd, c, getpid(), KFD_SMI_EVENT_QUEUE_RESTORE, '0');
	EXPECT(!*next_line(fd));
	/* A second mask replaces the first. */
	EXPECT_EQ(write(fd, &(u64){ 0 }, 8), 8);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	EXPECT(!*next_line(fd));
}

/* Starts a process that is evicted and restored once. */
static pid_t paused_process(void)
{
	pid_t pid = fork();
	struct gp_lab_client c;
	int status;

	if (pid == 0) {
		OK(gp_client_open(&c, &(struct gp_client_args){ 0 }));
		OK(gp_criu(&c, KFD_CRIU_OP_PROCESS_INFO));
		OK(gp_criu(&c, KFD_CRIU_OP_UNPAUSE));
		_exit(0);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	return pid;
}

/* Subscribes to the events of all processes without permission. 0 if it received none. */
static int unprivileged(int hear, int tell)
{
	u64 all = QUEUE_EVENTS | KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_ALL_PROCESS);
	struct gp_lab_client c;
	char byte;
	int fd;

	OK(gp_client_open(&c, &(struct gp_client_args){ 0 }));
	drop_capabilities();
	fd = gp_smi_open(&c, all);
	EXPECT(fd >= 0);
	EXPECT_EQ(write(tell, "r", 1), 1);
	EXPECT_EQ(read(hear, &byte, 1), 1);
	return *next_line(fd) != '\0';
}

void smi_filter(struct gp_lab_client *c)
{
	u64 all = QUEUE_EVENTS | KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_ALL_PROCESS);
	int own = gp_smi_open(c, QUEUE_EVENTS), every = gp_smi_open(c, all);
	int there[2], back[2], status;
	pid_t pid = paused_process();
	char byte;

	EXPECT(!*next_line(own));
	expect_line(every, c, pid, KFD_SMI_EVENT_QUEUE_EVICTION, '4');
	expect_line(every, c, pid, KFD_SMI_EVENT_QUEUE_RESTORE, '0');

	/* The driver checks the capability when the descriptor is opened. */
	EXPECT_EQ(pipe(there) | pipe(back), 0);
	pid = fork();
	if (pid == 0)
		_exit(unprivileged(there[0], back[1]));
	EXPECT_EQ(read(back[0], &byte, 1), 1);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	EXPECT_EQ(write(there[1], "g", 1), 1);
	expect_line(own, c, getpid(), KFD_SMI_EVENT_QUEUE_EVICTION, '4');
	expect_line(every, c, getpid(), KFD_SMI_EVENT_QUEUE_EVICTION, '4');
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

void smi_fifo(struct gp_lab_client *c)
{
	int fd = gp_smi_open(c, QUEUE_EVENTS);
	u32 lines = 0;

	for (u32 i = 0; i < 40; i++) {
		OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
		OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	}
	for (const char *line; *(line = next_line(fd)); lines++)
		EXPECT(strchr(line, '\n') && (line[0] == '9' || line[0] == 'a'));
	/* The buffer holds 1024 bytes. Events that do not fit are dropped whole. */
	EXPECT(lines >= 1024 / KFD_SMI_EVENT_MSG_SIZE && lines < 80);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	expect_line(fd, c, getpid(), KFD_SMI_EVENT_QUEUE_EVICTION, '4');
}

/* Expects an eviction for @trigger and a restore. Returns the number of failed restores. */
static u32 expect_round(int fd, char trigger)
{
	const char *line;
	u32 failed = 0;

	SOON(*(line = next_line(fd)));
	EXPECT(line[0] == '9' && line[strlen(line) - 2] == trigger);
	for (;; failed++) {
		SOON(*(line = next_line(fd)));
		EXPECT(line[0] == 'a');
		if (line[strlen(line) - 2] == '0')
			return failed;
		EXPECT_EQ(line[strlen(line) - 2], 'R');
	}
}

static void *own_pages(u32 nr)
{
	void *at = mmap(NULL, nr * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	EXPECT(at != MAP_FAILED);
	return at;
}

/* Expects that no process was evicted. Retries the story if the kernel moved pages itself. */
static void expect_silence(int fd)
{
	bool said = *next_line(fd);

	if (said)
		probe_excuse();
	EXPECT(!said);
}

void userptr_eviction(struct gp_lab_client *c)
{
	void *at = own_pages(16);
	int fd = gp_smi_open(c, QUEUE_EVENTS);
	u64 unmaps = probe_hiq().unmaps;
	struct gp_buffer b;
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 1, 4000ull * MS);
	probe_queue(c, &q);
	OK(gp_buffer_register(c, &b, at, 16 * PAGE));
	OK(gp_work_submit(&w, 0, &q, 100, 4, NULL));
	SOON(probe_waves() == 400);
	expect_silence(fd);
	EXPECT_EQ(madvise((u8 *)at + 8 * PAGE, PAGE, MADV_DONTNEED), 0);
	expect_round(fd, '1');
	SOON(probe_waves() == 400);
	/* Pages outside of buffers do not cause an eviction. */
	EXPECT_EQ(munmap(own_pages(1), PAGE), 0);
	expect_silence(fd);
	/* The pages are gone for good, and the queues continue without them. */
	EXPECT_EQ(munmap(at, 16 * PAGE), 0);
	expect_round(fd, '1');
	SOON(probe_waves() == 400);
	probe_finish(&w);
	EXPECT(probe_hiq().unmaps >= unmaps + 2);
}

void evictions_nest(struct gp_lab_client *c)
{
	int fd = gp_smi_open(c, QUEUE_EVENTS);
	struct gp_buffer b;
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 1, 300ull * MS);
	probe_queue(c, &q);
	OK(gp_buffer_alloc(c, &b, GP_MEMORY_USERPTR, 4 * PAGE));
	OK(gp_work_submit(&w, 0, &q, 100, 4, NULL));
	SOON(probe_waves() == 400);
	OK(gp_criu(c, KFD_CRIU_OP_PROCESS_INFO));
	expect_line(fd, c, getpid(), KFD_SMI_EVENT_QUEUE_EVICTION, '4');
	EXPECT_EQ(madvise(b.at, PAGE, MADV_DONTNEED), 0);
	expect_round(fd, '1');
	/* The process was evicted twice and restored once, so it stays off. */
	usleep(500000);
	EXPECT_EQ(probe_waves(), 0);
	EXPECT(!gp_work_done(&w, 0));
	OK(gp_criu(c, KFD_CRIU_OP_UNPAUSE));
	expect_line(fd, c, getpid(), KFD_SMI_EVENT_QUEUE_RESTORE, '0');
	probe_finish(&w);
}

void userptr_read_only(struct gp_lab_client *c)
{
	void *at = own_pages(4);
	int fd = gp_smi_open(c, QUEUE_EVENTS);
	struct gp_buffer b;
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 1, 500ull * MS);
	probe_queue(c, &q);
	OK(gp_buffer_register(c, &b, at, 4 * PAGE));
	OK(gp_work_submit(&w, 0, &q, 100, 4, NULL));
	SOON(probe_waves() == 400);
	EXPECT_EQ(mprotect(at, PAGE, PROT_READ), 0);
	SOON(probe_waves() == 0);
	usleep(700000);
	EXPECT_EQ(probe_waves(), 0);
	EXPECT(!gp_work_done(&w, 0));
	EXPECT_EQ(mprotect(at, PAGE, PROT_READ | PROT_WRITE), 0);
	EXPECT(expect_round(fd, '1') > 0);
	probe_finish(&w);
}

/* Write-protects the process's pages by a fork, so the driver looks up all its buffers. */
static void fork_once(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	EXPECT_EQ(waitpid(pid, &(int){ 0 }, 0), pid);
}

void fork_evicts(struct gp_lab_client *c)
{
	int fd = gp_smi_open(c, QUEUE_EVENTS);
	struct gp_buffer *parts[5];
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 1, 1500ull * MS);
	probe_queue(c, &q);
	OK(gp_work_submit(&w, 0, &q, 100, 4, NULL));
	SOON(probe_waves() == 400);
	fork_once();
	expect_round(fd, '1');
	SOON(probe_waves() == 400);
	parts[0] = &q.ring;
	parts[1] = &q.pointers;
	parts[2] = &q.eop;
	parts[3] = &q.save;
	parts[4] = &w.memory;
	for (u32 i = 0; i < 5; i++)
		EXPECT_EQ(madvise(parts[i]->at, parts[i]->bytes, MADV_DONTFORK), 0);
	while (*next_line(fd))
		;
	fork_once();
	probe_pause();
	EXPECT(!*next_line(fd));
	probe_finish(&w);
}

void vram_pressure(struct gp_lab_client *c)
{
	struct kfd_ioctl_get_available_memory_args free = { .gpu_id = c->node.gpu_id };
	int fd = gp_smi_open(c, QUEUE_EVENTS), stop[2], status;
	struct gp_buffer b;
	struct gp_lab_queue q;
	struct gp_work w;
	u64 words;
	pid_t pid;

	OK(gp_client_call(c, AMDKFD_IOC_AVAILABLE_MEMORY, &free, "AVAILABLE_MEMORY"));
	OK(gp_buffer_alloc(c, &b, GP_MEMORY_VRAM, (free.available / 2) & ~(u64)0x1fffff));
	words = b.bytes / 8;
	for (u64 i = 0; i < words; i += 4096)
		((volatile u64 *)b.at)[i] = i * 0x9e3779b97f4a7c15ull;
	OK(gp_work_init(&w, c, &(struct gp_work_args){
		.slots = 1, .memory = GP_MEMORY_VRAM, .workgroup_ns = 2000ull * MS }));
	probe_queue(c, &q);
	OK(gp_work_submit(&w, 0, &q, 100, 4, NULL));
	SOON(probe_waves() == 400);
	EXPECT_EQ(pipe2(stop, O_NONBLOCK), 0);
	pid = hungry_process(c->node.render_minor, 64, stop[0]);
	SOON(strstr(next_line(fd), " 2\n"));
	EXPECT_EQ(write(stop[1], "s", 1), 1);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	probe_finish(&w);
	for (u64 i = 0; i < words; i += 4096)
		EXPECT_EQ(((volatile u64 *)b.at)[i], i * 0x9e3779b97f4a7c15ull);
}
