// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The guest's amdgpu: the parameters of the real module that matter, a PCI driver for the
 * device that represents a GPU, and the life of one GPU.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/vmalloc.h>
#include <drm/drm_drv.h>
#include <drm/drm_mode_config.h>

#include "gpu.h"
#include "record.h"
#include "amdgpu_irq.h"
#include "amdgpu_reset.h"
#include "amdgpu_sync.h"
#include "amdgpu_amdkfd.h"

/* QEMU's ivshmem-plain: a device whose BAR 2 is plain memory. */
enum { LAB_PCI_VENDOR = 0x1af4, LAB_PCI_DEVICE = 0x1110 };

/* --- parameters of the real module --- */

unsigned int amdgpu_vram_limit = UINT_MAX;
int amdgpu_vis_vram_limit;
int amdgpu_gtt_size = -1;
int amdgpu_vm_size = -1;
int amdgpu_vm_fragment_size = -1;
int amdgpu_vm_block_size = -1;
int amdgpu_vm_fault_stop;
int amdgpu_vm_update_mode = 3;	/* by the CPU, because amdgpu has no SDMA ring of its own here */
int amdgpu_exp_hw_support;
int amdgpu_use_xgmi_p2p = 1;
int amdgpu_msi = -1;
int amdgpu_tmz;
uint amdgpu_sdma_phase_quantum = 32;

bool no_system_mem_limit;
module_param(no_system_mem_limit, bool, 0644);
MODULE_PARM_DESC(no_system_mem_limit, "user memory is not counted: sparse save areas share pages");

int sched_policy = KFD_SCHED_POLICY_HWS;
module_param_unsafe(sched_policy, int, 0444);
MODULE_PARM_DESC(sched_policy, "0 hardware scheduler, 1 without oversubscription, 2 none");

int hws_max_conc_proc = -1;
module_param(hws_max_conc_proc, int, 0444);
MODULE_PARM_DESC(hws_max_conc_proc, "processes at a time (-1: as many as there are VMIDs)");

int cwsr_enable = 1;
module_param(cwsr_enable, int, 0444);
MODULE_PARM_DESC(cwsr_enable, "save and restore of waves (1 on)");

int max_num_of_queues_per_device = KFD_MAX_NUM_OF_QUEUES_PER_DEVICE_DEFAULT;
module_param(max_num_of_queues_per_device, int, 0444);
MODULE_PARM_DESC(max_num_of_queues_per_device, "queues of a device");

int send_sigterm;
module_param(send_sigterm, int, 0444);
MODULE_PARM_DESC(send_sigterm, "SIGTERM to processes on unhandled exceptions");

int halt_if_hws_hang;
module_param_unsafe(halt_if_hws_hang, int, 0644);
MODULE_PARM_DESC(halt_if_hws_hang, "wait forever when the HWS hangs");

bool hws_gws_support;
module_param_unsafe(hws_gws_support, bool, 0444);
MODULE_PARM_DESC(hws_gws_support, "assume that the firmware knows GWS");

int queue_preemption_timeout_ms = 9000;
module_param(queue_preemption_timeout_ms, int, 0644);
MODULE_PARM_DESC(queue_preemption_timeout_ms, "how long the driver waits for a preemption");

bool debug_evictions;
module_param(debug_evictions, bool, 0644);
MODULE_PARM_DESC(debug_evictions, "print a stack at each eviction");

int amdgpu_no_queue_eviction_on_vm_fault;
module_param_named_unsafe(no_queue_eviction_on_vm_fault, amdgpu_no_queue_eviction_on_vm_fault, int,
			  0444);
MODULE_PARM_DESC(no_queue_eviction_on_vm_fault, "leave queues on after a page fault");

int amdgpu_noretry = -1;
module_param_named(noretry, amdgpu_noretry, int, 0644);
MODULE_PARM_DESC(noretry, "no retries of page faults (-1: as the hardware likes)");

