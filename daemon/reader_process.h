/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A reader: the process that touches the memory and the /proc texts of one user's processes, so
 * that the decider does not.
 *
 * Each of these can take as long as a hostile process likes, also uninterruptibly: a page of a
 * FUSE file system over a queue's pointers, a command line behind a locked memory map. So a
 * reader is disposable. It holds nothing, no process waits for it, and the decider abandons it
 * when it is late (readers.h). A user who hangs it harms only the user's own processes.
 *
 * It is one thread. It reads the queue pointers at the interval it is told, writes them into the
 * page (reader_wire.h) and wakes the decider when a pointer moved that the decider cares about.
 * It answers DESCRIBE between two looks. A reader of the dump only reads the driver's dump of
 * queue descriptors, which takes a lock of every process that uses a GPU.
 *
 * Rights: uid 0 with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH only, and the system calls of a list
 * (no ptrace, no write to other processes, no socket, no exec, no kill, files for reading only).
 * It could not run as the target's user: Yama (ptrace_scope) and set-uid programs then forbid
 * reading, and a process of that uid can be signalled and stopped by its user. Since
 * CAP_SYS_PTRACE reaches every process, the reader itself refuses processes of other users, and
 * keeps to a process by its descriptor where a pid could be reused. The reader of the dump keeps
 * no capability.
 *
 * A call that fails is never taken for a process that is gone. Only ESRCH is, the end of the
 * process's memory, or its pidfd; all else is reported as an ERROR and tried again.
 */
#ifndef GP_DAEMON_READER_PROCESS_H
#define GP_DAEMON_READER_PROCESS_H

#include <sys/types.h>

#include "gp_env.h"

#define GP_READER_DUMP_USER	((uid_t)-1)	/* no user: the reader of the dump */

struct gp_reader_args {
	int channel;		/* a SOCK_SEQPACKET socket to the decider */
	uid_t user;		/* whose processes; HELLO adds those of its user namespaces */
	const char *mqds;	/* NULL: GP_MQD_DUMP */
	/* for tests */
	bool unconfined;	/* keeps its rights */
	u64 (*clock)(void *ctx);	/* NULL: CLOCK_MONOTONIC */
	void *ctx;
};

/* Runs until the decider closes the channel. Returns an exit code. */
int gp_reader_serve(const struct gp_reader_args *args);
/* The same with the usual arguments. */
int gp_reader_main(int channel, uid_t user);

/* The same in steps. @args stay valid to the end. -ENOMEM, -EPROTO, ... */
struct gp_reader_self;
int gp_reader_begin(const struct gp_reader_args *args, struct gp_reader_self **ret);
/* Does what is due; waits for something to do if @wait. False: the channel was closed. */
bool gp_reader_turn(struct gp_reader_self *r, bool wait);
/* Does not close the channel. NULL is fine. */
void gp_reader_end(struct gp_reader_self *r);

#endif /* GP_DAEMON_READER_PROCESS_H */
