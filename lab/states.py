# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Saved machines: a guest is booted once, and every run begins where that boot ended."""

import contextlib
import fcntl
import hashlib
import os
import re
import time

import images
import machine
from images import QEMU, Trouble, say
from machine import (FAILED, CannotSave, Machine, MachineFailed, boot_failure, crashed_early,
                     guest_options)

BOOT_TRIES = 3
# Each takes 100 to 200 MB. The tests use about 30.
MAX_STATES = 32
# The name of a state. Other files in the same directory are not the lab's.
STATE_NAME = re.compile('[0-9a-f]{24}')


class DamagedState(Exception):
    """QEMU cannot restore a saved machine."""


class States:
    """
    Saved machines, one file each, named by what they were made from. A guest is booted once for all runs
    that have the same hardware and kernel, and made ready once for those that load the same driver.
    """

    def __init__(self, options, cache, root, folder):
        self.options, self.cache, self.root, self.folder = options, cache, root, folder
        self.directory = os.environ.get('GP_STATES') or cache.path('states')
        os.makedirs(self.directory, exist_ok=True)
        # QEMU trusts the file that it restores a machine from.
        info = os.stat(self.directory)
        if info.st_uid not in (0, os.geteuid()) or info.st_mode & 0o022:
            raise CannotSave(f'{self.directory}: not trusted, because other users may write it; chmod go-w it')

    def path_of(self, *more):
        inputs = (guest_options(self.options, self.cache, self.root), more,
                  images.hash_of(machine.__file__, __file__),
                  *(images.age_of(path) for path in
                    (QEMU, self.cache.vmlinux, self.cache.initrd(self.root), self.root or '')))
        return os.path.join(self.directory, hashlib.sha256(repr(inputs).encode()).hexdigest()[:24])

    def ready(self, config):
        """
        An open file with the state of a guest that was made ready with @config and waits for its command.
        CannotSave: there is no room for a state.
        """
        # A state that others are made from counts as used when the youngest of them is.
        with contextlib.suppress(FileNotFoundError):
            os.utime(self.path_of())
        return self.open_or_make('ready', self.path_of(config), lambda path: self.make_ready(path, config))

    def open_or_make(self, kind, path, make):
        """Open the state @path. @make makes it if it is missing."""
        # Each kind has 16 locks of its own, because making a ready state locks a booted state, too.
        with open(f'{self.directory}/{kind}-{os.path.basename(path)[0]}.lock', 'w', encoding='utf-8') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.options.fresh:
                make(path)
            # Another lab may remove it until it is open.
            while True:
                try:
                    state = open(path, 'rb')
                except FileNotFoundError:
                    make(path)
                    continue
                os.utime(state.fileno())
                return state

    def make_ready(self, path, config):
        with self.open_or_make('booted', self.path_of(), self.make_booted) as booted:
            self.save(path, booted, config)

    def make_booted(self, path):
        say('booting the guest once; later runs begin where this boot ends')
        self.save(path, None)

    def save(self, path, state, files=b'', tries_left=BOOT_TRIES - 1):
        """Resume the machine of @state with @files, or boot one. Save it as @path when the guest stops it."""
        with Machine(self.options, self.cache, self.root, self.folder, state) as guest:
            try:
                if state:
                    guest.resume(files)
                guest.control.wait_until_stopped()
                self.drop_oldest()
                guest.control.save(path + '.new')
                os.rename(path + '.new', path)
                return
            except MachineFailed:
                if state and not guest.resumed:
                    raise DamagedState from None
                why = boot_failure(guest)
                if state or not tries_left or not crashed_early(guest):
                    raise Trouble(FAILED, why) from None
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(path + '.new')
        say('the kernel crashed before its first process: booting again')
        self.save(path, None, tries_left=tries_left - 1)

    def drop_oldest(self):
        """Remove the states that were used longest ago, so that MAX_STATES remain with the next."""
        ages = {}
        for entry in os.scandir(self.directory):
            if STATE_NAME.fullmatch(entry.name.removesuffix('.new')):
                # Other labs remove states, too.
                with contextlib.suppress(FileNotFoundError):
                    ages[entry.path] = entry.stat().st_mtime
        states = sorted((path for path in ages if not path.endswith('.new')), key=ages.get)
        # A save takes seconds. One that is hours old was killed.
        killed = [path for path in ages if path.endswith('.new') and ages[path] < time.time() - 4 * 3600]
        for path in states[:-MAX_STATES + 1] + killed:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
