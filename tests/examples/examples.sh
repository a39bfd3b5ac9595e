#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The examples, as a user would run them; gpreemptd is a made-up one (tests/shared/fake_daemon.c).
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

GPREEMPT_SOCKET=$tmp/control
BATCH_EVERY=0.1
export GPREEMPT GPREEMPT_SOCKET BATCH_EVERY
server=
stop() {
	[ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null
	server=
}
trap 'stop; rm -rf "$tmp"' EXIT
told() { grep -q -e "^$1\$" "$tmp/told" || no "the daemon was not told '$1' but: $(tr '\n' '|' <"$tmp/told")"; }

printf 'one\nlonger request\n' >"$tmp/requests"
serve() { "$INFERENCE_SERVER" "$GPREEMPT_SOCKET" <"$tmp/requests"; }

claim "the server serves without a daemon, and says so once"
try serve
exits 0 && says '^3$' && says '^14$' && says_err 'without gpreempt: .*not running' && says_err '2 served, 0 hinted'

claim "the batch wrapper runs its job without a daemon; the exit code is the job's"
try "$top/examples/batch.sh" sh -c 'exit 7'
exits 7 && says_err 'no gpreemptd'
try "$top/examples/batch.sh"
exits 2 && says_err '^usage'

cat >"$tmp/world.json" <<'END'
{"status": {"version": "0.1", "pid": 77, "up_ns": 1, "enabled": true, "observe_only": false, "policy": "priority",
   "ejected": null, "mechanism": "kfd-debug", "gpus": 1, "processes": 0, "held": 0, "trouble": []},
 "list": {"gpus": [], "processes": []}, "stats": {"counters": {}, "processes": []}, "policy": {"policy": "priority", "parameters": []}}
END
: >"$tmp/told"
"$FAKE_DAEMON" "$GPREEMPT_SOCKET" "$tmp/world.json" >"$tmp/told" 2>&1 &
server=$!
await grep -q ready "$tmp/told"

claim "the server registers as online and hints before each request"
try serve
exits 0 && says_err '2 served, 2 hinted' && told 'register [0-9]* online' &&
	check test "$(grep -c '^hint [0-9]* 200000 5000000$' "$tmp/told")" -eq 2

claim "the batch wrapper registers its job as offline before it begins, and passes on its exit code"
try "$top/examples/batch.sh" sh -c 'echo worked; exit 3'
exits 3 && says '^worked$' && told 'register [0-9]* offline' && says_err 'sh ended with 3'
stop

claim "the sweep prints a row for each value and draws them; a line that is none is one sentence and exit 2"
GPREEMPT_COMMAND=$GPREEMPT
export GPREEMPT_COMMAND
try "$top/examples/sweep.py" -o "$tmp/sweep.svg" --length 500ms policy.look_max 50us 100us
exits 0 && says '100us  *[0-9][0-9]\.[0-9] us  *[0-9.]* %' && says 'not of hardware' &&
	check python3 -c 'import sys, xml.dom.minidom as m; d = m.parse(sys.argv[1]); sys.exit(len(d.getElementsByTagName("circle")) != 4)' "$tmp/sweep.svg"
try "$top/examples/sweep.py" -o "$tmp/none.svg" --length 100ms gpu.bogus 1
exits 2 && says_err "sweep: .*bogus" && check test ! -e "$tmp/none.svg"
end
