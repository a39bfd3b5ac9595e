// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Memory that CPU and GPU see at the same address. */
#include "client.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum {
	PAGE		= 4096,
	ALLOC_TRIES	= 5,
};

static u64 whole_pages(u64 bytes)
{
	return (bytes + PAGE - 1) & ~(u64)(PAGE - 1);
}

static const char *kind_name(enum gp_memory kind)
{
	static const char *const names[] = {
		[GP_MEMORY_USERPTR] = "userptr", [GP_MEMORY_GTT] = "GTT", [GP_MEMORY_VRAM] = "VRAM",
	};

	return names[kind];
}

static int kfd_alloc(struct gp_lab_client *c, struct gp_buffer *b, u64 *offset)
{
	static const u32 flags[] = {
		[GP_MEMORY_USERPTR] = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR |
				      KFD_IOC_ALLOC_MEM_FLAGS_COHERENT,
		[GP_MEMORY_GTT] = KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT |
				  KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE,
		[GP_MEMORY_VRAM] = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC |
				   KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE,
	};
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {
		.va_addr = (u64)(uintptr_t)b->at,
		.size = b->bytes,
		.mmap_offset = *offset,
		.gpu_id = c->node.gpu_id,
		.flags = flags[b->kind] | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE |
			 KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE,
	};
	u32 tries = 0;
	int err;

	/* EAGAIN: pages moved while the driver collected them, so try again. */
	do {
		err = gp_client_call(c, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args,
				     "ALLOC_MEMORY_OF_GPU");
	} while (err == -EAGAIN && ++tries < ALLOC_TRIES);
	if (err)
		return gp_client_fail(-err, "ALLOC_MEMORY_OF_GPU of %llu bytes of %s",
				      (unsigned long long)b->bytes, kind_name(b->kind));
	b->handle = args.handle;
	*offset = args.mmap_offset;
	return 0;
}

static int kfd_map(struct gp_lab_client *c, struct gp_buffer *b, bool on)
{
	u32 gpu = c->node.gpu_id;
	struct kfd_ioctl_map_memory_to_gpu_args args = {
		.handle = b->handle,
		.device_ids_array_ptr = (u64)(uintptr_t)&gpu,
		.n_devices = 1,
	};
	int err = gp_client_call(
		c, on ? AMDKFD_IOC_MAP_MEMORY_TO_GPU : AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &args,
		on ? "MAP_MEMORY_TO_GPU" : "UNMAP_MEMORY_FROM_GPU");

	if (err)
		return gp_client_fail(-err, "%s of %llu bytes of %s",
				      on ? "MAP_MEMORY_TO_GPU" : "UNMAP_MEMORY_FROM_GPU",
				      (unsigned long long)b->bytes, kind_name(b->kind));
	b->on_gpu = on;
	return 0;
}

/* Maps the driver's pages at the buffer's address, in place of its own pages. */
static int map_on_cpu(struct gp_lab_client *c, struct gp_buffer *b, u64 offset)
{
	void *at = mmap(b->at, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			c->render_fd, (off_t)offset);

	if (at == MAP_FAILED)
		return gp_client_fail(errno, "cannot map %llu bytes of %s through the render node",
				      (unsigned long long)b->bytes, kind_name(b->kind));
	memset(b->at, 0, b->bytes);
	return 0;
}

/* Frees everything, by bare calls that keep the message of the failure. */
static void undo(struct gp_lab_client *c, struct gp_buffer *b)
{
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = b->handle };

	if (b->handle)
		ioctl(c->kfd_fd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args);
	if (b->ours)
		munmap(b->at, b->bytes);
	*b = (struct gp_buffer){ 0 };
}

int gp_buffer_alloc(struct gp_lab_client *c, struct gp_buffer *b, enum gp_memory kind, u64 bytes)
{
	bool host = kind == GP_MEMORY_USERPTR;
	u64 offset;
	int err;

	*b = (struct gp_buffer){ .bytes = whole_pages(bytes), .kind = kind, .ours = true };
	b->at = mmap(NULL, b->bytes, host ? PROT_READ | PROT_WRITE : PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->at == MAP_FAILED) {
		*b = (struct gp_buffer){ 0 };
		return gp_client_fail(errno, "cannot reserve %llu bytes",
				      (unsigned long long)bytes);
	}
	offset = host ? (u64)(uintptr_t)b->at : 0;
	err = kfd_alloc(c, b, &offset);
	if (!err && !host)
		err = map_on_cpu(c, b, offset);
	if (!err)
		err = kfd_map(c, b, true);
	if (err)
		undo(c, b);
	return err;
}

int gp_buffer_register(struct gp_lab_client *c, struct gp_buffer *b, void *at, u64 bytes)
{
	u64 offset = (u64)(uintptr_t)at;
	int err;

	*b = (struct gp_buffer){ .at = at, .bytes = whole_pages(bytes), .kind = GP_MEMORY_USERPTR };
	err = kfd_alloc(c, b, &offset);
	if (!err)
		err = kfd_map(c, b, true);
	if (err)
		undo(c, b);
	return err;
}

int gp_buffer_free(struct gp_lab_client *c, struct gp_buffer *b)
{
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = b->handle };
	int err = 0;

	if (b->on_gpu)
		err = kfd_map(c, b, false);
	if (!err && b->handle)
		err = gp_client_call(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args, "FREE_MEMORY_OF_GPU");
	if (err)
		return err;
	if (b->ours)
		munmap(b->at, b->bytes);
	*b = (struct gp_buffer){ 0 };
	return 0;
}
