/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One section of a 64-bit ELF file in memory, such as a kernel module. */
#ifndef GP_CLI_ELF_SECTION_H
#define GP_CLI_ELF_SECTION_H

#include <stddef.h>

#include "gp_env.h"

struct gp_elf_section {
	const void *at;
	size_t size;
};

/*
 * Finds the section @name. *@ret points into @file. Returns -EBADMSG (gp_strerror) if @file is
 * not a valid 64-bit ELF file of this byte order, -ENOENT if it has no such section.
 */
int gp_elf_section(const void *file, size_t size, const char *name, struct gp_elf_section *ret);

#endif /* GP_CLI_ELF_SECTION_H */
