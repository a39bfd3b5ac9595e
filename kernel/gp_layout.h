/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The table of the driver's structure members and constants that gpreempt.ko uses, in section
 * GP_LAYOUT_SECTION. `gpreempt module` compares it with the BTF of the running driver. It has no
 * pointers, so it can be read from the file without relocation.
 */
#ifndef GP_KERNEL_LAYOUT_H
#define GP_KERNEL_LAYOUT_H

#include <linux/types.h>

#define GP_LAYOUT_SECTION	".gp_layout"

enum gp_layout_kind {
	GP_LAYOUT_MEMBER	= 0x6770,	/* value: offset in bytes */
	GP_LAYOUT_STRUCT,			/* value: 0, name: "" */
	GP_LAYOUT_CONSTANT,			/* of an enum; bytes: 0 */
};

struct gp_layout {
	__u32 kind;
	__u32 value;
	__u32 bytes;
	__u32 zero;
	char type[48];
	char name[64];
};

#endif /* GP_KERNEL_LAYOUT_H */
