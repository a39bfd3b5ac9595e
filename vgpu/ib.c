// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The runlist: bytes into a list of queues.
 *
 * A list of MAP_PROCESS, each followed by the MAP_QUEUES of that process. It is
 * read once, when RUN_LIST comes: the driver reuses its memory after the next
 * unmap. Counts in the packets are not believed, they count queues that are not
 * on the list too. A RUN_LIST at its end says that it is to be run in turns,
 * which the device below finds out by itself.
 */
#include "chip_private.h"

struct reader {
	struct vgpu_chip *c;
	u64 base;
	u32 size;			/* dwords */
	struct vgpu_process *process;	/* from the last MAP_PROCESS */
};

static void map_process(struct reader *r, const u32 *dw)
{
	struct vgpu_chip *c = r->c;
	u32 pasid = vgpu_bits(dw[1], 15, 0);
	u64 root = vgpu_wide(dw[2], dw[3]);

	c->counters.packets[VGPU_MAP_PROCESS]++;
	r->process = NULL;
	if (root == VGPU_SPACE_DRIVER) {
		vgpu_say_number(c, "MAP_PROCESS without a page table, of PASID", pasid);
		return;
	}
	r->process = vgpu_process_get(c, pasid, root);
	if (!r->process)
		vgpu_say_number(c, "more processes than the chip can hold; PASID", pasid);
}

static bool listed(const struct vgpu_chip *c, u32 id)
{
	for (u32 i = 0; i < c->nr_list; i++)
		if (c->list[i] == id)
			return true;
	return false;
}

static void map_queues(struct reader *r, const u32 *dw)
{
	struct vgpu_chip *c = r->c;
	struct vgpu_user_queue *q;

	c->counters.packets[VGPU_MAP_QUEUES]++;
	if (!r->process) {
		vgpu_say_number(c, "MAP_QUEUES without its process, doorbell",
				vgpu_pm4_doorbell(dw[2]));
		return;
	}
	q = vgpu_user_map(c, (u32)(r->process - c->processes), dw);
	if (!q)
		return;
	if (q->kind == VGPU_QUEUE_SDMA)
		vgpu_sdma_on(c, q);
	else if (listed(c, vgpu_user_id(c, q)))
		vgpu_say_queue(c, q, "it is on the runlist twice");
	else
		c->list[c->nr_list++] = vgpu_user_id(c, q);
}

/* False if nothing after this packet can be read. */
static bool execute(struct reader *r, const u32 *dw, u32 n)
{
	u32 op = vgpu_pm4_op(dw[0]);

	if (op == VGPU_PM4_MAP_PROCESS &&
	    (n == VGPU_PM4_MAP_PROCESS_DW || n == VGPU_PM4_MAP_PROCESS_WATCH_DW)) {
		map_process(r, dw);
	} else if (op == VGPU_PM4_MAP_QUEUES && n == VGPU_PM4_MAP_QUEUES_DW) {
		map_queues(r, dw);
	} else if (op == VGPU_PM4_RUN_LIST && n == VGPU_PM4_RUN_LIST_DW) {
		if (vgpu_wide(dw[1], dw[2]) != r->base)
			vgpu_say(r->c, "a runlist is chained to another one: not modelled");
		return false;
	} else if (op != VGPU_PM4_NOP) {
		r->c->counters.packets[VGPU_BAD_PACKET]++;
		vgpu_say_number(r->c, "a packet that has no place in a runlist:", dw[0]);
		return false;
	}
	return true;
}

static void read_all(struct reader *r)
{
	u32 dw[VGPU_PM4_MOST_DW], n;

	for (u32 at = 0; at < r->size; at += n) {
		if (vgpu_driver_read(r->c, r->base + 4ull * at, dw, 4))
			return;
		if (!dw[0])
			return;		/* the list is full */
		n = vgpu_pm4_dwords(dw[0]);
		if (!vgpu_pm4_is_packet(dw[0]) || n > VGPU_PM4_MOST_DW || n > r->size - at) {
			r->c->counters.packets[VGPU_BAD_PACKET]++;
			vgpu_say_number(r->c, "no packet in a runlist:", dw[0]);
			return;
		}
		if (vgpu_driver_read(r->c, r->base + 4ull * at, dw, 4 * n) || !execute(r, dw, n))
			return;
	}
}

/* RUN_LIST: reads the list and asks the device below to map its queues. */
void vgpu_ib_run(struct vgpu_chip *c, const u32 *run_list)
{
	struct vgpu_runlist list = {
		.queues		= c->list,
		.processes	= vgpu_bits(run_list[3], 27, 24),
	};
	struct reader r = {
		.c	= c,
		.base	= vgpu_wide(run_list[1], run_list[2]),
		.size	= vgpu_bits(run_list[3], 19, 0),
	};

	c->nr_list = 0;
	read_all(&r);
	list.nr = c->nr_list;
	if (!vgpu_map(c->v, &list, c->v->now, NULL))
		c->hiq.waits = VGPU_HIQ_MAPS;
}
