/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The parameters of calls. A name means the same in every method, so there is one
 * table of them and a method says only which it takes and which it needs.
 */
#ifndef GP_ARGUMENTS_H
#define GP_ARGUMENTS_H

#include <jansson.h>

#include "gp_env.h"

enum gp_argument {
	GP_ARG_PID, GP_ARG_START, GP_ARG_CLASS, GP_ARG_GPU, GP_ARG_POLICY, GP_ARG_PARAMETERS,
	GP_ARG_DRY_RUN, GP_ARG_IN_NS, GP_ARG_FOR_NS, GP_ARG_LEASE_NS, GP_ARG_WAIT, GP_ARG_KINDS,
	GP_NR_ARGUMENTS,
};

/* Strings and objects point into the parameters they were read from. */
struct gp_arguments {
	u32 given;		/* bit per enum gp_argument */
	s64 pid, start, in_ns, for_ns, lease_ns;
	const char *class, *gpu, *policy;
	json_t *parameters;	/* object of strings */
	json_t *kinds;		/* array of strings */
	bool dry_run, wait;
	/* what is wrong, after -EINVAL */
	const char *bad;	/* name of the parameter, in the table or in the parameters */
	char why[192];		/* a sentence */
};

/*
 * @takes, @needs: bit per enum gp_argument. 0, or -EINVAL with ret->bad and ret->why. A
 * null is as good as none.
 */
int gp_arguments_read(const json_t *parameters, u32 takes, u32 needs, struct gp_arguments *ret);

#endif /* GP_ARGUMENTS_H */
