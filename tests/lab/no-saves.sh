#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A driver that does not save running waves (amdgpu.cwsr_enable=0): a stop would end in the reset of the queue, and its
# work would be lost. No process may be stopped. On a GPU with one XCC: on several this driver's queues do not run like that.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}

try "$top/lab/run" --param profile=mi210 --param cwsr_enable=0 --timeout 200 --copy "$GPREEMPT" \
	--copy "$build/daemon/gpreemptd" --copy "$build/tests/lab/gpcall" --copy "$top/tests/lab/daemon/common.sh" \
	--copy "$top/tests/lab/no-saves/guest.sh" -- sh ./guest.sh
exits 0 || cat "$tmp/err"

claim "without saving of waves the module does not load, and says why"
says '^module 1$' && says 'gpreempt: not loaded: amdgpu.cwsr_enable=0'

claim "gpreemptd attaches to no process and stops none, and list says why"
says '^list 0$' && says '^attaches 0 stopped 0$'

claim "and bench refuses"
says 'bench: amdgpu.cwsr_enable=0: running waves cannot be saved' && says '^bench 1$'
end
