# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""gpreempt.Daemon and Events against a made-up daemon."""

import copy
import tempfile
import threading
import unittest

import world
from world import INFER, PATIENCE, STUCK, TRAIN
import gpreempt


class Calls(world.DaemonTest):
    def setUp(self):
        super().setUp()
        self.daemon = gpreempt.Daemon(self.fake.socket)
        self.addCleanup(self.daemon.close)

    def test_status(self):
        """status and processes are what the daemon says"""
        status = self.daemon.status()
        self.assertEqual((status.pid, status.policy, status.enabled, status.observe_only),
                         (77, 'priority', True, False))
        self.assertEqual([p.pid for p in self.daemon.processes()], [TRAIN, INFER, STUCK])
        train = self.daemon.process(TRAIN)
        self.assertEqual((train.name, train.class_name, train.state, train.preempted, train.queues,
                          train.off_ns), ('train\xfc', 'batch', 'on', 12, 2, 500000000))

    def test_queues(self):
        """queues have types, and pending packets where they were seen"""
        queues = self.daemon.queues(TRAIN)
        self.assertEqual([(q.id, q.type, q.pending) for q in queues],
                         [(0, 'aql', 3), (1, 'sdma', None)])

    def test_hidden(self):
        """of another user's process nothing is known but its pid, class, state and GPUs"""
        hidden = copy.deepcopy(world.WORLD)
        one = hidden['list']['processes'][0]
        hidden['list']['processes'][0] = {
            'pid': TRAIN, 'class': one['class'], 'gpus': [0], 'seats': [{'gpu': 0, 'state': 'off'}]}
        with tempfile.TemporaryDirectory() as folder:
            fake = world.FakeDaemon(folder, hidden)
            self.addCleanup(fake.stop)
            with gpreempt.Daemon(fake.socket) as daemon:
                train = daemon.process(TRAIN)
                self.assertEqual((train.class_name, train.state, train.gpus), ('batch', 'off', 1))
                self.assertEqual((train.uid, train.name, train.start, train.queues),
                                 (None, '', 0, 0))
                self.assertEqual(daemon.queues(TRAIN), [])
                self.assertEqual(daemon.process(INFER).uid, 1001)

    def test_changes(self):
        """class, hint, hold and release reach the daemon as they were said"""
        self.daemon.set_class(TRAIN, 'offline')
        self.daemon.hint(0.0002, 0.005, pid=INFER)
        self.assertEqual(self.daemon.hold(TRAIN, 0.25), 0.25)
        self.assertEqual(self.daemon.hold(TRAIN, 60, wait=False), 1.0)  # it grants a second
        self.daemon.release(TRAIN)
        self.daemon.disable()
        self.assertFalse(self.daemon.status().enabled)
        self.daemon.enable()
        for line in (f'class {TRAIN} offline', f'hint {INFER} 200000 5000000', f'hold {TRAIN} wait',
                     f'hold {TRAIN}', f'release {TRAIN}', 'disable', 'enable'):
            self.assertIn(line, self.fake.told())

    def test_stats(self):
        """any method can be called by its name"""
        self.assertEqual(self.daemon.stats()['counters']['looks'], 123456)
        self.assertEqual(self.daemon.call('GetPolicy')['policy'], 'priority')

    def test_refused(self):
        """what the daemon refuses is an exception of the right kind with its sentence"""
        with self.assertRaises(gpreempt.NoSuchProcess) as raised:
            self.daemon.hold(999999, 1)
        self.assertTrue(raised.exception.strerror)
        with self.assertRaisesRegex(gpreempt.GPreemptError, 'class'):
            self.daemon.set_class(TRAIN, 'nonsense')
        with self.assertRaises(gpreempt.GPreemptError):
            self.daemon.call('Nonsense')
        with self.assertRaises(gpreempt.NoSuchProcess):
            self.daemon.process(999999)

    def test_bad_times(self):
        """a negative time is a ValueError, and the daemon hears nothing of it"""
        before = self.fake.told()
        with self.assertRaises(ValueError):
            self.daemon.hold(TRAIN, -1)
        with self.assertRaises(ValueError):
            self.daemon.hint(float('nan'), 1)
        self.assertEqual(self.fake.told(), before)

    def test_timeout(self):
        """a hold that is not answered is TimedOut, and the connection works on"""
        with gpreempt.Daemon(self.fake.socket, timeout=0.2) as hasty:
            with self.assertRaises(gpreempt.TimedOut) as raised:
                hasty.hold(STUCK, 1)
            self.assertIsInstance(raised.exception, TimeoutError)
            world.be_patient(hasty)
            self.assertEqual(hasty.status().pid, 77)

    def test_restart(self):
        """after a restart of the daemon the next call connects again"""
        self.daemon.status()
        self.restart()
        self.assertEqual(self.daemon.status().pid, 77)

    def test_not_running(self):
        """without a daemon it is DaemonNotRunning, which says so"""
        self.fake.stop()
        with self.assertRaisesRegex(gpreempt.DaemonNotRunning, 'not running'):
            gpreempt.Daemon(self.fake.socket)

    def test_closed(self):
        """a closed one is a ValueError, not a crash; closing twice is nothing"""
        self.daemon.close()
        self.daemon.close()
        with self.assertRaisesRegex(ValueError, 'closed'):
            self.daemon.status()

    def test_threads(self):
        """threads may share a connection"""
        found = []
        threads = [threading.Thread(target=lambda: found.append(
            [self.daemon.status().pid for _ in range(50)])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [[77] * 50] * 4)


class Rights(world.DaemonTest):
    uid = 1001

    def test_not_allowed(self):
        """raising a class without the right to is NotAllowed, a PermissionError"""
        with gpreempt.Daemon(self.fake.socket) as daemon:
            with self.assertRaises(PermissionError) as raised:
                daemon.set_class(TRAIN, 'online')
            self.assertIsInstance(raised.exception, gpreempt.NotAllowed)
            daemon.set_class(TRAIN, 'offline')


class Subscription(world.DaemonTest):
    def test_events(self):
        """events come in order, with the process and for whom it was done"""
        with gpreempt.Daemon(self.fake.socket) as daemon, daemon.events('state') as events:
            self.assertIsNone(events.next(timeout=0.05))
            daemon.hold(TRAIN, 1)
            daemon.release(TRAIN)
            daemon.disable()                    # of another kind
            first, second = events.next(PATIENCE), events.next(PATIENCE)
            self.assertEqual((first.kind, first.pid, first.state, first.cause_pid, first.gpu),
                             ('state', TRAIN, 'off', INFER, 0))
            self.assertEqual(second.state, 'on')
            self.assertIsNone(events.next(timeout=0.05))

    def test_many_files(self):
        """events are waited for in a program that has thousands of files open"""
        world.use_up_descriptors(self)
        with gpreempt.Daemon(self.fake.socket) as daemon, daemon.events('state') as events:
            self.assertGreater(events.fileno(), 1023)
            self.assertIsNone(events.next(timeout=0.05))
            daemon.hold(TRAIN, 1)
            self.assertEqual(events.next(PATIENCE).state, 'off')

    def test_daemon_gone(self):
        """a daemon that goes away ends the iteration with DaemonNotRunning"""
        with gpreempt.Daemon(self.fake.socket) as daemon, daemon.events() as events:
            self.fake.stop()
            with self.assertRaises(gpreempt.DaemonNotRunning):
                list(events)


class Odd(world.DaemonTest):
    world = copy.deepcopy(world.WORLD)
    world['list']['processes'] = []

    def test_nobody(self):
        """a machine where no process uses the GPU is an empty list"""
        with gpreempt.Daemon(self.fake.socket) as daemon:
            self.assertEqual(daemon.processes(), [])


if __name__ == '__main__':
    unittest.main()
