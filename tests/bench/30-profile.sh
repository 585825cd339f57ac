#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a sample costs, in instructions and in bytes: fkt_record --profile and perf record -F 997 -g of the same work, each
# with the stacks of kernel and program, in one boot of a guest that counts instructions. tests/bench/run says what is printed
# and how.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
loop=$top/build/tests/bench/profile_loop

# each TRACER NS SAMPLES BYTES: how much longer it took, by sample; and what a sample takes.
declare -A cost
each() {
	[ "${3:-0}" -gt 0 ] || { note "$1: no samples"; return 1; }
	cost[$1]=$(awk "BEGIN { printf \"%.0f\", ($2 - $untraced) / $3 }")
	row "$1" "${cost[$1]}" instructions
	row "$1" "$(awk "BEGIN { printf \"%.1f\", $4 / $3 }")" bytes
	row "$1" "$(awk "BEGIN { printf \"%.2f\", 100 * ($2 - $untraced) / $untraced }")" percent
}

guest() {
	local ns samples

	untraced=$("$loop")
	ns=$(fkt_record --profile -o $disk/trace -- "$loop" 2>$disk/summary)
	tell_lost fkt || return 1
	samples=$(fkt_print --profile --format csv $disk/trace | awk -F, 'NF == 6 && $5 ~ /^[0-9]+$/ { n += $5 } END { print n }')
	each fkt "$ns" "$samples" "$(sed -nE 's/.* ([0-9]+) pages.*/\1/p' $disk/summary | awk '{ print 4096 * $1 }')" || return 1
	ns=$(perf record -q -N -B -F 997 -g -e cpu-clock -m 8192 -o $disk/perf.data -- "$loop" 2>$disk/said)
	samples=$(perf script -i $disk/perf.data -F ip 2>/dev/null | grep -c '^$')
	each perf "$ns" "$samples" "$(stat -c %s $disk/perf.data)" || return 1
	row fkt "$(awk "BEGIN { printf \"%.2f\", ${cost[fkt]} / ${cost[perf]} }")" of_perf
}

main --timeout 600 -- "$@"
