# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Paths of the shared library and the command. In a source tree its own come first."""

import os
import shutil
from typing import Optional

_TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _built(path: str) -> Optional[str]:
    """@path below the build directory of the tree that this package lies in, if it is there."""
    if not os.path.isfile(os.path.join(_TOP, 'lib', 'gpreempt.h')):
        return None
    full = os.path.join(_TOP, 'build', path)
    return full if os.path.exists(full) else None


def library() -> str:
    """The name or path of the library for the dynamic linker."""
    return (os.environ.get('GPREEMPT_LIBRARY') or _built('lib/libgpreempt.so.0')
            or 'libgpreempt.so.0')


def command() -> str:
    """The command gpreempt(1)."""
    found = (os.environ.get('GPREEMPT_COMMAND') or _built('cli/gpreempt')
             or shutil.which('gpreempt'))
    if not found:
        raise FileNotFoundError("no command 'gpreempt' in PATH; install it, build it, or name it in "
                                'GPREEMPT_COMMAND')
    return found
