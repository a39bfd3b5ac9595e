/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* AMDGPU_INFO: the queries of libdrm and ROCr on the render node. */
#ifndef LAB_INFO_H
#define LAB_INFO_H

struct drm_device;
struct drm_file;

int lab_info_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

#endif /* LAB_INFO_H */
