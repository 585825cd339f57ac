#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What fkt_export takes of each of the 100 million events of 50-reading, whose trace it takes: perfetto and ctf of all of them,
# with the memory; the other formats of a twentieth. One thread, CPU time, and nothing is written to a disk; of ctf, which is
# files, to those of the page cache.

set -u

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
tests=$top/build/tests/bench
trace=${FKT_BENCH_TRACE:-$top/build/bench/100M.trace}
rounds=3

[ -s "$trace" ] || { echo "export: $trace is not there: tests/bench/run reading makes it" >&2; exit 1; }

# Of a part of the trace, or of all of it: its length in seconds, and how many events.
of() {
	"$top/build/bin/fkt_print" --summary "$@" "$trace" |
		sed -n 's/^Duration *\([0-9]*\)\.[0-9]* s,.*/\1/p; s/^Events *\([0-9]*\).*/\1/p'
}

# best COLUMN OPTION…: the least of some runs, of CPU time (2) or memory (3).
best() {
	local column=$1 output=/dev/null n
	shift

	[ "$2" != ctf ] || output=$directory
	for ((n = 0; n < rounds; n++)); do
		"$tests/measure" "$top/build/bin/fkt_export" -q -o "$output" "$@" "$trace" 2>&1 >/dev/null | tail -1
		rm -rf "$directory"
	done | awk -v c="$column" 'NR == 1 || $c < least { least = $c } END { print least }'
}

# row TRACER EVENTS OPTION…
row() {
	awk -v name="$1" -v events="$2" -v s="$(best 2 "${@:3}")" 'BEGIN {
		printf "export\t%s\t%.1f\tns/event\n", name, s * 1e9 / events
	}'
}

directory=$(mktemp -du "${trace%/*}/ctf.XXXXXX") || exit 1
trap 'rm -rf "$directory"' EXIT
cat "$trace" >/dev/null
{ read -r seconds; read -r events; } < <(of)
for format in perfetto ctf; do
	row $format "$events" --to $format
	printf 'export\t%s\t%s\tMB\n' $format "$(best 3 --to $format)"
done
part=(--range "..$((seconds / 20))")
{ read -r _; read -r events; } < <(of "${part[@]}")
for format in chrome folded offcpu callgrind speedscope trace.dat csv; do
	row $format "$events" --to $format "${part[@]}"
done
