# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Chapters that put what came out beside what the design notes expected: the interfaces of the driver, the
placements of the monitor, AMD beside NVIDIA.
"""

from .forms import NOTES, SIMULATOR, UNITS_OF_ROWS, figure, fraction, microseconds, origin, row_named, summaries, summary
from .run import Step, Trial
from .steps import NOTED_WHERE


def _noted(low_high):
    """A time of the design notes in us; None: they give none."""
    if not low_high:
        return None
    return {**origin('us', NOTES, NOTED_WHERE), 'low': fraction(low_high[0]), 'high': fraction(low_high[1])}


def _summary_of(shared, name):
    row = row_named(shared['main'], name)
    return row and summary(row)


# ---- interfaces ----

# name, row, what, times of the notes (total, suspend, resume), operations of the lab that stand for it (stop, start)
INTERFACES = [
    ('suspend_queues', 'ours-debug', "stage 1: the stock driver's debug interface",
     (1000, 5000), (1000, 3000), (1000, 3000), 'suspend', 'resume'),
    ('direct CWSR, evict', 'ours-evict', 'stage 2: our module, one cycle of the run list',
     (30, 100), None, None, 'module evict', 'module restore'),
    ('direct CWSR, victim only', 'ours-direct', 'stage 2: our module, one unmap',
     (10, 100), None, None, 'module direct', 'module map'),
    ('stop_sched', 'halt', 'the whole GPU: offered, never the default',
     (1000, 1000), None, None, 'module halt', 'module unhalt'),
]
# That an interface stops so many times as fast as the first: its number, the factor, the claim.
CLAIMS = [
    (1, 50, 'stage 2 stops 50 times as fast as stage 1 (evict)'),
    (2, 50, 'stage 2 stops 50 times as fast as stage 1 (direct)'),
    (2, 500, 'stage 2 stops 500 times as fast as stage 1 (direct)'),
]
SPANS = (' --trace stops.pftrace; tools/pftrace-json stops.pftrace | '
         'jq -c \'("stopping", "starting") as $state | '
         '[.slices[] | select(.name == $state) | .ns / 1000] | [$state, add / length, max]\'')


def _stops_of(row):
    return Trial('colocate', length='20s', quick='10s', rows=(row,), sets=('run.expect=none',), form='sim')


def _mean(spans):
    return sum(spans) // len(spans) if spans else 0


def _switches(spans, repeat):
    stops = [ns for name, ns in spans if name == 'stopping']
    starts = [ns for name, ns in spans if name == 'starting']
    return {
        **origin('us', SIMULATOR, repeat),
        'stop_mean': microseconds(_mean(stops)), 'stop_max': microseconds(max(stops, default=0)),
        'start_mean': microseconds(_mean(starts)), 'start_max': microseconds(max(starts, default=0)),
    }


def _claim(number, factor, says, spans):
    means = [[ns for name, ns in one if name == 'stopping'] for one in (spans[0], spans[number])]
    slow, fast = (sum(stops) / len(stops) if stops else 0 for stops in means)
    is_ = slow / fast if fast else 0
    return {
        'claim': says, 'holds': is_ >= factor,
        'design_notes': figure(factor, 'times', NOTES, NOTED_WHERE),
        'result': figure(is_, 'times', SIMULATOR, 'interfaces.rows'),
        'lab_slow': INTERFACES[0][6], 'lab_fast': INTERFACES[number][6],
    }


def interfaces(runner, report, shared):
    trials = [_stops_of(interface[1]) for interface in INTERFACES]
    spans = yield [runner.watch(trial) for trial in trials]
    rows = [{
        'name': name, 'what': what, 'row': row,
        'design_notes': _noted(total), 'design_notes_suspend': _noted(suspend), 'design_notes_resume': _noted(resume),
        'switches': _switches(one, runner.command(trial) + SPANS),
        'figures': _summary_of(shared, row), 'lab_stop': stop, 'lab_start': start,
    } for (name, row, what, total, suspend, resume, stop, start), trial, one in zip(INTERFACES, trials, spans)]
    return {**origin(UNITS_OF_ROWS, SIMULATOR, shared['repeat']), 'rows': rows,
            'claims': [_claim(number, factor, says, spans) for number, factor, says in CLAIMS]}


# ---- placements of the monitor ----

# name, row, times of the notes (latency, a look at 32 queues), note, rows of lab-colocate and lab/latency that stand for it
PLACEMENTS = [
    ('user space, polling', 'user-poll', (15000, 15000), (32, 160),
     'its own parts are 10 ms and 15 us: 15 ms is a slip of the unit', None, None),
    ('user space, events', 'user-event', (6000, 6000), (32, 160),
     '1 ms for the event, then the 5 ms kernel monitor', None, None),
    ('kernel, polling every 5 ms', 'monitor-5ms', (5000, 5000), (0, 10), 'no ioctl, but still up to 5 ms blind',
     None, None),
    ('ours: daemon, stock kernel', 'ours-debug', None, None, 'one process_vm_readv per process, no ioctl',
     'with gpreemptd', 'kfd-debug@50us'),
    ('ours: kernel module', 'ours-evict', None, None, 'one load per queue, in a timer', 'module, evict',
     'kmod/evict@50us'),
]
PLACED = tuple(placement[1] for placement in PLACEMENTS)
# The same at the worst moment, with the costs of the notes and with ours, and with 32 queues.
PLACED_TRIALS = {
    'noted_costs': Trial('timeline', rows=PLACED),
    'our_costs': Trial('timeline', rows=PLACED, sets=('costs.set=ours',)),
    'our_costs_32_queues': Trial('timeline', rows=PLACED, sets=('costs.set=ours', 'train.queues=31')),
}


def _placed(found, name, repeat):
    row = row_named(found, name)
    if not row:
        return None
    worst, looks = row['breakdown'], row['looks']
    return {
        **origin('us', SIMULATOR, repeat),
        'worst': microseconds(worst['total']['max'] if worst else 0),
        'check': microseconds(row['monitor_cpu_ns'] // looks if looks else 0),
        'processor': fraction(100 * row['monitor_cpu_ns'] / found['length']), 'processor_unit': '% of a core',
    }


def placements(runner, report, shared):
    results = yield [runner.step(trial) for trial in PLACED_TRIALS.values()]
    found = dict(zip(PLACED_TRIALS, results))
    rows = [{
        'name': name, 'row': row, 'note': note,
        'design_notes': _noted(latency), 'design_notes_check': _noted(check),
        **{key: _placed(found[key], row, runner.command(trial)) for key, trial in PLACED_TRIALS.items()},
        'figures': _summary_of(shared, row), 'lab': lab, 'lab_arrival': arrival,
    } for name, row, latency, check, note, lab, arrival in PLACEMENTS]
    return {**origin(UNITS_OF_ROWS, SIMULATOR, shared['repeat']), 'rows': rows}


# ---- AMD beside NVIDIA ----

# step, times of the notes (AMD, NVIDIA), the part of ours that stands for it
VENDOR_STEPS = [
    ('trigger, until the hardware begins', (0, 1), (1, 10), 'command'),
    ('save the running work', (1, 10), (10, 100), 'save'),
    ('switch to the next context', (0, 1), (0, 1000), 'switch'),
]
PROFILES = ('mi308x', 'mi300x', 'a100')


def _profile_trial(profile):
    own = ('timeslice-100us', 'timeslice-10us') if profile == 'a100' else ('ours-debug', 'ours-direct')
    return Trial('colocate', length='20s', quick='5s', sets=(f'gpu.profile={profile}',), rows=(
        'native', 'hws-quantum', 'gpreempt-amd', 'monitor-5ms', 'ours-evict', 'ours-hint', 'bound', *own))


def _device(profile, facts):
    units = facts['xccs']['value'] * facts['cus_per_xcc']['value']
    return {
        **origin('counted; bytes; bytes per us', 'facts of the model', f'gpreempt facts --profile {profile}'),
        'compute_units': units, 'register_bytes': units * facts['vgpr_per_cu']['value'],
        'lds_bytes': units * facts['lds_per_cu']['value'], 'bandwidth': facts['bandwidth_vram']['value'],
    }


def vendors(runner, report, shared):
    trials = [_profile_trial(profile) for profile in PROFILES]
    results = yield [runner.step(trial) for trial in trials] + [
        Step(f'facts of the {profile}', lambda profile=profile: runner.facts(profile)) for profile in PROFILES]
    profiles = [{
        **origin(UNITS_OF_ROWS, SIMULATOR, runner.command(trial)), 'name': profile,
        'device': _device(profile, facts), 'rows': summaries(found, trial.rows),
    } for profile, trial, found, (facts, _) in zip(PROFILES, trials, results, results[len(trials):])]
    listed = [{'name': name, 'part': part, 'amd': _noted(amd), 'nvidia': _noted(nvidia)}
              for name, amd, nvidia, part in VENDOR_STEPS]
    return {'profiles': profiles, 'steps': listed}
