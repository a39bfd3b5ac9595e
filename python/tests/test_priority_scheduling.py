# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Priority scheduling on a GPU: test cases 1 (basic), 2 (frequent), 3 (edges), performance, stability.

    pytest python/tests                         on a machine with a GPU, and in the lab's guest

gpreemptd has to run, with a policy; conftest.py says which environment variables there are. Without a
GPU every test is skipped. Each process verifies its own work: a test fails if anything was lost or done
twice, in whatever test it happened.
"""

import os
import pathlib
import random
import subprocess
import sys
import time

import pytest

import gpreempt
from conftest import MEASURE, SECONDS, SOCKET, Load, figures, until

ROUNDS = 10
ENDLESS = '--requests 100000000'       # until it is told to end


def state(daemon, pid):
    return daemon.process(pid).state


def works(pid):
    """True if a wave of the process is on a compute unit. (It has a queue before it has work.)"""
    return any(int(path.read_text(encoding='ascii')) for path in
               pathlib.Path(f'/sys/class/kfd/kfd/proc/{pid}').glob('stats_*/cu_occupancy'))


def counter(daemon, pid, name):
    return daemon.stats(pid)['processes'][0]['counters'][name]


def stops(daemon, pid):
    """How often the process was stopped, once it was started as often."""
    until(lambda: counter(daemon, pid, 'stopped') == counter(daemon, pid, 'started'),
          'every stopped process was started')
    return counter(daemon, pid, 'stopped')


# ---- case 1: basic preemption ----

def test_case_1_online_preempts_offline(daemon, scheduler, start):
    """case 1: online work takes the GPU from an offline process, which gets it back, and both are right"""
    offline = start('offline')
    before = daemon.process(offline.pid).preempted
    online = start('online', ENDLESS)
    until(lambda: daemon.process(offline.pid).preempted > before, 'the offline process was preempted')
    served = online.stop().get('completed', 1)
    assert scheduler.wait_for(offline.pid, 'on', 30), 'the offline process is not back'
    off = [e for e in scheduler.events() if (e.pid, e.state) == (offline.pid, 'off')]
    assert online.pid in [e.cause_pid for e in off], 'it was not taken off for the online process'
    assert offline.running()
    said = offline.stop()
    assert said.get('completed', 1) > 0 and served > 0


def test_case_1_by_hand(daemon, scheduler, offline):
    """case 1: suspend takes a process off the GPU, resume puts it back, and it continues"""
    scheduler.suspend(offline.pid)
    assert state(daemon, offline.pid) == 'off'
    scheduler.resume(offline.pid)
    until(lambda: state(daemon, offline.pid) == 'on', 'it is back on the GPU')
    assert scheduler.wait_for(offline.pid, 'on', 30)
    assert scheduler.queues(offline.pid)


def test_case_1_without_the_daemon(gpu):
    """case 1: the same without the daemon; a process that gets SIGTERM while off ends after it is resumed"""
    with Load('offline') as load, gpreempt.GPreemptScheduler(backend='direct') as alone:
        until(lambda: works(load.pid), 'it works on the GPU')
        until(lambda: alone.register_offline(load.pid) or True, 'it can be taken off')
        alone.suspend(load.pid)
        assert alone.wait_for(load.pid, 'off', 30)
        assert alone.statistics().counters['queues'] > 0
        load.process.terminate()
        time.sleep(1)
        assert load.running(), 'it ended although its work was off the GPU'
        alone.resume(load.pid)
        load.finish()


# ---- case 2: frequent preemption ----

def test_case_2_many_requests(daemon, scheduler, offline, start):
    """case 2: many requests preempt again and again; every stop has its start; nothing is lost"""
    before = stops(daemon, offline.pid)
    online = start('online', ENDLESS)
    until(lambda: counter(daemon, offline.pid, 'stopped') - before >= ROUNDS, f'{ROUNDS} preemptions')
    online.stop()
    until(lambda: state(daemon, offline.pid) == 'on', 'the offline process is back')
    assert stops(daemon, offline.pid) - before >= ROUNDS


def test_case_2_by_hand(daemon, scheduler, offline):
    """case 2: suspend and resume in quick succession, every time"""
    before = scheduler.statistics().suspends.count
    for _ in range(ROUNDS):
        with scheduler.suspended(offline.pid):
            assert state(daemon, offline.pid) == 'off'
    until(lambda: state(daemon, offline.pid) == 'on', 'it is back on the GPU')
    assert scheduler.statistics().suspends.count - before == ROUNDS


# ---- case 3: edges ----

def test_case_3_twice(daemon, scheduler, offline):
    """case 3: a process suspended twice runs after one resume, and another resume does nothing"""
    scheduler.suspend(offline.pid)
    scheduler.suspend(offline.pid)
    scheduler.resume(offline.pid)
    until(lambda: state(daemon, offline.pid) == 'on', 'it is back on the GPU')
    scheduler.resume(offline.pid)
    assert state(daemon, offline.pid) == 'on'


def test_case_3_nobody(scheduler):
    """case 3: a process that does not exist, or uses no GPU, is refused with a message"""
    # Not this process: one that used the library without the daemon has the driver open.
    with subprocess.Popen(['sleep', '1000']) as stranger:
        for pid in (2 ** 22 - 1, stranger.pid):
            with pytest.raises(gpreempt.NoSuchProcess) as refused:
                scheduler.suspend(pid)
            assert refused.value.strerror
        stranger.kill()


def test_case_3_lease(daemon, scheduler, offline):
    """case 3: a lease that is not renewed ends by itself, even if its owner is killed"""
    code = ('import gpreempt, os, sys\n'
            's = gpreempt.GPreemptScheduler(sys.argv[1] or None).start()\n'
            's.suspend(int(sys.argv[2]))\n'
            'os.kill(os.getpid(), 9)\n')
    path = os.path.dirname(os.path.dirname(gpreempt.__file__))
    owner = subprocess.run([sys.executable, '-c', code, SOCKET or '', str(offline.pid)], check=False,
                           env={**os.environ, 'PYTHONPATH': path})
    assert owner.returncode == -9
    until(lambda: state(daemon, offline.pid) == 'on', 'it is back on the GPU')


def test_case_3_killed(daemon, scheduler, start):
    """case 3: a process killed while suspended is gone, and the next one can be suspended"""
    victim = start('offline')
    scheduler.suspend(victim.pid)
    victim.kill()
    until(lambda: victim.pid not in [p.pid for p in daemon.processes()], 'the daemon forgot it')
    with pytest.raises(gpreempt.NoSuchProcess):
        scheduler.suspend(victim.pid)
    other = start('offline')
    with scheduler.suspended(other.pid):
        assert state(daemon, other.pid) == 'off'
    other.stop()


def test_case_3_online_dies(daemon, start):
    """case 3: an online process killed in the middle of its work leaves no process off; two are off for one"""
    first, second = start('offline'), start('offline')
    online = start('online', ENDLESS)
    until(lambda: 'off' in (state(daemon, first.pid), state(daemon, second.pid)), 'one of them is off')
    online.kill()
    for offline in (first, second):
        until(lambda: state(daemon, offline.pid) == 'on', 'it is back on the GPU')
        assert daemon.process(offline.pid).preempted > 0
        offline.stop()


def test_case_3_switched_off(daemon, scheduler, offline):
    """case 3: the kill switch releases suspended processes; after switching on, suspending works again"""
    scheduler.suspend(offline.pid, lease=1)
    try:
        daemon.disable()
        until(lambda: state(daemon, offline.pid) == 'on', 'it is back on the GPU')
        with pytest.raises(gpreempt.GPreemptError):
            scheduler.suspend(offline.pid)
    finally:
        daemon.enable()
    until(lambda: scheduler.suspend(offline.pid) or True, 'it can be suspended again')
    scheduler.resume(offline.pid)


def test_case_3_somebody_else(offline):
    """case 3: a process that the daemon has attached to is refused to a second debugger with a message"""
    with pytest.raises(gpreempt.GPreemptError) as refused:
        gpreempt.Suspender(offline.pid)
    assert refused.value.strerror


def test_what_ran_through_all_of_this_is_right(offline):
    """cases 1 to 3: the process that was preempted in all of them lost nothing and did nothing twice"""
    assert offline.running()
    said = offline.stop()
    assert said.get('completed', 1) > 0


# ---- performance: what is accepted, where times mean something ----

def accept(name, value, limit, unit='ms'):
    figures.append(f'{name}: {value:.3f} {unit}, accepted below {limit} {unit}')
    assert not MEASURE or value < limit, figures[-1]


def test_performance_suspend_and_resume(daemon, scheduler, start):
    """performance: suspend and resume take less than 5 ms each"""
    offline = start('offline')
    before = scheduler.statistics()
    for _ in range(ROUNDS):
        with scheduler.suspended(offline.pid):
            pass
        until(lambda: state(daemon, offline.pid) == 'on', 'it is back on the GPU')
    after = scheduler.statistics()
    accept('suspend, mean', (after.suspends.total - before.suspends.total) / ROUNDS * 1e3, 5)
    accept('resume, mean', (after.resumes.total - before.resumes.total) / ROUNDS * 1e3, 5)


def test_performance_online_latency(daemon, start):
    """performance: online requests beside offline work take less than 50 ms, and less than without"""
    offline = start('offline')
    options = '--requests 40 --warm-up 10'
    said = start('online', options).serve()
    if 'latency_ns' not in said:
        pytest.skip('the online load prints no latency_ns')
    daemon.disable()
    try:
        until(lambda: state(daemon, offline.pid) == 'on', 'it is back on the GPU')
        without = start('online', options).serve()
    finally:
        daemon.enable()
    accept('online latency, p99', said['latency_ns']['p99'] / 1e6, 50)
    accept('online latency, mean, beside offline work', said['latency_ns']['mean'] / 1e6,
           without['latency_ns']['mean'] / 1e6)


def test_performance_offline_loss(start):
    """performance: offline work loses less than a fifth to online work and to being preempted"""
    rates = []
    for busy in (False, True):
        offline = start('offline')
        if busy:
            start('online', '--requests 80').serve()
        else:
            time.sleep(2)
        said = offline.stop()
        if 'completed' not in said:
            pytest.skip('the offline load prints no count of what it completed')
        rates.append(said['completed'] / said['elapsed_ns'])
    accept('offline loss', 100 * (1 - rates[1] / rates[0]), 20, '%')


# ---- stability ----

def test_stability(daemon, scheduler, start):
    """stability: after random use every process runs, every stop had its start, and no work is lost"""
    chance = random.Random(1)
    offline = [start('offline') for _ in range(2)]
    online = start('online', ENDLESS)
    rounds, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        victim = chance.choice(offline)
        with scheduler.suspended(victim.pid):
            time.sleep(chance.random() * 0.05)
        if chance.random() < 0.2:
            scheduler.suspend(victim.pid, lease=0.02)
        rounds += 1
    online.stop()
    for load in offline:
        until(lambda: state(daemon, load.pid) == 'on', 'it is back on the GPU')
        assert stops(daemon, load.pid) > 0
        assert counter(daemon, load.pid, 'stops_lost') == counter(daemon, load.pid, 'starts_lost') == 0
    assert not daemon.call('Status')['trouble']
    figures.append(f'stability: {rounds} rounds in {SECONDS:.0f} s, {daemon.process(offline[0].pid).preempted} '
                   'preemptions of the first process')
    for load in offline:
        load.stop()
