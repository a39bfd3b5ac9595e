# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""gpreempt.simulate() and what needs no daemon."""

import os
import pathlib
import tempfile
import unittest

import world
import gpreempt

SCENARIO = os.path.join(world.TOP, 'scenarios/timeline.ini')


class Simulate(unittest.TestCase):
    def test_plain(self):
        """the result is plain data, the same for the same seed"""
        first = gpreempt.simulate(SCENARIO, length='50ms')
        self.assertEqual(first, gpreempt.simulate(SCENARIO, length='50ms'))
        self.assertEqual(gpreempt.simulate(SCENARIO, length='0.00002h'), gpreempt.simulate(SCENARIO, length='72ms'))
        self.assertEqual(first['schema'], 1)
        self.assertGreater(first['preemptions'], 0)
        self.assertEqual((first['work_lost'], first['work_doubled']), (0, 0))

    def test_built_in(self):
        """a name is a scenario that comes with gpreempt; its text is one too, and a path"""
        with open(SCENARIO, encoding='utf-8') as f:
            text = f.read()
        named = gpreempt.simulate('timeline', length='50ms')
        written = gpreempt.simulate(text, length='50ms')
        self.assertEqual(named['tasks'], written['tasks'])
        by_path = gpreempt.simulate(pathlib.Path(SCENARIO), length='50ms')
        self.assertEqual(named['tasks'], by_path['tasks'])

    def test_overrides(self):
        """an override changes the run; by keyword, by dictionary, with both spellings"""
        plain = gpreempt.simulate('colocate', length='200ms')
        host = gpreempt.simulate('colocate', length='200ms', gpu__save_area='host')
        self.assertNotEqual(plain['breakdown'], host['breakdown'])
        self.assertEqual(host, gpreempt.simulate('colocate', length='200ms',
                                                 **{'gpu.save_area': 'host'}))
        native = gpreempt.simulate('timeline', length='50ms', policy='fifo')
        self.assertEqual(native['preemptions'], 0)

    def test_refused(self):
        """what the simulator refuses is a ScenarioError with its sentence"""
        with self.assertRaisesRegex(gpreempt.ScenarioError, "unknown key 'bogus'"):
            gpreempt.simulate('timeline', gpu__bogus=1)
        with self.assertRaisesRegex(gpreempt.ScenarioError, 'nowhere'):
            gpreempt.simulate('nowhere.ini')
        with self.assertRaisesRegex(gpreempt.ScenarioError, 'section__key'):
            gpreempt.simulate('timeline', bogus=1)
        with self.assertRaises(gpreempt.ScenarioError):
            gpreempt.simulate('[not a scenario]\n')

    def test_expectations(self):
        """what a scenario expects and did not get is in the result, not an exception"""
        with open(SCENARIO, encoding='utf-8') as f:
            text = f.read()
        self.assertEqual(gpreempt.simulate(text, check=True)['expectations_failed'], [])
        failed = gpreempt.simulate(text, policy='fifo', length='50ms')
        self.assertTrue(failed['expectations_failed'])


class Local(unittest.TestCase):
    def test_no_driver(self):
        """a machine without the driver is a GPreemptError that says so"""
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, 'proc'))
            with self.assertRaisesRegex(gpreempt.GPreemptError, 'amdkfd'):
                gpreempt.gpus(root)
            with self.assertRaisesRegex(gpreempt.GPreemptError, 'amdkfd'):
                gpreempt.processes(root)

    def test_tree(self):
        """GPUs and processes are read from the driver's files"""
        with tempfile.TemporaryDirectory() as root:
            make_tree(root)
            gpu, = gpreempt.gpus(root)
            self.assertEqual((gpu.gpu_id, gpu.gfx, gpu.xccs, gpu.compute_units),
                             (4660, 'gfx942', 4, 80))
            self.assertEqual([p.queues for p in gpreempt.processes(root)], [1])
            self.assertEqual([(q.id, q.gpu_id, q.type) for q in gpreempt.queues(os.getpid(), root)],
                             [(0, 4660, 0)])
            with self.assertRaises(gpreempt.NoSuchProcess):
                gpreempt.queues(999999, root)

    def test_suspender(self):
        """without the device a suspender cannot be had, and says why"""
        if os.path.exists('/dev/kfd'):
            self.skipTest('this machine has /dev/kfd')
        with self.assertRaisesRegex(gpreempt.GPreemptError, '/dev/kfd'):
            gpreempt.Suspender(os.getpid())


def make_tree(root):
    """The files of a driver with one MI308X and this process with one queue."""
    files = {
        'topology/nodes/0/gpu_id': '0\n',
        'topology/nodes/0/properties': 'cpu_cores_count 8\nsimd_count 0\n',
        'topology/nodes/1/gpu_id': '4660\n',
        'topology/nodes/1/properties': 'simd_count 320\nsimd_per_cu 4\nnum_xcc 4\n'
                                       'gfx_target_version 90402\nlocation_id 49408\ndomain 0\n'
                                       'drm_render_minor 128\n',
        f'proc/{os.getpid()}/pasid': '32768\n',
        f'proc/{os.getpid()}/queues/0/gpuid': '4660\n',
        f'proc/{os.getpid()}/queues/0/size': '65536\n',
        f'proc/{os.getpid()}/queues/0/type': '0\n',
    }
    for name, content in files.items():
        path = os.path.join(root, 'sys/class/kfd/kfd', name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='ascii') as f:
            f.write(content)
    os.symlink('/proc', os.path.join(root, 'proc'))


if __name__ == '__main__':
    unittest.main()
