// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpfaults: the driver's reaction when the GPU's scheduler hangs and when a queue cannot be
 * preempted. With --available it only prints how many bytes of VRAM are free.
 *
 * Around a hang the driver's timeout is half a second, otherwise its default, because the lab's GPU
 * may be silent for half a second on a busy host.
 *
 * A victim is a process with work on the GPU that reports its fate.
 */
#include "lab_test.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LONG_US = 1000000,	/* kernel of a hit victim, so long that the driver gives up first */
	SHORT_US = 50000,
	SOON_MS = 60000,	/* timeout of expected events, because the machine may be slow */
	STUCK_MS = 6000,	/* wait for events that must not happen; long work takes 4 s */
};

/* The report of a victim at its end. */
struct fate {
	bool told;		/* its HW_EXCEPTION event was signalled */
	int drained;		/* steady_drain() of its first queue's work */
	int drained_other;	/* and of its second queue's */
	int updated;		/* UPDATE_QUEUE of the first queue */
	int updated_other;
};

struct victim {
	pid_t pid;
	int fd;
	u64 ring;		/* of the first queue */
};

static void stop_queue(struct steady *s, u32 queue, bool keep)
{
	for (u32 i = 0; i < STEADY_SLOTS; i++)
		if ((i / STEADY_DEPTH == queue) != keep)
			s->flying[i] = false;
}

/* Drains one queue and drops the other's work, so call it for the important queue first. */
static int drain_queue(struct steady *s, u32 queue, u32 ms)
{
	bool kept[STEADY_SLOTS];
	int err;

	memcpy(kept, s->flying, sizeof(kept));
	stop_queue(s, queue, true);
	err = steady_drain(s, ms);
	memcpy(s->flying, kept, sizeof(kept));
	stop_queue(s, queue, false);
	return err;
}

static void victim_live(int fd, u32 queues, bool is_hit)
{
	struct gp_lab_event exception;
	struct fate fate = { 0 };
	struct steady s;
	u64 ring;

	/* Shift the addresses, because the driver finds a hanging queue by its ring's address. */
	if (is_hit)
		mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (steady_open(&s, 0, queues, is_hit ? LONG_US : SHORT_US) ||
	    gp_event_create(&s.c, &exception, KFD_IOC_EVENT_HW_EXCEPTION, false) || steady_turn(&s))
		_exit(1);
	ring = (u64)(uintptr_t)s.q[0].ring.at;
	if (write(fd, &ring, sizeof(ring)) != sizeof(ring))
		_exit(1);
	fate.told = !gp_event_wait(&s.c, &exception, 1, true, is_hit ? SOON_MS : STUCK_MS / 3);
	if (queues > 1)
		fate.drained_other = drain_queue(&s, 1, SOON_MS);
	fate.drained = steady_drain(&s, is_hit ? STUCK_MS : SOON_MS);
	fate.updated = gp_queue_update(&s.q[0], KFD_MAX_QUEUE_PERCENTAGE, 5);
	if (queues > 1)
		fate.updated_other = gp_queue_update(&s.q[1], KFD_MAX_QUEUE_PERCENTAGE, 5);
	if (write(fd, &fate, sizeof(fate)) != sizeof(fate))
		_exit(1);
	/* Destroy one queue and let the driver free the rest. */
	gp_queue_destroy(&s.q[0]);
	_exit(0);
}

static struct victim victim_start(u32 queues, bool is_hit)
{
	struct victim v = { 0 };
	int fds[2];

	if (pipe(fds))
		exit(1);
	v.pid = fork();
	if (!v.pid) {
		close(fds[0]);
		victim_live(fds[1], queues, is_hit);
	}
	close(fds[1]);
	v.fd = fds[0];
	if (read(v.fd, &v.ring, sizeof(v.ring)) != sizeof(v.ring))
		claim(false, "a process with work comes up");
	return v;
}

/* True if the victim ended by itself and the driver has freed its process. */
static bool victim_ends(struct victim *v, struct fate *ret)
{
	char path[64];
	int status;
	u64 end;

	memset(ret, 0, sizeof(*ret));
	if (read(v->fd, ret, sizeof(*ret)) != sizeof(*ret))
		note("a victim ended without a word");
	close(v->fd);
	if (waitpid(v->pid, &status, 0) != v->pid || status)
		return false;
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", v->pid);
	for (end = now_ms() + SOON_MS; now_ms() < end && !access(path, F_OK);)
		sleep_us(10000);
	return access(path, F_OK);
}

/* True if the SMI descriptor returns both lines of a reset within @ms. */
static bool smi_tells_of_reset(int fd, u32 ms)
{
	u64 end = now_ms() + ms, want, seen = 0;
	char text[1024];
	ssize_t n;

	want = KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_PRE_RESET) |
	       KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_POST_RESET);
	while ((seen & want) != want && now_ms() < end) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, 100) <= 0)
			continue;
		n = read(fd, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			seen |= KFD_SMI_EVENT_MASK_FROM_INDEX(strtoul(line, NULL, 16));
	}
	return (seen & want) == want;
}

