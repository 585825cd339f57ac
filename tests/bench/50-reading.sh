#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What it costs to read a trace of 100 million events: the listing, the summary, one second out of the middle, two
# threads against one, and memory. The events are those of a mixed workload in a guest, as often as it takes; they are
# kept under build/bench. Beside it what peers take to list what they recorded of the same workload.
# tests/bench/run says what is printed and how.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
bin=$top/build/bin
trace=$kept/100M.trace
events=100000000
rounds=5
seconds=40
peer_seconds=4
peer_events='raw_syscalls sched irq'
functions='vfs_*'

# In the guest.
record() {
	local workload=$top/tests/bench/mixed_workload event perf_events=() cmd_events=()

	for event in $peer_events; do
		perf_events+=(-e "$event:*")
		cmd_events+=(-e "$event")
	done
	# It ends on the CPU on which it begins: where the trace is put behind itself, no thread runs on two.
	taskset -c 0 fkt_record -p 12 -k system,functions -F "$functions" -o /mnt/disk/mixed.trace \
		taskset -c 0,1 "$workload" $seconds 2>&1 && mv /mnt/disk/mixed.trace /mnt/share/ || return 1
	if command -v perf; then
		perf record -q -a -m 4M "${perf_events[@]}" -o /mnt/disk/perf.data "$workload" $peer_seconds
		mv /mnt/disk/perf.data /mnt/share/
	fi
	if command -v trace-cmd; then
		trace-cmd record -q "${cmd_events[@]}" -o /mnt/disk/trace.dat "$workload" $peer_seconds
		mv /mnt/disk/trace.dat /mnt/share/
	fi
}

prepare() {
	local free

	[ ! -s "$trace" ] || return 0
	mkdir -p "$kept"
	free=$(df --output=avail -k "$kept" | tail -1)
	[ "$free" -gt 2500000 ] || { note "$kept: 2.5 GB of free space are needed"; return 1; }
	if [ ! -s "$kept/mixed.trace" ]; then
		note "recording a mixed workload in a guest, some minutes"
		"$top/scripts/vm" --cpus 2 --timeout 900 --disk 4G --share "$kept" -- \
			"$0" --guest >"$kept/guest.log" 2>&1 || { tail -5 "$kept/guest.log" >&2; return 1; }
	fi
	"$tests/multiply_trace" "$kept/mixed.trace" "$trace.new" $events >&2 && mv "$trace.new" "$trace"
}

# best COLUMN COMMAND…: the least of some runs, of wall-clock time (1), CPU time (2) or memory (3).
best() {
	least "$1" $rounds "$tests/measure" "${@:2}"
}

# peer NAME FILE COMMAND…: nanoseconds for each event, which is a line of its listing.
peer() {
	local name=$1 file=$2 lines
	shift 2

	command -v "$1" >/dev/null || { note "$name: not installed"; return; }
	[ -s "$file" ] || { note "$name: nothing was recorded with it"; return; }
	lines=$("$@" 2>/dev/null | wc -l)
	[ "$lines" -gt 1000 ] || { note "$name: cannot list what it recorded in the guest"; return; }
	row "$name" "$(per_event "$(best 2 "$@")" "$lines")" ns/event_listed
}

case ${1-} in
--guest)	record; exit ;;
esac

prepare || exit 1
{ read -r last; read -r n; } < <(extent)
[ "${n:-0}" -ge $events ] || { note "$trace is not whole; remove it"; exit 1; }
middle=$((${last:-2} / 2))

# faster NAME OPTION…: what two threads take of the time of one.
faster() {
	local name=$1 one two
	shift

	one=$(best 1 "$bin/fkt_print" "$@" --threads=1 "$trace")
	two=$(best 1 "$bin/fkt_print" "$@" --threads=2 "$trace")
	row "$name" "$(awk "BEGIN { printf \"%.2f\", $two / $one }")" of_one
}

# In the page cache, as it is when it was written just now.
cat "$trace" >/dev/null
row fkt "$(per_event "$(best 2 "$bin/fkt_print" --no-summary --threads=1 "$trace")" "$n")" ns/event_listed
row fkt "$(per_event "$(best 2 "$bin/fkt_print" --summary --threads=1 "$trace")" "$n")" ns/event_summed
row fkt "$(best 1 "$bin/fkt_extract" "$trace" --from $middle..$((middle + 1)) -o "$kept/part.trace")" s_extract
row fkt "$(best 3 "$bin/fkt_extract" "$trace" --from $middle..$((middle + 1)) -o "$kept/part.trace")" MB_extract
rm -f "$kept/part.trace"
row fkt "$(best 3 "$bin/fkt_print" --summary --threads=2 "$trace")" MB_summary
row fkt "$(best 3 "$bin/fkt_print" --no-summary --threads=2 "$trace")" MB_listing
if [ "$(nproc)" -ge 2 ]; then
	faster fkt_2_listing --no-summary
	faster fkt_2_summary --summary
else
	note 'two threads: there is one CPU'
fi
peer perf_script "$kept/perf.data" perf script -f -i "$kept/perf.data"
peer trace-cmd "$kept/trace.dat" trace-cmd report -i "$kept/trace.dat"
peer babeltrace2 "$kept/lttng" babeltrace2 "$kept/lttng"
