// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The input is BTF, a BTF that continues it, or a module. The first byte chooses the size of
 * the base. The target asks for everything about the first types. No answer may lie beyond the
 * end or take forever. Further types would only slow down the target, because each question is
 * about one type.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/machine/btf.h"
#include "cli/machine/elf_section.h"

enum { TYPES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct gp_btf *b)
{
	struct gp_btf_member found;
	u64 value, sum = 0;

	for (u32 id = 0; id < b->first + b->nr + 1 && id < TYPES; id++) {
		sum += gp_btf_size(b, id);
		if (!gp_btf_member(b, id, "m", &found))
			sum += found.offset + found.size;
		if (!gp_btf_constant(b, id, "c", &value))
			sum += value;
	}
	for (u32 id = 0; (id = gp_btf_struct(b, "s", id));)
		sum++;
	for (u32 id = 0; (id = gp_btf_enum(b, "e", id));)
		sum++;
	/* Keeps the compiler from removing the sum. */
	*(volatile u64 *)&sum = sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_btf base, more;
	struct gp_elf_section section;
	size_t split;

	if (!gp_elf_section(data, size, ".s", &section) &&
	    ((const uint8_t *)section.at < data ||
	     (const uint8_t *)section.at + section.size > data + size))
		abort();
	if (!size)
		return 0;
	split = data[0] * (size - 1) / 255;
	if (!gp_btf_open(&base, data + 1, split, NULL)) {
		ask(&base);
		if (!gp_btf_open(&more, data + 1 + split, size - 1 - split, &base))
			ask(&more);
		gp_btf_close(&more);
	}
	gp_btf_close(&base);
	return 0;
}
