// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The contract of core/mechanism.h on every mechanism of the simulator. Two tasks fill a virtual
 * MI308X, and only the test makes decisions.
 */
#include <string.h>

#include "tests/shared/gp_test.h"
#include "sim/sim.h"

enum { FIRST = 3, SECOND = 5 };		/* arbitrary numbers of tasks */

static const char text[] =
	"[run]\nlength = 1000s\n"
	"[monitor]\nplacement = none\n"
	"[first]\nkernel.time = 2ms\nkernel.workgroup = 100us\n"
	"[second]\nkernel.time = 3ms\nkernel.workgroup = 100us\n";

struct bench {
	struct gp_scenario sc;
	struct gp_run_args args;
	struct gp_sim sim;
	struct gp_simmech m;
	u32 ended;		/* driver calls that returned */
	u64 next_id;
};

static void ready(void *ctx)
{
	(void)ctx;
}

static void ended(void *ctx, u32 device)
{
	((struct bench *)ctx)->ended += device == 0;
}

static void until(struct bench *b, u64 ns)
{
	while (gp_sim_step(&b->sim, ns))
		;
	b->sim.engine.now_ns = ns;
	EXPECT_EQ(b->sim.engine.err, 0);
}

static struct bench *bench_up(enum gp_how how)
{
	struct bench *b = calloc(1, sizeof(*b));
	char err[256];

	EXPECT(b);
	EXPECT_EQ(gp_scenario_parse(text, strlen(text), &b->sc, err, sizeof(err)), 0);
	b->args.seed = 1;
	EXPECT_EQ(gp_sim_init(&b->sim, &b->sc, &b->args), 0);
	gp_simmech_init(&b->m, gp_simmech_ops(how));
	b->m.engine = &b->sim.engine;
	b->m.costs = &b->sim.costs;
	b->m.gpu = b->sim.gpu;
	b->m.nr_gpus = 1;
	b->m.ready = ready;
	b->m.ended = ended;
	b->m.ctx = b;
	gp_simmech_add_task(&b->m, FIRST, 0, 1);
	gp_simmech_add_task(&b->m, SECOND, 1, 1);
	until(b, 10 * GP_MSEC);
	return b;
}

static void bench_down(struct bench *b)
{
	for (u32 i = 0; i < b->sim.nr_clients; i++) {
		for (struct gp_ring *r = b->sim.client[i].all_rings; r; r = r->next)
			EXPECT_EQ(r->lost, 0);
	}
	gp_sim_fini(&b->sim);
	free(b);
}

static struct gp_action make(struct bench *b, u32 *tasks, u32 out, u32 in)
{
	return (struct gp_action){
		.id = ++b->next_id * GP_MAX_DEVICES, .cause = GP_NONE, .nr_out = out, .nr_in = in,
		.tasks = tasks, .deadline_ns = b->sim.engine.now_ns + 50 * GP_MSEC,
	};
}

static int begin(struct bench *b, const struct gp_action *a)
{
	return b->m.base.ops->begin(&b->m.base, a, b->sim.engine.now_ns);
}

static int poll(struct bench *b, struct gp_answer *answer)
{
	return b->m.base.ops->poll(&b->m.base, b->sim.engine.now_ns, answer);
}

static u32 waves_of(struct bench *b, u32 task)
{
	u32 waves = 0, permille;

	EXPECT_EQ(b->m.base.ops->probe(&b->m.base, 0, task, &waves, &permille), 0);
	return waves;
}

static void for_each_mechanism(void (*claim)(struct bench *b))
{
	for (enum gp_how how = GP_BY_EVICT; how <= GP_BY_RESET; how++) {
		struct bench *b = bench_up(how);

		print_message("# %s\n", b->m.base.ops->name);
		claim(b);
		bench_down(b);
	}
}

