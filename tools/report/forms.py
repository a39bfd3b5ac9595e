# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The forms in which a report has its figures."""

import math

SIMULATOR, LAB, NOTES, ASSUMED = 'simulator', 'lab', 'design notes', 'assumed'
UNITS_OF_ROWS = 'times in ns, shares and ratios as fractions, the rest counted'
PARTS = ('detect', 'decide', 'command', 'save', 'switch')


def fraction(value):
    """Rounded to millionths, so that it prints the same everywhere."""
    return math.trunc(value * 1e6 + math.copysign(0.5, value)) / 1e6


def microseconds(ns):
    return fraction(ns / 1e3)


def origin(unit, source, repeat):
    """Holds for every number beside it and below it that has none of its own."""
    return {'unit': unit, 'source': source, 'repeat': repeat}


def figure(value, unit, source, repeat):
    return {'value': fraction(value), **origin(unit, source, repeat)}


def row_named(found, name):
    """A row of `gpreempt compare --json` by its name; None if it was not run."""
    return next((row for row in found['rows'] if row['name'] == name), None)


def _parts(breakdown):
    if not breakdown:
        return None
    means = {part: breakdown[part]['mean'] for part in (*PARTS, 'total')}
    return means | {'total_max': breakdown['total']['max']}


def summary(row):
    """The few figures of a row that tables show."""
    online = row['online'] or {}        # None: it served nothing
    added, ratio, preemptions = row['added'] or {}, row['ratio'] or {}, row['preemptions']
    return {
        'name': row['name'], 'state': row['state'],
        'mean': online.get('mean'), 'p99': online.get('p99'), 'max': online.get('max'),
        'added_mean': added.get('mean'), 'added_p99': added.get('p99'),
        'ratio_mean': ratio.get('mean'), 'ratio_p99': ratio.get('p99'),
        'goodput': row['offline_goodput'] if row['offline_work'] else None,
        'monitor_cpu': row['monitor_cpu'], 'preemptions': preemptions,
        'served': row['served'], 'offered': row['offered'],
        'bytes_per_save': row['bytes_saved'] // preemptions if preemptions else 0,
        'work_lost': row['work_lost'], 'work_doubled': row['work_doubled'],
        'parts': _parts(row['breakdown']),
    }


def summaries(found, names):
    """The same for the rows @names of a comparison; with the reason where one was not run."""
    why = {row['name']: row['why'] for row in found['not_run']}
    return [{'name': name, 'state': 'not run', 'why': why[name]} if name in why
            else summary(row_named(found, name)) for name in names]
