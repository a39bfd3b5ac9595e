// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The input is a dump of queue descriptors. Read as a whole and in parts it must give the same
 * result.
 */
#include <stdlib.h>

#include "lib/mqd_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse(const char *text, size_t bytes, size_t step, struct gp_mqd_list *l)
{
	struct gp_mqd_parser p;
	int err = 0;

	gp_mqd_parser_init(&p, l, 0);
	for (size_t at = 0; !err && at < bytes; at += step)
		err = gp_mqd_parser_feed(&p, text + at, bytes - at < step ? bytes - at : step);
	return err ? err : gp_mqd_parser_end(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_mqd_list whole = { 0 }, pieces = { 0 };
	int err = parse((const char *)data, size, size ? size : 1, &whole);

	if (parse((const char *)data, size, 13, &pieces) != err || whole.count != pieces.count)
		abort();
	for (u32 i = 0; i < whole.count; i++)
		if (whole.mqd[i].read_at != pieces.mqd[i].read_at ||
		    whole.mqd[i].ring_bytes & (whole.mqd[i].ring_bytes - 1))
			abort();
	gp_mqd_list_fini(&whole);
	gp_mqd_list_fini(&pieces);
	return 0;
}
