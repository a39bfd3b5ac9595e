// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The input is a recording. Replaying it must end with a result.
 *
 * If the first byte is 1, the rest is a whole file. Otherwise the rest is the entries of a file
 * whose head is valid, because few inputs would get beyond an invalid one.
 *
 * A chip has 5 MB, and making one takes a millisecond. So the target makes it once and puts it
 * into a file. Each input gets a private mapping of the file, where only changed pages are
 * copied.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/replay/replay.h"

enum { MOST = 1 << 16, STEP_NS = 1000 * 1000 * 1000, WHOLE_FILE = 1, PAGE = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct recording_head head = {
	.magic = RECORDING_MAGIC, .profile = "mi308x", .unknown_ns = 100000,
	.iq_wait_time2 = 0x40404040, .iq_wait_time2_register = 0x30b0, .sdma_engines = 4,
};

static struct lab_replay replay, unused;	/* @unused: @replay as it was made */
static u8 *pages, *pages_end;			/* the whole pages of the chip's memory */
static u8 first[PAGE], last[PAGE];		/* the bytes before and after them */
static size_t first_bytes, last_bytes;

static void replay_file(const void *file, u64 size)
{
	struct lab_replay r;

	if (!lab_replay_init(&r, file, size)) {
		r.most_step_ns = STEP_NS;	/* a longer step is malformed */
		lab_replay_run(&r);
	}
	lab_replay_fini(&r);
}

static void need(bool done)
{
	if (!done)
		abort();
}

static void make_chip(void)
{
	int fd = memfd_create("chip", MFD_CLOEXEC);
	u8 *memory;
	size_t bytes;

	need(fd >= 0 && !lab_replay_init(&replay, &head, sizeof(head)));
	replay.most_step_ns = STEP_NS;
	unused = replay;
	memory = replay.memory;
	bytes = malloc_usable_size(memory);
	first_bytes = -(uintptr_t)memory % PAGE;
	last_bytes = (bytes - first_bytes) % PAGE;
	pages = memory + first_bytes;
	pages_end = memory + bytes - last_bytes;
	memcpy(first, memory, first_bytes);
	memcpy(last, pages_end, last_bytes);
	need(write(fd, pages, (size_t)(pages_end - pages)) == pages_end - pages);
	need(mmap(pages, (size_t)(pages_end - pages), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_FIXED, fd, 0) == pages);
	close(fd);
}

/* Replays entries on a chip in its initial state. */
static void replay_entries(const u8 *data, size_t size)
{
	if (!replay.memory)
		make_chip();
	else
		need(!madvise(pages, (size_t)(pages_end - pages), MADV_DONTNEED));
	memcpy(pages - first_bytes, first, first_bytes);
	memcpy(pages_end, last, last_bytes);
	replay = unused;
	replay.data = data;
	replay.size = size;
	lab_replay_run(&replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size > MOST)
		return 0;
	if (data[0] == WHOLE_FILE)
		replay_file(data + 1, size - 1);
	else
		replay_entries(data + 1, size - 1);
	return 0;
}
