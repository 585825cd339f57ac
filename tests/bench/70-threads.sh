#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What two threads make of each view of fkt_print: the CPU time of the one of them that takes longer, as a part of what
# one thread takes; 0.5 is all that there is to be had. What one does not come to, for want of a CPU, the other does: so
# on a busy machine the ratio is too high, and the least of some runs is taken. The trace is the file that FKT_TRACE names,
# of a few million events with a lane for each CPU, or the one that 50-reading.sh has recorded.

set -u

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
tests=$top/build/tests/bench
kept=$top/build/bench
rounds=9
trace=${FKT_TRACE:-$kept/mixed.trace}

# best THREADS COLUMN OPTION…: the least of some runs, of what thread_times prints.
best() {
	local n

	for ((n = 0; n < rounds; n++)); do
		"$tests/thread_times" "$top/build/bin/fkt_print" "--threads=$1" "${@:3}" "$trace" 2>&1 >/dev/null |
			tail -1
	done | awk -v column="$2" 'NR == 1 || $column < least { least = $column } END { print least }'
}

[ -s "$trace" ] || { printf 'threads: no trace: set FKT_TRACE, or run 50-reading.sh first\n' >&2; exit 1; }
while read -r name options; do
	# shellcheck disable=SC2086
	one=$(best 1 1 $options)
	# shellcheck disable=SC2086
	two=$(best 2 2 $options)
	awk -v name="$name" -v one="$one" -v two="$two" 'BEGIN {
		printf "threads\t%s\t%.3f\ts_one_thread\n", name, one
		printf "threads\t%s\t%.2f\tof_one_thread\n", name, two / one
	}'
done <<END
summary		--summary
cpus		--cpus
waits		--waits
by		--by function
calls		--calls
histogram	--histogram sys_*
graph		--graph
spans		--spans
END
