# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Chapter: how it scales, and where it stops being good. One thing of colocate is changed at a time, from
harmless to absurd; the sentences about the limits are derived from what came out.
"""

from .forms import PARTS, SIMULATOR, UNITS_OF_ROWS, fraction, origin, row_named, summaries
from .run import Trial

# Beyond these it is no longer good: p99 / alone, offline goodput.
GOOD_RATIO, GOOD_GOODPUT = 1.10, 0.90
GOOD = 'p99 at most 1.10 times that of alone, offline goodput at least 0.90, every request served'


def _kernel(time):
    return f'train.kernel.time={time}', 'train.kernel.workgroup=kernel'


def _bytes(vgpr, area):
    return f'train.kernel.vgpr={vgpr}', 'train.kernel.lds=0', f'gpu.save_area={area}'


VGPRS = (1024, 2048, 4096, 8192, 16384)
# name, axis, unit, rows, points: value (None: what was saved) and settings, and a length of their own. A kernel of
# a microsecond is a million kernels a second and queue: a shorter run has as many.
SWEEPS = [
    ('kernel', 'length of an offline kernel', 'us', ('native', 'drain', 'ours-debug', 'ours-evict'),
     [(1, _kernel('1us'), '1s'), (10, _kernel('10us'), '1s'), (100, _kernel('100us')), (1000, _kernel('1ms')),
      (10000, _kernel('10ms')), (100000, _kernel('100ms')), (1000000, _kernel('1s'))]),
    ('queues', 'offline queues', '', ('native', 'ours-debug', 'ours-evict'),
     [*((n, (f'train.queues={n}',)) for n in (1, 3, 10, 24, 50, 100, 300)),
      (1000, ('train.queues=500', 'train.processes=2'))]),
    ('processes', 'offline processes of 4 queues', '', ('native', 'ours-debug', 'ours-evict'),
     [(n, (f'train.processes={n}',)) for n in (1, 2, 4, 8, 16, 32, 63)]),
    ('bytes', 'saved per preemption, to VRAM', 'MB', ('ours-debug', 'ours-evict', 'bound'),
     [(None, _bytes(vgpr, 'vram')) for vgpr in VGPRS]),
    ('bytes_host', 'saved per preemption, to host memory', 'MB', ('ours-debug', 'ours-evict', 'bound'),
     [(None, _bytes(vgpr, 'host')) for vgpr in VGPRS]),
    ('rate', 'online requests', '/s', ('native', 'monitor-1ms', 'ours-evict', 'ours-hint'),
     [(n, (f'infer.arrivals=poisson {n}/s',)) for n in (10, 50, 100, 200, 300, 400, 450, 475, 500, 550)]),
]


def _trial(rows, settings, length=None):
    return Trial('colocate', length=length or '10s', quick='300ms' if length else '3s', rows=rows,
                 sets=(*settings, 'run.warmup=200ms'))


def _x(value, found):
    row = row_named(found, 'ours-evict')
    if value is not None or not row or not row['preemptions']:
        return value or 0
    return row['bytes_saved'] // row['preemptions'] / 1e6


def _point(value, trial, found, repeat):
    x = _x(value, found)
    return {
        **origin(UNITS_OF_ROWS, SIMULATOR, repeat), 'name': f'{x:.6g}', 'x': fraction(x),
        'alone_p99': found['alone']['p99'], 'online_share': found['alone']['gpu_share'],
        'rows': summaries(found, trial.rows),
    }


# ---- where it stops being good ----

BECAUSE = {
    'detect': 'detection', 'decide': 'the decision, which waits for a mechanism that is busy,',
    'command': 'the command', 'save': 'saving the waves', 'switch': 'the switch',
}


def _trouble(row):
    """What is wrong with @row, or ''."""
    if row['state'] == 'not run':
        return f"it was not run: {row['why']}"
    if row['state'] != 'ok':
        return f"it serves {100 * row['served'] / row['offered']:.0f} % of the requests"
    if (row['ratio_p99'] or 0) > GOOD_RATIO:
        return f"p99 is {row['ratio_p99']:.3f} times that of alone"
    if row['goodput'] is not None and row['goodput'] < GOOD_GOODPUT:
        return f"offline work keeps {100 * row['goodput']:.0f} % of what is left of the GPU"
    return ''


def _reason_at_once(parts):
    """Already too much at the first point: what most of it is."""
    most = max(PARTS, key=lambda part: parts[part])
    return (f"{BECAUSE[most]} takes {parts[most] / 1e3:.0f} of the {parts['total'] / 1e3:.0f} us "
            'of a preemption')


def _grown(before, after):
    """By how much the part of a preemption that grew most did so, and that part."""
    if not before or not after:
        return 0, None
    by, part = max(((after[part] - before[part], part) for part in PARTS), key=lambda grown: grown[0])
    return (by, part) if by > 0 else (0, None)


def _reason(first, point, row):
    parts = row.get('parts')
    if row['state'] == 'not run':
        return ''
    if not parts:
        return 'the offline work is never taken off the GPU'
    if first is row:
        return _reason_at_once(parts)
    by, part = _grown(first.get('parts'), parts)
    added = (row['added_mean'] or 0) - (first.get('added_mean') or 0)
    if part and by > 0.3 * added and by > 20000:
        return f'{BECAUSE[part]} takes {by / 1e3:.0f} us longer than at the first point'
    share = point['online_share'] or 0
    # More is added than a preemption takes at its worst, so requests wait for each other.
    if share > 0.5 and (row['added_p99'] is None or row['added_p99'] > 2 * parts['total_max']):
        return (f'the online work alone needs {100 * share:.0f} % of the GPU and offline work is owed its '
                'least share (min_share), so requests queue')
    return (f"it preempts {row['preemptions'] / row['served']:.2f} times per request, with "
            f"{parts['total'] / 1e3:.0f} us each and {parts['total_max'] / 1e3:.0f} us at most")


def _limit(name, unit, points):
    rows = [next(row for row in point['rows'] if row['name'] == name) for point in points]
    good_until = bad_from = None
    what = why = ''
    for point, row in zip(points, rows):
        what = _trouble(row)
        if what:
            bad_from, why = point['x'], _reason(rows[0], point, row)
            break
        good_until = point['x']
    return {**origin(unit, 'derived from the points', 'scale.sweeps'), 'name': name, 'good_until': good_until,
            'bad_from': bad_from, 'what': what, 'why': why}


def scale(runner, report, shared):
    trials = [[_trial(rows, *point[1:]) for point in points] for *_, rows, points in SWEEPS]
    results = iter((yield [runner.step(trial) for sweep in trials for trial in sweep]))
    sweeps = []
    for (name, axis, unit, rows, values), tried in zip(SWEEPS, trials):
        points = [_point(value[0], trial, next(results), runner.command(trial))
                  for value, trial in zip(values, tried)]
        sweeps.append({'name': name, 'axis': axis, 'x_unit': unit, 'points': points,
                       'limits': [_limit(row, unit, points) for row in rows]})
    return {'sweeps': sweeps, 'good': GOOD}
