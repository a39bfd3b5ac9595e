/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The methods of org.gpreempt: one table of names, rights, parameters and handlers, which
 * call the decider. control.h transports the calls and the answers.
 *
 *	methods.c		the table, parameters, rights; methods that change something
 *	methods_read.c		methods that read, and what a client may see
 *	methods_stream.c	events and records
 */
#ifndef GP_DAEMON_METHODS_H
#define GP_DAEMON_METHODS_H

#include "control.h"
#include "decider_private.h"
#include "state.h"

enum {
	GP_SCHEMA	= 2,	/* of org.gpreempt; Status.interface_version */
	GP_WAITERS	= 255,	/* every connection may wait for one hold */
	GP_RECORDS	= 64,	/* sent together */
};

/* ---- parameters: a name means the same in every method ---- */

enum gp_argument {
	GP_ARG_PID, GP_ARG_START, GP_ARG_CLASS, GP_ARG_GPU, GP_ARG_POLICY, GP_ARG_PARAMETERS,
	GP_ARG_DRY_RUN, GP_ARG_IN_NS, GP_ARG_FOR_NS, GP_ARG_LEASE_NS, GP_ARG_WAIT, GP_ARG_RENEW,
	GP_ARG_KINDS,
	GP_NR_ARGUMENTS,
};

/* Strings and objects point into the parameters they were read from. */
struct gp_arguments {
	u32 given;		/* bit per enum gp_argument */
	s64 pid, start, in_ns, for_ns, lease_ns;
	const char *class, *gpu, *policy;
	json_t *parameters;	/* object of strings */
	json_t *kinds;		/* array of strings */
	bool dry_run, wait, renew;
};

/*
 * @takes, @needs: bit per enum gp_argument. 0, or -EINVAL with the parameter's name in *@bad
 * and a sentence in @why (GP_WHY_MAX bytes). A null counts as absent.
 */
int gp_arguments_read(const json_t *parameters, u32 takes, u32 needs, struct gp_arguments *ret,
		      const char **bad, char *why);

/* ---- life ---- */

struct gp_methods_args {
	struct gp_decider *decider;
	const char *version;
	const char *group;	/* named in "permission denied"; NULL: root */
	const char *state;	/* the file of state.h, owned by the caller; NULL: save nothing */
	/* Reads the configuration again. 0, or -errno and a sentence (GP_DECIDER_WHY bytes). */
	int (*reload)(void *ctx, char *why);
	void *ctx;
};

struct gp_methods;

/* Applies the state that an earlier daemon left. -ENOMEM. */
int gp_methods_new(const struct gp_methods_args *args, struct gp_methods **ret);
void gp_methods_free(struct gp_methods *m);
/* Sets .ctx, .call, .next and .gone of @args. */
void gp_methods_serve(struct gp_methods *m, struct gp_control_args *args);
/* Sends events to @control. Call it with NULL before @control is freed. */
void gp_methods_connect(struct gp_methods *m, struct gp_control *control);
/* After each run of the decider: answers waiting calls, sends records, saves the state. */
void gp_methods_after(struct gp_methods *m);
void gp_methods_news(struct gp_methods *m, const struct gp_news *news);
/* Forgets a policy set by hand, after the configuration was read again. */
void gp_methods_reloaded(struct gp_methods *m);
/* Saves why the daemon ends, for the next one. */
void gp_methods_end(struct gp_methods *m, const char *why);

/* ---- between the files of the methods ---- */

/* A Hold that is answered when the process is off its GPUs. */
struct gp_hold_waiter {
	gp_token token;
	struct gp_process_id id;
	u64 granted_ns;
	u64 until_ns;
};

struct gp_methods {
	struct gp_methods_args args;
	char group[GP_CLASS_NAME];
	struct gp_control *control;
	struct gp_state_store *state;
	struct gp_hold_waiter waiter[GP_WAITERS];
	u32 nr_waiters;
	json_t *records;	/* of Record, not sent yet; NULL: none */
	u32 wanted;		/* subscribed events at the last gp_methods_after() */
	bool describe;		/* a new client of Record needs a description */
	bool unnamed;		/* a task was added that recording clients do not know */
};

/* A handler. Returns the result of gp_control_args.call(). */
typedef int gp_handler(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		       json_t **ret);

/* methods_read.c */
gp_handler gp_method_status, gp_method_list, gp_method_stats, gp_method_get_policy;
int gp_method_next(void *ctx, const struct gp_peer *peer, struct gp_listing *listing,
		   json_t **ret);
/* Returns the parameters of the present policy, in the form of GetPolicy's answer. */
json_t *gp_method_parameters(const u64 *param);
/* Returns the states of a process on its GPUs: bit per enum gp_state; 0: none. */
u64 gp_method_states(const struct gp_decider *h, const struct gp_gpu_process *r);
/* Returns true if a process with @states is OFF or LOST on all its GPUs. */
bool gp_method_is_off(u64 states);
/* Returns the end of the hold by hand; 0: not held. */
u64 gp_method_held_until(const struct gp_decider *h, const struct gp_gpu_process *r);

/* methods_stream.c */
gp_handler gp_method_subscribe, gp_method_record;
/* Traces the scheduler while a client wants it, and sends what was recorded. */
void gp_method_stream(struct gp_methods *m);

#endif /* GP_DAEMON_METHODS_H */
