// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Sections of ELF files, see elf_section.h. */
#include "elf_section.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "lib/error.h"

static int bad(const char *what)
{
	return gp_fail(EBADMSG, "not a 64-bit ELF file of this machine: %s", what);
}

/* Reads the header of section @i, which may be unaligned. */
static int header(const u8 *file, size_t size, u32 i, Elf64_Shdr *ret)
{
	Elf64_Ehdr e;

	memcpy(&e, file, sizeof(e));
	if (e.e_shentsize < sizeof(*ret) || e.e_shoff > size ||
	    (u64)(i + 1) * e.e_shentsize > size - e.e_shoff)
		return bad("its sections are cut off");
	memcpy(ret, file + e.e_shoff + (u64)i * e.e_shentsize, sizeof(*ret));
	if (ret->sh_type != SHT_NOBITS &&
	    (ret->sh_offset > size || ret->sh_size > size - ret->sh_offset))
		return bad("a section is cut off");
	return 0;
}

int gp_elf_section(const void *file, size_t size, const char *name, struct gp_elf_section *ret)
{
	Elf64_Shdr names = { 0 }, s = { 0 };
	Elf64_Ehdr e;
	int err;

	if (size < sizeof(e))
		return bad("too short");
	memcpy(&e, file, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_ident[EI_DATA] != (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return bad("no header");
	err = header(file, size, e.e_shstrndx, &names);
	if (err)
		return err;
	if (names.sh_type != SHT_STRTAB)
		return bad("its sections have no names");
	for (u32 i = 0; i < e.e_shnum; i++) {
		err = header(file, size, i, &s);
		if (err)
			return err;
		/* The comparison includes the NUL and stays within the names. */
		if (s.sh_type == SHT_NOBITS || s.sh_name >= names.sh_size ||
		    names.sh_size - s.sh_name <= strlen(name) ||
		    memcmp((const u8 *)file + names.sh_offset + s.sh_name, name, strlen(name) + 1))
			continue;
		*ret = (struct gp_elf_section) { (const u8 *)file + s.sh_offset, s.sh_size };
		return 0;
	}
	return -ENOENT;
}
