/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Tests every promise of core/mechanism.h on every mechanism. */
#include <stdio.h>
#include <string.h>

#include "fixture_kinds.h"
#include "sim/mechanism.h"

static const struct bench_kind kinds[] = {
	{ "null", fixture_null, 0 },
	{ "sim evict", fixture_sim, GP_BY_EVICT },
	{ "sim direct", fixture_sim, GP_BY_DIRECT },
	{ "sim debug", fixture_sim, GP_BY_DEBUG },
	{ "sim halt", fixture_sim, GP_BY_HALT },
	{ "sim drain", fixture_sim, GP_BY_DRAIN },
	{ "sim reset", fixture_sim, GP_BY_RESET },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), MOST = 16 };

struct trial {
	const struct bench_kind *kind;
	const struct promise *promise;
	struct bench *bench;
	char name[160];
};

static int up(void **state)
{
	struct trial *t = *state;

	t->bench = t->kind->make(t->kind);
	return 0;
}

static int down(void **state)
{
	struct trial *t = *state;

	t->bench->fini(t->bench);
	return 0;
}

static void keeps_its_promise(void **state)
{
	struct trial *t = *state;

	t->promise->test(t->bench);
}

int main(void)
{
	static struct trial trials[KINDS * MOST];
	static struct CMUnitTest claims[KINDS * MOST];
	u32 i, j, n = 0;

	for (i = 0; i < KINDS; i++) {
		for (j = 0; promises[j].text; j++, n++) {
			trials[n] = (struct trial){ .kind = &kinds[i], .promise = &promises[j] };
			snprintf(trials[n].name, sizeof(trials[n].name), "%s: %s", kinds[i].name,
				 promises[j].text);
			claims[n] = (struct CMUnitTest){ trials[n].name, keeps_its_promise,
							 up, down,
							 &trials[n] };
		}
	}
	return _cmocka_run_group_tests(__FILE__, claims, n, NULL, NULL) != 0;
}
