/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Claims of a client program: one line each, "ok - ..." or "not ok - ...".
 */
#ifndef CLIENT_CLAIM_H
#define CLIENT_CLAIM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int claims_broken;

/* Print whether the claim, a printf text, @holds. Returns @holds. */
__attribute__((format(printf, 2, 3)))
static inline bool claim(bool holds, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	fputs(holds ? "ok - " : "not ok - ", stdout);
	vprintf(text, args);
	putchar('\n');
	/* If the next step hangs, what was reached must be seen. */
	fflush(stdout);
	va_end(args);
	if (!holds)
		claims_broken++;
	return holds;
}

/* Byte @i of a pattern that differs at every power of two, so that shifted copies show. */
static inline unsigned char pattern_byte(unsigned int seed, size_t i)
{
	return (unsigned char)(seed * 31 + i + (i >> 8) * 7 + (i >> 16) * 13);
}

static inline void pattern_fill(unsigned char *bytes, size_t size, unsigned int seed)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = pattern_byte(seed, i);
}

/* The first byte of @bytes that is not the pattern's; @size if there is none. */
static inline size_t pattern_differs(const unsigned char *bytes, size_t size, unsigned int seed)
{
	size_t i = 0;

	while (i < size && bytes[i] == pattern_byte(seed, i))
		i++;
	return i;
}

#endif
