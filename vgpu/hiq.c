// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The ring on which the driver commands the hardware scheduler.
 *
 * Packets are executed one after the other. UNMAP_QUEUES and RUN_LIST take time:
 * the next packet waits for their end, so a fence is written only when all that
 * was asked before it is done. The driver reads the read pointer as an index of
 * the ring, and expects it to have passed a packet whose fence it sees.
 */
#include "chip_private.h"

static u32 ones(u64 mask)
{
	u32 n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

static void bad_packet(struct vgpu_chip *c, const char *what, u32 header)
{
	struct vgpu_interrupt irq = { .kind = VGPU_IRQ_BAD_PACKET, .doorbell = c->hiq.doorbell };

	c->counters.packets[VGPU_BAD_PACKET]++;
	vgpu_say_number(c, what, header);
	vgpu_interrupt(c, &irq);
}

static void remember(struct vgpu_chip *c, enum vgpu_chip_packet kind, const u32 *dw, u32 n)
{
	struct vgpu_chip_past *past = &c->past[c->nr_past++ % VGPU_LAST_PACKETS];

	memset(past, 0, sizeof(*past));
	past->at_ns = c->v->now;
	past->kind = (u8)kind;
	past->nr = (u8)(n < 8 ? n : 8);
	memcpy(past->dw, dw, 4u * past->nr);
	c->counters.packets[kind]++;
}

static void set_resources(struct vgpu_chip *c, const u32 *dw)
{
	u32 vmids = vgpu_bits(dw[1], 15, 0) & ~1u;

	if (vgpu_limit(c->v, ones(dw[2]), ones(vmids))) {
		vgpu_say(c, "SET_RESOURCES leaves no slot or no VMID: it is ignored");
		return;
	}
	if (dw[3])
		vgpu_say_number(c, "SET_RESOURCES names slots of a second MEC: not used", dw[3]);
	c->vmid_mask = vmids;
	c->slot_mask = dw[2];
}

static void write_data(struct vgpu_chip *c, const u32 *dw)
{
	u32 reg = vgpu_bits(dw[2], 17, 0);

	if (vgpu_bits(dw[1], 11, 8) || reg != c->wait2_register)
		vgpu_say_number(c, "WRITE_DATA to a register that does nothing:", reg);
	else
		c->wait2 = dw[4];
}

static void query_status(struct vgpu_chip *c, const u32 *dw)
{
	u32 command = vgpu_bits(dw[1], 31, 30);
	u64 data = vgpu_wide(dw[5], dw[6]);
	struct vgpu_interrupt irq = {
		.kind		= VGPU_IRQ_QUERY_STATUS,
		.context	= vgpu_bits(dw[1], 27, 0),
	};

	if (command != VGPU_PM4_IRQ_ONLY)
		vgpu_driver_write(c, vgpu_wide(dw[3], dw[4]), &data, sizeof(data));
	if (command == VGPU_PM4_IRQ_ONLY || command == VGPU_PM4_FENCE_AND_IRQ)
		vgpu_interrupt(c, &irq);
}

/* SCH_WAVE counts thousands of clocks; the facts give the times for 1 and 64. */
static u64 grace_ns(const struct vgpu_chip *c, u32 sch_wave)
{
	if (sch_wave == 1)
		return vgpu_value(&c->facts, VGPU_GRACE_NS);
	return sch_wave * vgpu_value(&c->facts, VGPU_GRACE_DEFAULT_NS) / 64;
}

static void unmap(struct vgpu_chip *c, const struct vgpu_unmap_args *args)
{
	if (!vgpu_unmap(c->v, args, c->v->now, NULL))
		c->hiq.waits = VGPU_HIQ_UNMAPS;
}

/* Unmaps the next of the queues named by doorbell. False if there is none. */
static bool unmap_next(struct vgpu_chip *c)
{
	struct vgpu_hiq *h = &c->hiq;
	struct vgpu_unmap_args args = {
		.whom		= VGPU_QUEUE,
		.how		= h->todo_how,
		.grace_ns	= h->todo_grace_ns,
	};

	if (!h->nr_todo)
		return false;
	args.id = h->todo[--h->nr_todo];
	h->waits = VGPU_HIQ_READY;
	unmap(c, &args);
	return h->waits != VGPU_HIQ_READY;
}

/* Copy engines stop at once. @process: VGPU_NONE for all. */
static void stop_engines(struct vgpu_chip *c, u32 process)
{
	for (u32 i = 0; c->nr_sdma && i < c->top; i++)
		if (c->queues[i].kind == VGPU_QUEUE_SDMA &&
		    (process == VGPU_NONE || c->queues[i].process == process))
			vgpu_sdma_off(c, &c->queues[i]);
}

static void by_doorbell(struct vgpu_chip *c, const u32 *dw, const struct vgpu_unmap_args *args)
{
	struct vgpu_hiq *h = &c->hiq;
	u32 nr = vgpu_bits(dw[1], 31, 29);

	h->nr_todo = 0;
	h->todo_how = (u8)args->how;
	h->todo_grace_ns = args->grace_ns;
	for (u32 i = nr > 4 ? 4 : nr; i-- > 0;) {
		u32 doorbell = vgpu_pm4_doorbell(dw[2 + i]);
		struct vgpu_user_queue *q = vgpu_user_by_doorbell(c, doorbell);

		if (!q)
			vgpu_say_number(c, "UNMAP_QUEUES of an unknown doorbell:", doorbell);
		else if (q->kind == VGPU_QUEUE_SDMA)
			vgpu_sdma_off(c, q);
		else
			h->todo[h->nr_todo++] = vgpu_user_id(c, q);
	}
	unmap_next(c);
}

static void by_pasid(struct vgpu_chip *c, u32 pasid, struct vgpu_unmap_args *args)
{
	const struct vgpu_process *p = vgpu_process_find(c, pasid);

	if (!p) {
		vgpu_say_number(c, "UNMAP_QUEUES of an unknown PASID:", pasid);
		return;
	}
	args->whom = VGPU_PROCESS;
	args->id = (u32)(p - c->processes);
	stop_engines(c, args->id);
	unmap(c, args);
}

static void unmap_queues(struct vgpu_chip *c, const u32 *dw)
{
	u32 action = vgpu_bits(dw[1], 1, 0), sch_wave = vgpu_bits(c->wait2, 15, 8);
	struct vgpu_unmap_args args = {
		.whom		= VGPU_ALL,
		.how		= sch_wave ? VGPU_SAVE : VGPU_DRAIN,
		.grace_ns	= grace_ns(c, sch_wave),
	};

	if (action == VGPU_PM4_RESET)
		args.how = VGPU_RESET;
	else if (action != VGPU_PM4_PREEMPT)
		vgpu_say_number(c, "UNMAP_QUEUES is taken for a preemption, its action is", action);

	switch (vgpu_bits(dw[1], 5, 4)) {
	case VGPU_PM4_BY_DOORBELL:
		by_doorbell(c, dw, &args);
		break;
	case VGPU_PM4_BY_PASID:
		by_pasid(c, vgpu_bits(dw[2], 15, 0), &args);
		break;
	default:
		stop_engines(c, VGPU_NONE);
		unmap(c, &args);
		break;
	}
}

struct command {
	u8 op;
	u8 dwords;
	u8 kind;	/* enum vgpu_chip_packet */
	void (*run)(struct vgpu_chip *c, const u32 *dw);
};

static const struct command commands[] = {
	{ VGPU_PM4_SET_RESOURCES, VGPU_PM4_SET_RESOURCES_DW, VGPU_SET_RESOURCES, set_resources },
	{ VGPU_PM4_WRITE_DATA, VGPU_PM4_WRITE_DATA_DW, VGPU_WRITE_DATA, write_data },
	{ VGPU_PM4_QUERY_STATUS, VGPU_PM4_QUERY_STATUS_DW, VGPU_QUERY_STATUS, query_status },
	{ VGPU_PM4_UNMAP_QUEUES, VGPU_PM4_UNMAP_QUEUES_DW, VGPU_UNMAP_QUEUES, unmap_queues },
	{ VGPU_PM4_RUN_LIST, VGPU_PM4_RUN_LIST_DW, VGPU_RUN_LIST, vgpu_ib_run },
};

static const struct command *command_of(u32 header)
{
	for (u32 i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].op == vgpu_pm4_op(header) &&
		    commands[i].dwords == vgpu_pm4_dwords(header))
			return &commands[i];
	return NULL;
}

