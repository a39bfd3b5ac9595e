/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A recording of all inputs of a chip: the calls to it, and the contents of memory and
 * doorbells that it read. The chip is deterministic, so the same bytes lead another chip,
 * outside the virtual machine, to the same state. The recording also has the chip's writes,
 * which a replay compares.
 *
 * A recording is a struct recording_head, then entries: struct recording_entry, @bytes bytes,
 * zeros up to a multiple of eight. The file in debugfs is the recording up to the moment when
 * it was opened; opening it adds the state at that moment as an entry.
 */
#ifndef LAB_RECORDING_H
#define LAB_RECORDING_H

#include "gp_env.h"

#define RECORDING_MAGIC		0x3143455247505556ull	/* "VUPGREC1" */

enum recording_kind {
	/* calls of the chip; @at is the device's time */
	RECORDING_KIQ,		/* @address: XCC; the dwords follow */
	RECORDING_DOORBELLS,
	RECORDING_ADVANCE,
	RECORDING_RESET,
	RECORDING_SLOT_RESET,	/* @address: xcc << 16 | pipe << 8 | queue */
	RECORDING_FAULT,	/* @address: enum vgpu_fault, @space: its argument */
	RECORDING_REGISTER,	/* @address: xcc << 24 | pipe << 16 | queue << 8 | register */
	RECORDING_STATE,	/* the views at that moment follow, as text (adapter/state.h) */
	/* reads and writes of the chip; @error is the result */
	RECORDING_READ,		/* what was read follows */
	RECORDING_WRITE,	/* what was written follows */
	RECORDING_ADD,		/* the value added and the new value follow */
	RECORDING_DOORBELL,	/* @address: index; the value follows */
	RECORDING_ANSWER,	/* of a register; the value, 32 bits, follows */
	RECORDING_INTERRUPT,	/* @address of a fault; a struct recording_interrupt follows */
	RECORDING_NR_KINDS,
};

struct recording_interrupt {
	u32 kind, vmid, engine, xcc, pasid, context, doorbell, write;
};

struct recording_head {
	u64 magic;
	char profile[16];
	u64 unknown_ns;
	u32 iq_wait_time2, iq_wait_time2_register;
	u32 sdma_engines;
	u32 rptr_at, save_area;		/* values of the facts */
	u32 lost;			/* entries dropped for lack of room */
	u64 bytes;			/* of entries */
};

struct recording_entry {
	u8 kind;		/* enum recording_kind */
	u8 pad[3];
	int error;
	u32 bytes;
	u32 pad2;
	u64 at;
	u64 space;
	u64 address;
};

static_assert(sizeof(struct recording_head) == 64, "one size in the guest and outside");
static_assert(sizeof(struct recording_entry) == 40, "one size in the guest and outside");

#endif /* LAB_RECORDING_H */
