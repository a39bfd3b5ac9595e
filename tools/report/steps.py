# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Chapter: one preemption, step by step, at the worst moment: the monitor looked just before the work
came. Once with the costs of the design notes, which must give their sums, and once with ours.
"""

from .forms import ASSUMED, NOTES, PARTS, SIMULATOR, figure, fraction, microseconds, origin
from .run import Step, Trial

# The design notes on each step, in order: name, part of the five (None: before or beside them), from, to (us), note.
NOTED = [
    ('submit: doorbell write', None, 0.1, 0.1, 'only the GPU sees it'),
    ('detect: until the monitor looks', 'detect', 0, 5000, '0 to 5 ms, or 1 ms while a critical queue exists'),
    ('read all queue states', 'detect', 10, 10, 'not in the sum of the notes'),
    ('check for inversion', 'decide', 1, 1, 'not in the sum of the notes'),
    ('trigger: PM4 on the HIQ ring', 'command', 1, 1, ''),
    ('command processor acts', 'command', 1, 1, 'part of the trigger in the sum of the notes'),
    ('save waves by the trap handler', 'save', 1, 10, 'about 100 ns a wave'),
    ('release compute units', 'save', 1, 1, 'part of the save in the sum of the notes'),
    ('switch: dispatch the next queue', 'switch', 0, 1, 'below 1 us'),
    ('completion notice', None, 10, 10, 'beside the path: no step waits for it'),
]
# The sums of the design notes, in us.
NOTED_TOTALS = {'monitor-5ms': 5011, 'monitor-1ms': 1011, 'manual': 11}
NOTED_WHERE = 'doc/background.md'

# Our own steps are finer than the five parts: the facts they are made of.
OURS = [
    ('wake the worker', 'decide', 'wake'),
    ('decide', 'decide', 'decide'),
    ('command: doorbell of the HIQ until the CP acts', 'command', 'command'),
    ('grace: shortest', 'command', 'grace'),
    ('save: fixed part', 'save', 'save_fixed'),
    ('run list: fence seen until the next is on the ring', 'switch', 'runlist'),
    ('map a process', 'switch', 'map_process'),
    ('map a queue', 'switch', 'map_queue'),
    ('dispatch: mapped until the first wave runs', 'switch', 'dispatch'),
]

ROWS = ('monitor-5ms', 'monitor-1ms', 'manual', 'ours-debug', 'ours-evict', 'ours-direct', 'ours-hint')
NOTED_COSTS = Trial('timeline', rows=ROWS)
OUR_COSTS = Trial('timeline', rows=ROWS, sets=('costs.set=ours',))


def _preemption(row, noted):
    parts = row['breakdown'] or {}
    worst = {part: microseconds(parts[part]['max']) if parts else 0.0 for part in (*PARTS, 'total')}
    total = worst.pop('total')
    o = {'name': row['name'], 'what': row['what'], 'parts': worst, 'total': total}
    says = NOTED_TOTALS.get(row['name'])
    if noted and says:
        o['design_notes'] = figure(says, 'us', NOTES, NOTED_WHERE)
        o['agrees'] = says - 0.5 < total < says + 0.5
    return o


def costs_of(found, repeat, noted=False):
    """The worst preemption of each row of what `gpreempt compare --json` printed."""
    return {**origin('us', SIMULATOR, repeat), 'rows': [_preemption(row, noted) for row in found['rows']]}


def _noted():
    listed = [{'name': name, 'part': part, 'low': fraction(low), 'high': fraction(high), 'note': note}
              for name, part, low, high, note in NOTED]
    return {**origin('us', NOTES, NOTED_WHERE), 'steps': listed}


def _ours(facts):
    listed = [{'name': name, 'part': part, 'value': microseconds(facts[fact]['value']), 'note': facts[fact]['note']}
              for name, part, fact in OURS]
    return {**origin('us', ASSUMED, 'gpreempt facts'), 'steps': listed}


def steps(runner, report, shared):
    noted, ours, (facts, listed) = yield [
        runner.step(NOTED_COSTS), runner.step(OUR_COSTS), Step('facts of the mi308x', lambda: runner.facts('mi308x'))]
    shared['facts'] = listed
    return {
        'design_notes': _noted(),
        'noted_costs': costs_of(noted, runner.command(NOTED_COSTS), noted=True),
        'our_costs': costs_of(ours, runner.command(OUR_COSTS)),
        'our_steps': _ours(facts),
    }
