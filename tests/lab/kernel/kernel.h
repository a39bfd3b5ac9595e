/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Stories about gpreempt.ko and what it does to the driver, through /dev/gpreempt. */
#ifndef GP_LAB_KERNEL_H
#define GP_LAB_KERNEL_H

#include "lab/driver/debug/story.h"
#include "uapi/gpreempt.h"

extern const struct story packets[], nested[], edges[], rivals[], faults[], refusals[], late[],
	watch[], hostile[], unanswered[];

/* A story that is told twice: by evict and by direct. */
void by_both(void (*tell)(const char *way));
#define BOTH(name)	static void name##_by_both(void) { by_both(name); }

/* /dev/gpreempt, switched on, by this mechanism. */
int control(const char *mechanism);
/* @grace: 0 is the driver's. */
void set_mechanism(int control, const char *name, u32 grace);
/* A parameter of the scheduler (core/param.c), ns. */
void set_param(int control, const char *name, u64 value);
/* One raw call: 0 or -errno. */
int call(int control, unsigned long request, void *arg);
/* The mechanism and other facts of the module. */
struct gp_uapi_version version_of(int control);
/* A descriptor of a process's /dev/kfd. */
int kfd_of(pid_t pid);
/* A preemptible task of one process, whose queues are known by then; its handle. */
u32 attach(int control, pid_t pid);
/* The same; the module may still have to ask for its queues. */
u32 attach_at_once(int control, pid_t pid);
/* A preemptible task of two. */
u32 attach_both(int control, pid_t first, pid_t second);
/* A latency-critical task of one process, above the others. */
u32 attach_online(int control, pid_t pid);
int attach_fds(int control, int pidfd, int kfd_fd, u32 *task);
/* 0 or -errno; how many got there is not looked at. */
int preempt(int control, const u32 *tasks, u32 nr);
int resume(int control, const u32 *tasks, u32 nr);
struct gp_uapi_seat seat_of(int control, u32 task);
/* It comes to this state (enum gp_uapi_state) within ten seconds. */
bool comes_to(int control, u32 task, u32 state);
struct gp_uapi_gpu gpu_of(int control);

/* The device: of the queues of @pid. */
u32 waves_of(pid_t pid);
u32 mapped_of(pid_t pid);
u32 mapped_on(u32 gpu, pid_t pid);
bool soon_mapped(pid_t pid, u32 queues);
/* It has 400 waves on the device, or comes to. */
bool runs_huge(pid_t pid);
/* The model's fault, as in lab/adapter/fault.c. */
void fault(const char *text);
/* "halt", "reset": the GPU is at a standstill until this is closed (lab/adapter/standstill.c). */
int standstill(const char *name);
int standstill_of(u32 gpu, const char *name);
/* What the driver has given out of the GPU's memory, bytes: now, and before the first story. */
u64 vram_used(void);
extern u64 vram_at_start;
/* The doorbell of one of its queues. */
u32 first_doorbell(pid_t pid);

#endif /* GP_LAB_KERNEL_H */
