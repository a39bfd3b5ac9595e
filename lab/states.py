# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Saved machines: a guest is booted once, and every run begins where that boot ended."""

import contextlib
import fcntl
import hashlib
import os
import subprocess

import images
from images import QEMU, Trouble, say
from machine import BAD_LINE, FAILED, Machine, MachineFailed, guest_options, judge, show_tail

BOOT_TRIES = 3
# Each takes 100 to 200 MB.
MAX_STATES = 16


class CrashedEarly(Trouble):
    """
    While a kernel changes its own code, QEMU's emulation of several processors now and then lets one of them
    run what was there before. The kernel then crashes before anything of ours has run.
    """


class States:
    """
    Saved machines, one file each, named by what they were made from. A guest is booted once for all runs
    that have the same hardware and kernel, and made ready once for those that load the same driver.
    """

    def __init__(self, options, cache, root, folder):
        self.options, self.cache, self.root, self.folder = options, cache, root, folder
        self.directory = cache.path('states')
        os.makedirs(self.directory, exist_ok=True)

    def path_of(self, *more):
        inputs = (guest_options(self.options, self.cache, self.root), more,
                   *(images.age_of(path) for path in
                     (QEMU, self.cache.vmlinux, self.cache.base, self.root or '')))
        return os.path.join(self.directory, hashlib.sha256(repr(inputs).encode()).hexdigest()[:24])

    def ready(self, config):
        """An open file with the state of a guest that was made ready with @config and waits for its command."""
        return self.open_or_make('ready', self.path_of(config), lambda path: self.make_ready(path, config))

    def open_or_make(self, kind, path, make):
        """Open the state @path. @make makes it if it is missing."""
        # Each kind has 16 locks of its own, because making a ready state locks a booted state, too.
        with open(f'{self.directory}/{kind}-{os.path.basename(path)[0]}.lock', 'w', encoding='utf-8') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.options.fresh or not os.path.exists(path):
                make(path)
            os.utime(path)
            return open(path, 'rb')

    def make_ready(self, path, config):
        with self.open_or_make('booted', self.path_of(), self.make_booted) as booted:
            self.save(path, booted, config)

    def make_booted(self, path):
        say('booting the guest once; later runs begin where this boot ends')
        for tries_left in reversed(range(BOOT_TRIES)):
            try:
                return self.save(path, None)
            except CrashedEarly:
                if not tries_left:
                    raise
                say('the kernel crashed before its first process: booting again')

    def save(self, path, state, files=b''):
        """Let the machine of @state go on with @files until the guest stops it, and save it as @path."""
        with Machine(self.options, self.cache, self.root, self.folder, state) as machine:
            try:
                if state:
                    machine.resume(files)
                machine.control.wait_until_stopped()
                self.drop_oldest()
                machine.control.save(path + '.new')
                os.rename(path + '.new', path)
            except MachineFailed:
                raise self.failure(machine) from None

    def failure(self, machine):
        """Why the guest did not come to where it stops."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            machine.qemu.wait(5)
        show_tail(machine.kernel_log())
        _, why = judge(machine, machine.qemu.poll() is not None)
        early = machine.status('up') is None and BAD_LINE.search(machine.text('console'))
        return (CrashedEarly if early else Trouble)(FAILED, why)

    def drop_oldest(self):
        """Remove the states that were used longest ago, so that MAX_STATES remain with the next."""
        kept = [entry for entry in os.scandir(self.directory) if '.' not in entry.name]
        kept.sort(key=lambda entry: entry.stat().st_mtime)
        for entry in kept[:-MAX_STATES + 1]:
            with contextlib.suppress(FileNotFoundError):
                os.remove(entry.path)
