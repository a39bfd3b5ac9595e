// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Files, processes, GPUs and queues of the stock driver, found from a file of /dev/kfd. */
#include <linux/cdev.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uaccess.h>

#include "gp_kfd_private.h"

/* ---- files and processes ---- */

/*
 * The module that owns the file is not enough. Render nodes, SMI descriptors and debugfs files of
 * amdgpu have the same owner but other data in private_data. register_chrdev() names its cdev, so
 * check that name.
 */
bool gp_kfd_is_file(struct file *file)
{
	struct inode *inode = file_inode(file);
	const struct cdev *cdev = S_ISCHR(inode->i_mode) ? inode->i_cdev : NULL;

	return cdev && cdev->ops == file->f_op && iminor(inode) == 0 &&
	       cdev->owner && !strcmp(module_name(cdev->owner), "amdgpu") &&
	       kobject_name(&cdev->kobj) && !strcmp(kobject_name(&cdev->kobj), "kfd") &&
	       file->private_data;
}

struct kfd_process *gp_kfd_process(struct file *file)
{
	return file->private_data;
}

struct mm_struct *gp_kfd_mm(const struct kfd_process *p)
{
	return READ_ONCE(p->mm);
}

/* ---- compatibility with the running driver ---- */

struct check {
	const struct module *driver;
	struct kfd_process *p;
	char *why;
	size_t size;
};

static int differs(const struct check *c, const char *what)
{
	snprintf(c->why, c->size, "the running amdgpu is not the one this module was built for: %s",
		 what);
	return -EOPNOTSUPP;
}

/* Loads @to from @place, which may be any address. False if the load faults. */
#define GET(to, place)	(!copy_from_kernel_nofault(&(to), &(place), sizeof(to)))

/* True if the pointer at @place points to @expected. */
#define LEADS(place, expected)	({				\
	const void *_there;					\
	GET(_there, (place)) && _there == (const void *)(expected); })

/* True if the pointer at @place, to a function or a table, points into the driver. */
#define OURS(c, place)	({					\
	const void *_there;					\
	GET(_there, (place)) && within_module((unsigned long)_there, (c)->driver); })

static int check_packets(const struct check *c, struct packet_manager *pm)
{
	const struct packet_manager_funcs *f;

	if (!GET(f, pm->pmf) || !within_module((unsigned long)f, c->driver))
		return differs(c, "packet_manager.pmf is not in it");
	if (!OURS(c, f->unmap_queues) || !OURS(c, f->query_status))
		return differs(c, "functions of packet_manager.pmf are not in it");
	return 0;
}

static int check_dqm(const struct check *c, struct kfd_node *node, struct device_queue_manager *d)
{
	struct kfd_dev *kfd = NULL;
	bool mes = false, saves = false;

	if (!LEADS(d->dev, node))
		return differs(c, "device_queue_manager.dev does not lead back");
	if (!OURS(c, d->ops.evict_process_queues) || !OURS(c, d->ops.restore_process_queues) ||
	    !OURS(c, d->asic_ops.update_qpd))
		return differs(c, "functions of device_queue_manager.ops are not in it");
#if GP_KFD_NODES
	if (!GET(kfd, node->kfd))
		return differs(c, "kfd_node.kfd cannot be read");
#else
	kfd = node;
#endif
	if (!GET(mes, kfd->shared_resources.enable_mes) || *(u8 *)&mes > 1)
		return differs(c, "kgd2kfd_shared_resources.enable_mes is no bool");
	if (!GET(saves, kfd->cwsr_enabled) || *(u8 *)&saves > 1)
		return differs(c, "kfd_dev.cwsr_enabled is no bool");
	if (!saves) {
		/* Without CWSR a stop waits for waves to end, and resets the GPU after seconds. */
		snprintf(c->why, c->size, "amdgpu.cwsr_enable=0: running waves cannot be saved");
		return -EOPNOTSUPP;
	}
	if (!mes && !LEADS(d->packet_mgr.dqm, d))
		return differs(c, "packet_manager.dqm does not lead back");
	return mes ? 0 : check_packets(c, &d->packet_mgr);
}

/* Retries, because the process may be creating or destroying a queue and no lock is held here. */
static bool is_list(struct list_head *head)
{
	struct list_head *first;
	u32 i;

	for (i = 0; i < 10; i++) {
		if (GET(first, head->next) && LEADS(first->prev, head))
			return true;
		usleep_range(20, 50);
	}
	return false;
}

