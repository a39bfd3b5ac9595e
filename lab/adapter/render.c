// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The render node. Each open file is an address space of the GPU. Its memory is amdgpu's own
 * GEM and TTM.
 */
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

#include "gpu.h"
#include "info.h"
#include "amdgpu_dma_buf.h"
#include "amdgpu_fdinfo.h"
#include "amdgpu_gem.h"
#include "amdgpu_vm.h"
#include "amdgpu_xcp.h"

enum { PASID_BITS = 16, MAJOR_VERSION = 3, MINOR_VERSION = 59 };

static int render_open(struct drm_device *dev, struct drm_file *file)
{
	struct amdgpu_device *adev = drm_to_adev(dev);
	struct amdgpu_fpriv *fpriv;
	int pasid, r;

	fpriv = kzalloc(sizeof(*fpriv), GFP_KERNEL);
	if (!fpriv)
		return -ENOMEM;
	pasid = amdgpu_pasid_alloc(PASID_BITS);
	if (pasid < 0)
		pasid = 0;
	r = amdgpu_xcp_open_device(adev, fpriv, file);
	if (r)
		goto free;
	r = amdgpu_vm_init(adev, &fpriv->vm, fpriv->xcp_id);
	if (r)
		goto free;
	r = amdgpu_vm_set_pasid(adev, &fpriv->vm, pasid);
	if (r)
		goto fini;
	fpriv->prt_va = amdgpu_vm_bo_add(adev, &fpriv->vm, NULL);
	if (!fpriv->prt_va) {
		r = -ENOMEM;
		goto fini;
	}
	mutex_init(&fpriv->bo_list_lock);
	idr_init_base(&fpriv->bo_list_handles, 1);
	file->driver_priv = fpriv;
	return 0;
fini:
	amdgpu_vm_fini(adev, &fpriv->vm);
free:
	if (pasid)
		amdgpu_pasid_free(pasid);
	kfree(fpriv);
	return r;
}

static void render_close(struct drm_device *dev, struct drm_file *file)
{
	struct amdgpu_device *adev = drm_to_adev(dev);
	struct amdgpu_fpriv *fpriv = file->driver_priv;
	struct amdgpu_bo *pd;
	u32 pasid;

	if (!fpriv)
		return;
	pasid = fpriv->vm.pasid;
	pd = amdgpu_bo_ref(fpriv->vm.root.bo);
	if (!WARN_ON(amdgpu_bo_reserve(pd, true))) {
		amdgpu_vm_bo_del(adev, fpriv->prt_va);
		amdgpu_bo_unreserve(pd);
	}
	amdgpu_vm_fini(adev, &fpriv->vm);
	if (pasid)
		amdgpu_pasid_free_delayed(pd->tbo.base.resv, pasid);
	amdgpu_bo_unref(&pd);
	idr_destroy(&fpriv->bo_list_handles);
	mutex_destroy(&fpriv->bo_list_lock);
	kfree(fpriv);
	file->driver_priv = NULL;
}

static const struct drm_ioctl_desc ioctls[] = {
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_CREATE, amdgpu_gem_create_ioctl, DRM_AUTH | DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_MMAP, amdgpu_gem_mmap_ioctl, DRM_AUTH | DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_WAIT_IDLE, amdgpu_gem_wait_idle_ioctl,
			  DRM_AUTH | DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_METADATA, amdgpu_gem_metadata_ioctl,
			  DRM_AUTH | DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_VA, amdgpu_gem_va_ioctl, DRM_AUTH | DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_OP, amdgpu_gem_op_ioctl, DRM_AUTH | DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_USERPTR, amdgpu_gem_userptr_ioctl,
			  DRM_AUTH | DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_INFO, lab_info_ioctl, DRM_AUTH | DRM_RENDER_ALLOW),
};

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.mmap = drm_gem_mmap,
	.poll = drm_poll,
	.read = drm_read,
	.show_fdinfo = drm_show_fdinfo,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

int amdgpu_file_to_fpriv(struct file *filp, struct amdgpu_fpriv **fpriv)
{
	struct drm_file *file;

	if (!filp || filp->f_op != &fops)
		return -EINVAL;
	file = filp->private_data;
	*fpriv = file->driver_priv;
	return 0;
}

const struct drm_driver lab_drm_driver = {
	/* No display, but amdkfd keeps its memory as a DRM client, which wants MODESET. */
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_MODESET | DRIVER_ATOMIC |
			   DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE,
	.dumb_create = amdgpu_mode_dumb_create,
	.dumb_map_offset = amdgpu_mode_dumb_mmap,
	.open = render_open,
	.postclose = render_close,
	.show_fdinfo = amdgpu_show_fdinfo,
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.fops = &fops,
	.gem_prime_import = amdgpu_gem_prime_import,
	.name = "amdgpu",
	.desc = "AMD GPU (a model)",
	.date = "20150101",
	.major = MAJOR_VERSION,
	.minor = MINOR_VERSION,
};

/* Required by the driver. Partitions are not offered: one node has all XCCs. */
const struct drm_driver amdgpu_partition_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER,
	.fops = &fops,
	.name = "amdgpu",
	.desc = "AMD GPU (a model)",
	.date = "20150101",
	.major = MAJOR_VERSION,
	.minor = MINOR_VERSION,
};
