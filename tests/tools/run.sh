#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ./run itself, on a machine made of fakes: what it installs, and when it must not try.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

# fake NAME: a program on the PATH whose body is read from stdin.
fake() {
	{ echo '#!/bin/sh'; cat; } >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

# A tree with ./run and two packages, one of them a pattern. Installed: what $1 lists.
machine() {
	rm -rf "${tmp:?}/bin" "${tmp:?}/t"
	mkdir -p "$tmp/bin" "$tmp/t/packaging"
	cp "$top/run" "$tmp/t/"
	printf 'build\tgcc\tx\nbuild\tlinux-headers-6.12.*+deb12-amd64\tx\nfuzz\tclang\tx\n' >"$tmp/t/packaging/packages"
	echo "$1" >"$tmp/installed"
	: >"$tmp/apt.log"
	echo "gcc linux-headers-6.12.9+deb12-amd64 linux-headers-6.12.107+deb12-amd64
		linux-headers-6.12.115+deb12-rt-amd64 linux-headers-6.13.1+deb12-amd64" >"$tmp/archive"
	fake id <<-'END'
	echo 0
	END
	fake dpkg-query <<-END
	for p in \$(cat "$tmp/installed"); do printf 'installed:%s ' "\$p"; done
	END
	fake apt-cache <<-END
	for p in \$(cat "$tmp/archive"); do case \$p in "\$2"*) echo "\$p" ;; esac; done
	END
	fake apt-get <<-END
	echo "\$@" >>"$tmp/apt.log"
	case "\$*" in
	install*) echo "\$@" >>"$tmp/installed" ;;
	esac
	END
	fake ninja <<-'END'
	echo no work to do
	END
	fake meson <<-'END'
	exit 0
	END
}
run() { PATH=$tmp/bin:$PATH "$tmp/t/run" "$@"; }
asked() { grep -q -e "$1" "$tmp/apt.log" || no "apt-get was not asked '$1' but: $(cat "$tmp/apt.log")"; }

claim "with everything installed apt is not called"
machine "gcc linux-headers-6.12.9+deb12-amd64"
try run build
exits 0 && check test ! -s "$tmp/apt.log"

claim "only what is missing is installed, of a pattern the newest"
machine "gcc"
try run build
exits 0 && asked 'install .* linux-headers-6.12.107+deb12-amd64$' && check test "$(grep -c gcc "$tmp/apt.log")" -eq 0

claim "the package lists are read only when they are needed"
check test "$(grep -c update "$tmp/apt.log")" -eq 0

claim "without package lists they are read, once"
machine ""
: >"$tmp/archive"
fake apt-get <<END
echo "\$@" >>"$tmp/apt.log"
case "\$*" in
*update*) echo gcc linux-headers-6.12.7+deb12-amd64 >"$tmp/archive" ;;
install*) echo "\$@" >>"$tmp/installed" ;;
esac
END
try run build
exits 0 && asked update && asked 'install .*gcc' && check test "$(grep -c update "$tmp/apt.log")" -eq 1

claim "a user who is not root is told what is missing, exit 3"
machine "gcc"
fake id <<'END'
echo 1000
END
try run build
exits 3 && says_err 'missing packages: linux-headers-6.12' && check test ! -s "$tmp/apt.log"

claim "a package the archive does not have is named, exit 3"
machine ""
echo linux-headers-6.12.9+deb12-amd64 >"$tmp/archive"
try run build
exits 3 && says_err "no package 'gcc'"

claim "an installation that fails is exit 3 and shows apt's last lines"
machine "gcc"
fake apt-get <<'END'
echo "disk full"
exit 100
END
try run build
exits 3 && says_err 'disk full'

claim "help lists every command on stdout"
machine "gcc"
try run help
exits 0 && for c in demo report test bench fuzz lab gpreempt build clean style help; do says "^  $c "; done

claim "no command is a usage error, exit 2"
try run
exits 2 && says_err usage

claim "an unknown command is named, exit 2"
try run frobnicate
exits 2 && says_err frobnicate

# tester PLAN [CODE]: a test runner that has this plan and exits with CODE; ninja and the lab write down their calls.
tester() {
	mkdir -p "$tmp/t/tools" "$tmp/t/lab"
	echo "$1" >"$tmp/plan"
	: >"$tmp/calls"
	cat >"$tmp/t/tools/run-tests" <<-END
	#!/bin/sh
	case " \$* " in
	*" --plan "*) cat "$tmp/plan" ;;
	*) echo "run-tests \$*" >>"$tmp/calls" ;;
	esac
	exit ${2:-0}
	END
	printf '#!/bin/sh\necho "lab $*" >>%s\n' "$tmp/calls" >"$tmp/t/lab/run"
	chmod +x "$tmp/t/tools/run-tests" "$tmp/t/lab/run"
	fake ninja <<-END
	echo "ninja \$*" >>"$tmp/calls"
	echo no work to do
	END
}
called() { grep -q -e "$1" "$tmp/calls" || no "'$1' was not called but: $(cat "$tmp/calls")"; }

claim "test builds what the chosen tests need, and neither the sanitizers' build nor the lab for others"
machine "gcc linux-headers-6.12.9+deb12-amd64"
tester "build build tests/a tests/b"
try run test --only a
exits 0 && called 'ninja .*/build tests/a tests/b$' && called 'run-tests .*/build-asan --only a$' &&
	check test "$(grep -c 'ninja.*asan\|^lab' "$tmp/calls")" -eq 0

claim "test prepares the sanitizers' build and the lab for tests that need them"
machine "gcc linux-headers-6.12.9+deb12-amd64"
tester "build build all
build build-asan tests/a
lab"
try run test
exits 0 && called 'ninja .*/build all$' && called 'ninja .*/build-asan tests/a$' && called '^lab .*--build-only'

claim "bad usage of test is exit 2 before anything is installed or built"
machine ""
tester "" 2
try run test --nonsense
exits 2 && check test ! -s "$tmp/apt.log" && check test ! -s "$tmp/calls"

claim "a build that fails is one failed test and runs none"
machine "gcc linux-headers-6.12.9+deb12-amd64"
tester "build build all"
fake ninja <<'END'
case "$*" in *build.ninja) echo no work to do ;; *) echo broken; exit 1 ;; esac
END
try run test
exits 1 && says '^0 passed, 1 failed$' && says_err broken && check test ! -s "$tmp/calls"

claim "fuzz --help is help, what is no number of seconds is named, and neither builds anything"
machine ""
try run fuzz --help
exits 0 && says 'usage: ./run fuzz'
try run fuzz soon
exits 2 && says_err "'soon'"

claim "the lab gets its arguments as they are"
machine "gcc linux-headers-6.12.9+deb12-amd64"
mkdir "$tmp/t/lab"
printf '#!/bin/sh\nprintf "[%%s]" "$@"\n' >"$tmp/t/lab/run"
chmod +x "$tmp/t/lab/run"
try run lab --cpus 1 -- sh -c 'two words'
exits 0 && says '^\[--cpus\]\[1\]\[--\]\[sh\]\[-c\]\[two words\]$'
end
