# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Preemptive scheduling of AMD GPUs, from Python.

    >>> import gpreempt
    >>> with gpreempt.GPreemptScheduler() as scheduler:         # doctest: +SKIP
    ...     scheduler.register_online(server.pid)
    ...     scheduler.register_offline(training.pid)
    ...     with scheduler.suspended(training.pid):
    ...         ...                             # training is off the GPU here
    ...     print(scheduler.statistics())

    >>> result = gpreempt.simulate('colocate', length='2s', gpu__save_area='host')  # doctest: +SKIP
    >>> result['ratio']['p99']                                     # doctest: +SKIP

Contents:

* GPreemptScheduler: registers online and offline processes, suspends and resumes, watches.
* Daemon, Events: the calls of gpreemptd(8).
* gpus(), processes(), queues(): lists from the driver, without the daemon.
* Suspender: suspends all queues of one process, without the daemon.
* simulate(): runs a scenario in virtual time on a model, without GPU and daemon.

Errors of the library are exceptions with the library's message: GPreemptError
and classes derived from it. Parameters that are times are in seconds, fields called _ns in nanoseconds.

The package needs libgpreempt.so.0, and simulate() the command gpreempt. In a source tree it uses those
that were built there; GPREEMPT_LIBRARY and GPREEMPT_COMMAND name others.
"""

from .daemon import Daemon, Event, Events, Process, Queue, Status
from .errors import (DaemonNotRunning, GPreemptError, NoSuchProcess, NotAllowed, NotHeld,
                     ScenarioError, TimedOut)
from .local import Gpu, LocalProcess, LocalQueue, Suspender, gpus, processes, queues
from .scheduler import Cost, GPreemptScheduler, Statistics
from .simulation import simulate

__all__ = [
    'Cost', 'Daemon', 'DaemonNotRunning', 'Event', 'Events', 'GPreemptError', 'GPreemptScheduler',
    'Gpu', 'LocalProcess', 'LocalQueue', 'NoSuchProcess', 'NotAllowed', 'NotHeld', 'Process',
    'Queue', 'ScenarioError', 'Statistics', 'Status', 'Suspender', 'TimedOut', 'gpus', 'processes',
    'queues', 'simulate',
]
