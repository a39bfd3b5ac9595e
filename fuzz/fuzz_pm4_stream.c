// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The input is a PM4 ring or an AQL vendor packet. Each call must end with a result. */
#include "stream_bus.h"
#include "vgpu/pm4_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(struct vgpu_pm4 *s, struct stream_bus *b)
{
	for (u32 i = 0; i < 200; i++) {
		u64 rptr = s->rptr;
		u32 state = vgpu_pm4_run(s, &stream_bus_calls, b, i * 1000);

		if (s->rptr < rptr || (state == VGPU_PM4_ERROR) != !!s->stop.what)
			__builtin_trap();
		if (state == VGPU_PM4_ERROR || state == VGPU_PM4_IDLE)
			return;
		if (state == VGPU_PM4_DISPATCH && (!s->packet.workgroups || !s->packet.waves))
			__builtin_trap();
		if (state == VGPU_PM4_DRAIN)
			vgpu_pm4_drained(s);
	}
}

/* The first byte chooses a ring, or an AQL packet with its buffer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct stream_bus b;
	struct vgpu_pm4_args args = { .base = STREAM_BUS_AT, .size = 256, .unknown_ns = 5 };
	struct vgpu_pm4 s;
	u32 packet[16] = { 0 };

	if (!size)
		return 0;
	stream_bus_fill(&b, data + 1, size - 1 < 1024 ? size - 1 : 1024);
	if (data[0] & 1)
		args.size = 0;
	if (vgpu_pm4_init(&s, &args))
		__builtin_trap();
	if (args.size) {
		vgpu_pm4_wptr(&s, (size - 1) / 4);
		run(&s, &b);
		return 0;
	}
	memcpy(packet, b.bytes, sizeof(packet));
	vgpu_aql_barrier_value(packet, &stream_bus_calls, &b, 0);
	packet[0] = VGPU_AQL_PM4_IB << 16;
	packet[1] = 0xc0023f00;
	if (vgpu_pm4_aql(&s, packet, data[0] & 2))
		__builtin_trap();
	run(&s, &b);
	return 0;
}
