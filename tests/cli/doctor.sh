#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt doctor on machines made of files: each check as it should be and as it should not.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

unset GPREEMPT_SOCKET
m=$tmp/machine
parameters=/sys/module/amdgpu/parameters
kfd=/sys/class/kfd/kfd

# put PATH TEXT: a file of the machine.
put() {
	mkdir -p "$m$(dirname "$1")"
	printf '%s\n' "$2" >"$m$1"
}

# A GPU as the driver lists it: node, gpu_id, location, capability.
card() {
	put $kfd/topology/nodes/"$1"/gpu_id "$2"
	put $kfd/topology/nodes/"$1"/properties "cpu_cores_count 0
simd_count 320
max_waves_per_simd 8
simd_per_cu 4
gfx_target_version ${gfx-90402}
device_id 29857
location_id $3
domain 0
drm_render_minor 128
num_cp_queues 24
cwsr_size ${save-12214272}
capability $4
debug_prop 1511
unique_id 1
num_xcc 4"
	put $kfd/topology/nodes/"$1"/mem_banks/0/properties "heap_type 1
size_in_bytes 200000000000"
}
# Capabilities: with everything, without SVM, without new firmware, without debugging
all=671588992 no_svm=537371264 old_firmware=134718080 no_debug=671556224

# A process with $2 compute queues and $3 bytes of VRAM on GPU 111.
process() {
	put $kfd/proc/"$1"/vram_111 "$3"
	for q in $(seq "$2"); do
		put $kfd/proc/"$1"/queues/"$q"/gpuid 111
		put $kfd/proc/"$1"/queues/"$q"/type 0
		put $kfd/proc/"$1"/queues/"$q"/size 65536
	done
	put /proc/"$1"/comm "job$1"
	put /proc/"$1"/task/"$1"/stat "$1 (job$1) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 $((1000 + $1)) 0 0"
	put /proc/"$1"/status "Name:	job$1
Uid:	1000	1000	1000	1000
TracerPid:	${tracer-0}"
	put /proc/"$1"/maps "7f00-7f01 r-xp 0 00:00 1 /opt/rocm/lib/libhsa-runtime64.so.${runtime-1.14.60200}"
}

# A machine where everything is fine.
machine() {
	rm -rf "${m:?}"
	unset gfx save tracer runtime
	put /proc/sys/kernel/osrelease 6.12.115
	put /proc/sys/kernel/yama/ptrace_scope 1
	put /proc/self/status "Name:	x
CapEff:	000001ffffffffff"
	put /dev/kfd 1.17
	put /dev/kmsg "6,1,1,-;[drm] add ip block number 3 <gfx_v9_4_3>"
	put $parameters/sched_policy 0
	put $parameters/mes 0
	put $parameters/cwsr_enable 1
	put $parameters/queue_preemption_timeout_ms 9000
	put $parameters/halt_if_hws_hang 0
	put $parameters/hws_max_conc_proc -1
	put /sys/kernel/debug/kfd/hqds "Node 1, gpu_id 6f:
   Inst 0, HIQ on MEC 2 Pipe 0 Queue 0"
	put /sys/kernel/debug/kfd/mqds 'Process 77 PASID 0x8002:'
	put /sys/kernel/security/lockdown '[none] integrity confidentiality'
	put /etc/gpreempt/gpreempt.conf "[daemon]
policy = priority"
	put $kfd/topology/nodes/0/gpu_id 0
	put $kfd/topology/nodes/0/properties 'cpu_cores_count 8
simd_count 0'
	card 1 111 49408 $all
	process 77 2 1000000000
}

doctor() { try gpreempt doctor --root "$m" "$@"; }

