// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "doer.h"

static int none_begin(struct gp_mechanism *m, const struct gp_action *action, u64 now_ns)
{
	(void)m;
	(void)action;
	(void)now_ns;
	return -EOPNOTSUPP;
}

static int none_poll(struct gp_mechanism *m, u64 now_ns, struct gp_answer *ret)
{
	(void)m;
	(void)now_ns;
	(void)ret;
	return -EAGAIN;
}

static const struct gp_mechanism_ops none_mechanism_ops = {
	.name	= "none",
	.grain	= GP_GRAIN_PROCESS,
	.keeps	= GP_KEEPS_SAVE,
	.reach	= GP_REACH_VICTIM,
	.begin	= none_begin,
	.poll	= none_poll,
};

static struct gp_mechanism none_mechanism = { .ops = &none_mechanism_ops };
static const struct gp_doer_ops none_ops = { .name = "none" };
static struct gp_doer none = { .ops = &none_ops, .mechanism = &none_mechanism, .fd = -1 };

struct gp_doer *gp_doer_none(void)
{
	return &none;
}
