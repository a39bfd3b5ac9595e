# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Figures of a report by their paths, such as compare.rows.ours-evict.added.mean.

A word of a path names a member of an object, or the element of an array whose "name" it is. Unit,
source and repeat of a figure are those of the nearest object around it that has them. The
requirements, doc/figures.json and the marks in the texts all use these paths.
"""

import collections

ORIGIN = ('unit', 'source', 'repeat')
# Chapters and members whose numbers describe the report itself.
ABOUT = {'schema', 'seed', 'wall_clock', 'quick'}

Figure = collections.namedtuple('Figure', ['value', *ORIGIN])


class Missing(Exception):
    """A path leads to no number; says why."""


def _member(at, word):
    if isinstance(at, list):
        return next((o for o in at if isinstance(o, dict) and o.get('name') == word), None)
    return at.get(word) if isinstance(at, dict) else None


def find(report, path, truth=False):
    """The figure at @path. With @truth, true and false are the numbers 1 and 0."""
    at, origin = report, dict.fromkeys(ORIGIN, '')
    for word in path.split('.'):
        at = _member(at, word)
        if at is None:
            raise Missing(f"{path}: no '{word}' there")
        if isinstance(at, dict):
            origin.update((k, at[k]) for k in ORIGIN if at.get(k))
    if isinstance(at, dict):
        at = at.get('value')
    if truth and isinstance(at, bool):
        at = int(at)
    if isinstance(at, bool) or not isinstance(at, (int, float)):
        raise Missing(f'{path}: it is not a number')
    return Figure(at, **origin)


def without_origin(report):
    """The path of each number that has no unit, source or repeat."""
    for key, member in report.items():
        if key not in ABOUT:
            yield from _bare(member, set(), key)


def _bare(value, known, path):
    if isinstance(value, dict):
        known = known | value.keys() & set(ORIGIN)
        for key, member in value.items():
            yield from _bare(member, known, f'{path}.{key}')
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _bare(member, known, f'{path}[{i}]')
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and len(known) < len(ORIGIN):
        yield path
