// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The readers of BTF and of ELF sections, on a kernel of four types and a module of three. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/machine/btf.h"
#include "cli/machine/elf_section.h"
#include "gp_env.h"
#include "tests/shared/gp_test.h"

enum { INT = 1, PTR = 2, ARRAY = 3, STRUCT = 4, UNION = 5, ENUM = 6, TYPEDEF = 8 };
enum { FLAG = 1u << 31 };

struct blob {
	u8 bytes[2048];
	u32 types, strings;		/* bytes of each */
	u32 string_base;
	char names[512];
};

static void put(struct blob *b, u32 word)
{
	memcpy(b->bytes + 24 + b->types, &word, 4);
	b->types += 4;
}

static u32 name(struct blob *b, const char *text)
{
	u32 at = b->strings;

	strcpy(b->names + at, text);
	b->strings += (u32)strlen(text) + 1;
	return b->string_base + at;
}

static void type(struct blob *b, const char *text, u32 info, u32 size)
{
	put(b, *text ? name(b, text) : 0);
	put(b, info);
	put(b, size);
}

static void member(struct blob *b, const char *text, u32 id, u32 bits)
{
	put(b, *text ? name(b, text) : 0);
	put(b, id);
	put(b, bits);
}

static size_t finish(struct blob *b)
{
	const u32 header[6] = { 0x1eb9f, 24, 0, b->types, b->types, b->strings };

	memcpy(b->bytes, header, sizeof(header));
	memcpy(b->bytes + 24 + b->types, b->names, b->strings);
	return 24 + b->types + b->strings;
}

/* Types: 1 u32, 2 its pointer, 3 u32[6], 4 typedef of 3. */
static size_t make_base(struct blob *b)
{
	name(b, "");
	type(b, "u32", INT << 24, 4);
	put(b, 32);
	type(b, "", PTR << 24, 1);
	type(b, "", ARRAY << 24, 0);
	put(b, 1);
	put(b, 1);
	put(b, 6);
	type(b, "six", TYPEDEF << 24, 3);
	return finish(b);
}

/* Types: 5 a nameless union, 6 struct s { u32 a; union { p; six n }; u32 f:3 }, 7 enum e. */
static size_t make_split(struct blob *b, const struct blob *base)
{
	b->string_base = base->strings;
	type(b, "", UNION << 24 | 2, 24);
	member(b, "p", 2, 0);
	member(b, "n", 4, 0);
	type(b, "s", FLAG | STRUCT << 24 | 3, 40);
	member(b, "a", 1, 0);
	member(b, "", 5, 64);
	member(b, "f", 1, 3 << 24 | 256);
	type(b, "e", ENUM << 24 | 2, 4);
	put(b, name(b, "c"));
	put(b, 7);
	put(b, name(b, "d"));
	put(b, 9);
	return finish(b);
}

static void members_are_found_through_base_typedef_and_nameless_unions(void **state)
{
	struct blob k = { 0 }, m = { 0 };
	size_t kernel = make_base(&k), module = make_split(&m, &k);
	struct gp_btf base, all;
	struct gp_btf_member found;
	u64 value;
	u32 s, e;

	(void)state;
	EXPECT_EQ(gp_btf_open(&base, k.bytes, kernel, NULL), 0);
	EXPECT_EQ(gp_btf_open(&all, m.bytes, module, &base), 0);
	s = gp_btf_struct(&all, "s", 0);
	e = gp_btf_enum(&all, "e", 0);
	EXPECT_EQ(s, 6);
	EXPECT_EQ(e, 7);
	EXPECT_EQ(gp_btf_struct(&all, "s", s), 0);
	EXPECT_EQ(gp_btf_size(&all, s), 40);
	EXPECT_EQ(gp_btf_member(&all, s, "n", &found), 0);
	EXPECT_EQ(found.offset, 8);
	EXPECT_EQ(found.size, 24);
	EXPECT_EQ(gp_btf_member(&all, s, "f", &found), 0);
	EXPECT_EQ(found.offset, 32);
	EXPECT_EQ(gp_btf_member(&all, s, "x", &found), -ENOENT);
	EXPECT_EQ(gp_btf_constant(&all, e, "d", &value), 0);
	EXPECT_EQ(value, 9);
	EXPECT_EQ(gp_btf_constant(&all, s, "d", &value), -ENOENT);
	gp_btf_close(&all);
	gp_btf_close(&base);
}

