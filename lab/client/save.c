// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Save areas, full or sparse.
 *
 * A queue of an MI308X needs a mapping of 49 MB. The driver faults in every page of a user
 * pointer for writing when it is mapped to the GPU, so the zero page or an untouched mapping
 * would not save memory. But it takes any page that the CPU's page table has. So a sparse area
 * shows the pages of one small file again and again where saves do not write. The driver sees
 * user memory of the size it asks for.
 */
#include "save.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

/*
 * Reads a page of a file, which maps its neighbours too, sixteen at a time; the driver would
 * ask for one after the other. (Reading fresh anonymous memory would do harm: the write that
 * replaces the zero page invalidates the pages that the driver has just collected, and it gives
 * up after a second with EAGAIN.)
 */
static void touch(const volatile u8 *at, u64 bytes)
{
	for (u64 i = 0; i < bytes; i += PAGE)
		(void)at[i];
}

/* Maps the start of the padding file over [@from, @to) again and again. */
static int pad(u8 *at, u64 from, u64 to, int padding_fd)
{
	while (from < to) {
		u64 n = smaller(to - from, GP_SAVE_PADDING);

		if (mmap(at + from, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 padding_fd, 0) == MAP_FAILED)
			return -errno;
		touch(at + from, n);
		from += n;
	}
	return 0;
}

void *gp_save_map_sparse(u64 bytes, u64 stride, u64 real, int padding_fd)
{
	u8 *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int err = 0;

	if (at == MAP_FAILED)
		return NULL;
	for (u64 area = 0; area < bytes && !err; area += stride)
		err = pad(at, smaller(area + real, bytes), smaller(area + stride, bytes),
			  padding_fd);
	if (!err)
		return at;
	munmap(at, bytes);
	errno = -err;
	return NULL;
}

static int padding_file(struct gp_lab_client *c)
{
	int fd;

	if (c->padding_fd >= 0)
		return 0;
	fd = memfd_create("gp-save-padding", MFD_CLOEXEC);
	if (fd < 0)
		return gp_client_fail(errno, "cannot make the padding of save areas");
	if (ftruncate(fd, GP_SAVE_PADDING)) {
		int err = errno;

		close(fd);
		return gp_client_fail(err, "cannot make the padding of save areas");
	}
	c->padding_fd = fd;
	return 0;
}

/* Writes the headers that a runtime writes at the start of each XCC's part. */
static void write_headers(const struct gp_lab_client *c, u8 *at)
{
	const struct gp_geometry *g = &c->geometry;
	u32 xccs = c->node.xccs;

	for (u32 k = 0; k < xccs; k++) {
		struct kfd_context_save_area_header *h = (void *)(at + (u64)k * g->save_bytes);

		h->debug_offset = (xccs - k) * g->save_bytes;
		h->debug_size = g->debug_bytes * xccs;
	}
}

int gp_save_alloc(struct gp_lab_client *c, struct gp_buffer *b, enum gp_save_area kind)
{
	const struct gp_geometry *g = &c->geometry;
	u64 real = g->save_bytes;
	void *at;
	int err;

	if (kind == GP_SAVE_SPARSE) {
		real = smaller(g->ctl_stack_bytes + GP_SAVE_REAL, g->save_bytes);
		err = padding_file(c);
		if (err)
			return err;
	}
	at = gp_save_map_sparse(g->mapping_bytes, g->save_bytes, real, c->padding_fd);
	if (!at)
		return gp_client_fail(errno, "cannot reserve a save area of %llu bytes",
				      (unsigned long long)g->mapping_bytes);
	write_headers(c, at);
	err = gp_buffer_register(c, b, at, g->mapping_bytes);
	if (err)
		munmap(at, g->mapping_bytes);
	else
		b->ours = true;
	return err;
}
