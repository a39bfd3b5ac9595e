// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The input is a configuration. Reading it must give a configuration or messages. A valid one
 * must be printed as a text that reads as the same, and must give every process a class.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct gp_config *config, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to || (json ? gp_config_print_json(config, to) : gp_config_print(config, to)))
		abort();
	fclose(to);
	return text;
}

static void match(const struct gp_config *config, const char *text)
{
	const struct gp_subject who = { .uid = 1000, .gid = 7, .exe = text, .cmdline = text,
					.cgroup = text, .wanted = text };
	struct gp_match m;

	gp_rules_match(&config->rules, &who, &m);
	if (!m.class || strchr(m.why, '\n') || (m.lowered && m.class == config->rules.otherwise))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char errors[GP_CONFIG_ERRORS];
	struct gp_config *config = NULL, *again = NULL;
	int r = gp_config_parse("fuzz", (const char *)data, size, &config, errors, sizeof(errors));
	char *first, *second, *text;

	/* An error without a message is a bug too. */
	if (r) {
		if (r != -EINVAL || config || strncmp(errors, "fuzz:", 5))
			abort();
		return 0;
	}
	text = strndup((const char *)data, size < 4096 ? size : 4096);
	match(config, text);
	match(config, "/system.slice/slurmstepd.scope/job_7/step_0");
	free(text);
	first = print(config, false);
	if (gp_config_parse("fuzz", first, strlen(first), &again, errors, sizeof(errors)))
		abort();
	second = print(again, false);
	if (strcmp(first, second))
		abort();
	free(print(config, true));
	free(first);
	free(second);
	gp_config_free(config);
	gp_config_free(again);
	return 0;
}
