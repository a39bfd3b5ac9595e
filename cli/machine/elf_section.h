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
 * *@ret points into @file. -EBADMSG: not a 64-bit ELF file of this byte order, or it contradicts
 * itself (gp_strerror); -ENOENT: it has no section @name.
 */
int gp_elf_section(const void *file, size_t size, const char *name, struct gp_elf_section *ret);

#endif /* GP_CLI_ELF_SECTION_H */