int amdgpu_gpu_recovery = -1;
module_param_named(gpu_recovery, amdgpu_gpu_recovery, int, 0444);
MODULE_PARM_DESC(gpu_recovery, "reset a GPU that hangs (-1 auto)");

int amdgpu_emu_mode;
module_param_named_unsafe(emu_mode, amdgpu_emu_mode, int, 0444);
MODULE_PARM_DESC(emu_mode, "as on an emulator");

static int mes;
module_param_unsafe(mes, int, 0444);
MODULE_PARM_DESC(mes, "micro engine scheduler; no GPU here has one");

int lab_num_kcq = 8;
module_param_named(num_kcq, lab_num_kcq, int, 0444);
MODULE_PARM_DESC(num_kcq, "compute queues that amdgpu keeps for itself");

/* --- of the model --- */

char *lab_profile_name = "mi308x";
module_param_named(profile, lab_profile_name, charp, 0444);
MODULE_PARM_DESC(profile, "which GPU: mi308x, mi300x, mi210");

char *lab_fault_names = "none";
module_param_named(fault, lab_fault_names, charp, 0444);
MODULE_PARM_DESC(fault, "faults from the start: none, hang, rptr-early, slow-save:TIMES");

char *lab_rptr_at = "completion";
module_param_named(rptr_at, lab_rptr_at, charp, 0444);
MODULE_PARM_DESC(rptr_at, "when read pointers pass a packet: completion, launch");

char *lab_save_area = "vram";
module_param_named(save_area, lab_save_area, charp, 0444);
MODULE_PARM_DESC(save_area, "where waves are saved, for the time it takes: vram, host");

uint lab_poll_us = 50;
module_param_named(poll_us, lab_poll_us, uint, 0644);
MODULE_PARM_DESC(poll_us, "how often doorbells are looked at while there is work");

uint lab_idle_poll_us = 500;
module_param_named(idle_poll_us, lab_idle_poll_us, uint, 0644);
MODULE_PARM_DESC(idle_poll_us, "the same while there is no work, if that is longer");

uint lab_unknown_us = 100;
module_param_named(unknown_us, lab_unknown_us, uint, 0444);
MODULE_PARM_DESC(unknown_us, "how long a workgroup of a kernel runs that cannot be executed");

uint lab_marks;
module_param_named(marks, lab_marks, uint, 0444);
MODULE_PARM_DESC(marks, "of so many last runs of the model's thread both clocks are kept (0 none)");

uint lab_record_mb;
module_param_named(record, lab_record_mb, uint, 0444);
MODULE_PARM_DESC(record, "megabytes for a recording of what goes into the chip (0 none)");

/* --- the chip --- */

/* Finds a word of @from by its name in @names. -EINVAL after a message that lists the names. */
static int choose(const char *what, const char *value, const char *const *names, int n)
{
	int i = match_string(names, n, value);

	if (i < 0)
		pr_err("%s=%s is unknown; see modinfo amdgpu\n", what, value);
	return i;
}

static int adjust_facts(struct vgpu_facts *facts)
{
	static const char *const moments[] = { "completion", "launch" };
	static const char *const areas[] = { "vram", "host" };
	int at = choose("rptr_at", lab_rptr_at, moments, ARRAY_SIZE(moments));
	int area = choose("save_area", lab_save_area, areas, ARRAY_SIZE(areas));

	if (at < 0 || area < 0)
		return -EINVAL;
	facts->f[VGPU_RPTR_AT].value = at ? VGPU_RPTR_AT_LAUNCH : VGPU_RPTR_AT_COMPLETION;
	facts->f[VGPU_SAVE_AREA].value = area ? VGPU_SAVE_HOST : VGPU_SAVE_VRAM;
	return 0;
}

