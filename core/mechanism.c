// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "mechanism.h"

int gp_mechanism_check(const struct gp_mechanism_ops *ops)
{
	if (!ops->name || !ops->begin || !ops->poll)
		return -EINVAL;
	if (ops->grain < GP_GRAIN_QUEUE || ops->grain > GP_GRAIN_GPU)
		return -EINVAL;
	if (ops->keeps < GP_KEEPS_SAVE || ops->keeps > GP_KEEPS_RESET)
		return -EINVAL;
	if (ops->reach < GP_REACH_VICTIM || ops->reach > GP_REACH_EVERYBODY)
		return -EINVAL;
	/* A mechanism that stops the whole GPU disturbs more than the victim. */
	if (ops->grain == GP_GRAIN_GPU && ops->reach == GP_REACH_VICTIM)
		return -EINVAL;
	/* @probes and @probe must agree. */
	if (ops->probes != !!ops->probe)
		return -EINVAL;
	return 0;
}
