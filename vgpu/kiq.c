// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The kernel's own ring of each XCC, as far as it concerns user queues: it loads
 * the HIQ and takes it off again. The HIQ runs when every XCC has it.
 */
#include "chip_private.h"

/* All XCCs have the HIQ. The first one says where the ring is and its pointers. */
static void start(struct vgpu_chip *c)
{
	struct vgpu_hiq *h = &c->hiq;
	u32 control;

	if (vgpu_driver_read(c, h->mqd[0], c->mqd, sizeof(c->mqd)))
		return;
	control = c->mqd[VGPU_MQD_PQ_CONTROL];
	h->ring = vgpu_wide(c->mqd[VGPU_MQD_PQ_BASE_LO], c->mqd[VGPU_MQD_PQ_BASE_HI]) << 8;
	if (!h->ring || (control & 0x3f) > 28) {
		vgpu_say(c, "the MQD of the HIQ has no ring: it is not loaded");
		return;
	}
	h->ring_dwords = vgpu_pq_dwords(control);
	h->rptr_address = vgpu_wide(c->mqd[VGPU_MQD_RPTR_REPORT_LO],
				    c->mqd[VGPU_MQD_RPTR_REPORT_HI]);
	h->rptr = h->wptr = c->mqd[VGPU_MQD_PQ_RPTR];
	h->rung = c->bus.doorbell(c->ctx, h->doorbell);
	h->running = true;
}

static void load(struct vgpu_chip *c, u32 xcc, const u32 *dw)
{
	struct vgpu_hiq *h = &c->hiq;

	if (vgpu_bits(dw[1], 28, 26) != VGPU_PM4_HIQ) {
		vgpu_say_number(c, "MAP_QUEUES on a KIQ that is not for a HIQ:", dw[1]);
		return;
	}
	h->doorbell = vgpu_pm4_doorbell(dw[2]);
	h->mqd[xcc] = vgpu_wide(dw[3], dw[4]);
	h->wptr_address = vgpu_wide(dw[5], dw[6]);
	h->loaded |= 1u << xcc;
	if (h->loaded == (1u << c->xccs) - 1)
		start(c);
}

static void unload(struct vgpu_chip *c, u32 xcc, const u32 *dw)
{
	struct vgpu_hiq *h = &c->hiq;

	if (!(h->loaded & 1u << xcc) || vgpu_pm4_doorbell(dw[2]) != h->doorbell) {
		vgpu_say_number(c, "UNMAP_QUEUES on a KIQ that is not for a HIQ:", dw[2]);
		return;
	}
	h->loaded &= ~(1u << xcc);
	h->running = false;
}

void vgpu_chip_kiq(struct vgpu_chip *c, u32 xcc, const u32 *dwords, u32 nr, u64 now_ns)
{
	u32 n;

	vgpu_chip_advance(c, now_ns);
	if (xcc >= c->xccs) {
		vgpu_say_number(c, "a KIQ of an XCC that is not there:", xcc);
		return;
	}
	for (u32 at = 0; at < nr; at += n) {
		const u32 *dw = dwords + at;
		u32 op = vgpu_pm4_op(dw[0]);

		n = vgpu_pm4_is_packet(dw[0]) ? vgpu_pm4_dwords(dw[0]) : 1;
		if (n > nr - at) {
			vgpu_say_number(c, "a packet on the KIQ that is cut short:", dw[0]);
			return;
		}
		if (n == VGPU_PM4_MAP_QUEUES_DW && op == VGPU_PM4_MAP_QUEUES)
			load(c, xcc, dw);
		else if (n == VGPU_PM4_UNMAP_QUEUES_DW && op == VGPU_PM4_UNMAP_QUEUES)
			unload(c, xcc, dw);
		else if (op != VGPU_PM4_NOP)
			vgpu_say_number(c, "a packet on the KIQ that is not known:", dw[0]);
	}
	vgpu_chip_settle(c);
}
