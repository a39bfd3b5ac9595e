// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* SDMA queues copy by pages: the number of translations, and that every byte and fault is exact. */
#include "sdma_world.h"

enum { PAGE = MEM_PAGE, RING_READS = 2 };	/* the header, then the packet */

static u32 translations_of(struct fixture *f, const u32 *dw, u32 n)
{
	u32 before;

	give(f, dw, n);
	before = f->m.translations;
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	return f->m.translations - before;
}

#define TRANSLATIONS(f, ...)						\
	translations_of(f, (const u32[]){ __VA_ARGS__ },		\
			sizeof((const u32[]){ __VA_ARGS__ }) / 4)

static void a_copy_of_whole_pages_translates_once_per_page_and_side(void **state)
{
	struct fixture *f = *state;

	mem_pattern(&f->m, SRC, 64 * PAGE, 1);
	EXPECT_EQ(TRANSLATIONS(f, COPY(DST, SRC, 64 * PAGE)), RING_READS + 2 * 64);
	EXPECT(!memcmp(mem_at(&f->m, DST, 64 * PAGE), mem_at(&f->m, SRC, 64 * PAGE), 64 * PAGE));
	EXPECT_EQ(f->m.largest, PAGE);
}

/* A copy goes from boundary to boundary of pages on either side and of its three pieces. */
static void an_unaligned_copy_translates_twice_per_page_and_side(void **state)
{
	struct fixture *f = *state;
	u32 n;

	mem_pattern(&f->m, SRC, 49 * PAGE, 1);
	n = TRANSLATIONS(f, COPY(DST + 3, SRC + 1, 48 * PAGE));
	EXPECT(n <= RING_READS + 2 * (2 * 48 + 3));
	EXPECT(!memcmp(mem_at(&f->m, DST + 3, 48 * PAGE), mem_at(&f->m, SRC + 1, 48 * PAGE),
		       48 * PAGE));
	EXPECT_EQ(*mem_at(&f->m, DST + 2, 1), 0);
	EXPECT_EQ(*mem_at(&f->m, DST + 3 + 48 * PAGE, 1), 0);
}

static void a_fill_translates_once_per_page(void **state)
{
	struct fixture *f = *state;

	EXPECT_EQ(TRANSLATIONS(f, 11 | 2u << 30, LO(DST), HI(DST), 0x11223344, 64 * PAGE - 4),
		  RING_READS + 64);
	for (u32 i = 0; i < 64 * PAGE; i += 4)
		EXPECT_EQ(mem_u32(&f->m, DST + i), 0x11223344);
	EXPECT_EQ(mem_u32(&f->m, DST + 64 * PAGE), 0);
}

static void long_rows_of_a_rectangle_move_by_pages(void **state)
{
	struct fixture *f = *state;

	/* 2 rows of 4 pages, elements of 16 bytes, pitch of 8 pages */
	mem_pattern(&f->m, SRC, 12 * PAGE, 1);
	EXPECT_EQ(TRANSLATIONS(f, 1 | 4 << 8 | 4u << 29,
			       LO(SRC), HI(SRC), 0, (8 * PAGE / 16 - 1) << 13, 0xfffff,
			       LO(DST), HI(DST), 0, (8 * PAGE / 16 - 1) << 13, 0xfffff,
			       (4 * PAGE / 16 - 1) | 1 << 16, 0), RING_READS + 2 * 8);
	for (u32 row = 0; row < 2; row++)
		EXPECT(!memcmp(mem_at(&f->m, DST + row * 8 * PAGE, 4 * PAGE),
			       mem_at(&f->m, SRC + row * 8 * PAGE, 4 * PAGE), 4 * PAGE));
}

static void a_fault_names_the_first_byte_that_is_not_there(void **state)
{
	static const struct { u32 absent; bool write; } table[] = {
		{ 0x42, false }, { 0x82, true },
	};

	for (u32 i = 0; i < 2; i++) {
		u64 from = SRC + 100, to = DST + 1000, page = MEM + table[i].absent * (u64)PAGE;
		u64 before = page - (table[i].write ? to : from);
		struct fixture *f;

		down(state);
		up(state);
		f = *state;
		mem_pattern(&f->m, SRC, 8 * PAGE, 1);
		f->m.absent[table[i].absent] = true;
		GIVE(f, COPY(to, from, 6 * PAGE));
		EXPECT_EQ(run_dry(f), VGPU_SDMA_ERROR);
		EXPECT(f->s.stop.fault);
		EXPECT_EQ(f->s.stop.write, table[i].write);
		EXPECT_EQ(f->s.stop.address, page);
		/* All bytes before the fault were moved, none after it. */
		EXPECT_EQ(f->s.bytes, before);
		EXPECT(!memcmp(mem_at(&f->m, to, before), mem_at(&f->m, from, before), before));
		EXPECT_EQ(*mem_at(&f->m, to + before, 1), 0);
	}
}

/* The reference copies a byte at a time in a memory of its own. */
struct reference {
	u8 bytes[MEM_BYTES];
	const bool *absent;
	bool fault, write;
	u64 address;
};

static bool there(struct reference *r, u64 address, bool write)
{
	if (!r->absent[(address - MEM) / PAGE])
		return true;
	r->fault = true;
	r->write = write;
	r->address = address;
	return false;
}

static bool put_byte(struct reference *r, u64 to, u8 byte)
{
	if (!there(r, to, true))
		return false;
	r->bytes[to - MEM] = byte;
	return true;
}

