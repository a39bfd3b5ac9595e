# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""GPreemptScheduler against a made-up daemon, and against none."""

import copy
import os
import subprocess
import sys
import threading
import unittest
import unittest.mock

import world
from world import INFER, PATIENCE, SLOW, STUCK, TRAIN
import gpreempt
from gpreempt import backends, scheduler as module


class VirtualTime:
    """The scheduler's time stands still until the test moves it."""

    def stop_time(self):
        self.clock = world.Clock(self, module, backends)

    def watch(self, scheduler):
        """Count how often the monitor of @scheduler went round."""
        renew, self.rounds = scheduler._renew, 0

        def counted():
            renew()
            self.rounds += 1
        scheduler._renew = counted

    def pass_time(self, seconds):
        """Returns when the monitor has seen the new time."""
        self.clock.now += seconds
        seen = self.rounds + 2
        world.await_true(lambda: self.rounds >= seen, 'the monitor stands still')


class ByDaemon(VirtualTime, world.DaemonTest):
    world = copy.deepcopy(world.WORLD)
    world['list']['processes'].append({**world['list']['processes'][1], 'pid': SLOW})

    def setUp(self):
        super().setUp()
        self.stop_time()
        self.scheduler = gpreempt.GPreemptScheduler(self.fake.socket, interval=0.05)
        self.watch(self.scheduler)
        self.addCleanup(self.scheduler.close)

    def renew_until(self, pid, times):
        """Time passes until the daemon was told that often to hold @pid."""
        def told():
            self.clock.now += 1
            return self.fake.told().count(f'hold {pid}') >= times
        world.await_true(told, f'{pid} was not held {times} times')

    def test_auto(self):
        """with a daemon it is used; a backend that is none is refused"""
        self.assertEqual(self.scheduler.backend, 'daemon')
        with self.assertRaisesRegex(ValueError, 'direct'):
            gpreempt.GPreemptScheduler(backend='magic')

    def test_register(self):
        """registering sets classes, closing gives back those that were there"""
        with self.scheduler as s:
            s.register_online(INFER)
            s.register_offline(TRAIN)
            s.register_offline(TRAIN)
            self.assertEqual(s.registered('offline'), [TRAIN])
            self.assertEqual(s.registered('online'), [INFER])
        told = self.fake.told()
        self.assertEqual([line for line in told if line.startswith(f'class {TRAIN}')],
                         [f'class {TRAIN} offline'] * 2 + [f'class {TRAIN} batch'])

    def test_register_self(self):
        """0 is this process, which need not use a GPU yet; closing gives back what the rules say"""
        with self.scheduler as s:
            s.register_online()
        me = f'register {os.getpid()}'
        self.assertEqual([line for line in self.fake.told() if line.startswith(me)],
                         [f'{me} online', f'{me} -'])

    def test_suspend(self):
        """the monitor hears that a process is off and on again, and both are counted"""
        with self.scheduler as s:
            self.assertTrue(s.monitoring)
            s.suspend(TRAIN)
            self.assertTrue(s.wait_for(TRAIN, 'off', PATIENCE))
            s.resume(TRAIN)
            self.assertTrue(s.wait_for(TRAIN, 'on', PATIENCE))
            stats = s.statistics()
            self.assertEqual((stats.suspends.count, stats.resumes.count), (1, 1))
            self.assertEqual((stats.preemptions, stats.restores), ({TRAIN: 1}, {TRAIN: 1}))
            self.assertGreaterEqual(stats.suspends.longest, stats.suspends.mean)
            self.assertEqual(stats.counters['stopped'], 12)
        self.assertFalse(s.monitoring)

    def test_renewed(self):
        """without a lease the hold is renewed until resume(), and not after"""
        with self.scheduler as s:
            s.suspend(TRAIN)                    # the daemon grants a second at a time
            self.renew_until(TRAIN, 3)
            s.resume(TRAIN)
            renewals = s.statistics().renewals
            self.assertGreaterEqual(renewals, 2)
            self.pass_time(10)
            self.assertEqual(s.statistics().renewals, renewals)

    def test_lease(self):
        """with a lease it ends by itself, because it is not renewed"""
        with self.scheduler as s:
            s.suspend(TRAIN, lease=0.6)
            self.pass_time(10)
        self.assertEqual(self.fake.told().count(f'hold {TRAIN}'), 1)
        self.assertNotIn(f'release {TRAIN}', self.fake.told())

    def test_with(self):
        """suspended() and online_work() resume, whatever happens inside"""
        with self.scheduler as s:
            s.register_offline(TRAIN)
            with self.assertRaisesRegex(RuntimeError, 'inside'):
                with s.online_work():
                    self.assertNotIn(f'release {TRAIN}', self.fake.told())
                    raise RuntimeError('inside')
            self.assertEqual(self.fake.told().count(f'release {TRAIN}'), 1)
            with s.suspended(TRAIN, INFER):
                pass
        self.assertEqual(self.fake.told().count(f'release {TRAIN}'), 2)
        self.assertEqual(self.fake.told().count(f'release {INFER}'), 1)

    def test_overlap(self):
        """where two overlap, the first that leaves leaves it off for the other"""
        with self.scheduler as s:
            with s.suspended(TRAIN):
                with s.suspended(TRAIN):
                    pass
                self.assertNotIn(f'release {TRAIN}', self.fake.told())
        self.assertEqual(self.fake.told().count(f'release {TRAIN}'), 1)

    def test_no_with(self):
        """without `with` too a hold is renewed: suspend() starts the monitor"""
        self.scheduler.suspend(TRAIN)
        self.renew_until(TRAIN, 3)

    def test_second_fails(self):
        """if one of several cannot be suspended, those before it are resumed"""
        with self.scheduler as s:
            with self.assertRaises(gpreempt.NoSuchProcess):
                with s.suspended(TRAIN, 999999):
                    self.fail('it was suspended')
        self.assertEqual(self.fake.told().count(f'release {TRAIN}'), 1)

    def test_close_resumes(self):
        """closing resumes what is suspended"""
        with self.scheduler as s:
            s.suspend(TRAIN)
        self.assertIn(f'release {TRAIN}', self.fake.told())
        s.close()

    def test_closed(self):
        """what is closed takes no process off any more and says so; resuming is no mistake"""
        with self.scheduler as s:
            pass
        for method in (s.suspend, s.register_offline, s.register_online):
            with self.assertRaisesRegex(ValueError, 'closed'):
                method(TRAIN)
        with self.assertRaisesRegex(ValueError, 'closed'):
            s.start()
        s.resume(TRAIN)
        self.assertEqual(self.fake.told(), ['ready'])

    def test_close_in_callback(self):
        """a callback may close: everything is let go of, and nothing is left open"""
        before = len(os.listdir('/proc/self/fd'))
        s = gpreempt.GPreemptScheduler(self.fake.socket, interval=0.05).start()
        s.on_event(lambda event: event.state == 'on' and s.close())
        thread = s._thread
        s.suspend(INFER)
        s.suspend(TRAIN)
        s.resume(TRAIN)
        thread.join(PATIENCE)
        self.assertFalse(thread.is_alive())
        self.assertEqual(s._statistics.trouble, [])
        self.assertIn(f'release {INFER}', self.fake.told())
        self.assertEqual(len(os.listdir('/proc/self/fd')), before)

    def test_close_meanwhile(self):
        """what is in use by the call of another thread is not closed under it"""
        alone, close = [], self.scheduler._backend.close
        self.scheduler._backend.close = lambda: (alone.append(self.scheduler._lock._is_owned()), close())
        self.scheduler.close()
        self.assertEqual(alone, [True])

    def test_callback(self):
        """a callback gets each event, and events() keeps them"""
        seen, heard = [], threading.Event()
        with self.scheduler as s:
            s.on_event(lambda event: (seen.append(event.state), heard.set()))
            s.suspend(TRAIN)
            self.assertTrue(heard.wait(PATIENCE))
            self.assertEqual([e.state for e in s.events()], ['off'])
        self.assertEqual(seen[0], 'off')

    def test_callback_raises(self):
        """what a callback raises is told as trouble; the others are called and renewals go on"""
        heard = threading.Event()
        with self.scheduler as s:
            for wrong in (KeyError('mine'), SystemExit(1)):
                s.on_event(unittest.mock.Mock(side_effect=wrong))
            s.on_event(lambda event: heard.set())
            s.suspend(TRAIN)
            self.assertTrue(heard.wait(PATIENCE))
            self.renew_until(TRAIN, 3)
            self.assertTrue(s.monitoring)
            trouble = s.statistics().trouble
        self.assertEqual(['mine' in one or 'SystemExit' in one for one in trouble], [True] * 2)

    def test_surprise(self):
        """an unforeseen failure is told as trouble, and renewals go on"""
        self.scheduler._backend.files = unittest.mock.Mock(side_effect=RuntimeError('a surprise'))
        with self.scheduler as s:
            s.suspend(TRAIN)
            self.renew_until(TRAIN, 3)
            self.assertTrue(s.monitoring)
            self.assertEqual(s.statistics().trouble, ['a surprise'])

    def test_many_files(self):
        """a program with thousands of files open hears of events, and its holds are renewed"""
        world.use_up_descriptors(self)
        with gpreempt.GPreemptScheduler(self.fake.socket, interval=0.05) as s:
            self.assertGreater(s._backend.files()[0].fileno(), 1023)
            s.suspend(TRAIN)
            self.assertTrue(s.wait_for(TRAIN, 'off', PATIENCE))
            self.renew_until(TRAIN, 2)
            self.assertEqual(s.statistics().trouble, [])

    def test_daemon_restarts(self):
        """the monitor outlives the daemon: trouble is told, then events come again"""
        with self.scheduler as s:
            lost = s._backend.subscription
            self.fake.stop()
            world.await_true(lambda: s._statistics.trouble, 'no trouble')
            self.restart()
            world.await_true(lambda: s._backend.subscription not in (None, lost), 'no subscription')
            s.suspend(TRAIN)
            self.assertTrue(s.wait_for(TRAIN, 'off', PATIENCE))
            self.assertTrue(s.monitoring)

    def test_refused(self):
        """a process that is not there is NoSuchProcess, and nothing is held"""
        with self.scheduler as s:
            with self.assertRaises(gpreempt.NoSuchProcess):
                s.suspend(999999)
            self.assertEqual(s.statistics().suspends.count, 0)
            self.assertEqual(s.state(999999), 'unknown')
            self.assertFalse(s.wait_for(999999, 'off', 0.1))

    def test_queues(self):
        """queues() are those of the daemon"""
        self.assertEqual([q.type for q in self.scheduler.queues(TRAIN)], ['aql', 'sdma'])

    def test_killed(self):
        """a program that is killed holds no process for longer than the lease"""
        code = ('import gpreempt, os, sys\n'
                's = gpreempt.GPreemptScheduler(sys.argv[1]).start()\n'
                's.suspend(int(sys.argv[2]))\n'
                'os.kill(os.getpid(), 9)\n')
        done = subprocess.run([sys.executable, '-c', code, self.fake.socket, str(TRAIN)], check=False,
                              env={**os.environ, 'PYTHONPATH': os.path.join(world.TOP, 'python')})
        self.assertEqual(done.returncode, -9)
        self.assertFalse(threading.Event().wait(module._LEASE))
        self.assertEqual(self.fake.told().count(f'hold {TRAIN}'), 1)

    def test_stuck(self):
        """a stop that is never answered is TimedOut and taken back; the monitor and other calls go on"""
        self.scheduler._backend.waiter = gpreempt.Daemon(self.fake.socket, timeout=0.2)
        with self.scheduler as s:
            with self.assertRaises(gpreempt.TimedOut):
                s.suspend(STUCK)
            self.assertIn(f'release {STUCK}', self.fake.told())
            world.be_patient(s._backend.waiter)
            s.suspend(TRAIN)
            self.assertTrue(s.wait_for(TRAIN, 'off', PATIENCE))

    def get_slow_off(self):
        with gpreempt.Daemon(self.fake.socket) as daemon:
            daemon.hint(0, 1, pid=SLOW)

    def test_slow(self):
        """those that are off are kept so while another takes longer than a lease to get off"""
        def renew_both():
            for pid in (TRAIN, SLOW):
                self.renew_until(pid, 4)
            self.get_slow_off()

        with self.scheduler as s:
            s.register_offline(TRAIN)
            s.register_offline(SLOW)
            renewing = threading.Thread(target=renew_both)
            renewing.start()
            with s.online_work(), gpreempt.Daemon(self.fake.socket) as daemon:
                for pid in (TRAIN, SLOW):
                    self.assertIn('held_until_ns', daemon.call('List', pid=pid)['processes'][0])
                self.assertNotIn(f'release {TRAIN}', self.fake.told())
                self.assertGreaterEqual(s.statistics().suspends.longest, 1.5)
            renewing.join()
        for pid in (TRAIN, SLOW):
            self.assertGreaterEqual(self.fake.told().count(f'hold {pid}'), 4)

    def test_resumed_meanwhile(self):
        """one that is resumed while another thread waits for it to be off is not held after that"""
        with self.scheduler as s:
            waits = threading.Thread(target=s.suspend, args=(SLOW,))
            waits.start()
            self.fake.await_told(f'hold {SLOW} wait')
            s.resume(SLOW)
            self.assertTrue(waits.is_alive())
            self.get_slow_off()
            waits.join()
            told = self.fake.told()
            self.assertEqual(told[-2], f'release {SLOW}')
            self.assertIn(f'hint {SLOW}', told[-1])

    def test_resumed_by_another_client(self):
        """a hold that another client released is not renewed"""
        with self.scheduler as s:
            s.suspend(TRAIN)
            with gpreempt.Daemon(self.fake.socket) as other:
                other.release(TRAIN)
                with self.assertRaises(gpreempt.NotHeld):
                    other.hold(TRAIN, 1, renew=True)
            self.pass_time(10)
            self.assertEqual(self.fake.told()[-1], f'release {TRAIN}')
            self.assertIn('not held', s.statistics().trouble[-1])


