/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Results as JSON, schema 1. Times are integer nanoseconds of virtual time;
 * there is nothing of the wall clock, so equal runs give equal bytes.
 */
#ifndef GP_JSON_H
#define GP_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "figures.h"

enum { GP_JSON_SCHEMA = 1 };

/* All return a new reference. A failed allocation ends the program. */

/* One row of a comparison. */
json_t *gp_json_row(const char *name, const struct gp_result *r, const struct gp_figures *f);
/* {"schema", "scenario", "seed"}: how every object we print begins. */
json_t *gp_json_head(const char *scenario, u64 seed);
/* A fraction, rounded so that it prints the same everywhere; null if not @known. */
json_t *gp_json_fraction(bool known, double value);
/* @object[@key] = @value, whose reference is taken. */
void gp_json_put(json_t *object, const char *key, json_t *value);

/* Indented, with a final newline. 0, or -EIO. Takes the reference of @value. */
int gp_json_print(json_t *value, FILE *to);

#endif /* GP_JSON_H */
