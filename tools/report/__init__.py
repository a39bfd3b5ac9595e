# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""What tools/run-report is made of: it runs gpreempt and the lab, and collects what they print as JSON."""
