# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Scenarios in virtual time, by the command gpreempt sim."""

import json
import os
import subprocess
import tempfile
from typing import Any, Dict, List, Optional, Union

from . import places
from .errors import ScenarioError

_BAD = 2


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    return str(value)


def _changes(overrides: Dict[str, Any]) -> List[str]:
    """--set for each change. A name has a dot, or two underscores instead."""
    words = []
    for name, value in overrides.items():
        section, dot, key = name.replace('__', '.', 1).partition('.')
        if not (section and dot and key):
            raise ScenarioError(f"{name!r}: invalid name; expected section__key, such as "
                                "gpu__save_area='host'")
        words += ['--set', f'{section}.{key}={_value(value)}']
    return words


def _run(arguments: List[str]) -> Dict[str, Any]:
    done = subprocess.run([places.command(), 'sim', *arguments, '--json'], capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL)
    try:
        result: Dict[str, Any] = json.loads(done.stdout)
        return result
    except ValueError:
        said = done.stderr.strip() or f'gpreempt sim ended with {done.returncode}'
        raise (ScenarioError if done.returncode == _BAD else RuntimeError)(
            said.removeprefix('gpreempt: ')) from None


def simulate(scenario: Union[str, os.PathLike[str]], *, seed: int = 1, length: Optional[str] = None,
             policy: Optional[str] = None, mechanism: Optional[str] = None, check: bool = False,
             jobs: Optional[int] = None, **overrides: Any) -> Dict[str, Any]:
    """Run a scenario on the virtual GPU and return what gpreempt-sim(1) prints with --json.

    scenario: a file, the name of one that comes with gpreempt ('colocate'), or the text of one.
    seed, length, policy, mechanism, check, jobs: the options of those names.
    overrides: lines of the scenario, section__key=value: gpu__save_area='host', or by a dictionary,
    **{'gpu.save_area': 'host'}.

    'expectations_failed' in the result lists what the scenario expects and did not get. A scenario
    that is not one is a ScenarioError with the simulator's sentence; an invariant of the simulator that
    broke (with check=True) is a RuntimeError. Every figure is a model's.
    """
    options = ['--seed', str(seed), *_changes(overrides)]
    for name, value in (('--length', length), ('--policy', policy), ('--mechanism', mechanism),
                        ('--jobs', jobs)):
        if value is not None:
            options += [name, str(value)]
    if check:
        options.append('--check')
    scenario = os.fspath(scenario)
    if '\n' not in scenario:
        return _run([scenario, *options])
    with tempfile.NamedTemporaryFile('w', suffix='.ini', encoding='utf-8') as file:
        file.write(scenario)
        file.flush()
        return _run([file.name, *options])
