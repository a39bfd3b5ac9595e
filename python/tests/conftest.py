# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Shared by the tests on a GPU: loads, reasons to skip, figures, and ways to break the tests.

Environment:
  GPREEMPT_SOCKET             the control socket of gpreemptd
  GPREEMPT_TEST_ONLINE        the commands to run; in the lab they are gpload(1). On a real GPU any command
  GPREEMPT_TEST_OFFLINE       that works until SIGTERM and then exits with 0 if its results are right. If it
                              prints JSON with latency_ns, completed and elapsed_ns, as gpload does,
                              performance is measured too.
  GPREEMPT_TEST_SERVE         for how many seconds such an online command is measured (10)
  GPREEMPT_TEST_SECONDS       how long the stability test takes (4; an hour is 3600)
  GPREEMPT_TEST_MEASURE=1     times mean something here: compare them with what is accepted
  GPREEMPT_TEST_BREAK         resume: resuming does nothing; sum: a result is wrong. The tests must fail.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import gpreempt                                                                 # noqa: E402

SOCKET = os.environ.get('GPREEMPT_SOCKET')
MEASURE = os.environ.get('GPREEMPT_TEST_MEASURE') == '1'
BREAK = os.environ.get('GPREEMPT_TEST_BREAK', '')
SERVE = float(os.environ.get('GPREEMPT_TEST_SERVE', '10'))
SECONDS = float(os.environ.get('GPREEMPT_TEST_SECONDS', '4'))
PATIENCE = 60

LAB = {'offline': 'gpload --class offline --queues 2 --kernel 20ms --seconds 3600 --json',
       'online': 'gpload --class online --kernel 1ms --waves 64 --poisson 40 --json'}

figures = []


def pytest_addoption(parser):
    parser.addoption('--tap', metavar='FILE', help='write a line of TAP for each test to FILE')


def pytest_configure(config):
    path = config.getoption('--tap')
    config.tap = open(path, 'w', encoding='utf-8') if path else None
    if BREAK == 'resume':
        gpreempt.GPreemptScheduler.resume = lambda self, pid: None
    elif BREAK == 'sum':
        LAB['offline'] += ' --spoil 3'
    elif BREAK:
        pytest.exit(f"GPREEMPT_TEST_BREAK={BREAK} is neither 'resume' nor 'sum'", 2)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    report.claim = (item.function.__doc__ or item.name).splitlines()[0]
    report.tap = item.config.tap


def pytest_runtest_logreport(report):
    if not report.tap or (report.when != 'call' and report.passed):
        return
    skip = f' # SKIP {report.longrepr[2]}' if report.skipped else ''
    print(f"{'not ok' if report.failed else 'ok'} - {report.claim}{skip}", file=report.tap, flush=True)


def pytest_terminal_summary(terminalreporter):
    if figures:
        terminalreporter.section('figures')
        for line in figures:
            terminalreporter.line(line)


def until(condition, what):
    """Wait for something that must come."""
    end = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(gpreempt.GPreemptError):
            if condition():
                return
        if time.monotonic() > end:
            pytest.fail(f'after {PATIENCE} s still not so: {what}')
        time.sleep(0.05)


class Load:
    """A process that uses the GPU, and what it says at the end."""

    def __init__(self, role, options=''):
        given = os.environ.get(f'GPREEMPT_TEST_{role.upper()}')
        self.ends = not given           # by itself, after what @options say
        command = given or LAB[role] + ' ' + options
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(shlex.split(command), stdout=self.out, stderr=self.err)
        self.pid = self.process.pid
        self.said = {}

    def read(self, file):
        file.seek(0)
        return file.read().decode(errors='replace')

    def running(self):
        return self.process.poll() is None

    def finish(self):
        """Wait for its end. Its results must be right."""
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f'process {self.pid} hangs') from None
        with contextlib.suppress(ValueError):
            self.said = json.loads(self.read(self.out))
        assert code == 0, f"its results are wrong: {self.said.get('wrong') or self.read(self.err)}"
        return self.said

    def stop(self):
        """Tell it to end. Its results must be right."""
        self.process.terminate()
        return self.finish()

    def serve(self):
        """Let it do what it was asked for. Its results must be right."""
        if self.ends:
            return self.finish()
        time.sleep(SERVE)
        return self.stop()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """A test that failed leaves no process on the GPU."""
        if self.running():
            self.kill()


@pytest.fixture(scope='session', autouse=True)
def gpu():
    """A GPU and something that runs on it; without, every test is skipped and says why."""
    try:
        found = gpreempt.gpus()
    except (gpreempt.GPreemptError, OSError) as error:
        pytest.skip(f'no GPU: {error}')
    if not found:
        pytest.skip('no GPU: the driver lists none')
    if os.environ.get('GPREEMPT_TEST_ONLINE') and os.environ.get('GPREEMPT_TEST_OFFLINE'):
        return found[0]
    try:
        done = subprocess.run(['gpload', '--check'], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip('no workload: set GPREEMPT_TEST_ONLINE and GPREEMPT_TEST_OFFLINE')
    if done.returncode:
        pytest.skip(f'gpload does not run on this GPU ({done.stderr.strip()}): set '
                    'GPREEMPT_TEST_ONLINE and GPREEMPT_TEST_OFFLINE')
    return found[0]


@pytest.fixture(scope='module')
def daemon(gpu):
    """gpreemptd, on, with a policy. That it is not is a failure, not a reason to skip."""
    with gpreempt.Daemon(SOCKET, timeout=PATIENCE) as one:
        status = one.status()
        assert status.enabled and not status.observe_only, 'gpreemptd is off or only observes'
        yield one


@pytest.fixture(scope='module')
def scheduler(daemon):
    """A scheduler with its monitor thread."""
    with gpreempt.GPreemptScheduler(SOCKET, backend='daemon') as one:
        yield one
        assert one.monitoring
        assert not one.statistics().trouble


def begin(role, options, daemon, scheduler):
    """A registered load; an offline one can be taken off the GPU when this returns."""
    with contextlib.ExitStack() as failed:
        load = failed.enter_context(Load(role, options))
        enrol(load, role, daemon, scheduler)
        failed.pop_all()
    return load


def enrol(load, role, daemon, scheduler):
    register = scheduler.register_offline if role == 'offline' else scheduler.register_online
    until(lambda: register(load.pid) or True, f'{role} process {load.pid} uses the GPU')
    if role == 'offline':
        until(lambda: daemon.hold(load.pid, 0.05), 'it can be taken off')
        until(lambda: daemon.process(load.pid).state == 'on', 'it is on the GPU')


def end(loads):
    """End them all; the results of all that were not killed must be right."""
    for load in loads:
        if load.running():
            load.process.terminate()
    wrong = []
    for load in loads:
        try:
            if load.process.poll() != -signal.SIGKILL:
                load.finish()
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, wrong


@pytest.fixture
def start(daemon, scheduler):
    """start('offline'): one more load, for this test."""
    loads = []

    def one(role, options=''):
        loads.append(begin(role, options, daemon, scheduler))
        return loads[-1]

    yield one
    end(loads)


@pytest.fixture(scope='module')
def offline(daemon, scheduler):
    """An offline process that lives through many tests. It verifies all it did at the end."""
    load = begin('offline', '', daemon, scheduler)
    yield load
    end([load])
