// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The input is an SDMA ring. Each call must end, and access memory only by the bus. */
#include "stream_bus.h"
#include "vgpu/sdma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The ring is the start of the memory, so that packets overwrite packets too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct stream_bus b;
	static u64 page[VGPU_SDMA_PAGE / 8];
	struct vgpu_sdma_args args = {
		.facts = vgpu_profile("mi308x"), .size = 1024, .page = page };
	struct vgpu_sdma s;
	u64 now = 0;

	if (size > 1024)
		size = 1024;
	stream_bus_fill(&b, data, size);
	args.base = STREAM_BUS_AT;
	if (vgpu_sdma_init(&s, &args))
		__builtin_trap();
	vgpu_sdma_start(&s, 0);
	vgpu_sdma_wptr(&s, size, 0);
	for (u32 i = 0; i < 50; i++) {
		u64 rptr = s.rptr;
		u32 state = vgpu_sdma_run(&s, &stream_bus_calls, &b, now);

		if (s.rptr < rptr || (state == VGPU_SDMA_ERROR) != !!s.stop.what)
			__builtin_trap();
		/* Stop here, because further large copies behave the same. */
		if (state == VGPU_SDMA_ERROR || state == VGPU_SDMA_IDLE || s.bytes > 1 << 18)
			break;
		if (i % 3 == 2) {
			vgpu_sdma_stop(&s);
			vgpu_sdma_start(&s, now);
		}
		now = s.next_ns != VGPU_NEVER && s.next_ns > now ? s.next_ns : now + 100000;
	}
	if (b.reports > 1)
		__builtin_trap();
	return 0;
}