static int chip_init(struct lab_gpu *gpu)
{
	const struct vgpu_facts *profile = vgpu_profile(gpu->profile->name);
	struct vgpu_chip_args args = {
		.bus = &lab_bus,
		.ctx = gpu,
		.unknown_ns = lab_unknown_us * NSEC_PER_USEC,
		.iq_wait_time2 = 0x40404040,
		.iq_wait_time2_register = lab_register_of_wait_time2(gpu),
		.sdma_engines = gpu->profile->sdma_engines,
	};
	struct vgpu_facts *facts;
	int r;

	if (WARN_ON(!profile))
		return -EINVAL;
	facts = kmemdup(profile, sizeof(*profile), GFP_KERNEL);
	if (!facts)
		return -ENOMEM;
	r = adjust_facts(facts);
	if (r)
		goto out;
	args.facts = facts;
	gpu->chip_memory = vzalloc(vgpu_chip_size(facts));
	r = lab_record_init(gpu, &args);
	if (!r && !gpu->chip_memory)
		r = -ENOMEM;
	if (!r)
		r = vgpu_chip_init(gpu->chip_memory, &args, &gpu->chip);
	if (!r)
		r = lab_fault_init(gpu);
out:
	kfree(facts);
	return r;
}

/* --- a GPU --- */

static void locks_init(struct amdgpu_device *adev)
{
	mutex_init(&adev->srbm_mutex);
	mutex_init(&adev->grbm_idx_mutex);
	mutex_init(&adev->notifier_lock);
	mutex_init(&adev->mn_lock);
	mutex_init(&adev->pm.mutex);
	mutex_init(&adev->gfx.gpu_clock_mutex);
	mutex_init(&adev->gfx.pipe_reserve_mutex);
	mutex_init(&adev->gfx.gfx_off_mutex);
	mutex_init(&adev->gfx.partition_mutex);
	mutex_init(&adev->virt.vf_errors.lock);
	mutex_init(&adev->benchmark_mutex);
	hash_init(adev->mn_hash);
	spin_lock_init(&adev->mmio_idx_lock);
	spin_lock_init(&adev->mm_stats.lock);
	INIT_LIST_HEAD(&adev->ras_list);
	INIT_LIST_HEAD(&adev->reset_list);
}

static void gpu_fini(void *data)
{
	struct lab_gpu *gpu = data;
	struct amdgpu_device *adev = &gpu->adev;

	lab_views_fini(gpu);
	lab_doorbell_unwatch(gpu);
	lab_thread_stop(gpu);
	amdgpu_amdkfd_device_fini_sw(adev);
	lab_interrupt_fini(gpu);
	lab_memory_fini(gpu);
	mutex_lock(&lab_gpus_lock);
	list_del_init(&gpu->link);
	mutex_unlock(&lab_gpus_lock);
	if (adev->reset_domain)
		amdgpu_reset_put_reset_domain(adev->reset_domain);
	lab_registers_fini(gpu);
	vfree(gpu->chip_memory);
	lab_record_fini(gpu);
	lab_clock_fini(&gpu->clock);
	/* Restores the ids, so that the driver matches the device again. */
	adev->pdev->vendor = LAB_PCI_VENDOR;
	adev->pdev->device = LAB_PCI_DEVICE;
}

static int gpu_init(struct lab_gpu *gpu)
{
	struct amdgpu_device *adev = &gpu->adev;
	int r;

	lab_profile_apply(gpu);
	lab_kiq_init(gpu);
	adev->reset_domain = amdgpu_reset_create_reset_domain(SINGLE_DEVICE, "vgpu-reset");
	if (!adev->reset_domain)
		return -ENOMEM;
	mutex_lock(&lab_gpus_lock);
	list_add_tail(&gpu->link, &lab_gpus);
	mutex_unlock(&lab_gpus_lock);
	r = lab_registers_init(gpu);
	if (!r)
		r = chip_init(gpu);
	if (!r)
		r = lab_memory_init(gpu);
	if (!r)
		r = lab_interrupt_init(gpu);
	return r ? r : lab_thread_start(gpu);
}

