/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef FIXTURE_KINDS_H
#define FIXTURE_KINDS_H

#include "tests/shared/conformance.h"

struct bench *fixture_null(const struct bench_kind *kind);
/* @kind->arg: enum gp_how of the simulator. */
struct bench *fixture_sim(const struct bench_kind *kind);

#endif /* FIXTURE_KINDS_H */
