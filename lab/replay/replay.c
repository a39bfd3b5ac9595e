// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/adapter/state.h"
#include "replay.h"

enum { HOUR_NS_SHIFT = 42 };	/* 2^42 ns: more than an hour, less than two */

static const char *const kinds[RECORDING_NR_KINDS] = {
	[RECORDING_KIQ] = "KIQ packets", [RECORDING_DOORBELLS] = "a look at the doorbells",
	[RECORDING_ADVANCE] = "an advance", [RECORDING_RESET] = "a GPU reset",
	[RECORDING_SLOT_RESET] = "a slot reset", [RECORDING_FAULT] = "a fault",
	[RECORDING_REGISTER] = "a register read", [RECORDING_STATE] = "the state",
	[RECORDING_READ] = "a read", [RECORDING_WRITE] = "a write", [RECORDING_ADD] = "an add",
	[RECORDING_DOORBELL] = "a doorbell read", [RECORDING_ANSWER] = "a register's value",
	[RECORDING_INTERRUPT] = "an interrupt",
};

/* Sets the error, unless one is set already. */
__attribute__((format(printf, 3, 4)))
static int fail(struct lab_replay *r, int err, const char *format, ...)
{
	va_list args;
	int n;

	if (r->err)
		return r->err;
	r->err = err;
	n = snprintf(r->why, sizeof(r->why), "entry %llu, %llu ns: ", (unsigned long long)r->nr,
		     (unsigned long long)r->now_ns);
	va_start(args, format);
	vsnprintf(r->why + n, sizeof(r->why) - (size_t)n, format, args);
	va_end(args);
	return err;
}

/* ---- entries ---- */

struct taken {
	struct recording_entry e;
	const u8 *bytes;
};

static u64 padded(u32 bytes)
{
	return ((u64)bytes + 7) / 8 * 8;
}

/* Reads the next entry without consuming it. False: malformed, or at the end. */
static bool peek(struct lab_replay *r, struct taken *t)
{
	u64 left = r->size - r->at;

	if (r->err || !left)
		return false;
	if (left < sizeof(t->e)) {
		fail(r, -EINVAL, "malformed: the file ends inside an entry");
		return false;
	}
	memcpy(&t->e, r->data + r->at, sizeof(t->e));
	left -= sizeof(t->e);
	if (t->e.kind >= RECORDING_NR_KINDS || padded(t->e.bytes) > left) {
		fail(r, -EINVAL, "malformed: kind %u with %u bytes of %llu", t->e.kind, t->e.bytes,
		     (unsigned long long)left);
		return false;
	}
	t->bytes = r->data + r->at + sizeof(t->e);
	return true;
}

static void pass(struct lab_replay *r, const struct taken *t)
{
	r->at += sizeof(t->e) + padded(t->e.bytes);
	r->nr++;
}

static bool same(const struct recording_entry *a, const struct recording_entry *b)
{
	return a->kind == b->kind && a->space == b->space && a->address == b->address &&
	       a->bytes == b->bytes;
}

/* Checks that this chip asks for the same as the recorded one. */
static bool expect(struct lab_replay *r, const struct recording_entry *here, struct taken *t)
{
	if (!peek(r, t)) {
		fail(r, -EPROTO,
		     "expected nothing more; got %s of %u bytes at 0x%llx in space 0x%llx",
		     kinds[here->kind], here->bytes, (unsigned long long)here->address,
		     (unsigned long long)here->space);
		return false;
	}
	if (!same(&t->e, here)) {
		fail(r, -EPROTO, "expected %s of %u bytes at 0x%llx in space 0x%llx; "
		     "got %s of %u bytes at 0x%llx in space 0x%llx", kinds[t->e.kind], t->e.bytes,
		     (unsigned long long)t->e.address, (unsigned long long)t->e.space,
		     kinds[here->kind], here->bytes, (unsigned long long)here->address,
		     (unsigned long long)here->space);
		return false;
	}
	pass(r, t);
	return true;
}

/* Compares the bytes of this chip with the recorded ones. */
static void compare(struct lab_replay *r, const struct taken *t, const void *here, u32 n)
{
	const u8 *bytes = here;

	for (u32 i = 0; i < n; i++) {
		if (t->bytes[i] == bytes[i])
			continue;
		r->nr--;	/* the entry has been consumed */
		fail(r, -EPROTO, "%s at 0x%llx in space 0x%llx: byte %u of %u is 0x%02x; "
		     "got 0x%02x", kinds[t->e.kind], (unsigned long long)t->e.address,
		     (unsigned long long)t->e.space, i, t->e.bytes, t->bytes[i], bytes[i]);
		return;
	}
}

/* ---- the world of the chip ---- */

static int bus_read(void *ctx, vgpu_space space, u64 address, void *to, u32 n)
{
	const struct recording_entry here = {
		.kind = RECORDING_READ, .space = space, .address = address, .bytes = n };
	struct taken t;

	if (!expect(ctx, &here, &t)) {
		memset(to, 0, n);
		return -EFAULT;
	}
	memcpy(to, t.bytes, n);
	return t.e.error ? -EFAULT : 0;
}

