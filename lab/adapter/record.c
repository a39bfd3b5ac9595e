// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Recording what goes into the chip (lab/recording.h), from its first byte on. With the
 * parameter record= at 0 nothing is kept and nothing is paid but a test of a pointer.
 */
#include <linux/vmalloc.h>

#include "gpu.h"
#include "record.h"

int lab_record_init(struct lab_gpu *gpu, const struct vgpu_chip_args *args)
{
	struct lab_record *r = &gpu->record;

	if (!lab_record_mb)
		return 0;
	r->room = (u64)lab_record_mb << 20;
	r->head = vzalloc(sizeof(*r->head) + r->room);
	if (!r->head)
		return -ENOMEM;
	r->head->magic = RECORDING_MAGIC;
	strscpy(r->head->profile, gpu->profile->name, sizeof(r->head->profile));
	r->head->unknown_ns = args->unknown_ns;
	r->head->iq_wait_time2 = args->iq_wait_time2;
	r->head->iq_wait_time2_register = args->iq_wait_time2_register;
	r->head->sdma_engines = args->sdma_engines;
	r->head->rptr_at = vgpu_value(args->facts, VGPU_RPTR_AT);
	r->head->save_area = vgpu_value(args->facts, VGPU_SAVE_AREA);
	return 0;
}

void lab_record_fini(struct lab_gpu *gpu)
{
	vfree(gpu->record.head);
	gpu->record.head = NULL;
}

void lab_record_keep(struct lab_gpu *gpu, const struct recording_entry *entry, const void *data)
{
	struct recording_head *head = gpu->record.head;
	u64 need = sizeof(*entry) + ALIGN(entry->bytes, 8);
	void *at;

	/* A gap would make the rest worthless: after the first loss nothing is kept. */
	if (head->lost || head->bytes + need > gpu->record.room) {
		head->lost++;
		return;
	}
	at = (void *)(head + 1) + head->bytes;
	memcpy(at, entry, sizeof(*entry));
	memcpy(at + sizeof(*entry), data, entry->bytes);
	head->bytes += need;
}
