#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ./run package: what is in the packages, that they work where they are installed, and that each build gives the same
# bytes. tests/lab/systemd.sh installs them on a running Debian.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

packages="gpreempt libgpreempt0 libgpreempt-dev python3-gpreempt gpreempt-dkms"
deb() { echo "$tmp/deb/$1"_*.deb; }
debs() { for package; do deb "$package"; done; }
field() { dpkg-deb -f "$(deb "$1")" "$2"; }
# has PACKAGE PATH...
has() {
	dpkg-deb -c "$(deb "$1")" >"$tmp/list"
	for path in "$@"; do
		[ "$path" = "$1" ] || grep -q -E " \./$path( ->|\$)" "$tmp/list" || no "$1 has no $path"
	done
}
# A script or list of a package's control part.
control() { dpkg-deb --ctrl-tarfile "$(deb "$1")" | tar -xO "./$2"; }
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$top/meson.build")
# Every file is compiled, not copied from a cache.
export CCACHE_DISABLE=1

claim "./run package makes five packages, and everything that is installed is in one of them"
try "$top/run" package "$tmp/deb"
exits 0
for package in $packages; do check test -s "$(deb "$package")"; done
check test "$(find "$tmp/deb" -type f | wc -l)" -eq 5

claim "each package has the version of the tree, as has the module's source"
for package in $packages; do check test "$(field "$package" Version)" = "$version"; done
check grep -q "^PACKAGE_VERSION=\"$version\"" "$top/packaging/dkms.conf"

claim "each package has its programs, files, manual pages and documents"
has gpreempt usr/bin/gpreempt usr/sbin/gpreemptd etc/gpreempt/gpreempt.conf lib/systemd/system/gpreemptd.service \
	lib/udev/rules.d/60-gpreempt.rules usr/lib/sysusers.d/gpreempt.conf usr/share/man/man8/gpreemptd.8.gz \
	usr/share/gpreempt/scenarios/colocate.ini usr/share/bash-completion/completions/gpreempt \
	usr/share/doc/gpreempt/README.md usr/share/doc/gpreempt/doc/README.md usr/share/doc/gpreempt/doc/back-out.md \
	usr/share/doc/gpreempt/doc/colocate.svg usr/share/doc/gpreempt/examples/inference_server.c
has libgpreempt0 'usr/lib/[^/]*/libgpreempt.so.0'
has libgpreempt-dev usr/include/gpreempt.h 'usr/lib/[^/]*/libgpreempt.so' 'usr/lib/[^/]*/pkgconfig/libgpreempt.pc' \
	usr/share/man/man3/gpreempt.3.gz
has python3-gpreempt usr/lib/python3/dist-packages/gpreempt/scheduler.py
has gpreempt-dkms 'usr/src/gpreempt-[0-9.]*/dkms.conf' 'usr/src/gpreempt-[0-9.]*/kernel/gp_main.c' \
	'usr/src/gpreempt-[0-9.]*/core/sched.c' usr/share/man/man4/gpreempt.4.gz
for package in $packages; do has "$package" "usr/share/doc/$package/copyright"; done

claim "a package depends on the libraries of its programs, and on its own library in the same version"
case $(field gpreempt Depends) in *libc6*libjansson4*) ;; *) no "gpreempt: $(field gpreempt Depends)" ;; esac
case $(field python3-gpreempt Depends) in *"libgpreempt0 (>= $version), libgpreempt0 (<< $version.1~)"*) ;; *) no "python3-gpreempt: $(field python3-gpreempt Depends)" ;; esac
case $(field gpreempt-dkms Depends) in *dkms*) ;; *) no "gpreempt-dkms: $(field gpreempt-dkms Depends)" ;; esac
check test "$(control gpreempt conffiles)" = /etc/gpreempt/gpreempt.conf

claim "dpkg installs them into a directory, and finds every file as it was packed"
root=$tmp/root
mkdir -p "$root/var/lib/dpkg" "$root/etc"
: >"$root/etc/group"
# The scripts of the packages must not touch the units of this machine.
mkdir "$tmp/bin"
for name in systemctl deb-systemd-invoke; do
	printf '#!/bin/sh\n' >"$tmp/bin/$name"
	chmod +x "$tmp/bin/$name"
