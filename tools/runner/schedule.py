# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Which test runs when, for how long it may, and what is left to do."""

import os
import shutil
import signal
import sys
import tempfile
import time

from . import process

# A test that uses no processor is ended after this many times its limit of processor time.
IDLE_FACTOR = 10
# Seconds between two looks at the processor time of running tests, and two lines of progress.
LOOK, LINE, REDRAW = 1, 15, 0.5


class Interrupted(Exception):
    """The runner got a signal, @args[0], and has ended all tests."""


class Running:
    """A test that runs."""

    def __init__(self, test):
        self.test = test
        self.output = tempfile.TemporaryFile()
        self.begun = time.monotonic()
        self.late = None        # why it was stopped
        self.pid = process.start(test.command, {**os.environ, **test.env}, test.folder,
                                 self.output.fileno())

    def seconds(self):
        return time.monotonic() - self.begun

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)

    def look(self, table):
        """Stop the test if it is over its limit. A busy machine slows it down but costs it nothing."""
        limit = self.test.limit
        if self.late:
            return
        if process.processor_seconds(self.pid, table) > limit:
            self.late = f'timed out after {limit:g} s of processor time'
        elif self.seconds() > limit * IDLE_FACTOR:
            self.late = f'timed out after {limit * IDLE_FACTOR:g} s, {IDLE_FACTOR} times its limit'
        if self.late:
            self.stop()

    def text(self):
        """What the test printed."""
        self.output.seek(0)
        printed = self.output.read().decode(errors='replace')
        self.output.close()
        return printed + (f'\n{self.late}\n' if self.late else '')


class Schedule:
    """Runs @tests, the longest first, and tells @finish of each that ended.

    finish(test, output, status, seconds, processor seconds) returns whether the test failed.
    """

    def __init__(self, tests, at_once, finish):
        order = sorted(tests, key=lambda test: -test.estimate)
        self.waiting = [test for test in order if test.parallel]
        self.alone = [test for test in order if not test.parallel]
        self.at_once = at_once
        self.finish = finish
        self.running = {}
        self.total, self.failed = len(tests), 0
        self.progress = Progress(self)

    def run(self):
        """Raises Interrupted when the runner is told to end."""
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, process.AWAITED)
        looked = 0
        try:
            while self.waiting or self.alone or self.running:
                self.start()
                got = signal.sigtimedwait(process.AWAITED, REDRAW)
                if got and got.si_signo != signal.SIGCHLD:
                    raise Interrupted(got.si_signo)
                self.collect()
                if time.monotonic() - looked > LOOK:
                    table, looked = process.processes(), time.monotonic()
                    for one in self.running.values():
                        one.look(table)
                self.progress.show()
        finally:
            self.progress.clear()
            self.stop()
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def start(self):
        while self.waiting and len(self.running) < self.at_once:
            self.start_one(self.waiting.pop(0))
        if self.alone and not self.running:
            self.start_one(self.alone.pop(0))

    def start_one(self, test):
        one = Running(test)
        self.running[one.pid] = one

    def collect(self):
        for pid in list(self.running):
            ended, status, usage = os.wait4(pid, os.WNOHANG)
            if not ended:
                continue
            one = self.running.pop(pid)
            self.progress.clear()
            self.failed += self.finish(one.test, one.text(),
                                       process.STOPPED if one.late else process.exit_status(status),
                                       one.seconds(), usage.ru_utime + usage.ru_stime)

    def stop(self):
        for one in self.running.values():
            one.stop()
        for pid in self.running:
            os.waitpid(pid, 0)
        self.running.clear()

    def left(self):
        """The estimated seconds until the end."""
        rest = [max(one.test.estimate - one.seconds(), 0) for one in self.running.values()]
        parallel = [*rest, *(test.estimate for test in self.waiting)]
        return (max(sum(parallel) / self.at_once, *rest, 0)
                + sum(test.estimate for test in self.alone))


class Progress:
    """A line on stderr: redrawn on a terminal, else written now and then."""

    def __init__(self, schedule):
        self.schedule = schedule
        self.drawn = False
        self.terminal = sys.stderr.isatty() and os.environ.get('TERM') != 'dumb'
        self.last = time.monotonic()

    def text(self):
        s = self.schedule
        done = s.total - len(s.running) - len(s.waiting) - len(s.alone)
        failed = f', {s.failed} failed' if s.failed else ''
        names = ', '.join(f'{one.test.title} {one.seconds():.0f} s' for one in s.running.values())
        return f'{done} of {s.total} tests done{failed}, {duration(s.left())} left: {names}'

    def show(self):
        now = time.monotonic()
        if now - self.last < (REDRAW if self.terminal else LINE):
            return
        self.last = now
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f'\r\033[K{self.text()[:width]}', end='', file=sys.stderr, flush=True)
            self.drawn = True
        else:
            print(f'run: {self.text()}', file=sys.stderr, flush=True)

    def clear(self):
        if self.drawn:
            print('\r\033[K', end='', file=sys.stderr, flush=True)
            self.drawn = False


def duration(seconds):
    return f'about {seconds / 60:.0f} min' if seconds >= 90 else f'about {seconds:.0f} s'
