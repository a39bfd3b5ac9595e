// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Prints the size of every structure of gpreempt.h and where its members are. */
#include <stdio.h>

#include "lib/gpreempt.h"

#define SIZE(type)	printf(#type " %zu\n", sizeof(struct type))
#define AT(type, member) printf(#type "." #member " %zu+%zu\n", offsetof(struct type, member), \
				sizeof(((struct type *)0)->member))

static void daemon_target(void)
{
	SIZE(gp_daemon_target);
	AT(gp_daemon_target, pid);
	AT(gp_daemon_target, reserved);
	AT(gp_daemon_target, start);
}

static void daemon_status(void)
{
	SIZE(gp_daemon_status);
	AT(gp_daemon_status, version);
	AT(gp_daemon_status, policy);
	AT(gp_daemon_status, mechanism);
	AT(gp_daemon_status, pid);
	AT(gp_daemon_status, enabled);
	AT(gp_daemon_status, observe_only);
	AT(gp_daemon_status, gpus);
	AT(gp_daemon_status, processes);
	AT(gp_daemon_status, held);
	AT(gp_daemon_status, up_ns);
	AT(gp_daemon_status, reserved);
}

static void daemon_process(void)
{
	SIZE(gp_daemon_process);
	AT(gp_daemon_process, pid);
	AT(gp_daemon_process, uid);
	AT(gp_daemon_process, start);
	AT(gp_daemon_process, name);
	AT(gp_daemon_process, class_name);
	AT(gp_daemon_process, state);
	AT(gp_daemon_process, gpus);
	AT(gp_daemon_process, queues);
	AT(gp_daemon_process, reserved0);
	AT(gp_daemon_process, preempted);
	AT(gp_daemon_process, on_ns);
	AT(gp_daemon_process, off_ns);
	AT(gp_daemon_process, vram_bytes);
	AT(gp_daemon_process, reserved);
}

static void daemon_event(void)
{
	SIZE(gp_daemon_event);
	AT(gp_daemon_event, at_ns);
	AT(gp_daemon_event, start);
	AT(gp_daemon_event, pid);
	AT(gp_daemon_event, cause_pid);
	AT(gp_daemon_event, gpu);
	AT(gp_daemon_event, lost);
	AT(gp_daemon_event, state);
	AT(gp_daemon_event, reserved0);
	AT(gp_daemon_event, kind);
	AT(gp_daemon_event, class_name);
	AT(gp_daemon_event, what);
	AT(gp_daemon_event, reserved);
}

static void local_gpu(void)
{
	SIZE(gp_local_gpu);
	AT(gp_local_gpu, index);
	AT(gp_local_gpu, gpu_id);
	AT(gp_local_gpu, node);
	AT(gp_local_gpu, render_minor);
	AT(gp_local_gpu, partition);
	AT(gp_local_gpu, partitions);
	AT(gp_local_gpu, xccs);
	AT(gp_local_gpu, compute_units);
	AT(gp_local_gpu, gfx_version);
	AT(gp_local_gpu, reserved0);
	AT(gp_local_gpu, vram_bytes);
	AT(gp_local_gpu, bdf);
	AT(gp_local_gpu, gfx);
	AT(gp_local_gpu, reserved);
}

static void local_process(void)
{
	SIZE(gp_local_process);
	AT(gp_local_process, pid);
	AT(gp_local_process, uid);
	AT(gp_local_process, start);
	AT(gp_local_process, queues);
	AT(gp_local_process, gpus);
	AT(gp_local_process, vram_bytes);
	AT(gp_local_process, evicted_ms);
	AT(gp_local_process, name);
	AT(gp_local_process, reserved);
}

static void local_queue(void)
{
	SIZE(gp_local_queue);
	AT(gp_local_queue, id);
	AT(gp_local_queue, gpu_id);
	AT(gp_local_queue, type);
	AT(gp_local_queue, ring_bytes);
	AT(gp_local_queue, reserved);
}

int main(void)
{
	daemon_target();
	daemon_status();
	daemon_process();
	daemon_event();
	local_gpu();
	local_process();
	local_queue();
	printf("enum gp_daemon_state %d..%d\n", GP_DAEMON_ON, GP_DAEMON_UNKNOWN);
	printf("GP_DAEMON_WAIT %d\n", GP_DAEMON_WAIT);
	printf("GP_SUSPENDER %d %d %d\n", GP_SUSPENDER_NEW_QUEUES, GP_SUSPENDER_CHANGED,
	       GP_SUSPENDER_ENDED);
	return 0;
}
