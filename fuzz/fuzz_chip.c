// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The input is a list of steps on a chip that was set up as by a driver, with one AQL queue:
 * bytes written to memory, doorbells, time, resets. The chip must access memory only by the
 * bus, end every call, and obey a driver again after a reset.
 */
#include <string.h>

#include "vgpu/chip.h"
#include "vgpu/kernel.h"
#include "vgpu/mqd.h"
#include "vgpu/pm4.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	BASE = 0x10000, BYTES = 0x10000, DOORBELLS = 64, HIQ_DOORBELL = 2, DOORBELL = 4,
	/* addresses, from BASE; the input may write everywhere */
	HIQ = 0, HIQ_RING = 0x2000, POINTERS = 0x2800, IB = 0x3000, RING = 0x3800, KERNEL = 0x3c00,
	SAVE = 0x4000, MQD = 0x6000, MQD_STRIDE = 0x2000,
};

static u8 memory[BYTES];
static u64 doorbells[DOORBELLS];

static u8 *reach(u64 address, u32 n)
{
	return address >= BASE && address - BASE <= BYTES && n <= BYTES - (address - BASE) ?
	       memory + (address - BASE) : NULL;
}

static int bus_read(void *ctx, vgpu_space space, u64 address, void *to, u32 n)
{
	u8 *at = reach(address, n);

	(void)ctx;
	(void)space;
	if (at)
		memcpy(to, at, n);
	return at ? 0 : -EFAULT;
}

static int bus_write(void *ctx, vgpu_space space, u64 address, const void *from, u32 n)
{
	u8 *at = reach(address, n);

	(void)ctx;
	(void)space;
	if (at)
		memcpy(at, from, n);
	return at ? 0 : -EFAULT;
}

static int bus_add(void *ctx, vgpu_space space, u64 address, u64 value, u64 *ret)
{
	if (address % 8)
		__builtin_trap();
	if (bus_read(ctx, space, address, ret, 8))
		return -EFAULT;
	*ret += value;
	return bus_write(ctx, space, address, ret, 8);
}

static u64 bus_doorbell(void *ctx, u32 index)
{
	(void)ctx;
	return doorbells[index % DOORBELLS];
}

static void bus_interrupt(void *ctx, const struct vgpu_interrupt *irq)
{
	(void)ctx;
	(void)irq;
}

static void bus_report(void *ctx, const char *what)
{
	(void)ctx;
	if (!what || !*what)
		__builtin_trap();
}

static const struct vgpu_bus bus = {
	bus_read, bus_write, bus_add, bus_doorbell, bus_interrupt, bus_report,
};

static void put(u32 at, u32 dw, u32 value)
{
	memcpy(memory + at + 4 * dw, &value, 4);
}

static void put_wide(u32 at, u32 dw, u64 value)
{
	memcpy(memory + at + 4 * dw, &value, 8);
}

static void mqd(u32 at, u32 ring, u32 control, u32 pointers)
{
	memset(memory + at, 0, 2048);
	put_wide(at, VGPU_MQD_PQ_BASE_LO, (BASE + ring) >> 8);
	put_wide(at, VGPU_MQD_RPTR_REPORT_LO, BASE + pointers);
	put_wide(at, VGPU_MQD_WPTR_POLL_LO, BASE + pointers + 8);
	put(at, VGPU_MQD_PQ_CONTROL, control);
	put_wide(at, VGPU_MQD_CTX_SAVE_LO, BASE + SAVE);
	put(at, VGPU_MQD_CTX_SAVE_SIZE, 0xba6000);
	put(at, VGPU_MQD_CNTL_STACK_SIZE, 0x100);
	put(at, VGPU_MQD_STRIDE, MQD_STRIDE);
}

static void load(struct vgpu_chip *c, u64 now)
{
	for (u32 xcc = 0; xcc < 4; xcc++) {
		u32 dw[7] = { 0xc005a200, 0x24040000, HIQ_DOORBELL << 2, BASE + HIQ + 2048 * xcc,
			      0, BASE + POINTERS + 8, 0 };

		mqd(HIQ + 2048 * xcc, HIQ_RING, 0xd0000508, POINTERS);
		vgpu_chip_kiq(c, xcc, dw, 7, now);
	}
	memset(memory + POINTERS, 0, 64);
	doorbells[HIQ_DOORBELL] = 0;
}

