// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The page: a text that came with us, and the evidence in it. It loads nothing; what it
 * shows it draws from the evidence when it is opened.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "page.h"

/* Where the evidence goes. */
#define PLACE	"@REPORT@"

int gp_evidence_page(const json_t *report, FILE *to)
{
	/* "</script>" in a text of it would end the script: no slash is left bare. */
	char *data = json_dumps(report, JSON_COMPACT | JSON_ESCAPE_SLASH | JSON_REAL_PRECISION(12));
	const char *place = strstr(gp_page_end, PLACE);
	int bad = !data || !place;

	if (!bad)
		bad = fputs(gp_page_head, to) < 0 || fputs(gp_page_draw, to) < 0 ||
		      fputs(gp_page_chapters, to) < 0 || fputs(gp_page_tables, to) < 0 ||
		      fprintf(to, "%.*s%s%s", (int)(place - gp_page_end), gp_page_end, data,
			      place + strlen(PLACE)) < 0;
	free(data);
	return bad ? -EIO : 0;
}
