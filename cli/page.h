/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The pieces of the report's page, in their order: cli/page/, made C by tools/embed-text. */
#ifndef GP_PAGE_H
#define GP_PAGE_H

extern const char gp_page_head[];	/* head.html: style and the empty chapters */
extern const char gp_page_draw[];	/* draw.js: charts and tables of anything */
extern const char gp_page_chapters[];	/* chapters.js: those with pictures */
extern const char gp_page_tables[];	/* tables.js: those that are tables */
extern const char gp_page_end[];	/* end.html: the evidence, and the start */

#endif /* GP_PAGE_H */
