# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The calls of gpreemptd."""

import errno
import json
import select
import time
from ctypes import byref, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional

from . import native
from .errors import GPreemptError, error_of
from .native import call, text

SECOND = 1_000_000_000
_NONE = -errno.EAGAIN
_HIDDEN = 2 ** 32 - 1                           # the uid of another user's process


def nanoseconds(seconds: float) -> int:
    """Convert seconds to nanoseconds. Negative ones are an error."""
    if not 0 <= seconds < 2 ** 63 / SECOND:
        raise ValueError(f'{seconds!r}: invalid time; expected seconds, 0 or more')
    return round(seconds * SECOND)


def readable(files: List[Any], timeout: Optional[float]) -> None:
    """Wait until one of them is ready, at most @timeout seconds. Not select(), which cannot use
    descriptors above 1023."""
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    poll.poll(None if timeout is None else timeout * 1000)


def target(pid: int, start: int = 0) -> native.Target:
    """The process that a call is about."""
    return native.Target(pid=pid, start=start)


@dataclass(frozen=True)
class Status:
    """The state of the daemon."""
    version: str
    policy: str
    mechanism: str
    pid: int
    enabled: bool
    observe_only: bool
    gpus: int
    processes: int
    held: int
    up_ns: int


@dataclass(frozen=True)
class Process:
    """A process that uses GPUs. state: on, starting, stopping, off, lost or unknown, of the GPU
    where it is furthest from on. Of another user's process only pid, class_name, state and gpus are
    known, unless the caller is root or in the group of gpreemptd: uid is None then, and the other
    fields are 0 or empty."""
    pid: int
    start: int
    uid: Optional[int]
    name: str
    class_name: str
    state: str
    gpus: int
    queues: int
    preempted: int
    on_ns: int
    off_ns: int
    vram_bytes: int


@dataclass(frozen=True)
class Queue:
    """A queue of a process. type: aql, pm4, sdma or other; pending: packets, if they were seen."""
    id: int
    gpu: int
    type: str
    bytes: int
    pending: Optional[int]


@dataclass(frozen=True)
class Event:
    """An event. kind: process, queue, class, state, hold, policy, enabled, gpu,
    trouble or preemption; what: a message; lost: events dropped before this one."""
    at_ns: int
    kind: str
    what: str
    pid: int
    start: int
    cause_pid: int
    gpu: int
    state: str
    class_name: str
    lost: int


def _decoded(structure: Any, kind: Any) -> Any:
    """The dataclass @kind from the members of the same names."""
    values = {}
    for name in kind.__dataclass_fields__:
        value = getattr(structure, name)
        if isinstance(value, bytes):
            value = value.decode(errors='replace')
        elif name == 'state':
            value = native.STATES[min(value, len(native.STATES) - 1)]
        elif name in ('enabled', 'observe_only'):
            value = bool(value)
        elif name == 'uid' and value == _HIDDEN:
            value = None
        values[name] = value
    return kind(**values)


