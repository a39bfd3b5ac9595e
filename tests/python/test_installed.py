# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The package as it is installed, away from the source tree."""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

import world

CODE = '''
import gpreempt, gpreempt.places
assert gpreempt.__file__.startswith(%r), gpreempt.__file__
print(gpreempt.simulate('timeline', length='50ms')['preemptions'])
try:
    gpreempt.Daemon('/nowhere/control')
except gpreempt.DaemonNotRunning as error:
    print(error)
'''


class Installed(unittest.TestCase):
    def test_installed(self):
        """installed, it finds the library, the command and the scenarios that were installed with it"""
        with tempfile.TemporaryDirectory() as root:
            done = subprocess.run(['meson', 'install', '-C', world.BUILD, '--no-rebuild', '--quiet',
                                   '--destdir', root], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            package, = glob.glob(f'{root}/**/gpreempt/__init__.py', recursive=True)
            library, = glob.glob(f'{root}/**/libgpreempt.so.0', recursive=True)
            command, = glob.glob(f'{root}/**/bin/gpreempt', recursive=True)
            env = {'PATH': os.path.dirname(command), 'LD_LIBRARY_PATH': os.path.dirname(library),
                   'PYTHONPATH': os.path.dirname(os.path.dirname(package))}
            done = subprocess.run([sys.executable, '-c', CODE % root], cwd='/', env=env, text=True,
                                  capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        preemptions, refused = done.stdout.splitlines()
        self.assertGreater(int(preemptions), 0)
        self.assertIn('not running', refused)


if __name__ == '__main__':
    unittest.main()
