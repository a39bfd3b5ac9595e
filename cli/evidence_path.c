// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A number of the evidence by its path: compare.rows.ours-evict.added.mean */
#include "evidence_path.h"

#include <stdio.h>
#include <string.h>

#include "evidence.h"

static const json_t *member(const json_t *at, const char *word)
{
	const json_t *o;
	size_t i;

	if (json_is_object(at))
		return json_object_get(at, word);
	json_array_foreach(at, i, o) {
		if (!strcmp(gp_evidence_text(o, "name"), word))
			return o;
	}
	return NULL;
}

static void take_origin(const json_t *at, struct gp_number *f)
{
	if (*gp_evidence_text(at, "unit"))
		f->unit = gp_evidence_text(at, "unit");
	if (*gp_evidence_text(at, "source"))
		f->source = gp_evidence_text(at, "source");
	if (*gp_evidence_text(at, "repeat"))
		f->repeat = gp_evidence_text(at, "repeat");
}

bool gp_evidence_at(const json_t *root, const char *path, struct gp_number *ret)
{
	char words[256], *word, *rest = NULL;
	const json_t *at = root;

	*ret = (struct gp_number){ .unit = "", .source = "", .repeat = "" };
	snprintf(words, sizeof(words), "%s", path);
	for (word = strtok_r(words, ".", &rest); word && at; word = strtok_r(NULL, ".", &rest)) {
		at = member(at, word);
		take_origin(at, ret);
	}
	if (json_is_object(at))
		at = json_object_get(at, "value");
	ret->value = json_is_true(at) ? 1 : json_number_value(at);
	return json_is_number(at) || json_is_boolean(at);
}