static int lab_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct lab_profile *profile = lab_profile_find(lab_profile_name);
	struct amdgpu_device *adev;
	struct lab_gpu *gpu;
	int r;

	if (!profile) {
		dev_err(&pdev->dev, "profile=%s is unknown; see modinfo amdgpu\n",
			lab_profile_name);
		return -EINVAL;
	}
	r = pcim_enable_device(pdev);
	if (r)
		return r;
	if (pci_resource_len(pdev, 2) < 4 * LAB_DOORBELL_BYTES) {
		dev_err(&pdev->dev, "BAR 2 is too small for VRAM and doorbells\n");
		return -EINVAL;
	}
	pci_set_master(pdev);
	/* The ids that IP discovery and the topology show. */
	pdev->vendor = PCI_VENDOR_ID_ATI;
	pdev->device = profile->device_id;

	gpu = devm_drm_dev_alloc(&pdev->dev, &lab_drm_driver, struct lab_gpu, adev.ddev);
	if (IS_ERR(gpu))
		return PTR_ERR(gpu);
	adev = &gpu->adev;
	adev->dev = &pdev->dev;
	adev->pdev = pdev;
	gpu->profile = profile;
	spin_lock_init(&gpu->lock);
	init_waitqueue_head(&gpu->wake);
	INIT_LIST_HEAD(&gpu->link);
	lab_clock_init(&gpu->clock);
	locks_init(adev);
	pci_set_drvdata(pdev, &adev->ddev);

	r = drmm_mode_config_init(&adev->ddev);
	if (!r)
		r = gpu_init(gpu);
	if (r)
		goto fail;
	amdgpu_amdkfd_device_probe(adev);
	r = drm_dev_register(&adev->ddev, 0);
	if (r)
		goto fail;
	amdgpu_amdkfd_device_init(adev);
	r = adev->kfd.init_complete ? amdgpu_amdkfd_drm_client_create(adev) : -ENODEV;
	if (r) {
		drm_dev_unplug(&adev->ddev);
		goto fail;
	}
	lab_doorbell_watch(gpu);
	lab_views_init(gpu);
	dev_info(&pdev->dev, "%s: %llu MB of VRAM; not a GPU: a model\n", profile->product,
		 gpu->vram_bytes >> 20);
	return 0;
fail:
	dev_err(&pdev->dev, "the virtual GPU did not come up: %d\n", r);
	gpu_fini(gpu);
	return r;
}

static void lab_remove(struct pci_dev *pdev)
{
	struct drm_device *ddev = pci_get_drvdata(pdev);
	struct amdgpu_device *adev = drm_to_adev(ddev);

	drm_dev_unplug(ddev);
	amdgpu_amdkfd_suspend(adev, false);
	gpu_fini(lab_gpu(adev));
}

static const struct pci_device_id lab_ids[] = {
	{ PCI_DEVICE(LAB_PCI_VENDOR, LAB_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, lab_ids);

static struct pci_driver lab_pci_driver = {
	.name = "amdgpu",
	.id_table = lab_ids,
	.probe = lab_probe,
	.remove = lab_remove,
};

static int __init lab_init(void)
{
	int r;

	r = amdgpu_sync_init();
	if (r)
		return r;
	amdgpu_amdkfd_init();
	r = lab_thread_watch_idle();
	if (r)
		goto fail;
	r = pci_register_driver(&lab_pci_driver);
	if (r)
		goto fail_idle;
	return 0;
fail_idle:
	lab_thread_unwatch_idle();
fail:
	amdgpu_amdkfd_fini();
	amdgpu_sync_fini();
	return r;
}

static void __exit lab_exit(void)
{
	amdgpu_amdkfd_fini();
	pci_unregister_driver(&lab_pci_driver);
	lab_thread_unwatch_idle();
	amdgpu_sync_fini();
	mmu_notifier_synchronize();
}

module_init(lab_init);
module_exit(lab_exit);
MODULE_LICENSE("GPL and additional rights");
MODULE_IMPORT_NS(DMA_BUF);
MODULE_DESCRIPTION("the unmodified amdkfd on a virtual MI308X");
