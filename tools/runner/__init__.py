# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The parts of tools/run-tests."""
