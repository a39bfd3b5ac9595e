/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stands in for <drm/drm.h>, which Debian's linux-libc-dev does not ship although its
 * <linux/kfd_ioctl.h> includes it. KFD's header uses only the integer types.
 */
#ifndef GP_SYSTEM_DRM_H
#define GP_SYSTEM_DRM_H

#include <linux/types.h>

#endif /* GP_SYSTEM_DRM_H */
