# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""libgpreempt.so.0 by ctypes: its structures, its functions, its errors.

The structures repeat gpreempt.h; tests/python compares their layout with the record in tests/lib/abi.
"""

import ctypes
import functools
import os
from ctypes import (POINTER, Structure, byref, c_char, c_char_p, c_int, c_int32, c_size_t, c_uint32,
                    c_uint64, c_void_p)
from typing import Any, Callable, List, Optional, Type

from . import places
from .errors import error_of

STATES = ('on', 'starting', 'stopping', 'off', 'lost', 'unknown')
WAIT = 1
RENEW = 2
NEW_QUEUES, CHANGED, ENDED = 1, 2, 4


class Target(Structure):
    """struct gp_daemon_target"""
    _fields_ = [('pid', c_int32), ('reserved', c_uint32), ('start', c_uint64)]


class DaemonStatus(Structure):
    """struct gp_daemon_status"""
    _fields_ = [('version', c_char * 32), ('policy', c_char * 32), ('mechanism', c_char * 32),
                ('pid', c_int32), ('enabled', c_uint32), ('observe_only', c_uint32),
                ('gpus', c_uint32), ('processes', c_uint32), ('held', c_uint32),
                ('up_ns', c_uint64), ('reserved', c_uint64 * 4)]


class DaemonProcess(Structure):
    """struct gp_daemon_process"""
    _fields_ = [('pid', c_int32), ('uid', c_uint32), ('start', c_uint64), ('name', c_char * 64),
                ('class_name', c_char * 64), ('state', c_uint32), ('gpus', c_uint32),
                ('queues', c_uint32), ('reserved0', c_uint32), ('preempted', c_uint64),
                ('on_ns', c_uint64), ('off_ns', c_uint64), ('vram_bytes', c_uint64),
                ('reserved', c_uint64 * 4)]


class DaemonEvent(Structure):
    """struct gp_daemon_event"""
    _fields_ = [('at_ns', c_uint64), ('start', c_uint64), ('pid', c_int32), ('cause_pid', c_int32),
                ('gpu', c_int32), ('lost', c_uint32), ('state', c_uint32), ('reserved0', c_uint32),
                ('kind', c_char * 16), ('class_name', c_char * 64), ('what', c_char * 128),
                ('reserved', c_uint64 * 4)]


class LocalGpu(Structure):
    """struct gp_local_gpu"""
    _fields_ = [('index', c_uint32), ('gpu_id', c_uint32), ('node', c_uint32),
                ('render_minor', c_uint32), ('partition', c_uint32), ('partitions', c_uint32),
                ('xccs', c_uint32), ('compute_units', c_uint32), ('gfx_version', c_uint32),
                ('reserved0', c_uint32), ('vram_bytes', c_uint64), ('bdf', c_char * 24),
                ('gfx', c_char * 16), ('reserved', c_uint64 * 4)]


class LocalProcess(Structure):
    """struct gp_local_process"""
    _fields_ = [('pid', c_int32), ('uid', c_uint32), ('start', c_uint64), ('queues', c_uint32),
                ('gpus', c_uint32), ('vram_bytes', c_uint64), ('evicted_ms', c_uint64),
                ('name', c_char * 64), ('reserved', c_uint64 * 4)]


class LocalQueue(Structure):
    """struct gp_local_queue"""
    _fields_ = [('id', c_uint32), ('gpu_id', c_uint32), ('type', c_uint32),
                ('ring_bytes', c_uint32), ('reserved', c_uint64 * 2)]


HANDLE = c_void_p
OUT = POINTER(c_void_p)
COUNT = POINTER(c_size_t)
TARGET = POINTER(Target)

# The arguments of each function. A function returns 0 or -errno, unless it is named in OTHERS.
FUNCTIONS = {
    'gp_daemon_open': [c_char_p, OUT],
    'gp_daemon_close': [HANDLE],
    'gp_daemon_set_timeout': [HANDLE, c_int],
    'gp_daemon_call': [HANDLE, c_char_p, c_char_p, OUT],
    'gp_daemon_register': [HANDLE, c_char_p],
    'gp_daemon_set_class': [HANDLE, TARGET, c_char_p],
    'gp_daemon_hint': [HANDLE, TARGET, c_uint64, c_uint64],
    'gp_daemon_hold': [HANDLE, TARGET, c_uint64, c_uint32, POINTER(c_uint64)],
    'gp_daemon_release': [HANDLE, TARGET],
    'gp_daemon_trigger': [HANDLE, TARGET],
    'gp_daemon_enable': [HANDLE],
    'gp_daemon_disable': [HANDLE],
    'gp_daemon_status': [HANDLE, POINTER(DaemonStatus)],
    'gp_daemon_list': [HANDLE, OUT, COUNT],
    'gp_daemon_subscribe': [HANDLE, c_char_p, OUT],
    'gp_events_fd': [HANDLE],
    'gp_events_next': [HANDLE, POINTER(DaemonEvent)],
    'gp_events_close': [HANDLE],
    'gp_local_open': [c_char_p, c_char_p, OUT],
    'gp_local_close': [HANDLE],
    'gp_local_gpus': [HANDLE, OUT, COUNT],
    'gp_local_processes': [HANDLE, OUT, COUNT],
    'gp_local_queues': [HANDLE, c_int32, OUT, COUNT],
    'gp_suspender_open': [TARGET, OUT],
    'gp_suspender_close': [HANDLE],
    'gp_suspender_suspend': [HANDLE, c_uint32, c_uint32, POINTER(c_uint32)],
    'gp_suspender_resume': [HANDLE, c_uint32, POINTER(c_uint32)],
    'gp_suspender_fd': [HANDLE],
    'gp_suspender_events': [HANDLE],
    'gp_strerror': [c_int],
}
OTHERS = {'gp_strerror': c_char_p, 'gp_daemon_close': None, 'gp_daemon_set_timeout': None,
          'gp_events_close': None, 'gp_local_close': None, 'gp_suspender_close': None}


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The shared library, loaded once."""
    lib = ctypes.CDLL(places.library())
    for name, arguments in FUNCTIONS.items():
        function = getattr(lib, name)
        function.argtypes = arguments
        function.restype = OTHERS.get(name, c_int)
    return lib


