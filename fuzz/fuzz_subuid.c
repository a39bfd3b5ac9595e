// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The input is /etc/subuid or /etc/passwd. All parsed text must lie inside it. */
#include <stdlib.h>
#include <string.h>

#include "lib/user.h"

enum { RANGES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_subuid_range range[RANGES];
	char *text = malloc(size + 1);
	uid_t uid;
	u32 nr;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	nr = gp_subuid_parse(text, range, RANGES);
	for (u32 i = 0; i < nr; i++) {
		if (range[i].name + range[i].name_bytes > size || !range[i].name_bytes ||
		    text[range[i].name + range[i].name_bytes] != ':' || !range[i].count)
			abort();
		gp_passwd_find(text, text + range[i].name, range[i].name_bytes, &uid);
	}
	free(text);
	return 0;
}
