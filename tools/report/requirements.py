# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Chapter: the requirements, what the design notes expected, and what came out. It comes last, since every figure is
one of another chapter.
"""

import operator

from . import path
from .forms import LAB, SIMULATOR, figure, fraction, origin, row_named

MUST, SHOULD, NICE, OWN = 'must', 'should', 'nice', 'own'
HOLDS = {'<': operator.lt, '<=': operator.le, '>=': operator.ge, '=': operator.eq}
# What the number at a path is divided by, and the unit then.
US, MS, MS_OF_US, PLAIN, TIMES = (1e3, 'us'), (1e6, 'ms'), (1e3, 'ms'), (1, ''), (1, 'times alone')
LOSS = 'offline loss, beyond what the online work itself takes, '
_EVICT, _DEBUG, _HINT = ('compare.rows.ours-evict.', 'compare.rows.ours-debug.', 'compare.rows.ours-hint.')
_STOCK = 'interfaces.rows.suspend_queues.switches.'

# level, requirement, path, relation, limit, scale and unit; of the design notes: expected, accepted
REQUIREMENTS = [
    (MUST, 'online work preempts offline work, by the stock driver', _DEBUG + 'preemptions', '>=', 1,
     (1, 'preemptions'), '', 'it does'),
    (MUST, 'online work preempts offline work, by our module', _EVICT + 'preemptions', '>=', 1, (1, 'preemptions'),
     '', 'it does'),
    (MUST, 'offline work resumes, nothing lost or done twice: all rows of ours', 'derived.ours_lost_or_doubled', '=', 0,
     (1, 'workgroups'), '', 'none'),
    (MUST, 'no crash: scenarios whose run broke off or broke a promise', 'suite.failed', '=', 0, (1, 'expectations'),
     '', 'none'),
    (MUST, 'no crash: lab-colocate in the lab, every sum right', 'lab.colocate.exit', '=', 0, (1, 'exit code'), '', '0'),

    (SHOULD, 'worst online request, stock driver', _DEBUG + 'online.max', '<', 50, MS, '5..10 ms', '< 50 ms'),
    (SHOULD, 'worst online request, our module', _EVICT + 'online.max', '<', 50, MS, '5..10 ms', '< 50 ms'),
    (SHOULD, 'worst suspend, stock driver', _STOCK + 'stop_max', '<', 5, MS_OF_US, '1..3 ms', '< 5 ms'),
    (SHOULD, 'worst resume, stock driver', _STOCK + 'start_max', '<', 5, MS_OF_US, '1..3 ms', '< 5 ms'),
    (SHOULD, LOSS + 'stock driver', 'derived.loss_debug', '<', 20, (1, '%'), '5..10 %', '< 20 %'),
    (SHOULD, LOSS + 'our module', 'derived.loss_evict', '<', 20, (1, '%'), '5..10 %', '< 20 %'),
    (SHOULD, 'an hour of virtual time without error, stock driver', 'suite.hour.rows.ours-debug.errors', '=', 0,
     (1, 'errors'), '', 'none'),
    (SHOULD, 'an hour of virtual time without error, our module', 'suite.hour.rows.ours-evict.errors', '=', 0,
     (1, 'errors'), '', 'none'),

    (NICE, 'worst online request, stock driver', _DEBUG + 'online.max', '<', 10, MS, '5..10 ms', '< 10 ms'),
    (NICE, 'worst online request, our module', _EVICT + 'online.max', '<', 10, MS, '5..10 ms', '< 10 ms'),
    (NICE, LOSS + 'stock driver', 'derived.loss_debug', '<', 10, (1, '%'), '5..10 %', '< 10 %'),
    (NICE, LOSS + 'our module', 'derived.loss_evict', '<', 10, (1, '%'), '5..10 %', '< 10 %'),
    (NICE, 'stage 2 stops within a millisecond', 'interfaces.rows.direct CWSR, evict.switches.stop_max', '<', 1,
     MS_OF_US, '30..100 us', '< 1 ms'),
    (NICE, 'a full analysis: chapters of this report', 'derived.chapters', '>=', 9, PLAIN, '', 'a report'),

    (OWN, 'expectations of the scenarios that do not hold', 'suite.failed', '=', 0, (1, 'of them'), '', 'none'),
    (OWN, 'added latency, mean', _EVICT + 'added.mean', '<=', 65, US, '', ''),
    (OWN, 'added latency, p99', _EVICT + 'added.p99', '<=', 110, US, '', ''),
    (OWN, 'latency, mean', _EVICT + 'ratio.mean', '<=', 1.035, TIMES, '', ''),
    (OWN, 'latency, p99', _EVICT + 'ratio.p99', '<=', 1.03, TIMES, '', ''),
    (OWN, 'latency with a hint, mean', _HINT + 'ratio.mean', '<=', 1.01, TIMES, '', ''),
    (OWN, 'latency with a hint, p99', _HINT + 'ratio.p99', '<=', 1.01, TIMES, '', ''),
    (OWN, 'offline goodput', _EVICT + 'offline_goodput', '>=', 0.98, PLAIN, '', ''),
    (OWN, 'simulated beside the closed form, off by', 'derived.off_closed_form', '<=', 10, (1, '%'), '', ''),
    (OWN, 'taking the GPU, without detection, beyond 1.3 x the bound + 5 us', 'derived.beyond_bound', '<=', 0, US, '', ''),
    (OWN, 'time line of the design notes reproduced (5.011, 1.011, 0.011 ms), off by', 'derived.off_design_notes', '<=',
     0.5, (1, 'us'), '', ''),
    (OWN, 'rows that change places by p99 with every assumed cost x 0.5 and x 3', 'robust.changed', '=', 0, (1, 'pairs'),
     '', ''),
    (OWN, 'a fixed linger that dominates the learnt one', 'frontier.fixed_dominates', '=', 0, PLAIN, '', ''),
    (OWN, 'operations that simulator and real driver do differently, or 10 % apart', 'derived.operations_off', '=', 0,
     PLAIN, '', ''),
]


# ---- figures made of others ----

def _number(report, where):
    try:
        return path.find(report, where).value
    except path.Missing:
        return 0


def _off_design_notes(report):
    """None if the time line of a row is missing, so that the requirement counts as not tried instead of met."""
    def of(row, total):
        return path.find(report, f'steps.noted_costs.rows.{row}.{total}').value
    try:
        return max(abs(of(row, 'total') - of(row, 'design_notes')) for row in ('monitor-5ms', 'monitor-1ms', 'manual'))
    except path.Missing:
        return None


def _lost_or_doubled(found):
    rows = [row for row in found['rows'] if row['name'].startswith('ours')]
    not_run = [row for row in found['not_run'] if row['name'].startswith('ours')]
    return sum(row['work_lost'] + row['work_doubled'] for row in rows) + len(not_run)


def _beyond_bound(found):
    """None if one of the rows was not run, or one of them did not preempt."""
    ours, bound = (row_named(found, name) for name in ('ours-evict', 'bound'))
    if not ours or not bound:
        return None
    mine, least = ours['breakdown'], bound['breakdown']
    if not mine or not least:
        return None
    return mine['total']['mean'] - mine['detect']['mean'] - 1.3 * least['total']['mean'] - 5000


def derive(report, shared):
    repeat, found = shared['repeat'], shared['main']
    values = {
        'ours_lost_or_doubled': _lost_or_doubled(found),
        'loss_debug': 100 * (1 - _number(report, _DEBUG + 'offline_goodput')),
        'loss_evict': 100 * (1 - _number(report, _EVICT + 'offline_goodput')),
        'off_closed_form': 100 * abs(_number(report, 'compare.closed_form.simulated_of_form') - 1),
        'beyond_bound': _beyond_bound(found),
    }
    derived = {key: figure(value, '', SIMULATOR, repeat) for key, value in values.items() if value is not None}
    off = _off_design_notes(report)
    if off is not None:
        derived['off_design_notes'] = figure(off, '', SIMULATOR, report['steps']['noted_costs']['repeat'])
    # This chapter is one of them; what is derived from the chapters is not.
    chapters = 1 + sum(isinstance(member, dict) for member in report.values())
    derived['chapters'] = figure(chapters, '', SIMULATOR, './run report')
    operations = report.get('lab', {}).get('model_error', {}).get('rows')
    if operations:
        off = sum(row.get('off') is True for row in operations)
        derived['operations_off'] = figure(off, '', LAB, 'lab/model-error --json')
    return derived


# ---- the table ----

def _tried(found, where, level, short):
    """A run that was cut short shows nothing of what needs its length."""
    return not short or not (where.startswith('suite.') or (found.source == SIMULATOR and level == OWN))


def judge(report, requirement, short):
    level, claim, where, relation, limit, (per, unit), expected, accepted = requirement
    try:
        found = path.find(report, where, truth=True)
    except path.Missing:
        found = None
    if found and not _tried(found, where, level, short):
        found = None
    value = found and found.value / per
    result = 'not tried' if not found else 'met' if HOLDS[relation](value, limit) else 'not met'
    return {
        **origin(unit, found.source if found else '', found.repeat if found else ''),
        'level': level, 'claim': claim, 'path': where, 'expected': expected,
        'accepted': accepted or f'{relation} {limit:.6g} {unit}', 'limit': limit,
        'value': fraction(value) if found else None, 'result': result,
    }


def acceptance(runner, report, shared):
    yield []
    report['derived'] = derive(report, shared)
    judged = [judge(report, requirement, bool(runner.options.length)) for requirement in REQUIREMENTS]
    failed = sum(one['result'] == 'not met' and one['level'] in (MUST, SHOULD) for one in judged)
    return {**origin('requirements that must or should be met and are not', 'this report', './run report'),
            'requirements': judged, 'failed': failed}
