/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the first thread of a holder (holder.c) and its sessions (holder_session.c) share. */
#ifndef GP_DAEMON_HOLDER_SESSION_H
#define GP_DAEMON_HOLDER_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "holder.h"
#include "lib/kfd_debug/session.h"

enum { GP_HOLDER_GPUS = 64 };

/* The first thread writes what is before @until_ns, before the thread of the session starts. */
struct gp_holder_session {
	struct gp_holder_session *next;	/* the first thread's */
	pthread_t thread;
	int channel;
	int kfd_fd;
	int bell;		/* eventfd of the first thread */
	atomic_bool *watching;	/* the first thread looks at the times below by itself */
	uid_t user;
	pid_t pid;
	u64 start;
	bool stay_attached;
	u64 stuck_ns;		/* the call of the driver that it hangs in; 0: none */

	/* The session writes these, the first thread reads them. */
	/*
	 * End of the lease; 0: nothing is held. Not 0 when the thread is over: the driver did not
	 * resume.
	 */
	_Atomic u64 until_ns;
	_Atomic u64 call_ns;	/* in a call of the driver since then; 0: not */
	atomic_bool over;	/* the thread ends now */

	/* The session's own. */
	struct gp_session debug;
	u32 held[GP_HOLDER_GPUS];	/* gpu_id */
	u32 nr_held;
	u32 grace;
	bool queues_owed;	/* QUEUES did not fit into the channel */
	bool broken;		/* the decider is gone, does not read, or sends nonsense */
	bool closed;		/* the debug session has ended */
	int left;		/* why it must end: the @err of LEFT; 0: it goes on */
};

/* The thread of a session. @arg is a struct gp_holder_session, which stays the first thread's. */
void *gp_holder_session_main(void *arg);

#endif /* GP_DAEMON_HOLDER_SESSION_H */
