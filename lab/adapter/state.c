// SPDX-License-Identifier: GPL-2.0-only OR MIT
#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/stdarg.h>
#else
#include <stdarg.h>
#include <stdio.h>
#endif

#include "state.h"

void lab_text_add(struct lab_text *t, const char *format, ...)
{
	u32 left = t->room - t->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at + t->used, left, format, args);
	va_end(args);
	if (n > 0)
		t->used += (u32)n < left ? (u32)n : left;
}

static void one(struct lab_text *t, const char *name, u64 value)
{
	lab_text_add(t, "%s %llu\n", name, (unsigned long long)value);
}

static void of_packets(struct lab_text *t, const struct vgpu_chip_counters *c)
{
	for (u32 i = 0; i < VGPU_NR_PACKETS; i++)
		one(t, vgpu_chip_packet_name((enum vgpu_chip_packet)i), c->packets[i]);
	one(t, "time_only", c->time_only);
	one(t, "sdma_bytes", c->sdma_bytes);
	one(t, "interrupts", c->interrupts);
	one(t, "reports", c->reports);
	one(t, "faults", c->faults);
	one(t, "commands_ns", c->commands_ns);
	one(t, "unmaps_ns", c->unmaps_ns);
	one(t, "saves_ns", c->saves_ns);
}

static void of_device(struct lab_text *t, const struct vgpu_counters *d)
{
	one(t, "maps", d->maps);
	one(t, "unmaps", d->unmaps);
	one(t, "queues_mapped", d->queues_mapped);
	one(t, "queues_unmapped", d->queues_unmapped);
	one(t, "waves_saved", d->waves_saved);
	one(t, "waves_restored", d->waves_restored);
	one(t, "bytes_saved", d->bytes_saved);
	one(t, "bytes_restored", d->bytes_restored);
	one(t, "workgroups_done", d->workgroups_done);
	one(t, "packets_done", d->packets_done);
	one(t, "doorbells", d->doorbells);
	one(t, "events", d->events);
}

void lab_state_counters(struct lab_text *t, struct vgpu_chip *c)
{
	const struct vgpu_unmapped *u = vgpu_chip_last_unmapped(c);

	of_packets(t, vgpu_chip_counters(c));
	of_device(t, vgpu_counters(vgpu_chip_device(c)));
	one(t, "last_unmap_command_ns", u->save_at - u->command_at);
	one(t, "last_unmap_save_ns", u->done_at - u->save_at);
	one(t, "last_unmap_bytes", u->bytes);
	one(t, "last_unmap_queues", u->queues);
	one(t, "last_unmap_waves", u->waves);
	one(t, "last_unmap_failed", u->failed);
}

static const char *state_name(u32 state)
{
	static const char *const names[] = {
		[VGPU_UNMAPPED] = "unmapped", [VGPU_MAPPING] = "mapping", [VGPU_MAPPED] = "mapped",
		[VGPU_UNMAPPING] = "unmapping", [VGPU_WAITING] = "waiting", [VGPU_ERROR] = "error",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

static void one_queue(struct lab_text *t, const struct vgpu_chip_queue_view *v)
{
	static const char *const kinds[] = { "aql", "pm4", "sdma" };

	lab_text_add(t, "%u 0x%x %s %s ", v->pasid, v->doorbell, kinds[v->kind],
		     state_name(v->state));
	if (v->kind == VGPU_QUEUE_SDMA)
		lab_text_add(t, "engine%u", v->engine);
	else if (v->slotted)
		lab_text_add(t, "%u.%u", v->pipe, v->queue);
	else
		lab_text_add(t, "-");
	lab_text_add(t, " %u 0x%llx 0x%llx %llu %llu %u %llu %s\n", v->vmid,
		     (unsigned long long)v->mqd, (unsigned long long)v->ring,
		     (unsigned long long)v->rptr, (unsigned long long)v->wptr, v->waves,
		     (unsigned long long)v->saved_bytes, v->error ? v->error : "-");
}

void lab_state_queues(struct lab_text *t, struct vgpu_chip *c)
{
	struct vgpu_chip_queue_view v;
	int r;

	lab_text_add(t, "pasid doorbell kind state slot vmid mqd ring rptr wptr waves saved "
			"error\n");
	for (u32 nr = 0; (r = vgpu_chip_view(c, nr, &v)) != -ENOENT; nr++)
		if (!r)
			one_queue(t, &v);
}