static bool gpload_runs(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execlp("gpload", "gpload", "--queues", "2", "--requests", "6",
		       "--patience", "60", NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

static bool driver_waits(u32 ms)
{
	FILE *f = fopen("/sys/module/amdgpu/parameters/queue_preemption_timeout_ms", "we");

	return f && fprintf(f, "%u\n", ms) > 0 && !fclose(f);
}

static int the_drivers_own(struct gp_lab_client *c)
{
	FILE *f = fopen("/sys/kernel/debug/kfd/hang_hws", "w");

	if (!f)
		return -errno;
	fprintf(f, "%u\n", c->node.gpu_id);
	return fclose(f) ? -errno : 0;
}

static int the_devices_fault(struct gp_lab_client *c)
{
	(void)c;
	return device_fault(0, "hang");
}

struct hang {
	const char *name;
	int (*cause)(struct gp_lab_client *c);
};

static void hang(void *arg)
{
	static const struct gp_queue_args aql = { .type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL };
	static const struct gp_client_args first_gpu;
	const struct hang *h = arg;
	struct victim v = victim_start(1, true);
	int log = kernel_log_open(), smi, err;
	struct gp_lab_client c;
	struct gp_lab_queue q;
	struct fate fate;

	claim(!gp_client_open(&c, &first_gpu), "%s: the GPU is fine before it hangs", h->name);
	smi = gp_smi_open(&c, KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_PRE_RESET) |
			      KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_POST_RESET));
	claim(driver_waits(500) && !h->cause(&c), "%s: the fault can be caused", h->name);
	err = gp_queue_create(&c, &q, &aql);
	note("%s: CREATE_QUEUE on the hanging GPU: %d", h->name, err);
	claim(kernel_log_has(log, "qcm fence wait loop timeout expired", SOON_MS),
	      "%s: the driver waits no longer than queue_preemption_timeout_ms", h->name);
	claim(smi_tells_of_reset(smi, SOON_MS),
	      "%s: SMI tells that a reset begins and that it ended", h->name);
	claim(kernel_log_has(log, "GPU reset end with ret = 0", SOON_MS),
	      "%s: both of KFD's halves of the reset have run", h->name);
	claim(driver_waits(9000) && gpload_runs(), "%s: a new process works after the reset",
	      h->name);
	claim(victim_ends(&v, &fate), "%s: a process of before can end and is forgotten", h->name);
	claim(fate.told, "%s: a process of before is told by its HW_EXCEPTION event", h->name);
	claim(fate.drained == -ETIME, "%s: its queues stay evicted, nothing of them runs (%d)",
	      h->name, fate.drained);
	note("%s: UPDATE_QUEUE of a process of before: %d", h->name, fate.updated);
	claim(gpload_runs(), "%s: and new ones still work", h->name);
}

static void preemption_fails(void *unused)
{
	static const struct gp_queue_args aql = { .type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL };
	static const struct gp_client_args first_gpu;
	struct victim hit = victim_start(2, true), other = victim_start(1, false);
	int log = kernel_log_open();
	struct gp_lab_client c;
	struct gp_lab_queue q;
	struct fate fate;
	char text[64];
	int err;

	(void)unused;
	snprintf(text, sizeof(text), "preempt 0x%x", device_doorbell(0, hit.ring));
	claim(!gp_client_open(&c, &first_gpu) && !device_fault(0, text), "'%s' is a fault", text);
	err = gp_queue_create(&c, &q, &aql);
	claim(!err, "a queue that does not preempt fails no call of the process that asked (%d)",
	      err);
	claim(kernel_log_has(log, "is reset", SOON_MS), "the driver resets the queue alone");
	claim(kernel_log_has(log, "Queues reset on process", SOON_MS), "and says whose it was");
	claim(victim_ends(&hit, &fate), "its process can end and is forgotten");
	claim(fate.told, "its process is told by its HW_EXCEPTION event");
	claim(fate.drained == -ETIME, "the work of the queue that was reset never completes (%d)",
	      fate.drained);
	claim(!fate.drained_other, "the process's other queue goes on and is right (%d)",
	      fate.drained_other);
	claim(fate.updated == -EACCES && fate.updated_other == -EACCES,
	      "UPDATE_QUEUE of any of its queues is EACCES from then on (%d %d)", fate.updated,
	      fate.updated_other);
	claim(victim_ends(&other, &fate), "another process ends by itself");
	claim(!fate.told && !fate.drained && !fate.updated,
	      "it was not told and all its sums are right (%d %d)", fate.drained, fate.updated);
	claim(!kernel_log_has(log, "GPU reset begin", 500), "no reset of the GPU was needed");
	claim(gpload_runs(), "a new process works after a queue's reset");
}

/* Prints how much VRAM KFD has available. */
static int print_available(void)
{
	static const struct gp_client_args first_gpu;
	struct kfd_ioctl_get_available_memory_args args = { 0 };
	struct gp_lab_client c;

	if (gp_client_open(&c, &first_gpu))
		return 1;
	args.gpu_id = c.node.gpu_id;
	if (gp_client_call(&c, AMDKFD_IOC_AVAILABLE_MEMORY, &args, "AVAILABLE_MEMORY") < 0)
		return 1;
	printf("%llu\n", (unsigned long long)args.available);
	return 0;
}

int main(int argc, char *argv[])
{
	struct hang hangs[] = {
		{ "fault hang", the_devices_fault },
		{ "hang_hws", the_drivers_own },
	};

	if (argc > 1 && !strcmp(argv[1], "--available"))
		return print_available();
	apart(preemption_fails, NULL);
	for (size_t i = 0; i < sizeof(hangs) / sizeof(hangs[0]); i++)
		apart(hang, &hangs[i]);
	return claims_end();
}