static void stop_and_start(struct bench *b)
{
	u32 tasks[] = { FIRST };
	struct gp_action stop = make(b, tasks, 1, 0), start = make(b, tasks, 0, 1);
	struct gp_answer answer;
	u64 kernels;

	EXPECT(waves_of(b, FIRST));
	EXPECT_EQ(begin(b, &stop), 0);
	until(b, 20 * GP_MSEC);
	EXPECT_EQ(poll(b, &answer), 0);
	EXPECT_EQ(answer.action, stop.id);
	EXPECT_EQ(answer.task, FIRST);
	EXPECT_EQ(answer.outcome, GP_DONE);
	EXPECT(answer.command_ns && answer.command_ns <= answer.acted_ns);
	EXPECT(answer.acted_ns <= answer.saved_ns && answer.saved_ns <= answer.switched_ns);
	EXPECT_EQ(poll(b, &answer), -EAGAIN);
	EXPECT_EQ(waves_of(b, FIRST), 0);
	EXPECT(waves_of(b, SECOND));

	kernels = b->sim.client[0].kernels_done;
	until(b, 30 * GP_MSEC);
	EXPECT_EQ(b->sim.client[0].kernels_done, kernels);

	EXPECT_EQ(begin(b, &start), 0);
	until(b, 60 * GP_MSEC);
	EXPECT_EQ(poll(b, &answer), 0);
	EXPECT_EQ(answer.action, start.id);
	EXPECT_EQ(answer.outcome, GP_DONE);
	EXPECT_EQ(poll(b, &answer), -EAGAIN);
	EXPECT(b->sim.client[0].kernels_done > kernels);
	EXPECT_EQ(b->ended, 2);
}

static void a_stopped_task_is_off_and_a_started_one_goes_on(void **state)
{
	(void)state;
	for_each_mechanism(stop_and_start);
}

static void out_and_in(struct bench *b)
{
	u32 stop[] = { FIRST }, swap[] = { SECOND, FIRST };
	struct gp_action one = make(b, stop, 1, 0), two = make(b, swap, 1, 1);
	struct gp_answer answer;
	u32 seen = 0;

	EXPECT_EQ(begin(b, &one), 0);
	until(b, 20 * GP_MSEC);
	EXPECT_EQ(poll(b, &answer), 0);
	EXPECT_EQ(begin(b, &two), 0);
	until(b, 30 * GP_MSEC);
	while (!poll(b, &answer)) {
		EXPECT_EQ(answer.action, two.id);
		EXPECT_EQ(answer.outcome, GP_DONE);
		seen |= 1u << answer.task;
	}
	EXPECT_EQ(seen, 1u << FIRST | 1u << SECOND);
	EXPECT_EQ(waves_of(b, SECOND), 0);
	EXPECT(waves_of(b, FIRST));
}

static void one_action_takes_one_out_and_puts_another_in(void **state)
{
	(void)state;
	for_each_mechanism(out_and_in);
}

static void refuse(struct bench *b)
{
	u32 first[] = { FIRST }, no_task[] = { 77 };
	struct gp_action stop = make(b, first, 1, 0), wrong = make(b, first, 1, 0);
	struct gp_answer answer = { .action = 4711 };
	u32 waves = 99, permille = 99;

	wrong.device = 1;
	EXPECT_EQ(begin(b, &wrong), -ENODEV);
	wrong = make(b, no_task, 1, 0);
	EXPECT_EQ(begin(b, &wrong), -ENOENT);
	EXPECT_EQ(b->m.base.ops->probe(&b->m.base, 0, 77, &waves, &permille), -ENOENT);
	EXPECT_EQ(b->m.base.ops->probe(&b->m.base, 9, FIRST, &waves, &permille), -ENODEV);
	EXPECT_EQ(waves, 99);

	EXPECT_EQ(begin(b, &stop), 0);
	wrong = make(b, first, 1, 0);
	EXPECT_EQ(begin(b, &wrong), -EBUSY);
	EXPECT_EQ(poll(b, &answer), -EAGAIN);
	EXPECT_EQ(answer.action, 4711);
	until(b, 20 * GP_MSEC);
	EXPECT_EQ(poll(b, &answer), 0);
	EXPECT_EQ(answer.action, stop.id);
	EXPECT_EQ(poll(b, &answer), -EAGAIN);
}

static void what_cannot_be_done_is_refused_and_changes_nothing(void **state)
{
	(void)state;
	for_each_mechanism(refuse);
}

/* A queue that does not leave makes only the stop of its own task refused. */
static void stuck(struct bench *b)
{
	u32 both[] = { FIRST, SECOND };
	struct gp_action stop = make(b, both, 2, 0);
	struct gp_gpu *g = &b->sim.gpu[0];
	struct gp_answer answer;

	g->faults.stuck = b->sim.client[0].ring[0]->handle;
	gp_gpu_apply_faults(g);
	EXPECT_EQ(begin(b, &stop), 0);
	until(b, 20 * GP_MSEC);
	for (u32 i = 0; i < 2; i++) {
		EXPECT_EQ(poll(b, &answer), 0);
		EXPECT_EQ(answer.outcome, answer.task == FIRST ? GP_REFUSED : GP_DONE);
	}
	EXPECT_EQ(poll(b, &answer), -EAGAIN);
	EXPECT(waves_of(b, FIRST));
	EXPECT_EQ(waves_of(b, SECOND), 0);
}

