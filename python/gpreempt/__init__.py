# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Preemptive scheduling of AMD GPUs, from Python.

    >>> import gpreempt
    >>> with gpreempt.GPreemptScheduler() as scheduler:         # doctest: +SKIP
    ...     scheduler.register_online(server.pid)
    ...     scheduler.register_offline(training.pid)
    ...     with scheduler.suspended(training.pid):
    ...         ...                             # it is off the GPU here
    ...     print(scheduler.statistics())

    >>> result = gpreempt.simulate('colocate', length='2s', gpu__save_area='host')  # doctest: +SKIP
    >>> result['ratio']['p99']                                     # doctest: +SKIP

What is here:

* GPreemptScheduler: says who is online and who is offline, suspends and resumes, watches.
* Daemon, Events: gpreemptd(8), call by call.
* gpus(), processes(), queues(): what the driver shows, without the daemon.
* Suspender: all queues of one process, without the daemon.
* simulate(): a scenario in virtual time. No GPU, no daemon; a model, not hardware.

Whatever the library refuses is an exception with the library's own sentence: GPreemptError
and those derived from it. Parameters that are times are seconds; fields called _ns are not.

It needs libgpreempt.so.0, and simulate() the command gpreempt. In a source tree those that were
built there are used; GPREEMPT_LIBRARY and GPREEMPT_COMMAND name others.
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