static int check_seat(const struct check *c, struct kfd_process_device *pdd)
{
	struct device_queue_manager *d;
	struct kfd_node *node;

	if (!LEADS(pdd->process, c->p))
		return differs(c, "kfd_process_device.process does not lead back");
	if (!LEADS(pdd->qpd.pqm, &c->p->pqm))
		return differs(c, "qcm_process_device.pqm does not lead back");
	if (!is_list(&pdd->qpd.queues_list))
		return differs(c, "qcm_process_device.queues_list is no list");
	if (!GET(node, pdd->dev) || !GET(d, node->dqm) || !LEADS(pdd->qpd.dqm, d))
		return differs(c, "kfd_process_device.dev and qpd.dqm do not meet");
	if (!OURS(c, node->kfd2kgd))
		return differs(c, "kfd_node.kfd2kgd is not in it");
	return check_dqm(c, node, d);
}

int gp_kfd_check(struct file *file, bool current_is_it, char *why, size_t size)
{
	struct kfd_process *p = file->private_data;
	struct check c = { file_inode(file)->i_cdev->owner, p, why, size };
	u32 i, nr;
	int err;

	if (!LEADS(p->pqm.process, p))
		return differs(&c, "kfd_process.pqm.process does not lead back");
	if (current_is_it && !LEADS(p->mm, current->mm))
		return differs(&c, "kfd_process.mm is not that of its process");
	if (current_is_it && !LEADS(p->lead_thread, current->group_leader))
		return differs(&c, "kfd_process.lead_thread is not that of its process");
	if (!GET(nr, p->n_pdds) || nr > ARRAY_SIZE(p->pdds))
		return differs(&c, "kfd_process.n_pdds is too large");
	for (i = 0; i < nr; i++) {
		struct kfd_process_device *pdd;

		if (!GET(pdd, p->pdds[i]))
			return differs(&c, "kfd_process.pdds cannot be read");
		err = check_seat(&c, pdd);
		if (err)
			return err;
	}
	return 0;
}

int gp_kfd_check_driver(char *why, size_t size)
{
	struct file *file = filp_open("/dev/kfd", O_RDWR | O_CLOEXEC, 0);
	int err;

	if (IS_ERR(file)) {
		snprintf(why, size, "/dev/kfd does not open (error %ld); is amdgpu loaded?",
			 -PTR_ERR(file));
		return -ENODEV;
	}
	if (gp_kfd_is_file(file)) {
		err = gp_kfd_check(file, true, why, size);
	} else {
		snprintf(why, size, "/dev/kfd is not a device of amdgpu");
		err = -ENODEV;
	}
	fput(file);
	return err;
}

/* ---- GPUs ---- */

u32 gp_kfd_nr_seats(const struct kfd_process *p)
{
	return p->n_pdds;
}

struct kfd_process_device *gp_kfd_seat(struct kfd_process *p, u32 i)
{
	return p->pdds[i];
}

struct kfd_node *gp_kfd_node(struct kfd_process_device *seat)
{
	return seat->dev;
}

bool gp_kfd_sits_on(struct kfd_process_device *seat, const struct device *dev)
{
	return &seat->dev->adev->pdev->dev == dev;
}

const struct task_struct *gp_kfd_lead(const struct kfd_process *p)
{
	return p->lead_thread;
}

void gp_kfd_describe(struct kfd_node *node, struct gp_kfd_gpu *ret)
{
	const struct amdgpu_cu_info *cu = &node->adev->gfx.cu_info;
	struct pci_dev *pci = node->adev->pdev;

	*ret = (struct gp_kfd_gpu) {
		.gpu_id = node->id,
		.compute_units = cu->number,
		.location = (u64)pci_domain_nr(pci->bus) << 16 | pci->bus->number << 8 | pci->devfn,
		.dev = &pci->dev,
		.mes = gp_kfd_mes(node),
		.can_probe = node->kfd2kgd->get_cu_occupancy,
	};
#if GP_KFD_NODES
	ret->compute_units /= max(node->kfd->num_nodes, 1u);
#endif
	ret->wave_slots = ret->compute_units * cu->simd_per_cu * cu->max_waves_per_simd;
}

u32 gp_kfd_resets(struct kfd_node *node)
{
	return READ_ONCE(node->reset_seq_num);
}

bool gp_kfd_isolated(struct kfd_node *node)
{
#if GP_KFD_NODES
	return READ_ONCE(node->adev->enforce_isolation[node->node_id]);
#else
	return false;
#endif
}

