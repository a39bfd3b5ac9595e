# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""What the package believes about the shared library is what the library promises."""

import ctypes
import os
import pydoc
import re
import unittest

import world
import gpreempt
from gpreempt import native, places

STRUCTURES = {'gp_daemon_target': native.Target, 'gp_daemon_status': native.DaemonStatus,
              'gp_daemon_process': native.DaemonProcess, 'gp_daemon_event': native.DaemonEvent,
              'gp_local_gpu': native.LocalGpu, 'gp_local_process': native.LocalProcess,
              'gp_local_queue': native.LocalQueue}


def recorded(name):
    with open(os.path.join(world.TOP, 'tests/lib/abi', name), encoding='utf-8') as f:
        return f.read().splitlines()


class Native(unittest.TestCase):
    def test_layout(self):
        """every structure and member lies where the record of the ABI has it"""
        seen = set()
        for line in recorded('layout'):
            if match := re.fullmatch(r'(gp_\w+) (\d+)', line):
                self.assertEqual(ctypes.sizeof(STRUCTURES[match[1]]), int(match[2]), line)
            elif match := re.fullmatch(r'(gp_\w+)\.(\w+) (\d+)\+(\d+)', line):
                member = getattr(STRUCTURES[match[1]], match[2])
                self.assertEqual((member.offset, member.size), (int(match[3]), int(match[4])), line)
                seen.add((match[1], match[2]))
        ours = {(name, member[0]) for name, kind in STRUCTURES.items() for member in kind._fields_}
        self.assertEqual(seen, ours)

    def test_constants(self):
        """states and flags have the numbers of the record"""
        lines = recorded('layout')
        self.assertIn(f'enum gp_daemon_state 0..{len(native.STATES) - 1}', lines)
        self.assertIn(f'GP_DAEMON_WAIT {native.WAIT}', lines)
        self.assertIn(f'GP_SUSPENDER {native.NEW_QUEUES} {native.CHANGED} {native.ENDED}', lines)

    def test_functions(self):
        """every function of the library can be called, and none that it has not"""
        names = {line.split('@')[0] for line in recorded('symbols') if line.startswith('gp_')}
        self.assertEqual(set(native.FUNCTIONS), names)

    def test_no_library(self):
        """a library that is not there is an OSError that names it"""
        native.library.cache_clear()
        self.addCleanup(native.library.cache_clear)
        kept = os.environ['GPREEMPT_LIBRARY']
        os.environ['GPREEMPT_LIBRARY'] = '/nowhere/libgpreempt.so.0'
        self.addCleanup(os.environ.__setitem__, 'GPREEMPT_LIBRARY', kept)
        with self.assertRaisesRegex(OSError, 'nowhere'):
            gpreempt.gpus()

    def test_no_command(self):
        """without the command, simulate() says what to install"""
        kept, path = os.environ['GPREEMPT_COMMAND'], os.environ['PATH']
        self.addCleanup(os.environ.update, {'GPREEMPT_COMMAND': kept, 'PATH': path})
        top, places._TOP = places._TOP, '/nowhere'
        self.addCleanup(setattr, places, '_TOP', top)
        os.environ.update({'GPREEMPT_COMMAND': '', 'PATH': '/nowhere'})
        with self.assertRaisesRegex(FileNotFoundError, 'GPREEMPT_COMMAND'):
            gpreempt.simulate('colocate')

    def test_help(self):
        """help() has a sentence for every public name, method and parameter of weight"""
        for name in gpreempt.__all__:
            thing = getattr(gpreempt, name)
            self.assertTrue(thing.__doc__, name)
            for method, value in vars(thing).items() if isinstance(thing, type) else ():
                if not method.startswith('_') and (callable(value) or isinstance(value, property)):
                    self.assertTrue(value.__doc__, f'{name}.{method}')
        text = pydoc.render_doc(gpreempt, renderer=pydoc.plaintext)
        for word in ('GPreemptScheduler', 'simulate', 'register_online', 'seconds'):
            self.assertIn(word, text)


if __name__ == '__main__':
    unittest.main()
