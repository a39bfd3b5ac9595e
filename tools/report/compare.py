# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Chapters of the one comparison: every row, and where another row beats ours."""

from .forms import SIMULATOR, UNITS_OF_ROWS, fraction, origin
from .run import Trial

# Every row there is, on the scenario by which everything is judged.
EVERY_ROW = Trial('colocate', length='60s', quick='20s', wide=True)


def _row(row):
    served = row['served']
    per_request = fraction(row['preemptions'] / served) if served else None
    return {k: v for k, v in row.items() if k != 'tasks'} | {'preemptions_per_request': per_request}


def chapter_of(found, repeat):
    """The chapter of what `gpreempt compare --json` printed."""
    rows = [_row(row) for row in found['rows']]
    rows += [{'name': row['name'], 'state': 'not run', 'why': row['why']} for row in found['not_run']]
    return {
        **origin(UNITS_OF_ROWS, SIMULATOR, repeat),
        'scenario': found['scenario'], 'length': found['length'], 'quantiles': found['quantiles'],
        'rows': rows, 'closed_form': found['closed_form'],
    }


def compare(runner, report, shared):
    found, = yield [runner.step(EVERY_ROW)]
    # What later chapters need of it and the report does not show.
    shared['main'], shared['repeat'] = found, runner.command(EVERY_ROW)
    return chapter_of(found, shared['repeat'])


def better(runner, report, shared):
    yield []
    return {**origin(UNITS_OF_ROWS, SIMULATOR, shared['repeat']), 'metrics': shared['main']['better']}