class Events(native.Handle):
    """A subscription. Iterate over it, or call next(); its fd may be polled with others."""

    _close = 'gp_events_close'

    def __init__(self, daemon: 'Daemon', kinds: Optional[str] = None) -> None:
        """kinds: None is all of them, or a list such as 'state,hold'."""
        super().__init__()
        call('gp_daemon_subscribe', daemon._handle, text(kinds), byref(self._handle))

    def fileno(self) -> int:
        """Readable when there may be an event."""
        return int(native.library().gp_events_fd(self._handle))

    def poll(self) -> Optional[Event]:
        """The next event that has arrived, or None. Never waits."""
        event = native.DaemonEvent()
        result = native.library().gp_events_next(self._handle, byref(event))
        if result == _NONE:
            return None
        if result < 0:
            raise error_of(result, native.words(result))
        found: Event = _decoded(event, Event)
        return found

    def next(self, timeout: Optional[float] = None) -> Optional[Event]:
        """The next event, or None if none came in @timeout seconds (None: wait without limit)."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            event = self.poll()
            left = None if end is None else end - time.monotonic()
            if event is not None or (left is not None and left <= 0):
                return event
            readable([self], left)

    def __iter__(self) -> Iterator[Event]:
        while True:
            event = self.next()
            if event is not None:
                yield event


class Daemon(native.Handle):
    """A connection to gpreemptd. After a restart of the daemon the next call connects again.

    Threads may share it: their calls wait for each other. Use it on one side of a fork only.
    """

    _close = 'gp_daemon_close'

    def __init__(self, socket: Optional[str] = None, timeout: float = 5.0) -> None:
        """socket: None is /run/gpreempt/control. timeout: how long a call waits for its answer."""
        super().__init__()
        call('gp_daemon_open', text(socket), byref(self._handle))
        native.library().gp_daemon_set_timeout(self._handle, round(timeout * 1000))

    def call(self, method: str, **parameters: Any) -> Dict[str, Any]:
        """Any method of the interface org.gpreempt by its name, as plain data."""
        given = {name: value for name, value in parameters.items() if value is not None}
        answer = c_void_p()
        call('gp_daemon_call', self._handle, text(method), json.dumps(given).encode(),
             byref(answer))
        result: Dict[str, Any] = json.loads(native.take_text(answer))
        return result

    # ---- what changes something ----

    def register(self, class_name: Optional[str] = None) -> None:
        """Give this process that class; None: the class of the configured rules. Call it
        before the first use of the GPU."""
        call('gp_daemon_register', self._handle, text(class_name))

    def set_class(self, pid: int, class_name: str, start: int = 0) -> None:
        """Change the class of a process."""
        call('gp_daemon_set_class', self._handle, byref(target(pid, start)), text(class_name))

    def hint(self, within: float, forget_after: float, pid: int = 0) -> None:
        """Announce work of a process (0: of this one) in @within seconds, so that the GPU is free by
        then. The hint expires @forget_after seconds later."""
        call('gp_daemon_hint', self._handle, byref(target(pid)), nanoseconds(within),
             nanoseconds(forget_after))

    def hold(self, pid: int, lease: float, wait: bool = True, start: int = 0,
             renew: bool = False) -> float:
        """Keep a process off its GPUs until it is released, at most for @lease seconds.
        A second call renews the lease. renew: only renew, and raise NotHeld if the process is not
        held any more. wait: return when it is off. Returns the seconds that were granted."""
        granted = c_uint64()
        flags = (native.WAIT if wait else 0) | (native.RENEW if renew else 0)
        call('gp_daemon_hold', self._handle, byref(target(pid, start)), nanoseconds(lease), flags,
             byref(granted))
        return granted.value / SECOND

    def release(self, pid: int, start: int = 0) -> None:
        """End a hold."""
        call('gp_daemon_release', self._handle, byref(target(pid, start)))

    def trigger(self, pid: int = 0) -> None:
        """Look at the queues now instead of at the next look."""
        call('gp_daemon_trigger', self._handle, byref(target(pid)))

    def enable(self) -> None:
        """Undo disable()."""
        call('gp_daemon_enable', self._handle)

    def disable(self) -> None:
        """The kill switch: releases everything and survives a restart."""
        call('gp_daemon_disable', self._handle)

    # ---- reading ----

    def status(self) -> Status:
        """The state of the daemon."""
        status = native.DaemonStatus()
        call('gp_daemon_status', self._handle, byref(status))
        found: Status = _decoded(status, Status)
        return found

    def processes(self) -> List[Process]:
        """Every process that uses a GPU."""
        found = native.take_list(lambda *a: call('gp_daemon_list', *a), native.DaemonProcess,
                                 self._handle)
        return [_decoded(one, Process) for one in found]

    def process(self, pid: int) -> Process:
        """The process @pid."""
        for one in self.processes():
            if one.pid == pid:
                return one
        raise error_of(errno.ESRCH, f'process {pid} does not use a GPU')

    def queues(self, pid: int) -> List[Queue]:
        """The queues of a process. Those of another user's process are not shown."""
        listed = self.call('List', pid=pid)['processes']
        return [Queue(q['id'], q['gpu'], q['type'], q['bytes'], q.get('pending'))
                for process in listed for q in process.get('queues', [])]

    def stats(self, pid: Optional[int] = None) -> Dict[str, Any]:
        """Counters of the daemon and of its processes, as gpreempt-stats(1) has them."""
        return self.call('Stats', pid=pid)

    def events(self, kinds: Optional[str] = None) -> Events:
        """Subscribe; kinds: None is all of them, or a list such as 'state,hold'."""
        return Events(self, kinds)


def answers(socket: Optional[str] = None) -> bool:
    """True if a daemon answers at that socket."""
    try:
        with Daemon(socket, timeout=1) as daemon:
            daemon.status()
        return True
    except GPreemptError:
        return False