static bool copy_byte(struct reference *r, u64 to, u64 from)
{
	return there(r, from, false) && put_byte(r, to, r->bytes[from - MEM]);
}

struct shape {
	u64 from, to;
	u32 bytes;
};

static struct shape random_shape(u64 *seed)
{
	/* Offsets mostly near page boundaries. */
	static const u32 near[] = { 0, 1, 4, 255, 256, 2048, 4092, 4095 };
	struct shape s = {
		.from = SRC + gp_test_random(seed) % 4 * PAGE + near[gp_test_random(seed) % 8],
		.to = DST + gp_test_random(seed) % 4 * PAGE + near[gp_test_random(seed) % 8],
		.bytes = 1 + (u32)(gp_test_random(seed) % (20 * PAGE)),
	};

	if (gp_test_random(seed) % 3 == 0)
		s.bytes = 1 + (u32)(gp_test_random(seed) % 300);
	return s;
}

static void random_copy(struct fixture *f, struct reference *r, u64 *seed)
{
	struct shape s = random_shape(seed);

	GIVE(f, COPY(s.to, s.from, s.bytes));
	for (u32 i = 0; i < s.bytes && copy_byte(r, s.to + i, s.from + i); i++)
		;
}

static void random_fill(struct fixture *f, struct reference *r, u64 *seed)
{
	struct shape s = random_shape(seed);
	u32 size = (u32)(gp_test_random(seed) % 3), pattern = (u32)gp_test_random(seed);

	if (size == 2)
		s.bytes = (s.bytes + 3) / 4 * 4;
	GIVE(f, 11 | size << 30, LO(s.to), HI(s.to), pattern, s.bytes - 1);
	if (size == 1)
		pattern = (pattern & 0xffff) * 0x10001;
	for (u32 i = 0; i < s.bytes && put_byte(r, s.to + i, (u8)(pattern >> i % 4 * 8)); i++)
		;
}

static void random_rectangle(struct fixture *f, struct reference *r, u64 *seed)
{
	struct shape s = random_shape(seed);
	u32 width = 1 + (u32)(gp_test_random(seed) % 5000);
	u32 rows = 1 + (u32)(gp_test_random(seed) % 9);
	u32 pitch = width + (u32)(gp_test_random(seed) % 4000);

	GIVE(f, 1 | 4 << 8, LO(s.from), HI(s.from), 0, (pitch - 1) << 13, 0xfffff,
	     LO(s.to), HI(s.to), 0, (pitch - 1) << 13, 0xfffff, (width - 1) | (rows - 1) << 16, 0);
	for (u32 y = 0; y < rows; y++)
		for (u32 x = 0; x < width; x++)
			if (!copy_byte(r, s.to + y * pitch + x, s.from + y * pitch + x))
				return;
}

static void random_write(struct fixture *f, struct reference *r, u64 *seed)
{
	struct shape s = random_shape(seed);
	u32 dw[4 + 600] = { 2, LO(s.to), HI(s.to) }, n = 1 + (u32)(gp_test_random(seed) % 600);
	const u8 *data = (const u8 *)(dw + 4);

	dw[3] = n - 1;
	for (u32 i = 0; i < n; i++)
		dw[4 + i] = (u32)gp_test_random(seed);
	give(f, dw, 4 + n);
	for (u32 i = 0; i < n * 4 && put_byte(r, s.to + i, data[i]); i++)
		;
}

static void random_moves_are_those_of_a_copy_byte_by_byte(void **state)
{
	static void (*const moves[])(struct fixture *, struct reference *, u64 *) = {
		random_copy, random_fill, random_rectangle, random_write,
	};
	struct reference *r = calloc(1, sizeof(*r));
	u64 seed = gp_test_seed(3);
	u32 faults = 0;

	for (u32 round = 0; round < 2000; round++) {
		struct fixture *f;

		down(state);
		up(state);
		f = *state;
		mem_pattern(&f->m, SRC, 0x40000, round);
		for (u32 i = 0; round % 2 && i < 6; i++)
			f->m.absent[0x40 + gp_test_random(&seed) % 0x60] = true;
		memset(r, 0, sizeof(*r));
		r->absent = f->m.absent;
		memcpy(r->bytes + RING_BYTES, f->m.bytes + RING_BYTES, MEM_BYTES - RING_BYTES);
		moves[gp_test_random(&seed) % 4](f, r, &seed);
		EXPECT_EQ(run_dry(f), r->fault ? VGPU_SDMA_ERROR : VGPU_SDMA_IDLE);
		EXPECT_EQ(f->s.stop.fault, r->fault);
		EXPECT_EQ(f->s.stop.write, r->write);
		EXPECT_EQ(f->s.stop.address, r->address);
		EXPECT(!memcmp(f->m.bytes + RING_BYTES, r->bytes + RING_BYTES,
			       MEM_BYTES - RING_BYTES));
		faults += r->fault;
	}
	EXPECT(faults > 100);
	free(r);
}

PROVE(
	CLAIM_WITH(a_copy_of_whole_pages_translates_once_per_page_and_side, up, down),
	CLAIM_WITH(an_unaligned_copy_translates_twice_per_page_and_side, up, down),
	CLAIM_WITH(a_fill_translates_once_per_page, up, down),
	CLAIM_WITH(long_rows_of_a_rectangle_move_by_pages, up, down),
	CLAIM_WITH(a_fault_names_the_first_byte_that_is_not_there, up, down),
	CLAIM_WITH(random_moves_are_those_of_a_copy_byte_by_byte, up, down),
)
