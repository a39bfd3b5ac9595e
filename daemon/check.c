// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "check.h"

#include <errno.h>

#include "config.h"

int gp_check(const char *path, bool json, FILE *out, FILE *err)
{
	char errors[GP_CONFIG_ERRORS];
	struct gp_config *config;
	int r = gp_config_load(path, &config, errors, sizeof(errors));

	if (r) {
		fputs(r == -ENOMEM ? "out of memory\n" : errors, err);
		return r == -EINVAL ? GP_CHECK_REFUSED : GP_CHECK_UNREADABLE;
	}
	r = json ? gp_config_print_json(config, out) : gp_config_print(config, out);
	gp_config_free(config);
	if (r)
		fputs("the output could not be written\n", err);
	return r ? GP_CHECK_UNREADABLE : GP_CHECK_GOOD;
}
