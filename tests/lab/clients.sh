#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Programs that are not ours, on the real driver: Debian's ROCm and two small clients of it.
#
# One boot per release; what its programs printed is looked at here. Debian 13 runs on the four-XCC
# MI308X, Debian 12, which knows neither gfx942 nor several XCCs, on the MI210.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

# What one boot does: each program's output under a heading, its exit code after it.
cat >"$tmp/all" <<'END'
part() {
	echo "=== $1"
	shift
	code=0
	timeout 200 "$@" 2>&1 || code=$?
	echo "exit $code"
}
part topology cat /sys/class/kfd/kfd/topology/nodes/1/properties
part rocminfo rocminfo
part enumerator rocm_agent_enumerator
part smi rocm-smi
part hsa /usr/local/bin/hsa_barrier
part hsa-counters cat /sys/kernel/debug/vgpu/0/counters
part hip /usr/local/bin/hip_copy
part hip-counters cat /sys/kernel/debug/vgpu/0/counters
END

# boot RELEASE PROFILE: run all of it; the output is in $tmp/RELEASE.
boot() {
	"$top/lab/roots/$1" "$(build)/lab/roots/$1.img" || exit 1
	try "$top/lab/run" --root "$1" --profile "$2" --timeout 900 --copy "$tmp/all" -- sh ./all
	cp "$tmp/out" "$tmp/$1"
	release=$1
	exits 0
}
build() { echo "${GP_BUILD:-$top/build}"; }

# look PART: make the output of one part of the last boot what `says` looks at.
look() {
	awk -v part="=== $1" '/^=== / { on = $0 == part; next } on' "$tmp/$release" >"$tmp/out"
	tried="$1 on $release"
	code=$(sed -n 's/^exit //p' "$tmp/out")
	code=${code:-125}
}
# value NAME: a counter of the part being looked at.
# counts NAME N: it is N or more.
counts() {
	n=$(value "$1")
	[ "${n:-0}" -ge "$2" ] || no "$tried: '$1' is '$n', not $2 or more"
}

# The claims of a client program become ours.
passes() {
	look "$1"
	if grep '^not ok' "$tmp/out" >"$tmp/failed"; then
		no "$tried: $(cat "$tmp/failed")"
	fi
	exits 0 && check test "$(grep -c '^ok - ' "$tmp/out")" -ge "$2"
}

# What the two programs copy: three ways, and two ways from two kinds of memory.
hsa_bytes=$((3 * (4097 + 1000003)))
hip_bytes=$((4 * (1 + 4097 + 1048576 + 3145733)))

claim "a guest of Debian 13 runs to its end without a complaint of the kernel"
boot trixie mi308x

claim "rocminfo lists an MI308X, which the driver says has four XCCs"
look topology
exits 0 && says '^num_xcc 4$'
look rocminfo
exits 0 && says 'Name: *gfx942' && says 'Compute Unit: *80' && says 'Chip ID: *29858' &&
	says 'amdgcn-amd-amdhsa--gfx942'

claim "rocm_agent_enumerator finds gfx942"
look enumerator
exits 0 && says '^gfx942$'

claim "rocm-smi ends with 0"
look smi
exits 0

claim "an HSA program's queues, barriers, signals and copies do what they should"
passes hsa 25 && says 'gfx942 with 80 compute units'

claim "its copies were made by SDMA"
look hsa-counters
counts 'SDMA copy' 6 && check test "$(value sdma_bytes)" -eq $hsa_bytes

claim "a HIP program's streams, copies, kernel and events do what they should"
passes hip 40 && says 'gfx942.* with 80 compute units'

claim "every byte of its copies went through SDMA, there and back"
look hip-counters
counts 'SDMA copy' 22 && check test "$(value sdma_bytes)" -eq $((hsa_bytes + hip_bytes))

claim "its kernels were run as time only, and counted as such"
counts time_only 1

claim "a guest of Debian 12 on an MI210 runs to its end without a complaint of the kernel"
boot bookworm mi210

claim "its rocminfo lists gfx90a"
look rocminfo
exits 0 && says 'Name: *gfx90a' && says 'Compute Unit: *104'

claim "its HSA program does what it should"
passes hsa 25 && says 'gfx90a with 104 compute units'

claim "its copies were made by SDMA"
look hsa-counters
counts 'SDMA copy' 6 && check test "$(value sdma_bytes)" -eq $hsa_bytes

claim "its HIP program does what it should"
passes hip 40

# This HIP writes the smallest copies to the device by the processor.
claim "its large copies were made by SDMA"
look hip-counters
counts sdma_bytes $((hsa_bytes + hip_bytes - 3 * 4097))
end
