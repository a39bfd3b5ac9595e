# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""How much slower this machine is at the moment than the machine for which the budgets were set.

The processor time of the same test differs by a factor of two between machines, and on one machine
with what its other hardware threads do. A budget of processor time must not depend on that, so the
runner times a fixed piece of work after each test.
"""

import time

# Processor seconds of work() where all tests took 1300 s, with the other processor busy. An estimate from four tests
# (test_explore 17 s, test_simulation 15 s, report 15 s, lab daemon 45 s there).
REFERENCE = 0.0072


def work():
    """A few milliseconds of integers, a table and a sort, which need caches as tests do."""
    values = [i * 2654435761 & 0xffffffff for i in range(20000)]
    table = {}
    for value in values:
        table[value] = table.get(value >> 3, 0) + 1
    values.sort()
    return len(table)


def slowness():
    """1 for a machine as fast as the reference or faster, 2 for one of half its speed."""
    before = time.thread_time()
    work()
    return max(1, (time.thread_time() - before) / REFERENCE)