/* A runlist with one queue, and one kernel on its ring. */
static void set_up(struct vgpu_chip *c)
{
	static const u32 ring[] = {
		0xc006a000, 0x2028fff8, 0xfcfcfcfc, 0, 0, 0, 0, 0,
		0xc002a500, BASE + IB, 0, 0x01800020,
	};
	static const u32 list[] = { 0xc013a100, 1, 0x77000, [21] = 0xc005a200, 0x20000010,
				    DOORBELL << 2, BASE + MQD, 0, BASE + POINTERS + 40, 0 };
	static const u32 packet[16] = { 1 << 16 | 2, 256, 1, 256 * 100, 1, 1, 0, 0, BASE + KERNEL,
					0, BASE + KERNEL + 64, 0, 0, 0, BASE + KERNEL + 128 };
	struct vgpu_kernel kernel = { .magic = VGPU_KERNEL_MAGIC, .workgroup_ns = 3000 };
	struct vgpu_kernarg arg = { .result = BASE + KERNEL + 192, .key = 3 };

	memset(memory, 0, sizeof(memory));
	memset(doorbells, 0, sizeof(doorbells));
	for (u32 xcc = 0; xcc < 4; xcc++)
		mqd(MQD + MQD_STRIDE * xcc, RING, 0x14014507, POINTERS + 32);
	load(c, 0);
	memcpy(memory + HIQ_RING, ring, sizeof(ring));
	memcpy(memory + IB, list, sizeof(list));
	memcpy(memory + RING, packet, sizeof(packet));
	memcpy(memory + KERNEL, &kernel, sizeof(kernel));
	memcpy(memory + KERNEL + 64, &arg, sizeof(arg));
	put_wide(POINTERS + 40, 0, 1);
	doorbells[HIQ_DOORBELL] = sizeof(ring) / 4;
	vgpu_chip_doorbells(c, 0);
}

/* Valid packets, which the input may spoil. The first dword is their length. */
static const u32 commands[][9] = {
	{ 6, 0xc004a300, 0x00000030 },
	{ 6, 0xc004a300, 0x00000011, 1 },
	{ 6, 0xc004a300, 0x20000000, DOORBELL << 2 },
	{ 7, 0xc005a400, 0xc0000000, 0, BASE + POINTERS + 128, 0, 100 },
	{ 4, 0xc002a500, BASE + IB, 0, 0x02800040 },
	{ 5, 0xc0033700, 0x00010000, 0x30b0, 0, 0x40400140 },
	{ 8, 0xc006a000, 0x2028fff8, 0xfcfcfcfc },
	{ 1, VGPU_PM4_PAD },
};
static const u32 entries[][9] = {
	{ 7, 0xc005a200, 0x20000010, DOORBELL << 2, BASE + MQD, 0, BASE + POINTERS + 40 },
	{ 7, 0xc005a200, 0x20000010, 6 << 2, BASE + MQD + 64, 0, BASE + POINTERS + 40 },
	{ 7, 0xc005a200, 0x28000010, 8 << 2, BASE + KERNEL + 256, 0, BASE + POINTERS + 48 },
	{ 4, 0xc002a500, BASE + IB, 0, 0x02900040 },
};
static const u32 packets[][9] = {
	{ 8, 1 << 16 | 2, 256, 1, 256 * 100, 1, 1, 0, 0 },
	{ 8, 3, 0, BASE + KERNEL + 128 }, { 8, 5, 0, BASE + KERNEL + 128, 0, BASE + KERNEL + 192 },
	{ 8, 1 << 16, 0xc0023f00, BASE + IB + 256, 0, 8 },
};

static u32 spoilt(const u32 *like, const u8 *in, size_t left, u32 *dw)
{
	memcpy(dw, like + 1, 32);
	if (left > 3 && in[3] & 1)
		dw[in[3] >> 1 & 7] ^= 1u << (in[3] >> 4) * 2;
	return like[0];
}

static void command(const u8 *in, size_t left)
{
	u32 dw[8], n = spoilt(commands[in[1] % 8], in, left, dw);

	for (u32 i = 0; i < n; i++)
		put(HIQ_RING, (u32)(doorbells[HIQ_DOORBELL]++ % 512), dw[i]);
	put_wide(POINTERS + 8, 0, doorbells[HIQ_DOORBELL]);
}

