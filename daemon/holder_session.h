/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Data shared by the first thread of a holder (holder.c) and its sessions (holder_session.c). */
#ifndef GP_DAEMON_HOLDER_SESSION_H
#define GP_DAEMON_HOLDER_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "holder.h"
#include "lib/kfd_debug/session.h"

enum { GP_HOLDER_GPUS = 64 };

/* The first thread writes the members before @until_ns, before the thread of the session starts. */
struct gp_holder_session {
	struct gp_holder_session *next;	/* the first thread's */
	pthread_t thread;
	int channel;
	int kfd_fd;
	int bell;		/* eventfd of the first thread */
	atomic_bool *watching;	/* the first thread polls the times below */
	uid_t user;
	pid_t pid;
	u64 start;
	bool stay_attached;
	u64 stuck_ns;		/* start of the driver call that hangs; 0: none */

	/* The session writes these, the first thread reads them. */
	/*
	 * End of the lease; 0: nothing is held. Still set when the thread is over if the driver did
	 * not resume.
	 */
	_Atomic u64 until_ns;
	_Atomic u64 call_ns;	/* start of the driver call; 0: in no call */
	atomic_bool over;	/* the thread ends now */

	/* Private to the session. */
	struct gp_session debug;
	u32 held[GP_HOLDER_GPUS];	/* gpu_id */
	u32 nr_held;
	u32 grace;
	bool queues_owed;	/* QUEUES is pending: the channel was full */
	bool broken;		/* the decider is gone, does not read or sends invalid messages */
	bool closed;		/* the debug session has ended */
	int left;		/* the @err of LEFT with which it must end; 0: it continues */
};

/* The thread of a session. @arg is a struct gp_holder_session, which the first thread owns. */
void *gp_holder_session_main(void *arg);

#endif /* GP_DAEMON_HOLDER_SESSION_H */