static int bus_write(void *ctx, vgpu_space space, u64 address, const void *from, u32 n)
{
	const struct recording_entry here = {
		.kind = RECORDING_WRITE, .space = space, .address = address, .bytes = n };
	struct taken t;

	if (!expect(ctx, &here, &t))
		return -EFAULT;
	compare(ctx, &t, from, n);
	return t.e.error ? -EFAULT : 0;
}

static int bus_add(void *ctx, vgpu_space space, u64 address, u64 value, u64 *ret)
{
	const struct recording_entry here = {
		.kind = RECORDING_ADD, .space = space, .address = address,
		.bytes = 2 * sizeof(u64) };
	struct taken t;

	*ret = 0;
	if (!expect(ctx, &here, &t))
		return -EFAULT;
	compare(ctx, &t, &value, sizeof(value));
	if (t.e.error)
		return -EFAULT;
	memcpy(ret, t.bytes + sizeof(value), sizeof(*ret));
	return 0;
}

static u64 bus_doorbell(void *ctx, u32 index)
{
	const struct recording_entry here = {
		.kind = RECORDING_DOORBELL, .address = index, .bytes = sizeof(u64) };
	struct taken t;
	u64 value = 0;

	if (expect(ctx, &here, &t))
		memcpy(&value, t.bytes, sizeof(value));
	return value;
}

static void bus_interrupt(void *ctx, const struct vgpu_interrupt *irq)
{
	const struct recording_interrupt raised = {
		.kind = irq->kind, .vmid = irq->vmid, .engine = irq->engine, .xcc = irq->xcc,
		.pasid = irq->pasid, .context = irq->context, .doorbell = irq->doorbell,
		.write = irq->write,
	};
	const struct recording_entry here = {
		.kind = RECORDING_INTERRUPT, .address = irq->address, .bytes = sizeof(raised) };
	struct taken t;

	if (expect(ctx, &here, &t))
		compare(ctx, &t, &raised, sizeof(raised));
}

static void bus_report(void *ctx, const char *what)
{
	(void)ctx;
	(void)what;	/* counted by the chip; the counters are compared */
}

static const struct vgpu_bus bus = {
	.read = bus_read,
	.write = bus_write,
	.add = bus_add,
	.doorbell = bus_doorbell,
	.interrupt = bus_interrupt,
	.report = bus_report,
};

/* ---- calls of the chip ---- */

static void do_kiq(struct lab_replay *r, const struct taken *t)
{
	u32 dwords[1024], nr = t->e.bytes / 4;

	if (t->e.bytes % 4 || nr > sizeof(dwords) / 4) {
		fail(r, -EINVAL, "malformed: %u bytes on a KIQ", t->e.bytes);
		return;
	}
	memcpy(dwords, t->bytes, t->e.bytes);
	vgpu_chip_kiq(r->chip, (u32)t->e.address, dwords, nr, r->now_ns);
}

static void do_register(struct lab_replay *r, const struct taken *t)
{
	const struct recording_entry here = { .kind = RECORDING_ANSWER, .bytes = sizeof(u32) };
	u64 a = t->e.address;
	u32 value = vgpu_chip_hqd(r->chip, (u32)(a >> 24), a >> 16 & 0xff, a >> 8 & 0xff, a & 0xff);
	struct taken answer;

	if (expect(r, &here, &answer))
		compare(r, &answer, &value, sizeof(value));
}

/* Finds the first line that differs between the lab's state and this one. */
static void compare_state(struct lab_replay *r, const char *lab, u32 n, const struct lab_text *here)
{
	u32 line = 0, at = 0;

	while (at < n && at < here->used && lab[at] == here->at[at])
		line = lab[at++] == '\n' ? at : line;
	if (at == n && at == here->used)
		return;
	r->nr--;
	fail(r, -EPROTO, "the state is not the lab's: expected '%.*s'; got '%.*s'",
	     (int)strcspn(lab + line, "\n"), lab + line,
	     (int)strcspn(here->at + line, "\n"), here->at + line);
}

static void do_state(struct lab_replay *r, const struct taken *t)
{
	char *lab = malloc((size_t)t->e.bytes + 1), *here = calloc(1, LAB_STATE_BYTES + 1);
	struct lab_text text = { .at = here, .room = LAB_STATE_BYTES };

	if (lab && here) {
		memcpy(lab, t->bytes, t->e.bytes);
		lab[t->e.bytes] = '\0';
		lab_state_counters(&text, r->chip);
		lab_state_queues(&text, r->chip);
		compare_state(r, lab, t->e.bytes, &text);
		r->states++;
	} else {
		fail(r, -ENOMEM, "no memory for the state");
	}
	free(lab);
	free(here);
}

