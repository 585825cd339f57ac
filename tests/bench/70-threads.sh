#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What two threads make of each view of fkt_print: the CPU time of the one of them that takes longer, as a part of what
# one thread takes; 0.5 is all that there is to be had. What one does not come to, for want of a CPU, the other does: so
# on a busy machine the ratio is too high, and the least of some runs is taken. The trace is the file that FKT_TRACE names,
# with a lane for each CPU, or the ones that 50-reading.sh has made: of 100 million events, and for the views that print each
# event of a few million.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
rounds=5
large=${FKT_TRACE:-$kept/100M.trace}
small=${FKT_TRACE:-$kept/mixed.trace}

# best THREADS COLUMN OPTION… TRACE: the least of some runs, of what thread_times prints.
best() {
	least "$2" $rounds "$tests/thread_times" "$top/build/bin/fkt_print" "--threads=$1" "${@:3}"
}

[ -s "$large" ] && [ -s "$small" ] || { note 'no trace: set FKT_TRACE, or run 50-reading.sh first'; exit 1; }
while read -r name options; do
	trace=$large
	[[ $name != graph && $name != spans ]] || trace=$small
	# shellcheck disable=SC2086
	one=$(best 1 1 $options "$trace")
	# shellcheck disable=SC2086
	two=$(best 2 2 $options "$trace")
	row "$name" "$one" s_one_thread
	row "$name" "$(awk "BEGIN { printf \"%.2f\", $two / $one }")" of_one_thread
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