/* The dword at @index of the ring. 0 or -EFAULT. */
static int ring_dword(struct vgpu_chip *c, u64 index, u32 *ret)
{
	const struct vgpu_hiq *h = &c->hiq;

	return vgpu_driver_read(c, h->ring + 4 * (index & (h->ring_dwords - 1)), ret, sizeof(*ret));
}

static void pass(struct vgpu_chip *c, u32 dwords)
{
	struct vgpu_hiq *h = &c->hiq;

	h->rptr += dwords;
	vgpu_driver_put(c, h->rptr_address, (u32)(h->rptr & (h->ring_dwords - 1)));
}

static void hang(struct vgpu_chip *c, const char *why)
{
	c->hiq.hung = true;
	vgpu_say(c, why);
}

static void run_command(struct vgpu_chip *c, const struct command *what)
{
	u32 dw[VGPU_PM4_MOST_DW];

	for (u32 i = 0; i < what->dwords; i++)
		if (ring_dword(c, c->hiq.rptr + i, &dw[i])) {
			hang(c, "the HIQ ring is gone: the hardware scheduler hangs");
			return;
		}
	remember(c, what->kind, dw, what->dwords);
	c->hiq.began_ns = c->v->now;
	pass(c, what->dwords);
	what->run(c, dw);
}

