// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "class.h"

#include <string.h>

static const struct gp_named_class builtin[] = {
	{ .name = "online", .managed = true,
	  .is = { .priority = 10, .weight = 100, .flags = GP_LATENCY_CRITICAL } },
	{ .name = "interactive", .managed = true,
	  .is = { .priority = 7, .weight = 100, .flags = GP_LATENCY_CRITICAL | GP_PREEMPTIBLE } },
	{ .name = "offline", .managed = true,
	  .is = { .priority = 1, .weight = 100, .flags = GP_PREEMPTIBLE } },
	{ .name = "idle", .managed = true,
	  .is = { .priority = 0, .weight = 1, .flags = GP_PREEMPTIBLE } },
	{ .name = GP_UNMANAGED, .managed = false, .is = { .priority = 1, .weight = 100 } },
};

const struct gp_named_class *gp_class_builtin(u32 i)
{
	return i < sizeof(builtin) / sizeof(builtin[0]) ? &builtin[i] : NULL;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

bool gp_class_name_ok(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n < GP_CLASS_NAME && strchr(LETTERS, name[0]) &&
	       strspn(name, LETTERS "0123456789_-") == n;
}

/* Is a reservation of @to met by that of @from? Share and urgency both count. */
static bool reserves_less(const struct gp_class *from, const struct gp_class *to)
{
	u64 from_within = from->deadline_ns ? from->deadline_ns : from->period_ns;
	u64 to_within = to->deadline_ns ? to->deadline_ns : to->period_ns;

	if (!to->period_ns)
		return true;
	return from->period_ns && to->period_ns >= from->period_ns &&
	       to_within >= from_within && to->budget_ns <= from->budget_ns;
}

bool gp_class_lowers(const struct gp_named_class *from, const struct gp_named_class *to)
{
	const struct gp_class *a = &from->is, *b = &to->is;

	return b->priority <= a->priority && b->weight <= a->weight &&
	       !(b->flags & ~a->flags & GP_LATENCY_CRITICAL) &&
	       !(a->flags & ~b->flags & GP_PREEMPTIBLE) && reserves_less(a, b);
}