class FakeSuspender:
    """What Direct needs of a Suspender."""

    made = {}

    def __init__(self, pid):
        if pid == 999999:
            raise gpreempt.NoSuchProcess(3, 'no such process')
        self.pid, self.calls, self.pending = pid, [], []
        self.read, self.write = os.pipe()
        FakeSuspender.made[pid] = self

    def fileno(self):
        return self.read

    def happen(self, what):
        self.pending.append(what)
        os.write(self.write, b'.')

    def changes(self):
        if self.pending:
            os.read(self.read, 1)
        found, self.pending = self.pending, []
        return found

    def suspend(self):
        self.calls.append('suspend')
        return 2

    def resume(self):
        self.calls.append('resume')
        return 2

    def close(self):
        self.calls.append('close')
        os.close(self.write)


class WithoutDaemon(VirtualTime, unittest.TestCase):
    def setUp(self):
        self.stop_time()
        FakeSuspender.made = {}
        kept, backends.Suspender = backends.Suspender, FakeSuspender
        self.addCleanup(setattr, backends, 'Suspender', kept)
        self.scheduler = gpreempt.GPreemptScheduler('/nowhere/control', interval=0.05)
        self.watch(self.scheduler)
        self.addCleanup(self.scheduler.close)

    def test_auto(self):
        """without a daemon it suspends by itself; asked for the daemon, it refuses"""
        self.assertEqual(self.scheduler.backend, 'direct')
        with self.assertRaises(gpreempt.DaemonNotRunning):
            gpreempt.GPreemptScheduler('/nowhere/control', backend='daemon')

    def test_suspend(self):
        """suspend and resume reach the driver, are counted and heard of"""
        with self.scheduler as s:
            s.register_offline(5)
            with s.online_work():
                self.assertTrue(s.wait_for(5, 'off', PATIENCE))
            self.assertTrue(s.wait_for(5, 'on', PATIENCE))
            stats = s.statistics()
        self.assertEqual(FakeSuspender.made[5].calls, ['suspend', 'resume', 'close'])
        self.assertEqual((stats.preemptions, stats.restores), ({5: 1}, {5: 1}))
        self.assertEqual(stats.counters['suspends'], 1)

    def test_lease(self):
        """the lease ends by itself"""
        with self.scheduler as s:
            s.suspend(5, lease=0.25)
            self.pass_time(0.125)
            self.assertEqual(s.state(5), 'off')
            self.pass_time(0.125)
            self.assertTrue(s.wait_for(5, 'on', PATIENCE))
            self.assertIn('resume', FakeSuspender.made[5].calls)

    def test_new_queue(self):
        """a queue that a suspended process makes is suspended too"""
        with self.scheduler as s:
            s.suspend(5, lease=30)              # so that no renewal does it
            s.wait_for(5, 'off', PATIENCE)
            before = FakeSuspender.made[5].calls.count('suspend')
            FakeSuspender.made[5].happen('new-queues')
            world.await_true(lambda: FakeSuspender.made[5].calls.count('suspend') > before,
                             'it was not suspended again')

    def test_ended(self):
        """a process that ends while suspended is let go of"""
        with self.scheduler as s:
            s.suspend(5)
            s.wait_for(5, 'off', PATIENCE)
            FakeSuspender.made[5].happen('ended')
            self.assertTrue(s.wait_for(5, 'on', PATIENCE))
            self.assertIn('close', FakeSuspender.made[5].calls)

    def test_unregister(self):
        """one that is unregistered is let go of, so that others can have it; not while it is off"""
        with self.scheduler as s:
            s.register_offline(5)
            s.suspend(5)
            s.unregister(5)
            self.pass_time(0.1)
            self.assertEqual(s.state(5), 'off')
            s.resume(5)
            world.await_true(lambda: 'close' in FakeSuspender.made[5].calls, 'it was not let go of')
            self.assertEqual(FakeSuspender.made[5].calls[-2:], ['resume', 'close'])

    def test_resume_stranger(self):
        """no process is attached only to be resumed; nor by what is closed"""
        with self.scheduler as s:
            s.resume(5)
        s.resume(5)
        with self.assertRaisesRegex(ValueError, 'closed'):
            s.suspend(5)
        self.assertEqual(FakeSuspender.made, {})

    def test_no_process(self):
        """one that is not there is NoSuchProcess"""
        with self.scheduler as s, self.assertRaises(gpreempt.NoSuchProcess):
            s.register_offline(999999)


if __name__ == '__main__':
    unittest.main()
