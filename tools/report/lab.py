# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Chapter: the same in the lab, where the real driver has the virtual GPU. Programs of the lab print a JSON object
per line; one that learns a new row gives the report a new row.
"""

import json
import shlex
import sys

from .forms import LAB, origin
from .run import Step

_IN_LAB = 'lab/run --seed 0 --timeout 1200 -- '
_COSTS = ("lab/run --seed 0 --param poll_us=20000 --param no_system_mem_limit=1 --timeout 1200 -- "
          "sh -c 'modprobe gpreempt && gpcost --json{}'")

# name, what, command, with --quick, unit
PROBES = [
    ('colocate', 'online beside offline work: alone, natively, by each mechanism', _IN_LAB + 'lab-colocate --json', None,
     'us'),
    ('arrival', 'how long an online arrival waits for a full GPU, by what preempts', 'lab/latency', 'lab/latency 20',
     'counted; times in ns'),
    ('model_error', 'the same operations by the driver and by the simulator', 'lab/model-error --json', None,
     'counted; times in ns'),
    ('costs', 'what the driver executes to stop and start work', _COSTS.format(''), _COSTS.format(' --repetitions 20'),
     'instructions; times in ns; counted'),
]


def _named(row):
    """{"operation": "suspend", "queues": 8} is called suspend-8; others have a name or are called after what they are."""
    name = row.get('name') or row.get('operation') or row.get('latency') or ''
    return row | {'name': f"{name}-{row['queues']}" if 'queues' in row else name}


def _rows(text):
    rows = []
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(_named(row))
    return rows


def _probe(runner, command, what):
    def run():
        code, out, _ = runner.call(shlex.split(command), runner.top)
        rows = _rows(out)
        if code or not rows:
            print(f"run: report: '{command}' failed or printed nothing that was expected", file=sys.stderr)
        return rows, code
    return Step(what, run, alone=True)


def lab(runner, report, shared):
    chosen = [(name, what, quick if quick and runner.options.quick else command, unit)
              for name, what, command, quick, unit in PROBES]
    results = yield [_probe(runner, command, what) for _, what, command, _ in chosen]
    return {name: {**origin(unit, LAB, command), 'what': what, 'rows': rows, 'exit': code}
            for (name, what, command, unit), (rows, code) in zip(chosen, results)}
