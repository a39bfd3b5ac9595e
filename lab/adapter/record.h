/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Recording what goes into the chip, and the chip's calls with their recording. */
#ifndef LAB_RECORD_H
#define LAB_RECORD_H

#include "gpu.h"

extern const struct file_operations lab_record_fops;

int lab_record_init(struct lab_gpu *gpu, const struct vgpu_chip_args *args);
void lab_record_fini(struct lab_gpu *gpu);
void lab_record_keep(struct lab_gpu *gpu, const struct recording_entry *entry, const void *data);

static inline void lab_record(struct lab_gpu *gpu, const struct recording_entry *entry,
			      const void *data)
{
	if (unlikely(gpu->record.head))
		lab_record_keep(gpu, entry, data);
}

static inline void lab_chip_kiq(struct lab_gpu *gpu, u32 xcc, const u32 *dwords, u32 nr, u64 now)
{
	lab_record(gpu, &(struct recording_entry){ .kind = RECORDING_KIQ, .at = now,
		   .address = xcc, .bytes = nr * 4 }, dwords);
	vgpu_chip_kiq(gpu->chip, xcc, dwords, nr, now);
}

static inline bool lab_chip_doorbells(struct lab_gpu *gpu, u64 now)
{
	lab_record(gpu, &(struct recording_entry){ .kind = RECORDING_DOORBELLS, .at = now }, NULL);
	return vgpu_chip_doorbells(gpu->chip, now);
}

static inline void lab_chip_advance(struct lab_gpu *gpu, u64 now)
{
	lab_record(gpu, &(struct recording_entry){ .kind = RECORDING_ADVANCE, .at = now }, NULL);
	vgpu_chip_advance(gpu->chip, now);
}

static inline void lab_chip_reset(struct lab_gpu *gpu, u64 now)
{
	lab_record(gpu, &(struct recording_entry){ .kind = RECORDING_RESET, .at = now }, NULL);
	vgpu_chip_reset(gpu->chip, now);
}

static inline void lab_chip_slot_reset(struct lab_gpu *gpu, u32 xcc, u32 pipe, u32 queue, u64 now)
{
	lab_record(gpu, &(struct recording_entry){ .kind = RECORDING_SLOT_RESET, .at = now,
		   .address = xcc << 16 | pipe << 8 | queue }, NULL);
	vgpu_chip_slot_reset(gpu->chip, xcc, pipe, queue, now);
}

static inline int lab_chip_fault(struct lab_gpu *gpu, enum vgpu_fault fault, u64 arg, u64 now)
{
	lab_record(gpu, &(struct recording_entry){ .kind = RECORDING_FAULT, .at = now,
		   .address = fault, .space = arg }, NULL);
	return vgpu_chip_fault(gpu->chip, fault, arg);
}

static inline u32 lab_chip_hqd(struct lab_gpu *gpu, u32 xcc, u32 pipe, u32 queue, u32 reg)
{
	u32 value;

	lab_record(gpu, &(struct recording_entry){ .kind = RECORDING_REGISTER,
		   .address = xcc << 24 | pipe << 16 | queue << 8 | reg }, NULL);
	value = vgpu_chip_hqd(gpu->chip, xcc, pipe, queue, reg);
	lab_record(gpu, &(struct recording_entry){ .kind = RECORDING_ANSWER,
		   .bytes = sizeof(value) }, &value);
	return value;
}

#endif /* LAB_RECORD_H */
