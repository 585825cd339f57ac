#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What fkt_export takes of each of the 100 million events of 50-reading, whose trace it takes: perfetto and ctf of all of them,
# with the memory; the other formats of a twentieth. One thread, CPU time, and nothing is written to a disk; of ctf, which is
# files, to those of the page cache.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
rounds=3

need_trace

# best COLUMN OPTION…: the least of some runs, of CPU time (2) or memory (3).
best() {
	least "$1" $rounds export_once "${@:2}"
}

export_once() {
	local output=/dev/null

	[ "$2" != ctf ] || output=$directory
	"$tests/measure" "$top/build/bin/fkt_export" -q -o "$output" "$@" "$trace"
	rm -rf "$directory"
}

directory=$(mktemp -du "${trace%/*}/ctf.XXXXXX") || exit 1
trap 'rm -rf "$directory"' EXIT
cat "$trace" >/dev/null
{ read -r seconds; read -r events; } < <(extent)
for format in perfetto ctf; do
	row $format "$(per_event "$(best 2 --to $format)" "$events")" ns/event
	row $format "$(best 3 --to $format)" MB
done
part=(--range "..$((seconds / 20))")
{ read -r _; read -r events; } < <(extent "${part[@]}")
for format in chrome folded offcpu callgrind speedscope trace.dat csv; do
	row $format "$(per_event "$(best 2 --to $format "${part[@]}")" "$events")" ns/event
done
