// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A bar chart of a comparison, for a terminal. */
#include "chart.h"
#include "results.h"

#include <math.h>
#include <string.h>


enum { NAME_WIDTH = 20, TIME_WIDTH = 9, GOODPUT_WIDTH = 10, BAR_MIN = 16, BAR_MAX = 60 };

static u32 bar_width(void)
{
	u32 width = gp_term_width(), others = NAME_WIDTH + TIME_WIDTH + 2 * GOODPUT_WIDTH + 12;

	if (width < others + BAR_MIN)
		return BAR_MIN;
	return width - others > BAR_MAX ? BAR_MAX : width - others;
}

/* Prints a bar of @eighths of a cell and blanks up to @cells. */
static void bar(u32 eighths, u32 cells)
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	bool utf8 = gp_term_utf8();
	u32 used = utf8 ? eighths / 8 : (eighths + 4) / 8;

	for (u32 i = 0; i < used; i++)
		fputs(utf8 ? "█" : "#", stdout);
	if (utf8 && eighths % 8) {
		fputs(parts[eighths % 8], stdout);
		used++;
	}
	for (; used < cells; used++)
		putchar(' ');
}

static u64 p99(const struct gp_compared *row)
{
	return row->result.online.p99;
}

/*
 * Returns a length in eighths of a cell on the scale from just below the smallest value to the
 * largest.
 */
static u32 log_length(const struct gp_comparison *c, u64 value, u32 cells)
{
	double low = 0, high = 0;

	for (u32 i = 0; i < c->nr; i++) {
		double at = c->row[i].err || !p99(&c->row[i]) ? 0 : log((double)p99(&c->row[i]));

		if (at > 0 && (!(low > 0) || at < low))
			low = at;
		high = at > high ? at : high;
	}
	low -= 0.5;
	if (!value || high <= low)
		return 0;
	return (u32)((log((double)value) - low) / (high - low) * cells * 8);
}

static void row_line(const struct gp_comparison *c, const struct gp_compared *row, u32 cells)
{
	const struct gp_figures *f = &row->figures;
	bool offline = f->has_goodput && row->result.offline_work_ns;
	double goodput = offline ? f->goodput : 0;

	printf("%s%-*.*s %*s ", gp_paint(gp_row_paint(row)), NAME_WIDTH, NAME_WIDTH, row->name,
	       TIME_WIDTH, p99(row) ? gp_time(p99(row)).s : "-");
	bar(log_length(c, p99(row), cells), cells);
	printf("  %5s", gp_fraction(offline, f->goodput, 3).s);
	if (offline) {
		putchar(' ');
		bar((u32)(goodput * GOODPUT_WIDTH * 8), f->saturated ? GOODPUT_WIDTH : 0);
	}
	printf("%s%s\n", f->saturated ? " saturated" : "", gp_paint(GP_PLAIN));
}

void gp_chart(const struct gp_comparison *c)
{
	u32 cells = bar_width();

	printf("%s%-*s %*s %-*s  %s%s\n", gp_paint(GP_DIM), NAME_WIDTH, "", TIME_WIDTH, "p99",
	       (int)cells, "of online requests, log scale", "offline goodput", gp_paint(GP_PLAIN));
	for (u32 i = 0; i < c->nr; i++) {
		if (!c->row[i].err)
			row_line(c, &c->row[i], cells);
	}
}
