#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The command line of gpreemptd, and its life where there is no GPU.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

daemon=$(dirname "$GPREEMPT")/../daemon/gpreemptd

claim "--help and --version are 0 and say what they are for"
try "$daemon" --help
exits 0 && says 'Exit status: 0 told to end' && says '--observe'
try "$daemon" --version
exits 0 && says '^gpreemptd [0-9]'

claim "a mistake on the command line is one line and exit 2"
for wrong in --nonsense extra --config; do
	try "$daemon" $wrong
	exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1 && says_err "'$wrong'"
done

claim "a configuration that is refused is exit 2 and says where, before anything is started"
printf '[daemon]\npolicy = priorty\n' >"$tmp/bad.conf"
try "$daemon" --config "$tmp/bad.conf"
exits 2 && says_err 'bad.conf:2: policy'
try "$daemon" --check "$tmp/bad.conf"
exits 1

printf '[daemon]\nsocket = %s/control\nstate = %s/state\npolicy = priority\n' "$tmp" "$tmp" >"$tmp/good.conf"
"$daemon" --config "$tmp/good.conf" 2>"$tmp/log" &
first=$!
await test -S "$tmp/control"

claim "a second daemon on the same socket is exit 3, and the first one stays"
try "$daemon" --config "$tmp/good.conf"
exits 3 && says_err 'another gpreemptd runs'
check test -S "$tmp/control"
check kill -0 $first

claim "SIGHUP with a bad configuration keeps the old one, and says so"
printf '[daemon]\nsocket = %s/control\nnonsense = 1\n' "$tmp" >"$tmp/good.conf"
kill -HUP $first
await grep -q 'old configuration stays' "$tmp/log"

claim "SIGHUP with a missing configuration keeps the old one, and says so in one line"
rm "$tmp/good.conf"
kill -HUP $first
await grep -q 'old configuration stays: .*good.conf: cannot be read: No such file' "$tmp/log"
check test "$(grep -c 'cannot be read' "$tmp/log")" -eq 1
try env GPREEMPT_SOCKET="$tmp/control" "$GPREEMPT" status
exits 0 && says 'priority'

claim "the call Reload with a missing configuration fails with the same line"
try python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"{\"method\":\"org.gpreempt.Reload\"}\0")
answer = b""
while not answer.endswith(b"\0"):
    answer += s.recv(4096) or b"closed\0"
print(answer[:-1].decode())' "$tmp/control"
exits 0 && says '"error":' && says 'good.conf: cannot be read: No such file'

claim "SIGTERM ends it with 0 and leaves no socket"
kill -TERM $first
code=0
wait $first || code=$?
tried='gpreemptd and SIGTERM'
exits 0
check test ! -e "$tmp/control"
end