@functools.lru_cache(maxsize=None)
def _free() -> Any:
    function = ctypes.CDLL(None).free
    function.argtypes = [c_void_p]
    function.restype = None
    return function


def call(name: str, *arguments: Any) -> int:
    """Call a function that returns -errno, and raise an exception for an error."""
    result: int = getattr(library(), name)(*arguments)
    if result < 0:
        raise error_of(result, words(result))
    return result


def words(number: int) -> str:
    """The message of this thread's last call for the error @number."""
    said: bytes = library().gp_strerror(number)
    return said.decode(errors='replace')


def text(value: Optional[str]) -> Optional[bytes]:
    """A string for the library: None stays NULL."""
    return None if value is None else os.fsencode(value)


def take_text(pointer: c_void_p) -> str:
    """A string that the library gave us to free."""
    try:
        return ctypes.string_at(pointer).decode(errors='replace')
    finally:
        _free()(pointer)


def take_list(get: Callable[..., int], kind: Type[Structure], *arguments: Any) -> List[Any]:
    """The structures that @get returns in an array for us to free."""
    pointer, count = c_void_p(), c_size_t()
    get(*arguments, byref(pointer), byref(count))
    try:
        array = ctypes.cast(pointer, POINTER(kind))
        # Copies: the array goes away.
        return [kind.from_buffer_copy(array[i]) for i in range(count.value)]
    finally:
        _free()(pointer)


class Handle:
    """An object of the library, closed once: by close(), by `with`, or when no reference is left."""

    _close = ''

    def __init__(self) -> None:
        self._pointer: Optional[c_void_p] = c_void_p()

    @property
    def _handle(self) -> c_void_p:
        if self._pointer is None:
            raise ValueError(f'{type(self).__name__} is closed')
        return self._pointer

    def close(self) -> None:
        """Close the object, when no other thread is in a call of it. A second call does nothing."""
        pointer, self._pointer = self._pointer, None
        if pointer is not None and pointer.value:
            getattr(library(), self._close)(pointer)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, '_pointer', None) is not None:
            self.close()
