/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The whole outside world of core/, policy/ and vgpu/, kernel edition. See env/user/gp_env.h. */
#ifndef GP_ENV_H
#define GP_ENV_H

#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#define GP_WARN_ON(cond) WARN_ON_ONCE(cond)

#endif /* GP_ENV_H */
