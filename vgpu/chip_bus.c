// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The chip's way to the outside: memory, interrupts, sentences.
 *
 * An address of a process that is not mapped is a fault of the queue that used
 * it: the driver gets its interrupt and the queue stops. An address of the
 * driver's own that is not mapped can only be reported.
 */
#include "chip_private.h"

struct text {
	char at[200];
	u32 n;
};

static void text_add(struct text *t, const char *s)
{
	while (*s && t->n < sizeof(t->at) - 1)
		t->at[t->n++] = *s++;
	t->at[t->n] = 0;
}

static void text_hex(struct text *t, u64 value)
{
	char digit[2] = { 0 };
	u32 shift = 60;

	text_add(t, "0x");
	while (shift && !(value >> shift))
		shift -= 4;
	for (;; shift -= 4) {
		digit[0] = "0123456789abcdef"[value >> shift & 15];
		text_add(t, digit);
		if (!shift)
			return;
	}
}

void vgpu_say(struct vgpu_chip *c, const char *what)
{
	c->counters.reports++;
	c->bus.report(c->ctx, what);
}

void vgpu_say_number(struct vgpu_chip *c, const char *what, u64 number)
{
	struct text t = { .n = 0 };

	text_add(&t, what);
	text_add(&t, " ");
	text_hex(&t, number);
	vgpu_say(c, t.at);
}

void vgpu_say_queue(struct vgpu_chip *c, const struct vgpu_user_queue *q, const char *what)
{
	struct text t = { .n = 0 };

	text_add(&t, "queue at doorbell ");
	text_hex(&t, q->doorbell);
	text_add(&t, " of PASID ");
	text_hex(&t, c->processes[q->process].pasid);
	text_add(&t, ": ");
	text_add(&t, what);
	vgpu_say(c, t.at);
}

void vgpu_interrupt(struct vgpu_chip *c, const struct vgpu_interrupt *irq)
{
	c->counters.interrupts++;
	c->bus.interrupt(c->ctx, irq);
}

static struct vgpu_interrupt from_queue(struct vgpu_chip *c, const struct vgpu_user_queue *q,
					enum vgpu_interrupt_kind kind)
{
	const struct vgpu_process *p = vgpu_process_of(c, q);
	struct vgpu_interrupt irq = {
		.kind		= (u8)kind,
		.vmid		= p->vmid,
		.engine		= q->engine,
		.pasid		= (u16)p->pasid,
		.doorbell	= q->doorbell,
	};

	return irq;
}

void vgpu_user_interrupt(struct vgpu_chip *c, const struct vgpu_user_queue *q,
			 enum vgpu_interrupt_kind kind, u32 context)
{
	struct vgpu_interrupt irq = from_queue(c, q, kind);

	irq.context = context;
	vgpu_interrupt(c, &irq);
}

void vgpu_user_fail(struct vgpu_chip *c, struct vgpu_user_queue *q, const char *what)
{
	if (q->failed || q->error)
		return;
	q->failed = what;
	c->failing = true;
}

static int driver_fault(struct vgpu_chip *c, u64 address)
{
	c->counters.faults++;
	vgpu_say_number(c, "the driver's memory is not mapped at", address);
	return -EFAULT;
}

int vgpu_driver_read(struct vgpu_chip *c, u64 address, void *to, u32 n)
{
	if (c->bus.read(c->ctx, VGPU_SPACE_DRIVER, address, to, n))
		return driver_fault(c, address);
	return 0;
}

int vgpu_driver_write(struct vgpu_chip *c, u64 address, const void *from, u32 n)
{
	if (c->bus.write(c->ctx, VGPU_SPACE_DRIVER, address, from, n))
		return driver_fault(c, address);
	return 0;
}

int vgpu_driver_put(struct vgpu_chip *c, u64 address, u32 value)
{
	return vgpu_driver_write(c, address, &value, sizeof(value));
}

static int user_fault(struct vgpu_chip *c, struct vgpu_user_queue *q, u64 address, bool write)
{
	struct vgpu_interrupt irq = from_queue(c, q, VGPU_IRQ_FAULT);

	c->counters.faults++;
	if (q->failed || q->error)
		return -EFAULT;
	irq.address = address;
	irq.write = write;
	vgpu_interrupt(c, &irq);
	vgpu_say_number(c, write ? "a write to memory that is not mapped, at"
				 : "a read of memory that is not mapped, at", address);
	vgpu_user_fail(c, q, "it used an address that is not mapped");
	return -EFAULT;
}

int vgpu_user_read(struct vgpu_chip *c, struct vgpu_user_queue *q, u64 address, void *to, u32 n)
{
	if (c->bus.read(c->ctx, vgpu_process_of(c, q)->space, address, to, n))
		return user_fault(c, q, address, false);
	return 0;
}

int vgpu_user_write(struct vgpu_chip *c, struct vgpu_user_queue *q, u64 address,
		    const void *from, u32 n)
{
	if (c->bus.write(c->ctx, vgpu_process_of(c, q)->space, address, from, n))
		return user_fault(c, q, address, true);
	return 0;
}

int vgpu_user_add(struct vgpu_chip *c, struct vgpu_user_queue *q, u64 address, u64 value)
{
	u64 now;

	if (address % 8 ||
	    c->bus.add(c->ctx, vgpu_process_of(c, q)->space, address, value, &now))
		return user_fault(c, q, address, true);
	return 0;
}

static int counted_read(void *ctx, vgpu_space space, u64 address, void *to, u32 n)
{
	struct vgpu_chip *c = ctx;

	return c->bus.read(c->ctx, space, address, to, n);
}

static int counted_write(void *ctx, vgpu_space space, u64 address, const void *from, u32 n)
{
	struct vgpu_chip *c = ctx;

	return c->bus.write(c->ctx, space, address, from, n);
}

static int counted_add(void *ctx, vgpu_space space, u64 address, u64 value, u64 *ret)
{
	struct vgpu_chip *c = ctx;

	return c->bus.add(c->ctx, space, address, value, ret);
}

static u64 counted_doorbell(void *ctx, u32 index)
{
	struct vgpu_chip *c = ctx;

	return c->bus.doorbell(c->ctx, index);
}

static void counted_interrupt(void *ctx, const struct vgpu_interrupt *irq)
{
	vgpu_interrupt(ctx, irq);
}

static void counted_report(void *ctx, const char *what)
{
	vgpu_say(ctx, what);
}

const struct vgpu_bus vgpu_counted_bus = {
	.read		= counted_read,
	.write		= counted_write,
	.add		= counted_add,
	.doorbell	= counted_doorbell,
	.interrupt	= counted_interrupt,
	.report		= counted_report,
};
