// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Holds that nest with the driver's own evictions. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "lab/driver/hungry.h"

/* GP_ROUNDS, or what is enough to see it work. */
static u32 rounds(void)
{
	const char *text = getenv("GP_ROUNDS");
	u32 nr = text ? (u32)atoi(text) : 10;

	/* A story has its time; many rounds have more. */
	alarm(90 + 10 * nr);
	return nr;
}

static const char *const ways[] = { "evict", "direct" };

/* By one and the other in turn: what direct books is undone by the driver, too. */
static void take_off_by(int ctl, u32 task, const char *wanted, const char *used)
{
	set_mechanism(ctl, wanted, 0);
	EQ(preempt(ctl, &task, 1), 0);
	if (!CHECK(!strcmp(gpu_of(ctl).mechanism, used)))
		printf("# %s: %s\n", gpu_of(ctl).mechanism, gpu_of(ctl).why_not_direct);
}

/* A hold and the driver's eviction: whichever begins first, whichever ends first. */
static void nest(int ctl, u32 task, const struct target *t, u32 round)
{
	const char *way = ways[round / 4 % 2];
	bool held_first = round & 1, released_first = round & 2;

	if (!held_first)
		EQ(target_ask(t, ASK_CRIU, KFD_CRIU_OP_PROCESS_INFO), 0);
	/* Nothing of it is there to be taken off by a packet of ours. */
	take_off_by(ctl, task, way, held_first ? way : "evict");
	if (held_first)
		EQ(target_ask(t, ASK_CRIU, KFD_CRIU_OP_PROCESS_INFO), 0);
	EQ(mapped_of(t->pid), 0);
	if (released_first)
		EQ(resume(ctl, &task, 1), 0);
	else
		EQ(target_ask(t, ASK_CRIU, KFD_CRIU_OP_UNPAUSE), 0);
	EQ(mapped_of(t->pid), 0);	/* the other still has it off */
	if (released_first)
		EQ(target_ask(t, ASK_CRIU, KFD_CRIU_OP_UNPAUSE), 0);
	else
		EQ(resume(ctl, &task, 1), 0);
	CHECK(device_maps(t->pid, t->ring[0], true));
}

static void checkpoints(void)
{
	int ctl = control("evict");
	struct target t = target_ready(2), other = target_ready(1);
	u32 task = attach(ctl, t.pid);

	for (u32 i = 0, nr = rounds(); i < nr; i++) {
		NEED(target_ask(&t, ASK_SHORT, i % 2) == 0);
		nest(ctl, task, &t, i);
	}
	target_ends_right(&t);
	target_ends_right(&other);
	close(ctl);
}

static u64 evicted_ms(pid_t pid, u32 gpu_id)
{
	unsigned long long ms = 0;
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/stats_%u/evicted_ms", pid, gpu_id);
	f = fopen(path, "re");
	NEED(f && fscanf(f, "%llu", &ms) == 1);
	fclose(f);
	return ms;
}

/* How often the driver has evicted @pid for want of memory, since the last call. */
static u32 evictions(int smi, pid_t pid)
{
	char text[4096], who[24];
	u32 nr = 0;
	ssize_t n;

	snprintf(who, sizeof(who), " -%d ", pid);
	while ((n = read(smi, text, sizeof(text) - 1)) > 0) {
		text[n] = '\0';
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			nr += strstr(line, who) && line[strlen(line) - 1] == '2';
	}
	return nr;
}

