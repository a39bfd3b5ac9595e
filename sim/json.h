/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Results as JSON, schema 1. Times are integer nanoseconds of virtual time. Nothing depends on the
 * wall clock, so equal runs give equal bytes.
 */
#ifndef GP_JSON_H
#define GP_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "figures.h"

enum { GP_JSON_SCHEMA = 1 };

/* All return a new reference. A failed allocation ends the program. */

/* Returns one row of a comparison. */
json_t *gp_json_row(const char *name, const struct gp_result *r, const struct gp_figures *f);
/* Returns {"schema", "scenario", "seed"}, with which every printed object begins. */
json_t *gp_json_head(const char *scenario, u64 seed);
/* Returns a fraction, rounded so that it prints the same everywhere; null if not @known. */
json_t *gp_json_fraction(bool known, double value);
/* Sets @object[@key] to @value. Takes its reference. */
void gp_json_put(json_t *object, const char *key, json_t *value);

/* Prints @value indented, with a final newline. 0, or -EIO. Takes its reference. */
int gp_json_print(json_t *value, FILE *to);

#endif /* GP_JSON_H */
