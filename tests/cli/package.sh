#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ./run package: what is in the packages, and that they work where they are installed.
# shellcheck source=tests/cli/claims.sh
. "$(dirname "$0")/claims.sh"

packages="gpreempt libgpreempt0 libgpreempt-dev python3-gpreempt gpreempt-dkms"
deb() { echo "$tmp/deb/$1"_*.deb; }
field() { dpkg-deb -f "$(deb "$1")" "$2"; }
# has PACKAGE PATH...
has() {
	dpkg-deb -c "$(deb "$1")" >"$tmp/list"
	for path in "$@"; do
		[ "$path" = "$1" ] || grep -q -E " \./$path( ->|\$)" "$tmp/list" || no "$1 has no $path"
	done
}

claim "./run package makes five packages, and nothing that is installed is in none of them"
try "$top/run" package "$tmp/deb"
exits 0
for package in $packages; do check test -s "$(deb "$package")"; done

claim "each has what it is for"
has gpreempt usr/bin/gpreempt usr/sbin/gpreemptd etc/gpreempt/gpreempt.conf usr/lib/systemd/system/gpreemptd.service \
	usr/lib/udev/rules.d/60-gpreempt.rules usr/share/man/man8/gpreemptd.8.gz usr/share/gpreempt/scenarios/colocate.ini
has libgpreempt0 'usr/lib/[^/]*/libgpreempt.so.0'
has libgpreempt-dev usr/include/gpreempt.h 'usr/lib/[^/]*/libgpreempt.so' 'usr/lib/[^/]*/pkgconfig/libgpreempt.pc'
has python3-gpreempt usr/lib/python3/dist-packages/gpreempt/scheduler.py
has gpreempt-dkms 'usr/src/gpreempt-[0-9.]*/dkms.conf' 'usr/src/gpreempt-[0-9.]*/kernel/gp_main.c' 'usr/src/gpreempt-[0-9.]*/core/sched.c'

claim "a package depends on what its programs are linked with, and on its own library in the same version"
case $(field gpreempt Depends) in *libc6*libjansson4*) ;; *) no "gpreempt: $(field gpreempt Depends)" ;; esac
case $(field python3-gpreempt Depends) in *"libgpreempt0 (= $(field libgpreempt0 Version))"*) ;; *) no "python3-gpreempt: $(field python3-gpreempt Depends)" ;; esac
check test "$(dpkg-deb --ctrl-tarfile "$(deb gpreempt)" | tar -xO ./conffiles)" = /etc/gpreempt/gpreempt.conf

claim "dpkg installs all of them into a directory, and finds every file as it was packed"
root=$tmp/root
mkdir -p "$root/var/lib/dpkg"
# dpkg looks into the directory for what they depend on, which the machine has.
d() { dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null "$@"; }
# shellcheck disable=SC2046 # a list
try d --install $(for package in $packages; do deb "$package"; done)
exits 0
try d --verify
exits 0 && check test ! -s "$tmp/out"

claim "what was installed runs: the command, the daemon, the simulator, Python with the library"
try "$root/usr/bin/gpreempt" --help
exits 0 && says 'gpreempt'
try "$root/usr/sbin/gpreemptd" --help
exits 0
try "$root/usr/bin/gpreempt" sim timeline
exits 0
library=$(dirname "$(find "$root" -name libgpreempt.so.0)")
try env PATH="$root/usr/bin:$PATH" LD_LIBRARY_PATH="$library" PYTHONPATH="$root/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 \
	/usr/bin/python3 -c 'import gpreempt; print(gpreempt.__file__, gpreempt.simulate("colocate", length="100ms")["preemptions"])'
exits 0 && says "$root/usr/lib/python3/dist-packages/gpreempt"

claim "they are removed without a trace but the configuration"
# shellcheck disable=SC2086
try d --remove $packages
exits 0 && check test ! -e "$root/usr/bin/gpreempt" && check test -f "$root/etc/gpreempt/gpreempt.conf"

if command -v lintian >/dev/null; then
	claim "lintian finds no error in them"
	# shellcheck disable=SC2046
	try lintian --fail-on error $(for package in $packages; do deb "$package"; done)
	exits 0 || cat "$tmp/out"
fi
end
