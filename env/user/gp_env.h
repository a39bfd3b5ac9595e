/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The whole outside world of core/, policy/ and vgpu/, user-space edition.
 *
 * Need: u8 u16 u32 u64 s64 bool NULL BIT_ULL() GP_WARN_ON() static_assert(), the
 * errno names, and memcpy memset memmove memcmp (a compiler emits calls to
 * those four by itself, so every world has them).
 *
 * Absent on purpose: allocation, printing, clocks, locks, floating point. A
 * file that needs one of them belongs in another folder.
 */
#ifndef GP_ENV_H
#define GP_ENV_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define BIT_ULL(n)	(1ull << (n))

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *at, int byte, size_t n);
void *memmove(void *to, const void *from, size_t n);
int memcmp(const void *a, const void *b, size_t n);

/* Returns @broken. Prints the first broken invariant and counts all in gp_warnings. */
bool gp_warn_on(bool broken, const char *what);
extern u64 gp_warnings;
#define GP_WARN_ON(cond) gp_warn_on(cond, #cond)

#endif /* GP_ENV_H */
