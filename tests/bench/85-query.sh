#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What SQL takes of each of the 100 million events of 50-reading, whose trace it takes: those that are counted by name and by CPU;
# and how long the ten slowest calls of a second out of the middle take, and these with who held them. Beside it fkt_diff,
# of the same events, and Python's arrays, of those of the first ten seconds. One thread, CPU time.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
rounds=3

need_trace

# best COLUMN COMMAND…: the least of some runs, of CPU time (2) or memory (3).
best() {
	least "$1" $rounds "$tests/measure" "${@:2}"
}

# each TRACER COMMAND…: for each event
each() {
	row "$1" "$(per_event "$(best 2 "${@:2}")" "$events")" ns/event
}

query() {
	each "$1" "$top/build/bin/fkt_query" "$trace" "$2"
}

{ read -r seconds; read -r events; } < <(extent)
query group_by_name 'SELECT name, count(*) FROM events GROUP BY name'
query group_by_cpu 'SELECT cpu, count(*) FROM events GROUP BY cpu'
query count 'SELECT count(*) FROM events'
middle=$((seconds / 2))000000000
window="begin BETWEEN $middle AND $middle + 1000000000"
slowest="SELECT elapsed, process, name, tid, begin, \"end\" FROM calls WHERE name = 'sys_openat' AND $window ORDER BY elapsed DESC LIMIT 10"
who="WITH slow AS MATERIALIZED ($slowest), held AS MATERIALIZED (SELECT tid, begin, coalesce(waker, next_process) AS by FROM waits
	WHERE $window AND \"end\" <= $middle + 2000000000)
	SELECT slow.*, (SELECT group_concat(held.by) FROM held WHERE held.tid = slow.tid AND held.begin BETWEEN slow.begin AND slow.\"end\")
	FROM slow"
row slowest_calls "$(best 2 "$top/build/bin/fkt_query" "$trace" "$slowest")" s
row slowest_calls "$(best 3 "$top/build/bin/fkt_query" "$trace" "$slowest")" MB
row slowest_calls_who "$(best 2 "$top/build/bin/fkt_query" "$trace" "$who")" s
# It reads the trace twice.
row fkt_diff "$(per_event "$(best 2 "$top/build/bin/fkt_diff" "$trace" "$trace")" $((2 * events)))" ns/event
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	export FKT_LIBRARY=$top/build/lib/libfkt.so.0 PYTHONPATH=$top/bindings/python
	arrays='import fkt, sys; print(len(fkt.open(sys.argv[1]).events_arrays("0", "10s")["time"]))'
	# Of the events of that time alone.
	events=$(/usr/bin/python3 -B -c "$arrays" "$trace") || exit
	each python_arrays /usr/bin/python3 -B -c "$arrays" "$trace"
else
	note 'there is no numpy: arrays are not measured'
fi
