/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether the firmware boots only signed kernels, which load only signed modules. */
#ifndef GP_CLI_SECURE_BOOT_H
#define GP_CLI_SECURE_BOOT_H

#define GP_SECURE_BOOT	\
	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* Reads the variable @path. Returns 1 for on, 0 for off or unsupported, -1 for unknown. */
int gp_secure_boot(const char *path);

#endif /* GP_CLI_SECURE_BOOT_H */
