/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The holder is a process per user that owns the debug sessions (lib/kfd_debug) of this user's
 * processes. Only holders suspend and resume.
 *
 * Every call of the driver's debug interface takes locks of the target, so a hostile target can
 * make it hang. That harms only the target's user, because each user has a holder. Each session has
 * a thread, which makes all its calls, because older drivers accept only the thread that traces.
 * The first thread serves the control channel and watches the leases.
 *
 * A hold has a lease, a time at which it ends unless it is renewed. The holder refuses a lease that
 * is longer than GP_HOLDER_LEASE_MAX_NS. When a lease ends, the session resumes the process. If a
 * session fails to resume it within GP_HOLDER_LATE_NS and is not in a call of the driver, other
 * threads resume everything that is held. Then the holder exits.
 *
 * The end of a session's channel releases everything that the session held. The holder ends with
 * its control channel. It accepts only processes of its own user, checks every message and parses
 * no text that a target can write. A session reads the names and fdinfo of its target's descriptors
 * (kfd_debug/vm.h).
 */
#ifndef GP_DAEMON_HOLDER_H
#define GP_DAEMON_HOLDER_H

#include <sys/types.h>

#include "channel.h"
#include "uapi/kfd.h"

#define GP_HOLDER_LEASE_MAX_NS	(10ull * 1000 * 1000 * 1000)
/* After the end of a lease the session has this long to resume. */
#define GP_HOLDER_LATE_NS	(25ull * 1000 * 1000)
/* A call of the driver that takes longer is reported. */
#define GP_HOLDER_STUCK_NS	(250ull * 1000 * 1000)

enum {
	GP_HOLDER_SESSIONS	= 256,	/* of a user; TasksMax= of the unit counts with it */
	GP_HOLDER_ERRANDS	= 8,	/* GET_KFD under way, of a user */
	GP_HOLDER_ENTRIES	= 16,	/* queues in a message */
};

enum gp_holder_kind {
	/* to the holder, on its control channel */
	GP_HOLDER_OPEN = 1,	/* @pid, @start, @flags; the session's channel as a descriptor */
	GP_HOLDER_GET_KFD,	/* @pid, @start, @serial, @which */
	/* to a session, on its channel; the end of the channel ends the session */
	GP_HOLDER_HOLD,		/* @serial, @gpu_id, @until_ns, @grace */
	GP_HOLDER_RENEW,	/* @until_ns: of all holds of the session */
	GP_HOLDER_RELEASE,	/* @serial, @gpu_id */
	GP_HOLDER_REFRESH,	/* read the queues again: QUEUES follows */
	GP_HOLDER_LAST_REQUEST = GP_HOLDER_REFRESH,

	/* by the holder */
	GP_HOLDER_KFD,		/* @serial, @err, or a pidfd and one of @count descriptors */
	GP_HOLDER_STUCK,	/* @count sessions hang in the driver, that of @pid since @ns */
	/* by a session */
	GP_HOLDER_ATTACHED,
	GP_HOLDER_FAILED,	/* @err of gp_session_open(); -EACCES: of another user */
	GP_HOLDER_HELD,		/* @serial, @err, @command_ns, @done_ns, @count of queues */
	GP_HOLDER_RELEASED,	/* the same */
	GP_HOLDER_NEW_QUEUES,	/* @count; QUEUES came before */
	GP_HOLDER_RETAKEN,	/* @count new queues of a held process are off, after @ns */
	GP_HOLDER_EXPIRED,	/* the lease ended: everything runs */
	GP_HOLDER_LEFT,		/* it runs; @err -EAGAIN: runtime disabled, -ESRCH: gone */
	GP_HOLDER_QUEUES,	/* struct gp_holder_queues */
};

enum gp_holder_flags {
	GP_HOLDER_STAY_ATTACHED	= 1 << 0,	/* struct gp_session_args; for tests */
};

struct gp_holder_request {
	struct gp_message is;
	u64 serial;		/* repeated in the reply */
	u64 start;		/* of @pid; detects a reused pid */
	u64 until_ns;		/* end of the lease, CLOCK_MONOTONIC */
	int pid;
	union {
		u32 gpu_id;
		u32 which;	/* of its KFD descriptors; 0: the newest */
	};
	u32 grace;
	u32 flags;
};

struct gp_holder_reply {
	struct gp_message is;
	u64 serial;
	u64 command_ns, done_ns;	/* CLOCK_MONOTONIC around the driver's call; 0: none */
	u64 ns;
	int err;
	int pid;
	u32 count;
	u32 gpu_id;
};

/* Part of the session's queues: @count of @total, from @first on. */
struct gp_holder_queues {
	struct gp_message is;
	u32 total, first, count;
	u32 unused;
	struct kfd_queue_snapshot_entry entry[GP_HOLDER_ENTRIES];
};

static_assert(sizeof(struct gp_holder_request) == 48, "size is part of the protocol");
static_assert(sizeof(struct gp_holder_reply) == 56, "size is part of the protocol");

/*
 * Returns true if @r is a valid request for a control channel (@control) or a session. Does not
 * check the lease: gp_holder_check_lease() does, because an invalid lease gets a reply.
 */
bool gp_holder_check(const struct gp_holder_request *r, bool control);
/*
 * Checks a lease. -EINVAL: longer than GP_HOLDER_LEASE_MAX_NS from @now_ns on; -ETIME: it has
 * ended.
 */
int gp_holder_check_lease(u64 until_ns, u64 now_ns);

/* The main function of the role. Returns the exit code of the process. */
int gp_holder_main(int channel, uid_t user);

#endif /* GP_DAEMON_HOLDER_H */
