# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""GPreemptScheduler: registers online and offline processes, and watches them in a thread."""

import collections
import contextlib
import os
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional

from .backends import Backend, ByDaemon, Direct
from .daemon import Event, answers, readable
from .errors import DaemonNotRunning, GPreemptError, NoSuchProcess, NotHeld

_HISTORY = 10000
_LEASE = 1.0


@dataclass
class Cost:
    """Times of a call, in seconds of this machine's clock."""
    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    @property
    def mean(self) -> float:
        """The mean time; 0 before the first call."""
        return self.total / self.count if self.count else 0.0

    def add(self, seconds: float) -> None:
        """Add the time of a call."""
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)


@dataclass
class Statistics:
    """Counts of a scheduler. preemptions and restores: how often the monitor saw each process go
    off and come back, for any reason; counters: of the backend."""
    suspends: Cost = field(default_factory=Cost)
    resumes: Cost = field(default_factory=Cost)
    renewals: int = 0
    preemptions: Dict[int, int] = field(default_factory=dict)
    restores: Dict[int, int] = field(default_factory=dict)
    events: int = 0
    lost: int = 0
    trouble: List[str] = field(default_factory=list)
    counters: Dict[str, int] = field(default_factory=dict)


@dataclass
class _Hold:
    until: float                # of the monotonic clock
    lease: float                # as granted
    wanted: float
    renewed: bool
    lost: bool = False          # with the daemon, not by a release: hold it anew

    def due(self) -> float:
        """When the monitor has to act: half a lease before the end, if the lease is renewed."""
        return self.until - (self.lease / 2 if self.renewed else 0)


