# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""A made-up gpreemptd (tests/shared/fake_daemon.c) for tests of the Python package."""

import copy
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get('GP_BUILD', os.path.join(TOP, 'build'))
sys.path.insert(0, os.path.join(TOP, 'python'))
os.environ.setdefault('GPREEMPT_LIBRARY', os.path.join(BUILD, 'lib/libgpreempt.so.0'))
os.environ.setdefault('GPREEMPT_COMMAND', os.path.join(BUILD, 'cli/gpreempt'))

import gpreempt
from gpreempt import native

TRAIN, INFER, STUCK, SLOW = 101, 102, 13, 15
PATIENCE = 600      # seconds; ends only a test that hangs, on any machine


def process(pid, name, class_name, state):
    return {'pid': pid, 'start': 5000, 'uid': 1001, 'name': name, 'class': class_name,
            'class_from': 'rule 1', 'preempted': 12, 'trouble': None,
            'seats': [{'gpu': 0, 'state': state, 'work': 'pending', 'since_ns': 1,
                       'on_ns': 2000000000, 'off_ns': 500000000, 'waiting_ns': 1000,
                       'vram_bytes': 4000000000}],
            'queues': [{'id': 0, 'gpu': 0, 'type': 'aql', 'bytes': 65536, 'pending': 3},
                       {'id': 1, 'gpu': 0, 'type': 'sdma', 'bytes': 4096}]}


WORLD = {
    'status': {'version': '0.1', 'pid': 77, 'up_ns': 65000000000, 'enabled': True,
               'observe_only': False, 'policy': 'priority', 'ejected': None,
               'mechanism': 'kfd-debug', 'gpus': 1, 'processes': 3, 'held': 0, 'trouble': []},
    'list': {'gpus': [{'index': 0, 'gpu_id': 111, 'bdf': '0000:c1:00.0', 'name': 'gfx942',
                       'partition': None, 'xccs': 4, 'compute_units': 80,
                       'vram_bytes': 206158430208, 'mechanism': 'kfd-debug', 'watched': True}],
             'processes': [process(TRAIN, 'train\xfc', 'batch', 'on'),
                           process(INFER, 'infer', 'online', 'on'),
                           process(STUCK, 'stuck', 'offline', 'on')]},
    'stats': {'counters': {'looks': 123456, 'stopped': 12}, 'processes': []},
    'policy': {'policy': 'priority', 'parameters': []},
}


def use_up_descriptors(test):
    """Those that @test opens from now on are above 1023."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        test.skipTest(f'only {hard} files may be open')
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    test.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
    taken = [os.open('/dev/null', os.O_RDONLY | os.O_CLOEXEC)]
    while taken[-1] < 1023:
        taken.append(os.dup(taken[0]))
    for fd in taken:
        test.addCleanup(os.close, fd)


def await_true(condition, what):
    """Wait until another thread or process makes it true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f'waited in vain: {what() if callable(what) else what}')
        time.sleep(0.01)


def be_patient(daemon):
    """No busy machine makes its calls time out."""
    native.library().gp_daemon_set_timeout(daemon._handle, PATIENCE * 1000)


def _patient_open(self, socket=None, timeout=5.0):
    """Of every Daemon here, those that the package makes too, unless a test wants less than a second."""
    _open(self, socket, timeout if timeout < 1 else PATIENCE)


_open, gpreempt.Daemon.__init__ = gpreempt.Daemon.__init__, _patient_open


class Clock:
    """Stands for the module time in @modules: the test moves it, so a busy machine does not."""

    def __init__(self, test, *modules):
        self.now = 1000.0
        self.sleep = time.sleep
        for module in modules:
            test.addCleanup(setattr, module, 'time', module.time)
            module.time = self

    def monotonic(self):
        return self.now

    def monotonic_ns(self):
        return round(self.now * 1e9)


class FakeDaemon:
    """One running daemon, with the world it was given."""

    def __init__(self, folder, world=None, uid=None):
        self.socket = os.path.join(folder, 'control')
        path = os.path.join(folder, 'world.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(world or WORLD, f)
        self.log = os.path.join(folder, 'told')
        command = [os.environ.get('FAKE_DAEMON', os.path.join(BUILD, 'tests/shared/fake_daemon')),
                   self.socket, path] + ([str(uid)] if uid is not None else [])
        with open(self.log, 'wb') as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out)
        self.await_told('ready')

    def told(self):
        with open(self.log, encoding='utf-8') as f:
            return f.read().splitlines()

    def await_told(self, line, times=1):
        """Until it was told @line that often."""
        await_true(lambda: self.told().count(line) >= times,
                   lambda: f'the daemon was not told {line!r} {times} times but {self.told()}')

    def stop(self):
        self.process.terminate()
        self.process.wait()


class DaemonTest(unittest.TestCase):
    """A test with a daemon of its own."""

    world = None
    uid = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.fake = FakeDaemon(self.folder, copy.deepcopy(self.world), self.uid)
        self.addCleanup(self.fake.stop)

    def restart(self):
        self.fake.stop()
        self.fake = FakeDaemon(self.folder)
        self.addCleanup(self.fake.stop)