/* Puts a packet into the runlist after its process, or on the ring of the queue. */
static void packet(const u8 *in, size_t left)
{
	u32 dw[8], n = spoilt((in[1] & 4 ? packets : entries)[in[1] % 4], in, left, dw);
	u64 w;

	if (!(in[1] & 4)) {
		memcpy(memory + IB + 84 + 28 * (in[2] % 4), dw, n * 4);
		return;
	}
	memcpy(&w, memory + POINTERS + 40, 8);
	memcpy(memory + RING + w % 16 * 64, dw, 32);
	put_wide(POINTERS + 40, 0, w + 1);
	doorbells[DOORBELL] = w;
}

/* Executes one step of the input. Returns the number of bytes it used. */
static size_t step(struct vgpu_chip *c, const u8 *in, size_t left, u64 *now)
{
	u32 arg = left > 2 ? in[1] | (u32)in[2] << 8 : 0;
	size_t n = 3;

	switch (in[0] % 16) {
	case 0:
	case 1: {
		u32 bytes = left > 3 ? in[3] % 64 : 0;

		n = 4 + bytes;
		if (n <= left && arg + bytes <= BYTES)
			memcpy(memory + arg, in + 4, bytes);
		break;
	}
	case 8:
	case 9:
	case 10:
		if (left > 2)
			command(in, left);
		vgpu_chip_doorbells(c, *now);
		n = 4;
		break;
	case 11:
	case 12:
		if (left > 2)
			packet(in, left);
		vgpu_chip_doorbells(c, *now);
		n = 4;
		break;
	case 2:
		doorbells[arg % DOORBELLS] += arg / DOORBELLS;
		vgpu_chip_doorbells(c, *now);
		break;
	case 3:
	case 4:
	case 5:
	case 13:
	case 14:
		*now += arg % 16384;
		vgpu_chip_advance(c, *now);
		break;
	case 6:
		vgpu_chip_slot_reset(c, arg % 5, arg / 5 % 5, arg / 25 % 9, *now);
		vgpu_chip_hqd(c, arg % 5, arg / 5 % 5, arg / 25 % 9, arg / 225 % 60);
		break;
	default:
		if (arg % 4)
			vgpu_chip_fault(c, arg % 6, arg / 6);
		else
			vgpu_chip_reset(c, *now);
		break;
	}
	return n;
}

/* Checks that a chip answers a fence after a reset and a load of its HIQ. */
static void obeys(struct vgpu_chip *c, u64 now)
{
	static const u32 query[7] = { 0xc005a400, 0x80000000, 0, BASE + POINTERS + 128, 0, 100 };

	vgpu_chip_fault(c, VGPU_FAULT_NONE, 0);
	vgpu_chip_reset(c, now);
	load(c, now);
	memcpy(memory + HIQ_RING, query, sizeof(query));
	put_wide(POINTERS + 128, 0, 10);
	doorbells[HIQ_DOORBELL] = 7;
	put_wide(POINTERS + 8, 0, 7);
	vgpu_chip_doorbells(c, now);
	if (memory[POINTERS + 128] != 100)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static u64 chip_memory[(16 << 20) / 8];
	const struct vgpu_facts *facts = vgpu_profile("mi308x");
	struct vgpu_chip_args args = {
		.facts = facts, .bus = &bus, .unknown_ns = 2000, .iq_wait_time2 = 0x40404040,
		.iq_wait_time2_register = 0x30b0, .sdma_engines = 2,
	};
	struct vgpu_chip_queue_view view;
	struct vgpu_chip *c;
	u64 now = 0;

	if (vgpu_chip_size(facts) > sizeof(chip_memory) ||
	    vgpu_chip_init(chip_memory, &args, &c))
		__builtin_trap();
	set_up(c);
	for (size_t at = 0, n; at < size; at += n)
		n = step(c, data + at, size - at, &now);
	for (u32 i = 0; vgpu_chip_view(c, i, &view) != -ENOENT; i++)
		;
	obeys(c, now);
	if (gp_warnings)
		__builtin_trap();
	return 0;
}