class GPreemptScheduler:
    """Registers online and offline processes, suspends and resumes them, and watches events.

    backend='daemon': gpreemptd preempts offline processes whenever online ones have work, by itself;
    suspend() is a lease of it that this object renews. backend='direct': no daemon, this process
    attaches to the offline ones itself and preempts when it is told to, by suspend() or online_work().
    backend='auto': the daemon if it answers.

    It fails open: when it is closed, or this program dies, everything it suspended runs again.

        with GPreemptScheduler() as scheduler:
            scheduler.register_offline(training.pid)
            with scheduler.online_work():
                ...                             # every offline process is off the GPU here
            scheduler.suspend(training.pid)
            scheduler.wait_for(training.pid, 'off', timeout=1)
            scheduler.resume(training.pid)

    Methods may be called by any thread. They raise GPreemptError, with the library's sentence.
    """

    def __init__(self, socket: Optional[str] = None, backend: str = 'auto',
                 interval: float = 0.1) -> None:
        """socket: of the daemon. interval: longest time between two checks of the monitor, in seconds."""
        if backend not in ('auto', 'daemon', 'direct'):
            raise ValueError(f"backend {backend!r}: unknown; expected one of 'auto', 'daemon', 'direct'")
        direct = backend == 'direct' or (backend == 'auto' and not answers(socket))
        self._backend: Backend = Direct() if direct else ByDaemon(socket)
        self._interval = interval
        self._lock = threading.RLock()          # of the backend and of what follows
        self._changed = threading.Condition(self._lock)
        self._classes: Dict[int, Optional[str]] = {}    # pid: the one it had before
        self._roles: Dict[int, str] = {}
        self._holds: Dict[int, _Hold] = {}
        self._inside: Dict[int, int] = {}       # pid: how many suspended() it is in
        self._states: Dict[int, str] = {}
        self._statistics = Statistics()
        self._history: Deque[Event] = collections.deque(maxlen=_HISTORY)
        self._callbacks: List[Callable[[Event], None]] = []
        self._thread: Optional[threading.Thread] = None
        self._ending = False
        self._closed = False
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    # ---- life ----

    @property
    def backend(self) -> str:
        """'daemon' or 'direct'."""
        return self._backend.name

    @property
    def monitoring(self) -> bool:
        """True if the monitor thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> 'GPreemptScheduler':
        """Start the monitor thread. `with` and suspend() do."""
        with self._lock:
            self._must_be_open()
            if not self.monitoring:
                self._thread = threading.Thread(target=self._monitor, name='gpreempt', daemon=True)
                self._thread.start()
        return self

    def close(self) -> None:
        """Resume everything, give each process its former class, end the monitor. A second call does nothing."""
        with self._lock:
            if self._ending:
                return
            self._ending = True
            held, enrolled = list(self._holds), list(self._roles)
        for pid in held:
            self._forgive(self.resume, pid)
        for pid in enrolled:
            self._forgive(self.unregister, pid)
        self._wake()
        # A callback of the monitor may close: its thread ends when that returns.
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        with self._lock:                        # no thread is in the library meanwhile
            self._closed = True
            self._backend.close()
            os.close(self._wake_read)
            os.close(self._wake_write)

    def _must_be_open(self) -> None:
        if self._ending:
            raise ValueError('GPreemptScheduler is closed')

    def __enter__(self) -> 'GPreemptScheduler':
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- roles ----

    def register_online(self, pid: int = 0) -> None:
        """Let the work of a process preempt offline processes. 0: this process."""
        self._register(pid, 'online')

    def register_offline(self, pid: int = 0) -> None:
        """Allow a process to be preempted at any time. 0: this process."""
        self._register(pid, 'offline')

    def _register(self, pid: int, role: str) -> None:
        with self._lock:
            self._must_be_open()
            previous = self._backend.enrol(pid, role)
            self._classes.setdefault(pid, previous)
            self._roles[pid] = role

    def unregister(self, pid: int) -> None:
        """Give a process the class that it had."""
        with self._lock:
            previous = self._classes.pop(pid, None)
            if self._roles.pop(pid, None) is not None:
                self._backend.dismiss(pid, previous)

    def registered(self, role: str) -> List[int]:
        """The processes registered as 'online' or 'offline'."""
        with self._lock:
            return [pid for pid, one in self._roles.items() if one == role]

    def queues(self, pid: int) -> List[Any]:
        """The queues of a process: gpreempt.Queue with the daemon, gpreempt.LocalQueue without it."""
        with self._lock:
            return self._backend.queues(pid)

    # ---- off and on ----

    def suspend(self, pid: int, lease: Optional[float] = None) -> None:
        """Suspend a process on its GPUs, and return when it is off. lease: seconds; None: until
        resume(), renewed by the monitor thread meanwhile. A second call is allowed."""
        began = time.monotonic()
        wanted = _LEASE if lease is None else lease
        with self._lock:
            self.start()
            granted = self._backend.suspend(pid, wanted)
            self._holds[pid] = _Hold(time.monotonic() + granted, granted, wanted, True)
        self._wake()
        with contextlib.ExitStack() as undo:
            undo.callback(self._forgive, self.resume, pid)
            # Without the lock: meanwhile the monitor renews this one and all others.
            try:
                self._backend.wait_off(pid, wanted)
            except NotHeld:                     # another thread or client has resumed it
                with self._lock:
                    self._holds.pop(pid, None)
            undo.pop_all()
        with self._lock:
            self._statistics.suspends.add(time.monotonic() - began)
            if pid in self._holds:
                self._holds[pid].renewed = lease is None
            elif not self._closed and self._backend.name == 'direct':
                # It was resumed meanwhile, and our waiting may have held it again.
                self._backend.resume(pid)

    def resume(self, pid: int) -> None:
        """Resume a process. Does nothing if the process is not suspended."""
        began = time.monotonic()
        with self._lock:
            if self._closed:                    # which resumed everything
                return
            self._holds.pop(pid, None)
            self._backend.resume(pid)
            self._statistics.resumes.add(time.monotonic() - began)
        self._wake()

    @contextlib.contextmanager
    def suspended(self, *pids: int) -> Iterator[None]:
        """Suspend processes for the length of a `with`. If several overlap, the last one resumes."""
        with contextlib.ExitStack() as stack:
            for pid in pids:
                with self._lock:
                    self._inside[pid] = self._inside.get(pid, 0) + 1
                stack.callback(self._leave, pid)
                self.suspend(pid)
            yield

    def _leave(self, pid: int) -> None:
        with self._lock:
            self._inside[pid] -= 1
            if not self._inside[pid]:
                del self._inside[pid]
                self._forgive(self.resume, pid)

    @contextlib.contextmanager
    def online_work(self) -> Iterator[None]:
        """Suspend every offline process for the length of a `with`."""
        with self.suspended(*self.registered('offline')):
            yield

    def _forgive(self, function: Callable[[int], None], pid: int) -> None:
        """Call @function for a process that may be gone; keep other errors as trouble."""
        try:
            function(pid)
        except NoSuchProcess:
            pass
        except GPreemptError as error:
            self._note(str(error))

    # ---- watching ----

    def state(self, pid: int) -> str:
        """'on', 'off', 'starting' or 'stopping', from the last event; 'unknown' before the first."""
        with self._lock:
            return self._states.get(pid, 'unknown')

    def wait_for(self, pid: int, state: str, timeout: float) -> bool:
        """Wait for an event with @state of a process. False: timed out."""
        with self._changed:
            return self._changed.wait_for(lambda: self._states.get(pid) == state, timeout)

    def on_event(self, callback: Callable[[Event], None]) -> None:
        """Let the monitor thread call @callback with each event. It must not take long. An exception
        from it is kept as trouble."""
        with self._lock:
            self._callbacks.append(callback)

    def events(self) -> List[Event]:
        """The last events, oldest first, at most 10000."""
        with self._lock:
            return list(self._history)

    def statistics(self) -> Statistics:
        """A copy of the statistics so far."""
        with self._lock:
            s = self._statistics
            try:
                counters = self._backend.stats()['counters']
            except GPreemptError as error:
                self._note(str(error))
                counters = {}
            return Statistics(Cost(**vars(s.suspends)), Cost(**vars(s.resumes)), s.renewals,
                              dict(s.preemptions), dict(s.restores), s.events, s.lost,
                              list(s.trouble), counters)

    # ---- the monitor thread ----

    def _monitor(self) -> None:
        while not self._ending:
            for step in (self._listen, self._hear, self._renew):
                try:
                    step()
                except Exception as error:      # without this thread no hold is renewed
                    self._note(str(error) or repr(error))
                    time.sleep(self._interval)

    def _listen(self) -> None:
        with self._lock:
            files = self._backend.files()
        # Without the lock. What is waited for is closed by this thread, or after its end.
        readable([self._wake_read, *files], self._until_renewal())
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)

    def _hear(self) -> None:
        with self._lock:
            news = self._backend.take()
        self._tell(news)

    def _wake(self) -> None:
        # Full: it is awake.
        with self._lock, contextlib.suppress(BlockingIOError):
            if not self._closed:
                os.write(self._wake_write, b'.')

    def _until_renewal(self) -> float:
        with self._lock:
            due = [hold.due() - time.monotonic() for hold in self._holds.values()]
        return max(0.0, min([self._interval, *due]))

    def _tell(self, news: List[Event]) -> None:
        with self._changed:
            for event in news:
                self._count(event)
                self._history.append(event)
            callbacks = list(self._callbacks)
            self._changed.notify_all()
        for event in news:
            for callback in callbacks:
                self._call(callback, event)

    def _call(self, callback: Callable[[Event], None], event: Event) -> None:
        try:
            callback(event)
        except BaseException as error:          # SystemExit too would end this thread, silently
            self._note(f'a callback of on_event() raised {error!r}')

    def _count(self, event: Event) -> None:
        s = self._statistics
        s.events += 1
        s.lost += event.lost
        if event.kind != 'state':
            return
        before, self._states[event.pid] = self._states.get(event.pid), event.state
        if event.state == 'off' and before != 'off':
            s.preemptions[event.pid] = s.preemptions.get(event.pid, 0) + 1
        elif event.state == 'on' and before != 'on' and event.pid in s.preemptions:
            s.restores[event.pid] = s.restores.get(event.pid, 0) + 1

    def _renew(self) -> None:
        now = time.monotonic()
        with self._lock:
            for pid, hold in list(self._holds.items()):
                if now < hold.due():
                    continue
                if hold.renewed:
                    self._renew_one(pid, hold)
                else:
                    del self._holds[pid]

    def _renew_one(self, pid: int, hold: _Hold) -> None:
        try:
            again = self._backend.suspend if hold.lost else self._backend.renew
            hold.lease = again(pid, hold.wanted)
            hold.until = time.monotonic() + hold.lease
            hold.lost = False
            self._statistics.renewals += 1
        except NoSuchProcess:
            del self._holds[pid]
        except NotHeld as error:                # another client has resumed it
            del self._holds[pid]
            self._note(str(error))
        except GPreemptError as error:
            # A daemon that is gone has released the process; retry until it answers.
            hold.until = time.monotonic() + hold.lease
            hold.lost |= isinstance(error, DaemonNotRunning)
            self._note(str(error))

    def _note(self, trouble: str) -> None:
        with self._lock:
            if trouble not in self._statistics.trouble[-1:]:
                self._statistics.trouble.append(trouble)
