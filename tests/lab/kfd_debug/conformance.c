// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The promises of core/mechanism.h, kept on the real driver by the mechanism named on the command
 * line: kfd-debug, kmod/evict, kmod/direct, kmod/halt.
 *
 * The tasks are three gploads with work for longer than any test; how far they have come
 * is their queue's read pointer, which only the device writes, read by lib/pointers.
 * Each must end with right sums.
 *
 * The clock of the tests is slow while something is under way and fast when nothing is,
 * because a promise is about order, not speed.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conformance.h"
#include "lib/pointers.h"

enum {
	SLOWER		= 5,		/* a millisecond while something is under way */
	PROGRESS_MS	= 20,		/* how long a task may need to get on with its work */
};

static struct kfd_bench *of(struct bench *b)
{
	return (struct kfd_bench *)b;
}

static struct kfd_bench *by_mechanism(struct gp_mechanism *m)
{
	return (struct kfd_bench *)((char *)m - offsetof(struct kfd_bench, shown));
}

static u64 monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

static u64 now(struct bench *b)
{
	return of(b)->now_ns;
}

static void advance(struct bench *b, u64 until_ns)
{
	struct kfd_bench *k = of(b);
	u64 step = until_ns - k->now_ns, ms = step / GP_MSEC;

	if (k->subject->busy(k))
		poll(&(struct pollfd){ .fd = k->subject->fd(k), .events = POLLIN }, 1,
		     (int)(ms * SLOWER) + 1);
	else if (ms > 1)
		usleep(PROGRESS_MS * 1000);
	k->now_ns = until_ns;
}

/* ---- the mechanism, in the clock of the tests ---- */

/* In order, and between the beginning and now. */
static u64 to_test(const struct kfd_bench *k, u64 real_ns)
{
	u64 at = k->begun_ns + (real_ns - k->begun_real_ns);

	return !real_ns ? 0 : at < k->now_ns ? at : k->now_ns;
}

/*
 * The deadline stays as it is: what passes it is the time that poll() is told. When it began is
 * told by the clock that everything else of an answer is told by.
 */
static int begin(struct gp_mechanism *m, const struct gp_action *action, u64 now_ns)
{
	struct kfd_bench *k = by_mechanism(m);
	u64 real_ns = monotonic_ns();
	int err = k->real->ops->begin(k->real, action, real_ns);

	if (!err) {
		k->begun_ns = now_ns;
		k->begun_real_ns = real_ns;
	}
	return err;
}

static int poll_answer(struct gp_mechanism *m, u64 now_ns, struct gp_answer *ret)
{
	struct kfd_bench *k = by_mechanism(m);
	struct gp_answer a;
	int err = k->real->ops->poll(k->real, now_ns, &a);

	if (err)
		return err;
	a.command_ns = to_test(k, a.command_ns);
	a.acted_ns = to_test(k, a.acted_ns);
	a.saved_ns = to_test(k, a.saved_ns);
	a.switched_ns = to_test(k, a.switched_ns);
	*ret = a;
	return 0;
}

static int probe(struct gp_mechanism *m, u32 device, u32 task, u32 *waves, u32 *permille)
{
	struct kfd_bench *k = by_mechanism(m);
	int err = 0;

	/* Three share the device in turns: look until its turn has come. */
	for (u32 i = 0; i < 100; i++) {
		err = k->real->ops->probe(k->real, device, task, waves, permille);
		if (err || *waves)
			break;
		usleep(5000);
	}
	return err;
}

/* ---- its tasks ---- */

static u64 work(struct bench *b, u32 task)
{
	struct gp_pointers_set *s = of(b)->pointers[task];
	u32 nr;

	EXPECT_EQ(gp_pointers_look(s), 0);
	return gp_pointers_rings(s, &nr)->rptr;
}

static pid_t start_gpload(u32 seed)
{
	char text[16];
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(text, sizeof(text), "%u", seed);
	if (!freopen("/dev/null", "we", stdout))
		_exit(99);
	execlp("gpload", "gpload", "--requests", "1000000", "--kernel", "4ms", "--waves", "800",
	       "--depth", "16", "--seed", text, NULL);
	_exit(98);
}

