// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Records all inputs of the chip (lab/recording.h) from its first access on. With the parameter
 * record=0 nothing is kept, and the only cost is a test of a pointer.
 */
#include <linux/fs.h>
#include <linux/vmalloc.h>

#include "gpu.h"
#include "record.h"
#include "state.h"

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

	/* A gap would make the rest worthless, so keep nothing after the first loss. */
	if (head->lost || head->bytes + need > gpu->record.room) {
		head->lost++;
		return;
	}
	at = (void *)(head + 1) + head->bytes;
	memcpy(at, entry, sizeof(*entry));
	memcpy(at + sizeof(*entry), data, entry->bytes);
	head->bytes += need;
}

/* Adds the state to the recording, so that a replay can be compared at this moment too. */
static void keep_state(struct lab_gpu *gpu, struct lab_text *text)
{
	struct recording_entry entry = { .kind = RECORDING_STATE };

	lab_state_counters(text, gpu->chip);
	lab_state_queues(text, gpu->chip);
	entry.at = lab_clock_now(&gpu->clock);
	entry.bytes = text->used;
	lab_record_keep(gpu, &entry, text->at);
}

/* Entries never change, so a copy of the head is a copy of the recording. */
static int record_open(struct inode *inode, struct file *file)
{
	struct lab_gpu *gpu = inode->i_private;
	struct lab_text text = { .room = LAB_STATE_BYTES };
	struct recording_head *head;

	file->private_data = NULL;
	if (!gpu->record.head)
		return 0;
	head = kmalloc(sizeof(*head), GFP_KERNEL);
	text.at = vzalloc(text.room);
	if (head && text.at) {
		spin_lock(&gpu->lock);
		keep_state(gpu, &text);
		*head = *gpu->record.head;
		spin_unlock(&gpu->lock);
		file->private_data = head;
	} else {
		kfree(head);
	}
	vfree(text.at);
	return file->private_data ? 0 : -ENOMEM;
}

static ssize_t record_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	struct lab_gpu *gpu = file_inode(file)->i_private;
	struct recording_head *head = file->private_data;
	loff_t part = *pos;
	ssize_t r;

	if (!head)
		return 0;
	if (part < sizeof(*head))
		return simple_read_from_buffer(to, n, pos, head, sizeof(*head));
	part -= sizeof(*head);
	r = simple_read_from_buffer(to, n, &part, gpu->record.head + 1, head->bytes);
	if (r > 0)
		*pos += r;
	return r;
}

static int record_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

const struct file_operations lab_record_fops = {
	.owner = THIS_MODULE,
	.open = record_open,
	.read = record_read,
	.release = record_release,
};
