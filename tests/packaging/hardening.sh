#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The programs and the library that packages install are built like those of a daemon that runs as root.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=$(dirname "$(dirname "$GPREEMPT")")
shipped="$build/daemon/gpreemptd $build/cli/gpreempt $build/lib/libgpreempt.so.0"

for file in $shipped; do
	claim "${file##*/} is position independent, bound early, and has canaries, checked calls and control flow marks"
	try "$top/tools/check-hardened" "$file"
	exits 0 || sed 's/^/# /' "$tmp/out"
done

claim "they contain no path of this tree"
for file in $shipped; do
	check test "$(grep -c -F "$top/" "$file")" -eq 0
done

# lacking FLAG... -- TEXT: a program built with these flags is refused because of TEXT.
cat >"$tmp/program.c" <<'END'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char text[16];
	snprintf(text, argc, "%s", argv[0]);
	return puts(text);
}
END
good="-O2 -fPIE -pie -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fcf-protection -Wl,-z,relro,-z,now,-z,shstk"
lacking() {
	# shellcheck disable=SC2086 # lists
	try gcc $good $1 -o "$tmp/program" "$tmp/program.c"
	exits 0
	try "$top/tools/check-hardened" "$tmp/program"
	exits 1 && says "$2"
}
claim "a program without one of these is refused, with the reason"
lacking '-fno-pie -no-pie' 'position independent'
lacking '-fno-stack-protector' 'stack protector'
lacking '-U_FORTIFY_SOURCE' 'fortified'
lacking '-Wl,-z,norelro' 'GNU_RELRO'
lacking '-Wl,-z,lazy' 'BIND_NOW'
lacking '-Wl,-z,noexecstack -Wl,-z,execstack' 'executable stack'
lacking '-fcf-protection=none' 'endbr64'
lacking '-Wl,-rpath,/tmp' 'RPATH'
good="${good%,-z,shstk}"
lacking '' 'shadow stack'
end
