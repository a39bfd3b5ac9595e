# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Which test runs when, for how long it may, and what is left to do."""

import os
import shutil
import signal
import sys
import tempfile
import time

from . import process

# A test ends as idle if it uses less than IDLE_USE seconds of processor time in IDLE_SECONDS.
IDLE_USE, IDLE_SECONDS = 0.1, 15 * 60
# Every test ends when its elapsed time is this many times its limit of processor time.
BACKSTOP = 40
# Bytes of a test's output that are read.
OUTPUT_MAX = 16 << 20
# Seconds between two looks at the processor time of running tests, and two lines of progress.
LOOK, LINE, REDRAW = 1, 15, 0.5


class Interrupted(Exception):
    """The runner got a signal, @args[0], and has ended all tests."""


class Timeout:
    """Decides when a test has run for too long. @limit: seconds of processor time."""

    def __init__(self, limit, idle_seconds, now):
        self.limit, self.idle_seconds = limit, idle_seconds
        self.begun = self.active = now
        self.used = 0           # processor time at the moment @active

    def reason(self, now, used):
        """Why a test must end that has used @used seconds of processor time, or None."""
        # If a process ignores SIGCHLD, the time of its children is lost and @used falls.
        if abs(used - self.used) >= IDLE_USE:
            self.active, self.used = now, used
        if used > self.limit:
            return f'timed out after {self.limit:g} s of processor time'
        if now - self.active > self.idle_seconds:
            return f'timed out after {self.idle_seconds:g} s of idling'
        if now - self.begun > self.limit * BACKSTOP:
            return f'timed out after {self.limit * BACKSTOP:g} s, {BACKSTOP} times its limit'
        return None


class Running:
    """A test that runs."""

    def __init__(self, test, idle_seconds):
        self.test = test
        self.output = tempfile.TemporaryFile()
        self.begun = time.monotonic()
        self.timeout = Timeout(test.limit, idle_seconds, self.begun)
        self.timed_out = None   # why it was stopped
        self.pid = process.start(test.command, {**os.environ, **test.env}, test.folder,
                                 self.output.fileno())

    def seconds(self):
        return time.monotonic() - self.begun

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)

    def look(self, table):
        """Stop the test if it has run for too long by the list of processes @table."""
        if self.timed_out:
            return
        used = process.processor_seconds(self.pid, table)
        self.timed_out = self.timeout.reason(time.monotonic(), used)
        if self.timed_out:
            self.stop()

    def text(self):
        """What the test printed. Without its end, claims are missing, which fails the test."""
        self.output.seek(0)
        printed = self.output.read(OUTPUT_MAX).decode(errors='replace')
        if self.output.read(1):
            printed += f'\n# the rest is cut off after {OUTPUT_MAX >> 20} MB\nnot ok the output is complete\n'
        self.output.close()
        return printed + (f'\n{self.timed_out}\n' if self.timed_out else '')


class Schedule:
    """Runs @tests, the longest first, and calls @finish for each when it ends.

    finish(test, output, status, seconds, processor seconds) returns whether the test failed.
    """

    def __init__(self, tests, at_once, idle_seconds, finish):
        self.waiting = sorted(tests, key=lambda test: -test.estimate)
        self.at_once = at_once
        self.idle_seconds = idle_seconds
        self.finish = finish
        self.running = {}
        self.total, self.failed = len(tests), 0
        self.progress = Progress(self)

    def run(self):
        """Raises Interrupted when the runner is told to end."""
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, process.AWAITED)
        looked = 0
        try:
            while self.waiting or self.running:
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
            one = Running(self.waiting.pop(0), self.idle_seconds)
            self.running[one.pid] = one

    def collect(self):
        for pid in list(self.running):
            ended, status, usage = os.wait4(pid, os.WNOHANG)
            if not ended:
                continue
            one = self.running.pop(pid)
            self.progress.clear()
            status = process.STOPPED if one.timed_out else process.exit_status(status)
            self.failed += self.finish(one.test, one.text(), status, one.seconds(),
                                       usage.ru_utime + usage.ru_stime)

    def stop(self):
        for one in self.running.values():
            one.stop()
        for pid in self.running:
            os.waitpid(pid, 0)
        self.running.clear()

    def left(self):
        """The estimated seconds until the end."""
        rest = [max(one.test.estimate - one.seconds(), 0) for one in self.running.values()]
        total = sum(rest) + sum(test.estimate for test in self.waiting)
        return max(total / self.at_once, *rest, 0)


class Progress:
    """A line on stderr: redrawn on a terminal, else written now and then."""

    def __init__(self, schedule):
        self.schedule = schedule
        self.drawn = False
        self.terminal = sys.stderr.isatty() and os.environ.get('TERM') != 'dumb'
        self.last = time.monotonic()

    def text(self):
        s = self.schedule
        done = s.total - len(s.running) - len(s.waiting)
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