/* ---- queues ---- */

#if GP_KFD_NODES
static struct ttm_buffer_object *bo_get(struct amdgpu_bo *bo)
{
	if (!bo)
		return NULL;
	drm_gem_object_get(&bo->tbo.base);
	return &bo->tbo;
}
#endif

static enum gp_kfd_ring kind_of(const struct queue *q)
{
	if (gp_kfd_is_sdma(q))
		return GP_KFD_SDMA;
	return q->properties.format == KFD_QUEUE_FORMAT_AQL ? GP_KFD_AQL : GP_KFD_PM4;
}

/* Like dqm_lock(), but gives up after a quarter of a millisecond. */
static bool dqm_try(struct device_queue_manager *d)
{
	u32 i;

	for (i = 0; i < 5; i++) {
		if (mutex_trylock(&d->lock_hidden)) {
			d->saved_flags = memalloc_noreclaim_save();
			return true;
		}
		usleep_range(20, 50);
	}
	return false;
}

int gp_kfd_queues(struct kfd_process_device *seat, struct gp_kfd_queue *to, u32 room)
{
	struct device_queue_manager *d = seat->dev->dqm;
	struct queue *q;
	u32 nr = 0;

	if (!dqm_try(d))
		return -EBUSY;
	list_for_each_entry(q, &seat->qpd.queues_list, list) {
		if (nr < room)
			to[nr] = (struct gp_kfd_queue) {
				.id = q->properties.queue_id,
				.kind = kind_of(q),
				.read_at = (u64)q->properties.read_ptr,
				.write_at = (u64)q->properties.write_ptr,
				.ring_base = q->properties.queue_address,
				.ring_bytes = q->properties.queue_size,
#if GP_KFD_NODES
				.read_bo = bo_get(q->properties.rptr_bo),
				.write_bo = bo_get(q->properties.wptr_bo),
#endif
			};
		nr++;
	}
	dqm_unlock(d);
	return (int)nr;
}

void gp_kfd_queue_put(struct gp_kfd_queue *q)
{
	if (q->read_bo)
		drm_gem_object_put(&q->read_bo->base);
	if (q->write_bo)
		drm_gem_object_put(&q->write_bo->base);
	q->read_bo = NULL;
	q->write_bo = NULL;
}

/* The newest queue is the first of the list. Its address is used only as a number. */
u64 gp_kfd_queues_stamp(const struct kfd_process_device *seat)
{
	return (u64)READ_ONCE(seat->qpd.queues_list.next) +
	       ((u64)READ_ONCE(seat->qpd.queue_count) << 48);
}

/* ---- waves ---- */

#if GP_KFD_NODES
/* Sums the waves in @slot whose doorbells belong to @seat. The caller holds the driver's lock. */
static u32 waves_of(struct kfd_process_device *seat, const struct kfd_cu_occupancy *slot)
{
	struct queue *q;
	u32 i, sum = 0;

	list_for_each_entry(q, &seat->qpd.queues_list, list)
		for (i = 0; i < AMDGPU_MAX_QUEUES; i++)
			if (slot[i].wave_cnt && slot[i].doorbell_off == q->properties.doorbell_off)
				sum += slot[i].wave_cnt;
	return sum;
}

int gp_kfd_waves(struct kfd_process_device *seat, u32 *ret)
{
	struct kfd_cu_occupancy slot[AMDGPU_MAX_QUEUES];
	struct kfd_node *node = seat->dev;
	unsigned long xccs = node->xcc_mask;
	int xcc, per_cu;
	u32 sum = 0;

	if (!node->kfd2kgd->get_cu_occupancy)
		return -EOPNOTSUPP;
	for_each_set_bit(xcc, &xccs, 32) {
		memset(slot, 0, sizeof(slot));
		node->kfd2kgd->get_cu_occupancy(node->adev, slot, &per_cu, xcc);
		dqm_lock(node->dqm);
		sum += waves_of(seat, slot);
		dqm_unlock(node->dqm);
	}
	*ret = sum;
	return 0;
}
#else
int gp_kfd_waves(struct kfd_process_device *seat, u32 *ret)
{
	struct kfd_dev *dev = seat->dev;
	int waves = 0, per_cu;

	if (!dev->kfd2kgd->get_cu_occupancy)
		return -EOPNOTSUPP;
	dev->kfd2kgd->get_cu_occupancy(dev->adev, seat->process->pasid, &waves, &per_cu);
	*ret = waves;
	return 0;
}
#endif
