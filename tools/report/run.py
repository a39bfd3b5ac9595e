# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Running the steps of a report, several at a time, and showing how far they are.

A chapter is a generator: it yields the list of its steps, is sent the list of their results in the
same order, and returns what it makes of them.
"""

import concurrent.futures
import dataclasses
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import typing

# A run that --length makes short needs no two seconds of warm-up.
SHORT_WARMUP = 'run.warmup=100ms'
BAR = 24


class Failed(Exception):
    """A step failed: a line to print, and the exit code."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


@dataclasses.dataclass(frozen=True)
class Trial:
    """One call of gpreempt with a scenario."""
    scenario: str
    length: str = None          # virtual time; None: as the scenario says
    quick: str = None           # with --quick
    rows: tuple = ()            # none: all
    sets: tuple = ()            # 'section.key=value'
    form: str = 'compare'       # or 'sim', 'compare --robust', 'compare --frontier'
    wide: bool = False          # long: gets all processors


@dataclasses.dataclass(frozen=True)
class Step:
    what: str                   # for people
    run: typing.Callable        # () -> its result
    wide: bool = False
    alone: bool = False         # one such step at a time


class Runner:
    def __init__(self, top, build, options, check=True):
        self.top, self.options = top, options
        self.gpreempt = os.path.abspath(os.path.join(build, 'cli/gpreempt'))
        self.scenarios = os.path.abspath(os.environ.get('GPREEMPT_SCENARIOS') or os.path.join(top, 'scenarios'))
        self.environment = os.environ | {'GPREEMPT_SCENARIOS': self.scenarios, 'GP_BUILD': os.path.abspath(build)}
        if check and not os.access(self.gpreempt, os.X_OK):
            raise Failed(f'{self.gpreempt}: not found; build it with ./run build', 2)
        self.running, self.lock, self.stopped = set(), threading.Lock(), False

    # ---- commands ----

    def length_of(self, trial):
        o = self.options
        return o.length or (o.quick and trial.quick) or trial.length

    def words(self, trial):
        """The words behind `gpreempt` that repeat @trial."""
        words = [*trial.form.split(), trial.scenario, '--seed', str(self.options.seed)]
        length = self.length_of(trial)
        if length:
            words += ['--length', length]
        if trial.rows:
            words += ['--rows', ','.join(trial.rows)]
        for setting in trial.sets + ((SHORT_WARMUP,) if self.options.length else ()):
            words += ['--set', setting]
        return words

    def command(self, trial):
        return shlex.join(['gpreempt', *self.words(trial)])

    def call(self, words, cwd, **more):
        """Runs a command to its end: exit code and stdout, and stderr if it is asked for."""
        with self.lock:
            if self.stopped:
                raise Failed('stopped')
            process = subprocess.Popen(words, cwd=cwd, env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, text=True, **more)
            self.running.add(process)
        try:
            out, err = process.communicate()
        finally:
            with self.lock:
                self.running.discard(process)
        return process.returncode, out, err

    def ask(self, words, wide=False):
        """What gpreempt prints as JSON. Exit code 1 with JSON is a finding, not a failure."""
        words = [self.gpreempt, *words, '--json']
        if words[1] != 'facts':
            words += ['--jobs', str(self.options.jobs if wide else 1)]
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = self.call(words, folder, stderr=subprocess.PIPE)
        if code not in (0, 1) or not out:
            raise Failed(err.strip() or f'{shlex.join(words)} ended with status {code}', code if code in (1, 2) else 1)
        return json.loads(out)

    def facts(self, profile):
        found = self.ask(['facts', '--profile', profile])['facts']
        return {fact['name']: fact for fact in found}, found

    # ---- steps ----

    def step(self, trial):
        what = ', '.join([trial.scenario, *trial.sets[:1], *trial.form.split()[1:]])
        return Step(what, lambda: self.ask(self.words(trial), trial.wide), trial.wide)

    def watch(self, trial):
        """Runs @trial, of one row, with a trace; gives the slices of the trace as (name, ns)."""
        def run():
            with tempfile.TemporaryDirectory() as folder:
                trace = os.path.join(folder, 'stops.pftrace')
                code, _, err = self.call([self.gpreempt, *self.words(trial), '--trace', trace], folder,
                                         stderr=subprocess.PIPE)
                if code not in (0, 1):
                    raise Failed(err.strip(), code)
                code, out, err = self.call([os.path.join(self.top, 'tools/pftrace-json'), trace], folder,
                                           stderr=subprocess.PIPE)
                if code:
                    raise Failed(err.strip(), code)
            return [(one['name'], one['ns']) for one in json.loads(out)['slices']]
        return Step(f'{trial.scenario}, stops and starts by {trial.rows[0]}', run)

    # ---- all of them ----

    def gather(self, chapters):
        """Runs @chapters, (name, generator) each, in which later ones may use what is in the report by then.
        Calls @put(name, chapter) in their order."""
        asked = [(name, chapter, next(chapter)) for name, chapter in chapters]
        progress = Progress(sum(len(steps) for _, _, steps in asked))
        jobs = self.options.jobs
        pool = concurrent.futures.ThreadPoolExecutor(jobs)
        lab = concurrent.futures.ThreadPoolExecutor(1) if jobs > 1 else pool
        futures = {}
        try:
            # Long ones first, so that no processor waits for them at the end.
            for wide in (True, False):
                for name, _, steps in asked:
                    for step in steps:
                        if step.wide == wide:
                            where = lab if step.alone else pool
                            futures[id(step)] = where.submit(progress.watch, name, step)
            concurrent.futures.wait(futures.values(), return_when=concurrent.futures.FIRST_EXCEPTION)
            for future in futures.values():
                if future.done():
                    future.result()
            for name, chapter, steps in asked:
                yield name, _last(chapter, [futures[id(step)].result() for step in steps])
        finally:
            self.stop()
            for one in (pool, lab):
                one.shutdown(cancel_futures=True)
            progress.end()

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                process.kill()


def _last(chapter, results):
    try:
        chapter.send(results)
    except StopIteration as stop:
        return stop.value
    raise AssertionError('a chapter asks for steps once')


class Progress:
    """On stderr: a bar if that is a terminal, and else a line for each step that is done."""

    def __init__(self, total):
        self.total, self.done, self.lock = total, 0, threading.Lock()
        self.terminal = sys.stderr.isatty()

    def watch(self, chapter, step):
        result = step.run()
        with self.lock:
            self.done += 1
            if self.terminal:
                full = BAR * self.done // self.total
                line = f"\r\033[K[{'#' * full:.<{BAR}}] {100 * self.done // self.total:3} % {chapter}: {step.what}"
            else:
                line = f'{self.done}/{self.total} {chapter}: {step.what}\n'
            sys.stderr.write(line)
            sys.stderr.flush()
        return result

    def end(self):
        if self.terminal:
            sys.stderr.write('\r\033[K')
            sys.stderr.flush()
