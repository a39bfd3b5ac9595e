// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The bus of the chip: memory and doorbells.
 *
 * Every access to a process's address walks the page tables that the driver wrote, so an
 * unmapped page is gone at once, as after a TLB flush. Pages are accessed through the kernel's
 * direct map, which needs no mm and never faults.
 */
#include <linux/mm.h>

#include "gpu.h"
#include "record.h"
#include "amdgpu_gart.h"
#include "amdgpu_vm.h"

LIST_HEAD(lab_gpus);
DEFINE_MUTEX(lab_gpus_lock);

#define ADDRESS_BITS	GENMASK_ULL(47, 12)
#define TABLE_BITS	GENMASK_ULL(47, 6)

enum { TOP_SHIFT = 39, BITS_PER_LEVEL = 9 };

/* Finds memory in another GPU's BAR (peer memory), or in our own by its bus address (doorbells). */
static void *in_a_bar(struct lab_gpu *gpu, u64 physical)
{
	struct lab_gpu *other;
	u64 start;

	/* Devices come and go only while no process has a queue. */
	list_for_each_entry(other, &lab_gpus, link) {
		start = other->adev.gmc.aper_base;
		if (physical >= start && physical - start < other->vram_bytes)
			return other->vram + (physical - start);
		start = other->adev.doorbell.base;
		if (physical >= start && physical - start < LAB_DOORBELL_BYTES)
			return (void *)other->doorbells + (physical - start);
	}
	return NULL;
}

static void *of_system(struct lab_gpu *gpu, u64 physical)
{
	unsigned long pfn = PHYS_PFN(physical);

	if (pfn_valid(pfn) && page_is_ram(pfn))
		return page_address(pfn_to_page(pfn)) + offset_in_page(physical);
	return in_a_bar(gpu, physical);
}

static void *of_vram(struct lab_gpu *gpu, u64 offset)
{
	return offset < gpu->vram_bytes ? gpu->vram + offset : NULL;
}

static void *of_entry(struct lab_gpu *gpu, u64 entry, u64 address)
{
	return entry & AMDGPU_PTE_SYSTEM ? of_system(gpu, address) : of_vram(gpu, address);
}

/* The driver's own addresses: VRAM and GART lie side by side in one space. */
static void *of_driver(struct lab_gpu *gpu, u64 address)
{
	struct amdgpu_device *adev = &gpu->adev;
	const u64 *table = adev->gart.ptr;
	u64 entry;

	if (address >= adev->gmc.vram_start && address <= adev->gmc.vram_end)
		return of_vram(gpu, address - adev->gmc.vram_start);
	if (address < adev->gmc.gart_start || address > adev->gmc.gart_end || !table)
		return NULL;
	entry = READ_ONCE(table[(address - adev->gmc.gart_start) >> AMDGPU_GPU_PAGE_SHIFT]);
	if (!(entry & AMDGPU_PTE_VALID))
		return NULL;
	return of_entry(gpu, entry, (entry & ADDRESS_BITS) + offset_in_page(address));
}

/* Walks four levels of 512 entries; a directory entry may be a huge page. */
static void *of_process(struct lab_gpu *gpu, vgpu_space root, u64 address, bool write)
{
	u64 need = AMDGPU_PTE_VALID | (write ? AMDGPU_PTE_WRITEABLE : AMDGPU_PTE_READABLE);
	u64 entry = root, offset;
	const u64 *table;
	int shift;

	for (shift = TOP_SHIFT; shift >= PAGE_SHIFT; shift -= BITS_PER_LEVEL) {
		if (!(entry & AMDGPU_PTE_VALID))
			return NULL;
		table = of_entry(gpu, entry, entry & TABLE_BITS);
		if (!table)
			return NULL;
		entry = READ_ONCE(table[(address >> shift) & GENMASK(BITS_PER_LEVEL - 1, 0)]);
		if (shift == PAGE_SHIFT || entry & AMDGPU_PDE_PTE)
			break;
	}
	if ((entry & need) != need)
		return NULL;
	offset = address & (BIT_ULL(shift) - 1);
	return of_entry(gpu, entry, (entry & ADDRESS_BITS) + offset);
}

static void *translate(struct lab_gpu *gpu, vgpu_space space, u64 address, bool write)
{
	return space == VGPU_SPACE_DRIVER ? of_driver(gpu, address)
					  : of_process(gpu, space, address, write);
}