/* Three branches at each of 32 steps are 3^32 paths unless each type is searched once. */
static void nameless_members_in_circles_come_to_an_end(void **state)
{
	struct gp_btf_member found;
	struct blob b = { .strings = 1 };
	struct gp_btf btf;
	size_t size;

	(void)state;
	type(&b, "", STRUCT << 24 | 3, 8);
	for (u32 i = 0; i < 3; i++)
		member(&b, "", 1, 0);
	size = finish(&b);
	EXPECT_EQ(gp_btf_open(&btf, b.bytes, size, NULL), 0);
	EXPECT_EQ(gp_btf_member(&btf, 1, "m", &found), -ENOENT);
	gp_btf_close(&btf);
}

static void every_truncation_and_every_changed_byte_is_survived(void **state)
{
	struct blob k = { 0 };
	size_t bytes = make_base(&k);
	struct gp_btf b;
	u32 refused = 0;

	(void)state;
	for (size_t i = 0; i < bytes; i++) {
		refused += gp_btf_open(&b, k.bytes, i, NULL) == -EBADMSG;
		gp_btf_close(&b);
	}
	EXPECT_EQ(refused, bytes);
	for (size_t i = 0; i < bytes * 8; i++) {
		k.bytes[i / 8] ^= 1 << i % 8;
		if (!gp_btf_open(&b, k.bytes, bytes, NULL))
			for (u32 id = 0; id < b.first + b.nr + 2; id++)
				gp_btf_size(&b, id);
		gp_btf_close(&b);
		k.bytes[i / 8] ^= 1 << i % 8;
	}
}

struct file {
	Elf64_Ehdr head;
	Elf64_Shdr section[3];
	char names[16];
	char text[8];
};

static void make_file(struct file *f)
{
	*f = (struct file) {
		.head = { .e_ident = ELFMAG "\2\1", .e_shoff = offsetof(struct file, section),
			  .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 1 },
		.section = { { 0 },
			{ .sh_name = 1, .sh_type = SHT_STRTAB,
			  .sh_offset = offsetof(struct file, names), .sh_size = 16 },
			{ .sh_name = 7, .sh_type = SHT_PROGBITS,
			  .sh_offset = offsetof(struct file, text), .sh_size = 8 } },
		.names = "\0names\0\0.gp", .text = "layout",
	};
	f->section[2].sh_name = 8;
}

static void a_section_is_found_by_its_whole_name(void **state)
{
	struct gp_elf_section found;
	struct file f;

	(void)state;
	make_file(&f);
	EXPECT_EQ(gp_elf_section(&f, sizeof(f), ".gp", &found), 0);
	EXPECT(found.at == f.text && found.size == 8);
	EXPECT_EQ(gp_elf_section(&f, sizeof(f), ".g", &found), -ENOENT);
	EXPECT_EQ(gp_elf_section(&f, sizeof(f), ".gp_", &found), -ENOENT);
	for (size_t i = 0; i < sizeof(f); i++)
		EXPECT(gp_elf_section(&f, i, ".gp", &found));
	f.section[2].sh_size = 9;
	EXPECT_EQ(gp_elf_section(&f, sizeof(f), ".gp", &found), -EBADMSG);
	EXPECT_EQ(gp_elf_section("text", 4, ".gp", &found), -EBADMSG);
}

PROVE(
	CLAIM(members_are_found_through_base_typedef_and_nameless_unions),
	CLAIM(nameless_members_in_circles_come_to_an_end),
	CLAIM(every_truncation_and_every_changed_byte_is_survived),
	CLAIM(a_section_is_found_by_its_whole_name),
)
