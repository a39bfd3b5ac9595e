# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""One test as a tree of processes: started, measured, and ended with everything it started.

Between the runner and each test is a supervisor, a fork of the runner. It is the subreaper of the
test, so every process that the test starts stays below it, whatever its session and however it was
orphaned. Therefore wait4() of the supervisor counts the processor time of the whole tree, and
no process survives the supervisor: when the test exits, when it times out and when the runner dies,
the supervisor ends what is left.
"""

import collections
import contextlib
import ctypes
import os
import signal
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None)
TICKS = os.sysconf('SC_CLK_TCK')

# The runner and the supervisors block these signals and wait for them, so they need no handlers.
AWAITED = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
# Python ignores the first two. A runner that a shell started in the background ignores the others.
RESTORED = {signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT}

NOT_STARTED, STOPPED = 127, 124
# Seconds from SIGTERM to SIGKILL, and from there until the supervisor gives up.
GRACE, PATIENCE = 3, 10


class Process(collections.namedtuple('Process', 'parent name state seconds')):
    """@seconds: the processor time of it and of the children that it has waited for."""


def processes():
    """Every process of the machine by its number."""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
                head, _, tail = f.read().rpartition(')')
        except OSError:
            continue            # it has exited
        fields = tail.split()
        found[int(pid)] = Process(int(fields[1]), head.partition('(')[2], fields[0],
                                  sum(map(int, fields[11:15])) / TICKS)
    return found


def descendants(pid, table):
    """The numbers of all processes of @table below @pid."""
    children = collections.defaultdict(list)
    for number, process in table.items():
        children[process.parent].append(number)
    below = list(children[pid])
    for number in below:        # grows while it is read
        below += children[number]
    return below


def processor_seconds(pid, table):
    """The processor time of @pid and of everything below it so far."""
    return sum(table[number].seconds for number in [pid, *descendants(pid, table)]
               if number in table)


def exit_status(status):
    """As a shell reports it: a signal is 128 and its number."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def start(command, env, folder, output):
    """Starts @command below a supervisor and returns the number of the supervisor.

    Both streams go to the file descriptor @output. The exit status of the supervisor is that of the
    command, NOT_STARTED, or STOPPED after SIGTERM to the supervisor. The caller blocks AWAITED.
    """
    runner = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    status = NOT_STARTED
    try:
        os.setpgid(0, 0)        # the terminal's signals are for the runner
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() == runner:
            status = supervise(command, env, folder, output)
    except OSError as error:
        os.write(output, f'{command[0]}: {error.strerror}\n'.encode())
    finally:
        os._exit(status)


def supervise(command, env, folder, output):
    if folder:
        os.chdir(folder)
    child = os.posix_spawnp(
        command[0], command, env, setsid=True, setsigmask=[], setsigdef=RESTORED,
        file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                      (os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)])
    status = wait(child)
    left = end_descendants()
    if left and status != STOPPED:
        os.write(output, f"# ended what the test left running: {', '.join(left)}\n".encode())
    return status


def wait(child):
    """The exit status of @child, or STOPPED as soon as this process gets SIGTERM."""
    while True:
        if signal.sigwait({signal.SIGCHLD, signal.SIGTERM}) == signal.SIGTERM:
            return STOPPED
        for pid, status in reap():
            if pid == child:
                return exit_status(status)


def reap():
    """Each child that has exited: its number and its wait status."""
    with contextlib.suppress(ChildProcessError):
        while (exited := os.waitpid(-1, os.WNOHANG))[0]:
            yield exited


def end_descendants():
    """Ends and reaps every process below this one, and returns the names of those that ran."""
    names, asked, begun = [], {}, time.monotonic()
    for _ in reap():
        pass
    while True:
        table = processes()
        below = [pid for pid in descendants(os.getpid(), table) if table[pid].state != 'Z']
        waited = time.monotonic() - begun
        if not below or waited > GRACE + PATIENCE:
            return names
        number = signal.SIGKILL if waited > GRACE else signal.SIGTERM
        for pid in below:
            if pid not in asked:
                names.append(table[pid].name)
            if asked.get(pid) != number:
                asked[pid] = number
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        time.sleep(0.01)
        for _ in reap():
            pass
