# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Chapters for readers who doubt: what if the assumed costs are wrong, could a fixed linger do better, and where does
every number come from.
"""

from .forms import ASSUMED, LAB, NOTES, SIMULATOR, UNITS_OF_ROWS, origin
from .run import Trial

ROBUST = Trial('colocate', length='20s', form='compare --robust', wide=True)
FRONTIER = Trial('colocate-steps', length='20s', quick='5s', form='compare --frontier', wide=True)

# source, what it is, what a run on hardware would replace
SOURCES = [
    (SIMULATOR, "our scheduler's own code, on a model of the GPU, in virtual time; what an operation costs is a fact "
     'of the model',
     'the same scenarios with gpload on the machine: every latency, goodput and part of a preemption'),
    (LAB, 'the real, unmodified amdkfd on the same model in a virtual machine: which packets it writes and how many '
     'instructions it executes are real, times of the device are not',
     'lab-colocate and gpcost on the machine: the times; the packets stay what they are'),
    (ASSUMED, 'a fact of the model for which there is no measurement; its note says what would replace it',
     'gpreempt bench, and the measurement its note names'),
    ('read', 'a fact of the model read in public code or documents; its note says where',
     'nothing, unless it differs from the data sheet'),
    (NOTES, 'what the design notes this project started from (doc/background.md) expect; shown beside, never used as a '
     'result', 'nothing: they are claims, and the hardware would judge them'),
]


def robust(runner, report, shared):
    found, = yield [runner.step(ROBUST)]
    swapped = found['swapped']
    return {**origin('pairs of rows', SIMULATOR, runner.command(ROBUST)), 'changed': len(swapped), 'swapped': swapped}


def frontier(runner, report, shared):
    found, = yield [runner.step(FRONTIER)]
    return found | origin(UNITS_OF_ROWS, SIMULATOR, runner.command(FRONTIER))


def sources(runner, report, shared):
    yield []
    kinds = [{'name': name, 'what': what, 'hardware': hardware} for name, what, hardware in SOURCES]
    return {'kinds': kinds, 'facts': shared['facts'], 'repeat': 'gpreempt facts'}
