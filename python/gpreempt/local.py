# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The GPUs and processes of this machine, and one process's queues, without the daemon."""

import os
from ctypes import byref, c_uint32
from dataclasses import dataclass
from typing import Any, List, Optional

from . import native
from .daemon import _decoded, target
from .native import call, text


@dataclass(frozen=True)
class Gpu:
    """A GPU, or a partition of one, as the driver lists it. vram_bytes: 0 is not known."""
    index: int
    gpu_id: int
    node: int
    render_minor: int
    partition: int
    partitions: int
    xccs: int
    compute_units: int
    gfx_version: int
    vram_bytes: int
    bdf: str
    gfx: str


@dataclass(frozen=True)
class LocalProcess:
    """A process that has the driver open. uid: 2**32 - 1 is not known."""
    pid: int
    uid: int
    start: int
    queues: int
    gpus: int
    vram_bytes: int
    evicted_ms: int
    name: str


@dataclass(frozen=True)
class LocalQueue:
    """A queue. type: 0 compute, 1 SDMA, 4 SDMA between cards."""
    id: int
    gpu_id: int
    type: int
    ring_bytes: int


class _Local(native.Handle):
    _close = 'gp_local_close'

    def __init__(self, root: Optional[str]) -> None:
        super().__init__()
        kfd = root and os.path.join(root, 'sys/class/kfd/kfd')
        proc = root and os.path.join(root, 'proc')
        call('gp_local_open', text(kfd), text(proc), byref(self._handle))

    def list(self, function: str, structure: Any, kind: Any, *arguments: Any) -> List[Any]:
        found = native.take_list(lambda *a: call(function, *a), structure, self._handle, *arguments)
        return [_decoded(one, kind) for one in found]


def gpus(root: Optional[str] = None) -> List[Gpu]:
    """The GPUs of this machine. root: a folder with a sys/ and a proc/ of its own, for tests."""
    with _Local(root) as local:
        return list(local.list('gp_local_gpus', native.LocalGpu, Gpu))


def processes(root: Optional[str] = None) -> List[LocalProcess]:
    """Every process that has the driver open and is visible to the caller."""
    with _Local(root) as local:
        return list(local.list('gp_local_processes', native.LocalProcess, LocalProcess))


def queues(pid: int, root: Optional[str] = None) -> List[LocalQueue]:
    """The queues of a process."""
    with _Local(root) as local:
        return list(local.list('gp_local_queues', native.LocalQueue, LocalQueue, pid))


class Suspender(native.Handle):
    """Suspends and resumes all queues of a process by the driver's debug interface.

    Needs the right to trace the process, and that it is not being debugged; gpreemptd does, when it
    preempts it. When it is closed, or this program dies, all queues run.
    """

    _close = 'gp_suspender_close'

    def __init__(self, pid: int, start: int = 0) -> None:
        super().__init__()
        call('gp_suspender_open', byref(target(pid, start)), byref(self._handle))

    def suspend(self, gpu_id: int = 0, grace: int = 1) -> int:
        """Suspend its queues (gpu_id 0: on all GPUs). grace: 1..255 thousand GPU clocks in which
        waves may end by themselves. Returns the number of queues."""
        count = c_uint32()
        call('gp_suspender_suspend', self._handle, gpu_id, grace, byref(count))
        return count.value

    def resume(self, gpu_id: int = 0) -> int:
        """Resume its queues. Returns the number of queues."""
        count = c_uint32()
        call('gp_suspender_resume', self._handle, gpu_id, byref(count))
        return count.value

    def fileno(self) -> int:
        """Readable when changes() has something."""
        return int(native.library().gp_suspender_fd(self._handle))

    def changes(self) -> List[str]:
        """The events since the last call: 'new-queues' (these run; suspend again), 'changed',
        'ended' (all its queues run, or the process is gone; close). Never waits."""
        mask = call('gp_suspender_events', self._handle)
        names = {native.NEW_QUEUES: 'new-queues', native.CHANGED: 'changed', native.ENDED: 'ended'}
        return [name for bit, name in names.items() if mask & bit]
