// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "glob.h"

#include <string.h>

/*
 * Returns the position after the ']' that closes the set whose '[' is before @p. NULL: not
 * closed.
 */
static const char *set_end(const char *p)
{
	p += *p == '!' || *p == '^';
	p += *p == ']';		/* the first one is a member */
	for (; *p && *p != ']'; p++) {
		if (*p == '\\' && p[1])
			p++;
	}
	return *p ? p + 1 : NULL;
}

/* True if @c is in the set behind '['. */
static bool in_set(const char *p, unsigned char c)
{
	const char *end = set_end(p) - 1;
	bool negated = *p == '!' || *p == '^';
	bool found = false;

	p += negated;
	while (p < end) {
		unsigned char low, high;

		p += *p == '\\';
		low = high = (unsigned char)*p++;
		if (*p == '-' && p + 1 < end) {
			p++;
			p += *p == '\\';
			high = (unsigned char)*p++;
		}
		found |= low <= c && c <= high;
	}
	return found != negated;
}

/* True if one character at *@p matches @c. Then moves *@p behind it. */
static bool match_one(const char **p, char c, enum gp_glob_kind kind)
{
	const char *at = *p;
	bool slash = kind == GP_GLOB_PATH && c == '/';
	bool ok;

	switch (*at) {
	case '\0':
		return false;
	case '?':
		at++;
		ok = !slash;
		break;
	case '[':
		ok = !slash && in_set(at + 1, (unsigned char)c);
		at = set_end(at + 1);
		break;
	default:
		at += *at == '\\';
		ok = *at == c;
		at++;
	}
	if (ok)
		*p = at;
	return ok;
}

/*
 * Tries only the last '*' and the last "**" again. That is enough: text between two stars is
 * best matched as early as possible, because the later star can reach everything that a longer
 * match of the earlier star could reach. Returns the position after the match. NULL: no match.
 */
static const char *match(const char *p, const char *t, enum gp_glob_kind kind, bool within)
{
	const char *star = NULL, *star_at = NULL, *deep = NULL, *deep_at = NULL, *first = t;

	for (;;) {
		if (*p == '*') {
			bool crosses = kind == GP_GLOB_TEXT || p[1] == '*';

			p += strspn(p, "*");
			star = crosses ? NULL : p;
			star_at = t;
			if (crosses) {
				deep = p;
				deep_at = t;
			}
		} else if (!*p && (!*t || (within && t > first && *t == '/'))) {
			return t;
		} else if (*t && match_one(&p, *t, kind)) {
			t++;
		} else if (star && *star_at && *star_at != '/') {
			p = star;
			t = ++star_at;
		} else if (deep && *deep_at) {
			p = deep;
			t = ++deep_at;
			star = NULL;
		} else {
			return NULL;
		}
	}
}

bool gp_glob(const char *pattern, const char *text, enum gp_glob_kind kind)
{
	return match(pattern, text, kind, false);
}

size_t gp_glob_within(const char *pattern, const char *path)
{
	const char *end = match(pattern, path, GP_GLOB_PATH, true);

	return end ? (size_t)(end - path) : 0;
}

const char *gp_glob_wrong(const char *pattern)
{
	for (const char *p = pattern; *p; p++) {
		if (*p == '\\') {
			if (!*++p)
				return "ends with '\\'";
		} else if (*p == '[') {
			p = set_end(p + 1);
			if (!p)
				return "has a '[' without ']'";
			p--;
		}
	}
	return *pattern ? NULL : "is empty";
}
