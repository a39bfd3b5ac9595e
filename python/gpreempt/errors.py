# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Errors of the library as exceptions, with its messages."""

import errno


class GPreemptError(OSError):
    """An error of the library or the daemon. errno and strerror are the library's."""


class DaemonNotRunning(GPreemptError, ConnectionError):
    """gpreemptd does not run, or has ended."""


class NotAllowed(GPreemptError, PermissionError):
    """Permission denied: another user's process, or a call that raises the class."""


class NoSuchProcess(GPreemptError, ProcessLookupError):
    """No process with that pid uses a GPU, or the pid was reused by another process."""


class NotHeld(GPreemptError):
    """A hold that was to be renewed was released, or its lease ended."""


class TimedOut(GPreemptError, TimeoutError):
    """No answer in time."""


class ScenarioError(ValueError):
    """A scenario, or a change to one, that the simulator refuses."""


_KINDS = {
    errno.ENOTCONN: DaemonNotRunning,
    errno.EPERM: NotAllowed,
    errno.EACCES: NotAllowed,
    errno.ESRCH: NoSuchProcess,
    errno.ECANCELED: NotHeld,
    errno.ETIMEDOUT: TimedOut,
}


def error_of(number: int, message: str) -> GPreemptError:
    """The exception for the error @number, either sign."""
    return _KINDS.get(abs(number), GPreemptError)(abs(number), message)
