/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef BENCH_KINDS_H
#define BENCH_KINDS_H

#include "conformance.h"

struct bench *bench_null(const struct bench_kind *kind);
/* @kind->arg: enum gp_how of the simulator. */
struct bench *bench_sim(const struct bench_kind *kind);

#endif /* BENCH_KINDS_H */
