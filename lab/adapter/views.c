// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The state of the virtual GPU in debugfs: /sys/kernel/debug/vgpu/N/. */
#include <linux/debugfs.h>

#include "gpu.h"

void lab_views_init(struct lab_gpu *gpu)
{
}

void lab_views_fini(struct lab_gpu *gpu)
{
}
