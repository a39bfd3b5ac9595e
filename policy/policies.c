// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The list of policies. Traces store a policy's place in it, so append only.
 */
#include "../core/sched.h"

const struct gp_policy *const gp_policies[] = {
	&gp_policy_fifo,
	&gp_policy_priority,
	&gp_policy_fair,
	&gp_policy_deadline,
	NULL,
};

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct gp_policy *gp_policy_find(const char *name)
{
	u32 i;

	for (i = 0; gp_policies[i]; i++)
		if (same(gp_policies[i]->name, name))
			return gp_policies[i];
	return NULL;
}

u32 gp_policy_number(const struct gp_policy *policy)
{
	u32 i;

	for (i = 0; gp_policies[i]; i++)
		if (gp_policies[i] == policy)
			return i;
	return GP_NONE;
}
