#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# lab/run itself: what goes in and out of the virtual machine, and how failures are told. The driver
# is not loaded: it has tests of its own.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

lab() { "$top/lab/run" --no-module --seed 0 "$@"; }

# later NAME ARGUMENTS...: start a lab beside others.
later() {
	name=$1
	shift
	(
		code=0
		lab "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null || code=$?
		echo "$code" >"$tmp/$name.code"
	) &
}
# meet NAME: wait for it and look at it as if it had been tried just now.
meet() {
	while [ ! -s "$tmp/$1.code" ]; do sleep 0.1; done
	tried="lab $1"
	code=$(cat "$tmp/$1.code")
	mv "$tmp/$1.out" "$tmp/out"
	mv "$tmp/$1.err" "$tmp/err"
}
prints() { [ "$(cat "$tmp/out")" = "$1" ] || no "'$tried' prints: $(cat "$tmp/out")"; }

claim "a mistake in the options is one line and exit 2"
for wrong in --nonsense "--cpus 0" "--mem 2T" "--profile mi1" "--vram 500" "--param x" "--copy /nowhere/file" \
	"--root nowhere" "--systemd" "--cpus 2" "--deterministic --wall-clock" "--deterministic --kvm" "--seed x" "--timeout 0"; do
	# shellcheck disable=SC2086 # options and their values
	try lab $wrong -- true
	exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1 && check test ! -s "$tmp/out"
done
try lab
exits 2 && says_err 'no COMMAND'
try lab --log "$tmp/nowhere/log" -- true
exits 2 && says_err "^lab: --log: $tmp/nowhere/log: No such file or directory$"

claim "a parameter that the module does not have is exit 2: the kernel would ignore it"
try "$top/lab/run" --param nonsense=1 -- true
exits 2 && says_err "'nonsense': unknown parameter"

claim "--help lists every option"
try lab --help
exits 0
for option in copy cpus mem gpus vram profile fault param no-module root deterministic wall-clock seed fresh timeout log; do
	says "--$option"
done

# The archive of the guest's files, made once; the figures of later runs are then alone.
lab --build-only || exit 1

echo some words >"$tmp/words"
later plain --copy "$tmp/words" --copy "$(command -v jq)" -- sh -c '
	echo out; echo err >&2
	cat; cat words; echo "{\"a\":[1]}" | ./jq -c .a
	printf "[%s]" "$@"; echo; pwd
	tty; ls /dev/vd* /sys/class/net
	exit 7' sh 'two words' "it's" '$x' ''
later crash -- sh -c 'echo before; sleep 1; echo c >/proc/sysrq-trigger'
claim "a kernel that crashes before its first process is booted again, three times at most"
try "$top/lab/run" --no-module --kernel-arg rdinit=/nowhere -- true
exits 125 && check test "$(grep -c 'booting again' "$tmp/err")" -eq 2
says_err 'the guest crashed'

claim "stdout is the command's and nothing else; stdin is empty; arguments arrive as they are"
meet plain
prints 'out
some words
[1]
[two words][it'\''s][$x][]
/lab
not a tty
/sys/class/net:
lo'
claim "stderr is apart from stdout"
says_err '^err$'
claim "the command's exit code is the lab's"
exits 7

claim "a driver that does not load is exit 125, and no state of its guest is kept"
mkdir "$tmp/states2"
try env GP_STATES="$tmp/states2" "$top/lab/run" --wall-clock --kernel-arg module_blacklist=ttm -- true
exits 125 && says_err '^lab: the module amdgpu does not load$'
check test "$(find "$tmp/states2" -type f -size +1M | wc -l)" -eq 1

claim "a crash of the kernel is exit 125 and shows its last lines"
meet crash
exits 125 && says_err 'sysrq triggered crash' && says_err '^lab: the guest crashed$' && prints before

