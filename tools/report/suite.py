# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Chapter: every scenario of the tree as it is written, with what it expects; and an hour of virtual time."""

import os

from .forms import SIMULATOR, UNITS_OF_ROWS, origin
from .run import Failed, Step, Trial

HOUR = Trial('colocate', length='3600s', rows=('ours-debug', 'ours-evict'), wide=True)


def _step(runner, trial):
    """A scenario whose run breaks off is a finding."""
    step = runner.step(trial)

    def run():
        try:
            return step.run()
        except Failed as failed:
            return {'error': str(failed), 'expects': []}
    return Step(trial.scenario, run)


def _outcome(trial, found, repeat):
    o = {**origin(UNITS_OF_ROWS, SIMULATOR, repeat), 'name': trial.scenario, 'expectations': found['expects']}
    if 'error' in found:
        return o | {'error': found['error']}
    return o | {key: found[key] for key in ('preemptions', 'work_lost', 'work_doubled')}


def _failed(outcome):
    return ('error' in outcome) + sum(not one['holds'] for one in outcome['expectations'])


def _hour_row(name, found):
    row = next((row for row in found['rows'] if row['name'] == name), None)
    if not row:
        return {'name': name, 'errors': 1, 'error': next(r['why'] for r in found['not_run'] if r['name'] == name)}
    errors = row['work_lost'] + row['work_doubled'] + row['lost_tasks'] + row['ejections'] + row['offered'] - row['served']
    return {'name': name, 'served': row['served'], 'offered': row['offered'], 'preemptions': row['preemptions'],
            'max': row['online'] and row['online']['max'], 'work_lost': row['work_lost'], 'work_doubled': row['work_doubled'],
            'errors': errors}


def suite(runner, report, shared):
    names = [name[:-4] for name in sorted(os.listdir(runner.scenarios)) if name.endswith('.ini')]
    trials = [Trial(name, form='sim') for name in names]
    *results, hour = yield [_step(runner, trial) for trial in trials] + [runner.step(HOUR)]
    outcomes = [_outcome(trial, found, runner.command(trial)) for trial, found in zip(trials, results)]
    return {
        **origin(UNITS_OF_ROWS, SIMULATOR, 'gpreempt sim SCENARIO, each of them'),
        'as_written': not runner.options.length, 'scenarios': outcomes, 'nr_scenarios': len(outcomes),
        'expectations': sum(len(one['expectations']) for one in outcomes), 'failed': sum(map(_failed, outcomes)),
        'hour': {**origin(UNITS_OF_ROWS, SIMULATOR, runner.command(HOUR)), 'length': hour['length'],
                 'rows': [_hour_row(name, hour) for name in HOUR.rows]},
    }
