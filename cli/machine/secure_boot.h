/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether the machine's firmware lets only signed kernels run, and they only signed modules. */
#ifndef GP_CLI_SECURE_BOOT_H
#define GP_CLI_SECURE_BOOT_H

#define GP_SECURE_BOOT	\
	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* @path: of the variable. 1 on, 0 off or a machine without it, -1 not known. */
int gp_secure_boot(const char *path);

#endif /* GP_CLI_SECURE_BOOT_H */