later binary --log "$tmp/log" --gpus 2 --vram 256 -- sh -c 'sed -n 3p /sys/bus/pci/devices/0000:00:08.0/resource >&2
	sed -n 3p /sys/bus/pci/devices/0000:00:09.0/resource >&2
	head -c 5000000 /dev/urandom >/tmp/x; md5sum /tmp/x >&2; cat /tmp/x'
later warning -- sh -c 'echo on >/proc/sys/kernel/printk_devkmsg; exec 3>/dev/kmsg
	echo "WARNING: CPU: 0 PID: 1 at nowhere.c:1" >&3; for i in $(seq 200); do echo "line $i" >&3; done
	echo "WARNING: CPU: 0 PID: 1 at last.c:2" >&3; echo fine'
claim "five million random bytes arrive intact"
meet binary
exits 0 && says_err "$(md5sum <"$tmp/out" | cut -d ' ' -f 1)"
claim "each GPU is a PCI device whose third region is its memory"
sizes=$(grep '^0x' "$tmp/err" | while read -r first last _; do echo $((last - first + 1)); done)
check test "$sizes" = "268435456
268435456"
claim "--log has the whole kernel log"
check grep -q 'Linux version 6.12' "$tmp/log"

claim "a warning of the kernel is exit 125 and is shown, and so is the last one, long after the first"
meet warning
exits 125 && says_err '^lab: the kernel complained: .*nowhere.c:1' && says_err '^  .*last.c:2' && prints fine

# Nothing but the seed may change these outputs. The GPU is polled as often as possible, because each
# halt of the processor could miscount.
clocks='gpload --requests 1000 --kernel 30us --waves 64 --poisson 1000 --json; grep "now at" /proc/timer_list
	dmesg; head -c 8 /dev/urandom | md5sum; echo "seed $GP_SEED" >&2'
counted() { "$top/lab/run" --param no_system_mem_limit=1 --param idle_poll_us=30 "$@" -- sh -c "$clocks"; }
claim "labs with the same seed, alone or beside another, print the same times and random numbers"
try counted --seed 7
exits 0 && says 'now at [0-9]* nsecs' && says_err '^seed 7$'
cp "$tmp/out" "$tmp/kept"
counted --seed 7 >"$tmp/beside" 2>/dev/null &
try counted --seed 7
exits 0 && check cmp "$tmp/out" "$tmp/kept"
check wait $! && check cmp "$tmp/beside" "$tmp/kept"
claim "and so does a guest that is booted anew, beside other work on the machine"
(while :; do :; done) & busy=$!
(while :; do :; done) & busier=$!
try counted --seed 7 --fresh
kill "$busy" "$busier"
exits 0 && check cmp "$tmp/out" "$tmp/kept" && says_err 'booting the guest'
claim "another seed is another order of events, and GP_SEED is the default"
try env GP_SEED=8 "$top/lab/run" --param no_system_mem_limit=1 --param idle_poll_us=30 -- sh -c "$clocks"
exits 0 && says_err '^seed 8$'
# Not the random numbers alone: the times differ, too.
now() { sed -n 's/^now at \([0-9]*\) nsecs$/\1/p' "$1"; }
check test "$(now "$tmp/out")" != "$(now "$tmp/kept")"
claim "the lab makes a damaged saved state again"
for expected in 'booting the guest once' 'a saved state is damaged'; do
	try env GP_STATES="$tmp/states" "$top/lab/run" --no-module --wall-clock -- echo here
	exits 0 && prints here && says_err "$expected"
	find "$tmp/states" -type f -size +1M -exec truncate -s 50M {} +
done

mkdir "$tmp/small"
# Only root may mount.
if unshare -m mount -t tmpfs -o size=20m,mode=700 none "$tmp/small" 2>/dev/null; then
	claim "a run goes on without a saved state if the disk is full"
	try unshare -m sh -c 'mount -t tmpfs -o size=20m,mode=700 none "$1/small" && GP_STATES=$1/small "$2/lab/run" --no-module \
		--wall-clock -- echo here' sh "$tmp" "$top"
	exits 0 && prints here && says_err "QEMU cannot save .*continuing without a saved state"
