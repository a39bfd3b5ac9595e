# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Errors of the library as exceptions, with its own sentences."""

import errno


class GPreemptError(OSError):
    """What the library or the daemon refused. errno and strerror are the library's."""


class DaemonNotRunning(GPreemptError, ConnectionError):
    """gpreemptd is not there, or has gone."""


class NotAllowed(GPreemptError, PermissionError):
    """Not your process, or it would raise its class."""


class NoSuchProcess(GPreemptError, ProcessLookupError):
    """No process with that pid uses a GPU, or it is another one by now."""


class NotHeld(GPreemptError):
    """A hold that was to be renewed was released, or its lease ended."""


class TimedOut(GPreemptError, TimeoutError):
    """No answer in time."""


class ScenarioError(ValueError):
    """A scenario, or a change to one, that the simulator does not take."""


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