/* Copies an aligned word in one access, because the CPU may read it concurrently. */
static void copy(void *to, const void *from, u32 n)
{
	if (n == 8 && IS_ALIGNED((unsigned long)to | (unsigned long)from, 8))
		WRITE_ONCE(*(u64 *)to, READ_ONCE(*(const u64 *)from));
	else if (n == 4 && IS_ALIGNED((unsigned long)to | (unsigned long)from, 4))
		WRITE_ONCE(*(u32 *)to, READ_ONCE(*(const u32 *)from));
	else
		memcpy(to, from, n);
}

static int read_memory(void *gpu, vgpu_space space, u64 address, void *to, u32 n)
{
	u32 part;
	void *at;

	for (; n; n -= part, address += part, to += part) {
		part = min_t(u32, n, PAGE_SIZE - offset_in_page(address));
		at = translate(gpu, space, address, false);
		if (!at)
			return -EFAULT;
		copy(to, at, part);
	}
	return 0;
}

static int write_memory(void *gpu, vgpu_space space, u64 address, const void *from, u32 n)
{
	u32 part;
	void *at;

	for (; n; n -= part, address += part, from += part) {
		part = min_t(u32, n, PAGE_SIZE - offset_in_page(address));
		at = translate(gpu, space, address, true);
		if (!at)
			return -EFAULT;
		smp_wmb();
		copy(at, from, part);
	}
	return 0;
}

static int add_to_memory(void *gpu, vgpu_space space, u64 address, u64 value, u64 *ret)
{
	atomic64_t *at;

	if (!IS_ALIGNED(address, 8))
		return -EFAULT;
	at = translate(gpu, space, address, true);
	if (!at)
		return -EFAULT;
	*ret = atomic64_add_return(value, at);
	return 0;
}

static int bus_read(void *ctx, vgpu_space space, u64 address, void *to, u32 n)
{
	int r = read_memory(ctx, space, address, to, n);

	lab_record(ctx, &(struct recording_entry){ .kind = RECORDING_READ, .error = r,
		   .space = space, .address = address, .bytes = n }, to);
	return r;
}

static int bus_write(void *ctx, vgpu_space space, u64 address, const void *from, u32 n)
{
	int r = write_memory(ctx, space, address, from, n);

	lab_record(ctx, &(struct recording_entry){ .kind = RECORDING_WRITE, .error = r,
		   .space = space, .address = address, .bytes = n }, from);
	return r;
}

static int bus_add(void *ctx, vgpu_space space, u64 address, u64 value, u64 *ret)
{
	int r = add_to_memory(ctx, space, address, value, ret);
	u64 both[] = { value, r ? 0 : *ret };

	lab_record(ctx, &(struct recording_entry){ .kind = RECORDING_ADD, .error = r,
		   .space = space, .address = address, .bytes = sizeof(both) }, both);
	return r;
}

static u64 bus_doorbell(void *ctx, u32 index)
{
	struct lab_gpu *gpu = ctx;

	u64 value = 0;

	if (!(index & 1) && index < LAB_DOORBELL_BYTES / 4)
		value = READ_ONCE(gpu->doorbells[index / 2]);
	lab_record(gpu, &(struct recording_entry){ .kind = RECORDING_DOORBELL, .address = index,
		   .bytes = sizeof(value) }, &value);
	return value;
}

static void bus_interrupt(void *ctx, const struct vgpu_interrupt *irq)
{
	struct recording_interrupt kept = {
		.kind = irq->kind, .vmid = irq->vmid, .engine = irq->engine, .xcc = irq->xcc,
		.pasid = irq->pasid, .context = irq->context, .doorbell = irq->doorbell,
		.write = irq->write,
	};

	lab_record(ctx, &(struct recording_entry){ .kind = RECORDING_INTERRUPT,
		   .address = irq->address, .bytes = sizeof(kept) }, &kept);
	lab_interrupt_raise(ctx, irq);
}

static void bus_report(void *ctx, const char *what)
{
	struct lab_gpu *gpu = ctx;

	dev_info_ratelimited(gpu->adev.dev, "vgpu: %s\n", what);
}

const struct vgpu_bus lab_bus = {
	.read = bus_read,
	.write = bus_write,
	.add = bus_add,
	.doorbell = bus_doorbell,
	.interrupt = bus_interrupt,
	.report = bus_report,
};

/*
 * The bus without recording, for accesses that do not come from the chip. A replay would miss
 * them.
 */
const struct vgpu_bus lab_bus_unrecorded = {
	.read = read_memory,
	.write = write_memory,
	.add = add_to_memory,
	.report = bus_report,
};