static void step(struct vgpu_chip *c)
{
	struct vgpu_hiq *h = &c->hiq;
	const struct command *what;
	u32 header, n;

	if (ring_dword(c, h->rptr, &header)) {
		hang(c, "the HIQ ring is gone: the hardware scheduler hangs");
		return;
	}
	if (header == VGPU_PM4_HANG) {
		hang(c, "the hardware scheduler hangs on a packet made for that");
		return;
	}
	if (!vgpu_pm4_is_packet(header)) {
		bad_packet(c, "no packet on the HIQ:", header);
		pass(c, 1);
		return;
	}
	n = vgpu_pm4_dwords(header);
	if (n > h->wptr - h->rptr) {
		bad_packet(c, "a packet on the HIQ goes beyond the write pointer:", header);
		pass(c, (u32)(h->wptr - h->rptr));
		return;
	}
	what = command_of(header);
	if (what) {
		run_command(c, what);
	} else if (vgpu_pm4_op(header) == VGPU_PM4_NOP) {
		c->counters.packets[VGPU_NOP]++;
		pass(c, n);
	} else {
		bad_packet(c, "a packet on the HIQ that is not known:", header);
		pass(c, n);
	}
}

/* Executes packets of the ring until one must wait. True if it executed any. */
bool vgpu_hiq_run(struct vgpu_chip *c)
{
	struct vgpu_hiq *h = &c->hiq;
	bool did = false;

	while (h->running && !h->hung && h->waits == VGPU_HIQ_READY && h->rptr != h->wptr) {
		step(c);
		did = true;
	}
	return did;
}

/* Names queues that could not be unmapped in the HIQ's MQDs; the fence is written all the same. */
static void name_failed(struct vgpu_chip *c)
{
	u32 nr = 0;

	for (u32 i = 0; i < c->top && nr < VGPU_MQD_FAILED_DOORBELLS; i++) {
		const struct vgpu_queue *d = &c->v->queues[i];

		if (!c->queues[i].used || !d->stuck || !d->on)
			continue;
		for (u32 xcc = 0; xcc < c->xccs; xcc++)
			vgpu_driver_put(c, c->hiq.mqd[xcc] + 4 * (VGPU_MQD_FAILED_DOORBELL + nr),
					c->queues[i].doorbell);
		nr++;
	}
}

/* The device below finished the operation that the ring waits for. */
void vgpu_hiq_ended(struct vgpu_chip *c)
{
	struct vgpu_hiq *h = &c->hiq;

	if (h->waits == VGPU_HIQ_READY)
		return;
	if (h->waits == VGPU_HIQ_UNMAPS && c->last_unmapped.failed)
		name_failed(c);
	c->counters.commands_ns += c->v->now - h->began_ns;
	if (h->waits == VGPU_HIQ_UNMAPS) {
		c->counters.unmaps_ns += c->v->now - h->began_ns;
		c->counters.saves_ns += c->last_unmapped.done_at - c->last_unmapped.save_at;
	}
	h->began_ns = c->v->now;
	h->waits = VGPU_HIQ_READY;
	unmap_next(c);
}

/* Checks whether the doorbell of the HIQ moved. */
bool vgpu_hiq_look(struct vgpu_chip *c)
{
	struct vgpu_hiq *h = &c->hiq;
	u64 rung, w;

	if (!h->running)
		return false;
	rung = c->bus.doorbell(c->ctx, h->doorbell);
	if (rung == h->rung) {
		/* The value may be older than the load of the ring. */
		if (rung == h->wptr || c->bus.read(c->ctx, VGPU_SPACE_DRIVER, h->wptr_address,
						   &w, sizeof(w)) || w != rung)
			return false;
	}
	h->rung = rung;
	if (rung == h->wptr)
		return false;
	if (rung - h->rptr > h->ring_dwords) {
		vgpu_say_number(c, "the doorbell of the HIQ is beyond its ring:", rung);
		return true;
	}
	h->wptr = rung;
	return true;
}