# The check $1 is $2 (PASS, WARN, FAIL) and says $3; a remedy is there unless it passed.
finds() {
	doctor --json
	json "[.checks[] | select(.check == \"$1\")] | any(.result == \"$2\" and (.found | test(\"$3\")) and
		((.remedy == null) == (.result == \"PASS\")))" || echo "# $(jq -c ".checks[] | select(.check == \"$1\")" "$tmp/out")"
	if [ "$2" = FAIL ]; then exits 1; fi
}

claim "a machine where everything is fine has nothing to fail, and only the daemon to warn of"
machine
doctor --json
exits 0 && json '.schema == 1 and .fail == 0 and .mechanism == "kfd-debug" and .warn == 1 and
	[.checks[] | select(.result == "WARN") | .check] == ["daemon"]'

claim "every check of the man page was made"
# shellcheck disable=SC2013 # words, one per line
for c in $(sed -n 's/^|  \([a-z-]*\)$/\1/p' "$top/man/gpreempt-doctor.1.scd"); do
	json "any(.checks[]; .check == \"$c\")"
done

claim "as text: result, check, what was found, the remedy, and the mechanism"
put $parameters/cwsr_enable 0
doctor
exits 1 && says '^PASS  kernel  *6.12.115$' && says '^FAIL  cwsr ' && says '^  *-> remove amdgpu.cwsr_enable' &&
	says ' 1 fail; mechanism to use: none$'

claim "kernel: older than 6.5 fails, with a driver of its own it is a warning"
machine
put /proc/sys/kernel/osrelease 6.1.0-44-amd64
finds kernel FAIL 'older than 6.5'
put /sys/module/amdgpu/version 6.8.5
finds kernel WARN 'driver of its own .6.8.5'
put /proc/sys/kernel/osrelease 10.0.1
finds kernel PASS 10.0.1
rm "$m/proc/sys/kernel/osrelease"
finds kernel FAIL 'cannot be read'

claim "driver: not loaded, without KFD, without its device"
machine
rm -r "$m/sys/module"
finds driver FAIL 'not loaded'
machine
rm -r "$m$kfd"
finds driver FAIL 'without KFD' && finds gpus FAIL 'no GPUs'
machine
rm "$m/dev/kfd"
finds driver FAIL 'no /dev/kfd'

claim "a machine without the driver is told so once, not for every parameter"
rm -rf "${m:?}/sys" "${m:?}/dev"
doctor --json
exits 1 && json '[.checks[] | select(.result == "FAIL") | .check] == ["driver", "gpus"] and .mechanism == "none"'

claim "kfd-version: 1.13 has the debug interface, 1.12 has not"
machine
put /dev/kfd 1.13
finds kfd-version PASS '1.13'
put /dev/kfd 1.12
finds kfd-version FAIL '1.12 has no debug interface'
put /dev/kfd nonsense
finds kfd-version FAIL 'does not answer'

claim "gpus: what the driver lists; none that can compute fails"
machine
card 2 222 49664 $all
finds gpus PASS 'GPU 1: gfx942 at 0000:c2:00.0, 4 XCCs, 80 CUs'
rm -r "$m$kfd/topology/nodes/1" "$m$kfd/topology/nodes/2"
finds gpus FAIL 'no GPU that can compute'

claim "-g looks at that GPU only; one that is not there is exit 5"
machine
card 2 222 49664 $no_debug
doctor --json -g 0
exits 0 && json '[.checks[] | select(.check == "gpus")] | length == 1'
doctor --json -g c2:00.0
exits 1 && json 'any(.checks[]; .check == "debug" and .result == "FAIL")'
doctor -g 5
exits 5 && says_err "'5'"

claim "scheduler: agreed, MES, none, unknown, and sources that disagree"
machine
finds scheduler PASS 'CPSCH .parameters: CPSCH, log: CPSCH, debugfs: CPSCH'
put /dev/kmsg "6,1,1,-;[drm] add ip block number 3 <gfx_v11_0>
6,2,2,-;[drm] add ip block number 4 <mes_v11_0>"
finds scheduler WARN 'parameters say CPSCH, the log MES, debugfs CPSCH'
put /sys/kernel/debug/kfd/hqds " Inst 0,  CP Pipe 0, Queue 0"
put $parameters/mes 1
finds scheduler WARN 'tested with CPSCH only'
machine
gfx=110000 card 1 111 49408 $all
finds scheduler WARN 'parameters say MES'
machine
put $parameters/sched_policy 2
put /dev/kmsg '6,1,1,-;SW scheduler is used'
rm -r "$m/sys/kernel/debug"
finds scheduler FAIL 'no hardware scheduler' && finds sched-policy FAIL '= 2'
machine
rm -r "$m/sys/kernel/debug" "$m/dev/kmsg" "$m$kfd/topology/nodes/1"
finds scheduler WARN 'say nothing'

claim "cwsr, sched-policy, stop-timeout, hang-halt: right and wrong"
machine
finds cwsr PASS 'cwsr_enable = 1' && finds sched-policy PASS '= 0' && finds stop-timeout PASS 9000 &&
	finds hang-halt PASS '= 0'
put $parameters/cwsr_enable 0
finds cwsr FAIL 'cannot be saved' && json '.mechanism == "none"'
put $parameters/sched_policy 1
finds sched-policy WARN 'refused'
put $parameters/queue_preemption_timeout_ms 100
finds stop-timeout WARN 'takes a slow save for a hang'
put $parameters/queue_preemption_timeout_ms 60000
finds stop-timeout WARN 'blocks its GPU for 60000 ms'
put $parameters/halt_if_hws_hang 1
finds hang-halt WARN 'never ends'
put $parameters/halt_if_hws_hang Y
finds hang-halt WARN 'never ends'
rm "$m$parameters/cwsr_enable"
finds cwsr WARN 'cannot be read'

claim "debug: of the GPU and of its firmware"
machine
finds debug PASS 'can be stopped'
card 1 111 49408 $old_firmware
finds debug FAIL 'firmware is too old'
card 1 111 49408 $no_debug
finds debug FAIL 'cannot debug it'

claim "ptrace: 0 to 2 do, 3 forbids it, no Yama is fine"
machine
for scope in 0 1 2; do
	put /proc/sys/kernel/yama/ptrace_scope $scope
	finds ptrace PASS "= $scope"
done
put /proc/sys/kernel/yama/ptrace_scope 3
finds ptrace FAIL 'no process may attach' && json '.mechanism == "none"'
put /proc/sys/kernel/yama/ptrace_scope often
finds ptrace WARN 'ptrace_scope cannot be read'
rm -r "$m/proc/sys/kernel/yama"
finds ptrace PASS 'no Yama'

claim "permissions: without CAP_SYS_PTRACE others are not seen"
machine
finds permissions PASS CAP_SYS_PTRACE
put /proc/self/status "Name:	x
CapEff:	0000000000000000"
finds permissions WARN 'no CAP_SYS_PTRACE'

# Root may read everything unless it gives its capabilities up.
humble() { if [ "$(id -u)" -eq 0 ]; then setpriv --inh-caps=-all --bounding-set=-all "$@"; else "$@"; fi; }

claim "permissions, kfd-version, debugfs: files that may not be opened are warnings with a remedy"
machine
chmod 0 "$m/dev/kfd" "$m/sys/kernel/debug/kfd/mqds"
try humble "$GPREEMPT" doctor --root "$m" --json
exits 0
for c in permissions kfd-version debugfs; do
	json "any(.checks[]; .check == \"$c\" and .result == \"WARN\" and .remedy and
		(.found | test(\"Permission denied|may not be opened\")))"
done

claim "debugfs: readable, not mounted, and not as we know it"
machine
finds debugfs PASS '0 queues'
put /sys/kernel/debug/kfd/mqds hello
finds debugfs FAIL 'mqds:1: '
rm "$m/sys/kernel/debug/kfd/mqds" && mkdir "$m/sys/kernel/debug/kfd/mqds"
finds debugfs FAIL 'mqds: Is a directory'
rm -r "$m/sys/kernel/debug"
finds debugfs WARN 'cannot be watched'

claim "lockdown: none, and on"
machine
finds lockdown PASS 'not locked'
put /sys/kernel/security/lockdown 'none [integrity] confidentiality'
finds lockdown WARN 'unsigned modules'
rm "$m/sys/kernel/security/lockdown"
finds lockdown PASS 'not locked'

claim "secure-boot: off, on, without the variable, and a variable that is none"
machine
finds secure-boot PASS 'is off'
efi=$m/sys/firmware/efi/efivars
mkdir -p "$efi"
# shellcheck disable=SC2059 # the bytes
variable() { printf "$1" >"$efi/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"; }
variable '\006\000\000\000\001'
finds secure-boot WARN 'is on: unsigned modules'
variable '\006\000\000\000\000'
finds secure-boot PASS 'is off'
for wrong in '' '\001' '\006\000\000\001' '\006\000\000\000\002' '\006\000\000\000\001\001'; do
	variable "$wrong"
	finds secure-boot WARN 'cannot be read'
done

claim "debuggers: a process traced by another is named with its tracer; ours does not count"
machine
finds debuggers PASS 'no GPU process'
put /proc/500/comm rocgdb
tracer=500 process 77 1 0
finds debuggers WARN 'job77 .77. is traced by rocgdb .500.'
put /proc/500/comm gpreemptd
finds debuggers PASS 'no GPU process'

claim "runtime: an old ROCm is named, by its release or its own number; a new one is fine"
machine
finds runtime PASS '1 process with a GPU open, none'
runtime=1.9.50600 process 77 1 0
finds runtime WARN 'job77 .77. uses .*libhsa-runtime64.so.1.9.50600'
runtime=1.5.0 process 77 1 0
finds runtime WARN 'so.1.5.0'
runtime=1.11.50700 process 77 1 0
finds runtime PASS none
rm "$m/proc/77/maps"
finds runtime WARN 'the runtime of 1 process cannot be seen'

claim "save-place: not told, not to be seen, and nothing to see"
machine
finds save-place PASS 'of 1 process with queues it cannot be seen'
rm "$m/sys/kernel/debug/kfd/mqds"
finds save-place WARN 'of 1 process with queues'
rm -r "${m:?}$kfd/proc/77"
finds save-place PASS 'no process has a queue'

# A dump with one compute queue of process $1 on GPU $2, whose save area is at 0x7f0200010000.
mqds() {
	awk -v pid="$1" -v gpu="$(printf %x "$2")" 'BEGIN {
		printf "Process %d PASID 0x8002:\n  Compute queue on device %s\n", pid, gpu
		for (i = 0; i < 512; i++) {
			if (i % 8 == 0) printf "    %08x: ", i * 4
			word = i == 0 ? "c0310800" : i == 171 ? "00010000" : i == 172 ? "00007f02" : "00000000"
			printf "%s%s", word, i % 8 == 7 ? "\n" : " "
		}
	}' >"$m/sys/kernel/debug/kfd/mqds"
}
# What is mapped there, and before it.
maps() {
	put /proc/77/maps "7f0100000000-7f0200010000 rw-s 0 00:05 9 /dev/dri/renderD128
7f0200010000-7f0200020000 rw-p 0 00:00 0 $1"
}

claim "save-place: a buffer of the driver, memory that SVM may have moved, memory of the host"
machine
mqds 77 111
maps /dev/dri/renderD128
finds save-place PASS 'job77 .77.: a buffer of the driver'
maps
finds save-place PASS 'job77 .77.: its own memory, which SVM may have moved to VRAM'
card 1 111 49408 $no_svm
finds save-place WARN 'job77 .77.: host memory'

claim "save-place: -g is for processes on that GPU"
card 2 222 49664 $all
doctor --json -g 1
json '[.checks[] | select(.check == "save-place") | .found] == ["no process has a queue"]'
doctor --json -g 0
json '[.checks[] | select(.check == "save-place") | .found] == ["job77 (77): host memory"]'

claim "save-area: in VRAM with SVM, else in host memory with what it costs, or not told"
machine
finds save-area PASS '48.9 MB per queue, in VRAM'
card 1 111 49408 $no_svm
finds save-area WARN 'in host memory: a full save takes about 0.9 ms'
save=0 card 1 111 49408 $all
finds save-area WARN 'not known'

claim "vram: the sum against the card"
machine
finds vram PASS '1.0 GB of 200.0 GB'
process 78 1 150000000000
process 79 1 100000000000
finds vram WARN 'want 251.0 GB of 200.0 GB'
rm -r "$m$kfd/topology/nodes/1/mem_banks"
finds vram WARN 'not told'

claim "queues: slots, processes at a time, and what the log says"
machine
finds queues PASS '2 compute queues of 1 process for 24 slots'
process 78 23 0
finds queues WARN '25 compute queues for 24 slots'
machine
process 78 1 0
put $parameters/hws_max_conc_proc 1
finds queues WARN '2 processes, amdgpu.hws_max_conc_proc = 1'
machine
put /dev/kmsg '4,1,1,-;amdgpu: Runlist is getting oversubscribed. Expect reduced ROCm performance.'
finds queues WARN 'log says'

claim "configuration: absent or without a policy only observes; a bad line is named"
machine
finds configuration PASS 'policy priority'
put /etc/gpreempt/gpreempt.conf '# nothing'
finds configuration WARN 'only observes'
rm -r "${m:?}/etc"
finds configuration WARN 'there is no /etc/gpreempt'
put /etc/gpreempt/gpreempt.conf "[daemon]
polciy = priority"
finds configuration FAIL 'gpreempt.conf:2: '

claim "daemon: not there, observing, off, and fine"
machine
finds daemon WARN 'not running'
GPREEMPT_SOCKET=$tmp/control
export GPREEMPT_SOCKET
for state in 'true false PASS policy' 'false false WARN off' 'true true WARN observes'; do
	# shellcheck disable=SC2086 # words
	set -- $state
	echo '{"status": {"version": "0.1", "pid": 7, "up_ns": 1, "enabled": '"$1"', "observe_only": '"$2"',
		"policy": "priority", "mechanism": "kfd-debug", "gpus": 1, "processes": 1, "held": 0, "trouble": []}}' >"$tmp/world"
	: >"$tmp/told"
	"$FAKE_DAEMON" "$GPREEMPT_SOCKET" "$tmp/world" >"$tmp/told" 2>&1 &
	await grep -q ready "$tmp/told"
	finds daemon "$3" "$4"
	{ kill $!; wait $!; } 2>/dev/null
done

claim "our module, if it is loaded, is the mechanism"
unset GPREEMPT_SOCKET
machine
mkdir -p "$m/sys/module/gpreempt"
doctor --json
exits 0 && json '.mechanism == "kmod"'

claim "nothing is written: the machine is as before"
machine
(cd "$m" && find . -type f -exec cksum {} + | sort) >"$tmp/before"
doctor
(cd "$m" && find . -type f -exec cksum {} + | sort) >"$tmp/after"
check cmp -s "$tmp/before" "$tmp/after"
claim "--bundle collects the findings and what they rest on, readable by its owner alone"
machine
put /proc/77/environ 'TOKEN=SECRET1'
put /proc/77/cmdline 'job --password SECRET2'
put /etc/gpreempt/gpreempt.conf "[daemon]
policy = priority
[rule x]
cmdline = *SECRET3*
class = online"
put /dev/kmsg "6,1,1,-;[drm] add ip block number 3 <gfx_v9_4_3>
6,2,2,-;Kernel command line: host=SECRET4 amdgpu.cwsr_enable=1
6,3,3,-;usb 1-1: SerialNumber: SECRET5
4,4,4,-;amdgpu 0000:c1:00.0: HIQ MQD's queue_doorbell_id0 is not 0"
sed -i 's/^unique_id .*/unique_id 998877665544/' "$m$kfd/topology/nodes/1/properties"
ln -s /etc/passwd "$m$parameters/link"
put $kfd/topology/nodes/1/caches/0/properties 'size 16'
doctor --json --bundle "$tmp/b.tar"
exits 0 && json '.schema == 1' && says_err 'wrote [0-9]* files' && check test "$(stat -c %a "$tmp/b.tar")" = 600
mkdir "$tmp/b" && check tar -xf "$tmp/b.tar" -C "$tmp/b"
json '.checks | length > 10' "$tmp/b/doctor.json"
for f in README.txt versions.txt parameters/amdgpu/cwsr_enable topology/nodes/1/mem_banks/0/properties debugfs/hqds debugfs/mqds; do
	check test -s "$tmp/b/$f"
done
check test ! -e "$tmp/b/topology/nodes/1/caches"
check grep -q queue_doorbell_id0 "$tmp/b/kernel.log"
check grep -q '^gpreemptd: ' "$tmp/b/missing.txt"
check grep -q '^unique_id xxxxxxxxxxxx$' "$tmp/b/topology/nodes/1/properties"

claim "no environment, command line, configuration or serial number is in it, and no link was followed"
check test "$(grep -rl 'SECRET' "$tmp/b" | wc -l)" -eq 0
check test "$(grep -rl '998877665544' "$tmp/b" | wc -l)" -eq 0
check test ! -e "$tmp/b/parameters/amdgpu/link"

claim "the same machine gives the same bundle; one that cannot be written is one line and exit 2"
doctor --bundle "$tmp/b2.tar"
check cmp -s "$tmp/b.tar" "$tmp/b2.tar"
doctor --bundle "$tmp/nowhere/b.tar"
exits 2 && says_err "nowhere/b.tar.*No such file"
end