done
# dpkg looks into the directory for what they depend on, which the machine has.
d() {
	PATH=$tmp/bin:$PATH dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null "$@"
}
# shellcheck disable=SC2046 # a list
try d --install $(debs gpreempt libgpreempt0 libgpreempt-dev)
exits 0
# DKMS and Python byte code work on a running system only.
# shellcheck disable=SC2046
try d --unpack $(debs python3-gpreempt gpreempt-dkms)
exits 0
try d --verify
exits 0 && check test ! -s "$tmp/out"

claim "the unit is enabled after installation: at boot, and when the driver's device appears"
try systemctl --root="$root" is-enabled gpreemptd
exits 0 && says '^enabled$'
for want in multi-user.target dev-kfd.device; do
	check test -L "$root/etc/systemd/system/$want.wants/gpreemptd.service"
done
check grep -q '^gpreempt:' "$root/etc/group"

claim "an installation or upgrade starts the daemon anew, and a removal stops it"
check test -n "$(control gpreempt postinst | grep "deb-systemd-invoke .*gpreemptd.service")"
check test -n "$(control gpreempt prerm | grep "deb-systemd-invoke stop .*gpreemptd.service")"

claim "installed programs run: the command, the daemon, the simulator, Python with the library"
try "$root/usr/bin/gpreempt" --help
exits 0 && says 'gpreempt'
try "$root/usr/sbin/gpreemptd" --help
exits 0
try "$root/usr/bin/gpreempt" sim timeline
exits 0
# A copy elsewhere searches its scenarios here.
check grep -qaF /usr/share/gpreempt "$root/usr/bin/gpreempt"
library=$(dirname "$(find "$root" -name libgpreempt.so.0)")
try env PATH="$root/usr/bin:$PATH" LD_LIBRARY_PATH="$library" PYTHONPATH="$root/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 \
	/usr/bin/python3 -c 'import gpreempt; print(gpreempt.__file__, gpreempt.simulate("colocate", length="100ms")["preemptions"])'
exits 0 && says "$root/usr/lib/python3/dist-packages/gpreempt"

claim "packaged programs and the library are hardened"
try "$top/tools/check-hardened" "$root/usr/bin/gpreempt" "$root/usr/sbin/gpreemptd" "$library/libgpreempt.so.0"
exits 0 || sed 's/^/# /' "$tmp/out"

claim "removal leaves only the configuration"
try d --remove gpreempt libgpreempt-dev
exits 0 && check test ! -e "$root/usr/bin/gpreempt" && check test ! -e "$root/lib/systemd/system/gpreemptd.service" &&
	check test -f "$root/etc/gpreempt/gpreempt.conf"

claim "purge removes configuration, state and the links that enabled the unit"
mkdir -p "$root/var/lib/gpreempt"
: >"$root/var/lib/gpreempt/off"
try d --purge gpreempt
exits 0 && check test ! -e "$root/etc/gpreempt" && check test ! -e "$root/var/lib/gpreempt" &&
	check test -z "$(find "$root/etc/systemd" -name 'gpreemptd*')"

claim "another folder, time, user mask and time zone give the same packages, byte for byte"
elsewhere=$tmp/elsewhere/with/a/longer/name
mkdir -p "${elsewhere%/*}"
cp -r "$top/build/package/gpreempt" "$elsewhere"
rm -rf "$elsewhere/debian" "$elsewhere"/obj-*
find "$elsewhere" -exec touch -h -d '2020-02-02' {} +
umask 077
try env TZ=Asia/Tokyo LC_ALL=C CFLAGS=-O3 "$elsewhere/packaging/deb" "$tmp/again"
umask 022
exits 0
for package in $packages; do
	check cmp "$(deb "$package")" "$tmp/again/$(basename "$(deb "$package")")"
done

if command -v lintian >/dev/null; then
	claim "lintian finds no error and no warning in them"
	# shellcheck disable=SC2046,SC2086
	try lintian --no-user-dirs --allow-root --fail-on error,warning $(debs $packages)
	exits 0 || sed 's/^/# /' "$tmp/out"
else
	claim "lintian finds no error and no warning in them # SKIP no lintian; './run test --full' installs it"
fi
end
