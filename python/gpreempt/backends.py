# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The backends by which GPreemptScheduler suspends a process: through gpreemptd, or without it.

A backend has the methods of Backend; one thread at a time calls them, but for wait_off() beside them.
"""

import abc
import threading
import time
from typing import Any, Dict, List, Optional, Set

from .daemon import Daemon, Event, Events
from .errors import DaemonNotRunning, GPreemptError
from .local import Suspender, queues


class Backend(abc.ABC):
    """The operations that a scheduler needs."""

    name = ''

    @abc.abstractmethod
    def enrol(self, pid: int, class_name: str) -> Optional[str]:
        """Give @pid that class. Returns its former class, if known."""

    @abc.abstractmethod
    def dismiss(self, pid: int, previous: Optional[str]) -> None:
        """Undo enrol(), which returned @previous."""

    @abc.abstractmethod
    def suspend(self, pid: int, lease: float) -> float:
        """Suspend a process for this many seconds, without waiting. A second call renews it."""

    def renew(self, pid: int, lease: float) -> float:
        """Renew the suspension, or raise NotHeld if the process is not suspended any more."""
        return self.suspend(pid, lease)

    @abc.abstractmethod
    def wait_off(self, pid: int, lease: float) -> None:
        """Wait until a process is off the GPU, after suspend(). May be called by any thread."""

    @abc.abstractmethod
    def resume(self, pid: int) -> None:
        """Resume a process."""

    @abc.abstractmethod
    def queues(self, pid: int) -> List[Any]:
        """The queues of a process."""

    @abc.abstractmethod
    def files(self) -> List[Any]:
        """Readable when take() has something."""

    @abc.abstractmethod
    def take(self) -> List[Event]:
        """The events since the last call."""

    @abc.abstractmethod
    def stats(self) -> Dict[str, Any]:
        """Counters of the daemon or the library."""

    @abc.abstractmethod
    def close(self) -> None:
        """Release everything."""


class ByDaemon(Backend):
    """gpreemptd decides by the classes and does the work; holds are its leases."""

    name = 'daemon'

    def __init__(self, socket: Optional[str]) -> None:
        self.daemon = Daemon(socket)
        self.waiter = Daemon(socket)            # a hold that waits delays no other call
        self.waiting = threading.Lock()         # a thread uses the waiter
        self.subscription: Optional[Events] = self.daemon.events()

    def enrol(self, pid: int, class_name: str) -> Optional[str]:
        if not pid:
            self.daemon.register(class_name)
            return None
        previous: str = self.daemon.call('SetClass', pid=pid, **{'class': class_name})['previous']
        return previous

    def dismiss(self, pid: int, previous: Optional[str]) -> None:
        if pid:
            self.daemon.call('SetClass', pid=pid, **{'class': previous})
        else:
            self.daemon.register(None)          # what the rules give

    def suspend(self, pid: int, lease: float) -> float:
        return self.daemon.hold(pid, lease, wait=False)

    def renew(self, pid: int, lease: float) -> float:
        return self.daemon.hold(pid, lease, wait=False, renew=True)

    def wait_off(self, pid: int, lease: float) -> None:
        with self.waiting:
            self.waiter.hold(pid, lease, renew=True)

    def resume(self, pid: int) -> None:
        self.daemon.release(pid)

    def queues(self, pid: int) -> List[Any]:
        return list(self.daemon.queues(pid))

    def files(self) -> List[Any]:
        return [] if self.subscription is None else [self.subscription]

    def take(self) -> List[Event]:
        if self.subscription is None:
            self.subscription = self.daemon.events()
        found: List[Event] = []
        try:
            while (event := self.subscription.poll()) is not None:
                found.append(event)
        except DaemonNotRunning:
            self.subscription.close()
            self.subscription = None
            if not found:
                raise
        return found

    def stats(self) -> Dict[str, Any]:
        return self.daemon.stats()

    def close(self) -> None:
        if self.subscription is not None:
            self.subscription.close()
        with self.waiting:
            self.waiter.close()
        self.daemon.close()


class Direct(Backend):
    """Without the daemon. This process attaches to the processes that it suspends, and the driver
    resumes them all when this process ends for any reason. It does not notice online work by itself."""

    name = 'direct'

    def __init__(self) -> None:
        self.sessions: Dict[int, Suspender] = {}
        self.off_until: Dict[int, float] = {}
        self.leaving: Set[int] = set()          # take() closes them: who polls them calls it
        self.counters = {'attaches': 0, 'suspends': 0, 'resumes': 0, 'queues': 0}
        self.news: List[Event] = []

    def enrol(self, pid: int, class_name: str) -> Optional[str]:
        if pid and class_name == 'offline':
            self._session(pid)
            self.leaving.discard(pid)
        return None

    def dismiss(self, pid: int, previous: Optional[str]) -> None:
        self.leaving.add(pid)

    def _session(self, pid: int) -> Suspender:
        if pid not in self.sessions:
            self.sessions[pid] = Suspender(pid)
            self.counters['attaches'] += 1
        return self.sessions[pid]

    def _tell(self, pid: int, state: str) -> None:
        self.news.append(Event(time.monotonic_ns(), 'state', state, pid, 0, 0, -1, state, '', 0))

    def suspend(self, pid: int, lease: float) -> float:
        self.counters['queues'] += self._session(pid).suspend()
        self.counters['suspends'] += 1
        if pid not in self.off_until:
            self._tell(pid, 'off')
        self.off_until[pid] = time.monotonic() + lease
        return lease

    def wait_off(self, pid: int, lease: float) -> None:
        """Returns at once, because the driver's call has waited."""

    def resume(self, pid: int) -> None:
        if pid not in self.sessions:
            return
        self.sessions[pid].resume()
        self.counters['resumes'] += 1
        if self.off_until.pop(pid, None) is not None:
            self._tell(pid, 'on')

    def queues(self, pid: int) -> List[Any]:
        return list(queues(pid))

    def _forget(self, pid: int) -> None:
        self.leaving.discard(pid)
        self.sessions.pop(pid).close()
        if self.off_until.pop(pid, None) is not None:
            self._tell(pid, 'on')

    def _look(self, pid: int) -> None:
        try:
            changes = self.sessions[pid].changes()
        except GPreemptError:
            changes = ['ended']
        if 'ended' in changes or (pid in self.leaving and pid not in self.off_until):
            self._forget(pid)
        elif pid in self.off_until and time.monotonic() >= self.off_until[pid]:
            self.resume(pid)
        elif 'new-queues' in changes and pid in self.off_until:
            self.sessions[pid].suspend()

    def files(self) -> List[Any]:
        return list(self.sessions.values())

    def take(self) -> List[Event]:
        for pid in list(self.sessions):
            self._look(pid)
        news, self.news = self.news, []
        return news

    def stats(self) -> Dict[str, Any]:
        return {'counters': dict(self.counters), 'processes': []}

    def close(self) -> None:
        for session in self.sessions.values():
            session.close()
        self.sessions.clear()