static void a_task_that_would_not_leave_is_refused_and_stays_on(void **state)
{
	(void)state;
	for_each_mechanism(stuck);
}

static void hang(struct bench *b)
{
	u32 first[] = { FIRST }, second[] = { SECOND };
	struct gp_action stop = make(b, first, 1, 0);
	struct gp_answer answer;

	b->sim.gpu[0].faults.hang = true;
	gp_gpu_apply_faults(&b->sim.gpu[0]);
	EXPECT_EQ(begin(b, &stop), 0);
	until(b, stop.deadline_ns - 1);
	EXPECT_EQ(poll(b, &answer), -EAGAIN);
	until(b, stop.deadline_ns);
	EXPECT_EQ(poll(b, &answer), 0);
	EXPECT_EQ(answer.outcome, GP_TIMED_OUT);
	EXPECT_EQ(poll(b, &answer), -EAGAIN);
	EXPECT_EQ(b->ended, 0);
	/* The mechanism no longer waits for the answer, so it accepts further requests after it. */
	stop = make(b, second, 1, 0);
	EXPECT_EQ(begin(b, &stop), 0);
	/* The driver ends it after 9 s by resetting the GPU. Processes start again. */
	until(b, 10 * GP_SEC);
	EXPECT_EQ(b->sim.gpu[0].resets, 1);
	EXPECT(b->sim.client[0].life == 2 && waves_of(b, FIRST));
}

static void a_stop_without_a_fence_times_out_at_its_deadline(void **state)
{
	(void)state;
	for_each_mechanism(hang);
}

static void late(struct bench *b)
{
	u32 first[] = { FIRST };
	struct gp_action stop = make(b, first, 1, 0);
	struct gp_answer answer;

	/* No mechanism can meet this deadline. */
	stop.deadline_ns = b->sim.engine.now_ns + GP_USEC;
	EXPECT_EQ(begin(b, &stop), 0);
	until(b, 20 * GP_MSEC);
	EXPECT_EQ(poll(b, &answer), 0);
	EXPECT_EQ(answer.outcome, GP_TIMED_OUT);
	EXPECT_EQ(poll(b, &answer), 0);
	EXPECT_EQ(answer.outcome, GP_DONE);
	EXPECT_EQ(poll(b, &answer), -EAGAIN);
	EXPECT_EQ(waves_of(b, FIRST), 0);
}

static void what_comes_after_the_deadline_is_told_too(void **state)
{
	(void)state;
	for_each_mechanism(late);
}

static void death(struct bench *b)
{
	u32 both[] = { FIRST, SECOND };
	struct gp_action stop = make(b, both, 2, 0);
	struct gp_answer answer;

	EXPECT_EQ(begin(b, &stop), 0);
	until(b, b->sim.engine.now_ns + 2 * GP_USEC);
	gp_client_die(&b->sim.client[0]);
	gp_simmech_del_task(&b->m, FIRST);
	until(b, 20 * GP_MSEC - 1);
	EXPECT_EQ(poll(b, &answer), 0);
	EXPECT_EQ(answer.task, SECOND);
	EXPECT_EQ(answer.outcome, GP_DONE);
	EXPECT_EQ(poll(b, &answer), -EAGAIN);
}

static void a_task_that_dies_on_the_way_is_not_answered(void **state)
{
	(void)state;
	for_each_mechanism(death);
}

static void every_table_keeps_its_promises(void **state)
{
	(void)state;
	for (enum gp_how how = GP_BY_EVICT; how <= GP_BY_RESET; how++)
		EXPECT_EQ(gp_mechanism_check(gp_simmech_ops(how)), 0);
	EXPECT(!gp_simmech_ops(GP_BY_NONE));
}

PROVE(
	CLAIM(every_table_keeps_its_promises),
	CLAIM(a_stopped_task_is_off_and_a_started_one_goes_on),
	CLAIM(one_action_takes_one_out_and_puts_another_in),
	CLAIM(what_cannot_be_done_is_refused_and_changes_nothing),
	CLAIM(a_task_that_would_not_leave_is_refused_and_stays_on),
	CLAIM(a_stop_without_a_fence_times_out_at_its_deadline),
	CLAIM(what_comes_after_the_deadline_is_told_too),
	CLAIM(a_task_that_dies_on_the_way_is_not_answered),
)
