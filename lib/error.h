/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The sentence that gp_strerror() returns: one per thread, of its last failure. */
#ifndef GP_ERROR_H
#define GP_ERROR_H

/* Remembers the sentence and returns -@err; @err is positive. errno is kept. */
int gp_fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* GP_ERROR_H */