fi
claim "a run goes on without a saved state if others may write the directory of states, and removes no file there"
mkdir "$tmp/shared"
for i in $(seq 40); do : >"$tmp/shared/file$i"; done
chmod 777 "$tmp/shared"
try env GP_STATES="$tmp/shared" "$top/lab/run" --no-module --wall-clock -- echo here
exits 0 && prints here && says_err "^lab: $tmp/shared: not trusted"
check test "$(find "$tmp/shared" -type f | wc -l)" -eq 40

# A root file system with a file of its own and one that hides ours.
mkdir -p "$tmp/root/bin" "$tmp/root/lab"
cp /bin/busybox "$tmp/root/bin/"
ln -s busybox "$tmp/root/bin/sh"
echo of the image >"$tmp/root/lab/words"
echo more >"$tmp/more"
/sbin/mke2fs -q -F -t ext4 -d "$tmp/root" "$tmp/root.img" 8M >"$tmp/mke2fs" 2>&1 || no "mke2fs does not make an image"
before=$(md5sum "$tmp/root.img")
later root --seed 3 --root "$tmp/root.img" --copy "$tmp/words" --copy "$tmp/more" -- sh -c \
	'echo changed >/bin/new; cat() { busybox cat "$@"; }; cat words more /bin/new; busybox ls -d /dev/mtdblock1 /proc/1 /sys/kernel'
later hang --timeout 2 --allow-warn -- sh -c 'echo before; sleep 1000'
claim "--root: the image's files are there, ours where it has none, changes are not kept"
meet root
exits 0 && prints 'of the image
more
changed
/dev/mtdblock1
/proc/1
/sys/kernel' && check test "$before" = "$(md5sum "$tmp/root.img")"
claim "when the time is up that is exit 125, with what the guest was doing"
meet hang
exits 125 && says_err '^lab: timeout: the command did not end within 2 s of guest time$' && says_err 'Show Blocked State' &&
	prints before

claim "a guest that sleeps for an hour sees an hour pass"
try lab --timeout 4000 -- sh -c 'read -r a _ </proc/uptime; sleep 3600; read -r b _ </proc/uptime; echo $((${b%.*} - ${a%.*}))'
exits 0 && prints 3600

claim "--kvm runs the command, or is one sentence that says what to do"
try lab --kvm -- echo here
if [ "$code" -eq 0 ]; then
	prints here
else
	exits 125 && says_err '^lab: --kvm: .*run it without --kvm$' && check test "$(wc -l <"$tmp/err")" -eq 1
fi

if [ "${GP_FULL:-0}" != 0 ]; then
	claim "a guest that halts for good, with its interrupts off, is ended when it has done nothing for five minutes"
	try lab -- sh -c 'echo before; halt -f'
	exits 125 && says_err '^lab: the guest hangs' && prints before
fi

# gone SIGNAL: a lab that gets SIGNAL while its guest runs has no machine a moment later.
gone() {
	rm -rf "$tmp/private"
	mkdir "$tmp/private"
	TMPDIR=$tmp/private "$top/lab/run" --no-module --wall-clock -- sleep 1000 >/dev/null 2>"$tmp/err" &
	pid=$!
	while ! grep -qs start "$tmp"/private/lab-*/machine/status; do sleep 0.1; done
	kill "-$1" $pid
	code=0
	wait $pid || code=$?
	tried="lab ended by SIG$1"
	# The timeout of the test ends this loop if QEMU stays.
	while pgrep -f "$tmp/private/lab-" >/dev/null; do sleep 0.2; done
}
claim "a lab that is told to end leaves no process and no file"
gone TERM
exits 143
check test -z "$(ls "$tmp/private")"
claim "nor does one that is killed leave a process"
gone KILL
end