/* Makes one call and handles everything that follows from it. */
static void do_call(struct lab_replay *r, const struct taken *t)
{
	u64 address = t->e.address;

	switch (t->e.kind) {
	case RECORDING_KIQ:
		do_kiq(r, t);
		break;
	case RECORDING_DOORBELLS:
		vgpu_chip_doorbells(r->chip, r->now_ns);
		break;
	case RECORDING_ADVANCE:
		vgpu_chip_advance(r->chip, r->now_ns);
		break;
	case RECORDING_RESET:
		vgpu_chip_reset(r->chip, r->now_ns);
		break;
	case RECORDING_SLOT_RESET:
		vgpu_chip_slot_reset(r->chip, (u32)(address >> 16), address >> 8 & 0xff,
				     address & 0xff, r->now_ns);
		break;
	case RECORDING_FAULT:
		vgpu_chip_fault(r->chip, (enum vgpu_fault)(u32)address, t->e.space);
		break;
	case RECORDING_REGISTER:
		do_register(r, t);
		break;
	case RECORDING_STATE:
		do_state(r, t);
		break;
	default:
		r->nr--;
		fail(r, -EPROTO, "expected %s of %u bytes at 0x%llx in space 0x%llx; got nothing",
		     kinds[t->e.kind], t->e.bytes, (unsigned long long)address,
		     (unsigned long long)t->e.space);
		break;
	}
}

/* Time never goes backwards, and never jumps so far that the chip would run forever. */
static bool check_time(struct lab_replay *r, const struct taken *t)
{
	if (t->e.kind == RECORDING_REGISTER || t->e.kind >= RECORDING_READ)
		return true;
	if (r->nr && (t->e.at < r->now_ns || t->e.at - r->now_ns > r->most_step_ns)) {
		fail(r, -EINVAL, "malformed: its time is %llu ns", (unsigned long long)t->e.at);
		return false;
	}
	if (t->e.at >> 62) {
		fail(r, -EINVAL, "malformed: it begins at %llu ns", (unsigned long long)t->e.at);
		return false;
	}
	r->now_ns = t->e.at;
	return true;
}

int lab_replay_run(struct lab_replay *r)
{
	struct taken t;

	while (peek(r, &t) && check_time(r, &t)) {
		pass(r, &t);
		do_call(r, &t);
	}
	return r->err;
}

/* ---- life ---- */

static int check_head(struct lab_replay *r, u64 size)
{
	const struct recording_head *h = &r->head;

	if (h->magic != RECORDING_MAGIC)
		return fail(r, -EINVAL, "malformed: this is no recording of the lab");
	if (h->lost)
		return fail(r, -EINVAL, "incomplete: %u entries were lost; load the driver with a "
			    "larger record=", h->lost);
	if (h->bytes != size - sizeof(*h))
		return fail(r, -EINVAL, "malformed: %llu bytes of entries instead of %llu",
			    (unsigned long long)(size - sizeof(*h)), (unsigned long long)h->bytes);
	if (!memchr(h->profile, 0, sizeof(h->profile)) || !vgpu_profile(h->profile))
		return fail(r, -EINVAL, "malformed: there is no profile '%.16s'", h->profile);
	if (h->rptr_at > VGPU_RPTR_AT_LAUNCH || h->save_area > VGPU_SAVE_HOST)
		return fail(r, -EINVAL, "malformed: facts that do not exist");
	return 0;
}

int lab_replay_init(struct lab_replay *r, const void *data, u64 size)
{
	struct vgpu_facts facts;
	struct vgpu_chip_args args = { .facts = &facts, .bus = &bus, .ctx = r };

	memset(r, 0, sizeof(*r));
	r->most_step_ns = BIT_ULL(HOUR_NS_SHIFT);
	if (size < sizeof(r->head))
		return fail(r, -EINVAL, "malformed: too short for a recording");
	memcpy(&r->head, data, sizeof(r->head));
	if (check_head(r, size))
		return r->err;
	r->data = (const u8 *)data + sizeof(r->head);
	r->size = r->head.bytes;
	facts = *vgpu_profile(r->head.profile);
	facts.f[VGPU_RPTR_AT].value = r->head.rptr_at;
	facts.f[VGPU_SAVE_AREA].value = r->head.save_area;
	args.unknown_ns = r->head.unknown_ns;
	args.iq_wait_time2 = r->head.iq_wait_time2;
	args.iq_wait_time2_register = r->head.iq_wait_time2_register;
	args.sdma_engines = r->head.sdma_engines;
	r->memory = calloc(1, vgpu_chip_size(&facts));
	if (!r->memory)
		return fail(r, -ENOMEM, "no memory for a chip");
	if (vgpu_chip_init(r->memory, &args, &r->chip))
		return fail(r, -EINVAL, "malformed: no chip can be like that");
	return 0;
}

void lab_replay_fini(struct lab_replay *r)
{
	free(r->memory);
	r->memory = NULL;
}