/* Another program wants the VRAM; the held process's is moved away and, though held, comes back. */
static void memory_pressure(void)
{
	int ctl = control("evict"), smi, status;
	struct target t = target_ready(1), other = target_ready(1);
	u32 task = attach(ctl, t.pid);
	struct gp_lab_client c;
	pid_t pid;

	NEED(gp_client_open(&c, &(struct gp_client_args){ 0 }) == 0);
	smi = gp_smi_open(&c, KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_QUEUE_EVICTION) |
			      KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_ALL_PROCESS));
	NEED(smi >= 0 && fcntl(smi, F_SETFL, O_NONBLOCK) == 0);
	NEED(target_ask(&t, ASK_VRAM, 32) == 0);		/* of the 64 there are */
	for (u32 i = 0, nr = rounds(); i < nr; i++) {
		NEED(target_ask(&t, ASK_SHORT, 0) == 0);
		take_off_by(ctl, task, ways[i % 2], ways[i % 2]);
		pid = hungry_process(c.node.render_minor, 4, -1);
		EQ(waitpid(pid, &status, 0), pid);
		EQ(status, 0);
		CHECK(evictions(smi, t.pid) > 0);
		EQ(mapped_of(t.pid), 0);
		EQ(seat_of(ctl, task).state, GP_UAPI_OFF);
		EQ(resume(ctl, &task, 1), 0);
		CHECK(device_maps(t.pid, t.ring[0], true));
	}
	EQ(target_ask(&t, ASK_VRAM, 0), 0);
	CHECK(evicted_ms(t.pid, c.node.gpu_id) > 0);
	target_ends_right(&t);
	target_ends_right(&other);
	close(ctl);
}

/* struct drm_amdgpu_info, as far as this one question needs it. */
struct info {
	u64 to;
	u32 bytes, query;
	u64 rest[2];
};

u64 vram_used(void)
{
	enum { VRAM_USAGE = 0x10 };
	u64 used = 0;
	struct info i = { .to = (u64)(uintptr_t)&used, .bytes = sizeof(used), .query = VRAM_USAGE };
	int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);

	NEED(fd >= 0 && ioctl(fd, _IOW('d', 0x45, struct info), &i) == 0);
	close(fd);
	return used;
}

/* The driver frees in the background. Then it has what it had before there was any process. */
static bool all_is_free(void)
{
	for (u32 i = 0; i < 1000 && vram_used() > vram_at_start; i++)
		usleep(10000);
	return vram_used() <= vram_at_start;
}

/* What it had is free: nothing of ours keeps it. */
static void kill_frees(void)
{
	int ctl = control("evict");

	NEED(all_is_free());		/* of the stories before this one, too */
	for (u32 held = 0; held < 3; held++) {
		struct target t = target_ready(2);
		u32 task = attach(ctl, t.pid);

		NEED(target_ask(&t, ASK_VRAM, 16) == 0);
		EQ(target_ask(&t, ASK_LONG, 0), 0);
		CHECK(vram_used() >= vram_at_start + (16 << 20));
		if (held)
			take_off_by(ctl, task, ways[held - 1], ways[held - 1]);
		kill(t.pid, SIGKILL);
		EQ(waitpid(t.pid, NULL, 0), t.pid);
		CHECK(driver_forgot(t.pid));
		CHECK(all_is_free());
		close(t.fd);
	}
	close(ctl);
}

/* The holder's descriptor is closed: the process runs. */
static void close_restores(void)
{
	for (u32 i = 0; i < 2; i++) {
		struct target t = target_ready(2);	/* it must not inherit the descriptor */
		int ctl = control(ways[i]);
		u32 task = attach(ctl, t.pid);

		take_off_by(ctl, task, ways[i], ways[i]);
		EQ(target_ask(&t, ASK_SHORT, 1), 0);
		CHECK(held(&t, 0));
		close(ctl);
		CHECK(device_maps(t.pid, t.ring[0], true));
		target_ends_right(&t);
	}
}

const struct story nested[] = {
	{ "evict, direct: checkpoints of a held process nest with the hold, in every order",
	  checkpoints },
	{ "evict, direct: memory pressure evicts and restores a held process: counts and contents "
	  "right", memory_pressure },
	{ "evict, direct: a process that is killed, held or not, leaves no memory behind",
	  kill_frees },
	{ "evict, direct: closing the descriptor restores what it held", close_restores },
	{ 0 },
};
