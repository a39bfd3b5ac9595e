#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The pages: what they point to is there, what they tell to type exists, pictures are pictures.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

pages="$top/README.md $top/lab/README.md $top/python/README.md $(echo "$top"/doc/*.md)"

claim "every link of a page leads to a file"
for page in $pages; do
	grep -o '](\([^)# ]*\)' "$page" | cut -c 3- | grep -v '^http' >"$tmp/links"
	while read -r link; do
		check test -e "$(dirname "$page")/$link" || echo "# in $page"
	done <"$tmp/links"
done

claim "every page of doc/ is in its list"
for page in "$top"/doc/*.md; do
	name=$(basename "$page")
	[ "$name" = README.md ] || check grep -q "($name)" "$top/doc/README.md"
done

claim "every command that a page tells to type exists"
gpreempt --help >"$tmp/help"
for page in $pages; do
	sed -n '/^```/,/^```/p' "$page" | sed -n 's/^\(\.\/run \)\{0,1\}gpreempt \([a-z-]*\).*/\2/p' | sort -u >"$tmp/words"
	while read -r word; do
		check grep -q "^  $word\b" "$tmp/help" || echo "# in $page"
	done <"$tmp/words"
done

claim "what is said beside a command is a comment: the line can be pasted"
for page in $pages; do
	sed -n '/^```/,/^```/p' "$page" | grep -E '^(\./run|gpreempt|systemctl|tools/|export) .*[^ ]  +[^ #]' | grep -v '#' >"$tmp/lines"
	check test ! -s "$tmp/lines" || { echo "# in $page"; sed 's/^/# /' "$tmp/lines"; }
done

claim "every path that the README names exists"
cat >"$tmp/paths.py" <<'END'
import os, re, sys
top, folder, missing = sys.argv[1], '', 0
for line in open(os.path.join(top, 'README.md'), encoding='utf-8'):
    if line.startswith('```'):
        line = re.sub('```.*', '', line)
    row = re.match(r'\| `(\w+/)`', line)
    for word in re.findall(r'`([^`]*)`', line) + re.findall(r'^(?:\./)?(run|tools/\S+)\b', line):
        word = word.split()[0] if word.split() else ''
        # Paths of the tree; capitals stand for a name, and build/ and linux/ are elsewhere.
        if '/' not in word or word.startswith(('/', 'build/', 'linux/')) or re.search('[A-Z…]', word):
            continue
        near = os.path.join(top, row[1] if row else '', word)
        if not os.path.exists(os.path.join(top, word)) and not os.path.exists(near):
            print(word)
            missing += 1
sys.exit(missing > 0)
END
try python3 "$tmp/paths.py" "$top"
exits 0 || sed 's/^/# not in the tree: /' "$tmp/out"

claim "twenty questions 'where is X?' are answered by the README's table of folders, and the files exist"
sed -n 's/^|.*| `\(.*\)` |$/\1/p' "$top/doc/where.md" >"$tmp/answers"
check test "$(wc -l <"$tmp/answers")" -eq 20
while read -r answer; do
	check test -e "$top/$answer" && check grep -q "^|.*\`${answer%%/*}/\`.*|" "$top/README.md"
done <"$tmp/answers"

claim "pages that name the kernel that is needed also name amdgpu-dkms, as doctor does"
grep -rl 'Linux 6\.5' "$top/README.md" "$top/doc" "$top/man" "$top/packaging" --include='*.md' --include='*.scd' --include=control >"$tmp/pages"
check test "$(wc -l <"$tmp/pages")" -ge 4
while read -r page; do
	check grep -q 'amdgpu-dkms of ROCm 6' "$page"
done <"$tmp/pages"

claim "gpreempt-stats(1) describes every counter that the daemon sends"
{
	sed -n '/struct gp_counter n\[\] = {/,/};/p' "$top/daemon/methods_read.c" | grep -o '{ "[a-z_]*"' | cut -d'"' -f2
	sed -n 's/.*tell(ctx, "\([a-z_]*\)".*/\1/p' "$top"/daemon/backend_*.c
	echo longest_hold_ns
} >"$tmp/counters"
check test "$(wc -l <"$tmp/counters")" -gt 60
while read -r counter; do
	check grep -q "^\*.*$counter\*" "$top/man/gpreempt-stats.1.scd"
done <"$tmp/counters"

claim "every picture is an SVG with a title or a note, a dark theme, and nothing from elsewhere"
for picture in "$top"/doc/*.svg; do
	check python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$picture"
	check grep -q 'prefers-color-scheme: dark' "$picture"
	check test "$(grep -c 'href=\|url(http\|@import' "$picture")" -eq 0
done

claim "every row of a picture quotes its figures, which the test figures holds against doc/figures.json"
rows=$(grep -c 'text-anchor="end"' "$top/doc/colocate.svg")
check test "$rows" -ge 20
check test "$(grep -c 'rows\..*\.online\.p99 -->' "$top/doc/colocate.svg")" -eq "$rows"
check test "$(grep -c 'rows\..*\.offline_goodput -->' "$top/doc/colocate.svg")" -eq $((rows - 1))
check test "$(grep -c 'rows\..*\.breakdown\.total\.mean -->' "$top/doc/preemption.svg")" -eq 7
sed -E 's,[0-9.]+ (ms|us|%)<!--,9999 \1<!--,' "$top/doc/colocate.svg" >"$tmp/wrong.svg"
try "$top/tools/check-figures" "$top/doc/figures.json" "$tmp/wrong.svg"
exits 1 && check test "$(grep -c 'wrong.svg:.*says 9999' "$tmp/out")" -eq $((2 * rows - 1))

claim "the pictures are drawn from what compare prints, with the place of each figure"

gpreempt compare "$top/scenarios/colocate.ini" --length 200ms --rows monitor-1ms,ours-evict --json >"$tmp/compare.json" 2>/dev/null
"$top/tools/draw-preemption" <"$tmp/compare.json" >"$tmp/picture.svg"
check grep -q 'ours, module' "$tmp/picture.svg"
"$top/tools/draw-comparison" <"$tmp/compare.json" >"$tmp/comparison.svg"
check test "$(grep -o 'report: compare.rows.ours-evict[^ ]*' "$tmp/comparison.svg" | wc -l)" -eq 2
check python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$tmp/comparison.svg"
check python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$tmp/picture.svg"
end
