// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The world of chip_world.h: memory and time. The driver is in chip_driver.c. */
#include "chip_world.h"

static int space_of(const struct chip_world *w, vgpu_space space)
{
	if (space == VGPU_SPACE_DRIVER)
		return 0;
	for (int i = 1; i < CW_PROCESSES; i++)
		if (w->root[i] && w->root[i] == space)
			return i;
	return -1;
}

static u8 *reach(struct chip_world *w, vgpu_space space, u64 address, u32 n)
{
	int s = space_of(w, space);

	if (s < 0 || address < CW_BASE || address - CW_BASE > CW_MEMORY ||
	    n > CW_MEMORY - (address - CW_BASE))
		return NULL;
	return w->memory[s] + (address - CW_BASE);
}

static int bus_read(void *ctx, vgpu_space space, u64 address, void *to, u32 n)
{
	u8 *at = reach(ctx, space, address, n);

	if (!at)
		return -EFAULT;
	memcpy(to, at, n);
	return 0;
}

static int bus_write(void *ctx, vgpu_space space, u64 address, const void *from, u32 n)
{
	u8 *at = reach(ctx, space, address, n);

	if (!at)
		return -EFAULT;
	memcpy(at, from, n);
	return 0;
}

static int bus_add(void *ctx, vgpu_space space, u64 address, u64 value, u64 *ret)
{
	u8 *at = reach(ctx, space, address, 8);

	if (!at)
		return -EFAULT;
	memcpy(ret, at, 8);
	*ret += value;
	memcpy(at, ret, 8);
	return 0;
}

static u64 bus_doorbell(void *ctx, u32 index)
{
	struct chip_world *w = ctx;

	return index < CW_DOORBELLS ? w->doorbells[index] : 0;
}

static void bus_interrupt(void *ctx, const struct vgpu_interrupt *irq)
{
	struct chip_world *w = ctx;

	if (w->on_irq)
		w->on_irq(w, irq);
	w->irq[w->nr_irqs++ % CW_IRQS] = *irq;
}

static void bus_report(void *ctx, const char *what)
{
	struct chip_world *w = ctx;

	w->nr_reports++;
	snprintf(w->report, sizeof(w->report), "%s", what);
	if (getenv("CW_SAY"))
		fprintf(stderr, "# %s\n", what);
}

static const struct vgpu_bus bus = {
	.read		= bus_read,
	.write		= bus_write,
	.add		= bus_add,
	.doorbell	= bus_doorbell,
	.interrupt	= bus_interrupt,
	.report		= bus_report,
};

void cw_init(struct chip_world *w, const char *profile)
{
	struct vgpu_chip_args args = {
		.facts			= &w->facts,
		.bus			= &bus,
		.ctx			= w,
		.unknown_ns		= US(20),
		.iq_wait_time2		= 0x40404040,
		.iq_wait_time2_register	= CW_WAIT_REG,
		.sdma_engines		= 16,
	};

	memset(w, 0, sizeof(*w));
	w->facts = *vgpu_profile(profile);
	w->xccs = (u32)vgpu_value(&w->facts, VGPU_XCCS);
	for (u32 i = 0; i < CW_PROCESSES; i++) {
		w->memory[i] = calloc(1, CW_MEMORY);
		w->allocated[i] = 4096;
		w->root[i] = i ? 0x7000001ull + i * 0x10000 : 0;
	}
	w->chip_memory = calloc(1, vgpu_chip_size(&w->facts));
	EXPECT_EQ(vgpu_chip_init(w->chip_memory, &args, &w->chip), 0);
}

void cw_fini(struct chip_world *w)
{
	for (u32 i = 0; i < CW_PROCESSES; i++)
		free(w->memory[i]);
	free(w->chip_memory);
}

/* Makes a chip with the HIQ loaded and its resources set. */
int cw_up(void **state)
{
	struct chip_world *w = calloc(1, sizeof(*w));

	cw_init(w, "mi308x");
	cw_load_hiq(w);
	cw_set_resources(w);
	cw_run(w, 0);
	*state = w;
	return 0;
}

int cw_down(void **state)
{
	struct chip_world *w = *state;

	cw_fini(w);
	free(w);
	return 0;
}

u64 cw_alloc(struct chip_world *w, u32 space, u64 bytes, u64 align)
{
	u64 at = (w->allocated[space] + align - 1) / align * align;

	EXPECT(at + bytes <= CW_MEMORY);
	w->allocated[space] = at + bytes;
	return CW_BASE + at;
}

void *cw_at(struct chip_world *w, u32 space, u64 address)
{
	u8 *at = reach(w, w->root[space], address, 8);

	EXPECT(at);
	return at;
}

u32 cw_get32(struct chip_world *w, u32 space, u64 address)
{
	u32 value;

	memcpy(&value, cw_at(w, space, address), sizeof(value));
	return value;
}

u64 cw_get64(struct chip_world *w, u32 space, u64 address)
{
	u64 value;

	memcpy(&value, cw_at(w, space, address), sizeof(value));
	return value;
}

void cw_put32(struct chip_world *w, u32 space, u64 address, u32 value)
{
	memcpy(cw_at(w, space, address), &value, sizeof(value));
}

void cw_put64(struct chip_world *w, u32 space, u64 address, u64 value)
{
	memcpy(cw_at(w, space, address), &value, sizeof(value));
}

void cw_run(struct chip_world *w, u64 ns)
{
	enum vgpu_rung rung = vgpu_chip_rung(w->chip);
	bool any = vgpu_chip_doorbells(w->chip, w->now);

	EXPECT(!any || rung != VGPU_RUNG_NO);
	w->now += ns;
	vgpu_chip_advance(w->chip, w->now);
}