/* Until each has a queue, and it has done something. */
static void find_queue(struct kfd_bench *k, u32 task)
{
	struct gp_ring_pointers ring = { 0 };
	struct gp_mqd_list l = { 0 };

	for (u32 i = 0; i < 3000 && !l.count; i++) {
		EXPECT_EQ(gp_mqd_dump_read(NULL, k->pid[task], &l, NULL), 0);
		usleep(10000);
	}
	EXPECT_EQ(l.count, 1);
	ring.read_at = l.mqd[0].read_at;
	ring.write_at = l.mqd[0].write_at;
	ring.ring_base = l.mqd[0].ring_base;
	ring.ring_bytes = l.mqd[0].ring_bytes;
	ring.kind = l.mqd[0].kind;
	EXPECT_EQ(gp_pointers_alloc(NULL, k->pid[task], &ring, 1, &k->pointers[task]), 0);
	gp_mqd_list_fini(&l);
	for (u32 i = 0; i < 3000 && !work(&k->base, task); i++)
		usleep(10000);
	EXPECT(work(&k->base, task));
}

static void refuse(struct bench *b, u32 task)
{
	of(b)->subject->refuse(of(b), task);
}

/* The driver waits for 9 s, resets the GPU and then answers. */
static void hang(struct bench *b)
{
	FILE *f = fopen("/sys/kernel/debug/vgpu/0/fault", "we");

	EXPECT(f);
	EXPECT(fputs("hang\n", f) >= 0);
	EXPECT_EQ(fclose(f), 0);
	of(b)->hung = true;
}

static void fini(struct bench *b)
{
	struct kfd_bench *k = of(b);
	int status;

	k->subject->close(k);
	for (u32 i = 0; i < BENCH_TASKS; i++) {
		/* a reset of the GPU ends no process's work */
		kill(k->pid[i], k->hung ? SIGKILL : SIGTERM);
		EXPECT_EQ(waitpid(k->pid[i], &status, 0), k->pid[i]);
		EXPECT_EQ(status, k->hung ? SIGKILL : 0);	/* every sum is right */
		gp_pointers_free(k->pointers[i]);
	}
	free(k);
}

static struct bench *make(const struct subject *subject)
{
	struct kfd_bench *k = calloc(1, sizeof(*k));
	struct gp_gpu_info gpu;
	u32 count = 0;

	EXPECT_EQ(gp_gpus_read(NULL, &gpu, 1, &count), 0);
	EXPECT_EQ(count, 1);
	k->subject = subject;
	for (u32 i = 0; i < BENCH_TASKS; i++)
		k->pid[i] = start_gpload(i + 1);
	k->real = subject->open(k, &gpu);
	for (u32 i = 0; i < BENCH_TASKS; i++) {
		find_queue(k, i);
		subject->attach(k, i);
	}
	k->ops = *k->real->ops;
	k->ops.begin = begin;
	k->ops.poll = poll_answer;
	k->ops.probe = k->ops.probes ? probe : NULL;
	k->shown.ops = &k->ops;
	k->now_ns = GP_MSEC;
	k->base = (struct bench){
		.m = &k->shown, .now = now, .advance = advance, .work = work, .hang = hang,
		.refuse = refuse, .fini = fini, .stops_all = subject == &conformance_halt,
	};
	return &k->base;
}

/* ---- the promises, each on a bench of its own ---- */

struct trial {
	const struct subject *subject;
	const struct promise *promise;
	char name[160];
};

static void keeps_its_promise(void **state)
{
	struct trial *t = *state;
	struct bench *b = make(t->subject);

	t->promise->test(b);
	fini(b);
}

int main(int argc, char **argv)
{
	static const struct subject *const subjects[] = {
		&conformance_kfd_debug, &conformance_evict, &conformance_direct,
		&conformance_halt,
	};
	static struct trial trials[16];
	static struct CMUnitTest claims[16];
	const struct subject *subject = NULL;
	u32 n;

	for (n = 0; n < 4; n++)
		if (argc == 2 && !strcmp(argv[1], subjects[n]->name))
			subject = subjects[n];
	if (!subject) {
		fprintf(stderr, "usage: lab-conformance "
			"kfd-debug|kmod/evict|kmod/direct|kmod/halt\n");
		return 2;
	}
	for (n = 0; promises[n].text && n < 16; n++) {
		trials[n] = (struct trial){ .subject = subject, .promise = &promises[n] };
		snprintf(trials[n].name, sizeof(trials[n].name), "%s: %s", subject->name,
			 promises[n].text);
		claims[n] = (struct CMUnitTest){ trials[n].name, keeps_its_promise, NULL, NULL,
						 &trials[n] };
	}
	return _cmocka_run_group_tests(__FILE__, claims, n, NULL, NULL) != 0;
}
