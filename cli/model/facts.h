/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Every number of the model, with its source. */
#ifndef GP_CLI_FACTS_H
#define GP_CLI_FACTS_H

#include <jansson.h>

/* What `gpreempt facts --json` prints; @profile is one there is. */
json_t *gp_facts_json(const char *profile);

#endif /* GP_CLI_FACTS_H */
