# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=sh
#
# Sourced by the makers of root file systems. A maker sets
#
#	suite		the Debian release
#	programs	packages of the guest
#	tools		packages needed to compile the clients; without them there are none
#	build_clients	a function: compile /src in /out; runs chrooted into a tree with $tools
#
# and calls make_root "$@". The result is build/lab/roots/NAME.img or the file given as argument:
# a read-only squashfs without compression, because the guest would have to unpack it emulated.
# Next to it stay the two trees, so that a changed client costs seconds. Each step is done again
# if what it is made from changed.
set -eu

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
name=$(basename -- "$0")
clients=$top/tests/lab/clients

say() { echo "lab/roots/$name: $*" >&2; }
die() { code=$1; shift; say "$*"; exit "$code"; }

# The package archive of this machine.
mirror() {
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null |
		head -n 1 | grep . || echo http://deb.debian.org/debian
}

# made_from STAMP KEY: true if the thing of STAMP was made from what KEY says.
made_from() { [ "$(cat "$1" 2>/dev/null)" = "$2" ]; }

key_of() { cat "$@" | sha256sum | cut -d ' ' -f 1; }

# step LOG WHAT COMMAND...: what COMMAND prints is shown only if it fails.
step() {
	log=$1
	what=$2
	shift 2
	"$@" >"$log" 2>&1 </dev/null && return
	tail -n 20 "$log" >&2
	die 1 "$what failed; the whole output is in $log"
}

# debian TREE PACKAGES: a Debian of $suite in TREE.
debian() {
	key=$suite:$2
	made_from "$1.stamp" "$key" && [ -d "$1" ] && return
	rm -rf "$1.stamp" "$1"
	say "fetching $suite with $(echo "$2" | tr ',' '\n' | grep -c .) packages and what they need"
	step "$1.log" "mmdebstrap" mmdebstrap --mode=root --variant=apt --architectures=amd64 \
		--components=main --include="$2" \
		--aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		"$suite" "$1" "${GP_MIRROR:-$(mirror)}"
	echo "$key" >"$1.stamp"
}

# The clients, compiled against $suite's own libraries.
compile_clients() {
	tree=$folder/$name-dev
	made_from "$folder/$name-clients.stamp" "$1" && [ -d "$tree/out" ] && return
	debian "$tree" "$programs,$tools"
	say "compiling the clients"
	rm -rf "$folder/$name-clients.stamp" "$tree/src" "$tree/out"
	mkdir "$tree/out"
	cp -r "$clients" "$tree/src"
	step "$folder/$name-clients.log" "compiling the clients" \
		chroot "$tree" sh -euc "cd /src; $build_clients"
	echo "$1" >"$folder/$name-clients.stamp"
}

make_image() {
	made_from "$image.stamp" "$1" && [ -e "$image" ] && return
	debian "$folder/$name" "$programs"
	if [ -n "$tools" ]; then
		compile_clients "$2"
		mkdir -p "$folder/$name/usr/local/bin"
		cp "$folder/$name-dev/out/"* "$folder/$name/usr/local/bin/"
	fi
	rm -f "$image.stamp" "$image.new"
	step "$folder/$name-image.log" "mksquashfs" mksquashfs "$folder/$name" "$image.new" \
		-no-progress -noI -noD -noF -noX -all-root -all-time 0 -mkfs-time 0
	mv "$image.new" "$image"
	echo "$1" >"$image.stamp"
	say "$(du -m "$image" | cut -f 1) MB in $image"
}

make_root() {
	image=${1:-$top/build/lab/roots/$name.img}
	mkdir -p "$(dirname -- "$image")"
	folder=$(CDPATH='' cd -- "$(dirname -- "$image")" && pwd)
	image=$folder/$(basename -- "$image")
	for tool in mmdebstrap:mmdebstrap mksquashfs:squashfs-tools flock:util-linux; do
		command -v "${tool%:*}" >/dev/null || die 3 "no ${tool%:*}; install the package ${tool#*:}"
	done
	exec 9>"$folder/.lock-$name"
	flock 9
	clients_key=${tools:+$(key_of "$clients"/*)$tools$build_clients}
	key="$(key_of "$top/lab/roots/common.sh") $suite $programs $clients_key"
	made_from "$image.stamp" "$key" && [ -e "$image" ] && return
	[ "$(id -u)" -eq 0 ] || die 3 "unpacking packages needs root; run this once as root"
	make_image "$key" "$clients_key"
}
