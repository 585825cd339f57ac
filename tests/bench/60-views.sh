#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What each view of fkt_print costs: CPU time for each event, of a trace with 256 CPUs and 10000 threads; and how much
# more for each event of one that is four times as long: about as much, as no view may grow faster than the events.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
rounds=3
few=1000000
many=4000000

# best FILE OPTION…: the least of some runs, of CPU time.
best() {
	least 2 $rounds "$tests/measure" "$top/build/bin/fkt_print" "${@:2}" "$1"
}

mkdir -p "$kept"
trap 'rm -f "$kept/few.trace" "$kept/many.trace"' EXIT
"$tests/many_threads" "$kept/few.trace" $few && "$tests/many_threads" "$kept/many.trace" $many || exit 1
while read -r name options; do
	# shellcheck disable=SC2086
	a=$(best "$kept/few.trace" $options)
	# shellcheck disable=SC2086
	b=$(best "$kept/many.trace" $options)
	row "$name" "$(per_event "$b" $many)" ns/event
	row "$name" "$(awk "BEGIN { printf \"%.2f\", ($b / $many) / ($a / $few) }")" of_fewer_events
done <<END
listing		--no-summary
summary		--summary
filtered	--summary --cpu 0-99 --process !200
cpus		--cpus
waits		--waits
by		--by function,thread
calls		--calls
graph		--graph
END
