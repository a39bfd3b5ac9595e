#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt module, as far as it goes without the module and its driver (tests/lab/kmod-mechanisms.sh has those).
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

root=$tmp/root
mkdir -p "$root/sys/kernel/btf" "$root/sys/kernel/security" "$root/sys/firmware/efi/efivars"

claim "a file that is not there, no module, or no file of this machine is one line and changes nothing"
try gpreempt module --root "$root"
exits 5 && says_err 'no gpreempt.ko for the kernel' && says_err 'DKMS'
try gpreempt module --root "$root" --file "$tmp/nowhere.ko"
exits 2 && says_err 'nowhere.ko: No such file'
echo text >"$tmp/text.ko"
try gpreempt module --root "$root" --file "$tmp/text.ko"
exits 2 && says_err 'not a 64-bit ELF file'
try gpreempt module load --root "$root" --file /bin/true
exits 2 && says_err 'no section .gp_layout; it is not gpreempt.ko'
try gpreempt module reload
exits 2 && says_err 'check|load|unload'

silently() { "$@" >/dev/null; }

# A module with a table of one member, made by the compiler of the tests.
module() { # OFFSET
	cat >"$tmp/m.c" <<-END
	struct { unsigned kind, value, bytes, zero; char type[48], name[64]; } t
	__attribute__((section(".gp_layout"), used)) = { 0x6770, $1, 8, 0, "list_head", "prev" };
	END
	cc -c -o "$tmp/m.ko" "$tmp/m.c"
}

claim "without BTF it says that nothing was compared; Secure Boot and lockdown are named"
module 8
printf 'none [integrity] confidentiality\n' >"$root/sys/kernel/security/lockdown"
printf '\006\000\000\000\001' >"$root/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
try gpreempt module --root "$root" --file "$tmp/m.ko"
exits 0 && says 'not compared' && says 'lockdown *integrity: the module must be signed' && says 'secure boot on'
try gpreempt module --root "$root" --file "$tmp/m.ko" --json
exits 0
check silently jq -e '.schema >= 1 and .layout == "unknown" and .lockdown == "integrity" and .secure_boot' "$tmp/out"

claim "BTF that is none is refused"
echo text >"$root/sys/kernel/btf/vmlinux"
try gpreempt module --root "$root" --file "$tmp/m.ko"
exits 2 && says_err 'not BTF'

end
