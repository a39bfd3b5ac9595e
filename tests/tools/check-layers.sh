#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The check of the layers: it must fail when a layer is broken.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

licence='SPDX-License-Identifier: GPL-2.0-only OR MIT'

# A tree of one good file per folder.
tree() {
	rm -rf "${tmp:?}/t"
	mkdir -p "$tmp/t/tools" "$tmp/t/env/user"
	cp "$top/tools/check-layers" "$tmp/t/tools/"
	echo "/* $licence */" >"$tmp/t/env/user/gp_env.h"
	for folder in core policy vgpu sim cli; do
		mkdir "$tmp/t/$folder"
		echo "/* $licence */" >"$tmp/t/$folder/$folder.h"
		{ echo "# $licence"; echo "'$folder.c'"; } >"$tmp/t/$folder/meson.build"
		{ echo "/* $licence */"; echo '#include "gp_env.h"'; echo "#include \"$folder.h\""; } >"$tmp/t/$folder/$folder.c"
	done
}
add() { echo "$2" >>"$tmp/t/$1"; }
look() { "$tmp/t/tools/check-layers"; }

claim "a good tree passes"
tree
add sim/sim.c '#include <stdio.h>'
add sim/sim.c '#include "vgpu/vgpu.h"'
try look
exits 0

claim "core may not include what is below it"
tree
add core/core.c '#include "sim/sim.h"'
try look
exits 1 && says 'core/core.c:4: core/ may not include sim/'

claim "vgpu knows nothing of the scheduler"
tree
add vgpu/vgpu.c '#include "core/core.h"'
try look
exits 1 && says 'vgpu/ may not include core/'

claim "a freestanding folder includes no system header"
tree
add policy/policy.c '# include <string.h>'
try look
exits 1 && says 'policy/policy.c:4: <string.h>'

claim "a file without a licence is found"
tree
echo 'int x;' >"$tmp/t/cli/cli.h"
try look
exits 1 && says 'cli/cli.h:1: no line "SPDX'

claim "a file that no meson.build lists is found"
tree
cp "$tmp/t/core/core.c" "$tmp/t/core/forgotten.c"
try look
exits 1 && says "'forgotten.c' is not listed in core/meson.build"

claim "a test that the meson.build of its folder does not list is found"
tree
mkdir -p "$tmp/t/tests/core"
{ echo "# $licence"; echo "'test_listed', 'world.c', 'script'"; } >"$tmp/t/tests/core/meson.build"
for name in test_listed.c world.c test_forgotten.c script.sh forgotten.sh; do
	echo "/* $licence */" >"$tmp/t/tests/core/$name"
done
try look
exits 1 && says "'test_forgotten.c' is not listed in tests/core/meson.build" &&
	says "'forgotten.sh' is not listed in tests/core/meson.build" && check test "$(grep -c 'is not listed' "$tmp/out")" -eq 2

claim "a structure of daemon/ with the name of one of lib/ is found"
tree
mkdir "$tmp/t/daemon" "$tmp/t/lib"
printf '/* %s */\nstruct gp_call {\n' "$licence" | tee "$tmp/t/daemon/call.h" >"$tmp/t/lib/call.h"
try look
exits 1 && says 'lib/call.h: struct gp_call is defined in daemon/call.h too'

claim "a structure with the name of one in another folder is found, and private names may repeat"
tree
mkdir "$tmp/t/kernel"
printf '/* %s */\nstruct gp_home {\n' "$licence" | tee "$tmp/t/kernel/home.h" >"$tmp/t/sim/home.c"
echo "'home.c'" >>"$tmp/t/sim/meson.build"
printf '/* %s */\nstruct own {\n' "$licence" | tee "$tmp/t/kernel/own.c" >"$tmp/t/kernel/other.c"
try look
exits 1 && says 'sim/home.c: struct gp_home is defined in kernel/home.h too' &&
	check test "$(grep -c 'struct own' "$tmp/out")" -eq 0

claim "a member of the driver's structures that is not in the module's table is found"
tree
mkdir "$tmp/t/kernel"
printf '/* %s */\nMEMBER(queue, list)\n' "$licence" >"$tmp/t/kernel/gp_kfd_layout.c"
printf '/* %s */\nint x = q->list.next + q->properties.is_active;\n' "$licence" >"$tmp/t/kernel/gp_kfd.c"
try look
exits 1 && says 'kernel/gp_kfd.c:2: is_active is not in' && check test "$(grep -c ': list is' "$tmp/out")" -eq 0

claim "an external name without a prefix is found"
tree
mkdir -p "$tmp/b/core"
echo 'int gp_fine; int naked;' | cc -x c -c -o "$tmp/b/core/core.o" -
echo '[{"output": "core/core.o"}]' >"$tmp/b/compile_commands.json"
try "$tmp/t/tools/check-layers" "$tmp/b"
exits 1 && says 'external name naked lacks' && check test "$(grep -c gp_fine "$tmp/out")" -eq 0

claim "an external name that two files define is found"
tree
mkdir -p "$tmp/b/sim"
for object in core/core sim/sim; do echo 'int gp_twice;' | cc -x c -c -o "$tmp/b/$object.o" -; done
echo '[{"output": "core/core.o"}, {"output": "sim/sim.o"}]' >"$tmp/b/compile_commands.json"
try "$tmp/t/tools/check-layers" "$tmp/b"
exits 1 && says 'sim/sim.o: external name gp_twice is defined in core/core.o too'
end
