// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Debug sessions with drivers that the lab cannot provide (fake_driver.h). */
#include <string.h>
#include <unistd.h>

#include "tests/shared/fake_driver.h"
#include "tests/shared/gp_test.h"
#include "lib/gpreempt.h"
#include "lib/kfd_debug/session.h"
#include "tests/shared/sys_faults.h"

static struct gp_session session(void)
{
	struct gp_session s;

	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){
		.pid = driver->target[0].pid }), 0);
	return s;
}

static void a_driver_that_knows_its_debugger_needs_no_trace(void **state)
{
	struct gp_session s = session();

	(void)state;
	EXPECT(!s.attached);
	EXPECT_EQ(fake_tracer_of(s.pid), 0);
	gp_session_close(&s);
}

static void only_a_driver_that_insists_on_its_tracer_keeps_it(void **state)
{
	struct gp_session_done done;
	struct gp_session s;
	pid_t pid = driver->target[0].pid;

	(void)state;
	driver->insists = true;
	s = session();
	EXPECT(s.attached);
	EXPECT_EQ(fake_tracer_of(pid), gettid());
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), 0);
	EXPECT_EQ(driver->target[0].held, 7);
	EXPECT_EQ(gp_session_resume(&s, 0, &done), 0);
	gp_session_close(&s);
	EXPECT(!driver->target[0].enabled);
	EXPECT_EQ(fake_tracer_of(pid), 0);
}

static void a_suspend_that_is_done_by_half_is_undone(void **state)
{
	struct gp_session s = session();
	struct gp_session_done done;

	(void)state;
	driver->fails = 1;
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), -EIO);
	EXPECT(strstr(gp_strerror(-EIO), "did not let go of a queue"));
	/* Includes the queue whose suspend failed, because the driver marks it as suspended. */
	EXPECT_EQ(driver->target[0].held, 0);
	EXPECT_EQ(driver->suspends, 1);
	EXPECT_EQ(driver->resumes, 1);
	driver->fails = NO_TARGET;
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), 0);
	EXPECT(done.asked == QUEUES && done.done == QUEUES && !done.vanished);
	EXPECT_EQ(driver->target[0].held, 7);
	gp_session_close(&s);
}

static void a_queue_that_has_vanished_is_looked_for_once_and_the_others_are_held(void **state)
{
	struct gp_session s = session();
	struct gp_session_done done;

	(void)state;
	driver->queues = 2;
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), 0);
	EXPECT(done.asked == 2 && done.done == 2 && !done.vanished);
	EXPECT_EQ(driver->suspends, 2);
	EXPECT_EQ(driver->target[0].held, 3);
	gp_session_close(&s);
}

static void a_new_queue_that_is_seen_while_another_is_suspended_is_told_of_once(void **state)
{
	struct gp_session s = session();
	struct gp_session_done done;

	(void)state;
	EXPECT_EQ(gp_session_events(&s), 0);
	driver->queues = 2;
	driver->new = 1;
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), 0);
	EXPECT_EQ(driver->new, 0);
	EXPECT_EQ(gp_session_events(&s), GP_SESSION_NEW_QUEUES);
	EXPECT_EQ(gp_session_events(&s), 0);
	gp_session_close(&s);
}

static void a_suspend_that_fails_on_its_way_is_undone(void **state)
{
	struct gp_session s = session();
	struct gp_session_done done;

	(void)state;
	driver->queues = 2;
	driver->no_memory = 1u << KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT;
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), -ENOMEM);
	EXPECT_EQ(driver->suspends, 1);
	EXPECT_EQ(driver->target[0].held, 0);
	gp_session_close(&s);
}

static void a_grace_is_1_to_255_thousand_clocks(void **state)
{
	struct gp_session s = session();
	struct gp_session_done done;

	(void)state;
	EXPECT_EQ(gp_session_suspend(&s, 0, 0, &done), -EINVAL);
	EXPECT_EQ(gp_session_suspend(&s, 0, 256, &done), -EINVAL);
	EXPECT_EQ(driver->suspends, 0);
	EXPECT_EQ(gp_session_suspend(&s, 0, 255, &done), 0);
	EXPECT_EQ(driver->grace, 255);
	gp_session_close(&s);
}

static void a_process_that_would_crash_the_driver_is_not_attached(void **state)
{
	struct gp_session_args args = { .pid = driver->target[0].pid };
	struct gp_session s;

	(void)state;
	fake_driver_opens_other_gpu(0);
	EXPECT_EQ(gp_session_open(&s, &args), -EXDEV);
	EXPECT(strstr(gp_strerror(-EXDEV), "would crash"));
	EXPECT(!driver->target[0].enabled && !driver->suspends);
}

static void a_queue_made_after_the_attach_is_judged_when_it_is_suspended(void **state)
{
	struct gp_session_done done;
	struct gp_session s;

	(void)state;
	fake_driver_opens_other_gpu(0);
	driver->queues = 0;
	s = session();
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), 0);
	driver->queues = 2;
	EXPECT_EQ(gp_session_refresh(&s, NULL), 0);
	EXPECT_EQ(gp_session_suspend(&s, GPU_ID, 1, &done), -EXDEV);
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), -EXDEV);
	EXPECT_EQ(driver->suspends, 0);
	gp_session_close(&s);
}

static void a_process_whose_record_cannot_be_read_is_not_suspended(void **state)
{
	struct gp_session_done done;
	struct gp_session s;

	(void)state;
	fake_driver_opens_other_gpu(0);
	driver->queues = 0;
	s = session();
	driver->queues = 2;
	EXPECT_EQ(gp_session_refresh(&s, NULL), 0);
	sys_faults_begin(&(struct sys_fault){ .call = GP_SYS_openat, .nth = 1, .err = EMFILE });
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), -EMFILE);
	EXPECT(sys_faults_end());
	EXPECT_EQ(driver->suspends, 0);
	gp_session_close(&s);
	sys_faults_begin(&(struct sys_fault){ .call = GP_SYS_openat, .nth = 1, .times = 9,
					      .err = ENOENT });
	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){
		.pid = driver->target[1].pid }), -ESRCH);
	EXPECT(sys_faults_end());
	EXPECT(!driver->target[1].enabled);
}

static void a_thread_that_cannot_be_started_is_said_to_be_missing(void **state)
{
	struct gp_session s;

	(void)state;
	driver->no_threads = true;
	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){
		.pid = driver->target[0].pid }), -ENOMEM);
	EXPECT(strstr(gp_strerror(-ENOMEM), "no thread could be started"));
}

#define WITH(claim)	CLAIM_WITH(claim, fake_driver_up, fake_driver_down)

PROVE(
	WITH(a_driver_that_knows_its_debugger_needs_no_trace),
	WITH(only_a_driver_that_insists_on_its_tracer_keeps_it),
	WITH(a_suspend_that_is_done_by_half_is_undone),
	WITH(a_queue_that_has_vanished_is_looked_for_once_and_the_others_are_held),
	WITH(a_new_queue_that_is_seen_while_another_is_suspended_is_told_of_once),
	WITH(a_suspend_that_fails_on_its_way_is_undone),
	WITH(a_grace_is_1_to_255_thousand_clocks),
	WITH(a_thread_that_cannot_be_started_is_said_to_be_missing),
	WITH(a_process_that_would_crash_the_driver_is_not_attached),
	WITH(a_queue_made_after_the_attach_is_judged_when_it_is_suspended),
	WITH(a_process_whose_record_cannot_be_read_is_not_suspended),
)
