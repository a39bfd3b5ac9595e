# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Suites about the stock driver, and with which driver they last passed.

No program of gpreempt takes part in them. So a run of all tests leaves out each one that passed
before with the same kernel package, virtual GPU, lab and test.
"""

import hashlib
import json
import os
import subprocess

from runner import results

SUITE, FILE = 'driver', 'driver-suites.json'
PACKAGE = 'linux-source-6.12'
# What they are made of: the virtual GPU, its adapter to the driver, the lab and the tests themselves.
INPUTS = ('env', 'core', 'uapi', 'vgpu', 'lab', 'tests/shared/claims.sh')
REASON = f'left out: it passed with this {PACKAGE}, virtual GPU and lab; --full and --only run it'


def key(top):
    """What the suites depend on, or '' if it is unknown."""
    try:
        version = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', PACKAGE],
                                 capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ''
    state = hashlib.sha256()
    for path in sorted(files(top)):
        with open(path, 'rb') as f:
            state.update(f'{os.path.relpath(path, top)}\0'.encode() + hashlib.sha256(f.read()).digest())
    return f'{version} {state.hexdigest()}'


def files(top):
    for name in INPUTS:
        path = os.path.join(top, name)
        if os.path.isfile(path):
            yield path
        for where, folders, names in os.walk(path):
            folders[:] = [folder for folder in folders if folder != '__pycache__']
            yield from (os.path.join(where, one) for one in names if not one.endswith('.md'))


class Passed:
    """The key with which each suite last passed, in a file of the build directory."""

    def __init__(self, build, top):
        self.path = os.path.join(build, FILE)
        self.keys = results.read_json(self.path).get('passed', {})
        self.key = key(top)
        self.failed = set()

    def unchanged(self, test):
        return bool(self.key) and test.suite == SUITE and self.keys.get(test.title) == self.key

    def add(self, test, failed):
        if failed:
            self.failed.add(test.title)
        if test.suite == SUITE:
            self.keys[test.title] = '' if test.title in self.failed else self.key

    def save(self):
        results.write(self.path, json.dumps({'schema': results.SCHEMA, 'passed': self.keys},
                                            indent=1) + '\n')
